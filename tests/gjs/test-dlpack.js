/* SPDX-License-Identifier: LGPL-2.1-or-later */

import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';
import System from 'system';

import {defaultDevice, place} from './memory.js';
import {
    equal, ok, recordCalls, run, test, testAllReached, testAnyMemory, throwsMtl,
} from './tap.js';

const {CPU, CUDA, UNKNOWN} = Mtl.DeviceType;
const {NONE, LEGACY, COPY, NEVER_COPY, NEGATIVE_STRIDES} = Mtl.DlpackFlags;

// DLPack's own flags, as a tensor carries them.
const READ_ONLY = 1;
const IS_COPIED = 2;

recordCalls('DlpackTensor');

function makeView() {
    return place(
        Mtl.StridedView.new_from_doubles(Mtl.DType.INT32, [2, 3], [1, 2, 3, 4, 5, 6]));
}

function readOnlyView() {
    const bytes = new GLib.Bytes(new Uint8Array([1, 2, 3]));
    return Mtl.StridedView.new_from_bytes(bytes, Mtl.DType.UINT8, [3], null);
}

testAnyMemory('a tensor in transit describes itself', () => {
    const tensor = makeView().export_dlpack(NONE, UNKNOWN, 0);
    const [major, minor] = tensor.get_version();

    equal(major, 1);
    ok(minor >= 0);
    equal(tensor.get_flags(), 0);
    equal([tensor.get_device_type(), tensor.get_device_ordinal()],
        [defaultDevice.get_device_type(), defaultDevice.get_device_ordinal()]);
    equal(tensor.is_consumed(), false);
});

testAnyMemory('memory goes out as the host’s', () => {
    const tensor = makeView().export_dlpack(NONE, CPU, 0);

    equal([tensor.get_device_type(), tensor.get_device_ordinal()], [CPU, 0]);
    equal(Mtl.StridedView.new_from_dlpack(tensor).toArray(), [[1, 2, 3], [4, 5, 6]]);
});

testAnyMemory('a tensor is consumed once', () => {
    const tensor = makeView().export_dlpack(NONE, CPU, 0);

    Mtl.StridedView.new_from_dlpack(tensor);
    equal(tensor.is_consumed(), true);
    throwsMtl('CONSUMED', /./, () => Mtl.StridedView.new_from_dlpack(tensor));
});

testAnyMemory('the legacy form has no version', () => {
    const view = makeView();
    const tensor = view.export_dlpack(LEGACY, UNKNOWN, 0);

    equal(tensor.get_version(), [0, 0]);
    const imported = Mtl.StridedView.new_from_dlpack(tensor);
    equal(imported.get_address(), view.get_address());
    imported.fill_double(7);
    equal(view.toArray(), [[7, 7, 7], [7, 7, 7]]);
});

test('read-only views stay so, and do not go out in the legacy form', () => {
    const tensor = readOnlyView().export_dlpack(NONE, UNKNOWN, 0);

    equal(tensor.get_flags(), READ_ONLY);
    equal(Mtl.StridedView.new_from_dlpack(tensor).is_read_only(), true);
    throwsMtl('READ_ONLY', /./, () => readOnlyView().export_dlpack(LEGACY, UNKNOWN, 0));
});

test('a copy is made where one is asked for', () => {
    const view = readOnlyView();
    const tensor = view.export_dlpack(COPY, UNKNOWN, 0);
    const imported = Mtl.StridedView.new_from_dlpack(tensor);

    equal(tensor.get_flags(), IS_COPIED);
    ok(imported.get_address() !== view.get_address());
    equal(imported.is_read_only(), false);
    equal(imported.equal(view), true);
});

testAnyMemory('negative strides go out on request, and else as a copy', () => {
    const flipped = makeView().flip(1);
    const kept = flipped.export_dlpack(NEGATIVE_STRIDES, UNKNOWN, 0);
    const copied = flipped.export_dlpack(NONE, UNKNOWN, 0);

    equal(Mtl.StridedView.new_from_dlpack(kept).get_strides(), [3, -1]);
    equal(copied.get_flags(), IS_COPIED);
    equal(Mtl.StridedView.new_from_dlpack(copied).to_string(), '[[3 2 1]\n [6 5 4]]');
    throwsMtl('NEEDS_COPY', /./, () => flipped.export_dlpack(NEVER_COPY, UNKNOWN, 0));
});

testAnyMemory('what cannot go out is an error', () => {
    throwsMtl('NOT_SUPPORTED', /2, 0/, () => makeView().export_dlpack(NONE, CUDA, 0));
    throwsMtl('INVALID_ARGUMENT', /./,
        () => makeView().export_dlpack(COPY | NEVER_COPY, UNKNOWN, 0));
});

testAnyMemory('memory lives as long as somebody views it', () => {
    let view = makeView();
    let tensor = view.export_dlpack(NONE, UNKNOWN, 0);
    const imported = Mtl.StridedView.new_from_dlpack(tensor);

    view = tensor = null;
    System.gc();
    equal(imported.to_string(), '[[1 2 3]\n [4 5 6]]');
});

testAllReached('DlpackTensor');
await run();

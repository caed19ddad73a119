/* SPDX-License-Identifier: LGPL-2.1-or-later */

import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';
import System from 'system';

import {defaultDevice, place} from '../support/memory.js';
import {
    checkProperties, equal, ok, recordCalls, run, test, testAllReached, testAnyMemory, throwsMtl,
} from '../support/tap.js';

const {ROCM} = Mtl.DeviceType;
const host = Mtl.Device.get_host();
const {NONE, COPY, NEVER_COPY, NEGATIVE_STRIDES} = Mtl.DlpackFlags;

recordCalls('DlpackTensor');

function makeView() {
    return place(
        Mtl.StridedView.new_from_doubles([1, 2, 3, 4, 5, 6], Mtl.DType.INT32, [2, 3]));
}

function readOnlyView() {
    const bytes = new GLib.Bytes(new Uint8Array([1, 2, 3]));
    return Mtl.StridedView.new_from_bytes(bytes, Mtl.DType.UINT8, [3]);
}

testAnyMemory('a tensor in transit describes itself', () => {
    const tensor = makeView().export_dlpack();

    equal(tensor.is_copied(), false);
    ok(tensor.get_device() === defaultDevice);
    equal(tensor.is_consumed(), false);
});

testAnyMemory('properties of tensors in transit are what their getters return', () => {
    const tensor = makeView().export_dlpack();
    const copied = makeView().export_dlpack(COPY, host);

    ok(tensor.device === defaultDevice && copied.device === host);
    equal([tensor.copied, copied.copied], [false, true]);
    Mtl.StridedView.new_from_dlpack(copied);
    equal([tensor.consumed, copied.consumed], [false, true]);
    for (const other of [tensor, copied])
        checkProperties(other);
});

testAnyMemory('what an export is to be like may be left out', () => {
    const view = makeView();

    for (const tensor of [view.export_dlpack(), view.export_dlpack(NONE),
        view.export_dlpack(NONE, null), view.export_dlpack(NONE, defaultDevice)]) {
        equal(tensor.copied, false);
        equal(Mtl.StridedView.new_from_dlpack(tensor).overlaps(view), true);
    }
});

testAnyMemory('memory goes out as the host’s', () => {
    const tensor = makeView().export_dlpack(NONE, host);

    ok(tensor.get_device() === host);
    equal(Mtl.StridedView.new_from_dlpack(tensor).toArray(), [[1, 2, 3], [4, 5, 6]]);
});

testAnyMemory('a tensor is consumed once', () => {
    const tensor = makeView().export_dlpack(NONE, host);

    Mtl.StridedView.new_from_dlpack(tensor);
    equal(tensor.is_consumed(), true);
    throwsMtl('CONSUMED', [], () => Mtl.StridedView.new_from_dlpack(tensor));
});

testAnyMemory('writes go to the memory of both views', () => {
    const view = makeView();
    const imported = Mtl.StridedView.new_from_dlpack(view.export_dlpack());

    equal(imported.get_address(), view.get_address());
    imported.fill_double(7);
    equal(view.toArray(), [[7, 7, 7], [7, 7, 7]]);
});

test('read-only views stay so', () => {
    const tensor = readOnlyView().export_dlpack();

    equal(Mtl.StridedView.new_from_dlpack(tensor).is_read_only(), true);
});

test('a copy is made where one is asked for', () => {
    const view = readOnlyView();
    const tensor = view.export_dlpack(COPY);
    const imported = Mtl.StridedView.new_from_dlpack(tensor);

    equal(tensor.is_copied(), true);
    ok(imported.get_address() !== view.get_address());
    equal(imported.is_read_only(), false);
    equal(imported.array_equal(view), true);
});

testAnyMemory('negative strides go out on request, and else as a copy', () => {
    const flipped = makeView().flip(1);
    const kept = flipped.export_dlpack(NEGATIVE_STRIDES);
    const copied = flipped.export_dlpack();

    equal(Mtl.StridedView.new_from_dlpack(kept).get_strides(), [3, -1]);
    equal(copied.is_copied(), true);
    equal(Mtl.StridedView.new_from_dlpack(copied).to_string(), '[[3 2 1]\n [6 5 4]]');
    throwsMtl('NEEDS_COPY', [], () => flipped.export_dlpack(NEVER_COPY));
});

testAnyMemory('what cannot go out is an error', () => {
    throwsMtl('NOT_SUPPORTED', '(10, 0)',
        () => makeView().export_dlpack(NONE, Mtl.Device.get(ROCM, 0)));
    throwsMtl('INVALID_ARGUMENT', [],
        () => makeView().export_dlpack(COPY | NEVER_COPY));
});

testAnyMemory('memory lives as long as somebody views it', () => {
    let view = makeView();
    let tensor = view.export_dlpack();
    const imported = Mtl.StridedView.new_from_dlpack(tensor);

    view = tensor = null;
    System.gc();
    equal(imported.to_string(), '[[1 2 3]\n [4 5 6]]');
});

testAllReached('DlpackTensor');
await run();

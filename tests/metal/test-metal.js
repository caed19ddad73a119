/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Memory of Metal, on the real device or on the double.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, run, test, throwsMtl} from '../support/tap.js';

const {HOST, SHARED, MANAGED, PRIVATE, FOREIGN} = Mtl.StorageMode;
const {UNKNOWN, CPU, METAL} = Mtl.DeviceType;
const {NONE, COPY, NEVER_COPY} = Mtl.DlpackFlags;
const MATRIX = [[1, 2, 3], [4, 5, 6]];

Gio._promisify(Mtl.Device.prototype, 'synchronize_async');
Gio._promisify(Mtl.Event.prototype, 'wait_async');

const host = Mtl.Device.get_host();
const devices = Mtl.Device.list().filter(device => device.get_device_type() === METAL);

function testDevices(name, callback) {
    for (const device of devices)
        test(`${name} (${device.get_name()})`, () => callback(device));
}

// Runs a test in each storage mode that the device has.
function testModes(name, callback) {
    for (const device of devices) {
        for (const mode of [SHARED, MANAGED, PRIVATE].filter(m => device.supports_storage_mode(m)))
            test(`${name} (${device.get_name()}, mode ${mode})`, () => callback(device, mode));
    }
}

function matrix(device, mode) {
    return Mtl.StridedView.from(MATRIX, 'int32').to_device(device, mode);
}

function take(view, flags, deviceType) {
    const device = deviceType === UNKNOWN ? null : Mtl.Device.get(deviceType, 0);
    const tensor = view.export_dlpack(flags, device);
    const taken = Mtl.StridedView.new_from_dlpack(tensor);
    return [tensor.get_device().device_type, tensor.is_copied(), taken];
}

test('there is a device, which is the default one', () => {
    ok(devices.length > 0, 'no device of Metal is listed');
    ok(devices.includes(Mtl.Device.get_default()));
});

testDevices('a device describes itself', device => {
    ok(device.get_max_buffer_size() >= 2 ** 28);
    equal(device.get_page_size() % 4096, 0);
    equal(device.unified_memory, device.has_unified_memory());
    equal([HOST, SHARED, PRIVATE, FOREIGN].map(mode => device.supports_storage_mode(mode)),
        [false, true, true, false]);
    ok(Mtl.Device.get(METAL, device.get_ordinal()) === device);
});

testModes('a tensor is where it was moved to', (device, mode) => {
    const view = matrix(device, mode);
    const buffer = view.get_buffer();

    ok(view.get_device() === device && buffer.get_device() === device);
    equal([buffer.get_storage_mode(), buffer.is_device_accessible()], [mode, true]);
    equal([view.is_host_accessible(), view.get_address() !== 0],
        [mode !== PRIVATE, mode !== PRIVATE]);
    equal(view.toArray(), MATRIX);
    equal(view.transpose().slice('::-1').toTypedArray(), Int32Array.of(3, 6, 2, 5, 1, 4));
    equal(`${view}`, '[[1 2 3]\n [4 5 6]]');
    equal(view.to_device(host, HOST).toArray(), MATRIX);
});

testModes('a tensor is made there', (device, mode) => {
    const {StridedView} = Mtl;
    const filled = StridedView.new_filled(device, 'int8', [2], -5, mode);

    for (const view of [StridedView.new_zeros(device, 'int8', [2], mode), filled,
        StridedView.new_uninitialized(device, 'int8', [2], mode),
        StridedView.new_arange(device, 'int8', 0, 2, 1, mode),
        StridedView.new_arange_int64(device, 'int8', 0, 2, 1, mode)]) {
        ok(view.get_device() === device);
        equal(view.get_buffer().get_storage_mode(), mode);
    }
    equal(filled.toArray(), [-5, -5]);
    throwsMtl('NOT_SUPPORTED', 'host', () => StridedView.new_zeros(device, 'int8', [2], HOST));
});

testModes('what converts and copies stays there', (device, mode) => {
    const view = matrix(device, mode);
    const converted = view.slice(':, ::2').to_dtype(Mtl.DType.FLOAT32);

    ok(converted.get_device() === device);
    equal(converted.get_buffer().get_storage_mode(), mode);
    equal(converted.toArray(), [[1, 3], [4, 6]]);
    converted.slice('1').fill_double(0.5);
    view.slice(':, 1:').copy_from(converted);
    equal(view.toArray(), [[1, 1, 3], [4, 0, 0]]);
    equal(view.array_equal(view.copy()), true);
});

testModes('bytes go in and out at any place', (device, mode) => {
    const buffer = Mtl.Buffer.new(device, 11, mode);

    buffer.set_bytes(1, new GLib.Bytes(Uint8Array.of(1, 2, 3)));
    buffer.fill(5, 6, new GLib.Bytes(Uint8Array.of(8, 9)));
    buffer.copy_from(4, buffer, 2, 3);
    equal(buffer.synchronize(), true);
    equal([...buffer.dup_bytes(0, 11).toArray()], [0, 1, 2, 3, 2, 3, 0, 8, 9, 8, 9]);

    const copy = buffer.slice(1, 3).copy();
    buffer.fill(0, 11, new GLib.Bytes(Uint8Array.of(0)));
    ok(copy.device === device);
    equal([copy.storage_mode, ...copy.dup_bytes(0, 3).toArray()], [mode, 1, 2, 3]);
});

testDevices('elements of Private memory are out of reach', device => {
    const view = matrix(device, PRIVATE);

    for (const call of [() => view.get(0, 0), () => view.set(0, 0, 1), () => view.get_bytes()])
        throwsMtl('NOT_HOST_ACCESSIBLE', [], call);
    equal(view.toArray(), MATRIX);
});

testModes('DLPack carries the buffer', (device, mode) => {
    const view = matrix(device, mode);

    for (const flags of [NONE, NEVER_COPY]) {
        const [deviceType, , other] = take(view.slice('1:, ::2'), flags, UNKNOWN);
        equal([deviceType, other.toArray()], [METAL, [[4, 6]]]);
        equal(other.get_buffer().get_storage_mode(), mode);
        ok(other.get_device() === device);
    }
    const [, , other] = take(view, NONE, UNKNOWN);
    other.fill_double(7);
    equal(view.toArray(), [[7, 7, 7], [7, 7, 7]]);
});

testModes('DLPack carries it as the host’s memory', (device, mode) => {
    const view = matrix(device, mode);
    const [deviceType, copied, other] = take(view, NONE, CPU);
    const isCopied = mode === PRIVATE;

    equal([deviceType, copied, other.toArray()], [CPU, isCopied, MATRIX]);
    ok(other.get_device() === host);
    equal(other.get_address() === view.get_address(), !isCopied);
    if (isCopied)
        throwsMtl('NEEDS_COPY', '(1, 0)', () => take(view, NEVER_COPY, CPU));
    else
        equal(take(view, NEVER_COPY, CPU)[1], false);
    equal(take(view, COPY, CPU)[1], true);
});

test('memory of the host goes to the default device as a copy', () => {
    const view = Mtl.StridedView.from(MATRIX);
    const device = Mtl.Device.get_default();
    const tensor = view.export_dlpack(NONE, device);
    const other = Mtl.StridedView.new_from_dlpack(tensor);

    equal([tensor.is_copied(), other.toArray()], [true, MATRIX]);
    ok(other.get_device() === device);
    equal(other.get_buffer().get_storage_mode(), SHARED);
});

testDevices('bytes are used in place where they begin on a page', device => {
    const size = 2 * device.get_page_size();
    const shared = Mtl.Buffer.new(device, size, SHARED);
    const never = Mtl.BufferFlags.NEVER_COPY;
    const inPlace = Mtl.Buffer.new_from_bytes(shared.get_bytes(0, size), device, never);

    shared.set_bytes(5, new GLib.Bytes(Uint8Array.of(9)));
    equal([...inPlace.dup_bytes(4, 3).toArray()], [0, 9, 0]);
    throwsMtl('NEEDS_COPY', 16384,
        () => Mtl.Buffer.new_from_bytes(shared.get_bytes(64, 100), device, never));
});

testModes('a tensor of Metal is the view that it was made of', (device, mode) => {
    const {COMPUTE, MACHINE_LEARNING} = Mtl.MetalTensorUsage;
    const view = matrix(device, mode);
    const tensor = view.to_metal_tensor(COMPUTE);
    const other = Mtl.StridedView.new_from_metal_tensor(tensor);

    ok(tensor > 0 && view.to_metal_tensor(COMPUTE) === tensor);
    equal([other.toArray(), other.get_buffer().get_storage_mode()], [MATRIX, mode]);
    other.fill_double(7);
    equal(view.toArray(), [[7, 7, 7], [7, 7, 7]]);
    throwsMtl('NEEDS_COPY', '(16, 1)', () => view.to_metal_tensor(MACHINE_LEARNING));
    throwsMtl('INVALID_ARGUMENT', 16,
        () => Mtl.StridedView.new_from_metal_tensor(tensor + 1));
});

testDevices('work is put in order by events and promises', async device => {
    const event = Mtl.Event.new(device);
    const view = matrix(device, PRIVATE);
    const written = (async () => {
        await event.wait_async(1, -1, null);
        view.fill_double(5);
        event.signal(2);
    })();

    equal(await device.synchronize_async(null), true);
    equal(view.toArray(), MATRIX);
    event.signal(1);
    await event.wait_async(2, -1, null);
    equal(view.toArray(), [[5, 5, 5], [5, 5, 5]]);
    await written;
});

await run();

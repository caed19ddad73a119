/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Memory and streams of CUDA, over NVIDIA's driver or the double of it.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {
    equal, ok, recordCalls, run, testAllReached, testAnyMemory as test, throws, throwsGio, throwsMtl,
} from '../support/tap.js';

const {HOST, SHARED, MANAGED, PRIVATE, FOREIGN} = Mtl.StorageMode;
const {CPU, CUDA, CUDA_HOST} = Mtl.DeviceType;
const {NONE, COPY, NEVER_COPY} = Mtl.DlpackFlags;
const MATRIX = [[1, 2, 3], [4, 5, 6]];

Gio._promisify(Mtl.Stream.prototype, 'synchronize_async');
recordCalls('Stream');

const host = Mtl.Device.get_host();
const gpu = Mtl.Device.get(CUDA, 0);

// Runs a test in each storage mode.
function testModes(name, callback) {
    for (const mode of [SHARED, MANAGED, PRIVATE])
        test(`${name} (mode ${mode})`, () => callback(mode));
}

function matrix(mode) {
    return Mtl.StridedView.from(MATRIX, 'int32').to_device(gpu, mode);
}

function take(view, flags, device) {
    const tensor = view.export_dlpack(flags, device);
    const {device_type: type} = tensor.get_device();
    return [type, tensor.is_copied(), Mtl.StridedView.new_from_dlpack(tensor)];
}

test('a device describes itself', () => {
    ok(Mtl.Device.list().includes(gpu) && Mtl.Device.get(CUDA) === gpu);
    ok(/^GPU-[0-9a-f]{8}-/.test(gpu.get_uuid()) && gpu.uuid === gpu.get_uuid());
    ok(gpu.get_memory_size() >= 2 ** 28 && gpu.memory_size === gpu.get_memory_size());
    equal(gpu.is_host_accessible(), false);
    equal([HOST, SHARED, MANAGED, PRIVATE, FOREIGN].map(mode => gpu.supports_storage_mode(mode)),
        [false, true, true, true, false]);
    equal([SHARED, MANAGED, PRIVATE].map(
        mode => Mtl.Device.get(CUDA_HOST).supports_storage_mode(mode)), [true, false, false]);
    throwsMtl('NOT_SUPPORTED', '(2, 99)', () => Mtl.Device.get(CUDA, 99));
});

testModes('a tensor is where it was moved to', mode => {
    const view = matrix(mode);

    ok(view.get_device() === gpu);
    equal([view.get_buffer().get_storage_mode(), view.is_host_accessible()],
        [mode, mode !== PRIVATE]);
    equal(view.toArray(), MATRIX);
    equal(view.transpose().slice('::-1').toTypedArray(), Int32Array.of(3, 6, 2, 5, 1, 4));
    equal(`${view}`, '[[1 2 3]\n [4 5 6]]');
    equal(view.to_device(host, HOST).toArray(), MATRIX);
});

testModes('a tensor is made there', mode => {
    const {StridedView} = Mtl;

    for (const view of [StridedView.new_zeros(gpu, 'int8', [2], mode),
        StridedView.new_filled(gpu, 'int8', [2], -5, mode),
        StridedView.new_uninitialized(gpu, 'int8', [2], mode),
        StridedView.new_arange(gpu, 'int8', 0, 2, 1, mode)]) {
        ok(view.get_device() === gpu);
        equal(view.get_buffer().get_storage_mode(), mode);
    }
    throwsMtl('NOT_SUPPORTED', 'host', () => StridedView.new_zeros(gpu, 'int8', [2], HOST));
});

testModes('what converts, copies and fills stays there', mode => {
    const view = matrix(mode);
    const converted = view.slice(':, ::2').to_dtype(Mtl.DType.FLOAT32);

    equal([converted.get_buffer().get_storage_mode(), converted.toArray()],
        [mode, [[1, 3], [4, 6]]]);
    converted.slice('1').fill(0.5);
    view.slice(':, 1:').copy_from(converted);
    equal(view.toArray(), [[1, 1, 3], [4, 0, 0]]);
    equal(view.array_equal(view.copy()), true);
});

testModes('bytes go in and out at any place', mode => {
    const buffer = Mtl.Buffer.new(gpu, 11, mode);

    buffer.set_bytes(1, new GLib.Bytes(Uint8Array.of(1, 2, 3)));
    buffer.fill(5, 6, new GLib.Bytes(Uint8Array.of(8, 9)));
    buffer.copy_from(4, buffer, 2, 3);
    equal([...buffer.dup_bytes(0, 11).toArray()], [0, 1, 2, 3, 2, 3, 0, 8, 9, 8, 9]);
});

test('elements of Private memory are out of reach', () => {
    const view = matrix(PRIVATE);

    for (const call of [() => view.get(0, 0), () => view.set(0, 0, 1), () => view.get_bytes()])
        throwsMtl('NOT_HOST_ACCESSIBLE', '(2, 0)', call);
    equal(view.toArray(), MATRIX);
});

testModes('DLPack carries the memory', mode => {
    const view = matrix(mode);
    const isReached = mode !== PRIVATE;

    for (const flags of [NONE, NEVER_COPY]) {
        const [deviceType, copied, other] = take(view.slice('1:, ::2'), flags, null);
        equal([deviceType, copied, other.toArray()], [CUDA, false, [[4, 6]]]);
        equal(other.get_buffer().get_storage_mode(), mode);
    }
    const [deviceType, copied, other] = take(view, NONE, host);
    equal([deviceType, copied, other.toArray()], [CPU, !isReached, MATRIX]);
    equal(other.get_address() === view.get_address(), isReached);
    const forGpu = take(view, NEVER_COPY, gpu);
    equal([forGpu[0], forGpu[1]], [CUDA, false]);
    forGpu[2].fill(7);
    equal(view.toArray(), [[7, 7, 7], [7, 7, 7]]);
    equal(take(view, COPY, gpu)[1], true);
});

test('a stream describes itself', () => {
    const own = Mtl.Stream.new_for_device(gpu);
    const stream = new Mtl.Stream({device: gpu});
    const same = Mtl.Stream.new_for_handle(stream.get_handle(), gpu);

    ok(own.get_device() === gpu && stream.get_device() === gpu && stream.device === gpu);
    ok(own.get_handle() === Mtl.Stream.new_for_device(gpu).handle);
    ok(same.handle === stream.handle && stream.handle !== own.handle && stream.handle > 2);
    throwsMtl('INVALID_ARGUMENT', 0, () => Mtl.Stream.new_for_handle(0, gpu));
    throwsMtl('NOT_SUPPORTED', [], () => Mtl.Stream.new(host));
    throwsMtl('NOT_SUPPORTED', [], () => new Mtl.Stream({device: host}));
});

test('work is done in a stream', () => {
    const stream = Mtl.Stream.new(gpu);
    const view = matrix(PRIVATE);

    stream.push_thread_default();
    view.slice('1').fill(7);
    stream.pop_thread_default();
    ok(stream.synchronize());
    equal(view.toArray(), [[1, 2, 3], [7, 7, 7]]);
});

test('a function runs with a stream', async () => {
    const stream = Mtl.Stream.new(gpu);
    const view = matrix(PRIVATE);

    equal(stream.run(() => view.slice('1').fill(7)), true);
    throws(RangeError, 'stop', () => stream.run(() => {
        view.slice('0').fill(8);
        throw new RangeError('stop');
    }));
    ok(await stream.synchronize_async(null));
    equal(view.toArray(), [[8, 8, 8], [7, 7, 7]]);
    throws(TypeError, 'function', () => stream.run(5));
    throws(TypeError, 'promise', () => stream.run(async () => {}));
});

test('streams wait for each other', () => {
    const [first, second] = [Mtl.Stream.new(gpu), Mtl.Stream.new(gpu)];

    ok(first.wait_stream(second) && second.wait_stream(first) && first.synchronize());
});

test('events order streams and the host', () => {
    const stream = Mtl.Stream.new(gpu);
    const event = Mtl.Event.new(gpu);
    const view = matrix(PRIVATE);

    ok(stream.wait_event(event, 1));
    stream.run(() => view.fill(5));
    ok(stream.signal_event(event, 2));
    equal(event.get_signaled_value(), 0);
    event.signal(1);
    ok(stream.synchronize() && event.wait(2, 0));
    equal(view.toArray(), [[5, 5, 5], [5, 5, 5]]);
    throwsMtl('NOT_SUPPORTED', [], () => stream.wait_event(Mtl.Event.new(host), 1));
});

test('waits are promises', async () => {
    const cancellable = new Gio.Cancellable();
    const stream = Mtl.Stream.new(gpu);

    ok(await stream.synchronize_async());
    cancellable.cancel();
    await throwsGio('CANCELLED', () => stream.synchronize_async(cancellable));
    await throwsGio('CANCELLED', () => stream.synchronize(cancellable));
});

testAllReached('Stream', name => name !== 'synchronize_finish');
await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';
import MtlVectors from 'gi://MtlVectors?version=1';

import {defaultDevice, fetch, host, newBuffer, place, storageMode} from '../support/memory.js';
import {
    checkProperties, equal, isInBackground, ok, recordCalls, run, test, testAllReached,
    testAnyMemory, throws, throwsMtl,
} from '../support/tap.js';

const {C, F} = Mtl.Order;
const {BOOL, INT16, INT64, UINT8, UINT64, FLOAT16, FLOAT32, FLOAT64, COMPLEX64} = Mtl.DType;

recordCalls('StridedView');

function bytesOf(...values) {
    return new GLib.Bytes(new Uint8Array(values));
}

function doubles(shape, values, dtype = FLOAT64) {
    return place(Mtl.StridedView.new_from_doubles(values, dtype, shape));
}

function zeros(dtype, shape) {
    return place(Mtl.StridedView.new_zeros(host, dtype, shape));
}

// 0, 1, 2, … in that shape.
function counting(...shape) {
    const volume = shape.reduce((product, extent) => product * extent, 1);
    return doubles(shape, Array.from({length: volume}, (_, i) => i), INT16);
}

// All elements in C order, read one by one.
function valuesOf(view) {
    const fetched = fetch(view);
    let all = [[]];
    for (const extent of view.get_shape()) {
        all = all.flatMap(indices =>
            Array.from({length: extent}, (_, i) => [...indices, i]));
    }
    return all.map(indices => fetched.get_double(indices));
}

function describe(view) {
    return [view.get_shape(), valuesOf(view)];
}

// Returns the place of the first element in its buffer.
function firstByteOf(view) {
    return view.get_byte_offset() + view.layout.get_offset() * view.layout.get_item_bits() / 8;
}

testAnyMemory('a view of a buffer shares its memory', () => {
    const buffer = newBuffer(10);
    const layout = Mtl.StridedLayout.new([2, 2], [2, 1], 16);
    const view = Mtl.StridedView.new(buffer, layout, INT16, 2);

    view.slice('1:, 1').fill_double(0x0102);
    equal([...buffer.dup_bytes(0, 10).toArray()], [0, 0, 0, 0, 0, 0, 0, 0, 2, 1]);
    ok(view.get_buffer() === buffer);
    equal(view.layout.equal(layout), true);
    equal(view.get_byte_offset(), 2);
    throwsMtl('OUT_OF_BOUNDS', 10, () => Mtl.StridedView.new(buffer, layout, INT16, 4));
    throwsMtl('INVALID_ARGUMENT', 'float32',
        () => Mtl.StridedView.new(buffer, layout, FLOAT32, 0));
});

testAnyMemory('a view describes its elements and their device', () => {
    const view = zeros(FLOAT32, [2, 3]);

    equal([view.get_dtype(), view.layout.get_item_bits(), view.get_lanes()], [FLOAT32, 32, 1]);
    equal(view.is_padded(), false);
    ok(view.get_device() === defaultDevice);
    equal([view.is_host_accessible(), view.is_read_only()],
        [storageMode !== Mtl.StorageMode.PRIVATE, false]);
});

test('a tensor without a device is on the default one', () => {
    ok(Mtl.StridedView.new_zeros(null, FLOAT32, [2]).get_device() === defaultDevice);
    const view = Mtl.StridedView.new_zeros(host, FLOAT32, [2]);
    ok(view.get_device() === host);
});

testAnyMemory('a view answers what its layout knows', () => {
    const view = zeros(FLOAT32, [2, 3, 4]).slice(':, ::-1, :2');

    equal(view.get_n_dims(), 3);
    equal(view.get_shape(), [2, 3, 2]);
    equal(view.get_strides(), [12, -4, 1]);
    equal(view.layout.dup_byte_strides(), [48, -16, 4]);
    equal(view.layout.dup_stride_order(), [0, 1, 2]);
    equal([view.get_extent(1), view.layout.get_stride(1)], [3, -4]);
    equal([view.layout.get_item_bits(), view.layout.get_offset(), view.get_volume()], [32, 8, 12]);
    equal(view.layout.get_offset_bounds(), [0, 21]);
    equal(view.layout.get_required_size(), 88);
    equal(view.layout.get_flatten_mask(), 0);
    equal([view.layout.is_dense(), view.layout.is_unique(), view.is_empty()], [false, true, false]);
    equal(view.is_contiguous(C), false);
    throwsMtl('OUT_OF_BOUNDS', 3, () => view.get_extent(3));
});

test('tensors are made of nothing, of a value, of values', () => {
    equal(describe(Mtl.StridedView.new_zeros(null, UINT8, [3])), [[3], [0, 0, 0]]);
    equal(describe(Mtl.StridedView.new_filled(null, FLOAT16, [2], 1.5)), [[2], [1.5, 1.5]]);
    equal(describe(doubles([2, 2], [1, 2, 3, 4.5])), [[2, 2], [1, 2, 3, 4.5]]);
    equal(describe(doubles([], [7])), [[], [7]]);
    equal(describe(doubles([2, 0], [])), [[2, 0], []]);

    const empty = Mtl.StridedView.new_uninitialized(null, INT16, [2]);
    empty.fill_double(-3);
    equal(describe(empty), [[2], [-3, -3]]);
});

test('tensors are made of ranges of numbers', () => {
    const {new_arange, new_arange_int64} = Mtl.StridedView;
    const large = new_arange_int64(null, INT64, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 62n);

    equal(describe(new_arange(null, FLOAT32, 0, 1, 0.25)), [[4], [0, 0.25, 0.5, 0.75]]);
    equal(describe(new_arange(null, 'float4_e2m1fn', 2, -2, -1.5)), [[3], [2, 0.5, -1]]);
    equal([0, 1, 2, 3].map(i => large.getBigInt(i)),
        [-(2n ** 63n), -(2n ** 62n), 0n, 2n ** 62n]);
    throwsMtl('INVALID_ARGUMENT', 0, () => new_arange(null, FLOAT32, 0, 1, 0));
    throwsMtl('INVALID_ARGUMENT', 'inf', () => new_arange(null, FLOAT32, 0, Infinity));
    throwsMtl('OVERFLOW', [256, 'uint8'], () => new_arange_int64(null, UINT8, 0, 257));
    throwsMtl('OVERFLOW', '1e+19', () => new_arange(null, UINT8, 0, 1e19));
});

test('tensors are made in a storage mode', () => {
    const {StridedView, StorageMode} = Mtl;
    const makers = [StridedView.new_zeros, StridedView.new_uninitialized,
        (device, dtype, shape, ...rest) => StridedView.new_filled(device, dtype, shape, 7, ...rest),
        (device, dtype, shape, ...rest) =>
            StridedView.new_arange(device, dtype, 0, 2, 1, ...rest),
        (device, dtype, shape, ...rest) =>
            StridedView.new_arange_int64(device, dtype, 0, 2, 1, ...rest)];

    for (const make of makers) {
        for (const [device, mode] of [[host, 'host'], [null, StorageMode.HOST], [host, 'default']]) {
            const view = make(device, INT16, [2], mode);
            equal(view.get_buffer().get_storage_mode(), StorageMode.HOST);
            ok(view.get_device() === host);
        }
        for (const mode of ['shared', 'managed', 'private', 'foreign'])
            throwsMtl('NOT_SUPPORTED', mode, () => make(host, INT16, [2], mode));
    }
});

testAnyMemory('a tensor is made like another', () => {
    const like = Mtl.StridedView.new_zeros_like(counting(2, 3).transpose());

    equal([like.get_shape(), like.get_strides(), like.get_dtype()], [[3, 2], [1, 3], INT16]);
    equal(valuesOf(like), [0, 0, 0, 0, 0, 0]);
    equal(like.get_buffer().get_storage_mode(), storageMode);
});

test('values that do not go into a tensor are errors', () => {
    throwsMtl('INVALID_ARGUMENT', 3, () => doubles([2, 2], [1, 2, 3]));
    throwsMtl('OVERFLOW', 300, () => doubles([1], [300], UINT8));
    throwsMtl('INVALID_ARGUMENT', -2, () => Mtl.StridedView.new_zeros(null, UINT8, [-2]));
    throwsMtl('NO_MEMORY', [], () => Mtl.StridedView.new_zeros(null, UINT8, [2 ** 58]));
    throwsMtl('INVALID_ARGUMENT', [],
        () => Mtl.StridedView.new_zeros(null, Mtl.DType.OTHER, [1]));
});

test('a variant carries 64-bit integers exactly', () => {
    const values = new GLib.Variant('(axb)', [[2n ** 62n + 1n, -5n], true]);
    const view = Mtl.StridedView.new_from_variant(values, INT64, [3]);

    equal(view.getBigInt(0), 2n ** 62n + 1n);
    equal(view.get_int64([1]), -5);
    equal(view.get_int64([2]), 1);
    throwsMtl('INVALID_ARGUMENT', [],
        () => Mtl.StridedView.new_from_variant(new GLib.Variant('s', 'one'), INT64, [1]));
});

test('bytes are read in place, with the strides of a picture', () => {
    const bytes = bytesOf(1, 2, 3, 4, 99, 5, 6, 7, 8, 99);
    const view = Mtl.StridedView.new_from_bytes_with_byte_strides(bytes, UINT8, [2, 2, 2],
                                                                  [5, 2, 1]);
    const again = Mtl.StridedView.new_from_bytes(bytes, UINT8, [10]);

    equal(valuesOf(view), [1, 2, 3, 4, 5, 6, 7, 8]);
    equal(view.get_address(), again.get_address());
    equal(view.is_read_only(), true);
    throwsMtl('READ_ONLY', '(2, 2, 2)', () => view.set_double([0, 0, 0], 1));
    throwsMtl('READ_ONLY', [], () => view.fill_double(1));
    throwsMtl('READ_ONLY', [], () => view.copy_from(view));
    throwsMtl('OUT_OF_BOUNDS', 10,
        () => Mtl.StridedView.new_from_bytes_with_byte_strides(bytes, UINT8, [2, 2, 2], [7, 2, 1]));
    equal(valuesOf(view), [1, 2, 3, 4, 5, 6, 7, 8]);
});

test('elements are read and written in their own type', () => {
    const integers = Mtl.StridedView.new_zeros(null, UINT64, [2]);
    const floats = Mtl.StridedView.new_zeros(null, FLOAT32, [2, 2]);

    equal(integers.set_uint64([0], 2n ** 64n - 1n), true);
    equal(integers.getBigInt(0), 2n ** 64n - 1n);
    equal(integers.set_uint64([1], 12), true);
    equal(integers.get_uint64([1]), 12);
    equal(floats.set_double([1, -1], 0.1), true);
    equal(floats.get_double([1, 1]), Math.fround(0.1));
    equal(floats.set_int64([0, 0], -7), true);
    equal(floats.get_int64([0, 0]), -7);
});

test('complex numbers have two parts', () => {
    const view = Mtl.StridedView.new_zeros(null, COMPLEX64, [2]);

    equal(view.set_complex([1], 1.5, -2), true);
    equal(view.get_complex([1]), [true, 1.5, -2]);
    equal([view.select_real().get(1), view.select_imaginary().get(1)], [1.5, -2]);
    equal(counting(3).get_complex([2]), [true, 2, 0]);
    throwsMtl('NOT_SUPPORTED', 'complex64', () => view.get_double([1]));
});

test('bad indices and values are errors, and change nothing', () => {
    const view = counting(2, 3);

    throwsMtl('OUT_OF_BOUNDS', [3, 1], () => view.get_double([0, 3]));
    throwsMtl('OUT_OF_BOUNDS', -3, () => view.set_double([-3, 0], 1));
    throwsMtl('INVALID_ARGUMENT', [], () => view.get_double([0]));
    throwsMtl('OVERFLOW', 40000, () => view.set_int64([0, 0], 40000));
    throwsMtl('OVERFLOW', [], () => doubles([1], [-1]).get_uint64([0]));
    equal(valuesOf(view), [0, 1, 2, 3, 4, 5]);
});

test('all elements are read and written at once', () => {
    const view = counting(2, 3);

    equal(view.transpose().get_int64s(), [0, 3, 1, 4, 2, 5]);
    equal(view.set_doubles([5, 4, 3, 2, 1, -0.5]), true);
    equal(view.get_doubles(), [5, 4, 3, 2, 1, 0]);
    equal(view.select(0, 0).set_int64s([7, 8, 9]), true);
    equal(valuesOf(view), [7, 8, 9, 2, 1, 0]);
    throwsMtl('OVERFLOW', 40000, () => view.set_doubles([1, 2, 3, 4, 5, 40000]));
    throwsMtl('INVALID_ARGUMENT', 1, () => view.set_int64s([1]));
    equal(Mtl.DType.get_kind(view.dtype), Mtl.DTypeKind.INT);
});

testAnyMemory('reshaping and flattening share the memory', () => {
    const view = counting(2, 3, 2);

    equal(describe(view.reshape([3, -1])), [[3, 4], valuesOf(view)]);
    equal(describe(view.flatten(0, -1)), [[12], valuesOf(view)]);
    equal(view.reshape([12]).get_address(), view.get_address());
    view.reshape([12]).slice('5:6').fill_double(50);
    equal(valuesOf(view), [0, 1, 2, 3, 4, 50, 6, 7, 8, 9, 10, 11]);
    throwsMtl('NEEDS_COPY', [], () => view.transpose().reshape([12]));
});

testAnyMemory('a view is filled with the bytes of one element', () => {
    const view = zeros(Mtl.DType.UINT64, [2, 2]);
    const packed = zeros(Mtl.DType.FLOAT4_E2M1FN, [5]);

    equal(view.slice('1').fill(bytesOf(...Array(8).fill(255))), true);
    equal([view.getBigInt(0, 1), view.getBigInt(1, 1)], [0n, 2n ** 64n - 1n]);
    packed.slice('1:4').fill(bytesOf(0x0f));
    equal(valuesOf(packed), [0, -6, -6, -6, 0]);
    throwsMtl('INVALID_ARGUMENT', ['uint64', 8], () => view.fill(bytesOf(1)));
});

testAnyMemory('the same bytes are seen as other elements', () => {
    const view = counting(2, 4);
    const bytes = view.reinterpret(UINT8);

    equal(describe(bytes.select(0, 0)), [[8], [0, 0, 1, 0, 2, 0, 3, 0]]);
    equal(describe(bytes.reinterpret(INT16)), describe(view));
    equal(view.layout.get_max_compatible_item_bits(128, 0, -1), 64);
    throwsMtl('INVALID_ARGUMENT', 3,
        () => view.slice(':, :3').reinterpret(Mtl.DType.INT32));
});

testAnyMemory('views tell whether they share a byte', () => {
    const view = counting(4, 6);

    equal(view.overlaps(view.transpose()), true);
    equal(view.slice(':, ::2').overlaps(view.slice(':, 1::2')), false);
    equal(view.overlaps(view.copy()), false);
});

testAnyMemory('axes change places without a copy', () => {
    const view = counting(2, 3);
    const transposed = [[3, 2], [0, 3, 1, 4, 2, 5]];

    equal(describe(view.transpose()), transposed);
    equal(describe(view.permute([1, 0])), transposed);
    equal(describe(view.swap_axes(0, 1)), transposed);
    equal(view.transpose().get_address(), view.get_address());
    equal(view.transpose().is_contiguous(F), true);
    throwsMtl('INVALID_ARGUMENT', [], () => view.permute([0]));
});

testAnyMemory('axes come, go and repeat', () => {
    const view = counting(1, 3);

    equal(view.squeeze().get_shape(), [3]);
    equal(view.squeeze_axes([0]).get_shape(), [3]);
    equal(view.unsqueeze([1]).get_shape(), [1, 1, 3]);
    equal(describe(view.broadcast_to([2, 3])), [[2, 3], [0, 1, 2, 0, 1, 2]]);
    throwsMtl('INVALID_ARGUMENT', [], () => view.broadcast_to([2, 4]));
});

testAnyMemory('parts are taken without a copy', () => {
    const view = counting(3, 4);

    equal(describe(view.narrow(1, 0, 4, 2)), [[3, 2], [0, 2, 4, 6, 8, 10]]);
    equal(describe(view.select(0, -1)), [[4], [8, 9, 10, 11]]);
    equal(describe(view.flip(1).select(0, 0)), [[4], [3, 2, 1, 0]]);
    equal(describe(view.slice('1:, ::-3')), [[2, 2], [7, 4, 11, 8]]);
    equal(firstByteOf(view.select(0, 1)), firstByteOf(view) + 4 * 2);
    if (view.is_host_accessible())
        equal(view.select(0, 1).get_address(), view.get_address() + 4 * 2);
    view.slice('..., 0').fill_double(-1);
    equal(valuesOf(view), [-1, 1, 2, 3, -1, 5, 6, 7, -1, 9, 10, 11]);
});

testAnyMemory('a closed view is empty, and others keep the memory', () => {
    const view = counting(2);
    const row = view.slice('1:');

    equal([view.close(), view.get_shape(), valuesOf(row)], [false, [0], [1]]);
    equal([row.close(), row.get_volume(), row.close()], [true, 0, true]);
});

testAnyMemory('a view in use is not closed', async () => {
    const view = counting(1000);
    const statistics = view.compute_statistics_async();

    throwsMtl('BUSY', [0, 1], () => view.close());
    equal(view.get_shape(), [1000]);
    equal((await statistics).get_count(), 1000);
    equal([view.close(), view.get_shape()], [true, [0]]);
});

testAnyMemory('a view in use by its own operation is not closed', () => {
    const view = counting(1000);
    let nRefused = 0;

    view.compute_statistics(null, () => {
        throwsMtl('BUSY', [], () => view.close());
        nRefused++;
    });
    ok(nRefused > 0);
    equal([view.get_shape(), view.close()], [[1000], true]);
});

test('a read-only view of writable memory refuses writes', () => {
    const view = counting(2);
    const reader = view.as_read_only();

    equal([reader.is_read_only(), view.is_read_only()], [true, false]);
    equal(reader.get_address(), view.get_address());
    throwsMtl('READ_ONLY', [], () => reader.set_double([0], 5));
    throwsMtl('READ_ONLY', [], () => reader.slice('0').set_int64([], 5));
    view.set_double([0], 5);
    equal(reader.get_double([0]), 5);
});

testAnyMemory('copies have their own memory, and convert and broadcast', () => {
    const view = counting(2, 3);
    const copy = view.transpose().copy();
    const target = zeros(FLOAT32, [2, 3]);

    equal(describe(copy), [[3, 2], [0, 3, 1, 4, 2, 5]]);
    ok(!copy.get_buffer().equal(view.get_buffer()));
    equal(copy.get_buffer().get_storage_mode(), storageMode);
    equal(copy.is_contiguous(C), true);
    equal(target.copy_from(view.select(0, 1)), true);
    equal(valuesOf(target), [3, 4, 5, 3, 4, 5]);
    throwsMtl('INVALID_ARGUMENT', [], () => target.copy_from(counting(4)));
});

testAnyMemory('overlapping copies behave as if through a temporary', () => {
    const view = counting(5);

    view.slice('1:').copy_from(view.slice(':-1'));
    equal(valuesOf(view), [0, 0, 1, 2, 3]);
});

testAnyMemory('conversions give the view itself where nothing is to be done', () => {
    const view = doubles([3], [-1.7, 2.5, 300]);

    ok(view.to_contiguous() === view);
    ok(view.to_dtype(FLOAT64) === view);
    ok(view.to_device(defaultDevice, storageMode) === view);
    equal(view.to_device(host, Mtl.StorageMode.HOST).toArray(), [-1.7, 2.5, 300]);
    equal(valuesOf(view.to_dtype(INT16)), [-1, 2, 300]);
    equal(valuesOf(view.to_dtype(BOOL)), [1, 1, 1]);
    equal(valuesOf(view.flip(0).to_contiguous()), [300, 2.5, -1.7]);
    throwsMtl('NOT_SUPPORTED', [], () => view.to_device(host, Mtl.StorageMode.PRIVATE));
});

testAnyMemory('values are compared', () => {
    const view = doubles([2], [1, 2]);

    equal(view.array_equal(doubles([2], [1, 2], FLOAT32)), true);
    equal(view.array_equal(doubles([2], [1, 2.001])), false);
    equal(view.all_close(doubles([2], [1, 2.001]), 0, 0.01), true);
    equal(view.all_close(doubles([2], [1, 2.1]), 0, 0.01), false);
    equal(view.array_equal(view.unsqueeze([0])), false);
});

testAnyMemory('views are equal that describe the same elements of the same memory', () => {
    const view = doubles([2], [1, 2]);

    equal(view.equal(view.reshape([2])), true);
    equal(view.hash(), view.reshape([2]).hash());
    for (const other of [view.copy(), view.flip(0), view.as_read_only(),
        view.reinterpret(Mtl.DType.INT64), view.slice('1:')])
        equal(view.equal(other), false);
});

testAnyMemory('properties of views are what their getters return', () => {
    const view = counting(2, 3).slice(':, ::-2');

    equal([view.nDims, view.layout.offset, view.volume, view.layout.item_bits], [2, 2, 4, 16]);
    ok(view.layout === view.get_layout());
    equal([view.dtype, view.lanes], [INT16, 1]);
    ok(view.buffer === view.get_buffer() && view.device === defaultDevice);
    equal(view.layout.shape, [2, 2]);
    equal([view.readOnly, view.as_read_only().readOnly], [false, true]);
    for (const other of [view, counting(2).as_read_only(), counting(3, 0), vectors(),
        counting(1).broadcast_to([2]), zeros(Mtl.DType.FLOAT4_E2M1FN, [3]),
        counting(4).slice('1:').reinterpret(UINT8)])
        checkProperties(other);
});

testAnyMemory('elements go out as copied bytes', () => {
    const view = doubles([2, 2], [1, 2, 3, 4], UINT8);

    equal([...view.dup_bytes().toArray()], [1, 2, 3, 4]);
    equal([...view.transpose().dup_bytes().toArray()], [1, 3, 2, 4]);
});

test('elements go out as shared bytes', () => {
    const view = doubles([2, 2], [1, 2, 3, 4], UINT8);
    const shared = view.get_bytes();

    view.set_double([0, 0], 9);
    equal([...shared.toArray()], [9, 2, 3, 4]);
    throwsMtl('NEEDS_COPY', [], () => view.transpose().get_bytes());
});

testAnyMemory('elements are printed as by NumPy', () => {
    const view = counting(2, 3);

    equal(view.to_string(), '[[0 1 2]\n [3 4 5]]');
    equal(doubles([2], [1, 2.5]).to_string(), '[1.  2.5]');
    equal(counting(10).format(10), '[0 1 2 3 4 5 6 7 8 9]');
});

test('of many elements the first and the last are printed', () => {
    equal(counting(20).format(10), '[ 0  1  2 ... 17 18 19]');
});

testAnyMemory('DLPack carries a view without a copy', () => {
    const view = counting(2, 3);
    const tensors = [view.export_dlpack(),
        view.export_dlpack(Mtl.DlpackFlags.NEVER_COPY)];

    for (const [i, tensor] of tensors.entries()) {
        const imported = Mtl.StridedView.new_from_dlpack(tensor);
        equal(describe(imported), describe(view));
        equal(imported.get_address(), view.get_address());
        imported.slice('1, 2:').fill_double(77 + i);
        equal(valuesOf(view), [0, 1, 2, 3, 4, 77 + i]);
    }
});

// Four floats each: 0 to 3, 4 to 7, 8 to 11.
function vectors() {
    const view = MtlVectors.import(FLOAT32, 4, 3);
    view.copy_from(counting(3, 4));
    return place(view);
}

testAnyMemory('elements of several lanes are described, and printed as an axis', () => {
    const view = vectors();

    equal([view.dtype, view.get_lanes(), view.layout.get_item_bits()], [FLOAT32, 4, 128]);
    equal([view.shape, view.strides, view.size], [[3], [1], 3]);
    equal(view.slice('::-2').toString(), '[[ 8.  9. 10. 11.]\n [ 0.  1.  2.  3.]]');
    equal(view.toArray(), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]);
    equal(view.slice('1:').toTypedArray(), Float32Array.of(4, 5, 6, 7, 8, 9, 10, 11));
    equal([...view.slice(':2')], [[0, 1, 2, 3], [4, 5, 6, 7]]);
});

testAnyMemory('elements of several lanes are copied, converted and seen as numbers', () => {
    const view = vectors();
    const copy = view.copy();

    equal([copy.get_lanes(), copy.array_equal(view)], [4, true]);
    copy.slice('1').fill_double(-1);
    equal(copy.toArray(), [[0, 1, 2, 3], [-1, -1, -1, -1], [8, 9, 10, 11]]);
    equal(describe(view.to_dtype(INT16)), describe(counting(3, 4)));
    equal(describe(view.reinterpret(FLOAT32)), describe(counting(12)));
});

test('lanes are read and written by an index more', () => {
    const view = vectors();

    equal([view.get(1, 2), view.get(-1, -1)], [6, 11]);
    view.set(1, 2, -6);
    equal(view.toArray()[1], [4, 5, -6, 7]);
    throwsMtl('INVALID_ARGUMENT', 1, () => view.get(1));
    throwsMtl('OUT_OF_BOUNDS', 4, () => view.get(1, 4));

    const nibbles = MtlVectors.import(Mtl.DType.FLOAT4_E2M1FN, 2, 3);
    nibbles.set(2, 1, -0.5);
    equal([nibbles.layout.get_item_bits(), nibbles.get(2, 1)], [8, -0.5]);
    equal(nibbles.slice('1:').toArray(), [[0, 0], [0, -0.5]]);

    const integers = MtlVectors.import(INT64, 2, 2);
    integers.set(1, 0, 2n ** 62n + 1n);
    equal([integers.getBigInt(1, 0), integers.getBigInt(1, 1)], [2n ** 62n + 1n, 0n]);
    throwsMtl('INVALID_ARGUMENT', 1, () => integers.getBigInt(1));
    throwsMtl('OUT_OF_BOUNDS', 2, () => integers.getBigInt(1, 2));
});

test('memory of the host is no tensor of Metal', () => {
    const view = Mtl.StridedView.new_zeros(host, FLOAT32, [2]);

    throwsMtl('NOT_SUPPORTED', 'Metal', () => view.to_metal_tensor(Mtl.MetalTensorUsage.COMPUTE));
    throws(GLib.Error, [],
        () => Mtl.StridedView.new_from_metal_tensor(1));
});

testAnyMemory('elements are described and scaled', () => {
    const view = counting(3, 4);

    equal(place(view).compute_statistics().maximum, 11);
    equal(place(view).compute_statistics().mean, 5.5);
    equal(Array.from(place(view).compute_histogram(0, 12, 3)), [4, 4, 4]);
    equal(place(view).reduce(Mtl.Reduction.MEAN, [0]).toArray(), [4, 5, 6, 7]);
    equal(view.copy_scaled_from(counting(3, 4), 2, -1), true);
    equal(fetch(view).get(2, 3), 21);
});

test('a view is described for another process', () => {
    const view = Mtl.StridedView.from([[1, 2], [3, 4]]).slice('::-1');
    const variant = view.to_variant();
    const named = view.to_variant(null, new GLib.Variant('a{sv}',
        {name: GLib.Variant.new_string('x')}));

    equal(variant.get_type_string(), '(vtyyqaxaxa{sv})');
    equal(Mtl.StridedView.new_from_variant_fds(variant).toArray(), [[3, 4], [1, 2]]);
    equal(named.recursiveUnpack()[7], {name: 'x'});
    throwsMtl('INVALID_DATA', 's',
        () => Mtl.StridedView.new_from_variant_fds(GLib.Variant.new_string('x')));
});

testAllReached('StridedView', name => !isInBackground(name));
await run();

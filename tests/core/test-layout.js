/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Mtl from 'gi://Mtl?version=1';

import {
    checkProperties, equal, ok, recordCalls, run, test, testAllReached, throwsMtl,
} from '../support/tap.js';

const {C, F, K, ANY} = Mtl.Order;

recordCalls('StridedLayout');

function dense(...shape) {
    return Mtl.StridedLayout.new_dense(shape, C, 32);
}

// The offsets of all elements in C order, by the definition of a layout.
function offsetsOf(layout) {
    const [shape, strides] = [layout.get_shape(), layout.get_strides()];
    let offsets = [layout.get_offset()];

    shape.forEach((extent, axis) => {
        offsets = offsets.flatMap(
            offset => Array.from({length: extent}, (_, i) => offset + i * strides[axis]));
    });
    return offsets;
}

function describe(layout) {
    return [layout.get_shape(), layout.get_strides(), layout.get_offset()];
}

test('a layout without strides is in C order', () => {
    const layout = Mtl.StridedLayout.new([2, 3, 4], null, 16);

    equal(describe(layout), [[2, 3, 4], [12, 4, 1], 0]);
    equal(layout.get_n_dims(), 3);
    equal(layout.get_item_bits(), 16);
    equal(layout.get_volume(), 24);
    equal(layout.get_required_size(), 48);
    equal(offsetsOf(layout), Array.from({length: 24}, (_, i) => i));
});

test('strides are given in elements or in bytes', () => {
    const layout = Mtl.StridedLayout.new([2, 3], [8, -2], 32);

    equal(describe(layout), [[2, 3], [8, -2], 0]);
    equal(layout.dup_byte_strides(), [32, -8]);
    equal(layout.get_offset_bounds(), [-4, 8]);
    equal(layout.get_stride(-1), -2);
    equal(layout.get_extent(0), 2);
    equal(describe(Mtl.StridedLayout.new_with_byte_strides([2, 3], [32, -8], 32)),
        describe(layout));
    throwsMtl('INVALID_ARGUMENT', 30,
        () => Mtl.StridedLayout.new_with_byte_strides([2, 3], [30, -8], 32));
    throwsMtl('OUT_OF_BOUNDS', 2, () => layout.get_extent(2));
    throwsMtl('OUT_OF_BOUNDS', -3, () => layout.get_stride(-3));
    throwsMtl('NOT_SUPPORTED', 4, () => Mtl.StridedLayout.new([2], null, 4).dup_byte_strides());
});

test('dense layouts come in any order of axes', () => {
    equal(Mtl.StridedLayout.new_dense([2, 3, 4], F, 8).get_strides(), [1, 2, 6]);
    equal(Mtl.StridedLayout.new_dense_for_axes([2, 3, 4], [1, 0, 2], 8).get_strides(), [4, 8, 1]);
    equal(Mtl.StridedLayout.new_dense_for_axes([2, 3, 4], [1, 0, 2], 8).dup_stride_order(),
        [1, 0, 2]);
    throwsMtl('INVALID_ARGUMENT', [],
        () => Mtl.StridedLayout.new_dense_for_axes([2, 3], [0, 0], 8));
    for (const order of [K, ANY])
        equal(Mtl.StridedLayout.new_dense([2, 3], order, 8).get_strides(), [3, 1]);
});

test('a dense layout is made after another', () => {
    const layout = dense(4, 6).transpose().flip(0).narrow(1, 0, 4, 2);

    equal(layout.to_dense(K).get_strides(), [1, 6]);
    equal(layout.to_dense(C).get_strides(), [2, 1]);
    equal(describe(layout.to_dense(F)), [[6, 2], [1, 6], 0]);
});

test('a layout fits a tensor of Metal', () => {
    const {COMPUTE, MACHINE_LEARNING} = Mtl.MetalTensorUsage;
    const layout = dense(2, 3).transpose();

    equal(layout.fit_metal_tensor('int32', COMPUTE).get_strides(), [1, 3]);
    equal(layout.fit_metal_tensor('float32', COMPUTE | MACHINE_LEARNING).get_strides(), [16, 1]);
    throwsMtl('NOT_SUPPORTED', 'int64', () => layout.fit_metal_tensor(Mtl.DType.INT64, COMPUTE));
});

test('bad shapes are errors', () => {
    throwsMtl('INVALID_ARGUMENT', -3, () => dense(2, -3));
    throwsMtl('INVALID_ARGUMENT', 65, () => dense(...new Array(65).fill(1)));
    throwsMtl('INVALID_ARGUMENT', [], () => Mtl.StridedLayout.new([2, 3], [1], 8));
    throwsMtl('OVERFLOW', [], () => dense(2 ** 40, 2 ** 40));
    equal(dense(...new Array(64).fill(1)).get_n_dims(), 64);
});

test('contiguity and density are told apart', () => {
    const layout = dense(2, 3);
    const transposed = layout.transpose();
    const broadcast = dense(3).broadcast_to([2, 3]);

    equal([C, F, ANY].map(order => layout.is_contiguous(order)), [true, false, true]);
    equal([C, F, ANY].map(order => transposed.is_contiguous(order)), [false, true, true]);
    equal(dense(3, 2).swap_axes(0, 1).is_dense(), true);
    equal(layout.narrow(1, 0, 2, 1).is_dense(), false);
    equal([layout.is_unique(), broadcast.is_unique()], [true, false]);
    equal(Mtl.StridedLayout.new([2, 3], [-6, -5], 8).is_unique(), true);
    equal([dense(2, 0).is_empty(), layout.is_empty()], [true, false]);
});

test('layouts are equal that lead to the same places', () => {
    equal(dense(2, 3).equal(dense(2, 3)), true);
    equal(dense(2, 3).hash(), dense(2, 3).hash());
    equal(dense(2, 3).equal(dense(3, 2)), false);
    equal(dense(2, 3).equal(dense(2, 3).flip(0)), false);
});

test('reshape keeps the elements in C order', () => {
    const layout = dense(4, 6);

    equal(describe(layout.reshape([2, -1, 3])), [[2, 4, 3], [12, 3, 1], 0]);
    equal(offsetsOf(layout.narrow(1, 0, 6, 2).reshape([12])),
        offsetsOf(layout.narrow(1, 0, 6, 2)));
    throwsMtl('INVALID_ARGUMENT', 24, () => layout.reshape([5, 5]));
    throwsMtl('NEEDS_COPY', [], () => layout.transpose().reshape([24]));
});

test('flatten merges axes, all or those of a mask', () => {
    const layout = dense(2, 3, 4).narrow(0, 0, 2, 1);

    equal(describe(layout.flatten(0, -1)), [[24], [1], 0]);
    equal(describe(layout.flatten(1, 2)), [[2, 12], [12, 1], 0]);
    equal(layout.get_flatten_mask(), 0b110);
    equal(describe(layout.flatten_mask(0b100)), [[2, 12], [12, 1], 0]);
    equal(describe(layout.flatten_mask(0b010)), [[6, 4], [4, 1], 0]);
    throwsMtl('OUT_OF_BOUNDS', [], () => layout.flatten_mask(0b1000));
    throwsMtl('NEEDS_COPY', [], () => layout.transpose().flatten(0, -1));
});

test('elements are made of others', () => {
    const floats = Mtl.StridedLayout.new([3, 4], [8, 1], 32);

    equal(describe(floats.repack(64)), [[3, 2], [4, 1], 0]);
    equal(floats.repack(8, 1).get_shape(), [3, 16]);
    equal(floats.transpose().repack(128, 0).squeeze(0).get_shape(), [3]);
    equal(floats.transpose().repack(128, 0).get_shape(), [1, 3]);
    equal(floats.get_max_compatible_item_bits(128, 8, -1), 64);
    throwsMtl('INVALID_ARGUMENT', 48, () => floats.repack(48));
    throwsMtl('NEEDS_COPY', [], () => floats.repack(64, 0));
});

test('axes change places', () => {
    const layout = dense(2, 3, 4);

    equal(describe(layout.permute([2, 0, 1])), [[4, 2, 3], [1, 12, 4], 0]);
    equal(describe(layout.permute([-1, 0, 1])), [[4, 2, 3], [1, 12, 4], 0]);
    equal(describe(layout.transpose()), [[4, 3, 2], [1, 4, 12], 0]);
    equal(describe(layout.swap_axes(0, -1)), [[4, 3, 2], [1, 4, 12], 0]);
    throwsMtl('INVALID_ARGUMENT', [], () => layout.permute([0, 1, 1]));
    throwsMtl('OUT_OF_BOUNDS', 3, () => layout.permute([0, 1, 3]));
    throwsMtl('OUT_OF_BOUNDS', 5, () => layout.swap_axes(0, 5));
});

test('axes of extent 1 come and go', () => {
    const layout = dense(1, 3, 1);

    equal(layout.squeeze().get_shape(), [3]);
    equal(layout.squeeze_axes([-1]).get_shape(), [1, 3]);
    equal(layout.unsqueeze([0, -1]).get_shape(), [1, 1, 3, 1, 1]);
    equal(offsetsOf(layout.unsqueeze([1])), [0, 1, 2]);
    throwsMtl('INVALID_ARGUMENT', 3, () => layout.squeeze_axes([1]));
    throwsMtl('OUT_OF_BOUNDS', [], () => layout.unsqueeze([7]));
});

test('broadcasting repeats without a copy', () => {
    equal(describe(dense(3, 1).broadcast_to([2, 3, 4])), [[2, 3, 4], [0, 1, 0], 0]);
    throwsMtl('INVALID_ARGUMENT', [], () => dense(3).broadcast_to([2, 4]));
});

test('narrow, select and flip follow Python', () => {
    const layout = dense(10);
    const lowest = -(2n ** 63n);

    equal(offsetsOf(layout.narrow(0, 2, -1, 3)), [2, 5, 8]);
    equal(offsetsOf(layout.narrow(0, 7, 2, -2)), [7, 5, 3]);
    equal(offsetsOf(layout.narrow(0, 3, lowest, -1)), [3, 2, 1, 0]);
    equal(offsetsOf(layout.narrow(0, 8, 100, 1)), [8, 9]);
    equal(offsetsOf(layout.select(0, -3)), [7]);
    equal(offsetsOf(layout.flip(0)), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    throwsMtl('INVALID_ARGUMENT', 0, () => layout.narrow(0, 0, 3, 0));
    throwsMtl('OUT_OF_BOUNDS', 10, () => layout.select(0, 10));
    throwsMtl('OUT_OF_BOUNDS', 1, () => layout.flip(1));
});

test('slices are written as in Python', () => {
    const layout = dense(4, 5, 6);

    equal(describe(layout.slice('1:3, ..., ::-1')), [[2, 5, 6], [30, 6, -1], 35]);
    equal(layout.slice('-1, newaxis, :2').get_shape(), [1, 2, 6]);
    equal(layout.slice('-1, newaxis, :2').get_offset(), 90);
    equal(offsetsOf(layout.slice('2, 3, 4')), [2 * 30 + 3 * 6 + 4]);
    throwsMtl('OUT_OF_BOUNDS', 4, () => layout.slice('4'));
    throwsMtl('INVALID_ARGUMENT', 'nonsense', () => layout.slice('nonsense'));
});

test('properties of layouts are what their getters return', () => {
    const layout = dense(2, 3).transpose().slice('::-1');

    equal([layout.n_dims, layout.itemBits, layout.offset, layout.volume], [2, 32, 2, 6]);
    for (const other of [layout, dense(), dense(2, 3), dense(0), dense(1).broadcast_to([2])])
        checkProperties(other);
});

test('a layout is shown with its shape and strides', () => {
    const text = dense(2, 3).to_string();

    ok(text.includes('2, 3') && text.includes('3, 1'), text);
});

testAllReached('StridedLayout');
await run();

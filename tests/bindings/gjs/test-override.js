/* SPDX-License-Identifier: LGPL-2.1-or-later */

import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {place} from '../../support/memory.js';
import {equal, ok, run, test, testAnyMemory, throws, throwsMtl} from '../../support/tap.js';

const {StridedView} = Mtl;
const {BOOL, INT16, INT64, UINT8, UINT64, FLOAT32, COMPLEX64} = Mtl.DType;

const MATRIX = [[1, 2, 3], [4, 5, 6]];

testAnyMemory('views and layouts have getters', () => {
    const view = place(StridedView.from(MATRIX));
    const layout = view.layout;

    equal([view.shape, view.strides, view.ndim, view.size], [[2, 3], [3, 1], 2, 6]);
    equal([layout.shape, layout.strides, layout.ndim, layout.size], [[2, 3], [3, 1], 2, 6]);
    equal(view.dtype, INT64);
});

testAnyMemory('views and layouts are strings of what they hold', () => {
    const view = place(StridedView.from(MATRIX));

    equal(`${view}`, '[[1 2 3]\n [4 5 6]]');
    equal(`${view.layout}`, view.layout.to_string());
});

test('the old imports have the same', () => {
    ok(imports.gi.Mtl.StridedView.from === StridedView.from);
});

test('get and set take indices as arguments', () => {
    const view = StridedView.from(MATRIX, INT16);

    equal(view.get(1, -1), 6);
    view.set(1, 2, -9);
    equal(view.get(1, 2), -9);
    equal(StridedView.from(3).get(), 3);
    throwsMtl('OUT_OF_BOUNDS', 3, () => view.get(0, 3));
    throwsMtl('INVALID_ARGUMENT', [], () => view.get(0));
    throwsMtl('OVERFLOW', 40000, () => view.set(0, 0, 40000));
    throwsMtl('READ_ONLY', [], () => view.as_read_only().set(0, 0, 1));
    throws(TypeError, '“1”', () => view.set(0, 0, '1'));
    throws(TypeError, 'undefined', () => view.set());
    for (const index of ['a', '1', 1.5, NaN, undefined, [0, 1]]) {
        throws(TypeError, 'integer', () => view.get(index, 0));
        throws(TypeError, 'integer', () => view.set(index, 0, 1));
    }
    equal(view.toArray(), [[1, 2, 3], [4, 5, -9]]);
});

test('element types may be named', () => {
    equal(StridedView.from([1, 2], 'float32').dtype, FLOAT32);
    throwsMtl('INVALID_ARGUMENT', 'float33', () => StridedView.from([1, 2], 'float33'));
});

test('truth values are booleans', () => {
    const view = StridedView.from([true, false]);

    view.set(1, true);
    equal([view.dtype, view.get(0), view.toArray()], [BOOL, true, [true, true]]);
    equal(view.toTypedArray(), Uint8Array.of(1, 1));
});

test('complex numbers are pairs', () => {
    const view = StridedView.from([[1, 2], [3, -4]], COMPLEX64);

    equal(view.shape, [2]);
    equal(view.get(1), [3, -4]);
    view.set(0, [0.5, 0.25]);
    view.set(1, 7);
    equal(view.toArray(), [[0.5, 0.25], [7, 0]]);
    equal(view.toTypedArray(), Float32Array.of(0.5, 0.25, 7, 0));
    equal(StridedView.from(view.toTypedArray(), COMPLEX64).array_equal(view), true);
    throws(TypeError, '[re, im]', () => view.set(0, [1, 2, 3]));
    throwsMtl('INVALID_ARGUMENT', '(2,)', () => StridedView.from([1]).set(0, [1, 2]));
    throws(TypeError, '[re, im]', () => StridedView.from([1, 2, 3], COMPLEX64));
    equal(StridedView.from(1, 'complex64').toArray(), [1, 0]);
    throws(TypeError, '[re, im]', () => StridedView.from(Float64Array.of(1), COMPLEX64));
    equal(StridedView.from([], COMPLEX64).toArray(), []);
});

test('64-bit integers are rounded by get, and exact in getBigInt', () => {
    const view = StridedView.from([[2n ** 53n + 1n, -1n]]);

    equal([view.dtype, view.shape], [INT64, [1, 2]]);
    equal(view.get(0, 0), 2 ** 53);
    equal(view.getBigInt(0, 0), 2n ** 53n + 1n);
    view.set(0, -1, -(2n ** 63n));
    equal(view.getBigInt(0, 1), -(2n ** 63n));
    equal(view.toTypedArray(), BigInt64Array.of(2n ** 53n + 1n, -(2n ** 63n)));
    throwsMtl('INVALID_ARGUMENT', [1, 2], () => view.getBigInt(0));
    throws(TypeError, 'int64', () => StridedView.from([0.5]).getBigInt(0));
    throwsMtl('OUT_OF_BOUNDS', 5, () => view.getBigInt(0, 5));
});

test('unsigned 64-bit integers have all their bits', () => {
    const view = StridedView.from([2n ** 64n - 1n, 5n], UINT64);

    equal(view.getBigInt(0), 2n ** 64n - 1n);
    view.set(1, 2n ** 63n);
    equal(view.toTypedArray(), BigUint64Array.of(2n ** 64n - 1n, 2n ** 63n));
    equal(StridedView.from([2n ** 63n, 1n]).dtype, UINT64);
    throws(Error, 'range', () => StridedView.from([2n ** 64n]));
    throws(Error, 'range', () => StridedView.from([-1n], UINT64));
});

testAnyMemory('64-bit integers are read exactly one by one', () => {
    const view = place(StridedView.from([[2n ** 53n + 1n, -1n]]));

    equal(view.getBigInt(0, 0), 2n ** 53n + 1n);
});

testAnyMemory('iteration gives the parts along the first axis', () => {
    equal([...place(StridedView.from(MATRIX))].map(row => row.toArray()), MATRIX);
});

test('iteration goes along the first axis', () => {
    const view = StridedView.from(MATRIX);
    const rows = [...view];

    equal(rows.map(row => [...row]), MATRIX);
    rows[1].set(0, 50);
    equal(view.get(1, 0), 50);
    equal([...view.slice(':, 0')], [1, 50]);
    equal([...StridedView.from([])], []);
    throws(TypeError, [], () => [...StridedView.from(1)]);
});

test('typed arrays keep their type, in both directions', () => {
    const classes = [Int8Array, Int16Array, Int32Array, Uint8Array, Uint16Array, Uint32Array,
        Float32Array, Float64Array];

    for (const arrayClass of classes) {
        const values = arrayClass.of(1, 2, 100);
        equal(StridedView.from(values).toTypedArray(), values);
    }
    for (const arrayClass of [BigInt64Array, BigUint64Array]) {
        const values = arrayClass.of(1n, 2n ** 62n + 1n);
        equal(StridedView.from(values).toTypedArray(), values);
    }
    equal(StridedView.from(Uint8ClampedArray.of(300)).toTypedArray(), Uint8Array.of(255));
    equal(StridedView.from(new Float32Array()).shape, [0]);
});

test('a tensor of a typed array is its own', () => {
    const values = Float32Array.of(0, 1, 2, 3);
    const view = StridedView.from(values.subarray(1, 3));

    values.fill(9);
    equal(view.toArray(), [1, 2]);
    view.set(0, 5);
    equal(view.is_read_only(), false);
    equal(view.toArray(), [5, 2]);
    equal([...values], [9, 9, 9, 9]);
});

test('a typed array is converted to another dtype', () => {
    const view = StridedView.from(Float64Array.of(1.9, 257), UINT8);

    equal([view.dtype, view.toArray()], [UINT8, [1, 255]]);
    throws(TypeError, 'DataView', () => StridedView.from(new DataView(new ArrayBuffer(2))));
});

testAnyMemory('toTypedArray copies in C order', () => {
    const view = place(StridedView.from(MATRIX, FLOAT32));
    const values = view.transpose().toTypedArray();

    equal(values, Float32Array.of(1, 4, 2, 5, 3, 6));
    values.fill(0);
    equal(view.toArray(), MATRIX);
});

testAnyMemory('small floats are widened', () => {
    for (const name of ['FLOAT16', 'BFLOAT16', 'FLOAT8_E3M4', 'FLOAT8_E4M3',
        'FLOAT8_E4M3B11FNUZ', 'FLOAT8_E4M3FN', 'FLOAT8_E4M3FNUZ', 'FLOAT8_E5M2',
        'FLOAT8_E5M2FNUZ', 'FLOAT6_E2M3FN', 'FLOAT6_E3M2FN', 'FLOAT4_E2M1FN']) {
        const view = place(StridedView.from([0.5, -2], Mtl.DType[name]));
        equal(view.toTypedArray(), Float32Array.of(0.5, -2));
    }

    equal(place(StridedView.from([[0.5, 2]], Mtl.DType.COMPLEX32)).toArray(), [[0.5, 2]]);
});

testAnyMemory('elements of part of a byte are read and written', () => {
    const packed = StridedView.from([[0.5, -6, 1], [100, 2, 3]], 'float4_e2m1fn');
    const column = packed.slice(':, 1');

    equal(packed.layout.get_item_bits(), 4);
    equal(packed.get(1, 0), 6);
    column.set(0, -1.5);
    equal(place(packed).toArray(), [[0.5, -1.5, 1], [6, 2, 3]]);
    equal(place(column).toArray(), [-1.5, 2]);
    equal([...packed.slice('1')], [6, 2, 3]);
});

testAnyMemory('integers of part of a byte are read and written', () => {
    for (const [name, values, TypedArray] of [
        ['int2', [-2, 1, 0, -1, 1], Int8Array], ['int4', [-8, 7, 0, -1, 3], Int8Array],
        ['uint2', [0, 3, 1, 2, 3], Uint8Array], ['uint4', [0, 15, 9, 2, 8], Uint8Array]]) {
        const packed = StridedView.from(values, name);

        equal(packed.dtype, Mtl.DType[name.toUpperCase()]);
        equal([...packed.slice('1:4')], values.slice(1, 4));
        packed.set(2, 1);
        values[2] = 1;
        equal(place(packed).toArray(), values);
        equal(place(packed).toTypedArray(), TypedArray.from(values));
        throwsMtl('OVERFLOW', 16, () => packed.set(0, 16));
    }
});

test('types that JavaScript has no array for are refused', () => {
    const view = StridedView.new_zeros(null, Mtl.DType.OPAQUE_HANDLE8, [2]);

    throws(TypeError, 'opaque_handle8', () => view.toTypedArray());
    throws(TypeError, 'opaque_handle8', () => view.toArray());
});

testAnyMemory('nested arrays of any depth go in and come out', () => {
    for (const values of [5, [], [1.5], MATRIX, [[[1], [2]], [[3], [4]]], [[], []]])
        equal(place(StridedView.from(values)).toArray(), values);

    equal(StridedView.from(MATRIX, UINT8).dtype, UINT8);
    equal(StridedView.from([true, 2]).toArray(), [1, 2]);
    equal(StridedView.from([1n, 2]).dtype, INT64);
});

test('ragged arrays and other values are refused with their place', () => {
    throws(TypeError, ['values[1]', 1, 2],
        () => StridedView.from([[1, 2], [3]]));
    throws(TypeError, ['values[1]', 3, 2],
        () => StridedView.from([[1, 2], 3]));
    throws(TypeError, ['values[0][1]', 1],
        () => StridedView.from([[1, [2]]]));
    throws(TypeError, ['values[1]', '“2”'], () => StridedView.from([1, '2']));
    throws(TypeError, ['values', 'undefined'], () => StridedView.from());
    throwsMtl('OVERFLOW', 300, () => StridedView.from([300], UINT8));
    throws(TypeError, 0.5, () => StridedView.from([1n, 0.5]));
});

test('a picture is viewed as the guide shows', () => {
    const bytes = new GLib.Bytes(Uint8Array.from({length: 2 * 8}, (_, i) => i));
    const view = StridedView.new_from_bytes_with_byte_strides(bytes, UINT8, [2, 2, 3], [8, 3, 1]);

    equal(view.slice('1, :, 0').toArray(), [8, 11]);
});

await run();

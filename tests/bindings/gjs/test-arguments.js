/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Functions take arguments in JavaScript's forms in place of C's: names of element types, plain
// arguments, paths. Values that gjs would turn into others are errors.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, run, test, throws, throwsMtl} from '../../support/tap.js';
import {functionsOf} from '../../support/typelib.js';

const {StridedLayout, StridedView} = Mtl;
const {BOOL, FLOAT32, FLOAT64, INT32, INT64, INT8, UINT64, UINT8} = Mtl.DType;
const MATRIX = [[1, 2, 3], [4, 5, 6]];

const TAKEN = {
    Bytes: new GLib.Bytes([1]), DType: 'float32', File: Gio.File.new_for_path('path'),
    StridedView: [1], utf8: 'a',
    double: 1, 'double[]': [1], int32: 1, uint32: 1, int64: 1, uint64: 1,
    'int32[]': [1], 'uint32[]': [1], 'int64[]': [1], 'uint64[]': [1],
};

function isEnumeration(kind) {
    return kind !== 'DType' && typeof Object.values(Mtl[kind] ?? {})[0] === 'number';
}

function takenBy(kind) {
    return isEnumeration(kind) ? Object.values(Mtl[kind])[0] : TAKEN[kind] ?? null;
}

// Calls the override alone: no object, and so nothing that C is asked for.
function messageOf(owner, name, args) {
    try {
        owner[name].apply({}, args);
    } catch (error) {
        return [error.constructor.name, error.message];
    }
    return ['no error', ''];
}

// Each parameter of the functions of these classes: whose function it is, with the
// kinds of all its parameters.
function* parametersOf(...classNames) {
    for (const className of classNames) {
        for (const {name, isMethod, kinds: passed} of functionsOf(className)) {
            // The functions of an enumeration take it first.
            const isOfDType = className === 'DType' && isMethod;
            const kinds = isOfDType ? ['DType'] : passed;
            const owner = isMethod && !isOfDType ? Mtl[className].prototype : Mtl[className];

            for (const [i, kind] of kinds.entries())
                yield {className, name, owner, kinds, i, kind};
        }
    }
}

// Returns the message of the function's error for another value of that parameter.
function messageOfValue({owner, name, kinds, i}, value) {
    const args = kinds.map(takenBy);

    args[i] = value;
    return messageOf(owner, name, args);
}

test('every integer is checked', () => {
    let n = 0;

    for (const parameter of parametersOf('Buffer', 'DType', 'Device', 'Event', 'StridedLayout',
        'StridedView', 'TensorFile', 'TensorFileBuilder', 'TensorFileEntry')) {
        const {className, name, i, kind} = parameter;

        if (!/^u?int(32|64)(\[\])?$/.test(kind))
            continue;
        for (const [bad, errorName] of [[0.5, 'TypeError'], ['1', 'TypeError'],
            [NaN, 'TypeError'], [2 ** 64, 'RangeError'], [-(2 ** 64), 'RangeError']]) {
            const [seen, message] = messageOfValue(parameter, kind.endsWith('[]') ? [bad] : bad);
            ok(seen === errorName && message.includes(bad),
                `${className}.${name}, argument ${i} = ${bad}: ${seen} ${message}`);
            n++;
        }
    }
    ok(n > 200, `${n}`);
});

// gjs takes a string for 0, and whatever is no number for NaN.
test('every number and every value of an enumeration is checked', () => {
    let n = 0;

    for (const parameter of parametersOf('Buffer', 'Device', 'Event', 'StridedLayout',
        'StridedView', 'TensorFile', 'TensorFileBuilder', 'TensorFileEntry')) {
        const {className, name, i, kind} = parameter;
        const isNumber = /^double(\[\])?$/.test(kind);

        if (!isNumber && !isEnumeration(kind))
            continue;
        for (const bad of ['a', true, {}]) {
            if (bad === true && isNumber)
                continue;
            const [seen, message] = messageOfValue(parameter, kind.endsWith('[]') ? [bad] : bad);
            ok(seen === 'TypeError' && (isNumber || message.includes('Mtl.')),
                `${className}.${name}, argument ${i} = ${bad}: ${seen} ${message}`);
            n++;
        }
    }
    ok(n > 60, `${n}`);
});

test('every element type may be a name', () => {
    let n = 0;

    for (const parameter of parametersOf('DType', 'StridedLayout', 'StridedView',
        'TensorFileBuilder')) {
        const {className, name, kind} = parameter;

        if (kind !== 'DType')
            continue;
        ok(/float33/.test(messageOfValue(parameter, 'float33')[1]), `${className}.${name}`);
        ok(messageOfValue(parameter, null)[0] === 'TypeError', `${className}.${name}`);
        n++;
    }
    ok(n >= 11, `${n}`);
});

test('names of element types', () => {
    const view = StridedView.from(MATRIX, 'float32');

    equal(view.dtype, FLOAT32);
    equal(StridedView.new_zeros(null, 'int32', [2]).dtype, INT32);
    equal(StridedView.new_uninitialized(null, 'int32', [2]).dtype, INT32);
    equal(StridedView.new_filled(null, 'int32', [2], 3).toArray(), [3, 3]);
    equal(StridedView.new_from_doubles([1, 2], 'int32', [2]).dtype, INT32);
    equal(StridedView.new_from_variant(new GLib.Variant('ai', [5]), 'int32', [1]).toArray(), [5]);
    equal(StridedView.new_from_bytes(new GLib.Bytes(Uint8Array.of(1, 0)), 'uint16', [1]).get(0), 1);
    equal(StridedView.new(view.get_buffer(), view.layout, 'float32').toArray(), MATRIX);
    equal(view.to_dtype('float64').dtype, FLOAT64);
    equal(view.reinterpret('uint8').shape, [2, 12]);
    equal(Mtl.DType.get_bits('bfloat16'), 16);
    equal(Mtl.DType.to_string('float32'), 'float32');
    throwsMtl('INVALID_ARGUMENT', 'float33', () => view.to_dtype('float33'));
    throws(TypeError, 'undefined', () => view.to_dtype(undefined));
});

test('shapes and axes as arguments', () => {
    for (const view of [StridedView.from(MATRIX),
        StridedLayout.new_dense([2, 3], Mtl.Order.C, 64)]) {
        equal(view.reshape(6).shape, [6]);
        equal(view.reshape(3, 2).shape, [3, 2]);
        equal(view.reshape([3, 2]).shape, [3, 2]);
        equal(view.reshape(Int32Array.of(3, 2)).shape, [3, 2]);
        equal(view.reshape(3n, -1n).shape, [3, 2]);
        equal(view.permute(1, 0).shape, [3, 2]);
        equal(view.permute([1, 0]).shape, [3, 2]);
        equal(view.transpose(1, 0).shape, [3, 2]);
        equal(view.transpose([0, 1]).shape, [2, 3]);
        equal(view.transpose().shape, [3, 2]);
        equal(view.T.shape, [3, 2]);
        equal(view.broadcast_to(4, 2, 3).shape, [4, 2, 3]);
        equal(view.unsqueeze(0, 2).shape, [1, 2, 1, 3]);
        equal(view.unsqueeze(0).squeeze(0).shape, [2, 3]);
        equal(view.unsqueeze(0, 2).squeeze([0, 2]).shape, [2, 3]);
        equal(view.unsqueeze(0, 2).squeeze().shape, [2, 3]);
        equal(view.unsqueeze(0).squeeze_axes(0).shape, [2, 3]);
        equal(view.flip(0).strides, [-3, 1]);
        equal(view.flip([1]).strides, [3, -1]);
        equal(view.flip(0, -1).strides, [-3, -1]);
        equal(view.flip().strides, [-3, -1]);
        equal(view.flatten().shape, [6]);
        equal(view.flatten(0, 1).shape, [6]);
        equal(view.narrow(1, 0, 2).shape, [2, 2]);
        equal(view.narrow(1, 0, 3, 2).shape, [2, 2]);
        throwsMtl('INVALID_ARGUMENT', 4, () => view.reshape(4));
        throwsMtl('OUT_OF_BOUNDS', 2, () => view.flip(2));
    }
    equal(Mtl.zeros([]).flip().shape, []);
    equal(Mtl.zeros(3).shape, [3]);
    equal(StridedView.new_zeros(undefined, 'uint8', 3).shape, [3]);
});

test('integers that C does not have are errors', () => {
    const view = StridedView.from(MATRIX);

    throws(RangeError, [4294967296, 'int32'], () => view.flip([2 ** 32]));
    throws(RangeError, [4294967296, 'int32'], () => view.flip(2 ** 32));
    throws(RangeError, 'int32', () => view.select(-(2 ** 31) - 1, 0));
    throws(RangeError, 'int64', () => view.select(0, 2 ** 63));
    throws(RangeError, 'int64', () => view.reshape([2 ** 64, 6]));
    throws(RangeError, 'int64', () => view.get(2 ** 64, 0));
    throws(RangeError, 'uint32', () => Mtl.set_max_threads(-1));
    throws(RangeError, 'uint64', () => Mtl.Buffer.new(null, -1, Mtl.StorageMode.HOST));
    throws(TypeError, 0.5, () => view.permute([0.5, 1]));
    throws(TypeError, 'undefined', () => view.flip(undefined));
    throws(TypeError, 'NaN', () => view.select(0, NaN));
    throws(TypeError, '“1”', () => view.select(0, '1'));
    throws(TypeError, 'true', () => view.select(0, true));
    throwsMtl('OUT_OF_BOUNDS', 2147483647, () => view.flip(2 ** 31 - 1));
    throwsMtl('OUT_OF_BOUNDS', '9007199254740992', () => view.select(0, 2 ** 53));
    throws(TypeError, ["'1:3, ::2'", 0], () => view.slice(0));
    throws(TypeError, 2, () => view.slice([0, 1]));
    equal(view.get(1n, -1), 6);
    equal(view.get([1, 2]), 6);
    const longs = StridedView.from([[1n, 2n]]);
    equal([longs.getBigInt(0, -1), longs.getBigInt([0, 0])], [2n, 1n]);
    throwsMtl('INVALID_ARGUMENT', [1, 2], () => longs.getBigInt(0));
    throwsMtl('INVALID_ARGUMENT', [3, 2],
        () => longs.getBigInt(0, 0, 0));
    throwsMtl('OUT_OF_BOUNDS', [2, 1], () => longs.getBigInt(0, 2));
    view.set([1, 2], 60);
    equal(view.select(0n, 1n).toArray(), [4, 5, 60]);
    view.set_int64([0, 0], 2n ** 60n);
    equal(view.get(0, 0), 2 ** 60);
});

test('arrays where views are taken', () => {
    const view = StridedView.from(MATRIX, 'float32');

    equal(view.array_equal(MATRIX), true);
    equal(view.array_equal([[1, 2, 3], [4, 5, 7]]), false);
    equal(view.all_close([[1, 2, 3], [4, 5, 6.00001]]), true);
    equal(view.all_close([[1, 2, 3], [4, 5, 6.01]]), false);
    equal(view.all_close([[1, 2, 3], [4, 5, 6.01]], 0.1, 0), true);
    equal(Mtl.array([NaN, 1]).array_equal([NaN, 1]), false);
    equal(Mtl.array([NaN, 1]).array_equal([NaN, 1], Mtl.CompareFlags.EQUAL_NAN), true);
    view.copy_from([7, 8, 9]);
    equal(view.toArray(), [[7, 8, 9], [7, 8, 9]]);
    view.slice('0').copy_from(Float64Array.of(1, 2, 3));
    equal(view.toArray(), [[1, 2, 3], [7, 8, 9]]);
    view.copy_from(5);
    equal(view.toArray(), [[5, 5, 5], [5, 5, 5]]);
    throws(TypeError, 'values[1]', () => view.copy_from([1, 'a', 2]));
});

test('a second number is no element type', () => {
    const {DType} = Mtl;
    const makers = {
        zeros: [n => Mtl.zeros(64, n), 'Mtl.zeros([64, N])'],
        ones: [n => Mtl.ones(64, n), 'Mtl.ones([64, N])'],
        empty: [n => Mtl.empty(64, n), 'Mtl.empty([64, N])'],
        full: [n => Mtl.full(64, 7, n), 'Mtl.full([64, 7], N)'],
        array: [n => Mtl.array(64, n), 'Mtl.array([64, N])'],
        from: [n => StridedView.from(64, n), 'from([64, N])'],
        new_zeros: [n => StridedView.new_zeros(null, n, 64), 'array'],
        new_uninitialized: [n => StridedView.new_uninitialized(null, n, 64), 'array'],
        new_filled: [n => StridedView.new_filled(null, n, 64, 1), 'array'],
        new_from_doubles: [n => StridedView.new_from_doubles([1], n, 1), 'array'],
        new_from_bytes: [n => StridedView.new_from_bytes(new Uint8Array(8), n, 1), 'array'],
        new_from_variant:
            [n => StridedView.new_from_variant(new GLib.Variant('ad', [1]), n, 1), 'array'],
    };

    for (const [make, hint] of Object.values(makers)) {
        for (const number of [0, 1, 2, 3, 4, 8, 16, 32, 64, 544, ...Object.values(DType)]) {
            if (typeof number === 'number') {
                throws(TypeError, hint.replace('N', number), () => make(number));
            }
        }
    }
    equal([Mtl.zeros([3], DType.INT32).dtype, Mtl.zeros(3, 'int32').dtype], [INT32, INT32]);
    equal([Mtl.zeros(3).shape, Mtl.full(3, 7).toArray()], [[3], [7, 7, 7]]);
    equal([Mtl.array([3], DType.INT8).shape, Mtl.array(3, 'int8').shape], [[1], []]);
    equal(StridedView.new_zeros(null, DType.INT32, Int32Array.of(3)).shape, [3]);
});

test('a view is no number, unless it has no dimensions', () => {
    const scalar = Mtl.array(7, 'int32');
    const operations = {
        'x * 2': x => x * 2, 'x + 1': x => x + 1, 'x - 1': x => x - 1, '-x': x => -x,
        'x < 8': x => x < 8, 'x == 7': x => x == 7, // eslint-disable-line eqeqeq
        'Number(x)': Number, 'isNaN(x)': isNaN, 'x ** 2': x => x ** 2, 'x | 0': x => x | 0,
        'Math.max(x)': x => Math.max(x, 3), 'Uint8Array.of(x)': x => Uint8Array.of(x)[0],
    };

    for (const [name, operation] of Object.entries(operations)) {
        equal([name, operation(scalar)], [name, operation(7)]);
        for (const view of [Mtl.array([7]), Mtl.array(MATRIX), Mtl.array(MATRIX).T, Mtl.zeros([0]),
            Mtl.array([[1, 2]], 'complex64'), Mtl.array([1, 2], 'complex64')])
            throws(TypeError, 'get()', () => operation(view));
    }
    equal([Mtl.array(true) + 1, `${scalar}`, `${Mtl.array([1, 2], 'int8')}`], [2, '7', '[1 2]']);
});

test('typed arrays and arrays of views have the elements, or are refused', () => {
    const typedArrays = [Uint8Array, Int8Array, Int16Array, Int32Array, Uint32Array, Float32Array,
        Float64Array, Uint8ClampedArray];
    const names = ['bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64',
        'uint64', 'float16', 'bfloat16', 'float32', 'float64', 'int4', 'uint2', 'float8_e4m3fn'];

    for (const name of names) {
        const line = Mtl.array([[1, 0, 1], [0, 1, 1]], 'float32').to_dtype(name);

        for (const row of [line.slice('0'), line.slice(':, 1'), line.slice('1, ::-1'),
            line.slice('0, :0'), line.slice('0, 0').broadcast_to(4)]) {
            const expected = row.to_dtype('float64').toArray();
            for (const TypedArray of typedArrays) {
                equal([...new TypedArray(row)], expected);
                equal([...TypedArray.from(row)], expected);
            }
            equal(Array.from(row).map(Number), expected);
        }
        for (const TypedArray of typedArrays) {
            throws(TypeError, 'toTypedArray', () => new TypedArray(line));
            throws(TypeError, 'get()', () => new TypedArray(line.select(0, 0).select(0, 0)));
        }
    }

    const pairs = Mtl.array([[1, 2], [3, 4]], 'complex64');
    throws(TypeError, 'toTypedArray', () => new Float32Array(pairs));
    throws(TypeError, 'toTypedArray', () => pairs.get(0) * 2);
    equal([[...pairs], `${pairs.get(0)}`], [[[1, 2], [3, 4]], '1,2']);

    const view = Mtl.array([1, 2, 3]);
    for (const call of [() => view[0], () => view[2], () => view[-1], () => (view[0] = 5),
        () => Math.max.apply(null, view), () => Array.prototype.map.call(view, x => x),
        () => Array.prototype.at.call(view, 1)])
        throws(TypeError, ['get()', 'set()'], call);
    equal(view.toArray(), [1, 2, 3]);
});

test('set has the indices first', () => {
    const view = StridedView.from(MATRIX, 'float32');

    view.set(1, 2, 7);
    view.set([0, 1], 8);
    view.set([0, 0], Mtl.array(9));
    equal(view.toArray(), [[9, 8, 3], [4, 5, 7]]);
    view.set(1, [1, 2, 3]);
    view.set(0, Float64Array.of(4, 5, 6));
    equal(view.toArray(), [[4, 5, 6], [1, 2, 3]]);
    view.set(1, view.slice('0'));
    equal(view.toArray(), [[4, 5, 6], [4, 5, 6]]);
    const scalar = Mtl.array(1);
    scalar.set(2);
    equal(scalar.get(), 2);
    const pairs = Mtl.zeros([2], 'complex64');
    pairs.set(1, [3, 4]);
    pairs.set(0, 5n);
    equal(pairs.toArray(), [[5, 0], [3, 4]]);
    throwsMtl('OUT_OF_BOUNDS', 7, () => view.set(7, 0, 1));
    throwsMtl('INVALID_ARGUMENT', 1, () => view.set(1, 2));
    throwsMtl('OVERFLOW', 300, () => Mtl.zeros([1], 'uint8').set([0], [300]));
});

test('values are checked against the type that they are written to', () => {
    const bytes = Mtl.zeros([2], 'uint8');

    for (const write of [() => bytes.copy_from([1, 300]), () => bytes.copy_from(300),
        () => bytes.fill(300), () => bytes.fill([1, 300]), () => Mtl.full([2], [1, 300], 'uint8'),
        () => new Mtl.TensorFileBuilder().add_converted('a', [300], 'uint8')])
        throwsMtl('OVERFLOW', [300, 'uint8'], write);
    equal(bytes.toArray()[0], 0);
    const pairs = Mtl.zeros([2, 2], 'complex64');
    pairs.copy_from([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
    equal(pairs.get(1, 0), [5, 6]);
    equal(pairs.array_equal(pairs.toArray()), true);
    equal(pairs.all_close(pairs.toArray()), true);
    pairs.copy_from(1);
    equal(pairs.get(1, 1), [1, 0]);
    const longs = Mtl.zeros([2], 'uint64');
    longs.copy_from([2n ** 64n - 1n, 1n]);
    equal(longs.getBigInt(0), 2n ** 64n - 1n);
});

test('a fill with an array or a view is repeated', async () => {
    const view = Mtl.zeros([2, 3], 'int32');

    for (const value of [[1, 2, 3], Float32Array.of(1, 2, 3), Mtl.array([1, 2, 3]),
        new Set([1, 2, 3])]) {
        view.fill(0);
        view.fill(value);
        equal(view.toArray(), [[1, 2, 3], [1, 2, 3]]);
        view.fill(0);
        // eslint-disable-next-line no-await-in-loop
        await view.fill_async(value);
        equal(view.toArray(), [[1, 2, 3], [1, 2, 3]]);
    }
    equal(Mtl.full([2, 2], [5, 6]).toArray(), [[5, 6], [5, 6]]);
    view.fill(new Uint8Array([1, 1, 0, 0]).buffer);
    equal(view.get(1, 2), 257);
});

test('nested arrays have as many levels as views, and are as large as arrays can be', () => {
    const nest = depth => Array.from({length: depth}).reduce(array => [array], 3);
    const cyclic = [], pair = [1, []];
    let wide = [1];

    cyclic.push(cyclic);
    pair[1].push(pair);
    for (let i = 0; i < 50; i++)
        wide = [wide, wide];

    equal([Mtl.array(nest(64)).ndim, Mtl.array(nest(64)).size], [64, 1]);
    for (const values of [nest(65), nest(1000), cyclic, [cyclic], [cyclic, []]])
        throws(RangeError, 64, () => Mtl.array(values));
    throws(RangeError, '1125899906842624', () => Mtl.array(wide));
    throws(RangeError, 4294967295, () => Mtl.array(new Array(2 ** 32 - 1)));
    throws(TypeError, 'values[1]', () => Mtl.array(pair));
    for (const take of [values => Mtl.zeros([1]).copy_from(values),
        values => Mtl.zeros([1]).array_equal(values), values => Mtl.zeros([1]).set(0, values),
        values => Mtl.zeros([1]).fill(values), values => Mtl.full([1], values),
        values => new Mtl.TensorFileBuilder().add('a', values)])
        throws(RangeError, 64, () => take(cyclic));
});

test('only true and false are booleans', () => {
    const builder = new Mtl.TensorFileBuilder();

    for (const value of ['false', 0, 1, null, {}, []])
        throws(TypeError, ['true', 'false'], () => builder.set_sync(value));
    builder.set_sync(false);
    equal(builder.sync, false);
    throws(TypeError, [], () => Mtl.dtype_to_string({}));
    equal([Mtl.dtype_to_string('int8'), Mtl.dtype_from_string('int8')], ['int8', 8]);
});

test('text that C does not have is refused', () => {
    const view = StridedView.from(MATRIX);
    const builder = new Mtl.TensorFileBuilder();

    for (const text of ['a\0b', '\ud800', 5, null, undefined, {}]) {
        throws(TypeError, 'string', () => builder.add(text, view));
        throws(TypeError, 'string', () => builder.set_metadata(text, 'value'));
        throws(TypeError, 'string', () => Mtl.DType.from_string(text));
    }
    throws(TypeError, 'string', () => builder.set_metadata('key', 'a\0b'));
    for (const path of ['a\0b', '\ud800']) {
        throws(TypeError, 'string', () => builder.write(path));
        throws(TypeError, 'string', () => Mtl.TensorFile.open(path));
    }
});

test('fill takes numbers', async () => {
    const view = StridedView.from(MATRIX, 'float32');
    const longs = StridedView.from([1n, 2n]);

    view.fill(3);
    equal(view.toArray(), [[3, 3, 3], [3, 3, 3]]);
    await view.fill_async(4);
    equal(view.get(1, 1), 4);
    view.fill(new Uint8Array(4));
    equal(view.get(1, 1), 0);
    longs.fill(2n ** 53n + 1n);
    equal(longs.getBigInt(1), 2n ** 53n + 1n);
    await longs.fill_async(-(2n ** 53n) - 1n);
    equal(longs.getBigInt(0), -(2n ** 53n) - 1n);
    const pairs = StridedView.from([[1, 2], [3, 4]], 'complex64');
    pairs.fill([5, -6]);
    equal(pairs.toArray(), [[5, -6], [5, -6]]);
    const flags = StridedView.from([false]);
    flags.fill(true);
    equal(flags.toArray(), [true]);
});

test('views and rows of other kinds are copied', () => {
    const view = StridedView.from(MATRIX, 'float32');
    const copy = Mtl.array(view), same = Mtl.array(view, 'float32');

    copy.fill(0);
    same.fill(0);
    equal(view.toArray(), MATRIX);
    equal([copy.dtype, Mtl.array(view, 'int8').dtype], [FLOAT32, Mtl.DType.INT8]);
    equal(Mtl.array([Float32Array.of(1, 2), [3, 4]]).toArray(), [[1, 2], [3, 4]]);
    equal(Mtl.array([BigInt64Array.of(1n)]).dtype, INT64);
    equal(Mtl.array(new Set([1, 2])).toArray(), [1, 2]);
    equal(Mtl.array([[1, 2], [3, -4]].values(), 'complex64').toArray(), [[1, 2], [3, -4]]);
    throws(TypeError, ['values[1]', 1, 2],
        () => Mtl.array([[1, 2], Int8Array.of(1)]));
    throws(TypeError, ['values[1]', 'null'], () => Mtl.array([1, null]));
    throws(TypeError, ['values[0]', 'Mtl.StridedView'], () => Mtl.array([view]));
    throws(TypeError, ['values', 'null'], () => Mtl.array(null));
    throws(TypeError, ['values', 'ArrayBuffer', 'new_from_bytes'],
        () => Mtl.array(new ArrayBuffer(4)));
    for (const values of [undefined, null, 'ab', {}, new ArrayBuffer(4)])
        throws(TypeError, ['bigint', 'boolean'], () => Mtl.array(values));
});

test('wrong arguments are named', () => {
    const view = StridedView.from(MATRIX);

    throws(TypeError, 'Mtl.zeros([2, 3])', () => Mtl.zeros(2, 3));
    throws(TypeError, 'undefined', () => Mtl.zeros());
    throws(TypeError, '“a”', () => view.copy_from('a'));
    throws(TypeError, [], () => view.copy_from({}));
    throws(TypeError, 'null', () => view.array_equal(null));
    throws(TypeError, '“a”', () => view.fill('a'));
    throws(TypeError, 'undefined', () => view.fill());
    throwsMtl('INVALID_ARGUMENT', '(3,)',
        () => view.set(0, 0, [1, 2, 3]));
    throws(TypeError, 'null', () => view.set(0, 0, null));
    throws(TypeError, ['Gio.File', 'null'], () => Mtl.TensorFile.open(null));
    throws(TypeError, '“cpu”', () => view.to_device('cpu'));
    throws(TypeError, ['DeviceType', 'METAL', '“cpus”'], () => Mtl.Device.get('cpus'));
});

test('a promise rejects, whatever is wrong', async () => {
    const view = StridedView.from(MATRIX, 'float32');
    const messageOfPromise = promise => promise.then(() => '', error => error.message);
    const messages = await Promise.all([
        view.to_dtype_async(), view.to_dtype_async('float33'), view.fill_async('x'),
        view.fill_async(), view.copy_from_async([1, 'a']), view.to_device_async('cpu'),
        view.copy_scaled_from_async(view, '2'), Mtl.TensorFile.open_async(5),
        new Mtl.TensorFileBuilder().write_async('x.npy', new Gio.Cancellable()),
    ].map(messageOfPromise));

    for (const [i, pattern] of [/^to_dtype_async\(\): At least 1 argument/, /float33/,
        /“x”, not a view, array, number/, /undefined, not a view/, /values\[1\] is “a”/,
        /Device .* “cpu”/, /number .* “2”/,
        /path or a Gio.File, not 5/, /not an object of type Gio.Cancellable/].entries())
        ok(pattern.test(messages[i]), messages[i]);

    let n = 0;
    for (const className of ['Device', 'Event', 'StridedView', 'TensorFile', 'TensorFileBuilder']) {
        for (const {name, isMethod} of functionsOf(className)) {
            if (!name.endsWith('_async'))
                continue;
            const promise = (isMethod ? Mtl[className].prototype : Mtl[className])[name].call({});
            // eslint-disable-next-line no-await-in-loop
            ok(await messageOfPromise(promise) !== '', `${className}.${name}`);
            n++;
        }
    }
    ok(n >= 14, `${n}`);
});

test('missing arguments, and too many', () => {
    const view = StridedView.from(MATRIX, 'float32');

    throws(TypeError, ['narrow()', 3, 2],
        () => view.narrow(1, 0));
    throws(TypeError, ['to_dtype()', 1, 0],
        () => view.to_dtype());
    throws(TypeError, ['copy_scaled_from()', 2],
        () => view.copy_scaled_from(view));
    throws(TypeError, ['Mtl.TensorFile.open()', 1], () => Mtl.TensorFile.open());
    throws(TypeError, 'undefined',
        () => view.copy_scaled_from(view, undefined));
    equal(view.toArray(), MATRIX);

    throws(TypeError, ['slice()', 1, 2],
        () => view.slice(':', 1));
    throws(TypeError, ['Mtl.StridedView.new_zeros()', 4, 5],
        () => StridedView.new_zeros(null, 'float32', 2, 3, 4));
    throws(TypeError, ['supports_storage_mode()', 1],
        () => view.device.supports_storage_mode());
    throws(TypeError, ['select()', 2, 3], () => view.select(0, 1, 1));
});

test('numbers where C takes doubles', () => {
    const view = StridedView.from(MATRIX, 'float32');

    equal(StridedView.new_from_doubles([1n, true, 2.5], 'int32', [3]).toArray(), [1, 1, 2]);
    equal(StridedView.new_filled(null, 'int32', [1], 3n).toArray(), [3]);
    equal(view.all_close(view, null, undefined), true);
    equal([view.is_contiguous(), view.T.is_contiguous()], [true, false]);
    equal([view.T.is_contiguous(Mtl.Order.F), view.layout.to_dense().strides],
        [true, [3, 1]]);
    equal(view.format(), view.toString());
    view.fill_double(2n);
    equal(view.get(0, 0), 2);
    throws(TypeError, '“a”',
        () => StridedView.new_from_doubles([1, 'a'], 'float32', [2]));
    throws(TypeError, '“x”', () => view.fill_double('x'));
});

test('bytes are of any typed array', () => {
    const floats = Float32Array.of(0, 1, 2, 3, 4).subarray(1);
    const bytes = new Uint8Array(floats.buffer, floats.byteOffset, 16);
    const {buffer: copy} = bytes.slice();

    for (const given of [floats, bytes, copy, new DataView(copy), new GLib.Bytes(bytes),
        new Uint8ClampedArray(bytes)]) {
        equal(StridedView.new_from_bytes(given, 'float32', [4]).toArray(), [1, 2, 3, 4]);
        const buffer = Mtl.Buffer.new_from_bytes(given, null);
        equal([...buffer.dup_bytes(0, 16).toArray()], [...bytes]);
        const target = Mtl.Buffer.new(null, 32, Mtl.StorageMode.HOST);
        target.set_bytes(16, given);
        equal([...target.dup_bytes(16, 16).toArray()], [...bytes]);
        target.fill(0, 32, given);
        equal([...target.dup_bytes(0, 16).toArray()], [...bytes]);
    }
    for (const given of [[1, 2], 'ab', null, 5]) {
        throws(TypeError, 'GLib.Bytes', () => StridedView.new_from_bytes(given, 'uint8', [2]));
        throws(TypeError, 'GLib.Bytes', () => Mtl.Buffer.new_from_bytes(given, null));
    }
});

test('an asynchronous fill finishes with a callback, too', async () => {
    const view = StridedView.from(MATRIX, 'float32');
    const longs = StridedView.from([1n]);
    const fillOf = (object, value, cancellable = null) => new Promise((resolve, reject) => {
        object.fill_async(value, cancellable, null, (source, result) => {
            try {
                resolve(source.fill_finish(result));
            } catch (error) {
                reject(error);
            }
        });
    });

    for (const value of [3, 4n, new Uint8Array(4)])
        // eslint-disable-next-line no-await-in-loop
        equal(await fillOf(view, value), true);
    equal(view.get(1, 1), 0);
    equal(await fillOf(longs, 2n ** 60n + 1n), true);
    equal(longs.getBigInt(0), 2n ** 60n + 1n);

    const cancellable = new Gio.Cancellable();
    cancellable.cancel();
    for (const value of [3, new Uint8Array(4)]) {
        try {
            // eslint-disable-next-line no-await-in-loop
            await fillOf(view, value, cancellable);
            ok(false);
        } catch (error) {
            ok(error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED), `${error}`);
        }
    }
});

test('getters as in NumPy and in JavaScript', () => {
    const view = StridedView.from(MATRIX, 'float32');
    const half = StridedView.from([1, 2, 3], 'float4_e2m1fn');

    equal([view.nbytes, view.itemsize, view.length, view.T.shape], [24, 4, 2, [3, 2]]);
    equal([half.nbytes, half.itemsize], [2, 1]);
    equal([view.layout.itemsize, view.layout.T.shape], [4, [3, 2]]);
    equal(view.broadcast_to(10, 2, 3).nbytes, 240);
    equal(Mtl.zeros([]).length, undefined);
    equal(view.get_buffer().nbytes, 24);
    equal(JSON.stringify({view}), '{"view":[[1,2,3],[4,5,6]]}');
    equal(JSON.stringify(StridedView.from([NaN, 1])), '[null,1]');
});

test('new tensors in memory that processes share', () => {
    const isShared = view => view.get_buffer().is_interprocess();
    const host = Mtl.Device.get_host();
    const shared = true;
    const makers = {
        zeros: [[2, 2]], ones: [[2, 2]], empty: [[2, 2]], full: [[2, 2], 7], array: [MATRIX],
        arange: [3, 9, 2],
    };

    for (const [name, others] of Object.entries(makers)) {
        const make = Mtl[name];
        const plain = make(...others);
        const view = make(...others, {shared});

        equal([isShared(plain), isShared(view), view.readOnly], [false, true, false]);
        equal([view.shape, view.dtype, view.get_device() === host],
            [plain.shape, plain.dtype, true]);
        if (name !== 'empty')
            equal(view.toArray(), plain.toArray());
        for (const typed of [make(...others, {dtype: 'int8', shared}),
            make(...others, 'int8', {shared, device: host})])
            equal([isShared(typed), typed.dtype], [true, INT8]);
        equal(isShared(make(...others, {shared: false})), false);
        equal(make(...others, {device: host}).get_device() === host, true);
    }
    equal(Mtl.arange(4, {shared}).toArray(), [0, 1, 2, 3]);
    equal(isShared(Mtl.arange(1, 2, 0.25, {shared})), true);
    for (const dtype of [null, 'uint64', 'float64']) {
        const large = Mtl.arange(2n ** 63n, 2n ** 63n + 2n, 1n, {dtype, shared});
        equal([isShared(large), large.shape], [true, [2]]);
    }
    equal(isShared(Mtl.array(Mtl.zeros([2]), {shared})), true);

    for (const [wrong, says] of [[{shard: true}, '“shard”'], [{shape: [1]}, '“shape”']])
        throws(TypeError, ['Mtl.zeros', says], () => Mtl.zeros([1], wrong));
    throws(TypeError, ['Mtl.full', '“dtype”'],
        () => Mtl.full([1], 2, 'int8', {dtype: 'int16'}));
    throws(TypeError, 'Object', () => Mtl.full([1], {shared}));
});

test('new tensors by the names of NumPy', async () => {
    equal([Mtl.zeros([2, 3]).toArray(), Mtl.zeros([2]).dtype], [[[0, 0, 0], [0, 0, 0]], FLOAT64]);
    equal(Mtl.zeros([2], 'int32').dtype, INT32);
    equal(Mtl.empty([2, 3], 'uint8').shape, [2, 3]);
    equal(Mtl.full([2], 7, 'uint8').toArray(), [7, 7]);
    equal(Mtl.full([1], 2n ** 60n + 1n, 'int64').getBigInt(0), 2n ** 60n + 1n);
    equal(Mtl.full([2], true, 'bool').toArray(), [true, true]);
    equal(Mtl.array(MATRIX).toArray(), MATRIX);
    equal([Mtl.array([1, 2], 'int32').dtype, Mtl.array([true]).dtype], [INT32, BOOL]);
    equal([Mtl.array([1n]).dtype, Mtl.array(Uint8Array.of(1)).dtype], [INT64, UINT8]);
    equal([Mtl.arange(4).toArray(), Mtl.arange(4).dtype], [[0, 1, 2, 3], INT64]);
    equal(Mtl.arange(1, 2, 0.25).toArray(), [1, 1.25, 1.5, 1.75]);
    equal([Mtl.arange(1, 2, 0.25).dtype, Mtl.arange(2.5).dtype], [FLOAT64, FLOAT64]);
    equal(Mtl.arange(5, 0, -2, 'int32').toArray(), [5, 3, 1]);
    equal(Mtl.arange(5, 0).toArray(), []);
    equal(Mtl.ones([2], 'int8').toArray(), [1, 1]);
    equal(Mtl.arange(0n, 3n, 1n, 'int64').toArray(), [0, 1, 2]);
    equal(Mtl.arange(3, null, 1, 'complex64').toArray(), [[0, 0], [1, 0], [2, 0]]);
    equal([Mtl.arange(256, null, null, 'uint8').get(255), Mtl.arange(0, null, 1, 'bool').shape],
        [255, [0]]);
    throws(RangeError, 0, () => Mtl.arange(0, 5, 0));
    throws(RangeError, 'NaN', () => Mtl.arange(NaN));
    throws(RangeError, ['“int32”', 'start', 'stop', 'step', 'dtype'], () => Mtl.arange(3, 'int32'));
    throws(RangeError, [0, 'undefined'], () => Mtl.arange());
    throwsMtl('OVERFLOW', [256, 'uint8'], () => Mtl.arange(257, null, 1, 'uint8'));
    throwsMtl('OVERFLOW', [-1, 'uint8'], () => Mtl.arange(-1, 3, 1, 'uint8'));
    for (const make of [Mtl.zeros, Mtl.ones, Mtl.empty])
        equal(make([2], null, null).dtype, FLOAT64);
    equal([Mtl.full([2], 7, null).dtype, Mtl.arange(2, null, null, null).dtype],
        [INT64, INT64]);
    for (const [value, dtype] of [[true, BOOL], [7, INT64], [-0.5, FLOAT64], [NaN, FLOAT64],
        [5n, INT64], [2 ** 63, FLOAT64], [-(2 ** 63), INT64], [Infinity, FLOAT64], [2n ** 63n, UINT64]]) {
        equal([Mtl.array([value]).dtype, Mtl.full([2], value).dtype], [dtype, dtype]);
        equal(StridedView.from(value).dtype, dtype);
    }
    equal([Mtl.array([1, 2.5]).dtype, Mtl.array([]).dtype, Mtl.array([true, 2]).dtype],
        [FLOAT64, FLOAT64, INT64]);

    // The same lists, counted with BigInts.
    for (const [first, end, step] of [[16777217, 16777219, 1], [7, -8, -3], [-7, 8, 3], [3, 1, 1],
        [1, 3, -1], [2n ** 53n - 1n, 2n ** 53n + 4n, 1n], [-(2n ** 63n), 2n ** 63n, 2n ** 61n],
        [2n ** 63n - 1n, 2n ** 63n + 2n, 1], [2n ** 64n - 1n, 2n ** 63n, -(2n ** 61n)],
        [2n ** 64n - 2n, 2n ** 64n, 1n], [0, 2 ** 70, 2n ** 69n + 1n]]) {
        const expected = [];
        for (let value = BigInt(first); step > 0 ? value < end : value > end; value += BigInt(step))
            expected.push(value);
        if (expected.some(value => value >= 2n ** 64n)) {
            throws(RangeError, expected.at(-1), () => Mtl.arange(first, end, step));
            continue;
        }
        const view = Mtl.arange(first, end, step);
        equal(view.dtype, expected.some(value => value >= 2n ** 63n) ? UINT64 : INT64);
        equal(expected.map((_, i) => view.getBigInt(i)), expected);
        equal(view.shape, [expected.length]);
        equal(Mtl.arange(first, end, step, 'float64').toArray(), expected.map(Number));
    }
    throws(RangeError, [-1, 'uint64'],
        () => Mtl.arange(-1, 2n ** 64n, 2n ** 63n + 1n));
    throws(RangeError, 'int64', () => Mtl.arange(2n ** 63n, 2n ** 63n + 1n, 1, 'int64'));
    throws(RangeError, 'length', () => Mtl.arange(0, 2n ** 64n));
    throwsMtl('OVERFLOW', [-1, 'uint64'], () => Mtl.arange(-1, 1, 1, 'uint64'));

    throws(RangeError, ['18446744073709551616', 'uint64'],
        () => Mtl.array([2n ** 64n]));
    throws(RangeError, [-1, 'uint64'], () => Mtl.array([2n ** 63n, -1n]));
    throws(TypeError, 2.5, () => Mtl.array([1n, 2.5]));
    equal(Mtl.array([1n, true, 3]).toArray(), [1, 1, 3]);

    const host = Mtl.Device.get_host();
    for (const view of [Mtl.array([1], 'int8', host), Mtl.arange(1, 2, 1, 'int8', host),
        Mtl.zeros([1], 'int8', host), Mtl.empty([1], 'int8', host), Mtl.full([1], 1, 'int8', host)])
        ok(view.get_device() === host);
    ok(Mtl.zeros([2]).to_device(host).get_device() === host);
    ok(Mtl.zeros([2]).to_device(host, 'default').get_device() === host);
    ok((await Mtl.zeros([2]).to_device_async(host)).get_device() === host);
});

test('a range of complex numbers', () => {
    for (const stop of [3, 3n])
        equal(Mtl.arange(stop, null, 1, 'complex64').toArray(), [[0, 0], [1, 0], [2, 0]]);
});

test('files by path, and their entries', async () => {
    const folder = GLib.Dir.make_tmp('mtldl-XXXXXX');
    const path = GLib.build_filenamev([folder, 'tensors.safetensors']);
    const builder = new Mtl.TensorFileBuilder();

    builder.add('view', StridedView.from(MATRIX, 'float32'));
    builder.add('array', [1, 2]);
    builder.add_converted('converted', [1, 2, 3], 'uint8');
    builder.write(path);
    await builder.write_async(path);

    for (const file of [Mtl.TensorFile.open(path), await Mtl.TensorFile.open_async(path)]) {
        equal([...file.keys()].sort(), ['array', 'converted', 'view']);
        const entry = file.lookup_entry('view');
        equal([entry.name, entry.dtype, entry.shape], ['view', FLOAT32, [2, 3]]);
        equal([entry.ndim, entry.size, entry.itemsize, entry.nbytes], [2, 6, 4, 24]);
        equal(file.check(), true);
        equal(entry.check(), true);
        equal(file.match_loadable_names(), file.list_names());
        equal(await file.check_async(), true);
    }

    const mapped = Mtl.Buffer.new_mapped(path, null, 0, 8);
    equal(mapped.nbytes, 8);
    Gio.File.new_for_path(path).delete(null);
    Gio.File.new_for_path(folder).delete(null);
});

test('asynchronous functions of devices and events are promises', async () => {
    const event = Mtl.Event.new();
    const waiting = event.wait_async(1, 1000000);

    event.signal(1);
    equal(await waiting, true);
    equal(await event.device.synchronize_async(), true);
});

test('functions have the number of arguments that they need', () => {
    equal([Mtl.StridedView.prototype.select.length, Mtl.TensorFile.open.length], [2, 1]);
    equal(Mtl.TensorFile.open_async.length, 1);
});

await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

// What functions take in place of what C has: names of element types, plain
// arguments, paths. What gjs would make something else of is an error.

import Gio from 'gi://Gio';
import GIRepository from 'gi://GIRepository?version=2.0';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, run, test, throws, throwsMtl} from './tap.js';

const {StridedLayout, StridedView} = Mtl;
const {BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT8} = Mtl.DType;
const MATRIX = [[1, 2, 3], [4, 5, 6]];

// From the typelib: the functions that programs call, each with the kinds of its
// parameters, such as int32, int64[], DType or File.
function* functionsOf(name) {
    const info = GIRepository.Repository.get_default().find_by_name('Mtl', name);
    const isObject = info.get_type() === GIRepository.InfoType.OBJECT;
    const [count, get] = isObject
        ? [GIRepository.object_info_get_n_methods, GIRepository.object_info_get_method]
        : [GIRepository.enum_info_get_n_methods, GIRepository.enum_info_get_method];

    for (let i = 0; i < count(info); i++)
        yield get(info, i);
}

function kindOf(type) {
    const tag = GIRepository.type_tag_to_string(GIRepository.type_info_get_tag(type));

    if (tag === 'array')
        return `${kindOf(GIRepository.type_info_get_param_type(type, 0))}[]`;
    return tag === 'interface'
        ? GIRepository.type_info_get_interface(type).get_name()
        : tag.replace(/^g(?=u?int)/, '');
}

// Those that JavaScript passes: not the lengths of arrays, nor what is for C.
function kindsOf(func) {
    const all = Array.from({length: GIRepository.callable_info_get_n_args(func)},
        (_, i) => GIRepository.callable_info_get_arg(func, i));
    const lengths = all.map(arg => GIRepository.arg_info_get_type(arg))
        .filter(type => kindOf(type).endsWith('[]'))
        .map(type => GIRepository.type_info_get_array_length(type));

    return all.filter((arg, i) => !lengths.includes(i) &&
            GIRepository.arg_info_get_direction(arg) === GIRepository.Direction.IN)
        .map(arg => kindOf(GIRepository.arg_info_get_type(arg)));
}

const TAKEN = {
    DType: 'float32', File: 'path', StridedView: [1],
    int32: 1, uint32: 1, int64: 1, uint64: 1,
    'int32[]': [1], 'uint32[]': [1], 'int64[]': [1], 'uint64[]': [1],
};

// Calls the override alone: no object, and so nothing that C is asked for.
function messageOf(owner, name, args) {
    try {
        owner[name].apply({}, args);
    } catch (error) {
        return [error.constructor.name, error.message];
    }
    return ['no error', ''];
}

test('every integer is checked', () => {
    let n = 0;

    for (const className of ['Buffer', 'DType', 'Device', 'Event', 'StridedLayout', 'StridedView',
        'TensorFile', 'TensorFileBuilder', 'TensorFileEntry']) {
        for (const func of functionsOf(className)) {
            const name = func.get_name();
            const isMethod = GIRepository.function_info_get_flags(func) &
                GIRepository.FunctionInfoFlags.IS_METHOD;
            const owner = isMethod ? Mtl[className].prototype : Mtl[className];
            const kinds = kindsOf(func);

            for (const [i, kind] of kinds.entries()) {
                if (!/^u?int(32|64)(\[\])?$/.test(kind))
                    continue;
                for (const [bad, errorName] of [[0.5, 'TypeError'], ['1', 'TypeError'],
                    [NaN, 'TypeError'], [2 ** 64, 'RangeError'], [-(2 ** 64), 'RangeError']]) {
                    const args = kinds.map(other => TAKEN[other] ?? null);
                    args[i] = kind.endsWith('[]') ? [bad] : bad;
                    const [seen, message] = messageOf(owner, name, args);
                    ok(seen === errorName && /integer|range of/.test(message),
                        `${className}.${name}, argument ${i} = ${bad}: ${seen} ${message}`);
                    n++;
                }
            }
        }
    }
    ok(n > 200, `${n}`);
});

test('every element type may be a name', () => {
    let n = 0;

    for (const className of ['DType', 'StridedView', 'TensorFileBuilder']) {
        for (const func of functionsOf(className)) {
            const name = func.get_name();
            const isMethod = GIRepository.function_info_get_flags(func) &
                GIRepository.FunctionInfoFlags.IS_METHOD;
            // The functions of an enumeration take it first.
            const kinds = className === 'DType' && isMethod ? ['DType'] : kindsOf(func);
            const owner = isMethod && className !== 'DType'
                ? Mtl[className].prototype
                : Mtl[className];

            for (const i of kinds.keys()) {
                if (kinds[i] !== 'DType')
                    continue;
                const args = kinds.map(other => TAKEN[other] ?? null);
                args[i] = 'float33';
                ok(/float33/.test(messageOf(owner, name, args)[1]), `${className}.${name}`);
                args[i] = null;
                ok(/element type/.test(messageOf(owner, name, args)[1]), `${className}.${name}`);
                n++;
            }
        }
    }
    ok(n >= 11, `${n}`);
});

test('names of element types', () => {
    const view = StridedView.from(MATRIX, 'float32');

    equal(view.dtype, FLOAT32);
    equal(StridedView.new_zeros(null, 'int32', [2]).dtype, INT32);
    equal(StridedView.new_empty(null, 'int32', [2]).dtype, INT32);
    equal(StridedView.new_full(null, 'int32', [2], 3).toArray(), [3, 3]);
    equal(StridedView.new_from_doubles('int32', [2], [1, 2]).dtype, INT32);
    equal(StridedView.new_from_variant('int32', [1], new GLib.Variant('ai', [5])).toArray(), [5]);
    equal(StridedView.new_from_bytes(new GLib.Bytes(Uint8Array.of(1, 0)), 'uint16', [1]).get(0), 1);
    equal(StridedView.new(view.get_buffer(), view.dup_layout(), 'float32').toArray(), MATRIX);
    equal(view.to_dtype('float64').dtype, FLOAT64);
    equal(view.reinterpret('uint8').shape, [2, 12]);
    equal(Mtl.DType.get_bits('bfloat16'), 16);
    equal(Mtl.DType.to_string('float32'), 'float32');
    throwsMtl('INVALID_ARGUMENT', /float33/, () => view.to_dtype('float33'));
    throws(TypeError, /undefined/, () => view.to_dtype(undefined));
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
        throwsMtl('INVALID_ARGUMENT', /4/, () => view.reshape(4));
        throwsMtl('OUT_OF_BOUNDS', /2/, () => view.flip(2));
    }
    equal(Mtl.zeros([]).flip().shape, []);
    equal(Mtl.zeros(3).shape, [3]);
    equal(StridedView.new_zeros(undefined, UINT8, 3).shape, [3]);
});

test('integers that C does not have are errors', () => {
    const view = StridedView.from(MATRIX);

    throws(RangeError, /4294967296 .* int32/, () => view.flip([2 ** 32]));
    throws(RangeError, /4294967296 .* int32/, () => view.flip(2 ** 32));
    throws(RangeError, /int32/, () => view.select(-(2 ** 31) - 1, 0));
    throws(RangeError, /int64/, () => view.select(0, 2 ** 63));
    throws(RangeError, /int64/, () => view.reshape([2 ** 64, 6]));
    throws(RangeError, /int64/, () => view.get(2 ** 64, 0));
    throws(RangeError, /uint32/, () => Mtl.set_max_threads(-1));
    throws(RangeError, /uint64/, () => Mtl.Buffer.new(null, -1, Mtl.StorageMode.HOST));
    throws(TypeError, /0\.5/, () => view.permute([0.5, 1]));
    throws(TypeError, /undefined/, () => view.flip(undefined));
    throws(TypeError, /NaN/, () => view.select(0, NaN));
    throws(TypeError, /“1”/, () => view.select(0, '1'));
    throws(TypeError, /true/, () => view.select(0, true));
    throwsMtl('OUT_OF_BOUNDS', /2147483647/, () => view.flip(2 ** 31 - 1));
    throwsMtl('OUT_OF_BOUNDS', /9007199254740992/, () => view.select(0, 2 ** 53));
    throws(TypeError, /'1:3, ::2', not 0/, () => view.slice(0));
    equal(view.get(1n, -1), 6);
    equal(view.get([1, 2]), 6);
    view.set(60, [1, 2]);
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
    view.copy_from([7, 8, 9]);
    equal(view.toArray(), [[7, 8, 9], [7, 8, 9]]);
    view.slice('0').copy_from(Float64Array.of(1, 2, 3));
    equal(view.toArray(), [[1, 2, 3], [7, 8, 9]]);
    view.copy_from(5);
    equal(view.toArray(), [[5, 5, 5], [5, 5, 5]]);
    throws(TypeError, /values\[1\]/, () => view.copy_from([1, 'a', 2]));
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
    throws(TypeError, /values\[1\] is of type array of 1/,
        () => Mtl.array([[1, 2], Int8Array.of(1)]));
    for (const values of [undefined, null, 'ab', {}, new ArrayBuffer(4)])
        throws(TypeError, /array, number, bigint or boolean/, () => Mtl.array(values));
});

test('wrong arguments are named', () => {
    const view = StridedView.from(MATRIX);

    throws(TypeError, /not 3; a shape is one argument/, () => Mtl.zeros(2, 3));
    throws(TypeError, /undefined/, () => Mtl.zeros());
    throws(TypeError, /“a”/, () => view.copy_from('a'));
    throws(TypeError, /object/, () => view.copy_from({}));
    throws(TypeError, /null/, () => view.array_equal(null));
    throws(TypeError, /number .* “a”/, () => view.fill('a'));
    throws(TypeError, /number .* undefined/, () => view.fill());
    throws(TypeError, /number .* 1,2,3/, () => view.fill([1, 2, 3]));
    throws(TypeError, /Device .* “cpu”/, () => view.to_device('cpu'));
});

test('getters as in NumPy and in JavaScript', () => {
    const view = StridedView.from(MATRIX, 'float32');
    const half = StridedView.from([1, 2, 3], 'float4_e2m1fn');

    equal([view.nbytes, view.itemsize, view.length, view.T.shape], [24, 4, 2, [3, 2]]);
    equal([half.nbytes, half.itemsize], [2, 1]);
    equal([view.dup_layout().itemsize, view.dup_layout().T.shape], [4, [3, 2]]);
    equal(view.broadcast_to(10, 2, 3).nbytes, 240);
    equal(Mtl.zeros([]).length, undefined);
    equal(view.get_buffer().nbytes, 24);
    equal(JSON.stringify({view}), '{"view":[[1,2,3],[4,5,6]]}');
    equal(JSON.stringify(StridedView.from([NaN, 1])), '[null,1]');
});

test('new tensors by the names of NumPy', () => {
    equal([Mtl.zeros([2, 3]).toArray(), Mtl.zeros([2]).dtype], [[[0, 0, 0], [0, 0, 0]], FLOAT32]);
    equal(Mtl.zeros([2], 'int32').dtype, INT32);
    equal(Mtl.empty([2, 3], 'uint8').shape, [2, 3]);
    equal(Mtl.full([2], 7, 'uint8').toArray(), [7, 7]);
    equal(Mtl.full([1], 2n ** 60n + 1n, 'int64').getBigInt(0), 2n ** 60n + 1n);
    equal(Mtl.full([2], true, 'bool').toArray(), [true, true]);
    equal(Mtl.array(MATRIX).toArray(), MATRIX);
    equal([Mtl.array([1, 2], 'int32').dtype, Mtl.array([true]).dtype], [INT32, BOOL]);
    equal([Mtl.array([1n]).dtype, Mtl.array(Uint8Array.of(1)).dtype], [INT64, UINT8]);
    equal([Mtl.arange(4).toArray(), Mtl.arange(4).dtype], [[0, 1, 2, 3], FLOAT32]);
    equal(Mtl.arange(1, 2, 0.25).toArray(), [1, 1.25, 1.5, 1.75]);
    equal(Mtl.arange(5, 0, -2, 'int32').toArray(), [5, 3, 1]);
    equal(Mtl.arange(5, 0).toArray(), []);
    throws(RangeError, /steps of 0/, () => Mtl.arange(0, 5, 0));
    throws(RangeError, /NaN/, () => Mtl.arange(NaN));

    const host = Mtl.Device.get_host();
    for (const view of [Mtl.array([1], 'int8', host), Mtl.arange(1, 2, 1, 'int8', host),
        Mtl.zeros([1], 'int8', host), Mtl.empty([1], 'int8', host), Mtl.full([1], 1, 'int8', host)])
        ok(view.get_device() === host);
    ok(Mtl.zeros([2]).to_device(host).get_device() === host);
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

    for (const file of [Mtl.TensorFile.open(path), Mtl.TensorFile.open_full(path),
        await Mtl.TensorFile.open_async(path)]) {
        equal([...file.keys()].sort(), ['array', 'converted', 'view']);
        const entry = file.lookup_entry('view');
        equal([entry.name, entry.dtype, entry.shape], ['view', FLOAT32, [2, 3]]);
        equal([entry.ndim, entry.size, entry.itemsize, entry.nbytes], [2, 6, 4, 24]);
        equal(file.check(), true);
        equal(entry.check(), true);
        equal(file.match_names(), file.list_names());
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

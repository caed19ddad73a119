/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {host} from '../support/memory.js';
import {
    equal, ok, recordCalls, rejectsMtl, run, test, testAllReached, throwsGio, throwsMtl,
} from '../support/tap.js';

recordCalls('TensorFile');
recordCalls('TensorFileEntry');

// Writes a file of a byte, and of two numbers at an odd place.
function writeFile() {
    const [file, stream] = Gio.File.new_tmp(null);
    const text = JSON.stringify({
        __metadata__: {format: 'pt'},
        a: {dtype: 'U8', shape: [1], data_offsets: [0, 1]},
        b: {dtype: 'I16', shape: [2, 1], data_offsets: [1, 5]},
    });
    const header = text.padEnd(text.length + text.length % 2);

    stream.close(null);
    file.replace_contents(new Uint8Array([
        header.length, 0, 0, 0, 0, 0, 0, 0, ...new TextEncoder().encode(header),
        5, 0xfe, 0xff, 1, 2,
    ]), null, false, Gio.FileCreateFlags.NONE, null);
    return file;
}

function withFile(mode, callback) {
    const file = writeFile();

    callback(Mtl.TensorFile.open(file, null, mode), file);
    file.delete(null);
}

test('a file tells of its tensors', () => withFile(Mtl.TensorFileMode.AUTO, (tensors, file) => {
    const entry = tensors.lookup_entry('b');

    equal(tensors.list_names(), ['a', 'b']);
    equal(tensors.get_n_items(), 2);
    equal(tensors.list_metadata_keys(), ['format']);
    equal([tensors.lookup_metadata('format'), tensors.lookup_metadata('x')], ['pt', null]);
    ok(tensors.get_file() === file && entry.get_file() === file);
    ok(tensors.get_device() === host);
    equal([tensors.get_mode(), tensors.mode], [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.MAP]);
    equal([entry.get_name(), entry.name], ['b', 'b']);
    equal([entry.get_dtype(), entry.get_shape()], [Mtl.DType.INT16, [2, 1]]);
    equal([entry.get_n_bytes(), entry.n_bytes], [4, 4]);
    equal(entry.get_byte_offset(), file.query_info('standard::size', 0, null).get_size() - 4);
}));

test('tensors are views', () => {
    for (const mode of [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ]) {
        withFile(mode, tensors => {
            equal(tensors.load_view('a').toArray(), [5]);
            equal(tensors.get_item(1).load_view().toArray(), [[-2], [513]]);
            equal(tensors.load_view('a').is_read_only(), mode === Mtl.TensorFileMode.MAP);
            throwsMtl('NOT_FOUND', '“c”', () => tensors.load_view('c'));
        });
    }
});

test('names match patterns', () => withFile(Mtl.TensorFileMode.AUTO, tensors => {
    equal(tensors.match_loadable_names('?'), ['a', 'b']);
    equal(tensors.match_loadable_names('b*'), ['b']);
    equal(tensors.match_loadable_names(null), ['a', 'b']);
    equal([tensors.get_format(), tensors.format],
        Array(2).fill(Mtl.TensorFileFormat.SAFETENSORS));
}));

// A file with one type that is not known.
function writeNewer() {
    const header = '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},' +
        '"new":{"dtype":"F99","shape":[2,3],"data_offsets":[1,3]}}';
    const [file, stream] = Gio.File.new_tmp('mtl-XXXXXX');

    stream.get_output_stream().write_all(
        new Uint8Array([header.length, 0, 0, 0, 0, 0, 0, 0,
            ...new TextEncoder().encode(header), 5, 6, 7]), null);
    stream.close(null);
    return file;
}

test('what cannot be loaded does not hide the rest', () => {
    const file = writeNewer();
    const tensors = Mtl.TensorFile.open(file);
    const [a, entry] = [tensors.lookup_entry('a'), tensors.lookup_entry('new')];

    equal(tensors.list_names(), ['a', 'new']);
    equal(tensors.match_loadable_names(), ['a']);
    equal(tensors.match_refused_names(), ['new']);
    equal(tensors.match_refused_names('a*'), []);
    equal(tensors.load_views().map(view => view.toArray()), [[5]]);
    equal([...tensors].map(([name, view]) => [name, view.toArray()]), [['a', [5]]]);
    equal([...tensors.values()].length, 1);
    equal([...tensors.keys()], ['a', 'new']);
    ok(tensors.has('new'));
    equal([a.get_type_name(), a.type_name, a.get_error(), a.error], ['uint8', 'uint8', null, null]);
    equal([entry.get_type_name(), entry.type_name, entry.shape, entry.dtype],
        ['F99', 'F99', [2, 3], Mtl.DType.OTHER]);
    for (const error of [entry.get_error(), entry.error])
        ok(error.matches(Mtl.Error, Mtl.Error.NOT_SUPPORTED) && error.message.includes('F99'));
    throwsMtl('NOT_SUPPORTED', '“new”', () => tensors.load_view('new'));
    throwsMtl('NOT_SUPPORTED', '“new”', () => tensors.load_views('n*'));
    ok(tensors.check(Mtl.TensorFileChecks.INF));
    throwsMtl('NOT_SUPPORTED', '“new”', () => tensors.check(Mtl.TensorFileChecks.LOADABLE));
    file.delete(null);
});

// The result that the callback of an asynchronous function is given.
function resultOf(start) {
    return new Promise(resolve => start((_, result) => resolve(result)));
}

test('a file is opened in the background', async () => {
    const file = writeFile();
    const tensors = Mtl.TensorFile.open_finish(await resultOf(ready =>
        Mtl.TensorFile.open_async(
            file, host, Mtl.TensorFileMode.READ, GLib.PRIORITY_LOW, null, ready)));

    equal(tensors.load_view('b').toArray(), [[-2], [513]]);
    file.delete(null);
});

test('views come together', () => {
    for (const mode of [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ]) {
        withFile(mode, tensors => {
            const told = [];
            const views = tensors.load_views(null, null, (...numbers) => told.push(numbers));

            equal(views.map(view => view.toArray()), [[5], [[-2], [513]]]);
            equal(told.at(-1), mode === Mtl.TensorFileMode.MAP ? undefined : [5, 5]);
            ok(tensors.prefetch(views));
            equal(tensors.load_views('x', null, null), []);
        });
    }
});

test('what is wrong is found', () => withFile(Mtl.TensorFileMode.MAP, tensors => {
    const {NONE, NAN, ALIGNMENT} = Mtl.TensorFileChecks;
    const told = [];

    ok(tensors.check(NONE, null, (...numbers) => told.push(numbers)));
    equal(told.at(-1), [5, 5]);
    ok(tensors.lookup_entry('a').check(NAN | ALIGNMENT));
    throwsMtl('INVALID_DATA', '“b”', () => tensors.lookup_entry('b').check(ALIGNMENT));
    throwsMtl('INVALID_DATA', '“b”', () => tensors.check(ALIGNMENT, null, null));
}));

test('what is wrong is found in the background', async () => {
    const file = writeFile();
    const tensors = Mtl.TensorFile.open(file, null, Mtl.TensorFileMode.READ);
    const check = async checks => tensors.check_finish(await resultOf(ready =>
        tensors.check_async(checks, GLib.PRIORITY_LOW, null, null, ready)));

    ok(await check(Mtl.TensorFileChecks.NAN));
    await rejectsMtl('INVALID_DATA', '“b”', check(Mtl.TensorFileChecks.ALIGNMENT));
    file.delete(null);
});

test('views come in the background', async () => {
    const file = writeFile();
    const tensors = Mtl.TensorFile.open(file, null, Mtl.TensorFileMode.READ);
    const told = [];
    const views = tensors.load_views_finish(await resultOf(ready => tensors.load_views_async(
        null, GLib.PRIORITY_HIGH, null, (...numbers) => told.push(numbers), ready)));

    equal(views.map(view => view.toArray()), [[5], [[-2], [513]]]);
    equal(told.at(-1), [5, 5]);
    file.delete(null);
});

test('what is not needed may be left out', async () => {
    const file = writeFile();
    const tensors = Mtl.TensorFile.open(file);

    equal(tensors.load_views().length, 2);
    equal(tensors.load_views('b*').map(view => view.shape), [[2, 1]]);
    equal((await tensors.load_views_async()).length, 2);
    equal((await tensors.load_views_async('a')).map(view => view.shape), [[1]]);
    equal((await tensors.load_views_async('a', GLib.PRIORITY_LOW)).length, 1);
    equal((await tensors.load_view_async('a')).toArray(), [5]);
    equal((await tensors.load_view_async('a', GLib.PRIORITY_LOW, null)).toArray(), [5]);
    const entry = tensors.lookup_entry('a');
    equal((await entry.load_view_async()).toArray(), [5]);
    ok(await entry.check_async(Mtl.TensorFileChecks.NAN));
    equal(tensors.lookup_entry('c'), null);
    equal([tensors.has_tensor('a'), tensors.has_tensor('c')], [true, false]);
    ok(tensors.check(Mtl.TensorFileChecks.NAN));
    ok(await tensors.check_async(Mtl.TensorFileChecks.NAN));
    ok(await tensors.check_async(Mtl.TensorFileChecks.NAN, GLib.PRIORITY_HIGH, null));
    file.delete(null);
});

test('what is cancelled gives nothing', async () => {
    const file = writeFile();
    const cancellable = new Gio.Cancellable();
    const cancelled = callback => throwsGio('CANCELLED', callback);

    cancellable.cancel();
    await cancelled(() => Mtl.TensorFile.open(file, null, Mtl.TensorFileMode.READ, cancellable));
    await cancelled(() => Mtl.TensorFile.open_async(
        file, null, Mtl.TensorFileMode.AUTO, GLib.PRIORITY_DEFAULT, cancellable));
    for (const mode of [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ]) {
        const tensors = Mtl.TensorFile.open(file, null, mode);
        const entry = tensors.get_item(1);
        await cancelled(() => tensors.load_view('b', cancellable));
        await cancelled(() => entry.load_view(cancellable));
        await cancelled(() => tensors.load_view_async('b', GLib.PRIORITY_LOW, cancellable));
        await cancelled(() => entry.load_view_async(GLib.PRIORITY_LOW, cancellable));
        await cancelled(() => entry.check_async(0, GLib.PRIORITY_LOW, cancellable));
        await cancelled(() => tensors.load_views('b', cancellable));
        await cancelled(() => tensors.load_views_async('b', GLib.PRIORITY_DEFAULT, cancellable));
        await cancelled(() => entry.check(Mtl.TensorFileChecks.NAN, cancellable));
        await cancelled(() => tensors.check_async(
            Mtl.TensorFileChecks.NAN, GLib.PRIORITY_DEFAULT, cancellable));
        equal(tensors.load_view('b').toArray(), [[-2], [513]]);
    }

    const mapped = Mtl.TensorFile.open(file);
    ok(mapped.prefetch([mapped.load_view('b')]));
    file.delete(null);
});

test('a closed file has no more views', async () => {
    const file = writeFile();
    const tensors = Mtl.TensorFile.open(file);
    const view = tensors.load_view('a');

    tensors.close();
    equal(view.toArray(), [5]);
    equal(tensors.list_names(), ['a', 'b']);
    await throwsGio('CLOSED', () => tensors.load_view('a'));
    file.delete(null);
});

test('a file is as a Map', () => withFile(Mtl.TensorFileMode.READ, tensors => {
    const pairs = [['a', [5]], ['b', [[-2], [513]]]];
    const told = [];

    for (const [name, view] of tensors)
        told.push([name, view.toArray()]);
    equal(told, pairs);
    equal([...tensors.entries()].map(([name, view]) => [name, view.toArray()]), pairs);
    equal([...tensors.keys()], ['a', 'b']);
    equal([...tensors.values()].map(view => view.shape), [[1], [2, 1]]);
    tensors.forEach((view, name, file) => {
        ok(file === tensors);
        equal(view.toArray(), pairs.shift()[1]);
    });
    equal(pairs.length, 0);

    equal(tensors.size, 2);
    equal(new Map(tensors).get('a').toArray(), [5]);
    equal(Object.fromEntries(tensors).b.shape, [2, 1]);
    equal(tensors.get('b').toArray(), [[-2], [513]]);
    equal([tensors.has('a'), tensors.has('c')], [true, false]);
    equal([...tensors.metadata], [['format', 'pt']]);
}));

// Text in C ends at U+0000, and has no surrogates by themselves.
test('what is no name of a tensor finds none', () => withFile(Mtl.TensorFileMode.MAP, tensors => {
    for (const name of ['c', '', 'a\0', 'a\0b', '\ud800', 'a\ud800', 0, null, undefined]) {
        ok(!tensors.has(name));
        ok(tensors.get(name) === undefined);
    }
}));

test('names are any text', () => {
    const [file, stream] = Gio.File.new_tmp(null);
    const builder = new Mtl.TensorFileBuilder();

    stream.close(null);
    builder.add('😀', Mtl.StridedView.from([1]));
    builder.add('\ufffd', Mtl.StridedView.from([2]));
    builder.add('', Mtl.StridedView.from([3]));
    builder.write(file, null, null);

    const tensors = Mtl.TensorFile.open(file);
    equal(['😀', '\ufffd', ''].map(name => tensors.get(name).toArray()), [[1], [2], [3]]);
    equal(['😀', '\ufffd', ''].map(name => tensors.has(name)), [true, true, true]);
    // gjs turns these into U+FFFD.
    equal([tensors.has('\ud800'), tensors.get('\ud83d')], [false, undefined]);
    file.delete(null);
});

test('views are made when they are come to', async () => {
    const file = writeFile();
    const tensors = Mtl.TensorFile.open(file);
    const iterators = [tensors[Symbol.iterator](), tensors.values(), tensors.entries()];

    equal(iterators.map(iterator => iterator.next().done), [false, false, false]);
    tensors.close();
    equal([...tensors.keys()], ['a', 'b']);
    for (const iterator of iterators)
        await throwsGio('CLOSED', () => iterator.next());
    file.delete(null);
});

test('to open a file nothing is needed but the file', async () => {
    const file = writeFile();

    equal(Mtl.TensorFile.open(file).mode, Mtl.TensorFileMode.MAP);
    equal(Mtl.TensorFile.open(file, undefined, Mtl.TensorFileMode.READ).mode,
        Mtl.TensorFileMode.READ);
    equal((await Mtl.TensorFile.open_async(file)).mode, Mtl.TensorFileMode.MAP);
    equal((await Mtl.TensorFile.open_async(file, host, Mtl.TensorFileMode.READ)).mode,
        Mtl.TensorFileMode.READ);
    file.delete(null);
    await throwsGio('NOT_FOUND', () => Mtl.TensorFile.open_async(file));
});

testAllReached('TensorFile', name => !name.startsWith('vfunc_'));
testAllReached('TensorFileEntry');
await run();

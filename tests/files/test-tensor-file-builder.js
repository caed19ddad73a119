/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {
    equal, ok, recordCalls, run, test, testAllReached, throwsGio, throwsMtl,
} from '../support/tap.js';

const {DType, TensorFileBuilder, TensorFileFormat, TensorFileOrder} = Mtl;

recordCalls('TensorFileBuilder');

function newBuilder() {
    const builder = TensorFileBuilder.new();

    builder.add('a', Mtl.StridedView.from([[1, 2], [3, 4]], DType.INT16).transpose());
    builder.add_converted('b', Mtl.StridedView.from([0.5, 1.5, 2.5]), DType.BFLOAT16);
    builder.set_metadata('format', 'pt');
    return builder;
}

// A folder, which is empty again at the end.
async function withFolder(callback) {
    const folder = Gio.File.new_for_path(GLib.dir_make_tmp('mtl-XXXXXX'));

    await callback(folder);
    for (const info of folder.enumerate_children('standard::name', 0, null))
        folder.get_child(info.get_name()).delete(null);
    folder.delete(null);
}

function readAll(file) {
    return [...Mtl.TensorFile.open(file)].map(([name, view]) => [name, view.toArray()]);
}

const WRITTEN = [['a', [[1, 3], [2, 4]]], ['b', [0.5, 1.5, 2.5]]];

test('what is added is written', () => withFolder(folder => {
    const file = folder.get_child('file');

    ok(newBuilder().write(file));
    equal(readAll(file), WRITTEN);
    equal(Mtl.TensorFile.open(file).load_view('b').dtype, DType.BFLOAT16);
    equal([...Mtl.TensorFile.open(file).metadata], [['format', 'pt']]);
}));

test('a file is written in the background', () => withFolder(async folder => {
    const file = folder.get_child('file');
    let done = 0;

    ok(await newBuilder().write_async(file));
    ok(await newBuilder().write_async(file, GLib.PRIORITY_LOW, null, current => {
        done = current;
    }));
    equal(readAll(file), WRITTEN);
    equal(done, file.query_info('standard::size', 0, null).get_size());
}));

test('a model is written in several files', () => withFolder(async folder => {
    const index = folder.get_child('x.safetensors.index.json');

    ok(newBuilder().write_shards(index, 8));
    equal(readAll(index), WRITTEN);
    index.delete(null);
    ok(await newBuilder().write_shards_async(index, 8));
    equal(readAll(index), WRITTEN);
    ok(await newBuilder().write_shards_async(index, 8, GLib.PRIORITY_HIGH, null));
    equal(readAll(index), WRITTEN);
}));

test('options are kept', () => withFolder(folder => {
    const builder = TensorFileBuilder.new();
    const file = folder.get_child('file');

    equal([builder.get_format(), builder.get_order(), builder.get_alignment()],
        [TensorFileFormat.AUTO, TensorFileOrder.ALIGNED, 0]);
    ok(builder.get_sync());
    builder.set_sync(false);
    equal([builder.sync, builder.get_sync()], [false, false]);
    builder.set_format(TensorFileFormat.NPY);
    builder.set_order(TensorFileOrder.ADDED);
    builder.set_alignment(4096);
    equal([builder.format, builder.order, builder.alignment],
        [TensorFileFormat.NPY, TensorFileOrder.ADDED, 4096]);

    builder.add('x', Mtl.StridedView.from([1, 2]));
    builder.write(file);
    equal(readAll(file), [['', [1, 2]]]);
    equal(Mtl.TensorFile.open(file).get_item(0).get_byte_offset(), 4096);
}));

test('the ending decides', () => withFolder(folder => {
    const builder = newBuilder();

    throwsMtl('INVALID_ARGUMENT', ['.safetensors', '.npy'],
        () => builder.write(folder.get_child('x.pt')));
    throwsMtl('INVALID_ARGUMENT', ['.safetensors', '.npy'],
        () => builder.write(folder.get_child('x.gguf')));
    builder.set_metadata('format', null);
    throwsMtl('INVALID_ARGUMENT', 2,
        () => builder.write(folder.get_child('x.npy')));
}));

test('what cannot be written is refused', () => withFolder(async folder => {
    const builder = newBuilder();

    throwsMtl('INVALID_ARGUMENT', '“a”', () => builder.add('a', Mtl.StridedView.from([1])));
    throwsMtl('INVALID_ARGUMENT', '__metadata__',
        () => builder.add('__metadata__', Mtl.StridedView.from([1])));
    await throwsGio('IS_DIRECTORY', () => builder.write(folder));
    await throwsGio('IS_DIRECTORY', () => builder.write_async(folder));
}));

testAllReached('TensorFileBuilder');
await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Arguments that can be left out: each of introspection/defaults.ini means the same as if it were
// written.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, run, test} from '../../support/tap.js';
import {functionsOfNamespace} from '../../support/typelib.js';

const {gi} = imports;
const {Buffer, Device, Event, StridedLayout, StridedView, TensorFile, TensorFileEntry} = Mtl;
const table = Gio.File.new_for_uri(import.meta.url)
    .resolve_relative_path('../../../../introspection/defaults.ini');

function valueOf(text, namespace) {
    if (/^[A-Z]/.test(text)) {
        const names = text.split('.');
        return (names.length === 3 ? names : [namespace, ...names])
            .reduce((owner, name) => owner[name], gi);
    }
    return JSON.parse(text);
}

// The lines as [namespace, function, [[parameter, default], …]].
function readTable() {
    const [, bytes] = table.load_contents(null);
    const text = new TextDecoder().decode(bytes).replace(/^#.*\n/mg, '').replace(/,\n +/g, ', ');
    const entries = [];

    for (const [, namespace, lines] of text.matchAll(/^\[(Mtl\w*).*\]\n((?:.+:.*\n|\n)*)/mg)) {
        for (const [, name, values] of lines.matchAll(/^([\w.]+): (.*)$/mg))
            entries.push([namespace, name, values.split(', ').map(item => item.split(' = '))]);
    }
    return entries;
}

const TABLE = readTable();

function makeView() {
    return Mtl.arange(24, null, null, 'float32').reshape(4, 3, 2);
}

function makeSocket() {
    return Gio.Socket.new(Gio.SocketFamily.UNIX, Gio.SocketType.STREAM,
        Gio.SocketProtocol.DEFAULT);
}

// No two axes have the same extent, and the order of the axes is Fortran's.
const LAYOUT = StridedLayout.new([2, 3, 4], [1, 2, 6], 32);
const DENSE = StridedLayout.new_dense([4, 3, 2], Mtl.Order.C, 32);
const path = GLib.build_filenamev([GLib.Dir.make_tmp('mtldl-XXXXXX'), 'a.safetensors']);
const builder = new Mtl.TensorFileBuilder();

builder.add('a', makeView());
builder.write(path);

const file = TensorFile.open(path);

// The owner of each function, and the arguments that have to be there.
const CALLS = {
    'Buffer.new': [Buffer, null, 64],
    'Buffer.new_from_bytes': [Buffer, Uint8Array.of(1, 2)],
    'Buffer.new_uninitialized': [Buffer, null, 64],
    'Device.get': [Device, Mtl.DeviceType.CPU],
    'Event.new': [Event],
    'ExportedTensor.new': [Mtl.ExportedTensor, makeView()],
    'ExportedTensor.announce_change': [Mtl.ExportedTensor.new(makeView())],
    'ExportedTensor.unexport': [Mtl.ExportedTensor.new(makeView())],
    'StridedLayout.new': [StridedLayout, [2, 3]],
    'StridedLayout.new_dense': [StridedLayout, [2, 3]],
    'StridedLayout.new_dense_for_axes': [StridedLayout, [2, 3], [1, 0]],
    'StridedLayout.new_with_byte_strides': [StridedLayout, [2, 3], [12, 4]],
    'StridedLayout.flatten': [DENSE],
    'StridedLayout.get_max_compatible_item_bits': [DENSE, 64],
    'StridedLayout.is_contiguous': [LAYOUT],
    'StridedLayout.narrow': [LAYOUT, 2, 0, 4],
    'StridedLayout.repack': [DENSE, 8],
    'StridedLayout.to_dense': [LAYOUT],
    'StridedView.new': [StridedView, makeView().get_buffer(), DENSE, 'float32'],
    'StridedView.new_arange': [StridedView, null, 'float16', 0, 5],
    'StridedView.new_arange_int64': [StridedView, null, 'uint8', 0, 5],
    'StridedView.new_filled': [StridedView, null, 'int8', [3], 7],
    'StridedView.new_from_variant_fds': [StridedView, makeView().to_variant()],
    'StridedView.new_uninitialized': [StridedView, null, 'int8', [0, 3]],
    'StridedView.new_zeros': [StridedView, null, 'int8', [2, 3]],
    'StridedView.all_close': [makeView(), makeView()],
    'StridedView.array_equal': [makeView(), makeView()],
    'StridedView.reduce': [makeView(), 'maximum'],
    'StridedView.copy': [makeView()],
    'StridedView.copy_scaled_from': [makeView(), makeView(), 3],
    'StridedView.export_dlpack': [makeView()],
    'StridedView.flatten': [makeView()],
    'StridedView.format': [Mtl.arange(2000)],
    'StridedView.is_contiguous': [makeView()],
    'StridedView.narrow': [makeView(), 0, 0, 4],
    'StridedView.to_device': [makeView(), Device.get_host()],
    'StridedView.to_dtype': [makeView().transpose(), 'float64'],
    'StridedView.to_variant': [makeView()],
    'TensorConnection.new': [Mtl.TensorConnection, makeSocket()],
    'TensorFile.check': [file],
    'TensorFile.load_views': [file],
    'TensorFile.match_loadable_names': [file],
    'TensorFile.match_refused_names': [file],
    'TensorFile.open': [TensorFile, path],
    'TensorFileEntry.check': [file.lookup_entry('a')],
};

// The parts of a result that can be compared.
function describe(result) {
    if (Array.isArray(result))
        return result.map(describe);
    if (result instanceof StridedView)
        return [result.dtype, result.shape, result.strides, result.toArray()];
    if (result instanceof StridedLayout)
        return [result.shape, result.strides, result.get_item_bits()];
    if (result instanceof Buffer)
        return [result.get_size(), result.get_storage_mode(), result.is_read_only()];
    if (result instanceof Mtl.DlpackTensor)
        return [result.is_copied(), result.get_device()];
    if (result instanceof GLib.Variant)
        return result.print(true);
    if (result instanceof Mtl.TensorConnection || result instanceof Mtl.ExportedTensor)
        return result.get_flags();
    if (result instanceof TensorFile)
        return [result.get_file().get_path(), result.list_names()];
    return String(result instanceof Event ? result.get_device() : result);
}

test('what is left out is the default', () => {
    let n = 0;

    for (const [namespace, name, items] of TABLE) {
        // The tests of events, connections and proxies have these.
        if (namespace !== 'Mtl' || name.endsWith('_async') || name.startsWith('TensorProxy.') ||
            ['Event.wait', 'TensorConnection.send'].includes(name))
            continue;

        const [owner, ...required] = CALLS[name];
        const method = name.split('.')[1];
        const defaults = items.map(([, text]) => valueOf(text, namespace));
        const results = [...defaults.keys(), defaults.length].map(count =>
            describe(owner[method](...required, ...defaults.slice(0, count))));
        for (const result of results)
            equal([name, result], [name, results[0]]);
        n++;
    }
    ok(n > 30, `${n}`);
});

// Parameters that come last, and can be left out in all functions.
const EVERYWHERE = ['Cancellable', 'FileProgressCallback', 'AsyncReadyCallback'];

function load(namespace) {
    try {
        return gi[namespace];
    } catch (error) {
        return null; // not in this build
    }
}

test('functions tell how many arguments they need', () => {
    let n = 0;

    gi.versions.Gtk = '4.0';
    for (const namespace of ['Mtl', 'MtlGst', 'MtlGtk']) {
        const loaded = load(namespace);

        if (loaded === null)
            continue;
        for (const {owner, name, isMethod, kinds} of functionsOfNamespace(namespace)) {
            const full = owner === '' ? name : `${owner}.${name}`;
            const optional = new Set(TABLE.filter(([space, of]) => space === namespace &&
                [full, full.replace(/_async$/, '')].includes(of)).flatMap(([,, items]) =>
                items.map(([parameter]) => parameter)));
            const object = isMethod ? loaded[owner].prototype : loaded[owner] ?? loaded;

            if (optional.size === 0)
                continue;
            const nEverywhere = kinds.filter(kind => EVERYWHERE.includes(kind)).length;
            ok(object[name].length === kinds.length - nEverywhere - optional.size,
                `${namespace}.${full}: ${object[name].length} of ${kinds.length}`);
            n++;
        }
    }
    ok(n >= 40, `${n}`);
});

await run();

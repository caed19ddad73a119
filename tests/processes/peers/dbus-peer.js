/* SPDX-License-Identifier: LGPL-2.1-or-later */

// usage: dbus-peer.js export|call NAME: a process of test_dbus_languages.py

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';
import System from 'system';

const PATH = '/org/mtldl/test/Tensor';
const {StridedView, DType, StorageMode} = Mtl;
const [action, name] = System.programArgs;
const host = Mtl.Device.get_host();
const bus = Gio.bus_get_sync(Gio.BusType.SESSION, null);
const loop = new GLib.MainLoop(null, false);

function show(what, view) {
    print(what, Number(view.get_buffer().is_interprocess()),
        view.format(1000).replaceAll('\n', '|'));
}

function named(text) {
    return new GLib.Variant('a{sv}', {name: GLib.Variant.new_string(text)});
}

// Shows each view that it is offered in its turn.
function exportTensor() {
    const numbers = StridedView.new_arange(host, DType.FLOAT32, 0, 24, 1, StorageMode.INTERPROCESS);
    const tensor = new Mtl.ExportedTensor({
        view: numbers.reshape([4, 6]).slice('::-1, ::2'),
        writable: true,
    });

    tensor.connect('put', (_, view, extras) => {
        const text = extras.recursiveUnpack().name;

        if (text === 'end') {
            GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => loop.quit());
            return true;
        }
        show(text, view);
        tensor.view = view;
        return true;
    });
    tensor.connect('written', (_, region) => show(region, tensor.view));
    tensor.export(bus, PATH);
    Gio.bus_own_name_on_connection(bus, name, Gio.BusNameOwnerFlags.NONE,
        () => print('ready'), null);
    loop.run();
    bus.flush_sync(null); // with the last reply
}

async function call() {
    const proxy = Mtl.TensorProxy.new(bus, name, PATH);
    const changes = [];

    proxy.connect('changed', (_, serial, region) => changes.push(region));
    const first = proxy.fetch_view();
    show('fetched', first);
    proxy.copy_from(StridedView.from([100, 200, 300]), '1:3, ::-1');
    show('written', first); // in the other process's memory
    const [layout, dtype, readOnly] = proxy.fetch_layout();
    print(`(${layout.shape.join(', ')})`, Mtl.dtype_to_string(dtype), Number(readOnly));
    proxy.put(StridedView.new_arange_int64(host, DType.UINT32, 0, 100000), named('large'));
    show('large', await proxy.fetch_view_async());
    print(changes.join('|'));
    try {
        proxy.copy_from(StridedView.from([1]), '100000');
    } catch (error) {
        print(error.matches(Mtl.Error, Mtl.Error.OUT_OF_BOUNDS) ? 'OUT_OF_BOUNDS' : error);
    }
    proxy.put(StridedView.from([0]), named('end'));
}

if (action === 'export') {
    exportTensor();
} else {
    call().catch(error => {
        printerr(error);
        System.exit(1);
    }).finally(() => loop.quit());
    loop.run();
}

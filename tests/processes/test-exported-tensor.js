/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {
    equal, ok, recordCalls, rejectsMtl, run, test, testAllReached, throwsMtl,
} from '../support/tap.js';

const {CLIENT, SERVER} = {
    CLIENT: Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT,
    SERVER: Gio.DBusConnectionFlags.AUTHENTICATION_SERVER,
};
const {INTERPROCESS} = Mtl.StorageMode;
const PATH = '/org/mtldl/test/Tensor';
const host = Mtl.Device.get_host();

recordCalls('ExportedTensor');
recordCalls('TensorProxy');

function newSocket() {
    return Gio.Socket.new(Gio.SocketFamily.UNIX, Gio.SocketType.STREAM,
        Gio.SocketProtocol.DEFAULT);
}

function newConnection(socket, guid, flags) {
    const stream = socket.connection_factory_create_connection();

    return new Promise((resolve, reject) => {
        Gio.DBusConnection.new(stream, guid, flags, null, null, (_, result) => {
            try {
                resolve(Gio.DBusConnection.new_finish(result));
            } catch (error) {
                reject(error);
            }
        });
    });
}

// Returns connections for both ends: the exporter's and the caller's.
function connect() {
    const folder = GLib.dir_make_tmp('mtldl-XXXXXX');
    const path = GLib.build_filenamev([folder, 'socket']);
    const listener = newSocket();
    const here = newSocket();

    listener.bind(Gio.UnixSocketAddress.new(path), false);
    listener.listen();
    here.connect(Gio.UnixSocketAddress.new(path), null);
    const there = listener.accept(null);
    listener.close();
    GLib.unlink(path);
    GLib.rmdir(folder);
    return Promise.all([newConnection(there, Gio.dbus_generate_guid(), SERVER),
        newConnection(here, null, CLIENT)]);
}

async function exportView(view) {
    const [exporter, caller] = await connect();
    const tensor = Mtl.ExportedTensor.new(view);

    tensor.export(exporter, PATH);
    return [tensor, Mtl.TensorProxy.new(caller, null, PATH), exporter];
}

test('objects have their properties', async () => {
    const view = Mtl.StridedView.from([1, 2, 3]);
    const [tensor, proxy] = await exportView(view);

    ok(tensor.get_view() === view && tensor.view === view);
    equal([tensor.get_flags(), tensor.flags], [Mtl.TensorPeerFlags.NONE, 0]);
    equal([tensor.get_writable(), tensor.writable], [false, false]);
    tensor.set_writable(true);
    equal(tensor.writable, true);
    ok(proxy.get_connection() === proxy.connection);
    equal([proxy.get_bus_name(), proxy.bus_name], [null, null]);
    equal([proxy.get_object_path(), proxy.object_path], [PATH, PATH]);
    equal(new Mtl.ExportedTensor({view, flags: Mtl.TensorPeerFlags.ALLOW_OTHER_USERS}).flags,
        Mtl.TensorPeerFlags.ALLOW_OTHER_USERS);
});

test('a view is fetched', async () => {
    const view = Mtl.StridedView.new_arange(host, Mtl.DType.FLOAT32, 0, 24, 1, INTERPROCESS)
        .reshape([4, 6]);
    const [, proxy] = await exportView(view.slice('::-1, ::2'));
    const fetched = await proxy.fetch_view_async();

    equal(fetched.toArray(), [[18, 20, 22], [12, 14, 16], [6, 8, 10], [0, 2, 4]]);
    equal(fetched.read_only, true);
    view.set(3, 0, 100);
    equal(fetched.get(0, 0), 100);
    throwsMtl('READ_ONLY', '', () => fetched.set(0, 0, 1));

    const [layout, dtype, readOnly] = await proxy.fetch_layout_async();
    equal([layout.shape, layout.strides, dtype, readOnly],
        [[4, 3], [-6, 2], Mtl.DType.FLOAT32, true]);
});

test('a view is offered', async () => {
    const [tensor, proxy] = await exportView(Mtl.StridedView.from([1]));
    const offered = Mtl.StridedView.from([[1, 2], [3, 4]]);

    await rejectsMtl('NOT_SUPPORTED', PATH, proxy.put_async(offered));
    tensor.connect('put', (_, view, extras) => {
        if (extras.recursiveUnpack().name !== 'right')
            return false;
        tensor.set_view(view);
        return true;
    });
    await rejectsMtl('NOT_SUPPORTED', PATH, proxy.put_async(offered));
    equal(await proxy.put_async(offered,
        new GLib.Variant('a{sv}', {name: GLib.Variant.new_string('right')})), true);
    equal((await proxy.fetch_view_async()).toArray(), [[1, 2], [3, 4]]);
});

test('elements are written, and changes announced', async () => {
    const view = Mtl.StridedView.new_zeros(host, Mtl.DType.INT32, [3, 4]);
    const [tensor, proxy] = await exportView(view);
    const changes = [];
    const written = [];
    const row = Mtl.StridedView.from([1, 2, 3, 4]);

    proxy.connect('changed', (_, serial, region) => changes.push(region));
    tensor.connect('written', (_, region) => written.push(region));
    await rejectsMtl('READ_ONLY', PATH, proxy.copy_from_async(row));
    tensor.writable = true;
    equal(await proxy.copy_from_async(row, '::2, ::-1'), true);
    equal(view.toArray(), [[4, 3, 2, 1], [0, 0, 0, 0], [4, 3, 2, 1]]);
    await rejectsMtl('OUT_OF_BOUNDS', '3', proxy.copy_from_async(row, '3'));

    equal(tensor.announce_change(), true);
    tensor.announce_change('1:');
    throwsMtl('OUT_OF_BOUNDS', '3', () => tensor.announce_change('3'));
    await proxy.fetch_layout_async();
    equal(changes, ['::2, ::-1', '', '1:']);
    equal(written, ['::2, ::-1']);
});

// Returns the most descriptors that are open while a function is called many times.
async function countMostDescriptors(call) {
    const folder = Gio.File.new_for_path('/proc/self/fd');
    let most = 0;

    for (let i = 0; i < 3000; i++) {
        // eslint-disable-next-line no-await-in-loop
        await call();
        if (i % 100 === 0) {
            const names = folder.enumerate_children('standard::name', 0, null);

            most = Math.max(most, [...names].length);
        }
    }
    return most;
}

// The garbage collector does not see the descriptors.
test('views that are no longer used are collected', async () => {
    const view = Mtl.StridedView.new_zeros(host, Mtl.DType.UINT8, [100], INTERPROCESS);
    const [, proxy] = await exportView(view);
    const most = await countMostDescriptors(() => proxy.fetch_view_async());

    ok(most < 700, `${most} descriptors are open`);
});

test('offered views that are no longer used are collected', async () => {
    const view = Mtl.StridedView.new_zeros(host, Mtl.DType.UINT8, [100], INTERPROCESS);

    for (const tensor of [Mtl.ExportedTensor.new(view), new Mtl.ExportedTensor({view})]) {
        // eslint-disable-next-line no-await-in-loop
        const [exporter, caller] = await connect();
        const proxy = Mtl.TensorProxy.new(caller, null, PATH);
        let n = 0;

        tensor.export(exporter, PATH);
        tensor.connect('put', (_, offered) => {
            n += offered.length;
            return true;
        });
        // eslint-disable-next-line no-await-in-loop
        const most = await countMostDescriptors(() => proxy.put_async(view));
        tensor.unexport(exporter);
        equal(n, 300000);
        ok(most < 700, `${most} descriptors are open`);
    }
});

// A synchronous call of an object in this thread would wait for itself.
test('without a tensor, calls are errors', async () => {
    const [tensor, proxy, exporter] = await exportView(Mtl.StridedView.from([1]));
    const nowhere = new Mtl.TensorProxy({connection: proxy.connection, object_path: 'no path'});

    tensor.unexport(exporter);
    tensor.unexport();
    throwsMtl('INVALID_ARGUMENT', 'no path', () => tensor.export(exporter, 'no path'));
    throwsMtl('INVALID_ARGUMENT', 'no path', () => nowhere.fetch_view());
    throwsMtl('INVALID_ARGUMENT', 'no path', () => nowhere.fetch_layout());
    throwsMtl('INVALID_ARGUMENT', 'no path', () => nowhere.put(tensor.view));
    throwsMtl('INVALID_ARGUMENT', 'no path', () => nowhere.copy_from(tensor.view));
    try {
        await proxy.fetch_view_async();
        ok(false);
    } catch (error) {
        ok(error.matches?.(Gio.DBusError, Gio.DBusError.UNKNOWN_METHOD), `got ${error}`);
    }
});

testAllReached('ExportedTensor');
testAllReached('TensorProxy');
await run();

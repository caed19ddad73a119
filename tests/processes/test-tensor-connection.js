/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {
    equal, ok, recordCalls, rejectsMtl, run, test, testAllReached, throwsGio, throwsMtl,
} from '../support/tap.js';

const {INTERPROCESS} = Mtl.StorageMode;
const host = Mtl.Device.get_host();

recordCalls('TensorConnection');

function newSocket() {
    return Gio.Socket.new(Gio.SocketFamily.UNIX, Gio.SocketType.STREAM,
        Gio.SocketProtocol.DEFAULT);
}

// Returns connections for both ends.
function connect() {
    const folder = GLib.dir_make_tmp('mtldl-XXXXXX');
    const path = GLib.build_filenamev([folder, 'socket']);
    const address = Gio.UnixSocketAddress.new(path);
    const listener = newSocket();
    const here = newSocket();

    listener.bind(address, false);
    listener.listen();
    here.connect(address, null);
    const there = listener.accept(null);
    listener.close();
    GLib.unlink(path);
    GLib.rmdir(folder);
    return [Mtl.TensorConnection.new(here), new Mtl.TensorConnection({socket: there})];
}

test('a connection has its properties', () => {
    const [here] = connect();

    ok(here.get_socket() === here.socket);
    equal(here.get_flags(), Mtl.TensorPeerFlags.NONE);
    equal([here.get_max_views(), here.max_views], [256, 256]);
    here.set_max_views(3);
    here.set_max_bytes(1000);
    equal([here.max_views, here.get_max_views(), here.max_bytes, here.get_max_bytes()],
        [3, 3, 1000, 1000]);
    equal(Mtl.TensorConnection.new(here.socket, Mtl.TensorPeerFlags.ALLOW_OTHER_USERS).flags,
        Mtl.TensorPeerFlags.ALLOW_OTHER_USERS);
});

test('views are sent and received', () => {
    const [here, there] = connect();
    const view = Mtl.StridedView.from([[1, 2, 3], [4, 5, 6]]).slice('::-1, ::2');

    equal(here.send(view), true);
    const [received, extras] = there.receive();
    equal(received.toArray(), [[4, 6], [1, 3]]);
    equal(received.read_only, true);
    equal(extras.recursiveUnpack(), {});
});

test('memory of the connection is shared', () => {
    const [here, there] = connect();
    const view = here.allocate_view(Mtl.DType.FLOAT32, [100, 300]);

    view.fill_double(1);
    here.send(view, new GLib.Variant('a{sv}', {name: GLib.Variant.new_string('frame')}));
    const [received, extras] = there.receive();
    view.set(99, 299, 7);
    equal(received.get(99, 299), 7);
    equal(received.get_buffer().interprocess, true);
    equal(extras.recursiveUnpack(), {name: 'frame'});
    throwsMtl('READ_ONLY', '', () => received.set(0, 0, 1));
});

test('the program goes on while it waits', async () => {
    const [here, there] = connect();
    const view = Mtl.StridedView.new_arange(host, Mtl.DType.FLOAT64, 0, 20000, 1, INTERPROCESS);
    const receiving = there.receive_async();

    throwsGio('PENDING', () => there.receive());
    equal(await here.send_async(view), true);
    const [received] = await receiving;
    equal(received.get(19999), 19999);
});

test('a peer that is gone is an error', async () => {
    const [here, there] = connect();
    const cancellable = new Gio.Cancellable();

    cancellable.cancel();
    throwsGio('CANCELLED', () => here.receive(cancellable));
    there.socket.close();
    throwsGio('CONNECTION_CLOSED', () => here.receive());
    throwsGio('CONNECTION_CLOSED', () => here.send(Mtl.StridedView.from([1])));
    await throwsGio('CONNECTION_CLOSED', () => here.receive_async());
});

test('limits hold', async () => {
    const [here, there] = connect();
    const view = here.allocate_view(Mtl.DType.UINT8, [100]);

    there.max_bytes = 99;
    here.send(view);
    throwsMtl('BUSY', '99', () => there.receive());
    here.send(view);
    await rejectsMtl('BUSY', '99', there.receive_async());
});

// The garbage collector does not see that a connection allows 256 views at once.
test('views that are no longer used are collected', async () => {
    const [here, there] = connect();
    const view = here.allocate_view(Mtl.DType.UINT8, [1000]);
    const held = [];

    view.fill(1);
    for (let i = 0; i < 2000; i++) {
        here.send(view);
        // eslint-disable-next-line no-await-in-loop
        const [received] = i % 2 === 0 ? there.receive() : await there.receive_async();

        equal(received.get(i % 1000), 1);
        if (i % 20 === 0)
            held.push(received);
    }
    equal(held.length, 100);
});

test('views that are no longer used do not reach the limit of bytes', () => {
    const [here, there] = connect();
    const view = here.allocate_view(Mtl.DType.UINT8, [1000]);

    there.max_bytes = 20e3;
    for (let i = 0; i < 1000; i++) {
        here.send(view);
        equal(there.receive()[0].length, 1000);
    }
});

testAllReached('TensorConnection');
await run();

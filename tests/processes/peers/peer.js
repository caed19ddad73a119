/* SPDX-License-Identifier: LGPL-2.1-or-later */

// usage: peer.js send|receive FD: one end of test_languages.py

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';
import System from 'system';

const [action, fd] = System.programArgs;
const connection = new Mtl.TensorConnection({socket: Gio.Socket.new_from_fd(Number(fd))});
const host = Mtl.Device.get_host();

function send(view, name) {
    connection.send(view, new GLib.Variant('a{sv}', {name: GLib.Variant.new_string(name)}));
}

function sendAll() {
    const {StridedView, DType, StorageMode} = Mtl;

    send(StridedView.new_arange_int64(host, DType.INT64, 0, 6).reshape([2, 3]), 'small');
    send(StridedView.new_arange(host, DType.FLOAT32, 0, 24, 1, StorageMode.INTERPROCESS)
        .reshape([4, 6]).slice('::-1, ::2'), 'shared');
    send(StridedView.new_arange_int64(host, DType.UINT32, 0, 100000), 'large');
}

function receiveOne() {
    const [view, extras] = connection.receive();
    const {name} = extras.recursiveUnpack();

    print(name, Number(view.is_read_only()), Number(view.get_buffer().is_interprocess()),
        view.format(1000).replaceAll('\n', '|'));
}

if (action === 'send') {
    sendAll();
} else {
    for (let i = 0; i < 3; i++)
        receiveOne();
}

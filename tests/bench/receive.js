/* SPDX-License-Identifier: LGPL-2.1-or-later */

// usage: receive.js DESCRIPTOR: the receiver in JavaScript of bench_processes.py
//
// Answers each tensor with the time at which its first and last byte were read, and their sum.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

const connection = Mtl.TensorConnection.new(Gio.Socket.new_from_fd(Number(ARGV[0])));

try {
    for (;;) {
        const [view] = connection.receive(null);
        const sum = view.get(0) + view.get(view.shape[0] - 1);

        connection.send(Mtl.StridedView.from([GLib.get_monotonic_time(), sum]), null, null);
    }
} catch (error) {
    if (!error.matches?.(Gio.IOErrorEnum, Gio.IOErrorEnum.CONNECTION_CLOSED))
        throw error;
}

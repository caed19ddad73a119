#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later

// frames.js DESCRIPTOR
//
// Shows the pictures that another program paints, in the memory in which it
// painted them, and answers each with the times at which it came and was
// shown. The descriptor is that of a socket; ../demo_processes.py is at the
// other end.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk?version=4.0';
import Mtl from 'gi://Mtl?version=1';
import MtlGtk from 'gi://MtlGtk?version=1';
import System from 'system';

const socket = Gio.Socket.new_from_fd(Number(ARGV[0]));
const painter = Mtl.TensorConnection.new(socket);
const paintable = new MtlGtk.ViewPaintable();
const application = new Gtk.Application({
    application_id: 'org.mtldl.Frames',
    flags: Gio.ApplicationFlags.NON_UNIQUE,
});
let status = 0;

async function showNext() {
    const [picture] = await painter.receive_async();
    const received = GLib.get_monotonic_time();
    const last = paintable.view;

    paintable.set_view(picture);
    // The painter can use the last picture's memory again, once it is not drawn any more.
    try {
        last?.close();
    } catch (error) {
        if (!error.matches?.(Mtl.Error, Mtl.Error.BUSY))
            throw error;
    }
    await painter.send_async(Mtl.StridedView.from([received, GLib.get_monotonic_time()]));
}

async function showAll() {
    try {
        for (;;)
            await showNext(); // eslint-disable-line no-await-in-loop
    } catch (error) {
        // The painter closes the connection in the end.
        if (!error.matches?.(Gio.IOErrorEnum, Gio.IOErrorEnum.CONNECTION_CLOSED)) {
            printerr(`frames.js: ${error.message}`);
            status = 1;
        }
    }
    application.quit();
}

application.connect('activate', () => {
    const window = new Gtk.ApplicationWindow({
        application,
        title: 'Painted by another program',
        default_width: 640,
        default_height: 480,
        child: new Gtk.Picture({paintable}),
    });

    window.connect('close-request', () => {
        socket.shutdown(true, true);
        return false;
    });
    window.present();
    showAll();
});

System.exit(application.run([System.programInvocationName]) || status);

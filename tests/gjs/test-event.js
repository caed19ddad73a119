/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, recordCalls, run, test, testAllReached} from './tap.js';

recordCalls('Event');

// What an asynchronous call gives, or the error that it ends with.
function waitFor(event, value, timeout, cancellable = null) {
    const loop = new GLib.MainLoop(null, false);
    let outcome;

    event.wait_async(value, timeout, cancellable, (source, result) => {
        try {
            outcome = source.wait_finish(result);
        } catch (error) {
            outcome = error;
        }
        loop.quit();
    });
    loop.run();
    return outcome;
}

test('an event starts at 0, and never goes back', () => {
    const event = Mtl.Event.new(Mtl.Device.get_default());

    ok(event.get_device() === Mtl.Device.get_default());
    equal(event.get_signaled_value(), 0);
    event.signal(5);
    event.signal(3);
    equal(event.get_signaled_value(), 5);
    equal(event.signaled_value, 5);
    ok(event.wait(5, 0, null));
});

test('a wait ends in time', () => {
    const event = Mtl.Event.new(null);

    try {
        event.wait(1, 1000, null);
        ok(false);
    } catch (error) {
        ok(error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT));
    }
});

test('an asynchronous wait ends with the signal, in time, or cancelled', () => {
    const event = Mtl.Event.new(null);
    const cancellable = new Gio.Cancellable();

    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
        event.signal(2);
        return GLib.SOURCE_REMOVE;
    });
    ok(waitFor(event, 2, -1) === true);
    ok(waitFor(event, 3, 1000).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT));
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
        cancellable.cancel();
        return GLib.SOURCE_REMOVE;
    });
    ok(waitFor(event, 3, -1, cancellable).matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
});

test('an export waits for an event', () => {
    const event = Mtl.Event.new(null);
    const view = Mtl.StridedView.new_zeros(null, Mtl.DType.INT8, [2]);

    event.signal(1);
    const tensor = view.export_dlpack(Mtl.DlpackFlags.NONE, Mtl.DeviceType.UNKNOWN, 0, event, 1);
    equal(Mtl.StridedView.new_from_dlpack(tensor).shape, [2]);
});

testAllReached('Event');
run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {defaultDevice} from '../support/memory.js';
import {equal, ok, recordCalls, run, test, testAllReached, throwsGio} from '../support/tap.js';

const SECOND = 1_000_000;  // in microseconds

Gio._promisify(Mtl.Event.prototype, 'wait_async');

recordCalls('Event');

// Tests events of the host and of every other device.
function testEvents(name, callback) {
    for (const device of Mtl.Device.list())
        test(`${name} (${device.get_name()})`, () => callback(Mtl.Event.new(device), device));
}

function later(callback) {
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 30, () => {
        callback();
        return GLib.SOURCE_REMOVE;
    });
}

testEvents('an event starts at 0 and only grows', event => {
    equal([event.get_signaled_value(), event.signaled_value], [0, 0]);
    for (const [signaled, value] of [[3, 3], [2, 3], [3, 3], [10, 10]]) {
        event.signal(signaled);
        equal(event.get_signaled_value(), value);
    }
});

testEvents('an event is of a device', (event, device) => {
    ok(event.get_device() === device);
    ok(event.device === device);
    ok(new Mtl.Event({device}).device === device);
    ok(Mtl.Event.new(null).get_device() === defaultDevice);
});

testEvents('what is reached is not waited for', async event => {
    event.signal(5);
    for (const value of [0, 4, 5]) {
        equal(event.wait(value, 0), true);
        equal(event.wait(value, -1, null), true);
        equal(await event.wait_async(value, -1, null), true);
    }
});

testEvents('the main loop turns while a promise waits', async event => {
    later(() => event.signal(7));
    equal(await event.wait_async(7, 10 * SECOND, null), true);
    equal(event.get_signaled_value(), 7);
});

testEvents('several waits end in their order', async event => {
    const order = [];
    const waits = [3, 1, 2].map(async value => {
        await event.wait_async(value, -1, null);
        order.push(value);
        event.signal(value + 1);
    });

    later(() => event.signal(1));
    await Promise.all(waits);
    equal([order, event.get_signaled_value()], [[1, 2, 3], 4]);
});

testEvents('a wait lasts no longer than told', async event => {
    await throwsGio('TIMED_OUT', () => event.wait(1, 0, null));
    await throwsGio('TIMED_OUT', () => event.wait(1, SECOND / 50, null));
    await throwsGio('TIMED_OUT', () => event.wait_async(1, SECOND / 50, null));
});

testEvents('a wait can be cancelled', async event => {
    const cancellable = new Gio.Cancellable();

    later(() => cancellable.cancel());
    await throwsGio('CANCELLED', () => event.wait_async(1, -1, cancellable));
    await throwsGio('CANCELLED', () => event.wait(1, -1, cancellable));
    equal(event.get_signaled_value(), 0);
});

testAllReached('Event');
await run();

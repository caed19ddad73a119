/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Objects that a bare constructor makes are empty, whatever is done with them.

import GObject from 'gi://GObject';
import Mtl from 'gi://Mtl?version=1';

import {ok, run, test} from '../../support/tap.js';

// The host has no streams.
const names = Object.keys(Mtl).filter(name => {
    const type = Mtl[name]?.$gtype;

    return type && name !== 'Stream' && GObject.type_is_a(type, GObject.Object) && !GObject.type_test_flags(
        type, GObject.TypeFlags.ABSTRACT);
});

// Methods of GObject are left out, and those that wait for a callback.
function* methodsOf(object) {
    for (let from = object; from !== GObject.Object.prototype; from = Object.getPrototypeOf(from)) {
        for (const name of Object.getOwnPropertyNames(from)) {
            if (name !== 'constructor' && !/async|finish|^_init|vfunc/.test(name))
                yield name;
        }
    }
}

// An error is as good as a value.
function attempt(callback) {
    try {
        return callback();
    } catch (error) {
        ok(error.message, 'an error without a message');
        return null;
    }
}

// Only methods without arguments, as gjs itself may crash on those of a wrong type.
for (const name of names) {
    test(`a bare ${name} is empty`, () => {
        const make = () => new Mtl[name]();
        let n = 0;

        for (const member of methodsOf(make())) {
            attempt(() => {
                const bare = make(), value = bare[member];

                n++;
                return typeof value === 'function' && value.length === 0 ? value.call(bare) : value;
            });
        }
        attempt(() => `${make()}`);
        attempt(() => [...make()]);
        ok(n > 3, `${n} members`);
    });
}

test('there are such classes', () => ok(names.length >= 8, names.join(' ')));

await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Calls functions with arguments of every wrong kind: those that return arrays, and those that take
// arrays of anything but numbers. gjs 1.74 frees an array that was never returned, and believes the
// length of what it takes for one. That ends the process, so each parameter has its own.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';
import System from 'system';

import {ok, test} from './tap.js';
import {functionsOfNamespace} from './typelib.js';

function wrongValues() {
    const endless = [], closed = Mtl.array([1, 2]), view = Mtl.array([[1, 2], [3, 4]]);

    endless.push(endless);
    closed.close();
    return [
        undefined, null, true, 0, -1, 5, 0.5, NaN, Infinity, 2 ** 53, -(2n ** 70n), '', '*', 'a\0b',
        '\ud800', Symbol('s'), () => 0, {}, [], [null], [undefined], [5], ['a'], [Symbol('s')],
        [{}], [[1]], new Array(2), endless, view, closed, [view], [closed], new Set([view]),
        {length: -1},
        {length: 2 ** 53}, {length: 1.5}, {length: NaN}, {length: '2', 0: view, 1: view},
        new Proxy([], {get: () => -1}), new Date(), new Map([[1, 2]]), new ArrayBuffer(8),
        new Float64Array(2), new GLib.Bytes([1]), new GLib.Variant('i', 3), new Gio.Cancellable(),
        Gio.Task.new(view, null, null), Mtl, Mtl.StridedView, Mtl.StridedView.prototype,
        {valueOf() {
            throw new Error('never');
        }},
    ];
}

// The call ends with an error or without one.
function attempt(func, self, args) {
    try {
        func.apply(self, args);
    } catch {
        // This is the right outcome.
    }
}

function callWithWrongValues(namespace, makeInstance, owner, name, position) {
    const functions = [...functionsOfNamespace(namespace.__name__)];
    const {isMethod, kinds} = functions.find(func => func.owner === owner && func.name === name);
    const holder = owner === '' ? namespace : namespace[owner];
    const func = (isMethod ? holder.prototype : holder)[name];
    const values = wrongValues();

    for (const [i, value] of values.entries()) {
        // null is no number: it would be refused before what stands behind it.
        const args = kinds.map(kind => /^(u?int|double|float)\w*$/.test(kind) ? 1 : null);
        let self = isMethod ? makeInstance(owner) : holder;

        print(`value ${i}`);
        if (position < 0)
            self = value;
        else
            args[position] = value;
        attempt(func, self, args);
        attempt(func, self, args.slice(0, position + 1));
    }
    System.gc();
    print(`called with ${values.length} values`);
}

function usesArrays({kinds, returned, stored}) {
    return [returned, ...stored].some(kind => kind.endsWith('[]')) ||
        kinds.some(kind => kind.endsWith('[]') && !/^(u?int|double)/.test(kind));
}

// The tests, or what one of them does in a process of its own. makeInstance() makes an object for
// the name of its class.
export function testWrongArguments(namespace, makeInstance) {
    if (ARGV.length === 3) {
        callWithWrongValues(namespace, makeInstance, ARGV[0], ARGV[1], Number(ARGV[2]));
        System.exit(0);
    }

    test(`${namespace.__name__}: functions with arrays survive every wrong argument`, () => {
        let n = 0;

        for (const func of functionsOfNamespace(namespace.__name__)) {
            const {owner, name, isMethod, kinds} = func;

            if (!usesArrays(func))
                continue;
            for (let i = isMethod ? -1 : 0; i < kinds.length; i++) {
                const child = Gio.Subprocess.new(
                    ['gjs', '-m', System.programPath, owner, name, `${i}`],
                    Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_SILENCE);
                const [, output] = child.communicate_utf8(null, null);

                ok(child.get_successful() && /called with \d+ values\n$/.test(output),
                    `${owner}.${name}, argument ${i}: ${output.trim().split('\n').at(-1)}`);
                n++;
            }
        }
        ok(n > 0);
    });
}

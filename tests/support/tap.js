/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Tests that report in the Test Anything Protocol, and a record of which
// functions of a class they called.

import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Mtl from 'gi://Mtl?version=1';
import System from 'system';

import {runsAll} from './memory.js';
import {functionsOf} from './typelib.js';

const tests = [];
const reached = new Map();

// The callback may be asynchronous.
export function test(name, callback) {
    if (runsAll)
        tests.push([name, callback]);
}

// A test that holds in memory of every storage mode.
export function testAnyMemory(name, callback) {
    tests.push([name, callback]);
}

export async function run() {
    let nFailed = 0;

    print(`1..${tests.length}`);
    for (const [i, [name, callback]] of tests.entries()) {
        try {
            await callback();
            print(`ok ${i + 1} ${name}`);
        } catch (error) {
            nFailed++;
            print(`not ok ${i + 1} ${name}`);
            print(`${error}\n${error.stack}`.trimEnd().replace(/^/gm, '# '));
        }
    }
    System.exit(nFailed > 0 ? 1 : 0);
}

function show(value) {
    return JSON.stringify(value, (_, part) => {
        if (typeof part === 'bigint')
            return `${part}n`;
        if (ArrayBuffer.isView(part))
            return {[part.constructor.name]: [...part]};
        return typeof part === 'number' ? String(part) : part;
    });
}

export function ok(value, message = 'a true value was expected') {
    if (!value)
        throw new Error(message);
}

// Compares numbers, strings, arrays of them, and typed arrays with their class.
export function equal(actual, expected) {
    const [a, b] = [[typeof actual, actual], [typeof expected, expected]].map(show);
    ok(a === b, `got ${a}, expected ${b}`);
}

// Each value that the message has to say is there as a whole, and not 12 in 128, -12, 0.12 or 12.5.
function checkSays(message, values) {
    for (const value of [values].flat().map(String)) {
        const start = /^[\w-]/.test(value) ? '(?<!\\w)' : '';
        const number = /^\d/.test(value) ? '(?<!\\d\\.)(?<!(?<!\\w)-)' : '';
        const end = /\w$/.test(value) ? '(?!\\w)' : '';
        const fraction = /\d$/.test(value) ? '(?!\\.\\d)' : '';
        const escaped = value.replace(/[^\w ]/gu, '\\$&');

        ok(new RegExp(start + number + escaped + end + fraction).test(message),
            `“${message}” does not say ${value}`);
    }
}

// The values, if any, are in the message in any words and in any order.
export function throws(errorClass, values, callback) {
    try {
        callback();
    } catch (error) {
        ok(error instanceof errorClass, `got ${error}, expected a ${errorClass.name}`);
        checkSays(error.message, values);
        return;
    }
    throw new Error(`nothing was thrown, expected a ${errorClass.name}`);
}

function checkMtl(error, code, values) {
    ok(error.matches?.(Mtl.Error, Mtl.Error[code]), `got ${error}, expected ${code}`);
    checkSays(error.message, values);
}

export function throwsMtl(code, values, callback) {
    try {
        callback();
    } catch (error) {
        checkMtl(error, code, values);
        return;
    }
    throw new Error(`nothing was thrown, expected ${code}`);
}

export async function rejectsMtl(code, values, promise) {
    try {
        await promise;
    } catch (error) {
        checkMtl(error, code, values);
        return;
    }
    throw new Error(`nothing was rejected, expected ${code}`);
}

// An error of Gio, which may come with a promise.
export async function throwsGio(code, callback) {
    try {
        await callback();
    } catch (error) {
        ok(error.matches?.(Gio.IOErrorEnum, Gio.IOErrorEnum[code]),
            `got ${error}, expected ${code}`);
        return;
    }
    throw new Error(`nothing was thrown, expected ${code}`);
}

// Each property of the object's class is what its getter returns, by any of its
// names in JavaScript.
export function checkProperties(object) {
    const pspecs = GObject.Object.list_properties.call(object.constructor);

    ok(pspecs.length > 0, `${object} has no properties`);
    for (const {name, flags} of pspecs) {
        const snakeName = name.replaceAll('-', '_');
        const camelName = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
        const getter = ['get', 'is', 'dup'].map(verb => `${verb}_${snakeName}`)
            .find(method => method in object);
        const expected = object[getter]();

        equal([name, flags & GObject.ParamFlags.WRITABLE], [name, 0]);
        for (const value of [object[name], object[snakeName], object[camelName]]) {
            if (expected instanceof Mtl.StridedLayout)
                ok(value.equal(expected), `${name} is ${value}, not ${expected}`);
            else
                ok(value === expected, `${name} is ${value}, not ${expected}`);
        }
    }
}

// Records calls of the functions of a class; the test at the end fails if one was never called.
export function recordCalls(className) {
    const names = new Set();

    for (const {name, isMethod} of functionsOf(className)) {
        const owner = isMethod ? Mtl[className].prototype : Mtl[className];
        const original = owner[name];
        owner[name] = function (...args) {
            names.add(name);
            return original.apply(this, args);
        };
    }
    reached.set(className, names);
}

export function isInBackground(name) {
    return /_(async|finish)$/.test(name);
}

// Tests those that a filter takes.
export function testAllReached(className, filter = () => true) {
    test(`every function of ${className} was called`, () => {
        const all = functionsOf(className).map(({name}) => name).filter(filter);
        ok(all.length > 0, `${className} has no functions`);
        equal(all.filter(name => !reached.get(className).has(name)), []);
    });
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

// list-names.js NAMESPACE: prints the names that JavaScript finds on the classes of a namespace,
// one a line, as Namespace.Class.name. Those of the override and those of introspection.

const [name] = ARGV;
imports.gi.versions[name] = '1';
const namespace = imports.gi[name];

// Names that gjs and JavaScript themselves give to classes and functions.
const GENERAL = new Set(['prototype', 'constructor', 'length', 'name', '$gtype', 'toString']);
const own = new Set(['toString']);

for (const [key, value] of Object.entries(namespace)) {
    if (typeof value === 'function' && value.$gtype === undefined)
        print(`${name}.${key}`);
    if (value?.$gtype === undefined)
        continue;
    for (const object of [value, value.prototype ?? {}]) {
        for (const member of Reflect.ownKeys(object)) {
            const {get, value: found} = Object.getOwnPropertyDescriptor(object, member);

            // Indices are only there to be refused.
            if (typeof (get ?? found) !== 'function' || /\[native code\]/.test(get ?? found) ||
                /^-?\d+$/.test(String(member)))
                continue;
            if (typeof member === 'symbol')
                print(`${name}.${key}[${member.description}]`);
            else if ((!GENERAL.has(member) || own.has(member)) && !member.startsWith('_'))
                print(`${name}.${key}.${member}`);
        }
    }
}

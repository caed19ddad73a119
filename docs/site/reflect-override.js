/* SPDX-License-Identifier: LGPL-2.1-or-later */

// reflect-override.js NAMESPACE: prints what the classes of a namespace have, as JSON:
// {owner: {name: {kind, source}}}. The owner of functions is ''. With --bare, without the
// overrides, so that the difference is what the override adds and replaces.

const [name, bare] = ARGV;

if (bare === '--bare')
    imports.overrides.searchPath = [];
imports.gi.versions[name] = '1';
const namespace = imports.gi[name];

function describe(object, isStatic) {
    const members = {};

    for (const key of Reflect.ownKeys(object)) {
        const {get, value} = Object.getOwnPropertyDescriptor(object, key);
        const member = get ?? value;

        // gjs has properties and functions of a namespace as accessors of its own. Indices are only
        // there to be refused.
        if (typeof member !== 'function' || key === 'constructor' ||
            /\[native code\]/.test(member) || /^-?\d+$/.test(String(key)))
            continue;
        members[typeof key === 'symbol' ? `[${key.description}]` : key] = {
            kind: get ? 'getter' : isStatic ? 'static' : 'method',
            source: String(member),
        };
    }
    return members;
}

const found = {'': {}};

for (const key of Object.keys(namespace)) {
    const value = namespace[key];

    if (typeof value === 'function' && value.$gtype === undefined)
        Object.assign(found[''], describe({[key]: value}, true));
    else if (value?.prototype !== undefined && value.$gtype !== undefined)
        found[key] = {...describe(value, true), ...describe(value.prototype, false)};
    else if (value?.$gtype !== undefined)
        found[key] = describe(value, true);
}
print(JSON.stringify(found));

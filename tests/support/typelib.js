/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Reads the typelib of the library. gjs 1.86 took to another library for typelibs: there, functions
// of an info are its methods.

import GIRepository from 'gi://GIRepository';

const isOld = 'object_info_get_n_methods' in GIRepository;
const repository = isOld
    ? GIRepository.Repository.get_default()
    : GIRepository.Repository.dup_default();
const tagNames = new Map(Object.entries(GIRepository.TypeTag)
    .map(([name, tag]) => [tag, name.toLowerCase()]));

function ask(kind, question, info, ...args) {
    return isOld
        ? GIRepository[`${kind}_info_${question}`](info, ...args)
        : info[question](...args);
}

// Such as int32, int64[], DType or File.
function kindOf(type) {
    const tag = tagNames.get(ask('type', 'get_tag', type));

    if (tag === 'array')
        return `${kindOf(ask('type', 'get_param_type', type, 0))}[]`;
    return tag === 'interface' ? ask('type', 'get_interface', type).get_name() : tag;
}

// Returns the index of the parameter with an array's length, or -1.
function lengthOf(type) {
    if (isOld)
        return GIRepository.type_info_get_array_length(type);

    const [isThere, index] = type.get_array_length_index();
    return isThere ? index : -1;
}

function argsOf(func) {
    return Array.from({length: ask('callable', 'get_n_args', func)},
        (_, i) => ask('callable', 'get_arg', func, i));
}

function typeOf(arg) {
    return ask('arg', isOld ? 'get_type' : 'get_type_info', arg);
}

// The kinds of the arguments that JavaScript passes: not the lengths of arrays, nor the data of
// callbacks.
function kindsOf(func) {
    const all = argsOf(func);
    const types = all.map(typeOf);
    const kinds = types.map(kindOf);
    const lengths = types.filter((_, i) => kinds[i].endsWith('[]')).map(lengthOf);

    return kinds.filter((kind, i) => !lengths.includes(i) &&
        ask('arg', 'get_direction', all[i]) === GIRepository.Direction.IN &&
        !['void', 'DestroyNotify'].includes(kind));
}

function describe(func) {
    const flags = ask('function', 'get_flags', func);

    return {
        name: func.get_name(),
        isMethod: (flags & GIRepository.FunctionInfoFlags.IS_METHOD) !== 0,
        kinds: kindsOf(func),
        returned: kindOf(ask('callable', 'get_return_type', func)),
        stored: argsOf(func)
            .filter(arg => ask('arg', 'get_direction', arg) !== GIRepository.Direction.IN)
            .map(arg => kindOf(typeOf(arg))),
    };
}

function isOf(info, oldType, newClass) {
    return isOld ? info.get_type() === GIRepository.InfoType[oldType]
        : info instanceof GIRepository[newClass];
}

function functionsOfInfo(info) {
    const kind = isOf(info, 'OBJECT', 'ObjectInfo') ? 'object' : 'enum';

    return Array.from({length: ask(kind, 'get_n_methods', info)},
        (_, i) => describe(ask(kind, 'get_method', info, i)));
}

// The functions of a class or an enum, with the kinds of their parameters, of what they return and
// of what they store.
export function functionsOf(className) {
    return functionsOfInfo(repository.find_by_name('Mtl', className));
}

// All functions of a namespace. The owner of those of no class is ''.
export function* functionsOfNamespace(namespace) {
    for (let i = 0; i < repository.get_n_infos(namespace); i++) {
        const info = repository.get_info(namespace, i);

        if (isOf(info, 'FUNCTION', 'FunctionInfo')) {
            yield {owner: '', ...describe(info)};
        } else if (isOf(info, 'OBJECT', 'ObjectInfo') || isOf(info, 'ENUM', 'EnumInfo')) {
            for (const func of functionsOfInfo(info))
                yield {owner: info.get_name(), ...func};
        }
    }
}

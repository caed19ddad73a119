/* SPDX-License-Identifier: LGPL-2.1-or-later */

// What the typelib says of the library. gjs 1.86 took to another library for typelibs: there,
// what were functions of an info are its methods.

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

// Of an array, the index of the parameter with its length, or -1.
function lengthOf(type) {
    if (isOld)
        return GIRepository.type_info_get_array_length(type);

    const [isThere, index] = type.get_array_length_index();
    return isThere ? index : -1;
}

// Those that JavaScript passes: not the lengths of arrays, nor the data of
// callbacks.
function kindsOf(func) {
    const all = Array.from({length: ask('callable', 'get_n_args', func)},
        (_, i) => ask('callable', 'get_arg', func, i));
    const types = all.map(arg => ask('arg', isOld ? 'get_type' : 'get_type_info', arg));
    const kinds = types.map(kindOf);
    const lengths = types.filter((_, i) => kinds[i].endsWith('[]')).map(lengthOf);

    return kinds.filter((kind, i) => !lengths.includes(i) &&
        ask('arg', 'get_direction', all[i]) === GIRepository.Direction.IN &&
        !['void', 'DestroyNotify'].includes(kind));
}

// The functions of a class or an enum, with the kinds of their parameters and of what they
// return.
export function functionsOf(className) {
    const info = repository.find_by_name('Mtl', className);
    const isObject = isOld
        ? info.get_type() === GIRepository.InfoType.OBJECT
        : info instanceof GIRepository.ObjectInfo;
    const kind = isObject ? 'object' : 'enum';

    return Array.from({length: ask(kind, 'get_n_methods', info)}, (_, i) => {
        const func = ask(kind, 'get_method', info, i);
        const flags = ask('function', 'get_flags', func);

        return {
            name: func.get_name(),
            isMethod: (flags & GIRepository.FunctionInfoFlags.IS_METHOD) !== 0,
            kinds: kindsOf(func),
            returned: kindOf(ask('callable', 'get_return_type', func)),
        };
    });
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _adaptFunctions, _init, _rejectErrors, _toBytes, _toElements, _toEnumeration,
   _throwOfPlainNumbers, _wrap, NO_TEXT_IN_C */

// Arguments of functions in JavaScript: the values that they may have, their conversion for gjs,
// and their defaults.

const {Gio, GLib} = imports.gi;

let Mtl;
let _dtypes, _complexDTypes, _newFrom, _callWithRoom;

function _isScalar(value) {
    return ['number', 'bigint', 'boolean'].includes(typeof value);
}

// The names are looked up here, once: in a file such as this, that takes long.
var _isArray = (({isArray}, {isView}) => value => isArray(value) || isView(value))(
    Array, ArrayBuffer);

function _isComplex(dtype) {
    return _complexDTypes.has(dtype);
}

// gjs converts any value to an integer, and takes the lowest bits of one that is
// too large.
const INTEGER_LIMITS = {
    int32: [-(2 ** 31), 2 ** 31 - 1],
    uint32: [0, 2 ** 32 - 1],
    int64: [-(2n ** 63n), 2n ** 63n - 1n],
    uint64: [0n, 2n ** 64n - 1n],
};

// A value in a message.
function _show(value) {
    if (typeof value === 'string')
        return `“${value}”`;
    if (typeof value === 'function')
        return `the function ${value.name}`;
    if (_isArray(value) && 'length' in value)
        return `an array of ${value.length}`;
    if (typeof value === 'object' && value !== null)
        return `an object of type ${value.constructor?.name.replace('_', '.')}`;

    return String(value);
}

// Makes the functions that check arguments of each integer type, and arrays of them,
// where a number stands for an array of one.
function _makeIntegerConverters() {
    const [isArray, isList, makeList] = [_isArray, Array.isArray, Array.from.bind(Array)];
    const {isInteger, isSafeInteger} = Number;
    const [toNumber, show] = [Number, _show];

    function toInteger(value, type) {
        // An integer of 31 bits is safe in any type.
        if (typeof value === 'number' && value === (value | 0) && value >= 0)
            return value;

        if (!isInteger(value) && typeof value !== 'bigint')
            throw new TypeError(`An integer is needed, not ${show(value)}`);

        const [min, max] = INTEGER_LIMITS[type];
        if (value < min || value > max)
            throw new RangeError(`${value} is not in the range of ${type}, ${min} to ${max}`);

        return isSafeInteger(toNumber(value)) ? toNumber(value) : value;
    }

    function toIntegers(values, type) {
        if (values === null)
            return null;
        if (!isArray(values))
            return [toInteger(values, type)];

        // Usually nothing has to be converted. No type of arrays is unsigned.
        let i = 0;
        while (i < values.length && typeof values[i] === 'number' && values[i] === (values[i] | 0))
            i++;
        return i === values.length && isList(values)
            ? values
            : makeList(values, value => toInteger(value, type));
    }

    const converters = {};
    for (const type of Object.keys(INTEGER_LIMITS)) {
        converters[type] = value => toInteger(value, type);
        converters[`${type}[]`] = values => toIntegers(values, type);
    }
    return converters;
}

var INTEGER_CONVERTERS = _makeIntegerConverters();

// The same for numbers.
function _makeDoubleConverters() {
    const [isArray, isList, makeList] = [_isArray, Array.isArray, Array.from.bind(Array)];
    const [isScalar, toNumber, show] = [_isScalar, Number, _show];

    function toDouble(value) {
        if (typeof value === 'number')
            return value;
        if (!isScalar(value))
            throw new TypeError(`A number is needed, not ${show(value)}`);

        return toNumber(value);
    }

    function toDoubles(values) {
        if (!isArray(values))
            throw new TypeError(`An array of numbers is needed, not ${show(values)}`);

        let i = 0;
        while (i < values.length && typeof values[i] === 'number')
            i++;
        return i === values.length && isList(values) ? values : makeList(values, toDouble);
    }

    return {double: toDouble, 'double[]': toDoubles};
}

// A value of an enumeration or its name, such as 'gray-alpha'. The type is a name, such as
// 'MtlGtk.Channels'.
function _toEnumeration(value, type) {
    if (Number.isInteger(value))
        return value;

    const [namespace, name] = type.split('.');
    const members = Object.entries(imports.gi[namespace][name]).filter(([, number]) =>
        typeof number === 'number');
    const key = typeof value === 'string' ? value.toUpperCase().replaceAll('-', '_') : null;
    const found = members.find(([member]) => member === key);

    if (!found) {
        const names = members.map(([member]) => member);
        const some = names.length > 20 ? [...names.slice(0, 20), '…'] : names;
        throw new TypeError(`A ${type} is needed (${some.join(', ')}), not ${_show(value)}`);
    }

    return found[1];
}

// gjs takes these two for bytes.
function _toBytes(values) {
    if (values instanceof GLib.Bytes || values instanceof Uint8Array)
        return values;
    if (ArrayBuffer.isView(values))
        return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    if (values instanceof ArrayBuffer)
        return new Uint8Array(values);

    throw new TypeError(`Bytes are needed, a GLib.Bytes or a typed array, not ${_show(values)}`);
}

function _toDType(dtype) {
    if (typeof dtype === 'string')
        return Mtl.DType.from_string(dtype);
    if (!_dtypes.has(dtype)) {
        const hint = typeof dtype === 'number' ? '; a shape is one argument, an array' : '';
        throw new TypeError(`An element type is a name such as 'float32', or a Mtl.DType, not ${
            _show(dtype)}${hint}`);
    }

    return dtype;
}

function _toFile(file) {
    if (typeof file === 'string')
        return Gio.File.new_for_path(_toText(file));
    if (!(file instanceof Gio.File))
        throw new TypeError(`A file is a path or a Gio.File, not ${_show(file)}`);

    return file;
}

// A view, or anything that Mtl.array() takes.
function _toView(values, dtype = undefined) {
    return values instanceof Mtl.StridedView ? values : _newFrom(values, dtype);
}

// Values that are written to a view: numbers have to fit its type. A typed array is converted as a
// view is.
function _toElements(values, target) {
    if (values instanceof Mtl.StridedView)
        return values;

    const dtype = target.get_dtype?.();
    return _newFrom(values, ArrayBuffer.isView(values) && !_isComplex(dtype) ? undefined : dtype);
}

// Values that are compared with a view: numbers do not have to fit its type.
function _toComparable(values, view) {
    if (values instanceof Mtl.StridedView)
        return values;

    const dtype = view.get_dtype?.();
    return _newFrom(values, _isComplex(dtype) ? dtype : undefined);
}

function _toList(values, kind) {
    const isList = typeof values === 'object' && values !== null && Symbol.iterator in values;

    if (!isList || values instanceof Mtl.StridedView)
        throw new TypeError(`An array of ${kind} is needed, not ${_show(values)}`);

    return values;
}

// gjs believes any length, and then reads that far.
function _toViews(values) {
    return Array.from(_toList(values, 'views'), view => _toView(view));
}

function _toOwnViews(values) {
    return Array.from(_toList(values, 'views'), view => {
        if (!(view instanceof Mtl.StridedView))
            throw new TypeError(`A view is needed, not ${_show(view)}`);
        return view;
    });
}

function _toSlice(string) {
    if (typeof string !== 'string') {
        throw new TypeError(
            `A slice is a string such as '1:3, ::2', not ${_show(string)}`);
    }

    return string;
}

// Text in C ends at U+0000 and has no lone surrogates: a string with one of these would
// become another text.
var NO_TEXT_IN_C = /[\0\p{Cs}]/u;

function _toText(text) {
    if (typeof text !== 'string')
        throw new TypeError(`A string is needed, not ${_show(text)}`);
    if (NO_TEXT_IN_C.test(text)) {
        throw new TypeError(`A string must have neither U+0000 nor half of a surrogate pair: ${
            JSON.stringify(text)}`);
    }

    return text;
}

// JavaScript would take the text 'false' for true.
function _toBoolean(value) {
    if (typeof value !== 'boolean')
        throw new TypeError(`true or false is needed, not ${_show(value)}`);

    return value;
}

function _toCallback(callback) {
    if (typeof callback !== 'function')
        throw new TypeError(`A function is needed, not ${_show(callback)}`);

    return callback;
}

function _toInstance(object, cls, name) {
    if (!(object instanceof cls))
        throw new TypeError(`A ${name} is needed, not ${_show(object)}`);

    return object;
}

function _orNull(convert) {
    return value => value === null ? null : convert(value);
}

// The conversions of arguments to values that gjs takes.
const CONVERTERS = {
    boolean: _toBoolean,
    bytes: _toBytes,
    device: object => _toInstance(object, Mtl.Device, 'Mtl.Device'),
    'nullable-device': device => device ?? null,
    dtype: _toDType,
    file: _toFile,
    slice: _toSlice,
    cancellable: _orNull(object => _toInstance(object, Gio.Cancellable, 'Gio.Cancellable')),
    callback: _orNull(_toCallback),
    result: object => _toInstance(object, Gio.AsyncResult, 'Gio.AsyncResult'),
    text: _toText,
    'nullable-text': _orNull(_toText),
    comparable: _toComparable,
    elements: _toElements,
    // The element type is the last argument.
    converted: (values, _builder, args) => _toView(values, args.at(-1)),
    view: values => _toView(values),
    'nullable-view': _orNull(values => _toView(values)),
    views: _toViews,
    'own-views': _toOwnViews,
    ...INTEGER_CONVERTERS,
    ..._makeDoubleConverters(),
};

// Mtl.DType.INT32 is 32, so that a second extent would pass for an element type.
function _throwOfPlainNumbers(label, first, dtype, example) {
    throw new TypeError(`${label}(): beside ${_show(first)}, ${dtype} could be an extent or an ` +
        `element type: write ${example}, or the name of the type, such as 'int32'`);
}

function _countArguments(n) {
    return n === 1 ? '1 argument' : `${n} arguments`;
}

function _labelOf(owner, name) {
    return typeof owner === 'function' ? `${owner.name.replace('_', '.')}.${name}` : name;
}

// gjs counts those that have defaults, and only warns of too many.
function _throwOfCount(owner, name, signature, n, min, max) {
    const label = _labelOf(owner, name);

    if (n < min) {
        throw new TypeError(
            `${label}(): At least ${_countArguments(min)} required, but only ${n} passed`);
    }

    let hint = '';
    if (signature === 'slice')
        hint = ": a slice is one string, such as ':, 1'";
    else if (signature.includes('[]'))
        hint = ': a list is one argument, an array';
    throw new TypeError(`${label}() takes ${_countArguments(max)}, not ${n}${hint}`);
}

// A promise rejects for any error; with a callback, gjs throws.
function _rejectErrors(original, nArgsWithCallback) {
    return function (...args) {
        if (args.length >= nArgsWithCallback)
            return original.apply(this, args);
        try {
            return original.apply(this, args);
        } catch (error) {
            return Promise.reject(error);
        }
    };
}

// Passes on what a function returns, with its arguments and its object.
function _wrap(owner, name, change) {
    const original = owner[name];

    owner[name] = function (...args) {
        return change(original.apply(this, args), args, this);
    };
    Object.defineProperty(owner[name], 'length', {value: original.length, configurable: true});
}

// Lets functions take the values that people pass: names of element types, paths, plain
// arguments for arrays. The last parameters have defaults. Asynchronous functions
// return a promise if they get no callback.
function _makeAdapter(moreConverters) {
    const [isArray, isScalar, throwOfCount] = [_isArray, _isScalar, _throwOfCount];
    const [throwOfPlainNumbers, labelOf] = [_throwOfPlainNumbers, _labelOf];
    const allConverters = {...CONVERTERS, ...moreConverters};
    const rejectErrors = _rejectErrors;
    const [callWithRoom, toEnumeration] = [_callWithRoom, _toEnumeration];
    const [gio, {DType}, {defineProperty}] = [Gio, Mtl, Object];
    const converterOf = kind => allConverters[kind] ??
        (kind.includes('.') ? value => toEnumeration(value, kind) : null);

    // The signature names a converter for each parameter, or '-'.
    return (owner, name, signature, defaults, allocates) => {
        const isAsync = name.endsWith('_async');
        const {length} = owner[name];
        const nRequired = length - defaults.length - (isAsync ? 1 : 0);
        // names.map(Mtl.DType.from_string) passes more.
        const nMax = owner === DType ? Infinity : length;
        const kinds = signature.split(' ');
        const converters = kinds.map(converterOf);
        const dtypeAt = kinds.indexOf('dtype'), shapeAt = kinds.indexOf('int64[]');
        const takesShape = dtypeAt >= 0 && shapeAt >= 0;
        const isVariadic = converters.length === 1 && signature.endsWith('[]');

        if (isAsync)
            gio._promisify(owner, name);

        const original = owner[name];
        const adapted = function (...args) {
            if (isVariadic && (args.length !== 1 || !isArray(args[0])))
                args = [args];
            if (args.length < nRequired || args.length > nMax)
                throwOfCount(owner, name, signature, args.length, nRequired, nMax);
            for (let i = 0; i < defaults.length; i++)
                args[nRequired + i] ??= defaults[i];
            if (takesShape && typeof args[dtypeAt] === 'number' && isScalar(args[shapeAt])) {
                throwOfPlainNumbers(labelOf(owner, name), args[shapeAt], args[dtypeAt],
                    'the shape as an array');
            }
            for (let i = 0; i < converters.length && i < args.length; i++) {
                if (converters[i] !== null)
                    args[i] = converters[i](args[i], this, args);
            }
            return allocates ? callWithRoom(original, this, args) : original.apply(this, args);
        };

        owner[name] = isAsync ? rejectErrors(adapted, length) : adapted;
        defineProperty(owner[name], 'length', {value: nRequired, configurable: true});
    };
}

// Adapts the functions of a namespace. Their arguments and defaults are listed in signatures.js,
// which the build makes of the GIR and of defaults.ini. `allocating` are those that may allocate
// memory of tensors, by owner. `special` are converters that take the place of those for the types,
// by function.
function _adaptFunctions(namespace, name, allocating, special = {}, moreConverters = {}) {
    const adapt = _makeAdapter(moreConverters);
    const rest = new Map(Object.entries(allocating).map(([path, names]) => [path, new Set(names)]));
    const unseen = new Set(Object.keys(special));
    const ownerOf = path => path === '' ? namespace
        : path.split('.').reduce((owner, key) => owner[key], namespace);

    for (const [path, func, kinds, ...defaults] of imports.overrides.mtldl.signatures[name](
        imports.gi)) {
        const replaced = Object.entries(special[`${path}.${func}`] ?? {});
        const signature = replaced.reduce(
            (text, [kind, other]) => text.replace(kind, other), kinds);

        adapt(ownerOf(path), func, signature, defaults, rest.get(path)?.delete(func) ?? false);
        unseen.delete(`${path}.${func}`);
    }
    if (unseen.size > 0)
        throw new Error(`There is no ${[...unseen].join(', ')}`);

    // Functions without arguments.
    for (const [path, names] of rest)
        names.forEach(func => adapt(ownerOf(path), func, '-', [], true));
}

function _init(mtl, newFrom, callWithRoom) {
    Mtl = mtl;
    _newFrom = newFrom;
    _callWithRoom = callWithRoom;
    _dtypes = new Set(Object.values(Mtl.DType).filter(value => typeof value === 'number'));
    _complexDTypes = new Set([..._dtypes].filter(
        dtype => Mtl.DType.get_kind(dtype) === Mtl.DTypeKind.COMPLEX));
}

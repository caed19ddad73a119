/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts Mtl to JavaScript: indices as arguments, arrays in and out, iteration.
// gjs runs _init() when the namespace is first imported; `this` is the
// namespace.

let Gio, GLib, Mtl;
let _dtypes, _complexDTypes;

// The typed array for a copy of the elements, by the name of the dtype.
const TYPED_ARRAYS = {
    bool: Uint8Array,
    int8: Int8Array,
    int16: Int16Array,
    int32: Int32Array,
    int64: BigInt64Array,
    uint8: Uint8Array,
    uint16: Uint16Array,
    uint32: Uint32Array,
    uint64: BigUint64Array,
    float32: Float32Array,
    float64: Float64Array,
    complex64: Float32Array,
    complex128: Float64Array,
};

// The dtype to convert to first if JavaScript has no such numbers.
const WIDER_DTYPES = {
    float16: 'FLOAT32',
    bfloat16: 'FLOAT32',
    float8_e3m4: 'FLOAT32',
    float8_e4m3: 'FLOAT32',
    float8_e4m3b11fnuz: 'FLOAT32',
    float8_e4m3fn: 'FLOAT32',
    float8_e4m3fnuz: 'FLOAT32',
    float8_e5m2: 'FLOAT32',
    float8_e5m2fnuz: 'FLOAT32',
    float8_e8m0fnu: 'FLOAT32',
    float6_e2m3fn: 'FLOAT32',
    float6_e3m2fn: 'FLOAT32',
    float4_e2m1fn: 'FLOAT32',
    complex32: 'COMPLEX64',
};

const DTYPES_OF_TYPED_ARRAYS = {
    Int8Array: 'INT8',
    Int16Array: 'INT16',
    Int32Array: 'INT32',
    BigInt64Array: 'INT64',
    Uint8Array: 'UINT8',
    Uint8ClampedArray: 'UINT8',
    Uint16Array: 'UINT16',
    Uint32Array: 'UINT32',
    BigUint64Array: 'UINT64',
    Float32Array: 'FLOAT32',
    Float64Array: 'FLOAT64',
};

function _dtypeOfTypedArray(values) {
    const kind = values[Symbol.toStringTag];

    if (!(kind in DTYPES_OF_TYPED_ARRAYS))
        throw new TypeError(`There is no element type for a ${kind}`);

    return Mtl.DType[DTYPES_OF_TYPED_ARRAYS[kind]];
}

function _isScalar(value) {
    return ['number', 'bigint', 'boolean'].includes(typeof value);
}

// The names are looked up here, once: in a file such as this, that takes long.
const _isArray = (({isArray}, {isView}) => value => isArray(value) || isView(value))(
    Array, ArrayBuffer);

function _isComplex(dtype) {
    return _complexDTypes.has(dtype);
}

function _isInteger64(dtype) {
    return dtype === Mtl.DType.INT64 || dtype === Mtl.DType.UINT64;
}

// Memory
//
// The garbage collector sees the objects here, which are small, but not the
// tensors behind them. A collection that nobody asked for would come too late.

// What may be allocated between two collections. If more is alive than four
// times that, a quarter of it, so that collections do not become more frequent
// as a program holds more.
const MIN_ALLOCATED_BETWEEN = 192 * 1024 * 1024;

let _collectAbove = MIN_ALLOCATED_BETWEEN;

// Bytes that views were made of since the last collection. They belong to GLib.
let _borrowedSize = 0;
let _borrowedBytes = new WeakSet();

function _limitAbove(size) {
    return size + Math.max(MIN_ALLOCATED_BETWEEN, size / 4);
}

function _collect() {
    imports.system.gc();
    _borrowedSize = 0;
    _borrowedBytes = new WeakSet();
    _collectAbove = _limitAbove(Mtl.get_allocated_size());
}

// Collects if much was allocated since the last time.
function _makeRoom() {
    const size = Mtl.get_allocated_size() + _borrowedSize;

    if (size > _collectAbove)
        _collect();
    else
        _collectAbove = Math.min(_collectAbove, _limitAbove(size));
}

// A view or a buffer of so many of these bytes was made. Of a typed array, gjs
// makes new bytes for each.
function _noteBorrowed(bytes, size) {
    if (!_borrowedBytes.has(bytes))
        _borrowedSize += size;
    if (bytes instanceof GLib.Bytes)
        _borrowedBytes.add(bytes);
}

function _isOutOfMemory(error) {
    return error instanceof GLib.Error && error.matches(Mtl.Error, Mtl.Error.NO_MEMORY);
}

// Calls a function that allocates, again if garbage took the memory.
function _callWithRoom(original, object, args) {
    _makeRoom();
    try {
        return original.apply(object, args);
    } catch (error) {
        if (!_isOutOfMemory(error))
            throw error;
        _collect();
        return original.apply(object, args);
    }
}

// Arguments

// gjs converts any value to an integer, and takes the lowest bits of one that is
// too large.
const INTEGER_LIMITS = {
    int32: [-(2 ** 31), 2 ** 31 - 1],
    uint32: [0, 2 ** 32 - 1],
    int64: [-(2n ** 63n), 2n ** 63n - 1n],
    uint64: [0n, 2n ** 64n - 1n],
};

function _show(value) {
    return typeof value === 'string' ? `“${value}”` : String(value);
}

// For each type of integers, the function that checks an argument, and that for
// arrays, where a number stands for an array of one.
function _makeIntegerConverters() {
    const [isArray, isList, makeList] = [_isArray, Array.isArray, Array.from.bind(Array)];
    const {isInteger, isSafeInteger} = Number;
    const [toNumber, show] = [Number, _show];

    function toInteger(value, type) {
        // An integer of 31 bits is safe in any type.
        if (typeof value === 'number' && value === (value | 0) && value >= 0)
            return value;

        if (!isInteger(value) && typeof value !== 'bigint') {
            throw new TypeError(
                `An integer is needed, not ${show(value)} of type ${typeof value}`);
        }

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

        // Most often nothing is to be done. No type of arrays is unsigned.
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

const INTEGER_CONVERTERS = _makeIntegerConverters();

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
    return typeof file === 'string' ? Gio.File.new_for_path(file) : file;
}

function _toView(values) {
    if (values instanceof Mtl.StridedView)
        return values;
    if (_isArray(values) || _isScalar(values))
        return _from(values);

    throw new TypeError(`A view, an array or a number is needed, not ${_show(values)}`);
}

function _toSlice(string) {
    if (typeof string !== 'string') {
        throw new TypeError(`A slice is a string such as '1:3, ::2', not ${
            _show(string)} of type ${typeof string}`);
    }

    return string;
}

// How an argument becomes what gjs takes.
const CONVERTERS = {
    device: device => device ?? null,
    dtype: _toDType,
    file: _toFile,
    slice: _toSlice,
    view: _toView,
    ...INTEGER_CONVERTERS,
};

// Makes a function take what people pass. The signature names a converter for
// each parameter, or '-'; the last parameters have defaults. Asynchronous
// functions return a promise if they get no callback.
function _adapt(owner, name, signature, defaults, allocates) {
    const isAsync = name.endsWith('_async');
    const nRequired = owner[name].length - defaults.length - (isAsync ? 1 : 0);
    const converters = signature.split(' ').map(kind => CONVERTERS[kind] ?? null);
    const isVariadic = converters.length === 1 && signature.endsWith('[]');

    if (isAsync)
        Gio._promisify(owner, name);

    const original = owner[name];
    const [isArray, callWithRoom] = [_isArray, _callWithRoom];
    const adapted = function (...args) {
        if (isVariadic && (args.length !== 1 || !isArray(args[0])))
            args = [args];
        for (let i = 0; i < defaults.length; i++)
            args[nRequired + i] ??= defaults[i];
        for (let i = 0; i < converters.length && i < args.length; i++) {
            if (converters[i] !== null)
                args[i] = converters[i](args[i]);
        }
        return allocates ? callWithRoom(original, this, args) : original.apply(this, args);
    };

    owner[name] = adapted;
    Object.defineProperty(adapted, 'length', {value: nRequired, configurable: true});
}

// Values

// Returns a new tensor with a copy of a typed array.
function _copyTypedArray(values, dtype, shape) {
    const view = Mtl.StridedView.new_empty(Mtl.Device.get_host(), dtype, shape);

    // gjs makes bytes of the array for this call alone.
    view.get_buffer().set_bytes(
        0, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return view;
}

// Returns the shape of nested arrays, from the first element of each.
function _shapeOfNested(values) {
    const shape = [];

    for (let part = values; _isArray(part); part = part[0])
        shape.push(part.length);

    return shape;
}

function _checkNested(holds, part, position, expected) {
    if (!holds) {
        const where = position.map(i => `[${i}]`).join('');
        const kind = _isArray(part) ? `array of ${part.length}` : typeof part;
        throw new TypeError(`values${where} is of type ${kind}, not ${expected}`);
    }
}

// Calls visit(row, position) for each innermost array. Throws if the arrays do
// not have that shape.
function _visitRows(values, shape, visit, position = []) {
    const depth = position.length;

    _checkNested(_isArray(values) && values.length === shape[depth], values, position,
        `array of ${shape[depth]} as those before it`);
    if (depth === shape.length - 1) {
        visit(values, position);
        return;
    }

    for (let i = 0; i < values.length; i++) {
        position.push(i);
        _visitRows(values[i], shape, visit, position);
        position.pop();
    }
}

// Returns the elements of nested arrays in one array. Throws if one is no
// number, bigint or boolean.
function _flattenNested(values, shape) {
    const flat = [];

    _visitRows(values, shape, (row, position) => {
        for (let i = 0; i < row.length; i++) {
            const value = row[i];
            if (typeof value !== 'number') {
                _checkNested(_isScalar(value), value, [...position, i],
                    'number, bigint or boolean');
            }
            flat.push(value);
        }
    });
    return flat;
}

function _guessDType(flat) {
    if (flat.some(value => typeof value === 'bigint'))
        return flat.some(value => value >= 2n ** 63n) ? Mtl.DType.UINT64 : Mtl.DType.INT64;

    if (flat.length > 0 && flat.every(value => typeof value === 'boolean'))
        return Mtl.DType.BOOL;

    return Mtl.DType.FLOAT64;
}

// Returns the elements in the typed array of the dtype, or undefined if that
// cannot hold all of them.
function _packNumbers(flat, dtype) {
    const name = Mtl.DType.to_string(dtype);
    const isFloat = name.startsWith('float');

    if (!(name in TYPED_ARRAYS) || _isComplex(dtype) || _isInteger64(dtype) || name === 'bool')
        return undefined;

    const packed = new TYPED_ARRAYS[name](flat.length);
    for (let i = 0; i < packed.length; i++) {
        const value = packed[i] = flat[i];
        const kept = packed[i];

        // A float is rounded, but not to infinity. NaN only differs from itself.
        if (kept !== value && !(isFloat && (Number.isFinite(kept) || Number.isNaN(value))))
            return undefined;
    }
    return packed;
}

function _newFromPairs(values, shape, dtype) {
    const volume = shape.reduce((product, extent) => product * extent, 1);

    if (values.length !== 2 * volume) {
        throw new TypeError(
            'Complex numbers must be arrays [re, im], or interleaved in a typed array');
    }

    return _copyTypedArray(Float64Array.from(values, Number), Mtl.DType.COMPLEX128, shape)
        .to_dtype(dtype);
}

function _newFromTypedArray(values, dtype) {
    const sourceDType = _dtypeOfTypedArray(values);

    if (_isComplex(dtype))
        return _newFromPairs(values, [Math.floor(values.length / 2)], dtype);

    const view = _copyTypedArray(values, sourceDType, [values.length]);
    return dtype === undefined || dtype === sourceDType ? view : view.to_dtype(dtype);
}

function _newFromNested(values, dtype) {
    const shape = _shapeOfNested(values);

    _checkNested(Array.isArray(values) || _isScalar(values), values, [],
        'array, number, bigint or boolean');
    const flat = Array.isArray(values) ? _flattenNested(values, shape) : [values];

    dtype ??= _guessDType(flat);
    if (_isComplex(dtype))
        return _newFromPairs(flat, flat.length === 0 ? shape : shape.slice(0, -1), dtype);

    // A GVariant stores a bigint exactly; a double only has 53 bits.
    if (flat.some(value => typeof value === 'bigint')) {
        const type = dtype === Mtl.DType.UINT64 ? 'at' : 'ax';
        const variant = new GLib.Variant(type, flat.map(BigInt));
        return Mtl.StridedView.new_from_variant(dtype, shape, variant);
    }

    const numbers = flat.some(value => typeof value === 'boolean') ? flat.map(Number) : flat;
    const packed = _packNumbers(numbers, dtype);
    return packed === undefined
        ? Mtl.StridedView.new_from_doubles(dtype, shape, numbers)
        : _copyTypedArray(packed, dtype, shape);
}

// to_dtype() returns the same view if nothing is to be converted.
function _copyAs(view, dtype) {
    return dtype === view.get_dtype() ? view.copy() : view.to_dtype(dtype);
}

// Mtl.StridedView.from(values, dtype): a new tensor in host memory. The values
// are one of these:
// - nested arrays of numbers, bigints or booleans. A single number, bigint or
//   boolean makes a tensor without dimensions. The dtype may be given by name.
//   The default is int64 if there is a bigint (uint64 if one is 2^63 or more),
//   bool if there are only booleans, otherwise float64. A value that the dtype
//   cannot hold is an error;
// - a typed array, which makes a tensor of one dimension. The default is the
//   dtype of the array. Other dtypes are converted to as by to_dtype();
// - a view, which is copied, where it is, and converted in the same way.
// For a complex dtype the innermost arrays are pairs [re, im], and a typed
// array has them interleaved, as toArray() and toTypedArray() return them.
function _from(values, dtype = undefined) {
    if (dtype !== undefined && dtype !== null)
        dtype = _toDType(dtype);
    else
        dtype = undefined;

    if (values instanceof Mtl.StridedView)
        return dtype === undefined ? values.copy() : _copyAs(values, dtype);
    if (ArrayBuffer.isView(values))
        return _newFromTypedArray(values, dtype);

    const isIterable = typeof values === 'object' && values !== null && Symbol.iterator in values;
    return _newFromNested(isIterable ? Array.from(values) : values, dtype);
}

function _toIndices(indices) {
    return INTEGER_CONVERTERS['int64[]'](
        indices.length === 1 && _isArray(indices[0]) ? indices[0] : indices);
}

// The functions for single elements.
function _makeElementAccess() {
    const {BOOL, COMPLEX32, COMPLEX64, COMPLEX128} = Mtl.DType;
    const {get_double: getDouble, set_double: setDouble} = Mtl.StridedView.prototype;
    const [isArray, setOther] = [_isArray, _setOther];
    const toIntegers = INTEGER_CONVERTERS['int64[]'];
    const toIndices = indices =>
        toIntegers(indices.length === 1 && isArray(indices[0]) ? indices[0] : indices);

    // view.get(i, j): a Number; a boolean for bool, [re, im] for complex dtypes.
    // If elements have several lanes, the last index is the lane. Elements of
    // int64 and uint64 beyond 2^53 are rounded to the nearest Number;
    // getBigInt() returns them exactly.
    function get(...indices) {
        const {dtype} = this;

        indices = toIndices(indices);
        if (dtype === COMPLEX64 || dtype === COMPLEX128 || dtype === COMPLEX32)
            return this.get_complex(indices).slice(1);

        const value = getDouble.call(this, indices);
        return dtype === BOOL ? value !== 0 : value;
    }

    // view.set(value, i, j): a number, bigint or boolean; [re, im] for complex.
    // A value that the dtype cannot hold is an error.
    function set(value, ...indices) {
        indices = toIndices(indices);
        if (typeof value === 'number')
            setDouble.call(this, indices, value);
        else
            setOther(this, indices, value);
    }

    return {get, set};
}

// view.getBigInt(i, j): an element of int64 or uint64, exactly. get_int64() and
// get_uint64() cannot do that: gjs converts their results to Numbers, and warns
// beyond 2^53.
function _getBigInt(...indices) {
    indices = _toIndices(indices);
    if (!_isInteger64(this.get_dtype()))
        throw new TypeError('getBigInt() only works for elements of int64 and uint64');

    let element = this;
    for (const index of indices) {
        // The conversion makes the lanes an axis.
        if (element.get_n_dims() === 0 && element.get_lanes() > 1)
            element = element.to_dtype(element.get_dtype());
        element = element.select(0, index);
    }

    if (element.get_n_dims() !== 0 || element.get_lanes() !== 1) {
        throw new RangeError(
            `${indices.length} indices given for ${this.get_n_dims()} dimensions`);
    }

    return element.toTypedArray()[0];
}

// Sets an element to what is not a number.
function _setOther(view, indices, value) {
    const dtype = view.get_dtype();

    if (Array.isArray(value)) {
        if (value.length !== 2)
            throw new TypeError(`A complex number must be [re, im], not ${value.length} values`);
        if (!_isComplex(dtype))
            throw new TypeError('A pair [re, im] only works for elements of complex types');
        view.set_complex(indices, ...value);
    } else if (typeof value === 'bigint') {
        if (dtype === Mtl.DType.UINT64)
            view.set_uint64(indices, value);
        else
            view.set_int64(indices, value);
    } else if (typeof value === 'boolean') {
        view.set_double(indices, Number(value));
    } else {
        throw new TypeError(
            `The value is of type ${typeof value}, not number, bigint, boolean or [re, im]`);
    }
}

// view.fill(value), view.fill_async(value): a number, bigint or boolean, [re, im]
// for complex, or the bytes of an element.
function _fillWithNumbers(original, suffix) {
    return function (value, ...rest) {
        const isPair = Array.isArray(value) && _isComplex(this.get_dtype());

        if (typeof value === 'bigint' || isPair)
            return this[`copy_from${suffix}`](_from(value, this.get_dtype()), ...rest);
        if (_isScalar(value))
            return this[`fill_double${suffix}`](Number(value), ...rest);
        if (!(value instanceof GLib.Bytes) && !ArrayBuffer.isView(value)) {
            throw new TypeError(
                `A number or the bytes of an element are needed, not ${_show(value)}`);
        }

        return original.call(this, value, ...rest);
    };
}

// [...view]: the parts along the first axis. If there is one dimension, the
// elements as get() returns them, or arrays of lanes if they have several.
function* _iterate() {
    const nDims = this.get_n_dims();

    if (nDims === 0)
        throw new TypeError('A view without dimensions has nothing to iterate over');

    const extent = this.get_shape()[0];
    const hasLanes = this.get_lanes() > 1;
    for (let i = 0; i < extent; i++) {
        if (nDims > 1)
            yield this.select(0, i);
        else
            yield hasLanes ? this.select(0, i).toArray() : this.get(i);
    }
}

// view.toTypedArray(): a copy of the elements in C order. Elements of bool
// become 0 and 1 in a Uint8Array, floats of 16 bits and fewer are widened to
// float32, complex numbers are interleaved.
function _toTypedArray() {
    const name = Mtl.DType.to_string(this.get_dtype());

    if (name in WIDER_DTYPES)
        return this.to_dtype(Mtl.DType[WIDER_DTYPES[name]]).toTypedArray();

    if (!(name in TYPED_ARRAYS))
        throw new TypeError(`There is no typed array for elements of type ${name}`);

    return new TYPED_ARRAYS[name](this.dup_bytes().toArray().buffer);
}

function _listBooleans(values) {
    const booleans = [];

    for (let i = 0; i < values.length; i++)
        booleans[i] = values[i] !== 0;
    return booleans;
}

// Cuts values into rows. The loop uses nothing by a global name, neither Array
// nor a function: in a file such as this, that takes as long as many elements.
function _cutIntoRows(values, nRows, length) {
    const rows = [];
    let position = 0;

    // Complex numbers.
    if (length === 2) {
        for (let i = 0; i < nRows; i++)
            rows.push([values[2 * i], values[2 * i + 1]]);
        return rows;
    }

    for (let i = 0; i < nRows; i++) {
        const row = [];
        for (let j = 0; j < length; j++)
            row[j] = values[position++];
        rows[i] = row;
    }
    return rows;
}

// view.toArray(): a copy as nested arrays, with elements as get() returns them.
// If elements have several lanes, the innermost arrays hold the lanes.
function _toArray() {
    const dtype = this.get_dtype();
    const shape = [1, ...this.get_shape()];
    // A bigint for each element would take much longer.
    const flat = (_isInteger64(dtype) ? this.to_dtype(Mtl.DType.FLOAT64) : this).toTypedArray();

    if (this.get_lanes() > 1)
        shape.push(this.get_lanes());
    if (_isComplex(dtype))
        shape.push(2);

    let parts = dtype === Mtl.DType.BOOL ? _listBooleans(flat) : flat;
    while (shape.length > 1) {
        const length = shape.pop();
        parts = _cutIntoRows(parts, shape.reduce((product, extent) => product * extent), length);
    }
    return parts[0];
}

// statistics.minimum, statistics.maximum: Numbers; exact bigints for elements of
// int64 and uint64, which JavaScript's Numbers cannot all be.
function _extremeOf(statistics, name) {
    const value = statistics[`get_${name}`]();

    return _isInteger64(statistics.get_dtype()) && !Number.isNaN(value)
        ? BigInt(statistics[`format_${name}`]()) : value;
}

// A file of tensors works like a Map of names to views, but a view is only made
// when it is looked up, and nothing can be set.

// Text in C ends at U+0000 and has no lone surrogates. A name that contains one
// of these would find another tensor.
const NO_TEXT_IN_C = /[\0\p{Cs}]/u;

// The method is load_view or lookup_entry. Returns undefined if there is no
// such tensor.
function _findTensor(file, name, method) {
    if (typeof name !== 'string' || NO_TEXT_IN_C.test(name))
        return undefined;

    try {
        return file[method](name);
    } catch (error) {
        if (!error.matches(Mtl.Error, Mtl.Error.OUT_OF_BOUNDS))
            throw error;
        return undefined;
    }
}

// file.get(name): a view, or undefined.
function _getTensor(name) {
    return _findTensor(this, name, 'load_view');
}

// file.has(name): whether there is a tensor with that name.
function _hasTensor(name) {
    return _findTensor(this, name, 'lookup_entry') !== undefined;
}

// file.keys(): the names.
function _iterateNames() {
    return this.list_names().values();
}

// file.values(): the views, each made when the iteration reaches it.
function* _iterateTensors() {
    for (const name of this.list_names())
        yield this.load_view(name);
}

// [...file], file.entries(): pairs [name, view].
function* _iterateFile() {
    for (const name of this.list_names())
        yield [name, this.load_view(name)];
}

// file.forEach((view, name, file) => …): calls the function for each tensor.
function _forEachTensor(callback, thisArgument = undefined) {
    for (const [name, view] of this)
        callback.call(thisArgument, view, name, this);
}

// New tensors

function _place(view, device) {
    return device === null || device === undefined
        ? view
        : view.to_device(device);
}

// Mtl.array(values, dtype, device): as Mtl.StridedView.from().
function _array(values, dtype = undefined, device = null) {
    return _place(_from(values, dtype), device);
}

// Mtl.zeros(shape, dtype, device)
function _zeros(shape, dtype = Mtl.DType.FLOAT32, device = null) {
    return Mtl.StridedView.new_zeros(device, dtype, shape);
}

// Mtl.empty(shape, dtype, device): the elements are arbitrary.
function _empty(shape, dtype = Mtl.DType.FLOAT32, device = null) {
    return Mtl.StridedView.new_empty(device, dtype, shape);
}

// Mtl.full(shape, value, dtype, device)
function _full(shape, value, dtype = Mtl.DType.FLOAT32, device = null) {
    const view = _empty(shape, dtype, device);

    view.fill(value);
    return view;
}

// Mtl.arange(stop), Mtl.arange(start, stop, step, dtype, device): start,
// start + step and so on, before stop.
function _arange(start, stop = undefined, step = 1, dtype = Mtl.DType.FLOAT32, device = null) {
    if (stop === undefined)
        [start, stop] = [0, start];
    if (![start, stop, step].every(Number.isFinite) || step === 0)
        throw new RangeError(`There is no range from ${start} to ${stop} in steps of ${step}`);

    const values = new Float64Array(Math.max(0, Math.ceil((stop - start) / step)));
    for (let i = 0; i < values.length; i++)
        values[i] = start + i * step;
    return _place(_newFromTypedArray(values, _toDType(dtype)), device);
}

function _defineGetters(prototype, getters) {
    for (const [name, get] of Object.entries(getters))
        Object.defineProperty(prototype, name, {get, configurable: true});
}

function _defineMethods(object, methods) {
    for (const name of Reflect.ownKeys(methods)) {
        const value = methods[name];

        // What gjs has defined may be replaced, but not defined again.
        if (Object.hasOwn(object, name))
            object[name] = value;
        else
            Object.defineProperty(object, name, {value, configurable: true, writable: true});
    }
}

// What the arguments of functions may be, for _adapt(), with the defaults of the
// last ones. A test compares this with the typelib.
function _listSignatures() {
    const {PRIORITY_DEFAULT} = GLib;
    const {AUTO} = Mtl.FileMode;
    const {NONE} = Mtl.TensorChecks;

    // Of layouts, and of views.
    const layoutMethods = {
        broadcast_to: ['int64[]'],
        flatten: ['int32 int32', 0, -1],
        flatten_mask: ['uint64'],
        get_extent: ['int32'],
        get_stride: ['int32'],
        narrow: ['int32 int64 int64 int64', 1],
        permute: ['int32[]'],
        reshape: ['int64[]'],
        select: ['int32 int64'],
        slice: ['slice'],
        squeeze_axes: ['int32[]'],
        swap_axes: ['int32 int32'],
        unsqueeze: ['int32[]'],
    };

    // The last arguments are the priority, a Gio.Cancellable and the progress.
    return new Map([
        [Mtl, {
            set_max_threads: ['uint32'],
        }],
        [Mtl.DType, {
            get_bits: ['dtype'],
            to_string: ['dtype'],
        }],
        [Mtl.Device, {
            get: ['- int32', 0],
        }],
        [Mtl.Device.prototype, {
            synchronize: ['-', null],
            synchronize_async: ['-', null],
        }],
        [Mtl.Event, {
            new: ['device', null],
        }],
        [Mtl.Event.prototype, {
            signal: ['uint64'],
            wait: ['uint64 int64 -', null],
            wait_async: ['uint64 int64 -', null],
        }],
        [Mtl.Buffer, {
            new: ['device uint64 -'],
            new_from_bytes: ['device -'],
            new_from_bytes_full: ['device - -'],
            new_mapped: ['file device uint64 uint64 -', null],
            new_uninitialized: ['device uint64 -'],
        }],
        [Mtl.Buffer.prototype, {
            copy: ['-', null],
            copy_from: ['uint64 - uint64 uint64 -', null],
            did_modify: ['uint64 uint64'],
            dup_bytes: ['uint64 uint64'],
            fill: ['uint64 uint64 -'],
            ref_bytes: ['uint64 uint64'],
            set_bytes: ['uint64 -'],
            slice: ['uint64 uint64'],
            synchronize: ['-', null],
        }],
        [Mtl.StridedLayout, {
            new: ['int64[] int64[] uint32'],
            new_dense: ['int64[] - uint32'],
            new_dense_for_axes: ['int64[] int32[] uint32'],
            new_for_bytes: ['int64[] int64[] uint32'],
        }],
        [Mtl.StridedLayout.prototype, {
            ...layoutMethods,
            get_max_compatible_item_bits: ['uint32 uint64 int32'],
            repack: ['uint32 int32 -', -1, true],
        }],
        [Mtl.StridedView, {
            new: ['- - dtype uint64', 0],
            new_empty: ['device dtype int64[]'],
            new_from_bytes: ['- dtype int64[] int64[]', null],
            new_from_doubles: ['dtype int64[] -'],
            new_from_variant: ['dtype int64[] -'],
            new_full: ['device dtype int64[] -'],
            new_like: ['-'],
            new_zeros: ['device dtype int64[]'],
        }],
        [Mtl.StridedView.prototype, {
            ...layoutMethods,
            all_close: ['view - -', 1e-5, 1e-8],
            array_equal: ['view'],
            copy: ['-'],
            copy_from: ['view'],
            copy_from_async: ['view - -', null, null],
            copy_scaled_from: ['view - -', 0],
            copy_scaled_from_async: ['view - - - -', 0, null, null],
            dup_bytes: ['-'],
            export_dlpack_full: ['- - int32 - uint64 -',
                Mtl.DlpackFlags.NONE, Mtl.DeviceType.UNKNOWN, 0, null, 0, null],
            fill_async: ['- - -', null, null],
            fill_double_async: ['- - -', null, null],
            format: ['uint64'],
            get_complex: ['int64[]'],
            get_double: ['int64[]'],
            get_int64: ['int64[]'],
            get_max_compatible_item_bits: ['uint32 int32'],
            get_statistics: ['-', null],
            get_statistics_async: ['- -', null, null],
            get_statistics_full: ['- -', null, null],
            get_uint64: ['int64[]'],
            reinterpret: ['dtype'],
            set_complex: ['int64[] - -'],
            set_double: ['int64[] -'],
            set_int64: ['int64[] int64'],
            set_uint64: ['int64[] uint64'],
            to_contiguous: ['-'],
            to_contiguous_async: ['- -', null, null],
            to_device: ['- -'],
            to_device_async: ['- - - -', null, null],
            to_dtype: ['dtype'],
            to_dtype_async: ['dtype - -', null, null],
        }],
        [Mtl.TensorFile, {
            open: ['file -', null],
            open_async: ['file device - int32 -', null, AUTO, PRIORITY_DEFAULT, null],
            open_full: ['file device - -', null, AUTO, null],
        }],
        [Mtl.TensorFile.prototype, {
            check: ['- - -', NONE, null, null],
            check_async: ['- int32 - -', NONE, PRIORITY_DEFAULT, null, null],
            load_view: ['- -', null],
            load_views: ['- - -', null, null, null],
            load_views_async: ['- int32 - -', null, PRIORITY_DEFAULT, null, null],
            match_names: ['-', null],
            prefetch: ['- -', null],
        }],
        [Mtl.TensorFileBuilder.prototype, {
            add: ['- view'],
            add_converted: ['- view dtype'],
            set_alignment: ['uint32'],
            write: ['file - -', null, null],
            write_async: ['file int32 - -', PRIORITY_DEFAULT, null, null],
            write_shards: ['file uint64 - -', null, null],
            write_shards_async: ['file uint64 int32 - -', PRIORITY_DEFAULT, null, null],
        }],
        [Mtl.TensorFileEntry.prototype, {
            check: ['- -', NONE, null],
            load_view: ['-', null],
        }],
    ]);
}

// The functions that may allocate memory of tensors. A test compares them with
// what they do.
function _listAllocating() {
    return new Map([
        [Mtl.Buffer, ['new', 'new_from_bytes', 'new_from_bytes_full', 'new_uninitialized']],
        [Mtl.Buffer.prototype, ['copy', 'dup_bytes']],
        [Mtl.StridedView, ['new_empty', 'new_from_bytes', 'new_from_doubles', 'new_from_variant',
            'new_full', 'new_like', 'new_zeros']],
        [Mtl.StridedView.prototype, ['copy', 'dup_bytes', 'export_dlpack_full', 'to_contiguous',
            'to_contiguous_async', 'to_device', 'to_device_async', 'to_dtype', 'to_dtype_async']],
        [Mtl.TensorFile.prototype, ['load_view', 'load_views', 'load_views_async']],
        [Mtl.TensorFileEntry.prototype, ['load_view']],
    ]);
}

function _adaptFunctions() {
    const allocating = _listAllocating();

    for (const [owner, functions] of _listSignatures()) {
        for (const [name, [signature, ...defaults]] of Object.entries(functions)) {
            const allocates = allocating.get(owner)?.includes(name) ?? false;
            _adapt(owner, name, signature, defaults, allocates);
        }
    }
}

// What views, layouts and entries of files have.
const SHAPED_GETTERS = {
    shape() {
        return this.get_shape();
    },
    ndim() {
        return this.get_shape().length;
    },
    size() {
        return this.get_shape().reduce((product, extent) => product * extent, 1);
    },
};

const LAYOUT_GETTERS = {
    ...SHAPED_GETTERS,
    strides() {
        return this.get_strides();
    },
    ndim() {
        return this.get_n_dims();
    },
    size() {
        return this.get_volume();
    },
    // In bytes. An element of less than a byte counts as one.
    itemsize() {
        return Math.ceil(this.get_item_bits() / 8);
    },
    T() {
        return this.transpose();
    },
};

function _defineMembers(elementAccess) {
    const toIntegers = INTEGER_CONVERTERS['int32[]'];

    _defineGetters(Mtl.Buffer.prototype, {
        nbytes() {
            return this.get_size();
        },
    });

    for (const {prototype} of [Mtl.StridedLayout, Mtl.StridedView]) {
        const {squeeze, transpose, flip} = prototype;

        _defineGetters(prototype, LAYOUT_GETTERS);
        _defineMethods(prototype, {
            // Without arguments, all axes.
            flip(...axes) {
                axes = _isArray(axes[0]) ? axes[0] : axes;
                axes = axes.length > 0 ? toIntegers(axes) : [...this.get_shape().keys()];
                return axes.length === 0
                    ? this.transpose()
                    : axes.reduce((part, axis) => flip.call(part, axis), this);
            },
            squeeze(...axes) {
                return axes.length === 0 ? squeeze.call(this) : this.squeeze_axes(...axes);
            },
            toString() {
                return this.to_string();
            },
            transpose(...axes) {
                return axes.length === 0 ? transpose.call(this) : this.permute(...axes);
            },
        });
    }

    const {fill, fill_async: fillAsync, to_device: toDevice} = Mtl.StridedView.prototype;
    _defineMethods(Mtl.StridedView, {from: _from});
    _defineGetters(Mtl.StridedView.prototype, {
        // In bytes, of elements side by side.
        nbytes() {
            return Math.ceil(this.get_volume() * this.get_item_bits() / 8);
        },
        // As of an array; a view without dimensions has none.
        length() {
            return this.get_shape()[0];
        },
    });
    _defineMethods(Mtl.StridedView.prototype, {
        fill: _fillWithNumbers(fill, ''),
        fill_async: _fillWithNumbers(fillAsync, '_async'),
        ...elementAccess,
        getBigInt: _getBigInt,
        toTypedArray: _toTypedArray,
        toArray: _toArray,
        toJSON: _toArray,
        // By default where the host can access it.
        to_device(device, mode = undefined) {
            const {HOST, SHARED} = Mtl.StorageMode;

            if (!(device instanceof Mtl.Device))
                throw new TypeError(`A Mtl.Device is needed, not ${_show(device)}`);
            return toDevice.call(this, device,
                mode ?? (device.supports_storage_mode(HOST) ? HOST : SHARED));
        },
    });

    _defineGetters(Mtl.Statistics.prototype, {
        minimum() {
            return _extremeOf(this, 'minimum');
        },
        maximum() {
            return _extremeOf(this, 'maximum');
        },
        // [re, im] if the elements are complex.
        mean() {
            return _isComplex(this.get_dtype()) ? this.get_complex_mean() : this.get_mean();
        },
    });
    _defineMethods(Mtl.Statistics.prototype, {
        toString() {
            return this.to_string();
        },
    });

    _defineGetters(Mtl.TensorFileEntry.prototype, {
        ...SHAPED_GETTERS,
        itemsize() {
            return Math.ceil(Mtl.DType.get_bits(this.get_dtype()) / 8);
        },
        nbytes() {
            return this.get_n_bytes();
        },
    });
    _defineGetters(Mtl.TensorFile.prototype, {
        // file.size: the number of tensors.
        size() {
            return this.get_n_items();
        },
        // file.metadata: the metadata of the file, in a new Map.
        metadata() {
            return new Map(this.list_metadata_keys().map(key => [key, this.get_metadata(key)]));
        },
    });
    _defineMethods(Mtl.TensorFile.prototype, {
        get: _getTensor,
        has: _hasTensor,
        keys: _iterateNames,
        values: _iterateTensors,
        entries: _iterateFile,
        forEach: _forEachTensor,
    });

    for (const [{prototype}, iterate] of [[Mtl.StridedView, _iterate],
        [Mtl.TensorFile, _iterateFile]])
        _defineMethods(prototype, {[Symbol.iterator]: iterate});

    _defineMethods(Mtl, {
        arange: _arange,
        array: _array,
        empty: _empty,
        full: _full,
        zeros: _zeros,
    });
}

// For functions that make an object of bytes.
function _watchBorrowed(owner, name, position, getSize) {
    const original = owner[name];

    owner[name] = function (...args) {
        const object = original.apply(this, args);
        _noteBorrowed(args[position], getSize(object));
        return object;
    };
}

// Versions of gjs that do not release the objects of an array that a function
// returns (GNOME/gjs#542).
function _keepsReturnedObjects() {
    const {version} = imports.system;

    return version < 17403 || (version >= 17500 && version < 17601);
}

function _releaseReturned(objects) {
    objects.forEach(object => object.unref());
    return objects;
}

function _watchReturned() {
    if (!_keepsReturnedObjects())
        return;

    for (const name of ['load_views', 'load_views_finish']) {
        const original = Mtl.TensorFile.prototype[name];

        Mtl.TensorFile.prototype[name] = function (...args) {
            return _releaseReturned(original.apply(this, args));
        };
    }
}

function _init() {
    Mtl = this;
    Gio = imports.gi.Gio;
    GLib = imports.gi.GLib;

    _dtypes = new Set(Object.values(Mtl.DType).filter(value => typeof value === 'number'));
    _complexDTypes = new Set([Mtl.DType.COMPLEX32, Mtl.DType.COMPLEX64, Mtl.DType.COMPLEX128]);

    const elementAccess = _makeElementAccess();
    _adaptFunctions();
    _watchReturned();
    _watchBorrowed(Mtl.StridedView, 'new_from_bytes', 0, view => view.get_required_size());
    _watchBorrowed(Mtl.Buffer, 'new_from_bytes', 1, buffer => buffer.get_size());
    _watchBorrowed(Mtl.Buffer, 'new_from_bytes_full', 1, buffer => buffer.get_size());
    _defineMembers(elementAccess);
}

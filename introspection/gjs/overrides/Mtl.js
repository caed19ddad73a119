/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts Mtl to JavaScript: indices as arguments, arrays in and out, iteration.
// gjs runs _init() when the namespace is first imported; `this` is the
// namespace.

const {GLib} = imports.gi;
const {
    _adaptFunctions, _isArray, _isComplex, _isScalar, _rejectErrors, _show, _throwOfPlainNumbers,
    _toBytes, _toDType, _toElements, _wrap, INTEGER_CONVERTERS, NO_TEXT_IN_C,
} = imports.overrides.mtldl.arguments;

let Mtl, _collector;

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

// The dtype to convert to first if JavaScript has no such numbers.
function _widen(dtype) {
    const bits = Mtl.DType.get_bits(dtype);
    const {INT, UINT, FLOAT, COMPLEX} = Mtl.DTypeKind;

    switch (Mtl.DType.get_kind(dtype)) {
    case INT:
        return bits < 8 ? Mtl.DType.INT8 : dtype;
    case UINT:
        return bits < 8 ? Mtl.DType.UINT8 : dtype;
    case FLOAT:
        return bits < 32 ? Mtl.DType.FLOAT32 : dtype;
    case COMPLEX:
        return bits < 64 ? Mtl.DType.COMPLEX64 : dtype;
    default:
        return dtype;
    }
}

function _isInteger64(dtype) {
    return dtype === Mtl.DType.INT64 || dtype === Mtl.DType.UINT64;
}

// Memory
//
// The garbage collector sees the objects here, which are small, but not the
// tensors behind them. Left to itself, it would run too late.

// The bytes that may be allocated between two collections. If more than four times that
// is alive, a quarter of it counts, so that collections do not become more frequent
// when a program holds more.
const MIN_ALLOCATED_BETWEEN = 192 * 1024 * 1024;

// A collection may release any part of borrowed memory: perhaps all of it belongs to
// something that is alive. So collections for its sake take at most a third of the
// time.
const MIN_PAUSE_PER_COLLECTION = 2;

function _makeCollector() {
    const {system} = imports;
    const {get_allocated_size: getAllocatedSize} = Mtl;
    const {get_monotonic_time: getTime, Bytes} = GLib;
    const minBetween = MIN_ALLOCATED_BETWEEN;
    const {max, min} = Math;

    let collectAbove = minBetween;
    let noSoonerThan = 0;

    // Bytes that views were made of since the last collection. They belong to GLib.
    let borrowedSize = 0;
    let borrowedBytes = new WeakSet();

    // Views of a peer's memory that came since the last collection.
    let nReceived = 0;
    let receivedSize = 0;

    const limitAbove = size => size + max(minBetween, size / 4);

    function collect() {
        const start = getTime();

        system.gc();
        const end = getTime();
        noSoonerThan = end + MIN_PAUSE_PER_COLLECTION * (end - start);
        borrowedSize = 0;
        borrowedBytes = new WeakSet();
        nReceived = 0;
        receivedSize = 0;
        collectAbove = limitAbove(getAllocatedSize());
    }

    // Collects if much was allocated or borrowed since the last time.
    function makeRoom() {
        const size = getAllocatedSize();

        if (size > collectAbove)
            collect();
        else if (size + borrowedSize <= collectAbove)
            collectAbove = min(collectAbove, limitAbove(size + borrowedSize));
        else if (getTime() >= noSoonerThan)
            collect();
    }

    // A view or a buffer of these bytes was made. gjs makes new bytes for each typed
    // array.
    function noteBorrowed(bytes, object, getSize) {
        if (borrowedBytes.has(bytes))
            return;

        borrowedSize += getSize(object);
        if (bytes instanceof Bytes)
            borrowedBytes.add(bytes);
    }

    // A view of a peer's memory came. Garbage takes at most half of what may be in use.
    function noteReceived(size, maxViews, maxBytes = Infinity) {
        nReceived++;
        receivedSize += size;
        if (nReceived >= maxViews / 2 || receivedSize >= maxBytes / 2 ||
            (receivedSize >= minBetween && getTime() >= noSoonerThan))
            collect();
    }

    // Calls a function, again if it fails with the code that garbage causes.
    function callWithoutGarbage(original, object, args, code) {
        try {
            return original.apply(object, args);
        } catch (error) {
            if (!(error instanceof GLib.Error && error.matches(Mtl.Error, Mtl.Error[code])))
                throw error;
            collect();
            return original.apply(object, args);
        }
    }

    // Calls a function that allocates: garbage may have the memory.
    function callWithRoom(original, object, args) {
        makeRoom();
        return callWithoutGarbage(original, object, args, 'NO_MEMORY');
    }

    return {callWithRoom, callWithoutGarbage, noteBorrowed, noteReceived};
}


// Values

// Returns a new tensor with a copy of a typed array.
function _copyTypedArray(values, dtype, shape) {
    const view = Mtl.StridedView.new_uninitialized(Mtl.Device.get_host(), dtype, shape);

    // gjs makes bytes of the array for this call alone.
    view.get_buffer().set_bytes(
        0, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return view;
}

// The most dimensions that a view can have. An array that holds itself has more.
const MAX_DIMS = 64;

// The most elements that an array of JavaScript holds side by side; longer ones are too slow.
const MAX_NESTED = 2 ** 28 - 1;

// Returns the shape of nested arrays, from the first element of each.
function _shapeOfNested(values) {
    const shape = [];

    for (let part = values; _isArray(part); part = part[0]) {
        if (shape.length === MAX_DIMS)
            throw new RangeError(`Arrays can be nested ${MAX_DIMS} times, and these are deeper`);
        shape.push(part.length);
    }

    const volume = shape.reduce((product, extent) => product * extent, 1);
    if (volume > MAX_NESTED) {
        throw new RangeError(`${volume} elements are too many for nested arrays, which can have ${
            MAX_NESTED}; a typed array can have more`);
    }
    return shape;
}

function _checkNested(holds, part, position, expected) {
    if (!holds) {
        const where = position.map(i => `[${i}]`).join('');
        throw new TypeError(`values${where} is ${_show(part)}, not ${expected}`);
    }
}

// Calls visit(row, position) for each innermost array. Throws if the arrays do
// not have that shape.
function _visitRows(values, shape, visit, position = []) {
    const depth = position.length;

    _checkNested(_isArray(values) && values.length === shape[depth], values, position,
        `an array of ${shape[depth]} as those before it`);
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
                    'a number, bigint or boolean');
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

// NumPy's rule for new tensors: numbers that are all integers become int64, if they
// fit.
function _guessNewDType(flat) {
    const isInteger = value => typeof value === 'boolean' ||
        Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
    const dtype = _guessDType(flat);

    return dtype === Mtl.DType.FLOAT64 && flat.length > 0 && flat.every(isInteger)
        ? Mtl.DType.INT64 : dtype;
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

// Converting this many numbers one by one takes as long as copying an array.
const MIN_PACKED = 64;

function _newFromNested(values, dtype, guess = _guessDType) {
    const shape = _shapeOfNested(values);

    _checkNested(Array.isArray(values) || _isScalar(values), values, [],
        'a view, array, number, bigint or boolean; new_from_bytes() takes bytes');
    const flat = Array.isArray(values) ? _flattenNested(values, shape) : [values];

    dtype ??= guess(flat);
    if (_isComplex(dtype) && _isScalar(values))
        return _newFromPairs([values, 0], [], dtype);
    if (_isComplex(dtype))
        return _newFromPairs(flat, flat.length === 0 ? shape : shape.slice(0, -1), dtype);

    // A GVariant stores a bigint exactly; a double only has 53 bits.
    if (flat.some(value => typeof value === 'bigint')) {
        const isUnsigned = dtype === Mtl.DType.UINT64;
        const toInteger = INTEGER_CONVERTERS[isUnsigned ? 'uint64' : 'int64'];
        const integers = flat.map(value =>
            BigInt(typeof value === 'boolean' ? value : toInteger(value)));
        const variant = new GLib.Variant(isUnsigned ? 'at' : 'ax', integers);
        return Mtl.StridedView.new_from_variant(variant, dtype, shape);
    }

    const numbers = flat.some(value => typeof value === 'boolean') ? flat.map(Number) : flat;
    const packed = numbers.length < MIN_PACKED ? undefined : _packNumbers(numbers, dtype);
    return packed === undefined
        ? Mtl.StridedView.new_from_doubles(numbers, dtype, shape)
        : _copyTypedArray(packed, dtype, shape);
}

// Always copies, whereas to_dtype() returns a view that has the type.
function _copyAs(view, dtype) {
    return dtype === view.get_dtype() ? view.copy() : view.to_dtype(dtype);
}

// Mtl.StridedView.from(values, dtype): a new tensor in host memory. The values
// are one of these:
// - nested arrays of numbers, bigints or booleans. A single number, bigint or
//   boolean makes a tensor without dimensions. The dtype may be given by name.
//   The default is bool if there are only booleans, int64 if all are integers
//   (uint64 if a bigint is 2^63 or more), otherwise float64. A value that the
//   dtype cannot hold is an error;
// - a typed array, which makes a tensor of one dimension. The default is the
//   dtype of the array. Other dtypes are converted to as by to_dtype();
// - a view, which is copied, where it is, and converted in the same way.
// For a complex dtype the innermost arrays are pairs [re, im], and a typed
// array has them interleaved, as toArray() and toTypedArray() return them.
function _from(values, dtype = undefined) {
    _checkPlainNumbers('Mtl.StridedView.from', dtype, values);
    return _newFrom(values, dtype, _guessNewDType);
}

function _newFrom(values, dtype = undefined, guess = _guessDType) {
    if (dtype !== undefined && dtype !== null)
        dtype = _toDType(dtype);
    else
        dtype = undefined;

    if (values instanceof Mtl.StridedView)
        return dtype === undefined ? values.copy() : _copyAs(values, dtype);
    if (ArrayBuffer.isView(values))
        return _newFromTypedArray(values, dtype);

    const isOtherIterable = !Array.isArray(values) && typeof values === 'object' &&
        values !== null && Symbol.iterator in values;
    return _newFromNested(isOtherIterable ? Array.from(values) : values, dtype, guess);
}

// The functions for single elements.
function _makeElementAccess() {
    const {BOOL, COMPLEX32, COMPLEX64, COMPLEX128} = Mtl.DType;
    const {get_double: getDouble, set_double: setDouble} = Mtl.StridedView.prototype;
    const [isArray, setOther, isInteger64] = [_isArray, _setOther, _isInteger64];
    const noNumber = _refuseAsNumber;
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
            return noNumber(this.get_complex(indices).slice(1));

        const value = getDouble.call(this, indices);
        return dtype === BOOL ? value !== 0 : value;
    }

    // view.set(i, j, value): a number, bigint or boolean; [re, im] for complex.
    // A value that the dtype cannot hold is an error. An array or a view is copied
    // to the part with these indices, as by copy_from().
    function set(...args) {
        const value = args.pop();
        const indices = toIndices(args);

        if (typeof value === 'number')
            setDouble.call(this, indices, value);
        else
            setOther(this, indices, value);
    }

    // view.getBigInt(i, j): an element of int64 or uint64, exactly. get_int64() and
    // get_uint64() cannot do that: gjs converts their results to Numbers, and warns
    // beyond 2^53.
    function getBigInt(...indices) {
        indices = toIndices(indices);
        if (!isInteger64(this.get_dtype()))
            throw new TypeError('getBigInt() only works for elements of int64 and uint64');

        // This throws if an index is wrong, for elements that the host can access.
        if (this.is_host_accessible())
            this.get_double(indices);

        let element = this;
        for (const index of indices) {
            // The conversion makes the lanes an axis.
            if (element.get_n_dims() === 0 && element.get_lanes() > 1)
                element = element.to_dtype(element.get_dtype());
            element = element.select(0, index);
        }

        return element.toTypedArray()[0];
    }

    return {get, set, getBigInt};
}

function _isPair(value, dtype) {
    return Array.isArray(value) && value.length === 2 && value.every(_isScalar) &&
        _isComplex(dtype);
}

// Sets an element to a value that is not a number.
function _setOther(view, indices, value) {
    const dtype = view.get_dtype();

    if (_isPair(value, dtype)) {
        view.set_complex(indices, ...value);
    } else if (typeof value === 'bigint') {
        if (dtype === Mtl.DType.UINT64)
            view.set_uint64(indices, value);
        else
            view.set_int64(indices, value);
    } else if (typeof value === 'boolean') {
        view.set_double(indices, Number(value));
    } else {
        const source = _toElements(value, view);

        indices.reduce((part, index) => part.select(0, index), view).copy_from(source);
    }
}

// view.fill(value), view.fill_async(value): a number, bigint or boolean, [re, im]
// for complex; an array or a view, which is repeated; or the bytes of an element, as
// a GLib.Bytes, Uint8Array, ArrayBuffer or DataView.
function _fillWithNumbers(original, suffix) {
    const kinds = [GLib.Bytes, Uint8Array, ArrayBuffer, DataView];

    return function (value, ...rest) {
        if (kinds.some(kind => value instanceof kind))
            return original.call(this, _toBytes(value), ...rest);
        if (_isScalar(value) && typeof value !== 'bigint')
            return this[`fill_double${suffix}`](Number(value), ...rest);

        return this[`copy_from${suffix}`](value, ...rest);
    };
}

// JavaScript makes text of an array, and NaN or the only item of that. Where
// a number is needed, such as in new Float32Array(view), that would be wrong.
function _refuseAsNumber(array) {
    Object.defineProperty(array, Symbol.toPrimitive, {
        value(hint) {
            if (hint !== 'number')
                return String([...this]);
            throw new TypeError(`[${[...this]}] is not a number; toTypedArray() copies a view`);
        },
    });
    return array;
}

// Converts a view where a number or text is needed. A view without dimensions is its
// element, as in view + 1; any other is not a number. A template, `${view}`, uses
// toString().
function _toPrimitive(hint) {
    if (hint === 'string')
        return this.toString();
    if (this.get_n_dims() === 0 && this.get_lanes() === 1) {
        const value = this.get();

        if (!Array.isArray(value))
            return value;
    }

    throw new TypeError(`A view of shape [${this.get_shape()}] and type ${
        Mtl.DType.to_string(this.get_dtype())} is not a number: get() reads an element, ` +
        'toTypedArray() and toArray() copy all, and toString() makes text');
}

// Loops and functions of Array begin or end with one of these.
const MAX_GUARDED_INDEX = 63;

// Otherwise view[0] would be undefined, and view[0] = 1 would write nowhere.
function _guardIndices(prototype) {
    const refuse = index => () => {
        throw new TypeError(
            `JavaScript has no view[${index}]: use get(), set(), select() or slice()`);
    };

    for (let i = -1; i <= MAX_GUARDED_INDEX; i++) {
        Object.defineProperty(prototype, i,
            {get: refuse(i), set: refuse(i), configurable: true, enumerable: false});
    }
}

// [...view]: the parts along the first axis. If there is one dimension, the
// elements as get() returns them, or arrays of lanes if they have several.
function* _iterate() {
    const nDims = this.get_n_dims();

    if (nDims === 0)
        throw new TypeError(
            'A view without dimensions has nothing to iterate over; get() reads it');

    const extent = this.get_shape()[0];
    const hasLanes = this.get_lanes() > 1;
    for (let i = 0; i < extent; i++) {
        if (nDims > 1)
            yield this.select(0, i);
        else
            yield hasLanes ? _refuseAsNumber(this.select(0, i).toArray()) : this.get(i);
    }
}

// view.toTypedArray(): a copy of the elements in C order. Elements of bool
// become 0 and 1 in a Uint8Array, floats of 16 bits and fewer are widened to
// float32, integers of fewer than 8 bits to 8, complex numbers are interleaved.
function _toTypedArray() {
    const dtype = this.get_dtype();
    const wider = _widen(dtype);

    if (wider !== dtype)
        return this.to_dtype(wider).toTypedArray();

    const name = Mtl.DType.to_string(dtype);
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

// Cuts values into rows. The loop uses no global name, neither Array nor a function:
// looking one up in a file such as this takes as long as many elements.
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

// file.get(name): a view, or undefined.
function _getTensor(name) {
    return _hasTensor.call(this, name) ? this.load_view(name) : undefined;
}

// file.has(name): whether there is a tensor with that name.
function _hasTensor(name) {
    return typeof name === 'string' && !NO_TEXT_IN_C.test(name) && this.has_tensor(name);
}

// file.keys(): the names.
function _iterateNames() {
    return this.list_names().values();
}

// A message on the error stream names the tensors that an iteration leaves out.
function _listLoadable(file) {
    const refused = file.match_refused_names(null);

    if (refused.length > 0) {
        const named = refused.slice(0, 8).map(
            name => `“${name}”: ${file.lookup_entry(name).get_error().message}`);
        const more = refused.length > named.length
            ? `; and ${refused.length - named.length} more` : '';

        printerr(`${file.get_file().get_parse_name()}: left out tensors that cannot be loaded: ` +
            `${named.join('; ')}${more}`);
    }
    return file.match_loadable_names(null);
}

// file.values(): the views, each made when the iteration reaches it.
function* _iterateTensors() {
    for (const name of _listLoadable(this))
        yield this.load_view(name);
}

// [...file], file.entries(): pairs [name, view], without the tensors that
// cannot be loaded.
function* _iterateFile() {
    for (const name of _listLoadable(this))
        yield [name, this.load_view(name)];
}

// file.forEach((view, name, file) => …): calls the function for each tensor.
function _forEachTensor(callback, thisArgument = undefined) {
    for (const [name, view] of this)
        callback.call(thisArgument, view, name, this);
}

// Streams

// stream.run(function): calls the function while the library works in the stream, and
// returns its result. The work of a promise would not be in the stream.
function _runInStream(work) {
    if (typeof work !== 'function')
        throw new TypeError(`A function is needed, not ${_show(work)}`);

    this.push_thread_default();
    let result;
    try {
        result = work();
    } finally {
        this.pop_thread_default();
    }
    if (result instanceof Promise) {
        throw new TypeError('The function returned a promise, whose work is not in the stream: ' +
            'call run() for each part between two awaits');
    }
    return result;
}

// New tensors

function _isOptions(value) {
    return typeof value === 'object' && value !== null &&
        Object.getPrototypeOf(value) === Object.prototype;
}

// Returns the dtype, the device and the storage mode of a new tensor. An object may stand in place
// of a dtype or a device, to name what else the tensor is.
function _readOptions(label, dtype, device) {
    const options = [dtype, device].find(_isOptions) ?? {};
    const given = {dtype, device};

    for (const [name, value] of Object.entries(options)) {
        const isTwice = name in given && ![options, undefined, null].includes(given[name]);

        if (!['dtype', 'device', 'shared'].includes(name) || isTwice)
            throw new TypeError(`${label}() cannot have the option “${name}” here`);
        given[name] = value;
    }
    const [type, place] = [given.dtype, given.device].map(value =>
        value === options ? null : value);
    return [type, ..._placeOf(place, given.shared)];
}

function _place(view, device, mode) {
    return device === null || device === undefined ? view : view.to_device(device, mode);
}

function _placeOf(device, isShared) {
    const host = Mtl.Device.get_host();

    if (!isShared)
        return [device, Mtl.StorageMode.DEFAULT];
    if (![undefined, null, host].includes(device)) {
        throw new TypeError(
            `Memory that processes share is the host's, not that of ${_show(device)}`);
    }
    return [host, Mtl.StorageMode.INTERPROCESS];
}

// Two plain numbers may be a shape, or an extent and an element type: the function
// throws, and names both ways.
function _checkPlainNumbers(label, dtype, first, ...between) {
    if (typeof dtype === 'number' && _isScalar(first)) {
        const [extents, ...rest] = between.length > 0 ? [[first, ...between], dtype]
            : [[first, dtype]];
        _throwOfPlainNumbers(label, first, dtype,
            `${label}(${[`[${extents.join(', ')}]`, ...rest].join(', ')})`);
    }
}

// Mtl.array(values, dtype, device): as Mtl.StridedView.from(). In place of the dtype or the device
// there may be an object, {dtype, device, shared}. If shared is true, the tensor is in memory that
// other processes can map.
function _array(values, dtype = undefined, device = null) {
    const [type, place, mode] = _readOptions('Mtl.array', dtype, device);

    _checkPlainNumbers('Mtl.array', type, values);
    return _place(_newFrom(values, type, _guessNewDType), place, mode);
}

// Mtl.empty(shape, dtype, device): the elements are arbitrary. There are the options of
// Mtl.array().
function _empty(shape, dtype = null, device = null) {
    const [type, place, mode] = _readOptions('Mtl.empty', dtype, device);

    _checkPlainNumbers('Mtl.empty', type, shape);
    return Mtl.StridedView.new_uninitialized(place, type ?? 'float64', shape, mode);
}

// Mtl.zeros(shape, dtype, device): there are the options of Mtl.array().
function _zeros(shape, dtype = null, device = null) {
    const [type, place, mode] = _readOptions('Mtl.zeros', dtype, device);

    _checkPlainNumbers('Mtl.zeros', type, shape);
    return Mtl.StridedView.new_zeros(place, type ?? 'float64', shape, mode);
}

function _newFull(shape, value, [type, place, mode]) {
    const view = Mtl.StridedView.new_uninitialized(place, type, shape, mode);

    view.fill(value);
    return view;
}

// Mtl.full(shape, value, dtype, device): the default dtype is that of Mtl.array(value). There are
// the options of Mtl.array().
function _full(shape, value, dtype = null, device = null) {
    const [type, ...place] = _readOptions('Mtl.full', dtype, device);

    _checkPlainNumbers('Mtl.full', type, shape, value);
    return _newFull(shape, value,
        [type ?? Mtl.DType.to_string(_newFrom(value, null, _guessNewDType).dtype), ...place]);
}

// Mtl.ones(shape, dtype, device): there are the options of Mtl.array().
function _ones(shape, dtype = null, device = null) {
    const [type, ...place] = _readOptions('Mtl.ones', dtype, device);

    _checkPlainNumbers('Mtl.ones', type, shape);
    return _newFull(shape, 1, [type ?? 'float64', ...place]);
}

// Mtl.arange(stop), Mtl.arange(start, stop, step, dtype, device): start,
// start + step and so on, before stop. Without a dtype it is int64 if all of
// these are integers, uint64 if int64 does not hold the numbers, and otherwise
// float64. There are the options of Mtl.array(), as in Mtl.arange(stop, {dtype}).
function _arange(start, stop = null, step = null, dtype = null, device = null) {
    if (_isOptions(stop))
        return _arange(start, null, null, stop);
    if (_isOptions(step))
        return _arange(start, stop, null, step);

    const [type, place, mode] = _readOptions('Mtl.arange', dtype, device);
    const bounds = stop === null ? [0, start, step ?? 1] : [start, stop, step ?? 1];
    if (!bounds.every(value => Number.isFinite(Number(value))) || Number(bounds[2]) === 0) {
        const [from, to, by] = bounds.map(_show);
        throw new RangeError(`There is no range from ${from} to ${to} in steps of ${
            by}; the arguments are start, stop, step, dtype`);
    }

    if (!bounds.every(value => typeof value === 'bigint' || Number.isInteger(value)))
        return Mtl.StridedView.new_arange(place, type ?? 'float64', ...bounds.map(Number), mode);

    const [first, end, increment] = bounds.map(BigInt);
    const n = (end - first + (increment > 0n ? increment - 1n : increment + 1n)) / increment;
    const integers = n > 0n ? [first, end, increment] : [0n, 0n, 1n];
    if (integers.every(value => value === BigInt.asIntN(64, value)))
        return Mtl.StridedView.new_arange_int64(place, type ?? 'int64', ...integers, mode);

    const values = Array.from({length: Number(n)}, (_, i) => first + BigInt(i) * increment);
    return _placeLargeIntegers(values, type, place, mode);
}

function _placeLargeIntegers(values, type, place, mode) {
    let view = _array(values);

    if (type !== null && type !== undefined) {
        const dtype = _toDType(type);

        // If the type holds the extremes, it holds all.
        if (!_isComplex(dtype)) {
            const extremes = [values[0], values.at(-1)];
            _newFromNested(_isInteger64(dtype) ? extremes : extremes.map(Number), dtype);
        }
        view = view.to_dtype(dtype);
    }
    return _place(view, place, mode);
}

function _defineGetters(prototype, getters) {
    for (const [name, get] of Object.entries(getters))
        Object.defineProperty(prototype, name, {get, configurable: true});
}

function _defineMethods(object, methods) {
    for (const name of Reflect.ownKeys(methods)) {
        const value = methods[name];

        // Properties that gjs has defined can be replaced, but not defined again.
        if (Object.hasOwn(object, name))
            object[name] = value;
        else
            Object.defineProperty(object, name, {value, configurable: true, writable: true});
    }
}

// The functions that may allocate memory of tensors. A test checks that the list is
// complete.
const ALLOCATING = {
    'Buffer': ['new', 'new_from_bytes', 'new_uninitialized'],
    'Buffer.prototype': ['copy', 'copy_async', 'dup_bytes', 'dup_bytes_async'],
    'StridedView': ['new_arange', 'new_arange_int64', 'new_filled', 'new_from_bytes',
        'new_from_bytes_with_byte_strides', 'new_from_doubles', 'new_from_variant',
        'new_uninitialized', 'new_zeros', 'new_zeros_like'],
    'StridedView.prototype': ['copy', 'copy_async', 'dup_bytes', 'dup_bytes_async',
        'export_dlpack', 'reduce', 'reduce_async', 'to_contiguous', 'to_contiguous_async',
        'to_device', 'to_device_async', 'to_dtype', 'to_dtype_async'],
    'TensorConnection.prototype': ['allocate_view'],
    'TensorFile.prototype': ['load_view', 'load_view_async', 'load_views', 'load_views_async'],
    'TensorFileEntry.prototype': ['load_view', 'load_view_async'],
    'TensorProxy.prototype': ['fetch_view', 'fetch_view_async'],
};

// Converters of arguments that do not follow from their types.
const SPECIAL_CONVERTERS = {
    'StridedLayout.prototype.slice': {text: 'slice'},
    'StridedView.new_zeros_like': {view: '-'},
    'StridedView.prototype.all_close': {view: 'comparable'},
    'StridedView.prototype.all_close_async': {view: 'comparable'},
    'StridedView.prototype.array_equal': {view: 'comparable'},
    'StridedView.prototype.array_equal_async': {view: 'comparable'},
    'StridedView.prototype.copy_from': {view: 'elements'},
    'StridedView.prototype.copy_from_async': {view: 'elements'},
    'StridedView.prototype.equal': {view: '-'},
    'StridedView.prototype.fill': {bytes: '-'},
    'StridedView.prototype.fill_async': {bytes: '-'},
    'StridedView.prototype.overlaps': {view: '-'},
    'StridedView.prototype.slice': {text: 'slice'},
    'TensorFile.prototype.prefetch': {views: 'own-views'},
    'TensorFileBuilder.prototype.add_converted': {view: 'converted'},
};

// The getters of views, layouts and entries of files.
const SHAPED_GETTERS = {
    shape() {
        return this.get_shape();
    },
    // The number of dimensions.
    ndim() {
        return this.get_shape().length;
    },
    // The number of elements.
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
    // The size in bytes. An element of less than a byte counts as one.
    itemsize() {
        return Math.ceil((this.layout ?? this).get_item_bits() / 8);
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
            // view.flip(axis, …): without arguments, all axes.
            flip(...axes) {
                axes = _isArray(axes[0]) ? axes[0] : axes;
                axes = axes.length > 0 ? toIntegers(axes) : [...this.get_shape().keys()];
                return axes.length === 0
                    ? this.transpose()
                    : axes.reduce((part, axis) => flip.call(part, axis), this);
            },
            // view.squeeze(axis, …): without arguments, all axes of extent 1.
            squeeze(...axes) {
                return axes.length === 0 ? squeeze.call(this) : this.squeeze_axes(...axes);
            },
            toString() {
                return this.to_string();
            },
            // view.transpose(axis, …): without arguments, all axes in reverse.
            transpose(...axes) {
                return axes.length === 0 ? transpose.call(this) : this.permute(...axes);
            },
        });
    }

    const {close, fill, fill_async: fillAsync} = Mtl.StridedView.prototype;
    const {callWithoutGarbage} = _collector;
    _defineMethods(Mtl.StridedView, {from: _from});
    _defineGetters(Mtl.StridedView.prototype, {
        // The bytes that the elements take side by side.
        nbytes() {
            return Math.ceil(this.get_volume() * this.layout.get_item_bits() / 8);
        },
        // The length of an array; a view without dimensions has none.
        length() {
            return this.get_shape()[0];
        },
    });
    _defineMethods(Mtl.StridedView.prototype, {
        // The results of asynchronous functions refer to a view until they are collected.
        close(...args) {
            return callWithoutGarbage(close, this, args, 'BUSY');
        },
        fill: _fillWithNumbers(fill, ''),
        fill_async: _rejectErrors(_fillWithNumbers(fillAsync, '_async'), 4),
        // view.fill_finish(result): finishes whichever operation fill_async()
        // started.
        fill_finish(result) {
            return result.propagate_boolean();
        },
        ...elementAccess,
        toTypedArray: _toTypedArray,
        toArray: _toArray,
        toJSON: _toArray,
        [Symbol.toPrimitive]: _toPrimitive,
    });

    _guardIndices(Mtl.StridedView.prototype);

    _defineGetters(Mtl.Statistics.prototype, {
        // A bigint if the elements are int64 or uint64.
        minimum() {
            return _extremeOf(this, 'minimum');
        },
        // A bigint if the elements are int64 or uint64.
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
        // The size in bytes. An element of less than a byte counts as one.
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
            return new Map(this.list_metadata_keys().map(key => [key, this.lookup_metadata(key)]));
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

    _defineMethods(Mtl.Stream.prototype, {run: _runInStream});

    for (const [{prototype}, iterate] of [[Mtl.StridedView, _iterate],
        [Mtl.TensorFile, _iterateFile]])
        _defineMethods(prototype, {[Symbol.iterator]: iterate});

    _defineMethods(Mtl, {
        arange: _arange,
        array: _array,
        empty: _empty,
        full: _full,
        ones: _ones,
        zeros: _zeros,
    });
}

// Wraps a function that makes an object of bytes, or of another object's memory.
function _watchBorrowed(owner, name, position, getSize) {
    const {noteBorrowed} = _collector;

    _wrap(owner, name, (object, args) => {
        noteBorrowed(args[position], object, getSize);
        return object;
    });
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

// The views of the array are released with it, in all versions of gjs.
function _watchReturned() {
    if (!_keepsReturnedObjects())
        return;

    for (const name of ['load_views', 'load_views_finish'])
        _wrap(Mtl.TensorFile.prototype, name, _releaseReturned);
}

// A connection allows some views of the peer's memory at once. Others take a descriptor each, and a
// process has about a thousand.
const MAX_MAPPED = 256;

function _noteReceived(mapped, maxViews, maxBytes) {
    const buffer = mapped.get_buffer?.() ?? mapped;

    if (buffer.is_interprocess())
        _collector.noteReceived(buffer.get_size(), maxViews, maxBytes);
    return mapped;
}

// This handler is the first, and leaves the decision to those of the program.
function _watchOffered(tensor) {
    tensor.connect('put', (_tensor, view) => {
        _noteReceived(view, MAX_MAPPED);
        return false;
    });
    return tensor;
}

function _watchReceived() {
    const receive = (result, _args, {max_views: maxViews, max_bytes: maxBytes}) => {
        _noteReceived(result[0], maxViews, maxBytes);
        return result;
    };
    const map = mapped => _noteReceived(mapped, MAX_MAPPED);

    for (const name of ['receive', 'receive_finish'])
        _wrap(Mtl.TensorConnection.prototype, name, receive);
    for (const name of ['fetch_view', 'fetch_view_finish'])
        _wrap(Mtl.TensorProxy.prototype, name, map);
    _wrap(Mtl.StridedView, 'new_from_variant_fds', map);
    _wrap(Mtl.Buffer, 'new_for_fd', map);
    _wrap(Mtl.ExportedTensor, 'new', _watchOffered);
    _wrap(Mtl.ExportedTensor.prototype, '_init',
        (result, _args, tensor) => _watchOffered(result ?? tensor));
}

// The objects of new Mtl.Buffer({size, device, storage_mode}), new Mtl.Event({device}) and
// new Mtl.Stream({device}) are ready, or their constructors throw.
function _initializeObjects(prototype) {
    const {_init: construct} = prototype;

    prototype._init = function (...args) {
        const object = construct.apply(this, args) ?? this;

        object.init(null);
        return object;
    };
}

// A kind of device is the library's own.
function _refuseDerivation() {
    throw new TypeError('Mtl.Device cannot be derived from');
}

function _init() {
    Mtl = this;
    _collector = _makeCollector();
    imports.overrides.mtldl.arguments._init(Mtl, _newFrom, _collector.callWithRoom);

    const elementAccess = _makeElementAccess();
    _adaptFunctions(Mtl, 'Mtl', ALLOCATING, SPECIAL_CONVERTERS);
    _watchReturned();
    _watchBorrowed(Mtl.StridedView, 'new_from_bytes', 0, view => view.layout.get_required_size());
    _watchBorrowed(Mtl.StridedView, 'new_from_bytes_with_byte_strides', 0,
        view => view.layout.get_required_size());
    _watchBorrowed(Mtl.Buffer, 'new_from_bytes', 0, buffer => buffer.get_size());
    _watchReceived();
    _defineMembers(elementAccess);
    Mtl.Device._classInit = _refuseDerivation;
    _initializeObjects(Mtl.Buffer.prototype);
    _initializeObjects(Mtl.Event.prototype);
    _initializeObjects(Mtl.Stream.prototype);
}

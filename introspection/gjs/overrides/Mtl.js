/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts Mtl to JavaScript: indices as arguments, arrays in and out, iteration.
// gjs runs _init() when the namespace is first imported; `this` is the
// namespace.

let Gio, GLib, Mtl;

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

function _isComplex(dtype) {
    return [Mtl.DType.COMPLEX32, Mtl.DType.COMPLEX64, Mtl.DType.COMPLEX128].includes(dtype);
}

function _isInteger64(dtype) {
    return dtype === Mtl.DType.INT64 || dtype === Mtl.DType.UINT64;
}

// Returns a new tensor with a copy of a typed array.
function _copyTypedArray(values, dtype, shape) {
    const bytes = new GLib.Bytes(
        new Uint8Array(values.buffer, values.byteOffset, values.byteLength));

    return Mtl.StridedView.new_from_bytes(bytes, dtype, shape, null).copy();
}

// Returns the shape of nested arrays, from the first element of each.
function _shapeOfNested(values) {
    const shape = [];

    for (let part = values; Array.isArray(part); part = part[0])
        shape.push(part.length);

    return shape;
}

// Returns the elements of nested arrays in one array. Throws if the arrays do
// not have that shape.
function _flattenNested(values, shape) {
    const flat = [];
    const position = [];

    const check = (holds, part, expected) => {
        if (!holds) {
            const where = position.map(i => `[${i}]`).join('');
            const kind = Array.isArray(part) ? `array of ${part.length}` : typeof part;
            throw new TypeError(`values${where} is of type ${kind}, not ${expected}`);
        }
    };
    const visit = part => {
        const depth = position.length;

        if (depth === shape.length) {
            check(_isScalar(part), part, 'number, bigint or boolean');
            flat.push(part);
            return;
        }

        const isRow = Array.isArray(part) && part.length === shape[depth];
        check(isRow, part, `array of ${shape[depth]} as those before it`);
        for (let i = 0; i < part.length; i++) {
            position.push(i);
            visit(part[i]);
            position.pop();
        }
    };

    visit(values);
    return flat;
}

function _guessDType(flat) {
    if (flat.some(value => typeof value === 'bigint'))
        return flat.some(value => value >= 2n ** 63n) ? Mtl.DType.UINT64 : Mtl.DType.INT64;

    if (flat.length > 0 && flat.every(value => typeof value === 'boolean'))
        return Mtl.DType.BOOL;

    return Mtl.DType.FLOAT64;
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
    const flat = _flattenNested(values, shape);

    dtype ??= _guessDType(flat);
    if (_isComplex(dtype))
        return _newFromPairs(flat, flat.length === 0 ? shape : shape.slice(0, -1), dtype);

    // A GVariant stores a bigint exactly; a double only has 53 bits.
    if (flat.some(value => typeof value === 'bigint')) {
        const type = dtype === Mtl.DType.UINT64 ? 'at' : 'ax';
        const variant = new GLib.Variant(type, flat.map(BigInt));
        return Mtl.StridedView.new_from_variant(dtype, shape, variant);
    }

    return Mtl.StridedView.new_from_doubles(dtype, shape, flat.map(Number));
}

// Mtl.StridedView.from(values, dtype): a new tensor in host memory. The values
// are one of these:
// - nested arrays of numbers, bigints or booleans. A single number, bigint or
//   boolean makes a tensor without dimensions. The dtype may be given by name.
//   The default is int64 if there is a bigint (uint64 if one is 2^63 or more),
//   bool if there are only booleans, otherwise float64. A value that the dtype
//   cannot hold is an error;
// - a typed array, which makes a tensor of one dimension. The default is the
//   dtype of the array. Other dtypes are converted to as by to_dtype().
// For a complex dtype the innermost arrays are pairs [re, im], and a typed
// array has them interleaved, as toArray() and toTypedArray() return them.
function _from(values, dtype = undefined) {
    if (typeof dtype === 'string')
        dtype = Mtl.DType.from_string(dtype);

    return ArrayBuffer.isView(values)
        ? _newFromTypedArray(values, dtype)
        : _newFromNested(values, dtype);
}

// Without this check, gjs would convert any value to an integer.
function _checkIndices(indices) {
    for (const index of indices) {
        if (!Number.isInteger(index))
            throw new TypeError(`Indices must be integers, not ${index} of type ${typeof index}`);
    }
}

// view.get(i, j): a Number; a boolean for bool, [re, im] for complex dtypes.
// If elements have several lanes, the last index is the lane. Elements of int64
// and uint64 beyond 2^53 are rounded to the nearest Number; getBigInt() returns
// them exactly.
function _get(...indices) {
    _checkIndices(indices);
    const dtype = this.get_dtype();

    if (_isComplex(dtype))
        return this.get_complex(indices).slice(1);

    const value = this.get_double(indices);
    return dtype === Mtl.DType.BOOL ? value !== 0 : value;
}

// view.getBigInt(i, j): an element of int64 or uint64, exactly. get_int64() and
// get_uint64() cannot do that: gjs converts their results to Numbers, and warns
// beyond 2^53.
function _getBigInt(...indices) {
    _checkIndices(indices);
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

// view.set(value, i, j): a number, bigint or boolean; [re, im] for complex.
// A value that the dtype cannot hold is an error.
function _set(value, ...indices) {
    _checkIndices(indices);
    if (Array.isArray(value)) {
        if (value.length !== 2)
            throw new TypeError(`A complex number must be [re, im], not ${value.length} values`);
        if (!_isComplex(this.get_dtype()))
            throw new TypeError('A pair [re, im] only works for elements of complex types');
        this.set_complex(indices, ...value);
    } else if (typeof value === 'bigint' && this.get_dtype() === Mtl.DType.UINT64) {
        this.set_uint64(indices, value);
    } else if (typeof value === 'bigint') {
        this.set_int64(indices, value);
    } else if (_isScalar(value)) {
        this.set_double(indices, Number(value));
    } else {
        throw new TypeError(
            `The value is of type ${typeof value}, not number, bigint, boolean or [re, im]`);
    }
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

// view.toArray(): a copy as nested arrays, with elements as get() returns them.
// If elements have several lanes, the innermost arrays hold the lanes.
function _toArray() {
    const dtype = this.get_dtype();
    const lanes = this.get_lanes();
    const shape = lanes === 1 ? this.get_shape() : [...this.get_shape(), lanes];
    const isComplex = _isComplex(dtype);
    const flat = this.toTypedArray();
    let position = 0;

    const nextElement = () => {
        if (isComplex)
            return [flat[position++], flat[position++]];

        const value = Number(flat[position++]);
        return dtype === Mtl.DType.BOOL ? value !== 0 : value;
    };
    const nextPart = axis => axis === shape.length
        ? nextElement()
        : Array.from({length: shape[axis]}, () => nextPart(axis + 1));

    return nextPart(0);
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

// file.has(name)
function _hasTensor(name) {
    return _findTensor(this, name, 'lookup_entry') !== undefined;
}

// file.keys(): the names.
function _iterateNames() {
    return this.list_names().values();
}

// file.values()
function* _iterateTensors() {
    for (const name of this.list_names())
        yield this.load_view(name);
}

// [...file], file.entries(): pairs [name, view].
function* _iterateFile() {
    for (const name of this.list_names())
        yield [name, this.load_view(name)];
}

// file.forEach((view, name, file) => …)
function _forEachTensor(callback, thisArgument = undefined) {
    for (const [name, view] of this)
        callback.call(thisArgument, view, name, this);
}

function _defineGetters(prototype, getters) {
    for (const [name, get] of Object.entries(getters))
        Object.defineProperty(prototype, name, {get, configurable: true});
}

function _defineMethods(object, methods) {
    for (const [name, value] of Object.entries(methods))
        Object.defineProperty(object, name, {value, configurable: true, writable: true});
}

// Gives the last arguments of the methods default values. An asynchronous
// method without a callback returns a promise.
function _giveDefaults(object, methods) {
    for (const [name, defaults] of Object.entries(methods)) {
        const isAsync = name.endsWith('_async');
        const nRequired = object[name].length - defaults.length - (isAsync ? 1 : 0);

        if (isAsync)
            Gio._promisify(object, name);

        const original = object[name];
        object[name] = function (...args) {
            defaults.forEach((value, i) => {
                args[nRequired + i] ??= value;
            });
            return original.apply(this, args);
        };
    }
}

function _init() {
    Mtl = this;
    Gio = imports.gi.Gio;
    GLib = imports.gi.GLib;

    for (const {prototype} of [Mtl.StridedLayout, Mtl.StridedView]) {
        _defineGetters(prototype, {
            shape() {
                return this.get_shape();
            },
            strides() {
                return this.get_strides();
            },
            ndim() {
                return this.get_n_dims();
            },
            size() {
                return this.get_volume();
            },
        });
        _defineMethods(prototype, {
            toString() {
                return this.to_string();
            },
        });
    }

    _defineMethods(Mtl.StridedView, {from: _from});
    _defineMethods(Mtl.StridedView.prototype, {
        get: _get,
        getBigInt: _getBigInt,
        set: _set,
        toTypedArray: _toTypedArray,
        toArray: _toArray,
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

    _defineGetters(Mtl.TensorFile.prototype, {
        size() {
            return this.get_n_items();
        },
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

    // The last arguments are the priority, a Gio.Cancellable and the progress.
    const {PRIORITY_DEFAULT} = GLib;
    const {AUTO} = Mtl.FileMode;
    _giveDefaults(Mtl.Device.prototype, {synchronize: [null]});
    _giveDefaults(Mtl.Event.prototype, {wait: [null]});
    _giveDefaults(Mtl.Buffer, {new_mapped: [null]});
    _giveDefaults(Mtl.Buffer.prototype, {
        copy: [null],
        copy_from: [null],
        synchronize: [null],
    });
    _giveDefaults(Mtl.StridedLayout.prototype, {repack: [-1, true]});
    _giveDefaults(Mtl.StridedView.prototype, {
        copy_from_async: [null, null],
        copy_scaled_from: [0],
        copy_scaled_from_async: [0, null, null],
        export_dlpack_full: [Mtl.DlpackFlags.NONE, Mtl.DeviceType.UNKNOWN, 0, null, 0, null],
        fill_async: [null, null],
        fill_double_async: [null, null],
        get_statistics: [null],
        get_statistics_async: [null, null],
        get_statistics_full: [null, null],
        to_contiguous_async: [null, null],
        to_device_async: [null, null],
        to_dtype_async: [null, null],
    });
    _giveDefaults(Mtl.TensorFile, {
        open: [null],
        open_async: [null, AUTO, PRIORITY_DEFAULT, null],
        open_full: [null, AUTO, null],
    });
    _giveDefaults(Mtl.TensorFile.prototype, {
        check: [null, null],
        check_async: [PRIORITY_DEFAULT, null, null],
        load_view: [null],
        load_views: [null, null, null],
        load_views_async: [null, PRIORITY_DEFAULT, null, null],
        prefetch: [null],
    });
    _giveDefaults(Mtl.TensorFileBuilder.prototype, {
        write: [null, null],
        write_async: [PRIORITY_DEFAULT, null, null],
        write_shards: [null, null],
        write_shards_async: [PRIORITY_DEFAULT, null, null],
    });
    _giveDefaults(Mtl.TensorFileEntry.prototype, {check: [null], load_view: [null]});

    for (const [{prototype}, value] of [[Mtl.StridedView, _iterate],
        [Mtl.TensorFile, _iterateFile]]) {
        Object.defineProperty(prototype, Symbol.iterator,
            {value, configurable: true, writable: true});
    }
}

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reductions of elements that are narrower than float32 or int8: their sums would soon be rounded,
or wrap around, in their own type. They are computed in the widest type of their kind."""

import functools

from ..module import get_introspection_module
from ._mtl_asview import asview

DType = get_introspection_module("Mtl").DType

# The parameters of NumPy's methods and functions, after the array.
_SUMS = {
    "sum": "axis dtype out keepdims initial where", "prod": "axis dtype out keepdims initial where",
    "mean": "axis dtype out keepdims", "std": "axis dtype out ddof keepdims",
    "var": "axis dtype out ddof keepdims", "cumsum": "axis dtype out", "cumprod": "axis dtype out",
    "trace": "offset axis1 axis2 dtype out", "cumulative_sum": "", "cumulative_prod": "",
}

# The parameters of methods of universal functions.
_OF_FLOATS = ("divide", "hypot", "logaddexp", "logaddexp2")
_UFUNCS = dict.fromkeys(("add", "multiply", "subtract", *_OF_FLOATS), "indices")

# They copy the elements, or take no dtype.
_OF_COPIES = {
    "average": "axis weights returned", "median": "axis out overwrite_input keepdims",
    "nansum": "axis dtype out keepdims initial where",
    "nanprod": "axis dtype out keepdims initial where", "nanmean": "axis dtype out keepdims",
    "nanstd": "axis dtype out ddof keepdims", "nanvar": "axis dtype out ddof keepdims",
    "nancumsum": "axis dtype out", "nancumprod": "axis dtype out",
    "nanmax": "axis out keepdims initial where", "nanmin": "axis out keepdims initial where",
    "nanargmax": "axis out", "nanargmin": "axis out",
    "nanmedian": "axis out overwrite_input keepdims",
    "nanpercentile": "q axis out overwrite_input method keepdims",
    "nanquantile": "q axis out overwrite_input method keepdims",
}

_PARAMETERS = {name: parameters.split() for group in (_SUMS, _UFUNCS, _OF_COPIES)
               for name, parameters in group.items()}

# The real part of a complex number decides if it is true in ml_dtypes, and NaN equals
# every number, so that a sort leaves its neighbors out of order.
_TRUTHS = ("all", "any")
_ORDERS = ("argpartition", "argsort", "partition", "searchsorted", "sort", "unique")

_NAMES = frozenset((*_SUMS, *_OF_COPIES, *_TRUTHS, *_ORDERS))

# Types of NumPy that hold the elements and have their order.
_ORDERED = {"complex128": "complex64", "float64": "float32"}

# NumPy's number of float16, after those of its other types and before those of ml_dtypes.
_FLOAT16 = 23

_KINDS = (("complex", "complex128"), ("int", "int64"), ("uint", "uint64"), ("", "float64"))

# The bits of the widest element of each kind that is narrow.
_NARROW = {"c": 32, "f": 16, "i": 7, "u": 7}


@functools.cache
def is_narrow(dtype):
    """Returns whether accumulating() makes a difference for a view's type."""
    return DType.get_bits(dtype) <= _NARROW.get(dtype.kind, 0)


def _wide_type(dtype):
    """The type in which to compute, or None if NumPy's own choice is right."""
    if dtype.num < _FLOAT16:
        return None
    if dtype.num == _FLOAT16:
        return "float64"
    if dtype.isbuiltin != 2:  # the types of ml_dtypes have 2
        return None
    return next(wide for start, wide in _KINDS if dtype.name.startswith(start))


def _narrowed(numpy, result, dtype):
    """Results in a wide type, rounded once to that of the elements. Those in other types, such as
    sums of integers, and indices, stay as they are."""
    if type(result) is tuple:
        return tuple(_narrowed(numpy, part, dtype) for part in result)
    name = dtype.name
    if result.dtype.kind not in "fc" or name.startswith(("int", "uint")):
        return result
    if name == "complex32" and result.dtype.kind == "f":
        name = "float16"  # a variance
    if name == "float16":
        return result.astype(name)  # warns of numbers that are too large
    # ml_dtypes would round to float32 first.
    array = numpy.array(asview(numpy.asarray(result)).astype(name))
    return array if isinstance(result, numpy.ndarray) else array[()]


def _stored(numpy, result, out):
    if type(out) is tuple:
        out, = out
    if not isinstance(out, numpy.ndarray):
        raise TypeError(f"out must be an array or a view, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"out has the shape {out.shape}, but the result has {result.shape}")
    if _wide_type(out.dtype) is not None:
        result = _narrowed(numpy, result, out.dtype)
    numpy.copyto(out, result, casting="unsafe")  # NumPy's reductions do the same
    return out


def _reduce_narrow(name, function, array, wide, args, keywords):
    import numpy

    names = _PARAMETERS[name][:len(args)]
    if len(args) > len(names) or keywords.keys() & set(names):
        return function(array, *args, **keywords)  # raises a TypeError
    keywords.update(zip(names, args))
    dtype = array.dtype
    is_spread = name in ("std", "var")
    # The spread would be complex, too, if the dtype is.
    is_copied = name in _OF_COPIES or is_spread and wide == "complex128"
    if is_copied:
        array = array.astype(wide)
    if keywords.get("dtype") is not None:
        return function(array, **keywords)
    if not is_copied:
        is_integer = wide.endswith("int64")
        keywords["dtype"] = "float64" if is_integer and (is_spread or name == "mean") else wide
    out = keywords.pop("out", None)
    result = function(array, **keywords)
    return _narrowed(numpy, result, dtype) if out is None else _stored(numpy, result, out)


def _order_narrow(function, array, wide, args, keywords):
    import numpy

    ordered = array.astype(_ORDERED[wide])
    result = function(ordered, *args, **keywords)
    if result is not None:
        return _narrowed(numpy, result, array.dtype)
    array[...] = ordered.astype(array.dtype)
    return None


def _reduce(name, function, *args, **keywords):
    if not args:  # NumPy's functions call the array a, x or ar
        args = [keywords.pop(key) for key in ("a", "x", "ar") if key in keywords]
        if not args:
            return function(**keywords)  # raises a TypeError
    array, *args = args
    if type(array) in (list, tuple):
        import numpy

        array = numpy.asarray(array)
    dtype = getattr(array, "dtype", None)
    wide = None if dtype is None else _wide_type(dtype)
    if wide is None or name in _OF_FLOATS and wide.endswith("int64"):
        return function(array, *args, **keywords)
    if name in _PARAMETERS:
        return _reduce_narrow(name, function, array, wide, args, keywords)
    if name in _ORDERS and wide in _ORDERED and dtype.num != _FLOAT16:
        return _order_narrow(function, array, wide, args, keywords)
    if name in _TRUTHS and wide == "complex128":
        array = array != 0
    return function(array, *args, **keywords)


def accumulating(name, function):
    """NumPy's method or function of this name, so that it computes with narrow elements in a wide
    type, and itself if there is nothing to improve. It takes arrays, no views."""
    return functools.partial(_reduce, name, function) if name in _NAMES else function


def accumulating_method(ufunc, method):
    """The same for a method of a universal function."""
    name, function = ufunc.__name__, getattr(ufunc, method)
    if method not in ("reduce", "accumulate", "reduceat") or name not in _UFUNCS:
        return function
    return functools.partial(_reduce, name, function)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes new tensors, with the functions that NumPy has for arrays."""

import array as _array
import math
import numbers
import operator

from ..module import get_introspection_module
from . import _mtl
from ._mtl_asview import asview, is_literal, view_of_values
from ._mtl_defaults import device_of
from ._mtl_nested import listed

Mtl = get_introspection_module("Mtl")


def _shape_of(shape):
    try:
        return (operator.index(shape),)
    except TypeError:
        pass
    try:
        return tuple(shape)
    except TypeError:
        raise TypeError("the shape must be an integer or a sequence of integers, not "
                        f"{type(shape).__name__}") from None


def _type_of(dtype):
    """NumPy takes None for its default."""
    if dtype is None:
        return "float64"
    # Numbers stand for types elsewhere, but here for a second extent.
    if isinstance(dtype, numbers.Integral) and not isinstance(dtype, Mtl.DType):
        raise TypeError(f"the dtype cannot be {dtype!r}: a shape of several extents is a tuple, as "
                        "in Mtl.zeros((2, 3))")
    return dtype


def dtype_of(dtype):
    return Mtl.DType(_mtl.dtype_from(dtype))


def _place_of(device, shared):
    """The device of a new tensor, and its storage mode."""
    device = device_of(device)
    if not shared:
        return device, Mtl.StorageMode.DEFAULT
    host = Mtl.Device.get_host()
    if device is not None and device is not host:
        raise ValueError(f"memory that processes share is the host's, not that of {device!r}: "
                         'leave out the device, or pass "cpu"')
    return host, Mtl.StorageMode.INTERPROCESS


def empty(shape, dtype="float64", device=None, *, shared=False):
    """A new tensor whose elements have any values. The shape is an integer or a sequence of them.
    The dtype may be a name or a type of NumPy or Python. A device of None is the default device;
    "cpu" is the host, and "cuda:1" the second GPU of CUDA. If it is shared, it is in memory of the
    host that other processes can map."""
    device, mode = _place_of(device, shared)
    return Mtl.StridedView.new_uninitialized(device, _type_of(dtype), _shape_of(shape), mode)


def zeros(shape, dtype="float64", device=None, *, shared=False):
    """A new tensor of zeros. The arguments are those of empty()."""
    device, mode = _place_of(device, shared)
    return Mtl.StridedView.new_zeros(device, _type_of(dtype), _shape_of(shape), mode)


def full(shape, fill_value, dtype=None, device=None, *, shared=False):
    """A new tensor whose elements are all fill_value: a number that the dtype holds exactly or
    rounded, or an array that is repeated. Without a dtype it has that of array(fill_value), which
    is int64 for an integer. The other arguments are those of empty()."""
    if dtype is None:
        fill_value = array(fill_value, device="cpu")
        dtype = fill_value.dtype
    result = empty(shape, dtype, device, shared=shared)
    result[...] = fill_value
    return result


def ones(shape, dtype="float64", device=None, *, shared=False):
    """A new tensor of ones. The arguments are those of empty()."""
    return full(shape, 1, _type_of(dtype), device, shared=shared)


def array(values, dtype=None, device=None, *, shared=False):
    """A new tensor with a copy of the values: numbers or arrays in nested lists or tuples, or
    anything that asview() takes. Without a dtype it has that of asview(). The other arguments are
    those of empty()."""
    device, mode = _place_of(device, shared)
    values = listed(values)
    # The dtype has to hold each of the values, if they are numbers.
    source = asview(values, dtype) if is_literal(values) else view_of_values(values)
    dtype = source.dtype if dtype is None else dtype_of(dtype)
    if source.get_lanes() != 1:
        source = source.to_dtype(source.dtype)  # an axis of the lanes
    result = Mtl.StridedView.new_uninitialized(device, dtype, source.shape, mode)
    result.copy_from(source)
    return result


def arange(start, stop=None, step=None, dtype=None, device=None, *, shared=False):
    """A new tensor of one dimension with the numbers from start to before stop, or from 0 to before
    the only argument. Without a dtype it is of int64 if all arguments are integers, or uint64 if
    int64 does not hold the numbers, and otherwise of float64. Integers are exact if the dtype holds
    them. The other arguments are those of empty()."""
    if stop is None:
        start, stop = 0, start
    bounds = [_number(value) for value in (start, stop, 1 if step is None else step)]
    (device, mode), dtype = _place_of(device, shared), None if dtype is None else dtype_of(dtype)
    if all(isinstance(number, int) for number in bounds):
        numbers = range(*bounds)
        bounds = [min(max(number, -2**63), 2**63 - 1) for number in bounds]
        if range(*bounds) != numbers:
            return _large_integers(numbers, dtype, device, shared)
        make, exact = Mtl.StridedView.new_arange_int64, "int64"
    else:
        if any(map(math.isinf, bounds)):
            raise OverflowError("arange() needs finite numbers, not from {} to {} in steps of "
                                "{}".format(*bounds))
        make, exact = Mtl.StridedView.new_arange, "float64"
    # Numbers that an integer type does not hold are converted as by astype().
    is_exact = dtype is None or dtype.kind in "iu"
    view = make(device, exact if is_exact else dtype, *bounds, mode)
    if dtype is None or view.dtype == dtype:
        return view
    return array(view, dtype, device, shared=True) if shared else view.to_dtype(dtype)


def _large_integers(numbers, dtype, device, shared):
    """Those of a range that is not empty and that int64 alone cannot describe."""
    least, most = sorted((numbers[0], numbers[-1]))
    code, type_name = ("q", "int64") if most < 2**63 else ("Q", "uint64")
    if most >= 2**64 or least < (-2**63 if code == "q" else 0):
        raise OverflowError(f"neither int64 nor uint64 holds the numbers from {numbers[0]} to "
                            f"{numbers[-1]} of arange()")
    result = empty(len(numbers), type_name if dtype is None else dtype, device, shared=shared)
    result[...] = view_of_values(_array.array(code, numbers))
    return result


def _number(value):
    """An int or a float, for any other kind of number, too."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{value!r} is not a number")
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"arange() takes real numbers, not {type(value).__name__}") from None

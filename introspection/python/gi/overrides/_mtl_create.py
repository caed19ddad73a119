# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes new tensors, with the functions that NumPy has for arrays."""

import array as _array
import math
import operator

from ..module import get_introspection_module
from . import _mtl
from ._mtl_asview import is_literal, view_of_values

Mtl = get_introspection_module("Mtl")


def _shape_of(shape):
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(shape)


def _device_of(device):
    """A device, where "cpu" is the host."""
    if device is None or isinstance(device, Mtl.Device):
        return device
    if device == "cpu":
        return Mtl.Device.get_host()
    raise TypeError(f'the device must be a Mtl.Device, "cpu" or None, not {device!r}')


def _dtype_of(dtype):
    return Mtl.DType(_mtl.dtype_from(dtype))


def empty(shape, dtype="float32", device=None):
    """A new tensor whose elements have any values. The shape is an integer or a sequence of them.
    The dtype may be a name or a type of NumPy or Python. A device of None is the default device;
    "cpu" is the host."""
    return Mtl.StridedView.new_empty(_device_of(device), dtype, _shape_of(shape))


def zeros(shape, dtype="float32", device=None):
    """A new tensor of zeros. The arguments are those of empty()."""
    return Mtl.StridedView.new_zeros(_device_of(device), dtype, _shape_of(shape))


def full(shape, fill_value, dtype="float32", device=None):
    """A new tensor whose elements are all fill_value: a number that the dtype holds exactly or
    rounded. The other arguments are those of empty()."""
    result = empty(shape, dtype, device)
    result.fill(fill_value)
    return result


def ones(shape, dtype="float32", device=None):
    """A new tensor of ones. The arguments are those of empty()."""
    return full(shape, 1, dtype, device)


def array(values, dtype=None, device=None):
    """A new tensor with a copy of the values: numbers in nested lists or tuples, or anything that
    asview() takes. Without a dtype it has that of asview(). The device is that of empty()."""
    source = view_of_values(values)
    dtype = source.dtype if dtype is None else _dtype_of(dtype)
    if source.get_lanes() != 1:
        source = source.to_dtype(source.dtype)  # an axis of the lanes
    result = Mtl.StridedView.new_empty(_device_of(device), dtype, source.shape)
    if is_literal(values) and result.dtype != source.dtype:
        result[...] = values  # refuses numbers that the type cannot hold
    else:
        result.copy_from(source)
    return result


# Elements that are made at a time.
_PIECE = 2**18


def _counted(start, stop, step):
    """How many numbers there are from start to before stop, a function that gives some of them,
    and their letter for the array module."""
    if all(isinstance(number, int) for number in (start, stop, step)):
        numbers = range(start, stop, step)
        bounds = (numbers[0], numbers[-1]) if numbers else (0,)
        code = "q" if max(bounds) < 2**63 else "Q"
        _array.array(code, bounds)  # raises an OverflowError
        return len(numbers), lambda first, end: numbers[first:end], code

    distance = (start + step) - start  # rounded as in NumPy
    n = max(0, math.ceil((stop - start) / step))
    return n, lambda first, end: (start + i * distance for i in range(first, min(end, n))), "d"


def arange(start, stop=None, step=1, dtype="float32", device=None):
    """A new tensor of one dimension with the numbers from start to before stop, or from 0 to before
    the only argument. Integers are exact if the dtype holds them."""
    if stop is None:
        start, stop = 0, start
    start, stop, step = map(_number, (start, stop, step))
    if step == 0:
        raise ValueError("the step of arange() is 0")
    n, numbers, code = _counted(start, stop, step)
    result = empty(n, dtype, device)
    for first in range(0, n, _PIECE):
        piece = _array.array(code, numbers(first, first + _PIECE))
        result[first:first + len(piece)] = view_of_values(piece)
    return result


def _number(value):
    """An int or a float, for any other kind of number, too."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{value!r} is not a number")
    try:
        return operator.index(value)
    except TypeError:
        return float(value)

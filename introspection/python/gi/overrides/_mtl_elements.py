# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of NumPy's that cannot be viewed: why not, and elements of theirs that can be. NumPy has
far more types and layouts than the library."""

import math
import sys
from typing import NamedTuple

from ..module import get_introspection_module
from . import _mtl
from ._mtl_array_interface import array_of, view_of_interface

DType = get_introspection_module("Mtl").DType

# Kinds of elements, by NumPy's letters.
_NO_NUMBERS = {"U": "text", "T": "text", "S": "byte strings", "V": "bytes without a type",
               "M": "dates", "m": "durations"}


class Obstacle(NamedTuple):
    reason: str
    advice: str  # the call to type instead
    dtype: object  # NumPy's type that the elements can have instead, if they are numbers


def is_array(x):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ndarray)


def _array_of_number(numpy, x):
    return numpy.asarray(x) if isinstance(x, numpy.generic) else None


def _array_of_itself(numpy, x):
    return array_of(x)


def _array_of_buffer(numpy, x):
    memory = memoryview(x)
    # NumPy does not check an exporter's sizes.
    if memory.suboffsets or math.prod(memory.shape) * memory.itemsize != memory.nbytes:
        return None
    if memory.format in ("<g", ">g"):  # formats of ctypes, which NumPy only knows as "g"
        return numpy.frombuffer(memory, numpy.dtype(memory.format)).reshape(memory.shape)
    return numpy.asarray(memory)


def _array_of_interface(numpy, x):
    """An array of the bytes, which are checked, as elements of NumPy's type."""
    interface = x.__array_interface__
    dtype, shape, strides = numpy.dtype(interface["typestr"]), interface["shape"], None
    if interface.get("strides") is not None:
        strides = (*interface["strides"], 1)
    of_bytes = {**interface, "typestr": "|u1", "shape": (*shape, dtype.itemsize),
                "strides": strides}
    return numpy.asarray(view_of_interface(x, of_bytes)).view(dtype)[..., 0]


def array_for(x):
    """An array of the elements that x shares, if possible of the same memory, or None."""
    if is_array(x):
        return x
    if isinstance(x, type):
        return None
    for make in (_array_of_number, _array_of_buffer, _array_of_interface, _array_of_itself):
        try:
            import numpy

            array = make(numpy, x)
        except Exception:
            continue
        if array is not None:
            return array
    return None


def _of_no_numbers(dtype):
    if dtype.names:
        return Obstacle("its elements are records", f"x[{dtype.names[0]!r}] is one of their fields",
                        None)
    advice = "x.tobytes() gives their bytes"
    if dtype.kind in "mM":
        advice = "x.astype('int64') counts them in units of their type"
    if dtype.kind in "UT":
        advice = "x.astype(float) reads numbers from it"
    return Obstacle(f"its elements are {_NO_NUMBERS.get(dtype.kind, 'no numbers')}", advice, None)


def _is_known(dtype):
    try:
        DType.from_string(dtype.name)
    except (ValueError, NotImplementedError):
        return False
    return True


def _nearest_type(dtype):
    """A type that the library has, and that holds all numbers of the native type of NumPy's, or
    nearly so."""
    import numpy

    if dtype.char in "gG":
        return numpy.dtype("float64" if dtype.char == "g" else "complex128")
    if dtype.isbuiltin == 2 and not _is_known(dtype):
        for name in ("int8", "uint8", "float32", "complex64"):
            if numpy.can_cast(dtype, name):
                return numpy.dtype(name)
        return None
    return dtype


def find_obstacle(array):
    """Why the library cannot view the array, which is called x. Returns None if it can, as far as
    the type and the layout tell."""
    dtype = array.dtype
    if dtype.names is not None or dtype.kind in _NO_NUMBERS and dtype.isbuiltin != 2:
        return _of_no_numbers(dtype)
    if dtype.kind == "O":
        return Obstacle("its elements are Python's objects", "Mtl.array(x) copies them if they are "
                        "numbers", None)

    native = dtype.newbyteorder("=")
    nearest = _nearest_type(native)
    if nearest != native:
        advice = f"x.astype({getattr(nearest, 'name', 'dtype')!r}) converts them"
        return Obstacle(f"the library has no type {dtype.name}", advice, nearest)
    if not dtype.isnative:
        return Obstacle("its elements do not have this machine's byte order",
                        "x.astype(x.dtype.newbyteorder('=')) swaps them", native)
    for extent, stride in zip(array.shape, array.strides):
        if extent > 1 and stride % array.itemsize:
            return Obstacle(f"its elements lie {stride} bytes apart, not a multiple of "
                            f"their {array.itemsize} bytes", "x.copy() lies densely", native)
    return None


def viewable_array(array):
    """An array of the same elements that can be viewed, or None: a copy, whose numbers may be
    rounded to the nearest type that the library has."""
    obstacle = find_obstacle(array)
    dtype = array.dtype if obstacle is None else obstacle.dtype
    return None if dtype is None else array.astype(dtype, order="C", subok=False)


def view_of_objects(array):
    """A view of a copy of Python's numbers in an array, as of those in lists."""
    view = _mtl.from_numbers(array.ravel().tolist())
    if view.ndim != 1:
        raise TypeError("an array of Python's objects must hold numbers, not sequences")
    return view.reshape(array.shape)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""NumPy's protocols that are older than buffers and DLPack, in both directions:
https://numpy.org/doc/stable/reference/arrays.interface.html"""

import operator
import sys

from ..module import get_introspection_module
from . import _mtl

Mtl = get_introspection_module("Mtl")

StridedLayout = Mtl.StridedLayout
StridedView = Mtl.StridedView

# NumPy has a code for these types, which tells them apart: of DLPack's kinds, signed and unsigned
# integers, floats, complex numbers and truth values.
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_SIZES = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16), "b": (1,)}
_ORDER = "<" if sys.byteorder == "little" else ">"

_CODES = {kind << 8 | 8 * size: f"{_ORDER if size > 1 else '|'}{letter}{size}"
          for kind, letter in _KINDS.items() for size in _SIZES[letter]}
_NUMBERS = {code: number for number, code in _CODES.items()}

# The address of views without elements. Older versions of NumPy take an address of 0
# for a mistake.
_ANYWHERE = 64


# The interface of views


def code_of(view):
    """NumPy's code for the elements of a view, or None."""
    return _CODES.get(int(view.dtype)) if view.get_lanes() == 1 else None


def _get_array_interface(self):
    """Describes the memory to consumers without the buffer protocol. Only views of NumPy's own
    types in host memory have it."""
    code = code_of(self)
    if code is None or not self.is_host_accessible():
        raise AttributeError("only views of NumPy's own element types in host memory have "
                             "__array_interface__")
    _mtl.await_work(self)
    size = self.itemsize
    strides = None if self.is_contiguous(Mtl.Order.C) else tuple(
        size * stride for stride in self.strides)
    return {"version": 3, "shape": self.shape, "typestr": code, "descr": [("", code)],
            "strides": strides, "data": (self.get_address() or _ANYWHERE, self.is_read_only())}


# The interface of other objects


def _number_of(interface):
    """The number of the element type in Mtl.DType: the kind, and the bits."""
    code = interface["typestr"]
    if not isinstance(code, str):
        raise TypeError(f"the typestr must be a str, not {type(code).__name__}")
    # The order of single bytes does not matter.
    number = _NUMBERS.get(f"|{code[1:]}" if code[2:] == "1" else code)
    if number is None:
        raise ValueError(f"elements of type {code!r} cannot be viewed: the known ones are "
                         + ", ".join(_NUMBERS))
    return number


def _layout_of(interface, itemsize):
    shape, strides = interface["shape"], interface.get("strides")
    if not isinstance(shape, tuple) or not (strides is None or isinstance(strides, tuple)):
        raise TypeError("the shape and the strides must be tuples")
    return StridedLayout(shape, strides and _in_elements(shape, strides, itemsize), itemsize)


def _in_elements(shape, strides, itemsize):
    if len(strides) != len(shape):
        raise ValueError(f"{len(strides)} strides for {len(shape)} dimensions")
    result = []
    for axis, (extent, stride) in enumerate(zip(shape, map(operator.index, strides))):
        # The stride of an axis with a single index, or of an empty array, can be any
        # number.
        if extent == 1 or 0 in shape:
            stride = itemsize
        if stride % itemsize:
            raise ValueError(f"the stride of {stride} bytes of axis {axis} is not a multiple of an "
                             f"element of {itemsize} bytes")
        result.append(stride // itemsize)
    return result


def _memory_at(address, n_bytes, is_read_only, owner):
    """A buffer of the memory, which keeps the owner."""
    import ctypes

    if n_bytes > 0 and not 0 < address <= 2 * sys.maxsize + 2 - n_bytes:
        raise ValueError(f"{n_bytes} bytes do not fit at the address {address:#x}")
    memory = (ctypes.c_ubyte * n_bytes).from_address(address if n_bytes else 0)
    memory.owner = owner
    return memoryview(memory).toreadonly() if is_read_only else memory


def element_of(number):
    """DLPack's code and bits."""
    return number >> 8, number & 0xff


def _view_of_bytes(memory, number, layout, start):
    return _mtl.from_memory(memory, (*element_of(number), 1, False), layout.shape,
                            layout.strides, start)


def _view_of_pointer(owner, interface, number, layout):
    address, is_read_only = interface["data"]
    first, last = (0, -1) if layout.is_empty() else layout.get_offset_bounds()
    start = first * layout.itemsize
    memory = _memory_at(operator.index(address) + start, (last + 1) * layout.itemsize - start,
                        is_read_only, owner)
    return _view_of_bytes(memory, number, layout, -start)


def describe(interface):
    """The element type and the layout of an interface."""
    if not isinstance(interface, dict):
        raise TypeError(f"it must be a dict, not {type(interface).__name__}")
    if interface.get("mask") is not None:
        raise ValueError("elements behind a mask cannot be viewed")
    number = _number_of(interface)
    return number, _layout_of(interface, (number & 0xff) // 8)


def _view_of(x, interface):
    number, layout = describe(interface)
    data = interface.get("data")
    if isinstance(data, tuple) and len(data) == 2:
        return _view_of_pointer(x, interface, number, layout)
    start = operator.index(interface.get("offset", 0))
    return _view_of_bytes(x if data is None else data, number, layout, start)


def view_of_interface(x, interface):
    """A view of what x.__array_interface__ describes: memory at an address, or a buffer. Its
    mistakes are reported like those of other exporters."""
    try:
        return _view_of(x, interface)
    except KeyError as error:
        raise BufferError(f"__array_interface__ of {type(x).__name__} has no "
                          f"{error.args[0]!r}") from None
    except (BufferError, IndexError, NotImplementedError, OverflowError, TypeError,
            ValueError) as error:
        raise BufferError(f"__array_interface__ of {type(x).__name__}: {error}") from error


def array_of(x):
    """The array of NumPy's that x.__array__() returns."""
    array = x.__array__()
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray):
        raise TypeError(f"{type(x).__name__}.__array__() must return a NumPy array, not "
                        f"{type(array).__name__}")
    return array


def install():
    StridedView.__array_interface__ = property(_get_array_interface)

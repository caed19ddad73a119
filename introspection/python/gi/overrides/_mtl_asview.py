# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes views of other objects: arrays, buffers, nested sequences of numbers."""

import numbers

from gi.repository import GLib

from ..module import get_introspection_module
from . import _mtl
from ._mtl_array_interface import array_of, view_of_interface
from ._mtl_nested import has_parts, listed, view_of_parts

Mtl = get_introspection_module("Mtl")

DType = Mtl.DType
StridedView = Mtl.StridedView


def _is_of_extension_type(x):
    """Returns whether x is an array of a type that another package adds to NumPy, such as
    ml_dtypes. NumPy exports these neither through DLPack nor as buffers."""
    return getattr(getattr(x, "dtype", None), "isbuiltin", None) == 2


def _view_of_extension_type(array):
    """Views the bytes of the array. Elements of fewer than 8 bits have a byte each."""
    dtype = DType.from_string(array.dtype.name)
    view = _mtl.from_buffer(array.view(f"u{array.itemsize}"))
    return StridedView.new(view.get_buffer(), view.dup_layout(), dtype, view.get_byte_offset())


def is_literal(x):
    """Whether it is a number or a nested sequence of numbers of Python's."""
    return isinstance(x, (list, tuple, bool, int, float, complex))


def asview(x, dtype=None):
    """A view of the memory that x exports through DLPack or the buffer
    protocol, without a copy. If x is a number, or a nested sequence of numbers
    or arrays, or an iterable of them, a view of a copy in host memory. NumPy
    arrays of the types of ml_dtypes, GLib.Bytes, and objects with
    __array_interface__ or __array__ work as well.

    With a dtype, elements of another type are converted into a copy."""
    if dtype is None:
        return _asview(x)
    x = listed(x)
    if is_literal(x):
        return _view_of_literal(x, dtype)
    return _asview(x).astype(dtype, copy=False)


def _view_of_literal(x, dtype):
    """Refuses numbers that the type cannot hold."""
    return _view_of_nested(x, _mtl.dtype_from(dtype))


def _view_of_nested(x, *dtype):
    try:
        return _mtl.from_numbers(x, *dtype)
    except (TypeError, ValueError) as error:
        view = view_of_nested_parts(x, *dtype)
        if view is None:
            raise error
        return view


def view_of_nested_parts(x, dtype=None):
    """Returns None if x only holds numbers, or what is none."""
    if not isinstance(x, (list, tuple)) or not has_parts(x):
        return None
    return view_of_parts(x, dtype if dtype is None else DType(dtype), _view_of_part)


def _view_of_part(x, dtype):
    """Numbers have to fit a dtype. Arrays are only converted where they are copied."""
    if dtype is not None and is_literal(x):
        return _view_of_literal(x, dtype)
    return view_of_values(x)


def view_of_assigned(x, dtype):
    """What is assigned to a view. Numbers from an iterable have to fit the type."""
    if not hasattr(type(x), "__dlpack__"):
        items = listed(x)
        if items is not x:
            return _view_of_literal(items, dtype)
    return view_of_values(x)


def _asview(x):
    if isinstance(x, StridedView):
        return x
    if is_literal(x):
        return _view_of_nested(x)
    if hasattr(type(x), "__dlpack__"):
        try:
            return _mtl.from_dlpack(x)
        except BufferError as error:
            # For example, older producers can only export read-only memory
            # through the buffer protocol.
            try:
                if _is_of_extension_type(x):
                    return _view_of_extension_type(x)
                return _mtl.from_buffer(x)
            except (TypeError, BufferError):
                raise error from None
    try:
        return _mtl.from_buffer(x)
    except TypeError:
        pass
    return _view_of_other(x)


def _view_of_other(x):
    """A view of what exports neither DLPack nor a buffer."""
    if isinstance(x, numbers.Number):
        return _mtl.from_numbers(x)
    if _is_of_extension_type(x):  # a number, as arrays have DLPack
        return _view_of_extension_type(x)
    if isinstance(x, GLib.Bytes):
        return StridedView.new_from_bytes(x, DType.UINT8, [x.get_size()], None)
    if not isinstance(x, type):
        interface = getattr(x, "__array_interface__", None)
        if interface is not None:
            return view_of_interface(x, interface)
        if hasattr(x, "__array__"):
            return _asview(array_of(x))
    items = listed(x)
    if items is not x:
        return _view_of_nested(items)
    raise TypeError(f"{type(x).__name__} exports neither DLPack nor a buffer, and is not a number "
                    "or a nested list or tuple of numbers")


def view_of_values(x):
    """Like asview(), for a caller that only reads the elements: those that x has not computed yet
    are in a copy."""
    return asview(_mtl.resolve_lazy(x))

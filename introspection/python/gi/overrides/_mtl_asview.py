# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes views of other objects: arrays, buffers, nested sequences of numbers."""

import numbers
import sys

from gi.repository import GLib

from ..module import get_introspection_module
from . import _mtl
from ._mtl_array_interface import array_of, view_of_interface
from ._mtl_cuda import view_of_cuda_interface
from ._mtl_elements import (array_for, find_obstacle, is_array, view_of_objects,
                            viewable_array)
from ._mtl_nested import has_parts, listed, view_of_parts

Mtl = get_introspection_module("Mtl")

DType = Mtl.DType
StridedView = Mtl.StridedView


def _view_of_extension_type(x):
    """Views the bytes of an array of a type that another package adds to NumPy, such as ml_dtypes.
    NumPy exports these neither through DLPack nor as buffers. Elements of fewer than 8 bits have a
    byte each."""
    dtype = getattr(x, "dtype", None)
    if getattr(dtype, "isbuiltin", None) != 2 or not dtype.isnative:
        return None
    view = _mtl.from_buffer(x.view(f"u{x.itemsize}"))
    return StridedView.new(view.get_buffer(), view.layout, DType.from_string(dtype.name),
                           view.get_byte_offset())


def is_literal(x):
    """Checks for Python's own numbers, and nested sequences that may hold them."""
    return isinstance(x, (list, tuple, bool, int, float, complex))


def asview(x, dtype=None):
    """A view of the memory that x exports through DLPack or the buffer
    protocol, without a copy. If x is a number, or a nested sequence of numbers
    or arrays, or an iterable of them, a view of a copy in host memory. NumPy
    arrays of the types of ml_dtypes, GLib.Bytes, and objects with
    __array_interface__, __cuda_array_interface__ or __array__ work as well.

    With a dtype, elements of another type are converted into a copy."""
    if dtype is None:
        return _asview(x)
    x = listed(x)
    if is_literal(x):
        return _view_of_literal(x, dtype)
    return view_of_values(x).astype(dtype, copy=False)


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
    """Returns None if x only holds numbers, or is no sequence."""
    if not isinstance(x, (list, tuple)) or not has_parts(x):
        return None
    return view_of_parts(x, dtype if dtype is None else DType(dtype), _view_of_part)


def _view_of_part(x, dtype):
    """Numbers have to fit a dtype. Arrays are only converted where they are copied."""
    if dtype is not None and is_literal(x):
        return _view_of_literal(x, dtype)
    return view_of_values(x)


def view_of_assigned(x, dtype):
    """A view of a value that is assigned to a view. Numbers have to fit the type."""
    if not hasattr(type(x), "__dlpack__"):
        x = listed(x)
        if is_literal(x):
            return _view_of_literal(x, dtype)
    return view_of_values(x)


def _asview(x):
    if isinstance(x, StridedView):
        return x
    if is_literal(x):
        return _view_of_nested(x)
    if hasattr(type(x), "__dlpack__"):
        try:
            return _mtl.from_dlpack(x)
        except Exception as error:
            # Another way may work: older producers can only export read-only memory
            # through the buffer protocol.
            if _mtl.is_masked(x):
                raise
            ways = _WAYS_OF_ARRAYS if is_array(x) else _WAYS
            return _view_by(ways, x, [_reason("DLPack", error)])
    try:
        view = _mtl.from_buffer(x)
    except Exception as error:
        return _view_by(_WAYS[1:], x, [_reason("the buffer", error)])
    return _view_by(_WAYS, x, []) if view is None or hasattr(type(x), "dtype") else view


def _view_of_buffer(x):
    # NumPy exports its dates as bytes.
    if getattr(getattr(x, "dtype", None), "kind", None) in ("m", "M"):
        raise BufferError("its format is that of bytes")
    return _mtl.from_buffer(x)


def _view_of_number(x):
    # NumPy's numbers are arrays as well, and include dates.
    is_number = isinstance(x, numbers.Number) and not hasattr(x, "__array__")
    return _mtl.from_numbers(x) if is_number else None


def _view_of_bytes(x):
    if not isinstance(x, GLib.Bytes):
        return None
    return StridedView.new_from_bytes(x, DType.UINT8, [x.get_size()])


def _view_of_interface(x):
    interface = None if isinstance(x, type) else getattr(x, "__array_interface__", None)
    return None if interface is None else view_of_interface(x, interface)


def _view_of_cuda_interface(x):
    # PyTorch's does not say that numbers wait to be conjugated, nor in which stream they are made.
    if isinstance(x, type) or hasattr(type(x), "__dlpack__"):
        return None
    interface = getattr(x, "__cuda_array_interface__", None)
    return None if interface is None else view_of_cuda_interface(x, interface)


def _view_of_array(x):
    # Arrays on a GPU would be copied to the host.
    if isinstance(x, type) or not hasattr(x, "__array__") or hasattr(x, "__cuda_array_interface__"):
        return None
    return _asview(array_of(x))


# The ways in which x may share its memory, beside DLPack. Each returns None if it is not for x.
_WAYS = (("the buffer", _view_of_buffer), ("the number", _view_of_number),
         ("the extension type", _view_of_extension_type), ("the bytes", _view_of_bytes),
         ("__array_interface__", _view_of_interface),
         ("__cuda_array_interface__", _view_of_cuda_interface), ("__array__", _view_of_array))
# The other ways lead to NumPy's arrays themselves.
_WAYS_OF_ARRAYS = tuple(way for way in _WAYS if not way[0].startswith("__array"))


# The exceptions with which exporters say that they share no memory.
_REFUSALS = (BufferError, NotImplementedError, TypeError, ValueError)


def _view_by(ways, x, reasons):
    """Returns the view of x that the first of the ways makes. If an exporter raises anything, the
    next way is tried. `reasons` are those for which others did not work: texts, as an exception
    would keep x."""
    for i, (name, view_of) in enumerate(ways):
        try:
            view = view_of(x)
        except Exception as error:
            # Still handling the exception, so that it is the context of the next one.
            return _view_by(ways[i + 1:], x, [*reasons, _reason(name, error)])
        if view is not None:
            return view
    if reasons:
        error = sys.exc_info()[1]
        if len(reasons) == 1 and not isinstance(error, _REFUSALS):
            raise error  # the exporter's own message says most
        raise _refusal(x, reasons) from error
    items = listed(x)
    if items is not x:
        return _view_of_nested(items)
    raise TypeError(f"{type(x).__name__} exports neither DLPack nor a buffer, and is not a number "
                    "or a nested list or tuple of numbers")


def _reason(name, error):
    return name, str(error) or type(error).__name__, type(error)


def _refusal(x, reasons):
    """One exception for all ways that failed. That of the buffer says most about the elements, and
    that of DLPack least. A type that the library lacks is a ValueError, as everywhere."""
    order = ["the extension type", *(name for name, _ in _WAYS), "DLPack"]
    reasons = sorted(reasons, key=lambda reason: order.index(reason[0]))
    told = {text: name for name, text, _ in reversed(reasons)}
    ways = "; ".join(f"{name}: {text}" for text, name in reversed(told.items()))
    errors = [error for *_, error in reasons[:1 if reasons[0][0] == order[0] else None]]
    kind = next((kind for kind in _REFUSALS
                 if all(issubclass(error, kind) for error in errors)), BufferError)
    advice = _advice(x)
    return kind(f"{_subject(x)} cannot be viewed: " + (f"{advice} ({ways})" if advice else ways))


def _subject(x):
    dtype = getattr(x, "dtype", None)
    return f"{type(x).__name__}{'' if dtype is None else f' of {dtype}'}"


def _advice(x):
    """The true reason, and what to type, for NumPy's arrays."""
    obstacle = find_obstacle(x) if is_array(x) else None
    if obstacle is None:
        return ""
    copy = "" if obstacle.dtype is None else ", or Mtl.array(x) copies the elements"
    return f"{obstacle.reason}. {obstacle.advice}{copy}."


def view_of_values(x):
    """Like asview(), for a caller that only reads the elements. Elements that
    cannot be viewed are copied: those that x has not computed yet, and those in types and layouts
    that only NumPy has."""
    x = _mtl.resolve_lazy(x)
    try:
        return _asview(x)
    except Exception:
        view = None if is_literal(x) else _view_of_copy(x)
        if view is None:
            raise
        return view


def _view_of_copy(x):
    """Returns None if NumPy cannot make the elements, or if some are masked."""
    array = None if _mtl.is_masked(x) else array_for(x)
    if array is None or _mtl.is_masked(array):
        return None
    if array is not x:
        try:
            return view_of_values(array)
        except BufferError:
            return None  # the reasons for refusing x itself say more
    if array.dtype.kind == "O":
        return view_of_objects(array)
    copy = viewable_array(array)
    return None if copy is None else _asview(copy)

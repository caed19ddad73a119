# SPDX-License-Identifier: LGPL-2.1-or-later
"""Indexing with lists, arrays and truth values, which NumPy does. The elements are only moved, so
NumPy need not have their type."""

from ..module import get_introspection_module
from . import _mtl
from ._mtl_asview import asview, view_of_values
from ._mtl_elements import is_array
from ._mtl_nested import has_elements
from ._mtl_numpy import array_of, check_reachable, import_numpy, is_packed

Mtl = get_introspection_module("Mtl")

DType = Mtl.DType
StridedView = Mtl.StridedView

# The type holds all packed types exactly.
_UNPACKED = DType.FLOAT32


def _as_type(view, dtype):
    """The same bytes as elements of another type, of as many bits or fewer."""
    result = StridedView.new(view.get_buffer(), view.layout, dtype, view.get_byte_offset())
    return result.as_read_only() if view.is_read_only() else result


def _array_to_index(view):
    """An array of the same memory, of integers if NumPy lacks the type."""
    numpy = import_numpy()
    check_reachable(view)
    try:
        return numpy.asarray(memoryview(view))
    except BufferError:
        if view.get_lanes() != 1 or view.itemsize not in (1, 2, 4, 8):
            raise NotImplementedError("NumPy cannot index elements of several lanes: "
                                      "view.to_dtype(view.dtype) has an axis of them") from None
        return numpy.asarray(_as_type(view, DType.from_string(f"uint{8 * view.itemsize}")))


def _part_for_numpy(part):
    if part is None or isinstance(part, (list, int, slice)):
        return part
    if isinstance(part, StridedView):
        array = array_of(part)
    elif is_array(part) and not _mtl.is_masked(part):
        array = part
    elif has_elements(part):
        array = array_of(view_of_values(part))
    else:
        return part
    # NumPy counts only with its own integers.
    is_integer = array.dtype.isbuiltin == 2 and "int" in array.dtype.name
    return array.astype("int64") if is_integer else array


def _key_for_numpy(key):
    return tuple(map(_part_for_numpy, key if isinstance(key, tuple) else (key,)))


def elements_at(view, key):
    """A view of a copy of the elements."""
    if is_packed(view):
        return elements_at(view.to_dtype(_UNPACKED), key).to_dtype(view.dtype)
    result = asview(import_numpy().asarray(_array_to_index(view)[_key_for_numpy(key)]))
    return result if result.dtype == view.dtype else _as_type(result, view.dtype)


def assign_at(view, key, values):
    """Converts the values as other assignments do."""
    key = _key_for_numpy(key)
    if view.is_read_only():
        raise ValueError(f"The view of shape {view.shape} is read-only")
    if is_packed(view):
        unpacked = view.to_dtype(_UNPACKED)
        assign_at(unpacked, key, values)
        view.copy_from(unpacked)
        return
    array = _array_to_index(view)
    converted = import_numpy().empty(values.shape, array.dtype)
    _as_type(asview(converted), view.dtype).copy_from(values)
    array[key] = converted

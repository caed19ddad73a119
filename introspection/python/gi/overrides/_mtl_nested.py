# SPDX-License-Identifier: LGPL-2.1-or-later
"""Iterables, and nested sequences that hold arrays, which are stacked."""

import numbers
import sys
from collections.abc import Iterable, Mapping

from gi.repository import GLib

from ..module import get_introspection_module

Mtl = get_introspection_module("Mtl")

StridedView = Mtl.StridedView

_MAX_DIMS = 64
_NO_SEQUENCES = str, Mapping, set, frozenset
_PROTOCOLS = ("__dlpack__", "__array_interface__", "__array__")


def _is_buffer(x):
    try:
        memoryview(x)
    except TypeError:
        return False
    except (BufferError, ValueError):
        pass
    return True


def has_elements(x):
    """Checks if x shares elements, in one way or another, as arrays do."""
    return not isinstance(x, type) and (any(hasattr(x, name) for name in _PROTOCOLS)
                                        or _is_buffer(x))


def listed(x):
    """A list of the items of a range, a generator or the like. All else is returned as it is."""
    if isinstance(x, (*_NO_SEQUENCES, list, tuple, GLib.Bytes)) or not isinstance(x, Iterable):
        return x
    return x if has_elements(x) else list(x)


def has_parts(items, depth=0):
    """Checks whether the nested list or tuple holds arrays or iterables, not only numbers."""
    return depth < _MAX_DIMS and any(
        has_parts(item, depth + 1) if isinstance(item, (list, tuple)) else _is_part(item)
        for item in items)


def _is_part(item):
    numpy = sys.modules.get("numpy")
    # Dates, for example, have the protocols too.
    is_scalar = numpy is not None and isinstance(item, numpy.generic)
    if is_scalar or isinstance(item, (*_NO_SEQUENCES, numbers.Number, bytes)):
        return False
    return isinstance(item, Iterable) or any(hasattr(item, name) for name in _PROTOCOLS)


def _common_type(views):
    types = {int(view.dtype): view.dtype for view in views}
    if len(types) == 1:
        return views[0].dtype
    names = ", ".join(dtype.name for dtype in types.values())
    try:
        import numpy

        return Mtl.DType(numpy.result_type(*(dtype.dtype for dtype in types.values())))
    except (ImportError, TypeError, ValueError, NotImplementedError):
        raise TypeError(f"the items are of the types {names}: choose one with dtype") from None


def view_of_parts(items, dtype, view_of):
    """A new view in host memory with the parts one after another along a first axis. `view_of`
    makes a view of each, for a dtype. Without a dtype it is what NumPy makes of the parts'
    types."""
    items = [listed(item) for item in items]
    views = [view_of(item, dtype) for item in items]
    views = [view if view.get_lanes() == 1 else view.to_dtype(view.dtype) for view in views]
    for i, view in enumerate(views):
        if view.shape != views[0].shape:
            raise ValueError(f"the items have different shapes: that at {i} has {view.shape}, and "
                             f"that at 0 {views[0].shape}")
    result = StridedView.new_uninitialized(Mtl.Device.get_host(),
                                                   _common_type(views) if dtype is None else dtype,
                                                   (len(views), *views[0].shape))
    for i, (item, view) in enumerate(zip(items, views)):
        # Numbers have to fit the type.
        is_literal = isinstance(item, (numbers.Number, list, tuple))
        result[i] = item if is_literal and not (view.ndim and has_parts(item)) else view
    return result

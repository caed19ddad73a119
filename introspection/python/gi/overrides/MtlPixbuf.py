# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts MtlPixbuf to Python: exceptions, and arrays as arguments."""

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from .Mtl import raising

MtlPixbuf = get_introspection_module("MtlPixbuf")

__all__ = ["view_from_pixbuf", "pixbuf_from_view"]

_pixbuf_from_view = raising(MtlPixbuf.pixbuf_from_view)

view_from_pixbuf = raising(MtlPixbuf.view_from_pixbuf)


def pixbuf_from_view(view):
    """A pixbuf that shares the memory of a view, or of anything else that Mtl.asview() takes,
    without a copy. Arrays that cannot be viewed, such as big-endian ones, are copied."""
    return _pixbuf_from_view(view_of_values(view))

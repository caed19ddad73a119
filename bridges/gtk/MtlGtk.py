# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts MtlGtk to Python: exceptions, arguments that can be left out, names and arrays as
arguments, and results that can be awaited."""

from gi.repository import Gdk, cairo

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from ._mtl_defaults import set_all_defaults
from .Mtl import asview, make_pythonic, name_functions

MtlGtk = get_introspection_module("MtlGtk")

__all__ = ["memory_format_from_pixel", "pixel_from_memory_format"]

ViewPaintable = MtlGtk.ViewPaintable

# The first time, PyGObject fails if the typelib has formats that Cairo does not register. From
# then on it has the others.
try:
    cairo.Format
except ValueError:
    pass

# The elements of a surface, or of a picture that is shown, may be written later: no copy.
make_pythonic(MtlGtk, {"StridedView": view_of_values},
              dict.fromkeys(("check_surface", "surface_from_view"), {"StridedView": asview}))

_memory_format_from_pixel = MtlGtk.memory_format_from_pixel
_pixel_from_memory_format = MtlGtk.pixel_from_memory_format


def memory_format_from_pixel(dtype, channels, flags):
    """The Gdk.MemoryFormat for pixels of a view of shape (height, width, channels)."""
    return _memory_format_from_pixel(dtype, channels, flags)[1]


def pixel_from_memory_format(format):
    """The element type and the channels that a Gdk.MemoryFormat stands for, and the TextureFlags:
    PREMULTIPLIED if the colors are multiplied by the opacity."""
    return tuple(_pixel_from_memory_format(format))[1:]


if hasattr(MtlGtk, "view_from_dmabuf"):  # only Linux has it
    _texture_from_dmabuf = MtlGtk.texture_from_dmabuf
    _view_from_dmabuf = MtlGtk.view_from_dmabuf

    def _fd_of(file):
        return file.fileno() if hasattr(file, "fileno") else file

    def texture_from_dmabuf(display, fd, offset, layout, fourcc, flags):
        """A texture of a DMA-BUF, given by its file descriptor or an object with one, without a
        copy. The format of the pixels is a number, or its four letters, such as "XR24"."""
        if isinstance(fourcc, str):
            fourcc = int.from_bytes(fourcc.encode("ascii"), "little")
        return _texture_from_dmabuf(display, _fd_of(fd), offset, layout, fourcc, flags)

    def view_from_dmabuf(fd, offset, layout, dtype, flags):
        """A view of a DMA-BUF, given by its file descriptor or an object with one, without a copy.
        Pass Mtl.BufferFlags.NONE to write to it. Close the view before a device uses the DMA-BUF
        again."""
        return _view_from_dmabuf(_fd_of(fd), offset, layout, dtype, flags)

    __all__ += ["texture_from_dmabuf", "view_from_dmabuf"]

set_all_defaults("MtlGtk", globals())


# Paintables

_init = ViewPaintable.__init__


def _paintable_init(self, *, view=None, colors=None, **properties):
    """A paintable with these properties. The view and the colors can be anything that
    Mtl.asview() takes."""
    if view is not None:
        properties["view"] = asview(view)
    if colors is not None:
        properties["colors"] = view_of_values(colors)
    _init(self, **properties)


def _rectangle_of(rectangle):
    """A Gdk.Rectangle of (x, y, width, height), or what was given."""
    if not isinstance(rectangle, (tuple, list)):
        return rectangle
    result = Gdk.Rectangle()
    result.x, result.y, result.width, result.height = rectangle
    return result


make_pythonic(ViewPaintable, {"StridedView": view_of_values, "Rectangle": _rectangle_of},
              {"set_view": {"StridedView": asview}})
ViewPaintable.__init__ = _paintable_init
name_functions(ViewPaintable)

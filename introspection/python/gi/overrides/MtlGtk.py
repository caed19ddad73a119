# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts MtlGtk to Python: exceptions, arguments that can be left out, names and arrays as
arguments, and results that can be awaited."""

from gi.repository import Gdk, cairo

from ..module import get_introspection_module
from ._mtl_async import begin, document, without_progress
from ._mtl_asview import view_of_values
from ._mtl_defaults import member, set_all_defaults
from .Mtl import asview, name_functions, raising

MtlGtk = get_introspection_module("MtlGtk")

__all__ = ["check_surface", "colorize", "colorize_async", "colorize_finish",
           "colorize_with_colors", "colorize_with_colors_async", "colorize_with_colors_finish",
           "download_texture", "download_texture_async", "download_texture_finish",
           "memory_format_from_pixel", "pixel_from_memory_format", "surface_from_view",
           "texture_from_view", "view_from_surface", "view_from_texture",
           "view_from_texture_plane"]

Channels = MtlGtk.Channels
ColorMap = MtlGtk.ColorMap
TextureFlags = MtlGtk.TextureFlags
ViewPaintable = MtlGtk.ViewPaintable

# The first time, PyGObject fails if the typelib has formats that Cairo does not register. From
# then on it has the others.
try:
    cairo.Format
except ValueError:
    pass

_colorize = raising(MtlGtk.colorize)
_colorize_async = raising(MtlGtk.colorize_async)
_colorize_with_colors = raising(MtlGtk.colorize_with_colors)
_colorize_with_colors_async = raising(MtlGtk.colorize_with_colors_async)
_download_texture = raising(MtlGtk.download_texture)
_download_texture_async = raising(MtlGtk.download_texture_async)
_memory_format_from_pixel = raising(MtlGtk.memory_format_from_pixel)
_pixel_from_memory_format = raising(MtlGtk.pixel_from_memory_format)
_check_surface = raising(MtlGtk.check_surface)
_surface_from_view = raising(MtlGtk.surface_from_view)
_texture_from_view = raising(MtlGtk.texture_from_view)

colorize_finish = raising(MtlGtk.colorize_finish)
colorize_with_colors_finish = raising(MtlGtk.colorize_with_colors_finish)
download_texture_finish = raising(MtlGtk.download_texture_finish)
view_from_surface = raising(MtlGtk.view_from_surface)
view_from_texture = raising(MtlGtk.view_from_texture)
view_from_texture_plane = raising(MtlGtk.view_from_texture_plane)


# Textures


def texture_from_view(view, channels, flags):
    """A texture that shares the memory of a view, or of anything else that Mtl.asview() takes,
    without a copy. Do not write to the memory as long as the texture can be drawn. Arrays that
    cannot be viewed, such as big-endian ones, are copied."""
    return _texture_from_view(view_of_values(view), member(Channels, channels), flags)


def download_texture(texture, dtype, channels, flags, cancellable):
    """A view of a copy of the pixels of any texture. By default these are RGBA."""
    return _download_texture(texture, dtype, member(Channels, channels), flags, cancellable)


def download_texture_async(texture, dtype, channels, flags, cancellable, callback, *user_data):
    start = without_progress(_download_texture_async, texture, dtype, member(Channels, channels),
                              flags)
    return begin(start, download_texture_finish, cancellable, None, callback, user_data)


def memory_format_from_pixel(dtype, channels, flags):
    """The Gdk.MemoryFormat for pixels of a view of shape (height, width, channels)."""
    return _memory_format_from_pixel(dtype, member(Channels, channels), flags)[1]


def pixel_from_memory_format(format):
    """The element type and the channels that a Gdk.MemoryFormat stands for, and the TextureFlags:
    PREMULTIPLIED if the colors are multiplied by the opacity."""
    return tuple(_pixel_from_memory_format(format))[1:]


# Surfaces


def check_surface(view, format):
    """Raises the exception that surface_from_view() would raise, without creating a surface."""
    return _check_surface(asview(view), format)


def surface_from_view(view, format):
    """A cairo.ImageSurface that shares the memory of a view, or of anything else that Mtl.asview()
    takes, without a copy. The format is a cairo.Format."""
    return _surface_from_view(asview(view), format)


# Colors


def colorize(view, color_map, low, high, cancellable):
    """A picture of numbers: a new view of shape (height, width, 3) of red, green and blue."""
    return _colorize(view_of_values(view), member(ColorMap, color_map), low, high, cancellable)


def colorize_async(view, color_map, low, high, cancellable, callback, *user_data):
    start = without_progress(_colorize_async, view_of_values(view), member(ColorMap, color_map),
                              low, high)
    return begin(start, colorize_finish, cancellable, None, callback, user_data)


def colorize_with_colors(view, colors, low, high, cancellable):
    """A picture of numbers in colors of your own, of shape (n, 3) or (n, 4): a new view of shape
    (height, width, 3) or (height, width, 4). The colors are integers from 0 to 255 or floats from
    0 to 1, such as matplotlib.colormaps['viridis'].colors."""
    return _colorize_with_colors(view_of_values(view), view_of_values(colors), low, high,
                                 cancellable)


def colorize_with_colors_async(view, colors, low, high, cancellable, callback, *user_data):
    start = without_progress(_colorize_with_colors_async, view_of_values(view),
                              view_of_values(colors), low, high)
    return begin(start, colorize_with_colors_finish, cancellable, None, callback, user_data)


for _function in (colorize_async, colorize_with_colors_async, download_texture_async):
    document(_function)


if hasattr(MtlGtk, "view_from_dmabuf"):  # on Linux
    _texture_from_dmabuf = raising(MtlGtk.texture_from_dmabuf)
    _view_from_dmabuf = raising(MtlGtk.view_from_dmabuf)

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
_set_view = raising(ViewPaintable.set_view)
_set_color_map = raising(ViewPaintable.set_color_map)
_set_colors = raising(ViewPaintable.set_colors)
_invalidate = raising(ViewPaintable.invalidate)


def _paintable_init(self, *, view=None, colors=None, **properties):
    """A paintable with these properties. The view and the colors can be anything that
    Mtl.asview() takes."""
    if view is not None:
        properties["view"] = asview(view)
    if colors is not None:
        properties["colors"] = view_of_values(colors)
    _init(self, **properties)


def _paintable_set_view(self, view, channels, flags):
    """Shows a view, or anything else that Mtl.asview() takes, or nothing if it is None."""
    if view is not None:
        view = asview(view)
    return _set_view(self, view, member(Channels, channels), flags)


def _paintable_set_color_map(self, color_map, low, high):
    """Shows views of shape (height, width) in colors, as colorize() does."""
    return _set_color_map(self, member(ColorMap, color_map), low, high)


def _paintable_set_colors(self, colors, low, high):
    """Shows views of shape (height, width) in colors of your own, as colorize_with_colors()
    does."""
    return _set_colors(self, view_of_values(colors), low, high)


def _rectangle_of(rectangle):
    """A Gdk.Rectangle of (x, y, width, height), or what was given."""
    if not isinstance(rectangle, (tuple, list)):
        return rectangle
    result = Gdk.Rectangle()
    result.x, result.y, result.width, result.height = rectangle
    return result


def _paintable_invalidate(self, rectangle):
    """Shows what was written to the view: everywhere, or in a Gdk.Rectangle, which can be given as
    (x, y, width, height)."""
    return _invalidate(self, _rectangle_of(rectangle))


ViewPaintable.__init__ = _paintable_init
ViewPaintable.set_view = _paintable_set_view
ViewPaintable.set_color_map = _paintable_set_color_map
ViewPaintable.set_colors = _paintable_set_colors
ViewPaintable.invalidate = _paintable_invalidate
name_functions(ViewPaintable)

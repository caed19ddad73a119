# SPDX-License-Identifier: LGPL-2.1-or-later
# What the override changes. A view is made of whatever Mtl.asview() takes.
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, final

import cairo
import numpy

from gi.repository import Gdk, Gio, GObject, Mtl

_Channels: TypeAlias = Channels | str
_ColorMap: TypeAlias = ColorMap | str
_DType: TypeAlias = Mtl.DType | str | type | numpy.dtype[Any]

class _HasFileDescriptor(Protocol):
    def fileno(self) -> int: ...

class ViewPaintable(Gdk.Paintable):
    def set_view(self, view: Any, channels: _Channels = ..., flags: TextureFlags = ...) -> bool:
        """Shows a view, or nothing if it is None."""
    def set_color_map(self, color_map: _ColorMap, low: float, high: float) -> bool:
        """Shows views of shape (height, width) in colors."""
    def set_colors(self, colors: Any, low: float, high: float) -> bool:
        """Shows views of shape (height, width) in colors of your own."""
    def invalidate(self, rectangle: Gdk.Rectangle | tuple[int, int, int, int] | None = None
                   ) -> bool:
        """Shows what was written to the view, everywhere or in a rectangle."""

def texture_from_view(view: Any, channels: _Channels = ...,
                      flags: TextureFlags = ...) -> Gdk.Texture:
    """A texture that shares the memory of a view, without a copy."""

def download_texture(texture: Gdk.Texture, dtype: _DType = ..., channels: _Channels = ...,
                     flags: TextureFlags = ...,
                     cancellable: Gio.Cancellable | None = None) -> Mtl.StridedView:
    """A view of a copy of the pixels of any texture."""

def download_texture_async(texture: Gdk.Texture, dtype: _DType = ..., channels: _Channels = ...,
                           flags: TextureFlags = ..., cancellable: Gio.Cancellable | None = None,
                           callback: Callable[..., object] | None = None,
                           *user_data: object) -> Awaitable[Mtl.StridedView]:
    """Does the same as download_texture() in the background."""

def memory_format_from_channels(dtype: _DType, channels: _Channels,
                                premultiplied: bool = False) -> Gdk.MemoryFormat:
    """The Gdk.MemoryFormat for pixels of a view."""

def memory_format_to_channels(format: Gdk.MemoryFormat) -> tuple[Mtl.DType, Channels, bool]:
    """The element type, the channels, and whether the colors are multiplied by the opacity."""

def check_surface(view: Any, format: cairo.Format) -> bool:
    """Checks that surface_from_view() can share the memory of a view."""

def surface_from_view(view: Any, format: cairo.Format) -> cairo.ImageSurface:
    """A surface that shares the memory of a view, without a copy."""

def colorize(view: Any, color_map: _ColorMap, low: float, high: float,
             cancellable: Gio.Cancellable | None = None) -> Mtl.StridedView:
    """A picture of numbers."""

def colorize_async(view: Any, color_map: _ColorMap, low: float, high: float,
                   cancellable: Gio.Cancellable | None = None,
                   callback: Callable[..., object] | None = None,
                   *user_data: object) -> Awaitable[Mtl.StridedView]:
    """Does the same as colorize() in the background."""

def colorize_with_colors(view: Any, colors: Any, low: float, high: float,
                         cancellable: Gio.Cancellable | None = None) -> Mtl.StridedView:
    """A picture of numbers in colors of your own, of shape (n, 3) or (n, 4)."""

def colorize_with_colors_async(view: Any, colors: Any, low: float, high: float,
                               cancellable: Gio.Cancellable | None = None,
                               callback: Callable[..., object] | None = None,
                               *user_data: object) -> Awaitable[Mtl.StridedView]:
    """Does the same as colorize_with_colors() in the background."""

if sys.platform == "linux":
    def texture_from_dmabuf(display: Gdk.Display, fd: int | _HasFileDescriptor, offset: int,
                            layout: Mtl.StridedLayout, fourcc: int | str,
                            flags: TextureFlags = ...) -> Gdk.Texture:
        """A texture of a DMA-BUF, without a copy."""

    def view_from_dmabuf(fd: int | _HasFileDescriptor, offset: int, layout: Mtl.StridedLayout,
                         dtype: _DType, writable: bool = False) -> Mtl.StridedView:
        """A view of a DMA-BUF, without a copy."""

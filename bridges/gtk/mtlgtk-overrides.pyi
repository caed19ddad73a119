# SPDX-License-Identifier: LGPL-2.1-or-later
# The override changes more of these than make-stub.py knows.
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, final

import cairo
import numpy

from gi.repository import Gdk, Gio, GLib, GObject, Mtl

_Channels: TypeAlias = Channels | str
_ColorMap: TypeAlias = ColorMap | str
_DType: TypeAlias = Mtl.DType | str | type | numpy.dtype[Any]

class _HasFileDescriptor(Protocol):
    def fileno(self) -> int: ...

class ViewPaintable(Gdk.Paintable):
    def __init__(self, *, view: Any = None, channels: _Channels = ..., flags: TextureFlags = ...,
                 color_map: _ColorMap = ..., colors: Any = None, low: float = 0,
                 high: float = 1) -> None:
        """A paintable with these properties."""
    def invalidate(self, rectangle: Gdk.Rectangle | tuple[int, int, int, int] | None) -> bool:
        """Shows what was written to the view, everywhere or in a rectangle."""

def memory_format_from_pixel(dtype: _DType, channels: _Channels,
                             flags: TextureFlags) -> Gdk.MemoryFormat:
    """The Gdk.MemoryFormat for pixels of a view."""

def pixel_from_memory_format(
        format: Gdk.MemoryFormat) -> tuple[Mtl.DType, Channels, TextureFlags]:
    """The element type, the channels, and PREMULTIPLIED if the colors are."""

def surface_from_view(view: Any, format: cairo.Format) -> cairo.ImageSurface:
    """A surface that shares the memory of a view, without a copy."""

if sys.platform == "linux":
    def texture_from_dmabuf(display: Gdk.Display, fd: int | _HasFileDescriptor, offset: int,
                            layout: Mtl.StridedLayout, fourcc: int | str,
                            flags: TextureFlags) -> Gdk.Texture:
        """A texture of a DMA-BUF, without a copy."""

    def view_from_dmabuf(fd: int | _HasFileDescriptor, offset: int, layout: Mtl.StridedLayout,
                         dtype: _DType, flags: Mtl.BufferFlags) -> Mtl.StridedView:
        """A view of a DMA-BUF, without a copy."""

# SPDX-License-Identifier: LGPL-2.1-or-later
# The override changes more of these than make-stub.py knows.
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, final

import cairo
import numpy

from gi.repository import Gdk, Gio, GObject, Mtl

_Channels: TypeAlias = Channels | str
_DType: TypeAlias = Mtl.DType | str | type | numpy.dtype[Any]

class _HasFileDescriptor(Protocol):
    def fileno(self) -> int: ...

class ViewPaintable(Gdk.Paintable):
    def invalidate(self, rectangle: Gdk.Rectangle | tuple[int, int, int, int] | None) -> bool:
        """Shows what was written to the view, everywhere or in a rectangle."""

def memory_format_from_channels(dtype: _DType, channels: _Channels,
                                premultiplied: bool) -> Gdk.MemoryFormat:
    """The Gdk.MemoryFormat for pixels of a view."""

def memory_format_to_channels(format: Gdk.MemoryFormat) -> tuple[Mtl.DType, Channels, bool]:
    """The element type, the channels, and whether the colors are multiplied by the opacity."""

def surface_from_view(view: Any, format: cairo.Format) -> cairo.ImageSurface:
    """A surface that shares the memory of a view, without a copy."""

if sys.platform == "linux":
    def texture_from_dmabuf(display: Gdk.Display, fd: int | _HasFileDescriptor, offset: int,
                            layout: Mtl.StridedLayout, fourcc: int | str,
                            flags: TextureFlags) -> Gdk.Texture:
        """A texture of a DMA-BUF, without a copy."""

    def view_from_dmabuf(fd: int | _HasFileDescriptor, offset: int, layout: Mtl.StridedLayout,
                         dtype: _DType, writable: bool) -> Mtl.StridedView:
        """A view of a DMA-BUF, without a copy."""

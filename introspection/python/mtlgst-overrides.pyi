# SPDX-License-Identifier: LGPL-2.1-or-later
# What the override changes. A view is made of whatever Mtl.asview() takes.
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeAlias, overload

import numpy

from gi.repository import Gst, GstAudio, GstVideo, Mtl

_DType: TypeAlias = Mtl.DType | str | type | numpy.dtype[Any]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_StorageMode: TypeAlias = Mtl.StorageMode | str
_AudioInfo: TypeAlias = GstAudio.AudioInfo | Gst.Caps
_VideoInfo: TypeAlias = GstVideo.VideoInfo | Gst.Caps
_Framerate: TypeAlias = float | str | Fraction | Gst.Fraction

class Allocator:
    @overload
    @staticmethod
    def new(device: Mtl.Device | None = None, storage_mode: _StorageMode = ...) -> Allocator:
        """Creates an allocator of memory of a device."""
    @overload
    @staticmethod
    def new(storage_mode: _StorageMode = ...) -> Allocator:
        """Creates an allocator of memory of a device."""

def map(buffer: Gst.Buffer, caps: Gst.Caps | GstVideo.VideoInfo | GstAudio.AudioInfo | None = None,
        flags: Gst.MapFlags = ..., plane: int = 0) -> Mtl.StridedView:
    """A view of a buffer for a block: `with MtlGst.map(buffer, caps) as view:`."""

def view_from_buffer(buffer: Gst.Buffer, info: _VideoInfo | None = None, plane: int = 0,
                     flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of a plane of a video frame, without a copy."""

def view_from_component(buffer: Gst.Buffer, info: _VideoInfo | None, component: int,
                        flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of a component of a video frame, such as the red of RGB, without a copy."""

def view_from_frame(frame: GstVideo.VideoFrame, plane: int = 0) -> Mtl.StridedView:
    """A view of a plane of a video frame that is mapped, without a copy."""

def view_from_frame_component(frame: GstVideo.VideoFrame, component: int) -> Mtl.StridedView:
    """A view of a component of a video frame that is mapped, without a copy."""

def view_from_audio(buffer: Gst.Buffer, info: _AudioInfo | None = None,
                    flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of all samples of a buffer, without a copy."""

def view_from_audio_channel(buffer: Gst.Buffer, info: _AudioInfo | None, channel: int,
                            flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of the samples of one channel, without a copy."""

def view_from_bytes(buffer: Gst.Buffer, dtype: _DType, shape: _Shape,
                    flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of the first bytes of a buffer, in C order, without a copy."""

def view_from_caps(buffer: Gst.Buffer, caps: Gst.Caps, plane: int = 0,
                   flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of a buffer as its caps describe it, without a copy."""

def view_from_tensor(buffer: Gst.Buffer, index: int,
                     flags: Gst.MapFlags = ...) -> Mtl.StridedView:
    """A view of a tensor that an element added to a buffer, without a copy."""

def buffer_from_view(view: Any, info: _VideoInfo | None = None) -> Gst.Buffer:
    """A buffer that shares the memory of a view, without a copy."""

def buffer_from_views(views: Iterable[Any], info: _VideoInfo) -> Gst.Buffer:
    """A buffer that shares the memory of several views, without a copy."""

def buffer_from_audio_view(view: Any, info: _AudioInfo) -> Gst.Buffer:
    """A buffer of audio that shares the memory of a view, without a copy."""

def add_tensor(buffer: Gst.Buffer, id: str | None, view: Any) -> bool:
    """Adds a tensor with the memory of a view to a buffer, without a copy."""

def caps_from_view(view: Any, format: str | GstVideo.VideoFormat | None = None,
                   framerate: _Framerate = 0) -> Gst.Caps:
    """The caps of a video whose frames are like a view."""

def audio_caps_from_view(view: Any, rate: int) -> Gst.Caps:
    """The caps of audio whose samples lie like those of a view."""

def tensor_caps_from_view(view: Any, id: str | None = None) -> Gst.Caps:
    """The caps of tensors with the shape, order and type of a view."""

def layout_from_caps(caps: Gst.Caps, plane: int = 0) -> tuple[Mtl.StridedLayout, Mtl.DType]:
    """The layout and the element type that views of buffers with these caps have."""

# SPDX-License-Identifier: LGPL-2.1-or-later
# The override changes more of these than make-stub.py knows.
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeAlias, overload

import numpy

from gi.repository import Gst, GstAudio, GstVideo, Mtl

_DType: TypeAlias = Mtl.DType | str | type | numpy.dtype[Any]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_AudioInfo: TypeAlias = GstAudio.AudioInfo | Gst.Caps
_VideoInfo: TypeAlias = GstVideo.VideoInfo | Gst.Caps
_Framerate: TypeAlias = float | str | Fraction | Gst.Fraction

def map(buffer: Gst.Buffer, caps: Gst.Caps | GstVideo.VideoInfo | GstAudio.AudioInfo | None = None,
        flags: Gst.MapFlags = ..., plane: int = 0) -> Mtl.StridedView:
    """A view of a buffer for a block: `with MtlGst.map(buffer, caps) as view:`."""

def video_caps_from_view(view: Any, format: str | GstVideo.VideoFormat | None = None,
                         framerate: _Framerate = 0) -> Gst.Caps:
    """The caps of a video whose frames are like a view."""

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts MtlGst to Python: exceptions, arguments that can be left out or are caps or arrays, and
`with`. The info of audio or video can be that of caps, or the caps. Arrays that cannot be viewed,
such as big-endian ones, are copied."""

import functools
from fractions import Fraction

from gi.repository import Gst, GstAudio, GstVideo

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from .Mtl import make_pythonic, raising

MtlGst = get_introspection_module("MtlGst")

__all__ = ["map", "video_buffer_from_views", "video_caps_from_view"]

# Looked up here once: in these modules, that takes long.
AudioInfo = GstAudio.AudioInfo
Caps = Gst.Caps
READ = Gst.MapFlags.READ
VideoInfo = GstVideo.VideoInfo


_layout_from_caps = raising(MtlGst.layout_from_caps)


def _info_of(cls, info):
    """The info of caps, or the one that was given."""
    if not isinstance(info, Caps):
        return info

    # GStreamer expects fixed caps, and trusts their description of channels.
    if cls is AudioInfo or not info.is_fixed():
        _layout_from_caps(info, 0)
    try:
        return cls.new_from_caps(info)
    except TypeError:  # PyGObject's, for a constructor that returns NULL
        _layout_from_caps(info, 0)  # says what they lack
        raise ValueError(f"GStreamer cannot make a {cls.__name__} of the caps “{info.to_string()}”"
                         ) from None


make_pythonic(MtlGst.Allocator)
make_pythonic(MtlGst, {"StridedView": view_of_values,
                       "AudioInfo": functools.partial(_info_of, AudioInfo),
                       "VideoInfo": functools.partial(_info_of, VideoInfo)})


# Views of buffers


def map(buffer, caps=None, flags=READ, plane=0):
    """A view of a buffer for a block: `with MtlGst.map(buffer, caps) as view:`.

    `caps` is a Gst.Caps or, which is faster, a GstVideo.VideoInfo or a GstAudio.AudioInfo. A buffer
    with a GstVideo.VideoMeta needs none. Write to the buffer with Gst.MapFlags.WRITE. At the end of
    the block the view is closed, and so empty. That is a BufferError if there still is an array of
    it, or a memoryview; slices keep the buffer mapped. The views of the other functions can be used
    in this way, too."""
    if caps is None or isinstance(caps, VideoInfo):
        return MtlGst.view_from_video_buffer(buffer, caps, plane, flags)
    if isinstance(caps, AudioInfo):
        if plane != 0:
            raise IndexError(f"There is no plane {plane}: audio only has plane 0")
        return MtlGst.view_from_audio_buffer(buffer, caps, flags)
    return MtlGst.view_from_buffer_with_caps(buffer, caps, plane, flags)


_video_buffer_from_views = MtlGst.video_buffer_from_views


def video_buffer_from_views(views, info):
    """A buffer of a video frame that shares the memory of several views, or of anything else that
    Mtl.asview() takes, without a copy: one for each plane of the format. Arrays that cannot be
    viewed are copied."""
    return _video_buffer_from_views([view_of_values(view) for view in views], info)


# Caps


_video_caps_from_view = MtlGst.video_caps_from_view


def _format_of(name):
    if not isinstance(name, str):
        return GstVideo.VideoFormat.UNKNOWN if name is None else name
    format = GstVideo.VideoFormat.from_string(name)
    if format == GstVideo.VideoFormat.UNKNOWN:
        raise ValueError(f"GStreamer has no video format {name!r}")
    return format


def _numbers_of(framerate):
    """The numerator and the denominator."""
    if isinstance(framerate, Gst.Fraction):
        return int(framerate.num), int(framerate.denom)  # some versions divide into floats
    fraction = Fraction(framerate)
    if isinstance(framerate, float):  # 29.97 is not exactly that
        fraction = fraction.limit_denominator(1001)
    return fraction.numerator, fraction.denominator


def video_caps_from_view(view, format=None, framerate=0):
    """The caps of a video whose frames are like a view, or like anything else that Mtl.asview()
    takes.

    The format is a name as in caps, such as "BGRx", or a GstVideo.VideoFormat; None finds one for
    the elements and channels. The framerate is a number or a fraction, 0 if it varies."""
    return _video_caps_from_view(view, _format_of(format), *_numbers_of(framerate))

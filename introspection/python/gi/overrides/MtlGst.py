# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts MtlGst to Python: exceptions, arguments that can be left out or are caps or arrays, and
`with`."""

from fractions import Fraction

from gi.repository import Gst, GstAudio, GstVideo

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from ._mtl_defaults import set_all_defaults
from .Mtl import make_pythonic, raising

MtlGst = get_introspection_module("MtlGst")

_add_tensor = raising(MtlGst.add_tensor)
_audio_buffer_from_view = raising(MtlGst.audio_buffer_from_view)
_audio_caps_from_view = raising(MtlGst.audio_caps_from_view)
_buffer_from_view = raising(MtlGst.buffer_from_view)
_layout_from_caps = raising(MtlGst.layout_from_caps)
_tensor_caps_from_view = raising(MtlGst.tensor_caps_from_view)
_video_buffer_from_view = raising(MtlGst.video_buffer_from_view)
_video_buffer_from_views = raising(MtlGst.video_buffer_from_views)
_video_caps_from_view = raising(MtlGst.video_caps_from_view)
_view_from_audio_buffer = raising(MtlGst.view_from_audio_buffer)
_view_from_audio_channel = raising(MtlGst.view_from_audio_channel)
_view_from_buffer = raising(MtlGst.view_from_buffer)
_view_from_buffer_with_caps = raising(MtlGst.view_from_buffer_with_caps)
_view_from_tensor = raising(MtlGst.view_from_tensor)
_view_from_video_buffer = raising(MtlGst.view_from_video_buffer)
_view_from_video_component = raising(MtlGst.view_from_video_component)
_view_from_video_frame = raising(MtlGst.view_from_video_frame)

__all__ = ["add_tensor", "audio_buffer_from_view", "audio_caps_from_view", "buffer_from_view",
           "get_tensor_id", "layout_from_caps", "map", "tensor_caps_from_view",
           "video_buffer_from_view", "video_buffer_from_views", "video_caps_from_view",
           "view_from_audio_buffer", "view_from_audio_channel", "view_from_buffer",
           "view_from_buffer_with_caps", "view_from_tensor", "view_from_video_buffer",
           "view_from_video_component", "view_from_video_frame", "view_from_video_frame_component"]

# Looked up here once: in these modules, that takes long.
AudioInfo = GstAudio.AudioInfo
Caps = Gst.Caps
READ = Gst.MapFlags.READ
VideoInfo = GstVideo.VideoInfo


def _info_of(cls, info):
    """The info of caps, or the one that was given."""
    if not isinstance(info, Caps):
        return info

    # GStreamer expects that they are fixed, and believes what they say about channels.
    if cls is AudioInfo or not info.is_fixed():
        _layout_from_caps(info, 0)
    try:
        return cls.new_from_caps(info)
    except TypeError:  # PyGObject's, for a constructor that returns NULL
        _layout_from_caps(info, 0)  # says what they lack
        raise ValueError(f"GStreamer makes no {cls.__name__} of the caps “{info.to_string()}”"
                         ) from None


# Views of buffers


def map(buffer, caps=None, flags=READ, plane=0):
    """A view of a buffer for a block: `with MtlGst.map(buffer, caps) as view:`.

    `caps` is a Gst.Caps or, which is faster, a GstVideo.VideoInfo or a GstAudio.AudioInfo. A buffer
    with a GstVideo.VideoMeta needs none. Write to the buffer with Gst.MapFlags.WRITE. At the end of
    the block the view is closed, and so empty. That is a BufferError if there still is an array of
    it, or a memoryview; slices keep the buffer mapped. The views of the other functions can be used
    in this way, too."""
    if caps is None or isinstance(caps, VideoInfo):
        return _view_from_video_buffer(buffer, caps, plane, flags)
    if isinstance(caps, AudioInfo):
        if plane != 0:
            raise IndexError(f"There is no plane {plane}: audio has one, 0")
        return _view_from_audio_buffer(buffer, caps, flags)
    return _view_from_buffer_with_caps(buffer, caps, plane, flags)


def view_from_video_buffer(buffer, info, plane, flags):
    """A view of a plane of a video frame, without a copy. The info can be that of the frame's caps,
    or the caps, and is not needed if the buffer has a GstVideo.VideoMeta."""
    return _view_from_video_buffer(buffer, _info_of(VideoInfo, info), plane, flags)


def view_from_video_component(buffer, info, component, flags):
    """A view of a component of a video frame, such as the red of RGB, without a copy."""
    return _view_from_video_component(buffer, _info_of(VideoInfo, info), component, flags)


def view_from_video_frame(frame, plane):
    """A view of a plane of a GstVideo.VideoFrame that is mapped, as transform_frame() of a video
    filter gets it, without a copy. Close it before that returns: `with
    MtlGst.view_from_video_frame(frame) as view:`."""
    return _view_from_video_frame(frame, plane)


view_from_video_frame_component = raising(MtlGst.view_from_video_frame_component)


def view_from_audio_buffer(buffer, info, flags):
    """A view of all samples of a buffer, without a copy. The info can be that of the caps, or the
    caps, and is not needed if the buffer has a GstAudio.AudioMeta."""
    return _view_from_audio_buffer(buffer, _info_of(AudioInfo, info), flags)


def view_from_audio_channel(buffer, info, channel, flags):
    """A view of the samples of one channel, without a copy."""
    return _view_from_audio_channel(buffer, _info_of(AudioInfo, info), channel, flags)


def view_from_buffer(buffer, dtype, shape, flags):
    """A view of the first bytes of a buffer, in C order, without a copy."""
    return _view_from_buffer(buffer, dtype, shape, flags)


def view_from_buffer_with_caps(buffer, caps, plane, flags):
    """A view of a buffer as its caps describe it, without a copy."""
    return _view_from_buffer_with_caps(buffer, caps, plane, flags)


def view_from_tensor(buffer, index, flags):
    """A view of a tensor that an element added to a buffer, without a copy."""
    return _view_from_tensor(buffer, index, flags)


# Buffers over views


def buffer_from_view(view):
    """A buffer with the bytes of a view, or of anything else that Mtl.asview() takes, without a
    copy. Arrays that cannot be viewed, such as big-endian ones, are copied."""
    return _buffer_from_view(view_of_values(view))


def video_buffer_from_view(view, info):
    """A buffer of a video frame with one plane that shares the memory of a view, or of anything
    else that Mtl.asview() takes, without a copy. The info can be that of the frame's caps, or the
    caps. Arrays that cannot be viewed are copied."""
    return _video_buffer_from_view(view_of_values(view), _info_of(VideoInfo, info))


def video_buffer_from_views(views, info):
    """A buffer of a video frame that shares the memory of several views, or of anything else that
    Mtl.asview() takes, without a copy: one for each plane of the format. Arrays that cannot be
    viewed are copied."""
    views = [view_of_values(view) for view in views]
    return _video_buffer_from_views(views, _info_of(VideoInfo, info))


def audio_buffer_from_view(view, info):
    """A buffer of audio that shares the memory of a view, or of anything else that Mtl.asview()
    takes, without a copy. Arrays that cannot be viewed are copied."""
    return _audio_buffer_from_view(view_of_values(view), _info_of(AudioInfo, info))


def add_tensor(buffer, id, view):
    """Adds a tensor with the memory of a view, or of anything else that Mtl.asview() takes, to a
    buffer, without a copy. Arrays that cannot be viewed are copied."""
    return _add_tensor(buffer, id, view_of_values(view))


# Caps


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
    return _video_caps_from_view(view_of_values(view), _format_of(format), *_numbers_of(framerate))


def audio_caps_from_view(view, rate):
    """The caps of audio whose samples lie like those of a view, or of anything else that
    Mtl.asview() takes."""
    return _audio_caps_from_view(view_of_values(view), rate)


def tensor_caps_from_view(view, id):
    """The caps of tensors with the shape, order and type of a view, or of anything else that
    Mtl.asview() takes."""
    return _tensor_caps_from_view(view_of_values(view), id)


def layout_from_caps(caps, plane):
    """The layout and the element type that views of buffers with these caps have."""
    return _layout_from_caps(caps, plane)


get_tensor_id = raising(MtlGst.get_tensor_id)

set_all_defaults("MtlGst", globals())
make_pythonic(MtlGst.Allocator)

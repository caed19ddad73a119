# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes MtlGst raise Python's exceptions, as Mtl does, and gives memory back with `with`."""

from gi.repository import Gst, GstAudio, GstVideo

from ..module import get_introspection_module
from .Mtl import raising

MtlGst = get_introspection_module("MtlGst")

_FUNCTIONS = """
    view_from_audio view_from_audio_channel view_from_buffer view_from_bytes view_from_caps
    view_from_component view_from_tensor
    buffer_from_audio_view buffer_from_view buffer_from_views add_tensor
    audio_caps_from_view caps_from_view layout_from_caps tensor_caps_from_view
""".split()

__all__ = ["map", *_FUNCTIONS]

for _name in _FUNCTIONS:
    globals()[_name] = raising(getattr(MtlGst, _name))


class _Mapping:
    """What map() returns."""

    __slots__ = ("_view",)

    def __init__(self, view):
        self._view = view

    def __enter__(self):
        return self._view

    def __exit__(self, *exception):
        self._view.close()


def map(buffer, caps, flags=Gst.MapFlags.READ, plane=0):
    """Maps a buffer until the end of the block: `with MtlGst.map(buffer, caps) as view:`.

    `caps` is Gst.Caps or, which is faster, a GstVideo.VideoInfo or a GstAudio.AudioInfo. Write to
    the buffer with Gst.MapFlags.WRITE. At the end of the block the view becomes empty. If an array
    still shares the memory, the buffer stays mapped until that array is gone.
    """
    if isinstance(caps, GstVideo.VideoInfo):
        view = view_from_buffer(buffer, caps, plane, flags)
    elif isinstance(caps, GstAudio.AudioInfo):
        view = view_from_audio(buffer, caps, flags)
    else:
        view = view_from_caps(buffer, caps, plane, flags)
    return _Mapping(view)

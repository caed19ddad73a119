#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""demo_video.py [--frames N] [--size WIDTHxHEIGHT]: what changing a video from Python costs.

Each way inverts the first rows of each frame of a test video. The first only passes the frames
on. The table shows the frames per second, and how many frames reach the end in the memory that
the source wrote them to.
"""

import argparse
import sys
import time

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstBase', '1.0')
gi.require_version('GstApp', '1.0')
gi.require_version('GstVideo', '1.0')
gi.require_version('MtlGst', '1')
from gi.repository import Gst, GstApp, GstBase, GstVideo, MtlGst  # noqa: E402, F401

ROWS = 16
FORMAT = 'video/x-raw, format=RGBA'
Gst.init(None)


class Invert(GstBase.BaseTransform):
    """An element that changes frames in place, as NumPy arrays."""

    __gstmetadata__ = ('Invert', 'Filter/Effect/Video', 'Inverts the first rows', 'mtldl')
    __gsttemplates__ = tuple(
        Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS, Gst.Caps.from_string(FORMAT))
        for name, direction in (('sink', Gst.PadDirection.SINK), ('src', Gst.PadDirection.SRC)))

    def do_set_caps(self, caps, _):
        self.info = GstVideo.VideoInfo.new_from_caps(caps)
        return True

    def do_transform_ip(self, buffer):
        with MtlGst.map(buffer, self.info, Gst.MapFlags.WRITE) as view:
            np.asarray(view)[:ROWS] ^= 0xff
        return Gst.FlowReturn.OK


class Run:
    """A pipeline, from a test video to nothing, with something in between."""

    def __init__(self, caps, frames):
        self.caps, self.frames = caps, frames
        self.addresses = [[], []]  # of the frames, at the source and at the end

    def make(self, text, **elements):
        pipeline = Gst.parse_launch(text)
        for name, element in elements.items():
            pipeline.add(element)
            before, after = pipeline.get_by_name('before'), pipeline.get_by_name('after')
            before.link(element)
            element.link(after)
        return pipeline

    def source(self):
        return f'videotestsrc name=source num-buffers={self.frames} pattern=solid-color ! {self.caps}'

    def count_addresses(self, element, pad, addresses):
        def look(_, info):
            with MtlGst.map(info.get_buffer(), self.caps) as view:
                addresses.append(view.get_address())
            return Gst.PadProbeReturn.OK

        element.get_static_pad(pad).add_probe(Gst.PadProbeType.BUFFER, look)


def main():
    pass


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch_video.py [--camera] [--frames N] FILE

Records the edges in a test video, or in what a camera sees, as Ogg. PyTorch
finds them by a convolution, and reads and writes each frame in the memory that
GStreamer has for it.
"""

import argparse
import sys

import gi
import torch

gi.require_version('Gst', '1.0')
gi.require_version('GstBase', '1.0')
gi.require_version('MtlGst', '1')
from gi.repository import Gst, GstBase, MtlGst  # noqa: E402

Gst.init(None)

GRAY = Gst.Caps.from_string('video/x-raw, format=GRAY8')

# Sobel's filters: how much darker it is to the left, and above.
LEFT = torch.tensor([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=torch.float32)
FILTERS = torch.stack([LEFT, LEFT.T])[:, None]


def find_edges(frame):
    """Changes a frame, [height, width] of uint8, into its edges."""
    slopes = torch.nn.functional.conv2d(frame.float()[None], FILTERS, padding=1)
    frame.copy_(slopes.norm(dim=0).clamp_(max=255))


class Edges(GstBase.BaseTransform):
    """An element that changes frames where they are."""

    __gstmetadata__ = ('Edges', 'Filter/Effect/Video', 'Finds the edges', 'mtldl')
    __gsttemplates__ = (
        Gst.PadTemplate.new('sink', Gst.PadDirection.SINK, Gst.PadPresence.ALWAYS, GRAY),
        Gst.PadTemplate.new('src', Gst.PadDirection.SRC, Gst.PadPresence.ALWAYS, GRAY))

    def do_set_caps(self, caps, _):
        self.caps = caps
        return True

    def do_transform_ip(self, buffer):
        with MtlGst.map(buffer, self.caps, Gst.MapFlags.WRITE) as view:
            find_edges(torch.from_dlpack(view))     # shares the memory
        return Gst.FlowReturn.OK


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument('--camera', action='store_true', help='record a camera')
    parser.add_argument('--frames', metavar='N', type=int, default=300,
                        help='end after so many frames of the test video')
    parser.add_argument('file', metavar='FILE')
    arguments = parser.parse_args()

    source = ('autovideosrc' if arguments.camera else
              f'videotestsrc pattern=ball num-buffers={arguments.frames}')
    pipeline = Gst.parse_launch(f'{source} ! videoconvert name=source'
                                ' videoconvert name=edges ! theoraenc ! oggmux'
                                ' ! filesink name=file')
    assert isinstance(pipeline, Gst.Pipeline)
    pipeline.get_by_name('file').set_property('location', arguments.file)
    edges = Edges()
    pipeline.add(edges)
    pipeline.get_by_name('source').link(edges)
    edges.link(pipeline.get_by_name('edges'))

    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(f'torch_video.py: {message.parse_error()[0].message}')


if __name__ == '__main__':
    main()

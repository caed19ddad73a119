#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""demo_video.py [--frames N] [--size WIDTHxHEIGHT]: what it costs to change a video in Python.

A test video goes through a pipeline that changes the first rows of each frame: in place, as
NumPy arrays over views; by copies, as without them; and not at all, to compare with. The table
shows the frames per second, and how many frames reach the end where the source wrote them.
"""

import argparse
import sys
import time

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
gi.require_version('GstBase', '1.0')
gi.require_version('GstVideo', '1.0')
gi.require_version('MtlGst', '1')
from gi.repository import Gst, GstApp, GstBase, GstVideo, MtlGst  # noqa: E402, F401

RUNS = 3
CHANGED_ROWS = 16
SINK = 'fakesink name=end sync=false enable-last-sample=false'

Gst.init(None)


class Invert(GstBase.BaseTransform):
    """An element that changes frames where they are."""

    __gstmetadata__ = ('Invert', 'Filter/Effect/Video', 'Inverts the first rows', 'mtldl')
    __gsttemplates__ = tuple(Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS,
                                                 Gst.Caps.from_string('video/x-raw, format=RGBA'))
                             for name, direction in (('sink', Gst.PadDirection.SINK),
                                                     ('src', Gst.PadDirection.SRC)))

    def do_set_caps(self, caps, _):
        self.info = GstVideo.VideoInfo.new_from_caps(caps)
        return True

    def do_transform_ip(self, buffer):
        with MtlGst.map(buffer, self.info, Gst.MapFlags.WRITE) as view:
            np.asarray(view)[:CHANGED_ROWS] ^= 0xff
        return Gst.FlowReturn.OK


def make_pipeline(source, element):
    pipeline = Gst.Pipeline()
    parts = [Gst.parse_bin_from_description(f'{source} ! identity name=before', True), element,
             Gst.parse_bin_from_description(f'identity name=after ! {SINK}', True)]
    for part in parts:
        pipeline.add(part)
    for before, after in zip(parts, parts[1:]):
        before.link(after)
    return pipeline


def play(pipeline):
    """Returns the seconds until the end of the stream."""
    begin = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        120 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    seconds = time.monotonic() - begin
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        sys.exit(f'demo_video.py: {message.parse_error() if message else "the video hangs"}')
    return seconds


def change_by_copies(source, caps):
    """Changes a video as Python programs do without views: bytes out of a buffer, and other bytes
    into one."""
    info = GstVideo.VideoInfo.new_from_caps(Gst.Caps.from_string(caps))
    pull = Gst.parse_launch(f'{source} ! appsink name=frames sync=false max-buffers=2'
                            ' enable-last-sample=false')
    push = Gst.parse_launch(f'appsrc name=frames caps="{caps}" format=time max-buffers=2 block=true'
                            f' ! {SINK}')
    frames, changed = pull.get_by_name('frames'), push.get_by_name('frames')
    begin = time.monotonic()
    pull.set_state(Gst.State.PLAYING)
    push.set_state(Gst.State.PLAYING)
    while (sample := frames.pull_sample()) is not None:
        buffer = sample.get_buffer()
        frame = np.frombuffer(bytearray(buffer.extract_dup(0, buffer.get_size())), np.uint8)
        frame.reshape(info.height, info.width, 4)[:CHANGED_ROWS] ^= 0xff
        changed.push_buffer(Gst.Buffer.new_wrapped(frame.tobytes()))
    changed.end_of_stream()
    push.get_bus().timed_pop_filtered(120 * Gst.SECOND,
                                      Gst.MessageType.EOS | Gst.MessageType.ERROR)
    seconds = time.monotonic() - begin
    pull.set_state(Gst.State.NULL)
    push.set_state(Gst.State.NULL)
    return seconds


def count_moved(source, caps):
    """Returns how many frames the element has moved, of all."""
    addresses = {'before': [], 'after': []}

    def note(_, info, caps, noted):
        with MtlGst.map(info.get_buffer(), caps) as view:
            noted.append(view.get_address())
        return Gst.PadProbeReturn.OK

    pipeline = make_pipeline(source, Invert())
    for name, noted in addresses.items():
        pipeline.get_by_name(name).get_static_pad('sink').add_probe(
            Gst.PadProbeType.BUFFER, note, Gst.Caps.from_string(caps), noted)
    play(pipeline)
    before, after = addresses.values()
    return sum(old != new for old, new in zip(before, after)) + abs(len(before) - len(after))


WAYS = {
    'not changed: identity':
        lambda source, _: play(make_pipeline(source, Gst.ElementFactory.make('identity'))),
    'in place: MtlGst.map, NumPy':
        lambda source, _: play(make_pipeline(source, Invert())),
    'copies: extract_dup, new_wrapped': change_by_copies,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--frames', type=int, default=120)
    parser.add_argument('--size', default='3840x2160')
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split('x'))
    caps = f'video/x-raw, format=RGBA, width={width}, height={height}, framerate=60/1'
    source = f'videotestsrc num-buffers={arguments.frames} pattern=solid-color ! {caps}'

    # In turns, since other programs run as well.
    seconds = {way: [] for way in WAYS}
    for _ in range(RUNS):
        for way, run in WAYS.items():
            seconds[way].append(run(source, caps))

    base = min(next(iter(seconds.values())))
    print(f'{arguments.frames} frames of {width} x {height} RGBA, the best of {RUNS} runs\n')
    print(f'{"way":34}{"frames/s":>9}{"of the first":>14}')
    for way, times in seconds.items():
        print(f'{way:34}{arguments.frames / min(times):9.0f}{base / min(times):14.2f}')

    moved = count_moved(source, caps)
    print(f'\n{arguments.frames - moved} of {arguments.frames} frames changed in place are in the '
          'memory that the source wrote')
    return moved > 0


if __name__ == '__main__':
    sys.exit(main())

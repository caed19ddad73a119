#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""video.py [--camera] [--record FILE] [--frames N]

Shows a test video, or a camera, whose left half is inverted, and also records
it as Ogg. The pixels of a frame stay in the memory that the source wrote: there
NumPy changes them, there the encoder reads them, and there GTK draws them.
"""

import argparse
import sys

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstBase', '1.0')
gi.require_version('Gtk', '4.0')
gi.require_version('MtlGst', '1')
gi.require_version('MtlGtk', '1')
from gi.repository import Gio, GLib, Gst, GstBase, Gtk, MtlGst, MtlGtk  # noqa: E402

POLL_MS = 10

Gst.init(None)
RGB = Gst.Caps.from_string('video/x-raw, format=RGB')


class Invert(GstBase.BaseTransform):
    """An element that changes frames where they are."""

    __gstmetadata__ = ('Invert', 'Filter/Effect/Video', 'Inverts the left half', 'mtldl')
    __gsttemplates__ = (
        Gst.PadTemplate.new('sink', Gst.PadDirection.SINK, Gst.PadPresence.ALWAYS, RGB),
        Gst.PadTemplate.new('src', Gst.PadDirection.SRC, Gst.PadPresence.ALWAYS, RGB))

    def do_set_caps(self, caps, _):
        self.caps = caps
        return True

    def do_transform_ip(self, buffer):
        """On the thread of the source, for each frame."""
        with MtlGst.map(buffer, self.caps, Gst.MapFlags.WRITE) as view:
            frame = np.asarray(view)        # [height, width, 3], the same memory
            frame[:, :frame.shape[1] // 2] ^= 0xff
            del frame                       # else the frame would stay mapped
        return Gst.FlowReturn.OK


class Video:
    def __init__(self, arguments):
        source = ('autovideosrc' if arguments.camera else
                  f'videotestsrc is-live=true num-buffers={arguments.frames}'
                  ' ! video/x-raw, width=640, height=480')
        text = (f'{source} ! videoconvert name=source tee name=filtered'
                ' filtered. ! queue'
                ' ! appsink name=frames max-buffers=2 enable-last-sample=false')
        if arguments.record:
            text += (' filtered. ! queue ! videoconvert ! theoraenc ! oggmux'
                     ' ! filesink name=file')
        self.pipeline = Gst.parse_launch(text)
        assert isinstance(self.pipeline, Gst.Pipeline)

        invert = Invert()
        self.pipeline.add(invert)
        self.pipeline.get_by_name('source').link(invert)
        invert.link(self.pipeline.get_by_name('filtered'))

        if arguments.record:
            self.pipeline.get_by_name('file').set_property('location', arguments.record)
        self.frames = self.pipeline.get_by_name('frames')
        self.paintable = MtlGtk.ViewPaintable()
        self.n_shown = 0
        self.error = None

    def show_next(self):
        sample = self.frames.emit('try-pull-sample', 0)
        if sample is not None:
            # This view is read-only, so it is shown without a copy. It keeps the
            # frame until GTK has the next one.
            frame = MtlGst.view_from_buffer_with_caps(sample.get_buffer(), sample.get_caps())
            self.paintable.set_view(frame)
            self.n_shown += 1
        return GLib.SOURCE_CONTINUE

    def end(self, _):
        """The video ends when the window is closed, and the recording is completed."""
        self.pipeline.send_event(Gst.Event.new_eos())
        return True

    def handle_error(self, _, message, application):
        self.error, _ = message.parse_error()
        application.quit()

    def activate(self, application):
        window = Gtk.ApplicationWindow(application=application, title='Video',
                                       default_width=640, default_height=480,
                                       child=Gtk.Picture(paintable=self.paintable))
        window.connect('close-request', self.end)
        window.present()

        # The program ends with the video.
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect('message::eos', lambda *_: application.quit())
        bus.connect('message::error', self.handle_error, application)
        GLib.timeout_add(POLL_MS, self.show_next)
        self.pipeline.set_state(Gst.State.PLAYING)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument('--camera', action='store_true', help='show a camera')
    parser.add_argument('--record', metavar='FILE', help='also write a file, as Ogg')
    parser.add_argument('--frames', metavar='N', type=int, default=-1,
                        help='frames of the test video')
    arguments = parser.parse_args()

    video = Video(arguments)
    application = Gtk.Application(application_id='org.mtldl.Video',
                                  flags=Gio.ApplicationFlags.NON_UNIQUE)
    application.connect('activate', video.activate)
    application.run()

    video.pipeline.set_state(Gst.State.NULL)
    print(f'{video.n_shown} frames shown')
    if video.error is not None:
        sys.exit(f'video.py: {video.error.message}')


if __name__ == '__main__':
    main()

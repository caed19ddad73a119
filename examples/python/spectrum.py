#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""spectrum.py [--microphone | --tone HZ] [--blocks N]

Draws what frequencies a sound has: a tone that rises, a microphone, or a tone
that stays. NumPy reads the samples in the memory that GStreamer has for them,
and writes the loudness of each frequency into a column of an array. The window
shows the array in colors, and is told which column is new.
"""

import argparse
import sys

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('Gtk', '4.0')
gi.require_version('MtlGst', '1')
gi.require_version('MtlGtk', '1')
from gi.repository import Gio, GLib, Gst, Gtk, MtlGst, MtlGtk  # noqa: E402

POLL_MS = 10
RATE = 48000
BLOCK = 1024                    # samples, about 21 ms
BINS, COLUMNS = BLOCK // 4, 512     # the lower half of all frequencies
QUIET, LOUD = -90, 0            # decibels
OCTAVE = 47                     # blocks in which the tone rises by one

Gst.init(None)


def get_decibels(samples):
    """The loudness of each frequency; 0 is a sine of amplitude 1."""
    window = np.hanning(len(samples))
    amplitudes = np.abs(np.fft.rfft(samples * window, BLOCK)) * 2 / window.sum()
    return 20 * np.log10(np.maximum(amplitudes, 1e-9))


class Spectrum:
    def __init__(self, arguments):
        source = ('autoaudiosrc' if arguments.microphone else
                  f'audiotestsrc name=tone is-live=true samplesperbuffer={BLOCK}'
                  f' num-buffers={arguments.blocks} freq={arguments.tone or 100}')
        self.pipeline = Gst.parse_launch(
            f'{source} ! audioconvert ! audioresample'
            f' ! audio/x-raw, format={"F32LE" if sys.byteorder == "little" else "F32BE"},'
            f' rate={RATE} ! appsink name=blocks')
        assert isinstance(self.pipeline, Gst.Pipeline)
        self.blocks = self.pipeline.get_by_name('blocks')
        is_rising = not arguments.microphone and not arguments.tone
        self.rising = self.pipeline.get_by_name('tone') if is_rising else None

        # The picture, as an array [rows, columns] of decibels.
        self.decibels = np.full((BINS, COLUMNS), QUIET, 'float32')
        self.n_blocks = 0
        self.error = None

        self.paintable = MtlGtk.ViewPaintable()
        self.paintable.set_color_map('heat', QUIET, LOUD)
        self.paintable.set_view(self.decibels)

    def show_next(self):
        sample = self.blocks.emit('try-pull-sample', 0)
        if sample is not None:
            # [samples, channels] of float32, in the buffer's own memory
            with MtlGst.view_from_audio_buffer(sample.get_buffer(), sample.get_caps()) as view:
                self.draw(np.asarray(view)[:, 0])
        return GLib.SOURCE_CONTINUE

    def draw(self, samples):
        column = self.n_blocks % COLUMNS
        self.decibels[::-1, column] = get_decibels(samples)[:BINS]
        self.paintable.invalidate((column, 0, 1, BINS))
        self.n_blocks += 1
        if self.rising:
            self.rising.set_property('freq', 100 * 2 ** (self.n_blocks / OCTAVE % 7))

    def get_loudest(self):
        """The frequency in hertz of the last block."""
        column = self.decibels[::-1, (self.n_blocks - 1) % COLUMNS]
        return column.argmax() * RATE / BLOCK

    def handle_error(self, _, message, application):
        self.error, _ = message.parse_error()
        application.quit()

    def activate(self, application):
        picture = Gtk.Picture(paintable=self.paintable, keep_aspect_ratio=False)
        Gtk.ApplicationWindow(application=application, title='Spectrum', child=picture,
                              default_width=COLUMNS, default_height=BINS).present()

        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect('message::eos', lambda *_: application.quit())
        bus.connect('message::error', self.handle_error, application)
        GLib.timeout_add(POLL_MS, self.show_next)
        self.pipeline.set_state(Gst.State.PLAYING)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument('--microphone', action='store_true', help='listen to a microphone')
    parser.add_argument('--tone', metavar='HZ', type=float, help='a tone that does not change')
    parser.add_argument('--blocks', metavar='N', type=int, default=-1,
                        help='length of the test sound, in blocks')
    arguments = parser.parse_args()

    spectrum = Spectrum(arguments)
    application = Gtk.Application(application_id='org.mtldl.Spectrum',
                                  flags=Gio.ApplicationFlags.NON_UNIQUE)
    application.connect('activate', spectrum.activate)
    application.run()

    spectrum.pipeline.set_state(Gst.State.NULL)
    if spectrum.error is not None:
        sys.exit(f'spectrum.py: {spectrum.error.message}')
    if spectrum.n_blocks:
        print(f'{spectrum.n_blocks} blocks; the loudest frequency of the last is'
              f' {spectrum.get_loudest():.0f} Hz')


if __name__ == '__main__':
    main()

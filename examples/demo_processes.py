#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""demo_processes.py [--frames N] [--size WIDTHxHEIGHT]: pictures from one program to another.

This program paints pictures with NumPy, and a window of a program in JavaScript shows each in the
memory in which it was painted. The table shows what each hop costs.
"""

import argparse
import contextlib
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

import gi
import numpy as np

gi.require_version('Mtl', '1')
from gi.repository import Mtl  # noqa: E402

WINDOW = pathlib.Path(__file__).resolve().parent / 'gjs' / 'frames.js'


class Painter:
    """Paints circles that move."""

    def __init__(self, width, height):
        self.y, self.x = np.ogrid[:height, :width]
        self.shape = height, width, 4

    def paint(self, picture, number):
        waves = (self.x - self.shape[1] // 2)**2 + (self.y - self.shape[0] // 2)**2 >> 6
        picture[..., 0] = waves + 2 * number
        picture[..., 1] = self.x + number
        picture[..., 2] = self.y - number
        picture[..., 3] = 255


def now():
    """Microseconds, by the clock that the window has, too."""
    return time.monotonic_ns() / 1000


def show(connection, painter, n_frames):
    """Returns the times of each picture, and the number of places that they were in. Closing the
    window raises BrokenPipeError."""
    times, places = [], set()
    for number in range(n_frames):
        begin = now()
        with connection.allocate_view('uint8', painter.shape) as view:
            places.add(view.get_address())
            painter.paint(np.asarray(view), number)
            painted = now()
            connection.send(view)
        sent = now()
        answer, _ = connection.receive()
        received, shown = answer.tolist()
        times.append((painted - begin, sent - painted, received - painted, shown - received,
                      now() - shown))
    return times, len(places)


ROWS = ('Python paints it, with NumPy', 'Python sends it', 'gjs has it', 'GTK has it',
        'Python has the answer')


def report(times, n_places, size, seconds):
    print(f'{"each of them":<34} microseconds')
    for what, costs in zip(ROWS, zip(*times)):
        print(f'{what:<34} {statistics.median(costs):12.0f}')
    print(f'{len(times)} pictures of {size} bytes in {n_places} place{"s"[:n_places != 1]}, '
          f'none copied: {len(times) / seconds:.0f} per second')


@contextlib.contextmanager
def screen():
    """The environment of a program with a window. Without a screen, it is one that nobody sees."""
    if os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY') or sys.platform == 'darwin':
        yield os.environ
        return
    readable, writable = os.pipe()
    server = subprocess.Popen(['Xvfb', '-displayfd', str(writable), '-nolisten', 'tcp',
                               '-screen', '0', '800x600x24'], pass_fds=[writable],
                              stderr=subprocess.DEVNULL)
    os.close(writable)
    try:
        with open(readable) as pipe:
            number = pipe.readline().strip()
        yield {**os.environ, 'DISPLAY': f':{number}', 'GDK_BACKEND': 'x11'}
    finally:
        server.terminate()
        server.wait()


def size_of(text):
    width, _, height = text.partition('x')
    return int(width), int(height)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--frames', type=int, default=300, metavar='N')
    parser.add_argument('--size', type=size_of, default=(1920, 1080), metavar='WIDTHxHEIGHT')
    options = parser.parse_args()
    painter = Painter(*options.size)
    ours, theirs = socket.socketpair()
    with screen() as environment, ours:
        with theirs:
            window = subprocess.Popen(['gjs', '-m', WINDOW, str(theirs.fileno())],
                                      pass_fds=[theirs.fileno()], env=environment)
        with Mtl.TensorConnection(ours) as connection:
            begin = time.monotonic()
            try:
                times, n_places = show(connection, painter, options.frames)
            except BrokenPipeError:
                return window.wait(60)
            seconds = time.monotonic() - begin
        failed = window.wait(60) != 0
    report(times, n_places, int(np.prod(painter.shape)), seconds)
    return failed


if __name__ == '__main__':
    sys.exit(main())

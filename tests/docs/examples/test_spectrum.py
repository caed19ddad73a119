#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the example that draws the frequencies of a sound: test_spectrum.py PROGRAM"""

import pathlib
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'support'))
from gtk_program import LiveProgram, Screen  # noqa: E402

TONE = 1500                 # hertz
BIN = 48000 / 1024
BLOCKS = 10


def shows_tone(pixels):
    """True if there is a bright line where the tone belongs, on a dark blue picture."""
    brightness = pixels.sum(axis=-1)
    is_picture = (pixels[..., 2] > pixels[..., 0] + 20) & (brightness < 250)
    rows = np.flatnonzero(is_picture.sum(axis=1) > 200)
    if len(rows) == 0:
        return False
    y, _ = np.unravel_index(brightness[rows[0]:rows[-1] + 1, :256].argmax(), (2000, 256))
    return len(rows) > 200 and abs(rows[-1] - rows[0] - y - TONE / BIN) <= 1


def main():
    if not Screen.is_available():
        print('1..0 # SKIP Xvfb is not installed')
        return

    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        program = LiveProgram(screen, pathlib.Path(name), sys.executable, sys.argv[1])
        printed = program.run('--tone', TONE, '--blocks', BLOCKS)
        assert printed == (f'{BLOCKS} blocks; the loudest frequency of the last is'
                           f' {TONE} Hz\n'), printed
        program.wait_for(shows_tone, '--tone', TONE)
    print('1..2\nok 1 - printed\nok 2 - shown')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs an example for NVIDIA's GPUs over the double of their driver: test_cuda.py COMMAND…

Those that save a picture are run with a name for it; the one for weights with a file of tensors.
"""

import pathlib
import subprocess
import sys
import tempfile

import gi

gi.require_version('GdkPixbuf', '2.0')
gi.require_version('Mtl', '1')
from gi.repository import GdkPixbuf, Mtl  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / 'tests' / 'support'))

from complaints import find_complaints  # noqa: E402


def expected_pixel(row, column):
    """The crop begins at row 120 and column 160 of 480 rows and 640 columns."""
    return round((column + 160) / 640 * 255), round((row + 120) / 480 * 255), 0


def check_picture(path):
    pixbuf = GdkPixbuf.Pixbuf.new_from_file(str(path))
    pixels, stride, n = pixbuf.get_pixels(), pixbuf.get_rowstride(), pixbuf.get_n_channels()

    assert (pixbuf.get_width(), pixbuf.get_height()) == (320, 240)
    for row in range(240):
        for column in range(320):
            place = row * stride + column * n
            found, expected = tuple(pixels[place:place + 3]), expected_pixel(row, column)
            # A float32 may be on the other side of a half.
            assert all(abs(a - b) <= 1 for a, b in zip(found, expected)), (row, column, found)


def run(command, argument):
    result = subprocess.run([*command, str(argument)], capture_output=True, encoding='utf-8')
    assert result.returncode == 0, result.stderr
    assert not find_complaints(result.stderr), result.stderr
    return result.stdout


def check_weights(command, folder):
    path = folder / 'model.safetensors'
    host = Mtl.Device.get_host()
    Mtl.save(path, {'a': Mtl.ones((2, 3), 'float32', device=host),
                    'b': Mtl.zeros(70000, 'int16', device=host)})
    assert sorted(run(command, path).splitlines()) == ['a: float32 [2, 3], 24 bytes',
                                                       'b: int16 [70000], 140000 bytes']


def main(*command):
    print('1..1')
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if 'weights' in command[-1]:
            check_weights(command, folder)
        else:
            assert run(command, folder / 'out.png') == '320 x 240 pixels\n'
            check_picture(folder / 'out.png')
    print(f'ok 1 {pathlib.Path(command[-1]).name}')


if __name__ == '__main__':
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a picture example and checks what it saves: test_picture.py COMMAND…

What is expected is computed here from GdkPixbuf's pixels, byte by byte.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

import gi

gi.require_version('GdkPixbuf', '2.0')
from gi.repository import GdkPixbuf, GLib  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS = ROOT / 'docs'
sys.path.append(str(ROOT / 'tests' / 'support'))

from complaints import find_complaints  # noqa: E402

# width, height, alpha: rows with and without padding; a lower half that is
# smaller than the white line; one pixel.
PICTURES = [
    (5, 12, False), (5, 13, True), (64, 48, False), (3, 3, True),
    (1, 1, False), (1, 1, True),
]


def make_picture(path, width, height, alpha, generator):
    size = width * height * (4 if alpha else 3)
    pixels = GLib.Bytes.new(bytes(generator.randrange(256) for _ in range(size)))
    pixbuf = GdkPixbuf.Pixbuf.new_from_bytes(
        pixels, GdkPixbuf.Colorspace.RGB, alpha, 8, width, height, size // height)
    pixbuf.savev(str(path), 'png', [], [])


def get_rows(path):
    """The picture as rows of pixels, each a tuple of channels."""
    pixbuf = GdkPixbuf.Pixbuf.new_from_file(str(path))
    pixels = pixbuf.get_pixels()
    n, stride = pixbuf.get_n_channels(), pixbuf.get_rowstride()
    return [[tuple(pixels[row * stride + column * n + channel] for channel in range(n))
             for column in range(pixbuf.get_width())]
            for row in range(pixbuf.get_height())]


def change(rows):
    middle = len(rows) // 2
    changed = []
    for number, row in enumerate(rows):
        if number >= middle + 4:
            row = [(blue, green, red, *alpha) for red, green, blue, *alpha in row]
        elif number >= middle:
            row = [(255,) * len(pixel) for pixel in row]
        changed.append(row)
    return changed


def run(command, *arguments):
    return subprocess.run([*command, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8')


def check_picture(command, folder, picture, generator):
    width, height, alpha = picture
    source, output = folder / 'in.png', folder / 'out.png'
    output.unlink(missing_ok=True)
    make_picture(source, width, height, alpha, generator)

    result = run(command, source, output)
    assert result.returncode == 0, result.stderr
    assert not result.stdout and not find_complaints(result.stderr), result
    rows = get_rows(output)
    assert rows == change(get_rows(source))
    assert len(rows[0][0]) == (4 if alpha else 3)


def check_hops(command, folder, alpha, generator):
    source, output = folder / 'in.png', folder / 'out.png'
    output.unlink(missing_ok=True)
    make_picture(source, 301, 200, alpha, generator)

    result = run(command, source, output, '--hops')
    assert result.returncode == 0, result.stderr
    hops = [line.split('\t') for line in result.stdout.splitlines()]
    assert len(hops) >= 3, result.stdout
    for name, before, after, time, time_copied in hops:
        assert int(before, 16) == int(after, 16) != 0, name
        assert float(time) > 0 and float(time_copied) > 0, name

    # Measuring leaves the picture as it is.
    assert get_rows(output) == change(get_rows(source))


def check_shown(command, folder):
    """The picture in the reference is what the program makes."""
    output = folder / 'shown.png'
    result = run(command, DOCS / 'example-picture-before.png', output)
    assert result.returncode == 0, result.stderr
    made, shown = (GdkPixbuf.Pixbuf.new_from_file(str(path)).get_pixels()
                   for path in (output, DOCS / 'example-picture.png'))
    assert made == shown


def check_missing(command, folder):
    result = run(command, folder / 'none.png', folder / 'out2.png')
    assert result.returncode == 1, result
    assert 'none.png' in result.stderr, result.stderr
    assert not (folder / 'out2.png').exists()


def check_broken(command, folder):
    (folder / 'broken.png').write_bytes(b'\x89PNG\r\n\x1a\n' + bytes(100))
    result = run(command, folder / 'broken.png', folder / 'out2.png')
    assert result.returncode == 1, result
    assert len(find_complaints(result.stderr)) == 1, result.stderr
    assert not (folder / 'out2.png').exists()


def check_usage(command):
    for arguments in ((), ('in.png',), ('in.png', 'out.png', '--other')):
        result = run(command, *arguments)
        assert result.returncode not in (0, None), arguments
        assert 'usage' in result.stderr, result.stderr


def get_checks(command, folder, generator):
    for picture in PICTURES:
        yield (f'picture {picture}',
               lambda: check_picture(command, folder, picture, generator))
    for alpha in (False, True):
        yield f'hops, alpha {alpha}', lambda: check_hops(command, folder, alpha, generator)
    yield 'the picture in the reference', lambda: check_shown(command, folder)
    yield 'missing file', lambda: check_missing(command, folder)
    yield 'broken file', lambda: check_broken(command, folder)
    yield 'usage', lambda: check_usage(command)


def main(*command):
    seed = random.randrange(2 ** 32)
    print(f'# seed {seed}')
    n_failed = number = 0

    with tempfile.TemporaryDirectory() as folder:
        checks = get_checks(command, pathlib.Path(folder), random.Random(seed))
        for number, (name, check) in enumerate(checks, 1):
            try:
                check()
                print(f'ok {number} {name}')
            except (AssertionError, GLib.Error) as error:
                n_failed += 1
                print(f'not ok {number} {name}')
                print('\n'.join(f'# {line}' for line in str(error).splitlines()))

    print(f'1..{number}')
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

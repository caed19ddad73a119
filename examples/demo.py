#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one picture through example programs in four languages.

Each program loads the picture with GdkPixbuf, changes it in place through a
view, and passes it back to GdkPixbuf and to GTK. For each hop, the table shows
the address of the pixels before and after, how long the hop took, and how long
the same hop takes with a copy. The demo fails if the pixels have moved.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import gi

gi.require_version('GdkPixbuf', '2.0')
from gi.repository import GdkPixbuf, GLib  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parent
HEADINGS = ('language', 'hop', 'address before', 'address after', 'pixels',
            'µs', 'µs if copied', 'ratio')
LEFT_ALIGNED = ('language', 'hop', 'pixels')


class DemoError(Exception):
    pass


def get_programs(build):
    return {
        'Python': [sys.executable, EXAMPLES / 'python' / 'picture.py'],
        'C': [build / 'examples' / 'c' / 'picture'],
        'gjs': ['gjs', EXAMPLES / 'gjs' / 'picture.js'],
        'Vala': [build / 'examples' / 'vala' / 'picture'],
    }


def load(path):
    try:
        return GdkPixbuf.Pixbuf.new_from_file(str(path))
    except GLib.Error as error:
        raise DemoError(f'cannot load the picture {path}: {error.message}')


def check_programs(programs):
    for language, command in programs.items():
        if shutil.which(str(command[0])) is None:
            raise DemoError(f'cannot run the {language} program: '
                            f'there is no {command[0]}')


def run_program(language, command, picture, output):
    """Runs a program and returns its hops, as lists of strings."""
    command = [str(word) for word in [*command, picture, output, '--hops']]
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8')
    if done.returncode != 0:
        raise DemoError(f'the {language} program failed '
                        f'(status {done.returncode}):\n{done.stderr.strip()}')

    hops = [line.split('\t') for line in done.stdout.splitlines()]
    if not hops or any(len(hop) != 5 for hop in hops):
        raise DemoError(f'the {language} program printed no hops:\n'
                        f'{done.stdout}')
    return hops


def make_row(language, hop):
    name, before, after, time, time_copied = hop
    same = before == after and int(after, 16) != 0
    ratio = float(time_copied) / float(time)
    return (language, name, before, after, 'same' if same else 'MOVED',
            f'{float(time):.2f}', f'{float(time_copied):.2f}',
            f'{ratio:.1f}' if ratio < 100 else f'{ratio:.0f}')


def print_table(rows):
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows)]

    def print_row(cells):
        aligned = [cell.ljust(width) if heading in LEFT_ALIGNED
                   else cell.rjust(width)
                   for heading, cell, width in zip(HEADINGS, cells, widths)]
        print('  '.join(aligned).rstrip())

    print_row(HEADINGS)
    print_row(['─' * width for width in widths])
    for previous, row in zip([rows[0], *rows], rows):
        if row[0] != previous[0]:
            print()
        print_row(row)


def check_same_pictures(outputs):
    first = load(outputs['Python'])
    for language, path in outputs.items():
        other = load(path)
        if (other.get_width(), other.get_height(), other.get_pixels()) != (
                first.get_width(), first.get_height(), first.get_pixels()):
            raise DemoError(f'the {language} program saved a different picture '
                            'from the Python program')


def run(build, picture, output):
    programs = get_programs(build)
    check_programs(programs)
    pixbuf = load(picture)
    print(f'{picture}: {pixbuf.get_width()} × {pixbuf.get_height()} pixels of '
          f'{pixbuf.get_n_channels()} bytes\n', flush=True)

    with tempfile.TemporaryDirectory() as folder:
        rows = []
        outputs = {}
        for language, command in programs.items():
            outputs[language] = (output if language == 'Python' else
                                 pathlib.Path(folder, f'{language}.png'))
            hops = run_program(language, command, picture, outputs[language])
            rows += [make_row(language, hop) for hop in hops]

        print_table(rows)
        n_moved = sum('MOVED' in row for row in rows)
        if n_moved:
            raise DemoError(f'the pixels moved in {n_moved} of {len(rows)} '
                            'hops, so these hops copied them')
        check_same_pictures(outputs)

    print(f'\nNone of the {len(rows)} hops copied the pixels, and all programs '
          'saved the same picture:\nred and blue exchanged in the lower half, '
          f'below a white line.\nSaved: {output}')


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, required=True,
                        metavar='DIR', help='the build folder')
    parser.add_argument('--output', type=pathlib.Path, required=True,
                        metavar='FILE', help='where to save the picture, as PNG')
    parser.add_argument('picture', type=pathlib.Path,
                        help='a file that GdkPixbuf can load')
    arguments = parser.parse_args()

    try:
        run(arguments.build.resolve(), arguments.picture, arguments.output)
    except DemoError as error:
        sys.stdout.flush()
        print(f'demo: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())

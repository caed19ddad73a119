#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the demo as `./run demo` does: test_demo.py DEMO BUILD-FOLDER"""

import pathlib
import random
import subprocess
import sys
import tempfile

import gi

gi.require_version('GdkPixbuf', '2.0')
from gi.repository import GdkPixbuf, GLib  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'support'))

from complaints import find_complaints  # noqa: E402

# A program of the kind that the demo runs, whose second hop has copied.
MOVED = '''#!/bin/sh
cp "$1" "$2"
printf 'GdkPixbuf -> view\\t0x1000\\t0x1000\\t1.0\\t2.0\\n'
printf 'view -> GdkPixbuf\\t0x1000\\t0x2000\\t3.0\\t4.5\\n'
'''


def run(demo, build, picture, output):
    return subprocess.run(
        [sys.executable, demo, '--build', build, '--output', output, picture],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')


def make_picture(path):
    pixels = GLib.Bytes.new(random.randbytes(40 * 30 * 3))
    GdkPixbuf.Pixbuf.new_from_bytes(pixels, GdkPixbuf.Colorspace.RGB, False, 8, 40, 30,
                                    120).savev(str(path), 'png', [], [])


def check_table(demo, build, folder):
    output = folder / 'out.png'
    result = run(demo, build, folder / 'in.png', output)
    assert result.returncode == 0, result.stderr
    for language, n_hops in {'Python': 6, 'C': 3, 'gjs': 3, 'Vala': 3}.items():
        rows = [line for line in result.stdout.splitlines()
                if line.startswith(language + '  ')]
        assert len(rows) >= n_hops, result.stdout
        assert all(' same ' in row for row in rows), result.stdout
    assert result.stdout.splitlines()[-1] == f'Saved: {output}'
    assert GdkPixbuf.Pixbuf.new_from_file(str(output)).get_width() == 40


def check_moved(demo, build, folder):
    for program in ('c/picture', 'vala/picture'):
        path = folder / 'examples' / program
        path.parent.mkdir(parents=True)
        path.write_text(MOVED)
        path.chmod(0o755)

    result = run(demo, folder, folder / 'in.png', folder / 'out.png')
    assert result.returncode == 1, result
    row = next(line for line in result.stdout.splitlines() if 'MOVED' in line)
    assert '0x1000' in row and '0x2000' in row, row


def check_refused(demo, build, folder, picture, part):
    output = folder / 'refused.png'
    result = run(demo, build, picture, output)
    assert result.returncode == 1, result
    first, *_ = find_complaints(result.stderr)
    assert first.startswith('demo: ') and part in result.stderr, result.stderr
    assert 'Traceback' not in result.stderr
    assert not output.exists()


def main(demo, build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_picture(folder / 'in.png')
        (folder / 'text.jpg').write_text('not a picture')
        checks = [
            ('table', lambda: check_table(demo, build, folder)),
            ('moved', lambda: check_moved(demo, build, folder)),
            ('missing picture',
             lambda: check_refused(demo, build, folder, folder / 'none.jpg', 'none.jpg')),
            ('broken picture',
             lambda: check_refused(demo, build, folder, folder / 'text.jpg', 'text.jpg')),
            ('not built',
             lambda: check_refused(demo, folder / 'none', folder, folder / 'in.png',
                                   'C program')),
        ]

        n_failed = 0
        print(f'1..{len(checks)}')
        for number, (name, check) in enumerate(checks, 1):
            try:
                check()
                print(f'ok {number} {name}')
            except AssertionError as error:
                n_failed += 1
                print(f'not ok {number} {name}')
                print('\n'.join(f'# {line}' for line in str(error).splitlines()))
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

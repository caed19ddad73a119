#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the programs of README.md and of docs/installation.md, and checks their output.

test_readme.py SOURCE_ROOT LANGUAGE…: the environment must be set up to find the library in the
build tree or in an installation. "opening" is the Python program at the top of README.md.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from blocks import get_block, read_blocks  # noqa: E402

SECTION = 'The same in four languages'
OPENING = 'opening'
OPENING_CHECK = """
offset = 90 * picture.get_rowstride() + 120 * picture.get_n_channels()
assert crop.props.pixels == picture.props.pixels + offset
assert crop.get_pixels()[-3:] == bytes([0, 128, 255])
"""


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f'{shlex.join(command)} ended with {result.returncode}:\n'
                           f'{result.stdout}{result.stderr}')

    return result.stdout


def run_c(source, folder):
    flags = run(['pkg-config', '--cflags', '--libs', 'mtldl-1'], folder).split()
    compiler = shlex.split(os.environ.get('CC', 'cc'))
    run([*compiler, '-Wall', '-Werror', source.name, *flags, '-o', 'tensor-c'], folder)
    return run(['./tensor-c'], folder)


def run_vala(source, folder):
    # The build tree lacks the .deps file of an installation.
    vapi_dirs = [f'--vapidir={path}'
                 for path in os.environ.get('MTL_VAPI_DIR', '').split(':') if path]
    packages = ['--pkg=gio-2.0', '--pkg=mtldl-1']
    run(['valac', '-q', *vapi_dirs, *packages, source.name, '-o', 'tensor-vala'], folder)
    return run(['./tensor-vala'], folder)


def run_python(source, folder):
    return run([sys.executable, source.name], folder)


def run_js(source, folder):
    return run(['gjs', '-m', source.name], folder)


RUNNERS = {
    'c': ('tensor.c', run_c),
    'python': ('tensor.py', run_python),
    'js': ('tensor.js', run_js),
    'vala': ('tensor.vala', run_vala),
    OPENING: ('opening.py', run_python),
}


def get_program(root, language):
    """Returns the file and the text of a program, and its expected output."""
    if language == OPENING:
        blocks = read_blocks(root / 'README.md')
        return 'README.md', get_block(blocks, '', 'python') + OPENING_CHECK, ''

    blocks = read_blocks(root / 'docs' / 'installation.md')
    return ('docs/installation.md', get_block(blocks, SECTION, language),
            get_block(blocks, SECTION, 'text'))


def main(root, languages):
    failed = 0

    print(f'1..{len(languages)}', flush=True)
    for number, language in enumerate(languages, 1):
        name, runner = RUNNERS[language]
        page, program, expected = get_program(pathlib.Path(root), language)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / name
            source.write_text(program, encoding='utf-8')
            try:
                printed = runner(source, folder)
            except RuntimeError as error:
                printed = str(error)

        passed = printed == expected
        failed += not passed
        print(f'{"ok" if passed else "not ok"} {number} {page}: {language}')
        if not passed:
            for line in f'expected:\n{expected}printed:\n{printed}'.splitlines():
                print(f'# {line}')
        sys.stdout.flush()

    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))

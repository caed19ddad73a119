# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the examples of docs/other-languages.md against the build tree.

All of them print the same.
"""

import os
import pathlib
import shutil

import pytest

from blocks import get_block, read_blocks
from conftest import need, run

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / 'examples'
EXPECTED = ROOT / 'tests' / 'bindings' / 'languages' / 'tensor.txt'


@pytest.mark.parametrize('program, path', [('lua5.3', 'lua/tensor.lua'), ('ruby', 'ruby/tensor.rb'),
                                           ('perl', 'perl/tensor.pl')])
def test_scripts(program, path, tmp_path):
    need(program)

    assert run(tmp_path, program, str(EXAMPLES / path)) == EXPECTED.read_text(encoding='utf-8')


def test_d(gir, tmp_path):
    """The commands are those of the page. girtod finds the GIR as if it were installed."""
    need('girtod', 'ldc2')
    commands = get_block(read_blocks(ROOT / 'docs' / 'other-languages.md'), 'D', 'sh', 0)
    girs = tmp_path / 'share' / 'gir-1.0'
    girs.mkdir(parents=True)
    shutil.copy(gir, girs)
    for name in ('APILookup.txt', 'tensor.d'):
        shutil.copy(EXAMPLES / 'd' / name, tmp_path)

    folders = f'{girs.parent}:{os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"}'
    run(tmp_path, 'bash', '-e', '-c', commands, XDG_DATA_DIRS=folders)
    assert run(tmp_path, './tensor') == EXPECTED.read_text(encoding='utf-8')

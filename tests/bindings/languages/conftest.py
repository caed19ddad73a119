# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the GIR of the build tree, and runs programs in other languages."""

import os
import pathlib
import shutil
import subprocess

import pytest


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f'{program} is not installed')


def run(folder, *command, **environment):
    """Returns what the command prints. A warning of GLib ends it."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120,
                            env={**os.environ, 'G_DEBUG': 'fatal-warnings', **environment})
    assert (result.returncode, result.stderr) == (0, ''), result.stderr + result.stdout
    return result.stdout


@pytest.fixture
def gir():
    folders = os.environ['GI_TYPELIB_PATH'].split(':')
    return next(path for folder in folders if folder
                for path in pathlib.Path(folder).glob('Mtl-1.gir'))

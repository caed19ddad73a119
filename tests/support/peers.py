# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds a Python that has the peers: the one in the tests' venv, or this one."""

import os
import pathlib
import subprocess
import sys

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def find_python_with(module):
    """Returns the path of a Python that can import the module, or None."""
    venv = pathlib.Path(os.environ.get('MTL_VENV_DIR', SOURCE_ROOT / '.venv'))

    for python in (venv / 'bin' / 'python', pathlib.Path(sys.executable)):
        if python.exists() and subprocess.run([python, '-c', f'import {module}'],
                                              capture_output=True).returncode == 0:
            return str(python)

    return None

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the tests, and runs them with nothing of the tree, which no installed file may name."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / 'maintainer'))
import builds  # noqa: E402


def install(prefix):
    folder = builds.configure('installed-tests', '--libdir', 'lib', '-Dkernels=portable',
                              '-Dexamples=false', '-Dinstalled_tests=true',
                              '-Dpython_overrides_dir=lib/python/gi/overrides')
    builds.run(['meson', 'configure', folder, f'-Dprefix={prefix}'])
    builds.build('installed-tests')
    builds.run(['meson', 'install', '-C', folder, '--no-rebuild', '--quiet'])


def main():
    builds.need('to run installed tests', 'gnome-desktop-testing')
    with tempfile.TemporaryDirectory() as prefix:
        install(prefix)
        named = subprocess.run(['grep', '-r', '-l', '-F', ROOT, prefix]).returncode == 0
        if named:
            print('These installed files name the tree')
        done = subprocess.run(
            ['gnome-desktop-testing-runner', f'--parallel={builds.JOBS}', '--timeout=900', '-d',
             f'{prefix}/share', 'mtldl-1'], cwd='/', env={
                'PATH': os.environ['PATH'], 'HOME': os.environ['HOME'], 'LC_ALL': 'C.UTF-8',
                'LD_LIBRARY_PATH': f'{prefix}/lib', 'PYTHONPATH': f'{prefix}/lib/python',
                'GI_TYPELIB_PATH': f'{prefix}/lib/girepository-1.0',
                'XDG_DATA_DIRS': f'{prefix}/share:/usr/share'})
    return named or done.returncode != 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except builds.Failed:
        sys.exit(1)

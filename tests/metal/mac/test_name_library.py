#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks introspection/name-library.sh, which only macOS needs: test_name_library.py COMPILER

A GIR whose include lies in a folder of its own, as in Homebrew's, becomes a typelib that names its
library by the path.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / 'introspection' / 'name-library.sh'
LIBRARY = '/opt/some where/lib/libinner.0.dylib'

GIR = '''<?xml version="1.0"?>
<repository version="1.2" xmlns="http://www.gtk.org/introspection/core/1.0"
            xmlns:c="http://www.gtk.org/introspection/c/1.0">
  {include}
  <namespace name="{name}" version="1.0" c:identifier-prefixes="{name}" c:symbol-prefixes="x">
    <alias name="Number" c:type="{name}Number"><type name="gint" c:type="gint"/></alias>
  </namespace>
</repository>
'''


def write_gir(folder, name, include=''):
    folder.mkdir(exist_ok=True)
    path = folder / f'{name}-1.0.gir'
    path.write_text(GIR.format(name=name, include=include))
    return path


def name_library(compiler, gir, installed, *arguments):
    return subprocess.run([SCRIPT, compiler, gir, 'Outer-1.0.typelib', LIBRARY, *arguments],
                          env={**os.environ, 'MESON_INSTALL_DESTDIR_PREFIX': str(installed)},
                          capture_output=True, text=True)


def main(compiler):
    with tempfile.TemporaryDirectory(prefix='a folder ') as name:
        folder = Path(name)
        gir = write_gir(folder, 'Outer', '<include name="MtlInner" version="1.0"/>')
        inner = write_gir(folder / 'inner', 'MtlInner').parent
        typelib = folder / 'Outer-1.0.typelib'

        lost = name_library(compiler, gir, folder)
        assert lost.returncode != 0 and 'MtlInner' in lost.stderr, lost
        assert not typelib.exists()

        done = name_library(compiler, gir, folder, f'--includedir={inner}')
        assert done.returncode == 0, done
        assert LIBRARY.encode() in typelib.read_bytes()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))

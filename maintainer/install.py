# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: ./run install [PREFIX]

Builds what users need, and installs it, by default into ~/.local, or into /usr/local as root. Then
prints which variables to set. It has a build folder of its own, as the demo uses another one.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import builds

SHARE = '/usr/local/share:/usr/share'


def may_write(folder):
    """Returns whether the caller may write to it, or make it."""
    while not folder.exists():
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def print_exports(folder, prefix):
    """The variables by which programs find what is there."""
    builds.say(f'mtldl is in {prefix}')
    if str(prefix) == '/usr':
        return
    print('To use it, put these lines into ~/.profile, or type them:\n', file=sys.stderr, flush=True)
    paths = {'PATH': 'bin', 'PKG_CONFIG_PATH': 'lib/pkgconfig', 'LD_LIBRARY_PATH': 'lib',
             'GI_TYPELIB_PATH': 'lib/girepository-1.0', 'XDG_DATA_DIRS': 'share'}
    if sys.platform == 'darwin':
        del paths['LD_LIBRARY_PATH']
    overrides = [Path(path).parents[2] for path in builds.introspect(folder, 'installed').values()
                 if path.endswith('/gi/overrides/Mtl.py')]
    for name, path in [*((name, prefix / path) for name, path in paths.items()),
                       *(('PYTHONPATH', path) for path in overrides)]:
        rest = {'PATH': ':$PATH', 'XDG_DATA_DIRS': f':${{XDG_DATA_DIRS:-{SHARE}}}'}.get(
            name, f'${{{name}:+:${name}}}')
        quoted = subprocess.run(['bash', '-c', 'printf %q "$0"', path], check=True,
                                capture_output=True, text=True).stdout
        print(f'export {name}={quoted}{rest}')


def main(caller, prefix=None):
    if prefix and prefix.startswith('-'):
        sys.exit(__doc__)
    default = '/usr/local' if os.geteuid() == 0 else Path.home() / '.local'
    prefix = Path(os.path.normpath(Path(caller, prefix or default)))

    builds.say(f'Building for {prefix}')
    folder = builds.folder_of('install')
    if (folder / 'build.ninja').exists():
        builds.run(['meson', 'configure', folder, f'-Dprefix={prefix}'])
    builds.configure('install', '--prefix', prefix, '--libdir', 'lib', '-Dtests=false',
                     '-Dexamples=false')
    builds.build('install')

    as_root = []
    if not may_write(prefix):
        if not shutil.which('sudo'):
            sys.exit(f'You may not write to {prefix}, and there is no sudo here. Name another '
                     'folder: ./run install ~/.local')
        as_root = ['sudo']
    builds.run([*as_root, 'meson', 'install', '-C', folder, '--no-rebuild', '--quiet'])
    print_exports(folder, prefix)


if __name__ == '__main__':
    try:
        main(*sys.argv[1:])
    except builds.Failed:
        sys.exit(1)

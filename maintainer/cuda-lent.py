#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs what `./run cuda` needs into a folder of some megabytes, for a machine with a GPU and its
driver where nothing can be built or installed: the library, GLib, PyGObject, the test programs and
the benchmark. The machine needs a Python of the version that is given here, with NumPy and pytest.

There, FOLDER/run takes the arguments of `./run cuda`. If a command may take ten minutes:

    FOLDER/run suite peers --seconds 500
    FOLDER/run sanitizer --seconds 500
    FOLDER/run bench
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import builds
import cuda
from builds import ROOT, run

GLIB = ('glib', 'gobject', 'gio', 'gmodule')
TYPELIBS = ('GLib', 'GObject', 'Gio', 'GModule', 'GIRepository')
OURS = ('libgirepository-1.0.so.1', 'libdeflate.so.0')
# Most machines have these. They are only used where they are missing.
BASE = ('libblkid.so.1', 'libmount.so.1', 'libselinux.so.1', 'libpcre2-8.so.0', 'libffi.so.8',
        'libz.so.1')
SCRIPTS = ('maintainer/cuda.py', 'maintainer/cuda_device.py', 'tests/conftest.py',
           'tests/bench/bench_cuda.py', 'tests/bench/cuda_contenders.py',
           'tests/bench/random_copies.py', 'docs/cuda.md')

START = """\
#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
here=$(cd "$(dirname "$0")" && pwd)
for library in "$here"/base/*; do
  ldconfig -p 2>/dev/null | grep -qF "${library##*/} " || cp -n "$library" "$here/lib/"
done
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GI_TYPELIB_PATH="$here/typelibs" PYTHONPATH="$here/site${PYTHONPATH:+:$PYTHONPATH}"
exec "${PYTHON:-python3}" "$here/maintainer/cuda.py" "$@"
"""


def make_python(program):
    """A virtual environment with what builds PyGObject, and PyGObject."""
    folder = Path(f'{builds.folder_of("cuda-lent")}-venv')
    python = folder / 'bin' / 'python3'
    if not (folder / 'done').exists():
        run([program, '-m', 'venv', folder])
        pip = [python, '-m', 'pip', 'install', '--quiet']
        # Debian's meson asks for distutils, which setuptools has.
        run([*pip, 'meson-python', 'meson', 'ninja', 'setuptools'])
        # Later ones need a newer libgirepository. Cairo is not used.
        run([*pip, '--no-deps', '--no-build-isolation', '--config-settings',
             'setup-args=-Dpycairo=disabled', 'PyGObject<3.51'],
            env={**os.environ, 'PATH': f'{folder}/bin:{os.environ["PATH"]}'})
        (folder / 'done').touch()
    return python


def build(python):
    folder = builds.configure(
        'cuda-lent', f'-Dpython_interpreter={python}', '-Dintrospection=enabled',
        '-Dpython=enabled', '-Dvapi=disabled', '-Dgjs=disabled', '-Dviewer=disabled',
        '-Ddocs=disabled', '-Dnls=disabled', '-Dexamples=false', '-Dpixbuf=disabled',
        '-Dgst=disabled', '-Dgtk=disabled', '-Dcli=false')
    builds.build('cuda-lent')
    tests, left_out = cuda.find_tests(folder)
    builds.build('cuda-lent', *(os.path.relpath(test.command[0], folder) for test in tests))
    return folder, tests, left_out


def system_library(name):
    """The path of a library that the linker knows."""
    known = subprocess.run(['ldconfig', '-p'], check=True, capture_output=True, text=True,
                           env={**os.environ, 'PATH': f'/sbin:{os.environ["PATH"]}'}).stdout
    paths = [line.rpartition(' => ')[2] for line in known.splitlines()
             if line.strip().startswith(f'{name} ')]
    if not paths:
        raise SystemExit(f'There is no {name} on this machine')
    return paths[0]


def copy_libraries(build_folder, folder):
    copy(build_folder / 'mtldl' / 'libmtldl-1.so.0', folder / 'lib')
    for name in (*(f'lib{part}-2.0.so.0' for part in GLIB), *OURS):
        copy(system_library(name), folder / 'lib')
    for name in BASE:
        copy(system_library(name), folder / 'base')
    for path in (build_folder / 'introspection').glob('*.typelib'):
        copy(path, folder / 'typelibs')
    of_system = Path(system_library('libglib-2.0.so.0')).parent / 'girepository-1.0'
    for name in TYPELIBS:
        copy(of_system / f'{name}-2.0.typelib', folder / 'typelibs')


def copy_python(python, build_folder, folder):
    """PyGObject with the overrides. Those of other libraries are not needed."""
    code = 'import gi, sys; sys.stdout.write(gi.__path__[-1])'
    gi = subprocess.run([python, '-c', code], check=True, capture_output=True, text=True).stdout
    shutil.copytree(gi, folder / 'site' / 'gi', ignore=shutil.ignore_patterns('__pycache__'))
    overrides = folder / 'site' / 'gi' / 'overrides'
    run(['meson', 'install', '-C', build_folder, '--quiet', '--no-rebuild', '--destdir',
         folder / 'installed', '--tags', 'python-runtime'])
    for path in (folder / 'installed').rglob('overrides'):
        shutil.copytree(path, overrides, dirs_exist_ok=True)
    shutil.rmtree(folder / 'installed')


def copy(path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(os.path.realpath(path), folder / Path(path).name)


def pack_tests(tests, left_out, folder):
    packed = []
    for test in tests:
        program = Path(test.command[0])
        copy(program, folder / 'programs')
        variables = {name: value for name, value in test.environment.items() if '/' not in value}
        packed.append({
            'name': test.name, 'suites': sorted(test.suites), 'environment': variables,
            'command': [f'@ROOT@/programs/{program.name}', *test.command[1:]]})
    left_out = {**left_out, 'JavaScript, Vala and the examples': 'only C and Python are packed'}
    (folder / 'packed-tests.json').write_text(json.dumps(
        {'commit': cuda.commit(), 'tests': packed, 'left_out': left_out}, indent=1))


def copy_scripts(folder):
    for path in (*map(ROOT.joinpath, SCRIPTS), *(ROOT / 'tests' / 'support').glob('*.py'),
                 *(ROOT / 'tests' / 'cuda').glob('*.py')):
        copy(path, folder / path.relative_to(ROOT).parent)
    start = folder / 'run'
    start.write_text(START)
    start.chmod(0o755)


def strip(folder):
    for path in folder.rglob('*'):
        if path.is_file() and path.read_bytes()[:4] == b'\x7fELF':
            run(['strip', '--strip-unneeded', path])


def main(arguments):
    parser = argparse.ArgumentParser(prog='./run cuda-lent', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--python', metavar='PROGRAM', default='python3.12',
                        help='of the version that the other machine has, by default python3.12')
    parser.add_argument('folder', type=Path)
    arguments = parser.parse_args(arguments)
    if not shutil.which(arguments.python):
        parser.error(f'there is no {arguments.python}')
    if arguments.folder.exists() and any(arguments.folder.iterdir()):
        parser.error(f'{arguments.folder} is not empty')
    folder = arguments.folder.resolve()

    python = make_python(arguments.python)
    build_folder, tests, left_out = build(python)
    copy_libraries(build_folder, folder)
    copy_python(python, build_folder, folder)
    pack_tests(tests, left_out, folder)
    copy_scripts(folder)
    strip(folder)
    size = sum(path.stat().st_size for path in folder.rglob('*') if path.is_file())
    print(f'{folder} has {size / 2**20:.1f} MiB')


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except builds.Failed as failure:
        sys.exit(f'{failure} failed')

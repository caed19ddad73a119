# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folders that the library is built in, and the environments of Python that tests need.

usage: builds.py build   configures the folder for everyday use, and builds it
       builds.py docs    builds the site, where warnings are errors
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.path.abspath(os.environ.get('MTL_BUILD_DIR') or ROOT / 'build'))
VENV = Path(os.path.abspath(os.environ.get('MTL_VENV_DIR') or ROOT / '.venv'))
PYTHON = sys.executable
CLANG = os.environ.get('OBJC', 'clang')
JOBS = os.cpu_count() or 1

C_ALONE = ['-Dintrospection=disabled', '-Dvapi=disabled', '-Dpython=disabled', '-Dgjs=disabled',
           '-Dpixbuf=disabled', '-Dgst=disabled', '-Dgtk=disabled', '-Dexamples=false']


class Failed(Exception):
    """A command of a step went wrong, and has said how."""


def say(text):
    print(f'\n\033[1m{text}\033[0m', file=sys.stderr, flush=True)


def run(command, **more):
    if subprocess.run([str(word) for word in command], cwd=ROOT, **more).returncode != 0:
        raise Failed(' '.join(map(str, command)))


def quietly(command, log, **more):
    """Only prints what a command that fails has printed."""
    with open(log, 'w+') as output:
        try:
            run(command, stdout=output, stderr=subprocess.STDOUT, **more)
        except Failed:
            output.seek(0)
            print(output.read(), file=sys.stderr)
            raise


def need(why, *packages):
    """Installs packages of the system."""
    run([ROOT / 'maintainer' / 'need.sh', why, *packages])


@functools.cache
def need_clang_tools():
    """Installs what belongs to the installed version of clang: the runtime of the sanitizers, and
    the tool that reads its coverage. Returns the version."""
    version = subprocess.run([CLANG, '-dumpversion'], check=True, capture_output=True,
                             text=True).stdout.partition('.')[0].strip()
    need(f'with clang {version}', f'libclang-rt-{version}-dev', f'llvm-{version}')
    return version


# --- How the folders are configured


def with_metal():
    """Metal over its double. clang compiles all of it, so that its kernels are tested, too.
    valgrind does not know clang's default format of debugging information."""
    return ['-Dmetal=double', '-Dc_args=-gdwarf-4', '-Dobjc_args=-gdwarf-4']


def instrumented(sanitizers, arguments, *options):
    """One compiler and one set of arguments for C and Objective-C. GLib calls functions through
    pointers of other types, so that check is off."""
    need_clang_tools()
    arguments = f'-fno-sanitize=function {arguments}'
    return [f'-Db_sanitize={sanitizers}', '-Db_lundef=false', '-Dmetal=double',
            f'-Dc_args={arguments}', f'-Dobjc_args={arguments}', '-Doptimization=1',
            '-Dfuzz=true', '-Dcli=false', *C_ALONE, *options]


def with_coverage():
    """Not optimized, so that the branches are those of the source. The counters are atomic, because
    threads would lose some counts otherwise."""
    return ['-Db_coverage=true', '-Db_lundef=false', '-Dmetal=double', '-Doptimization=0',
            '-Dc_args=-fprofile-update=atomic', '-Dobjc_args=-fprofile-update=atomic',
            '-Dkernels=portable', '-Dcli=false', *C_ALONE]


def emulated(architecture, endian, *compiler):
    """Another processor, which qemu plays."""
    need('for other processors', 'qemu-user',
         f'gcc-{"aarch64" if architecture == "arm64" else architecture}-linux-gnu')
    file = f'{BUILD}-{architecture}-{compiler[0]}.ini'
    run([ROOT / 'maintainer' / 'cross-file.sh', file, f'{BUILD}-{architecture}-sysroot',
         architecture, endian, *compiler])
    return ['--cross-file', file, *C_ALONE]


def for_macos(cpu, sdk, int64, *options):
    tree = f'{BUILD}-macos-{cpu}-tree'
    tools = venv('macos').parent.parent
    run([PYTHON, 'tests/metal/cross-macos/make-tree.py', tree, tools, cpu, sdk, int64])
    return ['--cross-file', f'{tree}/cross.ini', '--werror', '-Ddebug=false',
            '-Dlibdeflate=enabled', '-Dpixbuf=enabled', '-Dintrospection=disabled',
            '-Dvapi=disabled', '-Dpython=disabled', '-Dgjs=disabled', *options]


BY_CLANG = {'CC': CLANG, 'CXX': f'{CLANG}++'}

# The options of each folder, and how its environment differs.
BUILDS = {
    '': (lambda: [], {}),
    'metal': (with_metal, BY_CLANG),
    # The tests in C, those in Python and the fuzz targets use the same library.
    'sanitized': (lambda: instrumented('address,undefined', '-fsanitize=fuzzer-no-link',
                                       '-Dpython=enabled', '-Dgst=enabled', '-Dgtk=enabled'),
                  BY_CLANG),
    'races': (lambda: instrumented('thread', '', '-Dkernels=portable', '-Dgst=enabled'), BY_CLANG),
    'coverage': (with_coverage, BY_CLANG),
    'arm64-clang': (lambda: emulated('arm64', 'little', CLANG, '--target=aarch64-linux-gnu'), {}),
    'arm64-gcc': (lambda: emulated('arm64', 'little', 'aarch64-linux-gnu-gcc'), {}),
    's390x': (lambda: emulated('s390x', 'big', 's390x-linux-gnu-gcc'), {}),
    # Both processors, both SDKs, both types that gint64 has: the most that two builds can show.
    'macos-aarch64': (lambda: for_macos('aarch64', '26', 'long', '-Doptimization=1'), {}),
    'macos-x86_64': (lambda: for_macos('x86_64', '12', 'long long', '-Doptimization=0'), {}),
    'free-threaded': (lambda: [
        f'-Dpython_interpreter={free_threaded_python()}', '-Dkernels=portable',
        '-Dexamples=false', '-Dgst=disabled', '-Dgtk=disabled', '-Dpixbuf=disabled',
        '-Dgjs=disabled', '-Dvapi=disabled', '-Dviewer=disabled'], {}),
}


def free_threaded_python():
    """Builds a Python without its global lock, unless it is there."""
    folder = f'{BUILD}-free-threaded-python'
    run([ROOT / 'maintainer' / 'free-threaded-python.sh', folder])
    return f'{folder}/bin/python3'


def folder_of(name=''):
    return Path(f'{BUILD}-{name}' if name else BUILD)


@functools.cache
def configure(name='', *options):
    """A folder that is configured follows what has changed in meson's files."""
    folder = folder_of(name)
    if (folder / 'build.ninja').exists():
        quietly(['ninja', '-C', folder, 'build.ninja'], folder / 'configure.log')
        return folder
    choose, environment = BUILDS.get(name, BUILDS[''])
    quietly(['meson', 'setup', folder, ROOT, f'-Dpython_interpreter={PYTHON}', *choose(),
             *options], f'{folder}.log', env=os.environ | environment)
    os.remove(f'{folder}.log')
    return folder


def introspect(folder, kind):
    return json.loads((folder / 'meson-info' / f'intro-{kind}.json').read_text())


def files_needed_by(tests, folder):
    """The files of a build that the tests run or load, relative to its folder."""
    files = {target['id']: target['filename'] for target in introspect(folder, 'targets')}
    return sorted({os.path.relpath(path, folder) for test in tests for id_ in test['depends']
                   for path in files[id_]})


def build(name='', *targets):
    """Without a target, builds those for users, which are all but the programs of tests."""
    folder = configure(name)
    if not targets:
        targets = [os.path.relpath(path, folder) for target in introspect(folder, 'targets')
                   if target['build_by_default'] for path in target['filename']]
    quietly(['ninja', '-C', folder, *targets], folder / 'compile.log')
    return folder


def build_reference():
    """Builds the site. The folder may have been configured before gi-docgen was there."""
    need('for the reference', '@docs')
    folder = build()
    if 'reference-links' not in (folder / 'build.ninja').read_text():
        quietly(['meson', 'setup', '--reconfigure', folder], folder / 'configure.log')
    build('', 'docs/reference-links.stamp')


@functools.cache
def environment(name=''):
    """The variables with which programs find a build instead of an installation, and the everyday
    build for parts that it lacks, such as the GIR."""
    code = 'import json, os; print(json.dumps(dict(os.environ)))'
    done = subprocess.run(['meson', 'devenv', '-C', configure(name), PYTHON, '-c', code], cwd=ROOT,
                          env=environment() if name else None, check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout.splitlines()[-1])


# --- Environments of Python

# Where each is, and the arguments of pip. The versions are pinned, so that a newer one is a
# changed line.
VENVS = {
    'peers': (VENV, [['--requirement', 'tests/support/requirements.txt',
                      '--requirement', 'tests/bindings/peers/requirements.txt'],
                     ['--no-deps', '--requirement', 'tests/support/requirements-alone.txt']]),
    'site': (VENV / 'site', [['--no-deps', '--requirement', 'tests/docs/requirements.txt']]),
    'clusters': (VENV / 'clusters',
                 [['--requirement', 'tests/bindings/clusters/requirements.txt']]),
    'cuda-toolkits': (VENV / 'cuda-toolkits',
                      [['--no-deps', '--requirement', 'tests/cuda/requirements.txt']]),
    'macos': (VENV / 'macos', [['--requirement', 'tests/metal/cross-macos/requirements.txt']]),
    'newest': (Path(f'{BUILD}-newest-venv'), [['--requirement', 'tests/support/newest.txt']]),
}
WHEELS_FOR_MACOS = ['--no-deps', '--only-binary', ':all:', '--platform',
                    'macosx_10_13_universal2', '--python-version', '3.13', '--abi', 'cp313',
                    '--abi', 'abi3', '--requirement',
                    'tests/metal/cross-macos/requirements-macos.txt']


def required_by(name):
    paths = {argument for arguments in VENVS[name][1] for argument in arguments if '/' in argument}
    if name == 'macos':
        paths.add('tests/metal/cross-macos/requirements-macos.txt')
    return ''.join((ROOT / path).read_text() for path in sorted(paths))


@functools.cache
def venv(name='peers'):
    """Installs what is missing, and returns the interpreter."""
    folder, all_arguments = VENVS[name]
    python, stamp = folder / 'bin' / 'python', folder / 'requirements.txt'
    required = required_by(name)
    if stamp.exists() and sorted(stamp.read_text().split()) == sorted(required.split()):
        return python
    if sys.platform == 'linux':
        need('for packages of Python', 'python3-venv', 'g++')
    say(f'Installing packages of Python: {name}')
    run([PYTHON, '-m', 'venv', '--system-site-packages', folder])
    for arguments in all_arguments:
        run([python, '-m', 'pip', 'install', '--quiet', *arguments])
    if name == 'macos':
        run([python, '-m', 'pip', 'download', '--quiet', '--dest', folder / 'wheels',
             *WHEELS_FOR_MACOS])
    stamp.write_text(required)
    return python


if __name__ == '__main__':
    try:
        {'build': build, 'docs': build_reference}[sys.argv[1]]()
    except Failed:
        sys.exit(1)

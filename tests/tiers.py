# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests in three tiers, which tests/README.md describes: ./run test

Each check calls meson in a build folder, or pytest, or a script, and leaves reports in
build/reports. If one fails, the others still run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS / 'support'), str(TESTS.parent / 'maintainer')]
import builds  # noqa: E402
import summary  # noqa: E402
from builds import BUILD, JOBS, PYTHON, ROOT, Failed, say  # noqa: E402

REPORTS = BUILD / 'reports'

QUICK, ALL, DEEP = range(3)

# The folders here, which are areas. Those in the first line have tests that meson runs.
ROOMS = set('core kernels files processes metal cuda bridges bindings viewer packaging docs '
            'cli fuzz bench'.split())

# The needs of checks: an empty text if they are met here.
LINUX = '' if sys.platform == 'linux' else 'Linux'
MACOS = '' if sys.platform == 'darwin' else 'macOS'
IS_DEBIAN = Path('/etc/debian_version').exists()
AS_ROOT = '' if IS_DEBIAN and os.geteuid() == 0 else 'Debian, and root, to make new systems'
EMULATION = '' if IS_DEBIAN and os.uname().machine == 'x86_64' else 'Debian on x86-64'
NEW_PYTHON = AS_ROOT or ('' if sys.version_info >= (3, 14) else 'Python 3.14 or later')


asked = argparse.Namespace(tier=QUICK, areas=[])  # without areas, for all


@dataclass
class Check:
    tier: int  # the first that has it
    areas: str
    report: str
    name: str
    action: object
    where: str = ''
    again: bool = False  # runs tests of other checks in another way

    def variables(self, **more):
        """Tests that draw random cases take a time, less if they run again, unless for a release."""
        seconds = (2, 3 if self.again else 10, 60)[asked.tier]
        return {'MTL_TEST_SECONDS': str(seconds)} | os.environ | more


def asked_of(check):
    """The areas that were asked for, unless they are all that the check has."""
    areas = set(check.areas.split())
    return set() if areas <= set(asked.areas) else areas & set(asked.areas)


# --- Meson


def tests_in(folder, *wanted):
    """The names of the tests that are in one suite at least of each set that is not empty."""
    return [test['name'] for test in builds.introspect(folder, 'tests')
            if all({name.partition(':')[2] for name in test['suite']} & set(suites)
                   for suites in wanted if suites)]


NOISE = re.compile(r'(Entering|ninja:|\[\d+/\d+\]|Full log|Ok:|Expected|Fail: +0|Unexpected|'
                   r'Skipped: +0|Timeout: +0|$)')


def run_meson(check, folder, tests, *arguments):
    """Runs the tests of these names."""
    if not tests:
        raise Failed('The search for tests')
    logs = folder / 'meson-logs'
    for path in logs.glob('testlog*'):
        path.unlink()
    process = subprocess.Popen(
        ['meson', 'test', '-C', folder, '--num-processes', str(JOBS), '--print-errorlogs',
         *arguments, *tests],
        cwd=ROOT, env=check.variables(), text=True, errors='replace', stdout=subprocess.PIPE)
    for line in process.stdout:
        if not NOISE.match(line):
            print(line, end='', flush=True)
    for path in [*logs.glob('testlog*.json'), *logs.glob('testlog*.junit.xml')]:
        shutil.copy(path, REPORTS / f'{check.report}{path.suffix}')
    if process.wait() != 0 or not (REPORTS / f'{check.report}.xml').exists():
        raise Failed('meson test')


def meson(suites, build='', setup='', deep='', only='', before=None):
    """Runs the suites, in a release those of `deep` too, or only the tests of some names. The setup
    leaves out what it cannot affect, see tests/meson.build."""
    def action(check):
        folder = builds.build(build)
        wanted = (f'{suites} {deep}' if asked.tier == DEEP else suites).split()
        if before:
            before(asked_of(check))
        tests = [name for name in tests_in(folder, wanted, asked_of(check))
                 if re.match(only, name)]
        suffix = '_deep' if asked.tier == DEEP else ''
        run_meson(check, folder, tests, *(['--setup', setup + suffix] if setup
                                          else ['--timeout-multiplier', '4']))
    return action


# --- Pytest and scripts


def run_pytest(check, python, paths, **variables):
    """Runs the tests on all processors, without those in subfolders."""
    done = subprocess.run(
        [str(python), '-m', 'pytest', '-q', '-rfEs', '-p', 'no:cacheprovider', '-n', str(JOBS),
         '-o', 'norecursedirs=*',
         '--junitxml', REPORTS / f'{check.report}.xml', *paths],
        cwd=ROOT, env=check.variables(**variables))
    if done.returncode != 0:
        raise Failed('pytest')


def pytest(paths, venv='', build='', without='', until_deep='', python=None, before=None,
           **variables):
    """Runs the tests in folders or in files, but not those of the names `without`, nor, unless for
    a release, `until_deep`."""
    def action(check):
        rooms = asked_of(check) & ROOMS
        wanted = [path for path in paths.split() if not rooms or path.split('/')[1] in rooms]
        if before:
            before()
        builds.build(build, 'for-pytest')
        left_out = f'{without} {"" if asked.tier == DEEP else until_deep}'.split()
        ignored = [f'--ignore={path}/test_{name}.py' for path in wanted for name in left_out]
        run_pytest(check, python() if python else builds.venv(venv) if venv else PYTHON,
                   wanted + ignored, **builds.environment(build) | variables)
    return action


def script(command, deep=None):
    """Runs a script, for a release perhaps another one. It is told where reports go."""
    def action(check):
        words = (deep if deep and asked.tier == DEEP else command).split()
        builds.run([PYTHON, *words] if words[0].endswith('.py') else words, env=check.variables(
            **builds.environment() | {'MTL_TEST_REPORTS': str(REPORTS)}))
    return action


# --- Checks that take more than one call


def build_library(check):
    try:
        builds.build()
    except Failed:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)  # no other check can run


def sanitized_python(check):
    """Python is not instrumented, so the sanitizer is loaded before it, and looks for no leaks, as
    Python has some. The GIR is that of the ordinary build."""
    runtime = subprocess.run(
        [builds.CLANG, f'-print-file-name=libclang_rt.asan-{os.uname().machine}.so'], check=True,
        capture_output=True, text=True).stdout.strip()
    pytest(' '.join(str(path.relative_to(ROOT)) for name in GIVEN_AND_TAKEN.split()
                    for path in files_of_python(name)),
           build='sanitized', MTL_TEST_CASES='100000', PYTHONMALLOC='malloc', G_SLICE='always-malloc',
           LD_PRELOAD=runtime, ASAN_OPTIONS='allocator_may_return_null=1:detect_leaks=0',
           UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1')(check)


def build_site():
    builds.need('to read the site', 'chromium')
    builds.build_reference()


def check_cuda_toolkits(check):
    """The declarations of the driver are NVIDIA's, and its assembler takes the kernels."""
    builds.need('to compile kernels for CUDA', 'clang-19')
    folder = builds.venv('cuda-toolkits').parent.parent
    headers = sorted(folder.rglob('cuda.h'))
    if not headers:
        raise Failed(f'The search for cuda.h below {folder}')
    for header in headers:
        for compiler in ('gcc', builds.CLANG):
            builds.run([compiler, '-std=gnu11', '-fsyntax-only', '-Wall', '-Werror',
                        f'-I{header.parent}', f'-I{ROOT}/mtldl/devices',
                        'tests/cuda/abi-check.c'])
    builds.run([PYTHON, 'maintainer/cuda-kernels.py', '--check', '--ptxas', folder])


def build_for_macos(check):
    folders = []
    for name in ('macos-aarch64', 'macos-x86_64'):
        folders.append(str(builds.configure(name)))
        targets = subprocess.run(['ninja', '-C', folders[-1], '-t', 'targets', 'all'], check=True,
                                 capture_output=True, text=True).stdout
        builds.build(name, 'all', *re.findall(r'^(.*): (?:c|objc)_LINKER', targets, re.MULTILINE))
    run_pytest(check, builds.venv('macos'), ['tests/metal/cross-macos'],
               **builds.environment() | {'MTL_BUILD': str(BUILD),
                                         'MTL_MACOS_BUILDS': ':'.join(folders)})


S390X = builds.folder_of('s390x')
S390X_COMMAND = S390X / 'run-mtldl'


def write_s390x_command():
    builds.build('s390x', 'cli/mtldl')
    S390X_COMMAND.write_text(f'#!/bin/sh\nexec qemu-s390x -L "{BUILD}-s390x-sysroot" '
                             f'-E LD_LIBRARY_PATH="{S390X}/mtldl" "{S390X}/cli/mtldl" "$@"\n')
    S390X_COMMAND.chmod(0o755)


def on_newer_debian(suite, *areas):
    """The tests for every change, or those of the areas, with newer versions of everything."""
    def action(check):
        try:
            builds.run(['maintainer/other-debian.sh', suite, *areas])
        finally:
            for report in (builds.folder_of(suite) / 'reports').glob('*'):
                shutil.copy(report, REPORTS / f'{suite}-{report.name}')
    return action


# --- The checks

# The suites of the tests that meson runs for every change.
MESON_TESTS = ('structure source native c measuring gjs vala pixbuf gst gtk mpi examples viewer '
               'readme')
MESON_ROOMS = 'core kernels files processes metal bridges bindings viewer packaging docs'
PYTHON_TESTS = ('tests/core tests/kernels tests/files tests/processes tests/metal '
                'tests/bindings/python tests/bench')
PYTHON_ROOMS = f'core kernels files processes bindings bench{"" if MACOS else " metal"}'
# The places of pytest's tests. The other scripts in Python are meson's.
PYTEST = [*PYTHON_TESTS.split(), 'tests/cuda', 'tests/files/corpus', 'tests/cli',
          'tests/bindings/peers', 'tests/bindings/clusters', 'tests/bindings/languages',
          'tests/metal/cross-macos',
          'tests/packaging/test_workflows.py', 'tests/docs/test_browser.py']

# The folders whose tests have an environment of the same name.
WITH_VENVS = ('peers', 'clusters')


def files_of_pytest(*places):
    return [path for place in map(ROOT.joinpath, places)
            for path in (sorted(place.glob('test_*.py')) if place.is_dir() else [place])]


def files_of_python(name):
    return [path for path in files_of_pytest(*PYTHON_TESTS.split()) if path.stem == f'test_{name}']


# Tests in Python, by what they need or do.
OF_PEERS = 'torch torch_video mpi hints'
OF_PINNED_TYPES = 'small_floats small_integers convert random_conversions'
IN_HOST_MEMORY = ('buffer_formats connection_asyncio convert damaged_files fork hints mpi '
                  'multiprocessing no_memory random_benchmark random_copies random_conversions '
                  'random_peers small_floats small_integers tensor_connection')
GIVEN_AND_TAKEN = ('random_peers exchange_api exchange_consumer exchange_import dlpack_export '
                   'dlpack_import dlpack_read_only dlpack_streams buffer buffer_flags '
                   'buffer_formats buffer_protocol')
MANY = {'MTL_TEST_CASES': '1000000'}
CUDA_DOUBLE = {'MTL_CUDA_LIBRARY': str(BUILD / 'tests/cuda/double/libcuda-double.so'),
               'CUDA_DOUBLE': '2'}
RANDOM_COPIES = 'tests/kernels/test_random_copies.py tests/kernels/test_random_conversions.py'


def on_device(device, *suites):
    return [
        Check(ALL, 'devices', f'on-{device}', f'C, JavaScript and Vala on a {device} device',
              meson(' '.join(['any-device gjs vala pixbuf gst gtk', *suites]), 'metal', device,
                    deep='c native examples readme'), LINUX, again=True),
        Check(ALL, 'devices', f'python-on-{device}', f'Python on a {device} device',
              pytest(PYTHON_TESTS, 'peers', 'metal', 'hints mpi', f'{IN_HOST_MEMORY} leaks',
                     METAL_DOUBLE=device), LINUX, again=True)]


def on_cuda(mode, tier_of_python):
    return [
        Check(ALL, 'devices', f'on-cuda-{mode}', f"JavaScript and Vala on CUDA's {mode} memory",
              meson('any-memory', setup=f'cuda_{mode}'), LINUX, again=True),
        Check(tier_of_python, 'devices', f'python-on-cuda-{mode}',
              f"Python on CUDA's {mode} memory",
              pytest('tests/core tests/kernels tests/files tests/bindings/python', 'peers',
                     MTL_DEVICE='cuda:0', MTL_TEST_STORAGE_MODE=mode, **CUDA_DOUBLE),
              LINUX, again=True)]


CHECKS = [
    Check(QUICK, 'build', 'build', 'Build', build_library),
    Check(ALL, f'{PYTHON_ROOMS} peers packaging docs install', 'venv', 'The pinned Python peers',
          lambda check: builds.venv()),
    Check(QUICK, MESON_ROOMS, 'languages',
          'C, JavaScript, Vala, the bridges, examples, the viewer, the code in the guides',
          meson(MESON_TESTS)),
    Check(QUICK, PYTHON_ROOMS, 'python-system', "Python with the system's NumPy",
          pytest(PYTHON_TESTS, without=f'{OF_PEERS} {OF_PINNED_TYPES}'),
          LINUX, again=True),
    Check(QUICK, 'cuda', 'cuda', "The CUDA device, over the double of NVIDIA's driver",
          meson('own-cuda'), LINUX),
    Check(QUICK, 'cuda', 'python-cuda', "Python over the double of NVIDIA's driver",
          pytest('tests/cuda tests/bench/test_cuda_benchmark.py', **CUDA_DOUBLE), LINUX),
    Check(DEEP, 'cuda', 'cuda-run', 'The command for GPUs, over the double without its controls',
          script('maintainer/cuda.py --double'), LINUX),
    Check(DEEP, 'cuda', 'cuda-toolkits', "NVIDIA's header and assembler", check_cuda_toolkits,
          LINUX),
    Check(QUICK, 'cli', 'cli', 'The command', pytest('tests/cli', without='peers'), LINUX),
    Check(QUICK, 'metal', 'metal', 'The Metal device, over the double',
          meson('structure own-devices c-on-device', 'metal'), LINUX),
    Check(QUICK, 'metal', 'metal', 'The Metal device', meson('own-devices'), MACOS),
    Check(ALL, 'packaging docs install', 'install', 'An installation, and the reference',
          meson('install site', before=lambda areas: (
              (not areas or 'docs' in areas) and builds.build_reference()))),
    Check(ALL if MACOS else QUICK, PYTHON_ROOMS, 'python-venv', 'Python with the pinned peers',
          pytest(PYTHON_TESTS, 'peers', **MANY)),
    Check(DEEP, 'newest', 'newest', 'Python with the newest NumPy',
          pytest(PYTHON_TESTS, 'newest', without=OF_PEERS), NEW_PYTHON),
    Check(DEEP, 'newest', 'newest-peers', 'The newest NumPy and ml_dtypes as peers',
          pytest('tests/bindings/peers/test_numpy.py tests/bindings/peers/test_ml_dtypes.py',
                 'newest'), NEW_PYTHON),
    # PyGObject turns the lock on when it is imported, with a warning that 1 does without.
    Check(DEEP, 'newest', 'free-threaded', 'A free-threaded Python, with its lock',
          pytest(PYTHON_TESTS, '', 'free-threaded', OF_PEERS, PYTHON_GIL='1',
                 python=builds.free_threaded_python), NEW_PYTHON),
    # Only what the compiled module does itself, between threads.
    Check(DEEP, 'newest', 'without-gil', 'A free-threaded Python, without its lock',
          pytest('tests/core/test_threads.py', build='free-threaded', PYTHON_GIL='0',
                 python=builds.free_threaded_python), NEW_PYTHON),
    Check(DEEP, 'core', 'python-programs', 'A million random operations on views',
          pytest('tests/core/test_random_programs.py', 'peers', MTL_TEST_SECONDS='1200', **MANY)),
    *(Check(ALL, 'kernels kernel-sets', f'python-{kernels}',
            f'Copies and conversions with {kernels} kernels',
            pytest(RANDOM_COPIES, 'peers', MTL_KERNELS=kernels, **MANY))
      for kernels in ('plain', 'baseline', 'avx2')),
    *(Check(DEEP, 'kernels kernel-sets', f'convert-{kernels}',
            f'All conversions with {kernels} kernels',
            pytest('tests/kernels/test_convert.py', 'peers', MTL_KERNELS=kernels))
      for kernels in ('plain', 'baseline', 'avx2')),
    Check(ALL, 'files corpus', 'files', 'Files', pytest('tests/files/corpus', 'peers')),
    Check(ALL, 'peers', 'peers', 'The peers, and the table of what works with which',
          script('tests/bindings/peers/run_peers.py check')),
    # Each file starts workers of its own.
    Check(ALL, 'clusters', 'clusters', 'Dask and Ray', pytest(
        'tests/bindings/clusters', 'clusters', PYTEST_ADDOPTS='--dist=loadfile'), LINUX),
    Check(ALL, 'cli peers', 'cli-peers', 'The command and safetensors',
          pytest('tests/cli/test_peers.py', 'peers'), LINUX),
    *on_device('unified', 'examples', 'readme'),
    *on_device('discrete'),
    Check(ALL, 'devices', 'on-private', 'JavaScript and Vala on Private memory',
          meson('any-memory', 'metal', 'private'), LINUX, again=True),
    Check(ALL, 'devices', 'on-cuda', 'C on CUDA, in each storage mode', meson('c-on-cuda'), LINUX),
    *on_cuda('private', ALL),
    *on_cuda('shared', DEEP),
    *on_cuda('managed', DEEP),
    Check(ALL, 'devices', 'python-on-private', 'Python on Private memory',
          pytest(PYTHON_TESTS, 'peers', 'metal', METAL_DOUBLE='discrete',
                 MTL_TEST_STORAGE_MODE='private'), LINUX, again=True),
    Check(ALL, 'sanitizers', 'sanitized', 'C under AddressSanitizer and UndefinedBehaviorSanitizer',
          meson('c c-on-device own-cuda gst gtk metal-free metal-double', 'sanitized', 'sanitizers',
                deep='own-devices'), LINUX, again=True),
    Check(ALL, 'sanitizers', 'python-sanitized',
          'Python under AddressSanitizer and UndefinedBehaviorSanitizer', sanitized_python, LINUX),
    # A release runs about 1,000,000,000 inputs of all targets together.
    Check(ALL, 'fuzz', 'fuzz', 'Fuzzing',
          script('maintainer/fuzz.py 8 --uncounted', 'maintainer/fuzz.py 7600'), LINUX),
    Check(ALL, 'sanitizers', 'races', 'C under ThreadSanitizer',
          meson('threads', 'races', 'races'), LINUX, again=True),
    Check(ALL, 'valgrind', 'valgrind', 'C under valgrind',
          meson('c gst gtk', setup='valgrind', before=lambda suites: builds.need(
              'to look for leaks', 'valgrind')), LINUX, again=True),
    Check(ALL, 'valgrind', 'metal-valgrind', 'The Metal device under valgrind',
          meson('metal-free', 'metal', 'valgrind'), LINUX, again=True),
    Check(ALL, 'valgrind', 'cuda-valgrind', 'The CUDA device under valgrind',
          meson('cuda-device', setup='valgrind', deep='cuda-double'), LINUX, again=True),
    Check(ALL, 'valgrind', 'python-valgrind', 'Python under valgrind',
          script('tests/support/run_valgrind.py', 'tests/support/run_valgrind.py --all'),
          LINUX, again=True),
    Check(ALL, 'macos', 'macos', 'The library for macOS, built on Linux', build_for_macos, LINUX),
    Check(DEEP, 'languages', 'lua', 'Lua, Ruby, Perl and D',
          pytest('tests/bindings/languages', before=lambda: builds.need(
              'for other languages', 'lua5.3', 'lua-lgi', 'ruby', 'ruby-gio2', 'gir-to-d', 'ldc',
              'libglib-object-introspection-perl', 'libglibd-2.0-dev')), LINUX),
    Check(ALL, 'mutants', 'mutants', 'Mutants',
          script('maintainer/mutants.py --some 150', 'maintainer/mutants.py'), LINUX),
    Check(DEEP, 'mutants', 'drawn-mutants', 'Mutants that are drawn at random',
          script('maintainer/mutants.py --drawn 200'), LINUX),
    Check(DEEP, 'coverage', 'coverage', 'Coverage', script('maintainer/coverage.py'), LINUX),
    Check(ALL, 'processors', 'arm64-clang', 'C on arm64, from clang',
          meson('c', 'arm64-clang', 'arm64'), EMULATION, again=True),
    Check(DEEP, 'processors', 'arm64-gcc', 'Copies and conversions on arm64, from GCC',
          meson('c', 'arm64-gcc', 'arm64',
                only='(core|kernels)/test-(kernels|convert|strided-(copy|view))'), EMULATION),
    # Each takes the best kernels that it has, and no instruction that it lacks.
    *(Check(DEEP, 'processors', f'on-{processor}', f'Copies and conversions on {processor}',
            meson('c', setup=processor,
                  only=r'kernels/test-(kernels|strided-view-(copy|floats)\.c$|strided-copy\.c@'
                       f'{kernels})'), EMULATION)
      for processor, kernels in (('core2duo', 'baseline'), ('nehalem', 'sse4'),
                                 ('haswell', 'avx2'))),
    Check(DEEP, 'processors', 's390x', 'C on s390x, big-endian',
          meson('c', 's390x', 's390x'), EMULATION),
    # This machine's NumPy knows the contents of the files that the command reads and writes. qemu
    # itself does not fit into little memory.
    Check(DEEP, 'processors', 's390x-command', 'The command on s390x',
          pytest('tests/cli/test_check.py tests/cli/test_cp.py tests/cli/test_ls.py '
                 'tests/cli/test_show.py '
                 '--deselect=tests/cli/test_show.py::test_stats_in_little_memory',
                 before=write_s390x_command, MTLDL_COMMAND=str(S390X_COMMAND)), EMULATION),
    # The pinned package has the rules of accessibility.
    Check(DEEP, 'docs', 'site', 'The site in a browser',
          pytest('tests/docs/test_browser.py', 'site', before=build_site,
                 MTL_SITE=str(BUILD / 'docs' / 'site')), LINUX),
    Check(ALL, 'packaging workflows', 'workflows', 'The workflows',
          pytest('tests/packaging/test_workflows.py', 'peers')),
    Check(DEEP, 'packaging install', 'installed-tests', 'Installed tests',
          script('tests/packaging/install/run_installed.py'), LINUX),
    Check(DEEP, 'systems', 'trixie', 'The next Debian, trixie', on_newer_debian('trixie'), AS_ROOT),
    Check(DEEP, 'systems', 'forky', 'The Debian after that, forky',
          on_newer_debian('forky', *sorted(ROOMS - {'fuzz'}), 'newest'), AS_ROOT),
    Check(DEEP, 'packages', 'packages', 'Debian packages, made and used in new systems',
          script('maintainer/packages.sh'), AS_ROOT),
    Check(DEEP, 'packages', 'pip', 'pip, in new systems', script('maintainer/pip.sh trixie'),
          AS_ROOT),
    Check(DEEP, 'release', 'release', 'The release tarball in a new system',
          script('maintainer/tarball.sh'), AS_ROOT),
]


# --- What is asked for


def known_areas():
    return sorted({area for check in CHECKS for area in check.areas.split()} - {'build'})


def checks_of_area(area):
    """Returns the checks up to the tier. If there are none, those up to the area's first tier."""
    checks = [check for check in CHECKS if area in check.areas.split() and not check.where]
    last = max(asked.tier, min((check.tier for check in checks), default=DEEP))
    return [check for check in checks if check.tier <= last]


def subject_of(name):
    """The part of a test's name that is enough to look for it: strided-view of
    core/test-strided-view.c@unified-shared."""
    return re.sub(r'^test[-_]|[.@].*', '', name.rpartition('/')[2]).replace('_', '-')


def named(names, word):
    """The tests of a file, a folder or a way to run one, or else those on that subject."""
    return [name for name in names if name == word or name.startswith((f'{word}@', f'{word}/'))] \
        or [name for name in names if subject_of(name) == subject_of(word) and '/' not in word]


def report_of(request):
    return f'requested-{re.sub("[^0-9A-Za-z_]", "-", request)}'


def check_with_meson(word, build):
    names = [test['name'] for test in builds.introspect(builds.configure(build), 'tests')
             if 'mtldl:python' not in test['suite']]
    tests = named(names, word)
    return [Check(QUICK, 'request', report_of(word), word,
                  lambda check: run_meson(check, builds.build(build), tests))] if tests else []


def checks_with_pytest(word):
    """A check for each folder, whose files may be called as those of another one."""
    name, colons, test = word.partition('::')
    paths = {str(path.relative_to(TESTS)): path for path in files_of_pytest(*PYTEST)}
    wanted, arguments = [paths[each] for each in named(paths, name)], []
    if not wanted:
        wanted = [path for path in paths.values()
                  if re.search(rf'^def {re.escape(name)} ?\(', path.read_text(), re.MULTILINE)]
        arguments = ['-k', name]
    python = builds.venv() if (builds.VENV / 'bin' / 'python').exists() else PYTHON

    def check_in(folder):
        def action(check):
            builds.build('', 'for-pytest')
            run_pytest(check, builds.venv(folder.name) if folder.name in WITH_VENVS else python,
                       [f'{path}{colons}{test}' for path in wanted if path.parent == folder]
                       + arguments, **builds.environment())
        place = folder.relative_to(TESTS)
        return Check(QUICK, 'request', report_of(f'{word} in {place}'), f'{word} in {place}',
                     action)
    return [check_in(folder) for folder in sorted({path.parent for path in wanted})]


def checks_of_request(word):
    """The checks for a folder, a file or a test. Those over the double have a build of their own."""
    order = ('metal', '') if word.startswith('metal/') else ('', 'metal')
    for build in order if not LINUX else ('',):
        checks = check_with_meson(word, build) + checks_with_pytest(word)
        if checks:
            return checks
    return []


def choose(words, parser):
    """The checks to run."""
    requests = []
    for word in words:
        name = word.removeprefix('tests/').rstrip('/')
        if name in known_areas():
            asked.areas.append(name)
            continue
        checks = checks_of_request(name)
        if not checks:
            parser.error(f'there is no area, folder, file or test “{word}”')
        requests += checks
    if not words:
        return [check for check in CHECKS if check.tier <= asked.tier and not check.where]
    wanted = [check for area in ('build', *asked.areas) for check in checks_of_area(area)]
    return [check for check in CHECKS if check in wanted] + requests


# --- The run


def run_checks(checks):
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    steps = []
    for number, check in enumerate(checks, 1):
        before, begin, succeeded = set(REPORTS.iterdir()), time.monotonic(), True
        say(f'[{number}/{len(checks)}] {check.name}')
        try:
            check.action(check)
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            succeeded = False
            print(f'{failure} failed', file=sys.stderr)
        seconds = time.monotonic() - begin
        print(f'{seconds:.0f} s', flush=True)
        steps.append((check.name, seconds, succeeded, sorted(set(REPORTS.iterdir()) - before)))
    return steps


def main(arguments):
    parser = argparse.ArgumentParser(
        prog='./run test', epilog=f'Areas: {" ".join(known_areas())}. A test is '
        'called as its file in tests/, or by its subject.')
    tiers = parser.add_mutually_exclusive_group()
    tiers.add_argument('--all', dest='tier', action='store_const', const=ALL, default=QUICK,
                       help='all kinds of checks')
    tiers.add_argument('--deep', dest='tier', action='store_const', const=DEEP,
                       help='the long checks for a release, too')
    parser.add_argument('words', metavar='AREA | FOLDER | FILE | TEST', nargs='*')
    given = parser.parse_args(arguments)
    asked.tier = given.tier

    builds.configure()
    steps = run_checks(choose(given.words, parser))
    status = summary.print_all(steps)
    if asked.tier > QUICK and not given.words:
        for check in CHECKS:
            if check.where and check.tier <= asked.tier:
                print(f'Left out: {check.name}, which needs {check.where}')
    return status


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)

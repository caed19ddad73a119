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

import summary

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'maintainer'))
import builds  # noqa: E402
from builds import BUILD, JOBS, PYTHON, ROOT, Failed, say  # noqa: E402

REPORTS = BUILD / 'reports'

QUICK, ALL, DEEP = range(3)

# The areas of the folders in tests/ and the suites of meson that have another name.
AREAS = {'abi': 'c', 'bridges': 'pixbuf gst gtk', 'cross-macos': 'macos', 'faults': 'c',
         'metal-double': 'metal', 'native': 'c', 'readme': 'docs', 'release': 'c', 'site': 'docs',
         'source': 'c', 'structure': 'c'}

# Where a check can run: an empty text, or what it needs.
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


# --- Meson


def areas_of(name):
    return AREAS.get(name, name).split()


def tests_in(folder, suites):
    """The names of the tests that are in one of the suites, or of all."""
    return [test['name'] for test in builds.introspect(folder, 'tests')
            if suites is None or {name.partition(':')[2] for name in test['suite']} & set(suites)]


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
        if asked.areas and all(set(areas_of(suite)) <= set(check.areas.split())
                                 for suite in wanted):
            wanted = [suite for suite in wanted if {*areas_of(suite)} & {*asked.areas}]
        if before:
            before(wanted)
        tests = [name for name in tests_in(folder, wanted) if re.match(only, name)]
        suffix = '_deep' if asked.tier == DEEP else ''
        run_meson(check, folder, tests, *(['--setup', setup + suffix] if setup else ['--timeout-multiplier', '4']))
    return action


# --- Pytest and scripts


def run_pytest(check, python, paths, **variables):
    """Runs the tests on all processors."""
    done = subprocess.run(
        [str(python), '-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', '-n', str(JOBS),
         '--junitxml', REPORTS / f'{check.report}.xml', *paths],
        cwd=ROOT, env=check.variables(**variables))
    if done.returncode != 0:
        raise Failed('pytest')


def pytest(paths, venv='', build='', without='', until_deep='', python=None, before=None,
           **variables):
    """Runs the tests in a folder or in files, but not those of the names `without`, nor, unless for
    a release, `until_deep`."""
    def action(check):
        if before:
            before()
        builds.build(build, 'for-pytest')
        left_out = f'{without} {"" if asked.tier == DEEP else until_deep}'.split()
        ignored = [f'--ignore={paths.split()[0]}/test_{name}.py' for name in left_out]
        run_pytest(check, python() if python else builds.venv(venv) if venv else PYTHON,
                   paths.split() + ignored, **builds.environment(build) | variables)
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
    pytest(' '.join(f'tests/python/test_{name}.py' for name in GIVEN_AND_TAKEN.split()),
           build='sanitized', MTL_TEST_CASES='100000', PYTHONMALLOC='malloc', G_SLICE='always-malloc',
           LD_PRELOAD=runtime, ASAN_OPTIONS='allocator_may_return_null=1:detect_leaks=0',
           UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1')(check)


def build_site():
    builds.need('to read the site', 'chromium')
    builds.build_reference()


def build_for_macos(check):
    folders = []
    for name in ('macos-aarch64', 'macos-x86_64'):
        folders.append(str(builds.configure(name)))
        targets = subprocess.run(['ninja', '-C', folders[-1], '-t', 'targets', 'all'], check=True,
                                 capture_output=True, text=True).stdout
        builds.build(name, 'all', *re.findall(r'^(.*): (?:c|objc)_LINKER', targets, re.MULTILINE))
    run_pytest(check, builds.venv('macos'), ['tests/cross-macos'], MTL_BUILD=str(BUILD),
               MTL_MACOS_BUILDS=':'.join(folders))


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

LANGUAGES = 'c gjs vala pixbuf gst gtk examples viewer'
PYTHON_TESTS = 'tests/python'

# Tests in Python, by what they need or do.
OF_PEERS = 'torch torch_video mpi hints'
OF_PINNED_TYPES = 'small_floats small_integers convert random_conversions'
IN_HOST_MEMORY = ('buffer_formats convert damaged_files fork hints mpi no_memory random_benchmark '
                  'random_copies random_conversions random_peers small_floats small_integers')
GIVEN_AND_TAKEN = ('random_peers exchange_api exchange_consumer exchange_import dlpack_export '
                   'dlpack_import dlpack_read_only dlpack_streams buffer buffer_flags '
                   'buffer_formats buffer_protocol')
MANY = {'MTL_TEST_CASES': '1000000'}
RANDOM_COPIES = 'tests/python/test_random_copies.py tests/python/test_random_conversions.py'


def on_device(device, *suites):
    return [
        Check(ALL, 'devices', f'on-{device}', f'C, JavaScript and Vala on a {device} device',
              meson(' '.join(['any-device gjs vala pixbuf gst gtk', *suites]), 'metal', device,
                    deep='c native examples readme'), LINUX, again=True),
        Check(ALL, 'devices', f'python-on-{device}', f'Python on a {device} device',
              pytest(PYTHON_TESTS, 'peers', 'metal', 'hints mpi', f'{IN_HOST_MEMORY} leaks',
                     METAL_DOUBLE=device), LINUX, again=True)]


CHECKS = [
    Check(QUICK, 'build', 'build', 'Build', build_library),
    Check(ALL, 'python peers docs install', 'venv', 'The pinned Python peers',
          lambda check: builds.venv()),
    Check(QUICK, f'{LANGUAGES} docs', 'languages',
          'C, JavaScript, Vala, the bridges, examples, the viewer, the code in the guides',
          meson(f'structure source native {LANGUAGES} readme')),
    Check(QUICK, 'python', 'python-system', "Python with the system's NumPy",
          pytest(PYTHON_TESTS, without=f'{OF_PEERS} {OF_PINNED_TYPES}'),
          LINUX, again=True),
    Check(QUICK, 'tools', 'tools', 'The command',
          pytest('tests/tools', without='peers'), LINUX),
    Check(QUICK, 'metal', 'metal', 'The Metal device, over the double',
          meson('structure metal c-on-device', 'metal'), LINUX),
    Check(QUICK, 'metal', 'metal', 'The Metal device', meson('metal'), MACOS),
    Check(ALL, 'install docs', 'install', 'An installation, and the reference',
          meson('install site', before=lambda suites: (
              'site' in suites and builds.build_reference()))),
    Check(ALL if MACOS else QUICK, 'python', 'python-venv', 'Python with the pinned peers',
          pytest(PYTHON_TESTS, 'peers', **MANY)),
    Check(DEEP, 'newest', 'newest', 'Python with the newest NumPy',
          pytest(PYTHON_TESTS, 'newest', without=OF_PEERS), NEW_PYTHON),
    Check(DEEP, 'newest', 'newest-peers', 'The newest NumPy and ml_dtypes as peers',
          pytest('tests/peers/test_numpy.py tests/peers/test_ml_dtypes.py', 'newest'), NEW_PYTHON),
    # PyGObject turns the lock on when it is imported, with a warning that 1 does without.
    Check(DEEP, 'newest', 'free-threaded', 'A free-threaded Python, with its lock',
          pytest(PYTHON_TESTS, '', 'free-threaded', OF_PEERS, PYTHON_GIL='1',
                 python=builds.free_threaded_python), NEW_PYTHON),
    # Only what the compiled module does itself, between threads.
    Check(DEEP, 'newest', 'without-gil', 'A free-threaded Python, without its lock',
          pytest(f'{PYTHON_TESTS}/test_threads.py', build='free-threaded', PYTHON_GIL='0',
                 python=builds.free_threaded_python), NEW_PYTHON),
    Check(DEEP, 'python', 'python-programs', 'A million random operations on views',
          pytest(f'{PYTHON_TESTS}/test_random_programs.py', 'peers', MTL_TEST_SECONDS='1200', **MANY)),
    *(Check(ALL, 'kernels', f'python-{kernels}', f'Copies and conversions with {kernels} kernels',
            pytest(RANDOM_COPIES, 'peers', MTL_KERNELS=kernels, **MANY))
      for kernels in ('plain', 'baseline', 'avx2')),
    *(Check(DEEP, 'kernels', f'convert-{kernels}', f'All conversions with {kernels} kernels',
            pytest(f'{PYTHON_TESTS}/test_convert.py', 'peers', MTL_KERNELS=kernels))
      for kernels in ('plain', 'baseline', 'avx2')),
    Check(ALL, 'files', 'files', 'Files', pytest('tests/files', 'peers')),
    Check(ALL, 'peers', 'peers', 'The peers, and the table of what works with which',
          script('tests/peers/run_peers.py check')),
    Check(ALL, 'tools peers', 'tools-peers', 'The command and safetensors',
          pytest('tests/tools/test_peers.py', 'peers'), LINUX),
    *on_device('unified', 'examples', 'readme'),
    *on_device('discrete'),
    Check(ALL, 'devices', 'on-private', 'JavaScript and Vala on Private memory',
          meson('any-memory', 'metal', 'private'), LINUX, again=True),
    Check(ALL, 'devices', 'python-on-private', 'Python on Private memory',
          pytest(PYTHON_TESTS, 'peers', 'metal', METAL_DOUBLE='discrete',
                 MTL_TEST_STORAGE_MODE='private'), LINUX, again=True),
    Check(ALL, 'sanitizers', 'sanitized', 'C under AddressSanitizer and UndefinedBehaviorSanitizer',
          meson('c c-on-device gst gtk metal-free metal-double', 'sanitized', 'sanitizers',
                deep='metal'), LINUX, again=True),
    Check(ALL, 'sanitizers', 'python-sanitized',
          'Python under AddressSanitizer and UndefinedBehaviorSanitizer', sanitized_python, LINUX),
    # For a release, all targets together run about 1,000,000,000 inputs.
    Check(ALL, 'fuzz', 'fuzz', 'Fuzzing',
          script('maintainer/fuzz.py 8 --uncounted', 'maintainer/fuzz.py 7600'), LINUX),
    Check(ALL, 'sanitizers', 'races', 'C under ThreadSanitizer',
          meson('threads', 'races', 'races'), LINUX, again=True),
    Check(ALL, 'valgrind', 'valgrind', 'C under valgrind',
          meson('c gst gtk', setup='valgrind', before=lambda suites: builds.need(
              'to look for leaks', 'valgrind')), LINUX, again=True),
    Check(ALL, 'valgrind', 'metal-valgrind', 'The Metal device under valgrind',
          meson('metal-free', 'metal', 'valgrind'), LINUX, again=True),
    Check(ALL, 'valgrind', 'python-valgrind', 'Python under valgrind',
          script('tests/python/run_valgrind.py', 'tests/python/run_valgrind.py --all'),
          LINUX, again=True),
    Check(ALL, 'macos', 'macos', 'The library for macOS, built on Linux', build_for_macos, LINUX),
    Check(DEEP, 'languages', 'lua', 'Lua, Ruby, Perl and D',
          pytest('tests/languages', before=lambda: builds.need(
              'for other languages', 'lua5.3', 'lua-lgi', 'ruby', 'ruby-gio2', 'gir-to-d', 'ldc',
              'libglib-object-introspection-perl', 'libglibd-2.0-dev')), LINUX),
    Check(ALL, 'mutants', 'mutants', 'Mutants', script('maintainer/mutants.py'), LINUX),
    Check(DEEP, 'mutants', 'drawn-mutants', 'Mutants that are drawn at random',
          script('maintainer/mutants.py --drawn 200'), LINUX),
    Check(DEEP, 'coverage', 'coverage', 'Coverage', script('maintainer/coverage.py'), LINUX),
    Check(ALL, 'processors', 'arm64-clang', 'C on arm64, from clang',
          meson('c', 'arm64-clang', 'arm64'), EMULATION, again=True),
    Check(DEEP, 'processors', 'arm64-gcc', 'Copies and conversions on arm64, from GCC',
          meson('c', 'arm64-gcc', 'arm64', only='kernels|convert|strided-(copy|view)'), EMULATION),
    # Each takes the best kernels that it has, and no instruction that it lacks.
    *(Check(DEEP, 'processors', f'on-{processor}', f'Copies and conversions on {processor}',
            meson('c', setup=processor,
                  only=f'kernels|strided-view-(copy|floats)$|strided-copy-{kernels}'), EMULATION)
      for processor, kernels in (('core2duo', 'baseline'), ('nehalem', 'sse4'),
                                 ('haswell', 'avx2'))),
    Check(DEEP, 'processors', 's390x', 'C on s390x, big-endian',
          meson('c', 's390x', 's390x'), EMULATION),
    # This machine's NumPy knows the contents of the files that the command reads and writes. qemu
    # itself does not fit into little memory.
    Check(DEEP, 'processors', 's390x-command', 'The command on s390x',
          pytest('tests/tools/test_check.py tests/tools/test_cp.py tests/tools/test_ls.py '
                 'tests/tools/test_show.py '
                 '--deselect=tests/tools/test_show.py::test_stats_in_little_memory',
                 before=write_s390x_command, MTLDL_COMMAND=str(S390X_COMMAND)), EMULATION),
    # By the rules of accessibility that the pinned package has.
    Check(DEEP, 'docs', 'site', 'The site in a browser',
          pytest('tests/docs/test_browser.py', 'site', before=build_site,
                 MTL_SITE=str(BUILD / 'docs' / 'site')), LINUX),
    Check(ALL, 'workflows', 'workflows', 'The workflows',
          pytest('tests/mac/test_workflows.py', 'peers')),
    Check(DEEP, 'install', 'installed-tests', 'Installed tests',
          script('tests/install/run_installed.py'), LINUX),
    Check(DEEP, 'systems', 'trixie', 'The next Debian, trixie', on_newer_debian('trixie'), AS_ROOT),
    Check(DEEP, 'systems', 'forky', 'The Debian after that, forky',
          on_newer_debian('forky', *LANGUAGES.split(), 'docs', 'python', 'tools', 'metal',
                          'newest'), AS_ROOT),
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
    """Those up to the tier. If there are none, those up to the area's first tier."""
    checks = [check for check in CHECKS if area in check.areas.split() and not check.where]
    last = max(asked.tier, min((check.tier for check in checks), default=DEEP))
    return [check for check in checks if check.tier <= last]


def named_in_meson(folder, name):
    """Tests of this name, or else whose names begin with it."""
    names = tests_in(folder, None)
    return [test for test in names if test == name] \
        or [test for test in names if test.startswith(f'{name}-')]


def of_file_in_meson(folder, path):
    """Tests that run a file, or a program that is made of it."""
    programs = {output for target in builds.introspect(folder, 'targets')
                for sources in target['target_sources']
                if str(path) in sources.get('sources', ()) for output in target['filename']}
    wanted = {str(path), *programs}
    return [test['name'] for test in builds.introspect(folder, 'tests')
            if wanted.intersection(map(os.path.normpath, test['cmd']))]


def files_of_pytest(name):
    """Those with this name, or with a test of this name; and arguments."""
    paths = sorted((ROOT / 'tests').rglob('test_*.py'))
    named = [path for path in paths if path.stem == name]
    holding = [path for path in paths
               if re.search(rf'^def {name} ?\(', path.read_text(), re.MULTILINE)]
    return (named, []) if named else (holding, ['-k', name])


def check_of_request(word):
    """The check for a folder, a file or a test, or None."""
    path = ROOT / word.partition('::')[0]
    python = builds.venv() if (builds.VENV / 'bin' / 'python').exists() else PYTHON
    report = f'requested-{re.sub("[^0-9A-Za-z_]", "-", word)}'

    def with_pytest(*arguments):
        def action(check):
            builds.build('', 'for-pytest')
            run_pytest(check, builds.venv() if 'tests/peers' in word else python, arguments,
                       **builds.environment())
        return Check(QUICK, 'request', report, word, action)

    if path.exists() and (path.is_dir() or path.name.startswith('test_') and path.suffix == '.py'):
        return with_pytest(word)
    for name in ('', 'metal'):
        if name and LINUX:
            break
        folder = builds.configure(name)
        tests = of_file_in_meson(folder, path) if path.is_file() else named_in_meson(folder, word)
        if tests:
            return Check(QUICK, 'request', report, word,
                         lambda check: run_meson(check, builds.build(name), tests))
        paths, more = files_of_pytest(word) if word.startswith('test_') else ((), ())
        if paths:
            return with_pytest(*paths, *more)
    return None


def choose(words, parser):
    """The checks to run."""
    areas, requests = [], []
    for word in words:
        folder = word.rstrip('/')
        of_folder = areas_of(folder.removeprefix('tests/')) if folder.startswith('tests/') else ['']
        if word in known_areas():
            areas.append(word)
        elif set(of_folder) <= set(known_areas()):
            areas += of_folder
        else:
            requests.append(check_of_request(word))
            if requests[-1] is None:
                parser.error(f'there is no area, folder, file or test “{word}”')
    asked.areas = areas
    if not words:
        return [check for check in CHECKS if check.tier <= asked.tier and not check.where]
    wanted = [check for area in ('build', *areas) for check in checks_of_area(area)]
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
        prog='./run test', epilog=f'Areas: {" ".join(known_areas())}. A FOLDER is in tests/. A TEST '
        'is the name of a test of meson or pytest.')
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

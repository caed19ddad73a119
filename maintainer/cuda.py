#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does the work of `./run cuda`: tests and measures the library on a GPU of NVIDIA, and writes a
report. It also runs in a folder that cuda-lent.py has packed, where nothing can be built.

A test that needs the controls of the double of the driver, or a second GPU, says so itself and is
left out. Tests that do not load a driver are not for this machine.
"""

import argparse
import collections
import functools
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'maintainer'))
import cuda_device  # noqa: E402

# Written by cuda-lent.py: the tests, and why others are not there.
PACKED = ROOT / 'packed-tests.json'
IS_PACKED = PACKED.exists()
if not IS_PACKED:
    import builds  # noqa: E402

UNCONTROLLED = 'tests/cuda/double/libcuda-double-uncontrolled.so'
SUITES = {'own-cuda', 'c-on-cuda'}
SANITIZER = 'compute-sanitizer'
TESTS_OF_KERNELS = {f'cuda/test-cuda-{name}.c' for name in ('comparisons', 'copies', 'statistics')}
TOOLS = {'memcheck': ['--leak-check', 'full'], 'racecheck': [], 'initcheck': [], 'synccheck': []}
# Its exit status if it has found something.
FOUND = 86
# Those of a program that failed, in the report.
LINES = 60
PACKAGES = ('torch', 'cupy-cuda12x', 'cupy-cuda13x', 'jax', 'numba', 'numba-cuda', 'cuda-core',
            'numpy')
# Variables of tests that are not for a driver.
OF_DOUBLE = re.compile('MTL_CUDA_LIBRARY$|CUDA_DOUBLE')

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'
Result = collections.namedtuple('Result', 'step program name outcome said')
Test = collections.namedtuple('Test', 'name suites command environment folder')


class Run:
    """The settings of this run, and its results."""

    def __init__(self, arguments):
        self.is_double = arguments.double
        self.python = arguments.python
        self.end = time.monotonic() + arguments.seconds
        self.results = []
        self.seconds = collections.Counter()
        self.output = {}  # programs that failed, with what they printed
        self.pages = {}   # steps, with Markdown
        self.driver = {}
        if arguments.double:
            self.driver = {'MTL_CUDA_LIBRARY': str(builds.folder_of() / UNCONTROLLED),
                           'CUDA_DOUBLE': '1'}

    def add(self, *result):
        self.results.append(Result(*result))

    def left_out(self, step, program, why):
        self.add(step, program, '', SKIPPED, why)

    def call(self, command, environment, folder=ROOT, limit=300):
        """Returns the status, -1 for a time that ran out, and what was printed."""
        limit = min(limit, self.end - time.monotonic())
        if limit <= 0:
            return None, ''
        process = subprocess.Popen([str(word) for word in command], cwd=folder, text=True,
                                   env=environment, errors='replace', stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            return self._wait(process, limit)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise

    @staticmethod
    def _wait(process, limit):
        try:
            output = process.communicate(timeout=limit)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return -1, process.communicate()[0]


# --- The tests


def find_tests(folder=None):
    """The tests of CUDA that meson knows or that were packed, and why others are left out."""
    if IS_PACKED:
        packed = json.loads(PACKED.read_text())
        return [Test(test['name'], set(test['suites']),
                     [word.replace('@ROOT@', str(ROOT)) for word in test['command']],
                     test['environment'], ROOT) for test in packed['tests']], packed['left_out']
    folder = folder or builds.configure()
    tests = [Test(test['name'], {suite.partition(':')[2] for suite in test['suite']}, test['cmd'],
                  test['env'], test['workdir'] or folder)
             for test in builds.introspect(folder, 'tests')]
    tests = [test for test in tests if test.suites & SUITES]
    hosts = [test for test in tests if 'MTL_CUDA_LIBRARY' not in test.environment]
    return ([test for test in tests if test not in hosts],
            {test.name: 'it runs on the host alone' for test in hosts})


def build_tests(is_double):
    folder = builds.configure()
    tests = [test for test in builds.introspect(folder, 'tests')
             if {suite.partition(':')[2] for suite in test['suite']} & SUITES]
    builds.build()
    builds.build('', *builds.files_needed_by(tests, folder), *([UNCONTROLLED] if is_double else []))


@functools.cache
def environment():
    """The variables with which Python finds the library."""
    return dict(os.environ) if IS_PACKED else builds.environment()


TAP = re.compile(r'(not )?ok \d+(?: -)? (.*?)(?: # (?:SKIP|TODO) ?(.*))?$')


def read_tap(run, step, program, status, output):
    """Adds the results of a program, and of itself if it did not come to its end."""
    n, plan, n_failed = 0, None, 0
    for line in output.splitlines():
        match = TAP.match(line)
        if match:
            n += 1
            n_failed += bool(match[1])
            outcome = FAILED if match[1] else PASSED if match[3] is None else SKIPPED
            run.add(step, program, match[2], outcome, match[3] or '')
        elif re.match(r'1\.\.\d+', line):
            plan = int(line[3:].split()[0])
            if plan == 0 and '# SKIP' in line:
                run.left_out(step, program, line.partition('# SKIP')[2].strip())
    if n_failed == 0 and (status != 0 or plan != n):
        n_failed += 1
        run.add(step, program, '(the program)', FAILED, why_ended(status, n, plan))
    if n_failed:
        run.output[program] = output


def why_ended(status, n, plan):
    if status == -1:
        return f'ended after {n} of {plan} cases, as its time was over'
    if status < -1:
        return f'ended by {signal.Signals(-status).name} after {n} of {plan} cases'
    return f'exit status {status} after {n} of {plan} cases'


def call_test(run, test, *before):
    """Runs a test without what is for the double alone, perhaps by another program."""
    own = {name: value for name, value in test.environment.items() if not OF_DOUBLE.match(name)}
    return run.call([*before, *test.command], {**environment(), **own, **run.driver}, test.folder)


def run_suite(run):
    tests, others = find_tests()
    for name, why in others.items():
        run.left_out('suite', name, why)
    for test in tests:
        status, output = call_test(run, test)
        if status is None:
            run.left_out('suite', test.name, 'there was no time for it')
            continue
        read_tap(run, 'suite', test.name, status, output)
        tell(run, test.name)
    run_pytest(run)


def run_pytest(run):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.xml'
        status, output = run.call(
            [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--junitxml', report,
             '-o', 'norecursedirs=*', 'tests/cuda'],
            {'MTL_CUDA_LIBRARY': cuda_device.DRIVER, **environment(), **run.driver}, limit=400)
        if status is None:
            run.left_out('suite', 'tests/cuda in Python', 'there was no time for it')
            return
        if not report.exists():
            run.add('suite', 'tests/cuda in Python', '(pytest)', FAILED, f'exit status {status}')
            run.output['tests/cuda in Python'] = output
            return
        cases = ElementTree.parse(report).iter('testcase')
        for case in cases:
            add_case_of_pytest(run, case)
    if status not in (0, 1):
        run.add('suite', 'tests/cuda in Python', '(pytest)', FAILED, f'exit status {status}')
    if status != 0:
        run.output['tests/cuda in Python'] = output
    for name in dict.fromkeys(result.program for result in run.results):
        if name.endswith('.py'):
            tell(run, name)


def add_case_of_pytest(run, case):
    program = case.get('classname').replace('.', '/').removeprefix('tests/') + '.py'
    for element in case:
        if element.tag in ('failure', 'error', 'skipped'):
            said = (element.get('message') or '').splitlines() or ['']
            outcome = SKIPPED if element.tag == 'skipped' else FAILED
            run.add('suite', program, case.get('name'), outcome, said[0])
            return
    run.add('suite', program, case.get('name'), PASSED, '')


# --- The other steps


def run_sanitizer(run):
    """The tests of kernels, in the GPU's own memory."""
    if run.is_double:
        run.left_out('sanitizer', 'the C tests of kernels', 'the double has no kernels on a GPU')
        return
    if not shutil.which(SANITIZER):
        run.left_out('sanitizer', 'the C tests of kernels', f'{SANITIZER} is not installed')
        return
    tests = [test for test in find_tests()[0]
             if {'kernels', 'cuda-private'} <= test.suites or test.name in TESTS_OF_KERNELS]
    rows = []
    for tool, options in TOOLS.items():
        for test in tests:
            status, output = call_test(run, test, SANITIZER, '--tool', tool, *options,
                                       '--error-exitcode', str(FOUND))
            said = ''.join(re.findall(r'= (?:ERROR|RACECHECK|LEAK) SUMMARY: (.*)', output)[-1:])
            program = f'{tool}: {test.name}'
            if status is None:
                run.left_out('sanitizer', program, 'there was no time for it')
                continue
            run.add('sanitizer', program, '', PASSED if status == 0 else FAILED,
                    said or f'exit status {status}')
            if status != 0:
                found = [line for line in output.splitlines() if line.startswith('=====')]
                run.output[program] = '\n'.join(found[:LINES]) or output
            rows.append(f'| {tool} | {test.name} | {status} | {said} |')
            tell(run, program)
    run.pages['sanitizer'] = '\n'.join(['| tool | program | status | said |',
                                        '| --- | --- | --: | --- |', *rows])


def run_peers(run):
    script = ROOT / 'tests' / 'cuda' / 'cuda_peers.py'
    variables = {**environment(), **run.driver}
    status, output = run.call([run.python, script], variables)
    if status is None:
        run.left_out('peers', 'cuda_peers.py', 'there was no time for it')
        return
    producers = re.findall('^producer: (.*)', output, re.MULTILINE)
    if status != 0 or not producers:
        run.add('peers', 'cuda_peers.py', '', FAILED, f'exit status {status}')
        run.output['cuda_peers.py'] = output
        return
    for producer in producers:
        status, output = run.call([run.python, script, producer], variables, limit=120)
        if status is None:
            run.left_out('peers', producer, 'there was no time for it')
            continue
        read_tap(run, 'peers', producer, status, output)
        tell(run, producer)
    run.pages['peers'] = matrix_of_peers(run, producers)


def matrix_of_peers(run, producers):
    cells = {}
    for result in run.results:
        if result.step == 'peers' and ' → ' in result.name:
            pair, _, said = result.name.partition(': ')
            cells[tuple(pair.split(' → '))] = {
                PASSED: re.sub('.*values right,? ?', '', said) or 'right',
                SKIPPED: '–', FAILED: '**failed**'}[result.outcome]
    return '\n'.join([
        'Producers are in rows, consumers in columns, with the time until the consumer has the '
        "array, while 50 ms of work are queued in the producer's stream. Values are right, and the "
        'address is the same, unless a cell says **failed**.\n',
        f'| | {" | ".join(producers)} |', f'|{" --- |" * (len(producers) + 1)}',
        *(f'| {row} | {" | ".join(cells.get((row, column), "") for column in producers)} |'
          for row in producers)])


def run_bench(run):
    script = ROOT / 'tests' / 'bench' / 'bench_cuda.py'
    status, output = run.call([run.python, script, *(['--cases', '20'] if run.is_double else [])],
                              {**environment(), **run.driver, 'PYTHONUNBUFFERED': '1'}, limit=570)
    if status is None:
        run.left_out('bench', 'bench_cuda.py', 'there was no time for it')
        return
    said = ''.join(re.findall(r'^\d+ goals met.*', output, re.MULTILINE))
    if status != 0:
        run.output['bench_cuda.py'] = output
        said = 'its time was over' if status == -1 else f'exit status {status}'
    run.add('bench', 'bench_cuda.py', '', PASSED if status == 0 else FAILED, said)
    run.pages['bench'] = re.sub('^#', '###', output, flags=re.MULTILINE)
    tell(run, 'bench_cuda.py')


STEPS = {
    'suite': ('The tests on the driver', run_suite),
    'peers': ('Peers, with work still queued', run_peers),
    'sanitizer': ('compute-sanitizer', run_sanitizer),
    'bench': ('Speed', run_bench),
}


# --- The report


def count(results):
    outcomes = collections.Counter(result.outcome for result in results)
    return [outcomes[outcome] for outcome in (PASSED, FAILED, SKIPPED)]


def tell(run, program):
    results = [result for result in run.results if result.program == program]
    print('{:60} {:4} passed {:3} failed {:3} left out'.format(program, *count(results)),
          flush=True)
    for result in results:
        if result.outcome == FAILED:
            print(f'    FAILED {result.name} {result.said}', flush=True)


def versions(python):
    """Those of the peers, in the Python that has them."""
    code = ('import importlib.metadata as m, sys\nfor n in sys.argv[1:]:\n'
            '    try: print(n, m.version(n))\n    except m.PackageNotFoundError: pass')
    done = subprocess.run([python, '-c', code, *PACKAGES], capture_output=True, text=True)
    return ', '.join(done.stdout.splitlines())


def describe_machine(run, gpu):
    name, cuda = gpu
    smi = ''
    if shutil.which('nvidia-smi') and not run.is_double:
        done = subprocess.run(['nvidia-smi', '--query-gpu=driver_version,memory.total',
                               '--format=csv,noheader'], capture_output=True, text=True)
        smi = done.stdout.strip().splitlines()[0] if done.stdout.strip() else ''
    rows = [('GPU', name), ('driver, memory', smi), ('CUDA of the driver', cuda),
            ('system', f'{platform.system()} {platform.machine()}, {os.cpu_count()} processors'),
            ('Python', platform.python_version()), ('packages', versions(run.python)),
            ('commit', commit())]
    return '\n'.join(['| | |', '| --- | --- |', *(f'| {key} | {value or "–"} |'
                                                  for key, value in rows)])


def commit():
    if IS_PACKED:
        return json.loads(PACKED.read_text())['commit']
    done = subprocess.run(['git', '-C', ROOT, 'log', '-1', '--format=%h %s'], capture_output=True,
                          text=True)
    return done.stdout.strip()


def table_of_programs(results):
    rows = []
    for program in dict.fromkeys(result.program for result in results):
        of_program = [result for result in results if result.program == program]
        rows.append('| {} | {} | {} | {} |'.format(program, *count(of_program)))
    return '\n'.join(['| program | passed | failed | left out |', '| --- | --: | --: | --: |',
                      *rows])


def left_out_by_reason(results):
    by_reason = collections.defaultdict(list)
    for result in results:
        if result.outcome == SKIPPED:
            by_reason[result.said or 'without a reason'].append(
                f'{result.program} {result.name}'.strip())
    return by_reason


def list_left_out(results):
    return '\n'.join(f'- **{why}** ({len(names)}): {"; ".join(names)}'
                     for why, names in left_out_by_reason(results).items())


def list_failed(run):
    lines = [f'- {result.program} {result.name}: {result.said}' for result in run.results
             if result.outcome == FAILED]
    for program, output in run.output.items():
        lines += ['', f'The end of what {program} printed:', '', '```',
                  *output.replace('```', "'''").splitlines()[-LINES:], '```']
    return '\n'.join(lines)


def write_report(run, gpu, steps):
    totals = '{} passed, {} failed, {} skipped'.format(*count(run.results))
    parts = [f'# mtldl on “{gpu[0]}”', describe_machine(run, gpu)]
    if run.is_double:
        parts.append('This is the double of the driver, without its controls: speeds and times say '
                     'nothing.')
    parts.append('\n'.join(
        ['| step | passed | failed | skipped | seconds |', '| --- | --: | --: | --: | --: |',
         *('| {} | {} | {} | {} | {:.0f} |'.format(
             STEPS[step][0], *count([result for result in run.results if result.step == step]),
             run.seconds[step]) for step in steps),
         *(f'| {title} | not run |||| ' for step, (title, _) in STEPS.items()
           if step not in steps)]))
    if run.output or any(result.outcome == FAILED for result in run.results):
        parts += ['## What failed', list_failed(run)]
    for step in steps:
        chosen = [result for result in run.results if result.step == step]
        parts.append(f'## {STEPS[step][0]}')
        if step in run.pages:
            parts.append(run.pages[step])
        else:
            parts.append(table_of_programs(chosen))
    parts += ['## Not run', list_left_out(run.results) or 'Everything was run.']
    parts += ['## Run', list_run(run.results), totals]
    return '\n\n'.join(parts) + '\n', totals


def list_run(results):
    return '\n'.join(
        f'- {program}: ' + '; '.join(result.name or 'passed' for result in results
                                     if result.program == program and result.outcome == PASSED)
        for program in dict.fromkeys(result.program for result in results
                                     if result.outcome == PASSED))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog='./run cuda', description='Tests and measures the library on a GPU of NVIDIA, in some '
        'minutes, and writes a report.')
    parser.add_argument('--double', action='store_true',
                        help='over the double of the driver instead, to try this command')
    parser.add_argument('--output', type=Path, metavar='FOLDER',
                        help='where cuda-report.md goes, build-cuda/ by default')
    parser.add_argument('--python', help="the Python that has the peers, of the system's version; "
                        'by default that of .venv, if it is there')
    parser.add_argument('--seconds', type=float, default=3600,
                        help='after which no other program begins')
    parser.add_argument('step', nargs='*', help=f'{", ".join(STEPS)}; by default all')
    found = parser.parse_args(arguments)
    unknown = set(found.step) - set(STEPS)
    if unknown:
        parser.error(f'there is no step {", ".join(sorted(unknown))}')
    if found.double and IS_PACKED:
        parser.error('the double was not packed')
    return found


def find_device(run):
    """In a process of its own, as this one forks."""
    code = ('import json, cuda_device\ntry: print(json.dumps(cuda_device.find_gpu()))\n'
            'except cuda_device.Missing as error: raise SystemExit(str(error))')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env={**os.environ, **run.driver,
                               'PYTHONPATH': str(ROOT / 'maintainer')})
    if done.returncode != 0:
        sys.exit(f'./run cuda needs a GPU of NVIDIA, but {done.stderr.strip()}.')
    return json.loads(done.stdout)


def main(arguments):
    arguments = parse_arguments(arguments)
    if not arguments.python:
        own = None if IS_PACKED else builds.VENV / 'bin' / 'python'
        arguments.python = own if own and own.exists() else sys.executable
    if os.environ.get('MTL_CUDA_LIBRARY') and not IS_PACKED:
        sys.exit('./run cuda tests the driver of this machine: unset MTL_CUDA_LIBRARY first.')
    run = Run(arguments)
    if arguments.double:
        build_tests(True)
    gpu = find_device(run)
    if not arguments.double and not IS_PACKED:
        build_tests(False)
    steps = [step for step in STEPS if not arguments.step or step in arguments.step]
    for step in steps:
        title, action = STEPS[step]
        print(f'\n{title}', flush=True)
        begin = time.monotonic()
        action(run)
        run.seconds[step] = time.monotonic() - begin
    text, totals = write_report(run, gpu, steps)
    output = arguments.output or Path(f'{ROOT / "build" if IS_PACKED else builds.BUILD}-cuda')
    output.mkdir(parents=True, exist_ok=True)
    path = output / 'cuda-report.md'
    path.write_text(text, encoding='utf-8')
    print('\nNot run:', *(f'{len(names):4} {why}' for why, names
                          in left_out_by_reason(run.results).items()), sep='\n')
    print(f'\nThe report, which names each test, is {path}\n{totals}')
    return any(result.outcome == FAILED for result in run.results)


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

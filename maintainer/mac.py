#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does the work of `./run mac`: tests the library on a Mac, and collects what there is to see.

Each step writes a file. A step that fails is noted, and the others still run. The archive is to be
sent to somebody else, so names of people and machines are taken out of it. Nothing newer than
Python 3.9, which comes with Apple's tools, is used.
"""

import argparse
import collections
import getpass
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAC = ROOT / 'tests' / 'metal' / 'mac'
CRASHES = Path.home() / 'Library' / 'Logs' / 'DiagnosticReports'

# Apple's validation layer: it ends the program at the first wrong use of Metal, and logs doubts.
VALIDATION = {'MTL_DEBUG_LAYER': '1', 'MTL_DEBUG_LAYER_ERROR_MODE': 'assert',
              'MTL_DEBUG_LAYER_WARNING_MODE': 'nslog'}
SHADER_VALIDATION = {**VALIDATION, 'MTL_SHADER_VALIDATION': '1',
                     'MTL_SHADER_VALIDATION_REPORT_TO_STDERR': '1'}

# A hang is a likely failure of a GPU, and has to leave a report, too.
MINUTES, HOURS = 60, 3600

# The commands of a step run until one fails. All of a survey's run.
Step = collections.namedtuple('Step', 'name title commands environment limit is_survey keep',
                              defaults=({}, 30 * MINUTES, False, ()))

Outcome = collections.namedtuple('Outcome', 'step problem seconds')


def make_steps(build, venv, formulae, scratch):
    """Returns the steps in their order: what takes little time and explains the most comes
    first."""
    run, python = ROOT / 'run', f'{venv}/bin/python'
    library = f'{build}/mtldl/libmtldl-1.0.dylib'
    devices = f'{scratch}/metal-devices'
    meson_test = [run, 'exec', 'meson', 'test', '-C', build, '--print-errorlogs']
    logs = [f'{build}/meson-logs/testlog.txt', f'{build}/meson-logs/testlog.junit.xml']
    picture = 'import matplotlib; print(matplotlib.get_data_path())'

    return [
        Step('machine', 'The machine', [
            ['sw_vers'],
            ['uname', '-srvm'],
            ['sysctl', 'hw.model', 'machdep.cpu.brand_string', 'hw.ncpu', 'hw.memsize',
             'hw.pagesize'],
            ['system_profiler', 'SPDisplaysDataType'],
        ], is_survey=True),
        Step('tools', 'The tools', [
            ['git', '-C', ROOT, 'log', '-1', '--format=%H %s'],
            ['git', '-C', ROOT, 'status', '--short', '--untracked-files=no'],
            ['/bin/bash', '--version'],
            ['xcode-select', '-p'],
            ['xcrun', '--show-sdk-version'],
            ['clang', '--version'],
            ['brew', '--version'],
            *(['brew', 'list', '--versions', formula] for formula in formulae),
        ], is_survey=True),
        Step('metal', 'Metal, without the library', [
            ['clang', '-Wall', MAC / 'test-metal-devices.m', '-framework', 'Foundation',
             '-framework', 'CoreGraphics', '-framework', 'Metal', '-o', devices],
            [devices],
        ], limit=5 * MINUTES),
        Step('build', 'The build', [[run, 'exec', 'true']], limit=1 * HOURS,
             keep=[f'{build}/meson-logs/meson-log.txt', f'{build}/compile.log']),
        Step('library', "The library's devices", [
            ['otool', '-L', library],
            ['sh', '-c', 'otool -L "$0" | grep -q CoreGraphics.framework', library],
            [run, 'exec', 'python3', MAC / 'test_library_devices.py'],
        ], limit=5 * MINUTES),
        Step('validated', "Tests under Apple's validation layer", [
            [*meson_test, '--suite', 'own-devices', '--suite', 'c', '--suite', 'gjs', '--suite',
             'vala'],
        ], VALIDATION, 1 * HOURS, keep=logs),
        Step('kernel', 'A kernel of our own, with shader validation',
             [[*meson_test, 'docs/test_output.py@objc-kernel']], SHADER_VALIDATION, 5 * MINUTES,
             keep=logs),
        Step('tests', 'All tests', [[run, 'test', '--all']], limit=3 * HOURS,
             keep=[f'{build}/reports']),
        Step('peers', 'PyTorch and MLX in the same memory', [
            [run, 'test', 'peers'],
            [python, '-m', 'pip', 'install', '--quiet', 'mlx>=0.32'],
            [run, 'exec', python, ROOT / 'examples/python/metal_peers.py'],
        ], is_survey=True, keep=[f'{build}/reports']),
        Step('photo', 'A photograph through all languages', [
            ['sh', '-c', f'"$0" demo "$("$1" -c \'{picture}\')/sample_data/grace_hopper.jpg"', run,
             python],
        ]),
        Step('benchmark', 'What an exchange costs', [[run, 'bench', 'exchange']]),
    ]


class Report:
    """The folder of the report."""

    def __init__(self, folder):
        self.folder = folder
        self.outcomes = []
        self.begin = time.time()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def run_step(self, number, step):
        """Runs the commands of a step, and returns why it failed, or None."""
        environment = {**os.environ, **step.environment}
        end = time.monotonic() + step.limit
        problems, last_line = [], ''
        with open(self.folder / f'{number:02}-{step.name}.txt', 'w', encoding='utf-8') as log:
            for command in step.commands:
                command = [str(word) for word in command]
                log.write(f'$ {" ".join(command)}\n')
                problem, last_line = run_command(command, environment, end - time.monotonic(), log)
                if problem:
                    log.write(f'({problem})\n')
                    problems.append(f'{Path(command[0]).name}: {problem}')
                    if not step.is_survey:
                        break
        self.keep(step)
        if problems and last_line and not step.is_survey:
            problems.append(last_line)
        return '; '.join(problems)

    def keep(self, step):
        """Copies what the step has written elsewhere in the meantime."""
        for path in map(Path, step.keep):
            if path.is_dir():
                shutil.copytree(path, self.folder / step.name / path.name)
            elif path.is_file() and path.stat().st_mtime >= self.begin:
                (self.folder / step.name).mkdir(exist_ok=True)
                shutil.copy(path, self.folder / step.name)

    def copy_crashes(self, delay):
        """Copies the crash reports that macOS has written since the beginning. They come some
        seconds after a crash."""
        if any(outcome.problem for outcome in self.outcomes):
            time.sleep(delay)
        for path in sorted(CRASHES.glob('*')):
            if path.suffix in ('.ips', '.crash', '.hang', '.spin') \
                    and path.stat().st_mtime >= self.begin:
                (self.folder / 'crashes').mkdir(exist_ok=True)
                shutil.copy(path, self.folder / 'crashes')

    def summary(self, left_out):
        failed = [outcome for outcome in self.outcomes if outcome.problem]
        crashes = len(list((self.folder / 'crashes').glob('*')))
        lines = [f'mtldl on a Mac: {len(failed)} of {len(self.outcomes)} steps failed', '']
        for number, outcome in enumerate(self.outcomes, 1):
            lines.append(f'{"FAILED" if outcome.problem else "ok":6} {outcome.seconds:6.0f} s  '
                         f'{f"{number:02}-{outcome.step.name}.txt":18}  {outcome.step.title}')
            if outcome.problem:
                lines.append(f'{"":37}{outcome.problem}')
        lines += [f'not run          {step.name:18}  {step.title}' for step in left_out]
        lines += ['', f'{crashes} crash reports' + (', in crashes/' if crashes else '')]
        return '\n'.join(lines) + '\n'


def run_command(command, environment, limit, log):
    """Runs a command, and shows and writes its output. Returns why it failed, or None, and the
    last line."""
    try:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors='replace', start_new_session=True)
    except OSError as error:
        return error.strerror, ''

    last_line = ''
    timed_out = threading.Event()

    def end():
        timed_out.set()
        kill_all(process)

    timer = threading.Timer(max(limit, 0), end)
    timer.start()
    try:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            line = re.sub(r'\x1b\[[0-9;]*[A-Za-z]', '', line)
            log.write(line)
            log.flush()
            last_line = line.strip() or last_line
        status = process.wait()
    except BaseException:
        kill_all(process)
        process.wait()
        raise
    finally:
        timer.cancel()
    if timed_out.is_set():
        return 'took too long, and was ended', last_line
    if status < 0:
        return f'ended by {signal.Signals(-status).name}', last_line
    return f'exit status {status}' if status else None, last_line


def kill_all(process):
    """Ends a process and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


# --- What others need not know

SECRETS = [
    # Numbers of machines in crash reports and in the list of displays.
    (re.compile(r'("?\b(?:crashReporterKey|sleepWakeUUID|bootSessionUUID|incident|incident_id'
                r'|deviceIdentifierForVendor|Anonymous UUID|Hardware UUID|Incident Identifier'
                r'|CrashReporter Key|(?:Display )?Serial Number[^:"\n]*)"?\s*:\s*)(?:"[^"\n]*"|[^",}\n]*)'),
     r'\1"-"'),
    # The folders of all users, in JSON too.
    (re.compile(r'(\\?/)(Users|home)(\\?/)(?!Shared\b)[^/\\\s"\':;,)]+'), r'\1\2\3USER'),
]

# Names that tell nothing, and are words of the report. So are all that are shorter than these.
COMMON_NAMES = {'mac', 'macbook', 'macbook-air', 'macbook-pro', 'imac', 'mac-mini', 'mac-studio',
                'localhost', 'local', 'root', 'runner', 'admin', 'user', 'test', 'build', 'metal'}


def output_of(*command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ''


def find_names():
    """Returns the names of the user and of the machine, with what is written in their place."""
    hosts = {socket.gethostname(), output_of('hostname')}
    hosts |= {output_of('scutil', '--get', name)
              for name in ('ComputerName', 'LocalHostName', 'HostName')}
    hosts |= {host.partition('.')[0] for host in hosts}
    names = {host: 'HOST' for host in hosts}
    names.update({getpass.getuser(): 'USER', output_of('id', '-F'): 'USER'})
    return {name: stand_in for name, stand_in in names.items()
            if len(name) > 2 and name.lower() not in COMMON_NAMES}


class Eraser:
    """Takes names and numbers out of text."""

    def __init__(self, home, names):
        self.home = home
        self.stand_ins = names
        longest_first = sorted(names, key=len, reverse=True)
        self.names = longest_first and re.compile(
            rf'(?<![A-Za-z0-9])(?:{"|".join(map(re.escape, longest_first))})(?![A-Za-z0-9])')

    def erase(self, text):
        for home in (self.home, self.home.replace('/', r'\/')):
            text = re.sub(re.escape(home) + r'(?![\w.-])', '~', text)
        for pattern, stand_in in SECRETS:
            text = pattern.sub(stand_in, text)
        if self.names:
            text = self.names.sub(lambda match: self.stand_ins[match[0]], text)
        return text


def write_archive(folder, path, eraser):
    """Writes the folder without names: not in the files, nor what they are called, nor whose they
    are. The files in the folder are changed as well."""
    for file in sorted(folder.rglob('*')):
        if file.is_file():
            text = eraser.erase(file.read_text(encoding='utf-8', errors='replace'))
            file.write_text(text, encoding='utf-8')
            file.rename(file.with_name(eraser.erase(file.name)))
    with tarfile.open(path, 'w:gz') as archive:
        for file in sorted(folder.rglob('*')):
            if file.is_file():
                member = tarfile.TarInfo(f'{folder.name}/{file.relative_to(folder).as_posix()}')
                content = file.read_bytes()
                member.size, member.mtime = len(content), int(file.stat().st_mtime)
                archive.addfile(member, io.BytesIO(content))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog='./run mac')
    parser.add_argument('--output', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--build', help=argparse.SUPPRESS)
    parser.add_argument('--venv', help=argparse.SUPPRESS)
    parser.add_argument('--formulae', default='', help=argparse.SUPPRESS)
    parser.add_argument('--crash-delay', type=float, default=10, help=argparse.SUPPRESS)
    parser.add_argument('--without', metavar='STEP', action='append', default=[])
    parser.add_argument('step', nargs='*', help='by default all steps')
    return parser, parser.parse_args(arguments)


def main(arguments):
    parser, arguments = parse_arguments(arguments)
    scratch = arguments.output / 'scratch'
    steps = make_steps(arguments.build, arguments.venv, arguments.formulae.split(), scratch)
    unknown = {*arguments.step, *arguments.without} - {step.name for step in steps}
    if unknown:
        parser.error(f'no such step: {", ".join(sorted(unknown))}. There are '
                     f'{", ".join(step.name for step in steps)}')

    scratch.mkdir(parents=True, exist_ok=True)
    report = Report(arguments.output / 'mac-report')
    chosen = [step for step in steps if step.name not in arguments.without
              and (not arguments.step or step.name in arguments.step)]
    interrupted = False
    for number, step in enumerate(chosen, 1):
        print(f'\n[{number}/{len(chosen)}] {step.title}', flush=True)
        begin = time.monotonic()
        try:
            problem = report.run_step(number, step)
        except KeyboardInterrupt:
            problem, interrupted = 'interrupted', True
        report.outcomes.append(Outcome(step, problem, time.monotonic() - begin))
        if interrupted:
            break

    report.copy_crashes(arguments.crash_delay)
    summary = report.folder / '00-summary.txt'
    summary.write_text(report.summary(chosen[len(report.outcomes):]), encoding='utf-8')
    archive = arguments.output / 'mac-report.tar.gz'
    write_archive(report.folder, archive, Eraser(str(Path.home()), find_names()))
    print(f'\n{summary.read_text(encoding="utf-8")}\nLook at {report.folder}, and send {archive}')
    return any(outcome.problem for outcome in report.outcomes)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

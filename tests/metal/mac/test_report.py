#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `./run mac` without a Mac.

mac.py runs in a tree whose `run` only says how it was called, with stand-ins of macOS's
commands in front of PATH.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
REPORT = ROOT / 'maintainer' / 'mac.py'

NAMES = ['machine', 'tools', 'metal', 'build', 'library', 'validated', 'kernel', 'tests', 'peers',
         'photo', 'benchmark']

# Says where it is, what it validates and how it was called. The tests crash.
RUN = r'''#!/bin/bash
echo "$PWD ${MTL_DEBUG_LAYER-no} ${MTL_SHADER_VALIDATION-no}: $*" >>"$CALLS"
case "$*" in
  *--suite*)
    echo 'a testlog' >"$BUILD/meson-logs/testlog.txt"
    ;;
  'test --all')
    printf '\033[1m%s\033[0m\n' "in $HOME/src by anna.miller on $(hostname)"
    mkdir -p "$BUILD/reports"
    echo '<testsuite/>' >"$BUILD/reports/languages.xml"
    echo '{"procPath" : "\/Users\/anna.miller\/x", "crashReporterKey" : "12-34"}' \
      >"$HOME/Library/Logs/DiagnosticReports/test-dtype_annas-book.ips"
    kill -SEGV $$
    ;;
  *wait*)
    sleep 100 & wait
    ;;
esac
'''

COMMANDS = {
    'sw_vers': 'echo ProductVersion: 26.1',
    'sysctl': 'echo hw.model: Mac16,1',
    'system_profiler': 'echo "Chipset Model: Apple M4"; echo "Display Serial Number: C02XYZ"',
    'xcode-select': 'echo /Library/Developer/CommandLineTools',
    'xcrun': 'echo 26.1',
    'clang': '[ "$1" = --version ] && exec echo Apple clang 17\n'
             'while [ "$1" != -o ]; do shift; done\n'
             'printf "#!/bin/sh\\necho Apple M4\\n" >"$2"; chmod +x "$2"',
    'brew': 'case $1 in --prefix) echo "$BREW";; *) echo "$*" 1.0;; esac',
    'git': 'echo abcdef Subject',
    'otool': 'echo CoreGraphics.framework/CoreGraphics',
    'id': 'echo Anna Miller',
    'hostname': 'echo annas-book.home',
    'scutil': 'echo "$2" | sed "s/.*/Annas Book/"',
}


def write_script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Mac:
    """A folder that has what mac.py sees of a Mac."""

    def __init__(self, folder):
        self.folder = folder
        self.tree = folder / 'tree'
        self.build = folder / 'build'
        self.home = folder / 'Users' / 'anna.miller'
        self.output = folder / 'output'
        self.crashes = self.home / 'Library' / 'Logs' / 'DiagnosticReports'
        self.calls = folder / 'calls'
        self.environment = {
            **os.environ, 'PATH': f'{folder}/commands:{os.environ["PATH"]}',
            'HOME': str(self.home), 'LOGNAME': 'anna.miller', 'CALLS': str(self.calls),
            'BUILD': str(self.build), 'BREW': str(folder / 'homebrew')}

        (self.tree / 'maintainer').mkdir(parents=True)
        shutil.copy(REPORT, self.tree / 'maintainer')
        shutil.copytree(HERE, self.tree / 'tests' / 'metal' / 'mac')
        write_script(self.tree / 'run', RUN)
        for name, text in COMMANDS.items():
            write_script(folder / 'commands' / name, f'#!/bin/sh\n{text}\n')
        write_script(folder / 'venv' / 'bin' / 'python', '#!/bin/sh\n')
        self.crashes.mkdir(parents=True)
        (self.crashes / 'old.ips').write_text('old')
        os.utime(self.crashes / 'old.ips', (0, 0))
        (self.build / 'meson-logs').mkdir(parents=True)
        (self.build / 'mtldl').mkdir()
        (self.build / 'compile.log').write_text('of an earlier build')
        os.utime(self.build / 'compile.log', (0, 0))

    def command(self, *steps):
        return [sys.executable, self.tree / 'maintainer' / 'mac.py', '--crash-delay', '0',
                '--output', self.output, '--build', self.build, '--venv', self.folder / 'venv',
                '--formulae', 'glib gjs', *steps]

    def collect(self, *steps):
        return subprocess.run(self.command(*steps), env=self.environment, capture_output=True,
                              text=True, timeout=60)

    def files(self):
        folder = self.output / 'mac-report'
        return {path.relative_to(folder).as_posix(): path.read_text()
                for path in folder.rglob('*') if path.is_file()}


def equal(seen, expected):
    assert seen == expected, f'{seen!r} is not {expected!r}'


def test_everything(mac):
    """All steps run, also after one that fails, and the folder has what they wrote."""
    done = mac.collect()
    files = mac.files()
    equal(done.returncode, 1)
    equal(sorted(files), sorted([
        '00-summary.txt', *(f'{n:02}-{name}.txt' for n, name in enumerate(NAMES, 1)),
        'validated/testlog.txt', 'kernel/testlog.txt', 'tests/reports/languages.xml',
        'peers/reports/languages.xml',
        'crashes/test-dtype_HOST.ips']))

    summary = files['00-summary.txt']
    assert 'FAILED' in summary and 'SIGSEGV' in summary and summary in done.stdout
    assert '\033' not in ''.join(files.values())
    assert 'Apple M4' in files['01-machine.txt'] and 'Mac16,1' in files['01-machine.txt']
    assert files['03-metal.txt'].endswith('Apple M4\n')


def test_names(mac):
    """The archive has the same files, without names of people, machines and folders."""
    mac.collect()
    files = mac.files()
    with tarfile.open(mac.output / 'mac-report.tar.gz') as archive:
        members = archive.getmembers()
        equal({member.name: archive.extractfile(member).read().decode() for member in members},
              {f'mac-report/{name}': text for name, text in files.items()})
        equal({(member.uid, member.gid, member.uname, member.gname) for member in members},
              {(0, 0, '', '')})
    everything = ' '.join([*files, *files.values()])
    for secret in ('anna', 'Anna', 'Miller', 'book', 'C02XYZ', '12-34'):
        assert secret not in everything, secret
    equal(files['08-tests.txt'].splitlines()[1], 'in ~/src by USER on HOST')
    equal(files['crashes/test-dtype_HOST.ips'].strip(),
          r'{"procPath" : "\/Users\/USER\/x", "crashReporterKey" : "-"}')


def test_some_steps(mac):
    """Steps that are named run alone, and replace the report of earlier ones."""
    mac.collect('machine')
    done = mac.collect('benchmark', 'metal')
    equal(done.returncode, 0)
    equal(sorted(mac.files()), ['00-summary.txt', '01-metal.txt', '02-benchmark.txt'])


def test_unknown_step(mac):
    done = mac.collect('--without', 'benchmarks')
    equal(done.returncode, 2)
    assert 'benchmarks' in done.stderr and all(name in done.stderr for name in NAMES), done.stderr
    assert not mac.output.exists()


def test_missing_commands(mac):
    """A step without its command fails, but a survey goes on."""
    for name in ('sw_vers', 'otool'):
        (mac.folder / 'commands' / name).unlink()
    done = mac.collect('machine', 'library')
    equal(done.returncode, 1)
    files = mac.files()
    assert 'sw_vers' in files['00-summary.txt'] and 'otool' in files['00-summary.txt'], files
    assert 'Apple M4' in files['01-machine.txt']
    assert 'library_devices' not in files['02-library.txt']


def test_interrupted(mac):
    """Ctrl-C ends the step, and the report tells what did not run."""
    (mac.folder / 'commands' / 'otool').write_text('#!/bin/sh\necho here\nsleep 100 & wait\n')
    with subprocess.Popen(mac.command('library', 'tests', 'benchmark'), env=mac.environment,
                          stdout=subprocess.PIPE, text=True) as process:
        while process.stdout.readline() != 'here\n':
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        equal(process.wait(30), 1)
    summary = mac.files()['00-summary.txt']
    assert all(name in summary for name in ('library', 'tests', 'benchmark')), summary
    assert (mac.output / 'mac-report.tar.gz').exists()


def load_report():
    spec = importlib.util.spec_from_file_location('report', REPORT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_limit(mac):
    """A command that hangs is ended, with what it has started."""
    report = load_report()
    report.ROOT = mac.tree
    begin = time.monotonic()
    with open(mac.folder / 'log', 'w') as log:
        problem = report.run_command([str(mac.tree / 'run'), 'wait'], mac.environment, 0.5, log)
    assert problem and time.monotonic() - begin < 30


def test_common_names(mac):
    """Words that are also names stay, and so do words that contain names."""
    eraser = load_report().Eraser('/Users/jo', {'jon': 'USER', 'Jon Doe': 'USER'})
    equal(eraser.erase('/Users/jo/x, /Users/joan/y, /Users/Shared, Jon Doe, jon, jonquil, jon_x'),
          '~/x, /Users/USER/y, /Users/Shared, USER, USER, jonquil, USER_x')
    equal(eraser.erase('Incident Identifier: 1-2\nSerial Number (system): 3\nline 4'),
          'Incident Identifier: "-"\nSerial Number (system): "-"\nline 4')
    mac.environment.update({'LOGNAME': 'runner'})
    write_script(mac.folder / 'commands' / 'hostname', '#!/bin/sh\necho Mac.local\n')
    mac.collect('machine')
    assert 'Mac' in mac.files()['00-summary.txt']


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith('test_')]
    n_failed = 0
    print(f'1..{len(tests)}')
    for n, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory(prefix='mac ') as folder:
            try:
                test(Mac(Path(folder).resolve()))
                outcome = 'ok'
            except Exception:
                outcome = 'not ok'
                n_failed += 1
                print('# ' + traceback.format_exc().replace('\n', '\n# '))
        print(f'{outcome} {n} - {name.removeprefix("test_")}', flush=True)
    return n_failed > 0


if __name__ == '__main__':
    sys.exit(main())

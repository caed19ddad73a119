#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `./run mac` without a Mac.

mac.py runs in a tree whose `run` only says how it was called, with stand-ins of macOS's
commands in front of PATH.
"""

import importlib.util
import os
import re
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

    lines = files['00-summary.txt'].splitlines()
    equal(lines[0], 'mtldl on a Mac: 1 of 11 steps failed')
    equal([line.split()[0] for line in lines[2:] if re.match(r'\w+ +\d+ s', line)],
          ['FAILED' if name == 'tests' else 'ok' for name in NAMES])
    equal(lines[10].strip(), 'run: ended by SIGSEGV; in ~/src by USER on HOST')
    equal(lines[-1], '1 crash reports, in crashes/')
    assert files['00-summary.txt'] in done.stdout
    assert '\033' not in ''.join(files.values()) and '\033[1min ' in done.stdout

    assert 'Apple M4' in files['01-machine.txt'] and 'Mac16,1' in files['01-machine.txt']
    assert 'list --versions glib 1.0' in files['02-tools.txt'], files['02-tools.txt']
    assert files['03-metal.txt'].endswith('Apple M4\n')


def test_calls(mac):
    """The library's own tests run under Apple's validation, the others without."""
    mac.collect()
    calls = [line.replace(str(mac.folder), '') for line in mac.calls.read_text().splitlines()]
    meson = 'exec meson test -C /build --print-errorlogs'
    equal(calls, [
        '/tree no no: exec true',
        '/tree no no: exec python3 /tree/tests/metal/mac/test_library_devices.py',
        f'/tree 1 no: {meson} --suite own-devices --suite c --suite gjs --suite vala',
        f'/tree 1 1: {meson} docs/test_output.py@objc-kernel',
        '/tree no no: test --all',
        '/tree no no: test peers',
        '/tree no no: exec /venv/bin/python /tree/examples/python/metal_peers.py',
        '/tree no no: demo /sample_data/grace_hopper.jpg',
        '/tree no no: bench exchange',
    ])


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
    assert mac.files()['00-summary.txt'].startswith('mtldl on a Mac: 0 of 2 steps failed\n')
    assert mac.files()['00-summary.txt'].endswith('\n0 crash reports\n')


def test_all_but_some(mac):
    mac.collect('--without', 'peers', '--without=tests')
    equal([name[3:-4] for name in sorted(mac.files()) if name[0] in '01'],
          ['summary', *(name for name in NAMES if name not in ('peers', 'tests'))])


def test_unknown_step(mac):
    done = mac.collect('--without', 'benchmarks')
    equal(done.returncode, 2)
    assert 'no such step: benchmarks. There are machine, tools, ' in done.stderr, done.stderr
    assert not mac.output.exists()


def test_missing_commands(mac):
    """A step without its command fails, but a survey goes on."""
    for name in ('sw_vers', 'otool'):
        (mac.folder / 'commands' / name).unlink()
    done = mac.collect('machine', 'library')
    equal(done.returncode, 1)
    files = mac.files()
    assert 'sw_vers: No such file or directory' in files['00-summary.txt'], files
    assert 'otool: No such file or directory' in files['00-summary.txt'], files
    assert 'Apple M4' in files['01-machine.txt']
    assert 'library_devices' not in files['02-library.txt']


def test_no_coregraphics(mac):
    write_script(mac.folder / 'commands' / 'otool', '#!/bin/sh\necho Metal.framework\n')
    equal(mac.collect('library').returncode, 1)
    assert 'library_devices' not in mac.files()['01-library.txt']


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
    equal(re.findall(r'interrupted|not run +\w+', summary),
          ['interrupted', 'not run          tests', 'not run          benchmark'])
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
    equal(problem, ('took too long, and was ended', ''))
    assert time.monotonic() - begin < 30


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
    assert 'mtldl on a Mac:' in mac.files()['00-summary.txt']


def test_command(mac):
    """`./run mac` gives the folders and the packages on a Mac, and refuses elsewhere."""
    for name in ('run', 'maintainer/mac.sh', 'maintainer/need.sh'):
        shutil.copy(ROOT / name, mac.tree / name)
    write_script(mac.tree / 'maintainer' / 'mac.py', 'import sys; print(sys.argv[1:])')
    environment = {**mac.environment, 'MTL_BUILD_DIR': '/b', 'MTL_VENV_DIR': '/v'}

    for system, status in (('Linux', 1), ('Darwin', 0)):
        write_script(mac.folder / 'commands' / 'uname', f'#!/bin/sh\necho {system}\n')
        if system == 'Linux':
            # Here the folders of the system come first.
            environment['BASH_ENV'] = str(mac.folder / 'uname.sh')
            (mac.folder / 'uname.sh').write_text('uname () { echo Linux; }\n')
        else:
            del environment['BASH_ENV']
        done = subprocess.run(['bash', mac.tree / 'run', 'mac', 'metal'], env=environment,
                              capture_output=True, text=True)
        equal(done.returncode, status)
        if system == 'Linux':
            equal(done.stderr.count('\n'), 1)
            assert 'needs a Mac' in done.stderr and not done.stdout, done
        else:
            assert done.stdout.startswith("['--output', '/b-mac', '--build', '/b', '--venv', '/v',"
                                          " '--formulae', 'meson ninja "), done
            assert done.stdout.endswith(" gi-docgen', 'metal']\n"), done


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

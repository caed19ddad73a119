# SPDX-License-Identifier: LGPL-2.1-or-later
"""GitHub would take the workflows.

The schema comes with check-jsonschema, so nothing is fetched. It does not look into expressions
and commands; for these see tests/packaging/test_shell.py.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / '.github' / 'workflows').glob('*.yml'))


def check(path):
    return subprocess.run([sys.executable, '-m', 'check_jsonschema', '--builtin-schema',
                           'vendor.github-workflows', path], capture_output=True, text=True)


def test_workflows_exist():
    assert [path.name for path in WORKFLOWS] == ['linux.yml', 'macos.yml']


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.name)
def test_schema(path):
    done = check(path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.name)
@pytest.mark.parametrize('right, wrong', [
    (r'^    runs-on:', '    run-on:'),
    (r'^      - uses: actions/checkout', '      - use: actions/checkout'),
    (r'^  pull_request:', '  pull-request:'),
    (r'^    timeout-minutes: \d+', '    timeout-minutes: long'),
    (r'^    steps:', '    step:'),
])
def test_mistakes_are_noticed(path, right, wrong, tmp_path):
    text, count = re.subn(right, wrong, path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    (tmp_path / 'wrong.yml').write_text(text)
    done = check(tmp_path / 'wrong.yml')
    assert done.returncode == 1 and 'validation errors' in done.stdout, done

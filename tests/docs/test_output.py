#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command and checks its output: test_output.py EXPECTED-FILE COMMAND…"""

import difflib
import pathlib
import shlex
import subprocess
import sys


def main(expected_path, *command):
    expected = pathlib.Path(expected_path).read_text(encoding='utf-8')
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    passed = result.returncode == 0 and result.stdout == expected

    print('1..1')
    print(f'{"ok" if passed else "not ok"} 1 {pathlib.Path(command[-1]).name}'
          f' prints what {pathlib.Path(expected_path).name} says')
    if not passed:
        print(f'# {shlex.join(command)} ended with {result.returncode}')
        for line in difflib.unified_diff(expected.splitlines(), result.stdout.splitlines(),
                                         'expected', 'printed', lineterm=''):
            print(f'# {line}')

    return 0 if passed else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

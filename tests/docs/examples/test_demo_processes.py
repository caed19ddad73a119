#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the demo of processes with small pictures: test_demo_processes.py DEMO"""

import re
import subprocess
import sys

FRAMES = 30


def main():
    result = subprocess.run([sys.executable, sys.argv[1], '--frames', str(FRAMES),
                             '--size', '233x121'],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
    assert result.returncode == 0, result
    rows = re.findall(r'^(\S.*\S) +(\d+)$', result.stdout, re.MULTILINE)
    assert len(rows) == 5, result.stdout
    last = result.stdout.splitlines()[-1]
    count, size, places = map(int, re.match(r'(\d+) \w+ of (\d+) bytes in (\d+) ', last).groups())
    assert (count, size) == (FRAMES, 233 * 121 * 4) and places < FRAMES / 2, last
    print('1..1\nok 1 - demo --processes')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the demo of video on small frames: test_demo_video.py DEMO"""

import re
import subprocess
import sys

FRAMES = 7


def main():
    result = subprocess.run([sys.executable, sys.argv[1], '--frames', str(FRAMES),
                             '--size', '33x21'],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
    assert result.returncode == 0, result
    rows = re.findall(r'^(\S.*?:.*?) +(\d+) +(\d+\.\d+)$', result.stdout, re.MULTILINE)
    assert len(rows) == 3 and rows[0][2] == '1.00', result.stdout
    assert result.stdout.splitlines()[-1].startswith(f'{FRAMES} of {FRAMES} frames'), result.stdout
    print('1..1\nok 1 - demo --video')


if __name__ == '__main__':
    main()

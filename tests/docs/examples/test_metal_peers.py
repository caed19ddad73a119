#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs examples/python/metal_peers.py: test_metal_peers.py SCRIPT [double].

The peers are stand-ins that write as late as their synchronisation allows, so
that a step which the script leaves out shows. Without the double of Metal, and
without a Mac, the script has nothing but its excuse.
"""

import os
import pathlib
import subprocess
import sys

STAND_INS = pathlib.Path(__file__).resolve().parent / 'stand-ins'
NO_METAL = ('', 'No Metal: There is no device (8, 0) here')
SHARED = '''\
written here, read by PyTorch: [1.0, 1.0, 1.0, 1.0]
written here, read by MLX: [1.0, 1.0, 1.0, 1.0]
written by PyTorch, read here: [2.0, 2.0, 2.0, 2.0]
written by PyTorch, read by MLX: [2.0, 2.0, 2.0, 2.0]
written by MLX, read here: [4.0, 4.0, 4.0, 4.0]
written by MLX, read by PyTorch: [4.0, 4.0, 4.0, 4.0]
not written by MLX, read here: [2.0, 2.0, 2.0, 2.0]
lent read-only, read here: [2.0, 2.0, 2.0, 2.0]
written by PyTorch to MLX's memory, read here: [5.0, 5.0, 5.0, 5.0]
written by PyTorch to MLX's memory, read by MLX: [5.0, 5.0, 5.0, 5.0]
'''

# Cases by what is missing: the devices, STAND_IN, the output, the beginning of the message.
CASES = {
    'a device': ('none', '', *NO_METAL),
}
CASES_OF_DOUBLE = {
    'PyTorch': ('unified', 'no-torch', '', 'PyTorch is not installed'),
    'MPS': ('unified', 'no-mps', '', 'PyTorch has no MPS here'),
    'nothing': ('unified', '', SHARED, ''),
}


def run(script, devices, stand_in):
    path = os.pathsep.join([str(STAND_INS), os.environ.get('PYTHONPATH', '')])
    environment = dict(os.environ, METAL_DOUBLE=devices, STAND_IN=stand_in, PYTHONPATH=path,
                       PYTHONDONTWRITEBYTECODE='1')
    return subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)


def main(script, *with_double):
    cases = {**CASES, **(CASES_OF_DOUBLE if with_double else {})}
    n_failed = 0

    print(f'1..{len(cases)}')
    for number, (missing, (devices, stand_in, output, message)) in enumerate(cases.items(), 1):
        result = run(script, devices, stand_in)
        passed = (result.stdout == output and result.stderr.startswith(message)
                  and result.returncode == (1 if message else 0)
                  and 'Traceback' not in result.stderr)
        n_failed += not passed
        print(f'{"ok" if passed else "not ok"} {number} what is missing: {missing}', flush=True)
        if not passed:
            for line in f'{result.returncode}\n{result.stdout}{result.stderr}'.splitlines():
                print(f'# {line}')

    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

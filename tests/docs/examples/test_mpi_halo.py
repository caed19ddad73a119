#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the example of MPI as one process and as four, and compares the plate that it saves with one
that is computed in one piece: test_mpi_halo.py EXPECTED-TEXT MPIRUN COMMAND…
"""

import ast
import pathlib
import struct
import subprocess
import sys
import tempfile

ROWS, COLUMNS, STEPS = 90, 70, 200


def simulate():
    """Returns the rows of the plate, without its halo."""
    plate = [[100.0] * (COLUMNS + 2), *([0.0] * (COLUMNS + 2) for _ in range(ROWS + 1))]
    for _ in range(STEPS):
        inner = [[(above[j] + below[j] + row[j - 1] + row[j + 1]) / 4
                  for j in range(1, COLUMNS + 1)]
                 for above, row, below in zip(plate, plate[1:], plate[2:])]
        plate[1:-1] = [[0.0, *row, 0.0] for row in inner]
    return [row[1:-1] for row in plate[1:-1]]


def read_npy(path):
    """Returns the numbers of a file whose header says that they are a plate in C order."""
    data = path.read_bytes()
    assert data[:8] == b'\x93NUMPY\x01\x00', data[:8]
    end = 10 + struct.unpack('<H', data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode('latin-1'))
    assert header == {'descr': '<f8', 'fortran_order': False, 'shape': (ROWS, COLUMNS)}, header
    return list(struct.unpack(f'<{ROWS * COLUMNS}d', data[end:]))


def run(launcher, n, *command):
    result = subprocess.run([launcher, '-n', str(n), *command], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def main(expected, launcher, *command):
    plate = [number for row in simulate() for number in row]
    text = pathlib.Path(expected).read_text(encoding='utf-8')
    outputs = {4: text, 1: text.replace('4 processes, 2 x 2', '1 processes, 1 x 1')}

    print('1..2')
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'plate.npy'
        for number, (n, output) in enumerate(outputs.items(), 1):
            assert run(launcher, n, *command, path) == output
            assert read_npy(path) == plate
            path.unlink()
            print(f'ok {number} {n} processes')


if __name__ == '__main__':
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fuzzes the code that reads untrusted input, and adds the number of inputs to
tests/fuzz/COUNTS.md."""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import builds

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ROOT / 'tests' / 'fuzz' / 'COUNTS.md'
ROW = re.compile(r'\| (\S+) \| ([\d,]+) \|')

# The longest input of each target.
TARGETS = {'layout': 256, 'dlpack': 256, 'safetensors-header': 1024, 'safetensors-index': 512,
           'npy-header': 512, 'zip-directory': 1024, 'file-stream': 4096, 'tensor-file': 4096,
           'tensor-message': 512, 'gst-view': 256}

# A leaked GObject is only noticed if each has a memory block of its own.
VARIABLES = {'G_SLICE': 'always-malloc', 'G_DEBUG': 'fatal-warnings',
             'ASAN_OPTIONS': 'allocator_may_return_null=1',
             'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
             'LSAN_OPTIONS': f'suppressions={ROOT}/tests/metal/double/lsan-without-device.supp'}


def fuzz(folder, name, limit):
    """Begins with the corpus in the source. New inputs stay in the build folder, as do inputs that
    crash. Returns how many inputs ran, or None."""
    found, crashes, log = folder / 'found' / name, folder / 'crashes' / name, folder / f'{name}.log'
    found.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    # Weighing inputs by their entropy takes more time than most of the targets do.
    command = [folder / 'tests' / 'fuzz' / f'fuzz-{name}', limit, f'-max_len={TARGETS[name]}',
               '-len_control=0', '-entropic=0', '-timeout=20', '-print_final_stats=1',
               f'-artifact_prefix={crashes}/', found, folder / 'tests' / 'fuzz' / f'corpus-{name}']
    with open(log, 'w') as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT,
                              env=os.environ | VARIABLES)
    text = log.read_text(errors='replace')
    if done.returncode != 0:
        print(*text.splitlines()[-60:], f'Inputs that crash fuzz-{name} are in {crashes}', sep='\n')
        return None
    n_inputs = int(re.search(r'number_of_executed_units: *(\d+)', text)[1])
    print(f'{name}: {n_inputs:,} inputs', flush=True)
    return n_inputs


def add_counts(counts):
    totals, head = {}, []
    for line in COUNTS.read_text().splitlines():
        if row := ROW.fullmatch(line):
            totals[row[1]] = int(row[2].replace(',', ''))
        else:
            head.append(line)
    totals.pop('all', None)
    for name, count in counts.items():
        totals[name] = totals.get(name, 0) + count
    totals = dict(sorted(totals.items()), all=sum(totals.values()))
    rows = [f'| {name} | {count:,} |' for name, count in totals.items()]
    COUNTS.write_text('\n'.join(head + rows) + '\n')
    print(f'All targets together have run {totals["all"]:,} inputs')


def main():
    parser = argparse.ArgumentParser(prog='./run fuzz', description=__doc__)
    parser.add_argument('number', type=int, nargs='?', default=60, help='for each target')
    parser.add_argument('unit', choices=('seconds', 'inputs'), nargs='?', default='seconds')
    parser.add_argument('--uncounted', action='store_true', help='leave COUNTS.md alone')
    given = parser.parse_args()

    builds.need('to fuzz', '@build', '@double')
    folder = builds.build('sanitized', 'fuzz-targets')
    limit = f'-{"max_total_time" if given.unit == "seconds" else "runs"}={given.number}'
    with ThreadPoolExecutor(builds.JOBS) as pool:
        counts = dict(zip(TARGETS, pool.map(lambda name: fuzz(folder, name, limit), TARGETS)))
    if not given.uncounted:
        add_counts({name: count for name, count in counts.items() if count is not None})
    return None in counts.values()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except builds.Failed:
        sys.exit(1)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies and conversions between layouts that are drawn at random, against the better of
np.copyto() and Tensor.copy_() for each case: ratios of their time to ours, the least of several
rounds taken in turn, each with a destination of its own. What is slower than a peer is measured
again alone, in a process of its own.

usage: bench_random.py FOLDER [--cases N] [--seed S] [--same | --convert] [--threads N]
                       [--json FILE]: the build folder.

The limit is the least time that a copy can take, by a model: the lines of the caches that source
and destination touch, over the bandwidths that are measured here for that much memory, with
ordinary or with streaming stores, whichever is less.
"""

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import time
import warnings
from typing import NamedTuple

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402

import random_layouts  # noqa: E402
from random_layouts import MIB, Case, Part, build, classify, draw, dtype_of  # noqa: E402

import torch  # noqa: E402

# Seconds for a round of one contender, and rounds.
BUDGET = 2e-3
ROUNDS, MORE_ROUNDS = 5, 8
SLOWER = 0.95
# Below, the cost of a call says more than any bandwidth.
LEAST_FOR_LIMIT = 65536

TORCH_TYPES = {"bfloat16": torch.bfloat16, "float8_e4m3fn": torch.float8_e4m3fn,
               "float8_e5m2": torch.float8_e5m2, "float8_e4m3fnuz": torch.float8_e4m3fnuz,
               "float8_e5m2fnuz": torch.float8_e5m2fnuz}


class Result(NamedTuple):
    case: Case
    ours: float      # seconds
    numpy: float
    torch: float     # NaN if PyTorch has no such layout
    limit: float
    n_bytes: int     # in and out
    kind: tuple

    @property
    def peer(self):
        return self.numpy if math.isnan(self.torch) else min(self.numpy, self.torch)

    @property
    def ratio(self):
        return self.peer / self.ours


class Machine:
    """Bandwidths for a working set, and from them the limit of a case."""

    _READ, _WRITE, _STREAM, _COPY, _COPY_STREAM = range(5)

    def __init__(self, folder):
        self._library = ctypes.CDLL(os.path.join(folder, "tests", "bench", "libbench-machine.so"))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self._library.time_way.argtypes = [pointer, pointer, size, ctypes.c_int, ctypes.c_uint]
        self._library.time_way.restype = ctypes.c_double
        self._library.count_lines.argtypes = [size, size, size, pointer, pointer]
        self._library.count_lines.restype = ctypes.c_int64
        self._sizes = [2**k for k in range(13, 28)]
        self._speeds = self._measure()

    def _measure(self):
        memory = [np.ones(self._sizes[-1] + 64, np.uint8) for _ in range(2)]
        dest, source = (array.ctypes.data + -array.ctypes.data % 64 for array in memory)
        return [[size / self._library.time_way(dest, source, size, way,
                                               10 if size < 16 * MIB else 4)
                 for size in self._sizes] for way in range(5)]

    def _speed(self, way, working_set):
        """Bytes a second. A copy of n bytes has a working set of 2 n."""
        n = working_set / 2 if way >= self._COPY else working_set
        return np.interp(math.log2(max(n, 1)), np.log2(self._sizes), self._speeds[way])

    def _touched(self, array):
        shape, strides = (np.array(numbers, np.int64) for numbers in (array.shape, array.strides))
        return 64 * self._library.count_lines(array.ctypes.data, array.itemsize, array.ndim,
                                              shape.ctypes.data, strides.ctypes.data)

    def limit(self, dest, source):
        written, read = self._touched(dest), self._touched(source)
        both = min(written, read)

        def seconds(copy, write):
            return (both / self._speed(copy, written + read)
                    + (read - both) / self._speed(self._READ, written + read)
                    + (written - both) / self._speed(write, written + read))

        ordinary = seconds(self._COPY, self._WRITE)
        if written > 1.05 * dest.nbytes + 128:
            return ordinary  # a stream writes whole lines
        return min(ordinary, seconds(self._COPY_STREAM, self._STREAM))


def tensor_of(array):
    """None if PyTorch cannot have it: backwards, or not aligned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # broadcast arrays are not writable
        try:
            if array.dtype.name in TORCH_TYPES:
                integers = torch.from_numpy(array.view(f"u{array.itemsize}"))
                return integers.view(TORCH_TYPES[array.dtype.name])
            return torch.from_numpy(array)
        except (TypeError, ValueError, RuntimeError):
            return None


def timed(call, n):
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n


def contenders(case):
    """Calls by name, what they write to, and the source."""
    source = build(case.source, True)
    dests = {name: build(case.dest, False) for name in ("ours", "numpy", "torch")}
    views = Mtl.asview(dests["ours"]), Mtl.asview(source)
    calls = {"ours": lambda: views[0].copy_from(views[1]),
             "numpy": lambda: np.copyto(dests["numpy"], source, casting="unsafe")}
    tensors = tensor_of(dests["torch"]), tensor_of(source)
    if None not in tensors:
        calls["torch"] = lambda: tensors[0].copy_(tensors[1])
    return calls, dests, source


def check_values(case, calls, dests):
    for name in ("ours", "numpy"):
        calls[name]()
    ours, numpys = (np.ascontiguousarray(dests[name]).view(np.uint8) for name in ("ours", "numpy"))
    if not np.array_equal(ours, numpys):
        raise SystemExit(f"other values than NumPy's: {case}")


def measure(case, machine):
    calls, dests, source = contenders(case)
    check_values(case, calls, dests)
    for call in calls.values():
        call()
    n = max(1, int(BUDGET / max(timed(calls["ours"], 1), 1e-6)))
    least = dict.fromkeys(("ours", "numpy", "torch"), math.inf)

    def take_turns(rounds):
        for _ in range(rounds):
            for name, call in calls.items():
                least[name] = min(least[name], timed(call, n))

    take_turns(ROUNDS)
    if min(least["numpy"], least["torch"]) < least["ours"]:
        take_turns(MORE_ROUNDS)
    return Result(case, least["ours"], least["numpy"],
                  least["torch"] if "torch" in calls else math.nan,
                  machine.limit(dests["ours"], source) if machine else math.nan,
                  source.size * (source.itemsize + dests["ours"].itemsize),
                  tuple(classify(dests["ours"], source)))


def measure_alone(result, arguments):
    """Again, in a process of its own; with the limit as it was."""
    command = [sys.executable, __file__, arguments.folder, "--threads", str(arguments.threads),
               "--case", json.dumps(result.case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    seconds = json.loads(done.stdout)
    again = result._replace(ours=seconds["ours"], numpy=seconds["numpy"], torch=seconds["torch"])
    return max(result, again, key=lambda one: one.ratio)


def case_from(text):
    return Case(*(Part(*(tuple(field) if isinstance(field, list) else field for field in part))
                  for part in json.loads(text)))


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


HEADER = (f"{'':22} {'n':>4} | {'ratio':>5} {'< .95':>6} {'least':>5} | "
          f"{'10 %':>5} {'50 %':>5} {'90 %':>5} | peer 50 %")


def print_row(name, results):
    """Ratios to the better peer; then times over the limit, ours and the peer's."""
    ratios = [result.ratio for result in results]
    limited = [result for result in results if result.n_bytes >= LEAST_FOR_LIMIT]
    row = (f"{name:22} {len(results):4} | {geometric_mean(ratios):5.2f} "
           f"{sum(ratio < SLOWER for ratio in ratios) / len(ratios):6.1%} {min(ratios):5.2f} | ")
    if limited and not math.isnan(limited[0].limit):
        ours = np.percentile([result.ours / result.limit for result in limited], [10, 50, 90])
        peers = np.median([result.peer / result.limit for result in limited])
        row += " ".join(f"{part:5.2f}" for part in ours) + f" | {peers:5.2f}"
    print(row)


def print_summary(name, results):
    print(f"\n{name}\n{HEADER}")
    print_row("all", results)
    for field in range(len(random_layouts.Kind._fields)):
        for kind in sorted({result.kind[field] for result in results}):
            print_row(kind, [result for result in results if result.kind[field] == kind])
    print("\nthe distribution of ratios:")
    bounds = [0, 0.5, 0.8, 0.95, 1.05, 1.25, 1.5, 2, 3, 5, 10, math.inf]
    for low, high in zip(bounds, bounds[1:]):
        n = sum(low <= result.ratio < high for result in results)
        print(f"  {low:5} to {high:4} {n:4} {'#' * round(60 * n / len(results))}")
    print("\nthe worst:")
    for result in sorted(results, key=lambda one: one.ratio)[:20]:
        source, dest = (build_strides(part) for part in result.case)
        print(f"  {result.ratio:.2f} {result.case.source.dtype} -> {result.case.dest.dtype} "
              f"{result.case.source.shape} {source} -> {dest}  "
              f"us: {result.ours * 1e6:.1f} numpy {result.numpy * 1e6:.1f} "
              f"torch {result.torch * 1e6:.1f} limit {result.limit * 1e6:.1f}")


def build_strides(part):
    """In elements."""
    itemsize = dtype_of(part.dtype).itemsize
    return tuple(stride // itemsize for stride in build(part, False).strides)


def run(arguments, converts):
    rng = np.random.default_rng(arguments.seed)
    machine = Machine(arguments.folder) if arguments.threads == 1 else None
    results = []
    for i in range(arguments.cases):
        result = measure(draw(rng, converts), machine)
        if result.ratio < SLOWER:
            result = measure_alone(result, arguments)
        results.append(result)
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {arguments.cases}", end="", file=sys.stderr, flush=True)
    print_summary("conversions" if converts else "the same type", results)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--convert", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    Mtl.set_max_threads(arguments.threads)
    torch.set_num_threads(arguments.threads)

    if arguments.case:
        result = measure(case_from(arguments.case), None)
        print(json.dumps({"ours": result.ours, "numpy": result.numpy, "torch": result.torch}))
        return

    if arguments.seed is None:
        arguments.seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {arguments.seed}, {arguments.threads} thread"
          f"{'s' if arguments.threads > 1 else ''}")
    results = []
    for converts in (False, True):
        if (arguments.convert if converts else arguments.same) \
                or arguments.same == arguments.convert:
            results += run(arguments, converts)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump([result._asdict() for result in results], file)


if __name__ == "__main__":
    main()

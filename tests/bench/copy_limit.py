# SPDX-License-Identifier: LGPL-2.1-or-later
"""The least time that a copy can take on one core, by a model: the lines of the caches that source
and destination touch, over the bandwidth that is measured for that much memory, with ordinary
stores or with those that stream around the caches, whichever takes less."""

import ctypes
import math
from pathlib import Path

import numpy as np

from random_copies import LINE, bits_of

# The ways that bench-machine.c times.
READ, WRITE, STREAM, COPY, COPY_STREAM = range(5)
SIZES = [2**k for k in range(13, 28)]


def _merge_runs(itemsize, shape, strides):
    """Bytes in a row that skip no line, and (extent, stride in bytes) of the axes that they are
    repeated along: from the least stride on, as long as each gap is shorter than a line."""
    axes = sorted((abs(stride) * itemsize, extent)
                  for stride, extent in zip(strides, shape) if extent > 1 and stride)
    run, n_merged = itemsize, 0
    for stride, extent in axes:
        if stride - run >= LINE:
            break
        run += stride * (extent - 1)
        n_merged += 1
    return run, [(extent, stride) for stride, extent in axes[n_merged:]]


def count_lines(itemsize, shape, strides, offset):
    """Counts the different lines that the elements are in; the lowest begins that far into a
    line."""
    run, axes = _merge_runs(itemsize, shape, strides)
    starts = np.array([offset])
    for extent, stride in axes:
        starts = np.add.outer(np.arange(extent) * stride, starts).reshape(-1)
    n_lines = (offset + run + sum(stride * (extent - 1) for extent, stride in axes)) // LINE + 1
    depth = np.bincount(starts // LINE, minlength=n_lines + 1)
    depth -= np.bincount((starts + run - 1) // LINE + 1, minlength=n_lines + 1)
    return int(np.count_nonzero(np.cumsum(depth)))


class Bandwidths:
    """Bytes a second of each way to go through memory, by its size."""

    def __init__(self, speeds, sizes=SIZES):
        self._speeds, self._sizes = np.array(speeds), np.log2(sizes)

    def best_with(self, other):
        """Takes the better of two measurements, as a disturbance affects only one of them."""
        return Bandwidths(np.maximum(self._speeds, other._speeds), 2**self._sizes)

    def at(self, way, working_set):
        """A copy of n bytes has a working set of 2 n."""
        n = working_set / 2 if way in (COPY, COPY_STREAM) else working_set
        return float(np.interp(math.log2(n), self._sizes, self._speeds[way]))


def measure_bandwidths(folder):
    """Measures with the library that is built there."""
    library = ctypes.CDLL(str(Path(folder, "tests", "bench", "libbench-machine.so")))
    library.time_way.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                                 ctypes.c_uint]
    library.time_way.restype = ctypes.c_double
    memory = [np.ones(SIZES[-1] + LINE, np.uint8) for _ in range(2)]
    dest, source = (array.ctypes.data + -array.ctypes.data % LINE for array in memory)
    return Bandwidths([[size / library.time_way(dest, source, size, way,
                                                30 if size < 2**24 else 8)
                        for size in SIZES] for way in range(5)])


def limit_of(case, bandwidths):
    """Seconds; NaN for packed elements, which are not whole bytes."""
    if case.is_packed:
        return math.nan
    read, written = (LINE * count_lines(bits_of(side.dtype) // 8, case.shape, side.strides,
                                        side.offset) for side in (case.source, case.dest))
    both, working_set = min(read, written), read + written

    def seconds(copy, write):
        return (both / bandwidths.at(copy, working_set)
                + (read - both) / bandwidths.at(READ, working_set)
                + (written - both) / bandwidths.at(write, working_set))

    ordinary = seconds(COPY, WRITE)
    dense = case.n_elements * bits_of(case.dest.dtype) // 8
    if written > 1.05 * dense + 2 * LINE:
        return ordinary  # a stream writes whole lines
    return min(ordinary, seconds(COPY_STREAM, STREAM))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures one copy: copy_from() of views beside np.copyto() and Tensor.copy_(), each with a
destination of its own, since streaming stores of one slow the next one to write there."""

import contextlib
import math
import os
import time
import warnings
from typing import NamedTuple

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from gi.repository import Mtl  # noqa: E402

from random_copies import PACKED_BITS, SMALL, build, dtype_of, values_for  # noqa: E402
from drawn_layouts import offset_bounds  # noqa: E402

# Seconds of a round of one contender, and rounds. Where a peer is faster, there are more; if they
# take longer than seconds in all, fewer.
ROUND = 2e-3
ROUNDS, MORE_ROUNDS = 5, 10
LEAST_ROUNDS, LONGEST = 3, 3
# A peer that takes this many times as long as the other one takes part in no further round.
HOPELESS = 2


class Times(NamedTuple):
    """Seconds, the least of several rounds; NaN without a tensor of such a layout or type."""
    ours: float
    numpy: float
    torch: float
    ours_on_one: float  # by the same clock, with one thread

    @property
    def peer(self):
        return self.numpy if math.isnan(self.torch) else min(self.numpy, self.torch)

    @property
    def ratio(self):
        return self.peer / self.ours


def count_processors():
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


@contextlib.contextmanager
def on_one_processor():
    """This thread stays on the last of them, which has the fewest interrupts."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# The same elements for each contender


def tensor_of(array):
    """None if PyTorch cannot have it: backwards, packed, or misaligned, where it may crash."""
    name = array.dtype.name
    if name in PACKED_BITS or array.ctypes.data % array.itemsize != 0:
        return None
    try:
        if name not in SMALL:
            return torch.from_numpy(array)
        return torch.from_numpy(array.view(f"u{array.itemsize}")).view(getattr(torch, name))
    except (TypeError, ValueError):
        return None


def packed_view_of(shape, side, memory):
    """Returns a view of packed elements with the values of the memory, which has a byte for
    each."""
    dtype = Mtl.DType.from_string(side.dtype)
    packed = Mtl.StridedView.new_zeros(None, dtype, [memory.size])
    packed.copy_from(Mtl.asview(memory.astype(np.float32)))
    low, _ = offset_bounds(shape, side.strides)
    bits = PACKED_BITS[side.dtype]
    layout = Mtl.StridedLayout.new(shape, [abs(stride) for stride in side.strides], bits)
    view = Mtl.StridedView.new(packed.get_buffer(), layout, dtype, packed.get_byte_offset())
    for axis, stride in enumerate(side.strides):
        view = view.flip(axis) if stride < 0 else view
    return view


def view_of(shape, side, array, memory):
    if side.dtype in PACKED_BITS:
        return packed_view_of(shape, side, memory)
    return Mtl.asview(array)


class Contenders:
    """The calls by name, and what they write to."""

    def __init__(self, case):
        self._case = case
        values = values_for(case.source.dtype, case.dest.dtype)
        source, memory = build(case.shape, case.source, values)
        self._dests = {name: build(case.shape, case.dest) for name in ("ours", "numpy", "torch")}
        self._view = view_of(case.shape, case.dest, *self._dests["ours"])
        self.calls = {"ours": self._call_ours(view_of(case.shape, case.source, source, memory)),
                      "numpy": self._call_numpy(source)}
        tensors = tensor_of(self._dests["torch"][0]), tensor_of(source)
        if None not in tensors:
            self.calls["torch"] = lambda: tensors[0].copy_(tensors[1])

    def _call_ours(self, source):
        dest = self._view
        return lambda: dest.copy_from(source)

    def _call_numpy(self, source):
        dest = self._dests["numpy"][0]
        return lambda: np.copyto(dest, source, casting="unsafe")

    def check(self):
        """Ours are NumPy's values bit for bit, and nothing is written between them."""
        for name in ("ours", "numpy"):
            self.calls[name]()
        if self._case.dest.dtype in PACKED_BITS:
            ours = np.asarray(self._view.to_dtype(Mtl.DType.FLOAT32))
            numpys = self._dests["numpy"][0].astype(np.float32)
        else:
            ours, numpys = (self._dests[name][1].view(np.uint8) for name in ("ours", "numpy"))
        return np.array_equal(ours, numpys)


# Times


def timed(call, n, clock):
    if n > 1:
        call()  # replaces the others' data in the caches
    start = clock()
    for _ in range(n):
        call()
    return (clock() - start) / n


class _Race:
    """The contenders are called "ours", "numpy", "torch", and "ours_on_one"."""

    def __init__(self, calls, threads, clock):
        self._calls, self._threads, self._clock = dict(calls), threads, clock
        self._n_rounds, self._end = 0, time.perf_counter() + LONGEST
        self.least = {name: self._time(name, 1) for name in calls}
        self._n = {name: max(1, int(ROUND / max(self._time(name, 1), 1e-7))) for name in calls}

    def _time(self, name, n):
        Mtl.set_max_threads(self._threads[name])
        return timed(self._calls[name], n, self._clock)

    def run(self, n_rounds):
        for _ in range(n_rounds):
            if self._n_rounds >= LEAST_ROUNDS and time.perf_counter() > self._end:
                return
            for name in self._calls:
                self.least[name] = min(self.least[name], self._time(name, self._n[name]))
            self._n_rounds += 1

    def drop_hopeless(self):
        peers = {name: self.least[name] for name in ("numpy", "torch") if name in self.least}
        for name, seconds in peers.items():
            if seconds > HOPELESS * min(peers.values()):
                del self._calls[name]

    @property
    def times(self):
        return Times(*(self.least.get(name, math.nan) for name in Times._fields))


def race(calls, threads, clock):
    """They take turns, so that what slows the machine for a while slows all."""
    contest = _Race(calls, threads, clock)
    contest.run(2)
    contest.drop_hopeless()
    contest.run(ROUNDS - 2)
    if contest.times.ratio < 1:
        contest.run(MORE_ROUNDS - ROUNDS)
    return contest.times


def race_on(n_threads, calls):
    torch.set_num_threads(n_threads)
    threads = dict.fromkeys(calls, n_threads)
    if n_threads > 1:
        return race({**calls, "ours_on_one": calls["ours"]}, {**threads, "ours_on_one": 1},
                    time.perf_counter)
    with on_one_processor():
        # Not by the clock, since others may run on the processor as well.
        return race(calls, threads, time.thread_time)


class WrongValues(Exception):
    pass


def measure(case, thread_counts):
    """Times by the number of threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contenders = Contenders(case)
        if not contenders.check():
            raise WrongValues("other values than NumPy's, or other bytes were written to")
        return {n: race_on(n, contenders.calls) for n in thread_counts}

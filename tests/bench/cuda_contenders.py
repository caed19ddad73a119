# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures one copy or conversion within a GPU's memory: copy_from() of views beside a copy of as
many bytes by the driver, Tensor.copy_() and cupy.copyto(), all in one stream and the same memory.
The times are those of the driver's events."""

import contextlib
import ctypes
import math
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "cuda"), str(TESTS / "support")]

import cuda_driver as cuda  # noqa: E402
import random_copies  # noqa: E402

ABSENT = math.nan
# Bytes that the calls of a round move, the most calls, and rounds, of which the median counts.
ROUND, MOST_CALLS, ROUNDS = 2**28, 20, 7
# Larger destinations are compared in parts, as NumPy takes seconds for all of it.
MOST_COMPARED, N_PARTS, PARTS_OF = 2**26, 16, 256
# The fills that keep the GPU busy while a round is queued, so that the host's part is not in it.
N_FILLS = 12
PEERS = ("torch", "cupy")


def import_peers():
    """The peers that can use the GPU, and why others cannot."""
    modules, missing = {}, {}
    for name in PEERS:
        try:
            module = __import__(name)
            is_usable = (module.cuda.is_available() if name == "torch"
                         else module.cuda.runtime.getDeviceCount() > 0)
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        if is_usable and not cuda.IS_LAZY:
            modules[name] = module
        else:
            missing[name] = "uses no GPU here"
    return modules, missing


class Array:
    """Elements at an address, for all who know __cuda_array_interface__."""

    def __init__(self, address, array):
        self.__cuda_array_interface__ = {
            "version": 3, "shape": array.shape, "typestr": array.dtype.str,
            "strides": array.strides, "data": (address, False), "stream": None}


class Times(NamedTuple):
    """Seconds; NaN if a peer is not there, or has no such layout."""
    ours: float
    driver: float
    torch: float
    cupy: float


class WrongValues(Exception):
    pass


class Gpu:
    """A stream of the first GPU, and the peers that work in it."""

    def __init__(self):
        self.device = Mtl.Device.get(Mtl.DeviceType.CUDA, 0)
        self.stream = Mtl.Stream.new(self.device)
        self.handle = self.stream.get_handle()
        self.peers, self.missing = import_peers()
        self._external = {}
        if "torch" in self.peers:
            self._external["torch"] = self.peers["torch"].cuda.ExternalStream(self.handle)
        if "cupy" in self.peers:
            self._external["cupy"] = self.peers["cupy"].cuda.ExternalStream(self.handle)
        with cuda.context():
            self._events = [cuda.get(ctypes.c_void_p, "cuEventCreate", 0) for _ in range(2)]

    @contextlib.contextmanager
    def working(self, name):
        """Work of that contender goes to the stream."""
        with contextlib.ExitStack() as stack:
            if name == "ours":
                stack.enter_context(self.stream)
            elif name == "torch":
                stack.enter_context(self.peers["torch"].cuda.stream(self._external["torch"]))
            elif name == "cupy":
                stack.enter_context(self._external["cupy"])
            yield

    def synchronize(self):
        with cuda.context():
            cuda.call("cuStreamSynchronize", self.handle)

    def copy(self, dest, source, n_bytes):
        """Without a context: the stream has one."""
        cuda.call("cuMemcpyAsync", dest, source, n_bytes, self.handle)

    def time(self, name, call, n):
        """Seconds of a call, of n that are queued behind other work."""
        with self.working(name):
            if cuda.IS_LAZY:
                begin = time.perf_counter()
                for _ in range(n):
                    call()
                self.synchronize()
                return (time.perf_counter() - begin) / n
            cuda.hold(self.handle, n_fills=N_FILLS)
            with cuda.context():
                cuda.call("cuEventRecord", self._events[0], self.handle)
            for _ in range(n):
                call()
            with cuda.context():
                cuda.call("cuEventRecord", self._events[1], self.handle)
                cuda.call("cuEventSynchronize", self._events[1])
                return cuda.get(ctypes.c_float, "cuEventElapsedTime", *self._events) / 1000 / n


def bytes_moved(case):
    """Bytes that have to be read and written: repeated ones are read once."""
    n_read = math.prod(extent for extent, stride in zip(case.shape, case.source.strides) if stride)
    source, dest = (random_copies.bits_of(side.dtype) // 8 for side in (case.source, case.dest))
    return n_read * source + case.n_elements * dest


class Side:
    """The memory of a source or a destination on the GPU, with the same bytes as on the host."""

    def __init__(self, gpu, shape, side, values=None):
        self._gpu = gpu
        self.array, self.memory = random_copies.build(shape, side, values)
        with cuda.context():
            self._block = cuda.get(ctypes.c_uint64, "cuMemAlloc_v2",
                                   self.memory.nbytes + random_copies.LINE)
        self._address = self._block + side.offset
        first = self.array.ctypes.data - self.memory.ctypes.data
        self.elements = Array(self._address + first, self.array)
        self.is_aligned = side.offset % self.array.itemsize == 0
        self.upload()

    def upload(self):
        self._gpu.copy(self._address, self.memory.ctypes.data, self.memory.nbytes)
        self._gpu.synchronize()

    def download(self):
        """The memory, and the elements in it."""
        memory = np.empty_like(self.memory)
        self._gpu.copy(memory.ctypes.data, self._address, memory.nbytes)
        self._gpu.synchronize()
        first = self.array.ctypes.data - self.memory.ctypes.data
        return memory, np.ndarray(self.array.shape, self.array.dtype, memory, first,
                                  self.array.strides)

    def free(self):
        with cuda.context():
            cuda.call("cuMemFree_v2", self._block)


def parts_of(array):
    """All of an array, or slices of a large one's first axis, with both ends."""
    if array.nbytes <= MOST_COMPARED:
        return [...]
    extent = len(array)
    step = -(-extent // PARTS_OF)
    begins = {round(i * (extent - step) / (N_PARTS - 1)) for i in range(N_PARTS)}
    return [slice(begin, begin + step) for begin in sorted(begins)]


def bytes_equal(one, other):
    return np.array_equal(*(np.ascontiguousarray(each).reshape(-1).view(np.uint8)
                            for each in (one, other)))


class Contenders:
    """The calls by name. A destination is shared, as they take turns in one stream."""

    def __init__(self, gpu, case):
        self._gpu, self._case = gpu, case
        self.source = Side(gpu, case.shape, case.source,
                           random_copies.values_for(case.source.dtype, case.dest.dtype))
        self.dest = Side(gpu, case.shape, case.dest)
        self.n_bytes = bytes_moved(case)
        views = [Mtl.asview(side.elements) for side in (self.dest, self.source)]
        self.calls = {"ours": lambda: views[0].copy_from(views[1]), "driver": self._call_driver()}
        for name in gpu.peers:
            self._add_peer(name)

    def _call_driver(self):
        """As many bytes, half of them read and half of them written, in memory of its own."""
        n_bytes = max(1, self.n_bytes // 2)
        with cuda.context():
            self._blocks = [cuda.get(ctypes.c_uint64, "cuMemAlloc_v2", n_bytes) for _ in range(2)]
        return lambda: self._gpu.copy(*self._blocks, n_bytes)

    def _add_peer(self, name):
        if not all(side.is_aligned for side in (self.dest, self.source)):
            return  # their kernels would fault
        module = self._gpu.peers[name]
        make = ((lambda x: module.as_tensor(x, device="cuda")) if name == "torch"
                else module.asarray)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                dest, source = (make(side.elements) for side in (self.dest, self.source))
                call = ((lambda: dest.copy_(source)) if name == "torch"
                        else lambda: module.copyto(dest, source, casting="unsafe"))
                with self._gpu.working(name):
                    call()
            self._gpu.synchronize()
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            return  # negative strides, or a type that it lacks
        self.calls[name] = call

    def check(self):
        """NumPy's values bit for bit, and nothing is written between them."""
        self.dest.memory.view(np.uint8)[...] = 1
        self.dest.upload()
        with self._gpu.working("ours"):
            self.calls["ours"]()
        self._gpu.synchronize()
        memory, elements = self.dest.download()
        for part in parts_of(elements):
            np.copyto(self.dest.array[part], self.source.array[part], casting="unsafe")
        if elements.nbytes > MOST_COMPARED:
            return all(bytes_equal(elements[part], self.dest.array[part])
                       for part in parts_of(elements))
        return bytes_equal(memory, self.dest.memory)

    def measure(self):
        n = max(1, min(MOST_CALLS, ROUND // self.n_bytes))
        rounds = 1 if cuda.IS_LAZY else ROUNDS
        seconds = {name: [] for name in self.calls}
        for name, call in self.calls.items():
            self._gpu.time(name, call, 1)
        for _ in range(rounds):
            for name, call in self.calls.items():
                seconds[name].append(self._gpu.time(name, call, n))
        return Times(*(statistics.median(seconds.get(name, [ABSENT])) for name in Times._fields))

    def close(self):
        """The library gives memory back when its work is done."""
        self.calls.clear()
        self._gpu.synchronize()
        with cuda.context():
            for block in self._blocks:
                cuda.call("cuMemFree_v2", block)
        self.source.free()
        self.dest.free()


def measure(gpu, case):
    contenders = Contenders(gpu, case)
    try:
        if not contenders.check():
            raise WrongValues(f"Other values than NumPy's, or other bytes were written to: --case "
                              f"'{random_copies.spec_of(case)}'")
        return contenders.measure(), contenders.n_bytes
    finally:
        contenders.close()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""NVIDIA's driver, or the double of it, as another library uses it beside ours: memory, and work in
streams of its own. The controls of the double are those of cuda-double.h; over a driver, a test
that uses one is skipped."""

import ctypes
import os
import struct
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import pytest
from gi.repository import Mtl

LEGACY, PER_THREAD = 1, 2
NON_BLOCKING = 1
NO_TIMING = 2
NOT_READY = 600
PORTABLE = 1
ATTACH_GLOBAL = 1

driver = ctypes.CDLL(os.environ.get("MTL_CUDA_LIBRARY") or "libcuda.so.1")
IS_DOUBLE = hasattr(driver, "cuda_double_waits")

_ARGUMENTS = {
    "cuCtxPopCurrent_v2": [c_void_p], "cuCtxPushCurrent_v2": [c_void_p],
    "cuDeviceGetCount": [c_void_p], "cuDeviceGetName": [c_void_p, c_int, c_int],
    "cuDevicePrimaryCtxRetain": [c_void_p, c_int],
    "cuEventCreate": [c_void_p, c_uint], "cuEventDestroy_v2": [c_void_p],
    "cuEventElapsedTime": [c_void_p, c_void_p, c_void_p], "cuEventRecord": [c_void_p, c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuGraphDestroy": [c_void_p],
    "cuGraphExecDestroy": [c_void_p],
    "cuGraphInstantiateWithFlags": [c_void_p, c_void_p, c_uint64],
    "cuGraphLaunch": [c_void_p, c_void_p],
    "cuInit": [c_uint],
    "cuMemAllocManaged": [c_void_p, c_size_t, c_uint], "cuMemAlloc_v2": [c_void_p, c_size_t],
    "cuMemFreeHost": [c_void_p], "cuMemFree_v2": [c_uint64],
    "cuMemHostAlloc": [c_void_p, c_size_t, c_uint],
    "cuMemcpyAsync": [c_uint64, c_uint64, c_size_t, c_void_p],
    "cuMemsetD32Async": [c_uint64, c_uint, c_size_t, c_void_p],
    "cuMemsetD8Async": [c_uint64, ctypes.c_ubyte, c_size_t, c_void_p],
    "cuStreamBeginCapture_v2": [c_void_p, c_uint],
    "cuStreamCreate": [c_void_p, c_uint], "cuStreamDestroy_v2": [c_void_p],
    "cuStreamEndCapture": [c_void_p, c_void_p], "cuStreamQuery": [c_void_p],
    "cuStreamSynchronize": [c_void_p], "cuStreamWaitEvent": [c_void_p, c_void_p, c_uint],
}
for _name, _types in _ARGUMENTS.items():
    if hasattr(driver, _name):
        getattr(driver, _name).argtypes = _types


def call(name, *arguments):
    code = getattr(driver, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name}() returned {code}")


def get(kind, name, *arguments):
    """The result of a function that writes it to its first argument."""
    result = kind()
    call(name, ctypes.byref(result), *arguments)
    return result.value


def _name_of_first():
    name = ctypes.create_string_buffer(256)
    call("cuDeviceGetName", name, 256, 0)
    return name.value.decode()


call("cuInit", 0)
N_GPUS = get(c_int, "cuDeviceGetCount")
NAME = _name_of_first()
# The double does its work as soon as anybody asks after it, also if its controls are hidden.
IS_LAZY = NAME.startswith("CUDA double")
two_gpus = pytest.mark.skipif(N_GPUS < 2, reason="this needs two devices")


def gpus():
    """The first one, and the second one if there is one."""
    return [Mtl.Device.get(Mtl.DeviceType.CUDA, ordinal) for ordinal in range(min(N_GPUS, 2))]


def end_capture(stream):
    graph = c_void_p()
    call("cuStreamEndCapture", stream, ctypes.byref(graph))
    return graph.value


@contextmanager
def context(ordinal=0):
    call("cuInit", 0)
    call("cuCtxPushCurrent_v2", get(c_void_p, "cuDevicePrimaryCtxRetain", ordinal))
    try:
        yield
    finally:
        call("cuCtxPopCurrent_v2", None)


def order(before, after):
    """Lets a stream wait for the work that another one has now."""
    event = get(c_void_p, "cuEventCreate", NO_TIMING)
    call("cuEventRecord", event, before)
    call("cuStreamWaitEvent", after, event, 0)
    call("cuEventDestroy_v2", event)


class Peer:
    """Another library, with a non-blocking stream."""

    def __init__(self, ordinal=0):
        self.ordinal = ordinal
        with self.context():
            self.stream = get(c_void_p, "cuStreamCreate", NON_BLOCKING)

    def context(self):
        return context(self.ordinal)

    def allocate(self, n_bytes):
        with self.context():
            return get(c_uint64, "cuMemAlloc_v2", n_bytes)

    def allocate_pinned(self, n_bytes):
        with self.context():
            return get(c_void_p, "cuMemHostAlloc", n_bytes, PORTABLE)

    def allocate_managed(self, n_bytes):
        with self.context():
            return get(c_uint64, "cuMemAllocManaged", n_bytes, ATTACH_GLOBAL)

    def free(self, address):
        with self.context():
            call("cuMemFree_v2", address)

    def free_pinned(self, address):
        with self.context():
            call("cuMemFreeHost", address)

    def hold(self, stream=None):
        hold(stream or self.stream, self.ordinal)

    def fill(self, address, value, n, stream=None):
        """Queues a fill of float32. The double does it when somebody waits for it."""
        bits, = struct.unpack("I", struct.pack("f", value))
        with self.context():
            call("cuMemsetD32Async", address, bits, n, stream or self.stream)

    def read(self, address, n, stream=None):
        """Reads float32 after the work that the stream has now, and no other work."""
        stream = stream or self.stream
        with self.context():
            pinned = get(c_void_p, "cuMemHostAlloc", 4 * n, 0)
            call("cuMemcpyAsync", pinned, address, 4 * n, stream)
            call("cuStreamSynchronize", stream)
            values = list((ctypes.c_float * n).from_address(pinned))
            call("cuMemFreeHost", pinned)
        return values

    def wait_for(self, stream):
        with self.context():
            order(stream, self.stream)

    def let_wait(self, stream):
        with self.context():
            order(self.stream, stream)

    def synchronize(self):
        with self.context():
            call("cuStreamSynchronize", self.stream)

    def close(self):
        with self.context():
            call("cuStreamSynchronize", self.stream)
            call("cuStreamDestroy_v2", self.stream)
        _held[:] = [stream for stream in _held if stream != self.stream]


# Work that is still to be done

SCRATCH = 2**28
# Some 50 milliseconds of an H200.
N_FILLS = 500
_scratch = {}
_held = []


def hold(stream, ordinal=0, n_fills=N_FILLS):
    """Keeps a stream of a GPU busy, so that work which is queued there is not done at once."""
    if IS_LAZY:
        return
    with context(ordinal):
        if ordinal not in _scratch:
            _scratch[ordinal] = get(c_uint64, "cuMemAlloc_v2", SCRATCH)
        for _ in range(n_fills):
            call("cuMemsetD8Async", _scratch[ordinal], 1, SCRATCH, stream)
    _held.append(stream)


def is_busy(stream):
    """There is work left in a stream."""
    if IS_DOUBLE:
        return pending(stream) > 0
    return IS_LAZY or driver.cuStreamQuery(stream) == NOT_READY


@contextmanager
def no_wait():
    """The host does not wait: by the double's count, or because a stream that is held stays so."""
    if IS_DOUBLE:
        before = waits(None)
        yield
        assert waits(None) == before
        return
    busy = list(filter(is_busy, _held))
    _held.clear()
    yield
    assert all(map(is_busy, busy + _held))


def _declare(name, result, *arguments):
    if not IS_DOUBLE:
        return lambda *arguments: pytest.skip(f"this needs cuda_double_{name}() of the double")
    function = getattr(driver, f"cuda_double_{name}")
    function.restype, function.argtypes = result, arguments
    return function


calls = _declare("calls", c_uint, c_char_p)
fail_function = _declare("fail_function", None, c_char_p, c_uint, c_uint)
pause = _declare("pause", None)
pending = _declare("pending", c_uint64, c_void_p)
resume = _declare("resume", None)
violations = _declare("violations", c_uint)
waits = _declare("waits", c_uint, c_char_p)

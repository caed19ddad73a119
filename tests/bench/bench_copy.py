# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies between layouts: speed relative to memcpy() of as many bytes, beside
NumPy and PyTorch, the least of several rounds taken in turn. With one thread it
is the engine's time on the processor; with as many as there are processors, that
of views by the clock, memcpy() being split over as many.

usage: bench_copy.py FOLDER [--page FILE] [WORD]: the build folder; only cases with
that word. The page of the guide, and its picture beside it, are written anew.
MTL_BENCH_OFFSET: where in a line of the cache destinations begin, 0 by default.
MTL_BENCH_STREAMING: bytes from which copies go around the caches.
MTL_KERNELS: the instruction set, the best by default.
"""

import argparse
import ctypes
import importlib.util
import math
import os
import time
import warnings
from typing import NamedTuple

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402

import copy_page  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None
N_THREADS = os.cpu_count()
# The least gain with all threads.
SCALING = 0.85 * N_THREADS
OFFSET = int(os.environ.get("MTL_BENCH_OFFSET", "0"))
MIB = 2**20


class Goal(NamedTuple):
    """The least speed relative to each peer."""
    memcpy: float
    numpy: float
    torch: float


GOALS = {
    "transpose": Goal(1.2, 15, 5),
    "transpose bytes": Goal(0.9, 30, 6),
    "transpose 8": Goal(1.0, 7, 3),
    "transpose odd": Goal(0.9, 8, 3),
    "transpose cached": Goal(0.6, 7, 4),
    "few columns": Goal(1.2, 2, 4),
    "channels": Goal(1.5, 4, 4),
    "pixels": Goal(1.2, 10, 7),
    "scatter pixels": Goal(0.5, 5, 3),
    "permute": Goal(1.2, 2, 1.7),
    "permute last": Goal(1.2, 12, 12),
    "contiguous": Goal(1.5, 1.3, 1.3),
    "rows": Goal(1.5, 1.3, 1.3),
    "every 2nd": Goal(1.1, 1.5, 1.6),
    "every 3rd": Goal(0.6, 1.2, 1.2),
    "every 5th": Goal(0.45, 1.2, 1.2),
    "backwards": Goal(0.9, 1.2, 1.2),
    "scatter": Goal(0.5, 1.1, 1.1),
    "broadcast": Goal(2.2, 1.5, 1.4),
    "odd sizes": Goal(0.5, 3, 3),
    "fill": Goal(1.5, 1.2, 1.2),
}


class Request(ctypes.Structure):
    """MtlCopyRequest."""
    _fields_ = [
        ("n_dims", ctypes.c_size_t),
        ("shape", ctypes.c_void_p),
        ("dest", ctypes.c_void_p),
        ("dest_strides", ctypes.c_void_p),
        ("dest_size", ctypes.c_size_t),
        ("source", ctypes.c_void_p),
        ("source_strides", ctypes.c_void_p),
        ("source_size", ctypes.c_size_t),
        ("convert", ctypes.c_void_p),
        ("convert_data", ctypes.c_void_p),
    ]


def load_loops(folder):
    loops = ctypes.CDLL(os.path.join(folder, "tests", "bench", "libbench-copy-loops.so"))
    pointer, size, count = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for function, arguments in ((loops.time_view, [pointer, pointer, count]),
                                (loops.time_engine, [pointer, count]),
                                (loops.time_memcpy, [pointer, pointer, size, count]),
                                (loops.time_view_by_clock, [pointer, pointer, count]),
                                (loops.time_memcpy_by_clock,
                                 [pointer, pointer, size, ctypes.c_uint, count])):
        function.argtypes, function.restype = arguments, ctypes.c_double
    for function in loops.get_compiler, loops.get_kernels:
        function.argtypes, function.restype = [], ctypes.c_char_p
    if "MTL_BENCH_STREAMING" in os.environ:
        loops.set_streaming_threshold.argtypes = [size]
        loops.set_streaming_threshold(int(os.environ["MTL_BENCH_STREAMING"]))
    return loops


def empty(shape, dtype):
    """Memory of its own that is there already, at the offset in a line."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.ones(size + 128, np.uint8)
    start = -raw.ctypes.data % 64 + OFFSET
    return raw[start:start + size].view(dtype).reshape(shape)


def random(shape, dtype):
    return np.random.default_rng(0).integers(0, 100, shape).astype(dtype)


def request_for(dest, source):
    arrays = [np.array(numbers, np.int64) for numbers in (
        dest.shape,
        [stride // dest.itemsize for stride in dest.strides],
        [stride // dest.itemsize for stride in source.strides])]
    request = Request(dest.ndim, arrays[0].ctypes.data, dest.ctypes.data, arrays[1].ctypes.data,
                      dest.itemsize, source.ctypes.data, arrays[2].ctypes.data, dest.itemsize)
    request.kept = arrays
    return request


def timed(call, n, clock=time.thread_time):
    start = clock()
    for _ in range(n):
        call()
    return (clock() - start) / n


def least_of(calls, rounds):
    """Each twice in turn: the first time it finds in the caches what another left."""
    best = [math.inf] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            call()
            best[i] = min(best[i], call())
    return best


def torch_copy(dest, source):
    """Returns a function that copies with n_threads threads."""
    import torch

    warnings.filterwarnings("ignore", "The given NumPy array is not writable")
    try:
        to, from_ = torch.from_numpy(dest), torch.from_numpy(source)
    except (TypeError, ValueError):
        return None  # no such elements, or backwards

    def copy(n, n_threads, clock):
        torch.set_num_threads(n_threads)
        return timed(lambda: to.copy_(from_), n, clock)
    return copy


def view_of(array):
    """A pointer to it. Elements that are only bytes are one axis more."""
    if array.dtype.kind == "V":
        array = array.view(np.dtype([("bytes", np.uint8, (array.itemsize,))]))["bytes"]
    view = Mtl.asview(array)
    pointer = ctypes.c_void_p(pointer_to(view))
    pointer.kept = view
    return pointer


class Figures(NamedTuple):
    """Seconds."""
    memcpy: float
    ours: float
    numpy: float
    torch: float


class Scaled(NamedTuple):
    """Seconds by the clock, with one thread and with all."""
    memcpy: tuple
    ours: tuple
    torch: float


class Measured(NamedTuple):
    name: str
    goal: Goal
    n_bytes: int
    one: Figures
    all: Scaled


def measure_one(loops, dest, source, peer, n):
    """The engine as well as the peers' calls; in the caches, that is what counts."""
    flat, flat_dest = np.ones(dest.nbytes, np.uint8), np.ones(dest.nbytes, np.uint8)
    request = request_for(dest, source)
    calls = [
        lambda: loops.time_memcpy(flat_dest.ctypes.data, flat.ctypes.data, dest.nbytes, n),
        lambda: loops.time_engine(ctypes.byref(request), n),
        lambda: timed(lambda: np.copyto(dest, source), n),
    ]
    if peer:
        calls.append(lambda: peer(n, 1, time.thread_time))
    seconds = least_of(calls, rounds_for(dest))
    return Figures(*seconds, *([] if peer else [math.nan]))


def measure_all(loops, dest, source, peer, n):
    flat, flat_dest = np.ones(dest.nbytes, np.uint8), np.ones(dest.nbytes, np.uint8)
    views = view_of(dest), view_of(source)

    def memcpy(n_threads):
        return loops.time_memcpy_by_clock(flat_dest.ctypes.data, flat.ctypes.data, dest.nbytes,
                                          n_threads, n)

    def ours(n_threads):
        Mtl.set_max_threads(n_threads)
        return loops.time_view_by_clock(*views, n)

    calls = [lambda: memcpy(1), lambda: memcpy(N_THREADS), lambda: ours(1),
             lambda: ours(N_THREADS)]
    if peer:
        calls.append(lambda: peer(n, N_THREADS, time.perf_counter))
    seconds = least_of(calls, rounds_for(dest))
    return Scaled(seconds[:2], seconds[2:4], seconds[4] if peer else math.nan)


def rounds_for(dest):
    return 6 if dest.nbytes > 4 * MIB else 10


def measure(loops, name, goal, source, dest):
    dest[...] = source
    n = min(5000, max(1, int(1e-3 / (dest.nbytes / 1e10 + 1e-7))))
    peer = torch_copy(dest, source) if HAS_TORCH else None
    measured = Measured(name, GOALS.get(goal), dest.nbytes,
                        measure_one(loops, dest, source, peer, n),
                        measure_all(loops, dest, source, peer, n))
    if not np.array_equal(dest, source):
        raise SystemExit(f"{name}: not the same")
    return measured


def transposes():
    for dtype, goal in (("f4", "transpose"), ("u1", "transpose bytes"), ("f2", "transpose"),
                        ("f8", "transpose 8"), ("c16", "transpose 8")):
        yield f"transpose 4096x4096 {dtype}", goal, random((4096, 4096), dtype).T
    for dtype in ("f4", "u1"):
        yield f"transpose 256x256 {dtype}", "transpose cached", random((256, 256), dtype).T
    for shape in ((4097, 4095), (1000, 1500)):
        for dtype in ("f4", "u1", "f8", "f2"):
            yield (f"transpose {shape[0]}x{shape[1]} {dtype}", "transpose odd",
                   random(shape, dtype).T)
    for shape in ((1000000, 3), (3, 1000000)):
        for dtype in ("f4", "u1", "f8"):
            yield (f"transpose {shape[0]}x{shape[1]} {dtype}", "few columns",
                   random(shape, dtype).T)
    for n in (7, 16):
        yield f"transpose 1000000x{n} f4", "few columns", random((1000000, n), "f4").T
    for size in (3, 6, 12):
        bytes_ = random((1000, 1500, size), "u1").view(np.dtype((np.void, size)))[..., 0]
        yield f"transpose 1000x1500 {size} bytes", "odd sizes", bytes_.T


def pictures():
    rgba = random((2160, 3840, 4), "u1")
    rgb = random((2160, 3840, 3), "u1")
    floats = random((1080, 1920, 3), "f4")
    for name, picture in (("RGBA 4K u1", rgba), ("RGB 4K u1", rgb), ("RGB 2K f4", floats)):
        yield f"{name} HWC -> CHW", "channels", picture.transpose(2, 0, 1)
        planes = np.ascontiguousarray(picture.transpose(2, 0, 1))
        yield f"{name} CHW -> HWC", "channels", planes.transpose(1, 2, 0)
    yield "RGB planes of RGBA 4K u1", "channels", rgba[:, :, :3].transpose(2, 0, 1)
    yield "RGB of RGBA 4K u1", "pixels", rgba[:, :, :3]
    yield "RGB into RGBA 4K u1", "scatter pixels", rgb, empty(rgba.shape, "u1")[:, :, :3]
    yield "BGR of RGB 4K u1", "pixels", rgb[:, :, ::-1]
    gray = np.broadcast_to(rgba[:, :, :1].copy(), (2160, 3840, 3))
    yield "gray -> RGB 4K u1", "channels", gray


def tensors():
    a = random((64, 64, 64, 64), "f4")
    for axes, goal in (((3, 1, 0, 2), "permute last"), ((3, 2, 1, 0), "permute last"),
                       ((0, 2, 1, 3), "permute"), ((1, 0, 3, 2), "permute")):
        yield f"permute {axes} 64^4 f4", goal, a.transpose(axes)
    yield "[:, ::2] 64^4 f4", "rows", a[:, ::2]
    yield "[..., ::2] 64^4 f4", "every 2nd", a[..., ::2]
    yield "[..., ::3] 64^4 f4", "every 3rd", a[..., ::3]
    yield "[..., ::5] 64^4 f4", "every 5th", a[..., ::5]
    yield "[..., ::-1] 64^4 f4", "backwards", a[..., ::-1]
    yield "[:, ::2] 4096x8192 u1", "every 2nd", random((4096, 8192), "u1")[:, ::2]
    yield "into [..., ::2] 64^4 f4", "scatter", a[..., :32], empty(a.shape, "f4")[..., ::2]
    b = random((8, 64, 112, 112), "f4")
    nhwc = b.transpose(0, 2, 3, 1)
    yield "NCHW -> NHWC 8x64x112x112 f4", "permute", nhwc
    yield "NHWC -> NCHW f4", "permute last", np.ascontiguousarray(nhwc).transpose(0, 3, 1, 2)
    for n in (16, 8):
        blocks = b.reshape(8, 64 // n, n, 112, 112).transpose(0, 1, 3, 4, 2)
        yield f"NCHW -> NCHWc{n} f4", "permute", blocks
    yield "NCHWc8 -> NCHW f4", "permute", np.ascontiguousarray(blocks).transpose(0, 1, 4, 2, 3)


def rows():
    a = random((4096, 4096), "f4")
    yield "contiguous 64 MiB", "contiguous", a
    yield "contiguous 4 MiB", "contiguous", a[:256]
    odd = empty((64 * MIB + 1,), "u1")
    yield "contiguous, from off by one", "contiguous", odd[1:]
    yield "crop 2000x2000 f4", "rows", a[100:2100, 100:2100]
    yield "broadcast row f4", "broadcast", np.broadcast_to(a[0], a.shape)
    yield "broadcast column f4", "broadcast", np.broadcast_to(a[:, :1].copy(), a.shape)
    for size, dtype in ((1, "u1"), (4, "f4"), (16, "c16")):
        shape = (64 * MIB // size,)
        yield f"fill 64 MiB of {size} bytes", "fill", np.broadcast_to(random(1, dtype), shape)
    yield "fill 64 MiB of 3 bytes", "fill", np.broadcast_to(
        random(3, "u1").view(np.dtype((np.void, 3))), (64 * MIB // 3,))
    yield "fill 256 KiB of 4 bytes", "fill", np.broadcast_to(random(1, "f4"), (65536,))


def small():
    yield "transpose 4x4 f4", None, random((4, 4), "f4").T
    yield "transpose 16x16 f4", None, random((16, 16), "f4").T
    yield "contiguous 16x16 f4", None, random((16, 16), "f4")
    yield "permute 2x3x4x5 f4", None, random((2, 3, 4, 5), "f4").transpose(3, 1, 0, 2)


def ratios(measured):
    one = measured.one
    return one.memcpy / one.ours, one.numpy / one.ours, one.torch / one.ours


def missed(measured):
    """Goals that are, and being slower than a peer by more than noise."""
    names = [name for name, ratio, goal in zip(Goal._fields, ratios(measured), measured.goal)
             if ratio < goal]
    peer = np.nanmin([measured.one.numpy, measured.one.torch])
    return names + (["slower"] if measured.one.ours * 0.95 > peer else [])


def print_one(measured):
    one = measured.one
    to_memcpy = one.memcpy / np.array([one.ours, one.numpy, one.torch])
    print(f"{measured.name:32} {measured.n_bytes / MIB:6.1f} "
          f"{measured.n_bytes / one.memcpy / 1e9:6.1f} | "
          + " ".join(f"{ratio:6.2f}" for ratio in to_memcpy) + " | "
          + " ".join(f"{ratio:6.1f}" for ratio in ratios(measured)[1:])
          + "  " + " ".join(missed(measured)), flush=True)


def scaling(measured):
    """Returns the gain of all threads over one: ours, and memcpy()'s."""
    return [one / all_ for one, all_ in (measured.all.ours, measured.all.memcpy)]


def missed_by_all(measured):
    """Returns the goals missed by all threads. The gain is a goal from 4 MiB on, and only as far as
    memcpy() gains as much, since memory may limit it."""
    ours, memcpy = scaling(measured)
    is_large = measured.n_bytes >= 4 * MIB
    return (["threads"] if is_large and ours < min(SCALING, memcpy) else []) \
        + (["slower"] if measured.all.ours[1] * 0.95 > measured.all.torch else [])


def print_all(done):
    print(f"\n{f'{N_THREADS} threads, by the clock':32} {'MiB':>6} {'memcpy':>6} | "
          f"{'to memcpy':^13} | {'to':^6} | {'to one thread':^13}\n"
          f"{'':39} {'GB/s':>6} | {'ours':>6} {'torch':>6} | {'torch':>6} | {'ours':>6} "
          f"{'memcpy':>6}  missed")
    for measured in done:
        memcpy, ours, torch = measured.all.memcpy[1], measured.all.ours[1], measured.all.torch
        print(f"{measured.name:32} {measured.n_bytes / MIB:6.1f} "
              f"{measured.n_bytes / memcpy / 1e9:6.1f} | {memcpy / ours:6.2f} "
              f"{memcpy / torch:6.2f} | {torch / ours:6.1f} | "
              + " ".join(f"{ratio:6.2f}" for ratio in scaling(measured))
              + "  " + " ".join(missed_by_all(measured)))


def geometric_mean(numbers):
    numbers = [number for number in numbers if not math.isnan(number)]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def pointer_to(view):
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.argtypes, get_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.argtypes, get_name.restype = [ctypes.py_object], ctypes.c_char_p
    return get_pointer(view.__gpointer__, get_name(view.__gpointer__))


def print_small(loops):
    print(f"\n{'one call, ns':32} {'engine':>7} {'view':>7} {'numpy':>7} {'torch':>7}")
    for name, goal, source in small():
        dest = empty(source.shape, source.dtype)
        one = measure(loops, name, goal, source, dest).one
        views = view_of(dest), view_of(source)
        view = min(loops.time_view(*views, 5000) for _ in range(10))
        print(f"{name:32} " + " ".join(f"{seconds * 1e9:7.0f}" for seconds in (
            one.ours, view, one.numpy, one.torch)))


def means_of(done):
    return [geometric_mean(column) for column in zip(*map(ratios, done))]


def print_means(done):
    means = means_of(done)
    threads = [geometric_mean(column) for column in zip(*map(scaling, done))]
    print(f"\ngeometric means: {means[0]:.2f} of memcpy, {means[1]:.1f} times NumPy, "
          f"{means[2]:.1f} times PyTorch; {sum(map(bool, map(missed, done)))} of {len(done)} "
          f"miss a goal\n{N_THREADS} threads are {threads[0]:.2f} times one, those of memcpy() "
          f"{threads[1]:.2f}; {sum(map(bool, map(missed_by_all, done)))} of {len(done)} miss a "
          "goal")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--page")
    parser.add_argument("word", nargs="?", default="")
    asked = parser.parse_intermixed_args()
    loops = load_loops(asked.folder)
    print(f"{'one thread':32} {'MiB':>6} {'memcpy':>6} | {'to memcpy':^20} | {'ours to':^13}\n"
          f"{'':39} {'GB/s':>6} | {'ours':>6} {'numpy':>6} {'torch':>6} | {'numpy':>6} {'torch':>6}"
          "  missed")
    done = []
    for group in (transposes, pictures, tensors, rows):
        for name, goal, source, *dest in group():
            if asked.word in name:
                dest = dest[0] if dest else empty(source.shape, source.dtype)
                done.append(measure(loops, name, goal, source, dest))
                print_one(done[-1])
    if done:
        print_all(done)
        print_means(done)
    print_small(loops)
    if asked.page:
        copy_page.write(asked.page, done, means_of(done), loops.get_compiler().decode(),
                        loops.get_kernels().decode())


if __name__ == "__main__":
    main()

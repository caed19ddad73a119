# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: cuda_peers.py PRODUCER

Passes memory of a library through a view to each other library, while work is still queued in the
producer's stream: the consumer has to find the new values at the same address, and the host must
not wait. Prints TAP. Libraries that cannot be imported, or have no GPU, are skipped.

Without PRODUCER it lists the producers. Over the double of the driver only the first two take part,
and it cannot be seen if the host waits, as the double does its work once it is asked after."""

import contextlib
import gc
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path[:0] = [str(Path(__file__).resolve().parent),
                str(Path(__file__).resolve().parents[1] / "support")]

import gi  # noqa: E402

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402

import cuda_driver as cuda  # noqa: E402
from dlpack_structs import Producer, managed_of  # noqa: E402

N = 1 << 16
OLD = 3
GPU = Mtl.Device.get(Mtl.DeviceType.CUDA, 0)
RAW = cuda.Peer()


class Absent(Exception):
    """The reason why a library cannot take part."""


def load(name):
    if cuda.IS_LAZY:
        raise Absent(f"{name} cannot use the double")
    try:
        return __import__(name, fromlist=["x"])
    except Exception as error:
        raise Absent(f"{type(error).__name__}: {error}".splitlines()[0]) from error


def write(address, value, stream):
    with RAW.context():
        cuda.call("cuMemsetD32Async", address, value, N, stream)


def read(address, stream):
    """After the work that the stream has now, and no other work."""
    with RAW.context():
        pinned = cuda.get(cuda.c_void_p, "cuMemHostAlloc", 4 * N, 0)
        cuda.call("cuMemcpyAsync", pinned, address, 4 * N, stream)
        cuda.call("cuStreamSynchronize", stream)
        values = np.array((cuda.c_int * N).from_address(pinned))
        cuda.call("cuMemFreeHost", pinned)
    return values


class Library:
    """It works in a stream, and its memory has an address."""

    # The consumer waits by itself, before it returns.
    waits = False
    stream = None

    def make(self):
        """Memory for N integers. It is kept until the end of the process."""

    def address_of(self, array):
        raise NotImplementedError

    def scope(self):
        """In which its stream is the current one."""
        return contextlib.nullcontext()

    def produce(self, value):
        """The array, in which the value is still to be written."""
        with self.scope():
            array = self.make()
        address = self.address_of(array)
        write(address, OLD, self.stream)
        with RAW.context():
            cuda.call("cuStreamSynchronize", self.stream)
        cuda.hold(self.stream)
        write(address, value, self.stream)
        return array

    def is_busy(self, array):
        return cuda.is_busy(self.stream)

    def give(self, array):
        """The view of an array."""
        with self.scope():
            return Mtl.from_dlpack(array)

    def take(self, view):
        """Imports a view."""
        raise NotImplementedError

    def read(self, array):
        return read(self.address_of(array), self.stream)


class Driver(Library):
    """The array API's protocol, by hand"""

    def __init__(self):
        self.stream = RAW.stream

    def make(self):
        peer = self

        class Exporter(Producer):
            def __dlpack__(self, stream=None, **keywords):
                if stream not in (None, -1):
                    peer.let_wait(stream)
                return self.capsule()

        return Exporter(RAW.allocate(4 * N), (N,), code=0, device=(2, 0))

    def let_wait(self, stream):
        RAW.let_wait(stream)

    def address_of(self, array):
        return managed_of(array).dl_tensor.data if not isinstance(array, Producer) else array.memory

    def take(self, view):
        return view.__dlpack__(stream=self.stream, max_version=(1, 0))


class Ours(Library):
    def __init__(self):
        self.object = Mtl.Stream.new(GPU)
        self.stream = self.object.get_handle()

    def produce(self, value):
        view = Mtl.full(N, OLD, "int32", device=GPU)
        GPU.synchronize()
        cuda.hold(self.stream)
        with self.object:
            view.fill(value)
        return view

    def address_of(self, array):
        return array.get_address()

    def give(self, array):
        return array

    def take(self, view):
        return Mtl.from_dlpack(view)

    def read(self, array):
        return np.array(array.tolist())


class Torch(Library):
    def __init__(self, is_default=False):
        self.torch = load("torch")
        if not self.torch.cuda.is_available():
            raise Absent("torch.cuda.is_available() is false")
        self.object = self.torch.cuda.default_stream() if is_default else self.torch.cuda.Stream()
        self.stream = self.object.cuda_stream or cuda.LEGACY

    def scope(self):
        return self.torch.cuda.stream(self.object)

    def make(self):
        return self.torch.empty(N, dtype=self.torch.int32, device="cuda")

    def address_of(self, array):
        return array.data_ptr()

    def take(self, view):
        with self.scope():
            return self.torch.from_dlpack(view)


class CuPy(Library):
    def __init__(self, is_default=False):
        self.cupy = load("cupy")
        self.object = self.cupy.cuda.Stream.null if is_default else self.cupy.cuda.Stream(
            non_blocking=True)
        self.stream = self.object.ptr or cuda.LEGACY

    def scope(self):
        return self.object

    def make(self):
        return self.cupy.empty(N, "int32")

    def address_of(self, array):
        return array.data.ptr

    def take(self, view):
        with self.scope():
            return self.cupy.from_dlpack(view)


class Jax(Library):
    """Its streams cannot be seen: long work of its own comes first."""

    def __init__(self):
        self.jax = load("jax")
        try:
            self.jax.devices("gpu")
        except RuntimeError as error:
            raise Absent(str(error).splitlines()[0]) from error
        jnp = self.jax.numpy

        @self.jax.jit
        def slow(value):
            matrix = self.jax.lax.fori_loop(0, 1200, lambda i, m: (m @ m) * (1 / 2048),
                                            jnp.ones((2048, 2048), jnp.float32))
            return jnp.where(matrix[0, 0] > 1e30, 0, value) + jnp.zeros(N, jnp.int32)

        self.slow = slow
        slow(OLD).block_until_ready()

    def produce(self, value):
        return self.slow(value)

    def is_busy(self, array):
        return not array.is_ready()

    def address_of(self, array):
        return array.unsafe_buffer_pointer()

    def take(self, view):
        if view.is_read_only():
            raise Absent("JAX asks for tensors of the old form, which cannot be read-only")
        return self.jax.dlpack.from_dlpack(view)

    def read(self, array):
        return np.asarray(array + 0)


class Numba(Library):
    waits = True

    def __init__(self):
        self.cuda = load("numba.cuda")
        if not self.cuda.is_available():
            raise Absent("numba.cuda.is_available() is false")
        self.object = self.cuda.stream()
        handle = self.object.handle
        self.stream = int(getattr(handle, "value", handle))

    def make(self):
        return self.cuda.device_array(N, np.int32, stream=self.object)

    def address_of(self, array):
        return array.__cuda_array_interface__["data"][0]

    def give(self, array):
        return Mtl.asview(array)

    def take(self, view):
        return self.cuda.as_cuda_array(view)


class Core(Library):
    """Its buffers do not order anything: the program names the stream. They are bytes."""

    def __init__(self):
        core = load("cuda.core")
        self.device = core.Device(0)
        self.device.set_current()
        self.object = self.device.create_stream()
        self.stream = int(self.object.handle)
        self.view = getattr(core, "StridedMemoryView", None) or load(
            "cuda.core.utils").StridedMemoryView

    def make(self):
        return self.device.allocate(4 * N, stream=self.object)

    def address_of(self, array):
        return array.ptr if isinstance(array, self.view) else int(array.handle)

    def give(self, array):
        with Mtl.asstream(self.stream):
            return Mtl.from_dlpack(array).reinterpret("int32")

    def take(self, view):
        return self.view.from_dlpack(view, self.stream)


LIBRARIES = {
    "ours": Ours,
    "driver": Driver,
    "torch": Torch,
    "torch's default stream": lambda: Torch(True),
    "CuPy": CuPy,
    "CuPy's null stream": lambda: CuPy(True),
    "JAX": Jax,
    "Numba": Numba,
    "cuda.core": Core,
}


def load_all():
    libraries = {}
    for name, make in LIBRARIES.items():
        try:
            libraries[name] = make()
        except Absent as error:
            libraries[name] = error
    return libraries


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def pass_on(producer, consumer, value):
    """Returns what it was like."""
    array = producer.produce(value)
    begin = time.perf_counter()
    view = producer.give(array)
    is_busy_between = producer.is_busy(array)
    taken = consumer.take(view)
    took = time.perf_counter() - begin
    is_busy = producer.is_busy(array)
    values = consumer.read(taken)
    KEPT.append((array, view, taken))
    check(np.all(values == value), f"stale or wrong values: {values[:2]} … {values[-2:]}, not "
                                   f"{value}")
    address = producer.address_of(array)
    check(consumer.address_of(taken) == address, "a copy, at another address")
    check(is_busy_between, f"the import waited: {took * 1e3:.1f} ms")
    check(is_busy or consumer.waits, f"the host waited: {took * 1e3:.1f} ms")
    if cuda.IS_LAZY:
        return "same address, values right"
    return f"same address, values right, {took * 1e3:.2f} ms" + (
        "" if is_busy else ", the consumer waits by itself")


def replay(torch, work):
    """Captures it as a graph of PyTorch's, with the strictest mode, and runs that."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    graph.replay()
    torch.cuda.synchronize()


def capture_copies(torch):
    """Copies in the capturing stream are part of the graph."""
    source = torch.arange(N, device="cuda")
    target = torch.zeros_like(source)
    views = Mtl.from_dlpack(source), Mtl.from_dlpack(target)
    views[1][::-1].copy_from(views[0])  # kernels are loaded
    GPU.synchronize()
    target.zero_()
    source += 1

    def work():
        with Mtl.asstream(torch.cuda.current_stream()):
            views[1][::-1].copy_from(views[0])

    replay(torch, work)
    check(torch.equal(target, source.flip(0)), "wrong values after the graph ran")


def capture_others(torch):
    """Memory comes, goes out and is freed, in this thread, while PyTorch captures."""
    import threading

    tensor, done = torch.ones(N, device="cuda"), []
    torch.cuda.synchronize()

    def use():
        view = Mtl.zeros(N, "float32", device=GPU)
        view[::-1].copy_from(Mtl.full(N, 2, "float32", device=GPU))
        done.append(view.tolist()[:2])
        pinned = Mtl.StridedView.new_zeros(GPU, "float32", N, Mtl.StorageMode.SHARED)
        pinned.fill(1)
        del view, pinned
        gc.collect()

    def work():
        tensor.add_(1)
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        use()

    replay(torch, work)
    check(done == [[2, 2]] * 2, f"wrong values beside the capture: {done}")
    check(bool((tensor == 2).all()), "wrong values after the graph ran")


KEPT = []
number = 0


def report(name, call):
    global number
    number += 1
    try:
        said = call()
    except Absent as error:
        print(f"ok {number} {name} # SKIP {error}", flush=True)
        return
    except Exception as error:
        print(f"not ok {number} {name}: {type(error).__name__}: {error}".splitlines()[0],
              flush=True)
        return
    print(f"ok {number} {name}" + (f": {said}" if said else ""), flush=True)


def warm_up(libraries):
    """Kernels are loaded and pools grow, for which the driver waits."""
    for library in libraries.values():
        if not isinstance(library, Absent):
            with contextlib.suppress(Exception):
                pass_on(library, library, OLD)
    view = Mtl.zeros(N, "float32", device=GPU)
    view[::-1].copy_from(view.copy())
    GPU.synchronize()


def main(name=None):
    if name is None:
        print("\n".join(f"producer: {name}" for name in LIBRARIES))
        return
    libraries = load_all()
    producer = libraries[name]
    if isinstance(producer, Absent):
        print(f"1..0 # SKIP {producer}")
        return
    warm_up(libraries)

    def call_for(consumer, value):
        if isinstance(consumer, Absent):
            raise consumer
        return pass_on(producer, consumer, value)

    for i, (other, consumer) in enumerate(libraries.items()):
        report(f"{name} → {other}", lambda: call_for(consumer, 100 + i))
        gc.collect()
    if name == "torch":
        report("torch: copies in a graph", lambda: capture_copies(producer.torch))
        report("torch: other work during a capture", lambda: capture_others(producer.torch))
    print(f"1..{number}", flush=True)


if __name__ == "__main__":
    # Views of all libraries' memory are still there when the process ends.
    main(*sys.argv[1:])

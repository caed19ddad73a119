# SPDX-License-Identifier: LGPL-2.1-or-later
"""The order of work between Python's libraries. In streams of the double of NVIDIA's driver work is
only done when somebody waits for it, and memory that was not waited for is wrong. Over a driver,
streams are kept busy before the work that matters."""

import ctypes
import gc
import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from gi.repository import Mtl

import cuda_driver as cuda
from conftest import HOST, error_code, from_dlpack
from dlpack_structs import (DELETER, DLTensor, ExchangeApi, ManagedVersioned, Producer, api,
                            exchange_api, managed_of)
from says import says

N = 1000
GPU, *OTHERS = cuda.gpus()
V1 = {"max_version": (1, 0)}
SHARED, MANAGED, PRIVATE = (Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED,
                            Mtl.StorageMode.PRIVATE)


@pytest.fixture(autouse=True, scope="module")
def warm():
    """The driver waits for all work when it loads kernels, so they are loaded first."""
    cuda.hold(own_stream())
    view = zeros()
    view[::2] = 1
    view[::-1].copy_from(view)
    view[::2].astype("int16").copy()
    view[::2].copy().astype("int8")
    zeros(SHARED)[::2].copy_from(view[::2])
    GPU.synchronize()


@pytest.fixture(autouse=True)
def nothing_is_wrong():
    violations = cuda.IS_DOUBLE and cuda.violations()
    yield
    gc.collect()
    assert GPU.synchronize() and (cuda.IS_DOUBLE and cuda.violations()) == violations


@pytest.fixture
def peer():
    peer = cuda.Peer()
    yield peer
    gc.collect()
    peer.close()


@pytest.fixture
def theirs(peer):
    """Memory of the peer, in which it is still writing sevens."""
    address = peer.allocate(4 * N)
    peer.hold()
    peer.fill(address, 7, N)
    yield address
    gc.collect()
    wait_until(lambda: not Producer.alive)
    peer.free(address)


@contextmanager
def wait():
    """The host waits. Over a driver only the values tell."""
    before = cuda.IS_DOUBLE and cuda.waits(None)
    yield
    assert not cuda.IS_DOUBLE or cuda.waits(None) > before


def wait_until(condition):
    """For what other threads do."""
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    assert condition()


def own_stream(device=GPU):
    return Mtl.Stream.new_for_device(device).get_handle()


def zeros(mode=PRIVATE, device=GPU):
    return Mtl.StridedView.new_zeros(device, "float32", N, mode)


def fives():
    view = zeros()
    cuda.hold(own_stream())
    view.fill(5)
    return view


def hot(mode):
    """Memory that the host reaches, and that a kernel in a stream still writes to."""
    view, source, stream = zeros(mode), fives(), Mtl.Stream.new(GPU)
    with cuda.no_wait(), stream:
        view[::-1].copy_from(source)
    assert cuda.is_busy(stream.get_handle())
    return view


# Imports


FROM_OBJECT = dict(ExchangeApi._fields_)["managed_from"]
WORK_STREAM = dict(ExchangeApi._fields_)["work_stream"]
KEPT = []


def exchanging(stream):
    """A class of producers like PyTorch's, which work in a stream."""
    def export(producer, out):
        producer.exchanges += 1
        producer.alive.add(producer)
        out[0] = ctypes.addressof(producer.managed)
        return 0

    def work_stream(kind, ordinal, out):
        out[0] = stream
        return 0

    table = ExchangeApi(major=1, minor=3, managed_from=FROM_OBJECT(export),
                        work_stream=WORK_STREAM(work_stream))
    KEPT.append((table, table.managed_from, table.work_stream))
    capsule = api.PyCapsule_New(ctypes.addressof(table), b"dlpack_exchange_api", None)
    return type("Own", (Asked,), {"__dlpack_c_exchange_api__": capsule, "exchanges": 0})


class Asked(Producer):
    """Orders its work into the stream that it is asked for, as the array API says."""

    peer = None
    keywords = None

    def __dlpack__(self, **keywords):
        self.keywords = keywords
        if keywords.get("stream") not in (None, -1):
            self.peer.let_wait(keywords["stream"])
        return self.capsule()


def test_a_hot_tensor_comes_in_by_the_exchange_api(peer, theirs):
    producer = exchanging(peer.stream)(theirs, (N,), device=(2, 0))

    with cuda.no_wait():
        view = Mtl.from_dlpack(producer)
        doubled = zeros()
        doubled.copy_from(view)
        assert cuda.is_busy(peer.stream)
    assert doubled.tolist() == view.tolist() == [7] * N
    assert (producer.exchanges, producer.keywords) == (1, None)


def test_a_hot_tensor_of_a_default_stream(theirs, peer):
    """NULL is the legacy stream, as PyTorch's default one."""
    peer.let_wait(cuda.LEGACY)
    peer.fill(theirs, 8, N, cuda.LEGACY)
    peer.wait_for(cuda.LEGACY)
    producer = exchanging(None)(theirs, (N,), device=(2, 0))

    with cuda.no_wait():
        view = Mtl.from_dlpack(producer)
    assert view.tolist() == [8] * N


@pytest.mark.parametrize("keywords", [{}, {"device": (2, 0)}, {"copy": False}])
def test_a_hot_tensor_comes_in_by_the_protocol(peer, theirs, keywords):
    producer = Asked(theirs, (N,), device=(2, 0))
    producer.peer = peer

    with cuda.no_wait():
        view = Mtl.from_dlpack(producer, **keywords)
    assert producer.keywords["stream"] == own_stream()
    assert view.tolist() == [7] * N


@pytest.mark.parametrize("keywords", [{"device": (2, 0)}, {"copy": False}, {"copy": True}])
def test_a_producer_of_a_known_stream_is_asked_for_no_order(peer, theirs, keywords):
    """The library lets its stream wait by itself."""
    producer = exchanging(peer.stream)(theirs, (N,), device=(2, 0))
    producer.peer = peer

    with cuda.no_wait():
        view = Mtl.from_dlpack(producer, **keywords)
    assert producer.keywords["stream"] == -1
    assert view.tolist() == [7] * N


def test_an_array_of_a_known_stream_is_asked_once(peer, theirs):
    """CuPy's has the array interface, but not the exchange API."""
    interface = {"stream": peer.stream, "version": 3}
    kind = type("LikeCuPy", (Asked,), {"__cuda_array_interface__": interface, "calls": 0})
    producer = kind(theirs, (N,), device=(2, 0))

    with cuda.no_wait():
        view = Mtl.from_dlpack(producer)
    assert producer.keywords == {"max_version": (1, 3), "stream": -1}
    assert view.tolist() == [7] * N


@pytest.mark.parametrize("interface", [{}, {"stream": None}, {"stream": 0}, None, {"stream": "1"},
                                       {"stream": -1}, {"stream": 2**70},
                                       property(lambda self: 1 / 0)])
def test_an_array_whose_interface_has_no_stream(peer, theirs, interface):
    kind = type("Odd", (Asked,), {"__cuda_array_interface__": interface})
    producer = kind(theirs, (N,), device=(2, 0))
    producer.peer = peer

    assert Mtl.from_dlpack(producer).tolist() == [7] * N
    assert producer.keywords["stream"] == own_stream()


def test_pinned_memory_that_is_asked_for_as_a_gpus():
    """The new memory, or the same under another name, is still written to."""
    view = Mtl.from_dlpack(hot(SHARED), device="cuda:0")
    with wait():
        assert memoryview(view)[0] == 5


def test_the_copy_of_a_hot_tensor(peer, theirs):
    producer = Asked(theirs, (N,), device=(2, 0))
    producer.peer = peer

    with cuda.no_wait():
        copy = Mtl.from_dlpack(producer, copy=True)
    assert copy.get_address() != theirs
    copy.fill(1)
    assert peer.read(theirs, 3) == [7, 7, 7]


@cuda.two_gpus
def test_the_stream_is_of_the_device_that_is_asked_for(peer):
    other = cuda.Peer(1)
    address = other.allocate(4 * N)
    other.fill(address, 7, N)
    producer = Asked(address, (N,), device=(2, 1))
    producer.peer = other

    assert Mtl.from_dlpack(producer).tolist() == [7] * N
    assert producer.keywords["stream"] == own_stream(OTHERS[0])
    moved = Mtl.from_dlpack(Mtl.ones(N, "float32", device=GPU), device=(2, 1))
    assert moved.__dlpack_device__() == (2, 1) and moved.tolist() == [1] * N
    gc.collect()
    wait_until(lambda: producer.deleted > 0)
    other.free(address)
    other.close()


@cuda.two_gpus
def test_a_producer_is_asked_with_a_stream_of_the_device_that_is_wanted(peer, theirs):
    producer = Asked(theirs, (N,), device=(2, 0))
    producer.peer = peer

    with pytest.raises(BufferError, match=says("(2, 0)", "(2, 1)")):
        Mtl.from_dlpack(producer, device=(2, 1))
    assert producer.keywords == {"max_version": (1, 3), "dl_device": (2, 1),
                                 "stream": own_stream(OTHERS[0])}


def test_the_producer_sees_what_is_written_to_its_memory(peer, theirs):
    """Its stream waits for work on the memory that came from it."""
    view = Mtl.from_dlpack(exchanging(peer.stream)(theirs, (N,), device=(2, 0)))

    with cuda.no_wait():
        view[::2] = 1
    assert peer.read(theirs, 4) == [1, 7, 1, 7]


def test_the_producers_memory_is_not_given_back_too_soon(peer, theirs):
    producer = exchanging(peer.stream)(theirs, (N,), device=(2, 0))

    with cuda.no_wait():
        copy = Mtl.from_dlpack(producer).copy()
        gc.collect()
    assert copy.tolist() == [7] * N
    wait_until(lambda: producer.deleted == 1)


def test_pinned_memory_of_a_peer(peer):
    address = peer.allocate_pinned(4 * N)
    peer.fill(address, 7, N)
    peer.synchronize()
    view = Mtl.from_dlpack(Producer(address, (N,), device=(3, 0)).capsule())

    assert view.__dlpack_device__() == (3, 0) and view.get_address() == address
    assert np.asarray(view).ctypes.data == address and view[1] == 7
    assert view.to_device(GPU, "private").astype("int8").tolist() == [7] * N
    del view
    gc.collect()
    wait_until(lambda: not Producer.alive)
    peer.free_pinned(address)


@pytest.mark.parametrize("by_exchange", [True, False])
def test_managed_memory_of_a_peer(peer, by_exchange):
    address = peer.allocate_managed(4 * N)
    peer.fill(address, 7, N)
    kind = exchanging(peer.stream) if by_exchange else Asked
    producer = kind(address, (N,), device=(13, 0))
    producer.peer = peer

    with cuda.no_wait():
        view = Mtl.from_dlpack(producer)
    with wait():
        assert memoryview(view)[N - 1] == 7
    assert view.__dlpack_device__() == (13, 0) and view.get_address() == address
    del view, producer
    gc.collect()
    wait_until(lambda: not Producer.alive)
    peer.free(address)


# Exports


def test_a_hot_view_goes_out_for_a_stream(peer):
    view = fives()

    with cuda.no_wait():
        capsule = view.__dlpack__(stream=peer.stream, **V1)
    assert peer.read(managed_of(capsule).dl_tensor.data, N) == [5] * N


@pytest.mark.parametrize("stream, legacy", [(None, 1), (1, 1), (2, 2)])
def test_a_hot_view_goes_out_for_a_default_stream(peer, stream, legacy):
    view = fives()

    with cuda.no_wait():
        capsule = view.__dlpack__(stream=stream, **V1)
    assert peer.read(managed_of(capsule).dl_tensor.data, N, legacy) == [5] * N


def test_without_order(peer):
    """-1: the consumer knows that it has to wait."""
    view = fives()

    with cuda.no_wait():
        before = cuda.calls(b"cuStreamWaitEvent")
        capsule = view.__dlpack__(stream=-1, **V1)
        assert cuda.calls(b"cuStreamWaitEvent") == before
    peer.wait_for(own_stream())
    assert peer.read(managed_of(capsule).dl_tensor.data, N) == [5] * N


def test_a_copy_goes_out_in_the_consumers_stream(peer):
    view = fives()

    with cuda.no_wait():
        capsule = view[::2].__dlpack__(stream=peer.stream, copy=True, **V1)
    assert managed_of(capsule).dl_tensor.data != view.get_address()
    assert peer.read(managed_of(capsule).dl_tensor.data, N // 2) == [5] * (N // 2)


@cuda.two_gpus
def test_a_copy_for_another_gpu():
    other = cuda.Peer(1)
    view = fives()

    with cuda.no_wait():
        capsule = view.__dlpack__(stream=other.stream, dl_device=(2, 1), **V1)
    assert other.read(managed_of(capsule).dl_tensor.data, N) == [5] * N
    del capsule
    other.close()


@pytest.mark.parametrize("mode", [SHARED, MANAGED], ids=["shared", "managed"])
def test_pinned_and_managed_memory_for_a_stream_of_any_gpu(mode):
    for ordinal in range(1 + len(OTHERS)):
        other = cuda.Peer(ordinal)
        view = hot(mode)
        with cuda.no_wait():
            capsule = view.__dlpack__(stream=other.stream, dl_device=(2, ordinal), **V1)
        assert other.read(managed_of(capsule).dl_tensor.data, N) == [5] * N
        assert managed_of(capsule).dl_tensor.data == view.get_address()
        other.fill(view.get_address(), 6, N)
        del capsule, view
        gc.collect()
        other.close()


@pytest.mark.parametrize("mode", [SHARED, MANAGED], ids=["shared", "managed"])
def test_host_memory_is_complete(mode):
    """The consumer has no stream to wait in."""
    view = hot(mode)
    with wait():
        capsule = view.__dlpack__(dl_device=(1, 0), **V1)
    data = managed_of(capsule).dl_tensor.data
    assert data == view.get_address()
    assert list((ctypes.c_float * N).from_address(data)) == [5] * N


@pytest.mark.parametrize("mode", [PRIVATE, SHARED, MANAGED], ids=lambda mode: mode.value_nick)
def test_memory_outlives_the_consumers_work(peer, mode):
    """The consumer's deleter says nothing of the work that it has queued."""
    taken = peer.allocate(4 * N)
    view = zeros(mode)
    view.fill(5)
    cuda.hold(own_stream())
    capsule = view.__dlpack__(stream=peer.stream, **V1)
    with peer.context():
        cuda.call("cuMemcpyAsync", taken, view.get_address(), 4 * N, peer.stream)

    with cuda.no_wait():
        del view, capsule
        gc.collect()
        others = [zeros(mode) for _ in range(3)]
        others[0].fill(6)
    assert peer.read(taken, N) == [5] * N
    peer.free(taken)


# The exchange API


@pytest.mark.parametrize("kind, ordinal, device", [
    (2, 0, GPU), pytest.param(2, 1, OTHERS and OTHERS[0], marks=cuda.two_gpus), (3, 0, GPU),
    (13, 0, GPU), (1, 0, None), (2, 99, None), (10, 0, None)])
def test_the_current_work_stream(kind, ordinal, device):
    stream = ctypes.c_void_p(1)

    assert exchange_api(Mtl.StridedView).work_stream(kind, ordinal, stream) == 0
    assert stream.value == (own_stream(device) if device else None)


def test_a_hot_view_goes_out_by_the_exchange_api(peer):
    exchange = exchange_api(Mtl.StridedView)
    managed, stream, lent = ctypes.c_void_p(), ctypes.c_void_p(), DLTensor()
    view = fives()

    with cuda.no_wait():
        assert exchange.managed_from(view, managed) == 0
        assert exchange.borrow(view[1:], lent) == 0
        assert exchange.work_stream(2, 0, stream) == 0
    exported = ManagedVersioned.from_address(managed.value)
    assert exported.dl_tensor.data == view.get_address() == lent.data - 4
    peer.wait_for(stream.value)
    assert peer.read(exported.dl_tensor.data, N) == [5] * N
    DELETER(exported.deleter)(managed.value)


def test_results_of_peers_come_in_by_the_exchange_api():
    exchange, result = exchange_api(Mtl.StridedView), ctypes.py_object()
    prototype = DLTensor(device_type=2, ndim=1, code=2, bits=32, lanes=1,
                         shape=(ctypes.c_int64 * 1)(4))
    managed = ctypes.c_void_p()

    assert exchange.allocate(prototype, managed, None, cuda_error) == 0
    assert exchange.to_object(managed, result) == 0
    assert result.value.__dlpack_device__() == (2, 0) and result.value.shape == (4,)
    result.value.fill(3)
    assert result.value.tolist() == [3] * 4


def test_results_of_peers_that_the_host_reaches(peer):
    """They may still be written to in the stream that the peer was told."""
    exchange, result = exchange_api(Mtl.StridedView), ctypes.py_object()
    prototype = DLTensor(device_type=13, ndim=1, code=2, bits=32, lanes=1,
                         shape=(ctypes.c_int64 * 1)(N))
    managed, stream = ctypes.c_void_p(), ctypes.c_void_p()

    assert exchange.allocate(prototype, managed, None, cuda_error) == 0
    assert exchange.work_stream(13, 0, stream) == 0
    data = ManagedVersioned.from_address(managed.value).dl_tensor.data
    with cuda.no_wait():
        cuda.hold(stream.value)
        peer.fill(data, 7, N, stream.value)
        assert exchange.to_object(managed, result) == 0
    with wait():
        assert memoryview(result.value)[N - 1] == 7


def test_the_lock_is_free_while_the_host_waits():
    """Work may call Python. The test would not end."""
    def go_on():
        time.sleep(0.05)
        cuda.resume()

    view = hot(SHARED)
    cuda.pause()
    thread = threading.Thread(target=go_on)
    signal.alarm(20)
    thread.start()
    assert memoryview(view)[0] == 5
    thread.join()
    signal.alarm(0)


@dict(ExchangeApi._fields_)["allocate"]._argtypes_[3]
def cuda_error(context, kind, message):
    raise AssertionError(message)


# The host's accesses


@pytest.mark.parametrize("read", [
    lambda view: memoryview(view)[N - 1], lambda view: np.asarray(view)[N - 1],
    lambda view: view[-1], lambda view: view.item(N - 1),
    lambda view: np.frombuffer(bytes(view), "f4")[-1],
    lambda view: np.asarray(view.get_buffer()).view("f4")[-1],
    lambda view: np.frombuffer(view.get_bytes().get_data(), "f4")[-1],
    lambda view: from_dlpack(view)[-1],
    lambda view: view.tolist()[-1], lambda view: view.copy()[-1],
    lambda view: view.astype("int8").tolist()[-1],
    lambda view: view.compute_statistics(None).get_maximum(),
])
@pytest.mark.parametrize("mode", [SHARED, MANAGED], ids=["shared", "managed"])
def test_the_host_waits_for_hot_memory(mode, read):
    """Work in a stream of the program's own is not over when the call returns."""
    view = hot(mode)

    with wait():
        assert read(view) == 5


@pytest.mark.parametrize("mode", [SHARED, MANAGED], ids=["shared", "managed"])
def test_without_a_stream_reached_memory_is_ready(mode):
    view = zeros(mode)
    view.copy_from(fives())

    assert (ctypes.c_float * N).from_address(view.get_address())[N - 1] == 5
    view.copy_from(zeros())
    assert (ctypes.c_float * N).from_address(view.get_address())[N - 1] == 0


def test_work_between_private_memory_is_only_queued():
    with cuda.no_wait():
        first = zeros()
        second = zeros()
        first.fill(5)
        second[::-1].copy_from(first)
        narrow = second.astype("int16")
    with wait():
        assert narrow.tolist() == [5] * N


# Streams and events


@cuda.two_gpus
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("mode", [SHARED, MANAGED], ids=["shared", "managed"])
def test_another_gpu_waits_for_hot_memory(mode, step):
    copy = zeros(PRIVATE, OTHERS[0])
    copy[::step].copy_from(hot(mode))
    assert copy.tolist() == [5] * N


@cuda.two_gpus
@pytest.mark.parametrize("mode", [SHARED, MANAGED], ids=["shared", "managed"])
def test_another_gpu_compares_hot_memory(mode):
    expected = Mtl.full(N, 5, "float32", device=OTHERS[0])
    assert expected.array_equal(hot(mode)) and hot(mode).array_equal(expected)


@cuda.two_gpus
@pytest.mark.parametrize("handle", [1, 2])
def test_default_streams_of_two_gpus(handle):
    """Their handles are the same."""
    streams = [Mtl.asstream(handle, device) for device in (GPU, OTHERS[0])]
    other = cuda.Peer(1)
    view = zeros(SHARED)

    cuda.hold(handle)
    with cuda.context():
        cuda.call("cuMemsetD32Async", view.get_address(), 7, N, handle)
    with cuda.no_wait():
        assert streams[1].wait_stream(streams[0])
        with other.context():
            cuda.order(handle, other.stream)
    other.synchronize()
    assert (ctypes.c_int32 * N).from_address(view.get_address())[N - 1] == 7
    other.close()


def test_a_stream_waits_for_an_event():
    stream, event, view = Mtl.Stream.new(GPU), Mtl.Event.new(GPU), zeros()

    with cuda.no_wait(), stream:
        stream.wait_event(event, 1)
        view.fill(5)
        stream.signal_event(event, 2)
    assert event.get_signaled_value() == 0 and cuda.is_busy(stream.get_handle())
    event.signal(1)
    assert stream.synchronize() and event.wait(2, 0)
    assert view.tolist() == [5] * N


def test_streams_wait_without_the_host():
    first, second, view = Mtl.Stream.new(GPU), Mtl.Stream.new([GPU, *OTHERS][-1]), zeros()
    cuda.hold(first.get_handle())

    with cuda.no_wait():
        with first:
            view.fill(5)
        assert second.wait_stream(first)
    assert cuda.is_busy(first.get_handle())
    assert second.synchronize() and cuda.pending(first.get_handle()) == 0


def test_work_in_a_peers_stream(peer, theirs):
    """asstream() takes the peer's stream: nothing else has to wait."""
    with cuda.no_wait(), Mtl.asstream(peer.stream):
        view = Mtl.from_dlpack(Producer(theirs, (N,), device=(2, 0)).capsule())
        view[::2] = 1
    assert peer.read(theirs, 4) == [1, 7, 1, 7]


# Graphs


@contextmanager
def capture(peer, results):
    with peer.context():
        cuda.call("cuStreamBeginCapture_v2", peer.stream, 0)  # as PyTorch does, global
    try:
        yield
    finally:
        with peer.context():
            results.append(cuda.end_capture(peer.stream))


def launch(peer, graph):
    with peer.context():
        program = cuda.get(ctypes.c_void_p, "cuGraphInstantiateWithFlags", graph, 0)
        cuda.call("cuGraphLaunch", program, peer.stream)
        cuda.call("cuStreamSynchronize", peer.stream)
        cuda.call("cuGraphExecDestroy", program)
        cuda.call("cuGraphDestroy", graph)


def test_copies_are_part_of_a_graph(peer):
    source, target, graphs = zeros(), zeros(), []
    wide = Mtl.zeros(N, "float64", device=GPU)

    source.fill(5)
    wide.fill(3)
    GPU.synchronize()
    with Mtl.asstream(peer.stream), capture(peer, graphs):
        target[::-1].copy_from(source)
        source[:2].fill(1)
        wide.fill(0.1)
    assert target.tolist() == [0] * N and source.tolist() == [5] * N
    assert wide.tolist() == [3] * N
    launch(peer, graphs[0])
    assert target.tolist() == [5] * N and source[:4].tolist() == [1, 1, 5, 5]
    assert wide.tolist() == [0.1] * N


def test_temporary_memory_is_no_part_of_a_graph(peer):
    """It would be that of others when the graph runs."""
    view, graphs = zeros(), []
    view.copy_from(Mtl.arange(N, dtype="float32", device=HOST))
    GPU.synchronize()
    with Mtl.asstream(peer.stream), capture(peer, graphs):
        for target, source in ((view, view[::-1]), (view[1:], view[:-1]),
                               (Mtl.zeros((N, 2), "int8", device=HOST)[:, 0], view)):
            with pytest.raises(NotImplementedError) as info:
                target.copy_from(source)
            assert error_code(info) == Mtl.Error.NOT_SUPPORTED
    launch(peer, graphs[0])
    assert view.tolist() == list(range(N))


@pytest.mark.parametrize("keywords", [{}, {"copy": True}, {"device": (2, 0)}])
@pytest.mark.parametrize("is_cupy", [False, True])
def test_a_tensor_whose_stream_captures(peer, theirs, keywords, is_cupy):
    """The library's own stream does not become a part of the graph."""
    interface = {"stream": peer.stream, "version": 3}
    kind = (type("LikeCuPy", (Asked,), {"__cuda_array_interface__": interface}) if is_cupy
            else exchanging(peer.stream))
    producer = kind(theirs, (N,), device=(2, 0))
    producer.peer = peer
    graphs = []

    peer.synchronize()
    with capture(peer, graphs):
        view = Mtl.from_dlpack(producer, **keywords)
        assert view.tolist() == [7] * N
    launch(peer, graphs[0])


def test_new_memory_is_there_for_the_programs_kernels(peer):
    """They run after it was cleared."""
    cuda.hold(own_stream())
    with cuda.no_wait(), Mtl.asstream(peer.stream):
        view = zeros()
        peer.fill(view.get_address(), 7, N)
    assert peer.read(view.get_address(), N) == [7] * N
    GPU.synchronize()
    assert peer.read(view.get_address(), N) == [7] * N


def test_other_work_does_not_end_a_capture(peer, theirs):
    """A call of any thread can end a capture of PyTorch's kind."""
    graphs, results, lasting = [], [], zeros()

    def work():
        view = zeros()
        view.fill(5)
        results.extend([view.astype("int16").tolist(), Mtl.Event.new(GPU).wait(0, 0)])
        pinned = zeros(SHARED)
        pinned.fill(5)
        results.append(pinned.tolist())

    with capture(peer, graphs):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        work()
        gc.collect()
        with Mtl.asstream(peer.stream):
            lasting.fill(2)
    assert results == [[5] * N, True, [5] * N] * 2
    launch(peer, graphs[0])
    assert lasting.tolist() == [2] * N


def test_the_host_cannot_read_within_a_capture(peer):
    view, graphs = zeros(), []

    with Mtl.asstream(peer.stream), capture(peer, graphs):
        with pytest.raises(NotImplementedError) as info:
            view.to_device(HOST, "host")
    assert error_code(info) == Mtl.Error.NOT_SUPPORTED
    launch(peer, graphs[0])
    assert view.to_device(HOST, "host").tolist() == [0] * N


# Failures, and the end


@pytest.mark.parametrize("function, call, error", [
    (b"cuStreamCreate", lambda: Mtl.Stream.new(GPU), RuntimeError),
    (b"cuMemAllocFromPoolAsync", zeros, RuntimeError),
    (b"cuMemsetD8Async", zeros, RuntimeError),
    (b"cuStreamSynchronize", lambda: GPU.synchronize(), RuntimeError),
])
def test_errors_of_the_driver_have_its_name(function, call, error):
    cuda.fail_function(function, 1, 1)
    with pytest.raises(error, match="CUDA_ERROR_INVALID_VALUE") as info:
        call()
    assert error_code(info) == Mtl.Error.DEVICE
    assert zeros().tolist() == [0] * N


def test_without_memory():
    cuda.fail_function(b"cuMemHostAlloc", 1, 2)
    with pytest.raises(MemoryError) as info:
        Mtl.StridedView.new_zeros(GPU, "int8", 12345678, SHARED)
    assert error_code(info) == Mtl.Error.NO_MEMORY


def test_a_child_cannot_use_cuda():
    view, shared = zeros(), zeros(SHARED)
    view.fill(5)
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (zeros, view.tolist, lambda: Mtl.Device.get(Mtl.DeviceType.CUDA, 0),
                     lambda: Mtl.Stream.new(GPU), lambda: view.__dlpack__(**V1)):
            try:
                call()
            except (NotImplementedError, BufferError) as failure:
                refused += failure.__cause__.code == Mtl.Error.NOT_SUPPORTED
        del view, shared
        gc.collect()
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert view.tolist() == [5] * N and shared.tolist() == [0] * N

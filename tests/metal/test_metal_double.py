# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metal from Python, with the controls of the double: what goes on beside the
library, and what fails."""

import faulthandler
import gc
import sys
import threading

import pytest
from gi.repository import GLib, Mtl

import metal_double as double
from conftest import DOUBLES, METAL, error_code
from dlpack_structs import DLTensor, Producer, exchange_api, floats, managed_of
from says import says

MODES = {Mtl.StorageMode.SHARED: double.SHARED, Mtl.StorageMode.MANAGED: double.MANAGED,
         Mtl.StorageMode.PRIVATE: double.PRIVATE}
METAL_0 = (8, 0)
UINT8 = {"code": 1, "bits": 8}


@pytest.fixture(autouse=True)
def nothing_leaks():
    gc.collect()
    kinds = (b"buffer", b"event", b"command-buffer", b"encoder", b"tensor", b"block")
    before = [double.live(kind) for kind in kinds]
    yield
    double.fail_at(0)
    gc.collect()
    assert [double.live(kind) for kind in kinds] == before


@pytest.fixture(params=MODES, ids=lambda mode: mode.value_nick)
def mode(request):
    return request.param


@pytest.fixture
def theirs(mode):
    """A buffer that another library made."""
    buffer = double.new_buffer(0, 64, MODES[mode])
    double.poke(buffer, 0, bytes(range(64)), 64)
    yield buffer
    assert double.retain_count(buffer) == 1
    double.release(buffer)


def zeros(mode, size):
    return Mtl.StridedView.new(Mtl.Buffer.new(METAL[0], size, mode), Mtl.StridedLayout([size]),
                               Mtl.DType.UINT8, 0)


def handle_of(view):
    return managed_of(view.__dlpack__(max_version=(1, 0))).dl_tensor.data


def contents_on_gpu(buffer, offset, size):
    """Returns the bytes that a kernel finds there, which then adds nothing."""
    assert double.finish(double.submit(double.ADD, buffer, offset, size, 0, None, 0, None, 0))
    return double.contents_on_gpu(buffer, offset, size)


def test_devices_are_those_of_the_environment():
    assert [device.get_name() for device in METAL] == [f"Double {word}" for word in DOUBLES]
    assert [device.has_unified_memory() for device in METAL] == [
        word == "unified" for word in DOUBLES]
    assert METAL[0].get_page_size() == double.page_size()


# Tensors of Metal


def test_tensor_of_metal_and_back(mode):
    view = zeros(mode, 64)[32:].reshape(4, 8)
    tensor = view.to_metal_tensor(Mtl.MetalTensorUsage.COMPUTE)
    back = Mtl.StridedView.new_from_metal_tensor(tensor)

    assert tensor == view.to_metal_tensor(Mtl.MetalTensorUsage.COMPUTE) != 0
    assert view.T.to_metal_tensor(Mtl.MetalTensorUsage.COMPUTE) != tensor
    assert double.live(b"tensor") == 1 and double.retain_count(tensor) == 2
    back.fill_double(5)
    assert view.tolist() == [[5] * 8] * 4 and handle_of(back) == handle_of(view)
    assert (back.shape, back.get_byte_offset(), mode) == (
        (4, 8), 32, back.get_buffer().get_storage_mode())
    del view
    gc.collect()
    assert double.live(b"tensor") == 1
    del back
    gc.collect()
    assert double.live(b"tensor") == 0


def test_tensor_of_metal_needs_a_copy():
    view = zeros(Mtl.StorageMode.SHARED, 12).reshape(3, 4)

    with pytest.raises(ValueError, match=says("(64, 1)")) as info:
        view.to_metal_tensor(Mtl.MetalTensorUsage.MACHINE_LEARNING)
    assert error_code(info) == Mtl.Error.NEEDS_COPY
    double.fail_at(1)
    with pytest.raises(RuntimeError, match="MTLTensor"):
        view.to_metal_tensor(Mtl.MetalTensorUsage.COMPUTE)


# Tensors of other libraries


@pytest.fixture
def no_turns():
    """A thread only runs if another one gives Python's lock up. Ends the process if none does."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    faulthandler.dump_traceback_later(60, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    sys.setswitchinterval(interval)


def test_a_deleter_wants_the_lock_while_an_import_waits(theirs, mode, no_turns):
    """The import waits for the GPU, which waits for the end of another tensor."""
    other = Producer(floats(1, 2), (2,))
    views = [Mtl.from_dlpack(other)]
    producer = Producer(theirs, (64,), device=METAL_0, **UINT8)
    assert Mtl.from_dlpack(producer).get_buffer().synchronize()
    go = threading.Lock()

    def end():
        go.acquire()
        views.clear()
        double.resume()

    go.acquire()
    thread = threading.Thread(target=end)
    thread.start()
    double.pause()
    go.release()
    copy = Mtl.from_dlpack(producer, copy=True)
    thread.join()

    assert other.deleted == 1
    assert copy.tolist() == list(range(64))


def test_takes_part_in_their_buffer(theirs, mode):
    # Peers count devices in their own way.
    producer = Producer(theirs, (4, 5), (8, 1), device=(8, 7), byte_offset=10, **UINT8)
    view = Mtl.from_dlpack(producer)

    assert view.get_device() is METAL[0] and view.get_buffer().get_storage_mode() == mode
    assert len(view.get_buffer()) == 64 and view.get_byte_offset() == 10
    assert view.get_buffer().synchronize()
    assert view.tolist() == [[10 + 8 * i + j for j in range(5)] for i in range(4)]
    view[1:, ::2] = 99
    assert contents_on_gpu(theirs, 18, 5) == bytes([99, 19, 99, 21, 99])
    part = view[2:]
    del view
    gc.collect()
    assert producer.deleted == 0 and part.tolist()[0] == [99, 27, 99, 29, 99]
    del part
    gc.collect()
    assert producer.deleted == 1


def test_reversed_tensors(theirs):
    producer = Producer(theirs, (4,), (-2,), device=METAL_0, byte_offset=6, **UINT8)
    view = Mtl.from_dlpack(producer)
    view.get_buffer().synchronize()

    assert view.tolist() == [6, 4, 2, 0]
    with pytest.raises(BufferError):
        Mtl.from_dlpack(Producer(theirs, (4,), (-2,), device=METAL_0, byte_offset=5, **UINT8))


@pytest.mark.parametrize("fields", [
    {"shape": (65,)}, {"shape": (1,), "byte_offset": 64}, {"shape": (2,), "strides": (64,)},
    {"shape": (2, 2), "strides": (60, 4)}, {"shape": (1,), "byte_offset": 2**64 - 1},
])
def test_tensors_beyond_their_buffer(theirs, fields):
    producer = Producer(theirs, device=METAL_0, **UINT8, **fields)

    with pytest.raises(BufferError):
        Mtl.from_dlpack(producer)
    assert producer.deleted == 1


def test_tensors_of_something_else():
    event = double.new_event(0)
    producer = Producer(event, (4,), device=METAL_0, **UINT8)

    with pytest.raises(BufferError, match="MTLBuffer"):
        Mtl.from_dlpack(producer)
    assert producer.deleted == 1 and double.retain_count(event) == 1
    double.release(event)


def test_purgeable_memory_is_refused(theirs):
    producer = Producer(theirs, (64,), device=METAL_0, **UINT8)
    view = Mtl.from_dlpack(producer)
    state = double.set_purgeable_state(theirs, double.VOLATILE)

    with pytest.raises(BufferError, match="purgeable") as info:
        view.__dlpack__()
    assert error_code(info) == Mtl.Error.NOT_SUPPORTED
    with pytest.raises(BufferError, match="purgeable"):
        exchange_api(Mtl.StridedView).borrow(view, DLTensor())
    with pytest.raises(BufferError, match="purgeable"):
        Mtl.from_dlpack(Producer(theirs, (64,), device=METAL_0, **UINT8))
    double.set_purgeable_state(theirs, state)
    assert Mtl.from_dlpack(view).shape == (64,)


def test_nothing_at_no_buffer():
    view = Mtl.from_dlpack(Producer(None, (2, 0), device=METAL_0))

    assert view.shape == (2, 0) and view.tolist() == [[], []]


# Work on other command queues


def test_what_the_library_writes_is_there_for_the_gpu(mode):
    view = zeros(mode, 64)
    view[3:9] = 5
    expected = bytes(3) + b"\5" * 6 + bytes(55)
    assert contents_on_gpu(handle_of(view), 0, 64) == expected

    view.get_buffer().set_bytes(60, GLib.Bytes.new(b"abcd"))
    assert contents_on_gpu(handle_of(view), 0, 64) == expected[:60] + b"abcd"
    view.get_buffer().fill(0, 64, GLib.Bytes.new(b"z"))
    assert contents_on_gpu(handle_of(view), 0, 64) == b"z" * 64


def test_what_the_gpu_wrote_is_there_after_synchronize(mode):
    view = zeros(mode, 64)
    run = double.submit(double.FILL, handle_of(view), 8, 4, 7, None, 0, None, 0)

    assert double.finish(run)
    assert view.get_buffer().synchronize()
    assert view.tolist() == [0] * 8 + [7] * 4 + [0] * 52


@pytest.mark.parametrize("device", [None, Mtl.Device.get_host()])
def test_an_export_waits_for_the_gpu(mode, device):
    view = zeros(mode, 64)
    event = Mtl.Event.new(METAL[0])
    run = double.submit(double.ADD, handle_of(view), 0, 64, 3, None, 0,
                        double.handle_of_event(event), 5)
    with pytest.raises(TimeoutError):
        event.wait(5, 0, None)

    timer = threading.Timer(0.05, double.go, [run])
    timer.start()
    event.wait(5)
    tensor = view.export_dlpack(device=device)
    assert event.get_signaled_value() == 5
    other = Mtl.StridedView.new_from_dlpack(tensor)
    if device is None:
        other.get_buffer().synchronize()
    assert other.tolist() == [3] * 64
    timer.join()
    assert double.finish(run)


def test_the_gpu_waits_for_the_host(mode):
    view = zeros(mode, 64)
    view[...] = 4
    event, done = Mtl.Event.new(METAL[0]), Mtl.Event.new(METAL[0])
    run = double.submit(double.ADD, handle_of(view), 0, 64, 3, double.handle_of_event(event), 2,
                        double.handle_of_event(done), 1)
    double.go(run)

    with pytest.raises(TimeoutError):
        done.wait(1, 50_000, None)
    assert done.get_signaled_value() == 0
    event.signal(2)
    assert done.wait(1, -1, None) and view.get_buffer().synchronize()
    assert view.tolist() == [7] * 64
    assert double.finish(run)


@pytest.mark.parametrize("wait", [
    lambda view: view.__dlpack__(dl_device=(1, 0)), lambda view: view.__dlpack__(copy=True),
    lambda view: Mtl.from_dlpack(view, device=(1, 0)), lambda view: view.tolist(),
    lambda view: bytes(view), lambda view: view.copy(), lambda view: view.__setitem__(..., 5),
    lambda view: str(view), lambda view: view.get_device().synchronize(None),
])
def test_who_waits_for_the_gpu_does_not_hold_pythons_lock(wait):
    view = zeros(Mtl.StorageMode.PRIVATE, 64)
    results = []
    double.pause()
    thread = threading.Thread(target=lambda: results.append(wait(view)))
    thread.start()
    thread.join(0.05)
    waited = not results
    double.resume()
    thread.join()

    assert waited and results


# Failures


@pytest.mark.parametrize("call", [
    lambda view: view.tolist(), lambda view: bytes(view), lambda view: view.copy(),
    lambda view: view.fill_double(1), lambda view: view[1:].fill_double(1),
    lambda view: view.copy_from(Mtl.asview(bytes(64))), lambda view: view[::2].copy(),
    lambda view: view.array_equal(view.copy()), lambda view: view.to_dtype(Mtl.DType.FLOAT32),
    lambda view: Mtl.from_dlpack(view, device=(1, 0)),
    lambda view: view.__dlpack__(max_version=(1, 0), copy=True),
    lambda view: view.get_device().synchronize(None),
    lambda view: Mtl.Event.new(view.get_device()),
    lambda view: Mtl.Buffer.new(view.get_device(), 5, Mtl.StorageMode.PRIVATE),
])
def test_each_failure_is_an_exception(call):
    view = zeros(Mtl.StorageMode.PRIVATE, 64)

    double.fail_at(0)
    call(view)
    n_points = double.points()
    assert n_points > 0
    for nth in range(1, n_points + 1):
        double.fail_at(nth)
        with pytest.raises((RuntimeError, MemoryError, BufferError)) as info:
            call(view)
        assert error_code(info) in (Mtl.Error.DEVICE, Mtl.Error.NO_MEMORY)
    double.fail_at(0)
    view[...] = 9
    assert view.tolist() == [9] * 64

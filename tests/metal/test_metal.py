# SPDX-License-Identifier: LGPL-2.1-or-later
"""Memory of Metal from Python, on the real device or on the double."""

import ctypes
import itertools
import threading

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import HOST, METAL, NUMPY_SAYS_WRITABLE, elements, error_code, from_dlpack
from dlpack_structs import LEGACY, VERSIONED, api, capsule_name, dims, managed_of
from says import says

METAL_TYPE = int(Mtl.DeviceType.METAL)
IS_READ_ONLY, IS_COPIED = 1, 2
V1 = {"max_version": (1, 0)}
CPU = {"max_version": (1, 0), "dl_device": (1, 0)}
MODES = [mode for mode in (Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED,
                           Mtl.StorageMode.PRIVATE) if METAL[0].supports_storage_mode(mode)]
REACHED = [mode for mode in MODES if mode != Mtl.StorageMode.PRIVATE]


def nick(mode):
    return mode.value_nick


@pytest.fixture(params=METAL, ids=Mtl.Device.get_name)
def device(request):
    return request.param


@pytest.fixture(params=MODES, ids=nick)
def mode(request):
    return request.param


@pytest.fixture(params=REACHED, ids=nick)
def reached_mode(request):
    return request.param


def tensor(device, mode, array):
    return Mtl.asview(array).to_device(device, mode)


def iota(device, mode, *shape, dtype="float32"):
    return tensor(device, mode, np.arange(np.prod(shape)).astype(dtype).reshape(shape))


def mode_of(view):
    return view.get_buffer().get_storage_mode()


def tensor_of(view, **keywords):
    return managed_of(view.__dlpack__(**{**V1, **keywords})).dl_tensor


# Devices


def test_describes_itself(device):
    assert device.get_device_type() == METAL_TYPE
    assert device.get_name() == device.props.name != ""
    assert device.get_max_buffer_size() >= 2**28
    assert device.get_page_size() % 4096 == 0
    assert not device.supports_storage_mode(Mtl.StorageMode.HOST)
    assert not device.supports_storage_mode(Mtl.StorageMode.FOREIGN)
    assert Mtl.StorageMode.SHARED in MODES and Mtl.StorageMode.PRIVATE in MODES


def test_tensors_of_no_particular_device_are_shared():
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT32, [2])

    assert view.get_device() is Mtl.Device.get_default() and view.get_device() in METAL
    assert mode_of(view) == Mtl.StorageMode.SHARED
    assert view.__dlpack_device__()[0] == METAL_TYPE


def test_a_new_tensor_has_the_storage_mode(device, mode):
    View = Mtl.StridedView
    for view in (View.new_zeros(device, "int8", 3, mode),
                 View.new_uninitialized(device, "int8", 3, mode),
                 View.new_filled(device, "int8", 3, -5, storage_mode=mode),
                 View.new_arange(device, "int8", 0, 1, storage_mode=mode),
                 View.new_arange_int64(device, "float16", 7, 5, -1, mode)):
        assert view.get_device() is device and mode_of(view) == mode
    assert view.tolist() == [7, 6]
    assert View.new_filled(device, "int8", 3, -5, mode).tolist() == [-5, -5, -5]
    with pytest.raises(NotImplementedError, match="host"):
        View.new_zeros(device, "int8", 3, "host")


# Memory that the host reaches


def test_reached_memory_is_written_through(device, reached_mode):
    view = iota(device, reached_mode, 2, 3)

    np.asarray(view)[0] = [7, 8, 9]
    memoryview(view)[1, 1] = 5
    view[1, 0] = 4
    assert view.tolist() == [[7, 8, 9], [4, 5, 5]] and view[1, 2] == 5
    assert view.get_bytes().get_data() == np.asarray(view).tobytes()
    assert np.asarray(view).ctypes.data == view.get_address() != 0
    assert view.get_address() % 64 == 0


def test_reached_memory_is_the_hosts_too(device, reached_mode):
    view = iota(device, reached_mode, 4, 3)[1:]

    for copy in (None, False):
        exported = managed_of(view.__dlpack__(copy=copy, **CPU))
        assert exported.flags == 0
        assert (exported.dl_tensor.device_type, exported.dl_tensor.device_id) == (1, 0)
        assert exported.dl_tensor.data == view.get_address()
        assert exported.dl_tensor.byte_offset == 0
    array = from_dlpack(view)
    assert array.ctypes.data == view.get_address()
    view[0] = 7
    assert array.tolist() == [[7, 7, 7], [6, 7, 8], [9, 10, 11]]
    assert array.flags.writeable == NUMPY_SAYS_WRITABLE
    if array.flags.writeable:
        array[1] = 8
        assert view.tolist() == [[7, 7, 7], [8, 8, 8], [9, 10, 11]]


def test_a_copy_for_the_host(device, mode):
    view = iota(device, mode, 3)
    exported = managed_of(view.__dlpack__(copy=True, **CPU))

    assert exported.flags == IS_COPIED and exported.dl_tensor.device_type == 1
    assert exported.dl_tensor.data != view.get_address()
    copy = Mtl.from_dlpack(view, device=(1, 0), copy=True)
    copy[...] = 7
    assert view.tolist() == [0, 1, 2]


# Memory that it does not


def test_private_goes_to_the_host_as_a_copy(device):
    view = iota(device, Mtl.StorageMode.PRIVATE, 2, 3)
    exported = managed_of(view.__dlpack__(**CPU))

    assert exported.flags == IS_COPIED and exported.dl_tensor.device_type == 1
    array = from_dlpack(view)
    view[...] = 7
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    view[...] = tensor(device, Mtl.StorageMode.SHARED, array)
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError, match="copy") as info:
        view.__dlpack__(copy=False, **CPU)
    assert error_code(info) == Mtl.Error.NEEDS_COPY


@pytest.mark.parametrize("call", [
    lambda view: view[0, 0], lambda view: view.item(1, 2), lambda view: view[0].__getitem__(0),
    lambda view: view.__setitem__((0, 0), 1), lambda view: view.get_double([0, 0]),
    lambda view: view.set_int64([0, 0], 1), lambda view: float(view[0, :1]),
    lambda view: list(view[0]), lambda view: view.get_bytes(),
    lambda view: view.get_buffer().get_bytes(0, 4),
])
def test_elements_of_private_memory_are_out_of_reach(device, call):
    view = iota(device, Mtl.StorageMode.PRIVATE, 2, 3)

    with pytest.raises(BufferError, match=says("(8, 0)")) as info:
        call(view)
    assert error_code(info) == Mtl.Error.NOT_HOST_ACCESSIBLE
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("call", [memoryview, np.asarray, bytearray,
                                  lambda view: memoryview(view.get_buffer())])
def test_private_memory_has_no_buffer_protocol(device, call):
    with pytest.raises(BufferError):
        call(iota(device, Mtl.StorageMode.PRIVATE, 2, 3))


def test_what_copies_reads_private_memory(device):
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    view = tensor(device, Mtl.StorageMode.PRIVATE, array)[:, ::-1]

    assert view.get_address() == 0 and not view.is_host_accessible()
    assert view.tolist() == array[:, ::-1].tolist()
    assert bytes(view) == view.dup_bytes().get_data() == array[:, ::-1].tobytes()
    assert bytes(view.get_buffer()) == array.tobytes()
    assert str(view) == str(array[:, ::-1])
    assert view.array_equal(Mtl.asview(array[:, ::-1]))
    many = Mtl.StridedView.new_zeros(HOST, Mtl.DType.INT8, [1001]).to_device(
        device, Mtl.StorageMode.PRIVATE)
    assert str(many) != str(elements(many)) and "1001" in str(many)


# DLPack


def test_exports_are_the_buffer_and_an_offset(device, mode):
    view = iota(device, mode, 4, 5)
    whole = tensor_of(view)

    assert (whole.device_type, whole.device_id) == (
        METAL_TYPE, device.get_ordinal()) == view.__dlpack_device__()
    assert whole.data not in (None, view.get_address()) and whole.byte_offset == 0
    for part, offset in ((view[1:3, 2:], 28), (view[3, 4:], 76), (view.T[2:], 8)):
        exported = tensor_of(part)
        assert (exported.data, exported.byte_offset) == (whole.data, offset)
        assert dims(exported.shape, part.ndim) == part.shape
        assert dims(exported.strides, part.ndim) == part.strides


@pytest.mark.parametrize("keywords", [
    {}, V1, {"stream": None}, {"stream": -1}, {**V1, "copy": False}, {**V1, "copy": True},
    {**V1, "dl_device": None},
])
def test_round_trips(device, mode, keywords):
    view = iota(device, mode, 4, 5)[1:, ::2]
    capsule = view.__dlpack__(**keywords)
    assert capsule_name(capsule) == (VERSIONED if "max_version" in keywords else LEGACY)
    other = Mtl.from_dlpack(capsule)

    assert other.get_device() is device and mode_of(other) == mode
    assert other.tolist() == view.tolist()
    other[1:] = -1
    assert (view.tolist() == other.tolist()) == (not keywords.get("copy"))
    assert len(other.get_buffer()) >= other.nbytes and other.get_buffer().is_size_known()


def test_streams_are_refused(device):
    for stream in (0, 1, 2**70):
        with pytest.raises(BufferError, match="stream"):
            iota(device, Mtl.StorageMode.SHARED, 3).__dlpack__(stream=stream)


def test_negative_strides_go_out_as_a_copy_on_the_device(device, mode):
    view = iota(device, mode, 3, 4).flip(0)
    exported = managed_of(view.__dlpack__(**V1))

    assert exported.flags == IS_COPIED and exported.dl_tensor.device_type == METAL_TYPE
    other = Mtl.from_dlpack(view.__dlpack__(**V1))
    assert other.tolist() == view.tolist() and mode_of(other) == mode
    with pytest.raises(BufferError, match=says("(-4, 1)")):
        view.__dlpack__(copy=False, **V1)


def test_read_only(device, mode):
    view = iota(device, mode, 3).as_read_only()

    assert Mtl.from_dlpack(view, copy=False).is_read_only()
    assert managed_of(view.__dlpack__(copy=False, **V1)).flags == IS_READ_ONLY
    # A consumer on Metal may write to what it gets.
    assert managed_of(view.__dlpack__(**V1)).flags == IS_COPIED
    with pytest.raises(BufferError, match="legacy"):
        view.__dlpack__()
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 1


def test_host_memory_goes_to_the_device_as_a_copy(device):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    pair = METAL_TYPE, device.get_ordinal()

    for wanted in (pair, device):
        view = Mtl.from_dlpack(Mtl.asview(array)[:, ::2], device=wanted)
        assert view.__dlpack_device__() == pair and mode_of(view) == Mtl.StorageMode.SHARED
        assert view.tolist() == array[:, ::2].tolist()
        view[...] = 9
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError, match="copy"):
        Mtl.from_dlpack(Mtl.asview(array), device=device, copy=False)


def test_views_outlive_what_they_were_made_of(device, mode):
    other = Mtl.from_dlpack(iota(device, mode, 1000)[990:].__dlpack__(**V1))
    junk = [iota(device, mode, 1000) for _ in range(10)]

    assert other.tolist() == list(range(990, 1000)) and len(junk) == 10


def test_a_deleter_on_a_foreign_thread(device, mode):
    # A thread that Python does not know, and that has no autorelease pool.
    libc = ctypes.PyDLL(None)
    thread = ctypes.c_ulong()
    create, join = libc.pthread_create, libc.pthread_join
    create.argtypes = [ctypes.c_void_p] * 4
    join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]

    for keywords in (V1, CPU):
        capsule = iota(device, mode, 1000).__dlpack__(**keywords)
        managed = managed_of(capsule)
        api.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
        assert create(ctypes.addressof(thread), None, managed.deleter,
                      ctypes.addressof(managed)) == 0
        assert join(thread, None) == 0


# Copies


@pytest.mark.parametrize("target", MODES, ids=nick)
def test_between_storage_modes(device, mode, target, rng):
    array = np.array([rng.randrange(256) for _ in range(7 * 9)], np.uint8).reshape(7, 9)
    source = tensor(device, mode, array)

    for key in (..., (slice(1, 6), slice(1, 8)), (slice(None, None, -2), slice(3, None, 3)),
                (3, slice(1, 2)), (slice(0, 0),)):
        moved = source[key].to_device(device, target)
        assert mode_of(moved) == target and moved.tolist() == array[key].tolist()
        into = tensor(device, target, np.zeros_like(array))
        expected = np.zeros_like(array)
        expected[key] = array[key]
        assert into[key].copy_from(source[key]) and into.tolist() == expected.tolist()


def test_bytes_of_private_buffers_at_odd_places(device, rng):
    buffer = Mtl.Buffer.new(device, 23, Mtl.StorageMode.PRIVATE)
    expected = bytearray(23)

    for offset, size in itertools.product(range(9), range(9)):
        data = bytes(rng.randrange(256) for _ in range(size))
        assert buffer.set_bytes(offset, GLib.Bytes.new(data))
        expected[offset:offset + size] = data
        assert bytes(buffer) == expected
        assert buffer.copy_from(offset + 5, buffer, offset, size)
        expected[offset + 5:offset + 5 + size] = expected[offset:offset + size]
        assert (buffer.dup_bytes(offset, size + 5).get_data() or b"") == expected[
            offset:offset + size + 5]
        assert buffer.fill(offset, 4 * size % 12, GLib.Bytes.new(b"abcd"))
        expected[offset:offset + 4 * size % 12] = b"abcd" * (4 * size % 12 // 4)
        assert bytes(buffer) == expected


def test_conversions_are_made_where_the_memory_is(device, mode):
    view = iota(device, mode, 2, 3)
    narrow = view.to_dtype(Mtl.DType.INT8)

    assert narrow.get_device() is device and mode_of(narrow) == mode
    assert narrow.tolist() == view.tolist() and view.copy().get_device() is device
    narrow.fill_double(3)
    assert narrow.all_close(Mtl.asview([[3.0] * 3] * 2), 0, 0)


def test_managed_memory_is_reported(device, reached_mode):
    buffer = Mtl.Buffer.new(device, 64, reached_mode)
    np.asarray(buffer)[:] = range(64)
    buffer.did_modify(0, 64)

    copy = Mtl.Buffer.new(device, 64, Mtl.StorageMode.PRIVATE)
    assert copy.copy_from(0, buffer, 0, 64) and bytes(copy) == bytes(range(64))
    assert buffer.synchronize() and bytes(buffer) == bytes(range(64))


# Memory that is there already


def test_bytes_are_used_in_place_where_they_begin_on_a_page(device):
    size = 3 * device.get_page_size()
    shared = Mtl.Buffer.new(device, size, Mtl.StorageMode.SHARED)
    never = Mtl.BufferFlags.NEVER_COPY
    aligned = shared.get_bytes(0, size)
    in_place = Mtl.Buffer.new_from_bytes(aligned, device, never)

    assert np.asarray(in_place).ctypes.data == np.asarray(shared).ctypes.data
    assert in_place.is_read_only() and in_place.get_device() is device
    np.asarray(shared)[5] = 9
    assert bytes(in_place)[:6] == b"\0\0\0\0\0\t"

    begun = shared.get_bytes(0, size - 100)  # the last page in part
    assert len(Mtl.Buffer.new_from_bytes(begun, device, never)) == size - 100

    askew = shared.get_bytes(64, 100)
    with pytest.raises(ValueError, match="page") as info:
        Mtl.Buffer.new_from_bytes(askew, device, never)
    assert error_code(info) == Mtl.Error.NEEDS_COPY
    copied = Mtl.Buffer.new_from_bytes(askew, device)
    assert bytes(copied) == bytes(100)
    assert np.asarray(copied).ctypes.data != np.asarray(shared).ctypes.data + 64


# Threads


def test_many_threads(device, mode):
    shared = iota(device, mode, 8, 8)
    expected = shared[1:, ::2].tolist()
    failures = []

    def work(number):
        event = Mtl.Event.new(device)
        for i in range(100):
            own = tensor(device, mode, np.full((4, 4), number, np.int32))
            own[1:, 1:] = i
            total = sum(map(sum, Mtl.from_dlpack(own[1:, ::2]).tolist()))
            event.signal(i)
            if (total, shared[1:, ::2].tolist()) != (3 * number + 3 * i, expected):
                failures.append((number, i, total))
            if not (event.wait(i, 0, None) and device.synchronize(None)):
                failures.append((number, i, "event"))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_mpi_would_not_reach_private_memory(device):
    view = tensor(device, Mtl.StorageMode.PRIVATE, [1, 2])

    with pytest.raises(BufferError, match="host"):
        Mtl.mpi_datatype(view)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Memory of CUDA from Python, over NVIDIA's driver or the double of it."""

import asyncio
import ctypes
import itertools
import pickle
import re
import threading

import numpy as np
import pytest
from gi.repository import Gio, GLib, GObject, Mtl

import cuda_driver as cuda
from conftest import HOST, NUMPY_SAYS_WRITABLE, error_code, from_dlpack
from dlpack_structs import LEGACY, VERSIONED, Producer, api, capsule_name, dims, floats, managed_of
from says import says

CPU, CUDA, PINNED, MANAGED = (1, 0), (2, 0), (3, 0), (13, 0)
IS_READ_ONLY, IS_COPIED = 1, 2
V1 = {"max_version": (1, 0)}
MODES = [Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED, Mtl.StorageMode.PRIVATE]
REACHED = MODES[:2]
PLACES = {Mtl.StorageMode.SHARED: PINNED, Mtl.StorageMode.MANAGED: MANAGED,
          Mtl.StorageMode.PRIVATE: CUDA}
GPUS = cuda.gpus()
GPU = GPUS[0]
SECOND = pytest.param((2, 1), marks=cuda.two_gpus)


def nick(mode):
    return mode.value_nick


@pytest.fixture(params=MODES, ids=nick)
def mode(request):
    return request.param


@pytest.fixture(params=REACHED, ids=nick)
def reached_mode(request):
    return request.param


def tensor(mode, array, device=GPU):
    return Mtl.asview(array).to_device(device, mode)


def iota(mode, *shape, dtype="float32", device=GPU):
    return tensor(mode, np.arange(np.prod(shape)).astype(dtype).reshape(shape), device)


def mode_of(view):
    return view.get_buffer().get_storage_mode()


def tensor_of(view, **keywords):
    return managed_of(view.__dlpack__(**{**V1, **keywords})).dl_tensor


def place_of(exported):
    return exported.device_type, exported.device_id


# Devices


@pytest.mark.parametrize("device", GPUS)
def test_describes_itself(device):
    assert device.get_device_type() == Mtl.DeviceType.CUDA
    assert device.get_name() == device.props.name != ""
    assert re.fullmatch("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", device.get_uuid())
    assert device.props.uuid == device.get_uuid()
    assert device.get_memory_size() == device.props.memory_size >= 2**28
    assert device.get_max_buffer_size() >= 2**40 and device.get_page_size() == 4096
    assert not device.is_host_accessible()
    assert [mode for mode in Mtl.StorageMode.__enum_values__.values()
            if mode != Mtl.StorageMode.DEFAULT and device.supports_storage_mode(mode)] == MODES
    assert device in Mtl.Device.list()


def test_each_gpu_has_a_uuid():
    assert [gpu.get_ordinal() for gpu in GPUS] == list(range(len(GPUS)))
    assert len({gpu.get_uuid() for gpu in GPUS}) == len(GPUS)


@pytest.mark.parametrize("kind, mode", [(Mtl.DeviceType.CUDA_HOST, Mtl.StorageMode.SHARED),
                                        (Mtl.DeviceType.CUDA_MANAGED, Mtl.StorageMode.MANAGED)])
def test_devices_of_one_kind_of_memory(kind, mode):
    device = Mtl.Device.get(kind, 0)

    assert device.is_host_accessible() and device.get_uuid() is None
    assert [each for each in MODES if device.supports_storage_mode(each)] == [mode]
    view = Mtl.StridedView.new_zeros(device, "int16", 3)
    assert view.__dlpack_device__() == PLACES[mode] and mode_of(view) == mode
    assert view.get_device() is device
    view[1] = 7
    assert view.to_device(GPU, "private").tolist() == [0, 7, 0]
    with pytest.raises(NotImplementedError, match=says(f"({kind.real}, 1)")):
        Mtl.Device.get(kind, 1)


def test_names_of_devices():
    assert Mtl.zeros(2, device="cuda").get_device() is GPU
    last = f"cuda:{len(GPUS) - 1}"
    assert Mtl.ones((2, 3), device=last).get_device() is GPUS[-1]
    assert Mtl.array([1, 2]).to_device(last).tolist() == [1, 2]
    for name, mode in (("cuda-host", Mtl.StorageMode.SHARED),
                       ("cuda-managed:0", Mtl.StorageMode.MANAGED)):
        view = Mtl.zeros(2, device=name)
        assert mode_of(view) == mode and view.__dlpack_device__() == PLACES[mode]
    assert Mtl.from_dlpack(Mtl.ones(2, device="host"), device="cuda").device is GPU
    assert Mtl.asstream(Mtl.Stream.new(GPU).get_handle(), "cuda:0").get_device() is GPU
    with pytest.raises(NotImplementedError, match=says("(2, 99)")) as info:
        Mtl.zeros(2, device="cuda:99")
    assert error_code(info) == Mtl.Error.NOT_SUPPORTED
    for name in ("cuda0", "cuda:", "cuda:-1", "cuda:x", "gpu", "CUDA", "cuda_host"):
        with pytest.raises(ValueError, match=says(name)):
            Mtl.zeros(2, device=name)
    with pytest.raises(TypeError, match="name"):
        Mtl.zeros(2, device=1.5)


def test_new_tensors_have_the_storage_mode(mode):
    View = Mtl.StridedView
    for view in (View.new_zeros(GPU, "int8", 3, mode), View.new_uninitialized(GPU, "int8", 3, mode),
                 View.new_filled(GPU, "int8", 3, -5, storage_mode=mode),
                 View.new_arange(GPU, "int8", 0, 1, storage_mode=mode),
                 View.new_arange_int64(GPU, "float16", 7, 5, -1, mode)):
        assert view.get_device() is GPU and mode_of(view) == mode
        assert view.__dlpack_device__() == PLACES[mode]
        assert view.get_address() != 0
    assert view.tolist() == [7, 6]
    assert View.new_filled(GPU, "int8", 3, -5, mode).tolist() == [-5, -5, -5]
    assert View.new_zeros(GPU, "int64", (2, 2), mode).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(NotImplementedError, match=says("host")):
        View.new_zeros(GPU, "int8", 3, "host")


def test_the_default_mode_is_private():
    assert mode_of(Mtl.zeros(3, device=GPU)) == Mtl.StorageMode.PRIVATE
    assert mode_of(Mtl.asview([1]).to_device(GPU)) == Mtl.StorageMode.PRIVATE


def test_more_than_there_is(mode):
    with pytest.raises(MemoryError, match=says(2**60)) as info:
        Mtl.Buffer.new(GPU, 2**60, mode)
    assert error_code(info) == Mtl.Error.NO_MEMORY


# Memory that the host reaches


def test_reached_memory_is_written_through(reached_mode):
    view = iota(reached_mode, 2, 3)

    np.asarray(view)[0] = [7, 8, 9]
    memoryview(view)[1, 1] = 5
    view[1, 0] = 4
    assert view.tolist() == [[7, 8, 9], [4, 5, 5]] and view[1, 2] == 5
    assert view.get_bytes().get_data() == np.asarray(view).tobytes()
    assert np.asarray(view).ctypes.data == view.get_address()
    assert view.get_address() % 64 == 0
    assert view.to_device(GPU, "private").tolist() == [[7, 8, 9], [4, 5, 5]]


@pytest.mark.parametrize("call", [
    lambda view: view[0, 0], lambda view: view.item(1, 2),
    lambda view: view.__setitem__((0, 0), 1), lambda view: view.get_double([0, 0]),
    lambda view: view.set_int64([0, 0], 1), lambda view: float(view[0, :1]),
    lambda view: list(view[0]), lambda view: view.get_bytes(),
    lambda view: view.get_buffer().get_bytes(0, 4),
])
def test_elements_of_private_memory_are_out_of_reach(call):
    view = iota(Mtl.StorageMode.PRIVATE, 2, 3)

    with pytest.raises(BufferError, match=says("(2, 0)")) as info:
        call(view)
    assert error_code(info) == Mtl.Error.NOT_HOST_ACCESSIBLE
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("call", [memoryview, np.asarray, bytearray,
                                  lambda view: memoryview(view.get_buffer())])
def test_private_memory_has_no_buffer_protocol(call):
    with pytest.raises(BufferError):
        call(iota(Mtl.StorageMode.PRIVATE, 2, 3))


def test_what_copies_reads_private_memory():
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    view = tensor(Mtl.StorageMode.PRIVATE, array)[:, ::-1]

    assert not view.is_host_accessible()
    assert view.tolist() == array[:, ::-1].tolist()
    assert bytes(view) == view.dup_bytes().get_data() == array[:, ::-1].tobytes()
    assert str(view) == str(array[:, ::-1])
    assert view.array_equal(Mtl.asview(array[:, ::-1]))
    assert not view.array_equal(Mtl.asview(array))


# Copies, crops, fills and conversions


@pytest.mark.parametrize("target", [*MODES, Mtl.StorageMode.HOST], ids=nick)
def test_between_storage_modes(mode, target, rng):
    array = np.array([rng.randrange(256) for _ in range(7 * 9)], np.uint8).reshape(7, 9)
    source = tensor(mode, array)
    device = HOST if target == Mtl.StorageMode.HOST else GPU

    for key in (..., (slice(1, 6), slice(1, 8)), (slice(None, None, -2), slice(3, None, 3)),
                (3, slice(1, 2)), (slice(0, 0),)):
        moved = source[key].to_device(device, target)
        assert mode_of(moved) == target and moved.tolist() == array[key].tolist()
        into = tensor(target, np.zeros_like(array), device)
        expected = np.zeros_like(array)
        expected[key] = array[key]
        assert into[key].copy_from(source[key]) and into.tolist() == expected.tolist()


@cuda.two_gpus
def test_from_one_gpu_to_another(mode):
    view = iota(mode, 4, 5)[1:, ::2].to_device(GPUS[1], Mtl.StorageMode.PRIVATE)

    assert view.__dlpack_device__() == (2, 1)
    assert view.tolist() == [[5, 7, 9], [10, 12, 14], [15, 17, 19]]
    back = view.to_device(GPU, mode)
    assert mode_of(back) == mode and back.tolist() == view.tolist()


def random_slices(rng, shape):
    keys = []
    for extent in shape:
        start, stop = sorted(rng.sample(range(extent + 1), 2))
        step = rng.choice([1, 1, 2, 3])
        keys.append(slice(start, stop, step) if rng.random() < 0.7
                    else slice(stop - 1, None if start == 0 else start - 1, -step))
    return tuple(keys)


TYPES = ["uint8", "int16", "float16", "int32", "float32", "int64", "float64", "complex64"]


def test_random_crops_and_conversions(rng, mode):
    """Against NumPy, by which the values fit both types."""
    for case in range(150):
        shape = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 5))]
        source_type, target_type = rng.choice(TYPES), rng.choice(TYPES)
        if source_type == "complex64":
            target_type = source_type
        n = int(np.prod(shape))
        array = np.array([rng.randrange(100) for _ in range(n)], source_type).reshape(shape)
        key, axes = random_slices(rng, shape), rng.sample(range(len(shape)), len(shape))
        expected = array[key].transpose(axes).astype(target_type)
        view = tensor(mode, array)[key].transpose(axes)

        result = view.astype(target_type)
        assert mode_of(result) == mode and result.get_device() is GPU
        assert np.array_equal(result.tolist(), expected), (case, shape, key, axes)
        into = tensor(mode, np.zeros(array.shape, target_type))
        into[key].transpose(axes)[...] = view
        whole = np.zeros(array.shape, target_type)
        whole[key] = array[key].astype(target_type)
        assert np.array_equal(into.tolist(), whole), (case, shape, key, axes)
        value = rng.randrange(100)
        into[key].fill(value)
        whole[key] = value
        assert np.array_equal(into.tolist(), whole), (case, shape, key)


def test_conversions_are_made_where_the_memory_is(mode):
    view = iota(mode, 2, 3)
    narrow = view.to_dtype(Mtl.DType.INT8)

    assert narrow.get_device() is GPU and mode_of(narrow) == mode
    assert narrow.tolist() == view.tolist() and view.copy().get_device() is GPU
    narrow.fill_double(3)
    assert narrow.all_close(Mtl.asview([[3.0] * 3] * 2), 0, 0)
    statistics = view.compute_statistics(None)
    assert (statistics.get_minimum(), statistics.get_maximum(), statistics.get_mean()) == (0, 5, 2.5)


def test_bytes_at_odd_places(mode, rng):
    buffer = Mtl.Buffer.new(GPU, 23, mode)
    expected = bytearray(23)

    for offset, size in itertools.product(range(0, 9, 2), range(9)):
        data = bytes(rng.randrange(256) for _ in range(size))
        assert buffer.set_bytes(offset, GLib.Bytes.new(data))
        expected[offset:offset + size] = data
        assert buffer.copy_from(offset + 5, buffer, offset, size)
        expected[offset + 5:offset + 5 + size] = expected[offset:offset + size]
        assert buffer.fill(offset, 4 * size % 12, GLib.Bytes.new(b"abcd"))
        expected[offset:offset + 4 * size % 12] = b"abcd" * (4 * size % 12 // 4)
        assert bytes(buffer) == expected


def test_in_the_background(mode):
    async def work():
        view = iota(mode, 50, 40)
        narrow = await view.T.to_dtype_async("int16", "K")
        target = Mtl.zeros((40, 50), "int32", device=GPU)
        assert await target.copy_from_async(narrow)
        return target

    assert np.array_equal(asyncio.run(work()).tolist(), np.arange(2000).reshape(50, 40).T)


# DLPack


@pytest.mark.parametrize("keywords", [
    {}, V1, {"stream": None}, {"stream": -1}, {**V1, "copy": False}, {**V1, "copy": True},
    {**V1, "dl_device": None}, {"stream": 1}, {**V1, "stream": 2},
])
def test_round_trips(mode, keywords):
    view = iota(mode, 4, 5)[1:, ::2]
    capsule = view.__dlpack__(**keywords)
    assert capsule_name(capsule) == (VERSIONED if "max_version" in keywords else LEGACY)
    other = Mtl.from_dlpack(capsule)

    assert other.get_device() is GPU and mode_of(other) == mode
    assert other.tolist() == view.tolist()
    other[1:] = -1
    assert (view.tolist() == other.tolist()) == (not keywords.get("copy"))
    assert other.get_buffer().is_size_known()


def test_exports_are_addresses(mode):
    view = iota(mode, 4, 5)

    for part, offset in ((view, 0), (view[1:3, 2:], 28), (view[3, 4:], 76), (view.T[2:], 8)):
        exported = tensor_of(part)
        assert place_of(exported) == PLACES[mode] == view.__dlpack_device__()
        assert (exported.data, exported.byte_offset) == (view.get_address() + offset, 0)
        assert dims(exported.shape, part.ndim) == part.shape
        assert dims(exported.strides, part.ndim) == part.strides


ALLOWED = [None, -1, 1, 2]
REFUSED = [0, -2, -2**63, 2**64, 10**5000]


@pytest.mark.parametrize("keywords", [{}, {"dl_device": CUDA}, {"dl_device": CPU}],
                         ids=["own", "cuda", "cpu"])
def test_streams_of_the_array_api(mode, keywords):
    view = iota(mode, 3)
    stream = Mtl.Stream.new(GPU)

    for value in [*ALLOWED, stream.get_handle(), Mtl.Stream.new_for_device(GPU).get_handle()]:
        capsule = view.__dlpack__(stream=value, **V1, **keywords)
        assert Mtl.from_dlpack(capsule).tolist() == [0, 1, 2]
    for value in REFUSED:
        with pytest.raises(BufferError, match="stream"):
            view.__dlpack__(stream=value, **V1, **keywords)
    for value in ("1", 1.0, object()):
        with pytest.raises(TypeError, match="stream"):
            view.__dlpack__(stream=value, **V1, **keywords)
    assert stream.synchronize()


def test_copies_keep_the_storage_mode(mode):
    copy = Mtl.from_dlpack(iota(mode, 3), copy=True)
    assert mode_of(copy) == mode and copy.__dlpack_device__() == PLACES[mode]


def test_negative_strides_go_out_as_a_copy_on_the_device(mode):
    view = iota(mode, 3, 4).flip(0)
    exported = managed_of(view.__dlpack__(**V1))

    assert exported.flags == IS_COPIED and place_of(exported.dl_tensor) == PLACES[mode]
    other = Mtl.from_dlpack(view.__dlpack__(**V1))
    assert other.tolist() == view.tolist() and mode_of(other) == mode
    with pytest.raises(BufferError, match=says("(-4, 1)")):
        view.__dlpack__(copy=False, **V1)


def test_read_only(mode):
    view = iota(mode, 3).as_read_only()

    assert Mtl.from_dlpack(view).is_read_only()
    assert managed_of(view.__dlpack__(**V1)).flags == IS_READ_ONLY
    with pytest.raises(BufferError, match="legacy"):
        view.__dlpack__()
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 1


def test_the_hosts_arrays_take_reached_memory(reached_mode):
    view = iota(reached_mode, 4, 3)[1:]

    array = from_dlpack(view)
    assert array.ctypes.data == view.get_address()
    view[0] = 7
    assert array.tolist() == [[7, 7, 7], [6, 7, 8], [9, 10, 11]]
    assert array.flags.writeable == NUMPY_SAYS_WRITABLE


def test_host_memory_comes_to_a_gpu_as_a_copy():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)

    for wanted in (CUDA, *GPUS):
        view = Mtl.from_dlpack(Mtl.asview(array)[:, ::2], device=wanted)
        assert view.__dlpack_device__() == (2, GPUS.index(wanted) if wanted in GPUS else 0)
        assert mode_of(view) == Mtl.StorageMode.PRIVATE
        assert view.tolist() == array[:, ::2].tolist()
        view[...] = 9
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError, match="copy"):
        Mtl.from_dlpack(Mtl.asview(array), device=GPU, copy=False)


@pytest.mark.parametrize("said", [CUDA, PINNED, MANAGED, SECOND], ids=str)
def test_the_driver_says_which_memory_comes_in(mode, said):
    """Whatever the producer says."""
    view = iota(mode, 4)
    producer = Producer(view.get_address(), (3,), device=said)
    other = Mtl.from_dlpack(producer.capsule())

    assert other.__dlpack_device__() == PLACES[mode] and mode_of(other) == mode
    assert other.is_host_accessible() == (mode != Mtl.StorageMode.PRIVATE)
    assert other.tolist() == [0, 1, 2] and other.get_address() == view.get_address()
    del other
    GPU.synchronize(None)
    assert producer.deleted == 1


def test_memory_that_is_not_cudas():
    producer = Producer(floats(1, 2, 3), (3,), device=CUDA)

    with pytest.raises(BufferError, match=says(12)) as info:
        Mtl.from_dlpack(producer.capsule())
    assert error_code(info) == Mtl.Error.INVALID_DATA and producer.deleted == 1


def test_tensors_that_reach_beyond_their_memory(mode):
    view = iota(mode, 4)
    producer = Producer(view.get_address(), (2**20,), device=CUDA)

    with pytest.raises(BufferError, match=says(2**22)) as info:
        Mtl.from_dlpack(producer.capsule())
    assert error_code(info) == Mtl.Error.INVALID_DATA and producer.deleted == 1


@pytest.mark.parametrize("place", [CUDA, PINNED, MANAGED, SECOND], ids=str)
def test_no_elements(place):
    view = Mtl.from_dlpack(Producer(None, (0, 3), device=place).capsule())

    assert view.__dlpack_device__() == place and view.tolist() == []
    assert view.copy().shape == (0, 3)
    with pytest.raises(BufferError, match=says("(2, 77)")):
        Mtl.from_dlpack(Producer(None, (0, 3), device=(2, 77)).capsule())


def test_views_outlive_what_they_were_made_of(mode):
    other = Mtl.from_dlpack(iota(mode, 1000)[990:].__dlpack__(**V1))
    junk = [iota(mode, 1000) for _ in range(10)]

    assert other.tolist() == list(range(990, 1000)) and len(junk) == 10


def test_a_deleter_on_a_foreign_thread(mode):
    libc = ctypes.PyDLL(None)
    thread = ctypes.c_ulong()
    libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]

    capsule = iota(mode, 1000).__dlpack__(**V1)
    managed = managed_of(capsule)
    api.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
    assert libc.pthread_create(ctypes.addressof(thread), None, managed.deleter,
                               ctypes.addressof(managed)) == 0
    assert libc.pthread_join(thread, None) == 0


# Streams and events


def test_a_stream_describes_itself():
    for device in GPUS:
        own, new = Mtl.Stream.new_for_device(device), Mtl.Stream.new(device)
        assert own.get_device() is own.props.device is new.get_device() is device
        assert own.get_handle() == own.props.handle != new.get_handle() > 2
        assert Mtl.Stream.new_for_device(device).get_handle() == own.get_handle()
        same = Mtl.Stream.new_for_handle(new.get_handle(), device)
        assert same.get_handle() == new.get_handle()
        assert f"{new.get_handle():#x}" in repr(same)
        assert same.__cuda_stream__() == (0, new.get_handle())
    assert Mtl.Stream.new_for_handle(1, GPU).get_handle() == 1
    assert Mtl.Stream.new_for_handle(2, GPU).get_handle() == 2


def test_what_is_not_a_stream():
    with pytest.raises(ValueError, match=says(0)) as info:
        Mtl.Stream.new_for_handle(0, GPU)
    assert error_code(info) == Mtl.Error.INVALID_ARGUMENT
    for of_another in map(Mtl.Stream.new, GPUS[1:]):
        with pytest.raises(ValueError, match=says(f"{of_another.get_handle():#x}", "(2, 0)")):
            Mtl.Stream.new_for_handle(of_another.get_handle(), GPU)
    for make in (Mtl.Stream.new, Mtl.Stream.new_for_device,
                 lambda device: Mtl.Stream.new_for_handle(1, device)):
        with pytest.raises(NotImplementedError) as info:
            make(HOST)
        assert error_code(info) == Mtl.Error.NOT_SUPPORTED
    with pytest.raises(AttributeError, match="CUDA"):
        GObject.new(Mtl.Stream).__cuda_stream__()  # not initialized, so the host's
    assert Mtl.Stream(device=GPU).get_device() is GPU
    with pytest.raises(NotImplementedError):
        Mtl.Stream(device=HOST)
    with pytest.raises(TypeError, match="Stream"):
        pickle.dumps(Mtl.Stream.new(GPU))


def test_work_in_a_stream(mode):
    stream = Mtl.Stream.new(GPU)
    view = iota(mode, 4, 6)

    with stream as entered:
        assert entered is stream
        narrow = view.T[::2].astype("int16")
        narrow[0] = 7
    assert stream.synchronize() and stream.synchronize(None)
    assert narrow.tolist() == [[7] * 4, [2, 8, 14, 20], [4, 10, 16, 22]]
    stream.push_thread_default()
    narrow.fill_double(1)
    stream.pop_thread_default()
    assert narrow.tolist() == [[1] * 4] * 3


def test_numbers_of_whole_tensors(mode):
    """Those of Private memory are copied, also in a stream of the program's."""
    view = tensor(mode, np.zeros((4, 6), np.float16))
    part, numbers = view[::-2, 1::2], [1, 2.5, -3, 4, 5, 6]

    assert part.set_doubles(numbers)
    assert part.get_doubles() == numbers
    with Mtl.Stream.new(GPU):
        part[0] = 7
        assert part.get_doubles() == [7, 7, 7, *numbers[3:]]
        assert part.set_int64s(range(6))
    assert view.get_int64s() == [0] * 6 + [0, 3, 0, 4, 0, 5] + [0] * 6 + [0, 0, 0, 1, 0, 2]


def test_streams_may_be_nested():
    outer, inner = Mtl.Stream.new(GPU), Mtl.Stream.new(GPU)
    view = Mtl.zeros(1000, "int32", device=GPU)

    with outer:
        view[...] = 1
        with inner:
            view[::2] = 2
        with pytest.raises(RuntimeError):
            with Mtl.Stream.new(GPUS[-1]):
                view[1::4] = 3
                raise RuntimeError
        view[:1] = 4
    assert view[:6].tolist() == [4, 3, 2, 1, 2, 3]


def test_streams_wait_for_each_other():
    first, second = Mtl.Stream.new(GPU), Mtl.Stream.new(GPUS[-1])

    assert first.wait_stream(second) and second.wait_stream(first) and first.wait_stream(first)
    assert first.synchronize() and second.synchronize()


def test_awaiting_a_stream():
    stream = Mtl.Stream.new(GPU)

    async def work():
        with stream:
            view = Mtl.ones(5, "int8", device=GPU)
        assert await stream.synchronize_async()
        return view

    assert asyncio.run(work()).tolist() == [1] * 5
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    with pytest.raises(GLib.Error) as info:
        stream.synchronize(cancellable)
    assert info.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)


def test_finishing_a_wait_by_hand():
    stream, loop, results = Mtl.Stream.new(GPU), GLib.MainLoop(), []

    def done(source, result):
        results.append(source.synchronize_finish(result))
        loop.quit()

    stream.synchronize_async(None, done)
    loop.run()
    assert results == [True]


class WithProtocol:
    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream.get_handle()


class LikeTorch:
    def __init__(self, stream, index=0):
        self.cuda_stream = stream if isinstance(stream, int) else stream.get_handle()
        self.device = type("device", (), {"type": "cuda", "index": index})()


class ProtocolOfTorch(LikeTorch):
    def __cuda_stream__(self):
        return 0, self.cuda_stream


class LikeCuPy:
    def __init__(self, stream):
        self.owner = stream
        self.ptr = stream if isinstance(stream, int) else stream.get_handle()


@pytest.mark.parametrize("kind", [WithProtocol, LikeTorch, LikeCuPy, Mtl.Stream.get_handle,
                                  lambda stream: stream])
def test_streams_of_other_libraries(kind):
    stream = Mtl.Stream.new(GPU)
    theirs = kind(stream)

    with Mtl.asstream(theirs) as taken:
        view = Mtl.full(3, 4, "int8", device=GPU)
    assert taken.get_handle() == stream.get_handle() and taken.get_device() is GPU
    assert view.tolist() == [4, 4, 4]


def test_default_streams_of_other_libraries():
    """PyTorch and CuPy have 0 for the legacy stream, which has a handle of its own."""
    kinds = (LikeTorch, LikeCuPy, ProtocolOfTorch)
    assert [Mtl.asstream(kind(0)).get_handle() for kind in kinds] == [1] * 3
    with pytest.raises(ValueError, match=says(0)):
        Mtl.asstream(0)


@cuda.two_gpus
def test_the_device_of_another_librarys_stream():
    stream = Mtl.Stream.new(GPUS[1])

    for taken in (Mtl.asstream(LikeTorch(stream, 1)), Mtl.asstream(LikeCuPy(stream), 1),
                  Mtl.asstream(stream.get_handle(), GPUS[1])):
        assert taken.get_device() is GPUS[1]
    with pytest.raises(ValueError, match=says("(2, 0)")):
        Mtl.asstream(stream.get_handle())


@pytest.mark.parametrize("x", [None, "1", object(), 1.5])
def test_other_objects_are_not_streams(x):
    with pytest.raises(TypeError):
        Mtl.asstream(x)


def test_the_stream_of_another_library_lives_as_long():
    theirs = LikeCuPy(Mtl.Stream.new(GPU))
    taken = Mtl.asstream(theirs)
    del theirs
    assert taken.owner.ptr == taken.get_handle()


def test_events():
    event, stream = Mtl.Event.new(GPU), Mtl.Stream.new(GPU)

    assert event.get_device() is GPU and event.get_signaled_value() == 0
    assert stream.signal_event(event, 5) and stream.synchronize() and event.wait(5, 0)
    assert event.get_signaled_value() == event.props.signaled_value == 5
    event.signal(3)
    assert event.get_signaled_value() == 5
    with pytest.raises(TimeoutError, match=says(6)):
        event.wait(6, 1000)
    other = Mtl.Stream.new(GPU)
    assert other.wait_event(event, 6) and other.signal_event(event, 7)
    event.signal(6)
    assert other.synchronize() and event.wait(7, 0)


def test_events_of_other_devices():
    stream = Mtl.Stream.new(GPU)

    for event in map(Mtl.Event.new, (HOST, *GPUS[1:])):
        for call in (stream.wait_event, stream.signal_event):
            with pytest.raises(NotImplementedError) as info:
                call(event, 1)
            assert error_code(info) == Mtl.Error.NOT_SUPPORTED


# Files, threads


def test_a_file_to_the_gpu(tmp_path):
    path = tmp_path / "model.safetensors"
    tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(5000, np.int16)}
    Mtl.save(path, tensors)

    with Mtl.load(path, device="cuda:0") as file:
        moved = {name: file[name].to_device(GPU, "private") for name in file}
    for name, array in tensors.items():
        assert mode_of(moved[name]) == Mtl.StorageMode.PRIVATE
        assert np.array_equal(moved[name].tolist(), array)


def test_pages_of_a_file_are_pinned_memory(tmp_path):
    path = tmp_path / "model.safetensors"
    Mtl.save(path, {"a": np.ones(3, np.int16)})

    with Mtl.load(path, device="cuda-host") as file:
        assert file["a"].__dlpack_device__() == (3, 0)
    with Mtl.load(path, device="cuda-managed") as file:
        with pytest.raises(ValueError, match=says("(3, 0)")) as info:
            file["a"]
        assert error_code(info) == Mtl.Error.NEEDS_COPY
    with Mtl.load(path, device="cuda-managed", mode="read") as file:
        assert file["a"].__dlpack_device__() == (13, 0) and file["a"].tolist() == [1, 1, 1]


def test_many_threads(mode):
    shared = iota(mode, 8, 8)
    expected = shared[1:, ::2].tolist()
    failures = []

    def work(number):
        event, stream = Mtl.Event.new(GPU), Mtl.Stream.new(GPU)
        for i in range(30):
            own = tensor(mode, np.full((4, 4), number, np.int32))
            with stream:
                own[1:, 1:] = i
            total = sum(map(sum, Mtl.from_dlpack(own[1:, ::2]).tolist()))
            event.signal(i)
            if (total, shared[1:, ::2].tolist()) != (3 * number + 3 * i, expected):
                failures.append((number, i, total))
            if not (event.wait(i, 0, None) and GPU.synchronize(None)):
                failures.append((number, i, "event"))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_mpi_would_not_reach_private_memory():
    with pytest.raises(BufferError, match="host"):
        Mtl.mpi_datatype(iota(Mtl.StorageMode.PRIVATE, 2))

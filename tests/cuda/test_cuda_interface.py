# SPDX-License-Identifier: LGPL-2.1-or-later
"""__cuda_array_interface__ in both directions:
https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html"""

import gc
import time
import weakref

import numpy as np
import pytest
from gi.repository import Mtl

import cuda_driver as cuda
from conftest import HOST
from says import says

GPU, *OTHERS = cuda.gpus()
SHARED, MANAGED, PRIVATE = (Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED,
                            Mtl.StorageMode.PRIVATE)
TYPES = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64",
         "complex128"]


@pytest.fixture(params=[SHARED, MANAGED, PRIVATE], ids=lambda mode: mode.value_nick)
def mode(request):
    return request.param


@pytest.fixture
def peer():
    peer = cuda.Peer()
    yield peer
    gc.collect()
    peer.close()


class Array:
    """Has the interface alone, as Numba's arrays do. NumPy would copy it through the host."""

    def __init__(self, shape=(4,), typestr="<f4", data=(0, False), version=3, **others):
        self.interface = {"shape": shape, "typestr": typestr, "data": data, "version": version,
                          **others}

    @property
    def __cuda_array_interface__(self):
        return self.interface

    def __array__(self, *arguments, **keywords):
        raise AssertionError("the elements were copied to the host")


def iota(mode, *shape, dtype="float32", device=GPU):
    array = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    return Mtl.asview(array).to_device(device, mode)


def own_stream(device=GPU):
    return Mtl.Stream.new_for_device(device).get_handle()


# Out


def test_the_interface_of_a_view(mode):
    view = iota(mode, 3, 4)

    assert view.__cuda_array_interface__ == {
        "version": 3, "shape": (3, 4), "typestr": "<f4", "descr": [("", "<f4")], "strides": None,
        "data": (view.get_address(), False), "stream": own_stream()}
    part = view[1:, ::2].__cuda_array_interface__
    assert (part["shape"], part["strides"]) == ((2, 2), (16, 8))
    assert part["data"] == (view.get_address() + 16, False)
    assert view[::-1].__cuda_array_interface__["strides"] == (-16, 4)
    assert view.T.__cuda_array_interface__["strides"] == (4, 16)
    assert view.as_read_only().__cuda_array_interface__["data"] == (view.get_address(), True)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_typestr_is_numpys(dtype):
    interface = iota(PRIVATE, 2, dtype=dtype).__cuda_array_interface__
    assert interface["typestr"] == np.dtype(dtype).str


def test_no_elements(mode):
    interface = iota(mode, 0, 3).__cuda_array_interface__
    assert (interface["data"], interface["shape"]) == ((0, False), (0, 3))
    assert Mtl.asview(Array((0, 3), "<i2", (0, False))).shape == (0, 3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4"])
def test_types_that_numpy_has_not(dtype):
    view = Mtl.zeros(4, dtype, device=GPU)
    with pytest.raises(AttributeError, match="__cuda_array_interface__"):
        view.__cuda_array_interface__


def test_the_hosts_memory_has_no_interface():
    assert not hasattr(Mtl.zeros(4, device=HOST), "__cuda_array_interface__")
    assert not hasattr(iota(PRIVATE, 4), "__array_interface__")


def test_a_list_of_names_is_no_export(mode):
    """The end of memory that went out waits for where it went."""
    def events_of_the_end(use):
        view = iota(mode, 4)
        use(view)
        GPU.synchronize()
        before = cuda.calls(b"cuEventRecord")
        del view
        return cuda.calls(b"cuEventRecord") - before

    assert "__cuda_array_interface__" in dir(iota(mode, 4))
    without = events_of_the_end(lambda view: None)
    assert events_of_the_end(dir) == without
    assert events_of_the_end(lambda view: view.__cuda_array_interface__) > without


@cuda.two_gpus
def test_views_of_another_gpu():
    view = iota(PRIVATE, 4, device=OTHERS[0])
    assert view.__cuda_array_interface__["stream"] == own_stream(OTHERS[0])
    assert Mtl.asview(Array(data=(view.get_address(), False))).__dlpack_device__() == (2, 1)


# In


@pytest.mark.parametrize("key", [..., slice(1, None), (slice(None), slice(None, None, 2)),
                                 (slice(None, None, -1), 1)], ids=str)
def test_round_trips(mode, key):
    view = iota(mode, 3, 4)[key]
    other = Mtl.asview(Array(**view.__cuda_array_interface__))

    assert other.get_address() == view.get_address()
    assert other.get_buffer().get_storage_mode() == mode and other.get_device() is GPU
    assert (other.shape, other.strides) == (view.shape, view.strides)
    assert other.tolist() == view.tolist()
    other.fill(7)
    assert view.tolist() == other.tolist()


@pytest.mark.parametrize("dtype", TYPES)
def test_types_come_in(dtype):
    view = iota(PRIVATE, 2, dtype=dtype)
    other = Mtl.asview(Array(**view.__cuda_array_interface__))
    assert (other.dtype, other.tolist()) == (view.dtype, view.tolist())


def test_the_interface_is_no_way_around_dlpack():
    """PyTorch's does not say that complex numbers wait to be conjugated."""
    class LikeTorch(Array):
        def __dlpack__(self, **keywords):
            raise BufferError("conjugated")

    view = iota(PRIVATE, 4, dtype="complex64")
    array = LikeTorch((4,), "<c8", (view.get_address(), False))
    with pytest.raises(BufferError, match="conjugated"):
        Mtl.asview(array)


def test_older_interfaces():
    view = iota(PRIVATE, 4)
    for version in (0, 1, 2):
        other = Mtl.asview(Array(data=(view.get_address(), False), version=version))
        assert other.tolist() == [0, 1, 2, 3]


def test_a_stream_of_none_has_nothing_to_wait_for(mode):
    view = iota(mode, 4)
    GPU.synchronize(None)
    data = view.get_address(), False
    assert Mtl.asview(Array(data=data, stream=None)).tolist() == [0, 1, 2, 3]
    assert Mtl.asview(Array(data=data, stream=1)).tolist() == [0, 1, 2, 3]
    assert Mtl.asview(Array(data=data, stream=2)).tolist() == [0, 1, 2, 3]


def test_read_only_memory():
    memory = iota(PRIVATE, 4)
    view = Mtl.asview(Array(data=(memory.get_address(), True)))
    assert view.is_read_only()
    with pytest.raises(ValueError):
        view.fill(1)


@pytest.mark.parametrize("change, values", [
    ({"mask": object()}, "mask"), ({"stream": 0}, 0), ({"stream": -1}, -1),
    ({"stream": "1"}, "str"), ({"typestr": ">f4"}, ">f4"), ({"typestr": "|V4"}, "|V4"),
    ({"typestr": 4}, "int"), ({"shape": [4]}, "shape"), ({"shape": (-4,)}, -4),
    ({"strides": (4, 4)}, 2), ({"strides": (3,)}, 3), ({"strides": [4]}, "strides"),
    ({"data": 5}, "__cuda_array_interface__"), ({"data": ("a", False)}, "str"),
    ({"data": None}, "__cuda_array_interface__"),
])
def test_what_is_refused(change, values):
    view = iota(PRIVATE, 4)
    array = Array(**{**view.__cuda_array_interface__, **change})

    with pytest.raises(BufferError, match=says("__cuda_array_interface__", values)) as info:
        Mtl.asview(array)
    assert "__array__" not in str(info.value)


@pytest.mark.parametrize("name", ["shape", "typestr", "data"])
def test_what_is_missing(name):
    view = iota(PRIVATE, 4)
    array = Array(**view.__cuda_array_interface__)
    del array.interface[name]

    with pytest.raises(BufferError, match=says(name)):
        Mtl.asview(array)


def test_memory_that_is_not_cudas():
    array = np.zeros(4, np.float32)
    with pytest.raises(BufferError, match=says(16)):
        Mtl.asview(Array(data=(array.ctypes.data, False)))


def test_arrays_that_reach_beyond_their_memory(mode):
    view = iota(mode, 4)
    for shape, strides in (((2**21,), None), ((2,), (2**24,)), ((2,), (-2**24,))):
        with pytest.raises(BufferError):
            Mtl.asview(Array(shape, data=(view.get_address(), False), strides=strides))


def test_the_owner_is_kept():
    view = iota(PRIVATE, 4)
    array = Array(**view.__cuda_array_interface__)
    owner, other = weakref.ref(array), Mtl.asview(array)
    part = other[1:]

    del array, other
    assert owner() is not None and part.tolist() == [1, 2, 3]
    del part
    GPU.synchronize(None)
    end = time.monotonic() + 20
    while owner() is not None and time.monotonic() < end:
        time.sleep(0.002)
    assert owner() is None


def test_elements_are_copied_from_the_gpu():
    view = iota(PRIVATE, 4)
    array = Array(**view.__cuda_array_interface__)

    assert Mtl.array(array, device="cpu").tolist() == [0, 1, 2, 3]
    target = Mtl.zeros(4, "int16", device=GPU)
    target[...] = array
    assert target.tolist() == [0, 1, 2, 3]


# Streams


def test_a_hot_array_comes_in_without_a_wait(peer):
    address = peer.allocate(4000)
    peer.hold()
    peer.fill(address, 7, 1000)
    with cuda.no_wait():
        view = Mtl.asview(Array((1000,), data=(address, False), stream=peer.stream))
        assert cuda.is_busy(peer.stream)

    assert view.tolist() == [7] * 1000
    view.fill(5)
    # The producer's stream waits for what was queued here.
    assert peer.read(address, 1000) == [5] * 1000
    del view
    gc.collect()
    GPU.synchronize(None)
    peer.free(address)


def test_a_hot_view_goes_out_without_a_wait(peer):
    view = Mtl.zeros(1000, "float32", device=GPU)
    cuda.hold(own_stream())
    view.fill(5)
    with cuda.no_wait():
        interface = view.__cuda_array_interface__
        assert cuda.is_busy(interface["stream"])

    peer.wait_for(interface["stream"])
    assert peer.read(interface["data"][0], 1000) == [5] * 1000

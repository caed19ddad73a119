# SPDX-License-Identifier: LGPL-2.1-or-later
"""NumPy's older protocols, __array_interface__ and __array__, in both directions."""

import ctypes
import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import HOST, NUMERIC, dtype_of, iota, tensor
from dlpack_structs import Producer
from says import says

LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, :, ::-2],
    "row": lambda x: x[1, 2],
    "column": lambda x: x[:, 1, 2],
    "scalar": lambda x: x[1, 2, 3:].reshape(()),
    "empty": lambda x: x[:, 1:1],
    "new axes": lambda x: x[:, None],
}


class OnlyInterface:
    """An object without a buffer and DLPack, which NumPy's consumers see by its interface."""

    def __init__(self, interface, owner=None):
        self.__array_interface__ = interface
        self.owner = owner


class OnlyArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


# Views


@pytest.mark.parametrize("layout", LAYOUTS)
def test_numpy_sees_the_same_elements(layout, dtype):
    view = LAYOUTS[layout](iota(2, 3, 4, dtype=dtype))
    interface = view.__array_interface__
    array = np.asarray(OnlyInterface(interface, view))

    np.testing.assert_array_equal(array, np.asarray(view))
    assert array.dtype == np.asarray(view).dtype and array.shape == view.shape
    assert interface["descr"] == [("", interface["typestr"])] and interface["version"] == 3
    if view.size:
        assert array.ctypes.data == view.get_address() and array.flags.writeable
        assert array.strides == np.asarray(view).strides
    assert (interface["strides"] is None) == np.asarray(view).flags.c_contiguous


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_is_that_of_numpys_array(layout, dtype):
    view = LAYOUTS[layout](iota(2, 3, 4, dtype=dtype))
    expected, found = np.asarray(view).__array_interface__, view.__array_interface__
    assert found.keys() == expected.keys()
    for key in ("typestr", "shape", "version", "descr", "strides"):
        assert found[key] == expected[key], key
    if view.size:
        assert found["data"] == expected["data"]


def test_read_only_views():
    view = iota(3).as_read_only()
    assert view.__array_interface__["data"] == (view.get_address(), True)
    assert not np.asarray(OnlyInterface(view.__array_interface__, view)).flags.writeable


def test_what_has_no_interface():
    memory = (ctypes.c_ubyte * 64)()
    views = [Mtl.StridedView.new_zeros(HOST, dtype, [2]) for dtype in (
        Mtl.DType.BFLOAT16, Mtl.DType.FLOAT8_E4M3FN, Mtl.DType.FLOAT4_E2M1FN,
        Mtl.DType.INT4, Mtl.DType.COMPLEX32)]
    views += [Mtl.from_dlpack(Producer(memory, (2,), (1,), lanes=4)),
              Mtl.from_dlpack(Producer(memory, (2,), (1,), device=(2, 0)))]
    for view in views:
        assert not hasattr(view, "__array_interface__")
        with pytest.raises(AttributeError):
            view.__array_interface__


def test_numpy_still_takes_buffers():
    """NumPy takes the buffer although it could take the interface."""
    view = iota(2, 3)
    array = np.asarray(view)
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, memoryview) and array.ctypes.data == view.get_address()


def test_pillow_makes_pictures_of_views():
    image = pytest.importorskip("PIL.Image")
    view = iota(4, 5, 3, dtype="uint8")
    picture = image.fromarray(view)
    assert picture.size == (5, 4) and picture.getpixel((1, 2)) == tuple(view[2, 1].tolist())
    back = Mtl.asview(picture)
    assert back.shape == (4, 5, 3) and back.dtype == "uint8" and back.tolist() == view.tolist()


# Other objects


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_of_memory_at_an_address(layout, dtype):
    array = LAYOUTS[layout](np.arange(24).astype(dtype).reshape(2, 3, 4))
    view = Mtl.asview(OnlyInterface(array.__array_interface__, array))

    np.testing.assert_array_equal(np.asarray(view), array)
    assert view.dtype == dtype_of(array.dtype.name) and view.shape == array.shape
    assert not view.is_read_only()
    if array.size:
        assert view.get_address() == array.ctypes.data
        view[...] = 1
        assert (array == 1).all()


@pytest.mark.parametrize("dtype", NUMERIC)
def test_views_of_a_buffer_beside_the_interface(dtype):
    array = np.arange(6).astype(dtype)
    code = array.dtype.str
    memory = bytearray(bytes(3) + array.tobytes())
    view = Mtl.asview(OnlyInterface({"shape": (2, 3), "typestr": code, "data": memory, "offset": 3,
                                     "version": 3}))
    np.testing.assert_array_equal(np.asarray(view), array.reshape(2, 3))
    assert not view.is_read_only()
    size = array.itemsize
    view = Mtl.asview(OnlyInterface({"shape": (3,), "typestr": code, "data": bytes(memory[3:]),
                                     "strides": (-2 * size,), "offset": 4 * size}))
    np.testing.assert_array_equal(np.asarray(view), array[4::-2])
    assert view.is_read_only()


def test_read_only_memory():
    array = np.arange(3)
    array.flags.writeable = False
    view = Mtl.asview(OnlyInterface(array.__array_interface__, array))
    assert view.is_read_only() and view.tolist() == [0, 1, 2]


def test_the_owner_lives_as_long_as_the_view():
    class Owner:
        pass

    array = np.arange(1000.0)
    owner = Owner()
    released = weakref.finalize(owner, lambda: None)
    holder = OnlyInterface(array.__array_interface__, (owner, array))
    before = sys.getrefcount(array)
    view = Mtl.asview(holder)
    part = view[10:20]
    del holder, owner, view
    gc.collect()
    assert released.alive and part.tolist() == list(range(10, 20))
    thread = threading.Thread(target=part.copy)
    thread.start()
    thread.join()
    del part
    gc.collect()
    assert not released.alive and sys.getrefcount(array) == before - 1


INTERFACE = {"version": 3, "shape": (2, 3), "typestr": "<f4", "data": bytes(24)}


@pytest.mark.parametrize("change", [
    {"shape": None}, {"shape": [2, 3]}, {"shape": (2, 4)}, {"shape": (-1, 3)}, {"shape": (2.0, 3)},
    {"shape": (2**63, 1)}, {"shape": (2**62, 2**62)}, {"shape": (1,) * 65}, {"shape": "ab"},
    {"typestr": ">f4"}, {"typestr": "<f3"}, {"typestr": "|V4"}, {"typestr": "|O8"},
    {"typestr": "<M8[s]"}, {"typestr": "<U1"}, {"typestr": "|S4"}, {"typestr": ""},
    {"typestr": None}, {"typestr": 4}, {"typestr": "<f4\0"}, {"typestr": "<b1 "},
    {"strides": (12,)}, {"strides": (12, 3)}, {"strides": (12, 2**63)}, {"strides": (-12, 4)},
    {"strides": (2**40, 4)}, {"strides": [12, 4]}, {"strides": (12, 4.0)}, {"strides": "ab"},
    {"data": None}, {"data": 4096}, {"data": (0, False)}, {"data": (-4096, False)},
    {"data": (2**64 - 4, False)}, {"data": (2**64, False)}, {"data": (10**30, False)},
    {"data": ("a", False)}, {"data": (1.5, False)}, {"data": (4096,)}, {"data": "text"},
    {"data": bytes(23)}, {"data": memoryview(bytes(48))[::2]}, {"offset": 1}, {"offset": -1},
    {"offset": 2**70}, {"offset": 1.5}, {"mask": np.zeros((2, 3), bool)}])
def test_interfaces_that_are_wrong(change):
    interface = {**INTERFACE, **change}
    with pytest.raises(BufferError, match=says("__array_interface__", "OnlyInterface")):
        Mtl.asview(OnlyInterface(interface))


@pytest.mark.parametrize("key", ["shape", "typestr", "data"])
def test_interfaces_without_something(key):
    interface = {name: value for name, value in INTERFACE.items() if name != key}
    with pytest.raises(BufferError):
        Mtl.asview(OnlyInterface(interface))
    for wrong in (3, (), "text", [INTERFACE]):
        with pytest.raises(BufferError, match="dict"):
            Mtl.asview(OnlyInterface(wrong))


def test_interfaces_that_raise():
    class Raises:
        @property
        def __array_interface__(self):
            raise RuntimeError("no interface today")

        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("no array today")

    with pytest.raises(BufferError, match=says("no interface today", "no array today")) as info:
        Mtl.asview(Raises())
    assert isinstance(info.value.__cause__, RuntimeError)
    del Raises.__array_interface__
    with pytest.raises(RuntimeError, match="no array"):
        Mtl.asview(Raises())


def test_empty_memory_needs_no_address():
    for data in ((0, False), (4096, True), b""):
        view = Mtl.asview(OnlyInterface({**INTERFACE, "shape": (0, 3), "data": data}))
        assert view.shape == (0, 3) and view.tolist() == []


def test_arrays_that_objects_return():
    array = np.arange(6, dtype="i2").reshape(2, 3).T
    view = Mtl.asview(OnlyArray(array))
    view[0, 0] = 7
    assert array[0, 0] == 7 and view.strides == (1, 3)
    for wrong in ([1, 2], None, 3, memoryview(b"a")):
        with pytest.raises(TypeError, match="OnlyArray.__array__"):
            Mtl.asview(OnlyArray(wrong))


def test_classes_are_no_arrays():
    for cls in (OnlyArray, np.ndarray, np.float32, Mtl.StridedView, dict):
        with pytest.raises(TypeError):
            Mtl.asview(cls)


def test_glibs_bytes():
    data = GLib.Bytes.new(b"abc")
    view = Mtl.asview(data)
    assert view.tolist() == [97, 98, 99] and view.dtype == "uint8" and view.is_read_only()
    assert Mtl.asview(GLib.Bytes.new(b"")).shape == (0,)
    del data
    assert bytes(view) == b"abc"


def test_without_numpy():
    program = """
import sys
sys.modules["numpy"] = None
import ctypes
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl

class Picture:
    memory = (ctypes.c_uint16 * 6)(*range(6))
    order = "<" if sys.byteorder == "little" else ">"
    __array_interface__ = {"shape": (2, 3), "typestr": order + "u2",
                           "data": (ctypes.addressof(memory), False), "version": 3}

class Array:
    def __array__(self):
        return [1, 2]

view = Mtl.asview(Picture())
view[0, 0] = 9
assert Picture.memory[0] == 9 and view.tolist() == [[9, 1, 2], [3, 4, 5]]
assert view.__array_interface__["data"] == (ctypes.addressof(Picture.memory), False)
try:
    Mtl.asview(Array())
except TypeError as error:
    assert "NumPy" in str(error)
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.any_memory
def test_memory_of_devices():
    """The host's side of it, if it has one."""
    view = tensor(np.arange(6, dtype="i4"))
    if view.is_host_accessible():
        assert np.asarray(OnlyInterface(view.__array_interface__, view)).tolist() == list(range(6))
    else:
        assert not hasattr(view, "__array_interface__")

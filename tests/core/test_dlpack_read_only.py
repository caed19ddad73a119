# SPDX-License-Identifier: LGPL-2.1-or-later
"""Memory that must not be written, whichever way it comes in. A legacy tensor cannot say so;
the producer's buffer or its type can."""

import ctypes
import mmap
import sys
import types

import numpy as np
import pytest
from gi.repository import Mtl

from dlpack_structs import Producer, floats
from says import says

WAYS = {"from_dlpack": Mtl.from_dlpack, "asview": Mtl.asview,
        "device": lambda x: Mtl.from_dlpack(x, device=(1, 0)),
        "copy=False": lambda x: Mtl.from_dlpack(x, copy=False)}
NUMPY_SAYS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Exports:
    """Mixed into a type of buffers, so that it has DLPack as well."""

    legacy = True

    def __dlpack__(self, **keywords):
        address = np.frombuffer(self, np.uint8).ctypes.data
        self.producer = Producer(address, (4,), code=1, bits=8, legacy=self.legacy)
        return self.producer.capsule()


class Constant(Exports, bytes):
    pass


class Variable(Exports, bytearray):
    pass


def check_constant(view):
    assert view.is_read_only() and view.get_buffer().is_read_only()
    assert not np.asarray(view).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_legacy_tensor_of_a_constant_buffer(way):
    constant = Constant(b"\1\2\3\4")
    view = way(constant)

    assert view.tolist() == [1, 2, 3, 4]
    assert view.get_address() == constant.producer.managed.dl_tensor.data
    check_constant(view)
    check_constant(view[1:])
    assert constant.producer.deleted == 0
    del view
    assert constant.producer.deleted == 1


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_legacy_tensor_of_a_variable_buffer(way):
    variable = Variable(b"\1\2\3\4")
    view = way(variable)

    view[0] = 9
    assert variable[0] == 9
    variable.extend(b"5")  # its buffer is no longer held


def test_a_copy_may_be_written():
    view = Mtl.from_dlpack(Constant(b"\1\2\3\4"), copy=True)

    view[0] = 9
    assert view.tolist() == [9, 2, 3, 4]


def test_a_versioned_tensor_says_so_itself():
    class Versioned(Constant):
        legacy = False

    assert not Mtl.from_dlpack(Versioned(b"1234")).is_read_only()


def test_a_bare_capsule_cannot_be_asked():
    assert not Mtl.from_dlpack(Constant(b"1234").__dlpack__()).is_read_only()


def test_a_buffer_that_fails_says_nothing():
    class Closed(mmap.mmap):
        def __dlpack__(self, **keywords):
            return producer.capsule()

    producer = Producer(floats(1, 2), (2,), legacy=True)
    closed = Closed(-1, 10)
    closed.close()
    with pytest.raises(ValueError):
        memoryview(closed)
    view = Mtl.from_dlpack(closed)

    assert view.tolist() == [1, 2] and not view.is_read_only()


@pytest.mark.parametrize("deleter", [True, False])
def test_a_constant_tensor_that_is_broken(deleter):
    class Broken(bytes):
        def __dlpack__(self, **keywords):
            return producer.capsule()

    producer = Producer(floats(1), (-1,), legacy=True, deleter=deleter)
    with pytest.raises(BufferError, match=says(-1)):
        Mtl.from_dlpack(Broken())
    assert producer.deleted == deleter


def test_a_constant_tensor_without_a_deleter():
    class Eternal(bytes):
        def __dlpack__(self, **keywords):
            return Producer(memory, (2,), legacy=True, deleter=False).capsule()

    memory = floats(1, 2)
    assert Mtl.from_dlpack(Eternal()).is_read_only()


def test_it_is_as_the_legacy_tensor_says():
    class Shaped(bytes):
        def __dlpack__(self, **keywords):
            return producer.capsule()

    memory = floats(*range(12))
    producer = Producer(memory, (2, 3), (-6, 2), byte_offset=28, legacy=True)
    view = Mtl.from_dlpack(Shaped())

    assert view.tolist() == [[7, 9, 11], [1, 3, 5]] and view.is_read_only()
    assert view.get_address() == ctypes.addressof(memory) + 28


class ArrayOfJax(Producer):
    pass


def jax_of(cls):
    return types.SimpleNamespace(Array=cls)


def test_arrays_of_jax_are_constant(monkeypatch):
    """Arrays of a GPU, or of bfloat16, have no buffer. The real ones are among the peers."""
    for cls, constant in ((ArrayOfJax, True), (dict, False), ("no type", False)):
        monkeypatch.setitem(sys.modules, "jax", jax_of(cls))
        for device in ((1, 0), (2, 0)):
            view = Mtl.from_dlpack(ArrayOfJax(floats(1), (1,), legacy=True, device=device))
            assert view.is_read_only() == constant
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace())  # half imported
    assert not Mtl.from_dlpack(ArrayOfJax(floats(1), (1,), legacy=True)).is_read_only()


def test_what_ends_a_program_is_no_answer(monkeypatch):
    class Interrupts(type):
        def __instancecheck__(cls, instance):
            raise KeyboardInterrupt("now")

    monkeypatch.setitem(sys.modules, "jax", jax_of(Interrupts("Array", (), {})))
    producer = ArrayOfJax(floats(1), (1,), legacy=True)
    capsules = []
    producer.__class__ = type("Keeps", (ArrayOfJax,), {
        "__dlpack__": lambda self, **keywords: capsules.append(self.capsule()) or capsules[0]})
    with pytest.raises(KeyboardInterrupt, match="now"):
        Mtl.from_dlpack(producer)
    assert not capsules and producer.deleted == 0


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_numpys_arrays(way):
    array = np.arange(4.0)
    array.flags.writeable = False

    if way is not Mtl.asview and not NUMPY_SAYS_READ_ONLY:
        with pytest.raises(BufferError, match="readonly"):
            way(array)
        return
    for part in (array, array[1:3], array[::-1], np.broadcast_to(array, (3, 4))):
        view = way(part)
        check_constant(view)
        assert view.tolist() == part.tolist() and view.get_address() == part.ctypes.data


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float4_e2m1fn"])
def test_arrays_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"ml_dtypes {ml_dtypes.__version__} has no {name}")
    array = np.ones(4).astype(getattr(ml_dtypes, name))
    assert not Mtl.asview(array).is_read_only()
    array.flags.writeable = False
    view = Mtl.asview(array)

    assert view.is_read_only() and view.get_buffer().is_read_only()
    assert view.get_address() == array.ctypes.data and not np.asarray(view).flags.writeable


def test_assigning_from_a_constant_array():
    view = Mtl.asview([0.0, 0.0])
    view[...] = ArrayOfJax(floats(1, 2), (2,), legacy=True)

    assert view.tolist() == [1, 2]

# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import weakref

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import error_code

HOST = Mtl.StorageMode.HOST


def new(size):
    return Mtl.Buffer.new(None, size, HOST)


def test_description():
    buffer = new(100)

    assert len(buffer) == buffer.nbytes == buffer.get_size() == buffer.props.size == 100
    assert buffer.is_size_known() and buffer.props.size_known
    assert buffer.get_device() is Mtl.Device.get_host()
    assert buffer.get_device_type() == Mtl.DeviceType.CPU
    assert buffer.get_device_ordinal() == 0
    assert buffer.get_storage_mode() == HOST
    assert buffer.is_host_accessible() and not buffer.is_device_accessible()
    assert not buffer.is_read_only()
    assert repr(buffer) == "<Mtl.Buffer size=100 device=(1, 0)>"


def test_is_zeroed_and_aligned():
    array = np.from_dlpack(new(1000))

    assert not array.any()
    assert array.ctypes.data % 64 == 0


def test_uninitialized_has_the_size():
    assert len(Mtl.Buffer.new_uninitialized(None, 77, HOST)) == 77


def test_nothing_is_a_size():
    buffer = new(0)

    assert len(buffer) == 0 and bool(buffer)
    assert bytes(buffer) == b""
    assert np.from_dlpack(buffer).shape == (0,)


def test_speaks_bytes():
    buffer = new(8)
    np.asarray(buffer)[:] = range(8)

    assert bytes(buffer) == bytes(range(8))
    assert memoryview(buffer).format == "B"
    assert buffer.__dlpack_device__() == (1, 0)


def test_bytes_without_a_copy():
    source = GLib.Bytes.new(b"0123456789")
    buffer = Mtl.Buffer.new_from_bytes(None, source)

    assert buffer.is_read_only()
    assert bytes(buffer) == b"0123456789"
    assert buffer.get_bytes(2, 3).get_data() == b"234"
    assert buffer.dup_bytes(2, 3).get_data() == b"234"
    with pytest.raises(ValueError, match="read-only") as info:
        buffer.set_bytes(0, GLib.Bytes.new(b"x"))
    assert error_code(info) == Mtl.Error.READ_ONLY


def test_slice_shares():
    buffer = new(16)
    part = buffer.slice(4, 8)

    part.set_bytes(0, GLib.Bytes.new(b"abcd"))
    assert bytes(buffer)[4:8] == b"abcd"
    assert part.get_byte_offset() == 4
    assert part == buffer.slice(4, 8) and hash(part) == hash(buffer.slice(4, 8))
    assert part.equal(buffer.slice(4, 8)) and part.hash() == buffer.slice(4, 8).hash()
    assert part != buffer and part != "a buffer"
    del buffer
    gc.collect()
    assert bytes(part)[:4] == b"abcd"


@pytest.mark.parametrize("offset, size", [(0, 17), (17, 0), (1, 16), (2**63, 2**63), (2**64 - 1, 2)])
def test_ranges_are_checked(offset, size):
    with pytest.raises(IndexError, match="16 bytes") as info:
        new(16).slice(offset, size)
    assert error_code(info) == Mtl.Error.OUT_OF_BOUNDS


def test_copy_and_fill():
    a, b = new(8), new(8)

    assert a.fill(0, 8, GLib.Bytes.new(b"xy"))
    assert b.copy(2, a, 1, 4, None)
    assert bytes(b) == b"\0\0yxyx\0\0"
    assert b.copy(1, b, 2, 4, None)
    assert bytes(b) == b"\0yxyxx\0\0"
    with pytest.raises(ValueError, match="3 bytes"):
        a.fill(0, 6, GLib.Bytes.new(b"xyz"))
    assert a.synchronize()
    a.did_modify(0, 8)


@pytest.mark.parametrize("size", [2**62, 2**63, 2**64 - 1])
def test_too_much(size):
    with pytest.raises(MemoryError, match=str(size)) as info:
        new(size)
    assert error_code(info) == Mtl.Error.NO_MEMORY


def test_other_storage_modes_are_not_there():
    with pytest.raises(NotImplementedError):
        Mtl.Buffer.new(None, 1, Mtl.StorageMode.SHARED)


def test_a_bare_object_is_empty():
    assert len(Mtl.Buffer()) == 0
    assert bytes(Mtl.Buffer()) == b""


def test_wrapper_and_memory_go():
    buffer = new(1)
    reference = weakref.ref(buffer)
    del buffer
    assert reference() is None

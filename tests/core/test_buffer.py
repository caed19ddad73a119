# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import sys
import weakref

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import (DEFAULT, DLPACK_DEVICE, STORAGE_MODE, cancelled, error_code, from_dlpack,
                      is_cancelled, new_buffer)
from dlpack_structs import Producer, floats
from says import says

HOST = Mtl.StorageMode.HOST


def test_description_on_the_host():
    buffer = Mtl.Buffer.new(None, 100, HOST)

    assert len(buffer) == buffer.nbytes == buffer.get_size() == buffer.props.size == 100
    assert buffer.is_size_known() and buffer.props.size_known
    assert buffer.get_device() is Mtl.Device.get_host()
    assert buffer.get_storage_mode() == HOST
    assert buffer.is_host_accessible() and not buffer.is_device_accessible()
    assert not buffer.is_read_only()
    assert repr(buffer) == "<Mtl.Buffer size=100 device=(1, 0)>"
    assert sys.getsizeof(buffer) == sys.getsizeof(buffer.slice(0, 0)) + 100 < 300


@pytest.mark.any_memory
def test_description():
    buffer = new_buffer(100)

    assert len(buffer) == 100 and buffer.is_size_known() and not buffer.is_read_only()
    assert buffer.get_device() is DEFAULT
    assert buffer.get_storage_mode() == buffer.props.storage_mode == STORAGE_MODE
    assert buffer.is_host_accessible() == (STORAGE_MODE != Mtl.StorageMode.PRIVATE)
    assert buffer.is_device_accessible() == (STORAGE_MODE != HOST)
    assert buffer.__dlpack_device__() == DLPACK_DEVICE


@pytest.mark.any_memory
def test_is_zeroed():
    assert bytes(new_buffer(1000)) == bytes(1000)


def test_is_aligned():
    assert np.asarray(new_buffer(1000)).ctypes.data % 64 == 0


def test_mapped(tmp_path):
    path = tmp_path / "file"
    values = np.arange(10000, dtype="<u2")
    path.write_bytes(b"header" + values.tobytes())
    file = Gio.File.new_for_path(str(path))
    buffer = Mtl.Buffer.new_mapped(file, None, 6, 20000)

    path.unlink()
    array = np.asarray(buffer).view("<u2")
    assert (array == values).all() and not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        buffer.set_bytes(0, GLib.Bytes.new(b"x"))
    del buffer
    gc.collect()
    assert (array == values).all()


def test_mapped_refuses(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    file = Gio.File.new_for_path(str(path))

    with pytest.raises(IndexError, match=says(10, 1)):
        Mtl.Buffer.new_mapped(file, None, 1, 10)
    with pytest.raises(IsADirectoryError):
        Mtl.Buffer.new_mapped(file.get_parent(), None, 0, 0)
    with pytest.raises(FileNotFoundError):
        Mtl.Buffer.new_mapped(tmp_path / "missing")
    for size in (0, 10):
        with pytest.raises(GLib.Error) as caught:
            Mtl.Buffer.new_mapped(file, None, 0, size, cancelled())
        assert is_cancelled(caught)
    assert bytes(Mtl.Buffer.new_mapped(file, None, 2, 3, Gio.Cancellable())) == b"234"


@pytest.mark.any_memory
def test_uninitialized_has_the_size():
    assert len(Mtl.Buffer.new_uninitialized(None, 77, STORAGE_MODE)) == 77


@pytest.mark.any_memory
def test_nothing_is_a_size():
    buffer = new_buffer(0)

    assert len(buffer) == 0 and bool(buffer)
    assert bytes(buffer) == b""
    assert from_dlpack(buffer).shape == (0,)


def test_speaks_bytes():
    buffer = new_buffer(8)
    np.asarray(buffer)[:] = range(8)

    assert bytes(buffer) == bytes(range(8))
    assert memoryview(buffer).format == "B"


@pytest.mark.any_memory
def test_bytes_go_in_and_out():
    buffer = new_buffer(9)

    assert buffer.set_bytes(3, GLib.Bytes.new(b"abcde"))
    assert bytes(buffer) == b"\0\0\0abcde\0"
    assert buffer.dup_bytes(4, 3).get_data() == b"bcd"
    assert buffer.dup_bytes(9, 0).get_size() == 0
    with pytest.raises(IndexError, match=says(9)):
        buffer.set_bytes(5, GLib.Bytes.new(b"abcde"))
    assert bytes(buffer) == b"\0\0\0abcde\0"


def test_bytes_without_a_copy():
    source = GLib.Bytes.new(b"0123456789")
    buffer = Mtl.Buffer.new_from_bytes(source)

    assert buffer.is_read_only()
    assert bytes(buffer) == b"0123456789"
    assert buffer.get_bytes(2, 3).get_data() == b"234"
    assert buffer.dup_bytes(2, 3).get_data() == b"234"
    with pytest.raises(ValueError, match="read-only") as info:
        buffer.set_bytes(0, GLib.Bytes.new(b"x"))
    assert error_code(info) == Mtl.Error.READ_ONLY


def test_bytes_of_another_device_or_of_none():
    source = GLib.Bytes.new(b"0123456789")
    never = Mtl.BufferFlags.NEVER_COPY
    in_place = Mtl.Buffer.new_from_bytes(source, None, never)
    copied = Mtl.Buffer.new_from_bytes(source, DEFAULT)

    assert bytes(in_place) == bytes(copied) == b"0123456789"
    assert in_place.is_read_only() and copied.is_read_only()
    assert copied.get_device() is DEFAULT
    assert np.asarray(in_place).ctypes.data == np.asarray(
        Mtl.Buffer.new_from_bytes(source)).ctypes.data


@pytest.mark.any_memory
def test_slice_shares():
    buffer = new_buffer(16)
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


@pytest.mark.any_memory
@pytest.mark.parametrize("offset, size", [(0, 17), (17, 0), (1, 16), (2**63, 2**63), (2**64 - 1, 2)])
def test_ranges_are_checked(offset, size):
    with pytest.raises(IndexError, match=says(16)) as info:
        new_buffer(16).slice(offset, size)
    assert error_code(info) == Mtl.Error.OUT_OF_BOUNDS


@pytest.mark.any_memory
def test_fill():
    buffer = new_buffer(8)

    assert buffer.fill(2, 4, GLib.Bytes.new(b"xy"))
    assert bytes(buffer) == b"\0\0xyxy\0\0"
    with pytest.raises(ValueError, match=says(3)):
        buffer.fill(0, 8, GLib.Bytes.new(b"xyz"))
    assert buffer.synchronize()
    assert buffer.did_modify(0, 8) and buffer.did_modify()
    with pytest.raises(IndexError, match=says(9)):
        buffer.did_modify(0, 9)


def buffer_of(data):
    buffer = new_buffer(len(data))
    buffer.set_bytes(0, GLib.Bytes.new(data))
    return buffer


@pytest.mark.any_memory
@pytest.mark.parametrize("size", [0, 1, 63, 64, 4097, 3_000_001])
def test_copy(rng, size):
    data = rng.randbytes(size)
    buffer = buffer_of(data)
    copy = buffer.copy()

    assert bytes(copy) == data and copy != buffer
    assert copy.get_device() is buffer.get_device()
    assert copy.get_storage_mode() == STORAGE_MODE
    for offset, length in ((0, size), (size // 3, size // 2), (size, 0)):
        part = buffer.slice(offset, length).copy()
        assert bytes(part) == data[offset:offset + length] and part.get_byte_offset() == 0


@pytest.mark.any_memory
def test_a_copy_has_memory_of_its_own():
    buffer = buffer_of(b"01234567")
    copy, part = buffer.copy(), buffer.slice(2, 4).copy()

    copy.set_bytes(0, GLib.Bytes.new(b"a"))
    part.set_bytes(1, GLib.Bytes.new(b"b"))
    buffer.set_bytes(5, GLib.Bytes.new(b"c"))
    assert (bytes(buffer), bytes(copy), bytes(part)) == (b"01234c67", b"a1234567", b"2b45")
    del buffer
    gc.collect()
    assert (bytes(copy), bytes(part)) == (b"a1234567", b"2b45")


def test_copies_of_other_memory():
    read_only = Mtl.Buffer.new_from_bytes(GLib.Bytes.new(b"0123")).copy()
    pinned = Mtl.from_dlpack(Producer(floats(1, 2), (2,), device=(3, 0))).get_buffer().copy()

    assert not read_only.is_read_only() and read_only.set_bytes(1, GLib.Bytes.new(b"x"))
    assert bytes(read_only) == b"0x23"
    assert pinned.get_device() is Mtl.Device.get_host() and bytes(pinned) == bytes(floats(1, 2))
    with pytest.raises(BufferError) as info:
        Mtl.from_dlpack(Producer(0xdead0000, (2,), device=(2, 0))).get_buffer().copy()
    assert error_code(info) == Mtl.Error.NOT_HOST_ACCESSIBLE


@pytest.mark.any_memory
def test_copy_from():
    a, b = buffer_of(b"01234567"), buffer_of(b"abcdefghijkl")

    assert b.copy_from(2, a, 1, 4)
    assert bytes(b) == b"ab1234ghijkl" and bytes(a) == b"01234567"
    assert b.copy_from(offset=10, source=a, source_offset=0, size=2, cancellable=None)
    assert bytes(b) == b"ab1234ghij01"
    assert b.copy_from(1, b, 2, 4)  # which overlap
    assert bytes(b) == b"a12344ghij01"
    assert b.slice(6, 6).copy_from(1, a.slice(3, 5), 2, 3)
    assert bytes(b) == b"a12344g56701"
    with pytest.raises(IndexError, match=says(8)):
        b.copy_from(0, a, 6, 3)
    with pytest.raises(IndexError, match=says(12)):
        b.copy_from(10, a, 0, 3)
    assert bytes(a) == b"01234567"


@pytest.mark.any_memory
def test_cancelled_copies():
    a, b = buffer_of(b"0123"), buffer_of(b"abcd")

    for call in (lambda: a.copy(cancelled()), lambda: a.synchronize(cancelled()),
                 lambda: b.copy_from(0, a, 0, 4, cancelled()),
                 lambda: a.dup_bytes(cancellable=cancelled())):
        with pytest.raises(GLib.Error) as info:
            call()
        assert is_cancelled(info)
    assert bytes(b) == b"abcd"


@pytest.mark.any_memory
@pytest.mark.parametrize("size", [2**62, 2**63, 2**64 - 1])
def test_too_much(size):
    with pytest.raises(MemoryError, match=says(size)) as info:
        new_buffer(size)
    assert error_code(info) == Mtl.Error.NO_MEMORY


def test_other_storage_modes_are_not_there():
    host = Mtl.Device.get_host()

    for mode in (Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED, Mtl.StorageMode.PRIVATE):
        assert not host.supports_storage_mode(mode)
        with pytest.raises(NotImplementedError):
            Mtl.Buffer.new(host, 1, mode)
    with pytest.raises(NotImplementedError):
        Mtl.Buffer.new(None, 1, Mtl.StorageMode.FOREIGN)


def test_a_bare_object_is_empty():
    assert len(Mtl.Buffer()) == 0
    assert bytes(Mtl.Buffer()) == b""


@pytest.mark.any_memory
def test_wrapper_and_memory_go():
    buffer = new_buffer(1)
    reference = weakref.ref(buffer)
    del buffer
    assert reference() is None


def test_properties_for_the_construction():
    host = Mtl.Device.get_host()
    assert bytes(Mtl.Buffer(size=64, device=host)) == bytes(64)
    placed = Mtl.Buffer(device=host, size=3, storage_mode=HOST)
    assert (len(placed), placed.get_device()) == (3, host)
    with pytest.raises(MemoryError, match=says(2**62)):
        Mtl.Buffer(size=2**62, device=host)
    with pytest.raises(NotImplementedError, match="private"):
        Mtl.Buffer(size=1, device=host, storage_mode=Mtl.StorageMode.PRIVATE)

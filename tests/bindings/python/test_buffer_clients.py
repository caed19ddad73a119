# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's own library uses views as buffers: into one, out of one, and refused by one that is
read-only or strided."""

import array
import ctypes
import hashlib
import io
import mmap
import os
import socket
import struct

import pytest
from gi.repository import Mtl

from conftest import zeros
from says import says

HELLO = b"hello, world"


@pytest.fixture
def view():
    return zeros("uint8", (len(HELLO),))


class Source(io.RawIOBase):
    """A raw stream of the user's own, whose readinto() is called with a buffer."""

    def readable(self):
        return True

    def readinto(self, target):
        memoryview(target).cast("B")[:len(HELLO)] = HELLO
        return len(HELLO)


def test_streams_read_into_it(view, tmp_path):
    path = tmp_path / "hello"
    path.write_bytes(HELLO)
    for stream in (io.BytesIO(HELLO), Source(), io.BufferedReader(Source()),
                   open(path, "rb"), open(path, "rb", buffering=0)):
        view[...] = 0
        with stream:
            assert stream.readinto(view) == len(HELLO)
        assert bytes(view) == HELLO

    descriptor = os.open(path, os.O_RDONLY)
    view[...] = 0
    assert os.readv(descriptor, [view[:5], view[5:]]) == len(HELLO) and bytes(view) == HELLO
    os.close(descriptor)


def test_streams_write_it(view, tmp_path):
    view[...] = Mtl.asview(HELLO)
    path = tmp_path / "hello"
    for buffering in (-1, 0):
        with open(path, "wb", buffering=buffering) as file:
            assert file.write(view) == len(HELLO)
        assert path.read_bytes() == HELLO

    stream = io.BytesIO()
    stream.write(view.get_buffer())
    stream.writelines([view[:2], view[2:]])
    assert stream.getvalue() == 2 * HELLO


def test_elements_of_any_shape_are_read_and_written():
    numbers = zeros("float64", (2, 3))
    values = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]

    assert io.BytesIO(struct.pack("=6d", *values)).readinto(numbers) == 48
    assert numbers.tolist() == [values[:3], values[3:]]
    stream = io.BytesIO()
    assert stream.write(numbers) == 48
    assert struct.unpack("=6d", stream.getvalue()) == tuple(values)


def test_sockets(view):
    one, other = socket.socketpair()
    with one, other:
        one.sendall(HELLO)
        assert other.recv_into(view) == len(HELLO) and bytes(view) == HELLO
        other.sendall(view)
        assert one.recv(100) == HELLO
        one.sendmsg([view[:5], view[5:]])
        view[...] = 0
        assert other.recvmsg_into([view[6:], view[:6]])[0] == len(HELLO)
    assert bytes(view) == HELLO[6:] + HELLO[:6]


def test_struct(view):
    struct.pack_into("<HI", view, 1, 0x6665, 0x6A696867)
    assert bytes(view)[:8] == b"\0efghij\0"
    assert struct.unpack_from("<HI", view, 1) == (0x6665, 0x6A696867)
    assert [part for part, in struct.iter_unpack("2s", view)][:4] == [b"\0e", b"fg", b"hi", b"j\0"]


def test_mmap(view, tmp_path):
    view[...] = Mtl.asview(HELLO)
    with mmap.mmap(-1, len(HELLO)) as mapping:
        mapping.write(view)
        assert mapping[:] == HELLO
        mapping[:5] = view[7:]
        window = Mtl.asview(mapping)
        window[5] = ord("!")
        assert mapping[:] == b"world! world" and bytes(window) == mapping[:]
        with pytest.raises(BufferError):
            mapping.close()
        del window

    path = tmp_path / "hello"
    path.write_bytes(HELLO)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
        window = Mtl.asview(mapping)
        assert window.is_read_only() and bytes(window) == HELLO
        del window


def test_array():
    numbers = zeros("int32", (3,))
    numbers[...] = Mtl.asview(array.array("i", [1, -2, 3]))
    row = array.array("i")
    row.frombytes(memoryview(numbers).cast("B"))

    assert row.tolist() == [1, -2, 3]
    row[1:2] = array.array("i", memoryview(numbers))
    assert row.tolist() == [1, 1, -2, 3, 3]


def test_bytes_and_bytearray(view):
    view[...] = Mtl.asview(HELLO)
    target = bytearray(len(HELLO))
    target[:] = memoryview(view)
    target += view

    assert bytes(view) == bytearray(view) == HELLO and target == 2 * HELLO
    assert b"".join([view, view]) == 2 * HELLO and HELLO.startswith(view[:5])
    assert hashlib.sha256(view).digest() == hashlib.sha256(HELLO).digest()


def test_memoryview(view):
    memory = memoryview(view)
    memory[:5] = b"HELLO"
    memory.cast("I")[2] = 0x44434241

    assert bytes(view) == b"HELLO\0\0\0ABCD"
    assert memory[::-1].tolist() == view[::-1].tolist() and memory == memoryview(bytes(view))
    memory.release()
    with pytest.raises(ValueError):
        memory[0]


def test_ctypes(view):
    (ctypes.c_char * len(HELLO)).from_buffer(view).raw = HELLO
    assert bytes(view) == HELLO
    assert (ctypes.c_uint16 * 2).from_buffer_copy(view)[:] == list(struct.unpack_from("=2H", HELLO))


WRITERS = {
    "readinto": lambda view: io.BytesIO(HELLO).readinto(view),
    "recv_into": lambda view: socket.socketpair()[0].recv_into(view),
    "pack_into": lambda view: struct.pack_into("B", view, 0, 1),
    "from_buffer": lambda view: ctypes.c_char.from_buffer(view),
    "memoryview": lambda view: memoryview(view).__setitem__(0, 1),
}
READERS = {
    "write": lambda view: io.BytesIO().write(view),
    "sendall": lambda view: socket.socketpair()[0].sendall(view),
    "unpack_from": lambda view: struct.unpack_from("B", view),
    "frombytes": lambda view: array.array("B").frombytes(view),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", WRITERS)
def test_what_writes_refuses_a_read_only_view(name, view):
    with pytest.raises((BufferError, TypeError)):
        WRITERS[name](view.as_read_only())
    assert bytes(view) == bytes(len(HELLO))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", READERS)
def test_what_wants_a_row_refuses_a_strided_view(name, view):
    with pytest.raises(BufferError, match=says("C")):
        READERS[name](view[::2])

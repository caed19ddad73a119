# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connections in Python: sockets, entries of Python's values, exceptions, and other processes."""

import contextlib
import ctypes
import gc
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import HOST, cancelled, error_code, is_cancelled
from says import says

pytestmark = pytest.mark.skipif(not HOST.supports_storage_mode("interprocess"),
                                reason="this system has no memory for other processes")

HERE = Path(__file__).parent
PATIENCE = 60


@contextlib.contextmanager
def peer_process(action):
    """A connection to a process that does this, and the process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, HERE / "connection_peer.py", action, str(theirs.fileno())],
            pass_fds=[theirs.fileno()])
        connection = Mtl.TensorConnection(ours)
    connection.get_socket().set_timeout(PATIENCE)
    try:
        yield connection, process
        connection.close()
        if action.startswith(("answer", "count")):
            assert process.wait(PATIENCE) == 0
    finally:
        connection.close()
        process.kill()
        process.wait()


def pair(**properties):
    a, b = socket.socketpair()
    with a, b:
        return Mtl.TensorConnection(a), Mtl.TensorConnection(b, **properties)


def count_fds():
    return len(os.listdir("/proc/self/fd"))


# Sockets


def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def test_a_socket_stays_the_caller_s():
    a, b = socket.socketpair()
    connections = Mtl.TensorConnection(a), Mtl.TensorConnection.new(b)
    own = [connection.get_socket().get_fd() for connection in connections]
    assert len({a.fileno(), b.fileno(), *own}) == 4
    a.close()
    b.close()
    connections[0].send([1, 2])
    assert connections[1].receive()[0].tolist() == [1, 2]
    assert all(is_open(fd) and not os.get_inheritable(fd) for fd in own)
    del connections
    assert not any(map(is_open, own))


def test_sockets_of_gio():
    a, b = socket.socketpair()
    first = Gio.Socket.new_from_fd(a.detach())
    connection = Mtl.TensorConnection(first, Mtl.TensorPeerFlags.ALLOW_OTHER_USERS, max_views=3)
    assert connection.get_socket() is first is connection.props.socket
    assert connection.get_flags() == Mtl.TensorPeerFlags.ALLOW_OTHER_USERS
    assert connection.get_max_views() == connection.props.max_views == 3
    connection.send(5)
    assert Mtl.TensorConnection(socket=b).receive()[0].tolist() == 5


def test_what_is_no_socket(tmp_path):
    for wrong in ("socket", None, 3, Mtl.zeros(1)):
        for make in (Mtl.TensorConnection, Mtl.TensorConnection.new):
            if wrong is not None or make is Mtl.TensorConnection:
                with pytest.raises(TypeError, match=says(type(wrong).__name__)):
                    make(wrong)
    with pytest.raises(TypeError, match="socket"):
        Mtl.TensorConnection()
    closed = socket.socket()
    closed.close()
    with open(tmp_path / "file", "w") as file:
        for wrong in (file, closed):
            with pytest.raises(OSError):
                Mtl.TensorConnection(wrong)
        links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                 if is_open(int(fd))]
        assert links.count(file.name) == 1


def test_a_connection_ends_with_its_block():
    a, b = pair()
    with a as same:
        assert same is a
        a.send([1])
    view, _ = b.receive()
    for _ in range(2):
        a.close()
        with pytest.raises(BrokenPipeError):
            a.send([1])
        with pytest.raises(BrokenPipeError):
            b.receive()
        with pytest.raises(BrokenPipeError):
            b.send([1])
    assert view.tolist() == [1]
    gone = weakref.ref(a)
    del a, same
    gc.collect()
    assert gone() is None


def test_messages_that_had_come_can_be_received_after_close():
    a, b = pair()
    a.send([1])
    a.send([2])
    b.close()
    assert b.receive()[0].tolist() == [1]
    with pytest.raises(BrokenPipeError):
        b.send([3])
    assert [view.tolist() for view, _ in b] == [[2]]
    with pytest.raises(BrokenPipeError):
        b.receive()


def test_close_ends_the_wait_of_a_thread():
    a, b = pair()
    raised = []

    def receive():
        try:
            b.receive()
        except BrokenPipeError as error:
            raised.append(error)

    thread = threading.Thread(target=receive)
    thread.start()
    time.sleep(0.05)  # in most runs, the thread now waits
    b.close()
    thread.join(PATIENCE)
    assert len(raised) == 1


# Entries


ENTRIES = {
    "text": "öä", "empty": "", "yes": True, "no": False, "number": 3, "least": -2**63,
    "most": 2**64 - 1, "beyond int64": 2**63, "float": 0.1, "infinite": float("inf"),
    "bytes": bytes(range(256)), "no bytes": b"", "numbers": [1, 2, 3], "mixed": [1, "a", 2.5, [b"x"]],
    "nothing": [], "nested": {"a": {"b": [{"c": 1}, {"d": "e"}]}, "f": {}}, "texts": ["a", "b"],
    "name": "frame",
}


def test_entries_come_as_they_were_sent():
    a, b = pair()
    a.send([1], ENTRIES)
    extras = b.receive()[1]
    assert extras == ENTRIES
    assert [type(value) for value in extras.values()] == [type(extras[name]) for name in extras]
    assert {name: type(value) for name, value in extras.items()} == {
        name: type(value) for name, value in ENTRIES.items()}
    for nothing in (None, {}):
        a.send([1], nothing)
        assert b.receive()[1] == {}


def test_entries_of_other_types():
    a, b = pair()
    variant = GLib.Variant("a{sv}", {
        "tuple": GLib.Variant("(isay)", (1, "a", b"b")), "byte": GLib.Variant("y", 7),
        "map": GLib.Variant("a{iu}", {1: 2}), "maybe": GLib.Variant("mi", 5),
        "none": GLib.Variant("mi", None), "variant": GLib.Variant("v", GLib.Variant("q", 9))})
    a.send([1], variant)
    assert b.receive()[1] == {"tuple": (1, "a", b"b"), "byte": 7, "map": {1: 2}, "maybe": 5,
                              "none": None, "variant": 9}
    a.send([1], {"i": np.int16(3), "f": np.float32(0.5), "array": bytearray(b"a"), "t": (1, 2),
                 "v": GLib.Variant("n", -5)})
    assert b.receive()[1] == {"i": 3, "f": 0.5, "array": b"a", "t": [1, 2], "v": -5}


@pytest.mark.parametrize("wrong, error", [
    ({"a": None}, TypeError), ({"a": 1j}, TypeError), ({"a": [int]}, TypeError),
    ({1: 2}, TypeError), ({"a": {2: 3}}, TypeError), ([("a", 1)], TypeError), ("text", TypeError),
    (5, TypeError), ({"a": 2**64}, ValueError), ({"a": -2**63 - 1}, ValueError),
    ({"a": "\0"}, ValueError), ({"\0": 1}, ValueError), ({"a": "\ud800"}, ValueError),
    ({"a": bytes(2**20)}, IndexError), (GLib.Variant("s", "text"), TypeError)],
    ids=lambda value: str(value)[:20])
def test_entries_that_cannot_be_sent(wrong, error):
    a, b = pair()
    with pytest.raises(error):
        a.send([1], wrong)
    a.send([2], {"a": 1})
    assert b.receive()[0].tolist() == [2]


# Views


@pytest.mark.parametrize("value", [
    [[1, 2], [3, 4]], 7, np.arange(6).reshape(2, 3)[:, ::-1], b"bytes", bytearray(5),
    np.arange(4, dtype=">i4"), np.zeros(3, [("a", "i1"), ("b", "f8")])["b"],
    np.arange(100_000), np.broadcast_to(np.float32(3), (1000, 1000))], ids=range(9))
def test_whatever_can_be_viewed_is_sent(value):
    a, b = pair()
    a.send(value)
    view, _ = b.receive()
    expected = np.frombuffer(value, "u1") if isinstance(value, (bytes, bytearray)) \
        else np.asarray(value)
    assert np.array_equal(np.asarray(view), expected) and view.is_read_only()
    assert view.dtype == expected.dtype.newbyteorder("=")


def test_what_cannot_be_viewed():
    a, _ = pair()
    for wrong in ("text", None, object(), np.array(["a"])):
        with pytest.raises((TypeError, BufferError)):
            a.send(wrong)


def test_another_process():
    view = Mtl.arange(12, dtype="i4", shared=True).reshape(3, 4)
    with peer_process("answer") as (connection, process):
        for part in (view, view[1:, ::2], view.T, view[::-1], view[:1].broadcast_to(3, 4),
                     Mtl.array([[1, 2]], "i4"), np.arange(6, dtype="i4")):
            connection.send(part, {"name": "part"})
            back, extras = connection.receive()
            array, told = np.asarray(part), extras["is"]
            shared = isinstance(part, Mtl.StridedView) and part.get_buffer().is_interprocess()
            assert extras["got"] == {"name": "part"}
            assert told["values"] == array.ravel().tolist() and told["dtype"] == "int32"
            assert (told["refused"], told["shared"]) == (True, shared)
            if shared:
                assert tuple(told["strides"]) == part.strides == back.strides
            assert np.array_equal(np.asarray(back), array)
            assert back.get_buffer().is_interprocess() == shared

        # Later writes are seen there, and in what came back.
        connection.send(view)
        back, _ = connection.receive()
        view[2, 3] = 77
        connection.send([0])
        assert connection.receive()[1]["was"][11] == back[2, 3] == 77
        with pytest.raises(ValueError, match="read-only"):
            back[0, 0] = 1
    assert back[2, 3] == 77


def test_frames_until_the_receiver_stops():
    with peer_process("count") as (connection, process):
        before = count_fds()
        for n, (view, extras) in enumerate(connection):
            assert extras["n"] == n and view[0] == view[19_999] == n
            if n == 300:
                break
        assert count_fds() <= before + 20


def test_an_iteration_ends_with_the_peer():
    with peer_process("send_one_and_wait") as (connection, process):
        received = iter(connection)
        view, extras = next(received)
        assert view.tolist() == [1, 1, 1] and extras == {}
        process.kill()
        assert next(received, "ended") == "ended"
        assert view.tolist() == [1, 1, 1]  # the memory outlives its process


def test_an_iteration_ends_in_the_middle_of_a_message():
    with peer_process("send_half") as (connection, process):
        assert select.select([connection.get_socket().get_fd()], [], [], PATIENCE)[0]
        process.kill()
        process.wait()
        assert list(connection) == []


# Errors


def test_keys_of_messages():
    a, _ = pair()
    for key in ("version", "needs", "padded", "byte-order", "device", "release", "fence"):
        with pytest.raises(ValueError, match=key):
            a.send([1], {key: 1})


def test_a_killed_peer():
    with peer_process("send_half") as (connection, process):
        assert select.select([connection.get_socket().get_fd()], [], [], PATIENCE)[0]
        process.kill()
        process.wait()
        for _ in range(2):
            with pytest.raises(BrokenPipeError) as info:
                connection.receive()
            assert isinstance(info.value.__cause__, GLib.Error)
        with pytest.raises(ConnectionError):
            connection.send([1])


def test_garbage():
    with peer_process("send_garbage") as (connection, _):
        with pytest.raises(ValueError) as info:
            connection.receive()
        assert error_code(info) == Mtl.Error.INVALID_DATA
        with pytest.raises(BrokenPipeError):
            connection.receive()


def test_too_much_memory_of_the_peer():
    a, b = pair(max_views=1, max_bytes=1000)
    b.props.max_bytes = 5000
    assert b.get_max_bytes() == 5000 and b.get_max_views() == 1
    view = Mtl.zeros(100, "u1", shared=True)
    a.send(view)
    a.send(view)
    held, _ = b.receive()
    with pytest.raises(BufferError, match=says(1, 100)) as info:
        b.receive()
    assert error_code(info) == Mtl.Error.BUSY
    b.set_max_views(2)
    b.set_max_bytes(150)
    a.send(view)
    with pytest.raises(BufferError, match=says(150)):
        b.receive()
    del held
    a.send(view)
    assert b.receive()[0].shape == (100,)


def test_cancelled_calls():
    a, b = pair()
    for call in (lambda: b.receive(cancelled()), lambda: a.send([1], None, cancelled()),
                 lambda: a.send([1], cancellable=cancelled())):
        with pytest.raises(GLib.Error) as info:
            call()
        assert is_cancelled(info)
    cancellable = Gio.Cancellable()
    timer = threading.Timer(0.2, cancellable.cancel)
    timer.start()
    with pytest.raises(GLib.Error) as info:
        b.receive(cancellable)
    assert is_cancelled(info)
    a.send([5])
    assert b.receive()[0].tolist() == [5]


def test_a_time_limit():
    _, b = pair()
    b.get_socket().set_timeout(1)
    with pytest.raises(TimeoutError):
        b.receive()


def test_one_view_at_a_time():
    a, b = pair()
    b.receive_async(callback=lambda *_: None)
    with pytest.raises(OSError, match="another") as info:
        b.receive()
    assert info.value.__cause__.code == Gio.IOErrorEnum.PENDING


def test_without_a_socket():
    connection = Mtl.TensorConnection.__new__(Mtl.TensorConnection)
    super(Mtl.TensorConnection, connection).__init__()
    assert connection.get_socket() is None
    connection.close()
    with pytest.raises(OSError, match="socket"):
        connection.receive()


NOBODY = 65534
STRANGER = """
import socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.connect("\\0" + sys.argv[1])
sock.sendall(bytes(1000))
sock.recv(1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
@pytest.mark.parametrize("flags", [Mtl.TensorPeerFlags.NONE,
                                   Mtl.TensorPeerFlags.ALLOW_OTHER_USERS])
def test_another_user(flags):
    name = f"mtldl-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE)
        listener.bind(f"\0{name}")
        listener.listen()
        process = subprocess.Popen(["/usr/bin/python3", "-c", STRANGER, name], user=NOBODY,
                                   group=NOBODY, extra_groups=[], cwd="/")
        try:
            sock, _ = listener.accept()
            connection = Mtl.TensorConnection(sock, flags)
            if flags:
                with pytest.raises(ValueError) as info:
                    connection.receive()
                assert error_code(info) == Mtl.Error.INVALID_DATA
            else:
                for call in (connection.receive, lambda: connection.send([1])):
                    with pytest.raises(PermissionError, match=says(NOBODY, 0)):
                        call()
        finally:
            process.kill()
            process.wait()


# Callbacks in GLib's main loop


def test_callbacks():
    a, b = pair()
    loop, outcomes = GLib.MainLoop(), []

    def ready(connection, result, *data):
        outcomes.append((connection, result, data))
        if len(outcomes) == 2:
            loop.quit()

    b.receive_async(None, ready, "of", "mine")
    a.send_async([1, 2], {"name": "a"}, None, ready)
    GLib.timeout_add_seconds(PATIENCE, loop.quit)
    loop.run()
    assert len(outcomes) == 2
    for connection, result, data in outcomes:
        if connection is a:
            assert a.send_finish(result) is True and data == ()
        else:
            view, extras = b.receive_finish(result)
            assert view.tolist() == [1, 2] and extras == {"name": "a"} and data == ("of", "mine")


# Variants and descriptors, for programs with messages of their own


def test_variants_with_descriptors():
    view = Mtl.arange(20, dtype="i2", shared=True)[3:15:2]
    fds = Gio.UnixFDList.new()
    variant = view.to_variant(fds, {"name": "a"})
    assert variant.get_type_string() == Mtl.TENSOR_VARIANT_TYPE_STRING == "(vtyyqaxaxa{sv})"
    assert fds.get_length() == 1 and variant.unpack()[7] == {"name": "a"}
    same = Mtl.StridedView.new_from_variant_fds(variant, fds)
    view[0] = 99
    assert same.tolist() == view.tolist() == [99, 5, 7, 9, 11, 13] and same.is_read_only()
    inline = Mtl.array([1.5, 2.5]).to_variant()
    assert Mtl.StridedView.new_from_variant_fds(inline).tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match=says(65536)) as info:
        Mtl.zeros(70_000, "u1").to_variant(fds)
    assert error_code(info) == Mtl.Error.NEEDS_COPY
    with pytest.raises(ValueError):
        Mtl.StridedView.new_from_variant_fds(variant)


def test_descriptors_of_buffers():
    buffer = Mtl.array(np.arange(100, dtype="u1"), shared=True).get_buffer().slice(10, 20)
    fd, offset = buffer.dup_fd()
    try:
        assert offset == 10 and not os.get_inheritable(fd)
        same = Mtl.Buffer.new_for_fd(fd, offset, 20, Mtl.BufferFlags.READ_ONLY
                                     | Mtl.BufferFlags.NEVER_COPY)
        memoryview(buffer)[0] = 200
        assert bytes(same)[:3] == bytes([200, 11, 12]) and same.is_interprocess()
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        assert libc.mmap(None, ctypes.c_size_t(100), 3, 1, fd, 0) == ctypes.c_void_p(-1).value
        with pytest.raises(IndexError, match=says(2**40)):
            Mtl.Buffer.new_for_fd(fd, 2**40, 1, Mtl.BufferFlags.READ_ONLY)
    finally:
        os.close(fd)
    with pytest.raises(NotImplementedError, match="interprocess"):
        Mtl.zeros(3, device="cpu").get_buffer().dup_fd()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: connection_peer.py ACTION FD: the other end of a connection, in a process of its own."""

import asyncio
import os
import socket
import sys
import time

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402


def describe(view):
    try:
        view[...] = 0
    except ValueError:
        refused = view.is_read_only() and not np.asarray(view).flags.writeable
    else:
        refused = False
    return {"values": np.asarray(view).ravel().tolist(), "shape": list(view.shape),
            "strides": list(view.strides), "dtype": view.dtype.name, "refused": refused,
            "shared": view.get_buffer().is_interprocess()}


def answer(sock):
    """Describes each view, and the one before it as it is now."""
    connection, before = Mtl.TensorConnection(sock), Mtl.zeros(0)
    sock.close()
    for view, extras in connection:
        connection.send(view, {"got": extras, "is": describe(view),
                               "was": np.asarray(before).ravel().tolist()})
        before = view


def count(sock):
    """Counts, in tensors that the other process maps, until it does not read any more."""
    with Mtl.TensorConnection(sock) as connection:
        sock.close()
        try:
            for n in range(10**6):
                view = connection.allocate_view("int64", [20_000])
                view[...] = n
                connection.send(view, {"n": n})
                del view
        except BrokenPipeError:
            pass


def send_one_and_wait(sock):
    connection = Mtl.TensorConnection(sock)
    connection.send(Mtl.ones(3, shared=True))
    time.sleep(1000)


def send_half(sock):
    """The first bytes of a header, and nothing more."""
    sock.send(b"mtl\1\0\0")
    time.sleep(1000)


def send_garbage(sock):
    sock.sendall(os.urandom(1000))
    time.sleep(1000)


def read_nothing(sock):
    time.sleep(1000)


def answer_async(sock):
    """answer(), in asyncio."""
    async def main():
        connection, before = Mtl.TensorConnection(sock), Mtl.zeros(0)
        sock.close()
        async for view, extras in connection:
            await connection.send_async(view, {"got": extras, "is": describe(view),
                                               "was": np.asarray(before).ravel().tolist()})
            before = view

    asyncio.run(main())


def main(action, fd):
    globals()[action](socket.socket(fileno=int(fd)))


if __name__ == "__main__":
    main(*sys.argv[1:])

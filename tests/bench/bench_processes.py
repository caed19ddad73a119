# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tensor handed to another process, which reads its first and its last byte and answers, between
two processes of Python: microseconds, the lower quartile of several rounds taken in turn, and the
ratio to a bare descriptor on a socket, SCM_RIGHTS. Of the ways that copy, a socket that is read
into memory that the receiver keeps is the least.

The last lines are the way to a program in JavaScript, until it has read both bytes.
"""

import contextlib
import mmap
import multiprocessing
import os
import pickle
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import time
from multiprocessing import shared_memory
from pathlib import Path

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.multiprocessing  # noqa: E402, F401: its tensors can be sent
from gi.repository import Mtl  # noqa: E402

SIZES = {"64 B": 64, "64 KiB": 2**16, "256 MiB": 2**28}
ROUNDS, CALLS = 20, 20
# Ways that copy more are called less often.
MANY, SLOW_ROUNDS = 2**16, 5
HEADER = struct.Struct("Q")

CONTEXT = multiprocessing.get_context("spawn")


# The receivers. Each answers with the sum of the two bytes.


def receive_descriptors(sock, answers):
    while True:
        head, fds, _, _ = socket.recv_fds(sock, HEADER.size, 1)
        if not head:
            return
        with mmap.mmap(fds[0], HEADER.unpack(head)[0], mmap.MAP_SHARED, mmap.PROT_READ) as memory:
            answer = memory[0] + memory[-1]
        os.close(fds[0])
        answers.send(bytes([answer]))


def receive_bytes(sock, answers):
    kept = memoryview(bytearray(max(SIZES.values())))
    while head := sock.recv(HEADER.size):
        size, at = HEADER.unpack(head)[0], 0
        while at < size:
            at += sock.recv_into(kept[at:size])
        answers.send(bytes([kept[0] + kept[size - 1]]))


def receive_views(sock, answers):
    for view, _ in Mtl.TensorConnection(sock):
        answers.send(bytes([view[0] + view[-1]]))


def receive_from_pipe(pipe, answers):
    while (x := pipe.recv()) is not None:
        answers.send(bytes([int(x[0]) + int(x[-1])]))


def receive_from_queue(queue, answers):
    while (x := queue.get()) is not None:
        answers.send(bytes([int(x[0]) + int(x[-1])]))


def receive_names(pipe, answers):
    while (found := pipe.recv()) is not None:
        memory = shared_memory.SharedMemory(name=found[0])
        answers.send(bytes([memory.buf[0] + memory.buf[found[1] - 1]]))
        memory.close()


def receive_pickles(pipe, answers):
    while data := pipe.recv_bytes():
        x = pickle.loads(data, buffers=[pipe.recv_bytes()])
        answers.send(bytes([int(x[0]) + int(x[-1])]))


class Way:
    """A process that receives in some way, and the function that sends to it."""

    def __init__(self, name, receive, ours, theirs, send, end, is_copy=False):
        self.name, self.send, self.end, self.is_copy = name, send, end, is_copy
        self.answers, answers = socket.socketpair()
        self.answers.settimeout(120)
        self.process = CONTEXT.Process(target=receive, args=(theirs, answers), daemon=True)
        self.process.start()
        self.ours = ours
        self.times = []

    def call(self):
        start = time.perf_counter()
        self.send()
        answer = self.answers.recv(1)
        self.times.append(time.perf_counter() - start)
        assert answer == b"\7", self.name

    def close(self):
        self.end()
        self.process.join(60)
        self.process.kill()


def ways(size, stack):
    """The ways of a tensor of bytes, the first of which is 3 and the last 4. The stack releases
    what they need."""
    array = np.zeros(size, "u1")
    array[0], array[-1] = 3, 4
    shared, private = Mtl.array(array, shared=True), Mtl.array(array, device="cpu")
    fd, _ = shared.get_buffer().dup_fd()
    stack.callback(os.close, fd)
    tensor = torch.from_numpy(array.copy()).share_memory_()
    named = shared_memory.SharedMemory(create=True, size=size)
    stack.callback(lambda: (named.close(), named.unlink()))
    named.buf[:size] = array.data
    head = HEADER.pack(size)

    def over_socket(name, receive, send, **more):
        ours, theirs = socket.socketpair()
        return Way(name, receive, ours, theirs, lambda: send(ours), ours.close, **more)

    def over_connection(name, view):
        ours, theirs = socket.socketpair()
        connection = Mtl.TensorConnection(ours)
        ours.close()
        return Way(name, receive_views, connection, theirs, lambda: connection.send(view),
                   connection.close)

    def over_pipe(name, receive, send, end=lambda pipe: pipe.send(None), **more):
        ours, theirs = CONTEXT.Pipe()
        return Way(name, receive, ours, theirs, lambda: send(ours), lambda: end(ours), **more)

    def over_queue(name, x):
        queue = CONTEXT.Queue()
        return Way(name, receive_from_queue, queue, queue, lambda: queue.put(x),
                   lambda: queue.put(None))

    def send_pickle(pipe):
        buffers = []
        pipe.send_bytes(pickle.dumps(array, 5, buffer_callback=buffers.append))
        pipe.send_bytes(buffers[0])

    def send_all(sock):
        sock.send(head)
        sock.sendall(array)

    yield over_socket("a descriptor on a socket", receive_descriptors,
                      lambda sock: socket.send_fds(sock, [head], [fd]))
    yield over_connection("TensorConnection, shared view", shared)
    yield over_pipe("Pipe, shared view", receive_from_pipe, lambda pipe: pipe.send(shared))
    yield over_queue("Queue, shared view", shared)
    yield over_pipe("Pipe, name of shared_memory", receive_names,
                    lambda pipe: pipe.send((named.name, size)))
    yield over_pipe("Pipe, tensor of PyTorch", receive_from_pipe, lambda pipe: pipe.send(tensor))
    yield over_queue("Queue, tensor of PyTorch", tensor)
    yield over_socket("bytes on a socket", receive_bytes, send_all, is_copy=True)
    if size <= MANY:
        yield over_connection("TensorConnection, other view", private)
    yield over_pipe("Pipe, other view", receive_from_pipe, lambda pipe: pipe.send(private),
                    is_copy=True)
    yield over_pipe("Pipe, pickle 5 beside its bytes", receive_pickles, send_pickle,
                    lambda pipe: pipe.send_bytes(b""), is_copy=True)


def measure(size):
    """Yields the names of the ways, and the microseconds."""
    with contextlib.ExitStack() as stack:
        all_ways = list(ways(size, stack))
        for n_round in range(ROUNDS):
            for way in all_ways:
                is_slow = way.is_copy and size > MANY
                if not is_slow or n_round < SLOW_ROUNDS:
                    for _ in range(1 if is_slow else CALLS):
                        way.call()
        for way in all_ways:
            yield way.name, 1e6 * statistics.quantiles(way.times[1:])[0]
            way.close()


def measure_to_javascript(size):
    """Microseconds until the receiver has read both bytes, by the clock that it has, too."""
    view = Mtl.zeros(size, "u1", shared=size > MANY)
    view[0], view[-1] = 3, 4
    ours, theirs = socket.socketpair()
    with theirs:
        receiver = subprocess.Popen(
            ["gjs", "-m", Path(__file__).with_name("receive.js"), str(theirs.fileno())],
            pass_fds=[theirs.fileno()])
    times = []
    with Mtl.TensorConnection(ours) as connection:
        for _ in range(ROUNDS * CALLS):
            start = time.monotonic_ns() / 1000
            connection.send(view)
            (end, total), _ = connection.receive()
            times.append(end - start)
            assert total == 7
    assert receiver.wait(60) == 0
    return statistics.quantiles(times)[0]


def main():
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, PyTorch {torch.__version__}")
    results = {name: dict(measure(size)) for name, size in SIZES.items()}
    print(f"{'':34}" + "".join(f"{name:>12}{'ratio':>8}" for name in SIZES))
    names = dict.fromkeys(name for column in results.values() for name in column)
    for way in names:
        line = f"{way:34}"
        for column in results.values():
            base = next(iter(column.values()))
            line += (f"{column[way]:10.0f} us{column[way] / base:8.2f}" if way in column
                     else " " * 20)
        print(line.rstrip())
    if shutil.which("gjs"):
        for name, size in SIZES.items():
            print(f"to gjs, {name:26}{measure_to_javascript(size):10.0f} us")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""mpi4py: views as buffers to send and receive, on one rank."""

import mpi4py
import numpy as np
import pytest
from gi.repository import Mtl
from mpi4py import MPI

from cases import *  # noqa: F403
from cases import DTYPES_OUT, IMPORTS, INTO, OUT, READ_ONLY, REQUESTS, refused
from client import ABSENT, DTYPES, PACKED, PARTS, WORKS, Client, Refuses, matrix

STRIDED = Refuses(BufferError)
COMM = MPI.COMM_SELF


class Mpi4py(Client):
    name = "mpi4py"
    version = mpi4py.__version__
    asks = [{"max_version": (1, 0), "copy": False}]
    out = {**dict.fromkeys(["rows with gaps", "every other element", "strides of 0"],
                           STRIDED),
           "transposed": ABSENT,
           "negative strides": Refuses(BufferError),
           "a legacy capsule": Refuses(BufferError, "invalid capsule"),
           READ_ONLY: ABSENT}
    into = dict.fromkeys([*PARTS, *REQUESTS, *IMPORTS, READ_ONLY], ABSENT)
    foreign_dtype = ABSENT

    def take(self, exporter, **keywords):
        return MPI.buffer.frombuffer(exporter)

    def address(self, array):
        return array.address

    def values(self, array):
        """Returns the numbers of parts without gaps; a buffer knows its bytes alone."""
        floats = np.frombuffer(array, np.float32)
        return floats.item() if floats.size == 1 else floats.reshape(-1, 6).tolist()

    def write(self, array, value):
        np.frombuffer(array, np.float32)[0] = value


CLIENTS = [Mpi4py()]


def send(message, target):
    """The library's own way: to this same rank."""
    COMM.Sendrecv(message, 0, recvbuf=target, source=0)


@pytest.mark.parametrize("name", DTYPES)
def test_element_types_as_mpi_knows_them(name, record):
    view = matrix(name, (2, 8))
    target = Mtl.StridedView.new_zeros_like(view)
    unknown = {**PACKED, "complex32": Refuses(KeyError, "Ze")}

    if not refused(unknown.get(name), lambda: send(view, target)):
        send(view, target)
        assert bytes(target.get_buffer()) == bytes(view.get_buffer())
    record(CLIENTS[0], DTYPES_OUT, name, unknown.get(name, WORKS))


def test_read_only_views_are_sent_and_not_received(record):
    view, target = matrix(), matrix()
    target[...] = 0
    send(view.as_read_only(), target)

    assert target.tolist() == view.tolist()
    for call in (lambda: send(view, view.as_read_only()),
                 lambda: MPI.buffer.frombuffer(view.as_read_only())):
        with pytest.raises(BufferError, match="not writable"):
            call()
    record(CLIENTS[0], OUT, READ_ONLY, "works, for sending")


def test_transposed_views_go_in_the_order_of_memory(record):
    view, target = matrix(), matrix().T
    target[...] = 0
    send(view.T, target)

    assert target.tolist() == view.T.tolist()
    record(CLIENTS[0], OUT, "transposed", WORKS)


def test_a_part_is_received_in_place():
    view, target = matrix(), matrix()
    target[...] = 0
    send(view[1:3], target[2:])

    assert target.tolist() == [[0] * 6] * 2 + view[1:3].tolist()


def test_reductions():
    view = matrix()
    total = Mtl.StridedView.new_zeros_like(view)
    COMM.Allreduce(view, total)

    assert total.tolist() == matrix().tolist()
    COMM.Allreduce(MPI.IN_PLACE, view)
    assert view.tolist() == matrix().tolist()


def test_its_memory(record):
    memory = MPI.Alloc_mem(96)
    view = Mtl.asview(memory)

    assert view.dtype == Mtl.DType.UINT8 and view.shape == (96,)
    assert view.get_address() == memory.address
    view[5] = 7
    assert memory[5] == 7
    assert Mtl.asview(memory.toreadonly()).is_read_only()
    record(CLIENTS[0], INTO, "all of it", "works, as bytes")
    record(CLIENTS[0], INTO, READ_ONLY, WORKS)

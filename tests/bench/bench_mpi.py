# SPDX-License-Identifier: LGPL-2.1-or-later
"""A view sent to another process where it lies, against the same elements
packed first: microseconds, the best of several rounds taken in turn, there and
back. Run by mpirun with two processes.
"""

import time

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402
from mpi4py import MPI  # noqa: E402

ROUNDS = 15
SIZE = 2048

VIEWS = {
    "dense": lambda grid: grid,
    "crop of 1000 x 1000": lambda grid: grid[500:1500, 300:1300],
    "row": lambda grid: grid[7],
    "column": lambda grid: grid[:, 7],
    "every second column": lambda grid: grid[:, ::2],
    "rows reversed": lambda grid: grid[::-1],
    "transposed": lambda grid: grid.T,
    "three channels of four": lambda grid: grid.reshape(SIZE, SIZE // 4, 4)[..., :3],
    "row, repeated": lambda grid: grid[:1].broadcast_to(1000, SIZE),
}

comm = MPI.COMM_WORLD
other = 1 - comm.rank


def ping_pong(send, receive):
    comm.Barrier()
    start = time.perf_counter()
    for rank in range(2):
        if rank == comm.rank:
            send()
        else:
            receive()
    return time.perf_counter() - start


def measure(view):
    memory = view.get_buffer()
    datatype = Mtl.mpi_datatype(view)
    array = np.asarray(view)
    packed = np.empty(view.shape, array.dtype)
    target = np.empty(view.shape, array.dtype)

    def send_packed():
        packed[...] = array
        comm.Send(packed, other)

    sends = {
        "type": lambda: comm.Send([memory, 1, datatype], other),
        "packed": send_packed,
        "dense": lambda: comm.Send(packed, other),
    }
    best = dict.fromkeys(sends, float("inf"))
    for _ in range(ROUNDS):
        for name, send in sends.items():
            best[name] = min(best[name], ping_pong(send, lambda: comm.Recv(target, other)))
            assert (target == array).all()
    datatype.Free()
    return [best[name] * 1e6 for name in sends]


def main():
    assert comm.size == 2, "for two processes"
    grid = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.FLOAT32, [SIZE, SIZE])
    grid[...] = Mtl.asview(np.arange(SIZE * SIZE, dtype=np.float32).reshape(SIZE, SIZE))
    if comm.rank == 0:
        print(f"{'view':26} {'in place':>9} {'packed':>9}  {'ratio':>5}  of what is dense already")
    for name, make in VIEWS.items():
        in_place, packed, dense = measure(make(grid))
        if comm.rank == 0:
            print(f"{name:26} {in_place:9.0f} {packed:9.0f}  {in_place / packed:5.2f}"
                  f"  {in_place / dense:5.2f}")


if __name__ == "__main__":
    main()

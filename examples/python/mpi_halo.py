#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mpirun -n 4 mpi_halo.py [FIELD.npy]

Simulates heat in a plate with a hot upper edge. Each process has a part of the
plate and, around it, a halo: the nearest elements of its neighbours' parts. MPI
sends edges straight from view to view, rows and columns alike: no code packs
them.
"""

import sys

import gi
import numpy as np
from mpi4py import MPI

gi.require_version('Mtl', '1')
from gi.repository import Mtl  # noqa: E402

SHAPE = 90, 70
HOT = 100.0
STEPS = 200

world = MPI.COMM_WORLD
plate = world.Create_cart(MPI.Compute_dims(world.size, 2))


def part_of(axis, coordinate):
    """Returns where the part of a process begins and ends along an axis."""
    n_parts = plate.dims[axis]
    return SHAPE[axis] * coordinate // n_parts, SHAPE[axis] * (coordinate + 1) // n_parts


def bounds(rank):
    (top, bottom), (left, right) = map(part_of, (0, 1), plate.Get_coords(rank))
    return slice(top, bottom), slice(left, right)


def new_part():
    rows, columns = bounds(plate.rank)
    shape = [rows.stop - rows.start + 2, columns.stop - columns.start + 2]
    part = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.FLOAT64, shape)
    if rows.start == 0:
        part[0] = HOT
    return part


def make_exchanges(part):
    """Returns tuples of (edge to send, receiver, halo to receive, sender), for both directions
    along both axes."""
    above, below = plate.Shift(0, 1)
    left, right = plate.Shift(1, 1)
    return [(Mtl.mpi_datatype(edge), to, Mtl.mpi_datatype(halo), source)
            for edge, to, halo, source in (
                (part[1, 1:-1], above, part[-1, 1:-1], below),
                (part[-2, 1:-1], below, part[0, 1:-1], above),
                (part[1:-1, 1], left, part[1:-1, -1], right),
                (part[1:-1, -2], right, part[1:-1, 0], left))]


def exchange(memory, exchanges):
    # At the edges of the plate there is no neighbour, so the halo does not change.
    for edge, to, halo, source in exchanges:
        plate.Sendrecv([memory, 1, edge], to, 0, [memory, 1, halo], source)


def step(old, new):
    """Sets each element to the mean of its neighbours, and returns the greatest change."""
    inner = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
    change = np.abs(inner - old[1:-1, 1:-1]).max()
    new[1:-1, 1:-1] = inner
    return change


def collect(part):
    """Collects the whole plate on the first process, which receives each part in its place."""
    if plate.rank > 0:
        inner = Mtl.mpi_datatype(part[1:-1, 1:-1])
        plate.Send([part.get_buffer(), 1, inner], 0)
        inner.Free()
        return None

    whole = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.FLOAT64, SHAPE)
    whole[bounds(0)] = part[1:-1, 1:-1]
    for rank in range(1, plate.size):
        place = Mtl.mpi_datatype(whole[bounds(rank)])
        plate.Recv([whole.get_buffer(), 1, place], rank)
        place.Free()
    return whole


def main():
    parts = [new_part(), new_part()]
    arrays = [np.asarray(part) for part in parts]
    exchanges = [make_exchanges(part) for part in parts]
    change = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.FLOAT64, [1])

    for i in range(STEPS):
        old, new = i % 2, (i + 1) % 2
        exchange(parts[old].get_buffer(), exchanges[old])
        change[0] = step(arrays[old], arrays[new])
    plate.Allreduce(MPI.IN_PLACE, change, MPI.MAX)

    whole = collect(parts[STEPS % 2])
    for edge, _, halo, _ in exchanges[0] + exchanges[1]:
        edge.Free()
        halo.Free()
    if whole is None:
        return

    print(f'{plate.size} processes, {plate.dims[0]} x {plate.dims[1]} parts')
    print(f'greatest change in step {STEPS}: {change[0]:.6f}')
    print(f'mean temperature: {np.asarray(whole).mean():.6f}')
    if len(sys.argv) > 1:
        np.save(sys.argv[1], whole)


main()

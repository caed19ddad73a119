# SPDX-License-Identifier: LGPL-2.1-or-later
"""mpirun -n 2 mpi_exchange.py SEED CASES

Views of random layouts go from process to process where they lie, and what
arrives is compared with what NumPy packs. Both processes make the same views.
"""

import pathlib
import random
import sys

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.overrides import _mtl_mpi  # noqa: E402
from gi.repository import Mtl  # noqa: E402
from mpi4py import MPI  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).parents[2] / "support"))
from dlpack_structs import Producer  # noqa: E402

TYPES = {"bool": MPI.C_BOOL, "int8": MPI.INT8_T, "uint16": MPI.UINT16_T, "int32": MPI.INT32_T,
         "uint64": MPI.UINT64_T, "float16": None, "float32": MPI.FLOAT, "float64": MPI.DOUBLE,
         "complex64": MPI.C_FLOAT_COMPLEX, "complex128": MPI.C_DOUBLE_COMPLEX}

comm = MPI.COMM_WORLD
other = 1 - comm.rank


def random_part(rng, n):
    first, last = sorted((rng.randrange(n + 1), rng.randrange(n + 1)))
    step = rng.choice([1, 1, 2, 3, -1, -2])
    if step > 0:
        return slice(first, last, step)
    return slice(last - 1 if last else None, first - 1 if first > 0 else None, step)


def random_array(rng, dtype, writable):
    """A part of an array that is all of different elements, as far as the type can say."""
    shape = [rng.randrange(1, 6) for _ in range(rng.randrange(5))]
    n = int(np.prod(shape))
    array = (np.arange(n) % 251).astype(dtype).reshape(shape)
    array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    array = array[(*(random_part(rng, extent) for extent in array.shape), ...)]
    if rng.random() < 0.3:
        array = array[..., None]
    if not writable and rng.random() < 0.3:
        array = np.broadcast_to(array, (3, *array.shape))
    return array


def view_of(array):
    """Returns a view of the array's memory, with the rest of it around; older NumPy's go out
    read-only."""
    return Mtl.asview(memoryview(array))


def mpi_message(array, name):
    return [array, array.nbytes, MPI.BYTE] if TYPES[name] is None else [array, TYPES[name]]


def check_sending(rng, name):
    array = random_array(rng, name, False)
    datatype = Mtl.mpi_datatype(view_of(array))
    assert datatype.Get_size() == array.nbytes
    if comm.rank == 0:
        comm.Send([view_of(array).get_buffer(), 1, datatype], other)
    else:
        packed = np.empty(array.shape, array.dtype)
        status = MPI.Status()
        comm.Recv(mpi_message(packed, name), other, status=status)
        assert status.Get_count(MPI.BYTE) == array.nbytes
        assert np.array_equal(packed, array), (array.shape, array.strides, name)
    datatype.Free()


def check_receiving(rng, name):
    array = random_array(rng, name, True)
    base = array
    while base.base is not None:
        base = base.base
    packed = np.array(np.flip(array), order="C")
    if comm.rank == 0:
        comm.Send(mpi_message(packed, name), other)
        return

    before = base.copy()
    view = view_of(array)
    datatype = Mtl.mpi_datatype(view)
    comm.Recv([view.get_buffer(), 1, datatype], other)
    assert np.array_equal(array, packed), (array.shape, array.strides, name)
    array[...] = np.flip(packed)  # and nothing else has changed
    assert np.array_equal(base, before)
    datatype.Free()


def check_opaque_elements():
    view = Mtl.asview(np.arange(24, dtype=np.uint16).reshape(4, 6))
    brain = Mtl.StridedView.new_uninitialized(Mtl.Device.get_host(), Mtl.DType.BFLOAT16, [4, 6])
    memoryview(brain.get_buffer())[:] = memoryview(view.get_buffer())
    datatype = Mtl.mpi_datatype(brain[::-1, 1::2])
    packed = np.empty((4, 3), np.uint16)
    comm.Sendrecv([brain.get_buffer(), 1, datatype], other, 0,
                  [packed, packed.nbytes, MPI.BYTE], other)
    assert packed.tolist() == view[::-1, 1::2].tolist()
    datatype.Free()


def check_vectors():
    """Each element has three numbers; their elements lie 5 apart, from the last one on."""
    numbers = np.arange(60, dtype=np.float32)
    view = Mtl.from_dlpack(Producer(numbers.ctypes.data + 45 * 4, (4,), (-5,), 2, 32, 3))
    datatype = Mtl.mpi_datatype(view)
    packed = np.empty(12, np.float32)
    comm.Sendrecv([view.get_buffer(), 1, datatype], other, 0, [packed, MPI.FLOAT], other)
    assert packed.tolist() == [45, 46, 47, 30, 31, 32, 15, 16, 17, 0, 1, 2]
    datatype.Free()


def check_counts_beyond_an_int():
    one = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.INT16, [1])
    for shape in ([2**32 + 5], [2**17, 2**17], [3 * (2**31 - 1)], [2**31]):
        datatype = Mtl.mpi_datatype(one.broadcast_to(shape))
        assert datatype.Get_size() == 2 * int(np.prod(shape)), shape
        assert datatype.Get_true_extent() == (0, 2)
        datatype.Free()


def main():
    rng = random.Random(sys.argv[1])
    check_counts_beyond_an_int()
    check_opaque_elements()
    check_vectors()
    for largest in (_mtl_mpi._MAX_COUNT, 2):  # the second one, so that counts go into blocks
        _mtl_mpi._MAX_COUNT = largest
        for _ in range(int(sys.argv[2])):
            name = rng.choice(list(TYPES))
            check_sending(rng, name)
            check_receiving(rng, name)
    if comm.rank == 0:
        print("right")


main()

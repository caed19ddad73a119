# SPDX-License-Identifier: LGPL-2.1-or-later
"""The base of all clients, and the ways in which an exchange can come out."""

import ctypes
from dataclasses import dataclass

import numpy as np
from gi.repository import Mtl

HOST = Mtl.Device.get_host()

WORKS = "works"      # the same memory
COPIES = "copies"    # the right elements, in memory of its own
IGNORED = "ignores"  # the same memory, as if nobody had said read-only, or asked for a copy
ABSENT = "–"         # the client has no such thing


@dataclass
class Refuses:
    """An exception that the client, or the library towards it, raises."""

    error: type
    match: str = None

    def __str__(self):
        return f"refuses: {self.error.__name__}"


@dataclass
class Converts:
    """A copy in another element type."""

    name: str

    def __str__(self):
        return f"copies as {self.name}"


# Parts of a matrix of 4 × 6, by names that the table of what works has too.
PARTS = {
    "all of it": lambda matrix: matrix,
    "a part at an offset": lambda matrix: matrix[2:],
    "rows with gaps": lambda matrix: matrix[:, 1:4],
    "every other element": lambda matrix: matrix[:, ::2],
    "transposed": lambda matrix: matrix.T,
    "negative strides": lambda matrix: matrix[::-1, ::-1],
    "strides of 0": None,
    "no dimensions": lambda matrix: matrix[1, 2, ...],
    "no elements": lambda matrix: matrix[4:],
}

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "int2", "int4", "uint2", "uint4", "float16", "bfloat16", "float32", "float64",
          "complex32", "complex64", "complex128", "float8_e3m4", "float8_e4m3",
          "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
          "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]

# The library refuses these to consumers that ask for an earlier version: mpi4py, say, would reach
# beyond the memory.
PACKED = dict.fromkeys(["int2", "int4", "uint2", "uint4", "float6_e2m3fn", "float6_e3m2fn",
                        "float4_e2m1fn"], Refuses(BufferError, "1.1"))


def matrix(name="float32", shape=(4, 6)):
    """Returns a view of host memory, in which each byte differs from the next."""
    view = Mtl.StridedView.new_zeros(HOST, Mtl.DType.from_string(name), list(shape))
    memory = memoryview(view.get_buffer()).cast("B")
    if name == "bool":
        memory[:] = bytes(i % 3 == 1 for i in range(len(memory)))
    elif name == "float32":
        view[...] = Mtl.asview([float(i) for i in range(view.size)]).reshape(shape)
    else:
        memory[:] = bytes((37 * i + 1) % 251 for i in range(len(memory)))
    return view


def part_of_view(name, view):
    if name == "strides of 0":
        return view[0].broadcast_to([3, view.shape[1]])
    return PARTS[name](view)


class Client:
    """One client. What an expectation does not name works without a copy."""

    name = version = None
    out = {}            # by part or keywords: what becomes of our views
    into = {}           # by part or keywords: what becomes of its arrays
    dtypes = {}         # the library's name of an element type: the client's
    dtypes_out = {}     # by element type, where it does not just work
    dtypes_into = {}
    foreign_dtype = None  # its refusal of the others
    keywords = {}       # name: what its function for importing takes
    asks = None         # the keywords that it passes to __dlpack__()
    reads_exchange_api = False
    writable = True     # its arrays can be written to
    constant = False    # views of its arrays are read-only
    slices = True       # it can make parts of its arrays

    def take(self, exporter, **keywords):
        raise NotImplementedError

    def give(self, array, **keywords):
        return Mtl.from_dlpack(array, **keywords)

    def address(self, array):
        raise NotImplementedError

    def values(self, array):
        """Returns the elements as nested lists."""
        return array.tolist()

    def dtype_of(self, array):
        return str(array.dtype)

    def bytes_of(self, array, size):
        return ctypes.string_at(self.address(array), size)

    def clone(self, array):
        """Returns a copy in memory of the client's own, if it makes any."""
        return array

    def write(self, array, value):
        array[0, 0] = value

    def is_writable(self, array):
        return True

    def read_only(self, array):
        """A read-only array of the same memory, or None."""
        return None

    def broadcast(self, array):
        return None

    def part(self, name):
        """One of its own arrays; from NumPy's, in the same layout, if it has no memory of
        its own."""
        view = matrix()
        if not self.slices:
            return self.take(np.asarray(part_of_view(name, view)))
        array = self.clone(self.take(view))
        return self.broadcast(array) if name == "strides of 0" else PARTS[name](array)

    def sees_writes(self):
        return self.out.get("all of it", WORKS) == WORKS

    def __str__(self):
        return self.name

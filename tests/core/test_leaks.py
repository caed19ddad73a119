# SPDX-License-Identifier: LGPL-2.1-or-later
"""A million exchanges of all kinds, after which no memory is missing and no
reference is left."""

import contextlib
import ctypes
import gc
import pickle
import sys

import numpy as np
import pytest
from gi.overrides._mtl_pickle import load_view
from gi.repository import Gio, Mtl

from conftest import HOST, from_dlpack
from dlpack_structs import Producer
from py_buffer import FORMAT, INDIRECT, PyBuffer, get_buffer, release_buffer

N_CALLS = 60_000
N_FIRST = 2_000  # in which caches fill


class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def find_mallinfo():
    """Returns the GNU C library's statistics, which count allocations byte by byte."""
    with contextlib.suppress(AttributeError):
        mallinfo = ctypes.CDLL(None).mallinfo2
        mallinfo.restype = MallocInfo
        return mallinfo


mallinfo = find_mallinfo()


array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
view = Mtl.StridedView.new_zeros(HOST, Mtl.DType.FLOAT32, [2, 3, 4])
read_only = view.as_read_only()
brain = Mtl.StridedView.new_zeros(HOST, Mtl.DType.BFLOAT16, [3])
memory = bytearray(96)
py_buffer = PyBuffer()
layout = Mtl.StridedLayout((2, 3, 4), itemsize=4)
store = Gio.ListStore.new(Mtl.StridedLayout)
used = view.__dlpack__()
Mtl.from_dlpack(used)
rocm = Mtl.from_dlpack(Producer(0xdead0000, (4,), device=(10, 0)))  # never read


class Constant(bytes):
    def __dlpack__(self):
        return view.__dlpack__()


class Lazy:
    """A lazy tensor that resolves to no copy, as only the references count."""

    def is_conj(self):
        return True

    def is_neg(self):
        return True

    def resolve_conj(self):
        return self

    def resolve_neg(self):
        return view


class OfRocm:
    def __dlpack_device__(self):
        return 10, 0

    def __dlpack__(self, copy=None, **keywords):
        return rocm.__dlpack__(**keywords)


constant, lazy, of_rocm = Constant(b"1"), Lazy(), OfRocm()


class Interface:
    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


def refused(function, *args, **keywords):
    try:
        function(*args, **keywords)
    except (BufferError, TypeError, ValueError, IndexError, OverflowError):
        return
    raise AssertionError(f"{function} took it")


def buffer_and_release():
    get_buffer(view, py_buffer, INDIRECT | FORMAT)
    release_buffer(py_buffer)


def consume():
    Mtl.from_dlpack(view.__dlpack__(max_version=(1, 0)))


def slice_and_write():
    view[1, ::2, None][...] = 3


def hold_layout():
    """Holds layouts in C, with an attribute, and with a weak reference."""
    part = layout[1]
    part.name = "part"
    store.append(part)
    store.append(layout.T)
    layout.T.weak_ref(lambda: None)
    store.remove_all()


EXCHANGES = {
    "capsule that nobody takes": lambda: view.__dlpack__(),
    "versioned capsule that nobody takes": lambda: view.__dlpack__(max_version=(1, 0)),
    "capsule that is taken": consume,
    "copy": lambda: view.__dlpack__(copy=True),
    "np.from_dlpack": lambda: from_dlpack(view),
    "Mtl.from_dlpack": lambda: Mtl.from_dlpack(array),
    "constant memory": lambda: Mtl.from_dlpack(constant),
    "lazy elements": lambda: Mtl.from_dlpack(lazy, copy=True),
    "memory of ROCm": lambda: (Mtl.from_dlpack(of_rocm), Mtl.from_dlpack(rocm),
                               Mtl.from_dlpack(of_rocm, device=(10, 0))),
    "memoryview": lambda: memoryview(view),
    "np.asarray": lambda: np.asarray(view),
    "Py_buffer": buffer_and_release,
    "asview of a bytearray": lambda: Mtl.asview(memory),
    "bytes": lambda: bytes(view),
    "getters": lambda: (view.shape, view.strides, view.dtype, view.nbytes, view.T),
    "slice and write": slice_and_write,
    "copies": lambda: (view.copy(), view.copy("F"), view.T.copy("K"), view.copy(order="A"),
                       view.astype("int8"), view.astype(np.float16, "F"),
                       view.astype(view.dtype, copy=False)),
    "array interface": lambda: Mtl.asview(Interface(array.__array_interface__, array)),
    "pickles": lambda: [pickle.loads(pickle.dumps(what, protocol)) for protocol in (2, 5)
                        for what in (view[:, 1], layout[1:], view.get_buffer())],
    "elements": lambda: (view[1, 2, 3], view[0].tolist(), view.item(5), view.item(-1)),
    "element types": lambda: (view.dtype == "f4", view.dtype != array.dtype, view.dtype == 3.5,
                              view.dtype == "float33", view.dtype == float, hash(view.dtype),
                              Mtl.DType("u1"), view.reinterpret("i4"), view.dtype < view.dtype),
    "indexing by arrays": lambda: (view[[0, 1]], view[array > 3], view.__setitem__([1], 2),
                                   view.__setitem__([0], array[:1]), view[True], view[..., [0]]),
    "lists of arrays": lambda: (view.__setitem__(..., [array[0], [[1] * 4] * 3]),
                                view.__setitem__((0, 0), range(4)), Mtl.asview([array, view])),
    "operators": lambda: (view + 1, view == 3, view.__iadd__(1), -view, view.sum(),
                          np.add(view, 1, out=view)),
    "names of arguments": lambda: (view.reshape(6, 4, order="F", copy=True), view.squeeze(axis=()),
                                   view.is_contiguous("C"), Mtl.StridedView.new_zeros("u1", 2)),
    "layouts": lambda: (Mtl.StridedLayout((2, 3), itemsize=4),
                        layout.permute(2, 0, 1), layout.reshape(6, 4), layout[0:2, 1, ::2],
                        layout.broadcast_to((5, 2, 3, 4)), layout.repack(64), layout.unsqueeze(0),
                        layout.squeeze(), layout.T, layout.flatten(0, -1), layout.to_dense(0)),
    "layouts by PyGObject": lambda: (Mtl.StridedLayout.new([2], None, 8), layout.slice("1"),
                                     Mtl.StridedLayout.new_dense((2, 3), 0, 8)),
    "layouts beyond the inline dimensions": lambda: layout.reshape([1] * 60 + [24])[0].T,
    "layouts asked": lambda: (layout.shape, layout.is_unique(), layout.get_offset_bounds(),
                              layout == layout, layout.dup_stride_order(), hash(layout),
                              layout.get_required_size(), layout.is_contiguous(0),
                              layout.get_max_compatible_item_bits(128, address=2**63)),
    "layouts held": hold_layout,
    "refused: layout": lambda: (refused(Mtl.StridedLayout, (-1,)), refused(layout.permute, 0),
                                refused(layout.repack, 64, width=1),
                                refused(layout.reshape, [1] * 65), refused(layout.slice, "9"),
                                refused(Mtl.StridedLayout((2,), (-1,)).get_required_size)),
    "refused: read-only": lambda: refused(read_only.__dlpack__),
    "refused: lazy elements": lambda: refused(Mtl.from_dlpack, lazy),
    "refused: stream": lambda: (refused(rocm.__dlpack__, stream=1),
                                refused(rocm.__dlpack__, stream=2**70)),
    "refused: buffer": lambda: refused(memoryview, brain),
    "refused: index": lambda: refused(view.__getitem__, 7),
    "refused: array interface": lambda: refused(Mtl.asview, Interface(
        {**array.__array_interface__, "data": bytes(9)}, array)),
    "refused: pickle": lambda: refused(load_view, memory, (2, 32, 1, False), (9999,), (1,), 0),
    "refused: import": lambda: refused(Mtl.from_dlpack, used),
    "refused: copies": lambda: (refused(view.copy, "Z"), refused(view.astype, "float33"),
                                refused(view.astype, 1.5), refused(view.astype, "f4", "C", 1, 2)),
    "refused: assignment": lambda: (refused(view.__setitem__, 0, "a"),
                                    refused(view.__setitem__, 0, [array, 1]),
                                    refused(view.__setitem__, 0, ["a"]),
                                    refused(view.__setitem__, [7], 1)),
    "refused: arguments": lambda: (refused(view.reinterpret, "float33"), refused(view.item, 99),
                                   refused(Mtl.StridedView.new_zeros, 2.5, [2]),
                                   refused(view.is_contiguous, "Z"), refused(Mtl.DType, None),
                                   refused(view.get_extent, "0")),
}


# PyGObject itself, which makes some views for these, never drops a reference to the class of an
# object that it made.
BY_PYGOBJECT = {"indexing by arrays", "layouts by PyGObject", "lists of arrays",
                "names of arguments", "pickles", "refused: assignment"}


def counts():
    gc.collect()
    objects = (view, read_only, brain, memory, array, view.dtype, layout, constant, lazy, of_rocm,
               rocm, Mtl.StridedView, Mtl.StridedLayout)
    return (sys.getallocatedblocks(), mallinfo().uordblks if mallinfo else 0,
            [sys.getrefcount(value) for value in objects])


def measure(name):
    """Returns the growth after many calls: blocks of Python, bytes in all, references."""
    blocks, size, references = counts()
    for _ in range(N_CALLS):
        EXCHANGES[name]()
    blocks_after, size_after, references_after = counts()
    if name in BY_PYGOBJECT:
        del references[-2:], references_after[-2:]
    return (blocks_after - blocks, size_after - size,
            [after - before for after, before in zip(references_after, references)])


@pytest.mark.parametrize("name", EXCHANGES)
def test_a_million_exchanges(name):
    for _ in range(N_FIRST):
        EXCHANGES[name]()
    # A table may have become larger, once. What leaks does so again.
    for is_last in False, True:
        blocks, size, references = measure(name)
        assert not any(references)
        if blocks < N_CALLS / 100 and size < N_CALLS:
            break
        assert not is_last, (blocks, size)

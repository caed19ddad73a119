# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every combination of the buffer protocol's flags, against NumPy's arrays of
the same memory and layout."""

import itertools
import sys

import numpy as np
import pytest
from gi.repository import Mtl

from py_buffer import (ANY_CONTIGUOUS, C_CONTIGUOUS, F_CONTIGUOUS, FORMAT, INDIRECT, ND, SIMPLE,
                       STRIDES, WRITABLE, PyBuffer, buffer_of, get_buffer, release_buffer)
from says import says

BITS = (WRITABLE, FORMAT, ND, 0x10, 0x20, 0x40, 0x80, 0x100)
# 0x100 alone is for memoryviews of C, and Python 3.13 itself refuses it.
COMBINATIONS = [sum(bits) for n in range(len(BITS) + 1) for bits in itertools.combinations(BITS, n)
                if bits != (0x100,)]


def strided(*shape_and_strides, dtype="int16"):
    """An array with strides in bytes, which start in the middle of its memory."""
    shape, strides = shape_and_strides
    memory = np.arange(400, dtype=dtype)
    return np.lib.stride_tricks.as_strided(memory[200:], shape, strides)


def read_only(array):
    array.setflags(write=False)
    return array


ARRAYS = {
    "dense": lambda: np.zeros((3, 4), np.int16),
    "F order": lambda: np.zeros((3, 4), np.int16, order="F"),
    "row": lambda: np.arange(5, dtype=np.float64),
    "every second": lambda: np.zeros((3, 8), np.float32)[:, ::2],
    "reversed": lambda: np.zeros((3, 4), np.complex128)[::-1, ::-1],
    "broadcast": lambda: strided((3, 4), (0, 2)),
    "permuted": lambda: np.zeros((2, 3, 4), bool).transpose(1, 0, 2),
    "of extent 1, with any stride": lambda: strided((1, 4, 1), (-6, 2, 14)),
    "F order, of extent 1": lambda: strided((3, 1, 4), (2, 40, 6)),
    "an element in three dimensions": lambda: strided((1, 1, 1), (6, -8, 0)),
    "no dimension": lambda: np.array(5, np.uint64),
    "no element": lambda: np.zeros((3, 0, 2), np.float16),
    "no element, strided": lambda: np.zeros((4, 5), np.int32)[::2, 5:],
    "read-only": lambda: read_only(np.zeros((3, 4), np.int8)),
    "read-only, strided": lambda: read_only(np.zeros((3, 4), np.int8))[:, ::2],
}


def describe(exporter, flags, n_elements):
    """All fields but those of who exports; None if it refuses."""
    try:
        with buffer_of(exporter, flags) as buffer:
            assert buffer.buf and buffer.obj == id(exporter)
            return {
                "buf": buffer.buf if n_elements else None, "len": buffer.len,
                "itemsize": buffer.itemsize, "readonly": bool(buffer.readonly),
                "ndim": buffer.ndim, "format": buffer.format, "suboffsets": buffer.suboffsets,
                "shape": buffer.shape[:buffer.ndim] if buffer.shape else None,
                "strides": buffer.strides[:buffer.ndim] if buffer.strides else None,
            }
    except (BufferError, ValueError):  # NumPy's for a read-only array
        return None


@pytest.mark.parametrize("name", ARRAYS)
def test_flags(name):
    array = ARRAYS[name]()
    view = Mtl.asview(array)
    verdicts = {flags: describe(array, flags, array.size) for flags in COMBINATIONS}

    assert len(verdicts) == 255 and verdicts[STRIDES]
    for flags, verdict in verdicts.items():
        assert describe(view, flags, array.size) == verdict, hex(flags)


def test_flags_of_a_buffer():
    memory = np.arange(100, dtype=np.uint8)
    buffer = Mtl.asview(memory).get_buffer()

    for flags in COMBINATIONS:
        assert describe(buffer, flags, 100) == describe(memory, flags, 100), hex(flags)


@pytest.mark.parametrize("flags, name", [
    (SIMPLE, "C"), (ND, "C"), (C_CONTIGUOUS, "C"), (F_CONTIGUOUS, "F"), (ANY_CONTIGUOUS, ""),
    (STRIDES | WRITABLE, "read-only"), (INDIRECT | WRITABLE, "read-only"),
])
def test_why_not(flags, name):
    view = Mtl.asview(np.zeros((3, 4), np.int8))[:, ::2].as_read_only()
    buffer = PyBuffer()

    with pytest.raises(BufferError, match=says(name)):
        get_buffer(view, buffer, flags)
    assert not buffer.obj


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "complex32"])
def test_without_a_format(name):
    """Consumers that do not ask for the format get the elements as opaque bytes."""
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.from_string(name), [2, 3])
    opaque = np.zeros((2, 3), f"V{view.itemsize}")

    for flags in COMBINATIONS:
        expected = None if flags & FORMAT else describe(opaque, flags, 0)
        assert describe(view, flags, 0) == expected, hex(flags)


@pytest.mark.parametrize("name", ["float4_e2m1fn", "float6_e2m3fn"])
def test_parts_of_a_byte(name):
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.from_string(name), [8])

    for flags in COMBINATIONS:
        with pytest.raises(BufferError):
            get_buffer(view, PyBuffer(), flags)


def test_more_elements_than_a_size_can_say():
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.INT32, [1]).broadcast_to(2**31, 2**31)

    with pytest.raises(BufferError, match="Py_ssize_t"):
        get_buffer(view, PyBuffer(), STRIDES)


def test_releases_are_counted():
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.INT32, [10])
    references = sys.getrefcount(view)
    buffers = [PyBuffer() for _ in range(100)]
    for buffer in buffers:
        get_buffer(view, buffer, INDIRECT | FORMAT)

    assert sys.getrefcount(view) == references + 100
    for i, buffer in enumerate(buffers):
        release_buffer(buffer)
        release_buffer(buffer)  # a second time does nothing
        assert sys.getrefcount(view) == references + 99 - i and not buffer.obj

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies between random layouts of the host's memory, as NumPy's copyto()."""

import time
from typing import NamedTuple

import numpy as np
import pytest
from gi.repository import GLib, Mtl

import conftest
from drawn_layouts import offset_bounds
from random_arrays import (LARGE, Layout, array_in, draw_large_shape, draw_layout, draw_shape,
                           view_in)

NUMPY_TYPES = {name: np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64",
                                                 "complex128")}
TYPES = {name: conftest.dtype_of(name) for name in NUMPY_TYPES}
NAMES = ("uint8", *NUMPY_TYPES)
MAX_BYTES = 300_000
MAX_LARGE_BYTES = 8 * LARGE


class Case(NamedTuple):
    dtype: str
    shape: tuple
    dest: Layout
    source: Layout
    is_shared: bool  # both lie in the destination's memory


def draw_case(rng):
    """Draws a case. If the last axis is dense on both sides, it stands for an element of another
    size: of 3, 6, 12, 24 bytes, say."""
    is_large = rng.random() < 0.002
    while True:
        dtype = rng.choice(NAMES)
        itemsize = NUMPY_TYPES[dtype].itemsize
        run = rng.random() < (0.5 if dtype == "uint8" else 0.2)
        n_run = rng.randrange(1, 18 if dtype == "uint8" else 5) if run else 1
        shape = draw_large_shape(rng, n_run * itemsize) if is_large else draw_shape(rng)
        if run:
            shape += (n_run,)
        dest = draw_layout(rng, shape, itemsize, run, False)
        source = draw_layout(rng, shape, itemsize, run, True)
        if max(dest.size, source.size) <= (MAX_LARGE_BYTES if is_large else MAX_BYTES):
            return Case(dtype, shape, dest, source,
                        source.size <= dest.size and rng.random() < 0.2)


def check(case, content):
    memory = content[:case.dest.size].copy()
    expected = memory.copy()
    source = memory if case.is_shared else content[-case.source.size:].copy()
    dtype = NUMPY_TYPES[case.dtype]
    # Through a temporary: without, NumPy gets some that overlap wrong.
    np.copyto(array_in(expected, dtype, case.shape, case.dest),
              array_in(source, dtype, case.shape, case.source).copy())

    dtype = TYPES[case.dtype]
    view_in(memory, dtype, case.shape, case.dest).copy_from(
        view_in(source, dtype, case.shape, case.source))
    assert np.array_equal(memory, expected), case


def test_copies(rng, cases):
    """Makes as many copies as asked for, or as there is time for. The bytes between and around the
    elements stay as they were."""
    content = np.random.default_rng(rng.getrandbits(64)).integers(
        0, 256, 2 * MAX_LARGE_BYTES, np.uint8)
    deadline = time.monotonic() + conftest.SECONDS
    n_copies = n_shared = 0
    while n_copies < cases and time.monotonic() < deadline:
        case = draw_case(rng)
        check(case, content)
        n_copies += 1
        n_shared += case.is_shared
    conftest.NOTES.append(f"{n_copies} random copies")
    assert n_copies < 5000 or n_shared > n_copies / 50


# Elements that are packed, as NumPy has none: it copies their bits, one in a byte.
PACKED = ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "int4", "uint2")


class Packed:
    """Packed elements in memory of their own, and the bits of the model."""

    def __init__(self, name, content):
        self.dtype, self.memory = Mtl.DType.from_string(name), content.copy()
        self.n_bits = Mtl.DType.get_bits(self.dtype)
        self.bits = np.unpackbits(self.memory, bitorder="little")

    def view(self, shape, layout):
        """Returns a view that starts at the lowest element, which may begin within a byte, and is
        then turned around."""
        low = layout.offset + offset_bounds(shape, layout.strides)[0]
        strides = 1, *map(abs, layout.strides)
        strided = Mtl.StridedLayout.new((low + 1, *shape), strides, self.n_bits)
        view = Mtl.StridedView.new(Mtl.asview(self.memory).get_buffer(), strided, self.dtype, 0)
        turns = [slice(None, None, -1 if stride < 0 else 1) for stride in layout.strides]
        return view[(low, ..., *turns)]

    def array(self, shape, layout):
        """Returns an array with an axis for the bits of an element."""
        strides = [stride * self.n_bits for stride in layout.strides]
        return np.ndarray((*shape, self.n_bits), np.uint8, self.bits.data,
                          layout.offset * self.n_bits, (*strides, 1))

    def is_as_the_model(self):
        return np.array_equal(self.memory, np.packbits(self.bits, bitorder="little"))


def draw_packed(rng):
    name = rng.choice(PACKED)
    while True:
        shape = draw_shape(rng)
        dest, source = (draw_layout(rng, shape, 1, False, repeats) for repeats in (False, True))
        if max(dest.size, source.size) <= 30_000:
            return name, shape, dest, source


def unpacked(bits):
    """The number that the bits of the last axis are."""
    return np.packbits(bits, axis=-1, bitorder="little")[..., 0]


def test_packed(rng, cases):
    """Copies, conversions to floats and back, and fills."""
    content = np.frombuffer(rng.randbytes(30_008), np.uint8)
    deadline = time.monotonic() + conftest.SECONDS
    values = {}
    for name in PACKED:
        dtype = Mtl.DType.from_string(name)
        numbers = Mtl.StridedView.new_zeros(None, dtype, (2**Mtl.DType.get_bits(dtype),))
        for pattern in range(len(numbers)):
            numbers[pattern:pattern + 1].fill(GLib.Bytes.new(bytes([pattern])))
        values[name] = np.array(numbers.tolist())
    n_copies = 0
    while n_copies < cases // 20 and time.monotonic() < deadline:
        name, shape, *layouts = case = draw_packed(rng)
        dest, source = Packed(name, content), Packed(name, content[::-1])
        if rng.random() < 0.2:
            source = dest
        to, from_ = dest.view(shape, layouts[0]), source.view(shape, layouts[1])
        model, origin = dest.array(shape, layouts[0]), source.array(shape, layouts[1])
        kind = rng.randrange(4)
        if kind == 1:
            pattern = rng.randrange(2**dest.n_bits)
            to.fill(GLib.Bytes.new(bytes([pattern])))
            model[...] = np.unpackbits(np.uint8([pattern]), bitorder="little")[:dest.n_bits]
        elif kind == 2:
            floats = np.full(shape, np.nan, "f4", order=rng.choice("CF"))
            Mtl.asview(floats).copy_from(from_)
            assert np.array_equal(floats, values[name][unpacked(origin)]), case
        elif kind == 3:
            floats = np.array(values[name][unpacked(origin)], "f2", order=rng.choice("CF"))
            to.copy_from(Mtl.asview(floats))
            np.copyto(model, origin.copy())
        else:
            to.copy_from(from_)
            np.copyto(model, origin.copy())
        assert dest.is_as_the_model(), (kind, source is dest, case)
        n_copies += 1
    conftest.NOTES.append(f"{n_copies} random copies of packed elements")


@pytest.mark.parametrize("name", PACKED)
def test_packed_large(rng, name):
    """Copies that use several threads, and begin and end within a byte."""
    shape = 1531, 1027
    content = np.frombuffer(rng.randbytes(shape[0] * shape[1]), np.uint8)
    source = Packed(name, content)
    dense = Layout((1027, 1), 0, 0)
    for key in (np.s_[:, :], np.s_[:, 1:1025], np.s_[1:, ::-1], np.s_[::2, ::3], np.s_[3:, 5:-6]):
        for is_turned in (False, True):
            from_, bits = source.view(shape, dense)[key], source.array(shape, dense)[key]
            if is_turned:
                from_, bits = from_.T, bits.transpose(1, 0, 2)
            copy = from_.copy()
            found = np.unpackbits(np.frombuffer(copy.dup_bytes().get_data(), np.uint8),
                                  bitorder="little")[:bits.size]
            assert np.array_equal(found, bits.ravel())


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64", "complex128"])
def test_large(rng, dtype):
    """Copies that are streamed, and cut into slices."""
    array = np.frombuffer(rng.randbytes(1531 * 1027 * 16), dtype)[:1531 * 1027]
    array = np.nan_to_num(array.reshape(1531, 1027))
    for source in (array, array.T, array[::-1].T, array[:, ::2], array[:, ::-3].T, array[3:, 5:-6]):
        dest = np.zeros(source.shape, dtype)
        Mtl.asview(dest).copy_from(Mtl.asview(source.copy(order="K")))
        assert np.array_equal(dest, source)
        dest[...] = 0
        readable = np.lib.stride_tricks.as_strided(source, writeable=False)
        Mtl.asview(dest).copy_from(Mtl.asview(readable))
        assert np.array_equal(dest, source)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64", "complex128"])
def test_fills(dtype):
    array = np.zeros((70, 33, 130), dtype)
    view = Mtl.asview(array)
    for index in (Ellipsis, np.s_[::2], np.s_[..., 3:100], np.s_[:, 5, ::-3], np.s_[1, 2]):
        expected = array.copy()
        value = 1 - expected.flat[0].real
        expected[index] = value
        view[index].fill_double(value)
        assert np.array_equal(array, expected)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Conversions of random numbers between random layouts of the host's memory."""

import functools
import time
from typing import NamedTuple

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from conversions import SUBBYTE, TYPES, assert_same, is_nan, judge, numpy_type, samples
from drawn_layouts import offset_bounds
from random_arrays import MARGIN, Layout, array_in, draw_layout, draw_shape, view_in

pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")

DTYPES = {name: conftest.dtype_of(name) for name in TYPES}
# Elements as bytes, which NumPy moves as they are.
BYTES = {name: np.dtype(f"V{numpy_type(name).itemsize}") for name in TYPES}
MAX_BYTES = 100_000
N_NUMBERS = 4099


class Case(NamedTuple):
    from_type: str
    to_type: str
    shape: tuple
    dest: Layout
    source: Layout
    is_shared: bool  # both lie in the source's memory
    first: int  # the first of the numbers that are taken


class Numbers(NamedTuple):
    """All in a row, as bytes, and what they become."""
    before: np.ndarray
    after: np.ndarray


@functools.cache
def numbers(from_type, to_type):
    """The judge's, but for NaN, which may be any of several: those as they come out of
    one whole row."""
    rng = np.random.default_rng(conftest.SEED)
    array = samples(from_type, rng)
    array = array[rng.integers(0, len(array), N_NUMBERS)]
    expected = judge(array, from_type, to_type) if from_type != to_type else array
    memory = np.ascontiguousarray(array).view(np.uint8).ravel()
    result = np.zeros(N_NUMBERS * BYTES[to_type].itemsize, np.uint8)
    row = Layout((1,), 0, 0)
    view_of(result, to_type, (N_NUMBERS,), row).copy_from(
        view_of(memory, from_type, (N_NUMBERS,), row))
    ours = result.view(numpy_type(to_type).base).reshape(expected.shape)
    assert_same(ours, expected, array)
    after = np.ascontiguousarray(np.where(is_nan(expected), ours, expected))
    return Numbers(memory.view(BYTES[from_type]), after.view(np.uint8).ravel().view(BYTES[to_type]))


def view_of(memory, name, shape, layout):
    if name in SUBBYTE:  # a byte each
        return Mtl.asview(array_in(memory, numpy_type(name), shape, layout))
    return view_in(memory, DTYPES[name], shape, layout)


def draw_case(rng):
    while True:
        from_type, to_type, shape = rng.choice(TYPES), rng.choice(TYPES), draw_shape(rng)
        dest = draw_layout(rng, shape, BYTES[to_type].itemsize, False, False)
        source = draw_layout(rng, shape, BYTES[from_type].itemsize, False, True)
        if max(dest.size, source.size) <= MAX_BYTES:
            return Case(from_type, to_type, shape, dest, source,
                        dest.size <= source.size and rng.random() < 0.2,
                        rng.randrange(N_NUMBERS))


def check(case, content):
    from_bytes, to_bytes = BYTES[case.from_type], BYTES[case.to_type]
    low, high = offset_bounds(case.shape, case.source.strides)
    before, n = -low, high - low + 1
    places = np.arange(case.first, case.first + n) % N_NUMBERS

    source = content[:case.source.size].copy()
    pool = numbers(case.from_type, case.to_type)
    array_in(source, from_bytes, (n,), Layout(
        (1,), case.source.offset - before * from_bytes.itemsize, 0))[...] = pool.before[places]
    memory = source if case.is_shared else content[-case.dest.size:].copy()
    expected = memory.copy()
    array_in(expected, to_bytes, case.shape, case.dest)[...] = array_in(
        pool.after[places], to_bytes, case.shape,
        Layout(case.source.strides, before * to_bytes.itemsize, 0))

    view_of(memory, case.to_type, case.shape, case.dest).copy_from(
        view_of(source, case.from_type, case.shape, case.source))
    assert np.array_equal(memory, expected), case


def test_conversions(rng, cases):
    """Makes as many copies as asked for, or as there is time for. The bytes between and around the
    elements stay as they were."""
    content = np.random.default_rng(rng.getrandbits(64)).integers(0, 256, MAX_BYTES, np.uint8)
    deadline = time.monotonic() + conftest.SECONDS
    n_conversions = 0
    while n_conversions < cases and time.monotonic() < deadline:
        check(draw_case(rng), content)
        n_conversions += 1
    conftest.NOTES.append(f"{n_conversions} random conversions")


@pytest.mark.parametrize("from_type, to_type", [
    ("float32", "uint8"), ("uint8", "float32"), ("float32", "float16"), ("float64", "float32"),
    ("int64", "bool"), ("float64", "float16"), ("float16", "complex128"), ("int16", "float64")])
def test_large(from_type, to_type):
    """Copies that are streamed, and split over threads: from rows, from every other element,
    backwards, and by columns, to lines of the cache, off them, and off elements."""
    to_type = np.dtype(to_type)
    n_rows = 700
    n_columns = 10 * 2**20 // to_type.itemsize // n_rows
    values = np.arange(2 * n_rows * n_columns, dtype=np.int64) % 101
    array = values.astype(from_type).reshape(2 * n_rows, n_columns)
    memory = np.empty(n_rows * n_columns * to_type.itemsize + 2 * MARGIN, np.uint8)
    line = -memory.ctypes.data % 64
    for first in (line, line + to_type.itemsize, line + 1):
        for source in (array[n_rows:], array[::2], array[n_rows:, ::-1],
                       array[n_rows:].reshape(n_columns, n_rows).T):
            memory[:] = 7
            expected = memory.copy()
            np.ndarray(source.shape, to_type, expected.data, first)[...] = source
            Mtl.asview(np.ndarray(source.shape, to_type, memory.data, first)).copy_from(
                Mtl.asview(source))
            assert np.array_equal(memory, expected)

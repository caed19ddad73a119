# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views and layouts against NumPy's arrays, through random operations."""

import time

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from conftest import elements
from random_layouts import Case, compare_sharing, draw_case, draw_small_case, play, shrink

pytestmark = pytest.mark.any_memory


@pytest.fixture
def some(cases):
    """How many where each takes longer."""
    return min(cases, 200_000) // 50


def report(case, error):
    smallest = shrink(case)
    try:
        play(smallest)
    except Exception as last:
        error = last
    pytest.fail(f"{error!r}\n{smallest}\nin the test found as\n{case}", pytrace=False)


def test_operations(rng, cases):
    """As many layouts as asked for, or as there is time for."""
    deadline = time.monotonic() + conftest.SECONDS
    n_layouts = n_refused = n_played = 0
    kept = None
    while n_layouts < cases and time.monotonic() < deadline:
        case = draw_case(rng)
        try:
            played = play(case, rng)
        except Exception as error:
            report(getattr(error, "case", case), error)
        n_layouts += played.n_layouts
        n_refused += played.n_refused
        n_played += 1
        if not case.in_memory or played.pair is None:
            continue
        array, ours = played.pair
        if array.ndim <= 5 and kept is not None:
            compare_sharing(array, ours, *kept)
        if array.ndim <= 5 and (kept is None or rng.random() < 0.3):
            kept = array, ours
        if n_played % 20 == 0:
            assert ours.tolist() == array.tolist(), played.case
    conftest.NOTES.append(f"{n_layouts} random layouts in operations")
    assert n_refused > n_played / 100


def test_shrinking_finds_the_smallest():
    def has_reversed_row(case):
        return any(extent >= 3 and stride < 0 for extent, stride in zip(case.shape, case.strides))

    found = Case((2, 7, 1, 5), (5, -12, 0, 3), (("transpose",), ("flip", 0)))
    assert shrink(found, has_reversed_row) == Case((3,), (-1,))
    assert shrink(found, lambda case: len(case.steps) == 2).shape == ()


def test_shrinking_leaves_what_does_not_fail():
    case = Case((2, 3), (3, 1), (("transpose",),))
    assert shrink(case) == case


def test_dense_copies_keep_values(rng, some):
    for _ in range(some):
        array, view = play(draw_small_case(rng)).pair

        assert elements(view.copy()).tolist() == array.tolist()
        order = view.get_layout().to_dense(Mtl.Order.K)
        copied = array.copy(order="K")
        if array.size > 0:
            walked = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
            assert ([order.strides[axis] * 2 for axis in walked]
                    == [copied.strides[axis] for axis in walked]), (array.shape, array.strides)


def test_unique_is_exact(rng, some):
    for _ in range(some):
        array, view = play(draw_small_case(rng)).pair
        offsets = sum(np.arange(n).reshape([-1 if a == axis else 1 for a in range(array.ndim)]) * s
                      for axis, (n, s) in enumerate(zip(array.shape, array.strides)))
        distinct = len(set(np.ravel(np.broadcast_to(offsets, array.shape)).tolist()))
        assert view.is_unique() == (distinct == array.size), (array.shape, array.strides)


def test_shares_memory_across_types(rng, some):
    """Elements of other sizes, at any byte."""
    memory = np.zeros(4096, np.uint8)
    buffer = Mtl.asview(memory).get_buffer()

    def draw():
        dtype = np.dtype(rng.choice(("uint8", "uint16", "float32", "complex128")))
        shape = [rng.randrange(1, 6) for _ in range(rng.randrange(0, 4))]
        strides = [rng.randrange(-9, 10) for _ in shape]
        start = rng.randrange(1900, 2200)
        array = np.lib.stride_tricks.as_strided(memory[start:start + 16].view(dtype), shape,
                                                [stride * dtype.itemsize for stride in strides])
        layout = Mtl.StridedLayout(shape, strides, dtype.itemsize)
        return array, Mtl.StridedView.new(buffer, layout, Mtl.DType.from_string(dtype.name), start)

    n_shared = 0
    for _ in range(some):
        a, b = draw(), draw()
        compare_sharing(*a, *b)
        n_shared += a[1].overlaps(b[1])
    assert 0 < n_shared < some


def drawn_layouts(rng, some):
    for _ in range(some):
        case = draw_case(rng)
        try:
            yield Mtl.StridedLayout(case.shape, case.strides)
        except ValueError:
            assert not case.in_memory


def test_reshaping_back_gives_the_same_places(rng, some):
    n_reshaped = 0
    for layout in drawn_layouts(rng, some):
        flat = [layout.size]
        try:
            back = layout.reshape(flat).reshape(layout.shape)
        except ValueError:
            continue
        n_reshaped += 1
        assert back.shape == layout.shape and back.get_offset() == layout.get_offset()
        if layout.size:
            assert all(there == here for there, here, extent
                       in zip(back.strides, layout.strides, layout.shape) if extent > 1)
    assert n_reshaped > some // 10


def test_the_inverse_permutation_is_one(rng, some):
    for layout in drawn_layouts(rng, some):
        axes = rng.sample(range(layout.ndim), layout.ndim)
        inverse = sorted(range(layout.ndim), key=axes.__getitem__)
        assert layout.permute(axes).permute(inverse) == layout
        assert layout.T.T == layout


def test_equal_layouts_have_one_hash(rng, some):
    """However they were made."""
    hashes = set()
    for layout in drawn_layouts(rng, some):
        twin = Mtl.StridedLayout(layout.shape, layout.strides)
        assert twin == layout and hash(twin) == hash(layout)
        if layout.ndim < 64:
            again = layout.unsqueeze([0]).squeeze_axes([0])
            assert again == layout and hash(again) == hash(layout)
        dense = layout.to_dense(Mtl.Order.C)
        assert dense == Mtl.StridedLayout(layout.shape)
        assert hash(dense) == hash(Mtl.StridedLayout(layout.shape))
        hashes.add(hash(layout))
    assert len(hashes) > some // 4


def test_dense_layouts_are_dense(rng, some):
    for layout in drawn_layouts(rng, some):
        for order in (Mtl.Order.C, Mtl.Order.F, Mtl.Order.K):
            dense = layout.to_dense(order)
            assert dense.shape == layout.shape and dense.is_dense() and dense.is_unique()
            assert dense.get_required_size() == layout.size

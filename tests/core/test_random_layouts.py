# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views and layouts against NumPy's arrays, through random operations."""

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from conftest import elements
from drawn_layouts import below, pick
from random_layouts import (Case, compare_sharing, draw_case, draw_small_case, play, play_many,
                            shrink)

pytestmark = pytest.mark.any_memory


@pytest.fixture
def some(cases):
    """Returns a smaller number of cases, as each takes longer."""
    return min(cases, 200_000) // 50


def test_operations(cases):
    n_layouts, n_refused, n_cases, seeds = conftest.play_in_processes(play_many, cases)
    conftest.NOTES.append(f"{n_layouts} random layouts in operations, seeds {seeds}")
    assert n_refused > n_cases / 100


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
        order = view.layout.to_dense(Mtl.Order.K)
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
        assert view.layout.is_unique() == (distinct == array.size), (array.shape, array.strides)


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

    n_pairs, n_shared = max(some, 100), 0 # if there were fewer, all might share or none
    for _ in range(n_pairs):
        a, b = draw(), draw()
        compare_sharing(*a, *b)
        n_shared += a[1].overlaps(b[1])
    assert 0 < n_shared < n_pairs


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


ITEM_BITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)


def draw_layout_of_bits(rng):
    shape = [pick(rng, (0, 1, 2, 3, 4, 6, 8, 12)) for _ in range(1 + below(rng, 3))]
    strides = [pick(rng, (1, 1, 2, -1, -4, 6, 8, 12, 24)) for _ in shape]
    layout = Mtl.StridedLayout.new([25, *shape], [1, *strides], pick(rng, ITEM_BITS))
    return layout.select(0, pick(rng, (0, 0, 1, 4, 12, 24)))


def bits_along(layout, axis):
    """Returns the places of the bits, those along the axis in a row."""
    place = np.full(layout.shape, layout.get_offset())
    for number, (extent, stride) in enumerate(zip(layout.shape, layout.strides)):
        shape = [1] * layout.ndim
        shape[number] = extent
        place += (np.arange(extent) * stride).reshape(shape)
    item_bits = layout.get_item_bits()
    bits = np.moveaxis(place, axis, -1)[..., None] * item_bits + np.arange(item_bits)
    return bits.reshape(bits.shape[:-2] + (bits.shape[-2] * item_bits,))


def makes_items(layout, item_bits, axis):
    """True if the bits along the axis are items of another size side by side."""
    larger, smaller = sorted((item_bits, layout.get_item_bits()))[::-1]
    rows = bits_along(layout, axis)
    n_bits = rows.shape[-1]
    return (item_bits == layout.get_item_bits()
            or larger % smaller == 0 and n_bits % item_bits == 0
            and bool((rows == rows[..., :1] + np.arange(n_bits)).all())
            and bool((rows[..., :1] % item_bits == 0).all()))


def test_repacked_items_have_the_same_bits(rng, some):
    n_repacked = 0
    for _ in range(some):
        layout = draw_layout_of_bits(rng)
        item_bits, axis = pick(rng, ITEM_BITS), below(rng, layout.ndim)
        possible = makes_items(layout, item_bits, axis)
        try:
            repacked = layout.repack(item_bits, axis)
        except ValueError:
            assert not possible, (layout, item_bits, axis)
            continue
        assert possible and repacked.get_item_bits() == item_bits, (layout, item_bits, axis)
        assert (bits_along(repacked, axis) == bits_along(layout, axis)).all(), (layout, repacked)
        n_repacked += item_bits != layout.get_item_bits()
    assert n_repacked >= some // 50


def test_the_most_bits_of_an_item(rng, some):
    n_larger = 0
    for _ in range(some):
        layout = draw_layout_of_bits(rng)
        most, axis = pick(rng, ITEM_BITS), below(rng, layout.ndim)
        item_bits = layout.get_item_bits()
        expected = max([item_bits] + [bits for bits in range(item_bits, most + 1)
                                      if most % bits == 0 and bits % item_bits == 0
                                      and makes_items(layout, bits, axis)])
        assert layout.get_max_compatible_item_bits(most, axis=axis) == expected, (layout, axis)
        n_larger += expected > item_bits
    assert n_larger >= some // 50

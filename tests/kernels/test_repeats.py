# SPDX-License-Identifier: LGPL-2.1-or-later
"""Elements that are repeated, as by broadcast_to(): operations take time for those in memory only."""

import random

import pytest

from gi.repository import Mtl

np = pytest.importorskip("numpy")

P = 2**20


def broadcast(dtype="float32", value=1):
    """2^41 + 2^40 elements; only three are in memory."""
    return Mtl.full((3, 1, 1), value, dtype).broadcast_to(3, P, P)


def writable(dtype="float32"):
    kept = Mtl.ones(3, dtype)
    layout = Mtl.StridedLayout.new([3, P, P], [1, 0, 0], kept.layout.get_item_bits())
    return kept, Mtl.StridedView.new(kept.get_buffer(), layout, kept.dtype)


@pytest.mark.parametrize("dtype", ["float32", "int64", "int4", "bool", "complex64", "bfloat16"])
def test_comparisons(dtype):
    assert broadcast(dtype).array_equal(broadcast(dtype))
    assert broadcast(dtype).all_close(broadcast("int32"))
    assert not broadcast(dtype).array_equal(broadcast(dtype, 0))
    other = Mtl.ones((3, 1, 1), dtype)
    other[2] = 0
    assert not broadcast(dtype).array_equal(other.broadcast_to(3, P, P))


@pytest.mark.parametrize("dtype", ["float32", "int4", "float64"])
def test_writes(dtype):
    kept, view = writable(dtype)
    view.fill_double(2)
    assert kept.tolist() == [2, 2, 2]
    view.copy_from(broadcast("int16", 3))
    assert kept.tolist() == [3, 3, 3]
    view[:] = 1
    assert kept.tolist() == [1, 1, 1]
    view.copy_scaled_from(broadcast(), 2)
    assert kept.tolist() == [2, 2, 2]


def test_queries():
    view = broadcast()
    assert view.compute_statistics().get_count() == 3 * P * P
    assert view.compute_statistics().get_mean() == 1
    assert 1 in view and 1.5 not in view
    assert str(view).count("1.") == 3 * 36


def random_views(rng, dtype):
    """A view and NumPy's of the same elements, of any strides, 0 and negative ones too."""
    memory = np.array([rng.choice([0, 1]) if rng.random() < .05 else 1 for _ in range(4096)], dtype)
    shape = [rng.choice([0, 1, 2, 3, 3, 4, 5]) if rng.random() < .9 else 1
             for _ in range(rng.randrange(5))]
    strides = [rng.choice([0, 0, 1, -1, 2, 3, 7, -11]) for _ in shape]
    array = np.lib.stride_tricks.as_strided(memory[2048:], shape,
                                            [stride * memory.itemsize for stride in strides])
    layout = Mtl.StridedLayout.new(shape, strides, 8 * memory.itemsize)
    return shape, array, Mtl.StridedView.new(Mtl.asview(memory).get_buffer(), layout, str(dtype),
                                             2048 * memory.itemsize)


def test_random_comparisons(cases):
    rng = random.Random(37)
    outcomes = {True: 0, False: 0}
    for _ in range(min(cases, 3000)):
        shape, array, view = random_views(rng, rng.choice(["float32", "int8", "int64", "bool"]))
        strides = [rng.choice([0, stride]) for stride in view.strides]
        other = np.ones(4096, "float32")
        other[rng.randrange(4096)] = 0
        other_array = np.lib.stride_tricks.as_strided(other[2048:], shape, [4 * s for s in strides])
        layout = Mtl.StridedLayout.new(shape, strides, 32)
        other_view = Mtl.StridedView.new(Mtl.asview(other).get_buffer(), layout, "float32", 8192)
        expected = bool((array == other_array).all())
        outcomes[expected] += 1
        assert view.array_equal(other_view) == expected
        close = (abs(other_array - array * 1.) <= .5).all()
        assert other_view.all_close(view, 0, .5) == bool(close)
        assert other_view.all_close(other_view)
    assert min(outcomes.values()) > 0

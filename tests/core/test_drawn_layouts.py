# SPDX-License-Identifier: LGPL-2.1-or-later
"""The layouts that other tests and the benchmark draw: each kind of axis is there, and no two
indices have the same element unless they are to."""

import random

import numpy as np
import pytest

from drawn_layouts import FAR, Axes, dense_strides, draw_strides, offset_bounds

N_LAYOUTS = 2000


def draw_shape(rng):
    return tuple(rng.randrange(0 if rng.random() < 0.1 else 1, 5) for _ in range(rng.randrange(5)))


def offsets_of(shape, strides):
    """The offset of each element from the first, by brute force."""
    offsets = np.zeros(shape, int)
    for axis, (extent, stride) in enumerate(zip(shape, strides)):
        places = np.arange(extent) * stride
        offsets += places.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return offsets


def some(rng, axes, is_repeated=False):
    for _ in range(N_LAYOUTS):
        shape = draw_shape(rng)
        repeated = [axis for axis in range(len(shape)) if is_repeated and rng.random() < 0.1]
        yield shape, draw_strides(rng, shape, axes, repeated), repeated


@pytest.mark.parametrize("generator", [random.Random, np.random.default_rng])
def test_elements_are_apart(rng, generator):
    axes = Axes(steps=(1, 1, 2, 3), pads=(0, 0, 1), gaps=(0, 0, 5), flipped=0.2, far=0.1,
                nowhere=0.1)
    other = generator(rng.randrange(2**32))
    for _ in range(N_LAYOUTS):
        shape = draw_shape(rng)
        offsets = offsets_of(shape, draw_strides(other, shape, axes))
        assert np.unique(offsets).size == offsets.size


def test_repeated_axes_have_the_same_elements(rng):
    for shape, strides, repeated in some(rng, Axes(steps=(1, 2), flipped=0.2), True):
        offsets = offsets_of(shape, strides)
        assert all(strides[axis] == 0 for axis in repeated)
        assert np.unique(offsets).size == np.prod([extent for axis, extent in enumerate(shape)
                                                   if axis not in repeated or extent == 0])


def test_dense_layouts(rng):
    """Layouts in an order of their own fill their memory, and the others are NumPy's."""
    n_ordered = 0
    for shape, strides, _ in some(rng, Axes(flipped=0.2, ordered=0.3)):
        if 0 not in shape:
            low, high = offset_bounds(shape, strides)
            assert high - low + 1 == np.prod(shape)
            n_ordered += sorted(map(abs, strides), reverse=True) == [*map(abs, strides)]
        for is_fortran in (False, True):
            array = np.empty([max(extent, 1) for extent in shape], "u1",
                             order="F" if is_fortran else "C")
            assert all(extent == 1 or ours == stride for extent, ours, stride in zip(
                array.shape, dense_strides(shape, is_fortran), array.strides))
    assert N_LAYOUTS * 0.3 < n_ordered < N_LAYOUTS


def test_bounds_are_those_of_the_elements(rng):
    for shape, strides, _ in some(rng, Axes(steps=(1, 3), gaps=(0, 2), flipped=0.4), True):
        if 0 not in shape:
            offsets = offsets_of(shape, strides)
            assert offset_bounds(shape, strides) == (offsets.min(), offsets.max())


def test_each_kind_of_axis_is_drawn(rng):
    def all_strides(axes, shape):
        return {draw_strides(rng, shape, axes) for _ in range(N_LAYOUTS)}

    assert all_strides(Axes(ordered=1), (2, 3)) == {(3, 1)}
    assert all_strides(Axes(), (2, 3)) == {(3, 1), (1, 2)}
    assert all_strides(Axes(ordered=1, flipped=0.5), (2, 3)) == {(3, 1), (-3, 1), (3, -1), (-3, -1)}
    assert all_strides(Axes(ordered=1, steps=(1, 2)), (2, 3)) == {(3, 1), (6, 1), (6, 2), (12, 2)}
    assert all_strides(Axes(ordered=1, pads=(0, 4)), (2, 3)) == {(3, 1), (7, 1)}
    assert all_strides(Axes(ordered=1, gaps=(0, 4), steps=(2,)), (2, 3)) == {(12, 2), (20, 2)}
    assert all_strides(Axes(ordered=1, far=0.5), (2, 3)) == {(3, 1), (FAR, 1), (3 * FAR, FAR)}
    nowhere = all_strides(Axes(ordered=1, nowhere=0.5), (1, 3))
    assert (3, 1) in nowhere and len(nowhere) > 100 and {inner for _, inner in nowhere} == {1}
    assert min(nowhere)[0] < -2**20 and max(nowhere)[0] > 2**20
    assert draw_strides(rng, (2, 3), Axes(ordered=1), stride=5) == (15, 5)

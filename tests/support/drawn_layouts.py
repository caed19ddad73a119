# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layouts drawn at random, for tests and benchmarks. Generators are Python's or NumPy's, of which
random() is used: Python's other methods are several times slower.
"""

from typing import NamedTuple

FAR = 1024


def happens(rng, chance):
    return rng.random() < chance


def below(rng, end):
    return int(rng.random() * end) if end < 2**53 else rng.randrange(end)


def pick(rng, sequence):
    return sequence[int(rng.random() * len(sequence))]


def shuffled(rng, n):
    return sorted(range(n), key=lambda _: rng.random())


class Axes(NamedTuple):
    """The kinds of axes that a layout may have. Each axis gets one of the steps, pads and gaps,
    each of which may be listed several times to be drawn more often. The others are chances."""
    steps: tuple = (1,)
    pads: tuple = (0,)   # positions behind an axis
    gaps: tuple = (0,)   # elements behind an axis
    flipped: float = 0   # a negative stride
    far: float = 0       # a stride that is a multiple of FAR, before the step
    nowhere: float = 0   # any stride, if there is one element
    ordered: float = 0   # C order for all axes


def draw_strides(rng, shape, axes, repeated=(), stride=1):
    """Strides in elements, the least of which is `stride`. Only along the repeated axes, whose
    stride is 0, do two indices have the same element."""
    strides = [0] * len(shape)
    is_ordered = happens(rng, axes.ordered)
    for axis in reversed(range(len(shape))) if is_ordered else shuffled(rng, len(shape)):
        if axis in repeated:
            continue
        if shape[axis] == 1 and happens(rng, axes.nowhere):
            strides[axis] = below(rng, 2**32) - 2**31
            continue
        if happens(rng, axes.far):
            stride = -(-stride // FAR) * FAR
        step = pick(rng, axes.steps)
        strides[axis] = -stride * step if happens(rng, axes.flipped) else stride * step
        stride *= max(shape[axis], 1) * step + pick(rng, axes.pads)
        stride += pick(rng, axes.gaps)
    return tuple(strides)


def dense_strides(shape, is_fortran=False):
    """An extent of 0 counts as 1."""
    strides, stride = [0] * len(shape), 1
    for axis in range(len(shape)) if is_fortran else reversed(range(len(shape))):
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    return tuple(strides)


def offset_bounds(shape, strides):
    """The offsets of the lowest and of the highest element from the first."""
    ends = [stride * (extent - 1) for extent, stride in zip(shape, strides)]
    return sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)

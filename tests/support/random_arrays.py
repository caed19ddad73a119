# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random shapes, and layouts in random memory, as arrays and as views of the same bytes."""

from typing import NamedTuple

import numpy as np
from gi.repository import Mtl

# Around each layout, to see that nothing is written there.
MARGIN = 80
# Larger ones than this go around the caches, and may be split over threads.
LARGE = 2 * 2**20


class Layout(NamedTuple):
    strides: tuple  # in elements
    offset: int  # of the element at all zeros, in bytes
    size: int  # of the memory, in bytes


def draw_shape(rng):
    kind = rng.random()
    if kind < 0.15:
        return rng.randrange(1, 200), rng.randrange(1, 200)
    if kind < 0.3:
        return tuple(rng.sample((rng.randrange(1, 2500), rng.randrange(1, 6)), 2))
    if kind < 0.4:
        return rng.randrange(1, 40), rng.randrange(1, 60), rng.randrange(1, 5)
    limit = rng.choice((3, 5, 9, 20))
    return tuple(rng.randrange(1, limit + 1) for _ in range(rng.randrange(0, 7)))


def draw_large_shape(rng, itemsize):
    """Of one to five axes."""
    shape, rest = [], rng.randrange(LARGE, 2 * LARGE) // itemsize
    for _ in range(rng.randrange(5)):
        extent = rng.randrange(2, rng.choice((5, 70, 1000)))
        if extent < rest:
            shape.append(extent)
            rest = -(-rest // extent)
    return tuple(rng.sample(shape + [rest], len(shape) + 1))


def draw_layout(rng, shape, itemsize, run, may_repeat):
    """Axes in any order, some apart, some far apart, some backwards, some repeated where
    that may be; the last one dense where `run` says so. Of one element's axis the
    stride leads nowhere."""
    strides = [1] * len(shape)
    axes = rng.sample(range(len(shape)), len(shape))
    is_dense = rng.random() < 0.4
    if run:
        axes.remove(len(shape) - 1)
        axes.insert(0, len(shape) - 1)
    next_, low, high = 1, 0, 0
    for number, axis in enumerate(axes):
        is_run = run and number == 0
        if may_repeat and not is_run and rng.random() < 0.08:
            strides[axis] = 0
            continue
        if shape[axis] == 1 and not is_run and rng.random() < 0.1:
            strides[axis] = rng.randrange(-2**31, 2**31)
            continue
        step = next_
        if not is_run and not is_dense and rng.random() < 0.4:
            step = -(-step // 1024) * 1024 if rng.random() < 0.1 else step * rng.randrange(1, 5)
        strides[axis] = -step if not is_run and rng.random() < 0.12 else step
        reach = strides[axis] * (shape[axis] - 1)
        low, high = low + min(reach, 0), high + max(reach, 0)
        next_ = max(step * shape[axis], next_ + abs(reach))
        if not is_run and not is_dense and rng.random() < 0.4:
            next_ += rng.randrange(10)
    offset = rng.choice((0, 64, rng.randrange(MARGIN)))
    size = offset + (high - low + 1) * itemsize + rng.randrange(MARGIN)
    return Layout(tuple(strides), offset - low * itemsize, size)


def array_in(memory, dtype, shape, layout):
    return np.ndarray(shape, dtype, memory.data, layout.offset,
                      [stride * dtype.itemsize for stride in layout.strides])


def view_in(memory, dtype, shape, layout):
    """`dtype` is one of the library's, whose elements are whole bytes."""
    buffer = Mtl.asview(memory).get_buffer()
    strided = Mtl.StridedLayout(shape, layout.strides, Mtl.DType.get_bits(dtype) // 8)
    return Mtl.StridedView.new(buffer, strided, dtype, layout.offset)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random shapes, and layouts in random memory, as arrays and as views of the same bytes."""

from typing import NamedTuple

import numpy as np
from gi.repository import Mtl

from drawn_layouts import Axes, draw_strides, happens, offset_bounds

# Around each layout, to see that nothing is written there.
MARGIN = 80
# Larger ones than this go around the caches, and may be split over threads.
LARGE = 2 * 2**20

DENSE = Axes(flipped=0.12, nowhere=0.1)
LOOSE = DENSE._replace(steps=(1,) * 7 + (2, 3, 4), gaps=(0,) * 16 + tuple(range(1, 10)), far=0.04)


class Layout(NamedTuple):
    strides: tuple  # in elements
    offset: int  # the element at all zeros, in bytes
    size: int  # the memory's, in bytes


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
    """Draws a shape of one to five axes."""
    shape, rest = [], rng.randrange(LARGE, 2 * LARGE) // itemsize
    for _ in range(rng.randrange(5)):
        extent = rng.randrange(2, rng.choice((5, 70, 1000)))
        if extent < rest:
            shape.append(extent)
            rest = -(-rest // extent)
    return tuple(rng.sample(shape + [rest], len(shape) + 1))


def draw_layout(rng, shape, itemsize, run, may_repeat):
    """Axes in any order, some apart, some far apart, some backwards, some repeated where
    that may be; the last one dense where `run` says so. Along an axis of one element, the
    stride leads nowhere."""
    outer = shape[:-1] if run else shape
    repeated = [axis for axis in range(len(outer)) if may_repeat and happens(rng, 0.08)]
    strides = draw_strides(rng, outer, DENSE if happens(rng, 0.4) else LOOSE, repeated,
                           shape[-1] if run else 1) + ((1,) if run else ())
    low, high = offset_bounds(shape, strides)
    offset = rng.choice((0, 64, rng.randrange(MARGIN)))
    size = offset + (high - low + 1) * itemsize + rng.randrange(MARGIN)
    return Layout(strides, offset - low * itemsize, size)


def array_in(memory, dtype, shape, layout):
    return np.ndarray(shape, dtype, memory.data, layout.offset,
                      [stride * dtype.itemsize for stride in layout.strides])


def view_in(memory, dtype, shape, layout):
    """`dtype` is one of the library's, whose elements are whole bytes."""
    buffer = Mtl.asview(memory).get_buffer()
    strided = Mtl.StridedLayout(shape, layout.strides, Mtl.DType.get_bits(dtype) // 8)
    return Mtl.StridedView.new(buffer, strided, dtype, layout.offset)

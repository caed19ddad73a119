# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws copies and conversions at random: arrays of NumPy, over memory that also PyTorch takes."""

import math
from typing import NamedTuple

import ml_dtypes
import numpy as np

MIB = 2**20
LEAST_BYTES, MOST_BYTES = 2**10, 2**28
MOST_MEMORY = 2**30

# Those that programs have most of are drawn more often.
_COMMON = ["u1", "i2", "i4", "i8", "f2", "f4", "f8", "c8"]
_OTHERS = ["?", "i1", "u2", "u4", "u8", "c16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
           "float8_e4m3fnuz", "float8_e5m2fnuz"]
_COMPLEX = {"c8", "c16"}
_WEIGHTS = np.array([1.0] * len(_COMMON) + [0.2] * len(_OTHERS))


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


class Part(NamedTuple):
    """How an array lies in memory of its own, from the outermost axis of that memory."""
    shape: tuple
    dtype: str
    order: tuple      # the axes as they are stored
    steps: tuple      # of each axis
    pads: tuple       # elements behind each axis
    flips: tuple
    repeats: tuple    # axes that are broadcast
    offset: int       # bytes from a line to the first


class Case(NamedTuple):
    source: Part
    dest: Part


def _draw_shape(rng, n_elements):
    n_axes = int(rng.integers(1, 9))
    shape, left = [], n_elements
    for i in range(n_axes - 1):
        if rng.random() < 0.05:
            shape.append(1)
            continue
        most = 1.6 * math.log2(max(2, left)) / (n_axes - i)
        extent = max(1, min(left, int(2 ** rng.uniform(0, most))))
        shape.append(extent)
        left //= extent
    shape.append(max(1, left))
    rng.shuffle(shape)
    return tuple(map(int, shape))


def _draw_part(rng, shape, dtype, broadcasts):
    n = len(shape)
    order = rng.permutation(n) if rng.random() < 0.6 else range(n)
    repeats = [False] * n
    if broadcasts and n > 1 and rng.random() < 0.12:
        repeats[int(rng.integers(n))] = True
    itemsize = dtype_of(dtype).itemsize
    offset = int(rng.integers(64 // itemsize)) * itemsize if rng.random() < 0.5 else 0
    if itemsize > 1 and rng.random() < 0.02:
        offset += int(rng.integers(1, itemsize))
    return Part(shape, dtype, tuple(map(int, order)),
                tuple(int(rng.choice([1, 1, 1, 1, 2, 3])) for _ in shape),
                tuple(int(rng.choice([0, 0, 0, 1, 16])) for _ in shape),
                tuple(bool(rng.random() < 0.1) for _ in shape), tuple(repeats), offset)


def _dense(shape, dtype, is_fortran):
    n = len(shape)
    order = range(n)[::-1] if is_fortran else range(n)
    return Part(shape, dtype, tuple(order), (1,) * n, (0,) * n, (False,) * n, (False,) * n, 0)


def _stored_shape(part):
    extents = [1 if repeat else extent * step + pad for extent, step, pad, repeat in zip(
        part.shape, part.steps, part.pads, part.repeats)]
    return [extents[axis] for axis in part.order]


def _memory(part):
    return math.prod(_stored_shape(part)) * dtype_of(part.dtype).itemsize


def draw(rng, converts):
    """A case, within the bounds of memory."""
    while True:
        source = str(rng.choice(_COMMON + _OTHERS, p=_WEIGHTS / _WEIGHTS.sum()))
        dest = source
        if converts:
            dest = str(rng.choice(_COMMON + _OTHERS, p=_WEIGHTS / _WEIGHTS.sum()))
            if dest == source or source in _COMPLEX and dest not in _COMPLEX:
                continue
        n_bytes = 2 ** rng.uniform(math.log2(LEAST_BYTES), math.log2(MOST_BYTES))
        shape = _draw_shape(rng, max(1, int(n_bytes / dtype_of(source).itemsize)))
        case = Case(_draw_part(rng, shape, source, True),
                    _draw_part(rng, shape, dest, False) if rng.random() < 0.25
                    else _dense(shape, dest, len(shape) > 1 and rng.random() < 0.3))
        if max(map(_memory, case)) <= MOST_MEMORY:
            return case


def build(part, fill):
    """The array. Without values to fill it with, its memory is written to, so that it is there."""
    dtype = dtype_of(part.dtype)
    stored = _stored_shape(part)
    size = math.prod(stored) * dtype.itemsize
    raw = np.ones(size + 128, np.uint8)
    start = -raw.ctypes.data % 64 + part.offset
    base = np.ndarray(stored, dtype, raw, start)
    if fill:
        base[...] = (np.arange(base.size, dtype=np.uint32) % 97).astype(dtype).reshape(stored)
    array = base.transpose(np.argsort(part.order))
    array = array[tuple(slice(0, extent * step, step) for extent, step in zip(
        part.shape, part.steps))]
    array = np.broadcast_to(array, part.shape) if any(part.repeats) else array
    return array[tuple(slice(None, None, -1 if flip else 1) for flip in part.flips)]


def _merged_axes(dest, source):
    """(extent, stride of dest, stride of source) from the innermost of dest, as few as can be."""
    axes = sorted((abs(to), extent, from_ if to >= 0 else -from_)
                  for extent, to, from_ in zip(dest.shape, dest.strides, source.strides)
                  if extent > 1)
    merged = []
    for to, extent, from_ in axes:
        if merged:
            inner_extent, inner_to, inner_from = merged[-1]
            if (to, from_) == (inner_extent * inner_to, inner_extent * inner_from):
                merged[-1] = (inner_extent * extent, inner_to, inner_from)
                continue
        merged.append((extent, to, from_))
    return merged


class Kind(NamedTuple):
    layout: str
    inner: str
    n_axes: str
    size: str
    step: str


def classify(dest, source):
    axes = _merged_axes(dest, source)
    n_bytes = source.size * (dest.itemsize + source.itemsize)
    inner, inner_to, inner_from = axes[0] if axes else (1, dest.itemsize, source.itemsize)
    if inner_to == dest.itemsize and inner_from == source.itemsize:
        layout = ("contiguous" if len(axes) <= 1 else
                  "rows >= 128 B" if inner * source.itemsize >= 128 else "rows < 128 B")
    elif any(abs(from_) == source.itemsize for _, _, from_ in axes):
        layout = "permuted"
    else:
        layout = "stepped"
    step = abs(inner_from) // source.itemsize
    return Kind(layout, "inner < 32" if inner < 32 else "inner >= 32",
                f"{min(len(axes), 5)}{'+' if len(axes) >= 5 else ''} axes",
                "<= 1 MiB" if n_bytes <= MIB else "1-16 MiB" if n_bytes <= 16 * MIB
                else "> 16 MiB",
                "step 0" if step == 0 else "step 1" if step == 1 else "step 2, 3" if step <= 3
                else "step > 3")

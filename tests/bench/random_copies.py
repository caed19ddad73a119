# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies and conversions drawn at random: shapes, strides and types, the text that repeats one of
them, and the classes that tables are made by. Only NumPy is needed."""

import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

import drawn_layouts  # noqa: E402
from drawn_layouts import Axes, below, dense_strides, happens, offset_bounds  # noqa: E402

MIB = 2**20
# Sizes of the larger of source and dest, and of the memory that one of them lies in.
LEAST_BYTES, MOST_BYTES = 2**10, 2**28
MOST_MEMORY = 2**30
LINE = 64
MOST_AXES = 8
# The axes of views of larger arrays.
AXES = Axes(steps=(1, 1, 1, 1, 2, 3), pads=(0, 0, 0, 1, 16), flipped=0.1, ordered=0.4)

# All that NumPy and PyTorch have. The common ones are drawn more often.
COMMON = ("uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64")
OTHERS = ("bool", "int8", "uint16", "uint32", "uint64", "complex128")
_TYPES = COMMON + OTHERS
_WEIGHTS = np.array([1] * len(COMMON) + [0.3] * len(OTHERS))
# NumPy has these by ml_dtypes. The packed ones take a byte there, and fewer bits here.
PACKED_BITS = {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}
SMALL = (*PACKED_BITS, "bfloat16", "float8_e4m3fn", "float8_e5m2")
_BESIDE_SMALL = ("float16", "float32", "float64")

GROUPS = {"same": "the same type", "convert": "conversions", "small": "small and packed floats"}


class Side(NamedTuple):
    """The places of the source's or of the destination's elements."""
    dtype: str
    strides: tuple  # in elements
    offset: int     # bytes from the beginning of a line to the lowest element


class Case(NamedTuple):
    shape: tuple
    source: Side
    dest: Side

    @property
    def n_elements(self):
        return math.prod(self.shape)

    @property
    def n_bytes(self):
        """Bytes that are read and written."""
        return sum(self.n_elements * bits_of(side.dtype) // 8 for side in (self.source, self.dest))

    @property
    def is_packed(self):
        return not PACKED_BITS.keys().isdisjoint((self.source.dtype, self.dest.dtype))


def dtype_of(name):
    if name in SMALL:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def bits_of(name):
    return PACKED_BITS.get(name) or 8 * dtype_of(name).itemsize


# Drawing


def draw_strides(rng, shape, may_repeat):
    n_axes = len(shape)
    is_repeated = may_repeat and n_axes > 1 and happens(rng, 0.12)
    repeated = (below(rng, n_axes),) if is_repeated else ()
    return drawn_layouts.draw_strides(rng, shape, AXES, repeated)


def draw_shape(rng, n_elements):
    n_axes = int(rng.integers(1, MOST_AXES + 1))
    shape, left = [], n_elements
    for i in range(n_axes - 1):
        most = 0 if rng.random() < 0.05 else 1.6 * math.log2(max(2, left)) / (n_axes - i)
        shape.append(max(1, min(left, int(2 ** rng.uniform(0, most)))))
        left //= shape[-1]
    return tuple(rng.permutation([*shape, max(1, left)]).tolist())


def draw_offset(rng, dtype):
    """Half of them begin with a line, and few not even where an element may."""
    kind = rng.random()
    if dtype in PACKED_BITS or kind < 0.5:
        return 0
    unit = 1 if kind < 0.53 else dtype_of(dtype).itemsize
    return int(rng.integers(LINE // unit)) * unit


def draw_types(rng, group):
    if group == "small":
        small, other = str(rng.choice(SMALL)), str(rng.choice(_BESIDE_SMALL))
        return (small, other) if rng.random() < 0.5 else (other, small)
    while True:
        source, dest = rng.choice(_TYPES, 2, p=_WEIGHTS / _WEIGHTS.sum()).tolist()
        if group == "same":
            return source, source
        loses_imaginary = source.startswith("complex") and not dest.startswith("complex")
        if source != dest and not loses_imaginary:
            return source, dest


def _draw_once(rng, group):
    source, dest = draw_types(rng, group)
    itemsize = max(dtype_of(name).itemsize for name in (source, dest))
    n_bytes = 2 ** rng.uniform(math.log2(LEAST_BYTES), math.log2(MOST_BYTES))
    shape = draw_shape(rng, int(n_bytes / itemsize))
    from_ = draw_strides(rng, shape, True)
    to = draw_strides(rng, shape, False) if rng.random() < 0.25 else dense_strides(
        shape, rng.random() < 0.3)
    return Case(shape, *(Side(name, strides, draw_offset(rng, name))
                         for name, strides in ((source, from_), (dest, to))))


def draw(seed, group, number, most_memory=MOST_MEMORY):
    """The case of that number, whichever others are drawn."""
    rng = np.random.default_rng([seed, list(GROUPS).index(group), number])
    while True:
        case = _draw_once(rng, group)
        itemsizes = [dtype_of(side.dtype).itemsize for side in (case.source, case.dest)]
        memory = [count_span(case.shape, side.strides) * itemsize
                  for side, itemsize in zip((case.source, case.dest), itemsizes)]
        if LEAST_BYTES <= case.n_elements * max(itemsizes) and max(memory) <= most_memory:
            return case


# The text of a case: `int8:float32 3x40 40,1:1,3 0:16`, the source's part before each colon


def spec_of(case):
    def both(of):
        return f"{of(case.source)}:{of(case.dest)}"

    return " ".join((both(lambda side: side.dtype), "x".join(map(str, case.shape)),
                     both(lambda side: ",".join(map(str, side.strides))),
                     both(lambda side: side.offset)))


def _side_from(dtype, strides, offset, n_axes):
    side = Side(dtype, tuple(map(int, strides.split(","))), int(offset))
    bits_of(dtype)  # there is such a type
    if len(side.strides) != n_axes:
        raise ValueError(f"{len(side.strides)} strides, {strides}, for {n_axes} axes")
    if not 0 <= side.offset < LINE:
        raise ValueError(f"an offset of {offset}, not of 0 to {LINE - 1} bytes")
    if dtype in PACKED_BITS and side.offset:
        raise ValueError(f"an offset of {offset} for {dtype}, which is packed: only 0 will do")
    return side


def case_from(spec):
    try:
        types, shape, strides, offsets = spec.split(" ")
        shape = tuple(map(int, shape.split("x")))
        sides = [_side_from(*fields, len(shape)) for fields in zip(
            *(field.split(":", 1) for field in (types, strides, offsets)))]
        if len(sides) != 2 or min(shape) < 1:
            raise ValueError("two sides, and extents of 1 or more, are required")
        if any(stride == 0 < extent - 1 for stride, extent in zip(sides[1].strides, shape)):
            raise ValueError("the destination has a stride of 0")
        return Case(shape, *sides)
    except (ValueError, TypeError) as error:
        raise ValueError(f"“{spec}” is no case: {error}. One is like “int8:float32 3x40 "
                         "40,1:1,3 0:16”: types, shape, strides in elements and bytes from a "
                         "line, each of source:destination") from error


# Memory


def count_span(shape, strides):
    low, high = offset_bounds(shape, strides)
    return high - low + 1


def build(shape, side, values=None):
    """The array, and the elements that it lies among as an array of one axis: repeated values, or
    bytes of 1. Their memory is written to, so that it is there."""
    dtype = dtype_of(side.dtype)
    low, _ = offset_bounds(shape, side.strides)
    span = count_span(shape, side.strides)
    raw = np.ones(span * dtype.itemsize + 2 * LINE, np.uint8)
    start = -raw.ctypes.data % LINE + side.offset
    memory = np.ndarray(span, dtype, raw, start)
    if values is not None:
        memory[...] = np.resize(values, span)
    return np.ndarray(shape, dtype, raw, start - low * dtype.itemsize,
                      [stride * dtype.itemsize for stride in side.strides]), memory


def values_for(source, dest):
    """Elements of the source that are in the range of both types: what others become differs."""
    rng = np.random.default_rng(0)
    n, most = 8191, 96
    if not PACKED_BITS.keys().isdisjoint((source, dest)):
        most = 6
    has_sign = not any(name.startswith(("uint", "bool")) for name in (source, dest))
    numbers = rng.integers(-most if has_sign else 0, most, n, endpoint=True)
    dtype = dtype_of(source)
    if dtype.kind in "bui":
        return (numbers % 2 if dtype.kind == "b" else numbers).astype(dtype)
    numbers = numbers * (1 - rng.integers(0, 4, n) / 8)
    return (numbers + 1j * numbers[::-1] if dtype.kind == "c" else numbers).astype(dtype)


# Classes


class Kind(NamedTuple):
    """The class of a copy whose layouts have their axes merged as far as possible."""
    layout: str
    inner: str
    n_axes: str
    size: str
    step: str


def kinds_in_order():
    """The classes of each kind."""
    return Kind(("contiguous", "rows from 128 B", "rows below 128 B",
                 "permuted, some unit axis", "stepped, no unit axis"),
                ("inner extent below 32", "inner extent from 32"),
                ("1 axis", "2 axes", "3 axes", "4 axes", "5 axes", "6 to 8 axes"),
                ("up to 1 MiB", "1 to 16 MiB", "above 16 MiB"),
                ("step 0", "step 1", "step 2 or 3", "step above 3"))


def merge_axes(case):
    """(extent, stride of dest, stride of source) from the innermost of dest."""
    axes = sorted((abs(to), extent, from_ if to >= 0 else -from_) for extent, to, from_ in zip(
        case.shape, case.dest.strides, case.source.strides) if extent > 1)
    merged = []
    for to, extent, from_ in axes:
        if merged:
            inner, inner_to, inner_from = merged[-1]
            if (to, from_) == (inner * inner_to, inner * inner_from):
                merged[-1] = (inner * extent, inner_to, inner_from)
                continue
        merged.append((extent, to, from_))
    return merged or [(1, 1, 1)]


def _layout_of(axes, source_bits):
    inner, to, from_ = axes[0]
    if to == from_ == 1:
        if len(axes) == 1:
            return 0
        return 1 if inner * source_bits >= 128 * 8 else 2
    return 3 if any(abs(stride) == 1 for _, _, stride in axes) else 4


def classify(case):
    kinds, axes = kinds_in_order(), merge_axes(case)
    inner, _, from_ = axes[0]
    step, n_bytes = abs(from_), case.n_bytes
    return Kind(kinds.layout[_layout_of(axes, bits_of(case.source.dtype))],
                kinds.inner[inner >= 32], kinds.n_axes[min(len(axes), 6) - 1],
                kinds.size[(n_bytes > MIB) + (n_bytes > 16 * MIB)],
                kinds.step[(step > 0) + (step > 1) + (step > 3)])

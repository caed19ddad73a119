# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers of every element type, and what they become of another. NumPy and ml_dtypes are the
judges where they define a result and round once; else exact comparisons with midpoints are."""

import functools
import warnings

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import NUMERIC, dtype_of

try:
    import ml_dtypes
except ImportError:  # then there are only NumPy's own types
    ml_dtypes = None

SUBBYTE_FLOATS = ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]
SUBBYTE_INTEGERS = ["int2", "int4", "uint2", "uint4"]
SUBBYTE = SUBBYTE_FLOATS + SUBBYTE_INTEGERS
SMALL = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
         "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"] + SUBBYTE_FLOATS
NARROW = SMALL + ["bfloat16", "float16"]
INTEGERS = [name for name in NUMERIC if "int" in name] + SUBBYTE_INTEGERS
REAL = ["bool"] + INTEGERS + NARROW + ["float32", "float64"]
# NumPy has none of two float16s.
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
TYPES = REAL + list(PARTS)
BITS = {name: Mtl.DType.get_bits(dtype_of(name)) for name in TYPES}


def numpy_type(name):
    """Returns the type that stands for one element: a complex number is two."""
    if name in PARTS:
        return np.dtype((numpy_type(PARTS[name]), 2))
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def quiet(function):
    def call(*arguments):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*arguments)
    return call


def random_patterns(name, n, rng):
    word = np.dtype(f"u{numpy_type(name).itemsize}")
    return rng.integers(0, 2 ** min(BITS[name], 63), n, np.uint64).astype(word) \
        ^ rng.integers(0, 2, n).astype(word) << word.type(BITS[name] - 1)


def edges():
    """Returns the limits of types, and numbers beside them; midpoints of narrow floats."""
    powers = 2.0 ** np.arange(-160, 140)
    points = [0.0, 0.5, np.inf, np.nan]
    for bits in (7, 8, 15, 16, 31, 32, 63, 64):
        points += [2.0**bits + delta for delta in (-2, -1.5, -1, -0.5, 0, 0.5, 1, 2)]
    for mantissa in (1.5, 1.25, 1.0625, 1.03125, 1.00390625, 1.00048828125, 1.00146484375):
        points += list(powers * mantissa)
    points += list(powers) + [65504, 65519, 65520, 65536, 448, 464, 465, 240, 248, 6, 7.5, 28,
                              1e300]
    return np.array(points + [-point for point in points])


@quiet
def samples(name, rng):
    """All patterns of the narrow types, else edges and random ones."""
    if name == "bool":
        return np.array([False, True] * 8)
    if name in PARTS:
        part = samples(PARTS[name], rng)
        return np.stack([part, rng.permutation(part)], axis=1)
    dtype = numpy_type(name)
    if BITS[name] <= 16:
        word = np.uint8 if BITS[name] <= 8 else np.uint16
        return np.arange(2 ** BITS[name], dtype=word).view(dtype)
    if dtype.kind == "f":
        near = edges().astype(dtype)
        return np.concatenate([near, np.nextafter(near, dtype.type(np.inf)),
                               np.nextafter(near, dtype.type(-np.inf)),
                               random_patterns(name, 3000, rng).view(dtype),
                               (rng.standard_normal(3000) * 1000).astype(dtype)])
    of_all_lengths = random_patterns(name, 6000, rng) >> rng.integers(0, BITS[name], 6000).astype(
        f"u{dtype.itemsize}")
    near = [(1 << bit) + delta for bit in range(BITS[name]) for delta in (-1, 0, 1)]
    near += [(3 << bit) + delta for bit in range(BITS[name] - 1) for delta in (-1, 0, 1)]
    # Right beside what lies between two numbers of 8, 11 and 24 bits.
    near += [(odd << bit) + delta for odd in (0x181, 0x183, 0xc01, 0xc03, 0x1800001, 0x1800003)
             for bit in range(BITS[name]) for delta in (-1, 0, 1)]
    near = np.array([value % 2**BITS[name] for value in near], np.uint64)
    return np.concatenate([of_all_lengths, near.astype(of_all_lengths.dtype)]).view(dtype)


@functools.cache
def narrow_values(name):
    """The finite numbers that are not negative, each at its pattern."""
    word = np.uint8 if BITS[name] <= 8 else np.uint16
    patterns = np.arange(2 ** BITS[name], dtype=word).view(numpy_type(name)).astype(np.float64)
    finite = np.isfinite(patterns) & ~np.signbit(patterns)
    return patterns[:np.argmin(finite) if not finite.all() else None]


@functools.cache
def middles_between(name, dtype):
    """Returns the numbers halfway between two neighbours, and True for those that the type has:
    ties."""
    values = narrow_values(name)
    values = np.append(values, 2 * values[-1] - values[-2] if name != "float8_e8m0fnu"
                       else 2 * values[-1])
    middles = (values[:-1] + values[1:]) / 2
    if dtype != np.uint64:
        return middles, np.ones(middles.size + 1, bool)
    # For integers: above a middle is above its integer part.
    below = middles[middles < 2.0**64]
    return below.astype(np.uint64), np.append(below == np.floor(below), False)


def round_to(magnitudes, name):
    """Returns the patterns of the numbers nearest to float64s or uint64s, compared exactly; one
    above the last for numbers that are too large."""
    middles, is_tie = middles_between(name, magnitudes.dtype)
    index = np.searchsorted(middles, magnitudes, "left")
    at_middle = (index < middles.size) & is_tie[index] \
        & (middles[np.minimum(index, middles.size - 1)] == magnitudes)
    # For powers alone, the larger one is even: their mantissa is the leading 1.
    return index + (at_middle & ((index % 2 == 1) | (name == "float8_e8m0fnu")))


@quiet
def to_narrow(array, name):
    if array.dtype.kind == "f":
        magnitudes, negative = np.abs(array.astype(np.float64)), np.signbit(array)
    else:
        negative = array < 0
        magnitudes = np.where(negative, -array.astype(np.uint64), array.astype(np.uint64))
    word = np.dtype(f"u{numpy_type(name).itemsize}")
    is_nan = np.isnan(magnitudes)
    index = round_to(np.where(is_nan, 0, magnitudes) if magnitudes.dtype.kind == "f"
                     else magnitudes, name)
    n = narrow_values(name).size
    beyond = np.array([np.finfo(np.float32).max, np.nan], np.float32)
    beyond = beyond.astype(numpy_type(name)).view(word)
    patterns = np.where(index >= n, beyond[0], index).astype(word)
    sign = word.type(1 << (BITS[name] - 1))
    if name == "float8_e8m0fnu":
        patterns = np.where(negative | (magnitudes == 0), word.type(0xff), patterns)
    elif name.endswith("fnuz"):
        patterns = np.where(negative & (patterns & 0x7f != 0), patterns | sign, patterns)
    else:
        patterns = np.where(negative, patterns ^ sign, patterns)
    special = np.where(negative & (name in SUBBYTE_FLOATS), beyond[1] ^ sign, beyond[1])
    return np.where(is_nan, special, patterns).astype(word).view(numpy_type(name))


def limits_of(name):
    return (ml_dtypes if name in SUBBYTE_INTEGERS else np).iinfo(numpy_type(name))


def to_integer(values, name):
    ends, dtype = limits_of(name), numpy_type(name)
    inside = (values > float(ends.min) - 1) & (values < float(ends.max))
    result = np.where(inside, values, 0).astype(dtype)
    result[values <= float(ends.min)] = ends.min
    result[values >= float(ends.max)] = ends.max
    return result


@quiet
def judge(array, source, name):
    if source in PARTS and name in PARTS:
        return judge(array, PARTS[source], PARTS[name])
    if source in PARTS and name == "bool":
        return (array != 0).any(axis=-1)
    if source in PARTS:
        return judge(array[..., 0], PARTS[source], name)
    if name in PARTS:
        real = judge(array, source, PARTS[name])
        return np.stack([real, np.zeros_like(real)], axis=-1)
    if source in NARROW:
        array = array.astype(np.float32)
    if source in SUBBYTE_INTEGERS:
        array = array.astype(np.int8)
    if name in NARROW:
        return to_narrow(array, name)
    if array.dtype.kind == "f" and name in INTEGERS:
        return to_integer(array.astype(np.float64), name)
    if name in SUBBYTE_INTEGERS:
        return (array.astype(np.uint8) & 2**BITS[name] - 1).view(numpy_type(name))
    return array.astype(numpy_type(name))


def bits_of(array):
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


@quiet
def is_nan(array):
    if array.dtype.kind in "biu":
        return np.zeros(array.shape, bool)
    return np.isnan(array.astype(np.float64))


def assert_same(ours, expected, array):
    wrong = (bits_of(ours) != bits_of(expected)) & ~(is_nan(ours) & is_nan(expected))
    if wrong.any():
        i = tuple(np.argwhere(wrong)[0])
        pytest.fail(f"{array[i[0]]!r} became {ours[i]!r}, not {expected[i]!r}; {wrong.sum()} of "
                    f"{wrong.size} differ")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random layouts, and what is done with them, on NumPy's arrays and here.

A case is plain data, so that one that fails can be made smaller, and played
again as it is printed.
"""

import math
import random
import time
from typing import NamedTuple

import numpy as np
from gi.repository import Mtl

import drawn_layouts
from conftest import first_byte
from drawn_layouts import Axes, below, offset_bounds, pick, shuffled
from layout_operations import (ARRAY, BUFFER, FIRST_BYTE, HAS_RESHAPE_COPY, IN_PLACE, NOWHERE,
                               OPERATIONS, signed_offset)

ORIGIN = 8192
MAX_NDIM = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32

# Some more often than others.
NAMES = [*(name for name in OPERATIONS if name != "repack"), "reshape", "flatten", "reinterpret"]
# An older NumPy makes a copy before it says that it will not.
NAMES_NOWHERE = ["repack", *("repack" if name == "reinterpret" else name for name in NAMES
                             if HAS_RESHAPE_COPY or name not in ("reshape", "flatten"))]

# NumPy's exceptions for all mistakes.
NUMPY_ERRORS = (IndexError, ValueError, AttributeError)


class Case(NamedTuple):
    shape: tuple
    strides: tuple  # in elements
    steps: tuple = ()  # (name, *arguments)
    in_memory: bool = True  # a view; else a layout, whose elements nobody reads
    start: int = 0  # the view's, in elements


class Mismatch(AssertionError):
    """NumPy and the library differ."""


def numpy_cannot(error, ours):
    """True if the error is right, and NumPy takes only less: an extent of 0 does not save the
    product of the others, nor a stride of 0 the size in bytes; an older one has 32 dimensions."""
    too_much = any(word in str(error) for word in ("too big", "too large"))
    return (too_much and (ours.size == 0 or ours.size * ours.itemsize >= 2**63)
            or MAX_NDIM < ours.ndim <= 64)


# Cases


DENSE = Axes(flipped=0.25)


def draw_strides(rng, shape):
    if rng.random() < 0.4:
        return drawn_layouts.draw_strides(rng, shape, DENSE)
    return [pick(rng, (0, 1, -1, 2, -3, 5, 12, -20)) for _ in shape]


def draw_small_case(rng):
    shape = [pick(rng, (0, 1, 1, 2, 2, 3, 4, 5)) if rng.random() < 0.9 else 7
             for _ in range(below(rng, 5))]
    return Case(tuple(shape), tuple(draw_strides(rng, shape)))


def draw_deep_case(rng):
    """Draws a case of up to NumPy's number of dimensions, few of which hold more than one index."""
    shape = [1] * (5 + below(rng, MAX_NDIM - 4))
    for axis in shuffled(rng, len(shape))[:below(rng, 6)]:
        shape[axis] = pick(rng, (0, 2, 2, 2, 3))
    return Case(tuple(shape), tuple(draw_strides(rng, shape)))


def draw_even_case(rng):
    """Draws a case with an axis along which elements often make larger ones."""
    shape = [pick(rng, (2, 3, 4, 6, 8)) for _ in range(1 + below(rng, 3))]
    strides = [pick(rng, (8, 4, -4, 12, 16, -24, 0, 2, 5)) for _ in shape]
    strides[below(rng, len(shape))] = 1
    return Case(tuple(shape), tuple(strides), (), rng.random() < 0.7, pick(rng, (0, 0, 0, 1, 2)))


def draw_huge_number(rng):
    kind = rng.random()
    if kind < 0.25:
        return rng.getrandbits(62)
    return below(rng, 10) if kind < 0.5 else 2**below(rng, 63) - (kind < 0.75)


def draw_huge_case(rng):
    """Products, strides and reaches on both sides of 2^63."""
    shape = [pick(rng, (draw_huge_number(rng), below(rng, 4), 1))
             for _ in range(below(rng, 5))]
    strides = [pick(rng, (-1, 1)) * draw_huge_number(rng) for _ in shape]
    return Case(tuple(shape), tuple(strides), (), False)


def draw_case(rng):
    kind = rng.random()
    draw = (draw_huge_case if kind < 0.2 else draw_even_case if kind < 0.4
            else draw_deep_case if kind < 0.5 else draw_small_case)
    return draw(rng)


def fits(case):
    """True if all offsets fit 63 bits, by integers that have no limit."""
    if 0 in case.shape:
        return True
    low, high = offset_bounds(case.shape, case.strides)
    return math.prod(case.shape) < 2**63 and -2**63 <= low and high - low < 2**63


def make_array(case):
    if case.in_memory:
        return np.lib.stride_tricks.as_strided(ARRAY[ORIGIN + case.start:], case.shape,
                                               [2 * stride for stride in case.strides],
                                               writeable=False)
    return np.lib.stride_tricks.as_strided(NOWHERE, case.shape, case.strides, writeable=False)


def make_ours(case):
    layout = Mtl.StridedLayout(case.shape, case.strides, 2 if case.in_memory else 1)
    if case.in_memory:
        return Mtl.StridedView.new(BUFFER, layout, Mtl.DType.INT16, 2 * (ORIGIN + case.start))
    return layout


def strides_differ(array, ours):
    """True if strides differ; those of extents below 2 lead nowhere."""
    itemsize = array.itemsize
    strides = tuple([stride * itemsize for stride in ours.strides])
    return strides != array.strides and any(
        extent > 1 and here != there
        for extent, here, there in zip(array.shape, strides, array.strides))


def compare(case, array, ours):
    if ours.shape != array.shape:
        raise Mismatch(f"shape {ours.shape}, not {array.shape}")
    if array.size == 0:
        return
    if ours.itemsize != array.itemsize or strides_differ(array, ours):
        raise Mismatch(f"strides {ours.strides} of {ours.itemsize} bytes, not {array.strides} "
                       f"bytes in all, of {array.itemsize}")
    if case.in_memory:
        address = array.ctypes.data
        if first_byte(ours) != address - FIRST_BYTE:
            raise Mismatch("another first element")
        if IN_PLACE and ours.get_address() != address:
            raise Mismatch("another address")
    elif ours.get_offset() * ours.itemsize != signed_offset(array):
        raise Mismatch(f"offset {ours.get_offset()}")
    flags = array.flags
    if (ours.is_contiguous(Mtl.Order.C) != flags.c_contiguous
            or ours.is_contiguous(Mtl.Order.F) != flags.f_contiguous):
        raise Mismatch("contiguity")


def compare_sharing(array, ours, other_array, others):
    expected = np.shares_memory(array, other_array)
    if ours.overlaps(others) != expected or others.overlaps(ours) != expected:
        raise Mismatch(f"overlaps() says {not expected}")


def compare_elements(array, ours):
    # Without elements, there may still be more lists than memory holds.
    n_lists = math.prod(max(extent, 1) for extent in array.shape)
    if array.dtype.kind in "iu" and n_lists < 10_000_000:
        same = ours.tolist() == array.tolist()
    else:
        same = bytes(ours) == array.tobytes()
    if not same:
        raise Mismatch("other elements")


class Played(NamedTuple):
    case: Case
    n_layouts: int
    n_refused: int
    pair: tuple  # the last array and ours, None where the case was refused at once


def play(case, rng=None):
    """Does the steps of a case, or with a generator some of its own, and checks
    each."""
    steps = []
    n_steps = 1 + below(rng, 3) if rng else len(case.steps)

    try:
        ours = make_ours(case)
    except ValueError:
        if fits(case):
            raise Mismatch("refused") from None
        return Played(case, 1, 1, None)
    if not fits(case):
        raise Mismatch("not refused")
    try:
        array = make_array(case)
    except ValueError as error:
        if not numpy_cannot(error, ours):
            raise Mismatch(f"NumPy says {error}") from None
        return Played(case, 1, 0, None)

    first_pair = array, ours
    compare(case, array, ours)
    for number in range(n_steps):
        name = pick(rng, NAMES if case.in_memory else NAMES_NOWHERE) if rng \
            else case.steps[number][0]
        draw, on_array, on_ours = OPERATIONS[name]
        arguments = draw(rng, array) if rng else case.steps[number][1:]
        steps.append((name, *arguments))
        done = case._replace(steps=tuple(steps))
        try:
            try:
                array = on_array(array, *arguments)
            except NUMPY_ERRORS as error:
                try:
                    ours = on_ours(ours, *arguments)
                except (IndexError, ValueError):
                    return Played(done, number + 1, 1, (array, ours))
                if numpy_cannot(error, ours):
                    return Played(done, number + 1, 0, None)
                raise Mismatch(f"NumPy refuses {name}: {error}") from None
            ours = on_ours(ours, *arguments)
            compare(case, array, ours)
        except Exception as error:
            error.case = done
            raise
    done = case._replace(steps=tuple(steps))
    if case.in_memory and array.ndim <= 8:
        compare_sharing(array, ours, *first_pair)
    return Played(done, n_steps + 1, 0, (array, ours))


def fails(case):
    try:
        play(case)
    except Exception:
        return True
    return False


# Making a case smaller


def smaller_numbers(number):
    """Nearer to 0, the nearest first."""
    tried = {number}
    for candidate in (0, 1, -1, 2, -number, number // 2, number - 1 if number > 0 else number + 1):
        if abs(candidate) <= abs(number) and candidate not in tried \
                and not (abs(candidate) == abs(number) and candidate < 0):
            tried.add(candidate)
            yield candidate


def smaller_cases(case):
    if case.start:
        yield case._replace(start=0)
    for i in range(len(case.steps)):
        yield case._replace(steps=case.steps[:i] + case.steps[i + 1:])
    for axis in range(len(case.shape)):
        yield case._replace(shape=case.shape[:axis] + case.shape[axis + 1:],
                            strides=case.strides[:axis] + case.strides[axis + 1:])
    for field in ("shape", "strides"):
        numbers = getattr(case, field)
        for axis, number in enumerate(numbers):
            for smaller in smaller_numbers(number):
                if field == "strides" or smaller >= 0:
                    yield case._replace(**{field: numbers[:axis] + (smaller,) + numbers[axis + 1:]})


def shrink(case, still_fails=fails, seconds=20):
    """The smallest case found that fails as well."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for smaller in smaller_cases(case):
            if still_fails(smaller):
                case = smaller
                break
        else:
            break
    return case


# Many of them


class Tally(NamedTuple):
    n_layouts: int
    n_refused: int
    n_cases: int


def describe_failure(case, error):
    smallest = shrink(case)
    try:
        play(smallest)
    except Exception as last:
        error = last
    return f"{error!r}\n{smallest}\nfound as\n{case}"


def play_many(seed, n_wanted, seconds):
    """Plays as many layouts as wanted, or as there is time for. What fails is raised in words,
    which another process can pass on."""
    rng = random.Random(seed)
    deadline = time.monotonic() + seconds
    n_layouts = n_refused = n_cases = 0
    kept = None
    while n_layouts < n_wanted and time.monotonic() < deadline:
        case = draw_case(rng)
        try:
            played = play(case, rng)
        except Exception as error:
            case = getattr(error, "case", case)
            raise Mismatch(f"seed {seed!r}: {describe_failure(case, error)}") from None
        n_layouts += played.n_layouts
        n_refused += played.n_refused
        n_cases += 1
        if not case.in_memory or played.pair is None:
            continue
        array, ours = played.pair
        try:
            if n_cases % 20 == 0:
                compare_elements(array, ours)
            if kept is not None and array.ndim <= 5:
                compare_sharing(array, ours, *kept.pair)
        except Exception as error:
            raise Mismatch(f"seed {seed!r}: {error!r}\n{played}\nand {kept}") from None
        if array.ndim <= 5 and (kept is None or rng.random() < 0.3):
            kept = played
    return Tally(n_layouts, n_refused, n_cases)

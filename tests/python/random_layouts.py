# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random layouts, and what is done with them, on NumPy's arrays and here.

A case is plain data, so that one that fails can be made smaller, and played
again as it is printed.
"""

import time
from typing import NamedTuple

import numpy as np
from gi.repository import GLib, Mtl

from conftest import first_byte, new_buffer

MEMORY = np.arange(16384, dtype=np.int16)
BUFFER = new_buffer(MEMORY.nbytes)
BUFFER.set_bytes(0, GLib.Bytes.new(MEMORY.tobytes()))
ARRAY = np.asarray(BUFFER).view(np.int16) if BUFFER.is_host_accessible() else MEMORY
ORIGIN = 8192

# A byte that nobody reads, for strides that lead anywhere.
NOWHERE = np.zeros(1, np.uint8)

MAX_NDIM = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
HAS_RESHAPE_COPY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"

# What NumPy says for all that can be wrong.
NUMPY_ERRORS = (IndexError, ValueError, AttributeError)


class Case(NamedTuple):
    shape: tuple
    strides: tuple  # in elements
    steps: tuple = ()  # (name, *arguments)
    in_memory: bool = True  # a view; else a layout, whose elements nobody reads


class Mismatch(AssertionError):
    """NumPy and the library differ."""


def numpy_cannot(error, ours):
    """Whether it is right, and only more than NumPy takes: an extent of 0 does
    not save the product of the others, and an older one has 32 dimensions."""
    too_much = any(word in str(error) for word in ("too big", "too large"))
    return too_much and ours.size == 0 or MAX_NDIM < ours.ndim <= 64


def check(holds, what):
    if not holds:
        raise Mismatch(what)


# What is done: each operation has arguments, drawn for an array, and two
# functions that take them, NumPy's and ours.


def draw_slice(rng, extent):
    def bound():
        if rng.random() < 0.3:
            return None
        if rng.random() < 0.02:
            return rng.choice((-2**63, 2**63 - 1))
        return rng.randrange(-extent - 2, extent + 3)

    return slice(bound(), bound(), rng.choice((None, 1, 2, -1, -2, 3, -7)))


def draw_index(rng, array):
    parts = []
    for extent in array.shape:
        kind = rng.random()
        if kind < 0.2 and extent > 0:
            parts.append(rng.randrange(-extent, extent))
        elif kind < 0.7:
            parts.append(draw_slice(rng, extent))
        else:
            break
    if rng.random() < 0.3:
        parts.insert(rng.randrange(len(parts) + 1), None)
    if rng.random() < 0.3:
        parts.insert(rng.randrange(len(parts) + 1), Ellipsis)
    return (tuple(parts),)


def slice_string(index):
    def bound(value):
        return "" if value is None else str(value)

    names = []
    for part in index:
        if isinstance(part, slice):
            names.append(f"{bound(part.start)}:{bound(part.stop)}:{bound(part.step)}")
        else:
            names.append({None: "newaxis", Ellipsis: "..."}.get(part, str(part)))
    return ", ".join(names)


def index_array(array, index):
    # NumPy gives a scalar where a view is asked for by integers alone.
    return array[index if Ellipsis in index else index + (Ellipsis,)]


def index_ours(ours, index):
    integers = [part for part in index if isinstance(part, int)]
    return ours[index if len(integers) < ours.ndim or Ellipsis in index else index + (Ellipsis,)]


def draw_permutation(rng, array):
    return ([rng.choice((axis, axis - array.ndim))
             for axis in rng.sample(range(array.ndim), array.ndim)],)


def random_divisor(rng, n):
    divisors = [d for d in range(1, min(n, 64) + 1) if n % d == 0]
    return rng.choice(divisors + [n // d for d in divisors])


def draw_shape(rng, array):
    """A shape of that many elements, sometimes with a -1 or of another size."""
    size = array.size
    if size == 0:
        shape = [rng.randrange(0, 4) for _ in range(rng.randrange(1, 4))]
        shape[rng.randrange(len(shape))] = 0
        return (shape,)
    shape = []
    while size > 1 and len(shape) < 5:
        divisor = random_divisor(rng, size)
        shape.insert(rng.randrange(len(shape) + 1), divisor)
        size //= divisor
    if size > 1 and rng.random() < 0.95:
        shape.append(size)
    if shape and rng.random() < 0.2:
        shape[rng.randrange(len(shape))] = -1
    return (shape,)


def reshape_array(array, shape):
    if HAS_RESHAPE_COPY:
        return array.reshape(shape, copy=False)
    result = array[...]
    result.shape = shape
    return result


def draw_range_of_axes(rng, array):
    first = rng.randrange(array.ndim) if array.ndim else 0
    return first, rng.randrange(first, array.ndim) if array.ndim else 0


def flatten_array(array, first, last):
    if array.ndim == 0:
        return reshape_array(array, (1,))
    extent = 1
    for axis in range(first, last + 1):
        extent *= array.shape[axis]
    return reshape_array(array, array.shape[:first] + (extent,) + array.shape[last + 1:])


def draw_two_axes(rng, array):
    return tuple(rng.randrange(-array.ndim - 1, array.ndim + 1) for _ in "ab")


def draw_some_axes(rng, array):
    return ([axis for axis in range(array.ndim) if rng.random() < 0.3],)


def draw_new_axes(rng, array):
    ndim = array.ndim + rng.randrange(1, 3)
    return (rng.sample(range(-ndim, ndim), ndim - array.ndim),)


def draw_broadcast_shape(rng, array):
    shape = [rng.randrange(0, 4) if extent == 1 and rng.random() < 0.7 else extent
             for extent in array.shape]
    shape = [rng.randrange(0, 3) for _ in range(rng.randrange(0, 2))] + shape
    if shape and rng.random() < 0.1:
        shape[rng.randrange(len(shape))] += 1
    return (shape,)


def draw_range(rng, array):
    if array.ndim == 0:
        return 0, 0, 1, 1
    axis = rng.randrange(array.ndim)
    start, stop, step = draw_slice(rng, array.shape[axis]).indices(array.shape[axis])
    # Before the first element there is no index but one that is clamped.
    return axis, *(-2**63 if step < 0 and bound == -1 else bound for bound in (start, stop)), step


def narrow_array(array, axis, start, stop, step):
    return array[(slice(None),) * axis + (slice(start, stop, step),)]


def draw_axis_and_index(rng, array):
    axis = rng.randrange(array.ndim) if array.ndim else 0
    extent = array.shape[axis] if array.ndim else 0
    return axis, rng.randrange(-extent - 1, extent + 1)


def select_array(array, axis, number):
    return array[(slice(None),) * axis + (number, Ellipsis)]


def draw_axis(rng, array):
    return (rng.randrange(-array.ndim - 1, array.ndim + 1),)


def draw_nothing(rng, array):
    return ()


OPERATIONS = {
    "index": (draw_index, index_array, index_ours),
    "slice": (draw_index, index_array, lambda ours, index: ours.slice(slice_string(index))),
    "permute": (draw_permutation, lambda array, axes: array.transpose(axes),
                lambda ours, axes: ours.permute(axes)),
    "transpose": (draw_nothing, lambda array: array.T, lambda ours: ours.T),
    "reshape": (draw_shape, reshape_array, lambda ours, shape: ours.reshape(shape)),
    "flatten": (draw_range_of_axes, flatten_array,
                lambda ours, first, last: ours.flatten(first, last)),
    "swap_axes": (draw_two_axes, lambda array, a, b: array.swapaxes(a, b),
                  lambda ours, a, b: ours.swap_axes(a, b)),
    "squeeze": (draw_nothing, lambda array: array.squeeze(), lambda ours: ours.squeeze()),
    "squeeze_axes": (draw_some_axes, lambda array, axes: array.squeeze(tuple(axes)),
                     lambda ours, axes: ours.squeeze_axes(axes)),
    "unsqueeze": (draw_new_axes, np.expand_dims, lambda ours, axes: ours.unsqueeze(axes)),
    "broadcast_to": (draw_broadcast_shape, np.broadcast_to,
                     lambda ours, shape: ours.broadcast_to(shape)),
    "narrow": (draw_range, narrow_array,
               lambda ours, *arguments: ours.narrow(*arguments)),
    "select": (draw_axis_and_index, select_array,
               lambda ours, axis, number: ours.select(axis, number)),
    "flip": (draw_axis, np.flip, lambda ours, axis: ours.flip(axis)),
}
NAMES = [*OPERATIONS, "reshape", "flatten"]
# An older NumPy makes a copy before it says that it will not.
NAMES_NOWHERE = [name for name in NAMES
                 if HAS_RESHAPE_COPY or name not in ("reshape", "flatten")]


# Cases


def draw_strides(rng, shape):
    if rng.random() < 0.4: # dense, in some order
        strides = [0] * len(shape)
        step = 1
        for axis in rng.sample(range(len(shape)), len(shape)):
            strides[axis] = step * rng.choice((1, 1, 1, -1))
            step *= max(shape[axis], 1)
        return strides
    return [rng.choice((0, 1, -1, 2, -3, 5, 12, -20)) for _ in shape]


def draw_small_case(rng):
    shape = [rng.choice((0, 1, 1, 2, 2, 3, 4, 5)) if rng.random() < 0.9 else 7
             for _ in range(rng.randrange(0, 5))]
    return Case(tuple(shape), tuple(draw_strides(rng, shape)))


def draw_deep_case(rng):
    """As many dimensions as NumPy has, few of which hold more than one index."""
    shape = [1] * rng.randrange(5, MAX_NDIM + 1)
    for axis in rng.sample(range(len(shape)), rng.randrange(0, 6)):
        shape[axis] = rng.choice((0, 2, 2, 2, 3))
    return Case(tuple(shape), tuple(draw_strides(rng, shape)))


def draw_huge_number(rng):
    return rng.choice((rng.randrange(2**62), 2**rng.randrange(63), 2**rng.randrange(63) - 1,
                       rng.randrange(10)))


def draw_huge_case(rng):
    """Products, strides and reaches on both sides of 2^63."""
    shape = [rng.choice((draw_huge_number(rng), rng.randrange(4), 1))
             for _ in range(rng.randrange(0, 5))]
    strides = [rng.choice((-1, 1)) * draw_huge_number(rng) for _ in shape]
    return Case(tuple(shape), tuple(strides), (), False)


def draw_case(rng):
    kind = rng.random()
    return (draw_small_case if kind < 0.7 else draw_huge_case if kind < 0.9 else draw_deep_case)(rng)


def fits(case):
    """Whether all offsets fit 63 bits, by integers that have no limit."""
    volume, low, high = 1, 0, 0
    if 0 in case.shape:
        return True
    for extent, stride in zip(case.shape, case.strides):
        volume *= extent
        low += min(stride * (extent - 1), 0)
        high += max(stride * (extent - 1), 0)
    return volume < 2**63 and -2**63 <= low and high - low < 2**63


def make_array(case):
    if case.in_memory:
        return np.lib.stride_tricks.as_strided(ARRAY[ORIGIN:], case.shape,
                                               [2 * stride for stride in case.strides],
                                               writeable=False)
    return np.lib.stride_tricks.as_strided(NOWHERE, case.shape, case.strides, writeable=False)


def make_ours(case):
    layout = Mtl.StridedLayout(case.shape, case.strides, 2 if case.in_memory else 1)
    if case.in_memory:
        return Mtl.StridedView.new(BUFFER, layout, Mtl.DType.INT16, 2 * ORIGIN)
    return layout


def compare(case, array, ours):
    check(ours.shape == array.shape, f"shape {ours.shape}, not {array.shape}")
    if array.size == 0:
        return
    itemsize = array.itemsize
    for axis, extent in enumerate(array.shape):
        if extent > 1:
            check(ours.strides[axis] * itemsize == array.strides[axis],
                  f"strides {ours.strides}, not {array.strides} bytes")
    if case.in_memory:
        check(first_byte(ours) == array.ctypes.data - ARRAY.ctypes.data, "another first element")
        if ours.is_host_accessible():
            check(ours.get_address() == array.ctypes.data, "another address")
    else:
        check((ours.get_offset() - array.ctypes.data + NOWHERE.ctypes.data) % 2**64 == 0,
              f"offset {ours.get_offset()}")
    flags = array.flags
    check(ours.is_contiguous(Mtl.Order.C) == flags.c_contiguous, "contiguity in C order")
    check(ours.is_contiguous(Mtl.Order.F) == flags.f_contiguous, "contiguity in F order")


def compare_sharing(array, ours, other_array, others):
    expected = np.shares_memory(array, other_array)
    for a, b in ((ours, others), (others, ours)):
        check(a.overlaps(b) == expected, f"overlaps() says {not expected}")


class Played(NamedTuple):
    case: Case
    n_layouts: int
    n_refused: int
    pair: tuple  # the last array and ours, None where the case was refused at once


def play(case, rng=None):
    """Does the steps of a case, or with a generator some of its own, and checks
    each."""
    steps = []
    n_steps = rng.randrange(1, 4) if rng else len(case.steps)

    try:
        ours = make_ours(case)
    except ValueError:
        check(not fits(case), "refused")
        return Played(case, 1, 1, None)
    check(fits(case), "not refused")
    try:
        array = make_array(case)
    except ValueError as error:
        check(numpy_cannot(error, ours), f"NumPy says {error}")
        return Played(case, 1, 0, None)

    first_pair = array, ours
    compare(case, array, ours)
    for number in range(n_steps):
        name = rng.choice(NAMES if case.in_memory else NAMES_NOWHERE) if rng \
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

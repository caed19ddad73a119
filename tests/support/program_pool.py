# SPDX-License-Identifier: LGPL-2.1-or-later
"""The views of a random program, each with NumPy's array that stands for it."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from gi.repository import Mtl

from conftest import dtype_of, first_byte
from conversions import SMALL, SUBBYTE, is_nan, judge, ml_dtypes, numpy_type, quiet, samples
from drawn_layouts import pick
from random_layouts import NUMPY_ERRORS, Mismatch, strides_differ
from random_tensors import NUMPY

EXTENSIONS = ["bfloat16", *(name for name in SMALL if name not in SUBBYTE)] if ml_dtypes else []
TYPES = NUMPY + EXTENSIONS
NUMPY_TYPES = {name: numpy_type(name) if name in EXTENSIONS else np.dtype(name) for name in TYPES}
OURS = {NUMPY_TYPES[name]: dtype_of(name) for name in TYPES}
NAMES = {NUMPY_TYPES[name]: name for name in TYPES}
PARTS = {np.dtype("complex64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("float64")}

# Kinds of operands.
VIEW, ARRAY, ANY = "view", "array", "any"

C, F = Mtl.Order.C, Mtl.Order.F


class Refused(Exception):
    """Both refuse."""


# Numbers


def parts_of(array):
    """Returns both parts of complex numbers, in one more axis of the same memory."""
    part = PARTS.get(array.dtype)
    if part is None:
        return array
    return np.lib.stride_tricks.as_strided(array, array.shape + (1,),
                                           array.strides + (array.itemsize,)).view(part)


def draw_numbers():
    """Returns many numbers of each type, among them edges and small integers."""
    rng = np.random.default_rng(0)
    numbers = {}
    for name, dtype in NUMPY_TYPES.items():
        if name == "bool":
            numbers[name] = rng.integers(0, 2, 4001).astype(bool)
            continue
        known = np.ascontiguousarray(samples(name, rng)).view(dtype).ravel()
        with np.errstate(all="ignore"):
            small = rng.integers(0, 20, 2001).astype(np.float32).astype(dtype)
        numbers[name] = rng.permutation(np.concatenate([rng.choice(known, 2000), small]))
    return numbers


NUMBERS = quiet(draw_numbers)()


def take_numbers(name, n, start):
    return NUMBERS[name].take(range(start, start + n), mode="wrap")


@quiet
def converted(array, dtype):
    """Converts an array as the library does, in C's order."""
    if array.dtype == dtype:
        return array.copy()
    source = parts_of(array)
    result = judge(source.reshape((-1, 2) if source.ndim > array.ndim else -1),
                   NAMES[array.dtype], NAMES[dtype])
    return np.ascontiguousarray(result).view(dtype).reshape(array.shape)


def take_nans(array, ours):
    """A conversion may give any of several NaN: the array takes ours."""
    array, ours = parts_of(array), parts_of(ours)
    either = is_nan(array) & is_nan(ours)
    if either.any():
        array[either] = ours[either]


# Memory


def address_of(array):
    return array.__array_interface__["data"][0]


class Memory:
    """Bytes of the model, as aligned as ours, and how far ours are from these."""

    def __init__(self, size, alignment=0):
        memory = np.zeros(size + 128, np.uint8)
        first = -address_of(memory) % 64 + alignment
        self.bytes = memory[first:first + size]
        self.address = address_of(self.bytes)
        self.distance = None

    def array(self, shape, dtype, strides=None, offset=0):
        return np.ndarray(shape, dtype, self.bytes, offset, strides)


class Pair(NamedTuple):
    """An array of NumPy's and its counterpart. Ours is a view, or an array that shares a view's
    memory."""
    array: np.ndarray
    ours: Any
    memory: Memory
    is_read_only: bool = False
    repeats: bool = False  # elements, maybe
    is_view: bool = True
    buffer_is_known: bool = True  # the rest of its content
    buffer_is_read_only: bool = False
    buffer_offset: Any = 0  # in the memory, where only the device has addresses

    def writable(self):
        """Returns the array, writable again if NumPy made it read-only."""
        array = self.array
        if array.flags.writeable:
            return array
        if array.size == 0:
            return np.empty_like(array)
        return self.memory.array(array.shape, array.dtype, array.strides,
                                 address_of(array) - self.memory.address)

    def elements(self):
        """Ours, as an array."""
        if self.is_view:
            return np.frombuffer(bytes(self.ours), self.array.dtype).reshape(self.array.shape)
        return self.ours


def pair_of(values, ours, strides=None, is_read_only=False, **rest):
    """Makes a pair with the values, which lie in new memory of ours, in C's order or with the
    strides of a dense array."""
    alignment = 0
    if is_read_only and ours.is_host_accessible():
        alignment = ours.get_address() % 64
    memory = Memory(values.nbytes, alignment)
    array = memory.array(values.shape, values.dtype, strides)
    array[...] = values
    return Pair(array, ours, memory, is_read_only, buffer_is_read_only=is_read_only, **rest)


def check_view(pair):
    array, ours = pair.array, pair.ours
    if ours.dtype != OURS[array.dtype]:
        raise Mismatch(f"{ours.dtype}, not {array.dtype}")
    if ours.is_read_only() != pair.is_read_only:
        raise Mismatch(f"read-only is {not pair.is_read_only}")
    if array.size == 0:
        return
    if strides_differ(array, ours):
        raise Mismatch(f"strides {ours.strides} of {array.itemsize} bytes, not {array.strides} "
                       "bytes")
    flags = array.flags
    if ours.is_contiguous(C) != flags.c_contiguous or ours.is_contiguous(F) != flags.f_contiguous:
        raise Mismatch("contiguity")
    if ours.is_host_accessible():
        check_distance(pair, ours.get_address() - address_of(array), 64)
    elif pair.buffer_offset is not None:
        check_distance(pair, first_byte(ours) + pair.buffer_offset - address_of(array), 1)


def check_array(pair):
    array, ours = pair.array, pair.ours
    if ours.dtype != array.dtype:
        raise Mismatch(f"an array of {ours.dtype}, not {array.dtype}")
    if ours.flags.writeable == pair.is_read_only:
        raise Mismatch(f"an array that is {'' if pair.is_read_only else 'not '}writable")
    if array.size == 0:
        return
    if any(extent > 1 and here != there
           for extent, here, there in zip(array.shape, ours.strides, array.strides)):
        raise Mismatch(f"an array with strides {ours.strides}, not {array.strides}")
    check_distance(pair, address_of(ours) - address_of(array), 64)


def check_distance(pair, distance, alignment):
    """Checks that the distance is the same for all that share the memory."""
    if pair.memory.distance is None:
        pair.memory.distance = distance
        if distance % alignment:
            raise Mismatch("the memory is not as aligned as it has to be")
    if distance != pair.memory.distance:
        raise Mismatch(f"the first element lies {distance - pair.memory.distance} bytes off")


def check_elements(pair):
    array, ours = pair.array, pair.ours
    if (bytes(ours) if pair.is_view else ours.tobytes()) != array.tobytes():
        raise Mismatch(f"other elements in {'a view' if pair.is_view else 'an array'} of "
                       f"{array.dtype}{array.shape}:\n{pair.elements()}\nnot\n{array}")


def check(pair):
    if pair.ours.shape != pair.array.shape:
        raise Mismatch(f"shape {pair.ours.shape}, not {pair.array.shape}")
    (check_view if pair.is_view else check_array)(pair)
    check_elements(pair)


# Threads


def start_threads():
    global threads
    threads = ThreadPoolExecutor(2)


start_threads()
os.register_at_fork(after_in_child=start_threads)


def in_another_thread(function):
    return threads.submit(function).result()


def do_together(functions):
    for each in [threads.submit(function) for function in functions]:
        each.result()


# The pool


class Pool:
    def __init__(self):
        self.pairs = {}
        self.dropped = []
        self.call_ours = self.call_here

    @staticmethod
    def call_here(function):
        return function()

    def numbers(self, kind):
        return [number for number, pair in self.pairs.items()
                if kind == ANY or pair.is_view == (kind == VIEW)]

    def draw(self, rng, kinds):
        """One of each kind; the second and the fourth preferably of the shape of the one before.
        None where there is none."""
        drawn = []
        for place, kind in enumerate(kinds):
            numbers = self.numbers(kind)
            if not numbers:
                return None
            if place % 2 and rng.random() < 0.5:
                shape = self.pairs[drawn[-1]].array.shape
                numbers = [number for number in numbers
                           if self.pairs[number].array.shape == shape] or numbers
            drawn.append(pick(rng, numbers))
        return tuple(drawn)

    def find(self, numbers, kinds):
        """The nearest of that kind that there is, at or before each."""
        found = []
        for number, kind in zip(numbers, kinds):
            others = self.numbers(kind)
            if not others:
                return None
            found.append(self.pairs[max((other for other in others if other <= number),
                                        default=others[0])])
        return found

    def drop(self, pair):
        """Ours ends with the next step, in its thread."""
        del self.pairs[next(number for number, other in self.pairs.items() if other is pair)]
        self.dropped.append(pair.ours)

    def end_dropped(self):
        if self.dropped:
            self.call_ours(self.dropped.clear)

    def call(self, function):
        """Ours. No error is expected."""
        try:
            return self.call_ours(function)
        except Exception as error:
            raise Mismatch(f"refused: {error!r}") from error

    def must_refuse(self, function, *classes):
        """The function has to raise one of these; another error is not the right reason."""
        try:
            self.call_ours(function)
        except classes:
            raise Refused from None
        except Exception as error:
            raise Mismatch(f"{error!r} instead of {classes}") from error
        raise Mismatch(f"not refused, instead of {classes}")

    def both(self, model, function):
        try:
            there = model()
        except NUMPY_ERRORS as error:
            self.must_refuse(function, *classes_for(error))
        return there, self.call(function)

    def add(self, number, pair):
        check(pair)
        self.pairs[number] = pair

    def check_memory(self, memory):
        for pair in self.pairs.values():
            if pair.memory is memory:
                check_elements(pair)

    def check_all(self):
        for pair in self.pairs.values():
            check(pair)

    def clear(self):
        self.pairs.clear()


def classes_for(error):
    """An axis that does not exist is an IndexError here."""
    return (IndexError,) if isinstance(error, IndexError) else (ValueError,)


# SPDX-License-Identifier: LGPL-2.1-or-later
"""The operations of random programs, on NumPy's arrays and here.

An operation has operands, a function that draws its arguments for them, and one that does it with
both and gives new pairs, if any.
"""

import gc
import os
import tempfile
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gi.repository import GLib, Mtl

import layout_operations
from conftest import (DEFAULT, HOST, NUMPY_ASKS_FOR_DEVICES, NUMPY_SAYS_WRITABLE, STORAGE_MODE,
                      first_byte, from_dlpack, place, zeros)
from drawn_layouts import below, offset_bounds, pick
from layout_operations import draw_index, index_array, view_array, view_ours
from program_pool import (ANY, ARRAY, EXTENSIONS, NAMES, NUMPY_TYPES, OURS, TYPES, VIEW, Memory,
                          Pair, address_of, converted, do_together, pair_of, quiet, take_nans,
                          take_numbers)
from random_arrays import Layout, array_in, draw_layout
from random_layouts import Mismatch, draw_small_case
from random_tensors import NUMPY, SAFETENSORS

NUMPY_WRITES_AS_WE_DO = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
MAX_SIZE = 20_000
MAX_BYTES = 100_000
# An older NumPy's truth values are not known to DLPack.
KNOWN_TO_DLPACK = NUMPY[0 if NUMPY_ASKS_FOR_DEVICES else 1:]
ORDERS = {"C": Mtl.Order.C, "F": Mtl.Order.F, "K": Mtl.Order.K, "A": Mtl.Order.ANY}
# The folder is in memory, as each file waits until it is on the disk.
FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


class Operation(NamedTuple):
    kinds: tuple  # the operands' kinds
    draw: Any  # (rng, *operands)
    do: Any  # (pool, *operands, *arguments)


OPERATIONS, WEIGHTS = {}, {}


def operation(weight, *kinds, draw=lambda rng, *operands: (), name=None):
    def add(do):
        OPERATIONS[name or do.__name__] = Operation(kinds, draw, do)
        WEIGHTS[name or do.__name__] = weight
        return do
    return add


# New memory


def draw_shape(rng):
    if rng.random() < 0.02:  # large enough for other threads to work at the same time
        return below(rng, 60) + 40, below(rng, 60) + 40
    return tuple([pick(rng, (0, 1, 2, 2, 3, 4, 5, 8)) for _ in range(below(rng, 4))])


def draw_new(rng):
    return (pick(rng, ("zeros", "full", "placed", "bytes", "list")), pick(rng, TYPES),
            draw_shape(rng), below(rng, 4000))


@operation(6, draw=draw_new)
def new(pool, how, name, shape, start):
    dtype = NUMPY_TYPES[name]
    if how == "zeros":
        return [pair_of(np.zeros(shape, dtype), pool.call(lambda: zeros(name, shape)))]
    if how == "full":
        value = start % 2
        ours = pool.call(lambda: place(Mtl.StridedView.new_filled(None, OURS[dtype], shape, value)))
        return [pair_of(np.full(shape, converted(np.float64(value), dtype)), ours)]
    values = take_numbers(name, int(np.prod(shape)), start).reshape(shape)
    if how == "list" and name in ("bool", "int64", "float64", "complex128") and values.size > 0:
        pair = pair_of(values, pool.call(lambda: Mtl.asview(values.tolist())))
        if values.dtype.kind in "fc":
            take_nans(pair.array, pair.elements())
        return [pair]
    ours = pool.call(lambda: Mtl.StridedView.new_from_bytes(GLib.Bytes.new(values.tobytes()),
                                                            OURS[dtype], shape))
    if how == "bytes":
        return [pair_of(values, ours, is_read_only=True)]
    return [pair_of(values, pool.call(lambda: place(ours.copy())))]


def draw_import(rng):
    name = pick(rng, TYPES)
    shape = draw_shape(rng)
    while True:
        layout = draw_layout(rng, shape, NUMPY_TYPES[name].itemsize, False, True)
        if layout.size <= MAX_BYTES:
            break
    return (pick(rng, ("asview", "from_dlpack", "memoryview")), name, shape, tuple(layout),
            below(rng, 4000), rng.random() < 0.8, rng.random() < 0.3)


@operation(5, draw=draw_import)
def import_(pool, how, name, shape, layout, start, is_writable, is_kept):
    """Keeps an array of NumPy's, and possibly all its memory, to see writes around the elements."""
    dtype, layout = NUMPY_TYPES[name], Layout(*layout)
    low, high = reach(shape, layout.strides, layout.offset, dtype.itemsize)
    if low < 0 or high > layout.size:  # as in a program that was made too small
        return
    memory, theirs = Memory(layout.size), Memory(layout.size)
    numbers = take_numbers(name, layout.size // dtype.itemsize + 1, start).view(np.uint8)
    if name == "bool":
        numbers = numbers & 1
    memory.bytes[:] = theirs.bytes[:] = numbers[:layout.size]
    array = array_in(memory.bytes, dtype, shape, layout)
    shared = array_in(theirs.bytes, dtype, shape, layout)
    shared.flags.writeable = is_writable
    knows_dlpack = name in KNOWN_TO_DLPACK and (is_writable or NUMPY_ASKS_FOR_DEVICES)
    ours = pool.call(lambda: view_of_array(shared, how if knows_dlpack else "asview"))
    repeats = any(stride == 0 and extent > 1 for extent, stride in zip(shape, layout.strides))
    pairs = [Pair(array, ours, memory, not is_writable, repeats,
                  buffer_is_read_only=not is_writable)]
    if is_kept and name != "bool":  # whose bytes are 0 and 1 only
        pairs.append(Pair(memory.bytes, theirs.bytes, memory, is_view=False))
    return pairs


def reach(shape, strides, offset, itemsize):
    """Returns the bytes where the elements begin and end."""
    if 0 in shape:
        return offset, offset
    low, high = offset_bounds(shape, strides)
    return offset + low * itemsize, offset + (high + 1) * itemsize


def has_repeats(shape, strides):
    """True if two indices lead to one element."""
    places = np.zeros(1, np.int64)
    for extent, stride in zip(shape, strides):
        places = (places[:, None] + np.arange(extent) * stride).ravel()
    return len(set(places.tolist())) < places.size


def view_of_array(array, how):
    if how == "from_dlpack":
        return Mtl.from_dlpack(array)
    return Mtl.asview(memoryview(array) if how == "memoryview" else array)


# The same memory


def add_layout_operation(name, weight):
    draw_arguments, on_array, on_ours = layout_operations.OPERATIONS[name]

    def draw(rng, pair):
        return draw_arguments(rng, pair.array)

    def do(pool, pair, *arguments):
        if pair.array.ndim > 6:  # an older NumPy has no more than 32
            return
        array, ours = pool.both(lambda: on_array(pair.array, *arguments),
                                lambda: on_ours(pair.ours, *arguments))
        if array.size <= MAX_SIZE:
            repeats = pair.repeats or name == "broadcast_to"
            return [pair._replace(array=array, ours=ours, repeats=repeats)]

    operation(weight, VIEW, draw=draw, name=name)(do)


for _name in layout_operations.OPERATIONS:
    if _name not in ("repack", "reinterpret"):
        add_layout_operation(_name, 6 if _name == "index" else 2)


@operation(8, VIEW, draw=lambda rng, pair: (pick(rng, TYPES),))
def reinterpret(pool, pair, name):
    """Truth values are 0 and 1 only."""
    if "bool" in (name, pair.array.dtype.name):
        return
    dtype = NUMPY_TYPES[name]
    array, ours = pool.both(lambda: view_array(pair.array, dtype),
                            lambda: view_ours(pair.ours, dtype))
    return [pair._replace(array=array, ours=ours)]


@operation(2, VIEW)
def as_read_only(pool, pair):
    return [pair._replace(ours=pool.call(pair.ours.as_read_only), is_read_only=True)]


def has_known_buffer(pair):
    """True if the place in the buffer is known: without elements it may be anywhere."""
    return pair.array.size > 0 and pair.buffer_is_known


def bytes_of_buffer(pair):
    """Returns the buffer's bytes from its first one on."""
    return pair.memory.bytes[address_of(pair.array) - pair.memory.address
                             - first_byte(pair.ours):]


def draw_on_buffer(rng, pair):
    case = draw_small_case(rng)
    name = pick(rng, TYPES) if rng.random() < 0.5 else NAMES[pair.array.dtype]
    low, _ = reach(case.shape, case.strides, 0, NUMPY_TYPES[name].itemsize)
    return (name, case.shape, case.strides,
            max(below(rng, 4) - low - (rng.random() < 0.1), 0),
            below(rng, 4), pick(rng, (-1, 0, 0, 4)))


@operation(3, VIEW, draw=draw_on_buffer)
def on_buffer(pool, pair, name, shape, strides, offset, start, n_more):
    """A part of the buffer that ends a little after the elements, or before."""
    dtype, buffer, memory = NUMPY_TYPES[name], pair.ours.get_buffer(), pair.memory
    if not has_known_buffer(pair) or (name == "bool") != (pair.array.dtype == bool):
        return
    origin = address_of(pair.array) - memory.address - first_byte(pair.ours) + start
    low, high = reach(shape, strides, offset, dtype.itemsize)
    size = max(high + n_more, 0)

    def ours():
        part = buffer.slice(start, size)
        return Mtl.StridedView.new(part, Mtl.StridedLayout(shape, strides, dtype.itemsize),
                                   OURS[dtype], offset)

    if start + size > buffer.get_size() or low < 0 or high > size:
        pool.must_refuse(ours, IndexError)
    view = pool.call(ours)
    array = memory.array(shape, dtype, [stride * dtype.itemsize for stride in strides],
                         offset + origin) if 0 not in shape else np.zeros(shape, dtype)
    begin = None if pair.buffer_offset is None else pair.buffer_offset + start
    return [Pair(array, view, memory, pair.buffer_is_read_only, has_repeats(shape, strides),
                 buffer_is_read_only=pair.buffer_is_read_only, buffer_offset=begin)]


# Copies


def dense_strides(array, order):
    return np.empty_like(array, order=order, subok=False).strides


@operation(3, VIEW, draw=lambda rng, pair: (pick(rng, "CFKA"), below(rng, 2)))
def copy(pool, pair, order, is_name):
    ours = pool.call(lambda: pair.ours.copy(order if is_name else ORDERS[order]))
    return [pair_of(pair.array, ours, dense_strides(pair.array, order))]


@operation(2, VIEW)
def to_contiguous(pool, pair):
    ours = pool.call(pair.ours.to_contiguous)
    if (ours is pair.ours) != pair.array.flags.c_contiguous:
        raise Mismatch("copied" if ours is not pair.ours else "not copied")
    return [pair if ours is pair.ours else pair_of(pair.array, ours)]


def convert(pool, pair, dtype, order, is_itself, function):
    ours = pool.call(function)
    if (ours is pair.ours) != is_itself:
        raise Mismatch("converted without need" if is_itself else "not converted")
    if is_itself:
        return [pair]
    values = converted(pair.array, dtype)
    strides = np.empty_like(pair.array, dtype, order=order, subok=False).strides
    result = pair_of(values, ours, strides)
    if values.size > 0:
        take_nans(result.array, result.elements())
    return [result]


def lies_in(array, order):
    flags = array.flags
    return {"C": flags.c_contiguous, "F": flags.f_contiguous, "K": True,
            "A": flags.c_contiguous or flags.f_contiguous}[order]


@operation(4, VIEW, draw=lambda rng, pair: (pick(rng, TYPES), pick(rng, "CFKA"), below(rng, 2)))
def astype(pool, pair, name, order, copies):
    dtype = NUMPY_TYPES[name]
    return convert(pool, pair, dtype, order,
                   not copies and dtype == pair.array.dtype and lies_in(pair.array, order),
                   lambda: pair.ours.astype(dtype, order, bool(copies)))


@operation(4, VIEW, draw=lambda rng, pair: (pick(rng, TYPES), pick(rng, "CFKA")))
def to_dtype(pool, pair, name, order):
    dtype = NUMPY_TYPES[name]
    return convert(pool, pair, dtype, order,
                   dtype == pair.array.dtype and lies_in(pair.array, order),
                   lambda: pair.ours.to_dtype(OURS[dtype], ORDERS[order]))


@operation(2, VIEW, draw=lambda rng, pair: (below(rng, 2),))
def to_device(pool, pair, is_host):
    where = (HOST, Mtl.StorageMode.HOST) if is_host else (DEFAULT, STORAGE_MODE)
    buffer = pair.ours.get_buffer()
    stays = (buffer.get_device(), buffer.get_storage_mode()) == where
    ours = pool.call(lambda: pair.ours.to_device(*where))
    if (ours is pair.ours) != stays:
        raise Mismatch("copied without need" if stays else "not copied")
    return [pair if stays else pair_of(pair.array, ours)]


@operation(1, VIEW)
def new_zeros_like(pool, pair):
    """The strides are the same if these leave no gaps. A device's tensor without elements that
    comes in has no memory, which would tell the storage mode."""
    if pair.ours.get_buffer().get_storage_mode() == Mtl.StorageMode.FOREIGN:
        pool.must_refuse(lambda: Mtl.StridedView.new_zeros_like(pair.ours), NotImplementedError)
    ours = pool.call(lambda: Mtl.StridedView.new_zeros_like(pair.ours))
    strides = tuple([stride * pair.array.itemsize for stride in ours.strides])
    return [pair_of(np.zeros_like(pair.array, subok=False), ours, strides)]


@operation(2, VIEW)
def copy_buffer(pool, pair):
    """All of it, with the same view of the copy."""
    if not has_known_buffer(pair):
        return
    array, view = pair.array, pair.ours
    buffer = view.get_buffer()
    copied = pool.call(lambda: Mtl.StridedView.new(buffer.copy(), view.layout, view.dtype,
                                                   view.get_byte_offset()))
    new_memory = Memory(buffer.get_size())
    new_memory.bytes[:] = bytes_of_buffer(pair)[:buffer.get_size()]
    new_array = new_memory.array(array.shape, array.dtype, array.strides, first_byte(view))
    return [Pair(new_array, copied, new_memory, repeats=pair.repeats)]


# Writing


VALUES = [0, 1, -1, 7, 127, 128, 255, 256, -129, 2**16, 2**31, -2**31, 2**53 + 1, 2**63 - 1, 2**63,
          2**64 - 1, 2**64, -2**63, -2**63 - 1, True, False, 0.5, -0.0, 1.5, -7.9, 300.7, 1e10,
          1e300, 1 / 3, 65519.99, -1e-310, nan, inf, -inf, 1 + 2j, nan + 1j, 1e300 - 2.5j]


def element_for(value, dtype):
    """An array of it, or the error for it."""
    kind = dtype.kind
    if isinstance(value, complex) and kind != "c":
        return TypeError
    if kind in "iu":
        ends = np.iinfo(dtype)
        if not isfinite(value) or not ends.min <= int(value) <= ends.max:
            return ValueError
        return np.array(int(value), dtype)
    if isinstance(value, int) and -2**63 <= value < 2**64:
        return converted(np.array(value, np.int64 if value < 2**63 else np.uint64), dtype)
    if isinstance(value, int):
        value = float(value)
    return converted(np.array(value), dtype)


def write(pool, pair, index, source, ours, leading=True):
    """Into the part at the index. The source is an array, or the error for it."""
    errors = set()
    if pair.is_read_only:
        errors.add(ValueError)
    if isinstance(source, type):
        errors.add(source)
        source = None
    try:
        target = index_array(pair.writable(), index)
    except IndexError:
        target = None
        errors.add(IndexError)
    if target is not None and source is not None:
        shape = source.shape
        while leading and len(shape) > target.ndim and shape[0] == 1:
            shape = shape[1:]
        try:
            source = np.broadcast_to(source.reshape(shape), target.shape)
        except ValueError:
            errors.add(ValueError)
    if errors:
        pool.must_refuse(ours, *errors)
    source = converted(source, target.dtype)
    pool.call(ours)
    target[...] = source
    if target.size > 0:
        take_nans(target, index_array(pair.elements(), index))
    pool.check_memory(pair.memory)


def names_one_element(index, array):
    return len(index) == array.ndim and all(isinstance(part, int) for part in index)


@operation(6, VIEW, draw=lambda rng, pair: (*draw_index(rng, pair.array), pick(rng, VALUES)))
def set_number(pool, pair, index, value):
    if names_one_element(index, pair.array) and not pair.ours.is_host_accessible():
        pool.must_refuse(lambda: pair.ours.__setitem__(index, value), BufferError, ValueError,
                         TypeError, IndexError)
    write(pool, pair, index, element_for(value, pair.array.dtype),
          lambda: pair.ours.__setitem__(index, value))


@operation(2, VIEW, draw=lambda rng, pair: (pick(rng, VALUES),))
def fill(pool, pair, value):
    write(pool, pair, (), element_for(value, pair.array.dtype), lambda: pair.ours.fill(value))


@operation(2, VIEW, draw=lambda rng, pair: (pick(rng, VALUES),))
def fill_double(pool, pair, value):
    if isinstance(value, complex):
        return
    value = float(value)
    write(pool, pair, (), element_for(value, pair.array.dtype),
          lambda: pair.ours.fill_double(value))


@operation(1, VIEW, draw=lambda rng, pair: (below(rng, 4000),))
def fill_bytes(pool, pair, start):
    element = take_numbers(NAMES[pair.array.dtype], 1, start)
    write(pool, pair, (), element[0:1], lambda: pair.ours.fill(GLib.Bytes.new(element.tobytes())))


def draw_list(rng, pair):
    """Draws a list whose shape fits at times, of numbers that fit any type."""
    index, = draw_index(rng, pair.array)
    shape = draw_shape(rng)
    try:
        shape = index_array(pair.array, index).shape
    except IndexError:
        pass
    shape = tuple([1 if rng.random() < 0.1 else extent for extent in shape])[below(rng, 2):]
    size = int(np.prod(shape))
    if not shape or not 0 < size < 100:
        return index, [1]
    numbers = pick(rng, ((0, 1), (0, 1, 5, 127), (0.5, 1.5, 100.25), (True, False)))
    return index, np.array([pick(rng, numbers) for _ in range(size)]).reshape(shape).tolist()


@operation(3, VIEW, draw=draw_list)
def set_list(pool, pair, index, values):
    if not pair.repeats:
        write(pool, pair, index, np.array(values), lambda: pair.ours.__setitem__(index, values))


def draw_index_for(rng, pair, source):
    """So that the source fits, at times."""
    if rng.random() < 0.4 and pair.array.shape != source.array.shape:
        shape = source.array.shape[-pair.array.ndim:] if pair.array.ndim else ()
        parts = [slice(None) if there == here else slice(0, here, None)
                 for there, here in zip(pair.array.shape[len(pair.array.shape) - len(shape):],
                                        shape)]
        return ((Ellipsis, *parts),)
    return draw_index(rng, pair.array) if rng.random() < 0.4 else ((),)


@operation(8, VIEW, ANY, draw=draw_index_for)
def set_view(pool, pair, source, index):
    """The source may be an array, and share memory."""
    if not pair.repeats:
        write(pool, pair, index, source.array, lambda: pair.ours.__setitem__(index, source.ours))


@operation(8, VIEW, VIEW)
def copy_from(pool, pair, source):
    if not pair.repeats:
        write(pool, pair, (), source.array, lambda: pair.ours.copy_from(source.ours),
              leading=False)


@operation(3, ARRAY, draw=lambda rng, pair: (*draw_index(rng, pair.array), below(rng, 4000)))
def set_array(pool, pair, index, start):
    """NumPy writes into memory that a view shares."""
    value = take_numbers(NAMES[pair.array.dtype], 1, start)

    def ours():
        index_array(pair.ours, index)[...] = value

    write(pool, pair, index, value, ours)


@operation(2, VIEW, draw=lambda rng, pair: ([below(rng, 2 * n) - n for n in pair.array.shape],
                                    below(rng, 4000)))
def set_in_memoryview(pool, pair, index, start):
    dtype = pair.array.dtype
    if not pair.ours.is_host_accessible() or NAMES[dtype] not in NUMPY or dtype.kind == "c" \
            or dtype == np.float16 or len(index) != pair.array.ndim:
        return
    value = take_numbers(NAMES[dtype], 1, start)

    def ours():
        try:
            memoryview(pair.ours)[tuple(index)] = value.tolist()[0]
        except TypeError as error:
            raise ValueError(str(error)) from None  # read-only memory is a TypeError there

    write(pool, pair, tuple(index), value, ours)


def draw_bytes(rng, pair):
    size = below(rng, 20)
    return max(below(rng, pair.memory.bytes.size + 5) - size, 0), size, below(rng, 4000)


@operation(2, VIEW, draw=draw_bytes)
def set_bytes(pool, pair, offset, size, start):
    """Writes to the buffer, wherever in it the view is."""
    if not has_known_buffer(pair):
        return
    buffer = pair.ours.get_buffer()
    content = take_numbers("bool" if pair.array.dtype == bool else "uint8", size, start)

    def ours():
        buffer.set_bytes(offset, GLib.Bytes.new(content.tobytes()))

    errors = []
    if pair.buffer_is_read_only:
        errors.append(ValueError)
    if offset + size > buffer.get_size():
        errors.append(IndexError)
    if errors:
        pool.must_refuse(ours, *errors)
    pool.call(ours)
    bytes_of_buffer(pair)[offset:offset + size] = content.view(np.uint8)
    pool.check_memory(pair.memory)


@operation(2, VIEW, VIEW, draw=lambda rng, pair, source: (
    below(rng, pair.memory.bytes.size + 2), below(rng, source.memory.bytes.size + 2),
    below(rng, 20)))
def copy_bytes(pool, pair, source, offset, source_offset, size):
    """Copies from buffer to buffer, or within one."""
    if not has_known_buffer(pair) or not has_known_buffer(source) \
            or pair.array.dtype == bool != source.array.dtype:
        return
    dest, origin = pair.ours.get_buffer(), source.ours.get_buffer()
    errors = []
    if pair.buffer_is_read_only:
        errors.append(ValueError)
    if offset + size > dest.get_size() or source_offset + size > origin.get_size():
        errors.append(IndexError)

    def ours():
        dest.copy_from(offset, origin, source_offset, size)

    if errors:
        pool.must_refuse(ours, *errors)
    content = bytes_of_buffer(source)[source_offset:source_offset + size].copy()
    pool.call(ours)
    bytes_of_buffer(pair)[offset:offset + size] = content
    pool.check_memory(pair.memory)


@operation(3, VIEW, VIEW, VIEW, VIEW)
def copy_together(pool, pair, source, other, others_source):
    """Two threads copy, if neither writes what the other one uses."""
    copies = [(pair, source), (other, others_source)]
    for (dest, origin), used in zip(copies, (copies[1], copies[0])):
        if dest.repeats or dest.is_read_only or any(shares(dest, each) for each in used):
            return
        try:
            np.broadcast_to(origin.array, dest.array.shape)
        except ValueError:
            return
    copies = [(dest, origin) for dest, origin in copies if not shares(dest, origin)]
    pool.call(lambda: do_together([
        lambda dest=dest, origin=origin: [dest.ours.copy_from(origin.ours) for _ in range(3)]
        for dest, origin in copies]))
    for dest, origin in copies:
        target = dest.writable()
        target[...] = np.broadcast_to(converted(origin.array, target.dtype), target.shape)
        take_nans(target, dest.elements())
    pool.check_memory(pair.memory)
    pool.check_memory(other.memory)


def shares(pair, other):
    return pair.memory is other.memory and np.shares_memory(pair.array, other.array)


# Other libraries and back


@operation(3, VIEW, draw=lambda rng, pair: (below(rng, 2),))
def asarray(pool, pair, by_memoryview):
    view = pair.ours
    if not view.is_host_accessible():
        pool.must_refuse(lambda: np.asarray(memoryview(view)), BufferError)
    if by_memoryview and NAMES[pair.array.dtype] in NUMPY:
        ours = pool.call(lambda: np.asarray(memoryview(view)))
    else:
        ours = pool.call(lambda: np.asarray(view))
    return [pair._replace(ours=ours, is_view=False)]


@operation(3, VIEW)
def numpy_from_dlpack(pool, pair):
    """An older NumPy asks for the legacy form, in which nothing is read-only. It, or one somewhat
    newer, makes every array read-only."""
    array, view = pair.array, pair.ours
    if NAMES[array.dtype] not in KNOWN_TO_DLPACK:
        return
    if pair.is_read_only and not NUMPY_ASKS_FOR_DEVICES:
        pool.must_refuse(lambda: from_dlpack(view), BufferError)
    ours = pool.call(lambda: from_dlpack(view))
    is_read_only = not NUMPY_SAYS_WRITABLE
    if array.size == 0:  # NumPy makes memory of its own
        return [pair_of(array, ours)._replace(is_view=False,
                                              is_read_only=not ours.flags.writeable)]
    if is_exported_as_copy(array) or not view.is_host_accessible():
        return [pair_of(array, ours)._replace(is_view=False, is_read_only=is_read_only)]
    return [pair._replace(ours=ours, is_view=False,
                          is_read_only=is_read_only or pair.is_read_only)]


def is_exported_as_copy(array):
    return array.size > 0 and any(extent > 1 and stride < 0
                                  for extent, stride in zip(array.shape, array.strides))


def is_unfit_for_metal(pair):
    """True if a GPU of Metal's gets a copy. Nothing can copy foreign memory; if a tensor came in
    empty, so is its memory."""
    view, buffer = pair.ours, pair.ours.get_buffer()
    if (view.get_device().get_device_type() != Mtl.DeviceType.METAL
            or buffer.get_storage_mode() == Mtl.StorageMode.FOREIGN):
        return False
    offset = buffer.get_byte_offset() + first_byte(view)
    return pair.is_read_only or (view.size > 0 and offset % pair.array.itemsize != 0)


@operation(3, VIEW, draw=lambda rng, pair: (pick(rng, ("whole", "versioned", "legacy")),))
def from_own_dlpack(pool, pair, how):
    view = pair.ours

    def ours():
        if how == "whole":
            return Mtl.from_dlpack(view)
        return Mtl.from_dlpack(view.__dlpack__(max_version=(1, 0) if how == "versioned" else None))

    if how == "legacy" and pair.is_read_only:
        pool.must_refuse(ours, BufferError)
    imported = pool.call(ours)
    # A device has whole buffers, which may be longer.
    is_known = view.get_device().get_device_type() == Mtl.DeviceType.CPU
    if is_exported_as_copy(pair.array) or is_unfit_for_metal(pair):
        return [pair_of(pair.array, imported, buffer_is_known=is_known)]
    return [pair._replace(ours=imported, buffer_is_known=is_known,
                          buffer_is_read_only=pair.is_read_only, buffer_offset=None)]


@operation(4, ARRAY, draw=lambda rng, pair: (*draw_index(rng, pair.array),
                                    pick(rng, ("asview", "from_dlpack", "memoryview"))))
def import_again(pool, pair, index, how):
    """A part of an array that shares a view's memory."""
    knows_dlpack = NAMES[pair.array.dtype] in KNOWN_TO_DLPACK and (
        NUMPY_ASKS_FOR_DEVICES or not pair.is_read_only)
    array, ours = pool.both(lambda: index_array(pair.array, index), lambda: view_of_array(
        index_array(pair.ours, index), how if knows_dlpack else "asview"))
    return [pair._replace(array=array, ours=ours, is_view=True,
                          buffer_is_read_only=pair.is_read_only, buffer_offset=None)]


# Files


def draw_files(rng, *pairs):
    return (pick(rng, ("safetensors", "npy", "numpy.npy", "npz", "compressed.npz")),
            pick(rng, ("MAP", "READ")), below(rng, 3))


@operation(1, ANY, ANY, ANY, draw=draw_files)
def save_and_load(pool, *arguments):
    *pairs, kind, mode, number = arguments
    path = Path(FOLDER.name) / f"{os.getpid()}-{number}.{kind}"
    names = NUMPY if kind != "safetensors" else SAFETENSORS.values()
    pairs = [pair for pair in pairs if NAMES[pair.array.dtype] in names]
    if kind.endswith("npy"):
        pairs = pairs[:1]
    if not pairs:
        return
    pool.call(lambda: save(path, kind, pairs))
    file = pool.call(lambda: Mtl.load(path, mode=getattr(Mtl.TensorFileMode, mode)))
    loaded = []
    for place, pair in enumerate(pairs):
        ours = pool.call(lambda: file["" if kind.endswith("npy") else str(place)])
        strides = tuple([stride * pair.array.itemsize for stride in ours.strides])
        is_read_only = mode == "MAP" and kind != "compressed.npz"
        loaded.append(pair_of(pair.array, ours, strides, is_read_only, buffer_is_known=False))
    return loaded


def save(path, kind, pairs):
    if kind == "safetensors":
        Mtl.save(path, {str(place): pair.ours for place, pair in enumerate(pairs)})
        return
    if kind == "npy":
        Mtl.save(path, pairs[0].ours)
        return
    path.unlink(missing_ok=True)  # NumPy would write over mapped memory
    if kind == "numpy.npy":
        np.save(path, pairs[0].array)
    else:
        write = np.savez_compressed if kind == "compressed.npz" else np.savez
        write(path, **{str(place): pair.array for place, pair in enumerate(pairs)})


# Questions


@operation(2, VIEW)
def tolist(pool, pair):
    ours, expected = pool.call(pair.ours.tolist), converted_to_python(pair.array)
    if repr(ours) != repr(expected):
        raise Mismatch(f"tolist() is {ours}, not {expected}")


@quiet
def converted_to_python(array):
    if array.dtype.name in EXTENSIONS:
        array = array.astype(np.float64)
    return array.tolist()


@operation(3, VIEW, draw=lambda rng, pair: ([below(rng, 2 * n + 1) - n
                                             for n in pair.array.shape],))
def get_number(pool, pair, index):
    index = tuple(index)
    if len(index) != pair.array.ndim:
        return
    if not pair.ours.is_host_accessible():
        pool.must_refuse(lambda: pair.ours[index], BufferError, IndexError)
    expected, ours = pool.both(lambda: index_array(pair.array, index),
                               lambda: pair.ours[index])
    if repr(ours) != repr(converted_to_python(expected)):
        raise Mismatch(f"the element is {ours}, not {expected}")


@operation(2, VIEW)
def iterate(pool, pair):
    if pair.array.ndim == 0:
        pool.must_refuse(lambda: list(pair.ours), TypeError)
    if pair.array.ndim == 1 and pair.array.size > 0 and not pair.ours.is_host_accessible():
        pool.must_refuse(lambda: list(pair.ours), BufferError)
    parts = pool.call(lambda: list(pair.ours))
    parts = [part if pair.array.ndim == 1 else part.tolist() for part in parts]
    if repr(parts) != repr(converted_to_python(pair.array)):
        raise Mismatch(f"the parts are {parts}, not {pair.array}")


@operation(4, VIEW, VIEW)
def array_equal(pool, pair, other):
    """Compares numbers of any type as Python does: exactly."""
    expected = pair.array.shape == other.array.shape and all(
        a == b for a, b in zip(converted_to_python(pair.array.ravel()),
                               converted_to_python(other.array.ravel())))
    if pool.call(lambda: pair.ours.array_equal(other.ours)) != expected:
        raise Mismatch(f"array_equal() is {not expected} for {pair.array} and {other.array}")


@operation(4, VIEW, VIEW)
def overlaps(pool, pair, other):
    expected = shares(pair, other)
    if pool.call(lambda: pair.ours.overlaps(other.ours)) != expected:
        raise Mismatch(f"overlaps() is {not expected}")


@operation(1, VIEW)
def text(pool, pair):
    """An older NumPy writes some numbers otherwise, and ml_dtypes its own."""
    if pair.array.size > 1000 and not pair.ours.is_host_accessible():
        return
    ours = pool.call(lambda: str(pair.ours))
    if NUMPY_WRITES_AS_WE_DO and NAMES[pair.array.dtype] in NUMPY and ours != str(pair.array):
        raise Mismatch(f"the text is\n{ours}\nnot\n{pair.array}")


# The end of views


@operation(4, ANY)
def drop(pool, pair):
    pool.drop(pair)


@operation(1)
def collect(pool):
    gc.collect(0)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operations on random layouts, with NumPy's arrays and here, and the memory they are done in."""

import numpy as np
from gi.repository import GLib, Mtl

from conftest import new_buffer
from drawn_layouts import below, pick, shuffled

MEMORY = np.arange(16384, dtype=np.int16)
BUFFER = new_buffer(MEMORY.nbytes)
BUFFER.set_bytes(0, GLib.Bytes.new(MEMORY.tobytes()))
IN_PLACE = BUFFER.is_host_accessible()
ARRAY = np.asarray(BUFFER).view(np.int16) if IN_PLACE else MEMORY
FIRST_BYTE = ARRAY.ctypes.data

# A byte that is never read, for strides that lead anywhere.
NOWHERE = np.zeros(1, np.uint8)
NOWHERE_BYTE = NOWHERE.ctypes.data

# The element types of views in memory, and the sizes in bytes where there is none.
TYPES = [np.dtype(name) for name in ("int8", "int16", "uint16", "int32", "float32", "int64",
                                     "float64", "complex64", "complex128")]
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)

HAS_RESHAPE_COPY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class NeedsCopy(ValueError):
    """NumPy does not mind where the elements of another type would begin."""


# Each operation has arguments, drawn for an array, and two functions that take
# them, NumPy's and ours.


def draw_slice(rng, extent):
    def bound():
        if rng.random() < 0.3:
            return None
        if rng.random() < 0.02:
            return pick(rng, (-2**63, 2**63 - 1))
        return below(rng, 2 * extent + 5) - extent - 2

    return slice(bound(), bound(), pick(rng, (None, 1, 2, -1, -2, 3, -7)))


def draw_index(rng, array):
    parts = []
    for extent in array.shape:
        kind = rng.random()
        if kind < 0.2 and extent > 0:
            parts.append(below(rng, 2 * extent) - extent)
        elif kind < 0.7:
            parts.append(draw_slice(rng, extent))
        else:
            break
    if rng.random() < 0.3:
        parts.insert(below(rng, len(parts) + 1), None)
    if rng.random() < 0.3:
        parts.insert(below(rng, len(parts) + 1), Ellipsis)
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
    return ([pick(rng, (axis, axis - array.ndim)) for axis in shuffled(rng, array.ndim)],)


def random_divisor(rng, n):
    divisors = [d for d in range(1, min(n, 64) + 1) if n % d == 0]
    return pick(rng, divisors + [n // d for d in divisors])


def draw_shape(rng, array):
    """A shape of that many elements, sometimes with a -1 or of another size."""
    size = array.size
    if size == 0:
        shape = [below(rng, 4) for _ in range(1 + below(rng, 3))]
        shape[below(rng, len(shape))] = 0
        return (shape,)
    shape = []
    while size > 1 and len(shape) < 5:
        divisor = random_divisor(rng, size)
        shape.insert(below(rng, len(shape) + 1), divisor)
        size //= divisor
    if size > 1 and rng.random() < 0.95:
        shape.append(size)
    if shape and rng.random() < 0.2:
        shape[below(rng, len(shape))] = -1
    return (shape,)


def reshape_array(array, shape):
    if HAS_RESHAPE_COPY:
        return array.reshape(shape, copy=False)
    result = array[...]
    result.shape = shape
    return result


def draw_range_of_axes(rng, array):
    first = below(rng, array.ndim) if array.ndim else 0
    return first, first + below(rng, array.ndim - first) if array.ndim else 0


def flatten_array(array, first, last):
    if max(first, last) >= max(array.ndim, 1):
        raise IndexError("no such axis")
    if first > last:
        raise ValueError("a range that ends before it begins")
    if array.ndim == 0:
        return reshape_array(array, (1,))
    extent = 1
    for axis in range(first, last + 1):
        extent *= array.shape[axis]
    return reshape_array(array, array.shape[:first] + (extent,) + array.shape[last + 1:])


def draw_two_axes(rng, array):
    return tuple(below(rng, 2 * array.ndim + 2) - array.ndim - 1 for _ in "ab")


def draw_some_axes(rng, array):
    return ([axis for axis in range(array.ndim) if rng.random() < 0.3],)


def draw_new_axes(rng, array):
    ndim = array.ndim + 1 + below(rng, 2)
    return ([axis - ndim for axis in shuffled(rng, 2 * ndim)[:ndim - array.ndim]],)


def draw_broadcast_shape(rng, array):
    shape = [below(rng, 4) if extent == 1 and rng.random() < 0.7 else extent
             for extent in array.shape]
    shape = [below(rng, 3) for _ in range(below(rng, 2))] + shape
    if shape and rng.random() < 0.1:
        shape[below(rng, len(shape))] += 1
    return (shape,)


def draw_range(rng, array):
    if array.ndim == 0:
        return 0, 0, 1, 1
    axis = below(rng, array.ndim)
    start, stop, step = draw_slice(rng, array.shape[axis]).indices(array.shape[axis])
    # No index leads before the first element but one that is clamped.
    return axis, *(-2**63 if step < 0 and bound == -1 else bound for bound in (start, stop)), step


def narrow_array(array, axis, start, stop, step):
    return array[(slice(None),) * axis + (slice(start, stop, step),)]


def draw_axis_and_index(rng, array):
    axis = below(rng, array.ndim) if array.ndim else 0
    extent = array.shape[axis] if array.ndim else 0
    return axis, below(rng, 2 * extent + 2) - extent - 1


def select_array(array, axis, number):
    return array[(slice(None),) * axis + (number, Ellipsis)]


def draw_axis(rng, array):
    return (below(rng, 2 * array.ndim + 2) - array.ndim - 1,)


def draw_nothing(rng, array):
    return ()


def change_items(array, dtype, axis):
    """The bytes along an axis as elements of another type."""
    if array.ndim == 0:
        if dtype.itemsize != array.itemsize:
            raise IndexError("there is no axis")  # as documented; NumPy's is a ValueError
        return array.view(dtype)
    result = array.swapaxes(axis, -1).view(dtype).swapaxes(axis, -1)
    for other, (extent, stride) in enumerate(zip(array.shape, array.strides)):
        if other != axis % array.ndim and extent > 1 and array.size and stride % dtype.itemsize:
            raise NeedsCopy("a stride")
    return result


def signed_offset(array):
    """Returns the offset of the first element where there is no memory, in bytes."""
    return (array.ctypes.data - NOWHERE_BYTE + 2**63) % 2**64 - 2**63


def draw_repacking(rng, array):
    return pick(rng, SIZES), *draw_axis(rng, array)


def repack_array(array, size, axis):
    larger, smaller = max(size, array.itemsize), min(size, array.itemsize)
    result = change_items(array, np.dtype(f"V{size}"), axis)
    if larger % smaller:
        raise NeedsCopy("neither is a multiple of the other")
    if array.size and size > array.itemsize and signed_offset(array) % size:
        raise NeedsCopy("the first element")
    return result


def draw_type(rng, array):
    return (pick(rng, TYPES),)


def has_steps(shape):
    """True if no axis has the extent 1. The elements of one that has may count as side by side or
    not, so this is not compared."""
    return all(extent > 1 for extent in shape)


def view_array(array, dtype):
    if not has_steps(array.shape):
        return array
    # The memory of the arrays is as aligned as ours.
    alignment = dtype.alignment
    if array.ctypes.data % alignment and alignment > array.dtype.alignment:
        raise NeedsCopy("the first element")
    dense = [axis for axis, stride in enumerate(array.strides) if stride == array.itemsize]
    return change_items(array, dtype, dense[-1] if dense else -1)


def view_ours(ours, dtype):
    return ours.reinterpret(Mtl.DType.from_string(dtype.name)) if has_steps(ours.shape) else ours


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
    "repack": (draw_repacking, repack_array,
               lambda ours, size, axis: ours.repack(8 * size, axis)),
    "reinterpret": (draw_type, view_array, view_ours),
}

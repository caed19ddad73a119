# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views against NumPy's arrays over the same memory, through random operations."""

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import elements, first_byte, new_buffer

pytestmark = pytest.mark.any_memory

MEMORY = np.arange(16384, dtype=np.int16)
BUFFER = new_buffer(MEMORY.nbytes)
BUFFER.set_bytes(0, GLib.Bytes.new(MEMORY.tobytes()))
ARRAY = np.asarray(BUFFER).view(np.int16) if BUFFER.is_host_accessible() else MEMORY


def random_pair(rng):
    """The same elements, as an array and as a view."""
    ndim = rng.randrange(0, 5)
    shape = [rng.choice((0, 1, 1, 2, 2, 3, 4, 5)) if rng.random() < 0.9 else 7 for _ in range(ndim)]
    if rng.random() < 0.4:
        strides = [0] * ndim
        step = 1
        for axis in rng.sample(range(ndim), ndim):
            strides[axis] = step * rng.choice((1, 1, 1, -1))
            step *= max(shape[axis], 1)
    else:
        strides = [rng.choice((0, 1, -1, 2, -3, 5, 12, -20)) for _ in range(ndim)]

    start = 8192
    view = Mtl.StridedView.new(BUFFER, Mtl.StridedLayout(shape, strides, 2), Mtl.DType.INT16,
                               2 * start)
    array = np.lib.stride_tricks.as_strided(ARRAY[start:], shape, [2 * s for s in strides],
                                            writeable=False)
    return array, view


def random_slice(rng, extent):
    def bound():
        return None if rng.random() < 0.3 else rng.randrange(-extent - 2, extent + 3)

    return slice(bound(), bound(), rng.choice((None, 1, 2, -1, -2, 3, -7)))


def random_index(rng, shape):
    parts = []
    for extent in shape:
        kind = rng.random()
        if kind < 0.2 and extent > 0:
            parts.append(rng.randrange(-extent, extent))
        elif kind < 0.7:
            parts.append(random_slice(rng, extent))
        else:
            break
    if rng.random() < 0.3:
        parts.insert(rng.randrange(len(parts) + 1), None)
    if rng.random() < 0.3:
        parts.insert(rng.randrange(len(parts) + 1), Ellipsis)
    return tuple(parts)


def random_shape(rng, size):
    """A shape of that many elements, sometimes with a -1 or of another size."""
    if size == 0:
        shape = [rng.randrange(0, 4) for _ in range(rng.randrange(1, 4))]
        shape[rng.randrange(len(shape))] = 0
        return shape
    shape = []
    while size > 1 and len(shape) < 5:
        divisor = rng.choice([d for d in range(1, size + 1) if size % d == 0])
        shape.insert(rng.randrange(len(shape) + 1), divisor)
        size //= divisor
    if size > 1 and rng.random() < 0.95:
        shape.append(size)
    if shape and rng.random() < 0.2:
        shape[rng.randrange(len(shape))] = -1
    return shape


def reshape_in_place(array, shape):
    result = array[...]
    result.shape = shape
    return result


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


def index(rng, array, view):
    key = random_index(rng, array.shape)
    # NumPy gives a scalar where a view is asked for by integers alone.
    return lambda: array[key + (Ellipsis,) if Ellipsis not in key else key], lambda: (
        view.slice(slice_string(key)) if rng.random() < 0.5 or len(key) == view.ndim else view[key])


def permute(rng, array, view):
    axes = [rng.choice((axis, axis - array.ndim)) for axis in rng.sample(range(array.ndim), array.ndim)]
    return lambda: array.transpose(axes), lambda: view.permute(axes)


def transpose(rng, array, view):
    return lambda: array.T, lambda: view.T


def reshape(rng, array, view):
    shape = random_shape(rng, array.size)
    return lambda: reshape_in_place(array, shape), lambda: view.reshape(shape)


def flatten(rng, array, view):
    first = rng.randrange(array.ndim) if array.ndim else 0
    last = rng.randrange(first, array.ndim) if array.ndim else 0
    shape = array.shape[:first] + (int(np.prod(array.shape[first:last + 1])),) + array.shape[last + 1:]
    if array.ndim == 0:
        shape = (1,)
    return lambda: reshape_in_place(array, shape), lambda: view.flatten(first, last)


def swap_axes(rng, array, view):
    a, b = (rng.randrange(-array.ndim - 1, array.ndim + 1) for _ in "ab")
    return lambda: array.swapaxes(a, b), lambda: view.swap_axes(a, b)


def squeeze(rng, array, view):
    axes = tuple(axis for axis in range(array.ndim) if rng.random() < 0.3)
    if rng.random() < 0.5:
        return lambda: array.squeeze(), lambda: view.squeeze()
    return lambda: array.squeeze(axes), lambda: view.squeeze_axes(axes)


def unsqueeze(rng, array, view):
    ndim = array.ndim + rng.randrange(1, 3)
    axes = rng.sample(range(-ndim, ndim), ndim - array.ndim)
    return lambda: np.expand_dims(array, axes), lambda: view.unsqueeze(axes)


def broadcast_to(rng, array, view):
    shape = [rng.randrange(0, 4) if extent == 1 and rng.random() < 0.7 else extent
             for extent in array.shape]
    shape = [rng.randrange(0, 3) for _ in range(rng.randrange(0, 2))] + shape
    if shape and rng.random() < 0.1:
        shape[rng.randrange(len(shape))] += 1
    return lambda: np.broadcast_to(array, shape), lambda: view.broadcast_to(shape)


def narrow(rng, array, view):
    if array.ndim == 0:
        return lambda: np.expand_dims(array, 0)[5], lambda: view.narrow(0, 0, 1, 1)
    axis = rng.randrange(array.ndim)
    part = random_slice(rng, array.shape[axis])
    start, stop, step = part.indices(array.shape[axis])
    if step < 0 and stop == -1:
        stop = -2**63
    if step < 0 and start == -1:
        start = -2**63
    key = (slice(None),) * axis + (part,)
    return lambda: array[key], lambda: view.narrow(axis, start, stop, step)


def select(rng, array, view):
    axis = rng.randrange(array.ndim) if array.ndim else 0
    extent = array.shape[axis] if array.ndim else 0
    number = rng.randrange(-extent - 1, extent + 1)
    key = (slice(None),) * axis + (number, Ellipsis)
    return lambda: array[key], lambda: view.select(axis, number)


def flip(rng, array, view):
    axis = rng.randrange(-array.ndim - 1, array.ndim + 1)
    return lambda: np.flip(array, axis), lambda: view.flip(axis)


OPERATIONS = [index, index, permute, transpose, reshape, reshape, flatten, swap_axes, squeeze,
              unsqueeze, broadcast_to, narrow, select, flip]
# What NumPy says for all that can be wrong.
NUMPY_ERRORS = (IndexError, ValueError, AttributeError)


def compare(array, view, history):
    assert view.shape == array.shape, history
    if array.size > 0:
        walked = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
        assert ([view.strides[axis] * 2 for axis in walked]
                == [array.strides[axis] for axis in walked]), history
        assert first_byte(view) == array.ctypes.data - ARRAY.ctypes.data, history
        if view.is_host_accessible():
            assert view.get_address() == array.ctypes.data, history
        assert view.is_contiguous(Mtl.Order.C) == array.flags.c_contiguous, history
        assert view.is_contiguous(Mtl.Order.F) == array.flags.f_contiguous, history


def test_operations(rng, cases):
    n_refused = 0
    for case in range(cases):
        array, view = random_pair(rng)
        history = [f"case {case}: shape {array.shape}, strides {array.strides}"]
        compare(array, view, history)
        for _ in range(rng.randrange(1, 4)):
            operation = rng.choice(OPERATIONS)
            on_array, on_view = operation(rng, array, view)
            history.append(f"{operation.__name__} of {array.shape} {array.strides}")
            try:
                expected = on_array()
            except NUMPY_ERRORS:
                n_refused += 1
                with pytest.raises((IndexError, ValueError)):
                    on_view()
                    pytest.fail(f"NumPy refuses this: {history}")
                break
            array, view = expected, on_view()
            compare(array, view, history)
        if case % 20 == 0:
            assert view.tolist() == array.tolist(), history
    assert n_refused > cases / 100


def test_dense_copies_keep_values(rng, cases):
    for case in range(cases // 50):
        array, view = random_pair(rng)

        assert elements(view.copy()).tolist() == array.tolist()
        order = view.get_layout().to_dense(Mtl.Order.K)
        copied = array.copy(order="K")
        if array.size > 0:
            walked = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
            assert ([order.strides[axis] * 2 for axis in walked]
                    == [copied.strides[axis] for axis in walked]), (array.shape, array.strides)


def test_unique_never_lies(rng, cases):
    for case in range(cases // 50):
        array, view = random_pair(rng)
        offsets = sum(np.arange(n).reshape([-1 if a == axis else 1 for a in range(array.ndim)]) * s
                      for axis, (n, s) in enumerate(zip(array.shape, array.strides)))
        distinct = len(set(np.ravel(np.broadcast_to(offsets, array.shape)).tolist()))
        if view.is_unique():
            assert distinct == array.size, (array.shape, array.strides)

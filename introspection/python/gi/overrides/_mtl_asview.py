# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes views of other objects: arrays, buffers, nested sequences of numbers."""

import array
import numbers

from ..module import get_introspection_module
from . import _mtl

Mtl = get_introspection_module("Mtl")

Device = Mtl.Device
DType = Mtl.DType
StridedView = Mtl.StridedView


def _flatten(value, shape, depth, values):
    """Appends the items of nested sequences in C order, and checks the lengths."""
    if depth == len(shape):
        if isinstance(value, (list, tuple)):
            raise ValueError(f"nested sequences of different depth: {value!r} at depth {depth}")
        values.append(value)
        return
    if not isinstance(value, (list, tuple)) or len(value) != shape[depth]:
        raise ValueError(f"nested sequences of different lengths: expected {shape[depth]} items "
                         f"at depth {depth}, got {value!r}")
    for item in value:
        _flatten(item, shape, depth + 1, values)


def _is_bool(value):
    # NumPy's bool is not an int, and NumPy may not be installed.
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _pack_numbers(values):
    """Returns the narrowest usual element type that fits, and the elements in that type."""
    if values and all(_is_bool(value) for value in values):
        return DType.BOOL, bytes(map(bool, values))
    if values and all(isinstance(value, numbers.Integral) or _is_bool(value) for value in values):
        values = [int(value) for value in values]
        if max(values) < 2**63:
            return DType.INT64, array.array("q", values)
        return DType.UINT64, array.array("Q", values)
    if all(isinstance(value, numbers.Real) or _is_bool(value) for value in values):
        return DType.FLOAT64, array.array("d", map(float, values))
    pairs = [complex(value) for value in values]
    return DType.COMPLEX128, array.array("d", [part for pair in pairs
                                               for part in (pair.real, pair.imag)])


def _view_of_nested(sequence):
    shape = []
    probe = sequence
    while isinstance(probe, (list, tuple)):
        shape.append(len(probe))
        if len(shape) > 64:
            raise ValueError("sequences are nested more than 64 deep")
        if not probe:
            break
        probe = probe[0]

    values = []
    _flatten(sequence, shape, 0, values)
    for value in values:
        if not isinstance(value, numbers.Number) and not _is_bool(value):
            raise TypeError(f"nested sequences must hold numbers, not {type(value).__name__}")
    try:
        dtype, data = _pack_numbers(values)
    except OverflowError:
        raise ValueError("an integer does not fit in 64 bits") from None

    view = StridedView.new_empty(Device.get_host(), dtype, shape)
    if values:
        memoryview(view.get_buffer()).cast("B")[:] = memoryview(data).cast("B")
    return view


def _is_of_extension_type(x):
    """Returns whether x is an array of a type that another package adds to NumPy, such as
    ml_dtypes. NumPy exports these neither through DLPack nor as buffers."""
    return getattr(getattr(x, "dtype", None), "isbuiltin", None) == 2


def _view_of_extension_type(array):
    """Views the bytes of the array. Elements of fewer than 8 bits have a byte each."""
    dtype = DType.from_string(array.dtype.name)
    view = _mtl.from_buffer(array.view(f"u{array.itemsize}"))
    return StridedView.new(view.get_buffer(), view.dup_layout(), dtype, view.get_byte_offset())


def asview(x):
    """A view of the memory that x exports through DLPack or the buffer
    protocol, without a copy. If x is a number or a nested sequence of numbers,
    a view of a copy in host memory. NumPy arrays of the types of ml_dtypes work
    as well."""
    if isinstance(x, StridedView):
        return x
    if isinstance(x, (list, tuple, bool, int, float, complex)):
        return _view_of_nested(x)
    if hasattr(type(x), "__dlpack__"):
        try:
            return _mtl.from_dlpack(x)
        except BufferError as error:
            # For example, older producers can only export read-only memory
            # through the buffer protocol.
            try:
                if _is_of_extension_type(x):
                    return _view_of_extension_type(x)
                return _mtl.from_buffer(x)
            except (TypeError, BufferError):
                raise error from None
    try:
        return _mtl.from_buffer(x)
    except TypeError:
        raise TypeError(f"{type(x).__name__} exports neither DLPack nor a buffer, and is not a "
                        "number or a nested list or tuple of numbers") from None

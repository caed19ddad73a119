# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random tensors with random names, for files."""

import sys
from typing import NamedTuple

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

MAX_VOLUME = 600
# NumPy's or ml_dtypes' names of the types in a header of safetensors.
SAFETENSORS = {"BOOL": "bool", "I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16",
               "I32": "int32", "U32": "uint32", "I64": "int64", "U64": "uint64",
               "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64",
               "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
               "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
               "F8_E8M0": "float8_e8m0fnu", "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn",
               "F6_E3M2": "float6_e3m2fn"}
PACKED = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}
NUMPY = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64", "complex64", "complex128"]


class Tensor(NamedTuple):
    kind: str  # as safetensors names it
    array: np.ndarray  # a byte for each element if the type is packed
    content: bytes  # the bytes in a file


def draw_text(rng, limit=20):
    """Draws text with characters of each plane, and some that JSON escapes; no NUL, and no
    surrogates."""
    kind = rng.random()
    if kind < 0.4:
        return f"model.layers.{rng.randrange(100)}.{rng.choice(('weight', 'bias'))}"
    pool = "abc./\\\"\n\t\x01\x7f {}" if kind < 0.6 else None
    return "".join(rng.choice(pool) if pool else _draw_character(rng)
                   for _ in range(rng.randrange(limit)))


def _draw_character(rng):
    limit = rng.choice((0x80, 0x800, 0x10000, sys.maxunicode + 1))
    while True:
        code = rng.randrange(1, limit)
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def draw_names(rng, limit):
    return {draw_text(rng): None for _ in range(rng.randrange(limit))}


def draw_shape(rng):
    """Draws a shape; ones without axes, and without elements, are frequent."""
    while True:
        limit = rng.choice((2, 4, 9, 200))
        shape = tuple(rng.randrange(0 if rng.random() < 0.1 else 1, limit + 1)
                      for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4, 5))))
        if np.prod(shape, dtype=int) <= MAX_VOLUME:
            return shape


def _draw_bytes(rng, dtype, volume):
    if dtype == "bool":
        return bytes(rng.choices((0, 1), k=volume))
    return rng.randbytes(volume * np.dtype(dtype).itemsize)


def draw_array(rng, dtype):
    """Draws an array of any bits."""
    shape = draw_shape(rng)
    content = _draw_bytes(rng, dtype, np.prod(shape, dtype=int))
    return np.frombuffer(content, dtype).reshape(shape)


def _pack(elements, bits):
    """Packs the low bits of bytes side by side, the first in the lowest."""
    rows = np.unpackbits(elements.reshape(-1, 1), axis=1, bitorder="little")
    return np.packbits(rows[:, :bits], bitorder="little").tobytes()


def _draw_packed(rng, kind):
    """Draws packed elements that fill whole bytes together, as the format needs it, and along the
    last axis, too, as safetensors' writer does."""
    bits, shape = PACKED[kind], draw_shape(rng)
    shape = (*shape[:-1], shape[-1] * 4) if shape else (4,)
    elements = np.frombuffer(rng.randbytes(np.prod(shape, dtype=int)), "u1") & (1 << bits) - 1
    return Tensor(kind, elements.reshape(shape).view(getattr(ml_dtypes, SAFETENSORS[kind])),
                  _pack(elements, bits))


def draw_tensor(rng, kinds=tuple(SAFETENSORS)):
    kind = rng.choice(kinds)
    if kind in PACKED:
        return _draw_packed(rng, kind)
    name = SAFETENSORS[kind]
    array = draw_array(rng, name if name in NUMPY else getattr(ml_dtypes, name))
    return Tensor(kind, array, array.tobytes())


def draw_strided(rng, array):
    """Returns the same elements in memory of another order than the file's."""
    for axis in range(array.ndim):
        if rng.random() < 0.3:
            index = (slice(None),) * axis + (slice(None, None, rng.choice((-1, 2, -3))),)
            step = abs(index[-1].step)
            apart = np.repeat(array, step, axis)
            array = apart[index] if index[-1].step > 0 else np.flip(apart, axis)[index]
    if rng.random() < 0.4:
        axes = rng.sample(range(array.ndim), array.ndim)
        array = array.transpose(axes).copy().transpose(np.argsort(axes))
    return array


def assert_same(view, array, where):
    """Checks that element type, shape, and all bits are the same."""
    if array.dtype.kind == "V" and array.dtype.isbuiltin != 2:
        # The buffer protocol has no format for bytes without a meaning.
        assert str(view.dtype) == f"opaque_handle{8 * array.itemsize}", where
        assert view.shape == array.shape and bytes(view.get_buffer())[
            view.get_byte_offset():][:array.nbytes] == array.tobytes(), where
        return
    same = np.asarray(view)
    assert same.dtype == array.dtype.newbyteorder("="), where
    assert same.shape == view.shape == array.shape, where
    assert same.tobytes() == array.astype(same.dtype).tobytes(), where

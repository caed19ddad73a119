# SPDX-License-Identifier: LGPL-2.1-or-later
"""Formats of buffers: an element type is that of the format, as struct and NumPy read it, or the
buffer is refused. Some exporters tell untruths."""

import ctypes
import struct
import sys
import time

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from py_buffer import Exporting
from says import says

SIZE = 64  # the memory's
NATIVE = ("", "@", "^")
SWAPPED = (">", "!") if sys.byteorder == "little" else ("<",)
KINDS = {"?": "bool", "c": "uint", "Zf": "complex", "Zd": "complex",
         **dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQN", "uint"),
         **dict.fromkeys("efd", "float")}


def size_of(order, code):
    """Returns the size by struct's rules, or None."""
    try:
        if code.startswith("Z"):
            return 2 * struct.calcsize(code[1:])
        return struct.calcsize(("" if order in NATIVE else order) + code)
    except struct.error:
        return None


def expected_name(format, itemsize):
    """The name of the element type, or None."""
    order, code = (format[:1], format[1:]) if format[:1] in "@^=<>!" else ("", format)
    if code not in KINDS or size_of(order, code) != itemsize or itemsize > 1 and order in SWAPPED:
        return None
    kind = KINDS[code]
    return kind if kind == "bool" else f"{kind}{8 * itemsize}"


def numpy_name(exporter):
    try:
        return np.asarray(memoryview(exporter)).dtype.name
    except (ValueError, TypeError, RuntimeError, BufferError, NotImplementedError):
        return None


def check(format, itemsize):
    """Returns whether it was viewed."""
    memory = (ctypes.c_ubyte * SIZE)(*range(SIZE))
    n_items = SIZE // itemsize if itemsize else 0
    exporting = Exporting(memory, format.encode(), itemsize, (n_items,), (itemsize,),
                          n_items * itemsize)
    name = expected_name(format, itemsize)
    try:
        view = Mtl.asview(exporting.exporter)
    except BufferError as error:
        assert name is None, (format, itemsize, error)
        assert f"“{format[:100]}" in str(error) and str(itemsize) in str(error)
    else:
        assert view.dtype.name == name, (format, itemsize)
        assert bytes(view) == bytes(memory)[:n_items * itemsize]
        # NumPy takes 'c' for text, and knows neither 'n' nor '^'.
        if not set(format) & set("cnN^"):
            assert numpy_name(exporting.exporter) == name, (format, itemsize)
        assert exporting.n_exports == 1
        del view
    exporting.end()
    return name is not None


@pytest.mark.parametrize("order", ["", *"@^=<>!"])
@pytest.mark.parametrize("code", ["x", "?", *"cbBhHiIlLqQnNefdgspPOuwt", "Ze", "Zf", "Zd", "Zg"])
def test_each_code_in_items_of_each_size(order, code):
    n_viewed = sum(check(order + code, itemsize) for itemsize in range(17))
    assert n_viewed == (expected_name(order + code, size_of(order, code) or 0) is not None)


@pytest.mark.parametrize("format, itemsize", [
    ("T{f:a:f:b:}", 8), ("T{=f:a:}", 4), ("(2,3)f", 24), ("(1)f", 4), ("2f", 8), ("1f", 4),
    ("0f", 0), ("fx", 5), ("xf", 8), ("ff", 8), ("f f", 8), (" f", 4), ("f ", 4), ("", 0), ("", 1),
    ("@", 1), ("<", 1), ("<<f", 4), ("f<", 4), ("&f", 8), ("X{}", 8), ("8s", 8), ("3w", 12),
    ("Z", 8), ("ZZf", 16), ("fZ", 4), ("é", 2), ("f" * 1000, 4000), ("%s%n", 4),
])
def test_formats_of_more_than_a_number(format, itemsize):
    assert not check(format, itemsize)


def test_no_format_is_that_of_bytes():
    for itemsize in (1, 8):
        exporting = Exporting((ctypes.c_ubyte * 8)(), None, itemsize, (8 // itemsize,))
        if itemsize == 1:
            assert Mtl.asview(exporting.exporter).dtype == Mtl.DType.UINT8
        else:
            with pytest.raises(BufferError, match=says("“B”", 8)):
                Mtl.asview(exporting.exporter)


def test_random_formats(rng, cases):
    parts = [*"@^=<>!", *"xcbB?hHiIlLqQnNefdgspP", "Zf", "Zd", "Zg", "T{", "}", ":a:", "(2,3)", "1",
             "2", " ", "O"]
    deadline = time.monotonic() + conftest.SECONDS / 4
    n_formats = n_viewed = 0
    while n_formats < cases and time.monotonic() < deadline:
        format = "".join(rng.choices(parts, k=rng.choice((1, 2, 2, 2, 3, 5))))
        sizes = [0, 1, 2, 3, 4, 8, 12, 16, 24]
        try:
            sizes += 5 * [struct.calcsize(format)]
        except struct.error:
            pass
        n_viewed += check(format, min(rng.choice(sizes), SIZE))
        n_formats += 1
    conftest.NOTES.append(f"{n_formats} random formats of buffers, {n_viewed} of a number")
    assert n_formats < 1000 or n_viewed > n_formats / 50


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class PackedPoint(ctypes.Structure):
    _pack_ = 1
    _fields_ = Point._fields_


class Either(ctypes.Union):
    _fields_ = [("number", ctypes.c_float), ("bits", ctypes.c_uint32)]


class Swapped(ctypes.BigEndianStructure if sys.byteorder == "little"
              else ctypes.LittleEndianStructure):
    _fields_ = [("x", ctypes.c_float)]


@pytest.mark.parametrize("value", [
    Point(1, 2), (Point * 3)(), PackedPoint(1, 2), (PackedPoint * 3)(), Either(1), (Either * 2)(),
    Swapped(1), ctypes.c_longdouble(1), ctypes.c_wchar("a"), ctypes.c_void_p(1),
    ctypes.pointer(ctypes.c_int(1)), (ctypes.c_void_p * 2)(), np.longdouble(1),
])
def test_what_is_no_number_is_refused_and_its_bytes_are_not(value):
    with pytest.raises(BufferError, match=says("memoryview(x).cast('B')")):
        Mtl.asview(value)
    memory = memoryview(value)
    view = Mtl.asview(memory.cast("B"))
    assert view.dtype == Mtl.DType.UINT8 and bytes(view) == memory.tobytes()


@pytest.mark.parametrize("lie, values", [
    ({"length": 63}, [63]), ({"length": 65}, [65]), ({"length": 0}, [0]), ({"length": -1}, [-1]),
    ({"shape": (17,)}, [68]), ({"shape": (4, 5)}, [80]), ({"shape": (-16,)}, [-64]),
    ({"shape": (2**61,)}, ["2^63"]), ({"shape": (2**62, 4)}, [2**62]),
    ({"shape": (0, -1), "length": 0}, [-1]),
    ({"ndim": -1}, [-1]), ({"ndim": 65}, [65]), ({"ndim": 2**31 - 1}, [2**31 - 1]),
    ({"shape": (), "ndim": 2}, ["shape"]), ({"shape": (), "length": 64}, [64]),
    ({"shape": (), "ndim": 1, "length": 63}, [63]), ({"strides": (3,)}, [3]),
    ({"strides": (2**63 - 1,)}, [2**63 - 1]),
])
def test_dimensions_that_do_not_agree_are_refused(lie, values):
    memory = (ctypes.c_float * 16)()
    fields = {"shape": (16,), **lie}
    exporting = Exporting(memory, b"f", 4, **fields)
    with pytest.raises((BufferError, ValueError), match=says(*values)):
        Mtl.asview(exporting.exporter)
    exporting.end()


def test_exporters_of_the_truth():
    memory = (ctypes.c_float * 16)(*range(16))
    for fields, expected in [({"shape": (16,)}, [float(i) for i in range(16)]),
                             ({"shape": (), "ndim": 1}, [float(i) for i in range(16)]),
                             ({"shape": (), "length": 4}, 0.0),
                             ({"shape": (0, 3), "length": 0}, []),
                             ({"shape": (2, 3), "strides": (0, 8), "length": 24},
                              [[0, 2, 4], [0, 2, 4]])]:
        exporting = Exporting(memory, b"f", 4, read_only=True, **fields)
        view = Mtl.asview(exporting.exporter)
        assert view.tolist() == expected and view.is_read_only()
        del view
        exporting.end()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""New tensors: what NumPy makes with the same arguments."""

import decimal
import fractions
import subprocess
import sys

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import HOST, NUMERIC, dtype_of
from dlpack_structs import Producer
from says import says

SHAPES = [(), 0, 1, 7, (3,), [2, 3], (0, 4), (2, 1, 3), np.int64(4), (np.int8(2), 3)]
SPELLINGS = ["float32", "f4", "F32", "float", float, int, bool, complex, np.float16, np.dtype("u2"),
             Mtl.DType.INT8, "<i4", np.uint8]


def numpys(dtype):
    return np.dtype(dtype.name if isinstance(dtype, Mtl.DType) else
                    "f4" if dtype == "F32" else dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("dtype", SPELLINGS, ids=repr)
def test_zeros_ones_full_and_empty_are_numpys(shape, dtype):
    expected = np.zeros(shape, numpys(dtype))
    for view, array in ((Mtl.zeros(shape, dtype), expected),
                        (Mtl.zeros(shape=shape, dtype=dtype, device=HOST), expected),
                        (Mtl.ones(shape, dtype), np.ones(shape, numpys(dtype))),
                        (Mtl.full(shape, 1, dtype=dtype, device="cpu"),
                         np.full(shape, 1, numpys(dtype)))):
        result = np.asarray(view)
        assert result.dtype == array.dtype and result.shape == array.shape
        assert np.array_equal(result, array) and not view.is_read_only()
    assert Mtl.empty(shape, dtype).shape == expected.shape
    assert Mtl.empty(shape, dtype).dtype == expected.dtype


def test_the_default_type_is_that_of_numpy():
    for make in (lambda xp: xp.zeros(2), lambda xp: xp.ones(2), lambda xp: xp.empty(2),
                 lambda xp: xp.zeros(2, None), lambda xp: xp.ones(2, None),
                 lambda xp: xp.full(2, 1), lambda xp: xp.full(2, True), lambda xp: xp.full(2, 1.0),
                 lambda xp: xp.full(2, 1j), lambda xp: xp.full(2, 2**53 + 1),
                 lambda xp: xp.full(2, np.float32(1)), lambda xp: xp.full(2, np.ones(2, "i2")),
                 lambda xp: xp.full(2, [1, 2]), lambda xp: xp.full(2, 1, None),
                 lambda xp: xp.array([1, 2]), lambda xp: xp.array([1, 2.5]),
                 lambda xp: xp.array([True]), lambda xp: xp.array([True, 2]),
                 lambda xp: xp.array(3), lambda xp: xp.arange(3), lambda xp: xp.arange(3.0),
                 lambda xp: xp.arange(2**53 + 1, 2**53 + 4)):
        view, array = make(Mtl), make(np)
        assert view.dtype == array.dtype and view.shape == array.shape
        assert view.get_device() == Mtl.Device.get_default()
    assert Mtl.full(2, 2**53 + 1).tolist() == [2**53 + 1] * 2


@pytest.mark.parametrize("shape", [2.5, [2.5], "3", ["3"], None, [None], {}, [[1]]],
                         ids=repr)
def test_what_is_no_shape(shape):
    if shape == {}:
        assert Mtl.zeros(shape).shape == ()
        return
    for make in (Mtl.zeros, Mtl.ones, Mtl.empty, lambda shape: Mtl.full(shape, 0),
                 lambda shape: Mtl.StridedView.new_zeros("f4", shape)):
        with pytest.raises(TypeError):
            make(shape)


def test_values_out_of_range_are_refused():
    for make in (lambda: Mtl.full(2, 300, "u1"), lambda: Mtl.array([1, 300], "u1"),
                 lambda: Mtl.asview([[1], [300]], dtype=np.uint8), lambda: Mtl.array(-1, "u8"),
                 lambda: Mtl.array([2**70], "i8")):
        with pytest.raises((ValueError, OverflowError),
                           match=f"{says(300)}|{says(-1)}|{says(2**70)}"):
            make()
    for shape in (-1, (2, -3)):
        with pytest.raises(ValueError, match=says(shape if isinstance(shape, int) else -3)):
            Mtl.zeros(shape)
    with pytest.raises(MemoryError):
        Mtl.zeros(2**60, "f4")


def test_devices():
    assert Mtl.zeros(2, device="cpu").get_device() is HOST
    assert Mtl.arange(3, device=HOST).get_device() is HOST
    deep = []
    for _ in range(5000):
        deep = [deep]
    for wrong, error in (("gpu", ValueError), (1, TypeError), (HOST.get_name(), ValueError),
                         (deep, TypeError)):
        with pytest.raises(error, match="device"):
            Mtl.zeros(2, device=wrong)


MAKERS = {"zeros": [(2, 3)], "ones": [(2, 3)], "empty": [(2, 3)], "full": [(2, 3), 7],
          "array": [[[1, 2], [3, 4]]], "arange": [3, 9, 2]}


@pytest.mark.skipif(not HOST.supports_storage_mode("interprocess"),
                    reason="this system has no memory for other processes")
@pytest.mark.parametrize("name", MAKERS)
def test_shared_memory(name):
    make = getattr(Mtl, name)
    for dtype in (None, "f4", "int8", "u1", "f8"):
        plain = make(*MAKERS[name], dtype=dtype, device="cpu")
        for device in (None, "cpu", HOST):
            view = make(*MAKERS[name], dtype=dtype, device=device, shared=True)
            assert view.get_buffer().is_interprocess() and view.get_device() is HOST
            assert not view.is_read_only() and not plain.get_buffer().is_interprocess()
            assert view.dtype == plain.dtype and view.shape == plain.shape
            assert name == "empty" or view.array_equal(plain)
    assert not make(*MAKERS[name], shared=False).get_buffer().is_interprocess()
    with pytest.raises(TypeError):
        make(*MAKERS[name], *[None] * (4 - len(MAKERS[name])), True)


@pytest.mark.skipif(not HOST.supports_storage_mode("interprocess"),
                    reason="this system has no memory for other processes")
def test_shared_copies():
    source = np.arange(6, dtype="i2").reshape(2, 3)[:, ::-1]
    for view in (Mtl.array(source, shared=True), Mtl.asview(source).to_device("cpu", "interprocess"),
                 Mtl.array(source.tolist(), "i2", shared=True)):
        assert view.get_buffer().is_interprocess() and np.array_equal(np.asarray(view), source)
        for copied in (view.copy(), view.astype("f4"), view + 0, Mtl.array(view)):
            assert not Mtl.asview(copied).get_buffer().is_interprocess()
    for arguments in ((2**63, 2**63 + 3), (0, 1, 0.25), (-3, 300)):
        view = Mtl.arange(*arguments, shared=True)
        assert view.get_buffer().is_interprocess() and view.array_equal(Mtl.arange(*arguments))


def test_shared_memory_is_the_host_s():
    device = Mtl.from_dlpack(Producer(0xdead0000, (4,), device=(10, 0))).get_device()
    for name, arguments in MAKERS.items():
        with pytest.raises(ValueError, match=says("device", "(10, 0)")):
            getattr(Mtl, name)(*arguments, device=device, shared=True)
    with pytest.raises(MemoryError, match=says(2**52)):
        Mtl.zeros(2**52, "u1", shared=True)


VALUES = [1, 2.5, True, 1j, [1, 2], [[1, 2], [3, 4]], [], [[], []], (1.5, (2)), [True, False],
          [2**63], [-2**63], [fractions.Fraction(1, 2)], [decimal.Decimal("0.25"), 1],
          [np.float32(1.5), 2]]


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_array_of_values(values):
    view = Mtl.array(values)
    expected = np.array(values)
    if expected.dtype.kind == "O":
        expected = expected.astype(float)
    assert view.shape == expected.shape
    assert np.array_equal(np.asarray(view), expected)
    for dtype in ("f4", "f8", complex):
        if np.iscomplexobj(expected) and dtype != complex:
            continue
        for converted in (Mtl.array(values, dtype), Mtl.asview(values, dtype=dtype)):
            assert converted.dtype == np.dtype(dtype)
            assert np.array_equal(np.asarray(converted), expected.astype(dtype))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_array_is_a_copy(dtype):
    source = np.arange(6).reshape(2, 3).astype(dtype)[:, ::-1]
    for values in (source, Mtl.asview(source), memoryview(source)):
        view = Mtl.array(values)
        assert view.dtype == dtype_of(dtype)
        assert np.array_equal(np.asarray(view), source)
        assert not np.shares_memory(np.asarray(view), source)
        assert Mtl.array(values, "f8" if not np.iscomplexobj(source) else "c16").shape == (2, 3)


def test_array_of_bytes():
    assert Mtl.array(b"ab").tolist() == [97, 98]
    view = Mtl.array(Mtl.asview(b"ab"))
    view[0] = 0
    assert view.tolist() == [0, 98]


def test_asview_with_a_dtype_copies_only_to_convert():
    array = np.arange(4, dtype="i2")
    same = Mtl.asview(array, dtype="int16")
    array[0] = 7
    assert same[0] == 7
    converted = Mtl.asview(array, dtype=float)
    array[0] = 8
    assert converted.tolist() == [7, 1, 2, 3]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "u1", "u8", "f2", "c8"])
@pytest.mark.parametrize("arguments", [
    (5,), (0,), (-3,), (2, 5), (5, 2), (0, 10, 3), (10, 0, -3), (1, 1), (0, 1, 2**40),
    (np.int64(3),), (0, np.uint8(4), np.int8(2))], ids=repr)
def test_arange_of_integers(arguments, dtype):
    view = Mtl.arange(*arguments, dtype=dtype)
    expected = np.arange(*arguments).astype(dtype)
    assert view.dtype == np.dtype(dtype)
    assert np.array_equal(np.asarray(view), expected)


@pytest.mark.parametrize("arguments", [
    (2.5,), (0, 1, 0.25), (1.0, 0.0, -0.125), (0.5, 3), (0, 1, 0.1), (1, 2, 0.3), (0.0,),
    (-1.5, 1.5, 0.5), (fractions.Fraction(5, 2),), (1e300, 3e300, 1e300)], ids=repr)
def test_arange_of_floats(arguments):
    expected = np.arange(*map(float, arguments))
    assert np.array_equal(np.asarray(Mtl.arange(*arguments, dtype="f8")), expected)
    assert np.asarray(Mtl.arange(*arguments)).tobytes() == expected.tobytes()
    assert Mtl.arange(*arguments).dtype == Mtl.arange(*arguments, dtype=None).dtype == "float64"
    assert np.array_equal(np.asarray(Mtl.arange(*arguments, dtype="f4")), expected.astype("f4"))


def test_arange_is_exact_beyond_doubles():
    assert Mtl.arange(2**62, 2**62 + 3, dtype="i8").tolist() == [2**62, 2**62 + 1, 2**62 + 2]
    assert Mtl.arange(2**64 - 2, 2**64, dtype="u8").tolist() == [2**64 - 2, 2**64 - 1]
    assert Mtl.arange(-2**63, -2**63 + 2, dtype="i8").tolist() == [-2**63, -2**63 + 1]


@pytest.mark.parametrize("arguments", [
    (3,), (0,), (3, 1), (16777217, 16777219), (-2**63, -2**63 + 2), (2**63 - 3, 2**63), (True,),
    (np.int8(3),), (np.uint8(1), np.int64(4)), (0, 5, 2**70), (2**70, 1), (20_000,),
    (2**53 - 9, 2**53 + 20_000), (7, -40_000, -2)], ids=repr)
def test_arange_of_integers_is_of_int64(arguments):
    for view in (Mtl.arange(*arguments), Mtl.arange(*arguments, dtype=None)):
        assert view.dtype == "int64" and view.tolist() == list(range(*map(int, arguments)))


def test_arange_of_large_integers_is_of_uint64():
    for arguments in ((2**63, 2**63 + 3), (2**64 - 2, 2**64), (0, 2**63 + 1, 2**62),
                      (2**64 - 1, 2**63, -2**61), (2**63 - 5, 2**63 + 20_000)):
        view = Mtl.arange(*arguments)
        assert view.dtype == "uint64" and view.tolist() == list(range(*arguments))
    for arguments in ((-1, 2**63 + 9, 2**63 + 1), (2**64, 2**64 + 3), (-2**63 - 1, 0, 2**62)):
        with pytest.raises(OverflowError, match=says(arguments[0])):
            Mtl.arange(*arguments)


def test_random_ranges_without_a_dtype(rng):
    for _ in range(1000):
        start, step = rng.randrange(-2**40, 2**40), rng.choice([1, -1, 3, -7, 2**20, 10**12])
        arguments = [start, start + rng.randrange(-3, 40) * step, step]
        if rng.random() < 0.5:
            index = rng.randrange(3)
            arguments[index] += rng.choice([0.0, 0.5, -0.25])
        expected = np.arange(*arguments)
        result = np.asarray(Mtl.arange(*arguments))
        assert result.dtype == expected.dtype, arguments
        assert result.tobytes() == expected.tobytes(), arguments


def test_arange_of_several_pieces():
    for dtype in ("i4", "f8"):
        assert np.array_equal(np.asarray(Mtl.arange(600_000, dtype=dtype)), np.arange(600_000))
    assert np.array_equal(np.asarray(Mtl.arange(0, 60_000, 0.1, dtype="f8")),
                          np.arange(0, 60_000, 0.1))


def test_random_ranges_of_several_pieces(rng):
    for _ in range(100):
        n = rng.randrange(2**14 - 2, 2**16)
        step = rng.choice([1, -1, 7, -3, 1000, 2**33, -2**40])
        start = rng.choice([0, -5, 2**31, 2**52 - 5, 2**52 - 2**15, 2**53 - 7, -2**52, 2**62])
        dtype = rng.choice(["f2", "f4", "f8", "i1", "i4", "i8", "u1", "u8", "c8", "?"])
        if -2**63 <= start + n * step < 2**63:
            with np.errstate(all="ignore"):
                expected = np.array(range(start, start + n * step, step), "i8").astype(dtype)
            view = Mtl.arange(start, start + n * step, step, dtype)
            assert bytes(view) == expected.tobytes(), (start, n, step, dtype)
        start = rng.choice([0, -0.0, rng.random(), 1e10, -3, 2**53 + 1, 2**60 + 3])
        step = rng.choice([0.1, -0.25, rng.random(), 1e200])
        expected = np.arange(start, start + (n - 0.5) * step, step)
        view = Mtl.arange(start, start + (n - 0.5) * step, step, "f8")
        assert bytes(view) == expected.tobytes(), (start, n, step)


def test_random_ranges_of_the_constructors(rng):
    View = Mtl.StridedView
    for _ in range(2000):
        start, step = rng.uniform(-10, 10), rng.choice([rng.uniform(-3, 3), 0.1, -0.3, 1e-3, 2.5])
        stop = start + rng.choice([rng.uniform(-20, 20), step * rng.randrange(-2, 3000)])
        if step != 0:
            expected = np.arange(start, stop, step)
            for dtype in ("f8", "f4", "c8", "i2"):
                view = View.new_arange(HOST, dtype, start, stop, step)
                assert bytes(view) == expected.astype(dtype).tobytes(), (start, stop, step, dtype)
        edges = [-2**63, -2**62, -1, 0, 5, 2**62, 2**63 - 1]
        start, stop = rng.choice(edges), rng.choice(edges)
        step = rng.choice([1, -1]) * rng.randrange(2**51, 2**63)
        values = list(range(start, stop, step))
        for dtype in ("i8", "f8", "f4", "c16"):
            view = View.new_arange_int64(HOST, dtype, start, stop, step)
            assert bytes(view) == np.array(values, "i8").astype(dtype).tobytes(), (
                start, stop, step, dtype)


def test_ranges_that_the_constructors_refuse():
    View = Mtl.StridedView
    for arguments in ((0, 1, 0), (0, float("inf")), (float("nan"), 1), (0, 1, -float("inf")),
                      (0, 1e19), (0, 1e300, 1e-300)):
        with pytest.raises(ValueError):
            View.new_arange(HOST, "f4", *arguments)
    for arguments in ((0, 300), (300, 0, -1), (-1, 5), (0, 1, 0), (-2**63, 2**63 - 1)):
        with pytest.raises(ValueError):
            View.new_arange_int64(HOST, "u1", *arguments)
    with pytest.raises(ValueError, match=says(2**63)):
        View.new_arange_int64(HOST, "u8", 0, 2**63)
    with pytest.raises(MemoryError):
        View.new_arange_int64(HOST, "u8", 0, 2**55)


def test_arange_converts_as_astype_does():
    with np.errstate(all="ignore"):
        assert np.array_equal(np.asarray(Mtl.arange(-3, 300, dtype="u1")),
                              np.arange(-3, 300).astype("u1"))
    assert Mtl.arange(254.5, 257, dtype="u1").tolist() == [254, 255, 255]
    assert Mtl.arange(2**63 - 1, 2**63 + 1, dtype="u1").tolist() == [255, 0]
    assert Mtl.arange(2**63, 2**63 + 2, dtype="f4").dtype == "float32"


def test_arange_that_cannot_be():
    for arguments, kind in (((0, 1, 0), ValueError), (("3",), (TypeError, ValueError)),
                            ((0, 1, 0.0), ValueError), ((float("nan"),), ValueError),
                            ((float("inf"),), OverflowError), ((2**70,), OverflowError),
                            ((-1, 2**63 + 9, 2**63 + 1), OverflowError), ((2**50,), MemoryError),
                            ((2.0**50,), MemoryError), ((0, 2**64), OverflowError),
                            ((2**63, 2**63 + 2**50), MemoryError), ((0, 1e300), ValueError)):
        with pytest.raises(kind):
            Mtl.arange(*arguments)


def test_none_of_this_needs_numpy():
    code = """
import sys
sys.modules["numpy"] = None
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
assert Mtl.zeros((2, 2), "bf16").tolist() == [[0, 0], [0, 0]]
assert Mtl.array([[1, 2]], float).tolist() == [[1, 2]]
assert Mtl.arange(3, dtype=int).tolist() == [0, 1, 2]
assert Mtl.array([[1, 2]], shared=True).tolist() == [[1, 2]]
assert Mtl.full(2, 7, "u1").dtype == "uint8" and Mtl.ones(1)[0] == 1
assert hash(Mtl.DType.FLOAT32) == hash(Mtl.DType.FLOAT32)
assert f"{Mtl.DType.BFLOAT16:>9}" == " bfloat16" and Mtl.DType.UINT8.kind == "u"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bytes_of_glib():
    assert Mtl.array(Mtl.StridedView.new_from_bytes(GLib.Bytes.new(b"ab"), "u1", 2)).tolist() \
        == [97, 98]

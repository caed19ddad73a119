# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists that hold arrays, and iterables: what NumPy makes of the same, in new memory."""

import array
import collections
import subprocess
import sys

import numpy as np
import pytest
from gi.repository import Mtl

from says import says

ROWS = np.arange(6, dtype="f4").reshape(2, 3)


def generator():
    yield from (1, 2, 3)


STACKED = [
    list(ROWS), tuple(ROWS), [ROWS, ROWS], [ROWS.T, ROWS.T], [ROWS[:, ::-1], ROWS], [[ROWS[0]]],
    [ROWS[0], [1, 2, 3]], [[1, 2, 3], ROWS[0]], [ROWS[0], ROWS[1].astype("i8")],
    [ROWS[0].astype("u1"), ROWS[0].astype("i1")], [np.array(1), np.array(2)],
    [array.array("f", [1, 2]), array.array("f", [3, 4])], [range(3), range(3)],
    [ROWS[:0], ROWS[:0]],
    [collections.deque([1, 2]), (3, 4)], [[1, 2.5], range(2)], [ROWS > 2, ROWS > 3],
]


@pytest.mark.parametrize("values", STACKED)
def test_stacked_as_by_numpy(values):
    expected = np.array(values)
    views = [[Mtl.asview(part) if isinstance(part, np.ndarray) else part for part in values]]
    for given in [values, *views]:
        for view in (Mtl.array(given), Mtl.asview(given)):
            assert view.shape == expected.shape and view.dtype == expected.dtype
            assert view.tolist() == expected.tolist() and not view.is_read_only()
        for dtype in ("f8", "c16", "i4"):
            converted = Mtl.array(given, dtype)
            assert converted.dtype == dtype
            assert converted.tolist() == expected.astype(dtype).tolist()
            assert Mtl.asview(given, dtype).tolist() == converted.tolist()
        assigned = Mtl.zeros(expected.shape, "f8")
        assigned[...] = given
        assert assigned.tolist() == expected.astype("f8").tolist()


def test_stacked_is_a_copy():
    view = Mtl.array([ROWS[0], ROWS[1]])
    view[...] = 9
    assert ROWS.max() == 5


ITERABLES = [range(4), range(3, 0, -2), generator, lambda: map(float, "123"), {1: 2, 3: 4}.values,
             {5: 0}.keys, lambda: zip([1, 2], [3, 4]), collections.deque([1, 2]),
             collections.UserList([[1, 2], [3, 4]]), lambda: iter([1.5, True]), lambda: iter(ROWS)]


@pytest.mark.parametrize("values", ITERABLES)
def test_iterables_are_lists(values):
    def make():
        return values() if callable(values) else values

    expected = np.array(list(make()))
    for dtype in (None, "f4", "u1"):
        for view in (Mtl.array(make(), dtype), Mtl.asview(make(), dtype)):
            wanted = expected if dtype is None else expected.astype(dtype)
            assert view.dtype == wanted.dtype and view.tolist() == wanted.tolist()
    assigned = Mtl.zeros(expected.shape, "f8")
    assigned[...] = make()
    assert assigned.tolist() == expected.tolist()


@pytest.mark.parametrize("values", [[ROWS, ROWS[:1]], [ROWS[0], 3], [3, ROWS[0]], [ROWS[0], [1]],
                                    [[ROWS[0]], ROWS]])
def test_ragged_is_refused(values):
    for make in (Mtl.array, Mtl.asview, lambda x: Mtl.array(x, "f8"),
                 lambda x: Mtl.zeros((2, 2, 3)).__setitem__(..., x)):
        with pytest.raises(ValueError):
            make(values)


@pytest.mark.parametrize("values", ["abc", {1, 2}, {1: 2}, ["a"], [b"a"], [None], [{}],
                                    [ROWS, None], [np.datetime64("2020")], [np.str_("a")], range,
                                    [object()], [["a"], ROWS]])
def test_what_holds_no_numbers_is_refused(values):
    for make in (Mtl.array, Mtl.asview, lambda x: Mtl.array(x, "u1"),
                 lambda x: Mtl.zeros(1).__setitem__(..., x)):
        with pytest.raises((TypeError, ValueError)):
            make(values)


def test_lists_that_hold_themselves_end():
    values = [1]
    values[0] = values
    with pytest.raises(ValueError, match=says(64)):
        Mtl.array(values)


def test_numbers_have_to_fit_and_arrays_are_converted():
    view = Mtl.zeros(3, "u1")
    for values in ([1, 2, 300], range(298, 301), iter([1, 2, 300])):
        with pytest.raises(ValueError, match=f"{says(300)}|{says(298)}"):
            view[:] = values
        assert view.tolist() == [0, 0, 0]
    for make in (lambda: Mtl.array(range(300), "u1"), lambda: Mtl.array([range(300)], "u1"),
                 lambda: Mtl.asview([ROWS[0], [1, 2, 300]], "u1")):
        with pytest.raises(ValueError, match=f"{says(256)}|{says(300)}"):
            make()
    assert Mtl.array([np.array([300])], "u1").tolist() == [[44]]


def test_types_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    row = Mtl.array([1, 2], "bf16")
    assert Mtl.array([row, row]).dtype == "bfloat16"
    assert Mtl.asview([row, [1, 2]], "bf16").tolist() == [[1, 2], [1, 2]]
    assert Mtl.array([row, ROWS[0, :2]]).dtype == np.result_type(ml_dtypes.bfloat16, "f4")
    with pytest.raises(TypeError, match=says("bfloat16", "float16", "dtype")):
        Mtl.array([row, ROWS[0, :2].astype("f2")])
    assert Mtl.array([row, ROWS[0, :2].astype("f2")], "f4").tolist() == [[1, 2], [0, 1]]


def test_tensors():
    torch = pytest.importorskip("torch")
    view = Mtl.array([torch.ones(2), torch.zeros(2)])
    assert view.dtype == "float32" and view.tolist() == [[1, 1], [0, 0]]
    assert Mtl.array([torch.tensor([1 + 2j]).conj()]).tolist() == [[1 - 2j]]


def test_errors_in_the_middle_are_passed_on():
    def broken():
        yield 1
        raise RuntimeError("in the middle")

    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("in the middle")

    view = Mtl.zeros(2)
    for make in (lambda: Mtl.array(broken()), lambda: Mtl.array([ROWS[0], Broken()]),
                 lambda: view.__setitem__(..., broken()), lambda: Mtl.array(Broken())):
        with pytest.raises(RuntimeError, match="in the middle"):
            make()
    assert view.tolist() == [0, 0]


def test_without_numpy():
    code = """
import sys
sys.modules["numpy"] = None
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
row = Mtl.array(range(3), "f4")
assert Mtl.array([row, row]).tolist() == [[0, 1, 2], [0, 1, 2]]
assert Mtl.array([row, [1, 2, 3]], "f4").tolist() == [[0, 1, 2], [1, 2, 3]]
row[:] = (2 * x for x in range(3))
assert row.tolist() == [0, 2, 4]
try:
    Mtl.array([row, [1, 2, 3]])
except TypeError as error:
    assert all(word in str(error) for word in ("float32", "int64", "dtype"))
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)

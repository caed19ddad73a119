# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
import decimal
import fractions
import warnings

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import elements, first_byte, tensor, zeros
from dlpack_structs import Producer
from says import says


@pytest.fixture
def pair():
    array = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
    return array, tensor(array.copy())


@pytest.mark.any_memory
@pytest.mark.parametrize("key", [
    0, -1, (1, 2), (slice(None), 2), (..., 1), (1, ...), (None, 0), (0, None),
    (slice(1, 3), slice(None, None, -2), slice(4, 0, -1)), ..., (), None, (None, ..., None),
    slice(10, 20), slice(-100, 100, 3), slice(None, None, 2**62), slice(2**70, -2**70, -1),
    (slice(0, 0), 1), (0, 0, 0, None), (0, 0, 0, ...), True and slice(None),
])
def test_reads_as_numpy(pair, key):
    array, view = pair
    # NumPy gives a copy of a single element.
    expected, result = np.asarray(array[key]), view[key]

    assert result.shape == expected.shape and result.tolist() == expected.tolist()
    assert result.get_buffer() == view.get_buffer()
    if expected.size and np.shares_memory(expected, array):
        offset = expected.ctypes.data - array.ctypes.data
        assert first_byte(result) - first_byte(view) == offset
        if view.is_host_accessible():
            assert result.get_address() == view.get_address() + offset


@pytest.mark.parametrize("key", [(1, 2, 3), (-1, -1, -1), (0, 4, np.int8(5))])
def test_reads_elements_as_numpy(pair, key):
    array, view = pair

    assert view[key] == array[key] and type(view[key]) is int


@pytest.mark.any_memory
@pytest.mark.parametrize("key, exception", [
    (4, IndexError), (-5, IndexError), ((0, 5), IndexError), ((0, 0, 0, 0), IndexError),
    (2**70, IndexError), ((..., ...), IndexError), (slice(None, None, 0), ValueError),
    ("x", TypeError), (1.0, TypeError), (b"x", TypeError), (object(), TypeError),
    (slice("a"), TypeError), ((None,) * 62, ValueError), ((None,) * 200, IndexError),
])
def test_refuses(pair, key, exception):
    _, view = pair

    with pytest.raises(exception):
        view[key]
    with pytest.raises(exception):
        view[key] = 0
    assert view.tolist() == np.arange(120).reshape(4, 5, 6).tolist()


@pytest.mark.any_memory
@pytest.mark.parametrize("key, value", [
    (0, 7), (..., 1.9), ((slice(None), 0), [1, 2, 3, 4, 5, 6]),
    ((slice(None), 0, slice(None, None, -1)), [[1, 2, 3, 4, 5, 6]]),
    (slice(0, 0), 5), ((0, slice(1, 3)), np.arange(12).reshape(2, 6)), ((..., 0), True),
    ((2, slice(0, 2), 3), (8, 9)), ((0, 0), b"abcdef"), ((0, 0), np.float64(3)),
    (0, np.ones((1, 1, 5, 6))), ((0, 0), np.array([[[1, 2, 3, 4, 5, 6]]])),
])
def test_writes_as_numpy(pair, key, value):
    array, view = pair
    expected = array.copy()
    expected[key] = list(value) if isinstance(value, bytes) else value
    view[key] = value

    assert elements(view).tolist() == expected.tolist()


@pytest.mark.any_memory
def test_writes_from_views_and_overlapping_ones(pair):
    array, view = pair
    array[1:] = array[:-1].copy()
    view[1:] = view[:-1]
    assert elements(view).tolist() == array.tolist()

    array[:] = array[::-1].copy()
    view[:] = view.flip(0)
    assert elements(view).tolist() == array.tolist()


def test_writes_elements(pair):
    array, view = pair
    array[1, 2, 3] = view[1, 2, 3] = -5
    assert elements(view).tolist() == array.tolist()

    view[0, 0, 1] += 5
    assert elements(view)[0, 0, 1] == 6


@pytest.mark.parametrize("result", ["x", None, 1.5])
def test_an_index_that_fails(result):
    class Index:
        def __index__(self):
            return result

    view = Mtl.arange(12, dtype="int32").reshape(3, 4)
    for use in (lambda: view[Index()], lambda: view[0, Index()], lambda: view[Index():],
                lambda: view.__setitem__(Index(), 1), lambda: Mtl.StridedLayout((3, 4))[Index()]):
        with pytest.raises(TypeError, match="__index__"):
            use()


@pytest.mark.any_memory
def test_does_not_fit(pair):
    _, view = pair
    with pytest.raises(ValueError, match=says("(2,)", "(5, 6)")):
        view[0] = [1, 2]
    with pytest.raises(ValueError, match=says(2**40, "int32")):
        view[...] = 2**40
    with pytest.raises(TypeError):
        del view[0]
    with pytest.raises((TypeError, ValueError)):
        view[0] = object()


def test_length_and_iteration(pair):
    array, view = pair
    assert len(view) == 4 and view.__len__() == 4
    assert [row.tolist() for row in view] == array.tolist()
    assert list(view[0, 0]) == array[0, 0].tolist()
    assert 3 in view[0, 0] and 300 not in view[0, 0] and 119 in view and 120.5 not in view
    scalar = view[0, 0, 0, ...]
    assert scalar.shape == ()
    with pytest.raises(TypeError):
        len(scalar)
    with pytest.raises(TypeError):
        iter(scalar)
    assert view.__getitem__(1).equal(view[1])
    view.__setitem__((0, 0, 0), 9)
    assert view[0, 0, 0] == 9


def test_many_dimensions():
    array = np.zeros((1,) * 20 + (3,), np.int8)
    view = Mtl.from_dlpack(array)
    view[(0,) * 20 + (1,)] = 5

    assert view[(0,) * 20].tolist() == [0, 5, 0]
    assert view.permute(*reversed(range(21))).shape == (3,) + (1,) * 20
    assert view.reshape(3, *(1,) * 63).ndim == 64
    with pytest.raises(ValueError, match=says(65)):
        view.reshape(3, *(1,) * 64)


ROWS = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.any_memory
@pytest.mark.parametrize("value, is_in", [
    (3, True), (3.0, True), (3.5, False), (np.float32(3), True), (3 + 0j, True), (3j, False),
    (True, True), (99, False), (10**400, False), (float("nan"), False),
    (fractions.Fraction(6, 2), True), (decimal.Decimal("3"), True), (np.array(3), True),
    (ROWS[0], True), (ROWS[0, 1], True), (ROWS[1].tolist(), True), (tuple(ROWS[1, 2]), True),
    (ROWS[0].astype("i4"), True), (ROWS[0][::-1], False), (ROWS[0, :, 1], False), (ROWS, False),
    (ROWS[None], False), (ROWS[0, 1, :2], False), (ROWS[0, 1] + 0.5, False), ([], False),
    ([[1], [2, 3]], False), ([1, "2"], False), ("3", False), ("", False), (b"3", False),
    (None, False), (object(), False), (range(4), True), (range(5), False), ({3}, False),
    (pytest.approx(3.0000001), True),
])
def test_membership(value, is_in):
    view = tensor(ROWS)
    assert (value in view) is is_in
    if isinstance(value, (int, float, complex)) and abs(value) < 2**53:
        assert is_in == (ROWS == value).any()


NUMPY_ROUNDS_WEAK_NUMBERS = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
COMPARED = [0, 1, 3, True, 0.1, 0.5, 1 / 3, 65.0, -0.0, 0.1 + 0j, 1 + 1j, 0.1 + 0.1j,
            float("inf"), 1e-9, -1, 300]
# An older NumPy goes by their values.
COMPARED_WEAK = [2**53 + 1, 2**24 + 1, 2049, 2.0**53, 1e300, 1 + 1e-12, 65520.0, 1e39,
                 np.float64(0.1), np.float32(0.1), np.array(0.1), np.int64(2**53 + 1),
                 np.int64(2**24 + 1), np.complex64(0.1), 2**63, 2**64]


@pytest.mark.any_memory
def test_membership_is_equality_of_an_element(dtype):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about imaginary parts
        for value in COMPARED + (COMPARED_WEAK if NUMPY_ROUNDS_WEAK_NUMBERS else []):
            for element in (0, 1, 0.1, 1 / 3, 2049, 2**24, 2**53, 2**53 + 1, float("inf"),
                            0.1 + 0.1j):
                array = np.array([0, element]).astype(dtype)
                try:
                    expected = (array == value).any()
                except OverflowError:  # NumPy has no such integer
                    expected = False
                assert (value in tensor(array)) == expected, (value, element)


@pytest.mark.any_memory
def test_parts_are_members():
    for dtype in ("uint8", "bool", "float16", "complex64", "int64"):
        view = tensor(np.arange(24).reshape(2, 3, 4).astype(dtype))
        assert all(row in view for row in view)
        assert all(row in part for part in view for row in part)
        assert all(row in view and all(item in view for item in elements(row).tolist())
                   for part in view for row in part)
        assert view not in view and view[0] not in view[1] or dtype == "bool"


def test_nan_is_in_nothing():
    view = Mtl.asview([[np.nan, 1.0], [2.0, 3.0]])
    assert np.nan not in view and view[0] not in view and view[1] in view


def test_members_of_few_or_no_dimensions():
    assert 3 in Mtl.asview(3) and 4 not in Mtl.asview(3) and [] not in Mtl.asview(3)
    assert 1 not in Mtl.asview([]) and [] in Mtl.asview([[], []]) and [] not in Mtl.asview([])
    assert 2**53 + 1 in Mtl.asview([2.0**53]) and 2**63 in Mtl.asview([2**63])


def test_members_of_more_elements_than_fit_in_memory():
    for dtype in ("float64", "uint8", "bool"):
        many = zeros(dtype, (1,)).broadcast_to(2**40, 2)
        assert 0 in many and 0 in many[:, 0] and [0, 0] in many
        assert [0] in zeros(dtype, (1,)).broadcast_to(3, 2**40, 1)


def test_members_at_any_place():
    array = np.arange(10_000)
    view = tensor(array)
    for i in (0, 1, 4095, 4096, 4097, 8191, 8192, 9999):
        assert i in view
    assert 10_000 not in view and -1 not in view


def test_members_with_lanes():
    numbers = (ctypes.c_float * 6)(*range(6))
    view = Mtl.from_dlpack(Producer(numbers, (3,), (1,), lanes=2))
    assert view.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert 3 in view and [2, 3] in view and [3, 2] not in view and 7 not in view
    view[1:] = [[7, 8], [9, 10]]
    with pytest.raises(TypeError):
        view[:] = [[1, 2], [3, 4], [5, 1j]]
    assert view.tolist() == [[0, 1], [7, 8], [9, 10]] and list(numbers) == [0, 1, 7, 8, 9, 10]


def test_errors_of_comparisons_come_out():
    class Broken:
        def __eq__(self, other):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        Broken() in Mtl.asview([1, 2])

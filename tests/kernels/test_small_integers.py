# SPDX-License-Identifier: LGPL-2.1-or-later
"""Integers of 4 and 2 bits. All that there are, against arithmetic in Python, and ml_dtypes."""

import copy
import math
import pickle

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import NUMERIC, SEED, dtype_of, error_code
from says import says

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")

LIMITS = {"int2": (-2, 1), "int4": (-8, 7), "uint2": (0, 3), "uint4": (0, 15)}
PLAIN = [name for name in NUMERIC if not name.startswith("complex")]


@pytest.fixture(params=LIMITS)
def name(request):
    return request.param


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def wrap(number, name):
    least, most = LIMITS[name]
    return (number - least) % (most - least + 1) + least


def cut(number, name):
    """A float towards zero, to the nearest that there is."""
    least, most = LIMITS[name]
    if math.isnan(number):
        return 0
    return least if number < least else most if number > most else int(number)


def packed(values, name):
    return Mtl.StridedView.new_from_doubles(values, dtype_of(name), [len(values)])


def every(name):
    least, most = LIMITS[name]
    return list(range(least, most + 1))


def test_limits_are_those_of_ml_dtypes(name):
    info = ml_dtypes.iinfo(numpy_type(name))
    assert LIMITS[name] == (info.min, info.max)
    assert Mtl.DType.get_bits(dtype_of(name)) == info.bits


def test_every_byte_has_the_number_of_its_low_bits(name):
    """Whatever the others are."""
    array = np.arange(256).astype(np.uint8).view(numpy_type(name))
    view = Mtl.asview(array)
    expected = [wrap(byte, name) for byte in range(256)]

    assert view.is_padded() and view.dtype == name and view.tolist() == expected
    assert array.astype(np.int64).tolist() == expected
    assert {type(number) for number in view} == {int}
    for target in PLAIN:
        ours = np.asarray(view.to_dtype(dtype_of(target)))
        assert ours.tolist() == np.array(expected).astype(target).tolist(), target
    assert Mtl.asview(array).array_equal(packed(expected, name))
    assert view.to_dtype(dtype_of(name)).tolist() == expected


@pytest.mark.parametrize("target", LIMITS)
def test_from_one_to_another(name, target):
    view = packed(every(name), name)
    expected = [wrap(number, target) for number in every(name)]

    assert view.to_dtype(dtype_of(target)).tolist() == expected
    padded = np.full(len(expected), 255, np.uint8).view(numpy_type(target))
    Mtl.asview(padded).copy_from(view)
    assert padded.astype(int).tolist() == expected
    if name != target:
        assert padded.view(np.uint8).max() <= LIMITS[target][1] - LIMITS[target][0]


@pytest.mark.parametrize("source", [name for name in PLAIN if "int" in name])
def test_wider_integers_wrap_around(name, source):
    info = np.iinfo(source)
    numbers = [*range(max(info.min, -300), 300), info.min, info.max, info.max - 5]
    numbers = [number for number in numbers if info.min <= number <= info.max]
    view = Mtl.asview(np.array(numbers, source))

    assert view.to_dtype(dtype_of(name)).tolist() == [wrap(number, name) for number in numbers]


@pytest.mark.parametrize("source", ["float16", "float32", "float64", "bfloat16", "float8_e5m2"])
def test_floats_are_cut(name, source):
    numbers = [*np.arange(-20, 20, 0.125), math.inf, -math.inf, math.nan, 1e38, -1e38, -0.0]
    numbers += [np.nextafter(number, way).item() for number in (-9, -8, -3, -1, 1, 2, 4, 7, 8, 16)
                for way in (-math.inf, math.inf)]
    with np.errstate(all="ignore"):
        array = np.array(numbers).astype(numpy_type(source))
    expected = [cut(number, name) for number in array.astype(float).tolist()]

    assert Mtl.asview(array).to_dtype(dtype_of(name)).tolist() == expected
    as_complex = Mtl.asview(array).to_dtype(Mtl.DType.COMPLEX128)
    assert as_complex.to_dtype(dtype_of(name)).tolist() == expected
    scaled = packed([0] * len(expected), name)
    scaled.copy_scaled_from(Mtl.asview(array), 2)
    assert scaled.tolist() == [
        cut(float(np.rint(2 * number)), name) for number in array.astype(float).tolist()]


def test_numbers_that_do_not_fit_are_refused(name):
    least, most = LIMITS[name]
    view = packed([1, least, most], name)
    for value in (least - 1, most + 1, float(most + 1), math.nan, math.inf, 10**18):
        for assign in (lambda: view.__setitem__(0, value), lambda: view.fill(value),
                       lambda: view.__setitem__(slice(None), [0, value, 0]),
                       lambda: Mtl.asview([0, value], dtype=name),
                       lambda: Mtl.full(2, value, name)):
            with pytest.raises(ValueError, match=says(name)) as info:
                assign()
            assert error_code(info) == Mtl.Error.OVERFLOW
    with pytest.raises(TypeError):
        view[0] = 1j
    assert view.tolist() == [1, least, most]
    view[1] = most + 0.75
    assert view.tolist() == [1, most, most]


def test_lists_and_functions_that_create(name):
    least, most = LIMITS[name]
    view = Mtl.asview([[least, most], [0, 1]], dtype=name)
    bits = Mtl.DType.get_bits(dtype_of(name))

    assert view.dtype == name and view.layout.get_item_bits() == bits and view.nbytes == bits // 2
    assert view.tolist() == [[least, most], [0, 1]] and list(view[0]) == [least, most]
    assert Mtl.array(every(name), numpy_type(name)).tolist() == every(name)
    assert Mtl.arange(least, most + 1, dtype=name).tolist() == every(name)
    assert Mtl.ones(3, name).tolist() == [1, 1, 1]
    assert str(view) == str(np.array(view.tolist()))
    assert repr(view).endswith(f"dtype={name} device=(1, 0)>")
    assert range(10)[Mtl.asview(1, dtype=name)] == 1


def test_numpy_computes(name):
    array = np.array(every(name)).astype(numpy_type(name))
    for view in (Mtl.asview(array), packed(every(name), name)):
        assert np.asarray(view).dtype == array.dtype and np.array_equal(view, array)
        assert (view + view).tolist() == (array + array).tolist()
        assert np.array_equal(view > 0, array > 0) and view.max() == array.max()
        assert view.astype("float32").sum() == sum(every(name))
    with pytest.raises(ValueError, match=says(name)):
        view += 1


def test_copies_and_pickles(name):
    array = np.array(every(name)).astype(numpy_type(name))
    for view in (Mtl.asview(array), packed(every(name), name)[::-1], packed(every(name), name)[1:]):
        for same in (pickle.loads(pickle.dumps(view)), copy.deepcopy(view), view.copy()):
            assert same.tolist() == view.tolist() and same.dtype == view.dtype
            assert same.is_padded() == view.is_padded()
    dtype = dtype_of(name)
    assert pickle.loads(pickle.dumps(dtype)) == dtype == numpy_type(name)
    assert hash(dtype) == hash(numpy_type(name)) and np.dtype(dtype) == numpy_type(name)


def test_statistics(name):
    least, most = LIMITS[name]
    numbers = np.random.default_rng(SEED).integers(least, most, 30_001, endpoint=True)
    array = numbers.astype(numpy_type(name))
    whole = Mtl.asview(array).to_dtype(dtype_of(name))
    for view, expected in [(whole, numbers), (Mtl.asview(array), numbers),
                           (whole[1::3], numbers[1::3]), (Mtl.asview(array)[::-2], numbers[::-2])]:
        found = view.compute_statistics()
        assert (found.dtype, found.count) == (name, expected.size)
        assert (found.minimum, found.maximum) == (least, most) and type(found.minimum) is int
        assert found.n_zeros == (expected == 0).sum() and found.n_nans == 0
        assert found.mean == pytest.approx(expected.mean(), rel=1e-14)
        assert found.deviation == pytest.approx(expected.std(), rel=1e-13)
    assert str(found).startswith(f"15001 elements of {name}, minimum {least}, maximum {most}, ")


def test_files_have_none(name, tmp_path):
    for file, kind in (("a.safetensors", "safetensors"), ("a.npy", ".npy")):
        with pytest.raises(NotImplementedError, match=says(kind, name)):
            Mtl.save(tmp_path / file, packed([0, 1], name) if file.endswith("npy")
                     else {"x": packed([0, 1], name)})
    assert list(tmp_path.iterdir()) == []

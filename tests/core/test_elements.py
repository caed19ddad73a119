# SPDX-License-Identifier: LGPL-2.1-or-later
import math
import struct

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import dtype_of, error_code, zeros
from says import says

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def test_numbers_as_numpy_has_them(dtype):
    array = np.array([0, 1, 1, 0, 3 if dtype != "bool" else 1], dtype)
    view = Mtl.asview(array)

    assert view.tolist() == array.tolist()
    assert [type(item) for item in view] == [type(item) for item in array.tolist()]
    assert view.item(1) == view[1] == array[1] and view[-1] == array[-1]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_exact(name):
    info = np.iinfo(name)
    view = zeros(name, (2,))

    for value in (info.min, info.max, 0, 1, info.max - 1):
        view[0] = value
        assert view[0] == value and np.asarray(view)[0] == value
    view.set_int64([1], 5)
    assert view.get_int64([1]) == 5 and view.get_uint64([1]) == 5 and view.get_double([1]) == 5
    view.set_uint64([1], 6)
    view.set_double([0], 7.9)
    assert view.tolist() == [7, 6]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_refuse_what_does_not_fit(name):
    info = np.iinfo(name)
    view = zeros(name, (1,))
    view[0] = 3

    for value in (info.min - 1, info.max + 1, 2**70, -2**70, float(info.max) * 2, math.nan, math.inf):
        with pytest.raises(ValueError):
            view[0] = value
    with pytest.raises(ValueError, match=says(name, info.max)) as excinfo:
        view.set_double([0], 1e30)
    assert error_code(excinfo) == Mtl.Error.OVERFLOW
    assert view[0] == 3


@pytest.mark.parametrize("name, code", [("float16", "e"), ("float32", "f"), ("float64", "d")])
def test_floats_round_to_nearest_even(name, code, rng):
    view = zeros(name, (1,))
    values = [0.0, -0.0, 1 / 3, 1e-8, 6e-8, 2.98e-8, 65504, 65519.99, 1 + 2**-11, 1 + 3 * 2**-11,
              1 + 2**-24, 1 + 3 * 2**-24, math.inf, -math.inf, 1e-45, 2**-149, 5e-324]
    values += [rng.uniform(-1, 1) * 2.0**rng.randrange(-30, 16) for _ in range(2000)]
    for value in values:
        view[0] = value
        with np.errstate(over="ignore"):
            expected = np.array([value]).astype(name)
        assert bytes(view) == expected.tobytes(), value
    view[0] = math.nan
    assert math.isnan(view[0])


def test_float16_overflows_to_infinity():
    view = zeros("float16", (2,))
    view[0], view[1] = 65520, -1e300

    assert view.tolist() == [math.inf, -math.inf]


def test_bfloat16_is_the_upper_half_of_float32(rng):
    view = zeros("bfloat16", (1,))

    for value in [1.0, 1 + 2**-8, 1 + 3 * 2**-8, 3.39e38, 1e-40] + [
            rng.uniform(-1, 1) * 2.0**rng.randrange(-120, 120) for _ in range(2000)]:
        view[0] = value
        # Exact, as a rational number: the nearest of the two neighbours, ties to even.
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        low = bits & 0xffff0000
        neighbours = [struct.unpack("<f", struct.pack("<I", b))[0] for b in (low, low + 0x10000)]
        distances = [abs(value - n) if math.isfinite(n) else math.inf for n in neighbours]
        best = neighbours[distances.index(min(distances))]
        if distances[0] == distances[1]:
            best = neighbours[0] if (low >> 16) % 2 == 0 else neighbours[1]
        assert view[0] == best, value
    assert view.dtype.name == "bfloat16"


def test_complex(dtype):
    if not dtype.startswith("complex"):
        return
    view = zeros(dtype, (2,))
    view[0] = 1 + 2j
    view[1] = 3

    assert view.tolist() == [1 + 2j, 3 + 0j]
    assert tuple(view.get_complex([0]))[-2:] == (1, 2)
    assert view.set_complex([1], 5, -6) and view[1] == 5 - 6j
    with pytest.raises(NotImplementedError, match=dtype) as info:
        view.get_double([0])
    assert error_code(info) == Mtl.Error.NOT_SUPPORTED


def test_real_numbers_are_complex_too():
    assert tuple(Mtl.asview([1.5]).get_complex([0]))[-2:] == (1.5, 0)
    with pytest.raises(TypeError):
        zeros("float32", (1,))[0] = 1j


def test_numpy_scalars_are_numbers():
    view = zeros("float32", (3,))
    view[0], view[1], view[2] = np.float32(1.5), np.int8(-3), np.uint64(1)

    assert view.tolist() == [1.5, -3, 1]
    view[np.int64(0)] = np.array(4)
    assert view[np.uint8(0)] == 4


@pytest.mark.parametrize("indices", [[2, 0], [-3, 0], [0, 3], [2**62, 0]])
def test_out_of_bounds(indices):
    view = zeros("int8", (2, 3))

    for call in (view.get_double, view.get_int64, view.get_uint64, view.get_complex):
        with pytest.raises(IndexError, match=says(max(indices, key=abs))):
            call(indices)
    with pytest.raises(IndexError):
        view[tuple(indices)]
    with pytest.raises(IndexError):
        view[tuple(indices)] = 1
    assert not np.asarray(view).any()


def test_wrong_number_of_indices():
    with pytest.raises(ValueError, match=says(1, 2)):
        zeros("int8", (2, 3)).get_double([0])


def test_writes_to_read_only():
    view = Mtl.asview(b"abc")

    for call in (lambda: view.set_double([0], 1), lambda: view.set_int64([0], 1),
                 lambda: view.set_uint64([0], 1), lambda: view.set_complex([0], 1, 0),
                 lambda: view.fill_double(1), lambda: view.copy_from(view)):
        with pytest.raises(ValueError, match="read-only") as info:
            call()
        assert error_code(info) == Mtl.Error.READ_ONLY
    assert bytes(view) == b"abc"


def test_item():
    view = Mtl.asview([[1, 2], [3, 4]])

    assert view.item(1, 0) == 3 and view.item((1, 1)) == 4 and view[0, :1].item() == 1
    with pytest.raises(ValueError, match=says(4)):
        view.item()
    assert dtype_of("int64") == view.dtype

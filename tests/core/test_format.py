# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views print as NumPy's arrays do."""

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import tensor

# Since NumPy 2.4 the narrower floats go to exponents where their digits end.
NARROW = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


def check(array):
    if array.dtype.kind in "fc" and array.dtype not in (np.float64, np.complex128) and not NARROW:
        array = array.astype(np.float64)
    assert str(tensor(array)) == str(array)


@pytest.mark.any_memory
@pytest.mark.parametrize("array", [
    np.arange(10), np.array([1, -20, 300]), np.arange(60).reshape(3, 4, 5),
    np.array([True, False]), np.array([True, True]), np.array([[False]]), np.array([[True], [False]]), np.array([1.0, 2.5]), np.array([0.0]),
    np.array([1e10, 1.0]), np.array([1e-5, 1.0]), np.array([1e8]), np.array([123456.789, 0.001]),
    np.array([1 / 3, 2 / 3]), np.array([1.5, np.nan, np.inf, -np.inf]), np.array([np.nan]),
    np.array([np.inf, 1.0]), np.array([-np.inf, np.nan]), np.array([1e300, -1e-300]),
    np.array([1e300, -1e10, np.nan]), np.array([1e-310 + 7e-61j, -0.5]),
    np.linspace(0, 1, 50), np.linspace(-1, 1, 30, dtype=np.float32), np.array([0.1], np.float16),
    np.array([1 + 2j, 3.5 - 4.25j]), np.array([1j, np.nan]), np.zeros((0,)), np.zeros((2, 0)),
    np.array([999.0, 1000.0], np.float16), np.array([999999.0], np.float32),
    np.array([1e6], np.float32), np.array(1e6, np.float32), np.array(999, np.float16),
    np.array(5), np.array(5.0), np.array(-1.5), np.array(0.1), np.array(np.nan), np.array(-np.inf),
    np.array(1 + 2j), np.array(2j), np.array(-0.5 - 1e20j), np.array(1.5e-7), np.array(123456789.0),
    np.array(0.1, np.float32), np.array(0.0), np.array(complex(np.nan, np.inf)), np.array(1e-7), np.array(1e20), np.array(True),
    np.arange(24.0).reshape(2, 3, 4)[:, ::-1], np.array([-0.0, 1.0]), np.array([65504], np.float16),
    np.array([255], np.uint8), np.array([2**64 - 1], np.uint64), np.arange(1000),
    np.full(200, 1234567), np.ones((1, 1, 1)),
], ids=lambda array: f"{array.dtype}{array.shape}")
def test_known(array):
    check(array)


@pytest.mark.parametrize("array", [
    np.arange(1001), np.arange(2000), np.arange(7000).reshape(7, 1000),
    np.arange(10000).reshape(100, 100), np.arange(100000).reshape(10, 100, 100),
], ids=lambda array: f"{array.dtype}{array.shape}")
def test_known_large_ones(array):
    check(array)


@pytest.mark.parametrize("name, lowest, highest", [("float32", -149, 127), ("float64", -1074, 1023)])
def test_powers_of_two(name, lowest, highest):
    """The numbers below one are closer to it than those above."""
    for exponent in range(lowest, highest + 1):
        check(np.array(2.0**exponent, name))


@pytest.mark.any_memory
@pytest.mark.parametrize("name", ["int8", "int64", "uint16", "float32", "float64", "float16"])
def test_random(rng, cases, name):
    for _ in range(min(cases // 10, 300)):
        shape = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 4))]
        values = np.array([rng.uniform(-1, 1) * 10.0**rng.randrange(-6, 9)
                           for _ in range(np.prod(shape))]).reshape(shape)
        if name in ("float32", "float64", "float16"):
            scale = rng.choice((1, 1e-3, 1e3)) if name != "float16" else 1e-6
            array = (np.round(values * scale, rng.randrange(0, 9))).astype(name)
        else:
            array = values.astype("int64").astype(name)
        check(array)


def test_number_of_items():
    view = tensor(np.arange(10))

    assert view.format(10) == "[0 1 2 3 4 5 6 7 8 9]"
    assert view.format(9) == "[0 1 2 ... 7 8 9]"


def test_too_many_axes_to_show():
    view = Mtl.asview(np.zeros(1)).broadcast_to([3] * 30)

    assert str(view) == "[...]"

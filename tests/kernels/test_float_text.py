# SPDX-License-Identifier: LGPL-2.1-or-later
"""The digits of floats of 16 bits and fewer: each number reads back, and none has more digits than
it needs."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
import pytest
from gi.repository import Mtl

from conversions import SMALL, numpy_type

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
# NumPy says so of some NaNs of ml_dtypes.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered")

OF_ML_DTYPES = ["bfloat16", *(name for name in SMALL if name not in ("float16", "bfloat16"))]


def all_numbers(name):
    bits = Mtl.DType.get_bits(Mtl.DType.from_string(name))
    word = np.uint8 if bits <= 8 else np.uint16
    return np.arange(2**bits, dtype=word).view(numpy_type(name))


def texts(array):
    """Returns the text of each number printed alone."""
    view = Mtl.asview(array)
    return [view.select(0, i).to_string() for i in range(len(array))]


def read(words, name):
    return np.array([float(word) for word in words]).astype(numpy_type(name))


def same(a, b):
    """True if the elements are the same, the sign of 0 included."""
    return np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(
        np.where(np.isnan(a), 0, a.view(f"u{a.itemsize}")),
        np.where(np.isnan(b), 0, b.view(f"u{b.itemsize}")))


def count_digits(word):
    """Counts digits without zeros at either end: they only say where the point is."""
    return len(word.lstrip("-").split("e")[0].replace(".", "").strip("0"))


@pytest.mark.parametrize("name", OF_ML_DTYPES)
def test_each_number_as_ml_dtypes_prints_it(name):
    array = all_numbers(name)

    assert texts(array) == [str(number) for number in array]


@pytest.mark.parametrize("name", OF_ML_DTYPES)
def test_columns_have_the_same_digits(name):
    array = all_numbers(name)
    wide = np.array([float(str(number)) for number in array])

    for start in range(0, len(array), 64):
        row = array[start:start + 64]
        words = str(Mtl.asview(row)).strip("[]").split()
        printed, expected = np.array(words, float), wide[start:start + 64]
        # Next to much larger numbers there are eight decimals, as in NumPy's columns.
        limit = 0 if any("e" in word for word in words) else 6e-9
        assert np.allclose(printed, expected, rtol=0, atol=limit, equal_nan=True), row


@pytest.mark.parametrize("name", ["float16", *OF_ML_DTYPES])
def test_each_number_reads_back(name):
    array = all_numbers(name)

    assert same(read(texts(array), name), array)


@pytest.mark.parametrize("name", OF_ML_DTYPES)
def test_fewer_digits_would_be_another_number(name):
    """Fewer digits give another number than six do, which mostly is the number itself."""
    array = all_numbers(name)

    for number, word in zip(array.astype(np.float64).tolist(), texts(array)):
        if not math.isfinite(number) or number == 0:
            continue
        to_six = float(f"{number:.5e}")
        n_digits = count_digits(word)
        assert float(word) == to_six
        assert n_digits == 1 or float(f"{number:.{n_digits - 2}e}") != to_six


def test_float16_has_the_fewest_digits():
    """No decimal number with one digit less is nearer to it than to its neighbours."""
    array = all_numbers("float16")
    array = array[np.isfinite(array) & (array > 0)]
    shorter = []

    for number, word in zip(array, texts(array)):
        n_digits = count_digits(word)
        for rounding in (ROUND_FLOOR, ROUND_CEILING):
            if n_digits > 1:
                context = Context(prec=n_digits - 1, rounding=rounding)
                shorter.append((number, float(context.create_decimal(Decimal(float(number))))))

    numbers, decimals = map(np.array, zip(*shorter))
    with np.errstate(over="ignore"):
        assert not np.any(decimals.astype(np.float16) == numbers.astype(np.float16))


def test_known_text():
    for name, value, text in [("float8_e4m3fn", 0.875, "0.875"), ("bfloat16", 0.5625, "0.5625"),
                              ("float8_e5m2", 57344, "57344"), ("float8_e3m4", -15.5, "-15.5"),
                              ("float4_e2m1fn", 6, "6"), ("float8_e8m0fnu", 2.0**-127, "5.87747e-39"),
                              ("float8_e5m2fnuz", math.nan, "nan"), ("float16", 0.1, "0.1")]:
        assert str(Mtl.asview(np.array(value).astype(numpy_type(name)))) == text

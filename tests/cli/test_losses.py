# SPDX-License-Identifier: LGPL-2.1-or-later
"""The losses that mtldl cp --dtype reports, counted by NumPy."""

import re

import numpy as np
import pytest

from conftest import SEED
from says import tells
from tensors import CODES, load, run, save

# The word of each kind, in the part of a report that begins with the number.
KINDS = {"infinite": r"(\d+)[^,]* infinite", "nan": r"(\d+) elem[^,]* NaN", "no_nan": r"(\d+) NaN",
         "clamped": r"(\d+)[^,]* nearest", "wrapped": r"(\d+)[^,]* wrapped",
         "zero": r"(\d+)[^,]* small", "imaginary": r"(\d+)[^,]* imaginary"}


def read_line(text):
    return {kind: int(match.group(1)) for kind, pattern in KINDS.items()
            if (match := re.search(pattern, text))}


def losses(source, target, *options, status=0):
    """The report of each tensor."""
    done = run("cp", "--no-sync", source, target, *options)
    assert done.returncode == status and done.stdout == "", done.stderr
    found = [re.fullmatch(r"mtldl: “(.*?)”.* (\w+): (.*)", line)
             for line in done.stderr.splitlines()]
    return {match.group(1): (match.group(2), read_line(match.group(3))) for match in found}


def expected(array, dtype):
    """Counts of what the conversion to a type of NumPy does."""
    kind, to = array.dtype.kind, np.dtype(dtype)
    counts = dict.fromkeys(KINDS, 0)
    if to.kind == "b" or to == array.dtype:
        return {}
    if kind == "c" and to.kind != "c":
        counts["imaginary"] = ((array.imag != 0) | np.isnan(array.imag)).sum()
        array = array.real
        kind = "f"

    if to.kind in "iu":
        info = np.iinfo(to)
        if kind in "biu":
            values = [int(value) for value in array.ravel()]
            counts["wrapped"] = sum(not info.min <= value <= info.max for value in values)
        else:
            counts["no_nan"] = np.isnan(array).sum()
            values = [value for value in array.ravel().tolist() if not np.isnan(value)]
            counts["clamped"] = sum(np.isinf(value) or not info.min <= int(value) <= info.max
                                    for value in values)
    else:
        with np.errstate(over="ignore", under="ignore"):
            parts = [(array.astype(to), array)]
            if kind == "c":
                parts = [(parts[0][0].real, array.real), (parts[0][0].imag, array.imag)]
            infinite, zero = (np.logical_or.reduce([test(*part) for part in parts]) for test in (
                lambda new, old: np.isinf(new) & ~np.isinf(old),
                lambda new, old: (new == 0) & (old != 0)))
        counts["infinite"], counts["zero"] = infinite.sum(), zero.sum()
    return {name: int(count) for name, count in counts.items() if count > 0}


def extreme_array(rng, dtype, n):
    """Near the limits of all types, and special values."""
    kind = np.dtype(dtype).kind
    bits = rng.choice([1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 62, 63, 64], n)
    if kind in "biu":
        values = [(1 << int(bit)) + int(rng.integers(-2, 3)) for bit in bits]
        values = [value * int(rng.choice([-1, 1])) for value in values]
        if kind == "b":
            return np.array(values) % 2 == 0
        info = np.iinfo(dtype)
        return np.array([min(max(value, info.min), info.max) for value in values], dtype)

    def floats():
        with np.errstate(over="ignore", under="ignore"):
            values = np.ldexp(rng.random(n) + 1, rng.choice([*range(-150, 130)], n))
            values = np.where(rng.random(n) < 0.5, np.ldexp(1.0, bits) + rng.choice(
                [-1, -0.5, 0, 0.5, 1], n), values) * rng.choice([-1, 1], n)
            values[rng.random(n) < 0.1] = np.nan
            values[rng.random(n) < 0.1] = np.inf
            values[rng.random(n) < 0.1] = 0
            values[rng.random(n) < 0.1] = rng.choice([65504, 65519, 65520, 3.4e38, 3.5e38, 6e-8,
                                                      2.9e-8, 1e-46, 127.9, -128.9, -0.9])
            return values

    if kind == "c":
        values = np.empty(n, "c16")
        values.real, values.imag = floats(), np.where(rng.random(n) < 0.5, 0, floats())
    else:
        values = floats()
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(dtype)


@pytest.mark.parametrize("dtype", CODES)
def test_from_every_type_to_all(tmp_path, dtype):
    rng = np.random.default_rng(SEED)
    arrays = {f"{n}": extreme_array(rng, dtype, n) for n in (1, 100, 1000)}
    source = save(tmp_path / "a", arrays)
    for to in CODES:
        with np.errstate(all="ignore"):
            told = {name: (to, counts) for name, array in arrays.items()
                    if (counts := expected(array, to))}
        assert losses(source, tmp_path / "b", "-d", f"*={to}") == told, to


def test_samples(tmp_path):
    source = save(tmp_path / "a", {"x": np.array([1e38, -1e38, 1, np.inf]),
                                   "y": np.array([np.nan, 300, -0.5])})
    assert losses(source, tmp_path / "b", "-d", "float16") == {
        "x": ("float16", {"infinite": 2})}
    assert losses(source, tmp_path / "b", "-d", "int8", "-q") == {
        "x": ("int8", {"clamped": 3}), "y": ("int8", {"no_nan": 1, "clamped": 1})}
    assert load(tmp_path / "b")[0]["y"].tolist() == [0, 127, 0]
    assert losses(source, tmp_path / "b", "-r", "x=z", "-d", "float16") == {
        "z": ("float16", {"infinite": 2})}
    assert losses(source, tmp_path / "b") == losses(source, tmp_path / "b", "-d", "float32") == {}


# The largest finite number, and the smallest other than 0; larger ones become NaN.
SMALL_FLOATS = {"float8_e4m3fn": (448, 2**-9, "nan", True), "bfloat16": (None, None, None, True),
                "float8_e4m3fnuz": (240, 2**-10, "nan", True),
                "float8_e5m2": (57344, 2**-16, "infinite", True),
                "float4_e2m1fn": (6, 0.5, "clamped", False),
                "float6_e2m3fn": (7.5, 0.125, "clamped", False),
                "float6_e3m2fn": (28, 0.0625, "clamped", False)}


@pytest.mark.parametrize("dtype", SMALL_FLOATS)
def test_small_floats(tmp_path, dtype):
    """Far enough from their limits that no rounding matters."""
    largest, smallest, kind, has_nan = SMALL_FLOATS[dtype]
    if largest is None:
        largest, smallest, kind = 3.38e38, 1e-40, "infinite"
    values = np.array([largest, -largest, largest * 1.3, -largest * 1.5, largest * 8,
                       0, smallest, -smallest / 4, smallest / 8, 1, -1, np.nan, 1, 1, 1, 1])
    told = losses(save(tmp_path / "a", {"x": values}), tmp_path / "b", "-d", dtype)
    counts = {kind: 3, "zero": 2} if has_nan else {kind: 3, "zero": 2, "no_nan": 1}
    assert told == {"x": (dtype, counts)}


def test_floats_without_zero(tmp_path):
    """float8_e8m0fnu has only positive powers of two, and NaN."""
    values = np.array([1, 2, 0, -1, 2.0**127, 2.0**200, 2.0**-127, 2.0**-140, np.nan, np.inf])
    done = run("cp", save(tmp_path / "a", {"x": values}), tmp_path / "b", "-d", "float8_e8m0fnu")
    kept = load(tmp_path / "b")[0]["x"][1]
    became_nan = int((kept == 255).sum()) - 1
    assert read_line(done.stderr).get("nan") == became_nan


def test_more_than_a_piece(tmp_path):
    rng = np.random.default_rng(SEED)
    array = extreme_array(rng, "float64", 150_000).reshape(3, 50_000)
    np.save(tmp_path / "a.npy", np.asfortranarray(array))
    for dtype in ("float16", "uint8"):
        with np.errstate(all="ignore"):
            counts = expected(array, dtype)
        assert losses(tmp_path / "a.npy", tmp_path / "b", "-d", dtype) == {"a": (dtype, counts)}


def test_many_tensors(tmp_path):
    """The first ten have lines of their own."""
    source = save(tmp_path / "a", {f"x.{i}": np.full(i, np.nan) for i in range(1, 31)})
    done = run("cp", source, tmp_path / "b", "-d", "int8")
    *lines, last = done.stderr.splitlines()
    assert len(lines) == 10
    assert tells(last, 20) and read_line(last) == {"no_nan": sum(range(11, 31))}

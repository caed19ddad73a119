# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reductions of narrow types: NumPy's of the same numbers as float64, rounded once."""

import warnings

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import SEED
from conversions import NARROW, SUBBYTE, SUBBYTE_INTEGERS, ml_dtypes, numpy_type, to_narrow
from says import says

FLOATS = NARROW if ml_dtypes else ["float16"]
INTEGERS = SUBBYTE_INTEGERS if ml_dtypes else []
TYPES = FLOATS + INTEGERS + (["complex32"] if ml_dtypes else [])
needs_ml_dtypes = pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes is needed")

# Statistics of values that are no numbers, and of slices without elements.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def wide(array):
    if array.dtype.name == "complex32":
        return array.astype(np.complex128)
    if array.dtype.name in SUBBYTE_INTEGERS:
        return array.astype(np.uint64 if array.dtype.name.startswith("u") else np.int64)
    return array.astype(np.float64)


def narrowed(exact, name):
    """The result in the wide type, in the type that it gets."""
    exact = np.asarray(exact)
    if name in SUBBYTE_INTEGERS or exact.dtype.kind not in "fc":
        return exact
    if exact.dtype.kind == "c":
        parts = np.stack([exact.real, exact.imag], -1)
        return to_narrow(parts.reshape(-1), "float16").view(np.uint32).reshape(exact.shape) \
            .view(ml_dtypes.complex32)
    return to_narrow(exact.reshape(-1), "float16" if name == "complex32" else name) \
        .reshape(exact.shape)


def assert_same(result, expected):
    """Results that stay as wide as they were computed may have been added up in another order."""
    assert type(result) is not np.ndarray or result.flags.writeable
    result = np.asarray(result)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    # Equal, with the same sign of zero, and NaN where the other one is.
    kind = np.complex128 if expected.dtype.name.startswith("complex") else np.float64
    ours, theirs = (array.astype(kind) for array in (result, expected))
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    if expected.dtype == np.float64:
        same = np.isclose(ours, theirs, 1e-12, 1e-12, True)
    assert same.all(), (ours[~same], theirs[~same])


def draw(name, shape, generator, size=None):
    """Numbers of similar size, so that their sums are neither all lost nor all infinite."""
    if name == "complex32":
        return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)) \
            .astype(np.complex64).astype(ml_dtypes.complex32)
    if name in SUBBYTE_INTEGERS:
        return generator.integers(0, 2**8, shape, np.uint8).astype(numpy_type(name))
    if size is None:
        size = 2.0 ** generator.integers(-6, 2) if generator.random() < 0.7 else 1e5
    return (generator.standard_normal(shape) * size).astype(np.float32).astype(numpy_type(name))


def view_of(array):
    """Packed, as such elements mostly are."""
    view = Mtl.asview(array)
    return view.copy() if array.dtype.name in SUBBYTE else view


METHODS = ["sum", "prod", "mean", "std", "var", "cumsum", "cumprod", "trace"]


@needs_ml_dtypes
def test_the_sum_of_many_ones():
    ones = Mtl.ones(4096, "bfloat16")
    assert (ones.sum(), ones.mean(), ones.std(), ones.cumsum()[-1]) == (4096, 1, 0, 4096)
    assert ones.sum().dtype == ones.mean().dtype == ones.cumsum().dtype == ones.dtype
    assert np.sum(ones) == np.add.reduce(ones) == np.add.accumulate(ones)[-1] == 4096
    assert Mtl.ones(4096, "float8_e5m2").mean() == 1 and Mtl.ones(4096, "int4").sum() == 4096
    assert Mtl.ones(4096, "float4_e2m1fn").mean() == 1
    # The range is that of float32, and the results are rounded once.
    assert Mtl.array([3e38, 3e38, -3e38], "bfloat16").sum() > 2.9e38
    assert Mtl.array([1, 2**-8, 2**-40], "bfloat16").sum() == 1.0078125


def test_the_sum_of_many_halves():
    columns = Mtl.ones((4096, 2), "float16")
    assert columns.sum(axis=0).tolist() == [4096, 4096] and columns.cumsum(0)[-1, 0] == 4096
    assert columns.mean(0).tolist() == [1, 1] and columns.sum().dtype == np.float16
    large = Mtl.array([60000, -60000, 60000, 59968], "float16")
    assert np.isinf(large.sum())
    assert large[:3].sum() == 60000 and large.mean() == np.float16(29992)
    assert large[2:].std() == 16
    small = Mtl.array(large / np.float16(256))
    assert small.dtype == "float16" and small.var() == np.var(np.asarray(small, "f8")).astype("f2")


def random_keywords(name, shape, generator):
    keywords = {}
    if name == "trace":
        axis1, axis2 = generator.choice(len(shape), 2, replace=False).tolist()
        return {"offset": int(generator.integers(-1, 2)), "axis1": axis1, "axis2": axis2}
    axes = [None, *range(-len(shape), len(shape))]
    if not name.startswith("cum"):
        axes.append(tuple(generator.permutation(len(shape))[:2].tolist()))
    keywords["axis"] = axes[generator.integers(len(axes))]
    if name.startswith("cum"):
        return keywords
    if generator.random() < 0.3:
        keywords["keepdims"] = True
    if generator.random() < 0.3:
        keywords["where"] = generator.random(shape) < 0.7
    if name in ("std", "var") and generator.random() < 0.5:
        keywords["ddof"] = 1
    if name in ("sum", "prod") and generator.random() < 0.3:
        keywords["initial"] = 2
    return keywords


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", TYPES)
def test_random_reductions(dtype, name):
    generator = np.random.default_rng([SEED, METHODS.index(name), TYPES.index(dtype)])
    for _ in range(40):
        shape = tuple(generator.integers(1, 9, generator.integers(2, 4)).tolist())
        array = draw(dtype, shape, generator)
        if generator.random() < 0.3:
            array = array[::-1].T
        keywords = random_keywords(name, array.shape, generator)
        view = view_of(array)
        exact = getattr(wide(array), name)(**keywords)
        expected = narrowed(exact, dtype)

        result = getattr(view, name)(**keywords)
        assert_same(result, expected)
        assert_same(getattr(np, name)(view, **keywords), expected)
        assert (np.ndim(exact) == 0) == isinstance(result, np.generic)

        # The caller's type wins, also over that of the elements.
        kind = np.complex128 if dtype == "complex32" else exact.dtype
        given = getattr(view, name)(dtype=kind, **keywords)
        np.testing.assert_allclose(given, getattr(wide(array), name)(dtype=kind, **keywords), 1e-12)
        assert given.dtype == kind

        for kind in (expected.dtype, np.dtype("f4"), np.dtype("c16")):
            out = np.zeros(expected.shape, kind)
            for target in (out, Mtl.asview(out)):
                assert getattr(view, name)(out=target, **keywords) is target
            if kind == expected.dtype:
                assert_same(out, expected)
            else:
                np.testing.assert_allclose(out, exact.astype(kind), rtol=1e-6)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.subtract, np.hypot, np.logaddexp])
@pytest.mark.parametrize("dtype", FLOATS)
def test_random_reductions_of_ufuncs(dtype, ufunc):
    generator = np.random.default_rng([SEED, TYPES.index(dtype)])
    for _ in range(10):
        array = draw(dtype, (5, 7), generator)
        view, exact = view_of(array), wide(array)
        axis = int(generator.integers(2))
        for method, arguments in (("reduce", ()), ("accumulate", ()), ("reduceat", ([0, 2],))):
            call = getattr(ufunc, method)
            expected = narrowed(call(exact, *arguments, axis=axis), dtype)
            assert_same(call(view, *arguments, axis), expected)
            out = Mtl.asview(np.zeros(expected.shape, expected.dtype))
            assert call(view, *arguments, axis=axis, out=out) is out
            assert_same(out, expected)
        assert ufunc.reduce(view, axis, np.float32).dtype == np.float32


def test_positional_arguments():
    view = Mtl.ones((4, 3000), "float16")
    out = np.zeros(4, "f2")
    assert view.sum(1, None, out) is out and out.tolist() == [3000] * 4
    assert view.sum(1, "f4", None, True).tolist() == [[3000]] * 4
    assert view.var(1, None, out, 1) is out and out.tolist() == [0] * 4
    assert view.trace(1, 0, 1, None, out[:1].reshape(())) == 4
    assert np.cumsum(view, 1, None)[:, -1].tolist() == [3000] * 4
    assert np.sum(a=view, axis=1).tolist() == np.sum([view, view], 2)[0].tolist() == [3000] * 4
    with pytest.raises(TypeError):
        view.sum(axes=1)
    with pytest.raises(TypeError):
        np.sum()
    for wrong in (object(), [0, 0, 0, 0], 5):
        with pytest.raises(TypeError, match="out"):
            view.sum(1, out=wrong)
    for wrong in (np.zeros(3, "f2"), np.zeros((4, 1), "f2"), np.zeros((), "f2")):
        with pytest.raises(ValueError, match=says(4)):
            view.sum(1, out=wrong)
        assert not wrong.any()


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "bool", "float32", "complex64"])
def test_all_else_is_numpys(dtype):
    generator = np.random.default_rng(SEED)
    array = (generator.standard_normal((5, 5)) * 50).astype(dtype)
    view = Mtl.asview(array)
    for name in METHODS:
        for result, expected in ((getattr(view, name)(), getattr(array, name)()),
                                 (getattr(np, name)(view), getattr(np, name)(array))):
            assert np.asarray(result).tobytes() == np.asarray(expected).tobytes()
            assert result.dtype == expected.dtype
    assert array.sum(dtype="f2") == view.sum(dtype="f2") and view.sum(dtype="f2").dtype == "f2"


FUNCTIONS = [np.average, np.median, np.nansum, np.nanprod, np.nanmean, np.nanstd, np.nanvar,
             np.nanmedian, np.nancumsum, np.nancumprod, np.nanmax, np.nanmin, np.nanargmax,
             *(getattr(np, name) for name in ("cumulative_sum", "cumulative_prod")
               if hasattr(np, name))]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_functions_that_have_no_method(dtype, function):
    generator = np.random.default_rng([SEED, TYPES.index(dtype)])
    for _ in range(10):
        array = draw(dtype, (6, 4), generator, size=1)
        if dtype in FLOATS and function.__name__.startswith("nan"):
            array[np.abs(wide(array)) > 2] = np.nan
            array[generator.integers(6), :] = array[:, generator.integers(4)] = 1
        axis = int(generator.integers(2))
        view, exact = view_of(array), function(wide(array), axis=axis)
        expected = narrowed(exact, dtype)
        assert_same(function(view, axis=axis), expected)
        if function is not np.average:
            out = np.zeros(expected.shape, expected.dtype)
            assert function(view, axis=axis, out=out) is out
            assert_same(out, expected)
        else:
            weights = np.arange(1.0, array.shape[axis] + 1)
            results = np.average(view, axis, weights, returned=True)
            for result, exact in zip(results, np.average(wide(array), axis, weights, True)):
                assert_same(result, narrowed(exact, dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_order(dtype):
    generator = np.random.default_rng([SEED, TYPES.index(dtype)])
    for _ in range(10):
        array = draw(dtype, (4, 9), generator)
        if dtype in FLOATS and generator.random() < 0.3:
            array[0, :2] = np.nan
        view, exact = view_of(array), wide(array)
        for name in ("max", "min", "argmax", "argmin"):
            if dtype == "complex32" and name.startswith("arg"):
                with pytest.raises(TypeError):
                    getattr(view, name)()
                continue
            for axis in (None, 0, 1):
                np.testing.assert_array_equal(wide(np.asarray(getattr(view, name)(axis=axis))),
                                              getattr(exact, name)(axis=axis))
        index = view.argsort(axis=1)
        np.testing.assert_array_equal(np.take_along_axis(exact, index, 1), np.sort(exact, 1))
        np.testing.assert_array_equal(view.any(axis=0), exact.any(axis=0))
        np.testing.assert_array_equal(np.all(view, axis=1), exact.all(axis=1))
        np.testing.assert_array_equal(view.nonzero(), exact.nonzero())
        np.testing.assert_array_equal(wide(np.sort(view, 0)), np.sort(exact, 0))
        np.testing.assert_array_equal(wide(np.unique(view)), np.unique(exact))
        ends = np.take_along_axis(exact, view.argpartition(4, 1), 1)
        np.testing.assert_array_equal(ends[:, 4], np.sort(exact, 1)[:, 4])
        row = np.sort(view[0])
        np.testing.assert_array_equal(Mtl.asview(row).searchsorted(array[1], "right"),
                                      wide(row).searchsorted(exact[1], "right"))
        if dtype in SUBBYTE:
            continue
        part = view.copy()
        part.partition(4, axis=1)
        np.testing.assert_array_equal(wide(np.asarray(part))[:, 4], np.sort(exact, 1)[:, 4])
        view.sort(axis=1)
        np.testing.assert_array_equal(wide(array), np.sort(exact, 1))
        with pytest.raises(ValueError, match="read-only"):
            view.as_read_only().sort()


@needs_ml_dtypes
def test_truth_of_complex_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = Mtl.array([[1j, 0], [0, 0]], "complex32")
        assert view.any() and np.any(view) and not view.all()
        assert view.any(1, keepdims=True).tolist() == [[True], [False]]
        assert view[0, :1].all() and np.all(view[0, :1])


@pytest.mark.parametrize("dtype", TYPES)
def test_statistics_of_the_library(dtype):
    generator = np.random.default_rng([SEED, TYPES.index(dtype)])
    ones = Mtl.ones(4096, dtype)
    assert ones.compute_statistics().mean == 1 and ones.compute_statistics().deviation == 0
    for _ in range(10):
        array = draw(dtype, 3000, generator)
        exact = wide(array)
        exact = exact[np.isfinite(exact)]
        mean = view_of(array).compute_statistics().mean
        np.testing.assert_allclose(mean, exact.mean(), rtol=1e-9,
                                   atol=1e-12)

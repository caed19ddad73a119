# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics and scaled copies; NumPy is the judge."""

import asyncio
import math

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import SEED, tensor
from says import says

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64", "complex64", "complex128"]


def random_array(rng, name, shape):
    dtype = np.dtype(name)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    array = rng.normal(3, 100, shape)
    if dtype.kind == "c":
        array = array + 1j * rng.normal(-5, 10, shape)
    elif dtype.kind == "f":
        array[rng.random(shape) < 0.01] = rng.choice([np.nan, np.inf, -np.inf, 0])
    return array.astype(dtype) if name != "bool" else array > 3


# In valgrind, long double is no wider than double, so that what is expected is rounded as often as
# there are elements.
IS_WIDE = np.longdouble(1) + np.longdouble(2)**-60 != 1


def mean_and_deviation(finite):
    if finite.dtype.kind == "c":
        first, wide = 0, finite.astype(np.clongdouble)
    elif finite.dtype.kind in "iu":  # the differences are exact
        first = finite.min()
        wide = (finite.astype("u8") - first.astype("u8")).astype(np.longdouble)
    else:
        first, wide = 0, finite.astype(np.longdouble)
    deviation = np.sqrt((abs(wide - wide.mean())**2).mean())
    return wide.mean() + np.longdouble(first), deviation


def check(array, statistics):
    finite = array[np.isfinite(array)]

    assert statistics.dtype.name == array.dtype.name and statistics.count == array.size
    assert statistics.n_nans == np.isnan(array).sum()
    assert statistics.n_infinities == np.isinf(array).sum()
    assert statistics.n_zeros == (array == 0).sum()
    if array.dtype.kind == "c":
        assert math.isnan(statistics.minimum) and math.isnan(statistics.maximum)
    else:
        assert statistics.minimum == finite.min().item()
        assert statistics.maximum == finite.max().item()
        assert type(statistics.minimum) is type(finite.min().item())
    mean, deviation = mean_and_deviation(finite)
    scale = max(abs(mean), deviation)
    assert abs(statistics.mean - mean) <= (1e-14 if IS_WIDE else 1e-11) * scale
    assert abs(statistics.deviation - deviation) <= (1e-14 * deviation if IS_WIDE
                                                     else 1e-11 * scale)


@pytest.mark.any_memory
@pytest.mark.parametrize("name", NAMES)
def test_known_layouts(name):
    rng = np.random.default_rng(SEED)
    for shape in [(), (5,), (4, 6), (100, 3, 70), (70_000,)]:
        array = random_array(rng, name, shape)
        if not np.isfinite(array).any():
            continue
        for part in [array, array.T, array[..., ::-1] if shape else array,
                     np.broadcast_to(array, (3, *shape))]:
            check(part, tensor(array).broadcast_to(part.shape).compute_statistics()
                  if part.ndim > array.ndim else tensor(part).compute_statistics())


def test_random_layouts(cases):
    rng = np.random.default_rng(SEED)
    for _ in range(min(cases // 20, 1000)):
        array = random_array(rng, rng.choice(NAMES), rng.integers(1, 40, rng.integers(1, 4)))
        array = array.transpose(rng.permutation(array.ndim))
        array = array[tuple(slice(None, None, rng.choice([-3, -2, -1, 1, 2]))
                            for _ in range(array.ndim))]
        if np.isfinite(array).any():
            check(array, Mtl.asview(array).compute_statistics())


def test_integers_are_exact():
    statistics = Mtl.asview(np.array([-2**63, 2**63 - 1, 5])).compute_statistics()
    assert (statistics.minimum, statistics.maximum) == (-2**63, 2**63 - 1)
    statistics = Mtl.asview(np.array([2**64 - 1, 2**64 - 3], "u8")).compute_statistics()
    assert (statistics.minimum, statistics.maximum) == (2**64 - 3, 2**64 - 1)
    assert statistics.deviation == 1
    assert statistics.get_maximum_uint64() == 2**64 - 1 and statistics.format_minimum() == str(2**64 - 3)
    assert statistics.format_maximum() == str(2**64 - 1) and statistics.get_minimum_uint64() == 2**64 - 3
    with pytest.raises(ValueError, match=says(2**64 - 1, "int64")):
        statistics.get_maximum_int64()
    with pytest.raises(ValueError, match=says(2**64 - 3, "int64")):
        statistics.get_minimum_int64()


def test_nothing_finite():
    for array in [np.zeros((0, 3), "i8"), np.array([np.nan, np.inf], "f4")]:
        statistics = Mtl.asview(array).compute_statistics()
        assert all(map(math.isnan, [statistics.minimum, statistics.maximum, statistics.mean,
                                    statistics.deviation]))
        assert statistics.count == array.size and statistics.n_zeros == 0


def test_text():
    statistics = Mtl.asview(np.array([0.0, 1, 2, np.nan], "f4")).compute_statistics()
    assert repr(statistics) == (
        "<Mtl.Statistics dtype=float32 count=4 minimum=0.0 maximum=2.0 mean=1.0 "
        "deviation=0.816496580927726 n_nans=1 n_infinities=0 n_zeros=1>")
    assert str(statistics) == ("4 elements of float32, minimum 0.0, maximum 2.0, mean 1, deviation "
                               "0.816496580927726, 1 NaN, 1 zero")
    assert str(Mtl.asview([1 - 2j, 3]).compute_statistics()).startswith(
        "2 elements of complex128, mean 2-1j, deviation 1.414")
    assert statistics.props.minimum == statistics.get_minimum() == 0
    assert statistics.get_maximum() == 2 and statistics.get_mean() == 1
    assert tuple(statistics.get_complex_mean()) == (1, 0)
    assert statistics.get_deviation() == statistics.deviation
    assert [statistics.get_count(), statistics.get_n_nans(), statistics.get_n_infinities(),
            statistics.get_n_zeros(), statistics.get_dtype()] == [4, 1, 0, 1, Mtl.DType.FLOAT32]


def test_progress_and_cancellation():
    view, told = Mtl.asview(np.zeros(500_000, "f4")), []
    statistics = view.compute_statistics(None, lambda done, total: told.append((done, total)))
    assert statistics.n_zeros == 500_000
    assert told[-1] == (2_000_000, 2_000_000) and told == sorted(told)
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    with pytest.raises(GLib.Error):
        view.compute_statistics(cancellable)
    with pytest.raises(NotImplementedError, match="opaque_handle8"):
        Mtl.StridedView.new_zeros(None, Mtl.DType.OPAQUE_HANDLE8, [2]).compute_statistics()


def test_awaited():
    array = np.arange(300_000, dtype="i4")
    view, halves = Mtl.asview(array), Mtl.asview(np.zeros(300_000, "f4"))

    async def work():
        statistics = await view.compute_statistics_async()
        assert await halves.copy_scaled_from_async(view, 0.5, offset=1)
        return statistics

    check(array, asyncio.run(work()))
    assert np.array_equal(np.asarray(halves), (array * 0.5 + 1).astype("f4"))


def test_callbacks():
    view, results, loop = Mtl.asview(np.arange(6.0)), [], GLib.MainLoop()
    copy = Mtl.asview(np.zeros(6, "u1"))

    def done(view, result):
        results.append(result)
        if len(results) == 2:
            loop.quit()

    view.compute_statistics_async(callback=done)
    copy.copy_scaled_from_async(view, 3, callback=done)
    loop.run()
    results.sort(key=lambda result: result.get_source_object() is copy)
    assert view.compute_statistics_finish(results[0]).maximum == 5
    assert copy.copy_scaled_from_finish(results[1]) and copy.tolist() == [0, 3, 6, 9, 12, 15]


def scaled(array, scale, offset, dtype):
    """Returns the expected result of copy_scaled_from()."""
    with np.errstate(all="ignore"):
        values = array.astype(np.float64) * scale + offset
        if dtype.kind not in "iu":
            return values.astype(dtype)
        limits = np.iinfo(dtype)
        values = np.rint(np.where(np.isnan(values), 0, values))
        inside = (values > limits.min) & (values < limits.max)
        return np.where(inside, np.where(inside, values, 0).astype(dtype),
                        np.where(values > 0, dtype.type(limits.max), dtype.type(limits.min)))


@pytest.mark.any_memory
def test_scaled_copies(cases):
    rng = np.random.default_rng(SEED)
    names = [name for name in NAMES if not name.startswith("complex")]
    for _ in range(min(cases // 20, 1000)):
        source, target = rng.choice(names), np.dtype(rng.choice(names))
        array = random_array(rng, source, rng.integers(1, 20, rng.integers(1, 4)))
        array = array.transpose(rng.permutation(array.ndim))[..., ::rng.choice([-2, -1, 1])]
        scale, offset = rng.choice([1 / 255, 0.5, 1, -3.25, 255]), rng.choice([0, 0.5, -12.25])
        if scale == 1 and offset == 0:
            continue
        dest = tensor(np.zeros(array.shape, target))
        dest.copy_scaled_from(tensor(array), scale, offset)
        expected = scaled(array, scale, offset, target)
        assert np.array_equal(np.array(dest.to_device(Mtl.Device.get_host(), Mtl.StorageMode.HOST)),
                              expected, equal_nan=target.kind == "f"), (source, target, scale, offset)


@pytest.mark.parametrize("n_channels", [1, 2, 3, 4, 5])
def test_pictures(n_channels):
    rng = np.random.default_rng(SEED)
    pixels = rng.integers(0, 256, (97, 131, n_channels), np.uint8)
    floats = np.zeros((n_channels, 97, 131), np.float32)
    Mtl.asview(floats).copy_scaled_from(Mtl.asview(pixels).permute(2, 0, 1), 1 / 255)
    assert np.array_equal(floats, (pixels.transpose(2, 0, 1) * (1 / 255)).astype("f4"))
    back = np.zeros_like(pixels)
    Mtl.asview(back).copy_scaled_from(Mtl.asview(floats).permute(1, 2, 0), 255)
    assert np.array_equal(back, pixels)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Histograms and statistics along axes, with NumPy as the reference."""

import random

import pytest

from gi.repository import Gio, GLib, Mtl

from says import says

np = pytest.importorskip("numpy")

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float16", "float32", "float64"]
LIMITS = {"minimum": (np.min, np.inf), "maximum": (np.max, -np.inf)}
STATISTICS = [*LIMITS, "mean", "deviation"]


def draw_array(rng, dtype):
    """Draws an array with any strides, also negative ones and 0."""
    shape = [rng.choice([1, 2, 3, 5, 17, 40]) for _ in range(rng.randrange(1, 5))]
    if rng.random() < .1:
        shape[rng.randrange(len(shape))] = rng.choice([0, 200, 3000])
    draws = np.random.default_rng(rng.randrange(2**32))
    if dtype.startswith("float"):
        array = (draws.standard_normal(shape) * 10 + rng.choice([0, 100])).astype(dtype)
        if rng.random() < .3:
            array[draws.random(shape) < .1] = rng.choice([np.nan, np.inf, -np.inf])
    elif dtype == "bool":
        array = draws.random(shape) < .3
    else:
        limits = np.iinfo(dtype)
        array = draws.integers(max(limits.min, -100), min(limits.max, 100), shape, dtype)
    array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    array = array[tuple(slice(None, None, rng.choice([1, 1, 1, -1, 2])) for _ in array.shape)]
    if rng.random() < .2:
        array = np.broadcast_to(array, (3, *array.shape))
    return array


def view_of(array):
    layout = Mtl.StridedLayout.new(array.shape, [s // array.itemsize for s in array.strides],
                                   8 * array.itemsize)
    if array.size == 0:
        return Mtl.empty(array.shape, str(array.dtype))
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    memory = Mtl.asview(np.lib.stride_tricks.as_strided(base, base.shape, base.strides))
    offset = array.__array_interface__["data"][0] - memory.get_address()
    return Mtl.StridedView.new(memory.get_buffer(), layout, str(array.dtype),
                               memory.get_byte_offset() + offset)


def expected_histogram(array, low, high, n):
    with np.errstate(invalid="ignore"):
        numbers = array.astype("float64")
    return np.histogram(numbers[np.isfinite(numbers)], n, (low, high))[0].tolist()


def test_random_histograms(cases):
    rng = random.Random(1)
    for _ in range(min(cases, 1500)):
        array = draw_array(rng, rng.choice(DTYPES))
        low = rng.choice([-100, -3.7, 0, 0.1, 99])
        high = low + rng.choice([.5, 1, 20, 777.7])
        n = rng.choice([1, 2, 7, 100, 1000])
        view = view_of(array)
        counts = view.compute_histogram(low, high, n)
        assert counts == expected_histogram(array, low, high, n), (array.dtype, array.shape)


def test_large_histograms():
    array = np.random.default_rng(3).standard_normal((1000, 3000)).astype("float32")
    view = Mtl.asview(array)
    for n in (1, 256, 100_000):
        assert view.compute_histogram(-3, 3, n) == expected_histogram(array, -3, 3, n)
        assert view.T.compute_histogram(-3, 3, n) == expected_histogram(array, -3, 3, n)
    assert view.broadcast_to(2**30, 1000, 3000).compute_histogram(-9, 9, 2)[0] == \
        2**30 * int((array < 0).sum())


@pytest.mark.parametrize("dtype, low, high, n", [
    ("int64", -2.**63, 2.**63, 4), ("uint64", 0, 2.**64, 8), ("int64", 2.**62, 2.**62 + 4096, 4),
    ("uint64", 2.**63, 2.**63 + 4096, 2), ("int64", -1e300, 1e300, 3), ("uint64", -5, 5, 10),
    ("int64", 2.**63, 2.**65, 4), ("int64", -2.**66, -2.**64, 4), ("uint64", -9, -1, 4),
    ("int32", -.5, .5, 3), ("float64", -1.7e308, 1.7e308, 5), ("float64", 0, 5e-324, 3),
    ("float64", 1e16, 1e16 + 8, 100)])
def test_edges_are_exact(dtype, low, high, n):
    """Each element is in the last bin whose edge is not beyond it, by exact arithmetic."""
    from fractions import Fraction

    step = high / n - low / n if high - low == np.inf else (high - low) / n
    edges = [Fraction(min(i * step + low, high)) for i in range(n)]
    rng = random.Random(5)
    values = []
    for edge in [*edges, Fraction(high)]:
        for distance in (-1025, -512, -2, -1, 0, 1, 2, 513):
            if dtype == "float64":
                values.append(float(edge) + distance * rng.choice([0, 1, abs(float(edge)) * 2**-52]))
            else:
                values.append(int(edge) + distance)
    limits = np.iinfo(dtype) if dtype != "float64" else np.finfo(dtype)
    values = [value for value in values if limits.min <= value <= limits.max]
    expected = [0] * n
    for value in map(Fraction, values):
        if Fraction(low) <= value <= Fraction(high):
            expected[max(i for i, edge in enumerate(edges) if edge <= value)] += 1
    view = Mtl.asview(np.array(values, dtype)) if values else Mtl.empty(0, dtype)
    assert view.compute_histogram(low, high, n) == expected


@pytest.mark.parametrize("dtype", ["int4", "uint2", "bfloat16", "float8_e4m3fn"])
def test_small_types(dtype):
    view = Mtl.array([[0, 1, 1], [1, 0, 1]], dtype)
    assert view.compute_histogram(0, 1, 2) == [2, 4]
    assert view.reduce("mean", [1]).tolist() == pytest.approx([2 / 3, 2 / 3])
    assert view.reduce("maximum", [0]).tolist() == [1, 1, 1]


def test_refused():
    view = Mtl.zeros(3)
    for low, high, n in [(1, 1, 3), (2, 1, 3), (0, float("inf"), 3), (float("nan"), 1, 3), (0, 1, 0),
                         (0, 1, 2**24 + 1)]:
        with pytest.raises(ValueError):
            view.compute_histogram(low, high, n)
    with pytest.raises(NotImplementedError, match="complex64"):
        Mtl.zeros(3, "complex64").compute_histogram(0, 1, 2)
    with pytest.raises(NotImplementedError, match="complex64"):
        Mtl.zeros(3, "complex64").reduce("mean")
    with pytest.raises(IndexError, match=says(-2)):
        view.reduce("mean", [-2])
    with pytest.raises(ValueError, match=says(-1)):
        view.reduce("mean", [0, -1])
    cancelled = Gio.Cancellable()
    cancelled.cancel()
    for run in (lambda: view.compute_histogram(0, 1, 2, cancelled),
                lambda: view.reduce("mean", None, cancelled)):
        with pytest.raises(GLib.Error) as caught:
            run()
        assert caught.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)


def test_in_the_background():
    view = Mtl.arange(1000, dtype="float32")
    loop = GLib.MainLoop()
    found, progress = [], []

    def done(source, result):
        found.append(source.compute_histogram_finish(result))
        loop.quit()

    view.compute_histogram_async(0, 1000, 4, None, lambda *told: progress.append(told), done)
    loop.run()
    assert found == [[250] * 4]
    assert all(total == 4000 for _, total in progress)


def expected_statistic(array, name, axes):
    """Computes in doubles alone, which is all that some systems have. The sums of integers are
    exact; floats are counted from a number of each slice, and lie side by side, so that NumPy adds
    them in pairs."""
    shape = [n for i, n in enumerate(array.shape) if i not in axes]
    if array.size == 0:
        return np.full(shape, np.nan)
    slices = np.moveaxis(array, axes, range(-len(axes), 0)).reshape(*shape, -1).astype("float64")
    finite = np.isfinite(slices)
    if name in LIMITS:
        function, limit = LIMITS[name]
        result = function(np.where(finite, slices, limit), axis=-1)
        return np.where(np.isfinite(result), result, np.nan)
    count = finite.sum(axis=-1)
    middle = np.zeros((*shape, 1))
    if array.dtype.kind == "f":
        middle = np.take_along_axis(slices, finite.argmax(axis=-1)[..., None], -1)
    slices = np.where(finite, slices - middle, 0)
    mean = slices.sum(axis=-1) / count
    if name == "mean":
        return middle[..., 0] + mean
    slices = np.where(finite, slices - mean[..., None], 0)
    return np.sqrt((slices * slices).sum(axis=-1) / count)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_statistics(cases):
    rng = random.Random(2)
    for _ in range(min(cases, 3000)):
        array = draw_array(rng, rng.choice(DTYPES))
        axes = rng.sample(range(array.ndim), rng.randrange(1, array.ndim + 1))
        name = rng.choice(STATISTICS)
        found = view_of(array).reduce(
            name, [axis - rng.choice([0, array.ndim]) for axis in axes])
        expected = expected_statistic(array, name, tuple(axes))
        assert found.dtype == "float64" and found.shape == expected.shape
        np.testing.assert_allclose(np.asarray(found), expected, 1e-12, 1e-12, equal_nan=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [(2000, 300), (300, 2000), (70000, 17), (17, 70000), (50, 40, 90),
                                   (4, 2000, 3), (1, 5000), (300000, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_offset_data(shape, dtype):
    """Numbers far from 0 with small distances from each other."""
    array = (np.random.default_rng(4).random(shape) * 10
             + (1e9 if dtype == "float64" else 200)).astype(dtype)
    view = Mtl.asview(array)
    for axis in range(len(shape)):
        for name in STATISTICS:
            np.testing.assert_allclose(np.asarray(view.reduce(name, [axis])),
                                       expected_statistic(array, name, (axis,)), 1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_few_numbers_that_are_not_finite(dtype, special):
    """They are in some of the rows and columns, of which many lie side by side."""
    array = np.random.default_rng(5).standard_normal((300, 5000)).astype(dtype)
    array[0, 7] = array[200, 4000] = array[:, 2500] = array[11] = special
    view = Mtl.asview(array)
    for axis in range(2):
        for name in STATISTICS:
            np.testing.assert_allclose(np.asarray(view.reduce(name, [axis])),
                                       expected_statistic(array, name, (axis,)), 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_limits_of_integers(dtype):
    """Limits, in sums and in results."""
    info = np.iinfo(dtype)
    array = np.random.default_rng(6).integers(info.min, info.max, (700, 600), dtype, endpoint=True)
    array[5], array[:, 5] = info.min, info.max
    view = Mtl.asview(array)
    for axis in range(2):
        for name in STATISTICS:
            np.testing.assert_allclose(np.asarray(view.reduce(name, [axis])),
                                       expected_statistic(array, name, (axis,)), 1e-13)


def test_all_axes():
    array = np.arange(12.).reshape(3, 4)
    view = Mtl.asview(array)
    for axes in (None, [], [0, 1], [-1, -2]):
        assert view.reduce("mean", axes).item() == 5.5
    assert view.reduce("deviation").item() == pytest.approx(array.std())
    assert Mtl.array(3, "int8").reduce("maximum").item() == 3


@pytest.mark.parametrize("axis", [0, -1, np.int8(1), True])
def test_one_axis(axis):
    array = np.arange(12.).reshape(3, 4)
    found = Mtl.asview(array).reduce("mean", axis)
    assert found.tolist() == array.mean(axis=int(axis)).tolist()
    with pytest.raises(IndexError, match=says(5)):
        Mtl.asview(array).reduce("mean", 5)
    for wrong in (1.5, "0"):
        with pytest.raises(TypeError):
            Mtl.asview(array).reduce("mean", wrong)


def test_statistics_of_the_largest_numbers():
    array = np.full((40, 30), 1.5e308)
    array[::2] *= -1
    view = Mtl.asview(array)
    for axis in (0, 1):
        expected = [0.] * 30 if axis == 0 else array[:, 0].tolist()
        assert view.reduce("mean", [axis]).tolist() == pytest.approx(expected)
    assert view.reduce("deviation", [1]).tolist() == [0] * 40


def test_repeated_elements():
    view = Mtl.asview(np.arange(6.)).broadcast_to(2**20, 2**20, 6)
    assert view.reduce("mean", [0, 1]).tolist() == [0, 1, 2, 3, 4, 5]
    assert view.reduce("mean").item() == 2.5
    assert view[:, 0].reduce("maximum", [1]).shape == (2**20,)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers in lists and tuples: each is checked as if it were assigned alone, before any is written.
Arrays and views are converted instead."""

import decimal
import fractions
import math
import numbers
import time

import numpy as np
import pytest
from gi.repository import GLib, Mtl

import conftest
from conftest import NUMERIC, dtype_of, elements, error_code, iota, tensor, zeros
from says import says

OTHERS = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn",
          "float6_e3m2fn", "complex32"]
LIMITS = {name: (np.iinfo(name).min, np.iinfo(name).max) for name in NUMERIC if "int" in name}
LIMITS |= {"int2": (-2, 1), "int4": (-8, 7), "uint2": (0, 3), "uint4": (0, 15)}
ALL = [*dict.fromkeys([*NUMERIC, *OTHERS, *LIMITS])]
NUMPY_CHECKS_INTEGERS = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
REFUSALS = (ValueError, TypeError)


class WithFloat:
    def __float__(self):
        return 2.5


class WithIndex:
    def __index__(self):
        return 7


class WithComplex:
    def __complex__(self):
        return 1 + 2j


class Broken:
    def __float__(self):
        raise RuntimeError("broken")

    __index__ = __complex__ = __float__


def outcome(function):
    """The class of an exception, or None."""
    try:
        function()
    except Exception as error:
        return type(error)
    return None


def fits(value, name):
    """True if an element type takes a number, by a model in Python."""
    if isinstance(value, (complex, np.complexfloating)):
        return name.startswith("complex")
    if name in LIMITS:
        least, most = LIMITS[name]
        try:
            return least <= int(value) <= most
        except (OverflowError, ValueError):  # infinity, NaN
            return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


@pytest.mark.any_memory
@pytest.mark.parametrize("name, values", [
    ("uint8", [300, -1]), ("uint8", [1, 300]), ("uint8", (1, -1)), ("uint8", [1, 255.9, 256.0]),
    ("int8", [[1, 2], [3, 128]]), ("int16", [0, math.nan]), ("int64", [2**63]), ("uint64", [-1]),
    ("int32", [1, 2**31]), ("uint8", [True, 256]), ("int8", [np.int64(200)]),
    ("int8", [1, fractions.Fraction(1000, 3)]), ("uint16", [decimal.Decimal("-1")]),
    ("int64", [10**30]), ("uint64", [2**64]), ("int8", [np.float32(1e9)]), ("int8", [math.inf]),
    ("float32", [0.5, 10**400]), ("complex64", [1j, 10**400]), ("float64", [10**5000]),
    ("float64", [fractions.Fraction(10**400)]), ("int32", [decimal.Decimal("inf")]),
    ("bool", [True, 10**400]),
])
def test_what_does_not_fit_is_refused_before_anything_is_written(name, values):
    view = zeros(name, (2, 2))
    view[...] = 1
    for key in (slice(None), 0, (slice(None), slice(None, None, -1)), ...):
        with pytest.raises(ValueError, match=says(name)) as info:
            view[key] = values
        assert error_code(info) == Mtl.Error.OVERFLOW
        assert elements(view).tolist() == [[1, 1], [1, 1]]


def test_the_message_names_the_value_and_the_range():
    with pytest.raises(ValueError, match=says(300, "uint8", 0, 255)):
        zeros("uint8", (2,))[:] = [1, 300]
    with pytest.raises(ValueError, match=says(10**30, "int16")):
        zeros("int16", (2,))[:] = [1, 10**30]


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    least, most = LIMITS[name]
    view = zeros(name, (2,))
    view[:] = [least, most]
    assert view.tolist() == [least, most]
    for beyond in (least - 1, most + 1):
        for values in ([beyond, 0], [0, beyond], (beyond,), [[beyond], [0]][:1]):
            with pytest.raises(ValueError):
                view[:] = values
    assert view.tolist() == [least, most]


@pytest.mark.any_memory
def test_arrays_and_views_are_converted_as_before():
    view = zeros("uint8", (2,))
    for source in (np.array([300, -1]), tensor(np.array([300, -1])), Mtl.asview([300, -1])):
        view[:] = 0
        view[:] = source
        assert elements(view).tolist() == [44, 255]
    view.copy_from(tensor(np.array([300.0, -1])))
    assert elements(view).tolist() == [255, 0]


def test_floats_overflow_as_one_does():
    for name in ("float16", "float32", "bfloat16", "float8_e5m2", "float8_e4m3fn"):
        view, one = zeros(name, (4,)), zeros(name, (4,))
        values = [1e300, -1e300, 10**30, math.inf]
        view[:] = values
        for i, value in enumerate(values):
            one[i] = value
        assert bytes(view) == bytes(one)


def test_integers_and_fractions_are_exact():
    exact = 2**53 + 1
    view = zeros("int64", (3,))
    view[:] = [exact, 0.5, 1]
    assert view.tolist() == [exact, 0, 1]
    view[:] = [decimal.Decimal(exact), fractions.Fraction(2 * exact + 1, 2),
               -decimal.Decimal("1.9")]
    assert view.tolist() == [exact, exact, -1]
    view[0] = decimal.Decimal(2**63 - 1)
    assert view[0] == 2**63 - 1
    floats = zeros("float32", (1,))
    floats[:] = [2**24 + 1 + 2**30]
    assert floats[0] == float(np.float32(np.int64(2**24 + 1 + 2**30)))


def test_complex_numbers_are_not_real():
    for name in ("float32", "int8", "uint64", "bfloat16", "bool"):
        view = zeros(name, (2,))
        for value in (1j, 1 + 0j, np.complex64(1), np.complex128(2), np.clongdouble(3)):
            for assign in (lambda: view.__setitem__(0, value),
                           lambda: view.__setitem__(slice(None), [0, value]),
                           lambda: view.__setitem__(..., value), lambda: view.fill(value)):
                with pytest.raises(TypeError):
                    assign()
        assert bytes(view) == bytes(view.nbytes)


def test_what_counts_as_a_number():
    view = zeros("float64", (2,))
    for value, expected in ((WithFloat(), 2.5), (WithIndex(), 7), (decimal.Decimal("0.1"), 0.1),
                            (fractions.Fraction(1, 3), 1 / 3), (np.float16(0.5), 0.5),
                            (np.True_, 1), (True, 1), (np.longdouble(0.5), 0.5)):
        view[:] = [value, 0]
        assert view.tolist() == [expected, 0]
        view[1] = value
        assert view.tolist() == [expected, expected]
    for wrong in ("1", None, object(), b"1", np.arange(2), {1}, range(2), WithComplex(),
                  np.str_("1"), np.array(["1"])):
        with pytest.raises((TypeError, BufferError, ValueError)):
            view[:] = [wrong, 1]
    with pytest.raises(RuntimeError, match="broken"):
        view[:] = [1, Broken()]
    assert view.tolist() == [expected, expected]
    complexes = zeros("complex128", (2,))
    complexes[:] = [WithComplex(), decimal.Decimal("0.5")]
    assert complexes.tolist() == [1 + 2j, 0.5]


def test_no_exception_of_an_integer_is_lost():
    class Interrupted:
        n_calls = 0

        def __index__(self):
            self.n_calls += 1
            if self.n_calls == 1:
                raise KeyboardInterrupt
            return 7

    numbers.Integral.register(Interrupted)
    with pytest.raises(KeyboardInterrupt):
        Mtl.asview([1, Interrupted()])


def test_truth_values_that_raise():
    """NumPy's bool is known by the name of its class."""
    class Pretends:
        __index__ = __float__ = lambda self: 7

        def __bool__(self):
            raise RuntimeError("neither")

    for name in ("numpy.bool", "numpy.bool_"):
        value = type(name, (Pretends,), {})()
        for dtype in ("bool", "int8", "float32", "complex64"):
            view = zeros(dtype, (1,))
            for assign in (lambda: view.__setitem__(0, value),
                           lambda: view.__setitem__(slice(None), [value]),
                           lambda: view.fill(value), lambda: Mtl.asview([value])):
                with pytest.raises(RuntimeError, match="neither"):
                    assign()
            assert bytes(view) == bytes(view.nbytes)


@pytest.mark.parametrize("values, shape", [
    ([1, 2], (2, 2)), ([[1], [2]], (2, 2)), ([[[1, 2], [3, 4]]], (2, 2)), ([1], (2, 2)),
    ([[]], (1, 0)), ([], (0,)), ((), (0,)), ([[1, 2, 3]], (1, 3)), ([[1, 2, 3]], (3,)), ([5], ()),
    (((1,), [2]), (2, 1)),
])
def test_shapes_are_broadcast_as_numpys(values, shape):
    view, array = zeros("int16", shape), np.zeros(shape, np.int16)
    view[...], array[...] = values, np.array(values)
    assert view.tolist() == array.tolist()


@pytest.mark.parametrize("values", [
    [1, 2, 3], [[1, 2], [3]], [[1], 2], [1, [2]], [[1, 2]] * 3, [[], [1]],
])
def test_shapes_that_do_not_fit(values):
    view = iota(2, 2)
    with pytest.raises(ValueError):
        view[...] = values
    assert view.tolist() == [[0, 1], [2, 3]]


def test_lists_that_contain_themselves():
    loop = []
    loop.append(loop)
    for assign in (lambda: Mtl.asview(loop), lambda: iota(2).__setitem__(..., loop)):
        with pytest.raises(ValueError, match=says(64)):
            assign()


def test_lists_that_change_while_they_are_read():
    values = [1.0, None, 3.0]

    class Clears:
        def __float__(self):
            values.clear()
            return 2.0

    values[1] = Clears()
    view = zeros("float32", (3,))
    view[:] = values
    assert view.tolist() == [1, 2, 3] and values == []


@pytest.mark.parametrize("name", ALL)
def test_fill_and_single_numbers_are_checked_alike(name):
    for value in (1, -1, 300, 1.5, math.nan, 10**30, 2**63, True, fractions.Fraction(7, 2)):
        by_key, by_slice, by_list, by_fill = (zeros(name, (1,)) for _ in range(4))
        outcomes = {outcome(lambda: by_key.__setitem__(0, value)),
                    outcome(lambda: by_slice.__setitem__(..., value)),
                    outcome(lambda: by_list.__setitem__(..., [value])),
                    outcome(lambda: by_fill.fill(value))}
        assert len(outcomes) == 1, (value, outcomes)
        assert len({bytes(view) for view in (by_key, by_slice, by_list, by_fill)}) == 1


def test_constructors_check_too():
    new = Mtl.StridedView
    for make in (lambda: new.new_filled(None, Mtl.DType.UINT8, [2], 300),
                 lambda: new.new_from_doubles([1, 300], Mtl.DType.UINT8, [2]),
                 lambda: new.new_from_variant(GLib.Variant("ai", [1, 300]), Mtl.DType.UINT8, [2]),
                 lambda: new.new_from_variant(GLib.Variant("at", [2**63]), Mtl.DType.INT64, [1]),
                 lambda: iota(2, dtype="uint8").fill_double(-1)):
        with pytest.raises(ValueError):
            make()


def beside_an_array(values, dtype):
    return Mtl.array([np.zeros(np.shape(values)), values], dtype)[1]


@pytest.mark.parametrize("name", ALL)
def test_large_integers_have_to_fit_the_wanted_type_alone(name):
    for number in (2**63, -2**63 - 1, 2**64, -2**100, 2**100, 10**400):
        for values in ([number], [-1, number], ([1.5, number],), [[number], [0]]):
            refused = next((item for item in np.array(values, object).flat if not fits(item, name)),
                           None)
            text = f"The value {refused} does not fit {name}"
            for make in (Mtl.array, Mtl.asview, beside_an_array,
                         lambda values, dtype: Mtl.array(iter(values), dtype)):
                if refused is not None:
                    with pytest.raises(ValueError, match=says(refused, name)):
                        make(values, name)
                    continue
                view = make(values, name)
                assigned = zeros(name, view.shape)
                assigned[...] = values
                assert view.dtype == name and bytes(view) == bytes(assigned)
                if name in ("uint64", "float32", "float64", "complex64", "complex128"):
                    expected = np.array(values, object).astype(name)
                    assert elements(view).tolist() == expected.tolist()


def draw_number(rng):
    edge = rng.choice((0, 1, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30))
    integer = rng.choice((-1, 1)) * edge + rng.randint(-2, 2)
    kind = rng.randrange(9)
    if kind < 4:
        return integer if rng.randrange(8) else rng.randint(0, 100)
    if kind == 4:
        return rng.choice((float(integer), rng.uniform(-300, 300), math.nan, math.inf, -math.inf))
    if kind == 5:
        return rng.choice((True, False, np.True_))
    if kind == 6:
        return rng.choice((fractions.Fraction(integer, 3), decimal.Decimal(integer) / 4))
    if kind == 7:
        return rng.choice((np.float32(rng.uniform(-300, 300)), np.int8(rng.randint(-128, 127)),
                           np.uint64(abs(integer) % 2**64), np.int64(-abs(integer) % 2**63)))
    return complex(rng.randint(-5, 5), rng.randint(-1, 1)) if rng.randrange(4) == 0 else integer


def is_for_numpy(value):
    """NumPy wraps its own numbers, and takes Decimals and Fractions in its own way."""
    return type(value) in (int, bool) and abs(value) <= 2**53 or type(value) is float


def test_random_lists(rng, cases):
    deadline = time.monotonic() + conftest.SECONDS / 4
    n_lists = n_refused = n_with_numpy = 0
    while n_lists < cases and time.monotonic() < deadline:
        name = rng.choice(ALL)
        values = [draw_number(rng) for _ in range(rng.choice((1, 2, 3)))]
        view, before = zeros(name, (len(values),)), zeros(name, (len(values),))
        view[:] = before[:] = 1
        singly = [outcome(lambda: before.copy().__setitem__(0, value)) for value in values]
        assert [single is None for single in singly] == [fits(value, name) for value in values], (
            name, values)
        found = outcome(lambda: view.__setitem__(slice(None), values))
        assert found == next(filter(None, singly), None), (name, values)
        if found is not None:
            assert bytes(view) == bytes(before), (name, values)
        else:
            for i, value in enumerate(values):
                before[i] = value
            assert bytes(view) == bytes(before), (name, values)

        is_known = name in NUMERIC and all(map(is_for_numpy, values))
        if is_known and (NUMPY_CHECKS_INTEGERS or found is None):
            array = np.ones(len(values), name)
            with np.errstate(all="ignore"):
                numpys = outcome(lambda: array.__setitem__(slice(None), values))
            if all(type(value) is not float for value in values) or found is None:
                assert (numpys is None) == (found is None), (name, values, numpys)
            if found is None and not (name == "float16" and any(abs(v) > 2**11 for v in values)):
                np.testing.assert_array_equal(np.asarray(view), array, str((name, values)))
                n_with_numpy += 1
        n_lists += 1
        n_refused += found is not None
    conftest.NOTES.append(f"{n_lists} random lists, {n_refused} refused, {n_with_numpy} with "
                          "NumPy's result")
    assert n_lists < 1000 or n_lists / 20 < n_refused < n_lists

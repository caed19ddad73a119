# SPDX-License-Identifier: LGPL-2.1-or-later
"""Floats of 16 bits and fewer, and elements of part of a byte; ml_dtypes is the judge."""

import ctypes
import gc
import math
from fractions import Fraction

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import SEED, dtype_of
from dlpack_structs import Producer, managed_of
from says import says

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
# NumPy says so of some NaNs that it casts.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast")

SMALL = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
         "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn",
         "float4_e2m1fn"]
SUBBYTE_FLOATS = [name for name in SMALL if name.startswith(("float6", "float4"))]
SUBBYTE = SUBBYTE_FLOATS + ["int2", "int4", "uint2", "uint4"]
NARROW = SMALL + ["bfloat16", "float16"]
FLOATS = NARROW + ["float32", "float64"]


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def bits_of(name):
    return Mtl.DType.get_bits(dtype_of(name))


def all_patterns(name):
    """Each element that the type has, as an array of it."""
    word = np.uint8 if bits_of(name) <= 8 else np.uint16
    return np.arange(2 ** bits_of(name), dtype=word).view(numpy_type(name))


def convert(array, name):
    """Returns the array as the library converts it; elements of fewer than 8 bits one in a byte."""
    source = Mtl.asview(array)
    itemsize = numpy_type(name).itemsize
    result = np.empty(array.shape, f"u{itemsize}").view(numpy_type(name))
    Mtl.asview(result).copy_from(source)
    return result


def judge(array, name):
    # Some pairs of types have no cast; all of these floats are float32s as well.
    with np.errstate(all="ignore"):
        return array.astype(np.float32).astype(numpy_type(name))


def is_misjudged(array, name):
    """ml_dtypes rounds float32's subnormal numbers up to 2^-126, however near they are to the
    2^-127 below; test_floats_are_rounded_once has some of them."""
    values = array.astype(np.float64)
    return (name == "float8_e8m0fnu") & (values > 2.0**-127) & (values < 1.5 * 2.0**-127)


def assert_same(array, name):
    """Compares bit by bit; any NaN equals any other."""
    ours, expected = convert(array, name), judge(array, name)
    word = f"u{ours.itemsize}"
    wrong = ours.view(word) != expected.view(word)
    wrong &= ~(np.isnan(ours.astype(np.float64)) & np.isnan(expected.astype(np.float64)))
    wrong &= ~is_misjudged(array, name)
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        pytest.fail(f"{array[i]!r} of {array.dtype} became {ours[i]!r} of {name}, not "
                    f"{expected[i]!r}; {wrong.sum()} of {wrong.size} differ")


def finite_values(name):
    values = all_patterns(name).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def boundaries(name):
    """Returns the midpoints between neighbours, the neighbours, and numbers beyond both ends, with
    the sign that the type may not have."""
    values = finite_values(name)
    positive = values[values > 0]
    gap = positive[-1] - positive[-2]
    beyond = positive[-1] + gap * np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 1e6])
    below = positive[0] * np.array([0.25, 0.5, 0.75, 1e-3])
    points = np.concatenate([values, (values[:-1] + values[1:]) / 2, beyond, below])
    return np.concatenate([points, -points, [0.0, -0.0, np.inf, -np.inf, np.nan]])


def with_neighbours(points):
    """Returns float32s: the points and their neighbours."""
    with np.errstate(all="ignore"):
        points = points.astype(np.float32)
        return np.concatenate([points, np.nextafter(points, np.float32(np.inf)),
                               np.nextafter(points, np.float32(-np.inf))])


@pytest.mark.parametrize("name", NARROW)
def test_every_pattern_has_its_value(name):
    patterns = all_patterns(name)
    view = Mtl.asview(patterns)
    expected = patterns.astype(np.float64)

    assert view.dtype.name == name and view.is_padded() == (bits_of(name) < 8)
    np.testing.assert_array_equal(np.array(view.tolist()), expected)
    np.testing.assert_array_equal(np.asarray(view.to_dtype(Mtl.DType.FLOAT64)), expected)
    np.testing.assert_array_equal(np.asarray(view.to_dtype(Mtl.DType.FLOAT32)), expected)
    finite = ~np.isnan(expected)
    assert (np.signbit(view.to_dtype(Mtl.DType.FLOAT32)) == np.signbit(expected))[finite].all()


@pytest.mark.parametrize("target", NARROW)
@pytest.mark.parametrize("source", FLOATS)
def test_every_pattern_to_every_type(source, target):
    if source in NARROW:
        assert_same(all_patterns(source), target)
    else:
        assert_same(all_patterns("float16").astype(source), target)
        assert_same(all_patterns("bfloat16").astype(source), target)


@pytest.mark.parametrize("name", NARROW)
def test_every_boundary(name):
    assert_same(with_neighbours(boundaries(name)), name)


@pytest.mark.parametrize("name", NARROW)
def test_a_million_random_floats(name):
    rng = np.random.default_rng(SEED)
    values = finite_values(name)
    low, high = np.log2(values[values > 0][[0, -1]])
    of_any_kind = rng.integers(0, 2**32, 500_000, np.uint32).view(np.float32)
    near = (rng.uniform(1, 2, 500_000) * rng.choice([-1, 1], 500_000)
            * np.exp2(np.floor(rng.uniform(low - 3, high + 3, 500_000))))

    assert_same(of_any_kind, name)
    with np.errstate(all="ignore"):
        assert_same(near.astype(np.float32), name)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_rounded_once(name, dtype):
    """Right beside a midpoint, by less than the judge can say, which makes float32s of doubles
    first; exact fractions take its place."""
    values = finite_values(name)
    middle = ((values[:-1] + values[1:]) / 2).astype(dtype)
    for toward, nearest in ((np.inf, values[1:]), (-np.inf, values[:-1])):
        beside = np.nextafter(middle, dtype(toward))
        for value, low, high in zip(beside.tolist(), values[:-1].tolist(), values[1:].tolist()):
            below, above = Fraction(value) - Fraction(low), Fraction(high) - Fraction(value)
            assert (below < above) == (toward < 0) and below != above
        np.testing.assert_array_equal(convert(beside, name).astype(np.float64), nearest)


@pytest.mark.parametrize("name", NARROW)
def test_integers_are_rounded_once(name):
    """The integers are next to a midpoint of 64 bits, of which a double keeps 53."""
    values = finite_values(name)
    values = values[(values >= 2**54) & (values < 2**63)]
    for below, above in zip(values[:-1].tolist(), values[1:].tolist()):
        middle = (int(below) + int(above)) // 2
        integers = np.array([middle - 1, middle + 1, -middle + 1, -middle - 1], np.int64)
        expected = [below, above, -below, -above]
        if name == "float8_e8m0fnu":
            expected[2:] = [math.nan] * 2
        np.testing.assert_array_equal(convert(integers, name).astype(np.float64), expected)


@pytest.mark.parametrize("name", SMALL)
def test_to_integers_and_complex(name):
    view = Mtl.asview(all_patterns(name))
    values = all_patterns(name).astype(np.float64)
    clamped = np.clip(np.trunc(np.nan_to_num(values, nan=0.0)), -2.0**63, 2.0**63)

    ours = np.asarray(view.to_dtype(Mtl.DType.INT64))
    assert ours.tolist() == [min(max(int(value), -2**63), 2**63 - 1) for value in clamped]
    np.testing.assert_array_equal(np.asarray(view.to_dtype(Mtl.DType.COMPLEX128)), values + 0j)
    np.testing.assert_array_equal(np.asarray(view.to_dtype(Mtl.DType.BOOL)), values != 0)


@pytest.mark.parametrize("name", SMALL)
def test_elements(name):
    array = np.zeros((2, 3), numpy_type(name))
    view = Mtl.asview(array)

    for value in (1.0, 2, np.float32(4), 0.5):
        view[1, 2] = value
        assert view[1, 2] == view.item(1, 2) == array[1, 2] == value
    view[0] = [1, 2, 4]
    assert array[0].tolist() == [1, 2, 4] and view[0, 1:].tolist() == [2, 4]
    view[:, ::2] = 2
    assert array.astype(float).tolist()[0] == [2, 2, 2]
    assert [row.tolist() for row in view] == view.tolist()
    assert (view.array_equal(Mtl.asview(array.astype(np.float32)))
            or np.isnan(array.astype(float)).any())
    with pytest.raises(TypeError):
        view[0, 0] = 1j


@pytest.mark.parametrize("name", SMALL)
def test_saturation_and_special_values(name):
    """The definitions give these values, apart from the judge."""
    view = Mtl.StridedView.new_zeros(None, dtype_of(name), [1])
    largest = float(finite_values(name)[-1])
    view[0] = 1e300
    if name in SUBBYTE_FLOATS:
        assert view[0] == largest
    elif name in ("float8_e3m4", "float8_e4m3", "float8_e5m2"):
        assert view[0] == math.inf
    else:
        assert math.isnan(view[0])
    view[0] = largest
    assert view[0] == largest
    view[0] = -1
    assert math.isnan(view[0]) if name == "float8_e8m0fnu" else view[0] == -1
    view[0] = math.nan
    assert view[0] == 0 if name in SUBBYTE_FLOATS else math.isnan(view[0])


@pytest.mark.parametrize("name", SUBBYTE)
def test_packed_is_padded_squeezed(name):
    array = all_patterns(name)
    packed = Mtl.asview(array).to_dtype(dtype_of(name))
    n = bits_of(name)
    bits = "".join(f"{pattern:0{n}b}"[::-1] for pattern in array.view(np.uint8))
    expected = np.packbits([int(bit) for bit in bits], bitorder="little").tobytes()

    assert not packed.is_padded() and packed.layout.get_item_bits() == n and packed.itemsize == 1
    assert bytes(packed) == expected and packed.nbytes == len(expected)
    for key in (slice(1, 8), slice(None, None, -1), slice(3, None, 5), slice(2, 2), slice(1, 2)):
        part = packed[key]
        assert part.tolist() == array[key].astype(float).tolist()
        assert part.copy().tolist() == part.tolist()
        padded = np.empty_like(array[key])
        Mtl.asview(padded).copy_from(part)
        assert padded.tobytes() == array[key].tobytes()
    assert len(bytes(packed[1:4])) == (3 * n + 7) // 8


@pytest.mark.parametrize("name", SUBBYTE)
def test_packed_through_dlpack(name):
    view = Mtl.asview(np.arange(8).astype(numpy_type(name))).to_dtype(dtype_of(name))

    tensor = managed_of(view.__dlpack__(max_version=(1, 1)))
    assert (tensor.dl_tensor.bits, tensor.dl_tensor.lanes, tensor.flags) == (bits_of(name), 1, 0)
    back = Mtl.from_dlpack(view)
    assert back.get_address() == view.get_address() and back.tolist() == view.tolist()

    # DLPack has no words for a first element within a byte.
    odd = view[1:5]
    assert Mtl.from_dlpack(odd).tolist() == odd.tolist()
    assert managed_of(odd.__dlpack__(max_version=(1, 1))).flags == 2
    with pytest.raises(BufferError):
        odd.__dlpack__(max_version=(1, 1), copy=False)


@pytest.mark.parametrize("name", SUBBYTE)
def test_fills_of_packed_and_padded(name):
    array = all_patterns(name).copy()
    view, packed = Mtl.asview(array), Mtl.asview(array).to_dtype(dtype_of(name))
    one, other = array[-1].item(), array[1].item()
    for key in (np.s_[1::2], np.s_[3:8], np.s_[::-3], np.s_[...]):
        array[key] = one
        packed[key].fill(one)
        assert packed.tolist() == view.tolist()
        view[key].fill(other)
        packed[key] = other
        assert packed.tolist() == array.astype(float).tolist() == view.tolist()


@pytest.mark.parametrize("name", SUBBYTE)
def test_padded_through_dlpack(name):
    array = all_patterns(name).copy()
    view = Mtl.asview(array)

    assert managed_of(view.__dlpack__(max_version=(1, 0))).flags == 4
    back = Mtl.from_dlpack(view)
    assert back.is_padded() and back.get_address() == array.ctypes.data
    back[3] = 1
    assert array[3] == 1
    with pytest.raises(BufferError, match=says(bits_of(name))):
        view.__dlpack__()


def test_lanes_are_an_axis():
    memory = (ctypes.c_uint8 * 3)(0x21, 0x43, 0x65)
    view = Mtl.from_dlpack(Producer(memory, (3,), (1,), 17, 4, 2))

    assert view.shape == (3,) and view.get_lanes() == 2
    assert view.tolist() == [[0.5, 1], [1.5, 2], [3, 4]]
    assert view[1] == view.item(1) == [1.5, 2] and view.item(1, 1) == 2
    assert list(view) == view.tolist()
    assert view.to_dtype(Mtl.DType.FLOAT32).shape == (3, 2)
    assert np.asarray(view.to_dtype(Mtl.DType.FLOAT32)).tolist() == view.tolist()
    view[0] = [-0.5, 6]
    view[1:] = 1
    assert view.tolist() == [[-0.5, 6], [1, 1], [1, 1]] and bytes(memory) == b"\x79\x22\x22"
    view[2] = 2
    assert view[::-1].tolist() == [[2, 2], [1, 1], [-0.5, 6]]
    assert str(view) == "[[-0.5  6. ]\n [ 1.   1. ]\n [ 2.   2. ]]"
    tensor = managed_of(view.__dlpack__(max_version=(1, 0))).dl_tensor
    assert (tensor.bits, tensor.lanes) == (4, 2)
    view.fill(-6)
    assert bytes(memory) == b"\xff\xff\xff"
    view[1:].fill(GLib.Bytes.new(b"\x21"))
    assert view.tolist() == [[-6, -6], [0.5, 1], [0.5, 1]]
    vectors = Mtl.from_dlpack(Producer((ctypes.c_float * 8)(), (2,), (1,), 2, 32, 4))
    for take in (memoryview, np.asarray):
        with pytest.raises(BufferError):
            take(vectors)
    with pytest.raises(ValueError, match=says(3)):
        view.item(0, 0, 0)


@pytest.mark.parametrize("name", dict.fromkeys([*SMALL, *SUBBYTE, "bfloat16"]))
def test_arrays_of_ml_dtypes_are_viewed_in_place(name):
    array = np.zeros((3, 4), numpy_type(name))[::-1, 1::2]
    view = Mtl.asview(array)

    assert view.dtype.name == name and np.dtype(view.dtype) == array.dtype
    assert view.shape == array.shape and view.strides == (-4, 2)
    view[0, 0] = 1
    assert array[0, 0] == 1
    array[2, 1] = 2
    assert view[2, 1] == array[2, 1]
    array.flags.writeable = False
    assert Mtl.asview(array).is_read_only()
    with pytest.raises(ValueError, match="int1"):
        Mtl.asview(np.zeros(2, ml_dtypes.int1))


@pytest.mark.parametrize("name", dict.fromkeys([*SMALL, *SUBBYTE, "bfloat16", "complex32"]))
def test_scalars_of_ml_dtypes_are_numbers(name):
    scalar = numpy_type(name).type(1)
    for view in (Mtl.asview(scalar), Mtl.array(scalar)):
        assert view.dtype == name and view.shape == () and view.item() == 1
    usual = {"i": "int64", "u": "int64", "f": "float64", "c": "complex128"}[dtype_of(name).kind]
    for values, expected in (([scalar], [1]), ([[scalar, 1], (True, scalar)], [[1, 1], [1, 1]])):
        for make in (Mtl.array, Mtl.asview, lambda x, dtype=None: Mtl.array(iter(x), dtype)):
            assert make(values).dtype == usual and make(values).tolist() == expected
            for dtype in (name, "float32", "int8", "complex64"):
                if name == "complex32" and dtype in ("float32", "int8"):
                    with pytest.raises(TypeError, match="complex"):
                        make(values, dtype)
                else:
                    assert make(values, dtype).tolist() == expected
    assert Mtl.array([scalar, 1.5], "complex64").tolist() == [1, 1.5]
    assert Mtl.array([[scalar], np.ones(1)]).tolist() == [[1], [1]]
    assert scalar in Mtl.ones(2) and scalar not in Mtl.zeros(2)


def test_scalars_of_types_that_are_missing():
    with pytest.raises(ValueError, match="int1"):
        Mtl.asview(ml_dtypes.int1(0))


@pytest.mark.parametrize("name", dict.fromkeys([*SMALL, *SUBBYTE, "bfloat16", "complex32"]))
def test_membership_is_that_of_ml_dtypes(name):
    for element in (0.1, 1, 0.5, 3):
        array = np.array([element]).astype(np.complex64 if name == "complex32" else "f4")
        array = array.astype(numpy_type(name))
        exact = array.astype(np.complex128)[0].real.item()
        for value in (element, exact, exact + 1e-12, 1e300, 0.1 + 0j, exact + 0j, 257, 7, 2, True):
            try:
                with np.errstate(over="ignore"):
                    expected = bool((array == value).any())
            except OverflowError:  # beyond int8, to NumPy
                expected = False
            assert (value in Mtl.asview(array)) == expected, value


@pytest.mark.parametrize("name", dict.fromkeys([*SMALL, *SUBBYTE, "bfloat16", "complex32"]))
def test_views_become_arrays_in_place(name):
    memory = np.zeros((3, 4), numpy_type(name))
    view = Mtl.asview(memory)[::-1, 1::2]
    array = np.asarray(view)

    assert array.dtype == memory.dtype and array.shape == (3, 2)
    assert array.ctypes.data == view.get_address()
    assert array.strides == (-4 * array.itemsize, 2 * array.itemsize)
    array[0, 1] = 2
    number = array[0, 1].item()  # -2 of int2
    assert view[0, 1] == memory[2, 3] == number and abs(number) == 2
    view[2, 0] = 1
    assert array[2, 0] == 1 and array.flags.writeable
    assert not np.asarray(view.as_read_only()).flags.writeable
    assert np.asarray(view[1:1]).shape == (0, 2) and np.asarray(view[0, 1, ...]).shape == ()
    copy = np.array(view)
    copy[...] = 1
    assert view[0, 1] == number
    numbers = np.asarray(view, np.complex64)
    assert numbers.dtype == np.complex64 and numbers[0, 1] == number
    # Whatever the address.
    odd = Mtl.StridedView.new(Mtl.Buffer.new(None, 16, Mtl.StorageMode.HOST),
                              Mtl.StridedLayout([2], None, array.itemsize), dtype_of(name), 1)
    assert np.asarray(odd).ctypes.data == odd.get_address()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="copy=False may copy")
def test_arrays_of_views_without_a_copy():
    view = Mtl.asview(all_patterns("bfloat16"))
    assert np.array(view, copy=False).ctypes.data == view.get_address()
    with pytest.raises(ValueError, match="copy"):
        np.array(view, np.float64, copy=False)
    with pytest.raises(ValueError, match=says("float4_e2m1fn", "copy")):
        np.array(Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT4_E2M1FN, [2]), copy=False)


def test_arrays_keep_the_memory_of_views():
    producer = Producer((ctypes.c_uint16 * 3)(0x3F80, 0x4000, 0x4040), (3,), (1,), 4, 16)
    array = np.asarray(Mtl.from_dlpack(producer))
    gc.collect()
    assert array.tolist() == [1, 2, 3] and producer.deleted == 0
    del array
    gc.collect()
    assert producer.deleted == 1


@pytest.mark.parametrize("name", SUBBYTE)
def test_packed_views_become_arrays_by_a_copy(name):
    patterns = all_patterns(name)
    view = Mtl.asview(patterns).to_dtype(dtype_of(name))[::-1]
    array = np.asarray(view)

    assert not view.is_padded() and array.dtype == patterns.dtype
    assert array.tobytes() == patterns[::-1].tobytes()
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    assert np.array(view).flags.writeable
    assert np.asarray(view, np.float32).tolist() == view.tolist()

# SPDX-License-Identifier: LGPL-2.1-or-later
import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import HOST, NUMERIC, dtype_of, elements, error_code, tensor, zeros
from says import says

pytestmark = pytest.mark.any_memory


def random_array(rng, dtype, shape=(3, 4)):
    values = np.array([rng.randrange(0, 100) for _ in range(np.prod(shape))]).reshape(shape)
    if dtype == "bool":
        return values % 2 == 1
    array = values.astype(dtype)
    if np.dtype(dtype).kind in "iufc" and dtype.startswith(("int", "float", "complex")):
        array[0] *= -1
    return array


@pytest.mark.parametrize("target", NUMERIC)
def test_conversions_as_numpy(rng, dtype, target):
    array = random_array(rng, dtype)
    if dtype.startswith("float"):
        array = array + np.array(0.5, dtype)
    if np.dtype(dtype).kind in "fc" and np.dtype(target).kind == "u":
        array = abs(array)  # NumPy leaves negative ones undefined
    with np.errstate(all="ignore"):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = array.astype(target)
    source = tensor(array)
    dest = zeros(target, array.shape)

    assert dest.copy_from(source)
    assert elements(dest).tobytes() == expected.tobytes()
    converted = source.to_dtype(dtype_of(target))
    assert elements(converted).tobytes() == expected.tobytes()
    assert (converted is source) == (dtype == target)


def test_floats_saturate_and_integers_wrap():
    dest = zeros("uint8", (5,))
    dest.copy_from(tensor([300.0, -1.0, float("nan"), float("inf"), 2.9]))
    assert dest.tolist() == [255, 0, 0, 255, 2]
    dest.copy_from(tensor([300, -1, 256, 255, 2**40 + 3]))
    assert dest.tolist() == [44, 255, 0, 255, 3]


def test_integers_round_once():
    values = [2**53 + 1, 2**24 + 1, 2**24 + 3, (1 << 62) + (1 << 54) + 1, -2**63, 2**63 - 1]
    array = np.array(values, np.int64)

    for target in ("float32", "float64", "float16"):
        with np.errstate(over="ignore"):
            expected = array.astype(target)
        assert tensor(array).to_dtype(dtype_of(target)).tolist() == expected.tolist()
    bfloat = tensor(array[3:4]).to_dtype(Mtl.DType.BFLOAT16)
    assert bfloat.tolist() == [2**62 + 2**55]


def test_copy_is_dense_and_own():
    array = np.arange(24).reshape(2, 3, 4)
    view, array = tensor(array)[:, ::-1, ::2], array[:, ::-1, ::2]
    copy = view.copy()

    assert copy.tolist() == array.tolist() and copy.is_contiguous(Mtl.Order.C)
    assert not copy.is_read_only() and copy.get_buffer() != view.get_buffer()
    assert copy.get_device() is view.get_device()
    assert copy.get_buffer().get_storage_mode() == view.get_buffer().get_storage_mode()
    assert copy.to_contiguous() is copy
    assert view.to_contiguous().tolist() == array.tolist()


def test_to_device():
    view = tensor(np.arange(24).reshape(2, 3, 4))
    part = view[:, ::-1, ::2]

    assert view.to_device(view.get_device(), view.get_buffer().get_storage_mode()) is view
    moved = part.to_device(HOST, Mtl.StorageMode.HOST)
    assert moved.get_device() is HOST and moved.tolist() == part.tolist()
    assert moved.to_device(HOST, Mtl.StorageMode.HOST) is moved
    assert moved.to_device(HOST) is moved.to_device(HOST, "default") is moved
    with pytest.raises(NotImplementedError):
        view.to_device(HOST, Mtl.StorageMode.PRIVATE)


def test_overlap_is_as_through_a_temporary(rng):
    for _ in range(500):
        memory = np.arange(60, dtype=np.int16)
        view = tensor(memory.copy())
        n = rng.randrange(1, 12)
        keys = []
        for _ in "ds":
            step = rng.choice((1, 2, 3, -1, -2))
            start = rng.randrange(22, 27)  # at most 33 to the right, 22 to the left
            keys.append((start, step))
        (a, s), (b, t) = keys
        dest = np.lib.stride_tricks.as_strided(memory[a:], (n,), (2 * s,))
        source = np.lib.stride_tricks.as_strided(memory[b:], (n,), (2 * t,))
        layouts = [Mtl.StridedLayout((n,), (step,), 2) for _, step in keys]
        buffer = view.get_buffer()
        target = Mtl.StridedView.new(buffer, layouts[0], Mtl.DType.INT16, 2 * a)
        origin = Mtl.StridedView.new(buffer, layouts[1], Mtl.DType.INT16, 2 * b)
        target.copy_from(origin)
        dest[...] = source.copy()
        assert view.tolist() == memory.tolist(), keys


def test_transposing_in_place():
    view = tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    view.copy_from(view.T)
    assert view.tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]


def test_broadcasting():
    dest = zeros("int32", (2, 3))
    dest.copy_from(tensor([1, 2, 3]))
    assert dest.tolist() == [[1, 2, 3]] * 2
    dest.copy_from(tensor(7))
    assert dest.tolist() == [[7] * 3] * 2
    with pytest.raises(ValueError, match=says("(2,)", "(2, 3)")) as info:
        dest.copy_from(tensor([1, 2]))
    assert error_code(info) == Mtl.Error.INVALID_ARGUMENT


def test_fill(dtype):
    view = zeros(dtype, (4, 6))
    view[::2, ::-3].fill_double(1)
    expected = np.zeros((4, 6), dtype)
    expected[::2, ::-3] = 1
    assert view.tolist() == expected.tolist()
    if np.dtype(dtype).kind in "iu":
        with pytest.raises(ValueError, match=says("1e+30")):
            view.fill_double(1e30)
        assert view.tolist() == expected.tolist()
    view.fill_double(1)
    assert view.tolist() == np.ones((4, 6), dtype).tolist()


@pytest.mark.parametrize("dtype, value, rounded", [
    # A little above the middle of two floats: rounded twice it would become the lower one.
    ("float32", 2**60 + 2**36 + 1, 2**60 + 2**37),
    *((dtype, value, value) for dtype, value in [
        ("bool", True), ("int8", -128), ("int64", 2**53 + 1), ("int64", -2**63),
        ("uint64", 2**64 - 1), ("float64", 1e-310), ("float64", -np.inf), ("complex64", 1.5 - 2j),
        ("complex128", 2**53 + 1j), ("float16", np.float16(0.1)),
    ]),
])
def test_fill_with_a_number_is_exact(dtype, value, rounded):
    view, expected = zeros(dtype, (4, 6)), np.zeros((4, 6), dtype)
    assert view[::2, ::-3].fill(value)
    expected[::2, ::-3] = np.array(rounded).astype(dtype)
    assert elements(view).tobytes() == expected.tobytes()
    assert view.fill(0)
    view[1:, 2] = value
    expected[...] = 0
    expected[1:, 2] = np.array(rounded).astype(dtype)
    assert elements(view).tobytes() == expected.tobytes()
    view[...] = value
    assert elements(view).tobytes() == np.full((4, 6), np.array(rounded), dtype).tobytes()


def test_fill_with_the_bytes_of_an_element(rng, dtype):
    array = random_array(rng, dtype)
    view = zeros(dtype, (3, 4))
    assert view[:, 1:].fill(GLib.Bytes.new(array[1, 2].tobytes()))
    expected = np.zeros((3, 4), dtype)
    expected[:, 1:] = array[1, 2]
    assert elements(view).tobytes() == expected.tobytes()


def test_fill_refuses():
    view = zeros("int16", (2,))
    for value, values in ((2**15, [32768]), (GLib.Bytes.new(b"123"), [3, "int16", 2]),
                          ([1, 2], ["(2,)", "()"])):
        with pytest.raises(ValueError, match=says(*values)):
            view.fill(value)
    with pytest.raises(TypeError):
        view.fill("1")
    assert view.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        view.as_read_only().fill(1)


def test_array_equal_compares_numbers():
    a = tensor([[1, 2], [3, 4]])

    assert a.array_equal(tensor([[1.0, 2], [3, 4]])) and a.array_equal(a.copy())
    assert a.array_equal(Mtl.asview([[1, 2], [3, 4]]))
    assert Mtl.asview([[1, 3], [2, 4]]).array_equal(a.T)
    assert not a.array_equal(a.T) and not a.array_equal(a.flatten(0, 1))
    assert not tensor([float("nan")]).array_equal(tensor([float("nan")]))
    big = tensor([2**53 + 1])
    assert not big.array_equal(tensor([float(2**53)])) and not big.array_equal(tensor([2**53]))
    assert not tensor(np.array([-1])).array_equal(tensor(np.array([2**64 - 1], np.uint64)))


@pytest.mark.parametrize("a, b, rtol, atol", [
    ([1.0, 2.0], [1.0, 2.0], 0, 0), ([1.0], [1.01], 0.01, 0), ([1.0], [1.02], 0.01, 0),
    ([100.0], [101.0], 0, 1), ([100.0], [101.1], 0, 1), ([np.inf], [np.inf], 0, 0),
    ([np.inf], [-np.inf], 1, 1), ([1.0], [np.inf], 1, 1), ([np.nan], [np.nan], 1, 1),
    ([1 + 1j], [1 + 1.001j], 0.01, 0), ([1], [2], 0.1, 0),
])
def test_all_close_as_numpy(a, b, rtol, atol):
    assert tensor(a).all_close(tensor(b), rtol, atol) == np.allclose(a, b, rtol, atol)


def test_copied_bytes():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    view = tensor(array)

    assert view.dup_bytes().get_data() == bytes(view) == array.tobytes()
    assert view.T.dup_bytes().get_data() == bytes(view.T) == array.T.tobytes()
    assert view[:, ::-2].dup_bytes().get_data() == array[:, ::-2].tobytes()
    assert view[:0].dup_bytes().get_size() == 0 and bytes(view[:0]) == b""


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "int16"])
def test_comparisons_as_numpys(rng, dtype):
    values = [0, 1, 1.001, -2] + ([] if dtype == "int16" else [np.nan])
    if dtype.startswith("float"):  # older NumPy finds complex infinities unequal
        values.append(np.inf)
    for _ in range(200):
        n = rng.randrange(1, 4)
        a, b = (np.array(rng.choices(values, k=n)).astype(dtype) for _ in range(2))
        if dtype == "complex64":
            a.imag, b.imag = rng.choices(values, k=n), rng.choices(values, k=n)
        if rng.random() < 0.5:
            b = a.copy()
        for flags in (Mtl.CompareFlags.NONE, Mtl.CompareFlags.EQUAL_NAN):
            equal_nan = flags == Mtl.CompareFlags.EQUAL_NAN
            assert tensor(a).array_equal(b, flags) == np.array_equal(a, b, equal_nan=equal_nan)
            assert tensor(a).all_close(b, 0, 0.01, flags=flags) == np.allclose(
                a, b, 0, 0.01, equal_nan=equal_nan)

# SPDX-License-Identifier: LGPL-2.1-or-later
import array
import collections.abc
import concurrent.futures
import ctypes
import decimal
import fractions
import gc
import inspect
import io
import math
import numbers
import subprocess
import sys

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import NUMERIC, error_code, tensor, zeros
from says import says
from hostile_producer import Exporter


def test_memoryview(dtype):
    source = np.arange(6).reshape(2, 3).astype(dtype)
    view = Mtl.asview(source)
    memory, expected = memoryview(view[:, ::-1]), memoryview(source[:, ::-1])

    assert (memory.shape, memory.strides, memory.itemsize, memory.ndim, memory.nbytes) == (
        expected.shape, expected.strides, expected.itemsize, expected.ndim, expected.nbytes)
    assert memory.format == expected.format
    assert np.asarray(view).dtype == source.dtype
    assert np.asarray(view).ctypes.data == source.ctypes.data


def test_writes_go_through():
    view = zeros("float32", (2, 3))
    memoryview(view)[1, 2] = 5
    np.asarray(view)[0] = [1, 2, 3]

    assert view.tolist() == [[1, 2, 3], [0, 0, 5]]


def test_read_only():
    view = zeros("uint8", (3,)).as_read_only()

    assert memoryview(view).readonly and not np.asarray(view).flags.writeable
    with pytest.raises(TypeError):
        memoryview(view)[0] = 1
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(b"abc").readinto(view)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python has no method for buffers")
def test_methods():
    view = tensor(np.arange(6, dtype=np.int16))

    for exporter in (view, view.get_buffer()):
        assert isinstance(exporter, collections.abc.Buffer)
        memory = exporter.__buffer__(inspect.BufferFlags.FULL_RO)
        assert memory == memoryview(exporter) and memory.obj is exporter
        exporter.__release_buffer__(memory)
        with pytest.raises(ValueError):
            memory[0]
    with pytest.raises(BufferError):
        view.as_read_only().__buffer__(inspect.BufferFlags.WRITABLE)


def test_bytes_without_a_copy():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    view = tensor(array)
    rows = view.get_bytes()

    assert rows.get_data() == array.tobytes()
    view[0, 0] = 7
    assert rows.get_data()[:2] == np.int16(7).tobytes()
    with pytest.raises(ValueError) as info:
        view.T.get_bytes()
    assert error_code(info) == Mtl.Error.NEEDS_COPY
    assert view[:0].get_bytes().get_size() == 0


def test_buffers_hold_the_memory_until_they_are_released():
    view = zeros("int32", (10,))
    references = sys.getrefcount(view)
    memories = [memoryview(view) for _ in range(5)]

    assert sys.getrefcount(view) == references + 5
    del memories
    assert sys.getrefcount(view) == references
    memory = memoryview(view)
    del view
    gc.collect()
    assert memory[9] == 0


def test_without_dimensions_and_without_elements():
    assert memoryview(zeros("int32", ())).shape == () and bytes(zeros("int32", ())) == bytes(4)
    assert memoryview(zeros("int32", (0, 3))).shape == (0, 3)
    assert np.asarray(zeros("int32", (0, 3))).shape == (0, 3)


def test_element_types_without_a_format():
    view = zeros("bfloat16", (2,))

    with pytest.raises(BufferError):
        memoryview(view)
    assert bytes(view) == bytes(4)
    with pytest.raises(BufferError):
        np.asarray(zeros("opaque_handle64", (2,)))


WITHOUT_ML_DTYPES = """
import sys
sys.modules["ml_dtypes"] = None
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
import numpy as np
for name in ("bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int4"):
    view = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.from_string(name), [2])
    for ask in (np.asarray, lambda view: view.dtype.dtype):
        try:
            ask(view)
        except ModuleNotFoundError as error:
            print(error)
"""


def test_without_ml_dtypes():
    """Runs a process that cannot import it."""
    said = subprocess.run([sys.executable, "-c", WITHOUT_ML_DTYPES], check=True, text=True,
                          capture_output=True).stdout.splitlines()
    assert said == [f"NumPy needs ml_dtypes for {name}, but it is not installed"
                    for name in ("bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int4")
                    for _ in range(2)]


def test_dtype_conversion_on_the_way_to_numpy():
    assert np.asarray(Mtl.asview([1, 2]), np.float32).dtype == np.float32
    assert Mtl.asview([1, 2]).__array__().tolist() == [1, 2]


@pytest.mark.parametrize("value, name", [
    (b"abc", "uint8"), (bytearray(b"abc"), "uint8"), (memoryview(b"abc"), "uint8"),
    (array.array("d", [1, 2]), "float64"), (array.array("i", [1, 2]), "int32"),
    ((ctypes.c_int16 * 3)(1, 2, 3), "int16"), (memoryview(b"abcd").cast("B", (2, 2)), "uint8"),
])
def test_asview_of_buffers(value, name):
    view = Mtl.asview(value)

    assert view.dtype.name == name
    assert view.tolist() == (value.tolist() if hasattr(value, "tolist") else list(value))
    assert view.is_read_only() == memoryview(value).readonly


@pytest.mark.parametrize("format", "bBhHiIlLqQnNfd?c")
def test_asview_of_each_native_format(format):
    memory = memoryview(bytearray(range(1, 33))).cast(format)
    view = Mtl.asview(memory)

    assert view.itemsize == memory.itemsize and bytes(view) == memory.tobytes()
    if format not in "?c":
        assert view.tolist() == memory.tolist()


def test_asview_of_ctypes():
    matrix = ((ctypes.c_int16 * 3) * 2)((1, 2, 3), (4, 5, 6))
    assert Mtl.asview(matrix).tolist() == [[1, 2, 3], [4, 5, 6]]
    number = ctypes.c_double(2.5)
    view = Mtl.asview(number)
    view[()] = 3.5
    assert view.shape == () and number.value == 3.5


def test_asview_of_elements_at_odd_addresses():
    array = np.frombuffer(bytearray(8 * 3 + 1), np.float64, 3, 1)
    view = Mtl.asview(memoryview(array))
    view[...] = Mtl.asview([0.5, 1.5, 2.5])

    assert view.get_address() % 8 == 1 and array.tolist() == view.tolist() == [0.5, 1.5, 2.5]


def test_asview_shares_and_holds():
    memory = bytearray(b"abc")
    view = Mtl.asview(memory)
    view[0] = ord("x")

    assert memory == b"xbc"
    with pytest.raises(BufferError):
        memory.append(1)  # while the buffer is in use
    del view
    memory.append(1)


def test_asview_of_strided_and_reversed_arrays():
    source = np.arange(24, dtype=np.int16).reshape(4, 6)
    source.setflags(write=False)  # older NumPy then exports only by the buffer protocol
    for part in (source[::-1], source[:, ::-2], source.T, source[1:1], source[2, 3, ...]):
        view = Mtl.asview(part)
        assert view.tolist() == part.tolist() and view.is_read_only()
        if part.size:
            assert view.get_address() == part.ctypes.data


def test_released_at_once_by_a_thread_of_pythons():
    memory = bytearray(1000)

    def end():
        rows = [Mtl.asview(memory).get_bytes() for _ in range(10)]
        rows.clear()
        memory.append(1)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(end).result()
    view = Mtl.asview(memory)
    del view
    memory.append(1)
    assert len(memory) == 1002


def test_asview_of_nested_sequences():
    assert Mtl.asview([[1, 2], [3, 4]]).dtype == Mtl.DType.INT64
    assert Mtl.asview([[1.0, 2], (3, 4)]).tolist() == [[1, 2], [3, 4]]
    assert Mtl.asview([True, False]).dtype == Mtl.DType.BOOL
    assert Mtl.asview([1, 2j]).tolist() == [1, 2j]
    assert Mtl.asview(5).shape == () and Mtl.asview(2.5).item() == 2.5
    assert Mtl.asview([]).shape == (0,) and Mtl.asview([[], []]).shape == (2, 0)
    assert not Mtl.asview([1]).is_read_only()
    view = zeros("int8", (2,))
    assert Mtl.asview(view) is view


def test_asview_of_numpys_scalars():
    assert Mtl.asview([np.complex64(1 + 1j)]).tolist() == [1 + 1j]
    assert Mtl.asview([np.int64(2**53 + 1), 2]).tolist() == [2**53 + 1, 2]
    assert Mtl.asview([np.True_, False]).dtype == Mtl.DType.BOOL
    assert Mtl.asview([np.float32(0.5), 1]).dtype == Mtl.DType.FLOAT64
    assert Mtl.asview([2**63, 1]).dtype == Mtl.DType.UINT64


def test_numbers_are_not_read_as_text():
    assert int(Mtl.asview(bytearray(b"4"))) == ord("4")
    assert float(Mtl.asview([[2.5]])) == 2.5 and int(Mtl.asview(7)) == 7
    with pytest.raises(TypeError, match=says(2)):
        int(Mtl.asview(b"42"))


@pytest.mark.parametrize("values, name", [
    ([decimal.Decimal("1.5")], "float64"), ([decimal.Decimal("0.1"), 1], "float64"),
    ([fractions.Fraction(1, 3), True], "float64"), ([decimal.Decimal(1), 1j], "complex128"),
    ([np.longdouble(0.1)], "float64"), ([np.clongdouble(1)], "complex128"), ([0.5, 10**30], "float64"),
    ([np.int8(1), np.uint64(2**63)], "uint64"), ([np.True_, 1], "int64"), ([True, False], "bool"),
    (decimal.Decimal("1.5"), "float64"), (fractions.Fraction(-1, 3), "float64"),
])
def test_asview_of_other_numbers(values, name):
    view = Mtl.asview(values)
    numbers = values if isinstance(values, list) else [values]
    assert view.dtype.name == name and view.shape == (np.shape(values) if values is numbers else ())
    convert = {"float64": float, "complex128": complex}.get(name, int)
    assert np.asarray(view).ravel().tolist() == [convert(number) for number in numbers]


class WithFloat:
    """Not known as a number, though it can be assigned as one."""

    def __float__(self):
        return 1.0


class Broken(numbers.Real):
    def __float__(self):
        raise ValueError("broken")

    __abs__ = __add__ = __ceil__ = __eq__ = __floor__ = __floordiv__ = __le__ = __lt__ = __mod__ = \
        __mul__ = __neg__ = __pos__ = __pow__ = __radd__ = __rfloordiv__ = __rmod__ = __rmul__ = \
        __round__ = __rpow__ = __rtruediv__ = __truediv__ = __trunc__ = __float__


@pytest.mark.parametrize("wrong", [
    [Broken()], [WithFloat()], [2.5, 10**400], [fractions.Fraction(10**400)], [[1, 2], [3]],
    [[1], 2], [1, [2]], [["a"]], [2**64], [-2**63 - 1], [-1, 2**63], [None],
    [np.arange(3), 1],
])
def test_asview_refuses(wrong):
    with pytest.raises((ValueError, TypeError)):
        Mtl.asview(wrong)


@pytest.mark.parametrize("address, shape, strides, values", [
    (2**64 - 8, (2,), (8,), []), (2**64 - 3, (1,), (8,), []),
    (8, (2,), (-16,), []), (8, (2,), (-8,), []), (0, (2,), (8,), [16]), (0, (), (), [8]),
    (2**40, (9, 9), (2**60, 2**60), ["2^63"]), (2**40, (3, 2), (-2**62, 8), ["2^63"]),
    (2**40, (2**40, 2**40), None, [(2**40, 2**40)])])
def test_asview_of_a_buffer_that_cannot_be(address, shape, strides, values):
    length = min(8 * math.prod(shape), 2**63 - 1)
    exporter = Exporter(address, length, 8, 0, len(shape), b"d", shape, strides, None)

    with pytest.raises(BufferError, match=says(*values)):
        Mtl.asview(exporter)
    assert exporter.n_exported == exporter.n_released == 1


@pytest.mark.parametrize("length, shape, strides", [
    (-1, None, None), (-2**63, None, None), (-8, (1,), None), (-8, (2**62,), (0,))])
def test_asview_of_a_negative_length(length, shape, strides):
    exporter = Exporter(2**40, length, 8, 0, 1, b"d", shape, strides, None)

    with pytest.raises(BufferError, match=says(length)):
        Mtl.asview(exporter)
    assert exporter.n_released == 1


@pytest.mark.parametrize("format", [b"\xff", b"\xc3", b"i" * 99 + "é".encode()])
def test_a_format_that_is_no_text_is_named(format):
    exporter = Exporter(2**40, 8, 8, 0, 1, format, (1,), (8,), None)

    with pytest.raises(BufferError, match=says(8)):
        Mtl.asview(exporter)
    assert exporter.n_released == 1


def test_asview_of_what_is_nothing_of_that():
    for value in (object(), "abc", {1}, {1: 2}, None):
        with pytest.raises(TypeError, match=type(value).__name__):
            Mtl.asview(value)
    for value in (np.array(["a"]), np.array([object()]), np.zeros(2, "datetime64[s]"),
                  np.zeros(2, [("a", "i4")]), np.arange(3, dtype=">i4")):
        with pytest.raises((BufferError, TypeError, ValueError)):
            Mtl.asview(value)


def test_glib_bytes():
    view = Mtl.StridedView.new_from_bytes(GLib.Bytes.new(b"abcd"), Mtl.DType.UINT16, [2])

    assert bytes(view) == b"abcd" and memoryview(view).readonly
    assert set(NUMERIC) > {"uint16"}

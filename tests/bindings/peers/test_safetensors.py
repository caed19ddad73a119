# SPDX-License-Identifier: LGPL-2.1-or-later
"""safetensors: views saved through NumPy's arrays and by their addresses."""

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from gi.repository import Mtl

from cases import DTYPES_INTO, DTYPES_OUT, INTO, OUT, READ_ONLY, refused
from client import COPIES, DTYPES, PARTS, WORKS, Client, Refuses, matrix, part_of_view

UNKNOWN = Refuses(safetensors.SafetensorError, "Unknown dtype")
KNOWN = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "float8_e4m3fn",
         "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]


class Safetensors(Client):
    name = "safetensors"
    version = safetensors.__version__


CLIENT = Safetensors()


def through_a_file(array):
    return safetensors.numpy.load(safetensors.numpy.save({"x": array}))["x"]


def by_address(view):
    """One tensor, serialized from where it lies, as safetensors gives it back."""
    spec = safetensors.TensorSpec(dtype=str(view.dtype), shape=view.shape,
                                  data_ptr=view.get_address(), data_len=view.nbytes)
    (_, tensor), = safetensors.deserialize(bytes(safetensors.serialize({"x": spec})))
    return tensor


def view_of(tensor, name):
    """Returns a view of a tensor that was read, without a copy, in the element type that it was
    saved in."""
    layout = Mtl.StridedLayout(tensor["shape"], itemsize=Mtl.DType.from_string(name).itemsize)
    buffer = Mtl.asview(tensor["data"]).get_buffer()
    return Mtl.StridedView.new(buffer, layout, Mtl.DType.from_string(name), 0)


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_views(name, record):
    part = part_of_view(name, matrix())
    saved = through_a_file(np.asarray(part.to_contiguous()))

    assert saved.shape == part.shape and saved.tolist() == part.tolist()
    record(CLIENT, OUT, name, COPIES if memoryview(part).c_contiguous
           else "copies, of `to_contiguous()`")


@pytest.mark.parametrize("name", ["rows with gaps", "every other element", "transposed"])
def test_it_takes_every_array_to_be_contiguous(name):
    """Why parts go through to_contiguous(): of NumPy's own arrays it saves the same."""
    part = part_of_view(name, matrix())
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    theirs = PARTS[name](whole)

    assert theirs.tolist() == part.tolist()
    wrong = through_a_file(np.asarray(part)).tolist()
    assert wrong == through_a_file(theirs).tolist() != part.tolist()


def test_read_only_views(record):
    view = matrix().as_read_only()

    assert through_a_file(np.asarray(view)).tolist() == view.tolist()
    assert view_of(by_address(view), "float32").tolist() == view.tolist()
    record(CLIENT, OUT, READ_ONLY, COPIES)


@pytest.mark.parametrize("name", DTYPES)
def test_element_types(name, record):
    view = matrix(name, (2, 8))
    expected = COPIES if name in KNOWN else UNKNOWN

    if not refused(expected, lambda: by_address(view)):
        tensor = by_address(view)
        read = view_of(tensor, name)
        assert tensor["data"] == bytes(view.get_buffer()) and tensor["shape"] == [2, 8]
        assert read.dtype == view.dtype and read.shape == (2, 8)
        assert bytes(read.get_buffer()) == bytes(view.get_buffer())
        read_at = np.frombuffer(tensor["data"], np.uint8).ctypes.data
        assert read.get_address() == read_at
        record(CLIENT, DTYPES_INTO, name, WORKS)
    record(CLIENT, DTYPES_OUT, name, expected)


def test_arrays_that_it_reads(record):
    array = through_a_file(np.asarray(matrix()))
    view = Mtl.asview(array)

    assert view.tolist() == matrix().tolist() and view.get_address() == array.ctypes.data
    view[0, 0] = 5
    assert array[0, 0] == 5
    record(CLIENT, INTO, "all of it", WORKS)
    record(CLIENT, INTO, "writes are seen", "both ways")


def test_files(tmp_path):
    view = matrix()
    safetensors.numpy.save_file({"x": np.asarray(view)}, tmp_path / "x.safetensors")

    with safetensors.safe_open(tmp_path / "x.safetensors", framework="numpy") as file:
        assert Mtl.asview(file.get_tensor("x")).tolist() == view.tolist()

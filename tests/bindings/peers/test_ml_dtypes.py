# SPDX-License-Identifier: LGPL-2.1-or-later
"""ml_dtypes: the element types that NumPy lacks. They do not pass NumPy's buffer protocol, and
DLPack only where they are registered with it: `np.asarray()` and `Mtl.asview()` know of them."""

import ml_dtypes
import numpy as np
import pytest
from gi.repository import Mtl

from cases import DTYPES_INTO, DTYPES_OUT
from client import COPIES, DTYPES, PACKED, WORKS, Client, matrix

NAMES = [name for name in DTYPES if hasattr(ml_dtypes, name)]
BYTES = [name for name in NAMES if name not in PACKED]


class MlDtypes(Client):
    name = "ml_dtypes"
    version = ml_dtypes.__version__


CLIENT = MlDtypes()


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert np.dtype(Mtl.DType.from_string(name)) == np.dtype(getattr(ml_dtypes, name))


@pytest.mark.parametrize("name", BYTES)
def test_arrays_of_views(name, record):
    view = matrix(name, (2, 8))
    array = np.asarray(view)

    assert array.ctypes.data == view.get_address() and array.dtype == getattr(ml_dtypes, name)
    array[1, 2] = 1
    one = np.ones(1, array.dtype).tobytes()
    start = 10 * view.itemsize
    assert bytes(view.get_buffer())[start:start + view.itemsize] == one
    record(CLIENT, DTYPES_OUT, name, WORKS)


@pytest.mark.parametrize("name", PACKED)
def test_arrays_of_packed_views(name, record):
    view = matrix(name, (2, 8))
    array = np.asarray(view)

    assert array.dtype == getattr(ml_dtypes, name) and len(view.get_buffer()) < array.nbytes
    assert array.astype(np.float64).tolist() == view.tolist()
    record(CLIENT, DTYPES_OUT, name, COPIES)


@pytest.mark.parametrize("name", BYTES)
def test_views_of_arrays(name, record):
    array = np.arange(16).astype(getattr(ml_dtypes, name)).reshape(2, 8)
    view = Mtl.asview(array)

    assert view.get_address() == array.ctypes.data and view.shape == array.shape
    assert view.dtype.name == name and bytes(view.get_buffer()) == array.tobytes()
    record(CLIENT, DTYPES_INTO, name, WORKS)


@pytest.mark.parametrize("name", NAMES)
def test_views_of_constant_arrays(name):
    array = np.arange(16).astype(getattr(ml_dtypes, name))
    array.flags.writeable = False
    view = Mtl.asview(array)

    assert view.get_address() == array.ctypes.data
    assert view.is_read_only() and view.get_buffer().is_read_only()


def is_registered(name):
    """NumPy 2.5 and later exports its own arrays then."""
    try:
        np.zeros(2, getattr(ml_dtypes, name)).__dlpack__()
    except BufferError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_dlpack_is_refused_unless_registered(name):
    view = matrix(name, (2, 8))
    if name not in PACKED and is_registered(name):
        array = np.from_dlpack(view)
        assert array.ctypes.data == view.get_address() and array.dtype == np.dtype(view.dtype)
        return
    with pytest.raises((RuntimeError, BufferError), match="dtype|1.1"):
        np.from_dlpack(view)


def test_bfloat16_numbers():
    """Every number, read and written as ml_dtypes does."""
    bits = np.arange(2**16, dtype=np.uint16)
    numbers = bits.view(ml_dtypes.bfloat16)
    layout = Mtl.StridedLayout([2**16], itemsize=2)
    view = Mtl.StridedView.new(Mtl.asview(bits).get_buffer(), layout, Mtl.DType.BFLOAT16, 0)

    ours = np.asarray(view.to_dtype(Mtl.DType.FLOAT32))
    theirs = numbers.astype(np.float32)
    assert np.array_equal(ours, theirs, equal_nan=True)
    rounded = np.random.default_rng(1).normal(0, 1e3, 10_000).astype(np.float32)
    written = Mtl.asview(rounded).to_dtype(Mtl.DType.BFLOAT16)
    assert bytes(written.get_buffer()) == rounded.astype(ml_dtypes.bfloat16).tobytes()
    written[0] = ml_dtypes.bfloat16(2.5)
    assert written[0] == ml_dtypes.bfloat16(2.5)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""NumPy 2.5 and later passes through DLPack the element types that are registered with it, which
ml_dtypes may do itself. A process of its own registers them here, as this holds for all of it."""

import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import SEED, dtype_of
from conversions import SMALL, SUBBYTE, ml_dtypes
from random_arrays import array_in, draw_layout, draw_shape

register = getattr(getattr(np, "dtypes", None), "register_dlpack_dtype", None)
pytestmark = [
    pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes is among the pinned peers only"),
    pytest.mark.skipif(register is None, reason=f"NumPy {np.__version__} registers no types"),
]
NAMES = [name for name in ("bfloat16", "complex32", *SMALL)
         if name not in SUBBYTE and hasattr(ml_dtypes, name)]


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name))


def key_of(name):
    """DLPack's code, and the bits."""
    number = int(dtype_of(name))
    return number >> 8, number & 0xff


def register_all():
    for name in NAMES:
        register(key_of(name), numpy_type(name))


@pytest.fixture(scope="module")
def registered():
    """Calls a function in a process in which the types are registered."""
    with ProcessPoolExecutor(1, get_context("spawn"), register_all) as process:
        yield lambda function, *arguments: process.submit(function, *arguments).result()


class Recorded(np.ndarray):
    """An array that knows how it was asked to export itself."""

    def __dlpack__(self, **keywords):
        self.asked = keywords
        return super().__dlpack__(**keywords)


def draw_array(rng, name):
    """Draws an array of any bytes, and its layout."""
    shape, dtype = draw_shape(rng), numpy_type(name)
    layout = draw_layout(rng, shape, dtype.itemsize, False, False)
    memory = np.random.default_rng(rng.randrange(2**32)).integers(0, 256, layout.size, np.uint8)
    array = array_in(memory, dtype, shape, layout)
    array.flags.writeable = rng.random() < 0.8
    return array


def goes_backwards(array):
    """Then it goes out as a copy."""
    return any(stride < 0 for extent, stride in zip(array.shape, array.strides) if extent > 1)


def check_out(name, n_cases):
    rng = random.Random(f"{SEED} out {name}")
    for _ in range(n_cases):
        source = draw_array(rng, name)
        view = Mtl.asview(source)
        array = np.from_dlpack(view)
        assert array.dtype == numpy_type(name) and array.shape == source.shape
        assert array.tobytes() == source.tobytes()
        if goes_backwards(source):
            continue
        assert array.ctypes.data == source.ctypes.data
        assert array.flags.writeable == source.flags.writeable
        copy = np.from_dlpack(view, copy=True)
        assert copy.tobytes() == source.tobytes() and not np.shares_memory(copy, source)


def check_into(name, n_cases):
    rng = random.Random(f"{SEED} into {name}")
    for _ in range(n_cases):
        array = draw_array(rng, name)
        for take in (Mtl.asview, Mtl.from_dlpack):
            recorded = array.view(Recorded)
            view = take(recorded)
            assert recorded.asked  # it came through DLPack
            assert view.dtype == name and view.shape == array.shape
            assert view.is_read_only() != array.flags.writeable
            assert bytes(view) == array.tobytes()
            assert view.get_address() == array.ctypes.data


def check_there_and_back(name):
    view = Mtl.ones((3, 4), name, device="cpu")
    array = np.from_dlpack(view[:, 1:])
    array[2, 0] = 2
    assert view.tolist() == [[1, 1, 1, 1], [1, 1, 1, 1], [1, 2, 1, 1]]
    again = Mtl.from_dlpack(array)
    assert again.get_address() == view[:, 1:].get_address() and again.strides == (4, 1)
    address = again.get_address()
    del view, array
    assert again.get_address() == address and again.shape == (3, 3) and again[0, 0] == 1


def refusal_of_packed(name):
    """NumPy has a byte for each such element, and registers no type of fewer bits."""
    try:
        register(key_of(name), numpy_type(name))
    except ValueError:
        pass
    try:
        np.from_dlpack(Mtl.zeros(8, name, device="cpu"))
    except BufferError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", NAMES)
def test_views_become_arrays_in_place(name, cases, registered):
    registered(check_out, name, min(cases, 200))


@pytest.mark.parametrize("name", NAMES)
def test_arrays_become_views_through_dlpack(name, cases, registered):
    registered(check_into, name, min(cases, 200))


@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name, registered):
    registered(check_there_and_back, name)


@pytest.mark.parametrize("name", SUBBYTE)
def test_packed_elements_are_refused(name, registered):
    assert "1.1" in registered(refusal_of_packed, name)

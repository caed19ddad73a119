# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other consumers of views, which do not know this library: checks by addresses if each uses the
view's memory, makes a copy, or refuses. Each call is tried with a view in C order and a transposed
one, and has its line in the table."""

import array
import ctypes
import hashlib
import importlib.metadata
import io
import socket
import sqlite3
import warnings
import zlib

import numpy as np
import pytest
from gi.repository import Mtl

from client import COPIES, WORKS, Refuses

SECTION = "What else takes views"
READS = "reads"    # the right elements, which it does not keep
WRITES = "writes"  # into the view's memory

SHAPE = 6, 6
CALLS = []


def call(client, text, in_c_order=READS, transposed=None, dtype="float64"):
    """A function of a view of 6 × 6 elements that returns what shares its memory, if anything
    does, or None after it has checked what was read or written."""

    def add(function):
        expected = [in_c_order, in_c_order if transposed is None else transposed]
        CALLS.append(pytest.param(client, text, dtype, expected, function, id=f"{client}: {text}"))
        return function

    return add


def matrix(dtype):
    return (np.arange(36).reshape(SHAPE) % 7 + 1).astype(dtype)


def address_of(value):
    if isinstance(value, int):
        return value
    assert isinstance(value, np.ndarray)
    return value.ctypes.data


def outcome_of(function, view, expected):
    elements = view.tolist()
    if isinstance(expected, Refuses):
        with pytest.raises(expected.error, match=expected.match):
            function(view)
        assert view.tolist() == elements
        return expected
    result = function(view)
    if expected == WRITES:
        assert view.tolist() != elements
        return WRITES
    assert view.tolist() == elements
    if result is None:
        return READS
    if isinstance(result, np.ndarray):
        assert result.tolist() in (elements, np.array(elements).ravel().tolist())
    return WORKS if address_of(result) == view.get_address() else COPIES


NOT_IN_C_ORDER = Refuses(BufferError, r"\bC\b")
NOT_BYTES_LIKE = Refuses(TypeError, "must be read-write bytes-like object")


# Matplotlib


def axes():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    return Figure().subplots()


@call("Matplotlib", "`axes.imshow(view)`", COPIES)
def imshow(view):
    return np.asarray(axes().imshow(view).get_array())


@call("Matplotlib", "`axes.plot(view)`", COPIES)
def plot(view):
    lines = axes().plot(view)
    for line, column in zip(lines, view.T):
        assert line.get_ydata().tolist() == column.tolist()
    return np.asarray(lines[0].get_ydata(orig=True)).ctypes.data


@call("Matplotlib", "`axes.hist(view)`")
def hist(view):
    assert np.sum(axes().hist(view)[0]) == 36


@call("Matplotlib", "`axes.contourf(view)`")
def contourf(view):
    assert axes().contourf(view).zmax == view.max()


# pandas, xarray, dask


@call("pandas", "`DataFrame(view)`", COPIES)
def data_frame(view):
    import pandas

    return pandas.DataFrame(view).to_numpy()


@call("pandas", "`DataFrame(asarray(view), copy=False)`", WORKS)
def data_frame_of_array(view):
    import pandas

    return pandas.DataFrame(np.asarray(view), copy=False).to_numpy()


@call("pandas", "`Series(view[0])`", WORKS)
def series(view):
    import pandas

    result = pandas.Series(view[0]).to_numpy()
    assert result.tolist() == view[0].tolist()
    return result.ctypes.data  # the first row's address, which is also the view's


@call("xarray", "`DataArray(view)`", WORKS)
def data_array(view):
    import xarray

    result = xarray.DataArray(view)
    assert float(result.mean()) == view.mean()
    return result.data


@call("dask", "`from_array(view)`")
def dask_array(view):
    import dask.array

    result = dask.array.from_array(view, chunks=(3, 2))
    assert result.sum().compute() == view.sum()
    assert (result.T @ result).compute().tolist() == (view.T @ view).tolist()


# Numbers


@call("SciPy", "`linalg.inv(view)`")
def inverse(view):
    import scipy.linalg

    matrix = view + 10 * np.eye(6)
    assert scipy.linalg.inv(Mtl.asview(matrix)).tolist() == scipy.linalg.inv(matrix).tolist()


@call("SciPy", "`ndimage.gaussian_filter(view, 1)`")
def gaussian_filter(view):
    from scipy import ndimage

    expected = ndimage.gaussian_filter(np.array(view), 1)
    assert ndimage.gaussian_filter(view, 1).tolist() == expected.tolist()


@call("SciPy", "`ndimage.sobel(x, output=asarray(view))`", WRITES)
def sobel_into(view):
    from scipy import ndimage

    source = np.arange(36.0).reshape(SHAPE) ** 2
    ndimage.sobel(source, output=np.asarray(view))
    assert view.tolist() == ndimage.sobel(source).tolist()


@call("SciPy", "`sparse.csr_array(view)`", COPIES)
def sparse(view):
    import scipy.sparse

    return scipy.sparse.csr_array(view).toarray()


@call("SciPy", "`fft.fft2(view)`")
def fft(view):
    import scipy.fft

    assert scipy.fft.fft2(view).tolist() == scipy.fft.fft2(np.array(view)).tolist()


def doubling():
    import numba

    @numba.njit
    def double(values):
        for row in range(values.shape[0]):
            for column in range(values.shape[1]):
                values[row, column] *= 2

    return double


def numba_error():
    try:
        from numba.core.errors import TypingError
    except ImportError:
        return Exception
    return TypingError


@call("Numba", "`compiled(view)`", Refuses(numba_error(), "attribute 'shape'"))
def compiled(view):
    doubling()(view)


@call("Numba", "`compiled(asarray(view))`", WRITES)
def compiled_for_array(view):
    expected = (view * 2).tolist()
    doubling()(np.asarray(view))
    assert view.tolist() == expected


@call("NetworkX", "`from_numpy_array(view)`")
def graph(view):
    import networkx

    assert networkx.from_numpy_array(view).size("weight") \
        == networkx.from_numpy_array(np.array(view)).size("weight")


# Pictures


@call("scikit-image", "`filters.gaussian(view)`")
def blur(view):
    from skimage import filters

    assert filters.gaussian(view).tolist() == filters.gaussian(np.array(view)).tolist()


@call("scikit-image", "`transform.rescale(view, 2)`")
def rescale(view):
    from skimage import transform

    assert transform.rescale(view, 2).tolist() == transform.rescale(np.array(view), 2).tolist()


@call("scikit-image", "`util.img_as_float(view)`", WORKS)
def as_float(view):
    from skimage import util

    return util.img_as_float(view)


@call("Pillow", "`Image.frombuffer('L', size, view)`", WORKS, NOT_IN_C_ORDER, dtype="uint8")
def frombuffer(view):
    from PIL import Image

    picture = Image.frombuffer("L", SHAPE, view, "raw", "L", 0, 1)
    assert list(picture.tobytes()) == [value for row in view.tolist() for value in row]
    old = view[0, 0]
    view[0, 0] = 99
    is_shared = picture.getpixel((0, 0)) == 99
    view[0, 0] = old
    return view.get_address() if is_shared else np.array(view)


@call("Pillow", "`Image.fromarray(view)`", COPIES, dtype="uint8")
def fromarray(view):
    from PIL import Image

    return np.asarray(Image.fromarray(view))


class RefusesByOpencv(Refuses):
    """Refuses with an exception whose name says little without the module's."""

    def __init__(self, match):
        try:
            from cv2 import error
        except ImportError:
            error = Exception
        super().__init__(error, match)

    def __str__(self):
        return "refuses: cv2.error"


@call("OpenCV", "`GaussianBlur(view, …)`", RefusesByOpencv("src"), dtype="uint8")
def opencv(view):
    import cv2

    cv2.GaussianBlur(view, (3, 3), 0)


@call("OpenCV", "`GaussianBlur(asarray(view), …)`", dtype="uint8")
def opencv_reads(view):
    import cv2

    expected = cv2.GaussianBlur(np.array(view), (3, 3), 0)
    assert cv2.GaussianBlur(np.asarray(view), (3, 3), 0).tolist() == expected.tolist()


@call("OpenCV", "`rectangle(asarray(view), …)`", WRITES, RefusesByOpencv("Layout"),
      dtype="uint8")
def opencv_writes(view):
    import cv2

    cv2.rectangle(np.asarray(view), (1, 1), (3, 3), 200, -1)
    assert (view == 200).sum() == 9


@call("imageio", "`imwrite(…, view)`", dtype="uint8")
def imwrite(view):
    from imageio import v3

    picture = v3.imwrite("<bytes>", view, extension=".png")
    assert v3.imread(picture, extension=".png").tolist() == view.tolist()


# Files and the standard library


@call("h5py", "`create_dataset(name, data=view)`", COPIES)
def dataset(view):
    import h5py

    with h5py.File("any", "w", driver="core", backing_store=False) as file:
        return file.create_dataset("x", data=view)[...]


@call("h5py", "`dataset[...] = view`", COPIES)
def dataset_assign(view):
    import h5py

    with h5py.File("any", "w", driver="core", backing_store=False) as file:
        stored = file.create_dataset("x", SHAPE)
        stored[...] = view
        return stored[...]


@call("h5py", "`dataset.read_direct(asarray(view))`", WRITES,
      Refuses(TypeError, "C-contiguous"))
def read_direct(view):
    import h5py

    with h5py.File("any", "w", driver="core", backing_store=False) as file:
        file.create_dataset("x", data=np.full(SHAPE, 8.0)).read_direct(np.asarray(view))
    assert view.tolist() == np.full(SHAPE, 8.0).tolist()


@call("cffi", "`ffi.from_buffer(view)`", WORKS, NOT_IN_C_ORDER)
def cffi_buffer(view):
    import cffi

    ffi = cffi.FFI()
    return int(ffi.cast("uintptr_t", ffi.from_buffer(view)))


@call("Python", "`memoryview(view)`", WORKS)
def memory(view):
    return np.asarray(memoryview(view))


@call("Python", "`ctypes.c_char.from_buffer(view)`", WORKS,
      Refuses(TypeError, "not C contiguous"))
def ctypes_buffer(view):
    return ctypes.addressof(ctypes.c_char.from_buffer(view))


@call("Python", "`array.array('d', view.ravel())`", COPIES)
def array_module(view):
    return np.asarray(array.array("d", view.ravel()))


@call("Python", "`hashlib.sha256(view)`", READS, NOT_IN_C_ORDER)
def hashes(view):
    assert hashlib.sha256(view).digest() == hashlib.sha256(view.tobytes()).digest()


@call("Python", "`zlib.compress(view)`", READS, NOT_IN_C_ORDER)
def compress(view):
    assert zlib.decompress(zlib.compress(view)) == view.tobytes()


@call("Python", "`socket.send(view)`", READS, NOT_IN_C_ORDER)
def send(view):
    one, other = socket.socketpair()
    with one, other:
        assert one.send(view) == view.nbytes and other.recv(1000) == view.tobytes()


@call("Python", "`socket.recv_into(view)`", WRITES, NOT_BYTES_LIKE)
def receive(view):
    one, other = socket.socketpair()
    with one, other:
        one.send(bytes(view.nbytes))
        assert other.recv_into(view) == view.nbytes
    assert view.tolist() == np.zeros(SHAPE).tolist()


@call("Python", "`file.readinto(view)`", WRITES, NOT_BYTES_LIKE)
def readinto(view):
    assert io.BytesIO(bytes(view.nbytes)).readinto(view) == view.nbytes


@call("Python", "`file.write(view)`", READS, NOT_IN_C_ORDER)
def write(view):
    file = io.BytesIO()
    assert file.write(view) == view.nbytes and file.getvalue() == view.tobytes()


@call("Python", "`bytes(view)`", COPIES)
def to_bytes(view):
    return np.frombuffer(bytes(view))


@call("Python", "`cursor.execute('insert …', [view])` of sqlite3", COPIES,
      NOT_IN_C_ORDER)
def sqlite(view):
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t (x blob)")
        database.execute("insert into t values (?)", [view])
        return np.frombuffer(database.execute("select x from t").fetchone()[0])


def version_of(client):
    name = {"OpenCV": "opencv-python-headless"}.get(client, client)
    return "" if client == "Python" else importlib.metadata.version(name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("client, text, dtype, expected, function", CALLS)
def test_consumer(client, text, dtype, expected, function, record_line):
    version = version_of(client)
    outcomes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for transposed, wanted in enumerate(expected):
            view = Mtl.asview(matrix(dtype))
            found = outcome_of(function, view.T if transposed else view, wanted)
            assert str(found) == str(wanted), "transposed" if transposed else "in C order"
            outcomes.append(found)
    record_line(client, version, SECTION, text, outcomes)

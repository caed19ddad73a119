# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every public attribute of NumPy's arrays, and of the array API's, is there or says what to use
instead, and the guide names those that are left out."""

import pathlib

import numpy as np
import pytest
from gi.overrides._mtl_numpy import _INSTEAD
from gi.repository import Mtl

from conftest import HOST
from says import says

GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"

# https://data-apis.org/array-api/latest/API_specification/array_object.html
ARRAY_API = """
dtype device mT ndim shape size T to_device
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__
__eq__ __float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__
__lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__
__setitem__ __sub__ __truediv__ __xor__
__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __ipow__ __imod__ __imatmul__ __iand__
__ior__ __ixor__ __ilshift__ __irshift__
__radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rpow__ __rmod__ __rmatmul__ __rand__
__ror__ __rxor__ __rlshift__ __rrshift__
""".split()

# Attributes for NumPy's subclasses, and those that types have rather than arrays.
OF_SUBCLASSES = {"__array_finalize__", "__array_prepare__", "__array_priority__",
                 "__array_wrap__", "__class_getitem__", "__setstate__", "__delitem__",
                 "__array_struct__"}
OF_THE_TYPE = {"__array_function__"}

PUBLIC = (name for name in dir(np.ndarray) if not name.startswith("_") or name.startswith("__"))
NAMES = sorted({*PUBLIC, *ARRAY_API})


LEFT_OUT = {"resize", "setflags"}


def kind_of(name):
    for kind, names in (("left out", LEFT_OUT), ("of subclasses", OF_SUBCLASSES),
                        ("of arrays", {"__array_namespace__"}), ("of the type", OF_THE_TYPE)):
        if name in names:
            return kind
    return "there"


@pytest.mark.parametrize("name", NAMES)
def test_each_attribute_is_known(name):
    view = Mtl.asview(np.arange(6.0).reshape(2, 3))
    kind = kind_of(name)

    if kind == "there":
        assert getattr(view, name) is not None or name in ("__doc__", "__hash__")
        assert hasattr(Mtl.StridedView, name) and name in dir(view)
    elif kind == "left out":
        with pytest.raises(AttributeError, match=says(name)):
            getattr(view, name)
        assert not hasattr(view, name)
    elif kind == "of the type":
        assert hasattr(Mtl.StridedView, name) and not hasattr(view, name)
    elif kind == "of arrays":
        assert not hasattr(view, name)


def test_the_guide_names_what_is_left_out():
    section = GUIDE.read_text().partition("## Other methods")[2].partition("\n## ")[0]
    for name in {*LEFT_OUT, *_INSTEAD}:
        assert f"`{name}`" in section, name


def matrix():
    return np.arange(12.0).reshape(3, 4)


def layouts():
    """Arrays in many layouts."""
    base = np.arange(120.0).reshape(4, 5, 6)
    yield from (base, base.T, base[::2], base[:, ::-1], base[..., ::3], base.swapaxes(0, 1),
                base[1], base[1, 2], base[1, 2, 3, ...], base[:0], base[:, :, :1],
                np.broadcast_to(base[0], (2, 5, 6)), base[::-1, :, ::-2].T)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_ravel_flatten_and_tobytes(order):
    for array in layouts():
        view = Mtl.asview(array)
        flat = view.ravel(order)
        assert flat.tolist() == view.flatten(order).tolist() == array.ravel(order).tolist()
        if order != "K":  # NumPy takes that for another one here
            assert view.tobytes(order) == array.tobytes(order)
        assert not view.flatten(order).overlaps(view)
        if np.shares_memory(array.ravel(order), array):
            assert flat.overlaps(view) or view.size == 0
        if flat.overlaps(view):
            assert flat.get_buffer() == view.get_buffer()
    with pytest.raises(ValueError, match="'X'"):
        view.ravel("X")


def test_random_layouts_in_the_order_of_memory(rng):
    memory = np.arange(4096, dtype="i2")
    for _ in range(2000):
        shape = rng.choices((0, 1, 1, 2, 3, 4), (1, 4, 4, 8, 8, 4), k=rng.randrange(6))
        strides = [rng.choice((0, 0, 1, -1, 2, 3, -4, 6, 12, 24, -24)) for _ in shape]
        array = np.lib.stride_tricks.as_strided(memory[2048:], shape, [2 * s for s in strides])
        view = Mtl.asview(array)
        expected = array.ravel("K").tolist()
        assert view.ravel("K").tolist() == view.flatten("K").tolist() == expected, (shape, strides)


def test_ravel_is_the_same_memory_if_it_can_be():
    view = Mtl.asview(matrix())

    assert view.ravel().get_address() == view.get_address()
    assert view.T.ravel("F").get_address() == view.get_address()
    assert view[:, ::4].ravel().overlaps(view) and not view[:, ::3].ravel().overlaps(view)


def test_flatten_with_axes_merges_them():
    view = Mtl.asview(np.arange(24).reshape(2, 3, 4))

    assert view.flatten(1, 2).shape == (2, 12) and view.flatten(0, 1).overlaps(view)
    assert view.flatten().shape == (24,) and not view.flatten().overlaps(view)
    with pytest.raises(IndexError):
        view.flatten(0, 3)
    with pytest.raises(TypeError):
        view.flatten(1, 2, 3)


def test_axes():
    view = Mtl.asview(np.arange(24).reshape(2, 1, 3, 4))

    assert view.mT.shape == (2, 1, 4, 3) and view.mT.overlaps(view)
    assert view.swapaxes(0, 3).strides == (1, 12, 4, 12) and view.squeeze(axis=1).shape == (2, 3, 4)
    assert view.squeeze(axis=None).shape == (2, 3, 4)
    with pytest.raises(ValueError, match=says(2, 1)):
        view[0, 0, 0].mT
    with pytest.raises(ValueError):
        view.squeeze(axis=0)
    with pytest.raises(TypeError):
        view.squeeze(axe=1)


def test_reshape_with_names():
    view = Mtl.asview(matrix())

    assert view.reshape(2, 6, copy=False).overlaps(view)
    assert not view.reshape(2, 6, copy=True).overlaps(view)
    assert view.T.reshape(12, copy=True).tolist() == matrix().T.ravel().tolist()
    assert view.T.reshape(2, 6, order="F").tolist() == matrix().T.reshape(2, 6, order="F").tolist()
    assert view.reshape(np.array([6, 2]), order="C").shape == (6, 2)
    for keywords in ({}, {"copy": False}, {"copy": None}):
        with pytest.raises(ValueError, match="copy=True") as info:
            view.T.reshape(12, **keywords)
        assert info.value.__cause__.matches(Mtl.error_quark(), Mtl.Error.NEEDS_COPY)
    with pytest.raises(ValueError, match="'K'"):
        view.reshape(12, order="K")
    with pytest.raises(TypeError):
        view.reshape(12, shape=3)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_of_complex_numbers(dtype):
    base = (np.arange(24) + 1j * np.arange(24, 48)).astype(dtype).reshape(4, 6)
    for array in (base, base.T, base[::-1, ::2], base[2], base[2, 3, ...], base[:0]):
        view = Mtl.asview(array)
        for part, expected in ((view.real, array.real), (view.imag, array.imag)):
            assert part.dtype.name == expected.dtype.name
            assert part.tolist() == expected.tolist()
            if array.size:
                assert part.get_address() == expected.ctypes.data
    view.real = 5
    view = Mtl.asview(base)
    view.imag = 7
    view.real[0] = 1
    assert (base.imag == 7).all() and (base[0] == 1 + 7j).all()
    assert view.as_read_only().real.is_read_only()


def test_parts_of_half_complex_numbers():
    view = Mtl.StridedView.new_zeros(HOST, Mtl.DType.COMPLEX32, (2,))
    view[1] = 1.5 - 2j

    assert view.real.dtype == Mtl.DType.FLOAT16 and view.imag.tolist() == [0, -2]


def test_parts_of_real_numbers():
    view = Mtl.asview(matrix())

    assert view.real is view and view.imag.tolist() == matrix().imag.tolist()
    with pytest.raises(ValueError, match="read-only"):
        view.imag[0] = 1
    with pytest.raises(TypeError, match="float64"):
        view.imag = 1
    view.real = 3
    assert view.tolist() == np.full((3, 4), 3.0).tolist()


def test_flags_are_numpys():
    flags = ("c_contiguous", "f_contiguous", "contiguous", "fortran", "forc", "fnc", "aligned",
             "writeable", "behaved", "carray", "farray")
    for array in layouts():
        view = Mtl.asview(array)
        for name in flags:
            assert getattr(view.flags, name) == getattr(np.asarray(view).flags, name)
        assert view.flags["C"] == array.flags["C"]
    view = Mtl.asview(matrix())
    assert view.flags == view[...].flags != view.T.flags and view.flags != 3
    assert view.flags.behaved and view.flags.carray and not view.as_read_only().flags.behaved
    with pytest.raises(AttributeError):
        view.flags.writeable = False
    with pytest.raises(TypeError):
        view.flags["WRITEABLE"] = False
    with pytest.raises(KeyError):
        view.flags["NONSENSE"]
    with pytest.raises(AttributeError):
        view.flags.nonsense
    assert repr(view.flags) == repr(np.asarray(view).flags)


def test_alignment():
    raw = np.zeros(33, np.uint8)[1:]
    for dtype in ("float32", "complex128", "uint8"):
        array = raw[:32].view(dtype)
        assert Mtl.asview(array).flags.aligned == array.flags.aligned


def test_device_and_memory():
    view = Mtl.asview(matrix())

    assert view.device is view.get_device() is HOST
    assert view.data == memoryview(view) and view.ctypes.data == view.get_address()
    assert view.view().equal(view) and view.view("uint64").dtype == Mtl.DType.UINT64
    assert view.view(np.float32).shape == (3, 8) and view.view(Mtl.DType.INT64).overlaps(view)
    view.flat[1] = 9
    view[1:].flat = 2
    assert view[0, 1] == 9 and view[1:].tolist() == [[2] * 4] * 2
    with pytest.raises(ValueError, match="read-only"):
        view.as_read_only().flat = 2


@pytest.mark.parametrize("name, value, advice", [
    ("shape", (4, 3), "reshape"), ("strides", (1, 3), "new"), ("dtype", "int64", "reinterpret"),
])
def test_what_cannot_be_set_says_what_to_use(name, value, advice):
    view = Mtl.asview(matrix())

    with pytest.raises(AttributeError, match=advice):
        setattr(view, name, value)
    with pytest.raises(AttributeError, match=advice):
        delattr(view, name)
    assert view.shape == (3, 4)


def test_one_index_counts_all_elements():
    array = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
    view = Mtl.asview(array)

    assert [view.item(n) for n in range(-24, 24)] == [array.item(n) for n in range(-24, 24)]
    for index in (24, -25, 2**63 - 1):
        with pytest.raises(IndexError, match=says(index, 24)):
            view.item(index)
    with pytest.raises(IndexError):
        Mtl.asview(np.zeros((0, 3))).item(0)

    scalar = Mtl.asview(np.array(2.5))
    assert scalar.item(0) == scalar.item(-1) == scalar.item() == 2.5
    with pytest.raises(IndexError, match=says(1)):
        scalar.item(1)


def test_round_and_format():
    view = Mtl.asview([1.26, 2.5])

    assert round(view, 1).tolist() == [1.3, 2.5] and round(view).tolist() == [1, 2]
    assert f"{Mtl.asview(2.5)}" == "2.5" and f"{Mtl.asview(2.5):6.2f}" == "  2.50"
    single = Mtl.asview(np.array(0.1, np.float32))
    assert f"{single}" == str(single) == "0.1"  # without the digits of a double
    assert f"{view}" == str(view) and f"{Mtl.asview(1 + 2j):.1f}" == "1.0+2.0j"
    with pytest.raises(TypeError, match=says("(2,)")):
        f"{view:.2f}"

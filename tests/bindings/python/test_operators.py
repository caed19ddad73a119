# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operators, ufuncs and functions of NumPy's: on which memory they work, what they refuse, and what
they say without NumPy. test_habits.py compares their results."""

import operator
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import HOST
from dlpack_structs import Producer
from says import says

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
          operator.mod, operator.pow, divmod, operator.lshift, operator.rshift, operator.and_,
          operator.or_, operator.xor, operator.eq, operator.ne, operator.lt, operator.le,
          operator.gt, operator.ge, operator.matmul]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv,
            operator.imod, operator.ipow, operator.ilshift, operator.irshift, operator.iand,
            operator.ior, operator.ixor]
TYPES = ["bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex64"]


def values_of(name):
    return np.array([[1, 2, 3], [4, 5, 1], [2, 2, 6]]).astype(name)


def outcome(function, *args):
    with np.errstate(all="ignore"):
        try:
            result = function(*args)
        except TypeError:  # NumPy's are derived from it
            return TypeError
    if isinstance(result, tuple):
        return [(type(part), part.dtype, part.tolist()) for part in result]
    return type(result), result.dtype, result.tolist()


@pytest.mark.parametrize("function", BINARY, ids=lambda function: function.__name__)
@pytest.mark.filterwarnings("ignore")
def test_pairs_of_types(function):
    for one in TYPES:
        for other in TYPES:
            arrays = values_of(one), values_of(other)
            views = [Mtl.asview(array) for array in arrays]
            expected = outcome(function, *arrays)
            for pair in (views, (views[0], arrays[1]), (arrays[0], views[1])):
                assert outcome(function, *pair) == expected, (one, other)


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
@pytest.mark.filterwarnings("ignore")
def test_in_place(function):
    for one in TYPES:
        for other in (2, values_of("int8"), values_of(one)[0]):
            expected, array = values_of(one), values_of(one)
            view = Mtl.asview(array)
            if outcome(function, expected, other) is TypeError:
                with pytest.raises(TypeError):
                    function(view, other)
            else:
                other = Mtl.asview(other) if isinstance(other, np.ndarray) else other
                assert function(view, other) is view
            assert array.tolist() == expected.tolist()


def test_a_part_is_written_in_place():
    array = np.arange(12.0).reshape(3, 4)
    view = Mtl.asview(array)
    column = view[:, 1]
    column += 100
    view[0] *= 2
    view.T[2] -= 1

    assert array.tolist() == [[0, 202, 3, 6], [4, 105, 5, 7], [8, 109, 9, 11]]
    assert isinstance(column, Mtl.StridedView)


def test_out_is_the_view():
    view, other = Mtl.asview(np.arange(4.0)), Mtl.asview(np.zeros(4))

    assert np.sin(view, out=other) is other and np.sin(view, other) is other
    assert np.add(view, 1, out=(view,)) is view
    results = np.divmod(view, 2, out=(other, None))
    assert results[0] is other and isinstance(results[1], np.ndarray)
    assert np.cumsum(view, out=other) is other and np.clip(view, 0, 1, other) is other
    assert view.cumsum(0, None, other) is other and np.add.accumulate(view, out=other) is other
    total = Mtl.asview(np.zeros(()))
    assert np.sum(view, out=total) is total and total[()] == 10
    assert isinstance(np.atleast_1d(view), np.ndarray) and isinstance(np.real(view), np.ndarray)


def test_results_share_no_memory_but_parts_do():
    view = Mtl.asview(np.arange(4.0))

    assert not np.shares_memory(view + 0, view)
    assert np.shares_memory(np.squeeze(view), view)
    assert np.shares_memory(view.reshape(2, 2).diagonal(), view)


WRITERS = [
    lambda view: operator.iadd(view, 1),
    lambda view: operator.imul(view, view),
    lambda view: np.add(view, 1, out=view),
    lambda view: np.add(view, 1, view),
    lambda view: np.add.at(view, [0], 1),
    lambda view: np.copyto(view, 1),
    lambda view: np.put(view, [0], 1),
    lambda view: np.place(view, np.ones(view.shape, bool), [1]),
    lambda view: np.putmask(view, np.ones(view.shape, bool), [1]),
    lambda view: np.cumsum(view, out=view),
    lambda view: np.sum(view, 0, None, view[:1].reshape()),
    lambda view: view.sort(),
    lambda view: view.put([0], 1),
    lambda view: view.clip(0, 1, out=view),
    lambda view: setattr(view, "flat", 1),
]


@pytest.mark.parametrize("write", WRITERS)
def test_read_only_views_are_not_written(write):
    array = np.array([3.0])
    view = Mtl.asview(array).as_read_only()

    with pytest.raises(ValueError, match="read-only"):
        write(view)
    assert array[0] == 3
    assert (view + 1).tolist() == [4] and view.sum() == 3


@pytest.mark.parametrize("key", [[0], [True], ([0],), True, np.array([0])])
def test_read_only_views_are_not_written_by_index(key):
    view = Mtl.asview(np.array([3.0])).as_read_only()

    with pytest.raises(ValueError, match=says("(1,)")):
        view[key] = 1
    assert view[key].tolist() in ([3], [[3]]) and not view[key].is_read_only()


@pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes is needed for packed types")
@pytest.mark.parametrize("write", WRITERS)
def test_packed_types_are_read_by_numpy_only(write):
    view = Mtl.asview([3.0]).astype("float4_e2m1fn")

    assert (view + view).tolist() == [6] and (view == 3).tolist() == [True]
    with pytest.raises(ValueError, match="float4_e2m1fn"):
        write(view)
    view[...] = view + view
    assert view.tolist() == [6]


@pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes is needed")
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_of_ml_dtypes(name):
    view = Mtl.asview([0.5, 1.5, 3.0]).astype(name)

    assert (view + 1).dtype.name == name and (view + 1).tolist() == [1.5, 2.5, 4]
    view += 1
    assert view.tolist() == [1.5, 2.5, 4] and (view > 2).tolist() == [False, True, True]
    assert np.maximum(view, 2, out=view) is view and view.tolist() == [2, 2.5, 4]


def test_without_ml_dtypes_they_say_so():
    if ml_dtypes is not None:
        pytest.skip("ml_dtypes is installed")
    with pytest.raises(ModuleNotFoundError, match="ml_dtypes"):
        Mtl.asview([0.5]).astype("bfloat16") + 1


USES = [lambda view: view + 1, lambda view: 1 - view, lambda view: -view,
        lambda view: operator.iadd(view, 1), lambda view: view < 1, lambda view: view == 1,
        lambda view: np.sin(view), lambda view: np.copyto(view, 1), lambda view: np.sum(view),
        lambda view: view.sum(), lambda view: view[[0]], lambda view: view[view],
        lambda view: operator.setitem(view, [0], 1), lambda view: view.ctypes]


@pytest.mark.parametrize("use", USES)
def test_memory_that_the_host_does_not_reach(use):
    view = Mtl.from_dlpack(Producer(0xdead0000, (2,), device=(2, 0)))

    with pytest.raises(BufferError, match=says("“Foreign device (2, 0)”")):
        use(view)


def test_shapes_need_no_elements():
    view = Mtl.from_dlpack(Producer(0xdead0000, (2, 3), device=(2, 0)))

    assert np.shape(view) == (2, 3) and np.ndim(view) == 2
    assert view.mT.shape == (3, 2) and view.ravel().shape == (6,)
    assert view.flags is not None and view.device.get_name() == "Foreign device (2, 0)"
    assert (view == None) is False and (view != "text") is True  # noqa: E711
    assert view in [view] and [None, view].index(view) == 1


def test_views_are_no_arrays_to_those_who_ask():
    """xarray, say, would keep a view that had all of NumPy's protocols, and then fail."""
    assert not hasattr(Mtl.asview([1]), "__array_function__")
    assert hasattr(Mtl.StridedView, "__array_function__")
    assert np.concatenate([Mtl.asview([1]), Mtl.asview([2])]).tolist() == [1, 2]


def test_other_classes_decide_as_with_arrays():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return type(other)

        def __add__(self, other):
            return type(other)

    view = Mtl.asview([1.0])
    assert view + Other() is np.ndarray and Other() + view is Mtl.StridedView

    class Overriding:
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return [type(value) for value in inputs]

    assert view + Overriding() == [np.ndarray, Overriding]
    assert Overriding.__array_ufunc__ and np.add(Overriding(), view) == [Overriding,
                                                                         Mtl.StridedView]
    masked = np.ma.masked_equal(np.array([1.0, 2.0]), 1)
    view = Mtl.asview([1.0, 2.0])
    assert (view + masked).tolist() == (masked + view).tolist() == [None, 4]


def test_bytes_are_still_appended_to():
    view = Mtl.asview(np.frombuffer(b"cd", np.uint8))
    text = bytearray(b"ab")
    text += view

    assert text == b"abcd" and b"ab" + view == b"abcd" and type(text) is bytearray


def test_numbers():
    assert operator.index(Mtl.asview(5)) == 5 and [1, 2, 3][Mtl.asview(1)] == 2
    assert complex(Mtl.asview([1 + 2j])) == 1 + 2j and complex(Mtl.asview(2)) == 2
    for value in (True, 1.0, [1], 1j):
        with pytest.raises(TypeError):
            operator.index(Mtl.asview(value))
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match=says(2)):
            convert(Mtl.asview([1, 2]))
    assert bytearray(Mtl.asview(np.array([1, 2], np.uint8))) == b"\1\2"


def test_equality_is_by_element():
    view = Mtl.asview([1, 2, 3])

    assert (view == [1, 5, 3]).tolist() == [True, False, True]
    assert (view != view[...]).tolist() == [False] * 3 and type(view == view) is np.ndarray
    with pytest.raises(ValueError, match=says("any()", "all()")):
        bool(view == view)
    assert view in [view] and view.equal(view[...]) and view.array_equal(view.copy())


WITHOUT_NUMPY = """
    import sys
    sys.modules["numpy"] = None
    import gi
    gi.require_version("Mtl", "1")
    from gi.repository import Mtl

    assert sys.modules["numpy"] is None
    view, other = Mtl.asview([[1, 2], [3, 4]]), Mtl.asview([[1, 2], [3, 4]])
    for use in ("view + 1", "1 + view", "-view", "abs(view)", "divmod(view, 2)", "view @ view",
                "view < 3", "view == 3", "view == other", "view != other", "view == [1, 2]",
                "round(view)", "view[[0]]", "view[view]", "view[True]", "view.flat",
                "view.flags.c_contiguous", "view.__iadd__(1)", "view.__setitem__([0], 1)"):
        try:
            eval(use)
        except ModuleNotFoundError as error:
            assert error.name == "numpy"
        else:
            raise AssertionError(use)
    for use in ("view.sum()", "view.max(axis=0)", "view.ctypes", "view.nonzero()", "view.nothing"):
        try:
            eval(use)
        except AttributeError as error:
            assert error.__cause__.name == "numpy"
        else:
            raise AssertionError(use)
    assert not hasattr(view, "sum") and "sum" not in dir(view) and "shape" in dir(view)
    assert (view == None) is False and (view != "text") is True
    assert view in [view] and view in [None, view] and {view: 1}[view] == 1
    assert view[0, 1] == 2 and view.T.tolist() == [[1, 3], [2, 4]] and 3 in view
    assert view.ravel().tolist() == view.flatten().tolist() == [1, 2, 3, 4]
    assert view.mT.tolist() == view.swapaxes(0, 1).tolist() and view.real is view
    assert view.is_contiguous("C") and len(view.tobytes()) == 32 and view.data.nbytes == 32
    assert view.squeeze(axis=None).shape == (2, 2) and view.reshape(4, copy=True).size == 4
    assert view.item(2) == 3 and f"{view[0, 0]:03d}" == "001" and complex(view[:1, :1]) == 1
    assert int(view[0, 0, ...]) == 1 and [5, 6][view[0, 0, ...]] == 6
    view[1] = 7
    assert view.tolist() == [[1, 2], [7, 7]]
"""


def run(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=60, env=os.environ)


def test_without_numpy():
    done = run(WITHOUT_NUMPY)
    assert done.returncode == 0, done.stderr


def test_numpy_is_imported_when_it_is_needed():
    done = run("""
        import sys, gi
        gi.require_version("Mtl", "1")
        from gi.repository import Mtl
        view = Mtl.asview([[1, 2], [3, 4]])
        view.T.ravel(), view.flags, view.real, view.item(2), view[:, 0], hash(view)
        view[0] = 5
        repr(view), str(view), view.tolist(), 5 in view
        print("numpy" in sys.modules, "gi.overrides._mtl_index" in sys.modules)
        view + 1
        print("numpy" in sys.modules)
    """)
    assert done.stdout.split() == ["False", "False", "True"], done.stderr


def test_pytorch_wins():
    torch = pytest.importorskip("torch")
    array = np.array([1.0, 2.0, 3.0])
    view, tensor = Mtl.asview(array), torch.tensor([4.0, 5.0, 6.0], dtype=torch.float64)

    for result in (view + tensor, tensor + view, view * tensor, tensor * view, view - tensor,
                   tensor - view, tensor / view, view ** tensor, view < tensor, tensor < view,
                   view == tensor, tensor == view, view @ tensor, tensor @ view):
        assert isinstance(result, torch.Tensor)
    assert (tensor - view).tolist() == [3, 3, 3] and (view - tensor).tolist() == [-3, -3, -3]
    assert (tensor < view).tolist() == [False] * 3 and (view < tensor).tolist() == [True] * 3
    view += tensor
    assert isinstance(view, Mtl.StridedView) and array.tolist() == [5, 7, 9]
    reverse = Mtl.asview(array)[::-1]
    reverse -= tensor
    assert array.tolist() == [-1, 2, 5]
    assert view[torch.tensor([2])].tolist() == [5] and view[tensor > 4].tolist() == [2, 5]
    view[torch.tensor([True, False, False])] = tensor[:1]
    assert view[0] == 4 and view[torch.tensor(1)] == 2
    lazy = torch.tensor([1 + 2j]).conj()
    total = Mtl.asview(np.zeros(1, np.complex64))
    total += lazy
    assert total.tolist() == [1 - 2j]


def test_jax_wins():
    jnp = pytest.importorskip("jax.numpy")
    view, array = Mtl.asview(np.array([1.0, 2.0], np.float32)), jnp.ones(2)

    for result in (view + array, array + view, view < array, array @ view):
        assert type(result) is type(array)


@pytest.mark.skipif(Mtl.Device.get_default() is HOST, reason="there is only the host's memory")
def test_memory_of_a_device_can_be_copied():
    device = Mtl.Device.get_default()
    view = Mtl.asview([1.0, 2.0]).to_device(device, Mtl.StorageMode.PRIVATE)

    with pytest.raises(BufferError, match=says("to_device(Mtl.Device.get_host(), Mtl.StorageMode.HOST)")):
        view + 1
    assert (view.to_device(HOST, Mtl.StorageMode.HOST) + 1).tolist() == [2, 3]

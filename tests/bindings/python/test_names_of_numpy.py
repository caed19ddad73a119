# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that views share with NumPy's arrays: when they exist, and where they write."""

import copy
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from gi.repository import Mtl

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# The class has these, whichever version of NumPy there is.
NAMES = sorted(name for name, found in vars(Mtl.StridedView).items()
               if (found.__doc__ or "").startswith(("Does the same as numpy.ndarray.",
                                                    "That of numpy.ndarray:")))

# Methods that write to an array, and the array afterwards.
WRITERS = {
    "sort": lambda x: x.sort(axis=0),
    "partition": lambda x: x.partition(1),
    "put": lambda x: x.put([0, 3], [70, 80]),
    "byteswap": lambda x: x.byteswap(inplace=True),
    "setfield": lambda x: x.setfield(9, x.dtype if isinstance(x, np.ndarray) else x.dtype.dtype),
    "itemset": lambda x: x.itemset((0, 1), 90),
    "fill": lambda x: x.fill(6),
    "flat": lambda x: setattr(x, "flat", [5, 4]),
    "flat[]": lambda x: x.flat.__setitem__(slice(1, 3), 8),
    "ctypes": lambda x: x.ctypes.data_as(np.ctypeslib.ctypes.POINTER(
        np.ctypeslib.ctypes.c_int16)).__setitem__(0, 3),
    "real": lambda x: setattr(x, "real", 2),
    "data": lambda x: x.data.__setitem__((0, 0), 4),
}


def python(program):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=60, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_names():
    left_out = {"resize", "setflags"}
    own = {name for name in vars(Mtl.StridedView) if name not in NAMES}
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert public - left_out == (set(NAMES) | own & public) - left_out
    assert {"sum", "sort", "ctypes", "dump", "argmax"} <= set(NAMES)


@pytest.mark.parametrize("name", WRITERS)
def test_what_writes_writes_to_the_memory_of_the_view(name):
    write = WRITERS[name]
    if not hasattr(np.ndarray, name.removesuffix("[]")):
        pytest.skip(f"NumPy {np.__version__} has no such thing")
    for part in (np.s_[:], np.s_[::-1], np.s_[:, ::2], np.s_[1:, ::-2]):
        expected = np.random.default_rng(5).integers(0, 50, (3, 4), "i2")
        memory = expected.copy()
        view = Mtl.asview(memory)[part]
        write(expected[part])
        write(view)
        assert memory.tolist() == expected.tolist() and view.shape == expected[part].shape


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_is_not(name):
    if not hasattr(np.ndarray, name.removesuffix("[]")) or name == "ctypes":
        pytest.skip("ctypes has the address, and NumPy lets it write")
    memory = np.arange(12, dtype="i2").reshape(3, 4)
    with pytest.raises((ValueError, TypeError)):
        WRITERS[name](Mtl.asview(memory).as_read_only())
    assert memory.tolist() == np.arange(12).reshape(3, 4).tolist()


@pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes is needed for packed types")
@pytest.mark.parametrize("name", ["sort", "partition", "put", "setfield", "flat", "flat[]"])
def test_no_copy_of_packed_elements_is_written(name):
    view = Mtl.array([[3, 1], [2, 0]], "int4")
    with pytest.raises(ValueError):
        WRITERS[name](view)
    assert view.tolist() == [[3, 1], [2, 0]]


def test_what_would_change_another_array_is_refused():
    view = Mtl.asview(np.arange(6).reshape(2, 3))
    for change in (lambda: view.resize(3, 2), lambda: view.resize(6),
                   lambda: view.setflags(write=False),
                   lambda: setattr(view.flags, "writeable", False),
                   lambda: setattr(view, "shape", (6,)), lambda: setattr(view, "strides", (1, 2)),
                   lambda: setattr(view, "dtype", "u8")):
        with pytest.raises(AttributeError):
            change()
    assert view.shape == (2, 3) and view.flags.writeable and view.dtype == "int64"


def test_parts_are_parts_of_the_view():
    view = Mtl.asview(np.arange(6.0).reshape(2, 3))
    for part in (view.diagonal(), view.getfield("f8"), view.getfield("i4", 4), view.flat.base):
        assert np.shares_memory(part, view)
    assert not np.shares_memory(view.repeat(2), view)


def test_out_is_the_view():
    view, out = Mtl.asview(np.arange(6.0).reshape(2, 3)), Mtl.zeros(3, "f8")
    assert view.sum(0, out=out) is out and out.tolist() == [3, 5, 7]
    assert view.cumsum(0, None, view) is view and view.tolist() == [[0, 1, 2], [3, 5, 7]]
    with pytest.raises(ValueError, match="read-only"):
        view.sum(0, out=out.as_read_only())


def test_nothing_else_is_caught():
    view = Mtl.asview([[1, 2]])
    for name in ("nothing", "_nothing", "__nothing__", "__array_struct__", "__array_namespace__",
                 "__cuda_array_interface__", "_repr_html_", "__array_priority__"):
        assert not hasattr(view, name) and name not in dir(view)
        with pytest.raises(AttributeError, match=name):
            getattr(view, name)
    assert [name for name in dir(view) if not hasattr(view, name)] == []
    assert pickle.loads(pickle.dumps(view)).tolist() == copy.copy(view).tolist() == [[1, 2]]
    assert copy.deepcopy(view).tolist() == [[1, 2]]
    assert list(inspect.signature(view.sum).parameters) == ["args", "keywords"]
    assert "numpy.ndarray.sum()" in pydoc.plain(pydoc.render_doc(Mtl.StridedView.sum))
    assert Mtl.StridedView.sum(view) == 3 and list(map(Mtl.StridedView.max, [view])) == [2]


def test_no_probe_imports_numpy():
    assert python("""
        import copy, gi, inspect, pickle, pydoc, sys
        gi.require_version("Mtl", "1")
        from gi.repository import Mtl
        view = Mtl.asview([[1, 2]])
        for name in ("__nothing__", "_repr_html_", "__array_struct__", "__cuda_array_interface__",
                     "__array_namespace__", "__torch_function__", "__array_function__"):
            assert not hasattr(view, name)
        pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view), repr(view)
        pydoc.render_doc(Mtl.StridedView), inspect.getmembers(Mtl.StridedView), view.flags
        inspect.signature(view.reshape), isinstance(view, str), memoryview(view), str(view)
        print("numpy" in sys.modules)
        print(hasattr(view, "no_such_name"), hasattr(view, "sum"), "numpy" in sys.modules)
        print("__getattr__" in vars(Mtl.StridedView), view.sum())
    """) == ["False", "False", "True", "True", "False", "3"]


@pytest.mark.parametrize("first", ["import numpy", "", "dir(view)", "view.sum", "view + 1",
                                   "view[[0]]", "import numpy; Mtl.asview(numpy.ones(3))",
                                   "import numpy; numpy.asarray(view)",
                                   "import numpy; numpy.from_dlpack(view)",
                                   "import numpy; Mtl.from_dlpack(numpy.ones(3))",
                                   "import numpy; memoryview(view.get_buffer())"])
def test_the_class_does_without_getattr_once_numpy_is_there(first):
    """Methods then take no longer than without it."""
    before, after = (first, "") if first == "import numpy" else ("", first)
    assert python(f"""
        import gi
        gi.require_version("Mtl", "1")
        {before}
        from gi.repository import Mtl
        view = Mtl.asview([[1, 2]])
        {after}
        print("__getattr__" in vars(Mtl.StridedView), Mtl.StridedView is type(view))
    """) == [str(not first), "True"]


def test_what_a_later_numpy_adds_is_there():
    assert python("""
        import gi, numpy
        gi.require_version("Mtl", "1")
        class Later(numpy.ndarray):
            mass = property(lambda self: 5)
            def weigh(self, by, *, out=None):
                return numpy.multiply(self, by, out=out)
        numpy.ndarray = Later
        from gi.repository import Mtl
        view = Mtl.asview([[1, 2]])
        numpy.asarray = lambda x, *rest: numpy.array(x, *rest, copy=False).view(Later)
        print(view.weigh(2).sum(), view.weigh(3, out=view) is view, view[0, 1], view.mass)
    """) == ["6", "True", "6", "5"]


def test_threads_that_ask_first():
    assert python("""
        import gi, threading
        gi.require_version("Mtl", "1")
        from gi.repository import Mtl
        view, told, barrier = Mtl.asview([[1, 2]]), [], threading.Barrier(8)
        def ask():
            barrier.wait()
            told.append((view.sum(), view.max(), hasattr(view, "nothing")))
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(told), set(told) == {(3, 2, False)})
    """) == ["8", "True"]

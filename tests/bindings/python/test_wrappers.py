# SPDX-License-Identifier: LGPL-2.1-or-later
"""The life of the Python objects of views and layouts, which end in another way than
PyGObject's others."""

import contextlib
import gc
import sys
import threading
import weakref

import pytest
from gi.repository import Gio, GObject, Mtl

from conftest import iota
from dlpack_structs import Producer, floats

Layout = Mtl.StridedLayout
View = Mtl.StridedView


@pytest.fixture
def view():
    return iota(6, 5, 4)


@pytest.fixture
def layout():
    return Layout((6, 5, 4), itemsize=4)


@pytest.fixture(params=["view", "layout"])
def whole(request):
    """The tests that are the same for both."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def references(whole):
    """Checks references to the class: each of its objects holds one. PyGObject itself leaves one
    behind for each object that it makes."""
    cls = type(whole)
    gc.collect()
    before = sys.getrefcount(cls)
    yield
    gc.collect()
    assert sys.getrefcount(cls) == before


def test_objects_that_come_and_go(whole, references):
    for _ in range(1000):
        parts = [whole[1], whole.T, whole[..., ::2], whole.reshape(-1)]
        assert [part.shape for part in parts] == [(5, 4), (4, 5, 6), (6, 5, 2), (120,)]
        del parts[1], parts
    assert whole.shape == (6, 5, 4) and whole.strides == (20, 4, 1)


def test_an_object_that_served_before_is_as_new(view):
    read_only = view.as_read_only()
    part = read_only[1:]
    part.name = "part"
    assert part.is_read_only() and part.shape == (5, 5, 4)
    del part
    for _ in range(8):
        assert read_only[:3].is_read_only()
        part = view[:2]
        assert not part.is_read_only() and not hasattr(part, "name") and part.shape == (2, 5, 4)


def test_a_layout_that_served_before_is_as_new(layout):
    part = layout[1:, 0].repack(8)
    part.name = "part"
    del part
    many = Layout([1] * 64, itemsize=2)[0]
    assert many.ndim == 63
    del many
    for _ in range(8):
        part = layout[:2]
        assert not hasattr(part, "name")
        assert (part.shape, part.strides, part.itemsize) == ((2, 5, 4), (20, 4, 1), 4)
        assert part.get_offset() == 0 and part == Layout((2, 5, 4), itemsize=4)


def test_attributes_last_as_long_as_the_object(whole):
    store = Gio.ListStore.new(type(whole))
    part = whole[1:]
    part.name = "part"
    store.append(part)

    del part
    gc.collect()
    assert store[0].name == "part"
    store.remove_all()


def test_an_object_that_c_holds_comes_back(whole):
    store = Gio.ListStore.new(type(whole))
    store.append(whole[1:])
    others = [whole[:1] for _ in range(10)]

    gc.collect()
    assert store[0].equal(whole[1:]) and all(other.equal(whole[:1]) for other in others)
    assert store[0] is not whole[1:]
    store.remove_all()


def test_weak_references(whole, references):
    part = whole[1:]
    called = []
    reference = weakref.ref(part, called.append)
    part.weak_ref(called.append, "of GObject")

    del part
    assert reference() is None and called == [reference, "of GObject"]


def test_weak_references_of_gobject_alone(whole, references):
    called = []
    part = whole[1:]
    part.weak_ref(called.append, "ended")
    del part
    others = [whole[1:] for _ in range(10)]
    assert called == ["ended"] and len(others) == 10


def test_cycles_are_collected(whole, references):
    part = whole[1:]
    part.itself = part
    reference = weakref.ref(part)

    del part
    gc.collect()
    assert reference() is None


def test_handlers_of_signals_end_with_the_object(whole):
    class Handler:
        def __call__(self, *unused):
            raise AssertionError("nothing notifies")

    part = whole[1:]
    handler = Handler()
    reference = weakref.ref(handler)
    part.connect("notify", handler)
    del part, handler
    gc.collect()
    assert reference() is None


def test_a_finalizer_on_the_class(whole, references):
    ended = []
    cls = type(whole)
    cls.__del__ = lambda self: ended.append(self.shape)
    try:
        whole[1:]
        assert ended == [(5, 5, 4)]
    finally:
        del cls.__del__


def test_new_without_init():
    for _ in range(10):
        bare = View.__new__(View)
        assert bare.shape == (0,) and bare.ndim == 1 and bytes(bare) == b""
        with pytest.raises(IndexError):
            bare[0]
        assert bare.__dlpack_device__() == (1, 0) and Mtl.from_dlpack(bare).size == 0


@pytest.mark.parametrize("cls", [View, Layout])
def test_classes_cannot_be_derived_from(cls):
    with pytest.warns(Warning), pytest.raises(RuntimeError):
        type("Derived", (cls,), {})


def test_gobjects_own_constructor():
    for _ in range(10):
        assert GObject.new(View).shape == (0,)


@pytest.mark.parametrize("cls, other", [(View, Layout), (Layout, View)])
def test_an_object_in_the_class_of_another(whole, cls, other):
    for _ in range(10):
        part = whole[1:]
        part.__class__ = other if type(part) is cls else cls
        assert part.shape == ((0,) if type(part) is View else ())


def test_long_chains():
    memory = bytearray(4)
    view = Mtl.asview(memory)
    for _ in range(5000):
        view = Mtl.asview(memoryview(view))
    del view
    for _ in range(10**6):  # each ends with the one around it, between two steps of Python's
        with contextlib.suppress(BufferError):
            memory.append(1)
            return
    pytest.fail("somebody still holds the memory")


def test_a_pending_exception_survives_the_end_of_memory():
    producer = Producer(floats(1), (1,))
    view = Mtl.from_dlpack(producer)

    def run(owned):
        raise KeyError("pending")

    with pytest.raises(KeyError, match="pending"):
        run(owned=[view[:], view])
    del view
    gc.collect()
    assert producer.deleted == 1


def test_a_pending_exception_survives_what_is_attached(whole):
    called = []

    def part():
        result = whole[1:]
        result.weak_ref(lambda: called.append(len(called)))
        return result

    for n_calls in range(1, 5):
        with pytest.raises(TypeError, match="ord"):
            ord(part())  # which is given up while the exception is on its way
        assert called == list(range(n_calls))


def test_memory_ends_without_pythons_lock():
    """Its owner may wait for a thread that needs the lock."""
    done = threading.Event()

    class Waiting(Producer):
        def _delete(self, managed):
            thread = threading.Thread(target=done.set)
            thread.start()
            thread.join(10)
            super()._delete(managed)

    producer = Waiting(floats(1), (1,))
    Mtl.from_dlpack(producer)
    assert done.is_set() and producer.deleted == 1


def run_threads(work):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)


def test_views_in_threads(view):
    view = view[:, 0]
    before = sys.getrefcount(View)
    wrong = []

    def work():
        for i in range(3000):
            row = view[i % 6]
            if row.tolist() != [20 * (i % 6) + k for k in range(4)] or row.T.shape != (4,):
                wrong.append(row)

    run_threads(work)
    assert not wrong and sys.getrefcount(View) == before


def test_layouts_in_threads(layout):
    before = sys.getrefcount(Layout)
    wrong = []

    def work():
        for i in range(3000):
            row = layout[i % 6]
            if row.get_offset() != 20 * (i % 6) or row.T.strides != (1, 4):
                wrong.append(row)

    run_threads(work)
    assert not wrong and sys.getrefcount(Layout) == before

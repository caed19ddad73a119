# SPDX-License-Identifier: LGPL-2.1-or-later
"""The life of a view's Python object, which ends in another way than PyGObject's
others."""

import contextlib
import gc
import sys
import threading
import weakref

import pytest
from gi.repository import Gio, GObject, Mtl

from conftest import iota
from dlpack_structs import Producer, floats

View = Mtl.StridedView


@pytest.fixture
def view():
    return iota(6, 5, 4)


@pytest.fixture
def references(view):
    """Checks those to the class, of which each of its objects holds one. PyGObject
    itself leaves one behind for each object that it makes."""
    gc.collect()
    before = sys.getrefcount(View)
    yield
    gc.collect()
    assert sys.getrefcount(View) == before


def test_views_that_come_and_go(view, references):
    for _ in range(1000):
        parts = [view[1], view.T, view[..., ::2], view.reshape(-1)]
        assert [part.shape for part in parts] == [(5, 4), (4, 5, 6), (6, 5, 2), (120,)]
        del parts[1], parts
    assert view[5, 4, 3] == 119


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


def test_attributes_last_as_long_as_the_view():
    store = Gio.ListStore.new(View)
    part = iota(3)[1:]
    part.name = "part"
    store.append(part)
    identity = id(part)

    del part
    gc.collect()
    assert store[0].name == "part" and id(store[0]) == identity
    store.remove_all()


def test_a_view_that_c_holds_comes_back():
    store = Gio.ListStore.new(View)
    view = iota(3)
    store.append(view[1:])
    others = [view[:1] for _ in range(10)]

    gc.collect()
    assert store[0].tolist() == [1, 2] and [other.tolist() for other in others] == [[0]] * 10
    store.remove_all()


def test_weak_references(view, references):
    part = view[1:]
    called = []
    reference = weakref.ref(part, called.append)
    part.weak_ref(called.append, "of GObject")

    del part
    assert reference() is None and called == [reference, "of GObject"]


def test_cycles_are_collected(view, references):
    part = view[1:]
    part.itself = part
    reference = weakref.ref(part)

    del part
    gc.collect()
    assert reference() is None


def test_handlers_of_signals_end_with_the_view():
    class Handler:
        def __call__(self, *unused):
            raise AssertionError("nothing notifies")

    part = iota(3)[1:]
    handler = Handler()
    reference = weakref.ref(handler)
    part.connect("notify", handler)
    del part, handler
    gc.collect()
    assert reference() is None


def test_a_finalizer_on_the_class(view, references):
    ended = []
    View.__del__ = lambda self: ended.append(self.shape)
    try:
        view[1:]
        assert ended == [(5, 5, 4)]
    finally:
        del View.__del__


def test_new_without_init():
    for _ in range(10):
        bare = View.__new__(View)
        assert bare.shape == (0,) and bare.ndim == 1 and bytes(bare) == b""
        with pytest.raises(IndexError):
            bare[0]
        assert bare.__dlpack_device__() == (1, 0) and Mtl.from_dlpack(bare).size == 0


def test_views_cannot_be_derived_from():
    with pytest.warns(Warning), pytest.raises(RuntimeError):
        type("Derived", (View,), {})


def test_gobjects_own_constructor():
    for _ in range(10):
        view = GObject.new(View)
        assert view.shape == (0,)


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


def test_threads(view, references):
    view = view[:, 0]
    wrong = []

    def work():
        for i in range(3000):
            row = view[i % 6]
            if row.tolist() != [20 * (i % 6) + k for k in range(4)] or row.T.shape != (4,):
                wrong.append(row)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not wrong

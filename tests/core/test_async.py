# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous calls: with callbacks in GLib's main loop, and awaited."""

import asyncio
import gc
import threading
import weakref

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import (HOST, cancelled, elements, error_code, is_cancelled, new_buffer, place, tensor,
                      zeros)
from says import says

SHAPE = (1500, 1000)
N_BYTES = 4 * 1500 * 1000


class Outcome:
    """The arguments that the callbacks of a call get, and the threads that they run in."""

    def __init__(self):
        self.loop = GLib.MainLoop()
        self.told, self.data, self.threads = [], None, set()

    def progress(self, done, total):
        self.told.append((done, total))
        self.threads.add(threading.current_thread())

    def ready(self, source, result, *data):
        self.source, self.result, self.data = source, result, data
        self.threads.add(threading.current_thread())
        self.loop.quit()

    def wait(self):
        self.loop.run()
        return self.source, self.result


def check_progress(told, total):
    """There is more each time."""
    assert told and told == sorted(set(told)) and told[-1] == (total, total)


@pytest.fixture
def source():
    numbers = np.arange(N_BYTES // 4, dtype=np.float32)
    return place(Mtl.asview(numbers.reshape(SHAPE))).T


def call_back(begin, finish):
    """A call with callbacks, as one that waits."""
    def call(self, *args, cancellable=None, progress=None):
        outcome = Outcome()
        begin(self, *args, cancellable, progress, outcome.ready)
        return finish(self, outcome.wait()[1])
    return call


def awaited(begin, finish):
    def call(self, *args, **keywords):
        async def main():
            return await begin(self, *args, **keywords)
        return asyncio.run(main())
    return call


class Calls:
    """Each asynchronous call in one of the ways to wait for it."""

    def __init__(self, wait):
        View = Mtl.StridedView
        self.fill = wait(View.fill_async, View.fill_finish)
        self.fill_double = wait(View.fill_double_async, View.fill_double_finish)
        self.copy_from = wait(View.copy_from_async, View.copy_from_finish)
        self.to_contiguous = wait(View.to_contiguous_async, View.to_contiguous_finish)
        self.to_dtype = wait(View.to_dtype_async, View.to_dtype_finish)
        self.to_device = wait(View.to_device_async, View.to_device_finish)


@pytest.fixture(params=[call_back, awaited])
def calls(request):
    return Calls(request.param)


@pytest.mark.any_memory
def test_results(calls, source):
    expected = np.arange(N_BYTES // 4, dtype=np.float32).reshape(SHAPE).T
    view = zeros("float32", source.shape)

    assert calls.copy_from(view, source) is True
    assert (elements(view) == expected).all()
    assert calls.fill_double(view, 7) is True
    assert (elements(view) == 7).all()
    assert calls.fill(view, 8) is True
    assert (elements(view) == 8).all()
    assert calls.fill(view, GLib.Bytes.new(np.float32(9).tobytes())) is True
    assert (elements(view) == 9).all()
    dense = calls.to_contiguous(source)
    assert dense.is_contiguous(Mtl.Order.C) and (elements(dense) == expected).all()
    wide = calls.to_dtype(source, Mtl.DType.FLOAT64, Mtl.Order.K)
    assert wide.dtype == Mtl.DType.FLOAT64 and (elements(wide) == expected).all()
    moved = calls.to_device(source, HOST, Mtl.StorageMode.HOST)
    assert moved.get_device() is HOST and (elements(moved) == expected).all()


@pytest.mark.any_memory
def test_results_of_buffers(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    file = Gio.File.new_for_path(str(path))
    buffer = new_buffer(4)

    async def main():
        assert await buffer.set_bytes_async(0, GLib.Bytes.new(b"\1\2\3")) is True
        assert await buffer.fill_async(2, 2, GLib.Bytes.new(b"\x09")) is True
        assert await buffer.synchronize_async() is True
        assert (await buffer.dup_bytes_async(1, 3)).get_data() == b"\2\x09\x09"
        copy = await buffer.copy_async()
        assert await copy.copy_from_async(0, buffer, 1, 2) is True
        assert bytes(copy) == b"\2\x09\x09\x09"
        assert bytes(await Mtl.Buffer.new_mapped_async(file, None, 1, 2)) == b"bc"
        for work in (Mtl.Buffer.new_mapped_async(file, None, 1, 3), buffer.dup_bytes_async(2, 3)):
            with pytest.raises(IndexError, match=says(3)):
                await work
        for work in (buffer.copy_async(cancelled()), buffer.fill_async(
                0, 4, GLib.Bytes.new(b"\0"), cancelled())):
            with pytest.raises(GLib.Error) as caught:
                await work
            assert is_cancelled(caught)
        assert bytes(buffer) == b"\1\2\x09\x09"

    asyncio.run(main())

    Buffer = Mtl.Buffer
    for start, finish, args in (
            (Buffer.copy_async, Buffer.copy_finish, ()),
            (Buffer.copy_from_async, Buffer.copy_from_finish, (0, new_buffer(4), 0, 4)),
            (Buffer.dup_bytes_async, Buffer.dup_bytes_finish, (0, 4)),
            (Buffer.fill_async, Buffer.fill_finish, (0, 4, GLib.Bytes.new(b"\5"))),
            (Buffer.set_bytes_async, Buffer.set_bytes_finish, (0, GLib.Bytes.new(b"\6"))),
            (Buffer.synchronize_async, Buffer.synchronize_finish, ())):
        outcome = Outcome()
        start(buffer, *args, None, outcome.ready)
        assert finish(buffer, outcome.wait()[1])
    outcome = Outcome()
    Mtl.Buffer.new_mapped_async(file, None, 0, 3, GLib.PRIORITY_LOW, None, outcome.ready)
    assert bytes(Mtl.Buffer.new_mapped_finish(outcome.wait()[1])) == b"abc"


@pytest.mark.any_memory
def test_results_without_a_view_to_write_to(source):
    async def main():
        copy = await source.copy_async("F")
        assert copy.is_contiguous("F") and (elements(copy) == elements(source)).all()
        assert (await source.dup_bytes_async()).get_size() == N_BYTES
        assert await source.array_equal_async(copy) is True
        assert await source.array_equal_async(zeros("float32", source.shape)) is False
        assert await source.all_close_async(copy) is True
        assert await source.all_close_async(copy, 0, atol=0) is True
        least = await source.reduce_async("minimum", [1])
        assert least.tolist() == elements(source).min(1).tolist()
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        for work in (source.copy_async("C", cancellable), source.dup_bytes_async(cancellable),
                     source.array_equal_async(copy, 0, cancellable),
                     source.reduce_async("mean", None, cancellable)):
            with pytest.raises(GLib.Error) as caught:
                await work
            assert caught.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)

    asyncio.run(main())
    View, outcome = Mtl.StridedView, Outcome()
    for start, finish, args in ((View.copy_async, View.copy_finish, ("C", None, None)),
                                (View.dup_bytes_async, View.dup_bytes_finish, (None, None)),
                                (View.array_equal_async, View.array_equal_finish,
                                 (source, Mtl.CompareFlags.NONE, None)),
                                (View.all_close_async, View.all_close_finish,
                                 (source, 0, 0, Mtl.CompareFlags.EQUAL_NAN, None)),
                                (View.reduce_async, View.reduce_finish,
                                 ("mean", None, None))):
        assert start(source, *args, outcome.ready) is None
        assert finish(*outcome.wait()) is not None


@pytest.mark.any_memory
def test_progress(calls, source):
    view = zeros("float32", source.shape)
    for call, args, total in (
            (calls.copy_from, (view, source), N_BYTES), (calls.fill_double, (view, 7), N_BYTES),
            (calls.fill, (view, 8), N_BYTES),
            (calls.to_contiguous, (source,), N_BYTES),
            (calls.to_dtype, (source, Mtl.DType.FLOAT64, Mtl.Order.K), 2 * N_BYTES)):
        outcome = Outcome()
        call(*args, progress=outcome.progress)
        check_progress(outcome.told, total)
        assert outcome.threads == {threading.current_thread()}


def assert_cancelled(function, *args, **keywords):
    with pytest.raises(GLib.Error) as info:
        function(*args, **keywords)
    assert info.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)


@pytest.mark.any_memory
def test_cancelled_before(calls, source):
    view = zeros("float32", source.shape)
    cancellable = Gio.Cancellable()
    cancellable.cancel()

    assert_cancelled(calls.copy_from, view, source, cancellable=cancellable)
    assert_cancelled(calls.fill_double, view, 7, cancellable=cancellable)
    assert_cancelled(calls.fill, view, 7, cancellable=cancellable)
    assert_cancelled(calls.to_contiguous, source, cancellable=cancellable)
    assert_cancelled(calls.to_dtype, source, Mtl.DType.FLOAT64, Mtl.Order.K, cancellable=cancellable)
    assert not elements(view).any()


def test_cancelled_within(calls):
    view = zeros("float32", (4000, 4000))
    cancellable = Gio.Cancellable()

    def fill_often():
        for _ in range(50):  # it may end before this thread has its turn
            view.fill_double(0)
            calls.fill_double(view, 7, cancellable=cancellable,
                              progress=lambda done, total: cancellable.cancel())
            cancellable.reset()

    assert_cancelled(fill_often)
    assert np.isin(elements(view), (0, 7)).all()


@pytest.mark.any_memory
def test_errors(calls):
    view = zeros("float32", (2, 3))

    with pytest.raises(ValueError, match=says("(4, 5)")) as info:
        calls.copy_from(view, zeros("float32", (4, 5)))
    assert error_code(info) == Mtl.Error.INVALID_ARGUMENT
    with pytest.raises(ValueError, match="read-only") as info:
        calls.fill_double(view.as_read_only(), 7)
    assert error_code(info) == Mtl.Error.READ_ONLY
    with pytest.raises(NotImplementedError):
        calls.to_device(view, HOST, Mtl.StorageMode.PRIVATE)
    for wrong, kind in ((None, TypeError), ("text", TypeError), ([1, 2], ValueError)):
        with pytest.raises(kind):
            calls.copy_from(view, wrong)


@pytest.mark.any_memory
def test_callbacks_by_place_and_by_name():
    view, one = zeros("int8", (3,)), tensor(np.array([1, 2, 3], np.int8))

    for keywords in (False, True):
        outcome = Outcome()
        if keywords:
            view.copy_from_async(one, callback=outcome.ready, progress=outcome.progress)
        else:
            view.copy_from_async(one, None, outcome.progress, outcome.ready, "of", "mine")
        assert not outcome.told and outcome.data is None
        assert outcome.wait()[0] is view and view.copy_from_finish(outcome.result)
        assert outcome.data == (() if keywords else ("of", "mine"))
        check_progress(outcome.told, 3)


@pytest.mark.any_memory
def test_without_a_loop_nobody_is_told():
    context = GLib.MainContext.default()
    view = zeros("int8", (3,))

    view.fill_double_async(5)
    while view.tolist() != [5, 5, 5]:
        context.iteration(False)


@pytest.mark.any_memory
def test_the_callbacks_are_let_go():
    view = zeros("int8", (3,))
    outcome = Outcome()
    gone = weakref.ref(outcome)

    view.fill_double_async(5, None, outcome.progress, outcome.ready)
    view.fill_double_finish(outcome.wait()[1])
    del outcome
    gc.collect()
    assert gone() is None


@pytest.mark.any_memory
def test_the_loop_turns_meanwhile(source):
    """GLib's, and asyncio's."""
    outcome, turns = Outcome(), []
    GLib.idle_add(lambda: turns.append("GLib"), priority=GLib.PRIORITY_HIGH)
    source.to_contiguous_async(None, outcome.progress, outcome.ready)
    outcome.wait()

    async def main():
        asyncio.get_running_loop().call_soon(turns.append, "asyncio")
        await source.to_contiguous_async()

    asyncio.run(main())
    assert turns == ["GLib", "asyncio"]


@pytest.mark.any_memory
def test_many_at_once():
    async def main():
        views = [zeros("float32", (300, 300)) for _ in range(40)]
        results = await asyncio.gather(*(view.fill_double_async(i)
                                         for i, view in enumerate(views)))
        assert results == [True] * 40
        assert [elements(view).max() for view in views] == list(range(40))

    asyncio.run(main())


def test_an_awaiting_task_that_is_cancelled_has_stopped_the_work():
    """When it ends no thread writes any more."""
    view = zeros("float32", (4000, 4000))

    async def cancel_within():
        task = None

        def progress(done, total):
            task.cancel()

        task = view.fill_double_async(7, progress=progress)
        await task

    async def main():
        for _ in range(50):  # it may end before this thread has its turn
            view.fill_double(0)
            try:
                await cancel_within()
            except asyncio.CancelledError:
                return
        raise AssertionError("never cancelled")

    asyncio.run(main())
    view.fill_double(3)
    assert (elements(view) == 3).all()


@pytest.mark.any_memory
def test_what_is_cancelled_at_once_does_not_begin():
    view = zeros("float32", (4000, 4000))

    async def main():
        task = view.fill_double_async(7)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert not elements(view).any()


@pytest.mark.any_memory
def test_threads_have_a_limit(source):
    default = Mtl.get_max_threads()
    expected = elements(source).tobytes()

    assert default >= 1
    for n_threads in (1, 2, 5):
        Mtl.set_max_threads(n_threads)
        assert Mtl.get_max_threads() == n_threads
        assert elements(source.copy()).tobytes() == expected
    Mtl.set_max_threads(0)
    assert Mtl.get_max_threads() == default


@pytest.mark.any_memory
def test_calls_that_wait_can_be_cancelled(source):
    view, cancellable = zeros("float32", source.shape), cancelled()
    for call in (lambda: source.copy("F", cancellable), lambda: source.copy(cancellable=cancellable),
                 lambda: view.copy_from(source, cancellable), lambda: view.fill(3, cancellable),
                 lambda: view.fill_double(3, cancellable),
                 lambda: view.copy_scaled_from(source, 2, cancellable=cancellable),
                 lambda: source.to_dtype("float64", "K", cancellable),
                 lambda: source.array_equal(view, 0, cancellable)):
        with pytest.raises(GLib.Error) as caught:
            call()
        assert is_cancelled(caught)
    assert (elements(view.copy(cancellable=None)) == 0).all()
    with pytest.raises(TypeError, match=says("int", "Cancellable")):
        view.copy("C", 3)

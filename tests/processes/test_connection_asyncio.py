# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connections that asyncio waits for."""

import asyncio
import gc
import os
import threading
import time

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import HOST, is_cancelled
from test_tensor_connection import PATIENCE, count_fds, pair, peer_process

pytestmark = pytest.mark.skipif(not HOST.supports_storage_mode("interprocess"),
                                reason="this system has no memory for other processes")


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 2 * PATIENCE))


@pytest.mark.parametrize("action", ["answer", "answer_async"])
def test_another_process(action):
    view = Mtl.arange(12, dtype="i4", shared=True).reshape(3, 4)

    async def main(connection):
        for n, part in enumerate((view, view[:, ::-2], np.arange(5), [1.5, 2.5])):
            assert await connection.send_async(part, {"n": n}) is True
            back, extras = await connection.receive_async()
            assert np.array_equal(np.asarray(back), np.asarray(part))
            assert extras["got"] == {"n": n}
            assert extras["is"]["values"] == np.asarray(part).ravel().tolist()
        await connection.send_async(view)
        back, _ = await connection.receive_async()
        view[0, 1] = 77
        await connection.send_async([0])
        assert (await connection.receive_async())[1]["was"][1] == back[0, 1] == 77

    with peer_process(action) as (connection, _):
        run(main(connection))


def test_frames_of_two_processes_at_once():
    async def read(connection):
        n = 0
        async for view, extras in connection:
            assert view[0] == view[19_999] == extras["n"] == n
            n += 1
            if n == 100:
                return n

    async def main(*connections):
        assert await asyncio.gather(*map(read, connections)) == [100] * len(connections)

    with peer_process("count") as (first, _), peer_process("count") as (second, _):
        run(main(first, second))


def test_an_iteration_ends_with_the_peer():
    async def main():
        a, b = pair()
        received = []

        async def read():
            async for view, _ in b:
                received.append(view[0])

        task = asyncio.create_task(read())
        for i in range(3):
            await a.send_async([i])
        a.close()
        await task
        assert received == [0, 1, 2]
        for call in (b.receive_async, lambda: a.send_async([1])):
            with pytest.raises(BrokenPipeError):
                await call()

    run(main())


def test_peers_that_say_nothing_keep_no_thread():
    async def main():
        pairs = [pair() for _ in range(100)]
        before = threading.active_count()
        tasks = [b.receive_async() for _, b in pairs]
        # The pool of threads works meanwhile.
        views = [Mtl.zeros(1000) for _ in range(40)]
        await asyncio.gather(*(view.fill_double_async(i) for i, view in enumerate(views)))
        assert [view[999] for view in views] == list(range(40))
        assert threading.active_count() <= before + os.cpu_count() + 4
        assert not any(task.done() for task in tasks)
        for i, (a, _) in enumerate(pairs):
            a.send([i])
        assert [view[0] for view, _ in await asyncio.gather(*tasks)] == list(range(100))

    run(main())


def test_peers_that_do_not_read_block_nobody():
    async def main():
        pairs = [pair() for _ in range(20)]
        full = [asyncio.ensure_future(send_often(a)) for a, _ in pairs]
        view = Mtl.zeros(1000)
        for i in range(50):
            await view.fill_double_async(i)
        assert view[0] == 49
        for _, b in pairs:
            while not b.get_socket().condition_check(GLib.IOCondition.IN):
                await asyncio.sleep(0.01)
        # Those that wait are cancelled, and nothing is sent in part.
        for task in full:
            task.cancel()
        outcomes = await asyncio.gather(*full, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
        for a, b in pairs[:3]:
            a_view, extras = await b.receive_async()
            assert extras == {"n": 0} and a_view.shape == (60_000,)

    async def send_often(connection):
        for n in range(10**6):
            await connection.send_async(bytes(60_000), {"n": n})

    run(main())


def test_a_cancelled_receiver_loses_nothing():
    async def main():
        a, b = pair()
        received = []
        for n in range(200):
            task = b.receive_async()
            await asyncio.sleep(0)
            a.send([n])
            for _ in range(n % 4):
                await asyncio.sleep(0)
            task.cancel()
            try:
                received.append((await task)[0][0])
            except asyncio.CancelledError:
                pass
        n_cancelled = 200 - len(received)
        while len(received) < 200:
            received.append((await b.receive_async())[0][0])
        assert received == list(range(200)) and 0 < n_cancelled < 200

    run(main())


def test_time_limits_and_cancellables():
    async def main():
        a, b = pair()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(b.receive_async(), 0.05)
        cancellable = Gio.Cancellable()
        asyncio.get_running_loop().call_later(0.05, cancellable.cancel)
        with pytest.raises(GLib.Error) as info:
            await b.receive_async(cancellable)
        assert is_cancelled(info)
        for call in (lambda: b.receive_async(cancellable),
                     lambda: a.send_async([1], None, cancellable)):
            with pytest.raises(GLib.Error) as info:
                await call()
            assert is_cancelled(info)
        # By another thread, too.
        cancellable.reset()
        threading.Timer(0.05, cancellable.cancel).start()
        with pytest.raises(GLib.Error) as info:
            await b.receive_async(cancellable)
        assert is_cancelled(info)
        a.send([3])
        assert (await b.receive_async())[0][0] == 3

    run(main())


def test_the_time_limit_of_the_socket():
    async def main():
        a, b = pair()
        b.get_socket().set_timeout(1)
        begin = time.monotonic()
        with pytest.raises(TimeoutError) as info:
            await b.receive_async()
        assert 0.9 < time.monotonic() - begin < PATIENCE
        assert info.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT)
        # It begins again for each view, and then the connection waits as before.
        for n in range(3):
            asyncio.get_running_loop().call_later(0.5, a.send, [n])
            assert (await b.receive_async())[0][0] == n
        b.get_socket().set_timeout(0)
        asyncio.get_running_loop().call_later(1.2, a.send, [4])
        assert (await b.receive_async())[0][0] == 4

    run(main())


@pytest.mark.parametrize("end", ["close", "collect"])
def test_a_loop_that_was_closed_leaves_nothing_pending(end):
    a, b = pair()
    loop = asyncio.new_event_loop()
    tasks = []

    async def begin():
        tasks.append(b.receive_async())
        await asyncio.sleep(0.01)

    loop.run_until_complete(begin())
    loop.close()
    with pytest.raises(OSError, match="another"):
        b.receive()
    if end == "close":
        tasks[0].get_coro().close()
    tasks.clear()
    gc.collect()
    a.send([1])
    assert b.receive()[0][0] == 1


def test_a_loop_that_cannot_wait_leaves_nothing_pending():
    async def main():
        a, b = pair()
        loop = asyncio.get_running_loop()
        cancellable = Gio.Cancellable()

        def refuse(*_):
            raise NotImplementedError("no readers")

        loop.add_reader = refuse  # as asyncio's loop on Windows does
        with pytest.raises(NotImplementedError, match="no readers"):
            await b.receive_async(cancellable)
        del loop.add_reader
        a.send([1])
        assert (await b.receive_async())[0][0] == 1

    run(main())


def test_two_receivers():
    async def main():
        a, b = pair()
        first, second = b.receive_async(), b.receive_async()
        with pytest.raises(OSError, match="another"):
            await second
        assert not first.done()
        a.send([1])
        assert (await first)[0][0] == 1

    run(main())


def test_close_ends_the_wait_of_a_task():
    async def main():
        _, b = pair()
        task = b.receive_async()
        await asyncio.sleep(0.05)
        assert not task.done()
        b.close()
        with pytest.raises(BrokenPipeError):
            await task

    run(main())


def test_a_message_that_comes_in_parts():
    async def main():
        a, b = pair()
        a.send(np.arange(100), {"n": 1})
        message = os.read(b.get_socket().get_fd(), 10**5)
        task = b.receive_async()
        for byte in message[:40]:
            os.write(a.get_socket().get_fd(), bytes([byte]))
            await asyncio.sleep(0.001)
        assert not task.done()
        os.write(a.get_socket().get_fd(), message[40:])
        view, extras = await task
        assert view.tolist() == list(range(100)) and extras == {"n": 1}

    run(main())


def test_callbacks_beside_a_loop_of_asyncio():
    """With a callback, GLib's main loop calls it."""
    outcomes = []

    async def main():
        a, b = pair()
        b.receive_async(None, lambda connection, result: outcomes.append(
            connection.receive_finish(result)))
        a.send([4])
        end = time.monotonic() + PATIENCE
        while not outcomes and time.monotonic() < end:
            GLib.MainContext.default().iteration(False)
            await asyncio.sleep(0)
        assert outcomes[0][0].tolist() == [4]

    run(main())


def test_the_loop_of_glib():
    """PyGObject 3.50 and later run asyncio in GLib's loop."""
    events = pytest.importorskip("gi.events", reason="this PyGObject has no loop for asyncio")

    async def main():
        a, b = pair()
        for n in range(10):
            task = b.receive_async()
            await asyncio.sleep(0)
            await a.send_async([n], {"n": n})
            view, extras = await task
            assert view[0] == n and extras == {"n": n}
        task = b.receive_async()
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    loop = events.GLibEventLoopPolicy().get_event_loop()
    loop.run_until_complete(asyncio.wait_for(main(), PATIENCE))
    loop.close()


def test_nothing_is_left():
    async def main():
        a, b = pair()
        view = Mtl.zeros(1000, shared=True)
        before = None
        for n in range(300):
            task = b.receive_async()
            await asyncio.sleep(0)
            await (a.send_async(view) if n % 5 == 0 else asyncio.sleep(0, a.send(view)))
            await task
            if n % 7 == 0:
                task = b.receive_async()
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            if n == 20:
                before = count_fds()
        del task
        gc.collect()
        assert count_fds() <= before

    run(main())

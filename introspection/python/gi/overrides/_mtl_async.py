# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs work in the background: with a callback in GLib's main loop, or awaited."""

import functools
import sys
import weakref
from inspect import Parameter, Signature

from gi.repository import Gio, GLib, GObject

from ._mtl_defaults import defaults_of
from ._mtl_errors import arguments_of


def _running_loop():
    """Returns asyncio's running loop, or None. If one is running, asyncio is already imported."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio.get_running_loop() if asyncio else None
    except RuntimeError:
        return None


def _run(start, finish, cancellable, progress):
    """Starts the work and waits for it, in a main context that only this thread uses."""
    context, results = GLib.MainContext.new(), []
    context.push_thread_default()
    try:
        start(cancellable, progress, (), lambda source, result: results.append(result))
        while not results:
            context.iteration(True)
    finally:
        context.pop_thread_default()
    return finish(results[0])


async def _end_of(future, cancellable):
    """Waits for a thread. If the task is cancelled, so is the thread's work."""
    import asyncio

    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        # The thread writes to the elements until it ends, so wait for it.
        cancellable.cancel()
        await asyncio.wait([future])
        if not future.cancelled():
            future.exception()  # marks the exception as retrieved
        raise


async def _work(arguments, loop, start, finish, cancellable, progress):
    """Works in a thread, so that GLib's main loop need not run beside asyncio's."""
    cancellable = cancellable or Gio.Cancellable()
    report = progress and (lambda done, total: loop.call_soon_threadsafe(progress, done, total))
    return await _end_of(loop.run_in_executor(None, _run, start, finish, cancellable, report),
                         cancellable)


async def _send(arguments, loop, start, finish, cancellable, progress):
    """Works in a thread of its own: a peer that does not read would keep one of the pool's."""
    from concurrent.futures import ThreadPoolExecutor

    connection, *message = arguments
    cancellable = cancellable or Gio.Cancellable()
    executor = ThreadPoolExecutor(1)
    try:
        return await _end_of(
            loop.run_in_executor(executor, connection.send, *message, cancellable), cancellable)
    finally:
        executor.shutdown(wait=False)


async def _receive(arguments, loop, start, finish, cancellable, progress):
    """Waits in asyncio's loop, as many peers may send nothing for any time."""
    cancellable = cancellable or Gio.Cancellable()
    context, results = GLib.MainContext.new(), []
    context.push_thread_default()
    try:
        start(cancellable, progress, (), lambda source, result: results.append(result))
    finally:
        context.pop_thread_default()
    try:
        while not results:
            if not context.iteration(False):
                await _wait_for_peer(*arguments, loop, cancellable)
    except BaseException:
        # Work that nobody waits for any more, also after the loop was closed, would keep the
        # connection from receiving again.
        cancellable.cancel()
        while not results:
            context.iteration(True)
        raise
    return finish(results[0])


# Timers of some loops are early, and the wait would then begin again.
_SLACK = 0.01


async def _wait_for_peer(connection, loop, cancellable):
    """Waits until the connection has something to receive, or is closed, or the work is cancelled,
    or the time that the socket has to wait is over."""
    socket, ready = connection.get_socket(), loop.create_future()
    fd, timeout = socket.get_fd(), socket.get_timeout()

    def wake():
        if not ready.done():
            ready.set_result(None)

    # GLib's work holds the cancellable. If that held asyncio's task in turn, a task that nobody
    # waits for any more would never be collected, and its work never end.
    weak = weakref.ref(wake)

    def on_cancelled(_):
        wake = weak()
        if wake is not None:
            loop.call_soon_threadsafe(wake)

    handler = GObject.Object.connect(cancellable, "cancelled", on_cancelled)
    timer = None
    try:
        # GLib's source knows the end of the time, but only if it is asked.
        if timeout > 0:
            timer = loop.call_later(timeout + _SLACK, wake)
        loop.add_reader(fd, wake)
        if not cancellable.is_cancelled():
            await ready
    finally:
        cancellable.disconnect(handler)
        if timer is not None:
            timer.cancel()
        loop.remove_reader(fd)


# The functions whose work is not that of _work().
_OTHER_WORK = {"Mtl.TensorConnection.send_async": _send,
               "Mtl.TensorConnection.receive_async": _receive}


def begin(start, finish, cancellable, progress, callback, user_data, work):
    loop = _running_loop() if callback is None else None
    if loop is not None:
        return loop.create_task(work(loop, start, finish, cancellable, progress))
    # PyGObject passes an empty tuple to callbacks without data.
    return start(cancellable, progress, (), callback, *user_data)


def without_progress(function, *args):
    """Returns what begin() starts, for a function that takes no progress callback."""
    return lambda cancellable, progress, progress_data, *rest: function(*args, cancellable, *rest)


def document(function):
    function.__doc__ = (f"Does the same as {function.__name__.removesuffix('_async')}() in the "
                        "background. Without a callback, the result can be awaited.")
    return function


def awaitable(cls, start, info, label):
    """Returns an asynchronous function of a class whose result can be awaited if it gets no
    callback. Its arguments are in PyGObject's order, but without progress_data, which Python's
    functions do not need."""
    names = [name for name in ["self"] * info.is_method() + arguments_of(info)
             if name not in ("progress_data", "user_data")]
    defaults = defaults_of(label, names)
    first = names.index("cancellable")
    finish = info.get_name().replace("_async", "_finish")
    work = _OTHER_WORK.get(label, _work)
    has_progress = "progress" in names
    signature = Signature([
        *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD,
                    default=defaults.get(name, Parameter.empty)) for name in names),
        Parameter("user_data", Parameter.VAR_POSITIONAL)])

    @functools.wraps(start)
    def function(*args, **keywords):
        given = signature.bind(*args, **keywords)
        given.apply_defaults()
        values = list(given.arguments.values())
        begun = functools.partial(start, *values[:first])
        return begin(begun if has_progress else without_progress(begun),
                     getattr(values[0] if info.is_method() else cls, finish),
                     given.arguments["cancellable"], given.arguments.get("progress"),
                     given.arguments["callback"], given.arguments["user_data"],
                     functools.partial(work, values[:first]))

    function.__signature__ = signature
    return document(function)

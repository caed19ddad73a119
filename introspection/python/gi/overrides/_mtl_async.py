# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs work in the background: with a callback in GLib's main loop, or awaited."""

import sys

from gi.repository import Gio, GLib

from ._mtl_asview import view_of_assigned, view_of_values


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


async def _work(loop, start, finish, cancellable, progress):
    """Works in a thread, so that GLib's main loop need not run beside asyncio's."""
    import asyncio

    cancellable = cancellable or Gio.Cancellable()
    report = progress and (lambda done, total: loop.call_soon_threadsafe(progress, done, total))
    future = loop.run_in_executor(None, _run, start, finish, cancellable, report)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        # The thread writes to the elements until it ends, so wait for it.
        cancellable.cancel()
        await asyncio.wait([future])
        if not future.cancelled():
            future.exception()  # nobody else retrieves it
        raise


def begin(start, finish, cancellable, progress, callback, user_data):
    loop = _running_loop() if callback is None else None
    if loop is not None:
        return loop.create_task(_work(loop, start, finish, cancellable, progress))
    # PyGObject passes an empty tuple to callbacks without data.
    return start(cancellable, progress, (), callback, *user_data)


def without_progress(function, *args):
    """Returns what begin() starts, for a function that takes no progress callback."""
    return lambda cancellable, progress, progress_data, *rest: function(*args, cancellable, *rest)


def document(functions):
    for function in functions:
        function.__doc__ = (f"Does the same as {function.__name__.removesuffix('_async')}() in the "
                            "background. Without a callback, the result can be awaited.")
    return functions


def in_background(cls, element_for):
    """Returns the asynchronous methods. Their arguments are in PyGObject's
    order, but without progress_data, which Python's functions do not need."""
    fill, fill_double, copy_from = cls.fill_async, cls.fill_double_async, cls.copy_from_async
    to_contiguous, to_dtype, to_device = (cls.to_contiguous_async, cls.to_dtype_async,
                                          cls.to_device_async)
    copy_scaled_from, compute_statistics = cls.copy_scaled_from_async, cls.compute_statistics_async
    compute_histogram, compute_statistic = cls.compute_histogram_async, cls.compute_statistic_async
    copy, dup_bytes = cls.copy_async, cls.dup_bytes_async
    array_equal, all_close = cls.array_equal_async, cls.all_close_async

    def fill_async(self, value, cancellable, progress, callback, *user_data):
        element = element_for(self, value)
        return begin(lambda *rest: fill(self, element, *rest), self.fill_finish,
                     cancellable, progress, callback, user_data)

    def fill_double_async(self, value, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: fill_double(self, value, *rest), self.fill_double_finish,
                     cancellable, progress, callback, user_data)

    def copy_from_async(self, source, cancellable, progress, callback, *user_data):
        source = view_of_assigned(source, self.dtype)
        return begin(lambda *rest: copy_from(self, source, *rest), self.copy_from_finish,
                     cancellable, progress, callback, user_data)

    def to_contiguous_async(self, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: to_contiguous(self, *rest), self.to_contiguous_finish,
                     cancellable, progress, callback, user_data)

    def to_dtype_async(self, dtype, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: to_dtype(self, dtype, *rest), self.to_dtype_finish,
                     cancellable, progress, callback, user_data)

    def to_device_async(self, device, storage_mode, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: to_device(self, device, storage_mode, *rest),
                     self.to_device_finish, cancellable, progress, callback, user_data)

    def copy_scaled_from_async(self, source, scale, offset, cancellable, progress, callback,
                               *user_data):
        source = view_of_values(source)
        return begin(lambda *rest: copy_scaled_from(self, source, scale, offset, *rest),
                     self.copy_scaled_from_finish, cancellable, progress, callback, user_data)

    def compute_statistics_async(self, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: compute_statistics(self, *rest), self.compute_statistics_finish,
                     cancellable, progress, callback, user_data)

    def compute_histogram_async(self, low, high, n_bins, cancellable, progress, callback,
                                *user_data):
        return begin(lambda *rest: compute_histogram(self, low, high, n_bins, *rest),
                     self.compute_histogram_finish, cancellable, progress, callback, user_data)

    def compute_statistic_async(self, statistic, axes, cancellable, callback, *user_data):
        return begin(without_progress(compute_statistic, self, statistic, axes),
                     self.compute_statistic_finish, cancellable, None, callback, user_data)

    def copy_async(self, order, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: copy(self, order, *rest), self.copy_finish,
                     cancellable, progress, callback, user_data)

    def dup_bytes_async(self, cancellable, progress, callback, *user_data):
        return begin(lambda *rest: dup_bytes(self, *rest), self.dup_bytes_finish,
                     cancellable, progress, callback, user_data)

    def array_equal_async(self, other, cancellable, callback, *user_data):
        return begin(without_progress(array_equal, self, view_of_values(other)),
                     self.array_equal_finish, cancellable, None, callback, user_data)

    def all_close_async(self, other, rtol, atol, cancellable, callback, *user_data):
        return begin(without_progress(all_close, self, view_of_values(other), rtol, atol),
                     self.all_close_finish, cancellable, None, callback, user_data)

    return document((fill_async, fill_double_async, copy_from_async, copy_scaled_from_async,
                     to_contiguous_async, to_dtype_async, to_device_async, compute_statistics_async,
                     compute_histogram_async, compute_statistic_async, copy_async, dup_bytes_async,
                     array_equal_async, all_close_async))

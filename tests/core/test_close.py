# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views that are closed while operations use them: the operation has all elements or none, and
never sees the memory again."""

import asyncio
import gc
import re
import sys
import threading
import time

import numpy as np
import pytest

from gi.repository import GLib, Mtl

N = 32768
SHAPE = (N // 256, 64)


def opened(n=N):
    memory = bytearray(n)
    return memory, Mtl.asview(memory).reinterpret("float32").reshape(-1, 64)


def assert_busy(view, has_operations, n_references):
    shape, layout = view.shape, view.layout
    with pytest.raises(BufferError) as info:
        view.close()
    assert info.value.__cause__.matches(Mtl.error_quark(), Mtl.Error.BUSY)
    n_uses, limit, n, limit_of_references = map(int, re.findall(r"\d+", str(info.value)))
    assert (n_uses > 0) is has_operations and limit == 0
    assert (n, limit_of_references) == (n_references, 1)
    assert view.shape == shape and view.layout == layout


def test_progress_callback():
    memory, view = opened()
    told = []

    def progress(*arguments):
        told.append(arguments)
        assert_busy(view, True, n_references=1)

    statistics = view.compute_statistics(None, progress)
    assert told
    assert statistics.get_count() == N // 4
    assert view.close() and view.shape == (0,)
    assert view.close()


@pytest.mark.parametrize("export", [memoryview, np.asarray])
def test_what_uses_the_view(export):
    memory, view = opened()
    first, second = export(view), export(view)
    assert_busy(view, False, n_references=3)
    del first
    assert_busy(view, False, n_references=2)
    with pytest.raises(BufferError):
        memory.append(0)
    assert bytes(second) == bytes(N)
    del second
    assert view.close() and view.close()
    memory.append(0)


def test_memoryview_of_a_closed_view():
    view = Mtl.zeros(3)
    view.close()
    with memoryview(view) as nothing:
        assert len(nothing) == 0 and view.close()


def test_with():
    memory, view = opened()
    with pytest.raises(BufferError), view:
        kept = memoryview(view)
    assert view.shape == SHAPE and len(kept) == SHAPE[0]
    kept.release()
    with view:
        pass
    assert view.shape == (0,)


def test_with_an_error():
    """Its traceback has frames that use the view."""
    def fail(view):
        kept = memoryview(view)
        raise KeyError(len(kept))

    memory, view = opened()
    with pytest.raises(KeyError), view:
        fail(view)
    assert view.close()


def test_after_an_asynchronous_operation():
    async def work(view):
        with view:
            return await view.compute_statistics_async()

    memory, view = opened()
    assert asyncio.run(work(view)).get_count() == N // 4
    assert view.shape == (0,)


def test_callback_of_an_asynchronous_operation():
    def done(source, result):
        try:
            assert source.compute_statistics_finish(result).get_count() == N // 4
            assert_busy(view, False, n_references=2)
            ended.append(True)
        finally:
            loop.quit()

    memory, view = opened()
    ended, loop = [], GLib.MainLoop()
    view.compute_statistics_async(callback=done)
    loop.run()
    gc.collect()  # the frames of the exception
    assert ended and view.close()


def test_code_of_arguments():
    class Index:
        def __index__(self):
            view.close()
            return 1

        __float__ = __index__

    for run in (lambda: view[Index()], lambda: view.set_double([0, 0], Index()),
                lambda: view.select(0, Index()), lambda: view.reshape(Index(), -1),
                lambda: view.__setitem__((0, 0), Index()), lambda: view.item(Index()),
                lambda: view.get_double([Index(), 0]), lambda: view.flip(Index()),
                lambda: view.permute(Index(), 0), lambda: view.broadcast_to(Index(), 4),
                lambda: view[Index():], lambda: view.__setitem__(slice(Index(), None), 1),
                lambda: view.__setitem__(slice(None), [Index()]),
                lambda: view.fill_double(Index()), lambda: view.fill(Index()),
                lambda: view.format(Index()), lambda: view.squeeze(Index())):
        memory, view = opened()
        try:
            run()
        except (BufferError, IndexError, ValueError, TypeError):
            pass
        assert view.shape in (SHAPE, (0,))


def test_shape_of_many_axes_and_the_collector():
    class Closer:
        def __init__(self, view):
            self.view, self.itself = view, self

        def __del__(self):
            self.view.close()

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(200):
            view = Mtl.zeros((1,) * 20, "uint8")
            Closer(view)
            assert view.shape in ((1,) * 20, (0,))
            assert len(view.strides) in (20, 1)
    finally:
        gc.set_threshold(*threshold)


OPERATIONS = {
    "copy": lambda v: v.copy(),
    "copy in Fortran's order": lambda v: v.copy("F"),
    "astype": lambda v: v.astype("float64"),
    "astype on the right": lambda v: Mtl.zeros(v.shape, "int32").copy_from(v),
    "to_dtype": lambda v: v.to_dtype("int16"),
    "copy_scaled_from": lambda v: Mtl.zeros(v.shape).copy_scaled_from(v, 3),
    "to_contiguous": lambda v: v.transpose().to_contiguous(),
    "array_equal": lambda v: v.array_equal(v),
    "all_close": lambda v: v.all_close(v),
    "statistics": lambda v: v.compute_statistics().get_maximum(),
    "bytes": bytes,
    "dup_bytes": lambda v: v.dup_bytes().get_data(),
    "__dlpack__": lambda v: v.__dlpack__(copy=True),
    "export_dlpack": lambda v: v.export_dlpack(),
    "format": lambda v: v.format(10),
    "str": str,
    "tolist": lambda v: v.tolist(),
    "memoryview": lambda v: bytes(memoryview(v)),
    "slices": lambda v: v[1:, ::2].copy(),
    "slices in text": lambda v: v.slice("1:, ::2").copy(),
    "layout": lambda v: v.layout.shape,
    "shape": lambda v: v.get_shape(),
    "buffer": lambda v: v.get_buffer().get_size(),
    "property": lambda v: v.props.layout.shape,
    "volume": lambda v: v.get_volume(),
    "element": lambda v: v.get_double([0] * v.ndim),
    "reshape": lambda v: v.reshape(-1).copy(),
    "repr": repr,
    "iteration": lambda v: [row.copy() for row in v],
    "contains": lambda v: 1 in v,
    "overlaps": lambda v: v.overlaps(v),
    "fill_double": lambda v: v.fill_double(0),
    "fill": lambda v: v.fill(0),
    "assignment": lambda v: v.__setitem__(slice(None), 0),
}


# Operations that take each element by itself.
SLOW = {"array_equal", "all_close", "tolist", "iteration", "contains"}


def zeros_in(result):
    """Returns True if an operation returned nothing but zeros."""
    if isinstance(result, Mtl.StridedView):
        return not any(bytes(result))
    if isinstance(result, bytes):
        return not any(result)
    if isinstance(result, float):
        return result == 0 or result != result
    if isinstance(result, list) and result and isinstance(result[0], Mtl.StridedView):
        return all(map(zeros_in, result))
    text = re.sub("0x[0-9a-f]+", "", str(result))  # where an object is
    return "255" not in text and "nan" not in text


@pytest.mark.parametrize("operation", OPERATIONS)
def test_threads(operation):
    run = OPERATIONS[operation]
    failures = []

    def work(view, begin):
        begin.wait()
        try:
            for _ in range(3):
                result = run(view)
                if not zeros_in(result):
                    failures.append(result)
        except (IndexError, ValueError, BufferError):
            assert view.shape == (0,)  # closed between two steps of the operation
        except Exception as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for i in range(60):
            memory, view = opened(N if operation in SLOW else 32 * N)
            begin = threading.Barrier(2)
            thread = threading.Thread(target=work, args=(view, begin))
            thread.start()
            begin.wait()
            time.sleep(i * 2e-6)
            while view.ndim == 2:
                try:
                    if view.close():
                        memory[:] = b"\xff" * len(memory)
                except BufferError:
                    pass  # in use
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors over D-Bus: an exporter in a thread, and callers in this one, without a bus between."""

import asyncio
import gc

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import HOST, cancelled, elements, error_code, is_cancelled
from dbus_exporter import PATH, Exporter
from says import says

SHARED = Mtl.StorageMode.INTERPROCESS


def wait_for(condition):
    while not condition():
        GLib.MainContext.default().iteration(True)


@pytest.fixture
def matrix():
    return Mtl.zeros((40, 60), "float32")


def test_properties(matrix):
    other = Mtl.ExportedTensor.new([[1, 2]], Mtl.TensorPeerFlags.ALLOW_OTHER_USERS)
    assert other.get_view().shape == (1, 2)
    assert other.get_flags() == Mtl.TensorPeerFlags.ALLOW_OTHER_USERS
    assert Mtl.ExportedTensor(matrix, writable=True).get_writable()
    with Exporter(matrix) as (tensor, proxy):
        assert tensor.get_view() is tensor.props.view
        assert tensor.get_view().equal(matrix)
        assert tensor.get_flags() == tensor.props.flags == Mtl.TensorPeerFlags.NONE
        assert not tensor.get_writable() and not tensor.props.writable
        tensor.set_writable(True)
        assert tensor.props.writable
        assert proxy.get_connection() is proxy.props.connection
        assert proxy.get_bus_name() is proxy.props.bus_name is None
        assert proxy.get_object_path() == proxy.props.object_path == PATH


@pytest.mark.parametrize("shape", [(), (3,), (4, 0), (200, 300)])
@pytest.mark.parametrize("shared", [False, True])
def test_views_are_those_of_numpy(shape, shared):
    rng = np.random.default_rng(5)
    numbers = rng.integers(-1000, 1000, shape).astype("int16")
    view = Mtl.asview(numbers)
    if shared:
        view = view.to_device(HOST, SHARED)
    with Exporter(view.T) as (tensor, proxy):
        fetched = proxy.fetch_view()
        assert np.array_equal(np.asarray(fetched), numbers.T)
        assert fetched.is_read_only()
        layout, dtype, read_only = proxy.fetch_layout()
        assert layout.shape == numbers.T.shape
        assert (dtype, read_only) == (Mtl.DType.INT16, True)


def test_later_writes_are_seen_in_shared_memory():
    view = Mtl.zeros((300, 400), "uint8", shared=True)
    with Exporter(view[::-1]) as (_, proxy):
        fetched = np.asarray(proxy.fetch_view())
        view[299, 0] = 7
        assert fetched[0, 0] == 7
        assert not fetched.flags.writeable


def test_a_view_is_offered(matrix):
    taken = []

    def take(_, view, extras):
        taken.append((view, extras))
        return extras.unpack().get("name") == "right"

    with Exporter(matrix) as (tensor, proxy):
        with pytest.raises(NotImplementedError, match=says(PATH)) as refused:
            proxy.put(matrix)
        assert error_code(refused) == Mtl.Error.NOT_SUPPORTED
        tensor.connect("put", take)
        with pytest.raises(NotImplementedError) as refused:
            proxy.put(matrix, {"name": "wrong"})
        assert error_code(refused) == Mtl.Error.NOT_SUPPORTED
        assert proxy.put(Mtl.arange(3), {"name": "right"})
        view, extras = taken.pop()
        assert elements(view).tolist() == [0, 1, 2]
        assert extras.unpack() == {"name": "right"}


@pytest.mark.parametrize("region, slices", [
    (None, ...), ("...", ...), ("3", 3), ("::-1, 5", (slice(None, None, -1), 5)),
    ("-2:1:-7, newaxis, ::20", (slice(-2, 1, -7), None, slice(None, None, 20)))])
def test_elements_are_written(matrix, region, slices):
    expected = np.zeros((40, 60), "float32")
    source = np.arange(expected[slices].size, dtype="int32").reshape(expected[slices].shape)
    changes, written = [], []
    with Exporter(matrix) as (tensor, proxy):
        proxy.connect("changed", lambda _, serial, what: changes.append(what))
        tensor.connect("written", lambda _, what: written.append(what))
        with pytest.raises(ValueError, match=says(PATH)) as refused:
            proxy.copy_from(source, region)
        assert error_code(refused) == Mtl.Error.READ_ONLY
        tensor.set_writable(True)
        assert proxy.copy_from(source, region)
        expected[slices] = source
        assert np.array_equal(np.asarray(proxy.fetch_view()), expected)
        wait_for(lambda: changes)
        assert changes == [region or ""]
    assert written == [region or ""]


def test_changes_are_announced(matrix):
    changes = []
    with Exporter(matrix) as (tensor, proxy):
        proxy.connect("changed", lambda _, serial, region: changes.append((serial, region)))
        assert tensor.announce_change()
        assert tensor.announce_change("3:5")
        with pytest.raises(IndexError, match=says(40)) as refused:
            tensor.announce_change("40")
        assert error_code(refused) == Mtl.Error.OUT_OF_BOUNDS
        tensor.set_view(matrix.T)
        wait_for(lambda: len(changes) >= 3)
        serials, regions = zip(*changes)
        assert regions == ("", "3:5", "") and list(serials) == sorted(set(serials))


def test_calls_are_awaited(matrix):
    async def call(tensor, proxy):
        ones = Mtl.StridedView.new_filled(HOST, "float32", (40, 60), 1)
        tensor.connect("put", lambda *_: True)
        tensor.set_writable(True)
        views = await asyncio.gather(*(proxy.fetch_view_async() for _ in range(20)))
        assert all(view.shape == (40, 60) for view in views)
        layout, dtype, read_only = await proxy.fetch_layout_async()
        assert (layout.shape, dtype, read_only) == ((40, 60), Mtl.DType.FLOAT32, False)
        assert await proxy.put_async(ones)
        assert await proxy.copy_from_async(ones[1:], "1:")
        assert elements(matrix).sum() == 39 * 60
        with pytest.raises(GLib.Error) as refused:
            await proxy.copy_from_async(ones, "1:", cancelled())
        assert is_cancelled(refused)

    with Exporter(matrix) as pair:
        asyncio.run(call(*pair))


def test_calls_have_callbacks(matrix):
    results = []

    def ready(_, result):
        results.append(result)

    def result_of(begin, *arguments):
        begin(*arguments, None, ready)
        wait_for(lambda: results)
        return results.pop()

    with Exporter(matrix) as (tensor, proxy):
        tensor.connect("put", lambda *_: True)
        fetched = proxy.fetch_view_finish(result_of(proxy.fetch_view_async))
        assert fetched.shape == (40, 60)
        layout, dtype, read_only = proxy.fetch_layout_finish(result_of(proxy.fetch_layout_async))
        assert (layout.shape, dtype, read_only) == ((40, 60), Mtl.DType.FLOAT32, True)
        assert proxy.put_finish(result_of(proxy.put_async, matrix, None))
        tensor.set_writable(True)
        assert proxy.copy_from_finish(result_of(proxy.copy_from_async, [7], "1"))
    assert elements(matrix).sum() == 7 * 60


def test_without_a_tensor_calls_are_errors(matrix):
    with Exporter(matrix) as (tensor, proxy):
        tensor.unexport()
        with pytest.raises(GLib.Error) as refused:
            proxy.fetch_view()
        assert refused.value.matches(Gio.DBusError.quark(), Gio.DBusError.UNKNOWN_METHOD)
        with pytest.raises(ValueError, match=says("no path")) as refused:
            tensor.export(proxy.get_connection(), "no path")
        assert error_code(refused) == Mtl.Error.INVALID_ARGUMENT


def test_a_closed_connection_is_an_error(matrix):
    with Exporter(matrix) as (tensor, proxy):
        pass
    with pytest.raises(ValueError) as refused:
        proxy.fetch_view()
    assert refused.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED)


def test_an_export_lives_without_its_wrapper(matrix):
    exporter = Exporter(matrix)
    with exporter:
        del exporter.tensor
        gc.collect()
        assert exporter.proxy.fetch_view().shape == (40, 60)

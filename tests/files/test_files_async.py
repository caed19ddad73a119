# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files in the background: awaited, without a main loop of GLib's, or with a callback."""

import asyncio
import time

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import cancelled, is_cancelled


@pytest.fixture
def file(tmp_path):
    return Gio.File.new_for_path(str(tmp_path / "file"))


def builder_of(**arrays):
    builder = Mtl.TensorFileBuilder()
    for name, array in arrays.items():
        builder.add(name, Mtl.asview(array))
    return builder


def test_open(file):
    builder_of(x=[1, 2], y=[3]).write(file)

    async def main():
        return await asyncio.gather(Mtl.TensorFile.open_async(file),
                                    Mtl.TensorFile.open_async(file, mode=Mtl.TensorFileMode.READ))

    mapped, read = asyncio.run(main())
    assert mapped["x"].tolist() == read["x"].tolist() == [1, 2]
    assert read.get_mode() == Mtl.TensorFileMode.READ


def test_one_view(file):
    builder_of(x=[1, 2], y=[3]).write(file)
    tensors = Mtl.load(file)
    entry = tensors.lookup_entry("x")

    async def main():
        return await asyncio.gather(tensors.load_view_async("x"), entry.load_view_async(),
                                    entry.check_async(Mtl.TensorFileChecks.NAN))

    by_name, by_entry, is_right = asyncio.run(main())
    assert by_name.tolist() == by_entry.tolist() == [1, 2] and is_right is True
    assert tensors.has_tensor("x") and not tensors.has_tensor("z")
    assert tensors.lookup_entry("z") is None

    results, context = [], GLib.MainContext.default()
    tensors.load_view_async("x", callback=lambda _, result: results.append(result))
    entry.load_view_async(callback=lambda _, result: results.append(result))
    while len(results) < 2:
        context.iteration(True)
    named, = (result for result in results if result.get_source_object() is tensors)
    of_entry, = (result for result in results if result.get_source_object() is entry)
    assert tensors.load_view_finish(named).tolist() == [1, 2]
    assert entry.load_view_finish(of_entry).tolist() == [1, 2]


BACKGROUND = {
    "open": lambda tensors, file, **rest: Mtl.TensorFile.open_async(file, **rest),
    "load_view": lambda tensors, file, **rest: tensors.load_view_async("x", **rest),
    "load_views": lambda tensors, file, **rest: tensors.load_views_async(**rest),
    "check": lambda tensors, file, **rest: tensors.check_async(Mtl.TensorFileChecks.NONE, **rest),
    "write": lambda tensors, file, **rest: builder_of(x=[1]).write_async(file, **rest),
    "write_shards": lambda tensors, file, **rest: builder_of(x=[1]).write_shards_async(
        file.get_parent().get_child("x.safetensors.index.json"), 8, **rest),
}


@pytest.mark.parametrize("start", BACKGROUND.values(), ids=BACKGROUND.keys())
def test_io_priority(file, start):
    builder_of(x=[1]).write(file)
    tensors, context, told = Mtl.load(file), GLib.MainContext.default(), []

    # A call with a lower priority than a source that is always ready does not get its turn.
    always_ready = GLib.idle_add(lambda: True, priority=GLib.PRIORITY_DEFAULT)
    for priority in (GLib.PRIORITY_LOW, GLib.PRIORITY_HIGH):
        start(tensors, file, io_priority=priority,
              callback=lambda source, result, priority=priority: told.append(priority))
    while not told:
        context.iteration(False)
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        context.iteration(False)
    assert told == [GLib.PRIORITY_HIGH]
    GLib.source_remove(always_ready)
    while len(told) < 2:
        context.iteration(True)
    assert told == [GLib.PRIORITY_HIGH, GLib.PRIORITY_LOW]

    async def main():
        await start(tensors, file, io_priority=GLib.PRIORITY_LOW)

    asyncio.run(main())


def test_errors_are_raised_where_they_are_awaited(file):
    async def main():
        await Mtl.TensorFile.open_async(file)

    with pytest.raises(FileNotFoundError) as caught:
        asyncio.run(main())
    assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND)
    file.replace_contents(b"no header", None, False, Gio.FileCreateFlags.NONE, None)
    with pytest.raises(ValueError):
        asyncio.run(main())


@pytest.mark.parametrize("mode", [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ])
def test_load_views(file, mode):
    builder_of(x=np.arange(10_000), y=[3]).write(file)
    told = []

    async def main():
        tensors = await Mtl.TensorFile.open_async(file, mode=mode)
        return [await tensors.load_views_async(),
                await tensors.load_views_async("x", progress=lambda *done: told.append(done))]

    both, (x,) = asyncio.run(main())
    assert [view.size for view in both] == [10_000, 1]
    assert x.tolist() == list(range(10_000))
    assert mode == Mtl.TensorFileMode.MAP or told[-1] == (80_000, 80_000)


def test_check(file):
    builder_of(x=[1.0, 2.0], y=[3.0, float("nan")]).write(file)
    told = []

    async def main():
        tensors = await Mtl.TensorFile.open_async(file)
        await tensors.check_async(Mtl.TensorFileChecks.BOOL, progress=lambda *done: told.append(done))
        await tensors.check_async(Mtl.TensorFileChecks.NAN)

    with pytest.raises(ValueError, match="“y”"):
        asyncio.run(main())
    assert told[-1] == (32, 32)


def test_write(file):
    told = []

    async def main():
        builder = builder_of(x=np.arange(10_000))
        return await builder.write_async(file, progress=lambda *done: told.append(done))

    assert asyncio.run(main()) is True
    size = file.query_info("standard::size", Gio.FileQueryInfoFlags.NONE, None).get_size()
    assert told[-1] == (size, size)
    assert Mtl.load(file)["x"].tolist() == list(range(10_000))


def test_write_shards(file):
    index = file.get_parent().get_child("x.safetensors.index.json")

    async def main():
        return await builder_of(x=[1], y=[2]).write_shards_async(index, 8)

    assert asyncio.run(main()) is True
    assert {name: view.tolist() for name, view in Mtl.load(index).items()} == {"x": [1], "y": [2]}
    assert len(list(file.get_parent().enumerate_children("", Gio.FileQueryInfoFlags.NONE))) == 3


def test_write_is_cancelled(file):
    builder_of(x=[1]).write(file)

    async def main():
        await builder_of(x=[2]).write_async(file, cancellable=cancelled())

    with pytest.raises(GLib.Error) as caught:
        asyncio.run(main())
    assert is_cancelled(caught)
    assert Mtl.load(file)["x"].tolist() == [1]


def test_callbacks(file):
    loop, told = GLib.MainLoop(), []

    def opened(_, result, data):
        told.append((Mtl.TensorFile.open_finish(result)["x"].tolist(), data))
        loop.quit()

    def written(builder, result, data):
        told.append((builder.write_finish(result), data))
        Mtl.TensorFile.open_async(file, None, Mtl.TensorFileMode.MAP, GLib.PRIORITY_DEFAULT, None, opened,
                                  "open")

    builder_of(x=[5]).write_async(file, GLib.PRIORITY_DEFAULT, None, None, written, "write")
    loop.run()
    assert told == [(True, "write"), ([5], "open")]

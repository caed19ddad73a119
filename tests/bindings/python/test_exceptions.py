# SPDX-License-Identifier: LGPL-2.1-or-later
"""One policy for exceptions, whichever function meets the error: Python's own class for the kind of
error, with the GLib.Error as its cause."""

import asyncio
import errno
import importlib
import os
import sys

import gi
import pytest
from gi._gi import FunctionInfo
from gi.repository import Gio, GLib, Mtl

from conftest import call_apart, cancelled, has_namespace, is_cancelled


def async_result(start):
    async def main():
        return await start()

    return asyncio.run(main())


def finished(start, finish):
    """Through a callback in GLib's main loop."""
    results = []
    start(lambda source, result: results.append(result))
    while not results:
        GLib.MainContext.default().iteration(True)
    return finish(results[0])


OPENERS = {
    "load": Mtl.load,
    "open": Mtl.TensorFile.open,
    "open with a Gio.File": lambda path: Mtl.TensorFile.open(
        Gio.File.new_for_path(os.fspath(path))),
    "open_async": lambda path: async_result(lambda: Mtl.TensorFile.open_async(path)),
    "open_finish": lambda path: finished(
        lambda ready: Mtl.TensorFile.open_async(path, callback=ready), Mtl.TensorFile.open_finish),
    "new_mapped": Mtl.Buffer.new_mapped,
    "new_mapped of a range": lambda path: Mtl.Buffer.new_mapped(path, None, 0, 8),
}


def builder():
    made = Mtl.TensorFileBuilder()
    made.add("x", [1])
    return made


BUILDER, EVENT = builder(), Mtl.Event.new()

WRITERS = {
    "save": lambda path: Mtl.save(path, {"x": [1]}),
    "write": lambda path: builder().write(path),
    "write_async": lambda path: async_result(lambda: builder().write_async(path)),
    "write_finish": lambda path: finished(
        lambda ready: BUILDER.write_async(path, callback=ready), BUILDER.write_finish),
    "save in shards": lambda path: Mtl.save(f"{path}.index.json", {"x": [1]}, max_shard_size=9),
    "write_shards": lambda path: builder().write_shards(f"{path}.index.json", 9),
    "write_shards_async": lambda path: async_result(
        lambda: builder().write_shards_async(f"{path}.index.json", 9)),
}


def check(call, path, kind, code):
    with pytest.raises(kind) as caught:
        call(path)
    assert caught.value.errno == code and type(caught.value) is kind
    cause = caught.value.__cause__
    assert isinstance(cause, GLib.Error) and cause.domain == "g-io-error-quark"
    assert cause.message in str(caught.value) and os.fspath(path) in cause.message


@pytest.mark.parametrize("name", OPENERS)
def test_all_ways_to_open_raise_the_same(tmp_path, name):
    (tmp_path / "file").write_bytes(b"x")
    for path, kind, code in ((tmp_path / "missing", FileNotFoundError, errno.ENOENT),
                             (tmp_path, IsADirectoryError, errno.EISDIR),
                             (tmp_path / "file" / "x", NotADirectoryError, errno.ENOTDIR),
                             (tmp_path / ("y" * 300), OSError, errno.ENAMETOOLONG)):
        check(OPENERS[name], path, kind, code)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
@pytest.mark.parametrize("name", [*OPENERS])
def test_what_may_not_be_read(tmp_path, name):
    path = tmp_path / "a.safetensors"
    Mtl.save(path, {"x": [1]})
    path.chmod(0)
    check(OPENERS[name], path, PermissionError, errno.EACCES)


@pytest.mark.parametrize("name", WRITERS)
def test_all_ways_to_write_raise_the_same(tmp_path, name):
    with pytest.raises(FileNotFoundError) as caught:
        WRITERS[name](tmp_path / "no" / "a.safetensors")
    assert caught.value.errno == errno.ENOENT
    assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND)
    assert not (tmp_path / "no").exists()


def test_a_damaged_file_is_a_value_error(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"\x05\0\0\0\0\0\0\0{}{}{}")
    for name in [name for name in OPENERS if "new_mapped" not in name]:
        with pytest.raises(ValueError) as caught:
            OPENERS[name](path)
        assert caught.value.__cause__.matches(Mtl.error_quark(), Mtl.Error.INVALID_DATA), name


def test_a_closed_file_is_a_value_error(tmp_path):
    path = tmp_path / "a.safetensors"
    Mtl.save(path, {"x": [1]})
    file = Mtl.load(path)
    entry = file.lookup_entry("x")
    file.close()
    for call in (lambda: file["x"], lambda: file.load_view("x"), file.load_views, entry.load_view,
                 lambda: async_result(file.load_views_async), file.check):
        with pytest.raises(ValueError) as caught:
            call()
        assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED)


def test_cancelled_work_is_a_glib_error(tmp_path):
    path = tmp_path / "a.safetensors"
    Mtl.save(path, {"x": [1]})
    file = Mtl.load(path)
    for call in (lambda: Mtl.TensorFile.open(path, cancellable=cancelled()),
                 lambda: Mtl.Buffer.new_mapped(path, cancellable=cancelled()),
                 lambda: file.load_view("x", cancelled()),
                 lambda: builder().write(path, cancelled()),
                 lambda: Mtl.Event.new().wait(1, -1, cancelled())):
        with pytest.raises(GLib.Error) as caught:
            call()
        assert is_cancelled(caught)


def test_time_that_is_over():
    for wait in (lambda: Mtl.Event.new().wait(1, 0),
                 lambda: finished(lambda ready: EVENT.wait_async(1, 0, None, ready),
                                  lambda result: EVENT.wait_finish(result))):
        with pytest.raises(TimeoutError) as caught:
            wait()
        assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT)


def unwrapped_functions(namespace):
    for name in dir(namespace):
        found = getattr(namespace, name)
        holders = {name: found}
        if isinstance(found, type):
            holders = {f"{name}.{member}": value for member, value in vars(found).items()}
        for full_name, value in holders.items():
            info = getattr(value, "__func__", value)
            if isinstance(info, FunctionInfo) and info.can_throw_gerror():
                yield full_name


def check_functions(name):
    gi.require_version(name, "1")
    assert list(unwrapped_functions(importlib.import_module(f"gi.repository.{name}"))) == []


def test_no_function_that_can_fail_is_left_as_it_is():
    check_functions("Mtl")


@pytest.mark.parametrize("name", ["MtlGst", "MtlGtk", "MtlPixbuf"])
def test_no_function_of_the_bridges_is_left_as_it_is(name):
    if not has_namespace(name):
        pytest.skip(f"this build is without {name}")
    call_apart(f"test_exceptions.check_functions({name!r})")


def test_that_test():
    class Raw:
        query_info = Gio.File.query_info

    namespace = type(sys)("namespace")
    namespace.Raw, namespace.read = Raw, Gio.File.new_tmp
    assert list(unwrapped_functions(namespace)) == ["Raw.query_info", "read"]

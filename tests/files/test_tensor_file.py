# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import io
import json
import struct
import threading
import zlib

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import DEFAULT, HOST, NUMERIC, cancelled, is_cancelled
from says import says
from tensor_files import lay_out, write_safetensors, write_two_tensors

MODES = [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ]


def open_path(path, mode=Mtl.TensorFileMode.AUTO):
    return Mtl.TensorFile.open(Gio.File.new_for_path(str(path)), mode=mode)


def load_views(tensors, pattern=None, cancellable=None, progress=None):
    return tensors.load_views(pattern, cancellable, progress)


def arrays_of(tensors):
    return {name: np.asarray(tensors.load_view(name)) for name in tensors.list_names()}


def assert_same(actual, expected):
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype.newbyteorder("="), name
        np.testing.assert_array_equal(actual[name], array, err_msg=name)


def some_arrays(seed=0):
    random = np.random.default_rng(seed)
    shapes = [(), (1,), (0,), (3, 5), (2, 0, 4), (7, 1, 2)]
    return {f"{dtype} {shape}": np.asarray(random.random(shape) * 100).astype(dtype)
            for dtype in NUMERIC for shape in shapes}


@pytest.mark.parametrize("mode", MODES)
def test_safetensors(tmp_path, mode):
    safetensors = pytest.importorskip("safetensors.numpy",
                                      reason="safetensors is among the pinned peers only")
    arrays = {name: array for name, array in some_arrays().items() if array.dtype != "complex128"}
    safetensors.save_file(arrays, tmp_path / "file", metadata={"format": "np", "ключ": "\n"})
    tensors = open_path(tmp_path / "file", mode)

    assert_same(arrays_of(tensors), arrays)
    assert sorted(tensors.list_metadata_keys()) == ["format", "ключ"]
    assert tensors.lookup_metadata("ключ") == "\n" and tensors.lookup_metadata("x") is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("byte_order", "<>")
def test_npy(tmp_path, mode, order, byte_order):
    for dtype in NUMERIC:
        array = np.arange(24).reshape(2, 3, 4).astype(np.dtype(dtype).newbyteorder(byte_order),
                                                      order=order)
        np.save(tmp_path / "file.npy", array)
        assert_same(arrays_of(open_path(tmp_path / "file.npy", mode)), {"": array})


@pytest.mark.parametrize("mode", MODES)
def test_npz(tmp_path, mode):
    arrays = some_arrays() | {"swapped": np.arange(5, dtype=">f4"),
                              "turned": np.arange(6.0).reshape(2, 3).T}
    np.savez(tmp_path / "file.npz", **arrays)

    assert_same(arrays_of(open_path(tmp_path / "file.npz", mode)), arrays)


@pytest.mark.parametrize("mode", MODES)
def test_compressed_npz(tmp_path, mode):
    arrays = some_arrays() | {"swapped": np.arange(100_000, dtype=">f4"),
                              "turned": np.arange(6.0).reshape(2, 3).T}
    np.savez_compressed(tmp_path / "file.npz", **arrays)
    tensors = open_path(tmp_path / "file.npz", mode)

    assert_same(arrays_of(tensors), arrays)
    assert_same(dict(zip(tensors.list_names(), map(np.asarray, load_views(tensors)))), arrays)
    assert tensors.lookup_entry("swapped").get_n_bytes() == 400_000


@pytest.fixture
def path(tmp_path):
    write_two_tensors(tmp_path / "file")
    return tmp_path / "file"


def test_entries(path):
    tensors = open_path(path)
    entries = [tensors.get_item(i) for i in range(tensors.get_n_items())]
    entry = tensors.lookup_entry("b")

    assert [entry.get_name() for entry in entries] == tensors.list_names() == ["a", "b"]
    assert tensors.get_n_items() == 2
    assert entry.get_dtype() == entry.props.dtype == Mtl.DType.INT16
    assert entry.get_shape() == [2, 1]
    assert entry.get_n_bytes() == entry.props.n_bytes == 4
    assert entry.get_byte_offset() == path.stat().st_size - 4
    assert entry.get_file().get_path() == tensors.get_file().get_path() == str(path)
    assert entry.load_view().tolist() == [[-2], [300]]
    assert tensors.get_device() is Mtl.Device.get_host()
    assert tensors.get_mode() == tensors.props.mode == Mtl.TensorFileMode.MAP


def test_mapped_views_are_read_only_and_stay(path):
    tensors = open_path(path, Mtl.TensorFileMode.MAP)
    array = np.asarray(tensors.load_view("b"))

    assert tensors.load_view("b").equal(tensors.load_view("b"))
    path.unlink()
    del tensors
    gc.collect()
    assert array.tolist() == [[-2], [300]] and not array.flags.writeable


def test_read_views_are_their_owners(path):
    tensors = open_path(path, Mtl.TensorFileMode.READ)
    view = tensors.load_view("b")

    view[...] = 7
    assert tensors.load_view("b").tolist() == [[-2], [300]]


def test_index(tmp_path, path):
    write_safetensors(tmp_path / "2", {"c": {"dtype": "BF16", "shape": [1],
                                             "data_offsets": [0, 2]}}, b"\x80\x3f")
    (tmp_path / "index").write_text(json.dumps({"weight_map": {"c": "2", "b": "file"}}))
    tensors = open_path(tmp_path / "index")

    assert tensors.list_names() == ["c", "b"]
    assert tensors.load_view("c").tolist() == [1.0]
    assert tensors.load_view("c").get_dtype() == Mtl.DType.BFLOAT16
    assert tensors.load_view("b").tolist() == [[-2], [300]]


ALL_CHECKS = Mtl.TensorFileChecks.NAN | Mtl.TensorFileChecks.BOOL | Mtl.TensorFileChecks.ALIGNMENT

# The floats among the kinds that a file can have.
FLOATS = ["F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"]


def check(tensors, checks=ALL_CHECKS, cancellable=None, progress=None):
    return tensors.check(checks, cancellable, progress)


@pytest.mark.parametrize("dtype", FLOATS)
def test_check_knows_all_patterns(tmp_path, dtype):
    size = 1 if "8" in dtype else 2
    patterns = np.arange(256**size, dtype=f"<u{size}")

    def open_tensors(tensors):
        write_safetensors(tmp_path / "file", *lay_out({
            name: (dtype, values.shape, values.tobytes()) for name, values in tensors.items()}))
        return open_path(tmp_path / "file")

    is_nan = np.isnan(open_tensors({"all": patterns}).load_view("all").to_dtype(
        Mtl.DType.FLOAT64))
    assert 0 < is_nan.sum() < len(patterns)
    assert open_tensors({"numbers": patterns[~is_nan]}).check(Mtl.TensorFileChecks.NAN, None, None)

    tensors = open_tensors({f"{pattern:05}": pattern for pattern in patterns[is_nan]})
    assert len(tensors) == is_nan.sum()
    for i, name in enumerate(tensors):
        with pytest.raises(ValueError, match=says(f"“{name}”", "()", "NaN")):
            tensors.get_item(i).check(Mtl.TensorFileChecks.NAN, None)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16", "<f2"])
@pytest.mark.parametrize("order", "CF")
def test_check_tells_where_nan_is(tmp_path, dtype, order):
    array = np.zeros((30, 40, 50), dtype, order)
    array[:] = np.inf
    np.save(tmp_path / "file.npy", array)
    assert check(open_path(tmp_path / "file.npy"))

    array[17, 3, 29] = array[18, 4, 30] = complex(0, -np.nan) if "c" in dtype else -np.nan
    np.save(tmp_path / "file.npy", array)
    with pytest.raises(ValueError, match=says("“”", "(17, 3, 29)")):
        check(open_path(tmp_path / "file.npy"))


def test_check_of_archives(tmp_path):
    np.savez(tmp_path / "file.npz", **some_arrays())
    np.savez_compressed(tmp_path / "small.npz", **some_arrays())

    assert check(open_path(tmp_path / "file.npz"), Mtl.TensorFileChecks.NAN)
    assert check(open_path(tmp_path / "small.npz"))
    content = bytearray((tmp_path / "file.npz").read_bytes())
    content[open_path(tmp_path / "file.npz").lookup_entry("int64 (3, 5)").get_byte_offset()] ^= 1
    (tmp_path / "file.npz").write_bytes(content)
    with pytest.raises(ValueError, match=says("“int64 (3, 5)”", "CRC")):
        check(open_path(tmp_path / "file.npz"), Mtl.TensorFileChecks.NONE)


def test_check_in_background(path):
    tensors = open_path(path)
    result = wait_for(lambda ready: tensors.check_async(
        Mtl.TensorFileChecks.NONE, GLib.PRIORITY_DEFAULT, None, None, ready))
    assert tensors.check_finish(result)

    result = wait_for(lambda ready: tensors.check_async(ALL_CHECKS, callback=ready))
    with pytest.raises(ValueError, match="“b”"):
        tensors.check_finish(result)


def test_names_match_patterns(path):
    tensors = open_path(path)

    assert tensors.match_loadable_names("?") == tensors.match_loadable_names(None) == ["a", "b"]
    assert tensors.match_loadable_names("*b") == ["b"] and tensors.match_loadable_names("c") == []


def test_format(tmp_path, path):
    np.save(tmp_path / "1", 5)
    np.savez(tmp_path / "2", 5)
    tensors = open_path(path)

    assert tensors.get_format() == tensors.props.format == Mtl.TensorFileFormat.SAFETENSORS
    assert open_path(tmp_path / "1.npy").get_format() == Mtl.TensorFileFormat.NPY
    assert open_path(tmp_path / "2.npz").get_format() == Mtl.TensorFileFormat.NPZ


@pytest.mark.parametrize("mode", MODES)
def test_views(path, mode):
    views = load_views(open_path(path, mode))

    assert [view.tolist() for view in views] == [[5], [[-2], [300]]]
    assert [view.tolist() for view in load_views(open_path(path, mode), "a*")] == [[5]]
    assert load_views(open_path(path, mode), "c") == []


@pytest.mark.parametrize("mode", MODES)
def test_prefetch(path, mode):
    tensors = open_path(path, mode)

    assert tensors.prefetch(load_views(tensors)) and tensors.prefetch([])
    assert tensors.prefetch([tensors.load_view("b")[::-1], Mtl.asview(np.zeros(3))])


def test_progress(tmp_path):
    np.save(tmp_path / "file.npy", np.zeros(3_000_000))
    tensors, told = open_path(tmp_path / "file.npy", Mtl.TensorFileMode.READ), []

    load_views(tensors, progress=lambda *numbers: told.append(numbers))
    assert told == sorted(told) and told[-1] == (24_000_000, 24_000_000)


@pytest.mark.parametrize("mode", MODES)
def test_views_are_cancelled(path, mode):
    tensors = open_path(path, mode)
    entry = tensors.lookup_entry("b")

    for call in (lambda cancellable: load_views(tensors, cancellable=cancellable),
                 lambda cancellable: tensors.load_view("b", cancellable), entry.load_view):
        with pytest.raises(GLib.Error) as caught:
            call(cancelled())
        assert is_cancelled(caught)
    uncancelled = Gio.Cancellable()
    assert tensors.load_view("b", uncancelled).tolist() == [[-2], [300]]
    assert entry.load_view(cancellable=uncancelled).tolist() == [[-2], [300]]


def write_with_rest(path, deflated):
    """An archive of an array of one byte, with 3 GiB after it that take up little space."""
    array = io.BytesIO()
    np.save(array, np.uint8(1))
    content = array.getvalue()
    size = stored_size = len(content) + 192 * 2**24
    if deflated:
        compressor = zlib.compressobj(1, wbits=-15)
        content = compressor.compress(content) + compressor.flush(zlib.Z_FULL_FLUSH)
        zeros = compressor.compress(bytes(2**24)) + compressor.flush(zlib.Z_FULL_FLUSH)
        content += zeros * 192 + compressor.flush()
        stored_size = len(content)
    fields = struct.pack("<5H3I2H", 20, 0, 8 * deflated, 0, 0, 0, stored_size, size, 5, 0)
    header = b"PK\3\4" + fields + b"a.npy"
    directory = b"PK\1\2\x14\0" + fields + bytes(14) + b"a.npy"
    begin = len(header) + stored_size
    with path.open("wb") as file:
        file.write(header + content)
        file.seek(begin)
        file.write(directory + b"PK\5\6"
                   + struct.pack("<4H2IH", 0, 0, 1, 1, len(directory), begin, 0))


@pytest.mark.parametrize("deflated", [False, True])
def test_what_follows_an_array_is_cancelled(tmp_path, deflated):
    write_with_rest(tmp_path / "a.npz", deflated)
    tensors = open_path(tmp_path / "a.npz", Mtl.TensorFileMode.READ)
    for call in (lambda cancellable: tensors.load_view("a", cancellable),
                 lambda cancellable: load_views(tensors, cancellable=cancellable),
                 lambda cancellable: tensors.check(Mtl.TensorFileChecks(0), cancellable, None)):
        cancellable = Gio.Cancellable()
        timer = threading.Timer(0.05, cancellable.cancel)
        timer.start()
        with pytest.raises(GLib.Error) as caught:
            call(cancellable)
        timer.join()
        assert is_cancelled(caught)


def test_open(path):
    file = Gio.File.new_for_path(str(path))
    open_file = Mtl.TensorFile.open

    for tensors in (open_file(file), open_file(file, cancellable=Gio.Cancellable()),
                    open_file(file, None, Mtl.TensorFileMode.AUTO, None)):
        assert tensors.get_mode() == Mtl.TensorFileMode.MAP and tensors.get_device() is HOST
        assert tensors.load_view("b").tolist() == [[-2], [300]]
    for tensors in (open_file(file, DEFAULT, Mtl.TensorFileMode.READ),
                    open_file(file, mode=Mtl.TensorFileMode.READ, device=DEFAULT)):
        assert tensors.get_mode() == Mtl.TensorFileMode.READ and tensors.get_device() is DEFAULT
    with pytest.raises(GLib.Error) as caught:
        open_file(file, cancellable=cancelled())
    assert is_cancelled(caught)


def wait_for(start):
    """The result that the callback of an asynchronous function is given."""
    results = []
    start(lambda source, result: results.append(result))
    while not results:
        GLib.MainContext.default().iteration(True)
    return results[0]


def test_open_in_background(path):
    result = wait_for(lambda ready: Mtl.TensorFile.open_async(
        Gio.File.new_for_path(str(path)), None, Mtl.TensorFileMode.READ, GLib.PRIORITY_LOW, None, ready))

    assert Mtl.TensorFile.open_finish(result).load_view("b").tolist() == [[-2], [300]]


@pytest.mark.parametrize("mode", MODES)
def test_views_in_background(path, mode):
    tensors = open_path(path, mode)
    result = wait_for(lambda ready: tensors.load_views_async(callback=ready))

    assert [view.tolist() for view in tensors.load_views_finish(result)] == [[5], [[-2], [300]]]


@pytest.mark.parametrize("mode", MODES)
def test_close(path, mode):
    tensors = open_path(path, mode)
    view = tensors.load_view("b")

    tensors.close()
    assert view.tolist() == [[-2], [300]] and tensors.list_names() == ["a", "b"]
    with pytest.raises(ValueError, match="file") as caught:
        tensors.load_view("b")
    assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED)


def test_errors(tmp_path, path):
    tensors = open_path(path)
    with pytest.raises(KeyError, match=says("“c”", 2)):
        tensors.load_view("c")
    with pytest.raises(IsADirectoryError) as caught:
        open_path(tmp_path)
    assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.IS_DIRECTORY)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=says("file”", 5)):
        open_path(path)

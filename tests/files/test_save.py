# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mtl.save(): its arguments, and the content of the file."""

import array
import errno
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from says import says


@pytest.fixture
def path(tmp_path):
    return tmp_path / "файл"


def header_of(path):
    content = path.read_bytes()
    size, = struct.unpack_from("<Q", content)
    return json.loads(content[8:8 + size]), 8 + size


def test_what_asview_takes(path):
    values = {"array": np.arange(6, dtype="i2").reshape(2, 3), "list": [[1, 2], [3, 4]],
              "number": 2.5, "truth": [True, False], "bytes": b"\1\2", "bytearray": bytearray(3),
              "array.array": array.array("f", [1, 2]), "memoryview": memoryview(b"x"),
              "view": Mtl.asview([1.5]), "strided": np.arange(12).reshape(3, 4)[::-1, ::2].T}
    Mtl.save(path, values)
    file = Mtl.load(path)

    assert file.keys() == values.keys()
    for name, value in values.items():
        assert file[name].array_equal(Mtl.asview(value)), name
        assert file[name].dtype == Mtl.asview(value).dtype, name


@pytest.mark.parametrize("kind", [os.fspath, os.fsencode, lambda path: path,
                                  lambda path: Gio.File.new_for_path(os.fspath(path))])
def test_paths(path, kind):
    Mtl.save(kind(path), {"x": [1, 2]})
    assert Mtl.load(path)["x"].tolist() == [1, 2]


@pytest.mark.parametrize("kind", [str, os.fsencode])
@pytest.mark.parametrize("end", ["/", "//", "/.", "/..", "/no/such/"])
def test_paths_of_folders(tmp_path, kind, end):
    """Whatever is there. A Gio.File would be one without the end."""
    file = tmp_path / "file"
    Mtl.save(file, {"x": [1, 2]})
    for path in (kind(f"{file}{end}"), kind(f"{tmp_path}/none{end}"), kind(f"{tmp_path}{end}")):
        for function in (Mtl.load, lambda path: Mtl.save(path, {"x": [3]})):
            with pytest.raises(IsADirectoryError) as caught:
                function(path)
            assert caught.value.errno == errno.EISDIR and caught.value.filename == path
    assert os.listdir(tmp_path) == ["file"] and Mtl.load(file)["x"].tolist() == [1, 2]


@pytest.mark.parametrize("path", ["", b"", "/", ".", "..", "./", "//"])
def test_paths_of_nothing(path):
    for function in (Mtl.load, lambda path: Mtl.save(path, {})):
        with pytest.raises(FileNotFoundError if not path else IsADirectoryError) as caught:
            function(path)
        assert caught.value.filename == path


@pytest.mark.parametrize("uri", ["http://example.org/", "none:"])
def test_files_elsewhere(uri):
    for function in (Mtl.load, lambda path: Mtl.save(path, {})):
        with pytest.raises(OSError):
            function(Gio.File.new_for_uri(uri))


def test_metadata(path):
    Mtl.save(path, {}, metadata={"format": "pt", "ключ": "\"\n\\\x01"})
    assert header_of(path)[0] == {"__metadata__": {"format": "pt", "ключ": "\"\n\\\x01"}}


def test_order_and_alignment(path):
    tensors = {"a": np.zeros(3, "u1"), "b": np.zeros(4), "c": np.zeros(5, "f4")}

    def places(**keywords):
        Mtl.save(path, tensors, **keywords)
        header, start = header_of(path)
        return sorted(header, key=lambda name: header[name]["data_offsets"]), start

    names, start = places()
    assert names == ["b", "c", "a"] and start % 64 == 0
    assert places(order=Mtl.TensorFileOrder.ADDED, alignment=8)[0] == ["a", "b", "c"]
    assert places(alignment=4096)[1] == 4096


def test_a_file_over_itself(path):
    Mtl.save(path, {"a": [1, 2], "b": [3]})
    file = Mtl.load(path)
    Mtl.save(path, {**file, "b": file["a"]}, metadata=file.metadata)

    assert {name: view.tolist() for name, view in Mtl.load(path).items()} == {
        "a": [1, 2], "b": [1, 2]}
    assert file["b"].tolist() == [3]
    Mtl.save(path, file)
    assert Mtl.load(path)["b"].tolist() == [3]


def test_npy(tmp_path):
    values = np.arange(6, dtype="f4").reshape(2, 3)
    for tensors in (values.T, {"name": values.T}):
        Mtl.save(tmp_path / "file.npy", tensors)
        np.testing.assert_array_equal(np.load(tmp_path / "file.npy"), values.T)
    with pytest.raises(ValueError):
        Mtl.save(tmp_path / "file.npy", {"a": [1], "b": [2]})
    with pytest.raises(ValueError, match=says("file.npz", ".npz")):
        Mtl.save(tmp_path / "file.npz", {"a": [1]})
    Mtl.save(tmp_path / "FILE.NPY", values)
    np.testing.assert_array_equal(np.load(tmp_path / "FILE.NPY"), values)


def test_format(tmp_path):
    with pytest.raises(ValueError, match=says("o.pt", ".safetensors", ".npy")):
        Mtl.save(tmp_path / "o.pt", {"a": [1]})
    assert not (tmp_path / "o.pt").exists()
    Mtl.save(tmp_path / "o.pt", {"a": [1]}, format=Mtl.TensorFileFormat.SAFETENSORS, sync=False)
    assert Mtl.load(tmp_path / "o.pt")["a"].tolist() == [1]
    Mtl.save(tmp_path / "o.bin", [1, 2], format=Mtl.TensorFileFormat.NPY)
    assert np.load(tmp_path / "o.bin").tolist() == [1, 2]
    with pytest.raises(TypeError):
        Mtl.save(tmp_path / "o.safetensors", [1, 2])


@pytest.mark.parametrize("name", ["npy", "npz", "xnpy"])
def test_name_that_is_no_ending(tmp_path, name):
    Mtl.save(tmp_path / name, {"a": [1], "b": [2]})
    assert Mtl.load(tmp_path / name).keys() == {"a", "b"}


class NoText:
    """A producer whose exception cannot be made of a message alone."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **keywords):
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


@pytest.mark.parametrize("tensors, kind, values", [
    ([1, 2], TypeError, ["list"]), ({1: [1]}, TypeError, ["str", "int", 1]),
    ({"a\0b": [1]}, ValueError, ["'a\\x00b'"]), ({"x": "text"}, TypeError, ["'x'", "str"]),
    ({"x": [1, [2]]}, ValueError, ["'x'"]), ({"x": NoText()}, ValueError, ["'x'", "0xff"]),
    ({"__metadata__": [1]}, ValueError, ["__metadata__"]),
    ({"x": np.zeros(1, "c16")}, NotImplementedError, ["“x”", "complex128"]),
    ({"\ud800": [1]}, UnicodeEncodeError, [])])
def test_tensors_that_cannot_be_saved(path, tensors, kind, values):
    path.write_bytes(b"kept")
    with pytest.raises(kind, match=says(*values)):
        Mtl.save(path, tensors)
    assert path.read_bytes() == b"kept" and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("keywords, kind", [
    ({"metadata": {"a": 1}}, TypeError), ({"metadata": {1: "a"}}, TypeError),
    ({"metadata": {"a": "\0"}}, ValueError), ({"alignment": 3}, ValueError),
    ({"alignment": -1}, ValueError), ({"alignment": 2**40}, ValueError),
    ({"order": "sorted"}, ValueError), ({"ordre": None}, TypeError),
    ({"dtype": "float31"}, ValueError), ({"dtype": 3.5}, TypeError), ({"dtype": ["f4"]}, TypeError),
    ({"dtype": "other"}, ValueError), ({"dtype": "opaque_handle8"}, NotImplementedError)])
def test_options_that_cannot_be(path, keywords, kind):
    with pytest.raises(kind):
        Mtl.save(path, {"x": [1]}, **keywords)
    assert not path.exists()


def test_errors_of_files(tmp_path):
    for path, kind, code in ((tmp_path / "no" / "file", FileNotFoundError, errno.ENOENT),
                             (tmp_path, IsADirectoryError, errno.EISDIR)):
        with pytest.raises(kind) as caught:
            Mtl.save(path, {"x": [1]})
        assert caught.value.errno == code and isinstance(caught.value.__cause__, GLib.Error)


NAMES = ["float16", "bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int8", "uint64", "bool",
         "float64", "complex64"]


@pytest.mark.parametrize("dtype", NAMES)
def test_converted(tmp_path, dtype, rng):
    path = tmp_path / "file.safetensors"
    values = np.array([rng.randrange(-2, 3) / 2 for _ in range(6000)], "f4").reshape(60, 100)
    tensors = {"rows": values, "columns": values.T, "view": Mtl.asview(values)[::-2, 3:],
               "list": [[0, 1], [1, 0]], "range": range(2), "same": Mtl.ones((2, 2), dtype),
               "number": 1, "empty": np.zeros((0, 3))}
    if dtype == "float4_e2m1fn":
        del tensors["number"]  # half a byte
    Mtl.save(path, tensors, dtype=dtype)
    file = Mtl.load(path)

    assert file.keys() == tensors.keys()
    for name, value in tensors.items():
        expected = Mtl.array(value).astype(dtype)
        assert file[name].dtype == dtype and file[name].shape == expected.shape
        assert bytes(file[name]) == bytes(expected), name


def test_converted_to_npy(tmp_path):
    Mtl.save(tmp_path / "x.npy", np.arange(6).reshape(2, 3).T, dtype=np.float32)
    array = np.load(tmp_path / "x.npy")
    assert array.dtype == "f4" and array.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("values, kind, number", [
    ([1, 300], ValueError, 300), (-1, ValueError, -1), ((1, (300,)), ValueError, ""),
    ("text", TypeError, "")])
def test_values_that_the_type_cannot_hold(tmp_path, values, kind, number):
    path = tmp_path / "file"
    with pytest.raises(kind, match=says("'x'", number)):
        Mtl.save(path, {"x": values}, dtype="uint8")
    assert not path.exists()
    Mtl.save(path, {"x": np.array([1, 300])}, dtype="uint8")  # as astype() does
    assert Mtl.load(path)["x"].tolist() == [1, 300 % 256]


def test_converting_takes_no_memory(tmp_path):
    """A copy would take 32 MiB."""
    code = f"""
import resource
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
view = Mtl.ones((2**12, 2**12), "float32")
Mtl.save({str(tmp_path / "file")!r}, {{"x": view[:9]}}, dtype="bfloat16", sync=False)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Mtl.save({str(tmp_path / "file")!r}, {{"x": view}}, dtype="bfloat16", sync=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) * (1 if sys.platform == "darwin" else 1024) < 16 * 2**20
    assert Mtl.load(tmp_path / "file").lookup_entry("x").nbytes == 2**25


@pytest.mark.parametrize("size, n_bytes", [
    (1, 1), (2**62, 2**62), (np.int64(100), 100), ("100", 100), ("100B", 100),
    ("1KB", 1000), ("1kb", 1000), ("1K", 1024), (" 1 KiB ", 1024), ("0.5KB", 500), ("1.5KiB", 1536),
    ("0.001MB", 1000), ("3MiB", 3 * 2**20), ("5GB", 5 * 10**9), ("5GiB", 5 * 2**30),
    ("2TB", 2 * 10**12), ("1t", 2**40)])
def test_sizes_of_shards(tmp_path, size, n_bytes):
    index = tmp_path / "m.safetensors.index.json"
    tensors = {f"t{i}": Mtl.zeros(2**i, "uint8") for i in range(13)}
    Mtl.save(index, tensors, max_shard_size=size, order="added")
    file = Mtl.load(index)

    assert list(file) == list(tensors)
    # Shards have the order of the tensors, and as many as there is room for.
    expected, left = [], -1
    for i in range(13):
        if 2**i > left:
            expected.append([])
            left = n_bytes
        expected[-1].append(f"t{i}")
        left -= 2**i
    files = {}
    for name in file:
        files.setdefault(file.lookup_entry(name).get_file().get_basename(), []).append(name)
    assert list(files.values()) == expected
    assert sorted(os.listdir(tmp_path)) == sorted([index.name, *files])


def test_shards_that_are_converted(tmp_path):
    """Their size is that in the files."""
    index = tmp_path / "m.safetensors.index.json"
    tensors = {name: np.arange(100.0) for name in "abcd"}
    Mtl.save(index, tensors, dtype="float16", max_shard_size="400B", metadata={"format": "pt"})
    file = Mtl.load(index)
    assert len(os.listdir(tmp_path)) == 3
    assert all(file[name].dtype == "float16" for name in "abcd")
    assert file["d"].tolist() == list(range(100))
    assert Mtl.load(tmp_path / "m-00001-of-00002.safetensors").metadata == {"format": "pt"}
    # The shards are saved over themselves.
    Mtl.save(index, file, max_shard_size=200)
    assert Mtl.load(index)["d"].tolist() == list(range(100)) and len(os.listdir(tmp_path)) == 7


@pytest.mark.parametrize("size, kind, told", [
    (0, ValueError, 0), (-1, ValueError, -1), (2**63, ValueError, 2**63), ("0", ValueError, 0),
    ("0.4B", ValueError, 0), ("9999999TB", ValueError, 9999999 * 10**12),
    *((text, ValueError, repr(text)) for text in ("", "5 GBs", "GB", "5PB", "-5GB", "1e9", "٥GB",
                                                  "5,5GB", "inf")),
    (5.0, TypeError, "float"), (b"5GB", TypeError, "b'5GB'"), ([5], TypeError, "list")],
    ids=repr)
def test_sizes_that_cannot_be(tmp_path, size, kind, told):
    with pytest.raises(kind, match=says("max_shard_size", told)):
        Mtl.save(tmp_path / "m.safetensors.index.json", {"x": [1]}, max_shard_size=size)
    assert os.listdir(tmp_path) == []


def test_names_of_shards(tmp_path):
    for name, keywords, kind, values in (
            ("m.safetensors", {"max_shard_size": 5}, ValueError, ["m.safetensors", "index.json"]),
            ("m.npy", {"max_shard_size": 5}, ValueError, ["m.npy", "index.json"]),
            (".index.json", {"max_shard_size": 5}, ValueError, ["index.json"]),
            ("m.index.json", {"max_shard_size": 5, "format": "npy"}, NotImplementedError, ["npy"]),
            ("m.safetensors.index.json", {}, ValueError, ["max_shard_size"]),
            ("M.INDEX.JSON", {}, ValueError, ["max_shard_size"]),
            ("no/m.index.json", {"max_shard_size": 5}, FileNotFoundError, ["no"]),
            ("m.index.json/", {"max_shard_size": 5}, IsADirectoryError, ["m.index.json"])):
        with pytest.raises(kind, match=says(*values)):
            Mtl.save(f"{tmp_path}/{name}", {"x": [1]}, **keywords)
    with pytest.raises(TypeError):
        Mtl.save(tmp_path / "m.index.json", [1, 2], max_shard_size=5)
    assert os.listdir(tmp_path) == []
    Mtl.save(tmp_path / "m", {"x": [1]}, format=None, max_shard_size=None, dtype=None)
    Mtl.save(tmp_path / "x.index.json", {"x": [1]}, format="safetensors")
    assert Mtl.load(tmp_path / "m")["x"].tolist() == [1]


# Clients


def test_from_torch(path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    safetensors = pytest.importorskip("safetensors.torch",
                                      reason="safetensors is among the pinned peers only")
    weight = torch.arange(6.0).reshape(2, 3).requires_grad_()
    tensors = {"weight": weight, "transposed": weight.T, "bfloat16": weight.bfloat16(),
               "float8": weight.to(torch.float8_e4m3fn), "bool": weight > 2,
               "none": torch.empty(0, 3), "number": torch.tensor(7)}
    Mtl.save(path, tensors, metadata={"format": "pt"})

    loaded = safetensors.load_file(path)
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].dtype == tensor.dtype and loaded[name].shape == tensor.shape
        assert loaded[name].tolist() == tensor.tolist(), name
    file = Mtl.load(path)
    assert all(torch.from_dlpack(view).tolist() == tensors[name].tolist()
               for name, view in file.items())


def test_from_jax(path):
    jax = pytest.importorskip("jax", reason="JAX is among the pinned peers only")
    tensors = {name: jax.numpy.arange(4, dtype=name) for name in ("bfloat16", "float8_e5m2",
                                                                   "int32")}
    Mtl.save(path, tensors)
    file = Mtl.load(path)

    for name in tensors:
        assert file[name].dtype.name == name and file[name].tolist() == [0, 1, 2, 3]


def test_from_mlx(path):
    mlx = pytest.importorskip("mlx.core", reason="MLX is among the pinned peers only")
    Mtl.save(path, {"x": mlx.arange(4, dtype=mlx.bfloat16), "y": mlx.ones((2, 2))})
    os.rename(path, path.with_suffix(".safetensors"))
    loaded = mlx.load(str(path.with_suffix(".safetensors")))

    assert loaded["x"].dtype == mlx.bfloat16 and loaded["x"].tolist() == [0, 1, 2, 3]
    assert loaded["y"].tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float4_e2m1fn", "float6_e3m2fn"])
def test_from_ml_dtypes(path, name):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
    values = np.array([[0.5, 1, -2, 4], [0, 3, -1, 1.5]]).astype(getattr(ml_dtypes, name))
    Mtl.save(path, {"x": values, "turned": values.T})
    file = Mtl.load(path)

    for key, expected in (("x", values), ("turned", values.T)):
        same = np.asarray(file[key])
        assert same.dtype == expected.dtype and same.tolist() == expected.tolist()

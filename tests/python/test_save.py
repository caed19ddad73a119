# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mtl.save(): what it takes, and what is in the file then."""

import array
import errno
import json
import os
import struct

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl


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
        with pytest.raises(OSError, match="has no path on this machine"):
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
    with pytest.raises(ValueError, match="npz files are only read"):
        Mtl.save(tmp_path / "file.npz", {"a": [1]})
    Mtl.save(tmp_path / "FILE.NPY", values)
    np.testing.assert_array_equal(np.load(tmp_path / "FILE.NPY"), values)


def test_format(tmp_path):
    with pytest.raises(ValueError, match="files are written as .safetensors or .npy"):
        Mtl.save(tmp_path / "o.pt", {"a": [1]})
    assert not (tmp_path / "o.pt").exists()
    Mtl.save(tmp_path / "o.pt", {"a": [1]}, format=Mtl.TensorFileFormat.SAFETENSORS, sync=False)
    assert Mtl.load(tmp_path / "o.pt")["a"].tolist() == [1]
    Mtl.save(tmp_path / "o.bin", [1, 2], format=Mtl.TensorFileFormat.NPY)
    assert np.load(tmp_path / "o.bin").tolist() == [1, 2]
    with pytest.raises(TypeError, match="mapping"):
        Mtl.save(tmp_path / "o.safetensors", [1, 2])


@pytest.mark.parametrize("name", ["npy", "npz", "xnpy"])
def test_name_that_is_no_ending(tmp_path, name):
    Mtl.save(tmp_path / name, {"a": [1], "b": [2]})
    assert Mtl.load(tmp_path / name).keys() == {"a", "b"}


class NoText:
    """What a producer raises may be made otherwise than of a message."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **keywords):
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


@pytest.mark.parametrize("tensors, kind, message", [
    ([1, 2], TypeError, "a mapping of names to tensors, not list"),
    ({1: [1]}, TypeError, "name of a tensor must be a str, not int: 1"),
    ({"a\0b": [1]}, ValueError, r"cannot contain a NUL: 'a\\x00b'"),
    ({"x": "text"}, TypeError, "tensor 'x': str exports neither"),
    ({"x": [1, [2]]}, ValueError, "tensor 'x': nested sequences of diff"),
    ({"x": NoText()}, ValueError, "tensor 'x': 'utf-8' codec can't decode byte 0xff"),
    ({"__metadata__": [1]}, ValueError, "__metadata__"),
    ({"x": np.zeros(1, "c16")}, NotImplementedError, "“x”"),
    ({"\ud800": [1]}, UnicodeEncodeError, "surrogates")])
def test_tensors_that_cannot_be_saved(path, tensors, kind, message):
    path.write_bytes(b"kept")
    with pytest.raises(kind, match=message):
        Mtl.save(path, tensors)
    assert path.read_bytes() == b"kept" and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("keywords, kind", [
    ({"metadata": {"a": 1}}, TypeError), ({"metadata": {1: "a"}}, TypeError),
    ({"metadata": {"a": "\0"}}, ValueError), ({"alignment": 3}, ValueError),
    ({"alignment": -1}, ValueError), ({"alignment": 2**40}, ValueError),
    ({"order": "sorted"}, ValueError), ({"ordre": None}, TypeError)])
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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The result of Mtl.load(): a mapping of names to views, a context, and a Gio.ListModel still."""

import collections.abc
import errno
import os
import pathlib
import sys
import tempfile

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from says import says
from tensor_files import write_safetensors, write_two_tensors


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "файл"
    write_two_tensors(path)
    return path


@pytest.fixture
def file(path):
    return Mtl.load(path)


@pytest.mark.parametrize("kind", [os.fspath, os.fsencode, lambda path: path,
                                  lambda path: Gio.File.new_for_path(os.fspath(path))])
def test_paths(path, kind):
    assert list(Mtl.load(kind(path))) == ["a", "b"]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no such names")
def test_path_that_is_no_text(tmp_path):
    write_two_tensors(tmp_path / os.fsdecode(b"\xff"))

    assert len(Mtl.load(os.fsencode(tmp_path) + b"/\xff")) == 2
    assert len(Mtl.load(tmp_path / os.fsdecode(b"\xff"))) == 2


def test_relative_path(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    assert len(Mtl.load(path.name)) == 2


def test_options(path):
    assert Mtl.load(path).get_mode() == Mtl.TensorFileMode.MAP
    assert Mtl.load(path, mode=Mtl.TensorFileMode.READ).get_mode() == Mtl.TensorFileMode.READ
    host = Mtl.Device.get_host()
    assert Mtl.load(path, device=host)["a"].get_buffer().get_device() is host
    with pytest.raises(TypeError):
        Mtl.load(path, Mtl.TensorFileMode.READ)
    with pytest.raises(TypeError):
        Mtl.load(3.5)


def test_mapping(file):
    assert isinstance(file, collections.abc.Mapping)
    assert len(file) == 2 and list(file) == ["a", "b"] and list(reversed(file)) == ["b", "a"]
    assert file["b"].tolist() == [[-2], [300]] and file["b"].dtype == Mtl.DType.INT16
    assert "a" in file and "c" not in file
    assert file.get("a").tolist() == [5]
    assert file.get("c") is None and file.get("c", 3) == 3
    assert file.keys() == {"a", "b"} and file.keys() & {"a", "c"} == {"a"}
    assert [view.shape for view in file.values()] == [(1,), (2, 1)]
    assert [(name, view.nbytes) for name, view in file.items()] == [("a", 1), ("b", 4)]
    assert len(file.items()) == 2 and any(file["b"].equal(view) for view in file.values())


def test_as_dict(file):
    for same in (dict(file), {**file}, dict(file.items())):
        assert list(same) == ["a", "b"] and same["b"].array_equal(file["b"])

    def take(a, b):
        return a.shape, b.shape

    assert take(**file) == ((1,), (2, 1))


def test_is_equal_to_itself_alone(path, file):
    assert file == file and file != Mtl.load(path) and file != dict(file)
    assert {file: 1}[file] == 1


def test_empty_file(tmp_path):
    write_safetensors(tmp_path / "file", {}, b"")
    file = Mtl.load(tmp_path / "file")

    assert len(file) == 0 and not file and dict(file) == {} and file.metadata == {}


# Names that C's strings cannot hold must not find a name that is their beginning.
@pytest.mark.parametrize("name", ["c", "", "a\0", "a\0b", "\ud800", "a\udc80"])
def test_names_that_are_not_there(file, name):
    assert name not in file and file.get(name) is None
    with pytest.raises(KeyError) as caught:
        file[name]
    assert caught.value.args == (name,)


@pytest.mark.parametrize("key", [0, -1, slice(1), b"a", None, ("a",)])
def test_what_is_no_name(file, key):
    assert key not in file
    with pytest.raises(TypeError, match=says(type(key).__name__)):
        file[key]


def test_odd_names(tmp_path):
    names = ["", " ", "\n", "../../x", "ü", "u\u0308", "\uffff", "😀", "__class__", "0"]
    write_safetensors(tmp_path / "file", {
        name: {"dtype": "U8", "shape": [], "data_offsets": [i, i + 1]}
        for i, name in enumerate(names)}, bytes(range(len(names))))
    file = Mtl.load(tmp_path / "file")

    assert list(file) == names
    assert [file[name].item() for name in names] == list(range(len(names)))


def test_metadata(file):
    assert file.metadata == {"format": "pt", "ключ": "\n"}
    file.metadata["format"] = "np"
    assert file.metadata["format"] == "pt"


def test_list_model(file):
    assert isinstance(file, Gio.ListModel)
    assert file.get_item_type() == Mtl.TensorFileEntry.__gtype__
    assert [file.get_item(i).name for i in range(file.get_n_items())] == ["a", "b"]
    assert file.get_item(2) is None


def test_entry(file):
    entry = file.lookup_entry("b")

    assert (entry.name, entry.shape, entry.dtype, entry.nbytes) == ("b", (2, 1),
                                                                    Mtl.DType.INT16, 4)
    assert repr(entry) == "<Mtl.TensorFileEntry 'b' shape=(2, 1) dtype=int16 nbytes=4>"


def test_repr(path, file):
    assert repr(file) == f"<Mtl.TensorFile '{path}' of 2 tensors>"


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    """A file of 4 GiB: only the tensors taken out of it need memory."""
    path = tmp_path / "file"
    write_safetensors(path, {
        "small": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "large": {"dtype": "F32", "shape": [2**30], "data_offsets": [1, 2**32 + 1]}}, b"\x07")
    os.truncate(path, path.stat().st_size + 2**32)
    file, read = Mtl.load(path), Mtl.load(path, mode=Mtl.TensorFileMode.READ)

    assert read.lookup_entry("large").shape == (2**30,) and read["small"].tolist() == [7]
    assert next(iter(read.values())).tolist() == [7]
    assert dict(file)["large"][-1] == 0


def test_views_outlive_the_context(path):
    with Mtl.load(path) as file:
        view = file["b"]
    assert view.tolist() == [[-2], [300]]
    assert list(file) == ["a", "b"] and "a" in file and file.lookup_entry("a").shape == (1,)
    with pytest.raises(ValueError) as caught:
        file["a"]
    assert caught.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED)
    file.close()


def test_context_lets_errors_through(path):
    with pytest.raises(ZeroDivisionError), Mtl.load(path) as file:
        1 / 0
    with pytest.raises(ValueError):
        file["a"]


def test_errors_of_files(tmp_path, path):
    for path, kind, code in ((tmp_path / "nothing", FileNotFoundError, errno.ENOENT),
                             (tmp_path, IsADirectoryError, errno.EISDIR),
                             (tmp_path / ("x" * 300), OSError, errno.ENAMETOOLONG),
                             (path / "x", NotADirectoryError, errno.ENOTDIR),
                             ("/dev/null", OSError, None)):
        with pytest.raises(kind) as caught:
            Mtl.load(path)
        assert caught.value.errno == code and str(path) in str(caught.value)
        assert isinstance(caught.value.__cause__, GLib.Error)


@pytest.fixture
def public_folder():
    """Into which every user may look; pytest's are for their owner."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def test_no_permission(public_folder):
    closed, readable = public_folder / "closed", public_folder / "readable"
    for path, mode in ((closed, 0), (readable, 0o444)):
        write_two_tensors(path)
        path.chmod(mode)
    is_root = os.geteuid() == 0
    if is_root:  # root may read everything
        os.seteuid(65534)
    try:
        assert len(Mtl.load(readable)) == 2
        with pytest.raises(PermissionError):
            Mtl.load(closed)
    finally:
        if is_root:
            os.seteuid(0)


def test_errors_of_formats(path):
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=says(5)):
        Mtl.load(path)


def test_file_that_was_replaced(path, file):
    write_safetensors(path.with_name("new"), {}, b"")
    os.replace(path.with_name("new"), path)

    assert file["b"].tolist() == [[-2], [300]] and len(Mtl.load(path)) == 0


def test_file_that_was_cut(path, file):
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(ValueError, match=path.name):
        file["a"]


# Clients


def write_floats(path):
    """Writes 1, -2, 0.5 in types that NumPy lacks."""
    write_safetensors(path, {
        "bfloat16": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]},
        "float8_e4m3fn": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [6, 9]},
        "float8_e5m2": {"dtype": "F8_E5M2", "shape": [3], "data_offsets": [9, 12]}},
        bytes.fromhex("803f00c0003f 38c030 3cc038"))


@pytest.mark.parametrize("mode", [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ])
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_floats_to_numpy(tmp_path, name, mode):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
    write_floats(tmp_path / "file")
    array = np.asarray(Mtl.load(tmp_path / "file", mode=mode)[name])

    assert array.dtype == getattr(ml_dtypes, name) and array.tolist() == [1, -2, 0.5]
    assert array.flags.writeable == (mode == Mtl.TensorFileMode.READ)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_floats_to_torch(tmp_path, name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    write_floats(tmp_path / "file")
    view = Mtl.load(tmp_path / "file")[name]
    tensor = torch.from_dlpack(view)

    assert tensor.dtype == getattr(torch, name) and tensor.tolist() == [1, -2, 0.5]
    assert tensor.data_ptr() == view.get_address()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_floats_to_jax(tmp_path, name):
    jax = pytest.importorskip("jax", reason="JAX is among the pinned peers only")
    write_floats(tmp_path / "file")
    read = Mtl.load(tmp_path / "file", mode=Mtl.TensorFileMode.READ)
    array = jax.numpy.from_dlpack(read[name])

    assert array.dtype.name == name and array.tolist() == [1, -2, 0.5]


def test_bfloat16_to_mlx(tmp_path):
    mlx = pytest.importorskip("mlx.core", reason="MLX is among the pinned peers only")
    write_floats(tmp_path / "file")
    array = mlx.array(Mtl.load(tmp_path / "file")["bfloat16"])

    assert array.dtype == mlx.bfloat16 and array.tolist() == [1, -2, 0.5]

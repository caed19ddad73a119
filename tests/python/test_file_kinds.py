# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that other programs have written are told as such, however they are opened."""

import asyncio
import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile

import gi
import numpy as np
import pytest

gi.require_version("Mtl", "1")
from gi.repository import Gio, Mtl  # noqa: E402

PICKLE = "a Python pickle, which may run any code"


def zipped(names):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, b"content")
    return content.getvalue()


def tarred():
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("file"), io.BytesIO())
    return content.getvalue()


def picture(kind):
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf

    pixbuf = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 20, 10)
    pixbuf.fill(0x204060ff)
    return bytes(pixbuf.save_to_bufferv(kind, [], [])[1])


def torch_file(**options):
    torch = pytest.importorskip("torch")
    content = io.BytesIO()
    torch.save({"weight": torch.ones(3)}, content, **options)
    return content.getvalue()


def cut(content):
    return content[:len(content) // 2]


KINDS = {
    "empty": (lambda: b"", "an empty file"),
    "text": (lambda: "1 2 3\nпривет\n".encode() * 200, "text, not a file of tensors"),
    "UTF-16": (lambda: "some text".encode("utf-16"), "text, not a file of tensors"),
    "config.json": (lambda: json.dumps({"hidden_size": 4096}, indent=2).encode(),
                    "not the index of a model"),
    "web page": (lambda: b"\n<!doctype HTML>\n<html></html>", "a web page in place of the file"),
    "git lfs": (lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n",
                "git lfs pull"),
    "torch": (torch_file, "a PyTorch checkpoint: convert it"),
    "half of torch": (lambda: cut(torch_file()), "a PyTorch checkpoint: convert it"),
    "legacy torch": (lambda: torch_file(_use_new_zipfile_serialization=False),
                     "a PyTorch checkpoint: convert it"),
    "dumped array": (lambda: np.arange(5.0).dumps(), PICKLE),
    **{f"pickle {protocol}": (lambda protocol=protocol: pickle.dumps({"a": [1]}, protocol), PICKLE)
       for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "gzip": (lambda: gzip.compress(b"x" * 1000), "gunzip"),
    "bzip2": (lambda: bz2.compress(b"x" * 1000), "bunzip2"),
    "xz": (lambda: lzma.compress(b"x" * 1000), "unxz"),
    "tar": (tarred, "a tar archive"),
    "zip": (lambda: zipped(["word/document.xml", "content"]), "a zip archive without arrays"),
    "png": (lambda: picture("png"), "a PNG picture"),
    "jpeg": (lambda: picture("jpeg"), "a JPEG picture"),
    "bmp": (lambda: picture("bmp"), "a BMP picture"),
    "tiff": (lambda: picture("tiff"), "a TIFF picture"),
    "zeros": (lambda: bytes(10_000), "begins with zeros"),
    "random": (lambda: b"\xd5" + np.random.default_rng(1).bytes(999), "neither safetensors nor"),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds(tmp_path, name):
    content, told = KINDS[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content())
    file = Gio.File.new_for_path(str(path))

    with pytest.raises(ValueError) as loaded:
        Mtl.load(path)
    message = str(loaded.value)
    assert message.startswith(f"“{path}”: This is ") and told in message
    assert "A header of" not in message
    assert len(message) < 400 and "\n" not in message

    with pytest.raises(ValueError, match="This is"):
        Mtl.TensorFile.open(file)

    async def open_in_background():
        await Mtl.TensorFile.open_async(file)

    with pytest.raises(ValueError, match="This is"):
        asyncio.run(open_in_background())


def test_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder without .safetensors"):
        Mtl.load(tmp_path)


def test_objects(tmp_path):
    """NumPy pickles them."""
    np.save(tmp_path / "a.npy", np.array([{}, 1], object), allow_pickle=True)
    with pytest.raises(Exception, match="Python objects, which are never loaded"):
        Mtl.load(tmp_path / "a.npy")


def test_member_of_a_model(tmp_path):
    """It is named."""
    (tmp_path / "1.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "1.safetensors"}}))
    with pytest.raises(ValueError, match="1.safetensors”: This is a Git LFS pointer"):
        Mtl.load(index)


def test_damaged_files_are_no_others(tmp_path):
    """What is wrong with them is said."""
    path = tmp_path / "a"
    Mtl.save(path, {"x": [1.0, 2.0]})
    content = path.read_bytes()
    for damaged in (content[:-1], content[:40],
                    content[:8] + b"{" + content[9:].replace(b'"', b"'")):
        path.write_bytes(damaged)
        with pytest.raises(ValueError) as error:
            Mtl.load(path)
        assert "This is" not in str(error.value)
    np.savez(path.with_suffix(".npz"), x=[1.0])
    path.with_suffix(".npz").write_bytes(cut(path.with_suffix(".npz").read_bytes()))
    with pytest.raises(ValueError, match="is not a zip archive, or it is truncated"):
        Mtl.load(path.with_suffix(".npz"))

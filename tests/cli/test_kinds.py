# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that other programs have written: each command says what they are, and what to do."""

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

from tensors import complaint, save

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
    "zip": (lambda: zipped(["word/document.xml", "content"]), "a zip archive"),
    "torch in zip": (lambda: zipped(["m/data.pkl", "m/data/0"]), "a PyTorch checkpoint"),
    "png": (lambda: picture("png"), "a PNG picture"),
    "jpeg": (lambda: picture("jpeg"), "a JPEG picture"),
    "bmp": (lambda: picture("bmp"), "a BMP picture"),
    "tiff": (lambda: picture("tiff"), "a TIFF picture"),
    "zeros": (lambda: bytes(10_000), "begins with zeros"),
}

# The first bytes of others.
STARTS = [
    (b'', "an empty file"),
    (b'x', "text"),
    (b'1 2 3\n4 5 6\n', "a table of numbers"),
    (b'\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 \xd0\xbc', "text"),
    (b'\xff\xfeh\x00a\x00l\x00l\x00o\x00', "text"),
    (b'\xfe\xff\x00h\x00a\x00l\x00l\x00o', "text"),
    (b'<!DOCTYPE html><p>404', "a web page"),
    (b'\xef\xbb\xbf\n  <HTML lang=en>', "a web page"),
    (b'<?xml version="1.0"?><Error/>', "an XML document"),
    (b'{"error": "not found"}', "not the index of a model"),
    (b' [1, 2, 3, 4]', "not the index of a model"),
    (b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n', "git lfs pull"),
    (b'\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M', "a PyTorch checkpoint"),
    (b'\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94.', "a Python pickle"),
    (b'\x80\x02}q\x01.', "a Python pickle"),
    (b'\x80\x05\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94.', "a Python pickle"),
    (b'GGUF\x03\x00\x00\x00\x00\x00\x00\x00', "a GGUF file"),
    (b'\x89HDF\r\n\x1a\n\x00\x00', "an HDF5 file"),
    (b'MATLAB 5.0 MAT-file, Platform', "a MATLAB file"),
    (b'MATLAB 7.3 MAT-file, Platform', "which is HDF5"),
    (b'\x1c\x00\x00\x00TFL3\x00\x00', "a TensorFlow Lite model"),
    (b'\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x04\n\x02ab', "an ONNX model"),
    (b'\x08\n\x12\x00(\x01:\x04\n\x02ab', "an ONNX model"),
    (b'\x08\x01\x12\x80\x08\n\x00\x00\x00\x00\x00', "a TensorFlow model"),
    (b'PAR1\x15\x00\x00\x00\x00\x00', "a Parquet table"),
    (b'ARROW1\x00\x00\x00\x00\x00', "an Arrow (Feather) table"),
    (b'\x89PNG\r\n\x1a\n\x00\x00', "a PNG picture"),
    (b'\xff\xd8\xff\xe0\x00\x10JFIF', "a JPEG picture"),
    (b'GIF89a\x00\x00\x00\x00', "a GIF picture"),
    (b'RIFF\x00\x00\x00\x00WEBPVP8 ', "a WebP picture"),
    (b'II*\x00\x08\x00\x00\x00\x00\x00', "a TIFF picture"),
    (b'BM\n\x00\x00\x00\x00\x00\x00\x00', "a BMP picture"),
    (b'\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00', "compressed with gzip"),
    (b'BZh91AY&SY', "compressed with bzip2"),
    (b'\xfd7zXZ\x00\x00\x04\xe6\xd6', "compressed with xz"),
    (b'(\xb5/\xfd\x04\x00\x01\x00\x00\x00', "compressed with zstd"),
    (b'SQLite format 3\x00\x10\x00', "an SQLite database"),
    (b'%PDF-1.7\n', "a PDF document"),
    (b'\x7fELF\x02\x01\x01\x00\x00\x00', "a program or a library"),
    (bytes(18), "begins with zeros"),
]


def told(tmp_path, content, *arguments):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    text = complaint(*(arguments or ("ls",)), path)
    assert text.startswith(f"“{path}”: ") and len(text) < 500
    return text


@pytest.mark.parametrize("name", KINDS)
def test_kinds(tmp_path, name):
    content, kind = KINDS[name]
    text = told(tmp_path, content())
    assert kind in text.partition(". This is ")[2]
    assert "A header of" not in text


@pytest.mark.parametrize("content, kind", STARTS)
def test_starts(tmp_path, content, kind):
    assert kind in told(tmp_path, content).partition(". This is ")[2]


def test_unknown_kind(tmp_path):
    """Only the bytes are there."""
    for seed in range(20):
        content = b"\xd5" + np.random.default_rng(seed).bytes(99)
        text = told(tmp_path, content)
        assert content[:16].hex(" ") in text and "This is" not in text


def test_commands(tmp_path):
    for command in ("ls", "show", "check"):
        assert "This is a PNG picture" in told(tmp_path, b"\x89PNG\r\n\x1a\n", command)
    text = complaint("cp", tmp_path / "model.safetensors", tmp_path / "o")
    assert "This is a PNG picture" in text
    assert not (tmp_path / "o").exists()


def test_damaged_files_are_no_others(tmp_path):
    """The library says what is wrong with them."""
    path = save(tmp_path / "a.safetensors", {"x": np.array([1.0, 2.0])})
    content = path.read_bytes()
    for damaged in (content[:-1], content[:40],
                    content[:8] + b"{" + content[9:].replace(b'"', b"'")):
        assert "This is" not in told(tmp_path, damaged)
    np.savez(tmp_path / "a.npz", x=[1.0])
    assert "truncated" in told(tmp_path, cut((tmp_path / "a.npz").read_bytes()))
    path = tmp_path / "a.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"x": 1}}))
    assert ". This is " not in complaint("ls", path)

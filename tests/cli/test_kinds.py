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

from says import tells
from tensors import complaint, save

PICKLE = "pickle"


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
    "empty": (lambda: b"", "empty"),
    "text": (lambda: "1 2 3\nпривет\n".encode() * 200, "text"),
    "UTF-16": (lambda: "some text".encode("utf-16"), "text"),
    "config.json": (lambda: json.dumps({"hidden_size": 4096}, indent=2).encode(),
                    "index"),
    "web page": (lambda: b"\n<!doctype HTML>\n<html></html>", "page"),
    "git lfs": (lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n",
                "git lfs pull"),
    "torch": (torch_file, "PyTorch"),
    "half of torch": (lambda: cut(torch_file()), "PyTorch"),
    "legacy torch": (lambda: torch_file(_use_new_zipfile_serialization=False),
                     "PyTorch"),
    "dumped array": (lambda: np.arange(5.0).dumps(), PICKLE),
    **{f"pickle {protocol}": (lambda protocol=protocol: pickle.dumps({"a": [1]}, protocol), PICKLE)
       for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "gzip": (lambda: gzip.compress(b"x" * 1000), "gunzip"),
    "bzip2": (lambda: bz2.compress(b"x" * 1000), "bunzip2"),
    "xz": (lambda: lzma.compress(b"x" * 1000), "unxz"),
    "tar": (tarred, "tar"),
    "zip": (lambda: zipped(["word/document.xml", "content"]), "zip"),
    "torch in zip": (lambda: zipped(["m/data.pkl", "m/data/0"]), "PyTorch"),
    "png": (lambda: picture("png"), "PNG"),
    "jpeg": (lambda: picture("jpeg"), "JPEG"),
    "bmp": (lambda: picture("bmp"), "BMP"),
    "tiff": (lambda: picture("tiff"), "TIFF"),
    "zeros": (lambda: bytes(10_000), "zeros"),
}

# The first bytes of others.
STARTS = [
    (b'', "empty"),
    (b'x', "text"),
    (b'1 2 3\n4 5 6\n', "numbers"),
    (b'\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 \xd0\xbc', "text"),
    (b'\xff\xfeh\x00a\x00l\x00l\x00o\x00', "text"),
    (b'\xfe\xff\x00h\x00a\x00l\x00l\x00o', "text"),
    (b'<!DOCTYPE html><p>404', "page"),
    (b'\xef\xbb\xbf\n  <HTML lang=en>', "page"),
    (b'<?xml version="1.0"?><Error/>', "XML"),
    (b'{"error": "not found"}', "index"),
    (b' [1, 2, 3, 4]', "index"),
    (b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n', "git lfs pull"),
    (b'\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M', "PyTorch"),
    (b'\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94.', "pickle"),
    (b'\x80\x02}q\x01.', "pickle"),
    (b'\x80\x05\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94.', "pickle"),
    (b'GGUF\x03\x00\x00\x00\x00\x00\x00\x00', "GGUF"),
    (b'\x89HDF\r\n\x1a\n\x00\x00', "HDF5"),
    (b'MATLAB 5.0 MAT-file, Platform', "MATLAB"),
    (b'MATLAB 7.3 MAT-file, Platform', "HDF5"),
    (b'\x1c\x00\x00\x00TFL3\x00\x00', "Lite"),
    (b'\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x04\n\x02ab', "ONNX"),
    (b'\x08\n\x12\x00(\x01:\x04\n\x02ab', "ONNX"),
    (b'\x08\x01\x12\x80\x08\n\x00\x00\x00\x00\x00', "TensorFlow"),
    (b'PAR1\x15\x00\x00\x00\x00\x00', "Parquet"),
    (b'ARROW1\x00\x00\x00\x00\x00', "Arrow"),
    (b'\x89PNG\r\n\x1a\n\x00\x00', "PNG"),
    (b'\xff\xd8\xff\xe0\x00\x10JFIF', "JPEG"),
    (b'GIF89a\x00\x00\x00\x00', "GIF"),
    (b'RIFF\x00\x00\x00\x00WEBPVP8 ', "WebP"),
    (b'II*\x00\x08\x00\x00\x00\x00\x00', "TIFF"),
    (b'BM\n\x00\x00\x00\x00\x00\x00\x00', "BMP"),
    (b'\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00', "gzip"),
    (b'BZh91AY&SY', "bzip2"),
    (b'\xfd7zXZ\x00\x00\x04\xe6\xd6', "xz"),
    (b'(\xb5/\xfd\x04\x00\x01\x00\x00\x00', "zstd"),
    (b'SQLite format 3\x00\x10\x00', "SQLite"),
    (b'%PDF-1.7\n', "PDF"),
    (b'\x7fELF\x02\x01\x01\x00\x00\x00', "program"),
    (bytes(18), "zeros"),
]


def told(tmp_path, content, *arguments):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    text = complaint(*(arguments or ("ls",)), path)
    assert text.startswith(f"“{path}”: ") and len(text) < 500
    return text


def tells_a_kind(text):
    kinds = {kind for _, kind in [*KINDS.values(), *STARTS]} - {"index", "zip"}
    return any(tells(text, kind) for kind in kinds)


@pytest.mark.parametrize("name", KINDS)
def test_kinds(tmp_path, name):
    content, kind = KINDS[name]
    text = told(tmp_path, content())
    assert tells(text, kind)


@pytest.mark.parametrize("content, kind", STARTS)
def test_starts(tmp_path, content, kind):
    assert tells(told(tmp_path, content), kind)


def test_unknown_kind(tmp_path):
    """Only the bytes are there."""
    for seed in range(20):
        content = b"\xd5" + np.random.default_rng(seed).bytes(99)
        text = told(tmp_path, content)
        assert content[:16].hex(" ") in text and not tells_a_kind(text)


def test_commands(tmp_path):
    for command in ("ls", "show", "check"):
        assert tells(told(tmp_path, b"\x89PNG\r\n\x1a\n", command), "PNG")
    assert tells(complaint("cp", tmp_path / "model.safetensors", tmp_path / "o"), "PNG")
    assert not (tmp_path / "o").exists()


def test_damaged_files_are_no_others(tmp_path):
    """The library's message says what is wrong with them."""
    path = save(tmp_path / "a.safetensors", {"x": np.array([1.0, 2.0])})
    content = path.read_bytes()
    for damaged in (content[:-1], content[:40],
                    content[:8] + b"{" + content[9:].replace(b'"', b"'")):
        assert not tells_a_kind(told(tmp_path, damaged))
    np.savez(tmp_path / "a.npz", x=[1.0])
    assert not tells_a_kind(told(tmp_path, cut((tmp_path / "a.npz").read_bytes())))
    path = tmp_path / "a.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"x": 1}}))
    assert not tells_a_kind(complaint("ls", path))

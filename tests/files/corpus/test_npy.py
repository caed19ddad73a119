# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that NumPy and Python's zipfile write."""

import io
import random
import zipfile

import ml_dtypes
import numpy as np
import pytest

from conftest import SEED
from tables import read_tables

KNOWN = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def random_array(rng):
    shape = tuple(rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randrange(5)))
    dtype = np.dtype(rng.choice("<>") + rng.choice(KNOWN))
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    content = bytes(rng.randrange(2) for _ in range(size))
    array = np.frombuffer(content, dtype).reshape(shape)
    return np.asfortranarray(array) if rng.random() < 0.5 else array


def bytes_of(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def elements(content, tensor):
    """Returns the elements that a table describes, as an array."""
    dtype = np.dtype(tensor.dtype).newbyteorder("<" if tensor.byte_order == "little" else ">")
    flat = np.frombuffer(content[tensor.begin:tensor.end], dtype)
    return flat.reshape(tensor.shape, order=tensor.order)


def assert_same(array, read):
    assert read.dtype == array.dtype and read.shape == array.shape
    assert read.tobytes() == array.tobytes()


def test_random_arrays(tmp_path):
    rng = random.Random(SEED)
    arrays = [random_array(rng) for _ in range(1000)]
    paths = [tmp_path / f"{i}.npy" for i in range(len(arrays))]
    for array, path in zip(arrays, paths):
        path.write_bytes(bytes_of(array, rng.choice([None, (1, 0), (2, 0), (3, 0)])))

    for array, path, table in zip(arrays, paths, read_tables(paths)):
        assert table.message == ""
        assert_same(array, elements(path.read_bytes(), table.tensors[0]))


@pytest.mark.parametrize("name, read", [("bfloat16", "opaque_handle16"),
                                        ("float8_e4m3fn", "opaque_handle8"),
                                        ("float8_e5m2", "float8_e5m2")])
def test_types_of_ml_dtypes(tmp_path, name, read):
    """NumPy forgets most of them, and keeps their size."""
    array = np.arange(6).astype(getattr(ml_dtypes, name)).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    tensor, = read_tables([tmp_path / "a.npy"])[0].tensors

    assert tensor.dtype == read and tensor.shape == (2, 3)
    content = (tmp_path / "a.npy").read_bytes()
    assert content[tensor.begin:tensor.end] == array.tobytes()


@pytest.mark.parametrize("dtype", ["f16", "S3", "U2", "M8[ns]", "m8", "V3", "O", [("a", "i4")]])
def test_types_that_are_refused(tmp_path, dtype):
    np.save(tmp_path / "a.npy", np.zeros(2, dtype))
    table, = read_tables([tmp_path / "a.npy"])

    assert table.code == "MTL_ERROR_NOT_SUPPORTED"


def test_headers_cut_anywhere(tmp_path):
    content = bytes_of(np.zeros((2, 3)))
    paths = [tmp_path / f"{i}.npy" for i in range(len(content))]
    for i, path in enumerate(paths):
        path.write_bytes(content[:i])

    assert all(table.code == "MTL_ERROR_INVALID_DATA" for table in read_tables(paths))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(tmp_path, save):
    rng = random.Random(SEED)
    path = tmp_path / "a.npz"
    for _ in range(20):
        arrays = {f"é{i}": random_array(rng) for i in range(rng.randrange(10))}
        save(path, **arrays)
        table, = read_tables([path])
        content = path.read_bytes()

        assert table.message == ""
        assert [tensor.name for tensor in table.tensors] == list(arrays)
        for tensor in table.tensors:
            assert tensor.shape == arrays[tensor.name].shape
            if save is np.savez:
                assert_same(arrays[tensor.name], elements(content, tensor))


@pytest.mark.parametrize("names", [["a"], ["a", "b", "folder/c"], []])
@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("comment", [b"", b"a comment, PK\5\6 and all"])
def test_archives_of_zipfile(tmp_path, names, zip64, comment):
    path, array = tmp_path / "a.npz", np.arange(6, dtype="<i2").reshape(2, 3)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            with archive.open(name, "w", force_zip64=zip64) as member:
                member.write(bytes_of(array))
        archive.comment = comment
    table, = read_tables([path])

    assert [tensor.name for tensor in table.tensors] == names
    for tensor in table.tensors:
        assert_same(array, elements(path.read_bytes(), tensor))


def test_archive_with_the_end_of_a_large_one(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    path, arrays = tmp_path / "a.npz", {"a": np.zeros(3), "b": np.ones(2)}
    np.savez(path, **arrays)
    table, = read_tables([path])

    assert b"PK\6\6" in path.read_bytes()
    for tensor in table.tensors:
        assert_same(arrays[tensor.name], elements(path.read_bytes(), tensor))


def test_many_members(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(70000): # more than 16 bits count
            archive.writestr(str(i), bytes_of(np.zeros(0)) if i == 0 else b"\x93NUMPY")
    table, = read_tables([path])

    # They are all in the directory, and only the first is an array.
    assert [tensor.name for tensor in table.tensors] == ["0"]
    assert [refused.name for refused in table.refused] == [str(i) for i in range(1, 70000)]
    assert {(refused.code, refused.type_name) for refused in table.refused} == {
        ("MTL_ERROR_INVALID_DATA", "file")}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["a", "a.npy"])
def test_a_name_twice(tmp_path, second):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a", second):
            archive.writestr(name, bytes_of(np.zeros(2)))
    table, = read_tables([path])

    assert table.tensors == []
    assert [(refused.name, refused.code, refused.type_name) for refused in table.refused] == [
        ("a", "MTL_ERROR_INVALID_DATA", "float64")] * 2


def test_archives_cut_anywhere(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    content = (tmp_path / "a.npz").read_bytes()
    paths = [tmp_path / f"cut{i}.npz" for i in range(len(content))]
    for i, path in enumerate(paths):
        path.write_bytes(content[:i])

    assert all(table.code == "MTL_ERROR_INVALID_DATA" for table in read_tables(paths))

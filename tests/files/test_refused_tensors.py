# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files with tensors that can be loaded and others that cannot, against NumPy."""

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from random_tensors import NUMPY, assert_same, draw_array
from says import says

TEXT = np.array(["cat", "horse"])
RECORD = np.zeros(3, [("a", "<f4"), ("b", "<i4", (2,))])

# Arrays of NumPy that cannot be viewed, and what they are called.
REFUSED = {
    "text": (TEXT, "<U5"),
    "bytes": (np.array([b"ab"]), "|S2"),
    "objects": (np.array([{}, None], dtype=object), "object"),
    "dates": (np.array(["2020-01-01"], "<M8[ns]"), "<M8[ns]"),
    "spans": (np.array([1], "<m8"), "<m8"),
    "record": (RECORD, "record"),
    "field": (np.zeros(2, [("a", "<f4")]), "record"),
    "opaque": (np.zeros(2, "V24"), "|V24"),
    "scalar": (np.array("cat"), "<U3"),
}
if np.dtype(np.longdouble).itemsize == 16:
    REFUSED["long"] = (np.zeros(2, np.longdouble), "<f16")
    REFUSED["complex"] = (np.zeros(2, np.clongdouble), "<c32")


def write_member(archive, name, array, method):
    member = io.BytesIO()
    np.lib.format.write_array(member, array)
    archive.writestr(name, member.getvalue(), method)


def refuse_member(rng, archive, name):
    """Something that is no array; returns its name in the list."""
    kind = rng.randrange(5)
    if kind == 0:
        archive.writestr(name + ".txt", b"some text", zipfile.ZIP_DEFLATED)
        return name + ".txt"
    if kind == 1:
        archive.writestr(name + "/", b"")
        return name + "/"
    if kind == 2:
        write_member(archive, name + ".npy", TEXT, rng.choice((zipfile.ZIP_BZIP2,
                                                               zipfile.ZIP_LZMA)))
    elif kind == 3:
        member = io.BytesIO()
        np.lib.format.write_array(member, np.zeros(9))
        archive.writestr(name + ".npy", member.getvalue()[:rng.randrange(len(member.getvalue()))])
    else:
        archive.writestr(name + ".npy", rng.randbytes(rng.randrange(200)))
    return name


@pytest.mark.filterwarnings("ignore:.*left out")
def test_random_mixtures(tmp_path, rng):
    """Each array that NumPy can make a view's elements of is loaded, and each other one is there
    with its reason, in the order of the archive."""
    path, n_loaded, n_refused = tmp_path / "file.npz", 0, 0
    for number in range(min(conftest.CASES, 300)):
        good, bad, names = {}, {}, []
        with zipfile.ZipFile(path, "w") as archive:
            for i in range(rng.randrange(1, 8)):
                name, method = f"{i}", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
                kind = rng.randrange(3)
                if kind == 0:
                    good[name] = draw_array(rng, rng.choice(NUMPY))
                    write_member(archive, name + ".npy", good[name], method)
                elif kind == 1:
                    array, type_name = rng.choice(list(REFUSED.values()))
                    write_member(archive, name + ".npy", array, method)
                    bad[name] = array.shape, type_name
                else:
                    name = refuse_member(rng, archive, name)
                    bad[name] = None
                names.append(name)
        try:
            file = Mtl.load(path, mode=rng.choice((Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ)))
        except ValueError:
            # No array at all.
            assert not good and not any(bad.values()), number
            assert all(not name.isdigit() for name in bad), (number, names)
            continue

        assert list(file) == list(file.keys()) == names and len(file) == len(names), number
        assert [file.get_item(i).name for i in range(len(file))] == names
        assert file.match_loadable_names() == list(good) and file.match_refused_names() == list(bad)
        for name, array in good.items():
            assert_same(file[name], array, (number, name))
            assert file.lookup_entry(name).error is None
        for name, known in bad.items():
            entry = file.lookup_entry(name)
            with pytest.raises((NotImplementedError, ValueError)) as raised:
                file[name]
            assert type(entry.error) is type(raised.value) and str(entry.error) in str(raised.value)
            assert entry.dtype == Mtl.DType.OTHER and name in file
            assert known is None or (entry.shape, entry.type_name) == known, (number, name)
        if good or not bad:
            for view, array in zip(file.load_views(), good.values(), strict=True):
                assert_same(view, array, number)
        else:
            with pytest.raises((NotImplementedError, ValueError)):
                file.load_views()
        assert file.check()
        n_loaded, n_refused = n_loaded + len(good), n_refused + len(bad)
    conftest.NOTES.append(f"Mixtures: {n_loaded} arrays loaded, {n_refused} refused")
    assert n_loaded and n_refused


@pytest.mark.parametrize("name", REFUSED)
def test_types(name, tmp_path):
    array, type_name = REFUSED[name]
    np.savez(tmp_path / "a.npz", x=np.arange(3.0), **{name: array})
    file = Mtl.load(tmp_path / "a.npz")
    entry = file.lookup_entry(name)

    assert entry.get_type_name() == entry.type_name == type_name and entry.shape == array.shape
    assert entry.get_error().code == Mtl.Error.NOT_SUPPORTED
    assert isinstance(entry.error, NotImplementedError) and type_name in repr(entry)
    assert file["x"].tolist() == [0, 1, 2] and entry.name in file
    with pytest.raises(NotImplementedError, match=name):
        file[name]
    with pytest.raises(NotImplementedError, match=name):
        file.check(Mtl.TensorFileChecks.LOADABLE)
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(NotImplementedError):
        Mtl.load(tmp_path / "a.npy")


def test_nothing_is_lost_silently(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3.0), label=np.array("cat"))
    file = Mtl.load(tmp_path / "a.npz")
    for iterate in (lambda: dict(file.items()), lambda: {"x": list(file.values())[0]},
                    lambda: {"x": file.load_views()[0]}):
        with pytest.warns(UserWarning, match=says("'label'", "<U3")):
            assert iterate()["x"].tolist() == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(file.keys()) == ["x", "label"] and file.get("x") is not None
        assert len(file.load_views("x")) == 1
        np.savez(tmp_path / "b.npz", x=np.arange(3.0))
        assert len(Mtl.load(tmp_path / "b.npz").items()) == 1


def test_many_are_named_in_part(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3.0), **{f"t{i}": TEXT for i in range(20)})
    with pytest.warns(UserWarning, match=says("'t7'", 12)) as told:
        list(Mtl.load(tmp_path / "a.npz").items())
    assert "'t8'" not in str(told[0].message)


def write_safetensors(path, **shapes):
    header, data = {}, b""
    for name, (dtype, size) in shapes.items():
        header[name] = {"dtype": dtype, "shape": [size], "data_offsets": [len(data),
                                                                         len(data) + size]}
        data += bytes(range(size))
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_types_of_later_versions(tmp_path):
    write_safetensors(tmp_path / "a.safetensors", a=("U8", 2), new=("F99", 3), b=("I8", 1))
    file = Mtl.load(tmp_path / "a.safetensors")
    assert file.match_loadable_names() == ["a", "b"] and file["b"].tolist() == [0]
    assert file.lookup_entry("new").type_name == "F99"
    with pytest.raises(NotImplementedError, match="F99"):
        file["new"]


def write_shards(folder):
    write_safetensors(folder / "1", a=("U8", 2))
    write_safetensors(folder / "2", b=("U8", 3))
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "1", "b": "2", "c": "2"}}))
    return index


def test_shards(tmp_path):
    index = write_shards(tmp_path)
    file = Mtl.load(index)
    assert file.match_refused_names() == ["c"] and file["b"].tolist() == [0, 1, 2]
    (tmp_path / "2").unlink()
    file = Mtl.load(index)
    assert list(file) == ["a", "b", "c"] and file["a"].tolist() == [0, 1]
    for name in "bc":
        with pytest.raises(FileNotFoundError):
            file[name]
        assert file.lookup_entry(name).get_file().get_basename() == "2"
        assert isinstance(file.lookup_entry(name).error, FileNotFoundError)
    (tmp_path / "1").write_bytes(b"")
    with pytest.raises(ValueError):
        Mtl.load(index)


def test_folders(tmp_path):
    with pytest.raises(IsADirectoryError, match="safetensors"):
        Mtl.load(tmp_path)
    np.save(tmp_path / "a.NPY", np.arange(2))
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / ".c.npy").write_text("x")
    (tmp_path / "d.npy").mkdir()
    assert Mtl.load(tmp_path)[""].tolist() == [0, 1]
    np.save(tmp_path / "b.npy", np.arange(2))
    with pytest.raises(IsADirectoryError, match=says(2, "a.NPY")):
        Mtl.load(tmp_path)
    index = write_shards(tmp_path)
    file = Mtl.load(tmp_path)
    assert file["b"].tolist() == [0, 1, 2] and file.get_file().get_path() == str(index)
    (tmp_path / "other.safetensors.index.json").write_text("{}")
    with pytest.raises(IsADirectoryError, match=says(2)):
        Mtl.load(tmp_path)


def test_the_only_name_of_an_array(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(2))
    file = Mtl.load(tmp_path / "a.npy")
    with pytest.raises(KeyError, match=says("stack", "''")):
        file["stack"]
    assert file.get("stack") is None and "stack" not in file


def test_patterns_of_bytes(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3.0))
    program = ("import gi; gi.require_version('Mtl', '1'); from gi.repository import Mtl;"
               f"file = Mtl.load({str(tmp_path / 'a.npz')!r})\n"
               "for pattern in '*a?\\udcf9', '\\udcff':\n"
               "    for call in file.match_loadable_names, file.match_refused_names, file.load_views:\n"
               "        try: assert call(pattern) == []\n"
               "        except UnicodeEncodeError: pass\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="only Linux has it")
def test_files_without_a_name(tmp_path):
    """The text of such a link is no path, even if there is a file of that name."""
    removed = tmp_path / "removed"
    other = tmp_path / "removed (deleted)"
    other.write_text("other")
    with open(removed, "w+b") as file:
        removed.unlink()
        descriptors = [os.memfd_create("t"), file.fileno()]
        for descriptor in descriptors:
            for folder in (f"/proc/{os.getpid()}/fd", "/proc/self/fd", "/dev/fd"):
                with pytest.raises(OSError):
                    Mtl.save(f"{folder}/{descriptor}", {"x": [1]},
                             format=Mtl.TensorFileFormat.SAFETENSORS)
        os.close(descriptors[0])
    assert other.read_text() == "other" and os.listdir(tmp_path) == [other.name]
    assert not any("memfd" in name for name in os.listdir("/"))


def test_no_format_is_that_of_the_ending(tmp_path):
    Mtl.save(tmp_path / "a.npy", [1, 2], format=None)
    assert np.load(tmp_path / "a.npy").tolist() == [1, 2]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_files_are_pickled_by_their_path(protocol, tmp_path):
    path = tmp_path / "a b.npz"
    np.savez(path, x=np.zeros(100_000))
    for mode in (Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ):
        file = Mtl.load(path, mode=mode)
        data = pickle.dumps(file, protocol)
        again = pickle.loads(data)
        assert len(data) < 1000 and again is not file
        assert again.get_mode() == mode and again.get_device() is file.get_device()
        file.close()
        assert again["x"].shape == (100_000,)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(data)


def test_infinities(tmp_path):
    INF, NAN = Mtl.TensorFileChecks.INF, Mtl.TensorFileChecks.NAN
    for dtype in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16"):
        for value, fails in ((1, 0), (np.inf, INF), (-np.inf, INF), (np.nan, NAN)):
            array = np.zeros(5, dtype)
            array[3] = value
            np.save(tmp_path / "a.npy", array)
            file = Mtl.load(tmp_path / "a.npy")
            for checks in (INF, NAN, INF | NAN, Mtl.TensorFileChecks.NONE):
                if checks & fails:
                    word = "NaN" if fails == NAN else "infinite"
                    with pytest.raises(ValueError, match=says("(3,)")):
                        file.check(checks)
                else:
                    assert file.check(checks), (dtype, value, checks)

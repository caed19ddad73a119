# SPDX-License-Identifier: LGPL-2.1-or-later
"""Habits of people who know ls, cp and GNU's other commands, and jq."""

import json
import os
import struct

import numpy as np
import pytest

from says import tells
from tensors import MTLDL, complaint, load, mtldl, run, save, save_shards


@pytest.fixture
def work(tmp_path):
    save(tmp_path / "a.safetensors", {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(300, "f4")})
    np.save(tmp_path / "c.npy", np.arange(4))
    return tmp_path


def test_help_of_help():
    assert mtldl("help", "help") == mtldl("help") == mtldl("--help")
    assert mtldl("help", "-h") == mtldl("help", "--help") == mtldl("help")


@pytest.mark.parametrize("typed, values", [
    (["-V"], ["“--version”"]), (["-v"], ["“--version”"]), (["stats", "c.npy"], ["“show --stats”"]),
    (["merge", "x"], ["“cp”"]), (["show", "--statistics", "c.npy"], ["“--stats”"]),
    (["show", "--all", "c.npy"], ["“--max-items”"]),
    (["ls", "--filter=w", "a.safetensors"], ["“--select”"]),
    (["cp", "--type=f16", "a.safetensors", "o"], ["“--dtype”"]),
    (["cp", "--max-shard-size", "5GB", "a.safetensors", "o"], ["“--shard-size”"]),
    (["cp", "--dtype=flaot32", "a.safetensors", "o"], ["“float32”"]),
    (["cp", "--dtype=w=bfolat16", "a.safetensors", "o"], ["“bfloat16”"]),
    (["cp", "--dtype=zzz", "a.safetensors", "o"], ["zzz", "float32"]),
    (["cp", "-S", "5GB", "a.safetensors", "o"], ["“o.safetensors.index.json”"]),
    (["cp", "-S", "5GB", "a.safetensors", "o.safetensors"], ["“o.safetensors.index.json”"]),
])
def test_wrong_usage(work, typed, values):
    assert tells(complaint(*typed, status=2, cwd=work), *values)


def test_synonyms_only_of_own_options(work):
    """ls has no --stats, so nothing is said of it."""
    assert "--stats" not in complaint("ls", "--statistics", "c.npy", status=2, cwd=work)
    assert complaint("check", "--dtype", "c.npy", status=2, cwd=work).count("--") == 1


@pytest.mark.parametrize("typed, values", [
    (["show", "c.npy", "0"], ["“0”", "“[0]”"]), (["show", "c.npy", "1:3"], ["“[1:3]”"]),
    (["show", "a.safetensors", "0, :"], ["“[0, :]”"]), (["show", "c.npy", "[0"], ["“[0”", "“]”"]),
    (["show", "a.safetensors", "w[0"], ["“w[0”", "“]”"]),
    (["show", "a.safetensors", "x.{0..3}.w"], ["“mtldl ls -a”"]),
    (["ls", "https://host/a.safetensors"], ["https://host/a.safetensors"]),
    (["ls", "file://elsewhere/a.safetensors"], ["file://elsewhere/a.safetensors"]),
    (["cp", "a.safetensors", "no/"], ["“no/”"]), (["ls", "no/"], ["“no/”"]),
    (["cp", "a.safetensors", "no/a.safetensors"], ["“no”"]), (["ls", "models"], ["models"]),
])
def test_what_is_not_there(work, typed, values):
    (work / "models" / "snapshots").mkdir(parents=True)
    assert tells(complaint(*typed, cwd=work), *values)


def test_folder_without_folders(work):
    """Only another folder in it makes the command say that it does not look there."""
    (work / "empty").mkdir()
    (work / "models" / "snapshots").mkdir(parents=True)
    empty, other = (complaint("ls", name, cwd=work) for name in ("empty", "models"))
    assert tells(empty, ".npz") and other.startswith(empty.replace("empty", "models"))
    assert len(other) > len(empty) + 1


def test_ls_alone(work):
    """The current folder, as in ls."""
    assert mtldl("ls", cwd=work) == mtldl("ls", ".", cwd=work)
    assert json.loads(mtldl("ls", "--json", cwd=work))[1]["tensors"][0]["name"] == "c"
    (work / "empty").mkdir()
    assert tells(complaint("ls", cwd=work / "empty"), "“.”", ".safetensors")


def test_human_readable(work):
    full = mtldl("ls", "-H", "a.safetensors", cwd=work)
    assert "1.2 KiB" in full
    for typed in (["-h", "a.safetensors"], ["a.safetensors", "-h"]):
        assert mtldl("ls", *typed, cwd=work) == full
    assert mtldl("ls", "-lh", "a.safetensors", cwd=work) \
        == mtldl("ls", "-l", "--human-readable", "a.safetensors", cwd=work)
    assert mtldl("ls", "-h", cwd=work) == mtldl("ls", "--help", cwd=work) == mtldl("help", "ls")
    assert mtldl("show", "-h") == mtldl("show", "--help")


def test_address_of_a_file(work):
    """File managers drop addresses of this kind on a terminal."""
    named = work / "two words%.npy"
    np.save(named, np.arange(3))
    assert mtldl("show", named.as_uri()) == "[0 1 2]\n"
    mtldl("cp", named.as_uri(), work / "o.npy")
    assert np.array_equal(np.load(work / "o.npy"), np.arange(3))


def test_a_part_is_missing(work):
    """An interrupted download leaves some files."""
    save_shards(work, {"model-1.safetensors": {"x": np.zeros(2)},
                       "model-2.safetensors": {"y": np.zeros(2)}})
    folder = work / "model"
    folder.mkdir()
    for name in ("model-1.safetensors", "model.safetensors.index.json"):
        os.rename(work / name, folder / name)
    reason = f"“{folder}/model-2.safetensors”"
    assert mtldl("show", folder, "x") == "[0. 0.]\n"
    assert reason in complaint("show", folder, "y")
    done = run("cp", folder, work / "o.safetensors")
    assert done.returncode == 0 and reason in done.stderr and "“y”" in done.stderr
    assert set(load(work / "o.safetensors")[0]) == {"x"}
    assert reason in complaint("check", "--strict", folder)
    listed, = json.loads(mtldl("ls", "--json", folder))
    assert [reason in tensor.get("error", "") for tensor in listed["tensors"]] == [False, True]
    assert "“x”" in complaint("show", folder / "model-1.safetensors", "z")


def test_paths_once(work):
    """Not before a message that names the file itself."""
    (work / "t.npy").write_bytes((work / "c.npy").read_bytes()[:-1])
    folder = "/proc" if os.path.isdir("/proc") else "/dev" # no files are made there
    told = complaint("cp", "a.safetensors", f"{folder}/o.safetensors", cwd=work)
    assert told.count("o.safetensors") == 1


@pytest.mark.parametrize("size, most", [("1K", 1024), ("1KiB", 1024), ("1kb", 1000), ("1KB", 1000),
                                        ("2000", 2000)])
def test_sizes(work, size, most):
    """KB is 1000, as for dd and in Hugging Face's libraries."""
    n = 1010
    save(work / "s.safetensors", {f"t{i}": np.zeros(n // 2, "u1") for i in range(4)})
    mtldl("cp", "-S", size, work / "s.safetensors", work / "o.safetensors.index.json")
    index = json.loads((work / "o.safetensors.index.json").read_text())
    assert len(set(index["weight_map"].values())) == -(-4 // (most // (n // 2)))


@pytest.mark.parametrize("size", ["5GX", "5BB", "5iB", "G", "0GB", "9999999TB", "5Gi", "5 GB"])
def test_wrong_sizes(work, size):
    assert size in complaint("cp", "-S", size, "a.safetensors", "o.safetensors.index.json",
                             status=2, cwd=work)


def test_shards_into_a_folder(work):
    (work / "out").mkdir()
    mtldl("cp", "-S", "1K", "a.safetensors", "out", cwd=work)
    assert (work / "out" / "a.safetensors.index.json").exists()
    assert mtldl("ls", "-1", "out", cwd=work).endswith("b\nw\n")


def stats(*arguments):
    told, = json.loads(mtldl("show", "--stats", "--json", *arguments))
    return told


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8", "u8", "f2", "f4", "f8"])
def test_stats_as_json(tmp_path, dtype):
    array = np.random.default_rng(3).integers(0, 99, (17, 9)).astype(dtype) / np.array(1, dtype)
    array = array.astype(dtype)
    told = stats(save(tmp_path / "a.safetensors", {"x": array}))
    assert (told["name"], told["dtype"], told["shape"]) == ("x", array.dtype.name, [17, 9])
    found = told["stats"]
    assert list(found) == ["elements", "min", "max", "mean", "std", "nan", "inf", "zero"]
    assert found["min"] == array.min() and found["max"] == array.max()
    assert found["mean"] == pytest.approx(array.astype("f8").mean())
    assert found["std"] == pytest.approx(array.astype("f8").std())
    assert found["zero"] == (array == 0).sum() and found["elements"] == array.size


def test_stats_as_json_of_limits(tmp_path):
    path = save(tmp_path / "a.safetensors", {
        "i": np.array([2**62 + 1, -3]), "u": np.array([2**64 - 1, 5], "u8"),
        "f": np.array([np.nan, np.inf, -np.inf], "f4"), "g": np.array([0.1, np.nan], "f4"),
        "e": np.zeros((0, 3)), "c": np.array([1 + 2j, 3], "c8"),
        "t": np.array([True, False, True])})
    assert stats(path, "i")["stats"]["max"] == 2**62 + 1
    assert stats(path, "u")["stats"]["max"] == 2**64 - 1
    unknown = dict.fromkeys(("min", "max", "mean", "std"))
    assert stats(path, "f")["stats"] == {"elements": 3, **unknown, "nan": 1, "inf": 2, "zero": 0}
    assert '"min": 0.1,' in mtldl("show", "--stats", "--json", path, "g")
    assert stats(path, "e")["stats"] == {"elements": 0, **unknown, "nan": 0, "inf": 0, "zero": 0}
    found = stats(path, "c")["stats"]
    assert found["mean"] == [2, 1] and "min" not in found
    assert found["std"] == pytest.approx(np.array([1 + 2j, 3]).std())
    assert (stats(path, "t")["stats"]["min"], stats(path, "t")["stats"]["max"]) == (0, 1)
    assert stats(path, "i[1]")["stats"]["mean"] == -3
    assert stats(path, "i[1]")["shape"] == []


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats_as_json(tmp_path, dtype):
    """Written as Python writes them, in which 10 is no 1e+01."""
    values = np.array([10, 100, 1e5, 123456789, 1e15, 1e16, 3e10, 1e22, -20, 0.5, 1e-5, 0.001,
                       -0.0, 16777216, 3.4e38, 2**53], dtype)
    path = save(tmp_path / "a.safetensors", {"x": values})
    text = mtldl("show", "--json", path, "x")
    seen = text.split('"elements": [')[1].split("]")[0].split(", ")
    for told, value in zip(seen, values, strict=True):
        assert np.array(float(told), dtype) == value
        if 1e-4 <= abs(value) < 1e16:
            assert "e" not in told and told == repr(float(str(value)))

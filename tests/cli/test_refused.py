# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files in which some tensors cannot be loaded: only these are refused, by all commands."""

import itertools
import json
import random
import re
import zipfile

import numpy as np
import pytest

from conftest import SEED
from tensors import MTLDL, complaint, load, ls_json, mtldl, run, save
from terminal import show

GOOD = {"x": np.arange(5.0), "y": np.arange(6, dtype="i2").reshape(2, 3)}

# Each with the name of its type in the list.
BAD = {
    "label": (np.array("cat"), "<U3"), "bytes": (np.array([b"abcd"]), "|S4"),
    "object": (np.array([None, 1], object), "object"),
    "date": (np.zeros(2, "M8[ns]"), "<M8[ns]"), "span": (np.zeros(2, "m8[s]"), "<m8[s]"),
    "record": (np.zeros(3, [("a", "f4"), ("b", "i4")]), "record"),
    "long": (np.zeros(2, "longdouble"), None), "void": (np.zeros(2, "V16"), "|V16"),
}


def save_archive(path, good, bad, compressed=False):
    (np.savez_compressed if compressed else np.savez)(
        path, **good, **{name: BAD[name][0] for name in bad})
    return path


@pytest.fixture
def archive(tmp_path):
    path = save_archive(tmp_path / "a.npz", GOOD, BAD)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("readme.txt", "hello")
        file.writestr("broken.npy", b"\x93NUMPY\x01\x00\x10\x00nonsense")
        file.writestr("squeezed.npy", b"any", zipfile.ZIP_BZIP2)
    return path


REFUSED = [*BAD, "readme.txt", "broken", "squeezed"]


def first_names(text):
    """The first name in each line."""
    return sorted(match[1] for line in text.splitlines() if (match := re.search("“(.*?)”", line)))


def test_list(archive):
    told = {tensor["name"]: tensor for tensor in ls_json(archive)["tensors"]}
    assert set(told) == {*GOOD, *REFUSED}
    assert {name for name in told if "error" in told[name]} == set(REFUSED)
    for name, (array, type_name) in BAD.items():
        assert type_name is None or told[name]["dtype"] == type_name
        assert told[name]["shape"] == list(array.shape)
    assert told["readme.txt"]["dtype"] == "file" and told["readme.txt"]["shape"] is None
    assert set(ls_json(archive)["totals"]) == {"float64", "int16"}

    rows = {line.split()[-1]: line.split()[:3] for line in mtldl("ls", archive).split("\n\n")[
        0].splitlines()[1:]}
    assert rows["label"][:2] == ["<U3", "[]"] and rows["readme.txt"][:2] == ["file", "-"]
    assert rows["x"] == ["float64", "[5]", "40"]
    assert re.search(rf"(?m)^not loadable +{len(REFUSED)} tensors,", mtldl("ls", archive))
    assert set(mtldl("ls", "-1", archive).split()) == {*GOOD, *REFUSED}
    assert mtldl("ls", "-1", archive, "la*").split() == ["label"]


def test_dimmed(archive):
    text, status = show([MTLDL, "ls", "-a", archive], env={"LC_ALL": "C.UTF-8"})
    assert status == 0
    dimmed = {line.split()[-1].replace("\x1b[0m", "") for line in text.splitlines()
              if line.startswith("\x1b[2m")}
    assert dimmed == set(REFUSED)
    text, _ = show([MTLDL, "show", "-s", archive], env={"LC_ALL": "C.UTF-8"})
    assert text.count("\x1b[2m") == len(REFUSED)


def test_folded(tmp_path):
    """Only with those of the same type that cannot be loaded either."""
    np.savez(tmp_path / "a.npz", **{f"t.{i}": np.array("cat") for i in range(3)},
             **{f"t.{i}": np.array("cats") for i in (3, 4)}, **{"t.5": np.zeros(())})
    names = [line.split()[-1] for line in mtldl("ls", tmp_path / "a.npz").split("\n\n")[
        0].splitlines()]
    assert names == ["NAME", "t.{0..2}", "t.{3..4}", "t.5"]


def test_show(archive):
    for name, array in GOOD.items():
        assert mtldl("show", archive, name) == f"{array}\n"
    reasons = {tensor["name"]: tensor.get("error") for tensor in ls_json(archive)["tensors"]}
    for name in REFUSED:
        for options in ([], ["-s"], ["-j"]):
            told = complaint("show", archive, name, *options)
            assert f"“{name}" in told and told.endswith(reasons[name])
    rows = mtldl("show", "-s", archive).splitlines()
    assert len(rows) == len(GOOD) + len(REFUSED) + 1
    told = json.loads(mtldl("show", "-sj", archive))
    assert {item["name"]: item.get("error") for item in told} == reasons


def test_check(archive):
    done = run("check", archive)
    assert (done.returncode, done.stdout) == (0, f"{archive}: ok\n")
    assert first_names(done.stderr) == sorted(REFUSED)
    assert mtldl("check", "-q", archive) == ""
    done = run("check", "--strict", archive)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == len(REFUSED)
    assert all(f"“{name}" in done.stderr for name in REFUSED)
    good = save_archive(archive.parent / "b.npz", GOOD, [])
    assert mtldl("check", "--strict", good) == f"{good}: ok\n"


def test_copy(archive, tmp_path):
    out = tmp_path / "out.safetensors"
    done = run("cp", archive, out)
    assert done.returncode == 0
    assert first_names(done.stderr) == sorted(REFUSED)
    found, _ = load(out)
    assert {name: array.tolist() for name, array in found.items()} == {
        name: array.tolist() for name, array in GOOD.items()}

    # Only selected tensors count.
    mtldl("cp", archive, out, "-s", "?")
    done = run("cp", archive, out, "-s", "label", "-s", "y")
    assert done.returncode == 0 and first_names(done.stderr) == ["label"]
    assert set(load(out)[0]) == {"y"}
    for names in (["label"], ["label", "read*"]):
        out.write_text("old")
        done = run("cp", archive, out, *itertools.chain(*(["-s", name] for name in names)))
        assert done.returncode == 1 and done.stderr.startswith("mtldl: ")
        assert out.read_text() == "old"


def test_merge(archive, tmp_path):
    """Tensors left out do not hide the others."""
    other = save(tmp_path / "b", {"label": np.ones(1)})
    done = run("cp", archive, other, tmp_path / "out")
    assert done.returncode == 0 and set(load(tmp_path / "out")[0]) == {*GOOD, "label"}


def test_diff(archive, tmp_path):
    """A tensor that cannot be loaded is trouble, and another type a difference."""
    good = save(tmp_path / "b", {**GOOD, "label": np.ones(1)})
    done = run("diff", archive, good, "-s", "label", "-s", "?")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "label: <U3 and float64\nlabel: shapes [] and [1]\n"
    assert mtldl("diff", archive, archive, "-s", "?") == ""
    done = run("diff", archive, archive)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == len(REFUSED)


def test_name_twice(tmp_path):
    """Neither is loaded, as the name does not tell which one is meant."""
    path = save_archive(tmp_path / "a.npz", GOOD, [])
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "a") as file:
        file.writestr("x.npy", file.read("x.npy"))
    assert [t["name"] for t in ls_json(path)["tensors"] if "error" in t] == ["x", "x"]
    complaint("show", path, "x")
    assert mtldl("show", path, "y[0]") == "[0 1 2]\n"
    assert run("diff", path, path).returncode == 2
    run("cp", path, tmp_path / "out")
    assert set(load(tmp_path / "out")[0]) == {"y"}


def test_folder_with_a_bad_file(tmp_path):
    """The others are listed and checked."""
    for name, array in GOOD.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "bad.safetensors").write_text("bad")
    for paths in (["."], ["x.npy", "bad.safetensors", "y.npy"]):
        done = run("ls", "-1", *paths, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "x\ny\n") and "bad" in done.stderr
        done = run("check", *paths, cwd=tmp_path)
        assert done.returncode == 1 and done.stdout.count(": ok\n") == 2


def test_random_archives(tmp_path):
    """Whatever is in one, all that can be loaded is there."""
    rng = random.Random(SEED)
    arrays = np.random.default_rng(SEED)
    for i in range(25):
        good = {f"g.{j}": arrays.normal(size=rng.randrange(4)) for j in range(rng.randrange(4))}
        bad = rng.sample(list(BAD), rng.randrange(len(BAD)))
        path = save_archive(tmp_path / f"{i}.npz", good, bad, compressed=rng.random() < 0.5)
        listed = ls_json(path)["tensors"]
        assert {t["name"] for t in listed if "error" not in t} == set(good)
        assert {t["name"] for t in listed if "error" in t} == set(bad)
        for name, array in good.items():
            assert json.loads(mtldl("show", "-j", path, name))["elements"] == array.tolist()
        out = tmp_path / "out"
        out.unlink(missing_ok=True)
        done = run("cp", "--no-sync", path, out)
        assert len([name for name in first_names(done.stderr) if name in BAD]) == len(bad)
        assert done.returncode == int(bool(bad) and not good)
        assert out.exists() == (done.returncode == 0)
        assert run("check", path).returncode == 0
        assert run("check", "--strict", path).returncode == int(bool(bad))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl show --stats of several tensors, against NumPy."""

import json
import re

import numpy as np
import pytest

from conftest import SEED
from says import tells
from tensors import CODES, EVIL, EVIL_SHOWN, MTLDL, complaint, mtldl, run, save
from terminal import show as show_on_terminal
from test_check import broken_archive
from test_show import random_array

TITLES = ["DTYPE", "SHAPE", "MIN", "MAX", "MEAN", "STD", "NAN", "INF", "NAME"]


def table(*arguments):
    header, *lines = mtldl("show", "--stats", *arguments).splitlines()
    assert header.split() == TITLES
    rows = [line.split(maxsplit=8) for line in lines]
    return {row[-1]: dict(zip(TITLES, row)) for row in rows}


@pytest.fixture
def arrays():
    rng = np.random.default_rng(SEED)
    arrays = {f"{dtype}.{shape}": random_array(rng, dtype, shape) for dtype in CODES
              for shape in ((7,), (3, 50, 100))}
    return {**arrays, "none": np.zeros((0, 3)), "nan": np.full(3, np.nan, "f4")}


def as_number(text):
    return complex(text)


def test_all(tmp_path, arrays):
    path = save(tmp_path / "a", arrays)
    rows = table(path)
    assert list(rows) == mtldl("ls", "-1", path).splitlines()
    for name, array in arrays.items():
        row, finite = rows[name], array[np.isfinite(array)]
        assert row["DTYPE"] == array.dtype.name
        assert row["SHAPE"] == str(list(array.shape)).replace(" ", "")
        assert (int(row["NAN"]), int(row["INF"])) == (np.isnan(array).sum(), np.isinf(array).sum())
        if finite.size == 0:
            assert row["MIN"] == row["MAX"] == row["MEAN"] == row["STD"] == "-"
            continue
        wide = finite.astype("c16" if array.dtype.kind == "c" else "f8")
        assert np.isclose(as_number(row["MEAN"]), wide.mean(), rtol=1e-5)
        assert np.isclose(float(row["STD"]), wide.std(), rtol=1e-5)
        if array.dtype.kind == "c":
            assert row["MIN"] == row["MAX"] == "-"
            continue
        read = array.dtype.type if array.dtype.kind == "f" else int
        assert read(row["MIN"]) == finite.min() and read(row["MAX"]) == finite.max()


def test_pattern(tmp_path, arrays):
    path = save(tmp_path / "a", arrays)
    assert set(table(path, "int*")) == {name for name in arrays if name.startswith("int")}
    assert set(table(path, "float??.(7,)")) == {name for name in arrays
                                                if re.fullmatch(r"float..\.\(7,\)", name)}
    assert mtldl("show", "-s", path, "none").startswith("dtype     float64\n")
    assert list(table(path, "non?")) == ["none"]
    assert tells(complaint("show", "-s", path, "zz*"), "“zz*”")
    complaint("show", path, "int*")


def test_names(tmp_path):
    """One that is called like a pattern is meant by it."""
    path = save(tmp_path / "a", {"*": np.arange(3), "b": np.arange(2), EVIL: np.arange(4)})
    assert "shape     [3]\n" in mtldl("show", "-s", path, "*")
    assert list(table(path)) == ["*", "b", EVIL_SHOWN]
    assert list(table(path, "*?")) == ["*", "b", EVIL_SHOWN]
    empty = save(tmp_path / "b", {})
    assert mtldl("show", "-s", empty) == "" and mtldl("show", "-sj", empty) == "[]\n"


def test_json(tmp_path, arrays):
    """A list, also of one."""
    path = save(tmp_path / "a", arrays)
    told = json.loads(mtldl("show", "--stats", "--json", path))
    assert {item["name"]: item["shape"] for item in told} == {
        name: list(array.shape) for name, array in arrays.items()}
    for item in told:
        array = arrays[item["name"]]
        assert item["stats"]["nan"] == np.isnan(array).sum()
        assert item["stats"]["elements"] == array.size
        alone, = json.loads(mtldl("show", "--stats", "--json", path, item["name"]))
        assert alone == item
    assert json.loads(mtldl("show", "--stats", "--json", path, "int*")) == [
        item for item in told if item["name"].startswith("int")]


def test_what_is_no_number(tmp_path):
    """It is in the table, without numbers."""
    np.savez(tmp_path / "a.npz", x=np.zeros(2, "V2"), y=np.arange(3))
    path = tmp_path / "a.npz"
    path.write_bytes(path.read_bytes().replace(b"'|V2'", b"'<V2'"))
    rows = table(path)
    assert rows["x"]["MIN"] == rows["x"]["INF"] == "-" and rows["y"]["MAX"] == "2"
    x, y = json.loads(mtldl("show", "-sj", path))
    assert x["name"] == "x" and "opaque_handle16" in x["error"] and y["stats"]["max"] == 2


def test_damaged_array(tmp_path):
    """It fails, and the others are shown."""
    path = broken_archive(tmp_path / "a.npz", np.savez_compressed, ["b"])
    done = run("show", "-s", path)
    assert done.returncode == 1 and "“b" in done.stderr
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["NAME", "a", "b", "c"]


@pytest.mark.parametrize("columns", [10, 40, 60, 80])
def test_narrow_terminal(tmp_path, arrays, columns):
    path = save(tmp_path / "a", arrays)
    text, status = show_on_terminal([MTLDL, "show", "-s", path], columns=columns,
                                    env={"NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
    assert status == 0 and len(text.splitlines()) == len(arrays) + 1
    assert all(len(line) <= columns for line in text.splitlines())
    assert columns < 40 or "MAX" in text

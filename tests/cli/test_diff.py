# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl diff, against NumPy."""

import json
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from conftest import SEED
from says import tells
from test_check import broken_archive
from tensors import CODES, EVIL, EVIL_SHOWN, MTLDL, mtldl, run, save, save_shards, save_sparse
from terminal import Terminal


def diff(*arguments, status=1):
    done = run("diff", *arguments)
    assert done.returncode == status and done.stderr == "", done.stderr
    return done.stdout


def diff_json(*arguments, status=1):
    return json.loads(diff("--json", *arguments, status=status))


def number(told):
    """An element as JSON has it."""
    return complex(*map(number, told)) if isinstance(told, list) else (
        float(told) if isinstance(told, str) else told)


@pytest.fixture
def files(tmp_path):
    def files(a, b):
        return (save(tmp_path / "a.safetensors", a), save(tmp_path / "b.safetensors", b))
    return files


def test_same(files):
    arrays = {name: np.arange(8).astype(name) for name in CODES}
    a, b = files(arrays, dict(reversed(arrays.items())))
    assert mtldl("diff", a, b) == mtldl("diff", a, a) == mtldl("diff", "-q", a, b) == ""
    assert diff_json(a, b, status=0) == {"paths": [str(a), str(b)], "only_in_first": [],
                                         "only_in_second": [], "different": [], "same": True}


def test_names_types_and_shapes(files):
    a, b = files({"x.10": np.zeros(1), "x.9": np.zeros(1), "t": np.arange(3, dtype="f4"),
                  "s": np.zeros((2, 3)), "same": np.ones(2)},
                 {"t": np.arange(3, dtype="i2"), "s": np.zeros((3, 2)), EVIL: np.zeros(1),
                  "same": np.ones(2)})
    assert diff(a, b) == (f"Only in {a}: x.9\nOnly in {a}: x.10\nOnly in {b}: {EVIL_SHOWN}\n"
                          "s: shapes [2,3] and [3,2]\nt: float32 and int16\n")
    told = diff_json(a, b)
    assert told["only_in_first"] == ["x.9", "x.10"] and told["only_in_second"] == [EVIL]
    shape, dtype = told["different"]
    assert shape == {"name": "s", "dtype": ["float64"] * 2, "shape": [[2, 3], [3, 2]]}
    assert dtype["dtype"] == ["float32", "int16"] and dtype["different"] == 0
    assert told["same"] is False
    assert diff("-q", a, b) == ""

    assert mtldl("diff", a, b, "-s", "same") == ""
    assert mtldl("diff", a, b, "-s", "t", "--ignore-dtype") == ""
    assert diff(a, b, "--ignore-dtype", "-s", "x*", "--select=t") == (
        f"Only in {a}: x.9\nOnly in {a}: x.10\n")


def test_values(files):
    a, b = files({"x": np.array([[1, 2], [3, np.nan]], "f4"), "y": np.array([np.nan, 1, np.inf])},
                 {"x": np.array([[1, 2.5], [1, np.nan]], "f4"), "y": np.array([1, 1, -np.inf])})
    x, y = diff(a, b).splitlines()
    assert x.startswith("x: 2 of 4 ") and tells(x, "2.0", "[1,0]", "3.0", "1.0")
    assert y.startswith("y: 2 of 3 ") and tells(y, 1, "NaN", "[2]", "inf", "-inf")
    assert mtldl("diff", a, b, "-s", "x", "--atol=2") == ""
    assert "x: 1 of 4 " in diff(a, b, "--atol", "1", "--rtol", "0.5", "-s", "x")
    assert diff(a, b, "-s", "y", "--atol=1e300", "--rtol=1e300").startswith("y: 2 of 3 ")


def test_integers_are_exact(files):
    large = 2**53
    a, b = files({"x": np.array([large, -2**63]), "y": np.array([2**64 - 1], "u8")},
                 {"x": np.array([large + 1, 2**63 - 1]), "y": np.array([-1])})
    x, y = diff_json(a, b)["different"]
    assert (x["different"], x["index"], x["greatest"]) == (2, [1], float(2**64 - 1))
    assert x["values"] == [-2**63, 2**63 - 1]
    assert (y["different"], y["greatest"]) == (1, 2**64)


def test_status(files, tmp_path):
    a, b = files({"x": np.zeros(1)}, {"x": np.ones(1)})
    (tmp_path / "bad.npy").write_text("bad")
    for arguments in ([a, tmp_path / "none"], [tmp_path / "bad.npy", b], [a, b, "-s", "y"], [a],
                      [a, b, "--atol=-1"], [a, b, "--rtol=nan"], [a, b, "--atol=x"],
                      [a, b, "-j", "-q"], [a, b, b]):
        done = run("diff", *arguments)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith("mtldl: ")


def test_damaged_array(tmp_path):
    """Trouble, which does not hide other differences."""
    arrays = {name: np.arange(1000.0) for name in "abc"}
    bad = broken_archive(tmp_path / "a.npz", np.savez_compressed, ["b"])
    np.savez(tmp_path / "b.npz", **arrays)
    done = run("diff", "-j", bad, tmp_path / "b.npz")
    assert done.returncode == 2 and "“b" in done.stderr
    b, c = json.loads(done.stdout)["different"]
    assert set(b) == {"name", "error"} and b["name"] == "b"
    assert (c["name"], c["different"]) == ("c", 1000)


def test_formats(tmp_path):
    """The array of a .npy has no name of its own."""
    array = np.random.default_rng(SEED).normal(size=(30, 40)).astype("f4")
    np.save(tmp_path / "x.npy", np.asfortranarray(array))
    np.save(tmp_path / "y.npy", array.astype(">f4"))
    np.savez(tmp_path / "a.npz", x=array)
    index = save_shards(tmp_path, {"1.safetensors": {"x": array}})
    many = save(tmp_path / "many", {"x": array, "z": array})
    paths = [tmp_path / "x.npy", tmp_path / "y.npy", tmp_path / "a.npz", index]
    for a in paths:
        for b in paths:
            assert mtldl("diff", a, b) == ""
    assert mtldl("diff", many, tmp_path / "x.npy", "-s", "x") == ""
    assert diff(many, tmp_path / "x.npy") == f"Only in {many}: z\n"


def test_opaque_elements(tmp_path):
    """They are compared by their bits."""
    for name, text in ("a", b"abcdef"), ("b", b"abcdXY"):
        np.save(tmp_path / name, np.frombuffer(text, "V2"), allow_pickle=False)
        path = tmp_path / f"{name}.npy"
        path.write_bytes(path.read_bytes().replace(b"'|V2'", b"'<V2'"))
    a, b = tmp_path / "a.npy", tmp_path / "b.npy"
    assert mtldl("diff", a, a) == ""
    assert tells(diff(a, b), 1, 3)
    np.save(tmp_path / "c.npy", np.zeros(3, "u2"))
    assert diff(a, tmp_path / "c.npy") == "a: opaque_handle16 and uint16\n"
    assert diff("--ignore-dtype", a, tmp_path / "c.npy") == "a: opaque_handle16 and uint16\n"


def test_infinite_complex_numbers(tmp_path):
    a = save(tmp_path / "a", {"x": np.array([np.inf + 0j, 0], "c8")})
    b = save(tmp_path / "b", {"x": np.array([np.inf + 0.5j, 0], "c8")})
    diff_json(a, b, "--atol=0.25", status=1)
    diff_json(a, b, "--atol=0.5", status=0)
    diff_json(a, b, "--rtol=0.25", status=0)


def random_array(rng, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        info = np.iinfo(dtype)
        small = rng.integers(0, 3, shape)
        return np.where(rng.random(shape) < 0.1,
                        rng.integers(info.min, info.max, shape, dtype, endpoint=True),
                        small.astype(dtype))
    values = rng.integers(-3, 4, shape) / 4
    for special in (np.nan, np.inf, -np.inf):
        values = np.where(rng.random(shape) < 0.05, special, values)
    if kind == "c":
        values = values + 1j * (rng.integers(0, 2, shape) / 2)
    return values.astype(dtype)


def expected(a, b, rtol, atol):
    """The number of differences, those of NaN, the greatest, and all places where that is."""
    integers = a.dtype.kind in "biu" and b.dtype.kind in "biu"
    wide = object if integers else "c16" if "c" in a.dtype.kind + b.dtype.kind else "f8"
    with np.errstate(invalid="ignore"):
        x, y = (np.array(array.tolist(), object).reshape(array.shape) * 1 if integers
                else array.astype(wide) for array in (np.asarray(a), np.asarray(b)))
        x, y = np.asarray(x, wide), np.asarray(y, wide)
        is_nan = np.zeros(a.shape, bool) if integers else np.isnan(x) ^ np.isnan(y)
        both = np.zeros(a.shape, bool) if integers else np.isnan(x) & np.isnan(y)
        if wide == "c16":
            parts = [np.where(p == q, 0, p - q) for p, q in ((x.real, y.real), (x.imag, y.imag))]
            distance = np.hypot(*parts)
        else:
            # The differences of integers without axes would be numbers of 64 bits.
            distance = np.asarray(np.abs(np.asarray(x - y, wide)), wide)
            distance = np.where(x == y, np.zeros((), wide), distance)
        distance = np.asarray(distance).astype("f8")
        distance[is_nan | both] = np.nan
        # Not the product of 0 and infinity.
        limit = atol + (rtol * np.asarray(np.abs(y)).astype("f8") if rtol else 0)
        differ = is_nan | (distance > 0) & ((distance > limit) | np.isinf(distance))
    known = distance[~np.isnan(distance)]
    greatest = known.max() if known.size else None
    return int(differ.sum()), int(is_nan.sum()), greatest, distance


def test_random_pairs(tmp_path):
    """Tensors of all types, whose values are close to each other."""
    rng = np.random.default_rng(SEED)
    for _ in range(150):
        shape = tuple(rng.integers(0, 8, rng.integers(0, 4)))
        types = rng.choice(list(CODES), 2)
        a, b = (np.asarray(random_array(rng, dtype, shape)) for dtype in types)
        if types[0] == types[1] and rng.random() < 0.7:
            b = np.asarray(np.where(rng.random(shape) < 0.3, b, a)).astype(types[0])
        rtol, atol = rng.choice([0, 0.25, 1.5], 2)
        n, n_nan, greatest, distance = expected(a, b, rtol, atol)

        paths = [save(tmp_path / name, {"x": array}) for name, array in (("a", a), ("b", b))]
        status = int(n > 0 or types[0] != types[1])
        told = diff_json(*paths, f"--rtol={rtol}", f"--atol={atol}", status=status)["different"]
        if status == 0:
            assert told == []
            continue
        found, = told
        assert found["elements"] == a.size
        assert (found["different"], found["nan"]) == (n, n_nan), (a, b)
        assert ("greatest" in found) == (greatest is not None)
        if greatest is not None:
            assert number(found["greatest"]) == pytest.approx(greatest, rel=1e-12)
            index = tuple(found["index"])
            assert distance[index] == pytest.approx(greatest, rel=1e-12)
            for value, array in zip(found["values"], (a, b)):
                np.testing.assert_equal(np.array(number(value)).astype(array.dtype), array[index])


@pytest.mark.parametrize("shape", [(200_000,), (3, 70_000), (1, 300, 1, 700), (70_000, 3),
                                   (2, 2, 65_537), (131_072, 2)])
@pytest.mark.parametrize("fortran", [False, True])
def test_more_than_a_piece(tmp_path, shape, fortran):
    rng = np.random.default_rng(SEED)
    a = rng.normal(size=shape)
    b = a.copy()
    changed = tuple(rng.integers(0, extent, 20) for extent in shape)
    b[changed] += rng.random(20) + 0.1
    greatest = tuple(array[0] for array in changed)
    b[greatest] = a[greatest] + 7.5
    np.save(tmp_path / "a.npy", np.asfortranarray(a) if fortran else a)
    np.save(tmp_path / "b.npy", b)
    found, = diff_json(tmp_path / "a.npy", tmp_path / "b.npy")["different"]
    assert found["different"] == (a != b).sum()
    assert found["index"] == list(greatest)
    assert found["greatest"] == abs(a - b).max()


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit what a process maps")
def test_little_memory(tmp_path):
    paths = [save_sparse(tmp_path / name, 2**27) for name in "ab"]

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (32 * 2**20, 32 * 2**20))

    done = subprocess.run([MTLDL, "diff", *paths], capture_output=True, text=True,
                          preexec_fn=None if "ASAN_OPTIONS" in os.environ else limit)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_failure_of_the_output(files):
    """It is trouble, not a difference."""
    a, b = files({"x": np.zeros(1)}, {"x": np.zeros(2)})
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no device that is always full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([MTLDL, "diff", a, b], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2


def test_file_cut_while_it_is_compared(tmp_path):
    paths = [save_sparse(tmp_path / name, 2**40) for name in "ab"]
    with Terminal([MTLDL, "diff", *paths]) as terminal:
        terminal.read_until("\r[")
        os.truncate(paths[1], 4096)
        assert "mtldl: " in terminal.read_all()
        assert terminal.process.wait(60) == 2

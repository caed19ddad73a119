# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl show, against NumPy."""

import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest

from conftest import SEED
from says import tells
from tensors import CODES, EVIL, EVIL_SHOWN, MTLDL, complaint, mtldl, save, save_sparse, write


def random_array(rng, dtype, shape):
    n = int(np.prod(shape))
    if dtype == "bool":
        values = rng.integers(0, 2, n)
    elif dtype == "complex64":
        values = rng.normal(size=n) + 1j * rng.normal(size=n)
    elif dtype.startswith("float"):
        values = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n)
        values[rng.random(n) < 0.1] = np.nan
        values[rng.random(n) < 0.1] = -np.inf
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    return values.astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", CODES)
def test_elements(tmp_path, dtype):
    rng = np.random.default_rng(SEED)
    shapes = [(4, 5), (2, 3, 4), (40, 50)]
    if dtype != "float16":  # NumPy 1 writes a few of these without an exponent, even above 1000
        shapes += [(), (3,)]
    arrays = {str(shape): random_array(rng, dtype, shape) for shape in shapes}
    path = save(tmp_path / "a", arrays)
    for name, array in arrays.items():
        assert mtldl("show", path, name) == str(array) + "\n"


@pytest.mark.parametrize("index", ["0", "-1", "1:3", "::2", "...,0", ":,1", "::-1,::-2", "2,3",
                                   "newaxis,...,1:2", "1:1", "..."])
def test_slices(tmp_path, index):
    array = np.arange(20, dtype="i4").reshape(4, 5)
    path = save(tmp_path / "a", {"x": array})
    expected = eval(f"array[{index}]", {"array": array, "newaxis": np.newaxis})
    assert mtldl("show", path, f"x[{index}]") == str(expected) + "\n"


def test_names_with_brackets(tmp_path):
    path = save(tmp_path / "a", {"x[0]": np.arange(3), "x": np.arange(5, 8)})
    assert mtldl("show", path, "x[0]") == "[0 1 2]\n"
    assert mtldl("show", path, "x[1]") == "6\n"
    assert mtldl("show", path, "x[0][1:]") == "[1 2]\n"


def test_name_left_out(tmp_path):
    array = np.arange(6).reshape(2, 3)
    np.save(tmp_path / "a.npy", np.asfortranarray(array))
    assert mtldl("show", tmp_path / "a.npy") == str(array) + "\n"
    assert mtldl("show", tmp_path / "a.npy", "[1]") == "[3 4 5]\n"
    assert mtldl("show", save(tmp_path / "a", {"x": array}), "[1]") == "[3 4 5]\n"

    path = save(tmp_path / "a", {"x": array, "y": array})
    assert tells(complaint("show", path, status=2), 2, path, "“x”", "“y”")
    path = write(tmp_path / "a", b"{}")
    assert tells(complaint("show", path, status=2), path)


def test_archive(tmp_path):
    arrays = {"x": np.arange(3, dtype=">i4"), "y": np.ones((2, 2), "c8")}
    np.savez(tmp_path / "a.npz", **arrays)
    for name, array in arrays.items():
        assert mtldl("show", tmp_path / "a.npz", name) == str(array) + "\n"


def test_evil_name(tmp_path):
    path = save(tmp_path / "a", {EVIL: np.arange(3), "\\n": np.arange(4), "\n": np.arange(5)})
    assert mtldl("show", path, EVIL) == "[0 1 2]\n"
    assert mtldl("show", path, EVIL_SHOWN) == "[0 1 2]\n"
    assert mtldl("show", path, EVIL_SHOWN + "[1]") == "1\n"
    assert mtldl("show", path, "\\n") == "[0 1 2 3]\n" # as it is comes first
    assert tells(complaint("show", path, r"\u12"), path, r"“\u12”", 3)


@pytest.mark.parametrize("n, shown", [(5, np.array2string(np.arange(9), threshold=5)),
                                      (9, str(np.arange(9))), (0, "[0 1 2 ... 6 7 8]")])
def test_max_items(tmp_path, n, shown):
    path = save(tmp_path / "a", {"x": np.arange(9)})
    assert mtldl("show", path, "x", f"--max-items={n}") == shown + "\n"
    assert mtldl("show", "-n", str(n), path, "x") == shown + "\n"


@pytest.mark.parametrize("n", ["-1", "100001", "x", ""])
def test_wrong_max_items(tmp_path, n):
    path = save(tmp_path / "a", {"x": np.arange(9)})
    complaint("show", path, f"--max-items={n}", status=2)


def test_long_names_of_no_width(tmp_path):
    """Messages shorten them, whatever they would be on a terminal."""
    names = ["\x1b[31m" * 3000, "\u0301" * 3000, "\x1b[" + "1;" * 3000, "\x1b["]
    save(tmp_path / "x.safetensors", {name: np.zeros(1) for name in names})
    for name in names:
        save(tmp_path / "one.safetensors", {name: np.zeros(1)})
        told = complaint("show", tmp_path / "one.safetensors", "other")
        assert tells(told, "“other”")
        assert len(told) - len(str(tmp_path)) < 600, told[:1000]
    told = complaint("show", tmp_path / "x.safetensors", status=2)
    assert tells(told, 4) and len(told) - len(str(tmp_path)) < 2000
    assert "“\\u001b[”" in told


def test_what_is_not_there(tmp_path):
    path = save(tmp_path / "a", {"x": np.arange(6).reshape(2, 3)})
    assert tells(complaint("show", path, "y"), "“y”", "“x”")
    assert tells(complaint("show", path, "y[0]"), "“y[0]”", "“x”")
    assert tells(complaint("show", path, "x[2]"), 2)
    assert tells(complaint("show", path, "x[0,0,0]"), 3, 2)
    complaint("show", path, "x[a]", status=2)
    complaint("show", path, "x[::0]", status=2)
    complaint("show", tmp_path / "none", "x")


def stats(*arguments):
    return dict(line.split(maxsplit=1) for line in mtldl("show", *arguments).splitlines())


def close(text, value):
    return np.isclose(complex(text), value, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("option", ["--stats", "-s"])
@pytest.mark.parametrize("dtype", CODES)
def test_stats(tmp_path, dtype, option):
    rng = np.random.default_rng(SEED)
    array = random_array(rng, dtype, (70, 3, 1000)) # more than a piece
    told = stats(save(tmp_path / "a", {"x": array}), "x", option)
    finite = array[np.isfinite(array)]
    wide = finite.astype("c16" if dtype == "complex64" else "f8")

    assert told["dtype"] == dtype and told["shape"] == "[70,3,1000]"
    assert told["elements"] == str(array.size)
    assert told["nan"] == str(np.isnan(array).sum())
    assert told["inf"] == str(np.isinf(array).sum())
    assert told["zero"] == str((array == 0).sum())
    if dtype == "complex64":
        assert "min" not in told and "max" not in told
    else:
        least, most = finite.min(), finite.max()
        read = array.dtype.type if array.dtype.kind == "f" else int
        assert read(told["min"]) == least and read(told["max"]) == most
    assert close(told["mean"], wide.mean())
    assert close(told["std"], wide.std())


def test_stats_of_a_slice(tmp_path):
    array = np.random.default_rng(SEED).normal(size=(300, 2, 500))
    path = tmp_path / "a.npy"
    np.save(path, np.asfortranarray(array))
    told = stats(path, "[::-3,1,5:]", "-s")
    part = array[::-3, 1, 5:]

    assert told["shape"] == "[100,495]"
    assert told["min"] == str(part.min()) and told["max"] == str(part.max())
    assert close(told["mean"], part.mean()) and close(told["std"], part.std())


def test_stats_keep_their_digits(tmp_path):
    """A mean that is large beside the deviation."""
    array = 1e9 + np.random.default_rng(SEED).normal(size=200_000)
    told = stats(save(tmp_path / "a", {"x": array}), "x", "-s")
    assert np.isclose(float(told["std"]), array.std(), rtol=1e-9)


@pytest.mark.parametrize("values", [[], [np.nan, np.inf, -np.inf]])
def test_stats_of_nothing(tmp_path, values):
    told = stats(save(tmp_path / "a", {"x": np.array(values, "f4")}), "x", "-s")
    assert told["nan"] == str(int(bool(values))) and told["inf"] == str(2 * bool(values))
    assert told["zero"] == "0" and not {"min", "max", "mean", "std"} & set(told)


def test_stats_of_small_types(tmp_path):
    path = save(tmp_path / "a", {"x": ("F4", [4], bytes([0x21, 0x7f])),
                                 "y": ("BF16", [2], b"\x80\x3f\xc0\x7f")})
    assert stats(path, "x", "-s")["max"] == "6" and stats(path, "x", "-s")["min"] == "-6"
    assert stats(path, "y", "-s")["nan"] == "1" and stats(path, "y", "-s")["max"] == "1"


def test_stats_of_what_is_no_number(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(2, "V2"), allow_pickle=False)
    path = tmp_path / "a.npy"
    path.write_bytes(re.sub(rb"'\|?<?V2'", b"'<V2'", path.read_bytes()))
    assert "opaque_handle16" in mtldl("show", path)
    assert "opaque_handle16" in complaint("show", path, "-s")


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit what a process maps")
def test_stats_in_little_memory(tmp_path):
    path = save_sparse(tmp_path / "a", 2**28)

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (32 * 2**20, 32 * 2**20))

    done = subprocess.run([MTLDL, "show", "-s", path], capture_output=True, text=True,
                          preexec_fn=None if "ASAN_OPTIONS" in os.environ else limit)
    assert done.returncode == 0, done.stderr
    assert "elements  268435456\nmin       0\nmax       0\n" in done.stdout

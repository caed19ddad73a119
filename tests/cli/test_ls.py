# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl ls, against json, NumPy and a search of all ways to fold."""

import itertools
import json
import random
import re
import time

import numpy as np
import pytest

from conftest import SEED
from says import tells
from tensors import (CODES, EVIL, EVIL_SHOWN, complaint, ls_json, mtldl, run, save, save_shards,
                     save_sparse, write)


def rows(*arguments):
    """The cells of the lines, up to the totals."""
    lines = mtldl("ls", *arguments).split("\n\n")[0].splitlines()
    return [re.split("  +", line, maxsplit=3) for line in lines[1:]]


def shown_names(*arguments):
    return [row[-1] for row in rows(*arguments)]


def model(n_layers, n_experts=0):
    tensors = {"embed.weight": np.zeros((5, 2), "f2")}
    for layer in range(n_layers):
        tensors[f"model.layers.{layer}.q.weight"] = np.zeros((2, 2), "f4")
        for expert in range(n_experts):
            tensors[f"model.layers.{layer}.experts.{expert}.w1"] = np.zeros((2, 3), "f4")
    return tensors


@pytest.fixture
def file(tmp_path):
    return save(tmp_path / "a.safetensors", {
        "b": np.zeros((2, 3), "f4"), "a": np.ones(5, "i8"), "é 漢": np.zeros((), "f8"),
        "none": np.zeros((0, 4), "u1")}, {"format": "pt", "x\ny": "1\x1b2"})


def test_lines(file):
    assert mtldl("ls", file) == (
        "DTYPE    SHAPE  BYTES  NAME\n"
        "int64    [5]       40  a\n"
        "float32  [2,3]     24  b\n"
        "uint8    [0,4]      0  none\n"
        "float64  []         8  é 漢\n"
        "\n"
        "int64                   1 tensor,                40 bytes\n"
        "float32                 1 tensor,                24 bytes\n"
        "float64                 1 tensor,                 8 bytes\n"
        "uint8                   1 tensor,                 0 bytes\n"
        "total                   4 tensors,               72 bytes\n"
        f"aligned to       {least_alignment(file):8} byte{'s' * (least_alignment(file) > 1)}\n")


def least_alignment(file):
    offsets = [tensor["offset"] for tensor in ls_json(file)["tensors"] if tensor["bytes"] > 0]
    return min(offset & -offset for offset in offsets)


def test_json(file):
    told = ls_json("--sort=file", file)
    begin = 8 + int.from_bytes(file.read_bytes()[:8], "little")

    assert told["path"] == str(file)
    assert told["format"] == "safetensors"
    assert told["metadata"] == {"format": "pt", "x\ny": "1\x1b2"}
    assert [(t["name"], t["dtype"], t["shape"], t["bytes"], t["offset"] - begin, t["file"])
            for t in told["tensors"]] == [
        ("b", "float32", [2, 3], 24, 0, "a.safetensors"),
        ("a", "int64", [5], 40, 24, "a.safetensors"),
        ("é 漢", "float64", [], 8, 64, "a.safetensors"),
        ("none", "uint8", [0, 4], 0, 72, "a.safetensors")]
    for tensor in told["tensors"]:
        assert tensor["offset"] % tensor["alignment"] == 0
        assert tensor["alignment"] == min(tensor["offset"] & -tensor["offset"], 16384)
    assert told["totals"]["int64"] == {"tensors": 1, "bytes": 40}


def test_metadata(file):
    assert "format" not in mtldl("ls", file)
    for option in ("--metadata", "-m"):
        assert mtldl("ls", file, option).endswith("\nmetadata\n  format: pt\n  x\\ny: 1\\u001b2\n")


def test_long(file):
    for option in ("--long", "-l"):
        header, *lines = mtldl("ls", option, file).split("\n\n")[0].splitlines()
        assert header.split() == ["DTYPE", "SHAPE", "BYTES", "OFFSET", "ALIGNMENT", "FILE", "NAME"]
        assert [line.split(maxsplit=6) for line in lines] == [
            [t["dtype"], str(t["shape"]).replace(" ", ""), str(t["bytes"]), str(t["offset"]),
             str(t["alignment"]), t["file"], t["name"]] for t in ls_json(file)["tensors"]]


def test_names(file):
    for option in ("--names", "-1"):
        assert mtldl("ls", option, file) == "a\nb\nnone\né 漢\n"
        assert mtldl("ls", option, "--sort=file", file) == "b\na\né 漢\nnone\n"
        assert mtldl("ls", option, "--sort=size", file) == "a\nb\né 漢\nnone\n"
    assert [row[-1] for row in rows("--sort=size", file)] == ["a", "b", "é 漢", "none"]
    assert tells(complaint("ls", file, "--sort=x", status=2), "--sort=x")


def test_natural_order(tmp_path):
    """Numbers in names are sorted by their value."""
    rng = random.Random(SEED)
    names = {"".join(rng.choice(["a", "b.", "0", "1", "2", "10", "7", "é", "-"])
                     for _ in range(rng.randrange(1, 7))) for _ in range(300)}
    path = save(tmp_path / "a", {name: np.zeros(1, "u1") for name in names})
    listed = mtldl("ls", "-1", path).splitlines()
    assert set(listed) == names

    def key(name):
        return [(ord("0"), int(part)) if part[0].isascii() and part.isdigit() else (byte, 0)
                for part in re.findall(r"[0-9]+|[^0-9]", name)
                for byte in ([0] if part.isdigit() else part.encode())]

    assert [key(name) for name in listed] == sorted(map(key, names))
    assert listed == [t["name"] for t in ls_json(path)["tensors"]] == [
        row[-1] for row in rows("-a", path)]


def test_human_readable(tmp_path):
    path = save_sparse(tmp_path / "a.safetensors", 2**40)
    for option in ("--human-readable", "-H"):
        assert rows(option, path) == [["uint8", "[1099511627776]", "1.0 TiB", "a"]]
    assert "1099511627776 bytes (1.0 TiB)" in mtldl("ls", path)


def test_size_that_rounds_up_to_the_next_unit(tmp_path):
    path = save_sparse(tmp_path / "a.safetensors", 2**20 - 1)
    assert rows("-H", path)[0][2] == "1.0 MiB"


@pytest.mark.parametrize("dtype", CODES)
def test_types(tmp_path, dtype):
    path = save(tmp_path / "a", {"a": np.zeros((2, 3), dtype)})
    assert rows(path) == [[dtype, "[2,3]", str(6 * np.dtype(dtype).itemsize), "a"]]


@pytest.mark.parametrize("patterns, names", [
    (["*weight"], ["embed.weight", "model.layers.0.q.weight", "model.layers.1.q.weight"]),
    (["*.?.q*"], ["model.layers.0.q.weight", "model.layers.1.q.weight"]),
    (["model*", "embed*", "*"], ["embed.weight", "model.layers.0.q.weight",
                                 "model.layers.1.q.weight"]),
    (["model.layers.1.q.weight", "embed.weight"], ["embed.weight", "model.layers.1.q.weight"]),
])
def test_patterns(tmp_path, patterns, names):
    path = save(tmp_path / "a", model(2))
    assert mtldl("ls", "--names", path, *patterns).splitlines() == names
    assert [t["name"] for t in ls_json(path, *patterns)["tensors"]] == names


def test_patterns_that_match_nothing(file):
    assert tells(complaint("ls", file, "a", "zz*"), "“zz*”")


def test_fold(tmp_path):
    path = save(tmp_path / "a", model(12, 3))
    assert rows(path) == [
        ["float16", "[5,2]", "20", "embed.weight"],
        ["float32", "[2,3]", "36×24", "model.layers.{0..11}.experts.{0..2}.w1"],
        ["float32", "[2,2]", "12×16", "model.layers.{0..11}.q.weight"]]
    assert len(rows("--all", path)) == len(rows("-a", path)) == 49


@pytest.mark.parametrize("names, folded", [
    (["a.0", "a.1"], ["a.{0..1}"]),
    (["a.0", "a.1", "a.3"], ["a.{0,1,3}"]),
    (["a.7", "a.8", "a.9", "a.10", "a.12"], ["a.{7..10,12}"]),
    (["a.1", "b.2"], ["a.1", "b.2"]),
    (["w1", "w2", "1w", "2w"], ["1w", "2w", "w1", "w2"]), # parts of words
    (["a.01", "a.02"], ["a.01", "a.02"]), # not as they would be written
    (["0", "1"], ["{0..1}"]),
    (["x_0/k:1", "x_1/k:1"], ["x_{0..1}/k:1"]),
    (["a.1234567890", "a.1234567891"], ["a.1234567890", "a.1234567891"]),
    (["{0..1}", "{0..2}"], ["{0..1}", "{0..2}"]),
    (["1.1", "1.2", "2.1"], ["1.{1..2}", "2.1"]),
    (["a.1\x01.2", "a.\x013.4"], [r"a.\u00013.4", r"a.1\u0001.2"]),
    (["1.1.1.1.1", "1.1.1.1.2"], ["1.1.1.1.1", "1.1.1.1.2"]), # more than four numbers
])
def test_folded_names(tmp_path, names, folded):
    path = save(tmp_path / "a", {name: np.zeros(1, "u1") for name in names})
    assert shown_names(path) == folded


def expand(name):
    """All that a folded name stands for."""
    def numbers(found):
        for part in found.split(","):
            first, _, last = part.partition("..")
            yield from range(int(first), int(last or first) + 1)

    parts = re.split(r"\{([^}]*)\}", name)
    choices = [[part] if i % 2 == 0 else map(str, numbers(part)) for i, part in enumerate(parts)]
    return {"".join(choice) for choice in itertools.product(*choices)}


def test_random_folds(tmp_path):
    """Each tensor is in one line, which tells its type and shape."""
    rng = random.Random(SEED)
    for _ in range(60):
        tensors = {}
        for _ in range(rng.randrange(1, 60)):
            name = ".".join(rng.choice(["a", "b", str(rng.randrange(4)), str(rng.randrange(12))])
                            for _ in range(rng.randrange(1, 5)))
            tensors[name] = np.zeros(rng.choice([1, 2]), rng.choice(["f4", "i2"]))
        path = save(tmp_path / "a", tensors)

        seen = {}
        for dtype, shape, size, name in rows(path):
            count, _, each = size.rpartition("×")
            names = expand(name)
            assert len(names) == int(count or 1)
            for one in names:
                assert one not in seen
                seen[one] = (dtype, shape, int(each))
        assert seen == {name: (array.dtype.name, f"[{len(array)}]", array.nbytes)
                        for name, array in tensors.items()}


def test_shards(tmp_path):
    index = save_shards(tmp_path, {"model-1.safetensors": {"a.0": np.zeros(2, "f4")},
                                   "model-2.safetensors": {"a.1": np.zeros(2, "f4")}})
    assert shown_names(index) == ["a.{0..1}"]
    assert {t["name"]: t["file"] for t in ls_json(index)["tensors"]} == {
        "a.0": "model-1.safetensors", "a.1": "model-2.safetensors"}
    assert "total" not in mtldl("ls", index)
    assert "2 tensors,               16 bytes" in mtldl("ls", index)


def test_numpy_files(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 2), ">f8", order="F"))
    np.savez(tmp_path / "a.npz", x=np.zeros(3, "?"), y=np.zeros((), "c16"))

    assert rows(tmp_path / "a.npy") == [["float64", "[3,2]", "48", "a"]]
    assert ls_json(tmp_path / "a.npy")["format"] == "npy"
    assert ls_json(tmp_path / "a.npz")["format"] == "npz"
    assert [row[:2] for row in rows(tmp_path / "a.npz")] == [["bool", "[3]"], ["complex128", "[]"]]


def test_no_tensors(tmp_path):
    path = write(tmp_path / "a", b"{}")
    assert mtldl("ls", path) == "total                   0 tensors,                0 bytes\n"
    assert mtldl("ls", "--names", path) == ""
    assert ls_json(path) == {"path": str(path), "format": "safetensors", "metadata": {},
                             "tensors": [], "totals": {}}


def test_evil_names(tmp_path):
    path = save(tmp_path / "a", {EVIL: np.zeros(1, "u1")}, {EVIL: EVIL})
    for options in ([], ["-l"], ["-1"], ["-m"], ["--json"]):
        printed = mtldl("ls", path, *options)
        assert all(char.isprintable() or char == "\n" for char in printed)
        assert "\u202e" not in printed and "\u2028" not in printed
    assert mtldl("ls", "-1", path) == EVIL_SHOWN + "\n"
    assert f"\n  {EVIL_SHOWN}: {EVIL_SHOWN}\n" in mtldl("ls", "-m", path)
    told = ls_json(path)
    assert told["tensors"][0]["name"] == EVIL and told["metadata"] == {EVIL: EVIL}


def test_json_of_characters_beyond_16_bits(tmp_path):
    name = "\U0001f600\U000e0041\U0001d173"
    path = save(tmp_path / "a", {name: np.zeros(1, "u1")})
    printed = mtldl("ls", "--json", path)
    assert json.loads(printed)[0]["tensors"][0]["name"] == name
    assert "\U0001f600" in printed and "\U000e0041" not in printed


def test_long_name(tmp_path):
    name = "x" * 1_000_000
    path = save(tmp_path / "a", {name: np.zeros(1, "u1"), "0." * 100_000: np.zeros(1, "u1")})
    assert shown_names(path) == ["0." * 100_000, name]


def test_misaligned(tmp_path):
    header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    header += b" " * ((5 - len(header)) % 8)
    path = write(tmp_path / "a", header, bytes(4))
    aligned, = [line for line in mtldl("ls", path).splitlines() if "aligned" in line]
    assert aligned.count("1") == 2


def test_alignment_of_empty_tensors(tmp_path):
    """They have no elements that could lie wrong."""
    header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
    header += b'"none":{"dtype":"F64","shape":[0],"data_offsets":[1,1]}}'
    path = write(tmp_path / "a", header + b" " * (-len(header) % 8), bytes(1))
    aligned, = [line for line in mtldl("ls", path).splitlines() if "aligned" in line]
    assert "1" not in aligned
    assert mtldl("check", "--alignment", path) == f"{path}: ok\n"


@pytest.mark.parametrize("save_archive", [np.savez, np.savez_compressed])
def test_alignment_in_archives(tmp_path, save_archive):
    """The place of a compressed array says nothing of its elements' alignment."""
    path = tmp_path / "a.npz"
    save_archive(path, x=np.arange(100.0), yy=np.arange(100.0), zzz=np.arange(100.0))
    assert "aligned" not in mtldl("ls", path)
    if save_archive is np.savez_compressed:
        assert mtldl("check", "--alignment", path) == f"{path}: ok\n"


def test_many(tmp_path):
    """Time is not of the square of their number."""
    times = []
    for n in (25_000, 100_000):
        path = save(tmp_path / "a", {f"layers.{i}.{i * 7 % 13}.w": np.zeros(1, "f4")
                                     for i in range(n)})
        begin = time.perf_counter()
        mtldl("ls", path)
        mtldl("ls", "--long", path)
        assert len(ls_json(path)["tensors"]) == n
        times.append(time.perf_counter() - begin)
    assert times[1] < 8 * times[0] + 1


@pytest.mark.parametrize("content, value", [
    (b"", "empty"), (b"\x02\0\0\0\0\0\0\0[]", "“{”")])
def test_bad_files(tmp_path, content, value):
    path = tmp_path / "a"
    path.write_bytes(content)
    done = run("ls", path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("mtldl: ") and tells(done.stderr, f"“{path}”", value)


def test_what_is_no_file(tmp_path):
    assert tells(complaint("ls", tmp_path), tmp_path)
    assert tells(complaint("ls", tmp_path / "none"), tmp_path / "none")
    assert tells(complaint("ls", "/dev/null"), "/dev/null")
    assert r"\u001b" in complaint("ls", tmp_path / "a\x1b[1m")


def test_typed_backslashes(file):
    """They are shown as they were typed."""
    assert r"“enc\.(w|b)”" in complaint("ls", file, r"enc\.(w|b)")
    assert r"“a\d”" in complaint("show", file, r"a\d")
    assert r"--sort=a\b" in complaint("ls", file, r"--sort=a\b", status=2)


@pytest.mark.parametrize("paths", [["x"], ["x", "y"], ["bad"], ["x", "bad", "y"], ["."],
                                   ["bad", "none.npy"]])
def test_one_form_of_json(tmp_path, paths):
    """A list of files, however many there are."""
    save(tmp_path / "x", {"a": np.zeros(2)})
    save(tmp_path / "y", {"b": np.zeros(2)})
    (tmp_path / "bad").write_text("bad")
    np.save(tmp_path / "z.npy", np.zeros(2))
    done = run("ls", "--json", *paths, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert [item["path"] for item in told] == (["./z.npy"] if paths == ["."] else paths)
    for item in told:
        if item["path"] in ("bad", "none.npy"):
            assert set(item) == {"path", "error"} and item["error"] in done.stderr
        else:
            assert [t["name"] for t in item["tensors"]] == [
                {"x": "a", "y": "b", "./z.npy": "z"}[item["path"]]]
    assert done.returncode == int({"bad", "none.npy"} & set(paths) != set())


def test_names_of_several_files(tmp_path):
    """Only names."""
    save(tmp_path / "x", {"a": np.zeros(2), "b": np.zeros(3)})
    save(tmp_path / "y", {"c": np.zeros(2), "a": np.zeros(2)})
    for options in (["-1"], ["-1", "--sort=file"]):
        assert mtldl("ls", *options, "x", "y", cwd=tmp_path).splitlines() in (
            ["a", "b", "a", "c"], ["a", "b", "c", "a"])
    assert mtldl("ls", "-1", "--sort=size", "x", "y", cwd=tmp_path) == "b\na\na\nc\n"
    (tmp_path / "bad").write_text("bad")
    done = run("ls", "-1", "x", "bad", "y", "a", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == "a\na\n" and "bad" in done.stderr


def test_folder_that_is_not_there(tmp_path):
    """It ends as one, and is no pattern."""
    save(tmp_path / "x", {"a": np.zeros(2)})
    assert tells(run("ls", "x", "none/", cwd=tmp_path).stderr, "“none/”")

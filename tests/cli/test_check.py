# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl check, against faults that are known."""

import json
import os
import re
import subprocess
import zipfile

import numpy as np
import pytest

from says import tells
from tensors import MTLDL, mtldl, run, save, save_shards, save_sparse, write
from terminal import Terminal, show


def faults(*arguments):
    """Returns the faults that it tells of a file; it may print nothing else."""
    done = run("check", *arguments)
    assert done.returncode == 1 and done.stdout == ""
    folder = re.escape(str(arguments[-1].parent))
    found = [re.fullmatch(rf"mtldl: (?:{folder}/[^/:]*: )?(.*)", line)
             for line in done.stderr.splitlines()]
    return [match.group(1) for match in found]


@pytest.fixture
def file(tmp_path):
    nan = np.array([[1, 2, 3], [4, np.nan, 6]])
    return save(tmp_path / "a", {
        "well": np.arange(3.0), "x.nan": nan, "y.nan": nan.astype("f2"),
        "bits": ("BOOL", [4], b"\0\1\2\3"), "inf": np.array([np.inf]), "none": np.zeros((0, 2)),
        "z.nan": ("BF16", [3], b"\x80\x3f\xc1\x7f\x80\x7f")})


def test_well(file, tmp_path):
    other = save(tmp_path / "b", {})
    assert mtldl("check", file) == f"{file}: ok\n"
    assert mtldl("check", file, other, file) == f"{file}: ok\n{other}: ok\n{file}: ok\n"
    assert mtldl("check", "-q", file) == mtldl("check", "--quiet", file) == ""


def test_nan(file):
    told = faults("--nan", file)
    assert len(told) == 3
    for name, place, line in zip(["x.nan", "y.nan", "z.nan"], ["1, 1", "1, 1", "1"], told):
        assert f"“{name}”" in line and "NaN" in line and place in line


def test_inf(file):
    told = faults("--inf", file)
    assert len(told) == 2
    for name, place, line in zip(["inf", "z.nan"], ["0", "2"], told):
        assert f"“{name}”" in line and "infinite" in line and place in line
    assert len(faults("--inf", "--nan", file)) == 4
    assert mtldl("check", "--inf", save(file, {"x": np.array([np.nan])})) == f"{file}: ok\n"


def test_bool(file):
    line, = faults("--bool", file)
    assert "“bits”" in line and "the byte 2" in line


def test_alignment(tmp_path):
    header = json.dumps({
        "a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "b": {"dtype": "F32", "shape": [1], "data_offsets": [3, 7]},
        "c": {"dtype": "F64", "shape": [1], "data_offsets": [7, 15]}})
    path = write(tmp_path / "a", header.encode() + b" " * (-len(header) % 8),
                 bytes(7) + np.array(np.nan).tobytes())
    first, second = faults("--alignment", path)
    assert tells(first, "“b”", 4)
    assert tells(second, "“c”", 8)
    assert mtldl("check", path) == f"{path}: ok\n"

    # Both of one tensor.
    told = faults("--alignment", "--nan", path)
    assert len(told) == 3
    assert "“c”" in told[2] and "NaN" in told[2]


def test_bar_while_all_faults_are_looked_for(tmp_path):
    """The bar is not in the way of the messages."""
    size = 2**25
    header = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
              "x": {"dtype": "U8", "shape": [1], "data_offsets": [4, 5]}}
    for i in range(32):
        header[str(i)] = {"dtype": "U8", "shape": [size],
                          "data_offsets": [5 + i * size, 5 + (i + 1) * size]}
    end = 5 + 32 * size
    header["z"] = {"dtype": "F32", "shape": [1], "data_offsets": [end, end + 4]}
    text = json.dumps(header).encode()
    path = write(tmp_path / "a", text + b" " * ((2 - len(text)) % 8))
    os.truncate(path, path.stat().st_size + end + 4)

    text, status = show([MTLDL, "check", "--alignment", path])
    assert status == 1
    assert re.fullmatch(r"mtldl: .*“a”.*\n(\r\[.*\x1b\[K)+\r\x1b\[Kmtldl: .*“z”.*\n"
                        r"((\r\[.*\x1b\[K)+\r\x1b\[K)?", text), text
    text, status = show([MTLDL, "check", "-q", "--alignment", path])
    assert "\r" not in text


def test_all_at_once(file):
    assert len(faults("--nan", "--bool", "--alignment", file)) >= 4


def test_bad_header(tmp_path):
    line, = faults(write(tmp_path / "a", b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}',
                         bytes(4)))
    assert "“a”" in line


def test_no_file(tmp_path):
    assert tells(faults(tmp_path / "none")[0], tmp_path / "none")
    assert tells(faults(tmp_path)[0], tmp_path)


@pytest.mark.parametrize("end", ["/", "/.", "/.."])
def test_file_as_a_folder(file, end):
    for command in ("check", "ls", "show"):
        done = run(command, f"{file}{end}", *["a"] * (command == "show"))
        assert done.returncode == 1
        assert tells(done.stderr, f"“{file}{end}”") and done.stderr.count("\n") == 1


def test_some_good_and_some_bad(file, tmp_path):
    done = run("check", tmp_path / "none", file, "/dev/null", file)
    assert done.returncode == 1
    assert done.stdout == f"{file}: ok\n" * 2
    assert len(done.stderr.splitlines()) == 2


def broken_archive(path, save_archive, names):
    """One whose members have a byte that is another one than when it was written."""
    arrays = {name: np.arange(1000.0) + i for i, name in enumerate(["a", "b", "c"])}
    save_archive(path, **arrays)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        for name in names:
            info = archive.getinfo(f"{name}.npy")
            content[info.header_offset + 30 + len(info.filename) + info.compress_size - 5] ^= 0x10
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("save_archive", [np.savez, np.savez_compressed])
def test_archives(tmp_path, save_archive):
    path = broken_archive(tmp_path / "a.npz", save_archive, [])
    assert mtldl("check", path) == f"{path}: ok\n"

    path = broken_archive(tmp_path / "a.npz", save_archive, ["a", "c"])
    told = faults(path)
    assert len(told) == 2 and "“a" in told[0] and "“c" in told[1]


def test_shards(tmp_path):
    bad = np.array([np.nan])
    index = save_shards(tmp_path, {"1.safetensors": {"a": np.zeros(2), "b": bad},
                                   "2.safetensors": {"c": bad, "d": np.zeros(2)}})
    assert mtldl("check", index) == f"{index}: ok\n"
    assert [line for line in faults("--nan", index) if "“b”" in line or "“c”" in line] == faults(
        "--nan", index)
    assert len(faults("--nan", index)) == 2


def test_tensor_that_the_index_does_not_name(tmp_path):
    index = save_shards(tmp_path, {"1.safetensors": {"a": np.zeros(2), "c": np.array([np.nan])}})
    told = json.loads(index.read_text())
    save(tmp_path / "1.safetensors", {"a": np.zeros(2), "b": np.array([np.nan]),
                                      "c": np.array([np.nan])})
    index.write_text(json.dumps(told))
    assert sorted(line[len("Tensor “"):][0] for line in faults("--nan", index)) == ["b", "c"]


def test_index_without_its_files(tmp_path):
    index = save_shards(tmp_path, {"1.safetensors": {"a": np.zeros(2)}})
    os.remove(tmp_path / "1.safetensors")
    assert "1.safetensors" in faults(index)[0]

    save(tmp_path / "1.safetensors", {"b": np.zeros(2)})
    assert "“a”" in faults("--strict", index)[0]
    done = run("check", index)
    assert (done.returncode, done.stdout) == (0, f"{index}: ok\n") and "“a”" in done.stderr


def test_file_cut_while_it_is_checked(tmp_path):
    """An error once, and no signal."""
    path = save_sparse(tmp_path / "a", 2**40)
    with Terminal([MTLDL, "check", path], stdout=subprocess.DEVNULL) as terminal:
        terminal.read_until("\r[")
        os.truncate(path, 4096)
        text = terminal.read_all()
        assert terminal.process.wait(60) == 1
    assert text.count("mtldl: ") == 1 and "1099511627" in text

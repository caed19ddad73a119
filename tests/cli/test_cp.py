# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl cp, read back without it."""

import errno
import json
import os
import resource
import signal
import stat
import subprocess

import numpy as np
import pytest

from says import tells
from tensors import (CODES, EVIL, MTLDL, complaint, load, ls_json, mtldl, save, save_shards,
                     save_sparse)
from terminal import undo_ignored_signals


@pytest.fixture
def arrays():
    rng = np.random.default_rng(5)
    return {"model.0.w": rng.normal(size=(3, 4)).astype("f4"), "model.1.w": np.arange(5.0),
            "ids": np.arange(7), "mask": np.array([True, False]), "one": np.array(2, "u1")}


@pytest.fixture
def source(tmp_path, arrays):
    return save(tmp_path / "in.safetensors", arrays, {"format": "pt", "a": "é\n"})


@pytest.fixture
def target(tmp_path):
    return tmp_path / "out.safetensors"


def copied(source, target, *options):
    assert mtldl("cp", source, target, *options) == ""
    return load(target)[0]


def assert_same(one, other):
    assert set(one) == set(other)
    for name, array in one.items():
        assert array.dtype == other[name].dtype and np.array_equal(array, other[name])


def test_all(source, target, arrays):
    assert_same(copied(source, target), arrays)
    assert load(target)[1] == {"format": "pt", "a": "é\n"}


def test_every_type(tmp_path, target):
    arrays = {name: np.arange(8).astype(name) for name in CODES}
    assert_same(copied(save(tmp_path / "a", arrays), target), arrays)


def test_types_that_numpy_lacks(tmp_path, target):
    tensors = {"a": ("F4", [4], b"\x12\x34"), "b": ("BF16", [2], b"\x80\x3f\xc0\x7f"),
               "c": ("F8_E4M3", [3], b"abc"), "d": ("F6_E2M3", [4], b"abc")}
    out = copied(save(tmp_path / "a", tensors), target)
    assert {name: (code, bytes(content)) for name, (code, content) in out.items()} == {
        name: (code, content) for name, (code, _, content) in tensors.items()}


def test_names_of_all_kinds(tmp_path, target):
    arrays = {EVIL: np.arange(3), "": np.arange(4), "../../x": np.arange(2)}
    assert_same(copied(save(tmp_path / "a", arrays), target), arrays)


def test_no_tensors(tmp_path, target):
    assert copied(save(tmp_path / "a", {}), target) == {}


def test_onto_itself(source, arrays):
    assert_same(copied(source, source), arrays)


def test_into_a_folder(source, tmp_path, arrays):
    folder = tmp_path / "folder"
    folder.mkdir()
    mtldl("cp", source, folder)
    assert_same(load(folder / "in.safetensors")[0], arrays)


@pytest.mark.parametrize("end", ["/", "/.", "/.."])
def test_into_no_folder(source, tmp_path, end):
    """There is none, so it is not the name of a file either."""
    assert tells(complaint("cp", source, f"{tmp_path}/none{end}"), f"“{tmp_path}/none{end}”")
    assert not (tmp_path / "none").exists()


def test_select(source, target, arrays):
    out = copied(source, target, "--select=*.?.w", "-s", "ids")
    assert_same(out, {name: arrays[name] for name in ("model.0.w", "model.1.w", "ids")})


def test_select_nothing(source, target):
    assert tells(complaint("cp", source, target, "-s", "*z", "-s", "ids"), "“*z”")
    assert not target.exists()


@pytest.mark.parametrize("rules, names", [
    (["model.*=*"], ["0.w", "1.w", "ids", "mask", "one"]),
    (["*=x.*"], ["x.model.0.w", "x.model.1.w", "x.ids", "x.mask", "x.one"]),
    (["model.*.w=*", "*.w=y*"], ["0", "1", "ids", "mask", "one"]), # the first that fits
    (["*.w=y*", "ids=IDS"], ["ymodel.0", "ymodel.1", "IDS", "mask", "one"]),
    (["one=a=b"], ["model.0.w", "model.1.w", "ids", "mask", "a=b"]),
    (["mask*=m*"], ["model.0.w", "model.1.w", "ids", "m", "one"]),
    (["model.0*=zero"], ["zero", "model.1.w", "ids", "mask", "one"]),
])
def test_rename(source, target, arrays, rules, names):
    out = copied(source, target, *[f"--rename={rule}" for rule in rules])
    assert_same(out, dict(zip(names, arrays.values())))


@pytest.mark.parametrize("rule", ["model", "*a*=b", "a=*", "a*=**"])
def test_wrong_rename(source, target, rule):
    told = complaint("cp", source, target, "-r", rule, status=2)
    assert tells(told, f"--rename={rule}", "FROM=TO")


def test_rename_to_the_same(source, target):
    assert "“x”" in complaint("cp", source, target, "-r", "*=x")
    assert not target.exists()


@pytest.mark.parametrize("rules, dtypes", [
    (["float16"], ["f2", "f2", "i8", "?", "u1"]), # floats alone
    (["*=float32"], ["f4", "f4", "f4", "f4", "f4"]),
    (["float16", "*.1.w=int16"], ["f2", "i2", "i8", "?", "u1"]),
    (["*.1.w=int16", "float16"], ["f2", "f2", "i8", "?", "u1"]), # the last
    (["i?s=int8", "mask=uint8"], ["f4", "f8", "i1", "u1", "u1"]),
])
def test_dtype(source, target, arrays, rules, dtypes):
    out = copied(source, target, *[f"--dtype={rule}" for rule in rules])
    assert_same(out, {name: array.astype(dtype)
                      for (name, array), dtype in zip(arrays.items(), dtypes)})


def test_bfloat16(source, target, arrays):
    code, content = copied(source, target, "-d", "bfloat16", "-s", "model.0.w")["model.0.w"]
    bits = arrays["model.0.w"].view("u4").astype("u8").ravel()
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    assert code == "BF16" and np.array_equal(content.view("u2"), rounded)


def test_complex_is_no_float(tmp_path, target):
    arrays = {"x": np.ones(2, "c8")}
    assert_same(copied(save(tmp_path / "a", arrays), target, "-d", "float16"), arrays)


@pytest.mark.parametrize("rule", ["float31", "*=x", "", "x="])
def test_wrong_dtype(source, target, rule):
    assert f"--dtype={rule}" in complaint("cp", source, target, f"--dtype={rule}", status=2)


def test_types_that_files_lack(source, target):
    assert tells(complaint("cp", source, target, "-d", "int4"), "safetensors", "int4")
    assert not target.exists()


@pytest.mark.parametrize("n", [1, 64, 4096, 1 << 20])
def test_align(source, target, arrays, n):
    assert_same(copied(source, target, f"--align={n}"), arrays)
    begin = 8 + int.from_bytes(target.read_bytes()[:8], "little")
    assert begin % n == 0
    assert begin < n + 1000


@pytest.mark.parametrize("n", ["3", "-1", "-64", "134217728", "x", "9999999999999"])
def test_wrong_alignment(source, target, n):
    complaint("cp", source, target, f"--align={n}", status=2)


def test_order(tmp_path, target):
    arrays = {"c": np.zeros(3, "u1"), "a": np.zeros(8), "b": np.zeros(2)}
    source = save(tmp_path / "a", arrays)

    copied(source, target, "--keep-order")
    assert mtldl("ls", "-1", "--sort=file", target).split() == ["c", "a", "b"]
    copied(source, target)
    assert mtldl("ls", "-1", "--sort=file", target).split() == ["a", "b", "c"]
    assert all(tensor["alignment"] >= 8 for tensor in ls_json(target, "a", "b")["tensors"])


@pytest.mark.parametrize("size, limit", [("100", 100), ("1k", 1024), ("1K", 1024), ("2M", 2**21),
                                         ("1G", 2**30), ("1t", 2**40)])
def test_shards(tmp_path, arrays, source, size, limit):
    index = tmp_path / "out.safetensors.index.json"
    assert mtldl("cp", source, index, f"--shard-size={size}") == ""
    shards = {}
    for name, shard in json.loads(index.read_text())["weight_map"].items():
        shards.setdefault(shard, set()).add(name)

    out = {}
    for shard, names in shards.items():
        part = load(tmp_path / shard)[0]
        assert set(part) == names
        assert len(part) == 1 or sum(array.nbytes for array in part.values()) <= limit
        out.update(part)
    assert_same(out, arrays)
    assert len(shards) == (2 if limit == 100 else 1)


def test_from_shards(tmp_path, target):
    index = save_shards(tmp_path, {"1.safetensors": {"a": np.arange(3.0)},
                                   "2.safetensors": {"b": np.arange(4)}})
    assert_same(copied(index, target), {"a": np.arange(3.0), "b": np.arange(4)})


@pytest.mark.parametrize("size", ["0", "x", "5Q", "5GBs", "-1", "", "99999999999T"])
def test_wrong_shard_size(source, tmp_path, size):
    assert size in complaint("cp", source, tmp_path / "x.safetensors.index.json",
                             f"--shard-size={size}", status=2)


def test_wrong_names_of_indices(source, tmp_path):
    assert "NAME.safetensors.index.json" in complaint("cp", source, tmp_path / "x", "-S", "5G",
                                                      status=2)
    assert "--shard-size" in complaint("cp", source, tmp_path / "x.safetensors.index.json",
                                       status=2)


def test_metadata(source, target):
    copied(source, target, "--metadata=a=", "-m", "b=c=d", "-m", "é=ü")
    assert load(target)[1] == {"format": "pt", "b": "c=d", "é": "ü"}
    assert tells(complaint("cp", source, target, "-m", "a", status=2), "KEY=VALUE")


def test_numpy_files(tmp_path, target, source, arrays):
    array = np.asfortranarray(arrays["model.0.w"])
    np.save(tmp_path / "x.y.npy", array)
    assert_same(copied(tmp_path / "x.y.npy", target), {"x.y": array})
    assert_same(copied(tmp_path / "x.y.npy", target, "-r", "x.*=*"), {"y": array})

    np.savez(tmp_path / "a.npz", **arrays)
    assert_same(copied(tmp_path / "a.npz", target), arrays)

    for name, array in arrays.items():
        assert mtldl("cp", source, tmp_path / "b.npy", "-s", name) == ""
        assert_same({name: np.load(tmp_path / "b.npy")}, {name: array})
    assert tells(complaint("cp", source, tmp_path / "b.npy"), len(arrays))
    assert tells(complaint("cp", source, tmp_path / "b.npy", "-s", "ids", "-m", "a=b"), 1)
    assert ".npz" in complaint("cp", source, tmp_path / "b.npz")


def test_archive_into_a_folder(tmp_path):
    """It would have the name of what it is not."""
    np.savez(tmp_path / "a.npz", x=np.zeros(1))
    (tmp_path / "folder").mkdir()
    assert ".npz" in complaint("cp", tmp_path / "a.npz", tmp_path / "folder")


def test_mode_of_files(source, tmp_path, target):
    mtldl("cp", source, target, umask=0o027)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    target.chmod(0o600)
    mtldl("cp", source, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_failures_leave_what_was_there(tmp_path, source, target):
    target.write_text("old")
    bad = tmp_path / "bad"
    bad.write_text("bad")
    complaint("cp", bad, target)
    complaint("cp", source, target, "-d", "mask=opaque_handle8")
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["bad", "in.safetensors", "out.safetensors"]
    assert tells(complaint("cp", source, tmp_path / "none" / "x"), f"“{tmp_path / 'none'}”")
    assert tells(complaint("cp", source, "/dev/null"), "“/dev/null”")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals(tmp_path, number):
    """A file that is half written is deleted, and the shell sees the signal."""
    source = save_sparse(tmp_path / "in.safetensors", 2**29)
    target = tmp_path / "out.safetensors"
    target.write_text("old")
    command = subprocess.Popen([MTLDL, "cp", source, target], stderr=subprocess.PIPE,
                               preexec_fn=undo_ignored_signals)
    try:
        while not has_begun(tmp_path):
            assert command.poll() is None, command.stderr.read()
        command.send_signal(number)
        assert command.wait(60) == -number
        assert command.stderr.read() == b""
    finally:
        command.kill()
        command.stderr.close()
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["in.safetensors", "out.safetensors"]


def test_signal_that_is_ignored(tmp_path):
    """The command ignores a signal that its parent ignores, as nohup does."""
    source = save_sparse(tmp_path / "in.safetensors", 2**27)
    target = tmp_path / "out.safetensors"
    with subprocess.Popen([MTLDL, "cp", "-q", source, target], preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN)) as command:
        while not has_begun(tmp_path):
            assert command.poll() is None
        command.send_signal(signal.SIGHUP)
        assert command.wait(60) == 0
    assert target.stat().st_size > 2**27
    target.unlink()


def has_begun(folder):
    """True if there is a third file, which is being written."""
    return any(name.startswith(".") for name in os.listdir(folder))


@pytest.mark.parametrize("options", [["-r", "nope=x"], ["-r", "no*=x*"], ["-d", "nope=float16"],
                                     ["-d", "?=int8"], ["-m", "nope="], ["-r", "ids=a", "-r", "b=c"],
                                     ["-s", "ids", "-r", "one=1"], ["-s", "ids", "-d", "one=int8"]])
def test_rules_that_match_nothing(source, target, options):
    told = complaint("cp", source, target, *options)
    assert f"“{options[-1].removesuffix('=')}”" in told
    assert not target.exists()


def test_rules_that_match_something(source, target, arrays):
    """Although another one applies, or there is nothing to convert."""
    assert_same(copied(source, target, "-s", "ids", "-r", "ids=a", "-r", "i*=b", "-d", "float16"),
                {"a": arrays["ids"]})
    copied(source, target, "-d", "ids=int8", "-d", "ids=int16", "-m", "new=1", "-m", "new=")
    assert load(target)[0]["ids"].dtype == "int16"
    assert load(target)[1] == {"format": "pt", "a": "é\n"}


@pytest.mark.parametrize("size", [0, 1, 100, 4096, 2**20])
def test_file_that_gets_too_large(tmp_path, size):
    """A limit by ulimit -f is an error, and nothing is left."""
    source = save(tmp_path / "in.safetensors", {"x": np.zeros(2**18)})
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out.safetensors").write_text("old")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    for name in ("out.safetensors", "new.npy", "new.safetensors.index.json"):
        options = ["-S", "1M"] if name.endswith("json") else []
        told = complaint("cp", source, folder / name, *options, preexec_fn=limit)
        assert tells(told, os.strerror(errno.EFBIG))
        assert os.listdir(folder) == ["out.safetensors"]
    assert (folder / "out.safetensors").read_text() == "old"


@pytest.mark.parametrize("number", [signal.SIGPIPE, signal.SIGQUIT, signal.SIGXCPU, signal.SIGUSR1,
                                    signal.SIGALRM])
def test_other_signals(tmp_path, number):
    def prepare():
        undo_ignored_signals()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    source = save_sparse(tmp_path / "in.safetensors", 2**29)
    command = subprocess.Popen([MTLDL, "cp", source, tmp_path / "out"], stderr=subprocess.PIPE,
                               preexec_fn=prepare)
    try:
        while not has_begun(tmp_path):
            assert command.poll() is None, command.stderr.read()
        command.send_signal(number)
        assert command.wait(60) == -number
    finally:
        command.kill()
        command.stderr.close()
    assert os.listdir(tmp_path) == ["in.safetensors"]

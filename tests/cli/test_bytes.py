# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of files and arguments that are not UTF-8: bytes, for Linux."""

import fnmatch
import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import SEED
from tensors import MTLDL, mtldl, save

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 on macOS")

ODD = [b"ab\xf9", b"\xff", b"*\xc3", b"?\xe6\xbc", b"\xed\xa0\x80*", b"*\xf9*", b"a\xc3?\x80",
       b"\xc0\x80", b"\xf8\x88\x80\x80\x80", b"\xf4\x90\x80\x80"]


def run(*arguments, cwd):
    """The status of a program that has not ended by a signal."""
    done = subprocess.run([MTLDL, *arguments], capture_output=True, cwd=cwd, timeout=60)
    assert done.returncode in (0, 1, 2), done
    text = done.stderr.decode() # and so it is UTF-8
    assert "\x1b" not in text and "CRITICAL" not in text and "WARNING" not in text, text
    return done


def save_array(folder, name):
    """NumPy wants names to be text."""
    with open(os.fsencode(folder) + b"/" + name, "wb") as file:
        np.save(file, np.arange(3))


@pytest.fixture
def work(tmp_path):
    save_array(tmp_path, b"ab\xf9.npy")
    save(tmp_path / "a.safetensors", {"é 漢 x": np.ones(2), "x": np.ones(2)})
    return tmp_path


@pytest.mark.parametrize("pattern, found", [
    (b"*b?", True), (b"ab\xf9", True), (b"*\xf9", True), (b"ab*", True), (b"a\xf9*", False),
    (b"??", False), (b"???", True), (b"ab\xf8", False), (b"*a?", False)])
def test_name_of_an_array(work, pattern, found):
    done = run(b"ls", b"-1", b".", pattern, cwd=work)
    assert (done.returncode, done.stdout) == ((0, b"ab\\xf9\n") if found else (1, b""))


@pytest.mark.parametrize("word", ODD)
def test_arguments(work, word):
    np.save(work / "x.npy", np.arange(3))
    for words in (["ls", ".", word], ["ls", "a.safetensors", "-s", word], ["ls", word],
                  ["ls", "-j", word], ["ls", "-1", "a.safetensors", word], ["show", word],
                  ["show", "a.safetensors", word], ["show", "x.npy", word], ["show", "-s", ".",
                  word], ["show", "-s", "a.safetensors", word], ["show", "x.npy", "[" + "0]"],
                  ["show", "x.npy", b"[" + word + b"]"], ["check", word],
                  ["cp", "a.safetensors", "o", "-s", word],
                  ["cp", "a.safetensors", "o", "-d", word + b"=f16"],
                  ["cp", "a.safetensors", "o", "-d", word],
                  ["cp", "a.safetensors", "o", "-r", word + b"=y"],
                  ["cp", "a.safetensors", "o", "-r", b"x=" + word.replace(b"*", b"")],
                  ["cp", "a.safetensors", "o", "-m", b"k=" + word],
                  ["cp", "a.safetensors", "o", "-m", word + b"=v"],
                  ["cp", "a.safetensors", "o", "-m", word + b"="],
                  ["cp", "a.safetensors", "o", "-S", word], ["cp", "a.safetensors", "o", "-f",
                  word], ["cp", "a.safetensors", word], ["cp", word, "o"], ["diff", word, word],
                  ["diff", "a.safetensors", "x.npy", "-s", word], ["help", word], [word],
                  ["ls", b"--" + word], ["ls", b"--sort=" + word], ["diff", "x.npy", "x.npy",
                  b"--atol=" + word]):
        run(*words, cwd=work)


def test_array_of_that_name(work):
    name = b"ab\xf9.npy"
    assert run("show", name, cwd=work).stdout == b"[0 1 2]\n"
    assert run("show", name, b"ab\xf9", cwd=work).stdout == b"[0 1 2]\n"
    assert run("show", name, rb"ab\xf9[1]", cwd=work).stdout == b"1\n"
    assert run("diff", name, name, cwd=work).returncode == 0
    assert b"\\xf9" in run("show", name, "y", cwd=work).stderr
    assert run("check", name, cwd=work).stdout == b"ab\\xf9.npy: ok\n"
    # Names in safetensors are UTF-8.
    done = run("cp", name, "o.safetensors", cwd=work)
    assert done.returncode == 1 and not (work / "o.safetensors").exists()
    assert run("cp", name, "o.safetensors", "-r", b"ab\xf9=x", cwd=work).returncode == 0
    assert mtldl("show", work / "o.safetensors", "x") == "[0 1 2]\n"
    assert run("cp", name, "o.npy", "-d", b"*\xf9=f4", cwd=work).returncode == 0


def test_long_name_in_a_message(work):
    """It is cut between characters, whatever is valid of it."""
    for name in (b"\xf9" * 200, b"a\xe6" * 100, "é漢".encode() * 40 + b"\xf0"):
        save_array(work, name + b".npy")
        run("show", name + b".npy", "y", cwd=work)
        run("show", name + b".npy", name[:3], cwd=work)


def test_random_patterns(tmp_path):
    """Patterns match as fnmatch's do, by characters."""
    rng = random.Random(SEED)
    letters = ["a", "b", "é", "漢", "\U0001f600", ".", "[", "]", "\\"]
    names = {"".join(rng.choice(letters) for _ in range(rng.randrange(6))) for _ in range(200)}
    path = save(tmp_path / "a", {name: np.zeros(1, "u1") for name in names})
    for _ in range(150):
        pattern = "".join(rng.choice([*letters, "*", "*", "?"]) for _ in range(rng.randrange(7)))
        regex = re.compile(fnmatch.translate(re.sub(r"[\[]", "[[]", pattern)))
        expected = sorted(name for name in names if regex.fullmatch(name))
        done = subprocess.run([MTLDL, "ls", "-1", path, f"--select={pattern}"],
                              capture_output=True, encoding="utf-8")
        assert sorted(done.stdout.replace("\\\\", "\\").splitlines()) == expected, pattern
        assert done.returncode == (0 if expected else 1)

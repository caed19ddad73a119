# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion in fish, which tells what it offers for a line."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from tensors import MTLDL, mtldl, run, save
from test_command import COMMANDS, options_of

COMPLETION = pathlib.Path(os.environ["MTLDL_COMPLETIONS"]) / "mtldl.fish"

pytestmark = pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    work = tmp_path_factory.mktemp("fish")
    (work / "deep").mkdir()
    save(work / "model.safetensors", {name: np.zeros(2) for name in (
        "layers.10.w", "layers.2.w", "a b", "it's", "$(touch pwned)", "evil\x1b")})
    np.save(work / "two words.npy", np.zeros(2))
    save(work / "deep" / "in.safetensors", {"inside": np.zeros(2)})
    (work / "notes.txt").touch()
    return work


@pytest.fixture
def offered(work):
    env = {**os.environ, "HOME": str(work), "LC_ALL": "C.UTF-8", "LINE": "",
           "PATH": f"{pathlib.Path(MTLDL).parent}:{os.environ['PATH']}"}

    def offered(line):
        done = subprocess.run(["fish", "--no-config", "-c",
                               f"source {COMPLETION}; complete -C $LINE"], cwd=work,
                              env={**env, "LINE": line}, capture_output=True, encoding="utf-8",
                              timeout=60)
        assert done.stderr == ""
        return [text.split("\t")[0] for text in done.stdout.splitlines()]

    return offered


def test_commands(offered):
    assert set(offered("mtldl ")) == {*COMMANDS, "help"}
    assert set(offered("mtldl --")) == {"--version", "--help"}
    assert set(offered("mtldl help ")) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_options(offered, command):
    options = options_of(command)
    assert set(offered(f"mtldl {command} --")) == {
        option for option in options if option.startswith("--")}
    assert {option[:2] for option in offered(f"mtldl {command} -") if option[1] != "-"} == {
        option for option in options if not option.startswith("--")}


@pytest.mark.parametrize("command", COMMANDS)
def test_files(offered, command):
    assert set(offered(f"mtldl {command} ")) == {"deep/", "model.safetensors", "two words.npy"}
    assert offered(f"mtldl {command} deep/") == ["deep/in.safetensors"]
    assert offered(f"mtldl {command} 'two") == ["two words.npy"]
    assert offered(f"mtldl {command} no") == ["notes.txt"]


@pytest.mark.parametrize("command", ["ls", "show"])
def test_names(offered, command, work):
    names = mtldl("ls", "-1", work / "model.safetensors").splitlines()
    assert names.index("layers.2.w") < names.index("layers.10.w")
    assert offered(f"mtldl {command} model.safetensors ") == names
    assert offered(f"mtldl {command} model.safetensors lay") == ["layers.2.w", "layers.10.w"]
    assert offered(f"mtldl {command} ~/model.safetensors it") == ["it's"]
    assert offered(f"mtldl {command} 'two words.npy' t") == ["two words"] + (
        ["two words.npy"] if command == "never" else [])
    assert offered(f"mtldl {command} -j deep/in.safetensors i") == ["inside"]
    assert not (work / "pwned").exists()


def test_second_file(offered):
    assert offered("mtldl ls model.safetensors two") == ["two words.npy"]
    assert "two words.npy" in offered("mtldl check model.safetensors ")
    assert "model.safetensors" in offered("mtldl cp model.safetensors ")


def test_values(offered, work):
    assert offered("mtldl cp --dtype=bf") == ["--dtype=bfloat16"]
    assert offered("mtldl cp --dtype bf") == ["bfloat16"]
    assert offered("mtldl ls --sort ") == ["name", "size", "file"]
    assert set(offered("mtldl cp -f ")) == {"safetensors", "npy"}
    assert offered("mtldl cp model.safetensors x -s lay") == ["layers.2.w", "layers.10.w"]
    for name in offered("mtldl cp -d "):
        assert run("cp", "-d", f"*={name}", work / "deep" / "in.safetensors",
                   work / "b.safetensors").returncode != 2
        (work / "b.safetensors").unlink(missing_ok=True)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion, by typing into bash."""

import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

from tensors import MTLDL, mtldl, run, save, save_shards
from terminal import Terminal
from test_command import COMMANDS, options_of

COMPLETION = os.path.join(os.environ["MTLDL_COMPLETIONS"], "mtldl.bash")

# Completed as mtldl is; it tells its arguments, which end where M-* left spaces.
SETUP = f"""
. '{COMPLETION}'
complete -F _mtldl args
args () {{ printf '<%s>' "$@"; echo :end; }}
PS1='ready> '
"""

INPUTRC = """
set bell-style none
set enable-bracketed-paste off
set completion-query-items 0
set page-completions off
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    (folder / "setup").write_text(SETUP)
    (folder / "inputrc").write_text(INPUTRC)
    work = folder / "work"
    (work / "deep" / "er").mkdir(parents=True)
    save(work / "model.safetensors", {name: np.zeros(2) for name in (
        "layers.0.w", "layers.1.w", "it's", "a b", "k:0", "k:1", "x=y", "evil\x1b", "[odd]",
        "$HOME", "`touch pwned`", "$(touch pwned)", "say \"hi\"", "back\\slash")})
    save(work / "two words.safetensors", {"only": np.zeros(2)})
    save(work / "deep" / "in.safetensors", {"inside": np.zeros(2)})
    np.save(work / "array.npy", np.zeros(2))
    save_shards(work / "deep" / "er", {"s.safetensors": {"sharded": np.zeros(2)}})
    (work / "notes.txt").touch()
    return folder


@pytest.fixture
def type_line(folder):
    env = {"PATH": f"{pathlib.Path(MTLDL).parent}:{os.environ['PATH']}", "TERM": "dumb",
           "INPUTRC": str(folder / "inputrc"), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    with Terminal(["bash", "--noprofile", "--rcfile", folder / "setup", "-i"], env,
                  columns=5000, cwd=folder / "work") as terminal:
        def type_line(keys):
            begin = len(terminal.seen)
            terminal.type(f"args {keys}\r")
            text = terminal.read_until(":end\r\n", begin)
            printed, = re.findall("(?m)^(<.*>):end", text)
            return re.findall("<(.*?)>", printed)

        terminal.read_until("ready> ")
        yield type_line


TAB = "\t"
ALL = "\x1b*" # readline inserts whatever there is


def test_syntax():
    assert subprocess.run(["bash", "-n", COMPLETION], capture_output=True).stderr == b""


def test_commands(type_line):
    assert set(type_line(ALL)) == {*COMMANDS, "help", "--version", "--help"}
    assert type_line("sh" + TAB) == ["show"]
    assert set(type_line("help " + ALL)[1:]) == set(COMMANDS)
    assert type_line("help ch" + TAB) == ["help", "check"]
    assert type_line("nonsense " + TAB) == ["nonsense"]


@pytest.mark.parametrize("command", COMMANDS)
def test_options(type_line, command):
    words = type_line(f"{command} --{ALL}")
    assert {word.rstrip("=") for word in words[1:]} == {
        option for option in options_of(command) if option.startswith("--")}
    for word in words[1:]: # those with = want a value
        usage = mtldl("help", command)
        assert word.endswith("=") == (f"{word.rstrip('=')}=" in usage)


@pytest.mark.parametrize("command", COMMANDS)
def test_files(type_line, command):
    assert sorted(type_line(f"{command} {ALL}")[1:]) == [
        "array.npy", "deep", "model.safetensors", "two words.safetensors"]
    assert type_line(f"{command} two{TAB}") == [command, "two words.safetensors"]
    assert type_line(f"{command} 'two{TAB}") == [command, "two words.safetensors"]
    assert type_line(f"{command} two\\ w{TAB}") == [command, "two words.safetensors"]
    assert type_line(f"{command} deep/i{TAB}") == [command, "deep/in.safetensors"]
    assert type_line(f"{command} deep/er/m{TAB}") == [command,
                                                      "deep/er/model.safetensors.index.json"]
    assert type_line(f"{command} no{TAB}") == [command, "notes.txt"] # where nothing else fits


def test_options_before_files(type_line):
    assert type_line(f"ls --json -l arr{TAB}") == ["ls", "--json", "-l", "array.npy"]
    assert type_line(f"show -n 5 arr{TAB}") == ["show", "-n", "5", "array.npy"]
    assert type_line(f"show --max-items 5 arr{TAB}") == ["show", "--max-items", "5", "array.npy"]
    assert type_line(f"ls -- arr{TAB}") == ["ls", "--", "array.npy"]
    assert type_line(f"check array.npy mod{TAB}") == ["check", "array.npy", "model.safetensors"]
    assert type_line(f"cp array.npy mod{TAB}") == ["cp", "array.npy", "model.safetensors"]


@pytest.mark.parametrize("typed, name", [
    ("layers.1", "layers.1.w"), ("it", "it's"), ("a", "a b"), ("k:1", "k:1"), ("'k:0", "k:0"),
    ("x=", "x=y"), ("\\[", "[odd]"), ("\\$H", "$HOME"), ("'$H", "$HOME"), ('"a ', "a b"),
    ("a\\ ", "a b"), ("evil", r"evil\u001b"), ("back", r"back\\slash"), ("zz", "zz"),
    ("'it", "it's"), ("\\`", "`touch pwned`"), ("'`", "`touch pwned`"), ('"\\`', "`touch pwned`"),
    ("\\$\\(", "$(touch pwned)"), ('"\\$(', "$(touch pwned)"), ("'say", 'say "hi"'),
    ("say", 'say "hi"'), ('"back', r"back\\slash"), ("lay", "layers."),
])
@pytest.mark.parametrize("command", ["show", "ls"])
def test_names(type_line, typed, name, command):
    assert type_line(f"{command} model.safetensors {typed}{TAB}") == [command, "model.safetensors",
                                                                      name]


def test_all_names(type_line, folder):
    names = mtldl("ls", "-1", folder / "work" / "model.safetensors").splitlines()
    assert sorted(type_line(f"show model.safetensors {ALL}")[2:]) == sorted(names)


def test_names_of_other_files(type_line):
    assert type_line(f"show two\\ words.safetensors o{TAB}")[-1] == "only"
    assert type_line(f"show 'two words.safetensors' o{TAB}")[-1] == "only"
    assert type_line(f"show -s deep/in.safetensors i{TAB}")[-1] == "inside"
    assert type_line(f"show ~/work/deep/in.safetensors i{TAB}")[-1] == "inside"
    assert type_line(f"show deep/er/model.safetensors.index.json s{TAB}")[-1] == "sharded"
    assert type_line(f"show notes.txt i{TAB}")[-1] == "i"
    assert type_line(f"show missing i{TAB}")[-1] == "i"


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_names_are_no_commands(folder, type_line, quote):
    words = type_line(f"show model.safetensors {quote}{ALL}")
    assert "$(touch pwned)" in words and "`touch pwned`" in words
    assert not (folder / "work" / "pwned").exists()


def test_completed_names_are_found(type_line, folder):
    for typed in ("evil", "it", "a", "\\["):
        name = type_line(f"show model.safetensors {typed}{TAB}")[-1]
        done = run("show", folder / "work" / "model.safetensors", name)
        assert done.stdout == "[0. 0.]\n", done.stderr


def test_slice_behind_a_name(type_line):
    """There is no space after it."""
    assert type_line(f"show model.safetensors layers.1{TAB}[0]")[-1] == "layers.1.w[0]"


def test_values_of_options(type_line):
    assert type_line(f"cp --dtype=bf{TAB}") == ["cp", "--dtype=bfloat16"]
    assert type_line(f"cp --dtype bf{TAB}") == ["cp", "--dtype", "bfloat16"]
    assert type_line(f"cp -d uint1{TAB}") == ["cp", "-d", "uint16"]
    assert type_line(f"cp --dt{TAB}int3{TAB}") == ["cp", "--dtype=int32"]
    # The file is known where it was named before.
    assert type_line(f"cp model.safetensors x --select=layers.0{TAB}")[-1] == "--select=layers.0.w"
    assert type_line(f"cp model.safetensors x -s a{TAB}")[-1] == "a b"
    assert type_line(f"cp model.safetensors x --rename k:1{TAB}=z")[-1] == "k:1=z"
    assert type_line(f"cp -s q arr{TAB}") == ["cp", "-s", "q", "array.npy"]


def test_types_are_known(type_line, tmp_path):
    source = save(tmp_path / "a", {"x": np.ones(2)})
    for name in type_line(f"cp -d {ALL}")[2:]:
        assert run("cp", "-d", f"*={name}", source, tmp_path / "b").returncode != 2

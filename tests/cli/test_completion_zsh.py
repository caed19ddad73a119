# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion, by typing into zsh."""

import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from tensors import MTLDL, mtldl, run, save
from terminal import Terminal
from test_command import COMMANDS, options_of

COMPLETION = pathlib.Path(os.environ["MTLDL_COMPLETIONS"]) / "mtldl.zsh"

pytestmark = pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")

# Completed as mtldl is; it tells its arguments. One key inserts whatever is offered.
SETUP = """
fpath=(FOLDER $fpath)
autoload -Uz compinit && compinit -u -D
compdef _mtldl args
args () {{ printf '<%s>' "$@"; echo :end }}
all () {{ _main_complete; compstate[insert]=all }}
zle -C all complete-word all
bindkey '^Xa' all
bindkey '^I' complete-word
zstyle ':completion:*' list-prompt ''
unsetopt list_beep beep auto_list prompt_sp prompt_cr
zle_bracketed_paste=()
PS1='ready> '
""".replace("{{", "{").replace("}}", "}")

TAB = "\t"
ALL = "\x18a"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zsh")
    shutil.copy(COMPLETION, folder / "_mtldl")
    (folder / ".zshrc").write_text(SETUP.replace("FOLDER", str(folder)))
    work = folder / "work"
    (work / "deep").mkdir(parents=True)
    save(work / "model.safetensors", {name: np.zeros(2) for name in (
        "layers.10.w", "layers.2.w", "a b", "it's", "$(touch pwned)", "`touch pwned`", "k:0",
        "k:1", "x=y", "[odd]", "-dash", "say \"hi\"")})
    np.save(work / "two words.npy", np.zeros(2))
    save(work / "deep" / "in.safetensors", {"inside": np.zeros(2)})
    (work / "notes.txt").touch()
    return folder


@pytest.fixture
def type_line(folder):
    env = {"PATH": f"{pathlib.Path(MTLDL).parent}:{os.environ['PATH']}", "TERM": "dumb",
           "ZDOTDIR": str(folder), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    with Terminal(["zsh", "-d", "-i"], env, columns=5000, cwd=folder / "work") as terminal:
        def type_line(keys):
            begin = len(terminal.seen)
            terminal.type(f"args {keys}\r")
            text = terminal.read_until(":end\r\n", begin)
            printed = re.findall("(<.*>):end", text)[-1]
            return re.findall("<(.*?)>", printed)

        terminal.read_until("ready> ")
        yield type_line


def test_syntax():
    assert subprocess.run(["zsh", "-n", COMPLETION], capture_output=True).stderr == b""


def test_commands(type_line):
    assert set(type_line(ALL)) == {*COMMANDS, "help"}
    assert type_line("sh" + TAB) == ["show"]
    assert set(type_line("help " + ALL)[1:]) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_options(type_line, command):
    words = type_line(f"{command} --{ALL}")[1:]
    assert {word.rstrip("=") for word in words} == {
        option for option in options_of(command) if option.startswith("--")}


def test_kinds_of_options():
    """The short ones, and those that want a value, are in the file as they are in the usage."""
    text = COMPLETION.read_text()
    for command in COMMANDS:
        lines, = re.findall(rf"(?s)\n    {command}\)\n(.*?) ;;", text)
        assert set(re.findall(r"(?<=[{,])(-\w)\+?(?=[,}])", lines)) | {"-h"} == {
            option for option in options_of(command) if not option.startswith("--")}
        assert set(re.findall(r"(--[\w-]+)=", lines)) == set(
            re.findall(r"(?m)^  .*(--[\w-]+)=", mtldl("help", command)))


@pytest.mark.parametrize("command", COMMANDS)
def test_files(type_line, command):
    assert set(word.rstrip("/") for word in type_line(f"{command} {ALL}")[1:]) == {
        "deep", "model.safetensors", "two words.npy"}
    assert type_line(f"{command} two{TAB}") == [command, "two words.npy"]
    assert type_line(f"{command} 'two{TAB}") == [command, "two words.npy"]
    assert type_line(f"{command} deep/i{TAB}") == [command, "deep/in.safetensors"]


@pytest.mark.parametrize("command", ["ls", "show"])
def test_names(type_line, command, folder):
    names = mtldl("ls", "-1", folder / "work" / "model.safetensors").splitlines()
    assert names.index("layers.2.w") < names.index("layers.10.w")
    if command == "show":
        assert type_line(f"show -- model.safetensors {ALL}")[3:] == names
    for typed, name in [("layers.1", "layers.10.w"), ("it", "it's"), ("a", "a b"), ("k:1", "k:1"),
                        ("x", "x=y"), ("\\[", "[odd]"), ("say", 'say "hi"'),
                        ("\\$", "$(touch pwned)"), ("\\`", "`touch pwned`"), ("zz", "zz")]:
        assert type_line(f"{command} model.safetensors {typed}{TAB}")[-1] == name
    assert type_line(f"{command} model.safetensors 'it{TAB}'")[-1] == "it's"
    assert not (folder / "work" / "pwned").exists()


def test_names_of_other_files(type_line):
    assert type_line(f"show two\\ words.npy t{TAB}")[-1] == "two words"
    assert type_line(f"show -s deep/in.safetensors i{TAB}")[-1] == "inside"
    assert type_line(f"show ~/work/deep/in.safetensors i{TAB}")[-1] == "inside"
    assert type_line(f"ls model.safetensors two{TAB}")[-1] == "two words.npy"


def test_slice_behind_a_name(type_line):
    assert type_line(f"show model.safetensors layers.1{TAB}'[0]'")[-1] == "layers.10.w[0]"


def test_values(type_line, folder):
    assert type_line(f"cp --dtype=bf{TAB}") == ["cp", "--dtype=bfloat16"]
    assert type_line(f"cp -d uint1{TAB}") == ["cp", "-d", "uint16"]
    assert type_line(f"ls --sort=s{TAB}") == ["ls", "--sort=size"]
    assert type_line(f"cp model.safetensors x --select=layers.1{TAB}")[-1] == \
        "--select=layers.10.w"
    source = folder / "work" / "deep" / "in.safetensors"
    for name in type_line(f"cp -d {ALL}")[2:]:
        assert run("cp", "-d", f"*={name}", source, folder / "b").returncode != 2

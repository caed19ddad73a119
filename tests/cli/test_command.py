# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of all commands in common: usage, statuses, pipes, terminals, the manual's page."""

import errno
import os
import pathlib
import re
import shlex
import signal
import subprocess

import numpy as np
import pytest

from says import tells
from tensors import EVIL, MTLDL, complaint, mtldl, run, save, save_sparse
from terminal import Terminal, show

COMMANDS = ["ls", "show", "check", "cp", "diff", "serve"]
PAGE = pathlib.Path(os.environ["MTLDL_PAGE"])


@pytest.fixture
def file(tmp_path):
    return save(tmp_path / "a.safetensors", {f"x.{i}": np.arange(3.0) for i in range(2)})


@pytest.fixture
def long_file(tmp_path):
    """Returns a file whose list is more than a pipe takes."""
    return save(tmp_path / "long", {f"{i}" + "x" * 100: np.zeros(1, "u1") for i in range(20_000)})


def test_version():
    assert re.fullmatch(r"mtldl \d+\.\d+\.\d+\n", mtldl("--version"))
    assert mtldl("--version").split()[1] in PAGE.read_text().splitlines()[1]


def test_help():
    text = mtldl("help")
    assert mtldl("--help") == text
    for command in COMMANDS:
        assert re.search(rf"(?m)^  {command} +\w", text)
        told = mtldl("help", command)
        assert f"mtldl {command} [OPTION…]" in told and "--help" in told
        assert mtldl(command, "--help") == mtldl(command, "-h") == told


@pytest.mark.parametrize("arguments", [["frobnicate"], ["help", "frobnicate"], ["-x"], [""],
                                       *[[command] for command in COMMANDS if command != "ls"],
                                       *[[command, "--nonsense", "x"] for command in COMMANDS],
                                       ["show", "a", "b", "c", "d"], ["cp", "a"], ["diff", "a"],
                                       ["diff", "a", "b", "c"],
                                       ["ls", "-Q", "x"], ["\x1b[1m"], ["ls", "x", "--\x1b"]])
def test_wrong_usage(arguments):
    told = complaint(*arguments, status=2)
    assert "mtldl help" in told
    assert "\x1b" not in told


def test_no_arguments():
    done = run()
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("Usage:\n")


def test_names_that_begin_like_options(tmp_path):
    save(tmp_path / "-l", {"-a": np.arange(2)})
    assert mtldl("ls", "-1", "--", "-l", "-a", cwd=tmp_path) == "-a\n"
    assert mtldl("show", "--", "-l", "-a[1]", cwd=tmp_path) == "1\n"


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_locales(tmp_path, locale):
    """Output is UTF-8 in all of them, and so are arguments."""
    path = save(tmp_path / "ü", {"漢.x": np.arange(2), "漢.y": np.arange(2)})
    env = {"LC_ALL": locale}
    assert mtldl("ls", "-1", path, "漢*", env=env) == "漢.x\n漢.y\n"
    assert mtldl("show", path, "漢.x", env=env) == "[0 1]\n"


def test_message_in_a_plain_locale(tmp_path):
    """It goes by the locale, and ends."""
    done = subprocess.run([MTLDL, "ls", tmp_path / "ü"], stderr=subprocess.PIPE,
                          env={**os.environ, "LC_ALL": "C"})
    assert done.returncode == 1 and done.stderr.startswith(b"mtldl: ") and done.stderr.isascii()


COMMANDS_THAT_PRINT = ["help", "--version", "help ls", "ls --help", "ls FILE", "ls --json FILE",
                       "ls -1 FILE", "show FILE x.1", "show FILE x.1 -s", "check FILE"]


needs_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"),
                                       reason="this system has no device that is always full")


@needs_full_device
@pytest.mark.parametrize("command", COMMANDS_THAT_PRINT)
def test_full_device(file, command):
    arguments = [file if word == "FILE" else word for word in command.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run([MTLDL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("mtldl: ") and tells(done.stderr, os.strerror(errno.ENOSPC))


@needs_full_device
def test_full_device_with_much(long_file):
    with open("/dev/full", "w") as full:
        done = subprocess.run([MTLDL, "ls", long_file], stdout=full, stderr=subprocess.PIPE,
                              text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("mtldl: ") and tells(done.stderr, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("ignored", [False, True])
def test_closed_pipe(long_file, ignored):
    """A reader that stops early causes no message."""
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    done = subprocess.run(["bash", "-c", f'"{MTLDL}" ls -a "$0" | head -n 1; '
                                         'echo "${PIPESTATUS[0]}"', long_file],
                          capture_output=True, text=True, restore_signals=False,
                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, handler))
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["DTYPE", "SHAPE", "BYTES", "NAME"]
    assert lines[1] == ("1" if ignored else str(128 + signal.SIGPIPE))


def test_closed_output(file):
    done = subprocess.run(["bash", "-c", f'"{MTLDL}" ls "$0" >&-', file], capture_output=True,
                          text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("mtldl: ") and tells(done.stderr, os.strerror(errno.EBADF))


def test_closed_streams(file, tmp_path):
    """Nothing that is printed gets into a file."""
    mtldl("cp", file, tmp_path / "expected")
    out = tmp_path / "out"
    done = subprocess.run(["bash", "-c", f'"{MTLDL}" cp "$0" "$1" <&- >&- 2>&-', file, out])
    assert done.returncode == 0
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()


def test_colours(file):
    """Colours appear on terminals, and on request."""
    text, status = show([MTLDL, "ls", file])
    assert status == 0
    assert "\x1b[1mDTYPE" in text and "x.\x1b[36m{0..1}\x1b[0m\n" in text
    assert re.sub(r"\x1b\[\d+m", "", text) == mtldl("ls", file)

    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert show([MTLDL, "ls", file], env=env)[0] == mtldl("ls", file)
    assert "\x1b" in show([MTLDL, "ls", file], env={"NO_COLOR": ""})[0]
    for command in ("ls --json", "ls -1", "show -s"):
        arguments = command.split() + [file] + ["x.0"] * (command == "show -s")
        assert "\x1b" not in show([MTLDL, *arguments])[0]


def test_terminal_that_is_not_unicode(tmp_path):
    path = save(tmp_path / "a", {"ü漢": np.zeros(1, "u1")})
    assert show([MTLDL, "ls", "-1", path], env={"LC_ALL": "C"})[0] == "\\u00fc\\u6f22\n"
    assert show([MTLDL, "ls", "-1", path], env={"LC_ALL": "C.UTF-8"})[0] == "ü漢\n"


def test_evil_names_on_a_terminal(tmp_path):
    path = save(tmp_path / EVIL.replace("/", ""), {EVIL: np.zeros(1, "u1")}, {EVIL: EVIL})
    for arguments in (["ls", "-m"], ["ls", "-l"], ["ls", "--json"], ["show"], ["check"]):
        text, status = show([MTLDL, *arguments, path], env={"NO_COLOR": "1",
                                                             "LC_ALL": "C.UTF-8"})
        assert status == 0
        assert all(char.isprintable() or char == "\n" for char in text)
    text, status = show([MTLDL, "show", path, EVIL + "?"], env={"LC_ALL": "C.UTF-8"})
    assert status == 1
    assert all(char.isprintable() or char == "\n" for char in text)


LONG_WORK = ["show -s FILE a", "check FILE", "cp FILE OUT", "diff FILE FILE"]


def long_work(tmp_path, command):
    """A command that takes its time; what it reads is not on the disk."""
    file = save_sparse(tmp_path / "a", 2**30 if command.startswith("cp") else 2**40)
    words = {"FILE": file, "OUT": tmp_path / "out"}
    return [MTLDL, *[words.get(word, word) for word in command.split()]]


@pytest.mark.parametrize("command", LONG_WORK)
def test_bar(tmp_path, command):
    with Terminal(long_work(tmp_path, command)) as terminal:
        terminal.read_until("\r[")
        text = terminal.read_until("\x1b[K", terminal.seen.index(b"\r["))
    assert re.match(r"\r\[#* *\] +\d+ %  (stats|check|cp|diff): [\d.]+ [KMGT]iB of 1\.0 [GT]iB"
                    r"\x1b\[K", text)


@pytest.mark.parametrize("command", LONG_WORK[1:])
def test_quiet(tmp_path, command):
    words = [str(tmp_path / "b") if word == "FILE" else str(tmp_path / "out")
             if word == "OUT" else word for word in command.split()]
    save_sparse(tmp_path / "b", 2**28)
    for option in ("-q", "--quiet"):
        assert show([MTLDL, *words, option]) == ("", 0)
        (tmp_path / "out").unlink(missing_ok=True) # which is large


def test_bar_on_a_narrow_terminal(tmp_path):
    with Terminal(long_work(tmp_path, LONG_WORK[0]), columns=40) as terminal:
        text = terminal.read_until("\x1b[K")
        assert re.search(r"\r +\d+ %  stats: [\d.]+ [KMG]iB of 1\.0 TiB\x1b\[K", text)
    with Terminal(long_work(tmp_path, LONG_WORK[0]), columns=20) as terminal:
        assert re.search(r"\r +\d+ %\x1b\[K", terminal.read_until("\x1b[K"))


def test_wait_for_the_disk(tmp_path):
    """The text names the disk while it waits for it, and only then."""
    file = save_sparse(tmp_path / "a", 2**27)
    for options, told in ([], True), (["--no-sync"], False):
        text, status = show([MTLDL, "cp", file, tmp_path / "out", *options],
                            env={"LC_ALL": "C.UTF-8"})
        assert status == 0
        assert ("100 %  cp: waiting for the disk…" in text) == told
        assert (tmp_path / "out").stat().st_size > 2**27
        (tmp_path / "out").unlink()


def test_bar_is_taken_away(tmp_path):
    file = save_sparse(tmp_path / "a", 2**30)
    text, status = show([MTLDL, "show", "-s", file])
    assert status == 0
    assert re.search(r"(\r\[.*\x1b\[K)+\r\x1b\[Kdtype     uint8\n", text), text


def test_no_progress_where_there_is_no_terminal(tmp_path):
    """However long it takes."""
    path = save_sparse(tmp_path / "b", 2**30)
    assert run("show", "-s", path, timeout=600).stderr == ""


def test_file_cut_while_it_is_read(tmp_path):
    """A message, and not the end by a signal."""
    command = long_work(tmp_path, LONG_WORK[0])
    with Terminal(command) as terminal:
        terminal.read_until("\r[")
        os.truncate(tmp_path / "a", 4096)
        text = terminal.read_all()
        assert terminal.process.wait(60) == 1
    assert text.endswith("\r\n")
    assert "mtldl: " in text.splitlines()[-1]


def options_of(command):
    return set(re.findall(r"(?<=  )-\w|--[\w-]+", mtldl("help", command)))


def test_page():
    """groff and man find nothing to complain of."""
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", PAGE],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""})
    assert done.returncode == 0 and done.stderr == ""


def page_text():
    done = subprocess.run(["man", "-l", PAGE], check=True, capture_output=True, encoding="utf-8",
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "1000",
                               "MAN_KEEP_FORMATTING": ""})
    return re.sub(".\b", "", done.stdout)


def test_page_has_all_options():
    sections = re.split(r"(?m)^   mtldl (\w+)\n", page_text())
    assert sections[1::2] == COMMANDS
    for command, text in zip(sections[1::2], sections[2::2]):
        text = text.split("\nEXIT STATUS")[0]
        listed = re.findall(r"(?m)^ {5,7}(-.*)$", text)  # versions of groff indent it differently
        found = {option for line in listed for option in re.findall(r"(?<![\w-])--?[\w-]+", line)}
        # ls has it as the short form of another.
        assert found == options_of(command) - {"--help", *(["-h"] if command != "ls" else [])}


def test_page_s_examples(tmp_path):
    """The examples do what the page says."""
    examples = re.findall(r"(?m)^ {5,7}(mtldl (?:.*\\\n +)?.*)$",
                          page_text().split("\nEXAMPLES")[1])
    assert len(examples) == 7
    save(tmp_path / "model.safetensors", {"lm_head.weight": np.zeros((20, 3), "f4"),
                                          "model.x": np.ones(3)})
    mtldl("cp", "-S", "1K", "model.safetensors", "model.safetensors.index.json", cwd=tmp_path)
    for example in examples:
        words = shlex.split(example.split("|")[0].replace("\\\n", " "))
        assert run(*words[1:], cwd=tmp_path).returncode == 0
    assert mtldl("ls", "-1", "small.safetensors.index.json", cwd=tmp_path).split() == [
        "lm_head.weight", "x"]

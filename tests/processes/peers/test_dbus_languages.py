# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: test_dbus_languages.py [GJS]: a program in each language exports a tensor on a bus, and one
in each calls it.

All of them print what they see, and this program knows it by NumPy.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
PATIENCE = 120


def programs(gjs=""):
    yield "Python", [sys.executable, FOLDER / "dbus_peer.py"]
    if gjs:
        yield "gjs", [gjs, "-m", FOLDER / "dbus-peer.js"]


@contextlib.contextmanager
def session_bus():
    """Starts a bus that programs find as that of the session."""
    daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = daemon.stdout.readline().strip()
        yield
    finally:
        daemon.kill()
        daemon.wait()


def numbers_of(text):
    for mark in "|[],":
        text = text.replace(mark, " ")
    return [float(word) for word in text.split() if word != "..."]


def check_view(line, name, is_interprocess, expected):
    mapped, _, text = line.removeprefix(f"{name} ").partition(" ")
    assert line.startswith(f"{name} ") and mapped == is_interprocess, line
    found = numbers_of(text)
    if len(found) == expected.size:
        assert found == expected.ravel().tolist(), line
    else:  # the first and the last ones
        assert found[:3] == [0, 1, 2] and found[-3:] == [99997, 99998, 99999], line


def expect():
    """Returns the view before and after the caller writes to it, and the view that it offers."""
    first = np.arange(24, dtype="float32").reshape(4, 6)[::-1, ::2]
    written = first.copy()
    written[1:3, ::-1] = [100, 200, 300]
    return first, written, np.arange(100000)


def check_caller(output):
    lines = output.splitlines()
    first, written, large = expect()
    assert len(lines) == 6, output
    check_view(lines[0], "fetched", "1", first)
    check_view(lines[1], "written", "1", written)
    assert lines[2] == "(4, 3) float32 0", lines[2]
    check_view(lines[3], "large", "1", large)
    assert lines[4:] == ["1:3, ::-1|", "OUT_OF_BOUNDS"], output


def check_exporter(output):
    lines = output.splitlines()
    _, written, large = expect()
    assert len(lines) == 2, output
    check_view(lines[0], "1:3, ::-1", "1", written)
    check_view(lines[1], "large", "1", large)


def exchange(exporter, caller, name):
    exporting = subprocess.Popen([*exporter, "export", name], stdout=subprocess.PIPE, text=True)
    try:
        assert exporting.stdout.readline() == "ready\n", "the exporter failed"
        called = subprocess.run([*caller, "call", name], stdout=subprocess.PIPE, text=True,
                                timeout=PATIENCE)
        assert called.returncode == 0, "the caller failed"
        check_caller(called.stdout)
        output, _ = exporting.communicate(timeout=PATIENCE)
        assert exporting.returncode == 0, "the exporter failed"
        check_exporter(output)
    finally:
        exporting.kill()


def main(*paths):
    languages = dict(programs(*paths))
    if not shutil.which("dbus-daemon"):
        print("1..0 # SKIP there is no dbus-daemon")
        return 0

    failed = 0
    print(f"1..{len(languages)**2}")
    with session_bus():
        for n, (a, b) in enumerate(((a, b) for a in languages for b in languages), 1):
            try:
                exchange(languages[a], languages[b], f"org.mtldl.test{n}")
                print(f"ok {n} {a} exports for {b}", flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"not ok {n} {a} exports for {b}\n# " + str(error).replace("\n", "\n# "))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: test_languages.py C-PROGRAM [VALA-PROGRAM] [GJS]: views go from each language to each.

The receivers print what they see, and this program knows it by NumPy.
"""

import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def programs(c_program, vala_program="", gjs=""):
    yield "C", [c_program]
    yield "Python", [sys.executable, FOLDER / "peer.py"]
    if vala_program:
        yield "Vala", [vala_program]
    if gjs:
        yield "gjs", [gjs, "-m", FOLDER / "peer.js"]


def numbers_of(text):
    return [float(word) for word in text.replace("|", " ").replace("[", " ").replace("]", " ")
            .replace(",", " ").split() if word != "..."]


def expected():
    """The names, whether the memory is the sender's, and the numbers."""
    matrix = np.arange(24, dtype="float32").reshape(4, 6)
    return [("small", "0", np.arange(6).tolist()),
            ("shared", "1", matrix[::-1, ::2].ravel().tolist()),
            ("large", "1", None)]


def check(output):
    lines = output.splitlines()
    assert len(lines) == 3, output
    for line, (name, is_interprocess, numbers) in zip(lines, expected()):
        words = line.split(" ", 3)
        assert words[:3] == [name, "1", is_interprocess], line
        found = numbers_of(words[3])
        if numbers is not None:
            assert found == numbers, line
        else:
            assert found[:3] == [0, 1, 2] and found[-3:] == [99997, 99998, 99999], line


def exchange(sender, receiver):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sending = subprocess.Popen([*sender, "send", str(ours.fileno())], pass_fds=[ours.fileno()])
        receiving = subprocess.Popen([*receiver, "receive", str(theirs.fileno())], text=True,
                                     pass_fds=[theirs.fileno()], stdout=subprocess.PIPE)
    # The end of one process is now that of the connection.
    try:
        output, _ = receiving.communicate(timeout=120)
        assert sending.wait(120) == 0, "the sender failed"
        assert receiving.returncode == 0, "the receiver failed"
        check(output)
    finally:
        sending.kill()
        receiving.kill()


def main(*paths):
    languages = dict(programs(*paths))
    failed = 0
    print(f"1..{len(languages)**2}")
    for n, (sender, receiver) in enumerate(((a, b) for a in languages for b in languages), 1):
        try:
            exchange(languages[sender], languages[receiver])
            print(f"ok {n} {sender} to {receiver}", flush=True)
        except (AssertionError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"not ok {n} {sender} to {receiver}\n# " + str(error).replace("\n", "\n# "))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

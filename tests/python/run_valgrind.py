# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: run_valgrind.py REPORTS

Runs the Python tests under valgrind, and fails on what mtldl leaks or does
wrong. What the interpreter and its other modules leak is theirs.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
OURS = ("libmtldl-1", "_mtl.")
# A leak's stack ends in Python's own frames for nearly everything; only what
# was allocated at our own request is ours.
NEAREST_FRAMES = 12
# It only calls a function of PyGObject's, which has leaks of its own.
PASSED = "using_call"


def is_ours(error):
    stack = error.find("stack")
    frames = [frame for frame in stack.iter("frame") if frame.findtext("fn") != PASSED]
    frames = frames[:NEAREST_FRAMES]
    return any(name in (frame.findtext("obj") or "") for frame in frames for name in OURS)


def describe(error):
    what = error.findtext("what") or error.findtext("xwhat/text")
    lines = [f"{frame.findtext('fn') or '?'} ({Path(frame.findtext('obj') or '?').name})"
             for frame in error.find("stack").iter("frame")]
    return "\n  ".join([what, *lines[:NEAREST_FRAMES]])


def run(files, folder, report):
    """Starts pytest under valgrind; its errors are written into the folder."""
    return subprocess.Popen(
        ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
         # Else some threads never have a turn.
         "--num-callers=24", "--fair-sched=yes", "--xml=yes", f"--xml-file={folder}/%p.xml",
         "--suppressions=/usr/share/glib-2.0/valgrind/glib.supp",
         sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
         "--junitxml", report, *files],
        env={**os.environ, "PYTHONMALLOC": "malloc", "G_SLICE": "always-malloc",
             "OPENBLAS_NUM_THREADS": "1", "MTL_TEST_CASES": "500"})


def main(reports):
    files = sorted(path for path in HERE.glob("test_*.py")
                   if not path.name.startswith(("test_torch", "test_metal"))
                   # The first counts by itself, a million times; the second plays a program
                   # hundreds of times; the last two let NumPy compute.
                   and path.name not in ("test_leaks.py", "test_planted_mistakes.py",
                                         "test_habits.py", "test_reductions.py"))
    n_parts = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        parts = [run(files[i::n_parts], folder, f"{reports}/python-valgrind-{i}.xml")
                 for i in range(n_parts)]
        statuses = [part.wait() for part in parts]
        print("pytest under valgrind ended with", *statuses)
        errors = [error for part in parts
                  for error in ElementTree.parse(f"{folder}/{part.pid}.xml").iter("error")
                  if is_ours(error)]
    for error in errors:
        print(describe(error))
    print(f"{len(errors)} errors or leaks of ours under valgrind")
    return any(statuses) or len(errors) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

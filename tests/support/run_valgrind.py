# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: run_valgrind.py [--all]

Runs the Python tests under valgrind, and fails on what mtldl leaks or does wrong. What the
interpreter and its other modules leak is theirs. Tests that mostly let NumPy compute, and those of
code that the tests in C run under valgrind, are left out unless --all is given, and fewer random
cases are drawn.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS.parent / "maintainer"))
import builds  # noqa: E402

ROOMS = ("core", "bindings/python")
# Python does little more there than to call the library.
ROOMS_LEFT_TO_ALL = ("kernels", "files", "bench")
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


# The first counts by itself, a million times; the second plays a program hundreds of times; the
# others let NumPy compute.
LEFT_OUT = {"leaks", "planted_mistakes", "habits", "reductions"}
# They take long, and mostly run Python's own code or what the tests in C run.
LEFT_TO_ALL = {"close", "create", "pickle", "values"}
# The seconds of those that take longest, by which they are shared out.
SECONDS = {"histogram": 88, "close": 82, "values": 45, "pickle": 37, "create": 20, "integers": 18,
           "threads": 16, "wrappers": 14, "tensor_file": 11, "random_copies": 10,
           "buffer_formats": 9, "literals": 9, "python_lock": 9, "async": 8, "format": 8,
           "refused_tensors": 8, "statistics": 7}


def share_out(files):
    """A list for each processor, which take about the same time."""
    parts = [[] for _ in range(builds.JOBS)]
    seconds = [0] * len(parts)
    for path in sorted(files, key=lambda path: -seconds_of(path)):
        i = seconds.index(min(seconds))
        parts[i].append(path)
        seconds[i] += seconds_of(path)
    return [part for part in parts if part]


def name_of(path):
    return path.stem.removeprefix("test_")


def seconds_of(path):
    return SECONDS.get(name_of(path), 3)


def run(files, folder, report, n_cases):
    """Starts pytest under valgrind; its errors are written into the folder."""
    return subprocess.Popen(
        ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
         # Else some threads never have a turn.
         "--num-callers=24", "--fair-sched=yes", "--xml=yes", f"--xml-file={folder}/%p.xml",
         "--suppressions=/usr/share/glib-2.0/valgrind/glib.supp",
         sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
         "--junitxml", report, *files],
        env={**builds.environment(), "PYTHONMALLOC": "malloc", "G_SLICE": "always-malloc",
             "OPENBLAS_NUM_THREADS": "1", "MTL_TEST_CASES": n_cases})


def main(*arguments):
    builds.need("to look for leaks", "valgrind")
    reports = os.environ.get("MTL_TEST_REPORTS", builds.build("", "for-pytest"))
    is_all = arguments == ("--all",)
    left_out = LEFT_OUT if is_all else LEFT_OUT | LEFT_TO_ALL
    rooms = ROOMS + ROOMS_LEFT_TO_ALL if is_all else ROOMS
    files = sorted(path for room in rooms for path in (TESTS / room).glob("test_*.py")
                   if not path.name.startswith("test_torch") and name_of(path) not in left_out)
    with tempfile.TemporaryDirectory() as folder:
        parts = [run(part, folder, f"{reports}/python-valgrind-{i}.xml", "500" if is_all else "100")
                 for i, part in enumerate(share_out(files))]
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

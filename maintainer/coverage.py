#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: ./run coverage

Prints how many lines and branches of each folder of the library the tests in C run, with each kind
of device as the default, and those over the double of Metal. Fails if a folder is below its limit.
"""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import builds

ROOT = Path(__file__).resolve().parent.parent

DEVICES = ["none", "unified", "discrete"]

# The lower limits, in per cent.
LEAST = {
    "mtldl/devices": {"line": 95},
    "mtldl/memory": {"line": 95},
    "mtldl/values": {"branch": 98},
}

# These are compiled once for each instruction set. Each has different functions with the
# same names, which gcovr does not accept.
KERNELS = r".*/lib(copy|convert)-\w+\.a\.p"

# Macros of GLib that contain branches. Only a programming error can take these, or
# the compiler knows the outcome.
GLIB_BRANCHES = r".*\b(g_return_(val_)?if_fail|g_assert|g_new) \(.*"


def counts_by_folder(build, gcov):
    report = subprocess.run(
        ["gcovr", "--root", ROOT, "--object-directory", build, "--gcov-executable", gcov,
         "--filter", f"{ROOT}/mtldl/", "--exclude-directories", KERNELS,
         "--exclude-unreachable-branches",
         "--exclude-branches-by-pattern", GLIB_BRANCHES, "--json-summary", "-"],
        cwd=build, check=True, text=True, stdout=subprocess.PIPE).stdout
    folders = collections.defaultdict(collections.Counter)
    for file in json.loads(report)["files"]:
        folder = folders[str(Path(file["filename"]).parent)]
        for kind in ("line", "branch"):
            for state in ("total", "covered"):
                folder[kind, state] += file[f"{kind}_{state}"]
    return folders


def run_tests(build):
    """Returns True if they all pass."""
    for path in build.rglob("*.gcda"):
        path.unlink()
    passed = True
    for device in DEVICES:
        more = ["--suite", "c-on-device", "--suite", "own-devices",
                "--suite", "own-cuda"] if device == DEVICES[0] else []
        try:
            builds.quietly(["meson", "test", "-C", build, "--num-processes", builds.JOBS,
                            "--print-errorlogs", "--suite", "c", *more], build / "tests.log",
                           env=os.environ | {"METAL_DOUBLE": device})
        except builds.Failed:
            passed = False
    return passed


def main():
    builds.need("for the coverage", "@build", "@double", "gcovr")
    version = builds.need_clang_tools()
    build = builds.configure("coverage")
    failed = not run_tests(build)
    folders = counts_by_folder(build, f"llvm-cov-{version} gcov")
    print(f"{'':16}", *(f"{name:>8} {'run':>6} {'%':>6} {'least':>6}"
                        for name in ("lines", "branches")))
    for name in sorted(folders.keys() | LEAST.keys()):
        columns = []
        for kind in ("line", "branch"):
            n, n_run = folders[name][kind, "total"], folders[name][kind, "covered"]
            percent = 100 * n_run / n if n else 0
            least = LEAST.get(name, {}).get(kind, 0)
            failed = failed or percent < least
            columns.append(f"{n:8} {n_run:6} {percent:6.1f} {least or '':>6}")
        print(f"{name:16}", *columns)
    return failed


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(__doc__)
    try:
        sys.exit(main())
    except builds.Failed:
        sys.exit(1)

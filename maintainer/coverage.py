# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: coverage.py BUILD GCOV: prints how many lines and branches of each
folder of the library the tests have run, from the files that they left in the
build folder.

Fails if a folder is below its limit.
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

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


def main(build, gcov):
    failed = False
    folders = counts_by_folder(build, gcov)
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
    sys.exit(main(*sys.argv[1:]))

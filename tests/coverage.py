# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: coverage.py BUILD GCOV: the lines and branches of each folder of the
library that the tests have run, out of what they left in the build folder.

Fails where less is run than has to be.
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What has to be run at least, in per cent.
LEAST = {
    "mtldl/devices": {"line": 95},
    "mtldl/memory": {"line": 95},
    "mtldl/values": {"branch": 98},
}

# Compiled once for each instruction set, with other functions of the same names in
# each, which gcovr does not take.
KERNELS = r".*/lib(copy|convert)-\w+\.a\.p"

# Macros of GLib with branches of their own, which only a mistake in the program
# can take, or which the compiler knows.
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

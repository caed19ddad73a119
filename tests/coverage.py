# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: coverage.py BUILD GCOV: the lines of each folder of the library that
the tests have run, out of what they left in the build folder.

Fails where less is run of the devices than has to be.
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = {"mtldl/devices": 95}


def lines_by_folder(build, gcov):
    report = subprocess.run(
        ["gcovr", "--root", ROOT, "--object-directory", build, "--gcov-executable", gcov,
         "--filter", f"{ROOT}/mtldl/", "--json-summary", "-"],
        cwd=build, check=True, text=True, stdout=subprocess.PIPE).stdout
    folders = collections.defaultdict(collections.Counter)
    for file in json.loads(report)["files"]:
        folder = folders[str(Path(file["filename"]).parent)]
        folder["lines"] += file["line_total"]
        folder["run"] += file["line_covered"]
    return folders


def main(build, gcov):
    failed = False
    folders = lines_by_folder(build, gcov)
    print(f"{'':16} {'lines':>6} {'run':>6} {'%':>6} {'least':>6}")
    for name in sorted(folders.keys() | LEAST.keys()):
        n_lines, n_run = folders[name]["lines"], folders[name]["run"]
        percent = 100 * n_run / n_lines if n_lines else 0
        least = LEAST.get(name, 0)
        failed = failed or percent < least
        print(f"{name:16} {n_lines:6} {n_run:6} {percent:6.1f} {least or '':>6}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

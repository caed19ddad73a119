# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: run_peers.py REPORTS RESULTS PYTHON [SYSTEM_PYTHON]

Runs the file of each client in a process of its own, since several of these
frameworks in one hang when it ends, and with a time limit. PYTHON has the pinned
peers; SYSTEM_PYTHON, where it is given, another NumPy. Leaves a JUnit file for
each in the folder REPORTS, and in RESULTS what compatibility.py reads.
"""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TIME_LIMIT = 300  # seconds
# On macOS there is no build of cuda.core, and MLX is another one, which has its own memory.
LEFT_OUT = {"test_cuda_core.py", "test_mlx.py"} if sys.platform == "darwin" else set()


def run(python, path, report, results):
    """Whether all went well."""
    print(report, flush=True)
    command = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--junitxml",
               f"{report}.xml", path]
    try:
        status = subprocess.run(command, timeout=TIME_LIMIT,
                                env={**os.environ, "MTL_PEERS_RESULTS": results}).returncode
    except subprocess.TimeoutExpired:
        print(f"{path.name} has not ended after {TIME_LIMIT} seconds")
        return False
    if status != 0:
        print(f"{path.name} ended with {status}")
    return status == 0


def main(reports, results, python, system_python=None):
    os.makedirs(results, exist_ok=True)
    for old in Path(results).glob("*.json"):
        old.unlink()
    runs = [(python, path, f"{reports}/peers-{path.stem.removeprefix('test_')}")
            for path in sorted(FOLDER.glob("test_*.py")) if path.name not in LEFT_OUT]
    if system_python:
        runs.append((system_python, FOLDER / "test_numpy.py", f"{reports}/peers-numpy-system"))
    for name in sorted(LEFT_OUT):
        print(f"{name} is left out on this system")
    return not all([run(*arguments, results) for arguments in runs])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

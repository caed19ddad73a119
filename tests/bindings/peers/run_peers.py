# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: run_peers.py check|write

Runs the file of each client in a process of its own, since several of these frameworks in one hang
when it ends, and with a time limit. On Linux the system's NumPy is tested as well as the pinned
one. Then compares docs/compatibility.md with the results, or writes it.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[2] / "maintainer"))
import builds  # noqa: E402
import compatibility  # noqa: E402

TIME_LIMIT = 300  # seconds
# On macOS there is no build of cuda.core, and MLX is another one, which has its own memory.
LEFT_OUT = {"test_cuda_core.py", "test_mlx.py"} if sys.platform == "darwin" else set()


def run(python, path, report, results):
    """Returns True if all went well, and the output."""
    command = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--junitxml",
               f"{report}.xml", path]
    try:
        done = subprocess.run(command, timeout=TIME_LIMIT, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**builds.environment(), "MTL_PEERS_RESULTS": results})
    except subprocess.TimeoutExpired as late:
        return False, f"{late.stdout}{path.name} has not ended after {TIME_LIMIT} seconds\n"
    if done.returncode != 0:
        return False, f"{done.stdout}{path.name} ended with {done.returncode}\n"
    return True, done.stdout


def main(action):
    python = builds.venv()
    results = builds.build("", "for-pytest") / "peers"
    reports = os.environ.get("MTL_TEST_REPORTS", results)
    os.makedirs(results, exist_ok=True)
    for old in Path(results).glob("*.json"):
        old.unlink()
    runs = [(python, path, f"{reports}/peers-{path.stem.removeprefix('test_')}")
            for path in sorted(FOLDER.glob("test_*.py")) if path.name not in LEFT_OUT]
    if sys.platform == "linux":
        runs.append((builds.PYTHON, FOLDER / "test_numpy.py", f"{reports}/peers-numpy-system"))
    for name in sorted(LEFT_OUT):
        print(f"{name} is left out on this system")
    went_well = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda arguments: run(*arguments, results), runs)
        for (_, path, _), (is_well, text) in zip(runs, outcomes):
            print(f"{path.name}\n{text}", flush=True)
            went_well = went_well and is_well
    # The table is that of Linux.
    if sys.platform == "linux":
        page = builds.ROOT / "docs" / "compatibility.md"
        went_well = compatibility.main(action, results, page) == 0 and went_well
    return not went_well


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

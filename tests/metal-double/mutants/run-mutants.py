# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: run-mutants.py FOLDER REPORT.xml [MUTANT…]: whether the tests over the
double of Metal tell wrong code from right code.

Each patch beside this file makes one small mistake in a copy of the tree; the
tests have to fail with it. Builds below FOLDER.
"""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PATCHES = Path(__file__).resolve().parent
ROOT = PATCHES.parents[2]
OPTIONS = [
    "-Dmetal=double", "-Doptimization=0", "-Dintrospection=disabled", "-Dvapi=disabled",
    "-Dpython=disabled", "-Dgjs=disabled", "-Dpixbuf=disabled", "-Dexamples=false",
    f"-Dpython_interpreter={sys.executable}",
]


class Mistake(Exception):
    """The mutant, or the tree, is not what it should be."""


def run(command, folder, **more):
    result = subprocess.run(command, cwd=folder, text=True, capture_output=True, **more)
    if result.returncode != 0:
        raise Mistake(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


class Test:
    def __init__(self, description):
        self.name = description["name"]
        self.command = description["cmd"]
        self.environment = description["env"]
        self.seconds = 0

    def failure(self, timeout):
        """What went wrong, or None."""
        process = subprocess.Popen(self.command, env=os.environ | self.environment, text=True,
                                   errors="replace", stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "time-out"
        lines = output.splitlines()
        complaints = [line for line in lines if "VIOLATION" in line or line.startswith("not ok")]
        if process.returncode == 0 and not complaints:
            return None
        if complaints:
            return complaints[0]
        return f"exit status {process.returncode} after {lines[-1] if lines else 'nothing'}"


class Tree:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder):
        self.source = folder / "source"
        self.build = folder / "build"
        # Else git would take the patches to be for the repository around it.
        self.git_environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder)}
        self.copy()
        run(["meson", "setup", self.build, self.source, *OPTIONS], folder,
            env=os.environ | {"OBJC": os.environ.get("OBJC", "clang")})
        tests = json.loads(run(["meson", "introspect", "--tests", self.build], folder))
        self.tests = [Test(test) for test in tests
                      if test["cmd"][0].startswith(f"{self.build}/tests/metal/")]
        self.compile()
        self.run_unchanged()

    def copy(self):
        names = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
        for name in names.split("\0"):
            if name and (ROOT / name).is_file():
                (self.source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.source / name)

    def compile(self):
        programs = {os.path.relpath(test.command[0], self.build) for test in self.tests}
        run(["ninja", "-j1", "-C", self.build, *sorted(programs)], self.build)

    def run_unchanged(self):
        """The shortest tests come first after this."""
        if not self.tests:
            raise Mistake("there are no tests over the double")
        for test in self.tests:
            begin = time.monotonic()
            failure = test.failure(120)
            if failure:
                raise Mistake(f"{test.name} fails without a mutant: {failure}")
            test.seconds = time.monotonic() - begin
        self.tests.sort(key=lambda test: test.seconds)

    def apply(self, patch, *options):
        run(["git", "apply", "-p1", *options, patch], self.source, env=self.git_environment)

    def killer(self, patch):
        """The test that fails with the mutant and how, or None."""
        self.apply(patch)
        try:
            self.compile()
            for test in self.tests:
                failure = test.failure(5 + 5 * test.seconds)
                if failure:
                    return f"{test.name}: {failure}"
            return None
        finally:
            self.apply(patch, "--reverse")


def touched_file(patch):
    return [line for line in patch.read_text().splitlines() if line.startswith("+++ ")]


def try_mutants(patches, folder):
    """Yields patches, what killed each, and the mistake in each."""
    n_trees = min(os.cpu_count() or 1, len(patches))
    trees = queue.SimpleQueue()

    def one(patch):
        tree = trees.get()
        try:
            return patch, tree.killer(patch), None
        except Mistake as mistake:
            return patch, None, mistake
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(n_trees) as pool:
        shutil.rmtree(folder, ignore_errors=True)
        for path in (folder / str(i) for i in range(n_trees)):
            path.mkdir(parents=True)
        for tree in pool.map(Tree, [folder / str(i) for i in range(n_trees)]):
            trees.put(tree)
        # Neighbours change the same file, so that little is compiled anew.
        yield from pool.map(one, sorted(patches, key=touched_file))


def main(folder, report, *names):
    patches = sorted(PATCHES.glob("*.patch"))
    if names:
        patches = [PATCHES / f"{name.removesuffix('.patch')}.patch" for name in names]
    suite = ElementTree.Element("testsuite", name="mutants")
    n_killed = 0
    for patch, killer, mistake in try_mutants(patches, Path(folder).resolve()):
        case = ElementTree.SubElement(suite, "testcase", classname="mutants", name=patch.stem)
        if killer:
            n_killed += 1
            ElementTree.SubElement(case, "system-out").text = f"killed by {killer}"
            if names:
                print(f"killed    {patch.stem}: by {killer}", flush=True)
        else:
            problem = f"ERROR     {patch.stem}: {mistake}" if mistake else f"SURVIVED  {patch.stem}"
            ElementTree.SubElement(case, "failure", message=problem)
            print(problem, flush=True)
    ElementTree.ElementTree(suite).write(report)
    print(f"{len(patches)} mutants, {n_killed} killed")
    return n_killed < len(patches)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Mistake as mistake:
        sys.exit(str(mistake))

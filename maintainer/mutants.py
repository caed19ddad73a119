#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: ./run mutants [MUTANT…]: checks that the tests over the double of Metal tell wrong code
from right code.
       ./run mutants --drawn N [SEED]: the same with N mistakes that are drawn at random, the same
ones for the same SEED. Those that compile and survive have to be in survivors.txt.

The table at the end, and the report, have them by kind: those of a series by its name, drawn ones
by what they change.

Each file in tests/metal/double/mutants/ is a series of mutants, with a patch for each that makes
one small mistake in the library. The sources that it changes are compiled and linked anew, and the
tests have to fail with the library that comes out: first the one that it is “Noticed by”, then all.
"""

import collections
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import builds
import drawn

ROOT = Path(__file__).resolve().parent.parent
SERIES = ROOT / "tests" / "metal" / "double" / "mutants"
SEED = 18  # for the draw, if none is given
BRIDGE = "mtldl/libmetal-bridge.a"  # made from one source, which stands for itself in the link


class Mistake(Exception):
    """The mutant, or the tree, is not what it should be."""


class NoCompilation(Mistake):
    """The compiler refuses the mutant."""


def run(command, folder, **more):
    result = subprocess.run(command, cwd=folder, text=True, capture_output=True, **more)
    if result.returncode != 0:
        raise Mistake(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


class Test:
    def __init__(self, name, description):
        self.name = name
        self.command = description["cmd"]
        self.environment = description["env"]
        self.seconds = 0

    def failure(self, timeout, library):
        """Returns the failure with the library in place of the build's, or None."""
        process = subprocess.Popen(self.command,
                                   env=os.environ | self.environment | {"LD_PRELOAD": library},
                                   text=True, errors="replace", stdout=subprocess.PIPE,
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


class Build:
    """The build over the double, and how it makes its library."""

    def __init__(self, folder, more_tests=None):
        self.folder = folder
        tests = json.loads(run(["meson", "introspect", "--tests", folder], folder))
        named = {Path(test["name"]).stem.removeprefix("test-"): test for test in tests
                 if "mtldl:own-devices" in test["suite"]
                 and re.fullmatch(r"metal/test-metal-[a-z-]+\.c", test["name"])
                 or more_tests and "mtldl:c" in test["suite"]
                 and re.match(more_tests, Path(test["name"]).name)}
        self.tests = {name: Test(name, test) for name, test in named.items()}
        if not self.tests:
            raise Mistake("there are no tests over the double")
        programs = {os.path.relpath(test.command[0], folder) for test in self.tests.values()}
        run(["ninja", *sorted(programs)], folder)
        entries = json.loads((folder / "compile_commands.json").read_text())
        self.compilations = {os.path.relpath(folder / entry["file"], ROOT): entry
                             for entry in entries
                             if re.match(r"mtldl/(libmtldl-1\.so|libmetal-bridge)",
                                         entry["output"])}
        library = "mtldl/libmtldl-1.so.0.0.0"
        commands = run(["ninja", "-t", "commands", library], folder).splitlines()
        [link] = [command for command in commands if f"-o {library} " in command]
        self.link = shlex.split(link)
        self.library = library

    def make_library(self, texts, folder):
        """Makes the library with other texts of some of its sources."""
        library = folder / "libmtldl-1.so.0"
        link = list(self.link)
        headers = {name: text for name, text in texts.items() if name.endswith(".h")}
        if headers:
            # Copies the headers beside the sources and each other, where they are looked for first.
            for path in (ROOT / "mtldl" / "devices").glob("*-private.h"):
                shutil.copy(path, folder)
            for name, text in headers.items():
                (folder / Path(name).name).write_text(text)
        texts = {name: (ROOT / name).read_text() for name in drawn.including(ROOT, headers)} | {
            name: text for name, text in texts.items() if name not in headers}
        for number, (source, text) in enumerate(texts.items()):
            if source not in self.compilations:
                raise Mistake(f"{source} is no source of the library")
            entry = self.compilations[source]
            path, object_path = folder / Path(source).name, folder / f"{number}.o"
            path.write_text(text)
            words = shlex.split(entry["command"])
            for option in ("-MF", "-MQ", "-MD"):  # output for ninja
                place = words.index(option)
                del words[place:place + (1 if option == "-MD" else 2)]
            try:
                run([{entry["file"]: path, entry["output"]: object_path}.get(word, word)
                     for word in words], self.folder)
            except Mistake as mistake:
                raise NoCompilation(str(mistake)) from mistake
            link[link.index(BRIDGE if source.endswith(".m") else entry["output"])] = object_path
        link[link.index(self.library)] = library
        run(link, self.folder)
        return library

    def failure_without(self, source, names):
        """Raises Mistake if a test fails with a library made as a mutant is, but of right code."""
        with tempfile.TemporaryDirectory() as folder:
            library = self.make_library({source: (ROOT / source).read_text()}, Path(folder))
            for name in names:
                begin = time.monotonic()
                failure = self.tests[name].failure(120, library)
                if failure:
                    raise Mistake(f"{name} fails without a mutant: {failure}")
                self.tests[name].seconds = time.monotonic() - begin

    def killer(self, mutant):
        """The test that fails with the mutant and how, or None."""
        if mutant.noticed_by and mutant.noticed_by not in self.tests:
            raise Mistake(f"{mutant.name} is to be noticed by {mutant.noticed_by}, which is "
                          f"none of {', '.join(sorted(self.tests))}")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            library = self.make_library(mutant.texts(folder), folder)
            tests = sorted(self.tests.values(),
                           key=lambda test: (test.name != mutant.noticed_by, test.seconds))
            for test in tests:
                failure = test.failure(5 + 5 * test.seconds, library)
                if failure:
                    return f"{test.name}: {failure}"
        return None


class Mutant:
    """One of a series: its name, what is wrong, the test that notices it first, and a patch."""

    def __init__(self, kind, text):
        self.kind = kind
        self.patch = text
        self.name = text.partition("\n")[0]
        noticed_by = re.search(r"^Noticed by: (.*)$", text, re.MULTILINE)
        self.noticed_by = noticed_by and noticed_by[1]
        self.sources = re.findall(r"^\+\+\+ b/(.*)$", text, re.MULTILINE)

    def texts(self, folder):
        """Returns the texts of the sources, with the mistake."""
        tree = folder / "tree"
        for source in self.sources:
            (tree / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, tree / source)
        # Else git would take the patch to be for the repository around it.
        run(["git", "apply", "-p1"], tree, input=self.patch,
            env=os.environ | {"GIT_CEILING_DIRECTORIES": str(folder)})
        return {source: (tree / source).read_text() for source in self.sources}


def read_series(path):
    """The mutants of a kind, each after a line with its name."""
    _, *texts = re.split(r"^Mutant: ", path.read_text(), flags=re.MULTILINE)
    return [Mutant(path.stem.replace("-", " "), text) for text in texts]


def read_mutants(names):
    """Returns the mutants of these names, or all."""
    series = [mutant for path in sorted(SERIES.glob("*.patch")) for mutant in read_series(path)]
    mutants = {mutant.name: mutant for mutant in series}
    if len(mutants) < len(series):
        raise Mistake("two mutants have the same name")
    unknown = set(names) - set(mutants)
    if unknown:
        raise Mistake(f"no mutant is called {', '.join(sorted(unknown))}")
    return [mutants[name] for name in names or mutants]


class Table:
    """The number of mutants of each kind, and of each outcome."""

    OUTCOMES = ("killed", "explained", "survived")

    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)

    def count(self, kind, outcome):
        self.rows[kind][outcome] += 1

    def __str__(self):
        total = sum(self.rows.values(), collections.Counter())
        rows = [*sorted(self.rows.items()), ("all", total)]
        outcomes = [outcome for outcome in self.OUTCOMES if total[outcome] or outcome == "killed"]
        lines = [f"{'kind':20}{'made':>10}" + "".join(f"{outcome:>10}" for outcome in outcomes)]
        lines += [f"{kind:20}{row.total():>10}" + "".join(f"{row[outcome]:>10}"
                                                          for outcome in outcomes)
                  for kind, row in rows]
        return "\n".join(lines)


def add_case(suite, classname, kind, name):
    return ElementTree.SubElement(suite, "testcase", classname=f"{classname}: {kind}", name=name)


def try_mutants(mutants, build):
    """Yields mutants, what killed each, and the mistake in each."""
    sources = sorted({source for mutant in mutants for source in mutant.sources})
    names = sorted(build.tests)

    def one(mutant):
        try:
            return mutant, build.killer(mutant), None
        except Mistake as mistake:
            return mutant, None, mistake

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        # Every test with one of the sources, and every source with one of the tests.
        list(pool.map(build.failure_without, sources[:1] * len(names) + sources[1:],
                      [[name] for name in names] + [names[:1]] * (len(sources) - 1)))
        yield from pool.map(one, mutants)


def try_drawn(folder, n, seed):
    """Yields mutants that compile, and what killed each."""
    build = Build(folder, r"test-(dlpack.*|device)\.c$")
    mistakes, tried = drawn.draw(ROOT, seed), set()

    def one(mutant):
        try:
            return mutant, build.killer(mutant)
        except NoCompilation:
            return mutant, "the compiler"

    for name in sorted(build.tests):
        build.failure_without(drawn.SOURCES[0], [name])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        while n > 0:
            batch = [mutant for mutant in itertools.islice(mistakes, n)
                     if mutant.name not in tried and not tried.add(mutant.name)]
            for mutant, killer in pool.map(one, batch):
                if killer != "the compiler":
                    n -= 1
                    yield mutant, killer


def main_drawn(folder, report, n, seed=SEED):
    """Prints and reports what survived."""
    suite, table = ElementTree.Element("testsuite", name="drawn-mutants"), Table()
    survivors = drawn.read_survivors(ROOT)
    print(f"{n} mistakes drawn with the seed {seed}", flush=True)
    for mutant, killer in try_drawn(Path(folder).resolve(), int(n), int(seed)):
        case = add_case(suite, "drawn mutants", mutant.kind, mutant.name)
        if killer:
            table.count(mutant.kind, "killed")
            ElementTree.SubElement(case, "system-out").text = f"killed by {killer}"
        elif mutant.name in survivors:
            table.count(mutant.kind, "explained")
        else:
            table.count(mutant.kind, "survived")
            ElementTree.SubElement(case, "failure", message=f"SURVIVED  {mutant.name}")
            print(f"SURVIVED  {mutant.name}", flush=True)
    ElementTree.ElementTree(suite).write(report)
    print(table)
    return any(row["survived"] for row in table.rows.values())


def main(*names):
    if {"-h", "--help"} & {*names}:
        print(__doc__)
        return False
    builds.need("for the mutants", "@build", "@double")
    folder = builds.build("metal")
    reports = Path(os.environ.get("MTL_TEST_REPORTS", folder))
    if names[:1] == ("--drawn",):
        return main_drawn(folder, reports / "drawn-mutants.xml", *names[1:])
    report = reports / "mutants.xml"
    mutants = read_mutants(names)
    suite, table = ElementTree.Element("testsuite", name="mutants"), Table()
    for mutant, killer, mistake in try_mutants(mutants, Build(Path(folder).resolve())):
        case = add_case(suite, "mutants", mutant.kind, mutant.name)
        table.count(mutant.kind, "killed" if killer else "survived")
        if killer:
            ElementTree.SubElement(case, "system-out").text = f"killed by {killer}"
            if names:
                print(f"killed    {mutant.name}: by {killer}", flush=True)
        else:
            problem = (f"ERROR     {mutant.name}: {mistake}" if mistake
                       else f"SURVIVED  {mutant.name}")
            ElementTree.SubElement(case, "failure", message=problem)
            print(problem, flush=True)
    ElementTree.ElementTree(suite).write(report)
    print(table)
    return any(row["survived"] for row in table.rows.values())


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Mistake as mistake:
        sys.exit(str(mistake))
    except builds.Failed:
        sys.exit(1)

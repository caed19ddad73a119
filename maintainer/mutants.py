#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: ./run mutants [MUTANT…]: checks that the tests over the doubles of Metal and of CUDA's
driver, and those of processes, tell wrong code from right code.
       ./run mutants --some N [SEED]: the same with N of the mutants, others at each call unless
there is a SEED.
       ./run mutants --drawn N [SEED]: the same with N mistakes in the code for Metal that are drawn
at random, the same ones for the same SEED. Those that compile and survive have to be in
survivors.txt.

The table at the end, and the report, have them by kind: those of a series by its name, drawn ones
by what they change.

Each file in the folders of SUBJECTS is a series of mutants, with a patch for each that makes one
small mistake in the library, or in the double. The sources that it changes are compiled and linked
anew, and the tests have to fail with what comes out: first the one that it is “Noticed by”, then
all that use it.
"""

import collections
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import builds
import drawn

ROOT = Path(__file__).resolve().parent.parent
SEED = 18  # used by --drawn if none is given
LIBRARY = "mtldl/libmtldl-1.so.0.0.0"
BRIDGE = "mtldl/libmetal-bridge.a"  # made from one source, which stands for itself in the link
DOUBLE = "tests/cuda/double/libcuda-double.so"
OVERRIDES = "introspection/python/gi/overrides"
SHARED_NAMES = {LIBRARY: "libmtldl-1.so.0"}


@dataclass
class Subject:
    """A kind of device, or the processes: the folders of its series, the build, and the tests.
    Those in C are given by suite and name, with what may be wrong in them: themselves, if the list
    is empty."""
    name: str
    folders: list
    build: str
    tests: list
    scripts: str = ""  # a pattern for the files of tests in Python


METAL = Subject(
    "Metal", ["tests/metal/double/mutants"], "metal",
    [("own-devices", r"metal/test-metal-[a-z-]+\.c$", [LIBRARY])])
CUDA = Subject(
    "CUDA", ["tests/cuda/mutants", "tests/cuda/double/mutants"], "",
    [("own-cuda", r"cuda/test-cuda-(?!plan)[a-z-]+\.c$", [LIBRARY]),
     ("own-cuda", r"cuda/test-cuda-plan[a-z-]*\.c$", []),
     ("cuda-double", r"cuda/double/tests/test-double-[a-z-]+\.c$", [DOUBLE])],
    "tests/cuda/test_*.py")
PROCESSES = Subject(
    "processes", ["tests/processes/mutants"], "",
    [("c", r"processes/test-[a-z-]+\.c$", [LIBRARY]),
     ("faults", r"core/faults/test-process-faults\.c$", [])])
SUBJECTS = [METAL, CUDA, PROCESSES]


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
    """A program, or a file of tests in Python, and what it uses that may be wrong."""

    def __init__(self, name, command, environment, uses):
        self.name = name
        self.command = command
        self.environment = environment
        self.uses = uses
        self.seconds = 0
        self.lock = threading.Lock()

    def failure(self, timeout, made):
        """Returns the failure with what was made in place of the build's, or None."""
        command, variables = made.instead_of(self)
        environment = os.environ | {"MTL_TEST_SECONDS": "2"} | self.environment | variables
        process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "time-out"
        lines = output.splitlines()
        # The double of CUDA ends a program, unless it is told of a violation before.
        complaints = [line for line in lines
                      if "VIOLATION" in line and not line.startswith("# cuda-double")
                      or line.startswith(("not ok", "FAILED "))]
        if process.returncode == 0 and not complaints:
            return None
        if complaints:
            return complaints[0]
        return f"exit status {process.returncode} after {lines[-1] if lines else 'nothing'}"


class Made:
    """Targets of the build, made with other texts of some sources when a test asks for them."""

    def __init__(self, build, texts, folder):
        self.build = build
        self.folder = folder
        self.made = {}
        headers = {name: text for name, text in texts.items() if name.endswith(".h")}
        for name, text in headers.items():
            # Copies the headers beside the sources and each other, where they are looked for first.
            for path in (ROOT / name).parent.glob("*-private.h"):
                shutil.copy(path, folder)
        for name, text in headers.items():
            (folder / Path(name).name).write_text(text)
        scripts = {name: text for name, text in texts.items() if name.endswith(".py")}
        for name, text in scripts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.has_overrides = bool(scripts)
        sources = {name: (ROOT / name).read_text() for name in drawn.including(ROOT, headers)} | {
            name: text for name, text in texts.items() if name not in headers | scripts}
        self.objects = dict(self.compile(source, text, folder / f"{number}.o")
                            for number, (source, text) in enumerate(sources.items()))

    def compile(self, source, text, object_path):
        """Returns the object of the build, and the one that takes its place."""
        if source not in self.build.compilations:
            raise Mistake(f"{source} is no source of what the tests use")
        entry = self.build.compilations[source]
        path = self.folder / Path(source).name
        path.write_text(text)
        words = shlex.split(entry["command"])
        for option in ("-MF", "-MQ", "-MD"):  # output for ninja
            place = words.index(option)
            del words[place:place + (1 if option == "-MD" else 2)]
        words += ["-iquote", str((ROOT / source).parent)]
        try:
            run([{entry["file"]: path, entry["output"]: object_path}.get(word, word)
                 for word in words], self.build.folder)
        except Mistake as mistake:
            raise NoCompilation(str(mistake)) from mistake
        return BRIDGE if source.endswith(".m") else entry["output"], object_path

    def changes(self, target):
        return (self.has_overrides if target == OVERRIDES
                else not self.objects.keys().isdisjoint(self.build.link(target)))

    def changes_any(self, test):
        return any(self.changes(target) for target in test.uses)

    def make(self, target):
        """Returns the path of what takes the place of a target of the build."""
        if target not in self.made:
            path = self.folder / SHARED_NAMES.get(target, target)
            path.parent.mkdir(parents=True, exist_ok=True)
            run([self.objects.get(word, path if word == target else word)
                 for word in self.build.link(target)], self.build.folder)
            self.made[target] = path
        return self.made[target]

    def instead_of(self, test):
        """Returns the command and the variables of a test that uses what was made."""
        command, variables = list(test.command), {}
        for target in filter(self.changes, test.uses):
            if target == LIBRARY:
                variables["LD_PRELOAD"] = str(self.make(target))
            elif target == DOUBLE:
                variables["MTL_CUDA_LIBRARY"] = str(self.make(target))
            elif target.startswith(OVERRIDES):
                if target != OVERRIDES:
                    self.make(target)
                first = self.folder / Path(OVERRIDES).parent.parent
                variables["PYTHONPATH"] = f"{first}:{test.environment['PYTHONPATH']}"
            else:
                command[0] = self.make(target)
        return command, variables


class Build:
    """The build over a double, its tests, and how it makes what they use."""

    def __init__(self, subject, more_tests=()):
        self.folder = Path(builds.build(subject.build)).resolve()
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        self.compilations = {os.path.relpath(self.folder / entry["file"], ROOT): entry
                             for entry in entries if re.match(
                                 rf"{LIBRARY}|{BRIDGE}|{DOUBLE}|{OVERRIDES}/_mtl", entry["output"])}
        self.tests = {test.name: test for test in [*self.programs([*subject.tests, *more_tests]),
                                                   *self.scripts(subject.scripts)]}
        self.links = {}
        self.lock = threading.Lock()
        self.right = set()  # sources that were compiled without a mistake

    def programs(self, wanted):
        """Builds the programs in C that are wanted, and yields them."""
        tests = [(test, uses) for test in builds.introspect(self.folder, "tests")
                 for suite, name, uses in wanted
                 if f"mtldl:{suite}" in test["suite"] and re.match(name, test["name"])]
        if not tests:
            raise Mistake(f"there are no tests in {self.folder}")
        run(["ninja", *builds.files_needed_by([test for test, _ in tests], self.folder)],
            self.folder)
        for test, uses in tests:
            yield Test(Path(test["name"]).stem.removeprefix("test-"), test["cmd"], test["env"],
                       uses or [os.path.relpath(test["cmd"][0], self.folder)])

    def scripts(self, pattern):
        """Yields the files of tests in Python."""
        for path in sorted(ROOT.glob(pattern)) if pattern else ():
            [module] = {entry["output"].partition(".p/")[0] for entry in self.compilations.values()
                        if entry["output"].startswith(OVERRIDES)}
            yield Test(path.stem.replace("test_", "python-").replace("_", "-"),
                       [builds.PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", path],
                       builds.environment() | {"MTL_CUDA_LIBRARY": str(self.folder / DOUBLE),
                                               "CUDA_DOUBLE": "2"},
                       [LIBRARY, module, OVERRIDES])

    def link(self, target):
        """The words of the command that links a target."""
        with self.lock:
            if target not in self.links:
                commands = run(["ninja", "-t", "commands", target], self.folder).splitlines()
                [link] = [command for command in commands if f"-o {target} " in command]
                self.links[target] = shlex.split(link)
            return self.links[target]

    def check(self, test, sources):
        """Raises Mistake if the test fails with what is made as a mutant is, but of right code.
        Each test is run once in this way, and each source compiled."""
        with test.lock:
            if test.seconds > 0 and sources <= self.right:
                return
            with tempfile.TemporaryDirectory() as folder:
                made = Made(self, {source: (ROOT / source).read_text() for source in sources},
                            Path(folder))
                begin = time.monotonic()
                failure = test.failure(120, made)
                if failure:
                    raise Mistake(f"{test.name} fails without a mutant: {failure}")
                test.seconds = time.monotonic() - begin
                self.right |= sources

    def killer(self, mutant):
        """The test that fails with the mutant and how, or None."""
        if mutant.noticed_by and mutant.noticed_by not in self.tests:
            raise Mistake(f"{mutant.name} is to be noticed by {mutant.noticed_by}, which is "
                          f"none of {', '.join(sorted(self.tests))}")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            texts = mutant.texts(folder)
            made = Made(self, texts, folder)
            tests = sorted(filter(made.changes_any, self.tests.values()),
                           key=lambda test: (test.name != mutant.noticed_by, test.seconds))
            for test in tests:
                self.check(test, {*texts})
                failure = test.failure(5 + 5 * test.seconds, made)
                if failure:
                    return f"{test.name}: {failure}"
        return None


class Mutant:
    """One of a series: its name, what is wrong, the test that notices it first, and a patch."""

    def __init__(self, subject, kind, text):
        self.subject = subject
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


def read_series(subject, path):
    """The mutants of a kind, each after a line with its name."""
    _, *texts = re.split(r"^Mutant: ", path.read_text(), flags=re.MULTILINE)
    kind = f"{subject.name}: {path.stem.replace('-', ' ')}"
    return [Mutant(subject, kind, text) for text in texts]


def read_mutants(names):
    """Returns the mutants of these names, or all."""
    series = [mutant for subject in SUBJECTS for folder in subject.folders
              for path in sorted((ROOT / folder).glob("*.patch"))
              for mutant in read_series(subject, path)]
    mutants = {mutant.name: mutant for mutant in series}
    if len(mutants) < len(series):
        raise Mistake("two mutants have the same name")
    unknown = set(names) - set(mutants)
    if unknown:
        raise Mistake(f"no mutant is called {', '.join(sorted(unknown))}")
    return [mutants[name] for name in names or mutants]


def draw_some(n, seed):
    """Returns some of the mutants, in their order."""
    mutants = read_mutants(())
    chosen = {*random.Random(seed).sample(range(len(mutants)), min(n, len(mutants)))}
    return [mutant for number, mutant in enumerate(mutants) if number in chosen]


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
        lines = [f"{'kind':28}{'made':>10}" + "".join(f"{outcome:>10}" for outcome in outcomes)]
        lines += [f"{kind:28}{row.total():>10}" + "".join(f"{row[outcome]:>10}"
                                                          for outcome in outcomes)
                  for kind, row in rows]
        return "\n".join(lines)


def add_case(suite, classname, kind, name):
    return ElementTree.SubElement(suite, "testcase", classname=f"{classname}: {kind}", name=name)


def try_mutants(mutants):
    """Yields mutants, what killed each, and the mistake in each."""
    made = {subject.name: Build(subject) for subject in SUBJECTS
            if any(mutant.subject is subject for mutant in mutants)}

    def one(mutant):
        try:
            return mutant, made[mutant.subject.name].killer(mutant), None
        except Mistake as mistake:
            return mutant, None, mistake

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield from pool.map(one, mutants)


def try_drawn(n, seed):
    """Yields mutants that compile, and what killed each."""
    build = Build(METAL, [("c", r".*/test-(dlpack.*|device)\.c$", [LIBRARY])])
    mistakes, tried = drawn.draw(ROOT, seed), set()

    def one(mutant):
        try:
            return mutant, build.killer(mutant)
        except NoCompilation:
            return mutant, "the compiler"

    for test in build.tests.values():  # the quickest are tried first
        build.check(test, {drawn.SOURCES[0]})
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        while n > 0:
            batch = [mutant for mutant in itertools.islice(mistakes, n)
                     if mutant.name not in tried and not tried.add(mutant.name)]
            for mutant, killer in pool.map(one, batch):
                if killer != "the compiler":
                    n -= 1
                    yield mutant, killer


def main_drawn(report, n, seed=SEED):
    """Prints and reports what survived."""
    suite, table = ElementTree.Element("testsuite", name="drawn-mutants"), Table()
    survivors = drawn.read_survivors(ROOT)
    print(f"{n} mistakes drawn with the seed {seed}", flush=True)
    for mutant, killer in try_drawn(int(n), int(seed)):
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
    builds.need("for the mutants", "@build", "@test", "@double")
    reports = Path(os.environ.get("MTL_TEST_REPORTS", builds.BUILD))
    if names[:1] == ("--drawn",):
        return main_drawn(reports / "drawn-mutants.xml", *names[1:])
    report = reports / "mutants.xml"
    if names[:1] == ("--some",):
        seed = int(names[2]) if names[2:] else random.randrange(1000)
        mutants, names = draw_some(int(names[1]), seed), ()
        print(f"{len(mutants)} of the mutants, drawn with the seed {seed}", flush=True)
    else:
        mutants = read_mutants(names)
    suite, table = ElementTree.Element("testsuite", name="mutants"), Table()
    for mutant, killer, mistake in try_mutants(mutants):
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

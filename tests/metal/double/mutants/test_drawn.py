#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what is drawn, without compiling it: usage: test_drawn.py"""

import itertools
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "maintainer"))
import drawn  # noqa: E402
import mutants  # noqa: E402


def test_survivors():
    """Each is still a mistake that can be drawn."""
    names = drawn.all_names(ROOT)
    survivors = drawn.read_survivors(ROOT)
    assert survivors and survivors <= names
    path = drawn.SURVIVORS
    try:
        drawn.SURVIVORS = Lines("# why\n" + min(survivors) + "\nmtldl/gone.c: f: a → b\n  why\n")
        drawn.read_survivors(ROOT)
        raise AssertionError("it should be refused")
    except ValueError as error:
        assert str(error).endswith("more:\nmtldl/gone.c: f: a → b")
    finally:
        drawn.SURVIVORS = path


class Lines:
    def __init__(self, text):
        self.text = text

    def read_text(self):
        return self.text


def test_same_seed():
    """The same seed draws the same mistakes."""
    def first(seed):
        return [mistake.name for mistake in itertools.islice(drawn.draw(ROOT, seed), 20)]

    assert first(mutants.SEED) == first(mutants.SEED) != first(mutants.SEED + 1)


def test_widths():
    """Widths change in bodies, signatures, structs, and in headers with the declaration of a
    function."""
    kinds = drawn.all_mistakes(ROOT)
    assert set(kinds) == {"call left out", "constant", "operator", "order of calls", "width",
                          "width outside"}
    outside = kinds["width outside"]
    names = {drawn.Drawn(ROOT, source, *mistake).name
             for source, mistakes in outside.items() for mistake in mistakes}
    for part in ("mtl-event.c: MtlEvent: guint64 value;",  # a class
                 "mtl-metal-copy.c: Range: gsize offset;",  # a struct
                 "mtl-metal-bridge-private.h: MtlMetalBufferInfo: gsize size;",
                 "mtl-metal-device.c: clear_buffer: gsize size,"):
        assert any(part in name for name in names), part
    both = [drawn.Drawn(ROOT, source, *mistake) for source, mistakes in outside.items()
            for mistake in mistakes if len(mistake) == 4]
    assert len(both) > 10
    for mistake in both:
        source, header = mistake.changed
        assert source.endswith((".c", ".m")) and header in drawn.HEADERS
        assert all(text != (ROOT / path).read_text() for path, text in mistake.changed.items())


def test_including():
    found = drawn.including(ROOT, ["mtldl/devices/mtl-owners-private.h"])
    assert {"mtldl/devices/mtl-owners.c", "mtldl/devices/mtl-metal-bridge.m",
            "mtldl/devices/mtl-metal-device.c"} <= set(found)
    assert not [name for name in found if not name.startswith("mtldl/")]


def file_of(noticed_by):
    """The file of the test that a mutant names."""
    if noticed_by.startswith("python-"):
        return ROOT / "tests" / "cuda" / f"test_{noticed_by[7:].replace('-', '_')}.py"
    for room in ("processes", "core/faults"):
        path = ROOT / "tests" / room / f"test-{noticed_by}.c"
        if path.exists():
            return path
    folder = "cuda/double/tests" if noticed_by.startswith("double-") else noticed_by.split("-")[0]
    return ROOT / "tests" / folder / f"test-{noticed_by}.c"


def test_series():
    """Each mutant has a name, an opening line, and the test that notices it."""
    all_mutants = mutants.read_mutants(())
    for mutant in all_mutants:
        assert mutant.kind and mutant.noticed_by and mutant.sources, mutant.name
        assert re.match(r"[a-z0-9-]+\n\S.*[.]\nNoticed by: ", mutant.patch), mutant.name
        assert file_of(mutant.noticed_by).exists(), mutant.name
    for subject in mutants.SUBJECTS:
        least = 40 if subject is mutants.PROCESSES else 200
        assert len([mutant for mutant in all_mutants if mutant.subject is subject]) > least
    names = [all_mutants[5].name, all_mutants[100].name]
    assert [mutant.name for mutant in mutants.read_mutants(names)] == names


def test_some():
    """The same seed chooses the same mutants, of each subject."""
    def some(seed):
        return [mutant.name for mutant in mutants.draw_some(50, seed)]

    assert some(1) == some(1) != some(2)
    assert len({*some(1)}) == 50
    assert {mutant.subject.name for mutant in mutants.draw_some(50, 1)} == {
        subject.name for subject in mutants.SUBJECTS}
    assert len(mutants.draw_some(100000, 1)) == len(mutants.read_mutants(()))


def test_unknown_names():
    try:
        mutants.read_mutants(["none-such"])
        raise AssertionError("it should be refused")
    except mutants.Mistake as error:
        assert "none-such" in str(error)


def test_patches_apply():
    """Each patch still applies, as is known before the mutants run."""
    for mutant in mutants.read_mutants(()):
        with tempfile.TemporaryDirectory() as folder:
            mutant.texts(Path(folder))


def test_table():
    table = mutants.Table()
    for kind, outcome in (("width", "killed"), ("width", "survived"), ("constant", "killed")):
        table.count(kind, outcome)
    assert [line.split() for line in str(table).splitlines()] == [
        ["kind", "made", "killed", "survived"], ["constant", "1", "1", "0"],
        ["width", "2", "1", "1"], ["all", "3", "2", "1"]]


for name, function in list(globals().items()):
    if name.startswith("test_"):
        function()

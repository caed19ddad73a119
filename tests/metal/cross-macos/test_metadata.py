# SPDX-License-Identifier: LGPL-2.1-or-later
"""The double's header of Metal, and the one of Foundation here, against what PyObjC has written
down of Apple's own: values, names, types of functions and methods, and every selector that the
library sends. What it has no record of is listed in without-record.txt."""

import os
from pathlib import Path

import pytest

from binaries import read_references
from metadata import Declarations, Metadata, are_same, split

HERE = Path(__file__).resolve().parent
TREE = Path(os.environ["MTL_MACOS_BUILDS"].split(":")[0] + "-tree")

# The record of a selector is that of one of its protocols: of this one, of another.
OF_ANOTHER = {"status": "MTLIOCommandBuffer's, whose status has a sign"}


@pytest.fixture(scope="module")
def truth():
    return Metadata(TREE / "tools" / "wheels", metal="Metal", cocoa="Foundation")


@pytest.fixture(scope="module", params=["Metal", "Foundation"])
def header(request, tmp_path_factory):
    folder = TREE / "include" / request.param
    compiler = [HERE / "cc.sh", TREE, "aarch64", "26"]
    return Declarations(compiler, folder / f"{request.param}.h", folder,
                        tmp_path_factory.mktemp(request.param))


def listed(kind):
    lines = (HERE / "without-record.txt").read_text().splitlines()
    return {line.partition(" ")[2] for line in lines if line.startswith(f"{kind} ")}


def check_listed(kind, missing, declared):
    """Nothing is missing but what is listed, and of what is declared all that is listed."""
    assert sorted(set(missing) - listed(kind)) == []
    assert sorted(listed(kind) & set(declared) - set(missing)) == []


def test_values(truth, header, note):
    names = header.enumerators + header.macros
    known = {name: truth.value_of(name) for name in names if truth.value_of(name) is not None}
    assert header.wrong_values(known) == []
    check_listed("value", set(names) - known.keys(), names)
    note("values", len(known))


def test_comparison_of_values(header):
    """It notices another value."""
    for name in header.enumerators[:1]:
        assert header.wrong_values({name: 77}) == [name]


def test_constants(truth, header, note):
    check_listed("constant", set(header.variables) - truth.constants, header.variables)
    note("constants", len(set(header.variables) & truth.constants))


def test_functions(truth, header, note):
    for name in header.functions.keys() & truth.functions.keys():
        types, is_retained = header.functions[name]
        encodings, *more = truth.functions[name]
        ours, theirs = [header.encodings[i] for i in types], split(encodings)
        assert len(ours) == len(theirs), name
        assert all(map(are_same, ours, theirs)), (name, ours, theirs)
        retval = more[1].get("retval", {}) if len(more) > 1 else {}
        assert is_retained == ("already_retained" in retval or "already_cfretained" in retval)
    check_listed("function", header.functions.keys() - truth.functions.keys(), header.functions)
    note("functions", len(header.functions.keys() & truth.functions.keys()))


def test_structs(truth, header, note):
    for name in header.structs.keys() & truth.structs.keys():
        ours = header.encodings[header.structs[name]]
        assert are_same(ours, truth.structs[name][0]), (name, ours)
    check_listed("struct", header.structs.keys() - truth.structs.keys(), header.structs)
    note("structs", len(header.structs.keys() & truth.structs.keys()))


def types_of(info):
    """Returns the types that a record knows, by place, from the result on: self and the selector
    are arguments there."""
    found = {place - 1: argument["type"] for place, argument in info.get("arguments", {}).items()
             if "type" in argument}
    if "type" in info.get("retval", {}):
        found[0] = info["retval"]["type"]
    return found


def test_methods(truth, header, note):
    n_types, without = 0, set()
    for (owner, selector), types in header.methods.items():
        records = truth.methods.get(selector, {})
        info = records.get(owner, records.get("NSObject"))
        if info is None:
            without.add(f"{owner} {selector}")
            continue
        if selector in OF_ANOTHER:
            continue
        ours = [header.encodings[i] for i in types]
        for place, theirs in types_of(info).items():
            assert place < len(ours), (owner, selector)
            assert are_same(ours[place], theirs), (owner, selector, place, ours, theirs)
            n_types += 1
    check_listed("method", without, {f"{owner} {name}" for owner, name in header.methods})
    note("types of methods", n_types)


def test_sent(truth, note):
    """A selector that there is not ends the program when it is sent."""
    sent = {line.partition(" ")[2] for lines in read_references().values() for line in lines
            if line.startswith("selector ")}
    check_listed("sent", sent - truth.methods.keys(), sent)
    note("selectors that are sent", len(sent & truth.methods.keys()))


@pytest.mark.parametrize("ours, theirs, same", [
    ("Q", b"Q", True), ("q", b"Q", False), ("B", b"Z", True), ("I", b"Q", False),
    ("{_NSRange=QQ}", b"{_NSRange=QQ}", True), ("{?=QQQ}", b"{MTLSize=QQQ}", True), ("{?=QQ}", b"{?=Q}", False), ("@?", b"@", True),
    ("^v", b"n^v", True), ("r*", b"^t", True), ("@", b"^@", False), ("^v", b"@", False),
])
def test_comparison_of_types(ours, theirs, same):
    assert are_same(ours, theirs) == same

# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: reach.py Mtl-1.gir: every public function is called from every
language that sees it.

Looks for each function's call in the tests and examples of each language, and
names those that nobody calls.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CORE = "{http://www.gtk.org/introspection/core/1.0}"
C = "{http://www.gtk.org/introspection/c/1.0}"

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "c": (("tests/c", "examples/c"), (".c", ".h")),
    "python": (("tests/python", "examples/python"), (".py",)),
    "gjs": (("tests/gjs", "examples/gjs"), (".js",)),
    "vala": (("tests/vala", "examples/vala"), (".vala",)),
}


def read_sources(language):
    folders, endings = FOLDERS[language]
    return "\n".join(path.read_text() for folder in folders
                     for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings)


def functions(gir):
    """C name, name in bindings, whether bindings see it, and the kind."""
    shadowed = set()
    for owner in ElementTree.parse(gir).getroot().iter():
        for element in owner:
            kind = element.tag.removeprefix(CORE)
            if kind not in ("function", "method", "constructor"):
                continue
            if element.get("shadowed-by"):
                shadowed.add(element.get(C + "identifier"))
            name = element.get("shadows") or element.get("name")
            visible = (element.get("introspectable") != "0"
                       and element.get(C + "identifier") not in shadowed)
            yield element.get(C + "identifier"), name, visible, kind


def pattern(language, name, kind, c_name):
    if language == "c":
        return rf"\b{c_name}\b"
    if language == "vala" and kind == "constructor":
        short = name.removeprefix("new").removeprefix("_")
        return rf"new [\w.]+\.{short} \(" if short else r"new (Mtl\.)?\w+ \("
    if language == "vala" and name in ("get", "to_string"):
        return rf"\.@?{name} \(|@\""
    space = r" ?" if language == "vala" else ""
    return rf"\.@?{name}{space}\("


def main(gir):
    missing = 0
    all_functions = list(functions(gir))
    for language in FOLDERS:
        sources = read_sources(language)
        for c_name, name, visible, kind in all_functions:
            if language != "c" and not visible:
                continue
            if not re.search(pattern(language, name, kind, c_name), sources):
                print(f"{language}: nobody calls {c_name}")
                missing += 1
    print(f"{len(all_functions)} functions, {missing} calls missing")
    return missing > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

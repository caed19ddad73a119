# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: test_reached.py GIR…: every public function is called from C and from Python
by the tests or the examples. Each of Mtl that can fail or allocates is also
called where every allocation fails in turn.

The programs in JavaScript and Vala check the same of themselves as they run.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CORE = "{http://www.gtk.org/introspection/core/1.0}"
C = "{http://www.gtk.org/introspection/c/1.0}"

ROOT = Path(__file__).resolve().parents[2]

ROOMS = ["tests/core", "tests/kernels", "tests/files", "tests/processes", "tests/metal",
         "tests/cuda", "tests/support"]

# The folders, without those within, that have the calls of a namespace.
SOURCES = {
    "Mtl": {"c": [*ROOMS, "examples/c"], "faults": ["tests/core/faults"],
            "python": [*ROOMS, "tests/bindings/python", "examples/python"]},
    "MtlGst": {"c": ["tests/bridges/gst"], "python": ["tests/bridges/gst"]},
    "MtlGtk": {"c": ["tests/bridges/gtk"], "python": ["tests/bridges/gtk"]},
    "MtlPixbuf": {"c": ["tests/bridges/pixbuf"], "python": ["tests/bridges/pixbuf"]},
}


def read_sources(names, *suffixes):
    paths = [path for name in names for path in sorted((ROOT / name).iterdir())]
    return "\n".join(path.read_text() for path in paths if path.suffix in suffixes)


def functions(gir):
    """C name, name in bindings, whether bindings see it, and whether it can fail or allocates."""
    for element in ElementTree.parse(gir).getroot().iter():
        kind = element.tag.removeprefix(CORE)
        if kind not in ("function", "method", "constructor") or element.get("moved-to"):
            continue
        visible = element.get("introspectable") != "0" and not element.get("shadowed-by")
        c_name = element.get(C + "identifier")
        transfer = element.find(CORE + "return-value").get("transfer-ownership")
        may_fail = bool(element.get("throws") or transfer != "none" or c_name.endswith("_async"))
        yield c_name, element.get("shadows") or element.get("name"), visible, may_fail


def check(gir):
    """Returns how many calls are missing."""
    sources = SOURCES[Path(gir).name.partition("-")[0]]
    in_c = read_sources(sources["c"], ".c", ".h").replace("MTL_ERROR,", "mtl_error_quark")
    in_faults = read_sources(sources.get("faults", []), ".c", ".h", ".py")
    in_python = read_sources(sources["python"], ".py")
    n_missing = 0
    all_functions = list(functions(gir))
    for c_name, name, visible, may_fail in all_functions:
        if not re.search(rf"\b{c_name}\b", in_c):
            print(f"C: nobody calls {c_name}")
            n_missing += 1
        if may_fail and "faults" in sources and not re.search(rf"\b{c_name}\b", in_faults):
            print(f"Without memory: nobody calls {c_name}")
            n_missing += 1
        if visible and not re.search(rf"\.{name}\b", in_python):
            print(f"Python: nobody calls {c_name}")
            n_missing += 1
    print(f"{Path(gir).stem}: {len(all_functions)} functions, {n_missing} calls missing")
    return n_missing


def main(*girs):
    return sum(map(check, girs)) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

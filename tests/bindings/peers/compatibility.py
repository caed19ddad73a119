# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: compatibility.py check|write RESULTS PAGE

Makes the page of what works with which client from what the tests found out, or
says where that differs from the page. A client in a version that the page does
not have is named and not compared: the system's NumPy is not the same everywhere.
"""

import json
import re
import sys
from pathlib import Path

ORDER = ["NumPy", "PyTorch", "JAX", "MLX", "tvm-ffi", "nanobind", "cuda.core", "mpi4py",
         "safetensors", "ml_dtypes"]
# The clients with a line for each call, in a table of their own at the end.
CALLED = ["Matplotlib", "pandas", "xarray", "dask", "SciPy", "Numba", "NetworkX", "scikit-image",
          "Pillow", "OpenCV", "imageio", "h5py", "cffi", "Python"]
CALLS = "What else takes views"
LAYOUTS = ["a view in C order", "a transposed view"]
ABSENT = "–"
ASKS = "How the client asks"

INTRODUCTION = """\
Title: What works with which client
SPDX-License-Identifier: LGPL-2.1-or-later

# What works with which client

The tests in `tests/bindings/peers` check these tables against each client in the versions shown,
with host memory on Linux. `./run compatibility` rewrites the page; `./run test` fails if the page
is out of date.

- **works**: the same memory, no copy
- **copies**: the right elements, in separate memory; **copies as** another element type
- **ignores**: the same memory, even though read-only memory or a copy was requested: take care
- **refuses**: raises that exception and does nothing else
- **–**: the client has no such feature

`nb::ro` marks a nanobind argument that is only read. ml_dtypes adds element types to NumPy. Arrays
of these types do not support the buffer protocol, and DLPack only if the types are registered with
NumPy 2.5 or later; `Mtl.asview()` and `asarray()` know them if ml_dtypes is installed, which it is
for the newer NumPy here. Types of 4 and 6 bits take one byte per element there. safetensors saves
whatever it is given as if it were contiguous, including NumPy arrays. cuda.core is tested without a
GPU, mpi4py on one rank. Nothing here was run on a GPU: with CUDA memory, stand-ins for such
clients were checked over a double of the driver, see [CUDA](cuda.html#what-was-checked).

PyTorch up to 2.13 aborts the process if DLPack passes it negative strides, for example those of a
NumPy array. Views with negative strides are therefore exported to it as copies. mpi4py treats
elements of 4 and 6 bits as bytes and would read beyond the end of the memory: mtldl refuses them to
any consumer that asks for a DLPack version before 1.1.
"""

WORDS = """\
Each call was made with a view of 6 × 6 elements. Its memory is compared by addresses; **reads**
means that the call had the right elements and keeps none of them, **writes** that it wrote into the
view's memory. Whatever wants an array proper takes `numpy.asarray(view)`, which is the same memory.
Python's own functions take bytes, so the view has to be in C order: `view.copy()` is.
"""


def read_results(folder):
    """Section, case, client: outcome."""
    results = {}
    entries = [json.loads(path.read_text()) | {"path": path}
               for path in sorted(Path(folder).glob("*.json"))]

    def place(entry):
        name = entry["client"]
        return (ORDER + CALLED).index(name.split(",")[0]), entry["path"].name

    for entry in sorted(entries, key=place):
        client, comma, way = entry["client"].partition(",")
        name = f"{client} {entry['version']}".strip() + comma + way
        for section, cases in entry["cases"].items():
            for case, outcome in cases.items():
                results.setdefault(section, {}).setdefault(case, {})[name] = outcome
    return results


def table_of(cases):
    clients = list(dict.fromkeys(name for row in cases.values() for name in row))
    lines = [["", *clients], ["---"] * (1 + len(clients))]
    lines += [[case, *(row.get(name, ABSENT) for name in clients)] for case, row in cases.items()]
    return lines


def lines_of_calls(cases):
    """A line for each call, with a cell for each layout."""
    lines = [["", "", *LAYOUTS], ["---"] * (2 + len(LAYOUTS))]
    for call, row in cases.items():
        lines += [[client, call, *outcomes] for client, outcomes in row.items()]
    return lines


def transposed(lines):
    head, _, *rows = lines
    columns = list(zip(head, *rows))
    return [columns[0], ["---"] * len(columns[0]), *columns[1:]]


def page_of(results):
    parts = [INTRODUCTION]
    for section, cases in results.items():
        lines = lines_of_calls(cases) if section == CALLS else table_of(cases)
        if section == ASKS:
            lines = transposed(lines)
        if section == CALLS:
            section = f"{section}\n\n{WORDS.rstrip()}"
        rows = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        parts.append(f"## {section}\n\n{rows}\n")
    return "\n".join(parts)


def read_page(text):
    """Returns {(section, case, client): outcome} from the tables."""
    cells, section, head = {}, None, None
    for line in text.splitlines():
        if line.startswith("## "):
            section, head = line[3:], None
        elif line.startswith("| ") and not line.startswith("| ---"):
            row = [cell.strip() for cell in line[1:-1].split("|")]
            if head is None:
                head = row
                continue
            if section == CALLS:
                client, call, *outcomes = row
                for layout, outcome in zip(head[2:], outcomes):
                    cells[section, f"{call} of {layout}", client] = outcome
                continue
            for name, outcome in zip(head[1:], row[1:]):
                case, client = (name, row[0]) if section == ASKS else (row[0], name)
                cells[section, case, client] = outcome
    return cells


def without_version(name):
    return re.sub(" [0-9][^,]*", "", name)


def differences(page, run):
    """Yields the cells that differ for clients of both tables, and the clients that only one
    has."""
    before, now = ({client for _, _, client in cells} for cells in (page, run))
    both = before & now
    for key in sorted(set(page) | set(run)):
        if key[2] in both and page.get(key, ABSENT) != run.get(key, ABSENT):
            yield (f"{', '.join(key)}: “{run.get(key, ABSENT)}”, where the page has "
                   f"“{page.get(key, ABSENT)}”")
    missing, new = before - now, now - before
    if {without_version(name) for name in missing} == {without_version(name) for name in new} \
            and all(name.startswith("NumPy") for name in new):
        for name in sorted(new):
            print(f"not compared: the page has not {name}, which is the system's")
        return
    for name in sorted(missing):
        yield f"{name} is on the page and was not tried"
    for name in sorted(new):
        yield f"{name} is not on the page"


def main(action, results, page):
    text = page_of(read_results(results))
    if action == "write":
        Path(page).write_text(text)
        return 0
    there = Path(page).read_text()
    before, now = read_page(there), read_page(text)
    found = list(differences(before, now))
    if before == now and there != text:
        found.append("The words around the table differ")
    for difference in found:
        print(difference)
    if found:
        print(f"{page} is to be written anew: ./run compatibility")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's lists of what the libraries export: symbols.py VERSION GIR…

Adds the functions of the GIRs, and those for the Python module, that the lists lack, as those of
this version, and removes the others.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'packaging' / 'install'))
from exports import (  # noqa: E402
    PRIVATE_NODE, PUBLIC_NODE, read_gir_symbols, read_private_symbols)

LINE = re.compile(r'^ (\w+@\w+) .*\n', re.MULTILINE)


def library_of(gir):
    (library,) = re.findall(r'shared-library="(libmtldl[\w-]*)[.]so[.]0"', Path(gir).read_text())
    return library


def list_for(gir):
    """Returns the file with the list for the library of a GIR."""
    return ROOT / 'debian' / f'{library_of(gir)}-0.symbols'


def read_symbols(gir):
    """Returns what the library of a GIR exports, with versions, which are symbols, too."""
    nodes = {PUBLIC_NODE: read_gir_symbols(gir)}
    if library_of(gir) == 'libmtldl-1':
        nodes[PRIVATE_NODE] = read_private_symbols()
    return {f'{name}@{node}' for node, names in nodes.items() for name in {node, *names}}


def update(text, symbols, version):
    lines = {name: f' {name} {version}\n' for name in symbols}
    lines |= {match[1]: match[0] for match in LINE.finditer(text) if match[1] in symbols}
    return LINE.sub('', text) + ''.join(lines[name] for name in sorted(lines))


def find_wrong(name, text, symbols):
    listed = set(LINE.findall(text))
    yield from (f'{name} lacks {symbol}: ./run abi adds it' for symbol in sorted(symbols - listed))
    yield from (f'{name} has {symbol}, which is gone' for symbol in sorted(listed - symbols))


def find_all_wrong(girs):
    for gir in girs:
        path = list_for(gir)
        yield from find_wrong(f'debian/{path.name}', path.read_text(), read_symbols(gir))


if __name__ == '__main__':
    for gir in sys.argv[2:]:
        path = list_for(gir)
        path.write_text(update(path.read_text(), read_symbols(gir), sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's lists of what the libraries export: symbols.py VERSION GIR…

Adds the functions of the GIRs that the lists lack, as those of this version, and removes the others.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'install'))
from exports import read_gir_symbols  # noqa: E402

LINE = re.compile(r'^ (mtl_\w+)@MTLDL_1 .*\n', re.MULTILINE)


def list_for(gir):
    """Returns the file with the list for the library of a GIR."""
    (library,) = re.findall(r'shared-library="(libmtldl[\w-]*)[.]so[.]0"', Path(gir).read_text())
    return ROOT / 'debian' / f'{library}-0.symbols'


def update(text, symbols, version):
    lines = {name: f' {name}@MTLDL_1 {version}\n' for name in symbols}
    lines |= {match[1]: match[0] for match in LINE.finditer(text) if match[1] in symbols}
    return LINE.sub('', text) + ''.join(lines[name] for name in sorted(lines))


def find_wrong(name, text, symbols):
    listed = set(LINE.findall(text))
    yield from (f'{name} lacks {symbol}: ./run abi adds it' for symbol in sorted(symbols - listed))
    yield from (f'{name} has {symbol}, which is gone' for symbol in sorted(listed - symbols))


def find_all_wrong(girs):
    for gir in girs:
        path = list_for(gir)
        yield from find_wrong(f'debian/{path.name}', path.read_text(), read_gir_symbols(gir))


if __name__ == '__main__':
    for gir in sys.argv[2:]:
        path = list_for(gir)
        path.write_text(update(path.read_text(), read_gir_symbols(gir), sys.argv[1]))

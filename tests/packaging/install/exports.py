# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the names of a GIR and the exports of a library, to be compared."""

import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

MAP = Path(__file__).resolve().parents[3] / 'mtldl' / 'symbols.map'
PUBLIC_NODE = 'MTLDL_1'
PRIVATE_NODE = 'MTLDL_1_PRIVATE'
C_IDENTIFIER = '{http://www.gtk.org/introspection/c/1.0}identifier'
GET_TYPE = '{http://www.gtk.org/introspection/glib/1.0}get-type'
CORE = '{http://www.gtk.org/introspection/core/1.0}'
CALLABLE_TAGS = {CORE + tag for tag in ('constructor', 'function', 'method')}


def read_gir_symbols(path):
    """Give the functions of a GIR, those for C alone included."""
    symbols = set()

    for element in xml.etree.ElementTree.parse(path).iter():
        # A function that became a method is named twice.
        if element.tag in CALLABLE_TAGS and C_IDENTIFIER in element.attrib:
            symbols.add(element.attrib[C_IDENTIFIER])
        if element.attrib.get(GET_TYPE, 'intern') != 'intern':
            symbols.add(element.attrib[GET_TYPE])

    return symbols


def read_private_symbols():
    """Give the functions that libmtldl exports for the Python module alone."""
    (names,) = re.findall(PRIVATE_NODE + r' {\s*global:([^}]*)}', MAP.read_text())
    return set(re.findall(r'\w+', names))


def list_symbols(*options):
    """Give the kind and the name of each symbol that nm lists."""
    lines = subprocess.run(['nm', *options], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return [line.split()[1:] for line in lines]


def read_exported_symbols(path):
    """Give the symbols that a shared library defines for others, with their versions: macOS has
    none, and an underscore before each name of C."""
    if sys.platform == 'darwin':
        return {name.removeprefix('_'): '' for _, name in list_symbols('-gU', path)}

    # The versions themselves are absolute symbols.
    return {name.partition('@@')[0]: name.partition('@@')[2]
            for kind, name in list_symbols('-D', '--defined-only', path) if kind != 'A'}


def read_versions(path):
    """Give the versions that a shared library defines, those without a symbol included."""
    return {name for kind, name in list_symbols('-D', '--defined-only', path) if kind == 'A'}

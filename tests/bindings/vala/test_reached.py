#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the VAPI is right and the tests use all of it.

test_reached.py GIR VAPI NM PROGRAM…: every function that the GIR shows to
bindings is called by one of the programs, as their undefined symbols tell, and
none throws a plain GLib.Error in the VAPI.
"""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'


def list_functions(gir):
    namespace = ElementTree.parse(gir).getroot().find(CORE + 'namespace')
    kinds = [CORE + kind for kind in ('constructor', 'function', 'method')]
    return {element.get(C + 'identifier') for element in namespace.iter()
            if element.tag in kinds and element.get('introspectable') != '0'}


def list_undefined(nm, program):
    result = subprocess.run([nm, '--undefined-only', program], check=True,
                            stdout=subprocess.PIPE, text=True)
    names = {line.split()[-1].split('@')[0] for line in result.stdout.splitlines()}
    return {name.removeprefix('_') for name in names} if sys.platform == 'darwin' else names


def report(number, name, failures):
    print(f'{"not ok" if failures else "ok"} {number} {name}')
    for failure in failures:
        print(f'# {failure}')
    return not failures


def main(gir, vapi, nm, *programs):
    functions = list_functions(gir)
    called = set().union(*(list_undefined(nm, program) for program in programs))
    with open(vapi, encoding='utf-8') as lines:
        untyped = [line.strip() for line in lines if 'GLib.Error;' in line]

    print('1..3')
    passed = [
        report(1, 'the GIR has functions', [] if functions else ['none found']),
        report(2, 'every function is called from Vala', sorted(functions - called)),
        report(3, 'every function says what it throws', untyped),
    ]
    return 0 if all(passed) else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

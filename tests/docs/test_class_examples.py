#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles and runs the example in the comment of each class: test_class_examples.py GIR

Each example is the body of a function that returns whether it worked. All run in one folder.
The example that writes a file runs first, because others open it.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'

# Lines of code, not counting empty ones.
LEAST, MOST = 5, 15

FIRST = ['TensorFileBuilder']

FUNCTION = '''
static gboolean
example_{name} (GError **error)
{{
{body}
  return TRUE;
}}
'''

PROGRAM = '''
#include <sys/socket.h>

#include <mtldl/mtldl.h>
{functions}
int
main (void)
{{
  GError *error = NULL;

{calls}
  return 0;
}}
'''

CALL = '''
  if (!example_{name} (&error))
    g_error ("{name}: %s", error->message);
'''


def read_examples(gir):
    """Returns {class: [code]} for all classes."""
    examples = {}
    for element in ElementTree.parse(gir).iter(f'{CORE}class'):
        doc = element.findtext(f'{CORE}doc') or ''
        examples[element.get('name')] = re.findall(r'^```c\n(.*?)^```$', doc,
                                                   re.MULTILINE | re.DOTALL)
    return examples


def find_fault(blocks):
    if len(blocks) != 1:
        return f'{len(blocks)} examples'
    n_lines = sum(bool(line.strip()) for line in blocks[0].splitlines())
    if not LEAST <= n_lines <= MOST:
        return f'{n_lines} lines: there must be {LEAST} to {MOST}'
    return None


def run(program):
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'mtldl-1'], check=True,
                           capture_output=True, text=True).stdout.split()
    compiler = shlex.split(os.environ.get('CC', 'cc'))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'examples.c').write_text(program, encoding='utf-8')
        for command in ([*compiler, '-Wall', '-Werror', 'examples.c', *flags, '-o', 'examples'],
                        ['dbus-run-session', '--', './examples']):
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if result.returncode != 0:
                return f'{shlex.join(command)} ended with {result.returncode}\n{result.stderr}'
    return None


def main(gir):
    examples = read_examples(gir)
    names = sorted(examples, key=lambda name: (name not in FIRST, name))
    faults = {name: find_fault(examples[name]) for name in names}
    n_failed = 0

    if not names:
        print(f'Bail out! {gir} has no class')
        return 1

    print(f'1..{len(names) + 1}')
    for number, name in enumerate(names, 1):
        n_failed += faults[name] is not None
        print(f'{"not ok" if faults[name] else "ok"} {number} {name} has an example')
        if faults[name]:
            print(f'# {faults[name]}')

    fitting = [name for name in names if not faults[name]]
    functions = ''.join(FUNCTION.format(name=name, body=textwrap.indent(examples[name][0], '  '))
                        for name in fitting)
    calls = ''.join(CALL.format(name=name) for name in fitting)
    fault = run(PROGRAM.format(functions=functions, calls=calls))
    n_failed += fault is not None
    print(f'{"not ok" if fault else "ok"} {len(names) + 1} they compile and run')
    for line in (fault or '').splitlines():
        print(f'# {line}')

    return n_failed > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))

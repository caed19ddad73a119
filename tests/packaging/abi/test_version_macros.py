#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what programs see of other versions: test_version_macros.py SOURCE_ROOT

In 1.0 nothing is newer or deprecated. So the headers that say which version there is are made for
1.2 as well, with what a later version adds, and a sample of functions is declared with them.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLE = '''
#define MTLDL_INSIDE
#include "mtl-version-macros.h"

MTL_AVAILABLE_IN_1_0
void mtl_old (void);
MTL_AVAILABLE_IN_1_2
void mtl_new (void);
#ifndef MTL_DISABLE_DEPRECATED
MTL_DEPRECATED_IN_1_2_FOR (mtl_new)
void mtl_replaced (void);
MTL_DEPRECATED_IN_1_2
void mtl_deprecated (void);
#endif
'''

MAX_1_0 = '-DMTL_VERSION_MAX_ALLOWED=MTL_VERSION_1_0'
MIN_1_0 = '-DMTL_VERSION_MIN_REQUIRED=MTL_VERSION_1_0'
MIN_1_2 = '-DMTL_VERSION_MIN_REQUIRED=MTL_VERSION_1_2'
NO_WARNINGS = '-DMTL_DISABLE_DEPRECATION_WARNINGS'
NO_DEPRECATED = '-DMTL_DISABLE_DEPRECATED'

# The compiler's messages by function, and the messages expected with some macros defined.
NEWER = {'mtl_new': 'Not available before 1.2'}
DEPRECATED = {'mtl_replaced': "deprecated: Use 'mtl_new' instead", 'mtl_deprecated': 'deprecated'}
GONE = {name: 'implicit declaration|undeclared' for name in DEPRECATED}
CASES = [
    ([], DEPRECATED),
    ([MIN_1_2], DEPRECATED),
    ([MIN_1_0], {}),
    ([MAX_1_0], NEWER),
    ([NO_WARNINGS], {}),
    ([NO_WARNINGS, MAX_1_0], {}),
    ([NO_DEPRECATED], GONE),
    ([NO_DEPRECATED, MAX_1_0], {**NEWER, **GONE}),
]

def make_headers(source, folder):
    """Writes the headers of 1.2: what 1.0 has for itself is repeated for 1.2."""
    template = (source / 'mtldl' / 'mtl-version.h.in').read_text()
    for name, value in (('MAJOR', '1'), ('MINOR', '2'), ('MICRO', '0')):
        template = template.replace(f'@MTL_{name}_VERSION@', value)
    (folder / 'mtl-version.h').write_text(template)

    macros = (source / 'mtldl' / 'base' / 'mtl-version-macros.h').read_text()
    constant = re.search(r'^#define MTL_VERSION_1_0 .*\n', macros, re.MULTILINE)
    block = re.search(r'^#if MTL_VERSION_MAX_ALLOWED < MTL_VERSION_1_0\n.*', macros,
                      re.MULTILINE | re.DOTALL)
    for old in (constant[0], block[0]):
        new = old.replace('1_0', '1_2').replace('(1, 0)', '(1, 2)')
        macros = macros.replace(old, old + new)
    (folder / 'mtl-version-macros.h').write_text(macros)


def pkg_config(package):
    return subprocess.run(['pkg-config', '--cflags', package], check=True, capture_output=True,
                          text=True).stdout.split()


def compilers():
    own = shlex.split(os.environ.get('CC', 'cc'))
    paths = {os.path.realpath(path): path for path in map(shutil.which, ('gcc', 'clang', own[-1]))
             if path}
    return sorted(paths.values())


def compile_text(compiler, text, options):
    """Returns {function: what the compiler says against it}."""
    result = subprocess.run([compiler, '-std=c11', '-Wall', '-Werror', '-fsyntax-only', *options,
                             '-x', 'c', '-'], input=text, capture_output=True, text=True,
                            env={**os.environ, 'LC_ALL': 'C'})
    errors = [line for line in result.stderr.splitlines() if 'error:' in line]
    names = [re.search(r"'(mtl_\w+)'", line) for line in errors]
    return {name[1] if name else '': line for name, line in zip(names, errors)}


class Report:
    """Prints results in TAP."""

    def __init__(self):
        self.n = self.n_failed = 0

    def add(self, name, seen, expected):
        """Compares {function: message} with the expected patterns."""
        right = seen.keys() == expected.keys() \
            and all(re.search(pattern, seen[name]) for name, pattern in expected.items())
        self.n += 1
        self.n_failed += not right
        print(f'{"ok" if right else "not ok"} {self.n} - {name}')
        if not right:
            print(f'# expected: {expected}\n# seen: {seen}')


def check_samples(report, compiler, folder):
    flags = [f'-I{folder}', *pkg_config('glib-2.0')]
    calls = 'mtl_old (); mtl_new (); mtl_replaced (); mtl_deprecated ();'
    text = f'{SAMPLE}int main (void) {{ {calls} return 0; }}\n'
    for defined, expected in CASES:
        report.add(' '.join([Path(compiler).name, *defined]),
                   compile_text(compiler, text, [*flags, *defined]), expected)
    report.add(f'{Path(compiler).name}: the earliest is after the latest',
               compile_text(compiler, text, [*flags, MAX_1_0, MIN_1_2, NO_WARNINGS]),
               {'': 'must not be later than'})


def find_deprecated(compiler, text, flags):
    """Returns what is declared as deprecated although the program wants nothing of that."""
    text = subprocess.run([compiler, '-E', '-x', 'c', '-', NO_DEPRECATED, *flags], input=text,
                          check=True, capture_output=True, text=True).stdout
    return {name: 'found' for name in re.findall(r'__deprecated__[^;]*?\b(mtl_\w+) \(', text)}


def check_library(report, compiler, folder):
    """The library's headers use the macros."""
    flags = pkg_config('mtldl-1')
    text = '#include <mtldl/mtldl.h>\nint main (void) { return mtl_get_max_threads (); }\n'
    before = '-DMTL_VERSION_MAX_ALLOWED=G_ENCODE_VERSION(0,9)'
    report.add('a function of the library', compile_text(compiler, text, flags), {})
    report.add('a function of the library, for an older version',
               compile_text(compiler, text, [before, *flags]),
               {'mtl_get_max_threads': 'Not available before 1.0'})

    report.add('nothing deprecated is left where it is not wanted',
               find_deprecated(compiler, text, flags), {})
    unguarded = SAMPLE.replace('#ifndef MTL_DISABLE_DEPRECATED', '#if 1')
    flags = [f'-I{folder}', *pkg_config('glib-2.0')]
    report.add('what is left would be found', find_deprecated(compiler, unguarded, flags),
               dict.fromkeys(DEPRECATED, 'found'))


def main(source):
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        make_headers(Path(source), Path(folder))
        for compiler in compilers():
            check_samples(report, compiler, folder)
        check_library(report, compilers()[0], folder)
    print(f'1..{report.n}')
    return report.n_failed > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

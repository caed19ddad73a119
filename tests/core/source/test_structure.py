#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the layers: test_structure.py BUILD

The symbols of the object files in BUILD show which files use each other. There must be no
circles, no file of the library may use one in a higher folder, and only the library may
include its private headers, except for those of the code that is copied. Its sources may only use
locks and threads that a forked child makes new.
"""

import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The lowest comes first. Each folder of mtldl/ only uses itself and those before it.
LAYERS = ['base', 'values', 'kernels', 'files', 'devices', 'memory', 'views', 'dlpack',
          'processes', 'tensor-files']

# The folders with C code. They only share exported symbols.
PARTS = ['mtldl', 'bridges/gst', 'bridges/gtk', 'bridges/pixbuf', 'introspection', 'cli']


def layer_of(path):
    """Returns the index of a file's layer in mtldl/. Files outside the layers are above them."""
    folder = path.split('/')[1]
    return LAYERS.index(folder) if folder in LAYERS else len(LAYERS)


def part_of(path):
    return next((part for part in PARTS if path.startswith(part + '/')), None)


def objects_by_source(build):
    """Returns the object files of each source: one, or one for each instruction set."""
    commands = json.loads((build / 'compile_commands.json').read_text())
    objects = collections.defaultdict(list)
    for command in commands:
        folder = Path(command['directory'])
        source = (folder / command['file']).resolve()
        if source.is_relative_to(ROOT):
            name = source.relative_to(ROOT).as_posix()
            if part_of(name):
                objects[name].append(folder / command['output'])
    return objects


def symbols_of(objects):
    """Returns the external symbols that the object files of one source define and use."""
    listing = subprocess.run(['nm', '-g', '-P', *objects], check=True, capture_output=True,
                             text=True).stdout
    defined, used = set(), set()
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) > 1:  # nor the name of a file, nor an empty line
            (used if fields[1] in 'Uw' else defined).add(fields[0])
    return defined, used


def uses_between(symbols):
    """Turns {source: (defined, used)} into {source: {other: names}}."""
    homes = {name: source for source, (defined, _) in symbols.items() for name in defined}
    uses = {}
    for source, (_, used) in symbols.items():
        uses[source] = collections.defaultdict(list)
        for name in sorted(used):
            if homes.get(name, source) != source:
                uses[source][homes[name]].append(name)
    return uses


def find_circles(uses):
    """Finds the sets of files that reach each other, with Tarjan's algorithm."""
    index, low, stack, circles = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in uses[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            begin = stack.index(node)
            if len(stack) - begin > 1:
                circles.append(sorted(stack[begin:]))
            del stack[begin:]

    for node in uses:
        if node not in index:
            visit(node)
    return circles


def find_upward_uses(uses):
    return [f'{source} uses {other}: {", ".join(names[:3])}'
            for source, others in uses.items() for other, names in others.items()
            if layer_of(other) > layer_of(source)]


def sources_in(folder):
    return sorted(path for path in (ROOT / folder).rglob('*') if path.suffix in ('.c', '.h', '.m'))


def included_by(path):
    return re.findall(r'^\s*#\s*(?:include|import) [<"]([^">]+)[">]', path.read_text(),
                      re.MULTILINE)


def find_upward_includes():
    homes = {path.name: path.relative_to(ROOT).as_posix() for path in sources_in('mtldl')}
    for path in sources_in('mtldl'):
        name = path.relative_to(ROOT).as_posix()
        for header in included_by(path):
            home = homes.get(Path(header).name)
            if home and layer_of(home) > layer_of(name):
                yield f'{name} includes {home}'


# The header of the functions that only the Python module may call.
BINDINGS = 'mtl-bindings-private.h'

# The headers of code that the bridges and the command have copies of.
SHARED = {'mtl-async-call-private.h', 'mtl-message-text-private.h'}


def private_headers():
    return {path.name for path in sources_in('mtldl') if path.name.endswith('-private.h')}


def find_private_includes(folder):
    private = private_headers() - ({BINDINGS} if folder == 'introspection' else SHARED)
    return [f'{path.relative_to(ROOT)} includes {header}' for path in sources_in(folder)
            for header in included_by(path) if Path(header).name in private]


def find_public_includes():
    """Public headers of the library's folders that the shared ones include: a bridge has copies of
    these already, and compilers read both."""
    homes = {path.name: path for path in sources_in('mtldl')}
    seen, left = set(), set(SHARED)
    while left:
        header = left.pop()
        seen.add(header)
        if not header.endswith('-private.h'):
            yield f'{header} is included by one of {", ".join(sorted(SHARED))}'
        left |= {name for name in included_by(homes[header]) if name in homes} - seen


def find_exposed_headers(build):
    """Private headers in the folders that programs of the build tree compile with."""
    private = private_headers()
    text = (build / 'meson-uninstalled' / 'mtldl-1-uninstalled.pc').read_text()
    variables = dict(re.findall(r'^(\w+)=(.*)$', text, re.MULTILINE))
    for folder in re.findall(r'-I(\S+)', text):
        path = Path(re.sub(r'\$\{(\w+)\}', lambda match: variables[match[1]], folder))
        for header in [*path.glob('*.h'), *path.glob('mtldl/*.h')]:
            if header.name in private:
                yield str(header)


# Functions that leave things locked, or half done, in a child that is forked while another thread
# is in them. Comments have no space before the parenthesis.
UNFORKABLE = re.compile(r'\b(g_(?:mutex|rec_mutex|rw_lock|once|thread_pool|async_queue)_\w+'
                        r'|g_bit_lock|g_task_run_in_thread\w*|G_LOCK\w*) \(')

# The last uses GTask's threads in the first process only.
FORK_AWARE = {'mtldl/base/mtl-fork.c', 'mtldl/base/mtl-fork-private.h',
              'mtldl/base/mtl-async-call.c'}


def find_unforkable_uses():
    for path in sources_in('mtldl'):
        name = path.relative_to(ROOT).as_posix()
        if name not in FORK_AWARE:
            for use in UNFORKABLE.findall(path.read_text()):
                yield f'{name} calls {use}(): a forked child may wait for it for ever'


# Names as Python and JavaScript write them. Messages of C are read in every language.
OF_OTHER_LANGUAGES = re.compile(r'\bMtl\.\w|\b(?:view|file|np|numpy|scipy|torch)(?:\.\w+)+\(|\bin Python\b')


def find_advice_for_other_languages():
    for path in sources_in('mtldl'):
        text = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.DOTALL)
        for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', text):
            if OF_OTHER_LANGUAGES.search(literal):
                yield f'{path.relative_to(ROOT)} has {literal}'


# The code of an error tells what went wrong; its text may change.
MATCHES_TEXT = re.compile(
    r'\bin (?:str|repr)\(\w*err\w*\)|\bin \w*err\w*\.(?:message|args)\b'
    r'|\b(?:str\(\w*err\w*\)|\w*err\w*\.message)\.(?:starts|ends|find|index|includes|match|search)'
    r'|\bre\.\w+\([^\n]*str\(\w*err\w*\)|\bstr\w+ \(\w*err\w*->message,')


def find_matches_of_texts():
    for path in [*(ROOT / 'bridges').rglob('*'), *(ROOT / 'introspection').rglob('*')]:
        if path.suffix in ('.c', '.py', '.js'):
            for match in MATCHES_TEXT.findall(path.read_text()):
                yield f'{path.relative_to(ROOT)}: {match}'


class Report:
    """Prints results in TAP."""

    def __init__(self):
        self.n = self.n_failed = 0

    def add(self, name, complaints):
        complaints = list(complaints)
        self.n += 1
        self.n_failed += bool(complaints)
        print(f'{"not ok" if complaints else "ok"} {self.n} - {name}')
        for complaint in complaints:
            print(f'# {complaint}')


def check_checks(report):
    """Checks that this program would find violations."""
    low, high, apart = 'mtldl/base/low.c', 'mtldl/views/high.c', 'mtldl/files/apart.c'
    symbols = {low: ({'low'}, {'high'}), high: ({'high'}, {'low'}), apart: (set(), {'low'})}
    uses = uses_between(symbols)
    report.add('a circle would be found',
               [] if find_circles(uses) == [[low, high]] else ['it was not'])
    report.add('an upward use would be found',
               [] if find_upward_uses(uses) == [f'{low} uses {high}: high'] else ['it was not'])
    report.add('a lock that stays locked would be found',
               [] if UNFORKABLE.findall('g_mutex_lock (&a); mtl_fork_lock (&b); /* G_LOCK() */')
               == ['g_mutex_lock'] else ['it was not'])
    report.add('advice in another language would be found',
               [] if [bool(OF_OTHER_LANGUAGES.search(text)) for text in (
                   'use view.copy()', 'save it with Mtl.save()', 'see mtl.h, view.h, float(x)')]
               == [True, True, False] else ['it was not'])
    report.add('a match of a message would be found',
               [] if len(MATCHES_TEXT.findall('"a copy" not in str(error)\nif "b" in e or "c" in '
                                              'error.message: error.message.includes("d")')) == 3
               else ['it was not'])


def main(build):
    report = Report()
    objects = objects_by_source(Path(build))
    sources = [source for source in objects if source.startswith('mtldl/')]
    n_files = n_uses = 0

    check_checks(report)
    report.add('each layer has object files',
               {layer for layer in LAYERS
                if not any(source.split('/')[1] == layer for source in sources)})
    report.add('all objects are built', [str(path) for paths in objects.values() for path in paths
                                         if not path.exists()])
    if report.n_failed:
        print('Bail out! There is nothing to look at')
        return 1

    for part in PARTS:
        symbols = {source: symbols_of(paths) for source, paths in objects.items()
                   if part_of(source) == part}
        uses = uses_between(symbols)
        n_files += len(uses)
        n_uses += sum(map(len, uses.values()))
        report.add(f'no circles of files in {part}/', map(', '.join, find_circles(uses)))
        if part == 'mtldl':
            report.add('no file uses one of a higher folder', find_upward_uses(uses))
            report.add('no file includes one of a higher folder', find_upward_includes())
        else:
            report.add(f"no private header of the library in {part}/", find_private_includes(part))

    report.add('no lock or thread that a forked child waits for', find_unforkable_uses())
    report.add('messages advise in no other language', find_advice_for_other_languages())
    report.add('nothing matches the text of an error', find_matches_of_texts())
    report.add('shared headers include no public one', find_public_includes())
    report.add('programs of the build tree see no private header',
               find_exposed_headers(Path(build)))

    print(f'# {n_files} files, {n_uses} uses of one by another')
    print(f'1..{report.n}')
    return report.n_failed > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))

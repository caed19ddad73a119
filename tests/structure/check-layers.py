#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the layers: check-layers.py BUILD

The symbols of the object files in BUILD say which file uses which. No files may use each
other in a circle, no file may use one of a higher folder of the library, and only the library
itself may include its private headers.
"""

import json
import os
import re
import subprocess
import sys

# Lowest first: each folder of mtldl/ uses itself and those before it.
FOLDERS = ['base', 'values', 'kernels', 'files', 'devices', 'memory', 'views', 'dlpack',
           'tensor-files']

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def compiled(build):
    """The object files of each source file: one, or one for each instruction set."""
    with open(os.path.join(build, 'compile_commands.json')) as file:
        commands = json.load(file)

    objects = {}
    for command in commands:
        source = os.path.normpath(os.path.join(command['directory'], command['file']))
        output = os.path.join(command['directory'], command['output'])
        if os.path.exists(output):
            objects.setdefault(source, []).append(output)
    return objects


def symbols(objects):
    """What object files define and use, over the limits of one file."""
    listing = subprocess.run(['nm', '-g', '-P', *objects], check=True, capture_output=True,
                             text=True).stdout
    defined, used = set(), set()
    for line in listing.splitlines():
        name, *kind = line.split()[:2]
        if kind:
            (used if kind[0] == 'U' else defined).add(name)
    return defined, used


def uses_of(sources):
    """For each file the files that it uses, and the symbols by which it does."""
    tables = {source: symbols(objects) for source, objects in sources.items()}
    homes = {name: source for source, (defined, _) in tables.items() for name in defined}

    uses = {}
    for source, (_, used) in tables.items():
        uses[source] = {}
        for name in sorted(used):
            home = homes.get(name, source)
            if home != source:
                uses[source].setdefault(home, []).append(name)
    return uses


def circles(uses):
    """Sets of files that reach each other: Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

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
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in uses:
        if node not in index:
            visit(node)
    return found


def included(path):
    with open(path) as file:
        return re.findall(r'^#\s*include "([^"]+)"', file.read(), re.MULTILINE)


def rank(path):
    """The place of a file of the library among the layers; the root is above all."""
    folder = os.path.relpath(path, os.path.join(ROOT, 'mtldl')).split(os.sep)[0]
    return FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS)


def files_in(folder):
    for parent, _, names in os.walk(os.path.join(ROOT, folder)):
        yield from (os.path.join(parent, name) for name in names
                    if name.endswith(('.c', '.h', '.m')))


def check_includes(folder, complaints):
    headers = {os.path.basename(path): path for path in files_in('mtldl') if path.endswith('.h')}

    for path in sorted(files_in(folder)):
        name = os.path.relpath(path, ROOT)
        for header in included(path):
            home = headers.get(os.path.basename(header))
            if home is None:
                continue
            if folder == 'mtldl' and rank(home) > rank(path):
                complaints.append(f'{name} includes {os.path.relpath(home, ROOT)}, which is above it')
            if folder != 'mtldl' and header.endswith('-private.h'):
                complaints.append(f'{name} includes {header}, which is the library’s own')


def check_folder(folder, objects, complaints):
    sources = {path: found for path, found in objects.items()
               if path.startswith(os.path.join(ROOT, folder) + os.sep)}
    uses = uses_of(sources)

    for circle in circles(uses):
        complaints.append('a circle: ' + ', '.join(os.path.relpath(path, ROOT) for path in circle))
    if folder == 'mtldl':
        for path, others in uses.items():
            for other, names in others.items():
                if rank(other) > rank(path):
                    complaints.append(f'{os.path.relpath(path, ROOT)} uses '
                                      f'{os.path.relpath(other, ROOT)}, which is above it: '
                                      + ', '.join(names[:4]))
    return len(sources), sum(map(len, uses.values()))


def main():
    objects = compiled(sys.argv[1])
    complaints = []

    for folder in ['mtldl', 'mtldl-pixbuf', 'introspection', 'tools']:
        n_files, n_uses = check_folder(folder, objects, complaints)
        check_includes(folder, complaints)
        print(f'# {folder}: {n_files} files, {n_uses} uses of one by another')

    print('\n'.join(complaints))
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())

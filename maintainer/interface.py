#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The interface that users rely on, as text: interface.py record|compare FOLDER VERSION GIR…

FOLDER has a file for each GIR. A line of it is one thing that users rely on, such as a parameter,
and after two spaces what is promised of it. What callers of all languages see comes from the GIR,
and how structs lie in memory from the C compiler. `record` writes the files; `compare` says what
differs from them, and fails if that breaks a program.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

NAMESPACE = re.compile(r'\{[^}]*/(core|c|glib)/1\.0\}')
CALLABLES = {'function', 'method', 'constructor', 'function-macro', 'virtual-method', 'callback'}
COMMENTS = {'doc', 'doc-deprecated', 'source-position', 'attribute'}

# The header that has all of a GIR, and its package for pkg-config.
HEADERS = {'Mtl': ('mtldl-1', ['mtldl/mtldl.h', 'mtldl/mtldl-dlpack.h']),
           'MtlGst': ('mtldl-gst-1', ['mtldl-gst/mtldl-gst.h']),
           'MtlGtk': ('mtldl-gtk-1', ['mtldl-gtk/mtldl-gtk.h']),
           'MtlPixbuf': ('mtldl-pixbuf-1', ['mtldl-pixbuf/mtldl-pixbuf.h'])}

# Their values change with each release.
VERSION_MACROS = {'MTL_MAJOR_VERSION', 'MTL_MINOR_VERSION', 'MTL_MICRO_VERSION'}

# C's own names of GLib's types.
C_NAMES = {'gint': 'int', 'gdouble': 'double', 'none': 'void'}

# A GIR does not say since when.
IMPLEMENTED = 'implemented'

# Attributes of parameters, results and symbols, and their defaults, which are left out.
VALUE_ATTRIBUTES = {'direction': 'in', 'caller-allocates': '0', 'nullable': '0', 'optional': '0',
                    'transfer-ownership': 'none', 'scope': '', 'closure': '', 'destroy': '',
                    'skip': '0'}
SYMBOL_ATTRIBUTES = {'introspectable': '1', 'throws': '0', 'shadows': '', 'shadowed-by': '',
                     'abstract': '0', 'parent': '', 'glib:get-type': '', 'glib:error-domain': '',
                     'glib:nick': '', 'readable': '1', 'writable': '0', 'construct': '0',
                     'construct-only': '0', 'when': '', 'detailed': '0', 'action': '0',
                     'no-recurse': '0', 'no-hooks': '0'}


def read_gir(path):
    """Returns the namespace of a GIR, with short names for tags and attributes."""
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        for at in [*element.attrib]:
            element.set(NAMESPACE.sub(r'\1:', at), element.attrib.pop(at))
        element.tag = NAMESPACE.sub(r'\1:', element.tag).removeprefix('core:')
    return root.find('namespace')


def children(element, *tags):
    return [child for child in element if child.tag in tags]


def attributes(element, defaults):
    """Returns the attributes that are not as usual, each in words."""
    for name, default in defaults.items():
        value = element.get(name, default)
        if value != default:
            word = name.removeprefix('glib:').removesuffix('-ownership')
            yield word if (default, value) == ('0', '1') else f'{word} {value}'


def text_of_type(element):
    """Returns the type in C, and in bindings where that is not the same."""
    if element.tag == 'varargs':
        return '...'
    name, c_type = element.get('name', ''), element.get('c:type', '')
    base = re.sub(r'\bconst\b|[* ]', '', c_type)
    texts = [c_type] if c_type else []
    if not base.endswith(name.split('.')[-1]) and base != C_NAMES.get(name):
        texts += ['as', name] if c_type else [name]
    if element.tag == 'array':
        ends = {'fixed-size', 'length'} & element.attrib.keys()
        texts += ['array', *attributes(element, {'fixed-size': '', 'length': '',
                                                 'zero-terminated': '0' if ends else '1'})]
    for inner in children(element, 'type', 'array'):
        texts += ['of', text_of_type(inner)]
    return ' '.join(texts)


def text_of_value(element):
    types = [text_of_type(child) for child in children(element, 'type', 'array', 'varargs')]
    return ', '.join([*types, *attributes(element, VALUE_ATTRIBUTES)]) or 'of any type'


class Interface:
    """Collects the lines, and what to ask the C compiler about."""

    def __init__(self, namespace):
        self.lines = {}
        self.structs = {} # names of fields
        self.enums = []
        self.versions = {f'{owner.get("c:type")}Class.{method.get("name")}': method.get('version')
                         for owner in children(namespace, 'class')
                         for method in children(owner, 'virtual-method')} # which fields lack
        self.lines[f'{namespace.get("name")}-{namespace.get("version")}'] = \
            f'namespace of {namespace.get("shared-library")}'
        for element in namespace:
            self.add_top_level(element)

    def add(self, name, element, *texts, since=None):
        """Adds a symbol: its own texts, and what any may have."""
        ends = {'since': since or element.get('version'),
                'deprecated': element.get('deprecated-version')}
        self.lines[name] = ', '.join([
            *filter(None, texts), *attributes(element, SYMBOL_ATTRIBUTES),
            *(f'{word} {version}' for word, version in ends.items() if version)])

    def add_callable(self, name, element, *texts, since=None):
        self.add(name, element, *texts, since=since)
        for parameters in children(element, 'parameters'):
            for parameter in children(parameters, 'instance-parameter'):
                self.lines[f'{name}(self)'] = text_of_value(parameter)
            for i, parameter in enumerate(children(parameters, 'parameter')):
                self.lines[f'{name}({i} {parameter.get("name")})'] = text_of_value(parameter)
        for result in children(element, 'return-value'):
            self.lines[f'{name}()'] = text_of_value(result)

    def add_top_level(self, element):
        name = element.get('c:type') or element.get('c:identifier') or element.get('name')
        if element.tag in ('class', 'record', 'enumeration', 'bitfield'):
            self.add(name, element, element.tag)
            if element.tag in ('enumeration', 'bitfield'):
                self.enums.append(name)
            for child in element:
                self.add_member(name, element, child)
        elif element.tag == 'constant':
            value = None if name in VERSION_MACROS else element.get('value')
            self.add(name, element, 'constant', text_of_value(element), value)
        elif element.tag in CALLABLES:
            self.add_function(name, element, element.get('name'))
        elif element.tag not in COMMENTS:
            raise ValueError(f'<{element.tag}> is not known here')

    def add_member(self, owner, parent, element):
        name = element.get('name')
        if element.tag == 'virtual-method':
            self.add_callable(f'{owner}->{name}', element, element.tag)
        elif element.tag in CALLABLES:
            self.add_function(element.get('c:identifier'), element,
                              f'{parent.get("name")}.{name}')
        elif element.tag == 'field':
            self.add_field(owner, parent, element)
        elif element.tag == 'member':
            said = re.search(r'Since:? (\d+\.\d+)', ''.join(element.itertext()), re.IGNORECASE)
            self.add(element.get('c:identifier'), element, f'member {name} of {owner}',
                     element.get('value'), since=said[1] if said else parent.get('version'))
        elif element.tag == 'property':
            self.add(f'{owner}:{name}', element, text_of_value(element))
        elif element.tag == 'glib:signal':
            self.add_callable(f'{owner}::{name}', element, 'signal')
        elif element.tag == 'implements':
            self.lines[f'{owner} {name}'] = IMPLEMENTED
        elif element.tag not in COMMENTS:
            raise ValueError(f'<{element.tag}> is not known in <{parent.tag}>')

    def add_function(self, identifier, element, name):
        if not element.get('moved-to'): # else it is named twice
            self.add_callable(identifier, element, f'{element.tag} {name}')

    def add_field(self, owner, parent, element):
        """Adds a public field. The others may change, if the size and the offsets stay."""
        fields = self.structs.setdefault(owner, [])
        if element.get('private') == '1':
            return
        name = f'{owner}.{element.get("name")}'
        since = self.versions.get(name) or parent.get('version')
        fields.append(element.get('name'))
        callbacks = children(element, 'callback')
        if name in self.versions: # whose class has all about it
            self.add(name, element, 'virtual method', since=since)
        elif callbacks:
            self.add_callable(name, callbacks[0], 'callback', since=since)
        else:
            self.add(name, element, text_of_value(element), since=since)

    def measure(self, headers, flags):
        """Asks the C compiler for sizes and offsets."""
        asked = {name: f'sizeof ({name})' for name in [*self.structs, *self.enums]}
        asked.update({f'{struct}.{field}': f'offsetof ({struct}, {field})'
                      for struct, fields in self.structs.items() for field in fields})
        program = [*(f'#include <{header}>' for header in headers), '#include <stddef.h>',
                   '#include <stdio.h>', 'int main (void) {',
                   *(f'printf ("%zu\\n", {expression});' for expression in asked.values()),
                   'return 0; }']
        with tempfile.TemporaryDirectory() as folder:
            source, executable = Path(folder, 'layout.c'), Path(folder, 'layout')
            source.write_text('\n'.join(program))
            subprocess.run([*shlex.split(os.environ.get('CC', 'cc')), source, '-o', executable,
                            *flags], check=True)
            values = subprocess.run(executable, check=True, capture_output=True, text=True).stdout
        for name, value in zip(asked, values.split()):
            self.lines[name] += f', offset {value}' if '.' in name else f', size {value}'


def read_interface(gir):
    """Returns {thing: what is promised of it}."""
    namespace = read_gir(gir)
    package, headers = HEADERS[namespace.get('name')]
    interface = Interface(namespace)
    if interface.structs or interface.enums:
        flags = subprocess.run(['pkg-config', '--cflags', package], check=True,
                               capture_output=True, text=True).stdout
        interface.measure(headers, shlex.split(flags))
    return interface.lines


def kept_path(folder, gir):
    return Path(folder, Path(gir).name).with_suffix('.txt')


def read_kept(path):
    """Returns the version that a file was written for, and its lines."""
    head, *lines = path.read_text().splitlines()
    return re.search(r'\d+\.\d+\.\d+', head)[0], dict(line.split('  ', 1) for line in lines)


def write_kept(path, version, lines):
    head = f'# The interface of mtldl {version}, which ./run abi writes down'
    # A parameter's number is behind its function's name.
    things = sorted(lines, key=lambda thing: (symbol_of(thing), '(' in thing))
    path.write_text('\n'.join([head, *(f'{thing}  {lines[thing]}' for thing in things), '']))


def symbol_of(thing):
    return thing.split('(')[0]


def minor(version):
    """Returns 1.2 of 1.2.3, to be compared."""
    return tuple(int(part) for part in version.split('.')[:2])


def compare(kept_version, kept, version, now):
    """Returns what would break a program that was written for the kept version, and what is new
    without saying so."""
    symbols, complaints = {symbol_of(thing) for thing in now}, []

    for thing, promised in kept.items():
        symbol = symbol_of(thing)
        if symbol not in symbols:
            if thing == symbol:
                complaints.append(f'{thing} is gone')
        elif thing not in now:
            complaints.append(f'{thing} is gone: it was “{promised}”')
        elif promised != now[thing] and promised != re.sub(', deprecated [0-9.]+', '', now[thing]):
            complaints.append(f'{thing} was “{promised}” and is “{now[thing]}”')

    for thing in now.keys() - kept.keys():
        symbol = symbol_of(thing)
        since = re.search(r'\bsince ([0-9.]+)', now.get(symbol, ''))
        if symbol in kept:
            complaints.append(f'{thing} is new in what {kept_version} has already')
        elif thing == symbol and now[thing] != IMPLEMENTED \
                and not (since and minor(kept_version) < minor(since[1]) <= minor(version)):
            said = f'with “Since: {since[1]}”' if since else 'without “Since:”'
            complaints.append(f'{thing} is new, {said}: it has to be later than {kept_version}, '
                              f'and no later than {version}')
    return sorted(complaints)


def advice(path):
    return [f'{path} has what users rely on.',
            'Once its version is released, nothing that it has may change, and what is new says',
            'which later version it is new in: “Since:” in its comment. Before that, and for the',
            'next release, ./run abi writes down what there is.']


def main(command, folder, version, *girs):
    failed = False
    for gir in girs:
        lines, path = read_interface(gir), kept_path(folder, gir)
        if command == 'record':
            write_kept(path, version, lines)
            continue
        complaints = compare(*read_kept(path), version, lines)
        if complaints:
            failed = True
            print(*complaints, *advice(path), sep='\n')
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

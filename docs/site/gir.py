# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what the pages of the languages need of a GIR: which page of the reference, and which
summary, belongs to a name as the bindings spell it."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'

# The pages of gi-docgen, by the kind of element.
PAGES = {'class': 'class', 'interface': 'iface', 'record': 'struct', 'enumeration': 'enum',
         'bitfield': 'flags', 'callback': 'callback', 'constant': 'const'}
MEMBER_PAGES = {'constructor': 'ctor', 'method': 'method', 'function': 'type_func',
                'virtual-method': 'vfunc'}


@dataclass
class Symbol:
    c_name: str
    page: str
    summary: str


def summary_of(element):
    """Returns the first paragraph of the comment, without the marks of links."""
    text = ' '.join((element.findtext(CORE + 'doc') or '').partition('\n\n')[0].split())
    text = re.sub(r'\[\w+@(?:\w+\.)?([^\]]+)\]', r'`\1`', text)
    return re.sub(r'(^|[\s(])[%@#](\w+)', r'\1`\2`', text)


class Gir:
    """A namespace. `book` is the folder of its reference beside that of the page."""

    def __init__(self, path, book=''):
        namespace = ElementTree.parse(path).getroot().find(CORE + 'namespace')
        self.name = namespace.get('name')
        self.prefix = f'../{book}/' if book else ''
        self.types = {}
        self.functions = {}
        self.members = {}
        for element in namespace:
            kind = element.tag.removeprefix(CORE)
            if kind == 'function':
                self.functions[element.get('name')] = self.symbol(element, 'func')
            elif kind in PAGES:
                self.add_type(element, kind)

    def symbol(self, element, page, owner=''):
        # A function of a type that bindings also have as one of the namespace has one page.
        if element.get('moved-to'):
            owner, _, name = element.get('moved-to').partition('.')
            return self.symbol_on(element, f'type_func.{owner}.{name}')
        return self.symbol_on(element, '.'.join(
            part for part in (page, owner, element.get('name')) if part))

    def symbol_on(self, element, name):
        c_name = element.get(C + 'identifier') or element.get(C + 'type') or element.get('name')
        return Symbol(c_name, f'{self.prefix}{name}.html', summary_of(element))

    def add_type(self, element, kind):
        name = element.get('name')
        page = 'error' if element.get('{http://www.gtk.org/introspection/glib/1.0}error-domain') \
            else PAGES[kind]
        self.types[name] = self.symbol(element, page)
        members = self.members.setdefault(name, {})
        for child in element:
            member_kind = child.tag.removeprefix(CORE)
            if member_kind in MEMBER_PAGES and child.get('introspectable') != '0' \
                    and not child.get('shadowed-by'):
                spelled = child.get('shadows') or child.get('name')
                spelled = f'do_{spelled}' if member_kind == 'virtual-method' else spelled
                members[spelled] = self.symbol(child, MEMBER_PAGES[member_kind], name)

    def find(self, owner, name):
        """Returns the symbol of a member, or of a function if there is no owner; or None."""
        return (self.members.get(owner, {}) if owner else self.functions).get(name)

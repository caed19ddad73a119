#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the page of what Vala has beside the C interface.

vala_interface.py OUTPUT UNDOCUMENTED DEPFILE ADDITIONS=GIR=BOOK…: ADDITIONS are the classes that are
added to the VAPI, with a comment above each member. The names that nothing documents are written
to UNDOCUMENTED.
"""

import pathlib
import re
import sys

import markup
from gir import Gir

INTRODUCTION = '''What Vala has beside the functions of the C interface, which the VAPI names in
Vala's way: `mtl_strided_view_copy ()` is `view.copy ()`. The guide is
[Using mtldl from Vala](vala.html).
'''

NAMESPACE = re.compile(r'^namespace (\w+) \{', re.MULTILINE)
CLASS = re.compile(r'^\tpublic (?:sealed |abstract )?(?:class|enum|struct) (\w+)[^{]*\{(.*?)^\t\}',
                   re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r'''
    (?P<comment>(?:^\t\t/\*(?:[^*]|\*(?!/))*\*/\n)?)
    (?P<attributes>(?:^\t\t\[[^\n]*\]\n)*)
    ^\t\tpublic\ (?P<declaration>[^;{]*?)\s*
    (?:;$|(?P<body>\{.*?(?:\}$|^\t\t\}$)))
    ''', re.MULTILINE | re.DOTALL | re.VERBOSE)
C_NAME = re.compile(r'cname = "(?P<name>mtl_\w+)"')


def read_members(body):
    for match in MEMBER.finditer(body):
        lines = [re.sub(r'^\s*(/\*|\*/|\*)|\*/\s*$', '', line).strip()
                 for line in match['comment'].splitlines()]
        # The paragraphs after the first are for those who write the additions.
        comment = ' '.join('\n'.join(lines).strip().partition('\n\n')[0].split())
        declaration = ' '.join(match['declaration'].split())
        declaration = re.sub(r'\[CCode [^\]]*\] ', '', declaration)
        is_property = re.search(r'\b[gs]et;', match['body'] or '') is not None
        called = re.search(r'(\w+) \(', declaration)
        name = called[1] if called and not is_property else declaration.split()[-1]
        c_name = C_NAME.search(match['attributes'] + (match['body'] or ''))
        yield name, declaration, comment, is_property, c_name and c_name['name']


class Namespace:
    def __init__(self, additions, gir, book):
        self.text = pathlib.Path(additions).read_text(encoding='utf-8')
        self.name = NAMESPACE.search(self.text)[1]
        self.gir = Gir(gir, book)

    def symbol(self, c_name):
        for members in self.gir.members.values():
            for symbol in members.values():
                if symbol.c_name == c_name:
                    return symbol
        return None

    def write_member(self, owner, name, declaration, comment, is_property, c_name):
        full_name = f'{self.name}.{owner}.{name}'
        symbol = self.symbol(c_name)
        summary = symbol.summary if symbol else ''
        doc = markup.paragraphs(markup.sentence(is_property and summary or comment or summary))
        if not doc:
            UNDOCUMENTED.append(full_name)
        if symbol:
            doc += f'\n\nSee also {markup.link(symbol)}.'
        kind = 'Vala attribute' if is_property else 'Vala method'
        return '\n'.join([markup.heading(full_name, name, kind), '```vala',
                          declaration + (' { get; }' if is_property else ''), '```', '', doc, ''])

    def write(self):
        parts = []
        for owner, body in CLASS.findall(self.text):
            symbol = self.gir.types.get(owner)
            full_name = f'{self.name}.{owner}'
            parts += [f'## {full_name}\n', markup.anchor(full_name, 'Vala class')
                      + (markup.paragraphs(markup.sentence(symbol.summary))
                         + f' See also {markup.link(symbol)}.\n' if symbol else '\n')]
            parts += [self.write_member(owner, *member) for member in read_members(body)]
        return parts


UNDOCUMENTED = []


def main(output, undocumented, depfile, *descriptions):
    sections = [part for description in descriptions
                for part in Namespace(*description.split('=')).write()]
    pathlib.Path(output).write_text(markup.page('Vala interface', INTRODUCTION, sections),
                                    encoding='utf-8')
    pathlib.Path(undocumented).write_text(''.join(f'{name}\n' for name in UNDOCUMENTED),
                                          encoding='utf-8')
    read = [path for description in descriptions for path in description.split('=')[:2]]
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(read)}\n', encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])

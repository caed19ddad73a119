#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the page of JavaScript's interface.

javascript_interface.py OUTPUT UNDOCUMENTED DEPFILE GJS OVERRIDE=GIR=BOOK…: asks gjs what each
namespace has with its override and without it. What the override adds is described by the comment
above the function in the override, which may begin with an example of a call: "view.get(i, j): a
Number". The names that nothing documents are written to UNDOCUMENTED.
"""

import json
import pathlib
import re
import subprocess
import sys

import markup
from gir import Gir

INTRODUCTION = '''What gjs offers of mtldl. First comes what JavaScript has of its own, then the
rest, which works as in C: arrays come without their lengths, results that C stores through pointers are
returned, and an error is thrown. The guide is [Using mtldl from JavaScript](javascript.html).
'''

REFLECT = pathlib.Path(__file__).with_name('reflect-override.js')
SAME_AS = re.compile(r'\{\s*return this\.(\w+)\(\);\s*\}$')
TOP_LEVEL = re.compile(r'^(?:async )?function\b', re.MULTILINE)
CALL = re.compile(r'((?:\[\.\.\.\w+\]|[\w.]+\()[^:]*?(?:\)|\])|[\w.]+)(?:: |$)', re.DOTALL)
NATIVE = re.compile(r'^(?:method|function) [\w.]+\(([^)]*)\)')


def reflect(gjs, namespace, *arguments):
    result = subprocess.run([gjs, REFLECT, namespace, *arguments], check=True,
                            capture_output=True, text=True)
    return json.loads(result.stdout)


def comment_above(text, position):
    """Returns the comment on the lines directly above a position, or None."""
    lines = text[:text.rfind('\n', 0, position) + 1].splitlines()
    found = []
    while lines and lines[-1].strip().startswith('//'):
        line = lines.pop().strip()[2:]
        found.insert(0, line.removeprefix(' '))
    if not found and lines and lines[-1].strip().endswith('*/'):
        while lines:
            line = lines.pop().strip()
            found.insert(0, re.sub(r'^/\*\*?|\*/$|^\*', '', line).strip())
            if line.startswith('/*'):
                break
    return '\n'.join(found).strip() or None


CONSTANTS = {'TRUE': 'true', 'FALSE': 'false', 'NULL': 'null'}


def sources_of(overrides):
    """An override may have parts in files beside it, which those of bridges use, too."""
    return sorted({path for override in overrides
                   for path in pathlib.Path(override).parent.rglob('*.js')})


class Namespace:
    def __init__(self, gjs, sources, override, gir, book):
        self.override = sources
        self.name = pathlib.Path(override).stem
        self.gir = Gir(gir, book)
        self.bare = reflect(gjs, self.name, '--bare')
        self.whole = reflect(gjs, self.name)

    def comment_of(self, source):
        """Returns the comment of a function, or of the function around it."""
        position = self.override.find(source)
        if position < 0:
            return None
        around = [match.start() for match in TOP_LEVEL.finditer(self.override, 0, position)]
        return comment_above(self.override, position) \
            or (comment_above(self.override, around[-1]) if around else None)

    def own_doc(self, owner, member):
        """Returns how a function is called and what it does."""
        position = self.override.find(member['source'])
        comment = comment_above(self.override, position) if position >= 0 else None
        if comment:
            call = CALL.match(comment)
            return (call[1], comment[call.end():]) if call else (None, comment)
        same = SAME_AS.search(member['source'])
        symbol = same and self.gir.find(owner, same[1])
        return (None, f'What `{same[1]}()` returns. {symbol.summary}') if symbol else (None, None)

    def is_public(self, name):
        return not name.startswith('_')

    def added(self, owner):
        before = self.bare.get(owner, {})
        return {name: member for name, member in self.whole[owner].items()
                if name not in before and self.is_public(name)}

    def replaced(self, owner):
        before = self.bare.get(owner, {})
        return {name: member for name, member in self.whole[owner].items()
                if name in before and member['source'] != before[name]['source']}

    def full_name(self, owner, name):
        return '.'.join(part for part in (self.name, owner, name) if part).replace('.[', '[')

    def write_added(self, owner, name, member):
        full_name = self.full_name(owner, name)
        call, doc = self.own_doc(owner, member)
        kind = {'getter': 'JavaScript attribute', 'static': 'JavaScript function',
                'method': 'JavaScript method'}[member['kind']]
        if not doc:
            UNDOCUMENTED.append(full_name)
        if call is None:
            source = member['source'].removeprefix('function').lstrip('* ')
            arguments = re.match(r'\w*\s*\(([^)]*)\)', source)
            call = name if member['kind'] == 'getter' \
                else f'{name}({arguments[1] if arguments else "…"})'
        text = markup.paragraphs(markup.sentence(doc or ''))
        return '\n'.join([markup.heading(full_name, name, kind), '```js', call, '```', '', text,
                          ''])

    def row(self, owner, name):
        member = self.bare[owner][name]
        symbol = self.gir.find(owner, name)
        kind = 'JavaScript method' if member['kind'] == 'method' else 'JavaScript function'
        arguments = NATIVE.match(member['source'])
        call = f'<code>{name}({arguments[1] if arguments else ""})</code>'
        if symbol:
            call = f'<a href="{symbol.page}">{call}</a>'
        return (markup.anchor(self.full_name(owner, name), kind) + call,
                markup.html_inline(markup.localize(symbol.summary if symbol else '', CONSTANTS)))

    def write_replaced(self, owner):
        """Writes what the override changes, with what it says of the change."""
        groups = {}
        for name, member in sorted(self.replaced(owner).items()):
            groups.setdefault(self.comment_of(member['source']), []).append(name)
        parts = []
        for comment, names in groups.items():
            if comment is None:
                UNDOCUMENTED.extend(self.full_name(owner, name) for name in names)
            parts += ['### Changed for JavaScript\n',
                      markup.paragraphs(markup.sentence(comment or '')) + '\n',
                      markup.table([self.row(owner, name) for name in names])]
        return parts

    def write_owner(self, owner):
        added, replaced = self.added(owner), self.replaced(owner)
        rest = sorted(name for name in self.bare.get(owner, {})
                      if name not in replaced and self.is_public(name))
        parts = [self.write_added(owner, name, added[name])
                 for name in sorted(added, key=lambda name: (name.startswith('['), name.lower()))]
        parts += self.write_replaced(owner)
        if rest:
            parts += ['### The rest, as in C\n' if added or replaced else '### As in C\n',
                      markup.table([self.row(owner, name) for name in rest])]
        return parts

    def write(self):
        parts = [f'## Functions of {self.name}\n', *self.write_owner('')]
        for owner in sorted(self.whole, key=lambda owner: (not self.added(owner), owner)):
            symbol = self.gir.types.get(owner)
            written = self.write_owner(owner) if owner else []
            if written and symbol:
                full_name = self.full_name('', owner)
                parts += [f'## {full_name}\n',
                          markup.anchor(full_name, 'JavaScript class')
                          + markup.paragraphs(markup.sentence(symbol.summary))
                          + f' See also {markup.link(symbol)}.\n', *written]
        return parts


UNDOCUMENTED = []


def main(output, undocumented, depfile, gjs, *descriptions):
    paths = sources_of(description.split('=')[0] for description in descriptions)
    sources = '\n'.join(path.read_text(encoding='utf-8') for path in paths)
    sections = [part for description in descriptions
                for part in Namespace(gjs, sources, *description.split('=')).write()]
    pathlib.Path(output).write_text(markup.page('JavaScript interface', INTRODUCTION, sections),
                                    encoding='utf-8')
    pathlib.Path(undocumented).write_text(''.join(f'{name}\n' for name in UNDOCUMENTED),
                                          encoding='utf-8')
    read = [*map(str, paths), *(description.split('=')[1] for description in descriptions)]
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(read)}\n', encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the index of the search: symbols, sections of the guides with their words, and the members
of the languages' interfaces. It is a script, because browsers do not read other files from a page
that is on the disk."""

import html.parser
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field

# The page of a symbol in gi-docgen's own index.
PAGES = {'alias': 'alias', 'bitfield': 'flags', 'callback': 'callback', 'class': 'class',
         'class_method': 'class_method', 'constant': 'const', 'ctor': 'ctor', 'domain': 'error',
         'enum': 'enum', 'function': 'func', 'function_macro': 'func', 'interface': 'iface',
         'method': 'method', 'property': 'property', 'record': 'struct', 'signal': 'signal',
         'type_func': 'type_func', 'union': 'union', 'vfunc': 'vfunc'}

# Users' words for the kinds of gi-docgen.
KINDS = {'bitfield': 'flags', 'class_method': 'class method', 'ctor': 'constructor',
         'domain': 'error domain', 'function_macro': 'macro', 'record': 'struct',
         'type_func': 'function', 'vfunc': 'virtual method'}

WORD = re.compile(r'[^\W\d_][\w.]*\w|\w')
LANGUAGES = ('Python', 'JavaScript', 'Vala')

SHORTEST_WORD = 2
WEIGHT_OF_HEADING = 5
LENGTH_OF_SUMMARY = 120


@dataclass
class Entry:
    name: str
    kind: str
    href: str
    summary: str
    words: Counter = field(default_factory=Counter)
    short: str = '' # the name without its namespace and class


class Content(html.parser.HTMLParser):
    """Reads a content page: its sections, or the members that have an anchor if it has such."""

    HEADINGS = ('h1', 'h2', 'h3')

    def __init__(self, name, text):
        super().__init__()
        self.name = name
        self.kind = 'Example' if name.startswith('example-') else 'Guide'
        self.n_sections = 0 # the depth in the content, in elements
        self.sections = []
        self.members = []
        self.member = None
        self.open = [] # the elements around the text that matter
        self.cell = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == 'section':
            self.n_sections += self.n_sections > 0 or values.get('id') == 'main'
        if self.n_sections == 0:
            return
        if tag in ('pre', 'h4', *self.HEADINGS):
            self.open.append(tag)
        elif tag in ('tr', 'td'):
            self.cell = 0 if tag == 'tr' else self.cell + 1
        if tag in self.HEADINGS:
            self.member = None
            if values.get('id'):
                self.sections.append(Entry('', self.kind, f'{self.name}#{values["id"]}', ''))
        elif 'member' in (values.get('class') or '').split():
            self.member = Entry(values['id'], values['data-kind'],
                                f'{self.name}#{values["id"]}', '')
            self.members.append(self.member)

    def handle_endtag(self, tag):
        if tag == 'section':
            self.n_sections = max(self.n_sections - 1, 0)
        elif self.open and tag == self.open[-1]:
            self.open.pop()
        elif tag == 'tr':
            self.member, self.cell = None, 0

    def handle_data(self, text):
        if self.n_sections == 0 or not self.sections:
            return
        around = self.open[-1] if self.open else None
        if around in self.HEADINGS:
            self.sections[-1].name += text
            self.sections[-1].words.update(words_of(text) * WEIGHT_OF_HEADING)
            return
        entry = self.member or self.sections[-1]
        entry.words.update(words_of(text))
        if around is None and self.cell != 1 and not entry.kind.endswith('constant') \
                and '.props.' not in entry.name:
            entry.summary += text

    def entries(self):
        if self.members:
            return [*self.sections[:1], *self.members]
        for section in self.sections[1:]:
            section.kind = f'{section.kind}: {self.sections[0].name}'
        return self.sections


def words_of(text):
    """Returns the words, and for a.b also its parts."""
    return [part for word in WORD.findall(text.lower())
            for part in dict.fromkeys((word, *word.split('.')))
            if len(part) >= SHORTEST_WORD]


def shorten(text):
    text = re.sub(r'(^|\W)[@%#](\w)', r'\1\2', ' '.join(text.split()))
    if len(text) <= LENGTH_OF_SUMMARY:
        return text
    return text[:LENGTH_OF_SUMMARY].rpartition(' ')[0] + ' …'


def read_symbols(book):
    """Reads gi-docgen's own index."""
    index = json.loads((book / 'index.json').read_text(encoding='utf-8'))
    namespace = index['meta']['ns']
    for symbol in index['symbols']:
        kind, owner = symbol['type'], symbol.get('type_name') or symbol.get('struct_for', '')
        if kind == 'content':
            continue
        page = '.'.join(part for part in (PAGES[kind], owner, symbol['name']) if part) + '.html'
        separator = {'property': ':', 'signal': '::', 'vfunc': '.'}.get(kind)
        name = f'{namespace}{owner}{separator}{symbol["name"]}' if separator \
            else symbol.get('ident') or symbol.get('ctype')
        yield Entry(name, KINDS.get(kind, kind), page, symbol['summary'],
                    short=symbol['name'])


def read_constants(book):
    """Reads the values of enumerations, which only Devhelp's index has."""
    keywords = ElementTree.parse(book / f'{book.name}.devhelp2').getroot().iter(
        '{http://www.devhelp.net/book}keyword')
    for keyword in keywords:
        page = keyword.get('link')
        if keyword.get('type') == 'constant' and not page.startswith('const.'):
            yield Entry(keyword.get('name'), 'constant', page, f'A value of {page.split(".")[1]}')


def read_content(book):
    for path in sorted(book.glob('*.html')):
        text = path.read_text(encoding='utf-8')
        # The pages of symbols are in gi-docgen's index.
        if path.name == 'index.html':
            text = introduction_of(text)
        elif '.' in path.stem or path.stem == 'classes_hierarchy':
            continue
        yield from Content(path.name, text).entries()


def introduction_of(text):
    match = re.search(r'<section class="docblock introduction">.*?</section>', text, re.DOTALL)
    return f'<section id="main">{match[0]}</section>' if match else ''


def read_entries(book):
    return [*read_symbols(book), *read_constants(book), *read_content(book)]


def write(book, entries_of_books):
    """Writes the index of all books, as seen from this one: [name, kind, address, summary, words,
    short name]. The words are in the order of how often they occur."""
    items = []
    for name, entries in entries_of_books.items():
        prefix = '' if name == book.name else f'../{name}/'
        items += [[entry.name, entry.kind, prefix + entry.href, shorten(entry.summary),
                   ' '.join(word for word, _ in entry.words.most_common()), entry.short]
                  for entry in entries]
    text = json.dumps(items, ensure_ascii=False, separators=(',', ':'))
    (book / 'search-index.js').write_text(f'window.siteIndex = {text};\n', encoding='utf-8')

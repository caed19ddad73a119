# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds the languages' interfaces to the keywords of Devhelp's book."""

import xml.etree.ElementTree as ElementTree

import search_index

NAMESPACE = 'http://www.devhelp.net/book'

# Devhelp's kinds of keywords, by the last word of ours.
TYPES = {'function': 'function', 'method': 'function', 'attribute': 'property', 'class': 'struct',
         'constant': 'constant'}


def finish(book, entries):
    path = book / f'{book.name}.devhelp2'
    ElementTree.register_namespace('', NAMESPACE)
    tree = ElementTree.parse(path)
    keywords = tree.getroot().find(f'{{{NAMESPACE}}}functions')
    chapters = tree.getroot().find(f'{{{NAMESPACE}}}chapters')

    # The introduction is part of the first page.
    for chapter in list(chapters):
        if not (book / chapter.get('link').partition('#')[0]).exists():
            chapters.remove(chapter)
    for entry in entries:
        language, _, kind = entry.kind.partition(' ')
        if language in search_index.LANGUAGES:
            ElementTree.SubElement(keywords, f'{{{NAMESPACE}}}keyword', type=TYPES[kind],
                                   name=f'{entry.name} ({language})', link=entry.href)
    tree.write(path, encoding='UTF-8', xml_declaration=True)

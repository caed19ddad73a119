# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links into references that do not name their pages as gi-docgen does: GStreamer's has a page for
each header, and Cairo's, which gtk-doc made, one for a few types each."""

import os
import pathlib
import re
import xml.etree.ElementTree as ElementTree

import pages
from gir import C, CORE

# The order of the attributes depends on where the link is.
LINK = re.compile(r'<a (?=[^>]*data-namespace="(?P<namespace>Gst\w*|cairo)")'
                  r'(?=[^>]*data-link="(?P<kind>\w+)\.(?P<symbol>[\w.-]+?)\.html)[^>]*>')
# The texts between the names of the class and their own in the anchors of these.
BETWEEN = {'property': ':', 'signal': '::'}
CAIRO = {'Context': 'cairo-cairo-t', 'Content': 'cairo-cairo-surface-t',
         'Format': 'cairo-Image-Surfaces', 'Surface': 'cairo-cairo-surface-t'}


def find_gir(namespace):
    folders = os.environ.get('XDG_DATA_DIRS', '').split(':') + ['/usr/share']
    paths = [pathlib.Path(folder) / 'gir-1.0' / f'{namespace}-1.0.gir' for folder in folders]
    return next((path for path in paths if path.exists()), paths[-1])


def c_name_of(element):
    return element.get(C + 'identifier') or element.get(C + 'type')


class Namespace:
    def __init__(self, name, address):
        self.name, self.address = name, address
        self.root = ElementTree.parse(find_gir(name)).getroot().find(CORE + 'namespace')

    def find(self, symbol):
        """Returns the elements that lead to a type, a function, or a member of a type."""
        found = [self.root]
        for part in symbol.split('.'):
            found += [child for child in found[-1]
                      if child.get('name') == part and c_name_of(child)][:1]
        if len(found) != symbol.count('.') + 2:
            raise pages.Unexpected(f'There is no {self.name}.{symbol} to link to')
        return found[1:]

    def find_address(self, kind, symbol):
        name = ''
        if kind in BETWEEN:
            symbol, _, name = symbol.partition('.')
            name = BETWEEN[kind] + name
        path = self.find(symbol)
        c_name = c_name_of(path[-1]) + name
        if self.name == 'cairo':
            page = CAIRO.get(path[0].get('name'))
            return f'{self.address}{page}.html#{c_name.replace("_", "-")}' if page \
                else f'{self.address}index.html'
        place = path[0].find(CORE + 'source-position')
        place = path[0].find(CORE + 'doc') if place is None else place
        return f'{self.address}{pathlib.Path(place.get("filename")).stem}.html#{c_name}'


def link(book):
    """Replaces the links on all pages of a book."""
    addresses = dict(re.findall(r"\['(\w+)', '([^']+)'\]", pages.read(book / 'urlmap.js')))
    namespaces = {}
    for path in book.glob('*.html'):
        text = pages.read(path)
        for name in {match['namespace'] for match in LINK.finditer(text)} - namespaces.keys():
            namespaces[name] = Namespace(name, addresses[name])
        linked = LINK.sub(lambda match: '<a href="{}" class="external">'.format(
            namespaces[match['namespace']].find_address(match['kind'], match['symbol'])), text)
        if linked != text:
            path.write_text(linked, encoding='utf-8')

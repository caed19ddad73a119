#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the links within a built reference: check-links.py STAMP FOLDER…

gi-docgen checks the links to symbols; this checks those between pages, between the books of our
libraries and in the index of the search, and that pages load nothing from elsewhere, so that they
can be read offline. A FOLDER is a book, or the site, which has books and a front page.
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.loaded = []
        self.elsewhere = [] # links into other books: (namespace, link)
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[key] for key in ('id', 'name') if values.get(key))
        if values.get('data-namespace'):
            self.elsewhere.append((values['data-namespace'], values.get('data-link', '')))
        elif tag == 'a' and values.get('href'):
            self.links.append(values['href'])
        elif tag == 'link' and values.get('href'):
            self.loaded.append(values['href'])
        elif tag == 'form' and values.get('action'):
            self.links.append(values['action'])
        elif values.get('src') or values.get('srcset'):
            self.loaded.append(values.get('src') or values['srcset'])


def read_addresses(book):
    """Returns where a book finds other namespaces: {namespace: address}."""
    path = book / 'urlmap.js'
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    return dict(re.findall(r"\['(\w+)', '([^']+)'\]", text))


class Books:
    def __init__(self, folders):
        self.roots = [pathlib.Path(folder).resolve() for folder in folders]
        self.indexes = [path for root in self.roots for path in root.rglob('search-index.js')]
        self.addresses = {path.parent: read_addresses(path.parent) for path in self.indexes}
        self.pages = {path: Page(path.read_text(encoding='utf-8'))
                      for root in self.roots for path in root.rglob('*.html')}
        self.styles = [path for root in self.roots for path in root.rglob('*.css')]

    def folder_of(self, path):
        """Returns the folder that a page's links must not leave: the site, or that of the books."""
        root = next(root for root in self.roots if root in path.parents)
        return root.parent if root in self.addresses else root

    def find_fault(self, path, link):
        """Returns the fault of a link on a page, or None."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme:
            return None
        if link.startswith('/'):
            return f'{link} does not begin here'
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if self.folder_of(path) not in target.parents:
            return f'{link} leads out of the folder'
        if not target.exists():
            return f'no page {link}'
        if target.is_dir():
            return f'{link} is a folder, which only a server knows how to show'
        anchor = urllib.parse.unquote(parts.fragment)
        if anchor and target in self.pages and anchor not in self.pages[target].anchors:
            return f'no anchor {link}'
        return None

    def links_of_page(self, path, page):
        """Yields (link, fault)."""
        for link in page.loaded:
            yield link, f'loads {link}' if urllib.parse.urlsplit(link).scheme else None
        for link in page.links + page.loaded:
            yield link, self.find_fault(path, link)
        for namespace, link in page.elsewhere:
            base = self.addresses.get(path.parent, {}).get(namespace)
            if base is None:
                yield link, f'urlmap.js has no {namespace} for {link}'
            else:
                yield link, self.find_fault(path, base + link)

    def links_of_search(self, path):
        text = path.read_text(encoding='utf-8').partition('=')[2].strip().rstrip(';')
        for entry in json.loads(text):
            yield entry[2], self.find_fault(path, entry[2])

    def links_of_style(self, path):
        for link in re.findall(r'(?:url\(["\']?|@import ["\'])([^"\')]+)',
                               path.read_text(encoding='utf-8')):
            if link.startswith('data:'):
                continue
            yield link, (f'loads {link}' if urllib.parse.urlsplit(link).scheme
                         else self.find_fault(path, link))

    def find_faults(self):
        links = {path: self.links_of_page(path, page) for path, page in sorted(self.pages.items())}
        links |= {path: self.links_of_search(path) for path in self.indexes}
        links |= {path: self.links_of_style(path) for path in self.styles}
        for path, found in links.items():
            for _, fault in found:
                if fault:
                    yield f'{path.parent.name}/{path.name}: {fault}'


def main(stamp, *folders):
    faults = list(Books(folders).find_faults())
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        pathlib.Path(stamp).touch()

    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

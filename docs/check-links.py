#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the links within a built reference: check-links.py STAMP URLMAP FOLDER…

gi-docgen checks the links to symbols; this checks those between pages, between the books of our
libraries and in the index of the search, and that pages load nothing from elsewhere, so that they
can be read offline.
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
        elif values.get('src'):
            self.loaded.append(values['src'])


class Books:
    def __init__(self, folders, urlmap):
        self.folders = [pathlib.Path(folder).resolve() for folder in folders]
        self.pages = {path: Page(path.read_text(encoding='utf-8'))
                      for folder in self.folders for path in folder.glob('*.html')}
        text = pathlib.Path(urlmap).read_text(encoding='utf-8')
        self.bases = dict(re.findall(r"\['(\w+)', '([^']+)'\]", text))

    def find_fault(self, path, link):
        """Returns what is wrong with a link on a page, or None."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme:
            return None
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
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
            base = self.bases.get(namespace)
            if base is None:
                yield link, f'urlmap.js has no {namespace} for {link}'
            else:
                yield link, self.find_fault(path, base + link)

    def links_of_search(self, folder):
        path = folder / 'search-index.js'
        text = path.read_text(encoding='utf-8').partition('=')[2].strip().rstrip(';')
        for entry in json.loads(text):
            yield entry[2], self.find_fault(path, entry[2])

    def find_faults(self):
        for path, page in sorted(self.pages.items()):
            for _, fault in self.links_of_page(path, page):
                if fault:
                    yield f'{path.parent.name}/{path.name}: {fault}'
        for folder in self.folders:
            for _, fault in self.links_of_search(folder):
                if fault:
                    yield f'{folder.name}/search-index.js: {fault}'


def main(stamp, urlmap, *folders):
    faults = list(Books(folders, urlmap).find_faults())
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        pathlib.Path(stamp).touch()

    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

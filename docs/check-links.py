#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the links within a built reference: check-links.py FOLDER STAMP.

gi-docgen checks the links to symbols; this checks those between pages, and
that pages load nothing from elsewhere, so that they can be read offline.
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.loaded = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[key] for key in ('id', 'name') if values.get(key))
        if tag == 'a' and values.get('href'):
            self.links.append(values['href'])
        elif tag == 'link' and values.get('href'):
            self.loaded.append(values['href'])
        elif values.get('src'):
            self.loaded.append(values['src'])


def find_faults(folder):
    pages = {path.name: Page(path.read_text(encoding='utf-8')) for path in folder.glob('*.html')}

    for name, page in sorted(pages.items()):
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                if link in page.loaded:
                    yield f'{name}: loads {link}'
                continue
            target = urllib.parse.unquote(parts.path) or name
            if not (folder / target).exists():
                yield f'{name}: no page {link}'
            elif parts.fragment and target in pages \
                    and parts.fragment not in pages[target].anchors:
                yield f'{name}: no anchor {link}'


def main(folder, stamp):
    faults = list(find_faults(pathlib.Path(folder)))
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        pathlib.Path(stamp).touch()

    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

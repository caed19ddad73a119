#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the reference: a folder for each library, with gi-docgen's pages, the guides, the
examples, the pages of the languages' interfaces, and one search over all of them; and the site,
which is a copy of these folders with a front page.

The first --book is that of the guides. A book is described by FOLDER=CONFIG=GIR.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import devhelp
import excerpts
import foreign
import front
import gallery
import pages
import search_index
import tabs

HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--gi-docgen', required=True)
    parser.add_argument('--source', required=True, type=pathlib.Path, help='the root of the source')
    parser.add_argument('--output', required=True, type=pathlib.Path,
                        help='the folder of the books')
    parser.add_argument('--site', required=True, type=pathlib.Path, help='the folder of the site')
    parser.add_argument('--include', action='append', default=[], help='where other GIRs are')
    parser.add_argument('--book', action='append', required=True)
    parser.add_argument('--interface', action='append', default=[],
                        help='pages of languages, in Markdown')
    return parser.parse_args()


def write_content(arguments, folder):
    """Copies and writes the guides and the examples, with marks for what pages.py makes of their
    code."""
    guides = arguments.source / 'docs'
    source = excerpts.Excerpts(arguments.source)
    texts = {path.name: pages.read(path)
             for path in [*guides.glob('*.md'), *map(pathlib.Path, arguments.interface)]}
    texts |= {'front.md': front.write_parts(source),
              **gallery.write_pages(arguments.source, source.get_demo())}
    for name, text in texts.items():
        (folder / name).write_text(tabs.mark_blocks(text), encoding='utf-8')
    for path in guides.iterdir():
        if path.is_file() and path.suffix != '.md':
            shutil.copy(path, folder)


def run_gi_docgen(arguments, config, gir, content, output):
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    includes = [f'--add-include-path={path}' for path in arguments.include]
    subprocess.run([arguments.gi_docgen, 'generate', '--quiet', '--fatal-warnings',
                    '--no-namespace-dir', *includes, f'--config={config}',
                    f'--content-dir={content}', f'--output-dir={output}', gir], check=True)


def make_books(arguments):
    """Returns {folder of a book: its project file}."""
    books, namespaces = {}, {}
    with tempfile.TemporaryDirectory(prefix='mtldl-site-') as folder:
        content = pathlib.Path(folder)
        write_content(arguments, content)
        for description in arguments.book:
            name, config, gir = description.split('=')
            output = arguments.output / name
            run_gi_docgen(arguments, config, gir, content, output)
            books[output] = pathlib.Path(config)
            namespaces[pathlib.Path(gir).stem.rpartition('-')[0]] = name
    for book in books:
        foreign.link(book)
        pages.add_addresses(book, namespaces)
    return books


def main():
    arguments = parse_arguments()
    books = make_books(arguments)
    folders = list(books)
    parts = front.take_parts(folders[0])
    introduction, guides = [pages.take_guides(book) for book in folders][0]
    for book in folders:
        pages.finish(book, folders, guides, HERE)
    pages.link_languages(folders)
    entries = {book.name: search_index.read_entries(book) for book in folders}
    for book in folders:
        search_index.write(book, entries)
        devhelp.finish(book, entries[book.name])

    ratios = excerpts.read_ratios(pages.read(arguments.source / 'docs' / 'performance.md'))
    front.write(arguments.site, books, parts, guides, introduction, ratios)


if __name__ == '__main__':
    try:
        main()
    except (subprocess.CalledProcessError, pages.Unexpected, excerpts.Missing) as error:
        sys.exit(f'{pathlib.Path(__file__).name}: {error}')

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the reference: a folder for each library, with gi-docgen's pages, the guides, the pages of
the languages' interfaces, and one search over all of them.

The first --book is that of the guides. A book is described by FOLDER=CONFIG=GIR.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import devhelp
import pages
import search_index
import tabs

HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--gi-docgen', required=True)
    parser.add_argument('--content', required=True, type=pathlib.Path, help='the guides')
    parser.add_argument('--output', required=True, type=pathlib.Path,
                        help='the folder of the books')
    parser.add_argument('--include', action='append', default=[], help='where other GIRs are')
    parser.add_argument('--book', action='append', required=True)
    parser.add_argument('--interface', action='append', default=[],
                        help='pages of languages, in Markdown')
    return parser.parse_args()


def copy_content(source, interfaces, folder):
    """Copies the guides, with marks for what pages.py makes of their code."""
    for path in source.iterdir():
        if path.suffix == '.md':
            text = path.read_text(encoding='utf-8')
            (folder / path.name).write_text(tabs.mark_blocks(text), encoding='utf-8')
        elif path.is_file():
            shutil.copy(path, folder)
    for path in map(pathlib.Path, interfaces):
        text = path.read_text(encoding='utf-8')
        (folder / path.name).write_text(tabs.mark_blocks(text), encoding='utf-8')


def run_gi_docgen(arguments, config, gir, content, output):
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    includes = [f'--add-include-path={path}' for path in arguments.include]
    subprocess.run([arguments.gi_docgen, 'generate', '--quiet', '--fatal-warnings',
                    '--no-namespace-dir', *includes, f'--config={config}',
                    f'--content-dir={content}', f'--output-dir={output}', gir], check=True)


def main():
    arguments = parse_arguments()
    books = []
    with tempfile.TemporaryDirectory(prefix='mtldl-site-') as folder:
        content = pathlib.Path(folder)
        copy_content(arguments.content, arguments.interface, content)
        for description in arguments.book:
            name, config, gir = description.split('=')
            output = arguments.output / name
            run_gi_docgen(arguments, config, gir, content, output)
            books.append(output)

    for book in books:
        pages.finish(book, books, HERE)
    pages.link_languages(books)
    entries = {book.name: search_index.read_entries(book) for book in books}
    for book in books:
        search_index.write(book, entries)
        devhelp.finish(book, entries[book.name])


if __name__ == '__main__':
    try:
        main()
    except (subprocess.CalledProcessError, pages.Unexpected) as error:
        sys.exit(f'{pathlib.Path(__file__).name}: {error}')

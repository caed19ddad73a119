#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the reference, and reads it where Devhelp looks: test_installed.py SOURCE MESON.

The first page must name the website and the source that the build was given.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

BOOK = '{http://www.devhelp.net/book}'
WEBSITE = 'https://example.org/mtldl'
SOURCE = 'https://example.org/mtldl/source'


def run(*command, **kwargs):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, **kwargs)
    if result.returncode != 0:
        raise AssertionError(f'{command} ended with {result.returncode}\n'
                             f'{result.stdout[-4000:]}{result.stderr}')


def install(source, meson, folder):
    """Builds no more than the reference needs, and returns what would be /usr/share."""
    build, staged = folder / 'build', folder / 'staged'
    run(meson, 'setup', build, source, '--prefix=/usr', '-Ddocs=enabled', '-Dtests=false',
        '-Dexamples=false', '-Dcli=false', '-Dkernels=portable',
        f'-Ddocs_website={WEBSITE}', f'-Ddocs_source={SOURCE}')
    run(meson, 'install', '-C', build, '--quiet', env={**os.environ, 'DESTDIR': str(staged)})
    return staged / 'usr' / 'share'


def read_books(share):
    """Returns the books that Devhelp finds: NAME/NAME.devhelp2 in its folder."""
    folders = sorted((share / 'devhelp' / 'books').iterdir())
    return {folder: ElementTree.parse(folder / f'{folder.name}.devhelp2').getroot()
            for folder in folders}


def check_books(share):
    books = read_books(share)
    names = [folder.name for folder in books]
    assert 'mtldl-1' in names, names
    assert len(set(names)) == len({book.get('title') for book in books.values()}), names
    for folder, book in books.items():
        assert book.tag == f'{BOOK}book' and book.get('version') == '2', book.attrib
        assert (folder / book.get('link')).exists(), book.get('link')
        assert share in folder.resolve().parents, f'{folder} leads out of the installation'


def check_links(share):
    n_links = 0
    for folder, book in read_books(share).items():
        for element in [*book.iter(f'{BOOK}sub'), *book.iter(f'{BOOK}keyword')]:
            page, _, anchor = element.get('link').partition('#')
            text = (folder / page).read_text(encoding='utf-8')
            assert not anchor or f'id="{anchor}"' in text, element.get('link')
            n_links += 1
    assert n_links > 500, n_links


def check_keywords(share):
    found = {element.get('name') for book in read_books(share).values()
             for element in book.iter(f'{BOOK}keyword')}
    expected = {'mtl_strided_view_copy', 'mtl_tensor_file_open', 'MtlStridedView', 'MtlBuffer',
                'Mtl.asview (Python)', 'Mtl.StridedView.reshape (Python)'}
    assert expected <= found, expected - found


def check_ways_between_books(share):
    """Links to another book work where the books are installed, and where Devhelp reads them."""
    for root in (share / 'devhelp' / 'books', share / 'doc' / 'mtldl-1'):
        n_links = 0
        for path in root.glob('*/*.html'):
            for link in re.findall(r'href="(\.\./[^"#]+)', path.read_text(encoding='utf-8')):
                target = pathlib.Path(os.path.normpath(path.parent / link))
                assert target.exists(), f'{path}: {link}'
                n_links += 1
        assert n_links > 0 or len(list(root.iterdir())) == 1, root


def check_rows(share):
    page = (share / 'doc' / 'mtldl-1' / 'mtldl-1' / 'index.html').read_text(encoding='utf-8')
    for title, address in (('Website', WEBSITE), ('Source', SOURCE)):
        row = f'<tr><td><em>{title}</em></td><td><a href="{address}"'
        assert row in page, f'no row {title}'


def main(source, meson):
    checks = {'Devhelp finds the books': check_books,
              'their links lead somewhere': check_links,
              'their keywords are the names of C and of Python': check_keywords,
              'the books lead to each other': check_ways_between_books,
              'the first page names the website and the source': check_rows}
    n_failed = 0
    print(f'1..{len(checks)}', flush=True)
    with tempfile.TemporaryDirectory(prefix='mtldl-devhelp-') as folder:
        try:
            share = install(source, meson, pathlib.Path(folder))
        except AssertionError as error:
            print(f'Bail out! {error}')
            return 1
        for number, (name, check) in enumerate(checks.items(), 1):
            try:
                check(share)
                print(f'ok {number} {name}', flush=True)
            except (AssertionError, OSError, ElementTree.ParseError) as error:
                n_failed += 1
                print(f'not ok {number} {name}\n# {error}', flush=True)
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

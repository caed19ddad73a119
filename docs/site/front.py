# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the site: the books in one folder, with a front page that leads to them.

The parts of README.md and of guides that the front page shows go through gi-docgen as a page of the
first book, as the guides do. That page is taken out of the book, into the parts that comments mark.
"""

import html
import pathlib
import re
import shutil
import string

import pages
import tabs

PART = re.compile(r'<!-- part: ([\w]+) -->')
LOCAL = re.compile(r'\b(href|src)="(?!https?:|#)([^"]+)"')


def write_parts(source):
    """Returns the Markdown of what the front page takes from README.md and from guides."""
    parts = {'purpose': source.get_purpose(),
             'programs_purpose': source.get_programs_purpose(),
             'programs': source.get_programs(),
             'programs_output': source.get_programs_output(),
             'demo': source.get_demo(),
             'compatibility': source.get_compatibility(),
             'installation': source.get_installation()}
    marked = [f'<!-- part: {name} -->\n\n{part}' for name, part in parts.items()]
    return '\n'.join(['Title: Front page', '', *marked])


def take_parts(book):
    """Returns {name: HTML}, and removes the page that gi-docgen has made of the parts."""
    path = book / pages.FRONT
    names_and_parts = PART.split(pages.take_text(path))[1:]
    return {name: tabs.write_pages_blocks(pages.wrap_tables(part)).strip()
            for name, part in zip(names_and_parts[::2], names_and_parts[1::2])}


def read_setting(config, name):
    """Returns a setting of the library, of gi-docgen's project file."""
    match = re.search(rf'^{name} = "(.*)"$', config.read_text(encoding='utf-8'), re.MULTILINE)
    return match[1] if match else ''


def write_items(links):
    """links: (address, text, description)"""
    return '\n      '.join(
        f'<li><a href="{address}">{text}</a>'
        + (f' <span>{html.escape(described)}</span>' if described else '') + '</li>'
        for address, text, described in links)


def find_description(introduction):
    """Returns the title of the introduction, and what its picture shows."""
    title = re.search(r'<h1[^>]*>(.*?)<a', introduction, re.DOTALL)
    picture = re.search(r'<img alt="([^"]*)" src="sharing.svg"', introduction)
    pages.need(title and picture, 'title and picture', pages.INTRODUCTION)
    return title[1].strip(), ' '.join(picture[1].split())


def write_page(folder, books, parts, guides, introduction, ratios):
    """books: {folder of a book: its project file}"""
    first, config = next(iter(books.items()))
    prefix = f'{first.name}/'
    title, sharing = find_description(introduction)
    shown = {name: LOCAL.sub(rf'\1="{prefix}\2"', part) for name, part in parts.items()}
    interfaces = [guide for guide in guides if pages.is_interface(guide[0])]
    libraries = [(f'{book.name}/index.html', read_setting(path, 'name'),
                  read_setting(path, 'description')) for book, path in books.items()]
    values = {
        **shown, 'title': title, 'sharing': sharing, 'first': prefix,
        'description': html.escape(read_setting(config, 'description')),
        'version': read_setting(config, 'version'), 'numpy': ratios[0], 'pytorch': ratios[1],
        'guides': write_items([(prefix + address, text, '') for address, text in guides
                               if not pages.is_interface(address)]),
        'reference': write_items([*libraries, *((prefix + address, text, '')
                                                for address, text in interfaces)])}
    here = pathlib.Path(__file__).parent
    template = string.Template((here / 'front.html').read_text(encoding='utf-8'))
    (folder / 'index.html').write_text(template.substitute(values), encoding='utf-8')


def write_assets(folder, source):
    style = [source / name for name in ('palette.css', 'code.css', 'front.css')]
    (folder / 'front.css').write_text('\n'.join(map(pages.read, style)), encoding='utf-8')
    shutil.copy(source / 'site.js', folder / 'front.js')


def write(folder, books, parts, guides, introduction, ratios):
    """Writes the site into an empty folder. books: {folder of a book: its project file}"""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_page(folder, books, parts, guides, introduction, ratios)
    write_assets(folder, pathlib.Path(__file__).parent)
    for book in books:
        shutil.copytree(book, folder / book.name)
        # Installed books have no front page, as Devhelp opens each of them by itself.
        for path in (folder / book.name).glob('*.html'):
            text = path.read_text(encoding='utf-8')
            path.write_text(pages.HOME.sub(r'\1../index.html"', text), encoding='utf-8')

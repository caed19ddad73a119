# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds to gi-docgen's pages what its theme lacks: tabs, the introduction on the first page, links
to the guides and the other libraries beside each page, and our own search."""

import re
import shutil

import tabs

INTRODUCTION = 'introduction.html'

MAIN = re.compile(r'<section id="main" class="content">(.*?)\n</section>', re.DOTALL)
DOCBLOCK = re.compile(r'<div class="docblock">(.*)</div>\s*</section>\s*$', re.DOTALL)
EXTRA = re.compile(r'<section>\s*<div class="toggle-wrapper">\s*<h4 id="extra".*?</section>\n?',
                   re.DOTALL)
EXTRA_LINK = re.compile(r'<li><a href="([^"]+)">(.*?)</a></li>', re.DOTALL)
EMPTY_ROW = re.compile(r'\s*<tr><td><em>[^<]*</em></td><td><a href="" [^>]*></a></td></tr>')
MEMBER = re.compile(r'(<h4 class="member" id="([^"]+)".*?)</h4>')
# A class of ours has no structure that others could use.
CLASS_STRUCT = re.compile(
    r'<div class="class toggle-wrapper[^"]*">\s*<h4 id="class-struct">(?:(?!<dt>).)*'
    r'<dt><code>parent_class: GObjectClass</code></dt>(?:(?!<dt>).)*?</div>\s*</div>', re.DOTALL)
STRUCT_LINK = re.compile(r'\s*<li[^>]*><a href="#class-struct">.*?</li>', re.DOTALL)
# In the first version everything is new.
SINCE_FIRST = re.compile(
    r'(?:<p>\s*)?<span class="emblem available">since: 1\.0</span>(?:\s*</p>)?')
# Where our links go: a place in the sidebar, and whether they go after it.
BESIDE_CONTENT = (r'<div class="section namespace">.*?</div>', True)
BESIDE_SYMBOL = (r'<div class="section generator">', False)
HEADER = re.compile(r'<section id="main" class="content">\s*<header>.*?</h1>', re.DOTALL)
DOUBLE_TITLE = re.compile(r'<h4 id="title".*?</h4>(\s*<section>\s*<div class="docblock">\s*<h1 )',
                          re.DOTALL)
HIERARCHY = 'classes_hierarchy.html'


class Unexpected(Exception):
    """A page of gi-docgen is not as it has been so far."""


def need(found, what, page):
    if not found:
        raise Unexpected(f'{page} of gi-docgen has no {what}: '
                         'it has changed, see docs/site/pages.py')
    return found


def read(path):
    return path.read_text(encoding='utf-8')


def take_introduction(book):
    """Returns the text of the introduction, whose own page goes away."""
    path = book / INTRODUCTION
    if not path.exists():
        return ''
    main = need(MAIN.search(read(path)), 'main section', path.name)
    text = need(DOCBLOCK.search(main[1]), 'text', path.name)[1]
    path.unlink()
    return text


def find_guides(index):
    """Returns the links to the content pages: (address, title)."""
    extra = EXTRA.search(index)
    return [(href, title) for href, title in EXTRA_LINK.findall(extra[0] if extra else '')
            if href not in (INTRODUCTION, HIERARCHY)]


def write_links(title, links, current=None):
    lines = ['<div class="section">', f'  <h5>{title}</h5>', '  <div class="links">']
    for href, text in links:
        mark = ' class="current"' if href == current else ''
        lines.append(f'    <a href="{href}"{mark}>{text}</a>')
    return '\n'.join([*lines, '  </div>', '</div>', ''])


def title_of(book):
    match = re.search(r'<div class="section namespace">\s*<h3><a[^>]*>(.*?)</a>',
                      read(book / 'index.html'), re.DOTALL)
    return need(match, 'title', 'index.html')[1]


def finish_index(text, introduction):
    text = EMPTY_ROW.sub('', text)
    # The lists are short enough to be seen.
    text = text.replace('toggle-wrapper default-hide', 'toggle-wrapper')
    # The guides are beside every page.
    extra = EXTRA.search(text)
    text = EXTRA.sub('', text)
    if introduction:
        need(extra, 'list of pages', 'index.html')
        header = need(re.search(r'<section id="main" class="content">\s*<header>\s*', text),
                      'header', 'index.html')
        place = header.end() - len(re.search(r'<header>\s*$', header[0])[0])
        text = (text[:place] + f'<section class="docblock introduction">{introduction}</section>\n'
                + text[place:])
    return text


def finish_page(text, name, sidebar):
    text = tabs.write_pages_blocks(text)
    text = MEMBER.sub(r'\1<a class="md-anchor" href="#\2" title="Permanent link"></a></h4>', text)
    # Beside a symbol, what belongs to it comes first.
    before, after = BESIDE_SYMBOL if '.' in name.removesuffix('.html') else BESIDE_CONTENT
    found = need(re.search(before, text, re.DOTALL), 'such sidebar', name)
    place = found.end() if after else found.start()
    text = text[:place] + '\n' + sidebar + text[place:]
    text = SINCE_FIRST.sub('', text)
    text, n_structs = CLASS_STRUCT.subn('', text)
    text = STRUCT_LINK.sub('', text) if n_structs else text
    # What a parameter is, its type and its name may say.
    text = re.sub(r'<p>No description available\.</p>', '', text)
    text = re.sub(r'<dd>No description available\.</dd>', '<dd></dd>', text)
    # Declarations are highlighted, too.
    text = text.replace('<div class="highlight">', '<div class="codehilite">')
    # Newer versions of gi-docgen add a title to that of the guide.
    text = DOUBLE_TITLE.sub(r'\1', text)
    # A form for people who use the keyboard or a reader of screens.
    return text.replace('<input id="search-input" type="text"',
                        '<input id="search-input" type="search" aria-label="Search"')


def write_libraries(book, books):
    links = [('index.html' if other == book else f'../{other.name}/index.html', title_of(other))
             for other in books]
    return write_links('Libraries', links, 'index.html') if len(books) > 1 else ''


def add_assets(book, source):
    for name in ('style.css', 'main.js'):
        with open(book / name, 'a', encoding='utf-8') as file:
            ours = {'style.css': 'site.css', 'main.js': 'site.js'}[name]
            file.write('\n' + read(source / ours))
    shutil.copy(source / 'search.js', book / 'search.js')


def read_languages(folder, prefix):
    """Returns, for each page of a symbol, the names that languages have for it: {page: {language:
    address}}."""
    found = {}
    for path in sorted(folder.glob('*-interface.html')):
        parts = re.split(r'class="member" id="([^"]+)" data-kind="(\w+) ', read(path))
        for name, language, text in zip(parts[1::3], parts[2::3], parts[3::3]):
            link = re.search(r'href="((?:\.\./[\w-]+/)?\w+\.[\w.-]+\.html)"', text)
            if link:
                page = (folder / link[1]).resolve()
                found.setdefault(page, {}).setdefault(language,
                                                      f'{prefix}{path.name}#{name}')
    return found


def add_languages(path, languages):
    if not languages:
        return
    text = read(path)
    links = ', '.join(f'<a href="{address}">{language}</a>'
                      for language, address in languages.items())
    header = need(HEADER.search(text), 'header', path.name)
    text = (text[:header.end()] + f'\n    <p class="languages">Also in: {links}</p>'
            + text[header.end():])
    path.write_text(text, encoding='utf-8')


def finish(book, books, source):
    introduction = take_introduction(book)
    index = book / 'index.html'
    guides = find_guides(read(index))
    index.write_text(finish_index(read(index), introduction), encoding='utf-8')
    libraries = write_libraries(book, books)
    for path in sorted(book.glob('*.html')):
        sidebar = (write_links('Guides', guides, path.name) if guides else '') + libraries
        path.write_text(finish_page(read(path), path.name, sidebar), encoding='utf-8')
    add_assets(book, source)


def link_languages(books):
    """Adds to the pages of symbols what languages call them. The first book has the interfaces."""
    for book in books:
        prefix = '' if book == books[0] else f'../{books[0].name}/'
        languages = read_languages(books[0], prefix)
        for path in sorted(book.glob('*.html')):
            add_languages(path, languages.get(path.resolve()))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds to gi-docgen's pages what its theme lacks: tabs, the introduction on the first page, links to
the guides and the other libraries beside each page, and our own search."""

import html
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
HIERARCHY = 'classes_hierarchy.html'


class Unexpected(Exception):
    """A page of gi-docgen is not as it has been so far."""


def need(found, what, page):
    if not found:
        raise Unexpected(f'{page} of gi-docgen has no {what}: it has changed, see docs/site/pages.py')
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
    items = ''.join(f'    <a href="{href}"{" class=current" if href == current else ""}>{text}</a>\n'
                    for href, text in links)
    return f'<div class="section">\n  <h5>{title}</h5>\n  <div class="links">\n{items}  </div>\n</div>\n'


def title_of(book):
    match = re.search(r'<div class="section namespace">\s*<h3><a[^>]*>(.*?)</a>',
                      read(book / 'index.html'), re.DOTALL)
    return need(match, 'title', 'index.html')[1]


def finish_index(text, introduction):
    text = EMPTY_ROW.sub('', text)
    # The lists are short enough to be seen.
    text = text.replace('toggle-wrapper default-hide', 'toggle-wrapper')
    extra = need(EXTRA.search(text), 'list of pages', 'index.html')
    text = EXTRA.sub('', text)
    if introduction:
        header = need(re.search(r'<section id="main" class="content">\s*<header>\s*', text),
                      'header', 'index.html')
        place = header.end() - len(re.search(r'<header>\s*$', header[0])[0])
        text = (text[:place] + f'<section class="docblock introduction">{introduction}</section>\n'
                + text[place:])
    else:
        guides = re.sub(r'\s*<li><a href="classes_hierarchy\.html">.*?</li>', '', extra[0])
        if EXTRA_LINK.search(guides):
            place = need(re.search(r'</header>', text), 'header', 'index.html').end()
            text = text[:place] + guides + text[place:]
    return text


def finish_page(text, name, sidebar):
    text = tabs.write_pages_blocks(text)
    text = MEMBER.sub(r'\1<a class="md-anchor" href="#\2" title="Permanent link"></a></h4>', text)
    place = need(re.search(r'<div class="section namespace">.*?</div>', text, re.DOTALL),
                 'namespace in the sidebar', name).end()
    text = text[:place] + '\n' + sidebar + text[place:]
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


def plain(text):
    return html.unescape(re.sub(r'<[^>]+>', '', text))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds to gi-docgen's pages what its theme lacks: tabs, the introduction on the first page, links
to the guides and the other libraries beside each page, names for readers of screens, our own style
and search."""

import re
import shutil

import tabs

INTRODUCTION = 'introduction.html'
FRONT = 'front.html'
EXAMPLE = 'example-'

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
    r'<dt><code>parent_class: \w+Class</code></dt>(?:(?!<dt>).)*?</div>\s*</div>', re.DOTALL)
STRUCT_LINK = re.compile(r'\s*<li[^>]*><a href="#class-struct">.*?</li>', re.DOTALL)
# Members of another library without a description.
UNDESCRIBED = re.compile(r'(<h6[^>]*><a [^>]*class="external"[^>]*>[^<]*</a></h6>)\s*'
                         r'<div class="docblock">\s*No description available\.\s*</div>')
# In the first version everything is new.
SINCE_FIRST = re.compile(
    r'(?:<p>\s*)?<span class="emblem available">since: 1\.0</span>(?:\s*</p>)?')
# The places of our links: a place in the sidebar, and True if they go after it.
BESIDE_CONTENT = (r'<div class="section namespace">.*?</div>', True)
BESIDE_SYMBOL = (r'<div class="section generator">', False)
HEADER = re.compile(r'<section id="main"[^>]*>\s*<header>.*?</h1>', re.DOTALL)
DOUBLE_TITLE = re.compile(r'<h4 id="title".*?</h4>(\s*<section>\s*<div class="docblock">\s*<h1 )',
                          re.DOTALL)
HIERARCHY = 'classes_hierarchy.html'
# Tables of Markdown. Those of two columns may do without headings.
TABLE = re.compile(r'<table>\s*<thead>.*?</table>', re.DOTALL)
NO_HEADINGS = re.compile(r'<thead>\s*<tr>(?:\s*<th[^>]*></th>)+\s*</tr>\s*</thead>')
EMPTY_TABLE = re.compile(r'<table>\s*</table>')
# The form of the search, and what is above and beside it.
SEARCH = re.compile(r'<div class="search section">(.*?)</div>', re.DOTALL)
HOME = re.compile(r'(<a class="home" href=")[^"]*"')
# Files that our style and search replace.
REPLACED = ('fonts.css', 'fzy.js', 'solarized-*.css', '*.woff', '*.woff2', '*.ttf')
# Replacements for gi-docgen's words, for browsers and screen readers.
REPLACEMENTS = (
    ('<body>', '<body>\n  <a class="skip" href="#main">Skip to the content</a>'),
    ('<nav class="sidebar devhelp-hidden">',
     '<nav class="sidebar devhelp-hidden" aria-label="Pages">'),
    ('<div class="section namespace">', '<div class="section namespace" id="pages">'),
    ('<section id="main" class="content">',
     '<section id="main" class="content" role="main" tabindex="-1">'),
    ('<section id="search" class="content hidden">',
     '<section id="search" class="content hidden" role="main" aria-label="Search">'),
    ('<button id="btn-to-top" class="hidden">',
     '<button id="btn-to-top" class="hidden" aria-label="To the top">'),
    ('<input id="search-input" type="text"',
     '<input id="search-input" type="search" aria-label="Search"'),
    ('placeholder="Click, or press \'s\' to search"', 'placeholder="Search (press S)"'),
    ('<form id="search-form"', '<form id="search-form" role="search"'),
    ('  <script src="fzy.js"></script>\n', ''),
    ('<h4 class="member"', '<h4 aria-level="3" class="member"'),
    ('<p>Available since: 1.0</p>', ''))
# A declaration is a block of code within another one.
DECLARATION = re.compile(
    r'<pre><code>(<div class="(?:highlight|codehilite)">.*?</div>)\s*</code></pre>', re.DOTALL)
EMPTY_TOC = re.compile(
    r'<div id="toc"(?:(?!</nav>).)*<ul class="toc-list">\s*</ul>\s*</nav>\s*</div>', re.DOTALL)
# The order of headings, whatever their looks, on the page of a symbol.
SYMBOL_HEADINGS = ((re.compile(r'<h4(?=[ >])'), '<h4 aria-level="2"'),
                   (re.compile(r'<h5(?=[ >])'), '<h5 aria-level="3"'),
                   (re.compile(r'<h6(?=[ >])'), '<h6 aria-level="3"'),
                   (re.compile(r'<(/?)summary>'), r'<\1div>'))
KIND = re.compile(r'(<header>\s*)<h3>(.*?)</h3>')
ANCHOR = re.compile(r'<a (?=[^>]*class="(?:md-)?anchor")([^>]*)></a>')


class Unexpected(Exception):
    """A page of gi-docgen is not as it has been so far."""


def need(found, what, page):
    if not found:
        raise Unexpected(f'{page} of gi-docgen has no {what}: '
                         'it has changed, see docs/site/pages.py')
    return found


def read(path):
    return path.read_text(encoding='utf-8')


def take_text(path):
    """Returns the text of a page of Markdown. The page itself goes away."""
    main = need(MAIN.search(read(path)), 'main section', path.name)
    text = need(DOCBLOCK.search(main[1]), 'text', path.name)[1]
    path.unlink()
    return text


def take_introduction(book):
    path = book / INTRODUCTION
    return take_text(path) if path.exists() else ''


def is_interface(address):
    return address.endswith('-interface.html')


def find_guides(index):
    """Returns the links to the content pages: (address, title)."""
    extra = EXTRA.search(index)
    return [(href, title) for href, title in EXTRA_LINK.findall(extra[0] if extra else '')
            if href not in (INTRODUCTION, FRONT, HIERARCHY) and not href.startswith(EXAMPLE)]


def write_links(title, links, current):
    lines = ['<div class="section">', f'  <h5>{title}</h5>', '  <div class="links">']
    for href, text in links:
        mark = ' class="current" aria-current="page"' if href == current else ''
        lines.append(f'    <a href="{href}"{mark}>{text}</a>')
    return '\n'.join([*lines, '  </div>', '</div>', ''])


def title_of(book):
    match = re.search(r'<div class="section namespace"[^>]*>\s*<h3><a[^>]*>(.*?)</a>',
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


def wrap_tables(text):
    """Tables are scrolled by themselves if they are wider than the page."""
    text = EMPTY_TABLE.sub('', text)
    return TABLE.sub(lambda match: '<div class="scroller">' + NO_HEADINGS.sub('', match[0])
                     + '</div>', text)


def finish_title(text, library):
    """Names the page before the library, as tabs of browsers are narrow."""
    return re.sub(r'<title>[^<]*?&ndash; [^:<]*(?:: ([^<]*))?</title>',
                  lambda match: f'<title>{match[1] or "Reference"} &ndash; {library}</title>', text)


def finish_headings(text, name):
    sidebar, mark, content = text.partition('<section id="main"')
    sidebar = sidebar.replace('<h5>', '<h5 aria-level="4">')
    if '.' in name.removesuffix('.html') or name == 'index.html':
        for pattern, replacement in SYMBOL_HEADINGS:
            content = pattern.sub(replacement, content)
    return sidebar + mark + KIND.sub(r'\1<p class="kind">\2</p>', content)


def finish_controls(text):
    """Adds what readers of screens and people who use the keyboard need."""
    for before, after in REPLACEMENTS:
        text = text.replace(before, after)
    text = EMPTY_TOC.sub('', text)
    text, n = SEARCH.subn(
        r'<div class="top"><a class="home" href="index.html">mtldl</a>\n'
        r'<div class="search section">\1</div>\n<a class="menu" href="#pages">Menu</a></div>', text)
    need(n == 1 and 'role="main" tabindex="-1"' in text, 'search or content', 'base.html')
    return ANCHOR.sub(r'<a \1 aria-label="Link to this section"></a>', text)


def finish_page(text, name, sidebar, library):
    text = tabs.write_pages_blocks(text)
    text = MEMBER.sub(r'\1<a class="md-anchor" href="#\2" title="Permanent link"></a></h4>', text)
    # The sidebar of a symbol has its own parts first.
    before, after = BESIDE_SYMBOL if '.' in name.removesuffix('.html') else BESIDE_CONTENT
    found = need(re.search(before, text, re.DOTALL), 'such sidebar', name)
    place = found.end() if after else found.start()
    text = text[:place] + '\n' + sidebar + text[place:]
    text = SINCE_FIRST.sub('', text)
    text = UNDESCRIBED.sub(r'\1', text)
    text, n_structs = CLASS_STRUCT.subn('', text)
    text = STRUCT_LINK.sub('', text) if n_structs else text
    # The type and the name of a parameter may say enough.
    text = re.sub(r'<p>No description available\.</p>', '', text)
    text = re.sub(r'<dd>No description available\.</dd>', '<dd></dd>', text)
    # Declarations are highlighted, too.
    text = DECLARATION.sub(r'\1', text)
    text = text.replace('<div class="highlight">', '<div class="codehilite">')
    # Newer versions of gi-docgen add a title to that of the guide.
    text = DOUBLE_TITLE.sub(r'\1', text)
    text = finish_headings(finish_title(wrap_tables(text), library), name)
    return finish_controls(text)


def find_site_links(book, books, guides):
    """Returns what is beside every page: the guides, and the reference of all libraries and
    languages. guides: those of the first book"""
    prefix = '' if book == books[0] else f'../{books[0].name}/'
    links = [(prefix + address, title) for address, title in guides]
    libraries = [('index.html' if other == book else f'../{other.name}/index.html',
                  title_of(other)) for other in books]
    return {'Guides': [link for link in links if not is_interface(link[0])],
            'Reference': libraries + [link for link in links if is_interface(link[0])]}


def add_assets(book, source):
    for pattern in REPLACED:
        for path in book.glob(pattern):
            path.unlink()
    style = re.sub(r'^@import .*;\n', '', read(book / 'style.css'), flags=re.MULTILINE)
    ours = [read(source / name) for name in ('palette.css', 'code.css', 'site.css')]
    (book / 'style.css').write_text('\n'.join([style, *ours]), encoding='utf-8')
    with open(book / 'main.js', 'a', encoding='utf-8') as file:
        file.write('\n' + read(source / 'site.js'))
    shutil.copy(source / 'search.js', book / 'search.js')


def add_addresses(book, namespaces):
    """Tells the pages where our other books are: {namespace: folder of its book}."""
    path = book / 'urlmap.js'
    lines = [f"  ['{namespace}', '../{other}/'],\n" for namespace, other in namespaces.items()]
    text = read(path)
    end = need(text.rfind(']') + 1, 'list', path.name) - 1
    path.write_text(text[:end] + ''.join(lines) + text[end:], encoding='utf-8')


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


def take_guides(book):
    """Returns the introduction and the guides of a book, which go where readers look for them."""
    introduction = take_introduction(book)
    index = book / 'index.html'
    guides = find_guides(read(index))
    index.write_text(finish_index(read(index), introduction), encoding='utf-8')
    return introduction, guides


def finish(book, books, guides, source):
    """guides: those of the first book"""
    links = find_site_links(book, books, guides)
    library = book.name.rpartition('-')[0]
    for path in sorted(book.glob('*.html')):
        sidebar = ''.join(write_links(title, some, path.name)
                          for title, some in links.items() if some)
        path.write_text(finish_page(read(path), path.name, sidebar, library), encoding='utf-8')
    add_assets(book, source)


def link_languages(books):
    """Adds to the pages of symbols what languages call them. The first book has the interfaces."""
    for book in books:
        prefix = '' if book == books[0] else f'../{books[0].name}/'
        languages = read_languages(books[0], prefix)
        for path in sorted(book.glob('*.html')):
            add_languages(path, languages.get(path.resolve()))

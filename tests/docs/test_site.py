#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what the built reference has: all names, tabs, and nothing without a description; and what
the site has beside it: the front page and the examples.

The arguments are the paths of the books and of what they are made from, see docs/meson.build.
"""

import argparse
import ast
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
LANGUAGES = ['c', 'python', 'js', 'vala']
FENCED = re.compile(r'^```(\w+)\n(.*?)^```', re.DOTALL | re.MULTILINE)
# The guides whose examples are in all of them.
ALL_LANGUAGES = ['introduction', 'getting-started']


class Skip(Exception):
    pass


def read(path):
    return pathlib.Path(path).read_text(encoding='utf-8')


def text_of(page):
    return html.unescape(re.sub(r'<[^>]+>', '', page))


def shown(text):
    """Returns a text as a block of code shows it: Markdown replaces tabs."""
    return text.strip().expandtabs(4)


def ids_of(page):
    return {html.unescape(name) for name in re.findall(r'\bid="([^"]+)"', page)}


def check_none(missing, what):
    if missing:
        raise AssertionError(f'{what}: {", ".join(sorted(map(str, missing)))}')


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', required=True, help='the root of the source')
    parser.add_argument('--site', required=True, type=pathlib.Path,
                        help='the folder with the front page')
    parser.add_argument('--book', action='append', help='FOLDER=GIR, the first with the guides')
    parser.add_argument('--stub', action='append', default=[])
    parser.add_argument('--vala', action='append', default=[])
    parser.add_argument('--undocumented', action='append', default=[])
    parser.add_argument('--guide', action='append', default=[],
                        help='NAME=LANGUAGE: what the tests of the guides run')
    parser.add_argument('--python')
    parser.add_argument('--gjs')
    return parser.parse_args()


class Site:
    def __init__(self, arguments):
        self.__dict__.update(vars(arguments))
        self.girs = {pathlib.Path(folder): gir
                     for folder, gir in (book.split('=') for book in arguments.book)}
        self.folders = list(self.girs)
        self.first = self.folders[0]

    def pages(self):
        return [path for folder in self.folders for path in sorted(folder.glob('*.html'))]

    def test_symbols(self):
        """Every public symbol of the GIRs is on a page, as C names it."""
        missing = []
        n_symbols = 0
        for folder, gir in self.girs.items():
            text = ''.join(text_of(read(path)) for path in folder.glob('*.html'))
            words = set(re.findall(r'\w+', text))
            for element in ElementTree.parse(gir).iter():
                symbol = element.get(C + 'identifier') or (
                    element.get(C + 'type') if element.tag in (
                        f'{CORE}{kind}' for kind in ('class', 'record', 'enumeration', 'bitfield'))
                    else None)
                # A class structure without virtual functions is of no use.
                is_empty = len(element.findall(f'{CORE}field')) == 1 and symbol.endswith('Class')
                if symbol and not (is_empty or element.get('disguised') or element.get('moved-to')):
                    n_symbols += 1
                    missing += [] if symbol in words else [symbol]
        assert n_symbols > 300, n_symbols
        check_none(missing, 'on no page')

    def test_descriptions(self):
        """Every symbol has a description."""
        check_none([path.name for path in self.pages() if 'No description' in read(path)],
                   'without a description')

    def test_stubs(self):
        """Every name of Python's hints is on the page of its interface."""
        if not self.stub:
            raise Skip('there is no Python')
        names = ids_of(read(self.first / 'python-interface.html'))
        expected = set()
        for stub in self.stub:
            namespace = pathlib.Path(stub).stem
            for node in ast.parse(read(stub)).body:
                expected |= {f'{namespace}.{name}' for name in self.names_of(node)}
                if isinstance(node, ast.ClassDef) and self.names_of(node):
                    expected |= {f'{namespace}.{node.name}.{name}'
                                 for child in node.body for name in self.names_of(child)}
        assert len(expected) > 300, len(expected)
        check_none(expected - names, 'not on the page')

    @staticmethod
    def names_of(node):
        """Returns the public names that a statement defines. Props stands for properties."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = {node.name} - {'Props', 'props'}
        elif isinstance(node, ast.AnnAssign):
            names = {node.target.id}
        elif isinstance(node, ast.Assign):
            names = {target.id for target in node.targets}
        elif isinstance(node, ast.If):  # names that only one platform has
            names = set().union(*map(Site.names_of, node.body))
        else:
            names = set()
        return {name for name in names if not name.startswith('_') or name.endswith('__')}

    def test_python_functions(self):
        """Names that the override adds to the namespace are on the page, also if the hints lack
        them."""
        if not self.python:
            raise Skip('there is no Python')
        program = ('import gi.overrides.Mtl as override\n'
                   'print(*(f"Mtl.{name}" for name in override.__all__))')
        result = subprocess.run([self.python, '-c', program], check=True, capture_output=True,
                                text=True)
        names = set(result.stdout.split())
        assert 'Mtl.asview' in names, names
        check_none(names - ids_of(read(self.first / 'python-interface.html')), 'not on the page')

    def test_javascript(self):
        """Every name of gjs and its override is on the page of JavaScript's interface."""
        if not self.gjs:
            raise Skip('gjs is not installed')
        result = subprocess.run([self.gjs, HERE / 'list-names.js', 'Mtl'], check=True,
                                capture_output=True, text=True)
        names = set(result.stdout.split())
        assert {'Mtl.StridedView.toTypedArray', 'Mtl.StridedView.shape', 'Mtl.StridedView.copy',
                'Mtl.TensorFile[Symbol.iterator]'} <= names, names
        check_none(names - ids_of(read(self.first / 'javascript-interface.html')),
                   'not on the page')

    def test_vala(self):
        """Every addition for Vala is on its page."""
        if not self.vala:
            raise Skip('there is no VAPI')
        names = set()
        for path in self.vala:
            owner = ''
            for line in read(path).splitlines():
                owned = re.match(r'\tpublic .*?class (\w+)', line)
                member = re.match(r'\t\tpublic (?:[^({]*[\s@])??(?:\([^)]*\)\S* )?'
                                  r'[^({]*?@?(\w+) ?(?:\(|\{|;)', line)
                owner = owned[1] if owned else owner
                if member:
                    names.add(f'Mtl.{owner}.{member[1]}')
        assert 'Mtl.StridedView.ndim' in names and 'Mtl.TensorFile.names' in names, names
        check_none(names - ids_of(read(self.first / 'vala-interface.html')), 'not on the page')

    def test_documented(self):
        """Everything that the languages have of their own is documented."""
        check_none([name for path in self.undocumented for name in read(path).split()],
                   'documented neither in the override nor in the hints')

    def test_tabs(self):
        """The first examples are in all languages, and tests run all that are in tabs."""
        n_groups = 0
        run = {guide.partition('=')[2] for guide in self.guide} & set(LANGUAGES)
        for path in self.pages():
            for group in read(path).split('<div class="tabs">')[1:]:
                n_groups += 1
                found = re.findall(r'class="tab" data-language="(\w+)"', group)
                name = path.stem.replace('index', 'introduction')
                assert len(set(found)) == len(found) > 1, f'{path.name}: {found}'
                if name in ALL_LANGUAGES:
                    assert found == LANGUAGES, f'{path.name}: {found}'
                # The examples have tests of their own.
                if name.startswith('example-'):
                    continue
                check_none({f'{name}={language}' for language in run & set(found)}
                           - set(self.guide),
                           'not run by the tests')
        assert n_groups >= 3, n_groups

    def test_highlighted(self):
        """The code of the guides is highlighted, whatever its language."""
        plain = []
        for path in self.first.glob('*.html'):
            for language, block in re.findall(
                    r'<div class="codehilite language-(\w+)">(.*?)</div>', read(path), re.DOTALL):
                if language != 'text' and '<span class=' not in block:
                    plain.append(f'{path.name}: {language}')
            assert '<!-- code:' not in read(path), path.name
        check_none(plain, 'not highlighted')

    def test_index(self):
        """The first page introduces the library, and has no rows without a value."""
        page = read(self.first / 'index.html')
        assert 'sharing.svg' in page and (self.first / 'sharing.svg').exists()
        assert 'href=""' not in page
        assert page.index('class="docblock introduction"') < page.index('>Namespace<')
        for folder in self.folders:
            assert folder == self.first or f'../{folder.name}/index.html' in page, folder
        ElementTree.parse(self.first / 'sharing.svg')

    def code_of(self, path):
        """Returns the text of each block of code on a page."""
        return [text_of(block).strip()
                for block in re.findall(r'<pre>(.*?)</pre>', read(path), re.DOTALL)]

    def test_front(self):
        """The front page has the guides' programs and table, and leads to all books and guides."""
        front, source = self.site / 'index.html', pathlib.Path(self.source)
        installation = read(source / 'docs' / 'installation.md')
        section = installation.partition('## The same in four languages')[2]
        blocks = FENCED.findall(section.partition('\n## ')[0])
        assert {language for language, _ in blocks} == {*LANGUAGES, 'text'}, blocks
        code = self.code_of(front)
        check_none([language for language, text in blocks if shown(text) not in code],
                   'not on the front page')
        introduction = read(source / 'docs' / 'introduction.md')
        demo = FENCED.search('```x' + introduction.partition('./run demo')[2].partition('```')[2])
        assert demo[2].strip() in code, code
        links = set(re.findall(r'href="([^"#]+)"', read(front)))
        first = self.first.name
        expected = {f'{folder.name}/index.html' for folder in self.folders}
        expected |= {f'{first}/{path.stem}.html' for path in (source / 'docs').glob('*.md')}
        expected |= {f'{first}/{path.name}' for path in self.first.glob('*-interface.html')}
        check_none(expected - links - {f'{first}/introduction.html'}, 'not on the front page')

    def test_ratios(self):
        """The README and the front page have the geometric means of the page on performance."""
        source = pathlib.Path(self.source)
        found = re.search(r'([\d.]+) times that of NumPy and ([\d.]+) times',
                          ' '.join(read(source / 'docs' / 'performance.md').split()))
        text = ' '.join(read(source / 'README.md').split())
        front = read(self.site / 'index.html')
        for ratio, peer in zip(found.groups(), ('NumPy', 'PyTorch')):
            assert f'**{ratio} times as fast as {peer}**' in text, (ratio, peer)
            assert f'<dt>as fast as {peer}</dt><dd>{ratio} ×</dd>' in front, (ratio, peer)

    def test_examples(self):
        """Each example is in the gallery, with its code and with what it prints."""
        source = pathlib.Path(self.source)
        pages = {path.name: self.code_of(path) for path in self.first.glob('example-*.html')}
        found = {block for blocks in pages.values() for block in blocks}
        files = [path for kind in ('c/*.c', 'gjs/*.js', 'vala/*.vala', 'objc/*.m', '*.py')
                 for path in (source / 'examples').glob(kind)]
        files += [source / 'examples' / 'python' / f'{name}.py'
                  for name in ('tensor', 'picture', 'mpi_halo')]
        files += [source / 'tests' / path for path in ('docs/tensor.txt', 'bindings/gjs/tensor.txt')]
        assert len(files) > 12, files
        check_none([path.name for path in files if shown(read(path)) not in found],
                   'on no page')
        check_none(pages.keys() - set(re.findall(r'href="([^"]+)"',
                                                 read(self.first / 'examples.html'))),
                   'not in the gallery')

    def test_site(self):
        """The site's books lead to the front page; those that are installed have none."""
        for folder in self.folders:
            copy = self.site / folder.name
            assert {path.name for path in copy.iterdir()} == {path.name
                                                              for path in folder.iterdir()}
            for path in folder.glob('*.html'):
                assert 'class="home" href="../index.html"' in read(copy / path.name), path
                assert '../index.html' not in read(path), path

    def test_links_to_languages(self):
        """The page of a function tells where the languages' own names are."""
        page = read(self.first / 'method.StridedView.copy_from.html')
        for language in ['python'] * bool(self.stub) + ['javascript'] * bool(self.gjs):
            assert f'{language}-interface.html#Mtl.StridedView.copy_from' in page, language

    def test_devhelp(self):
        """Devhelp's books lead to pages that exist, and know the languages' names."""
        namespace = '{http://www.devhelp.net/book}'
        names = set()
        for folder in self.folders:
            book = ElementTree.parse(folder / f'{folder.name}.devhelp2').getroot()
            assert book.tag == f'{namespace}book', book.tag
            links = [element.get('link') for element in book.iter() if element.get('link')]
            for link in links:
                page, _, anchor = link.partition('#')
                assert (folder / page).exists(), link
                assert not anchor or anchor in ids_of(read(folder / page)), link
            names |= {element.get('name') for element in book.iter(f'{namespace}keyword')}
        expected = {'mtl_strided_view_copy', 'MtlStridedView', 'MTL_DTYPE_FLOAT32'}
        for language, page in (('Python', 'python'), ('JavaScript', 'javascript'),
                               ('Vala', 'vala')):
            path = self.first / f'{page}-interface.html'
            if path.exists():
                expected |= {f'{name} ({language})' for name in ids_of(read(path))
                             if name.startswith('Mtl.')}
        assert len(expected) > 3 or not self.stub
        check_none(expected - names, 'no keywords')

    def test_foreign_links(self):
        """Links to GStreamer and Cairo lead to pages as these name them."""
        text = ''.join(map(read, self.pages()))
        check_none(re.findall(r'data-namespace="(?:Gst\w*|cairo)"', text), 'not linked')
        addresses = {'mtldl-gst-1': 'gstreamer.freedesktop.org/documentation/gstreamer/'
                                    'gstbuffer.html#GstBuffer',
                     'mtldl-gtk-1': 'www.cairographics.org/manual/'
                                    'cairo-cairo-surface-t.html#cairo-surface-t'}
        check_none([address for folder, address in addresses.items()
                    if folder in {path.name for path in self.folders}
                    and f'<a href="https://{address}"' not in text], 'on no page')

    def test_check_links(self):
        """The check of links finds links that lead nowhere."""
        script = pathlib.Path(self.source) / 'docs' / 'check-links.py'
        faults = {'<a href="nowhere.html">': 'no page nowhere.html',
                  '<a href="other.html#nothing">': 'no anchor other.html#nothing',
                  '<a href="../elsewhere/">': 'no page ../elsewhere/',
                  '<a href="../../elsewhere/">': '../../elsewhere/ leads out of the folder',
                  '<a href="/other.html">': '/other.html does not begin here',
                  '<source srcset="gone.png">': 'no page gone.png',
                  '<form action="gone.html">': 'no page gone.html',
                  '<script src="https://example.org/a.js"></script>': 'loads https://example.org',
                  '<a data-namespace="Nothing" data-link="a.html">': 'urlmap.js has no Nothing'}
        with tempfile.TemporaryDirectory() as folder:
            book = pathlib.Path(folder) / 'book'
            book.mkdir()
            (book / 'other.html').write_text('<p id="something">', encoding='utf-8')
            (book / 'search-index.js').write_text(
                'window.siteIndex = [["a", "b", "gone.html", "", ""]];\n', encoding='utf-8')
            (book / 'style.css').write_text(
                '@import url("https://example.org/a.css"); a { background: url(gone.svg) }',
                encoding='utf-8')
            (book / 'index.html').write_text(
                '<a href="other.html#something">' + ''.join(faults), encoding='utf-8')
            result = subprocess.run([sys.executable, script, book / 'stamp', book],
                                    capture_output=True, text=True)
        assert result.returncode == 1
        others = ['search-index.js: no page gone.html', 'style.css: loads https://example.org',
                  'style.css: no page gone.svg']
        for message in [*faults.values(), *others]:
            assert message in result.stderr, (message, result.stderr)
        assert len(result.stderr.splitlines()) == len(faults) + len(others), result.stderr

    def test_browser(self):
        """In a browser, a click on a tab changes all groups, and keys move between tabs."""
        browser = shutil.which('chromium') or shutil.which('chromium-browser')
        if browser is None:
            raise Skip('chromium is not installed')
        script = '''<script>
            window.addEventListener('load', () => {
                const shown = () => [...document.querySelectorAll('.tab:not([hidden])')]
                    .map(panel => panel.dataset.language).join();
                const result = [shown()];
                const tab = document.querySelector('[role=tab][data-language=python]');
                tab.click();
                result.push(shown(), tab.getAttribute('aria-selected'),
                    localStorage.getItem('mtldl-language'));
                tab.focus();
                tab.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
                result.push(shown(), document.activeElement.dataset.language);
                document.title = 'RESULT ' + result.join(' ');
            });
            </script></body>'''
        page = self.first / 'getting-started.html'
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / 'site'
            shutil.copytree(self.first, copy)
            (copy / page.name).write_text(read(page).replace('</body>', script), encoding='utf-8')
            result = subprocess.run(
                [browser, '--headless=new', '--no-sandbox', '--disable-gpu',
                 f'--user-data-dir={folder}/profile', '--virtual-time-budget=5000', '--dump-dom',
                 (copy / page.name).as_uri()], capture_output=True, text=True, timeout=120)
        title = re.search(r'<title>(.*?)</title>', result.stdout)[1]
        assert title == 'RESULT c,c python,python true python js,js js', title


def main():
    site = Site(parse_arguments())
    tests = [getattr(site, name) for name in dir(site) if name.startswith('test_')]
    n_failed = 0
    print(f'1..{len(tests)}')
    for number, test in enumerate(tests, 1):
        try:
            test()
        except Skip as reason:
            print(f'ok {number} {test.__doc__} # SKIP {reason}', flush=True)
        except Exception as error:
            n_failed += 1
            print(f'not ok {number} {test.__doc__}')
            details = str(error) if isinstance(error, AssertionError) and str(error) \
                else traceback.format_exc()
            for line in details.splitlines():
                print(f'# {line}')
            sys.stdout.flush()
        else:
            print(f'ok {number} {test.__doc__}', flush=True)
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main())

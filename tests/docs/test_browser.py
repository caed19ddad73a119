# SPDX-License-Identifier: LGPL-2.1-or-later
"""The site as people see it, in Chromium: MTL_SITE names its folder.

In a narrow and a wide window, in the light and the dark style, from the disk and from a server.
"""

import functools
import http.server
import importlib.util
import json
import os
import pathlib
import threading

import pytest
from browser import Browser

SITE = pathlib.Path(os.environ['MTL_SITE']).resolve()
BOOK = 'mtldl-1'
PAGES = {
    'front': 'index.html',
    'reference': f'{BOOK}/index.html',
    'guide': f'{BOOK}/getting-started.html',
    'installation': f'{BOOK}/installation.html',
    'performance': f'{BOOK}/performance.html',
    'compatibility': f'{BOOK}/compatibility.html',
    'class': f'{BOOK}/class.StridedView.html',
    'function': f'{BOOK}/method.StridedView.copy_from.html',
    'enumeration': f'{BOOK}/enum.DType.html',
    'Python': f'{BOOK}/python-interface.html',
    'JavaScript': f'{BOOK}/javascript-interface.html',
    'results': f'{BOOK}/index.html?q=copy',
    'gallery': f'{BOOK}/examples.html',
    'example': f'{BOOK}/example-picture.html',
    'pictures': 'mtldl-pixbuf-1/index.html',
}
WIDTHS = {'narrow': (390, 844), 'wide': (1280, 900)}
RULES = """
new Promise(resolve => axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
    resolve(JSON.stringify(violations.map(({id, impact, nodes}) =>
        ({id, impact, at: nodes.map(({target, any}) => `${target} ${any[0]?.message ?? ''}`)}))))))
"""
# Elements that make the page wider than the window. What scrolls by itself does not.
TOO_WIDE = """
document.documentElement.scrollWidth <= %(width)d ? [] :
    [...document.querySelectorAll('body *')].filter(element =>
        element.getBoundingClientRect().right > %(width)d + 1 &&
        !element.parentElement.closest('pre, .scroller')).map(
            ({outerHTML}) => outerHTML.slice(0, 99))
"""
SEARCH_RESULTS = "[...document.querySelectorAll('.results a')].map(link => link.href)"


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp('browser')) as browser:
        yield browser


@pytest.fixture(scope='module')
def rules():
    [folder] = importlib.util.find_spec('axe_playwright_python').submodule_search_locations
    return (pathlib.Path(folder) / 'axe.min.js').read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    """The site below a path of a server, as a static host has it."""
    root = tmp_path_factory.mktemp('server')
    (root / 'some').mkdir()
    (root / 'some' / 'place').symlink_to(SITE)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ('127.0.0.1', 0), functools.partial(Handler, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_address[1]}/some/place'
    server.shutdown()


def open_page(browser, page, width='wide', scheme='light', base=None):
    browser.show_as(*WIDTHS[width], scheme)
    browser.open(f'{base or SITE.as_uri()}/{page}')
    if '?q=' in page:
        browser.wait_until("document.querySelector('.results') !== null")


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('name', PAGES)
def test_page(browser, rules, name, width, scheme):
    open_page(browser, PAGES[name], width, scheme)
    requests = browser.get_requests()
    assert requests
    assert [address for address in requests if not address.startswith(('file:', 'data:'))] == []
    assert browser.get_complaints() == []
    assert browser.run(TOO_WIDE % {'width': WIDTHS[width][0]}) == []

    browser.run(rules + '; null')
    found = [finding for finding in json.loads(browser.run(RULES))
             if finding['impact'] in ('serious', 'critical')]
    assert found == [], json.dumps(found, indent=1)


def test_no_page_is_too_wide(browser):
    browser.show_as(*WIDTHS['narrow'], 'light')
    too_wide = []
    for path in sorted(SITE.rglob('*.html')):
        browser.open(path.as_uri())
        if browser.run(TOO_WIDE % {'width': WIDTHS['narrow'][0]}):
            too_wide.append(path.name)
    assert too_wide == []


def test_rules_find_faults(browser, rules):
    open_page(browser, PAGES['front'])
    browser.run("document.querySelector('h1').style.color = '#ddd'; "
                "document.querySelector('.hero img').removeAttribute('alt')")
    browser.run(rules + '; null')
    found = {finding['id'] for finding in json.loads(browser.run(RULES))}
    assert {'color-contrast', 'image-alt'} <= found, found


@pytest.mark.parametrize('page', ['front', 'guide'])
def test_keyboard(browser, page):
    """The first key reaches the link that skips the navigation."""
    open_page(browser, PAGES[page])
    browser.press('Tab')
    assert browser.run('document.activeElement.className') == 'skip'
    assert browser.run('document.activeElement.getBoundingClientRect().left') >= 0
    browser.press('Enter', '\r')
    browser.wait_until("document.activeElement.id === 'main'")
    browser.press('Tab')
    assert browser.run("document.activeElement.closest('#main') !== null")


@pytest.mark.parametrize('where', ['disk', 'server'])
@pytest.mark.parametrize('words, address', [
    ('view_from_pixbuf', 'mtldl-pixbuf-1/func.view_from_pixbuf.html'),
    ('lifetimes', f'{BOOK}/c.html#lifetimes'),
    ('asview', f'{BOOK}/python-interface.html#Mtl.asview'),
    ('toTypedArray', f'{BOOK}/javascript-interface.html#'),
    ('mtl_strided_view_copy_from', f'{BOOK}/method.StridedView.copy_from.html'),
    ('hop by hop', f'{BOOK}/example-demo.html'),
    ('use it from your own project', f'{BOOK}/installation.html#'),
])
def test_search_of_front(browser, server, where, words, address):
    """Words that are typed on the front page are found in all of the books."""
    base = SITE.as_uri() if where == 'disk' else server
    open_page(browser, PAGES['front'], base=base)
    browser.run("document.getElementById('search-input').focus()")
    browser.ask('Input.insertText', text=words)
    browser.press('Enter', '\r')
    browser.wait_until("document.querySelector('.results') !== null")
    results = browser.run(SEARCH_RESULTS)
    assert any(f'{base}/{address}' in result for result in results[:4]), results[:4]
    browser.open(results[0])


@pytest.mark.parametrize('book', [BOOK, 'mtldl-gst-1', 'mtldl-gtk-1', 'mtldl-pixbuf-1'])
def test_search_of_books(browser, book):
    """Results come while one types, and Escape brings back the page."""
    open_page(browser, f'{book}/index.html')
    browser.run("document.getElementById('search-input').focus()")
    browser.ask('Input.insertText', text='getting started')
    browser.wait_until("document.querySelector('.results') !== null")
    assert f'/{BOOK}/getting-started.html' in browser.run(SEARCH_RESULTS)[0]
    browser.press('Escape')
    browser.wait_until("document.getElementById('main').offsetHeight > 0")


@pytest.mark.parametrize('where', ['disk', 'server'])
def test_ways(browser, server, where):
    """Links lead from the front page to a book, and back."""
    base = SITE.as_uri() if where == 'disk' else server
    open_page(browser, PAGES['front'], base=base)
    browser.run("document.querySelector('a.suggested').click()")
    browser.wait_until(f"location.href === '{base}/{PAGES['guide']}'")
    browser.wait_until("document.readyState === 'complete'")
    browser.run("document.querySelector('a.home').click()")
    browser.wait_until(f"location.href === '{base}/index.html'")


def test_tabs_of_front(browser):
    """A language that is chosen on the front page is that of the guides."""
    open_page(browser, PAGES['front'])
    browser.run("document.querySelector('[role=tab][data-language=vala]').click()")
    shown = "[...document.querySelectorAll('.tab:not([hidden])')].map(tab => tab.dataset.language)"
    assert browser.run(shown) == ['vala']
    open_page(browser, PAGES['guide'])
    assert set(browser.run(shown)) == {'vala'}
    browser.run('localStorage.clear()')

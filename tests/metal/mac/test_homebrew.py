#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the build takes for granted on a Mac: that Homebrew's packages are those that meson
asks for, in `need.sh` as in docs/installation.md, and that no warning of a newer g-ir-scanner ends
it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The formulae by what meson looks for, or None for what macOS and Apple's tools have.
DEPENDENCIES = {
    'appleframeworks': None,
    'cairo': 'cairo',
    'gdk-pixbuf-2.0': 'gdk-pixbuf',
    'gio-2.0': 'glib',
    'gobject-2.0': 'glib',
    'gobject-introspection-1.0': 'gobject-introspection',
    'gstreamer-1.0': 'gstreamer',
    'gstreamer-app-1.0': 'gstreamer',
    'gstreamer-analytics-1.0': 'gstreamer',
    'gstreamer-allocators-1.0': 'gstreamer',
    'gstreamer-audio-1.0': 'gstreamer',
    'gstreamer-base-1.0': 'gstreamer',
    'gstreamer-video-1.0': 'gstreamer',
    'gtk4': 'gtk4',
    'intl': 'gettext',
    'libdeflate': 'libdeflate',
    'pygobject-3.0': 'pygobject3',
    'threads': None,
    'zlib': None,
}
PROGRAMS = {
    'g-ir-compiler': 'gobject-introspection',
    'g-ir-scanner': 'gobject-introspection',
    'gdbus-codegen': 'glib',
    'gi-docgen': 'gi-docgen',
    'git': None,
    'gjs': 'gjs',
    'gtk4-update-icon-cache': 'gtk4',
    'mpirun.': None,  # tests of MPI, if there is one, by the names that Debian has
    'msgfmt': 'gettext',
    'nm': None,
    'python3': 'python3',
    'sh': None,
    'update-desktop-database': None,  # only to install on other systems
    'update-mime-database': None,
    'valac': 'vala',
    'vapigen': 'vala',
}
# The tools for a build, rather than its dependencies.
TOOLS = {'meson', 'ninja', 'pkgconf', 'python3'}
LINUX_ALONE = ('tests/metal/double/',)


def meson_files():
    for path in sorted(ROOT.rglob('meson.build')):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(('build', '.', *LINUX_ALONE)):
            yield name, path.read_text()


def asked_for(function):
    """Returns the first arguments of a function's calls, without files of this tree."""
    names = {match for _, text in meson_files()
             for match in re.findall(rf"(?<![\w.]){function}\('([^']+)'", text)}
    return {name for name in names if not name.endswith(('.py', '.sh')) and '@' not in name}


def lists_of_formulae():
    text = (ROOT / 'maintainer' / 'need.sh').read_text()
    darwin = text[text.index('if [[ $(uname) == Darwin ]]; then\n  build_packages='):]
    darwin = darwin[:darwin.index('\nfi\n')]
    return {name: words.split()
            for name, words in re.findall(r'(\w+)_packages=\(([^)]*)\)', darwin)}


def list_of_guide():
    (line,) = re.findall(r'^\| Homebrew.*`brew install ([^`]*)` \|$',
                         (ROOT / 'docs' / 'installation.md').read_text(), re.MULTILINE)
    return line.split()


def check_lists(lists, guide, dependencies, programs):
    """Checks the lists, and returns their faults."""
    assert dependencies <= DEPENDENCIES.keys(), dependencies - DEPENDENCIES.keys()
    assert programs <= PROGRAMS.keys(), programs - PROGRAMS.keys()
    needed = ({DEPENDENCIES[name] for name in dependencies}
              | {PROGRAMS[name] for name in programs}) - {None}
    everything = {formula for formulae in lists.values() for formula in formulae}
    wrong = []
    if guide != lists['build']:
        wrong.append(f'docs/installation.md has {guide}, need.sh has {lists["build"]}')
    if needed - everything:
        wrong.append(f'need.sh does not install {sorted(needed - everything)}')
    if set(lists['build']) - needed - TOOLS:
        wrong.append(f'need.sh installs {sorted(set(lists["build"]) - needed - TOOLS)} for nothing')
    if not TOOLS <= set(lists['build']):
        wrong.append(f'need.sh does not install {sorted(TOOLS - set(lists["build"]))}')
    return wrong


def test_lists():
    arguments = (lists_of_formulae(), list_of_guide(), asked_for('dependency'),
                 asked_for('find_program'))
    assert {'gio-2.0', 'zlib', 'pygobject-3.0'} <= arguments[2] and 'valac' in arguments[3]
    assert check_lists(*arguments) == []


def test_mistakes_are_noticed():
    """Each formula that is missing in need.sh or in the guide, and one too many."""
    lists, guide = lists_of_formulae(), list_of_guide()
    dependencies, programs = asked_for('dependency'), asked_for('find_program')
    for formula in guide:
        less = [name for name in guide if name != formula]
        assert check_lists(lists, less, dependencies, programs)
        assert check_lists(lists | {'build': less}, less, dependencies, programs), formula
    more = [*guide, 'libpng']
    assert check_lists(lists | {'build': more}, more, dependencies, programs)


def test_warnings_of_scanner():
    """None is fatal where Homebrew's newer scanner has others."""
    found = [(name, value.strip()) for name, text in meson_files()
             for value in re.findall(r'fatal_warnings:([^\n,]*)', text)]
    calls = [name for name, text in meson_files() for _ in re.findall(r'generate_gir\(', text)]
    assert sorted(name for name, _ in found) == sorted(calls) and len(calls) > 2
    assert {value for _, value in found} == {'not darwin'}, found


for name, function in list(globals().items()):
    if name.startswith('test_'):
        function()

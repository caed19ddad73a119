#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what becomes outdated in the recipes of packaging/: test_recipes.py BUILD [--files]

The version, the options of meson, and the files of this project that they name. With --files,
BUILD has all parts, and what it would install is compared with the lists of files, and what its
libraries export with the lists of Debian's packages.
"""

import json
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'maintainer'))
import symbols  # noqa: E402

PACKAGING = ROOT / 'packaging'

SPEC, ARCH, CONDA = 'fedora/mtldl.spec', 'arch/PKGBUILD', 'conda/recipe.yaml'

# The places of the version in the recipes.
VERSIONS = {
    SPEC: r'^Version: +(\S+)$',
    ARCH: r'^pkgver=(\S+)$',
    CONDA: r'^  version: "([\d.]+)"$',
    'flatpak/org.mtldl.Viewer.yaml': r'/mtldl-([\d.]+)\.tar\.xz$',
    'homebrew/mtldl.rb': r'/mtldl-([\d.]+)\.tar\.xz"$',
}
NO_CHECKSUM = {SPEC}    # Fedora has it in a file of its own
UNKNOWN_CHECKSUM = '0' * 64

# The names of installed files here, below the prefix.
LIB, PYTHON = 'LIB', 'PYTHON'
MACROS = {
    '_bindir': 'bin',
    '_datadir': 'share',
    '_docdir': 'share/doc',
    '_includedir': 'include',
    '_libdir': LIB,
    '_mandir': 'share/man',
    '_metainfodir': 'share/metainfo',
    'python3_sitearch': PYTHON,
}
# Ordinary builds install neither the reference nor tests, and a macro finds translations.
UNLISTED = re.compile('(share/(doc|devhelp|locale)|(share|libexec)/installed-tests)(/|$)')


def find_wrong_versions(texts, version):
    for name, pattern in VERSIONS.items():
        found = re.findall(pattern, texts[name], re.MULTILINE)
        if found != [version]:
            yield f'{name}: the version is {found}, not {version}'


def find_wrong_checksums(texts):
    """A release replaces zeros."""
    for name, text in texts.items():
        found = re.findall(r'\b[0-9a-f]{64}\b', text)
        if found != ([] if name in NO_CHECKSUM else [UNKNOWN_CHECKSUM]):
            yield f'{name}: the checksum of a release that is to come is {UNKNOWN_CHECKSUM}'


def find_wrong_options(texts, options):
    """options: those of meson introspect. A value that a recipe computes may be any."""
    known = {option['name']: option for option in options}
    for recipe, text in texts.items():
        for name, value in re.findall(r'-D([\w.]+)=(\S+)', text):
            option = known.get(name)
            choices = ['true', 'false'] if option and option['type'] == 'boolean' \
                else option and option.get('choices')
            if option is None:
                yield f'{recipe}: there is no option {name}'
            elif choices and value not in choices and not re.search('[$#%]', value):
                yield f'{recipe}: -D{name} cannot be {value}'


def find_missing_sources(texts):
    for recipe, text in texts.items():
        names = re.findall(r'\b((?:debian|examples)/[\w./-]+)', text)
        for line in re.findall(r'^%(?:doc|license) (.*)', text, re.MULTILINE):
            names += line.split()
        names += re.findall(r'^ *license_file: (\S+)', text, re.MULTILINE)
        yield from (f'{recipe}: there is no file {name}' for name in names
                    if not (ROOT / name).is_file())


def read_installed(build, options):
    """The files that a build installs."""
    values = {option['name']: option['value'] for option in options}
    prefix = Path(values['prefix'])
    files = []
    for source, destination in read_json(build, 'installed').items():
        source, destination = Path(source), Path(destination)
        files += [destination / path.relative_to(source) for path in source.rglob('*')
                  if path.is_file()] if source.is_dir() else [destination]

    override = next(path for path in files if path.match('gi/overrides/Mtl.py'))
    names = {override.parents[2]: PYTHON, prefix / values['libdir']: LIB, prefix: ''}
    shortened = set()
    for path in files:
        home = next(home for home in names if path.is_relative_to(home))
        shortened.add((names[home] / path.relative_to(home)).as_posix())
    return {name for name in shortened if not UNLISTED.match(name)}


def read_spec(text):
    """The lists of files in a spec: {package: patterns}."""
    lists, patterns = {}, None
    for line in text.splitlines():
        section = re.match(r'%(\w+) *(?:-n )?(.*)', line)
        if section and section[1] not in ('dir', 'doc', 'license'):
            patterns = lists.setdefault(section[2], []) if section[1] == 'files' else None
        elif patterns is not None and line.startswith('%{'):
            name = re.sub(r'%\{(\w+)\}', lambda macro: MACROS[macro[1]], line)
            if not UNLISTED.match(name):
                patterns.append(name)
    return lists


def select(pattern, files):
    """Selects files as a spec does: a name that ends with a slash is that of a folder with all that
    is in it."""
    expression = re.escape(pattern).replace(r'\*', '[^/]*') + ('.*' if pattern[-1] == '/' else '')
    return {name for name in files if re.fullmatch(expression, name)}


def find_wrong_lists(lists, files):
    homes = {}
    for package, patterns in lists.items():
        for pattern in patterns:
            selected = select(pattern, files)
            if not selected:
                yield f'{SPEC}: nothing is installed as {pattern}'
            for name in selected:
                homes.setdefault(name, []).append(package)
    for name in sorted(files):
        if len(homes.get(name, [])) != 1:
            yield f'{SPEC}: {name} is in {len(homes.get(name, []))} packages'


def find_wrong_parts(text, viewer, files):
    """Yields the faults of PKGBUILD's parts: its viewer has the same files as the spec's."""
    chosen = set()
    for line in re.findall(r'^ *set_aside viewer (.*)', text.replace('\\\n', ''), re.MULTILINE):
        for path in shlex.split(line):
            name = path.removeprefix('usr/')
            chosen |= select(name, files) | select(name + '/', files)
    yield from (f'{ARCH}: {name} is in the viewer, or is not, unlike in {SPEC}'
                for name in sorted(chosen ^ viewer))


def find_wrong_contents(text, files):
    for name in re.findall(r'^ +- ((?:lib|share)/\S+)$', text, re.MULTILINE):
        if name.replace('lib/', LIB + '/', 1) not in files and name not in files:
            yield f'{CONDA}: nothing is installed as {name}'


def check_checks():
    """Each check finds a mistake."""
    texts = {name: 'Version: 7' for name in VERSIONS}
    option = {'name': 'docs', 'type': 'combo', 'choices': ['enabled', 'disabled']}
    lists = {'a': ['bin/a', 'share/'], 'b': ['share/b*', 'bin/c']}
    files = {'bin/a', 'bin/b', 'share/b.1'}
    found = [
        list(find_wrong_versions(texts, '1')),
        list(find_wrong_checksums({ARCH: '1' * 64})),
        list(find_wrong_options({ARCH: '-Ddocs=true'}, [option])),
        list(find_wrong_options({ARCH: '-Ddoc=enabled'}, [option])),
        list(find_missing_sources({ARCH: 'examples/none.c'})),
        list(find_wrong_lists(lists, files)),
        list(find_wrong_parts('set_aside viewer usr/bin', {'bin/a'}, files)),
        list(find_wrong_contents(' - lib/none', files)),
        list(symbols.find_wrong('a', ' mtl_a@MTLDL_1 1\n mtl_b@MTLDL_1 1\n',
                                {'mtl_b@MTLDL_1', 'mtl_c@MTLDL_1'})),
    ]
    counts = [len(complaints) for complaints in found]
    return [] if counts == [len(VERSIONS), 1, 1, 1, 1, 3, 1, 1, 2] else [f'The checks found {found}']


def read_json(build, name):
    return json.loads((build / 'meson-info' / f'intro-{name}.json').read_text())


def main(build, has_all_parts):
    texts = {name: (PACKAGING / name).read_text() for name in VERSIONS}
    options = read_json(build, 'buildoptions')
    complaints = [
        *check_checks(),
        *find_wrong_versions(texts, read_json(build, 'projectinfo')['version']),
        *find_wrong_checksums(texts),
        *find_wrong_options(texts, options),
        *find_missing_sources(texts),
    ]
    if has_all_parts:
        files = read_installed(build, options)
        lists = read_spec(texts[SPEC])
        viewer = {name for pattern in lists['viewer'] for name in select(pattern, files)}
        complaints += [
            *find_wrong_lists(lists, files),
            *find_wrong_parts(texts[ARCH], viewer, files),
            *find_wrong_contents(texts[CONDA], files),
            *symbols.find_all_wrong([build / 'introspection' / 'Mtl-1.gir',
                                     *sorted((build / 'bridges').glob('*.gir'))]),
        ]
        print(f'{len(files)} installed files in {len(lists)} lists')
    print('\n'.join(complaints))
    return len(complaints) > 0


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]), '--files' in sys.argv[2:]))

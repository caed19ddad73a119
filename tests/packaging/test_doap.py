#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks mtldl.doap, which describes the project: it agrees with meson.build and debian/control."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOAP = '{http://usefulinc.com/ns/doap#}'
FOAF = '{http://xmlns.com/foaf/0.1/}'
RESOURCE = '{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource'

# The languages of the source, by the endings of its files.
LANGUAGES = {'C': '.c', 'JavaScript': '.js', 'Objective-C': '.m', 'Python': '.py', 'Vala': '.vala'}


def find(pattern, name):
    return re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)[1]


def main():
    project = ElementTree.parse(ROOT / 'mtldl.doap').getroot()
    assert project.tag == f'{DOAP}Project', project.tag

    def text(name):
        (element,) = project.findall(DOAP + name)
        return element.text.strip()

    def resource(path):
        (element,) = project.findall(path)
        return element.attrib[RESOURCE]

    person = f'{DOAP}maintainer/{FOAF}Person/{FOAF}'
    (name,) = project.findall(person + 'name')
    address = resource(person + 'mbox').removeprefix('mailto:')
    languages = {element.text for element in project.findall(f'{DOAP}programming-language')}
    expected = {
        'name': (text('name'), find(r"^project\('(\w+)'", 'meson.build')),
        'license': (resource(f'{DOAP}license').rpartition('/')[2],
                    find(r"^  license: '(.*)',$", 'meson.build')),
        'homepage': (resource(f'{DOAP}homepage'), find('^Homepage: (.*)$', 'debian/control')),
        'maintainer': (f'{name.text} <{address}>', find('^Maintainer: (.*)$', 'debian/control')),
        'languages': (languages, set(LANGUAGES)),
    }
    wrong = [f'{what}: {seen} instead of {right}'
             for what, (seen, right) in expected.items() if seen != right]
    wrong += [f'{what} is empty' for what in ('shortdesc', 'description') if not text(what)]
    for language, ending in LANGUAGES.items():
        if next(ROOT.glob(f'[mie]*/**/*{ending}'), None) is None:
            wrong.append(f'there is no source in {language}')
    print(*wrong, sep='\n', end='\n' if wrong else '')
    return len(wrong) > 0


if __name__ == '__main__':
    sys.exit(main())

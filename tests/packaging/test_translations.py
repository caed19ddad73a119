#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the translations: test_translations.py [MSGFMT]

po/POTFILES.in has to list the files with texts for people, and po/LINGUAS the languages. With
msgfmt, each translation has to be valid: its formats, for example, are those of the original.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PO = ROOT / 'po'

# The marks of texts in C and in Python; the other files have some in any case.
MARKED = re.compile(r'(?<![\w$])(?:N?_|ngettext) ?\(\s*["\']')
DATA = ('.desktop.in', '.metainfo.xml.in.in', '.mime.xml.in')


def read_list(path):
    lines = (line.partition('#')[0] for line in path.read_text().splitlines())
    return [word for line in lines for word in line.split()]


def find_marked():
    """Returns the files with texts that are marked."""
    sources = [*(ROOT / 'cli').glob('*.c'), *(ROOT / 'viewer').rglob('*.py')]
    marked = [path for path in sources if MARKED.search(path.read_text())]
    marked += [path for path in (ROOT / 'viewer').rglob('*.in') if path.name.endswith(DATA)]
    return sorted(path.relative_to(ROOT).as_posix() for path in marked)


def check_lists():
    listed, marked = read_list(PO / 'POTFILES.in'), find_marked()
    assert len(marked) > 10
    for path in sorted(set(listed) ^ set(marked)):
        yield f'{path}: ' + ('is not in po/POTFILES.in' if path in marked else 'has no such text')

    languages, files = read_list(PO / 'LINGUAS'), {path.stem for path in PO.glob('*.po')}
    for language in sorted(set(languages) ^ files):
        yield f'{language}: is not both in po/LINGUAS and a file in po/'


def check_translation(msgfmt, path):
    """Gives what msgfmt complains of."""
    result = subprocess.run([msgfmt, '--check', '--output-file=/dev/null', path],
                            capture_output=True, text=True)
    return result.stderr.splitlines() if result.returncode != 0 else []


def main(msgfmt=None):
    wrong = list(check_lists())
    translations = sorted(PO.glob('*.po'))
    for path in translations if msgfmt else []:
        wrong += check_translation(msgfmt, path)
    for line in wrong:
        print(line)
    print(f'{len(translations)} translations' + ('' if msgfmt else ', not read without msgfmt'))
    return len(wrong) > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

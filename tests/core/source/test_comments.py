#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that comments are sentences, or noun phrases for the next line: none opens with one of the
words that make a fragment."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ('mtldl', 'bridges', 'introspection', 'cli', 'viewer', 'tests', 'examples', 'docs',
           'maintainer')
# A string in three quotes that begins with a line break is often a program.
FRAGMENT = re.compile(r'(?:/\*+|//|#|"""(?!\n))\s*(?:whether|what|how|who|of|from|to)\b(?!=)',
                      re.IGNORECASE)

# A token is a string or a comment, of which only the first line counts if the next ones go on.
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
C_LIKE = re.compile(rf'{STRING}|/\*.*?\*/|(?://[^\n]*\n?\s*)+', re.DOTALL)
PYTHON = re.compile(rf'""".*?"""|{STRING}|(?:#[^\n]*\n?\s*)+', re.DOTALL)
LANGUAGES = {'.c': C_LIKE, '.h': C_LIKE, '.m': C_LIKE, '.js': C_LIKE, '.vala': C_LIKE,
             '.py': PYTHON, '.pyi': PYTHON, '.build': PYTHON}


def find_fragments(path):
    text = path.read_text()
    for token in LANGUAGES[path.suffix].finditer(text):
        if FRAGMENT.match(token[0]):
            yield text.count('\n', 0, token.start()) + 1, token[0].splitlines()[0]


def main():
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob('*'))
             if path.suffix in LANGUAGES]
    wrong = [f'{path.relative_to(ROOT)}:{line}: {comment}'
             for path in paths for line, comment in find_fragments(path)]
    print(*wrong, f'{len(paths)} files, {len(wrong)} comments open with a fragment', sep='\n')
    return len(wrong) > 0 or len(paths) < 100


if __name__ == '__main__':
    sys.exit(main())

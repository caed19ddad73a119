# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the fenced code blocks of a Markdown file, by section and language."""

import re

HEADING = re.compile(r'^## (.*)$')
FENCE = re.compile(r'^```([\w-]*)$')


def read_blocks(path):
    """Returns (section, language, text) for each block, in the order of the file."""
    blocks = []
    section = ''
    language = None
    lines = []

    for line in path.read_text(encoding='utf-8').splitlines():
        fence = FENCE.match(line)
        heading = HEADING.match(line)
        if language is not None:
            if fence:
                blocks.append((section, language, '\n'.join(lines) + '\n'))
                language = None
            else:
                lines.append(line)
        elif fence:
            language = fence.group(1)
            lines = []
        elif heading:
            section = heading.group(1)

    if language is not None:
        raise ValueError(f'{path}: a block of "{language}" has no end')

    return blocks


def get_block(blocks, section, language, number=0):
    """Returns the text of one block. Raises LookupError if there is no such block."""
    found = [text for where, kind, text in blocks if (where, kind) == (section, language)]
    if len(found) <= number:
        raise LookupError(f'no block {number} of {language} under "{section}"')

    return found[number]

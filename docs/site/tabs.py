# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns blocks of code that directly follow one another, each in another language, into tabs.

gi-docgen does not keep the language of a block. A comment before each block does, from the guide to
the page.
"""

import re

# The languages in the order of the tabs, as users see them.
LANGUAGES = {'c': 'C', 'python': 'Python', 'js': 'JavaScript', 'vala': 'Vala'}

FENCE = re.compile(r'^```([\w-]*)$')
BLOCK = re.compile(r'<!-- code: (\w*) -->\s*(<div class="codehilite">.*?</div>)', re.DOTALL)


def highlighted(language):
    """Returns the name that Pygments knows: python-torch is Python that needs PyTorch."""
    return language.partition('-')[0]


def mark_blocks(text):
    lines, inside = [], False
    for line in text.split('\n'):
        fence = FENCE.match(line)
        if fence and not inside:
            language = highlighted(fence[1]) or 'text'
            lines += [f'<!-- code: {language} -->', '', f'```{language}']
        else:
            lines.append(line)
        inside ^= fence is not None
    return '\n'.join(lines)


def find_groups(text):
    """Yields runs of programs with nothing between them, and other blocks: lists of matches."""
    group = []
    for match in BLOCK.finditer(text):
        if group and (text[group[-1].end():match.start()].strip()
                      or match[1] not in LANGUAGES or group[-1][1] not in LANGUAGES):
            yield group
            group = []
        group.append(match)
    if group:
        yield group


def are_tabs(group):
    languages = [match[1] for match in group]
    return len(group) > 1 and len(set(languages)) == len(group)


def write_tabs(group):
    ordered = sorted(group, key=lambda match: list(LANGUAGES).index(match[1]))
    parts = ['<div class="tabs">']
    for match in ordered:
        parts.append(f'<div class="tab" data-language="{match[1]}">'
                     f'<p class="tab-title">{LANGUAGES[match[1]]}</p>\n{match[2]}</div>')
    return '\n'.join([*parts, '</div>'])


def write_pages_blocks(text):
    """Returns the page with tabs, and without the comments."""
    parts, end = [], 0
    for group in find_groups(text):
        parts.append(text[end:group[0].start()])
        if are_tabs(group):
            parts.append(write_tabs(group))
        else:
            parts += [match[2].replace('"codehilite"', f'"codehilite language-{match[1]}"') + '\n'
                      for match in group]
        end = group[-1].end()
    return ''.join([*parts, text[end:]])

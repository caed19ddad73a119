# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes Markdown for gi-docgen, from comments that are plain text."""

import html
import re

CODE = re.compile(r'(`+[^`]+`+)')
# Code that a comment in plain text does not mark as such.
IDENTIFIERS = re.compile(r'''
    (?<![\w.`])(?:
      (?:[A-Za-z]\w*\.)*\w*[A-Za-z]\w*\(\)      # a.b(), to_dtype()
    | (?:\w+\.)*__\w+__(?:\(\))?                # x.__dlpack__
    | [a-z]+(?:_[a-z0-9]+)+                     # item_bits
    | [a-z_]+=[A-Za-z0-9]+                      # copy=True
    )(?![\w`])''', re.VERBOSE)
SPECIAL = re.compile(r'([\\*_\[\]<>#|])')


def escape(text):
    return SPECIAL.sub(lambda match: html.escape(match[1]) if match[1] in '<>' else '\\' + match[1],
                       text)


def code(text):
    return f'`{text}`'


def inline(text):
    """Returns Markdown that shows a plain text, with identifiers as code."""
    parts = []
    for part in CODE.split(text):
        if part.startswith('`'):
            parts.append(part)
            continue
        end = 0
        for match in IDENTIFIERS.finditer(part):
            parts += [escape(part[end:match.start()]), code(match[0])]
            end = match.end()
        parts.append(escape(part[end:]))
    return ''.join(parts)


def paragraphs(text):
    """Returns Markdown for a comment of paragraphs and lists with "- "."""
    lines = []
    for line in text.strip().splitlines():
        starts_item = re.match(r' *- ', line)
        continues_item = lines and re.match(r'(- |  \S)', lines[-1]) and line.startswith('  ')
        if starts_item and lines and lines[-1] and not re.match(r'(- |  )', lines[-1]):
            lines.append('')
        if not starts_item and not continues_item and lines and re.match(r'(- |  )', lines[-1]):
            lines.append('')
        if starts_item:
            lines.append('- ' + inline(line.strip()[2:]))
        else:
            lines.append(('  ' if continues_item else '') + inline(line.strip()))
    return '\n'.join(lines)


def sentence(text):
    """Returns the text as a sentence: with a capital and a full stop."""
    text = text.strip()
    if not text:
        return text
    if text[0] != '`' and not re.match(r'\w+ ?[.(_=\[]', text):
        text = text[0].upper() + text[1:]
    return text if text[-1] in '.:!?' else text + '.'


def heading(anchor, shown, kind):
    """Returns the heading of a member. The index of the search and Devhelp's are made of these."""
    return (f'<h4 class="member" id="{html.escape(anchor)}" data-kind="{kind}">'
            f'<code>{html.escape(shown)}</code></h4>\n')


def anchor(name, kind):
    """Returns an anchor within a line, that is found like a heading."""
    return f'<a class="member" id="{html.escape(name)}" data-kind="{kind}"></a>'


def table(rows):
    """Returns a table of two columns without a header."""
    lines = ['<table class="members"><tbody>']
    lines += [f'<tr><td>{left}</td><td>{right}</td></tr>' for left, right in rows]
    return '\n'.join([*lines, '</tbody></table>', ''])


def html_inline(text):
    """Returns HTML for a plain text with `code`, within a table."""
    parts = []
    for part in CODE.split(text):
        if part.startswith('`'):
            parts.append(f'<code>{html.escape(part.strip("`"))}</code>')
            continue
        end = 0
        for match in IDENTIFIERS.finditer(part):
            parts += [html.escape(part[end:match.start()], quote=False),
                      f'<code>{html.escape(match[0])}</code>']
            end = match.end()
        parts.append(html.escape(part[end:], quote=False))
    return ''.join(parts)


def localize(text, constants):
    """Replaces C's names of constants: {'TRUE': 'True', …}."""
    for name, replacement in constants.items():
        text = re.sub(rf'`?(?<![\w]){name}(?![\w])`?', code(replacement), text)
    return text


def link(symbol):
    shown = symbol.c_name + ('()' if symbol.c_name.islower() else '')
    return f'[`{shown}`]({symbol.page})'


def page(title, introduction, sections):
    return '\n'.join([f'Title: {title}', 'SPDX-License-Identifier: LGPL-2.1-or-later', '',
                      f'# {title}', '', introduction, '', *sections, ''])

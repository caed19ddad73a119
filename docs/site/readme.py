# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes parts of README.md for pages, so that what its tests check is not typed again."""

import re

import tabs

FENCED = re.compile(r'^```([\w-]*)\n(.*?)^```\n?', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)')
# Where the sections that have become pages are.
PAGES_OF_SECTIONS = {'use-it-from-your-own-project': 'installation.html',
                     'install-it': 'installation.html'}
PAGES_OF_FOLDERS = {'examples/': 'examples.html'}
INSTALLATION = ('Install it', 'Use it from your own project')


class Missing(Exception):
    """README.md or a page lacks what another page is made of."""


def read_sections(text):
    """Returns {heading: text}; what comes before the first is that of ''."""
    parts = re.split(r'^## (.*)$', text, flags=re.MULTILINE)
    return dict(zip(['', *parts[1::2]], (part.strip() + '\n' for part in parts[::2])))


def find_address(target):
    """Returns where a page has what a link of the README leads to, or None."""
    if re.match(r'https?:', target):
        return target
    path, _, anchor = target.partition('#')
    if not path and anchor in PAGES_OF_SECTIONS:
        return f'{PAGES_OF_SECTIONS[anchor]}#{anchor}'
    guide = re.fullmatch(r'docs/([\w-]+)\.md', path)
    if guide:
        return f'{guide[1]}.html' + (f'#{anchor}' if anchor else '')
    if re.fullmatch(r'docs/[\w-]+\.(png|svg)', path):
        return path.removeprefix('docs/')
    return PAGES_OF_FOLDERS.get(path)


class Readme:
    def __init__(self, root):
        self.root = root
        self.sections = read_sections((root / 'README.md').read_text(encoding='utf-8'))

    def find_title(self, path):
        """Returns the title of a guide."""
        match = re.match(r'Title: (.*)', (self.root / path).read_text(encoding='utf-8'))
        return match[1] if match else path

    def relink(self, text):
        """Returns the Markdown with links to pages. Links to other files are only their text, and
        guides have their titles for a text."""
        def replace(match):
            shown, target = match.groups()
            address = find_address(target)
            shown = self.find_title(shown) if address and shown.startswith('docs/') else shown
            return f'[{shown}]({address})' if address else shown
        return LINK.sub(replace, text)

    def get(self, heading):
        if heading not in self.sections:
            raise Missing(f'README.md has no section “{heading}”')
        return self.sections[heading]

    def get_blocks(self, heading, languages):
        """Returns the first block of each language, as Markdown, with nothing between them."""
        blocks = {}
        for match in FENCED.finditer(self.get(heading)):
            blocks.setdefault(match[1], match[0])
        missing = [language for language in languages if language not in blocks]
        if missing:
            raise Missing(f'“{heading}” of README.md has no block of {", ".join(missing)}')
        return '\n'.join(blocks[language] for language in languages)

    def get_paragraph_before(self, heading, start):
        """Returns the paragraph before a block of code that begins so."""
        paragraphs = self.get(heading).split('\n\n')
        for before, after in zip(paragraphs, paragraphs[1:]):
            if after.startswith(start):
                return before
        raise Missing(f'“{heading}” of README.md has no block “{start}”')

    def get_purpose(self):
        """Returns the first paragraph, without the sentence that leads to code."""
        sentences = re.split(r'(?<=[.:])\s+(?=[A-Z]|mtldl)', self.get('').split('\n\n')[1])
        return ' '.join(sentence for sentence in sentences if not sentence.endswith(':'))

    def get_demo(self):
        """Returns the paragraph about `./run demo`, and the table that it prints."""
        table = FENCED.search(self.get(''), self.get('').index('`./run demo`'))
        return f'{self.get_paragraph_before("", table[0][:40])}\n\n{table[0]}'

    def write_programs(self):
        heading = 'The same in four languages'
        return self.get_blocks(heading, tabs.LANGUAGES)

    def write_programs_purpose(self):
        return self.get('The same in four languages').split('```')[0]

    def write_programs_output(self):
        return self.get_blocks('The same in four languages', ['text'])

    def write_installation(self):
        parts = ['Title: Installation', 'SPDX-License-Identifier: LGPL-2.1-or-later', '',
                 '# Installation', '']
        for heading in INSTALLATION:
            parts += [f'## {heading}', '', self.relink(self.get(heading))]
        return '\n'.join(parts)


def read_ratios(text):
    """Returns how many times as fast as NumPy and PyTorch copies are, of performance.md."""
    match = re.search(r'([\d.]+)\s+times\s+that\s+of\s+NumPy\s+and\s+([\d.]+)\s+times\s+that\s+of\s'
                      r'+PyTorch', text)
    if match is None:
        raise Missing('performance.md has no geometric means')
    return match[1], match[2]

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes parts of README.md and of guides for other pages, so that what tests check there is not
typed again."""

import re

import tabs

FENCED = re.compile(r'^```([\w-]*)\n(.*?)^```\n?', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)')
PAGES_OF_FOLDERS = {'examples/': 'examples.html'}
README, INSTALLATION, INTRODUCTION = 'README.md', 'docs/installation.md', 'docs/introduction.md'
PROGRAMS = 'The same in four languages'
DEMO = 'What sharing saves'


class Missing(Exception):
    """A text lacks a part that another page is made of."""


def read_sections(text):
    """Returns {heading: text}; what comes before the first is that of ''."""
    parts = re.split(r'^## (.*)$', text, flags=re.MULTILINE)
    return dict(zip(['', *parts[1::2]], (part.strip() + '\n' for part in parts[::2])))


def find_address(target):
    """Returns where a page has what a link of the README leads to, or None."""
    if re.match(r'https?:', target):
        return target
    path, _, anchor = target.partition('#')
    guide = re.fullmatch(r'docs/([\w-]+)\.md', path)
    if guide:
        return f'{guide[1]}.html' + (f'#{anchor}' if anchor else '')
    if re.fullmatch(r'docs/[\w-]+\.(png|svg)', path):
        return path.removeprefix('docs/')
    return PAGES_OF_FOLDERS.get(path)


class Excerpts:
    def __init__(self, root):
        self.root = root
        self.sections = {path: read_sections((root / path).read_text(encoding='utf-8'))
                         for path in (README, INSTALLATION, INTRODUCTION)}

    def find_title(self, path):
        """Returns the title of a guide."""
        match = re.match(r'Title: (.*)', (self.root / path).read_text(encoding='utf-8'))
        return match[1] if match else path

    def relink(self, text):
        """Returns the Markdown of the README with links to pages. Links to other files are only
        their text, and guides have their titles for a text."""
        def replace(match):
            shown, target = match.groups()
            address = find_address(target)
            shown = self.find_title(shown) if address and shown.startswith('docs/') else shown
            return f'[{shown}]({address})' if address else shown
        return LINK.sub(replace, text)

    def get(self, path, heading):
        if heading not in self.sections[path]:
            raise Missing(f'{path} has no section “{heading}”')
        return self.sections[path][heading]

    def get_program_blocks(self, languages):
        """Returns the first block of each language, as Markdown, with nothing between them."""
        blocks = {}
        for match in FENCED.finditer(self.get(INSTALLATION, PROGRAMS)):
            blocks.setdefault(match[1], match[0])
        missing = [language for language in languages if language not in blocks]
        if missing:
            raise Missing(f'“{PROGRAMS}” of {INSTALLATION} has no block of {", ".join(missing)}')
        return '\n'.join(blocks[language] for language in languages)

    def get_purpose(self):
        """Returns the first paragraph, without the sentence that leads to code."""
        sentences = re.split(r'(?<=[.:])\s+(?=[A-Z]|mtldl)', self.get(README, '').split('\n\n')[1])
        return self.relink(' '.join(sentence for sentence in sentences
                                    if not sentence.endswith(':')))

    def get_compatibility(self):
        return self.relink(self.get(README, 'What works with what'))

    def get_demo(self):
        """Returns the paragraph about `./run demo`, and the table that it prints."""
        text = self.get(INTRODUCTION, DEMO)
        table = FENCED.search(text)
        if table is None or '`./run demo`' not in text[:table.start()]:
            raise Missing(f'“{DEMO}” of {INTRODUCTION} does not begin with `./run demo`')
        return text[:table.end()]

    def get_programs(self):
        return self.get_program_blocks(tabs.LANGUAGES)

    def get_programs_purpose(self):
        """Returns the first sentence: the next one leads to the output."""
        return self.get(INSTALLATION, PROGRAMS).split('```')[0].rpartition('. Then')[0] + '.'

    def get_programs_output(self):
        return self.get_program_blocks(['text'])

    def get_installation(self):
        return self.get(INSTALLATION, 'Install it')


def read_ratios(text):
    """Returns how many times as fast as NumPy and PyTorch copies are, of performance.md."""
    match = re.search(r'([\d.]+)\s+times\s+that\s+of\s+NumPy\s+and\s+([\d.]+)\s+times\s+that\s+of\s'
                      r'+PyTorch', text)
    if match is None:
        raise Missing('performance.md has no geometric means')
    return match[1], match[2]

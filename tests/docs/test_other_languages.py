#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the code in docs/other-languages.md is that of the examples, which
tests/bindings/languages runs: test_other_languages.py ROOT
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from blocks import read_blocks  # noqa: E402

EXAMPLES = {'lua': 'lua/tensor.lua', 'ruby': 'ruby/tensor.rb', 'perl': 'perl/tensor.pl',
            'd': 'd/tensor.d'}


def main(root):
    root = pathlib.Path(root)
    blocks = read_blocks(root / 'docs' / 'other-languages.md')
    texts = {language: (root / 'examples' / path).read_text(encoding='utf-8')
             for language, path in EXAMPLES.items()}
    # The examples' output, and the file that girtod reads.
    texts['text'] = ''.join((root / path).read_text(encoding='utf-8')
                            for path in ('tests/bindings/languages/tensor.txt', 'examples/d/APILookup.txt'))
    faults = [f'the block of “{language}” under “{section}” is not in the example'
              for section, language, text in blocks
              if language != 'sh' and text not in texts.get(language, '')]
    faults += [f'the page has no block of “{language}”'
               for language in texts.keys() - {language for _, language, _ in blocks}]
    print(*faults, sep='\n')
    return len(faults) > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks which files `meson install --tags` installs: test_install_tags.py BUILD

Each file has the tag of the part that it belongs to, so that a packager can install the parts one
by one.
"""

import collections
import json
import re
import sys
from pathlib import Path

# Patterns of paths below the prefix, and their tags. The first pattern that matches counts.
TAGS = [
    (r'.*[.]typelib$', 'typelib'), # meson decides that
    (r'share/installed-tests/|libexec/installed-tests/', 'tests'),
    (r'share/locale/', 'i18n'),
    (r'share/man/', 'man'),
    (r'share/(doc|devhelp)/', 'doc'),
    (r'include/|lib/pkgconfig/|share/(gir-1[.]0|vala|dbus-1/interfaces)/', 'devel'),
    (r'share/gjs-1[.]0/', 'typelib'),
    (r'python/(gi|gi-stubs|mtldl)/', 'python-runtime'),
    (r'bin/mtldl-viewer|share/mtldl/viewer/', 'viewer'),
    (r'share/(applications|dbus-1|icons|metainfo|mime)(/|$)', 'viewer'),
    (r'share/bash-completion/', 'bash-completion'),
    (r'share/zsh/', 'zsh-completion'),
    (r'share/fish/', 'fish-completion'),
    (r'bin/mtldl$|lib/libmtldl', 'runtime'),
]

# The values of these, as far as the patterns need them.
PLACES = {'{prefix}/': '', '{bindir}': 'bin', '{libdir}': 'lib', '{libdir_shared}': 'lib',
          '{includedir}': 'include', '{datadir}': 'share', '{mandir}': 'share/man',
          '{localedir}': 'share/locale', '{libexecdir}': 'libexec', '{py_platlib}': 'python',
          '{py_purelib}': 'python'}


def read_plan(build):
    """Returns the tags of each destination: meson installs some files twice, once without one."""
    plan = json.loads((Path(build) / 'meson-info' / 'intro-install_plan.json').read_text())
    tags = collections.defaultdict(set)
    for files in plan.values():
        for entry in files.values():
            destination = entry['destination']
            for place, path in PLACES.items():
                destination = destination.replace(place, path)
            # Folders of Debian, and of the processor.
            destination = re.sub(r'^/.*/(gi|gi-stubs|mtldl)/', r'python/\1/', destination)
            destination = re.sub(r'^lib/[^/]+-linux-[^/]+/', 'lib/', destination)
            tags[destination].add(entry['tag'])
    return tags


def check(tags):
    for destination, seen in sorted(tags.items()):
        expected = next((tag for pattern, tag in TAGS if re.match(pattern, destination)), None)
        if expected is None:
            yield f'{destination}: no rule has a tag for it'
        elif seen - {None} != {expected}:
            yield f'{destination}: has {", ".join(map(str, seen))} instead of {expected}'


def main(build):
    tags = read_plan(build)
    wrong = list(check(tags))
    print(*wrong, sep='\n', end='\n' if wrong else '')
    print(f'{len(tags)} files')
    assert {'include/mtldl-1/mtldl/mtldl.h', 'lib/pkgconfig/mtldl-1.pc'} <= set(tags)
    return len(wrong) > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what maintainer/release.sh refuses: test_release.py SOURCE_ROOT

A small repository has only the files that say which version there is.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

METAINFO = 'viewer/data/org.mtldl.Viewer.metainfo.xml.in.in'
FILES = ['meson.build', 'NEWS.md', 'debian/changelog', METAINFO, 'maintainer/release.sh',
         'tests/packaging/abi/Mtl-1.txt', 'tests/packaging/abi/MtlGst-1.txt',
         'tests/packaging/abi/MtlGtk-1.txt', 'tests/packaging/abi/MtlPixbuf-1.txt']
RECIPE = 'packaging/arch/PKGBUILD'
VERSION, DATE = '7.8.9', '2031-01-31'

# The steps that take long, or need all of the tree.
HEAVY = ['interface', 'tests', 'build', 'tarball', 'docs', 'packages', 'sdist', 'recipes']

# A file, a text in it and the replacement, and the values that the message says beside its name.
REFUSED = [
    ('meson.build', "'7.8.9'", "'7.8.8'", ['“7.8.8”', '7.8.9']),
    ('debian/changelog', '7.8.9', '7.8.8', ['“7.8.8”']),
    ('NEWS.md', '## 7.8.9,', '## 7.8.8,', ['“7.8.8”']),
    ('NEWS.md', DATE, 'unreleased', ['“7.8.9, unreleased”']),
    ('NEWS.md', f'## 7.8.9, {DATE}', '', ['“”']),
    ('NEWS.md', f'## 7.8.9, {DATE}\n', f'## 7.8.9, {DATE}\n\n## 1.0.0\n', ['7.8.9']),
    (METAINFO, DATE, '2030-12-31', ['2030-12-31', DATE]),
    (METAINFO, '@VERSION@', '7.8.8', ['“7.8.8”']),
    (RECIPE, '7.8.9', '7.8.8', ['7.8.9']),
    ('tests/packaging/abi/Mtl-1.txt', '7.8.9', '7.8.8', ['./run abi', '“7.8.8”']),
]


class Repository:
    def __init__(self, source, folder):
        self.folder, self.build = folder, folder.parent / 'build'
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, folder / name)
        self.edit('meson.build', r"(?m)^  version: '.*'", f"  version: '{VERSION}'")
        self.edit('debian/changelog', r'^mtldl \(.*?-', f'mtldl ({VERSION}-')
        self.edit('NEWS.md', r'(?m)^## .*', f'## {VERSION}, {DATE}')
        self.edit(METAINFO, r'<release version="[^"]*" date="[^"]*"',
                  f'<release version="@VERSION@" date="{DATE}"')
        for name in FILES[-4:]:
            self.edit(name, r'mtldl [0-9.]+', f'mtldl {VERSION}')
        self.write(RECIPE, f'url=https://mtldl.org/releases/mtldl-{VERSION}.tar.xz\n')
        self.git('init')
        self.git('add', '.')
        self.commit()

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def edit(self, name, pattern, text):
        before = (self.folder / name).read_text()
        after, n = re.subn(pattern, text, before, count=1)
        assert n == 1, (name, pattern)
        self.write(name, after)

    def git(self, *arguments):
        subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.org',
                        '-c', 'commit.gpgsign=false', *arguments],
                       cwd=self.folder, check=True, capture_output=True)

    def commit(self):
        self.git('commit', '-a', '-m', 'A commit')

    def release(self, *arguments, without=HEAVY):
        """Returns the exit status and all that is said."""
        options = [word for step in without for word in ('--without', step)]
        result = subprocess.run(['bash', 'maintainer/release.sh', *arguments, *options],
                                cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT,
                                env=os.environ | {'MTL_BUILD_DIR': str(self.build)})
        return result.returncode, result.stdout


class Report:
    """Prints results in TAP."""

    def __init__(self):
        self.n = self.n_failed = 0

    def add(self, name, outcome, status, *values):
        right = outcome[0] == status and all(value in outcome[1] for value in values)
        self.n += 1
        self.n_failed += not right
        print(f'{"ok" if right else "not ok"} {self.n} - {name}')
        if not right:
            print(*(f'# {line}' for line in [f'status {outcome[0]}', *outcome[1].splitlines()]),
                  sep='\n')


def check_refusals(report, repository):
    report.add('no version', repository.release(without=[]), 2, './run release VERSION')
    report.add('an unknown step', repository.release(VERSION, without=['pushing']), 2,
               *HEAVY)
    report.add('the versions cannot be left out', repository.release(VERSION, without=['versions']),
               2, *HEAVY)
    report.add('another version', repository.release('7.9.0'), 1, '“7.8.9”', '7.9.0')

    for name, old, new, values in REFUSED:
        text = (repository.folder / name).read_text()
        assert old in text, (name, old)
        repository.write(name, text.replace(old, new, 1))
        report.add(f'{name}: {values[0]}', repository.release(VERSION), 1, Path(name).name, *values)
        repository.write(name, text)

    repository.write('more', '')
    report.add('a file that is in no commit', repository.release(VERSION), 1)
    (repository.folder / 'more').unlink()


def check_results(report, repository):
    outcome = repository.release(VERSION)
    report.add('what is left out is said', outcome, 0, *HEAVY)
    results = Path(f'{repository.build}-release') / VERSION
    report.add('there is a file of sums', (0, str([*map(str, results.iterdir())])), 0,
               str(results / 'SHA256SUMS'))
    report.add('recipes need the tarball', repository.release(VERSION, without=HEAVY[:-1]), 1,
               '“tarball”')


def main(source):
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(source), Path(folder, 'repository'))
        check_refusals(report, repository)
        check_results(report, repository)
    print(f'1..{report.n}')
    return report.n_failed > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

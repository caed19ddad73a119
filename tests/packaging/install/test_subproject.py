#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds mtldl as a subproject of a meson project, and uses it from C and Vala.

test_subproject.py SOURCE_ROOT PART…: the project is the one that docs/vala.md
shows, and the wrap packaging/mtldl.wrap, which fetches a repository with a copy of the source.
Nothing is installed, and no environment leads to another library.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'support'))

from blocks import get_block, read_blocks

SECTION = 'As a subproject'
KEPT_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'CC', 'CCACHE_DIR',
                  'CCACHE_BASEDIR']

C_PROGRAM = '''
#include <mtldl/mtldl.h>

int
main (void)
{
  const gint64 shape[] = { 2, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, shape, 2, MTL_STORAGE_MODE_DEFAULT,
                                &error);
  g_autofree char *text = NULL;

  if (view == NULL)
    g_error ("%s", error->message);
  text = mtl_strided_view_to_string (view);
  g_print ("%s\\n", text);
  return 0;
}
'''

VALA_PROGRAM = '''
int main () {
	try {
		var view = new Mtl.StridedView.zeros (null, Mtl.DType.FLOAT32, { 2, 3 });
		view[1, 0] = 5;
		foreach (var row in view) {
			print ("%s\\n", row.to_string ());
		}
		return 0;
	} catch (Error error) {
		printerr ("%s\\n", error.message);
		return 1;
	}
}
'''


def run(command, folder):
    env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    result = subprocess.run(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise RuntimeError(f'{command} ended with {result.returncode}:\n{result.stdout}')
    return result.stdout


def make_repository(folder, source_root):
    shutil.copytree(source_root, folder,
                    ignore=shutil.ignore_patterns('.*', 'build*', 'corpus', '__pycache__'))
    for command in (['init', '--quiet', '--initial-branch=main'], ['add', '--all'],
                    ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', 'commit',
                     '--quiet', '--message=The source']):
        run(['git', *command], folder)


def write_project(folder, source_root, parts):
    blocks = read_blocks(source_root / 'docs' / 'vala.md')
    wrap = (source_root / 'packaging' / 'mtldl.wrap').read_text(encoding='utf-8')
    if get_block(blocks, SECTION, 'ini') != wrap:
        raise LookupError('docs/vala.md shows another wrap than packaging/mtldl.wrap')
    repository = folder / 'repository'
    make_repository(repository, source_root)
    wrap = re.sub('^url = .*', f'url = {repository.as_uri()}', wrap, flags=re.MULTILINE)
    project = get_block(blocks, SECTION, 'meson')
    if 'vala' not in parts:
        project = project[:project.index('# Vala')].replace(", 'vala'", '')

    project += "assert(mtldl_dep.type_name() == 'internal')\n"
    for bridge in ('gst', 'gtk', 'pixbuf'):
        if bridge in parts:
            project += f"assert(dependency('mtldl-{bridge}-1').type_name() == 'internal')\n"

    (folder / 'subprojects').mkdir()
    (folder / 'subprojects' / 'mtldl.wrap').write_text(wrap, encoding='utf-8')
    (folder / 'meson.build').write_text(project, encoding='utf-8')
    (folder / 'program.c').write_text(C_PROGRAM, encoding='utf-8')
    (folder / 'program.vala').write_text(VALA_PROGRAM, encoding='utf-8')


def main(source_root, *parts):
    with_vala = 'vala' in parts
    expected = {'program-c': '[[0. 0. 0.]\n [0. 0. 0.]]\n'}
    if with_vala:
        expected['program-vala'] = '[0. 0. 0.]\n[5. 0. 0.]\n'

    print(f'1..{1 + len(expected)}', flush=True)
    with tempfile.TemporaryDirectory(prefix='mtldl-subproject-') as name:
        folder = pathlib.Path(name)
        begin = time.monotonic()
        try:
            write_project(folder, pathlib.Path(source_root), parts)
            # The kernels are tested elsewhere, and take long to compile.
            setup = run(['meson', 'setup', 'build', '-Dmtldl:kernels=portable'],
                        folder)
            run(['meson', 'compile', '-C', 'build'], folder)
        except (LookupError, RuntimeError) as error:
            print('not ok 1 a project builds mtldl as its subproject')
            print(re.sub('^', '# ', str(error), flags=re.MULTILINE))
            return 1

        warnings = [line for line in setup.splitlines() if 'WARNING' in line and 'meson.build' in line]
        for line in warnings:
            print(f'# {line}')
        print(f'{"not ok" if warnings else "ok"} 1 a project builds mtldl as its subproject')
        print(f'# in {time.monotonic() - begin:.0f} seconds', flush=True)

        n_failed = len(warnings)
        for number, (program, output) in enumerate(expected.items(), 2):
            seen = run([str(folder / 'build' / program)], folder)
            n_failed += seen != output
            print(f'{"ok" if seen == output else "not ok"} {number} {program}')
            if seen != output:
                print(re.sub('^', '# ', seen, flags=re.MULTILINE))
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the code in the guides: test_guides.py DOCS-FOLDER GUIDE=LANGUAGE…

The blocks of a guide in one language are parts of one program, which checks the
statements of the guide with assertions. If the guide shows text, the program
must print that text. The environment must be set up to find the library.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from blocks import read_blocks  # noqa: E402
from peers import find_python_with  # noqa: E402

STAND_INS = pathlib.Path(__file__).resolve().parent / 'examples' / 'stand-ins'

PACKAGES = ['mtldl-1', 'mtldl-gst-1', 'mtldl-gtk-1', 'mtldl-pixbuf-1', 'gtk4', 'gstreamer-app-1.0']

C_PROGRAM = '''
#include <sys/socket.h>

#include <gst/app/app.h>
#include <mtldl/mtldl.h>
#include <mtldl/mtldl-dlpack.h>
#include <mtldl-gst/mtldl-gst.h>
#include <mtldl-gtk/mtldl-gtk.h>
#include <mtldl-pixbuf/mtldl-pixbuf.h>

static gboolean
guide (GError **error)
{{
{body}
  return TRUE;
}}

int
main (void)
{{
  g_autoptr (GError) error = NULL;

  if (!guide (&error))
    g_error ("%s", error->message);

  return 0;
}}
'''

VALA_PROGRAM = '''
async void guide () throws Error {{
{body}
}}

int main () {{
	var loop = new MainLoop ();
	var status = 1;

	guide.begin ((source, result) => {{
		try {{
			guide.end (result);
			status = 0;
		}} catch (Error error) {{
			printerr ("%s\\n", error.message);
		}}
		loop.quit ();
	}});
	loop.run ();
	return status;
}}
'''


def c_commands(body):
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', *PACKAGES],
                           check=True, capture_output=True, text=True).stdout.split()
    compiler = shlex.split(os.environ.get('CC', 'cc'))
    return (C_PROGRAM.format(body=body), 'guide.c',
            [[*compiler, '-Wall', '-Werror', 'guide.c', *flags, '-o', 'guide'], ['./guide']])


MPI_PROGRAM = C_PROGRAM.replace('<mtldl/mtldl.h>', '<mtldl/mtl-mpi.h>').replace(
    'if (!guide', 'MPI_Init (NULL, NULL);\n  if (!guide').replace(
    'return 0;', 'return MPI_Finalize ();')


def c_mpi_commands(body):
    """The program starts without mpirun, so that it is the only process."""
    _, name, [[*compiler], *run] = c_commands(body)
    library = next(package for package in ('ompi-c', 'mpich')
                   if subprocess.run(['pkg-config', '--exists', package]).returncode == 0)
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', library],
                           check=True, capture_output=True, text=True).stdout.split()
    return MPI_PROGRAM.format(body=body), name, [[*compiler, *flags], *run]


def vala_commands(body):
    vapi_dirs = [f'--vapidir={path}'
                 for path in os.environ.get('MTL_VAPI_DIR', '').split(':') if path]
    packages = [f'--pkg={name}' for name in ['gio-2.0', 'posix', *PACKAGES]]
    return (VALA_PROGRAM.format(body=body), 'guide.vala',
            [['valac', '-q', *vapi_dirs, *packages, 'guide.vala', '-o', 'guide'], ['./guide']])


def python_commands(body):
    return body, 'guide.py', [[sys.executable, 'guide.py']]


def python_with(peer):
    return lambda body: (body, 'guide.py', [[find_python_with(peer), 'guide.py']])


# Code that the guide on Metal needs before it, and checks of its results at the end.
METAL_BEGIN = '''
from gi.repository import Mtl
Mtl.save('model.safetensors', {'a': Mtl.ones((2, 3), 'float32')})
'''
METAL_END = '''
assert weights['a'].get_buffer().get_storage_mode() == Mtl.StorageMode.PRIVATE
assert weights['a'].tolist() == [[1, 1, 1], [1, 1, 1]]
assert result.tolist() == [float(np.exp(np.float32(1)))] * 4
'''


def metal_commands(body):
    """Runs the guide over the double, with stand-ins for the peers."""
    path = os.pathsep.join([str(STAND_INS), os.environ.get('PYTHONPATH', '')])
    environment = ['env', 'METAL_DOUBLE=unified', 'PYTHONDONTWRITEBYTECODE=1', f'PYTHONPATH={path}']
    return (f'import gi\ngi.require_version("Mtl", "1")\n{METAL_BEGIN}{body}{METAL_END}', 'guide.py',
            [[*environment, sys.executable, 'guide.py']])


def js_commands(body):
    return body, 'guide.js', [['gjs', '-m', 'guide.js']]


COMMANDS = {
    'c': c_commands,
    'c-mpi': c_mpi_commands,
    'js': js_commands,
    'python': python_commands,
    'python-metal': metal_commands,
    'python-distributed': python_with('distributed'),
    'python-mpi4py': python_with('mpi4py'),
    'python-ray': python_with('ray'),
    'python-torch': python_with('torch'),
    'vala': vala_commands,
}


def on_bus(name):
    """The guide on processes needs a session bus."""
    return ['dbus-run-session', '--'] if name == 'processes' else []


def environment_of(name):
    """The guide on CUDA runs over the double of NVIDIA's driver."""
    library = os.environ.get('MTL_CUDA_DOUBLE', '') if name == 'cuda' else ''
    return {**os.environ, 'MTL_CUDA_LIBRARY': library}


def run_guide(path, language):
    """Runs the blocks of a guide. Returns what went wrong, or ''."""
    # The blocks that need a peer build on those that do not.
    languages = {language, language.partition('-')[0]}
    blocks = read_blocks(path)
    parts = [text for _, kind, text in blocks if kind in languages]
    shown = ''.join(text for _, kind, text in blocks if kind == 'text')
    printed = ''
    if not parts:
        return f'{path} has no code in {language}'

    source, name, commands = COMMANDS[language]('\n'.join(parts))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_text(source, encoding='utf-8')
        for command in commands:
            result = subprocess.run([*on_bus(path.stem), *command], cwd=folder, capture_output=True, text=True,
                                    env=environment_of(path.stem))
            if result.returncode != 0:
                return (f'{shlex.join(command)} ended with {result.returncode}\n'
                        f'{result.stdout}{result.stderr}')
            printed += result.stdout

    return '' if shown in ('', printed) else f'shown:\n{shown}printed:\n{printed}'


def main(docs_folder, guides):
    n_failed = 0

    print(f'1..{len(guides)}', flush=True)
    for number, guide in enumerate(guides, 1):
        name, language = guide.split('=')
        what = f'{number} {name}.md: the code in {language}'
        peer = language.partition('python-')[2].replace('metal', '')
        if peer and find_python_with(peer) is None:
            print(f'ok {what} # SKIP {peer} is not installed', flush=True)
            continue

        complaint = run_guide(pathlib.Path(docs_folder) / f'{name}.md', language)
        n_failed += complaint != ''
        print(f'{"not ok" if complaint else "ok"} {what}')
        for line in complaint.splitlines():
            print(f'# {line}')
        sys.stdout.flush()

    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))

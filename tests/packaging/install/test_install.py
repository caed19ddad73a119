#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs mtldl into a new prefix, and uses it from outside the tree.

test_install.py SOURCE_ROOT BUILD_ROOT PART…: the build is set up anew with the
prefix, as a user does it, with the options of BUILD_ROOT. The programs and the
commands are those of docs/installation.md; they know the prefix from the
environment that it tells to set, and nothing of the tree.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'support'))

from blocks import get_block, read_blocks
from exports import (PRIVATE_NODE, PUBLIC_NODE, read_exported_symbols, read_gir_symbols,
                     read_private_symbols, read_versions)
from peers import find_python_with

BUILD = 'Build it'
SAME = 'The same in four languages'
OWN = 'Use it from your own project'
PASSED_ON_OPTIONS = ['introspection', 'vapi', 'python', 'python_interpreter', 'gjs', 'gst',
                     'gtk', 'pixbuf', 'cli', 'viewer', 'nls']
BRIDGES = {'gst': 'MtlGst', 'gtk': 'MtlGtk', 'pixbuf': 'MtlPixbuf'}
LIBRARY_SUFFIX = 'dylib' if sys.platform == 'darwin' else 'so'
BINARY_PARTS = {*BRIDGES, 'python', 'cli'} # each has one, beside the library's
CACHES = re.compile('share/(mime/(?!packages/)|applications/mimeinfo.cache|icons/.*[.]cache)')
KEPT_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'CC', 'CXX',
                  'ASAN_OPTIONS', 'LSAN_OPTIONS', 'UBSAN_OPTIONS']

# A compiler for C and one for C++ of each MPI, and a program in both languages, which is the only
# process.
MPI_COMPILERS = {'mpicc.openmpi': 'mpicxx.openmpi', 'mpicc.mpich': 'mpicxx.mpich'}
MPI_PROGRAM = r'''
#include <mtldl/mtl-mpi.h>

int
main (int argc, char **argv)
{
  const gint64 shape[] = { 3, 3 };
  GError *error = NULL;
  MtlStridedView *view = mtl_strided_view_new_arange (mtl_device_get_host (), MTL_DTYPE_FLOAT32, 0, 9,
                                                      1, MTL_STORAGE_MODE_DEFAULT, &error);
  MtlStridedView *square = mtl_strided_view_reshape (view, shape, 2, &error);
  MtlStridedView *column = mtl_strided_view_slice_string (square, ":, 2", &error);
  float received[3];
  MPI_Datatype datatype;
  MPI_Request request;

  MPI_Init (&argc, &argv);
  MPI_Irecv (received, 3, MPI_FLOAT, 0, 0, MPI_COMM_SELF, &request);
  if (!mtl_mpi_create_datatype (column, &datatype, &error)
      || !mtl_mpi_send (column, 0, 0, MPI_COMM_SELF, &error))
    g_error ("%s", error->message);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
  MPI_Type_free (&datatype);
  MPI_Finalize ();
  g_print ("%g %g %g\n", (double) received[0], (double) received[1], (double) received[2]);
  return 0;
}
'''


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def run(command, folder, env, fails=False, umask=-1):
    if isinstance(command, str):
        command = ['sh', '-e', '-c', command]
    result = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True,
                            umask=umask)
    if (result.returncode != 0) != fails:
        raise Failure(f'{shlex.join(map(str, command))} ended with {result.returncode}:\n'
                      f'{result.stdout}{result.stderr}')

    return result.stderr if fails else result.stdout


def read_files(folder):
    return {path.relative_to(folder): path.read_bytes()
            for path in folder.rglob('*') if path.is_file()}


def check_equal(seen, expected):
    if seen != expected:
        raise Failure(f'expected:\n{expected}\nseen:\n{seen}')


class InstallTest:
    def __init__(self, source_root, build_root, parts, folder):
        self.source_root = source_root
        self.build_root = build_root
        self.parts = parts
        self.folder = folder
        self.prefix = folder / 'prefix'
        self.blocks = read_blocks(source_root / 'docs' / 'installation.md')
        self.expected = get_block(self.blocks, SAME, 'text')
        self.bare_env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        self.cc = shlex.split(os.environ.get('CC', 'cc'))
        self.cxx = shlex.split(os.environ.get('CXX', 'c++'))

    def block(self, language, number=0, section=OWN):
        return get_block(self.blocks, section, language, number)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding='utf-8')
        return path

    def write_program(self, name, language):
        return self.write(name, get_block(self.blocks, SAME, language))

    def run(self, command, folder=None, **kwargs):
        return run(command, folder or self.folder, self.env, **kwargs)

    def pkg_config(self, *arguments):
        return self.run(['pkg-config', *arguments]).split()

    def build_options(self):
        text = run(['meson', 'introspect', '--buildoptions', self.build_root],
                   self.folder, self.bare_env)
        values = {option['name']: option['value'] for option in json.loads(text)}
        return [f'-D{name}={values[name]}' for name in PASSED_ON_OPTIONS]

    def install_copy(self, name, umask, **env):
        """Run the guide's two commands in a copy of the source, and give its build folder."""
        source = self.folder / name
        shutil.copytree(self.source_root, source,
                        ignore=shutil.ignore_patterns('.*', 'build', 'build-*', 'corpus',
                                                      '__pycache__'))
        options = self.build_options()
        commands = self.block('sh', 0, BUILD).replace('/opt/mtldl', str(self.prefix))
        setup, install = commands.splitlines()
        for command in ([*shlex.split(setup), *options], [*shlex.split(install), '--quiet']):
            run(command, source, {**self.bare_env, **env}, umask=umask)
        return source / 'build-install'

    def check_run(self, source):
        """./run install takes a relative prefix, and what it prints has the program found."""
        folder = self.folder / 'else where'
        folder.mkdir()
        exports = run(['bash', source / 'run', 'install', 'pre fix'], folder, self.bare_env)
        found = run(f'{exports}\ncommand -v mtldl; mtldl --version; pkg-config --exists mtldl-1',
                    folder, self.bare_env)
        check_equal(found.splitlines()[0], f'{folder}/pre fix/bin/mtldl')
        # The folder of the caller, not that of the tree.
        check_equal(run(['bash', self.source_root / 'run', 'exec', 'pwd'], folder,
                        {**self.bare_env, 'MTL_BUILD_DIR': str(self.build_root)}), f'{folder}\n')

    def test_installs_into_the_prefix(self):
        """The two commands of the guide install, and only below the prefix."""
        build = self.install_copy('source', 0o022)
        self.installed = read_files(self.prefix)

        exports = self.block('sh', 1, BUILD).replace('/opt/mtldl', str(self.prefix))
        program = 'import json, os; print(json.dumps(dict(os.environ)))'
        printed = run(f'{exports}\n{shlex.join([sys.executable, "-c", program])}', self.folder,
                      self.bare_env)
        self.env = json.loads(printed)

        targets = json.loads(run(['meson', 'introspect', '--installed', build],
                                 self.folder, self.bare_env))
        outside = [path for path in targets.values()
                   if self.prefix not in pathlib.Path(path).parents]
        check_equal(outside, [])
        missing = [path for path in targets.values() if not os.path.exists(path)]
        check_equal(missing, [])

        self.check_run(build.parent)

        # Nothing of the tree can be found from here on.
        shutil.rmtree(build.parent)

    def test_c(self):
        """C: the guide's command compiles its program."""
        self.write_program('tensor.c', 'c')
        self.run(self.block('sh', 0))
        check_equal(self.run(['./tensor']), self.expected)
        # Programs need not find what the library is linked with.
        check_equal(self.pkg_config('--print-requires-private', 'mtldl-1'), [])

    def test_meson(self):
        """meson: a project with dependency('mtldl-1') builds."""
        project = self.block('meson')
        if 'vala' not in self.parts:
            project = ''.join(line for line in project.replace(", 'vala'", '').splitlines(True)
                              if 'tensor.vala' not in line)
        self.write('project/meson.build', project)
        self.write_program('project/tensor.c', 'c')
        self.write_program('project/tensor.vala', 'vala')
        self.run(['meson', 'setup', 'build'], self.folder / 'project')
        self.run(['meson', 'compile', '-C', 'build'], self.folder / 'project')
        check_equal(self.run(['project/build/tensor-c']), self.expected)
        if 'vala' in self.parts:
            check_equal(self.run(['project/build/tensor-vala']), self.expected)

    def test_vala(self):
        """Vala: the guide's command compiles its program."""
        self.write_program('tensor.vala', 'vala')
        self.run(self.block('sh', 1))
        check_equal(self.run(['./tensor']), self.expected)

    def test_python(self):
        """Python: the guide's program finds the library and its override."""
        self.write_program('tensor.py', 'python')
        check_equal(self.run([sys.executable, 'tensor.py']), self.expected)

    def test_python_folder(self):
        """Python: the override and its module are those of the prefix."""
        program = ('import gi\n'
                   'gi.require_version("Mtl", "1")\n'
                   'from gi.repository import Mtl\n'
                   'import gi.overrides._mtl, gi.overrides.Mtl\n'
                   'print(gi.overrides._mtl.__file__, gi.overrides.Mtl.__file__, sep="\\n")\n')
        for path in self.run([sys.executable, '-c', program]).splitlines():
            if self.prefix not in pathlib.Path(path).parents:
                raise Failure(f'{path} is not below {self.prefix}')

    def test_python_module(self):
        """Python: a program that was written for pip's environments runs."""
        program = ('import gi, warnings\n'
                   'warnings.simplefilter("error", gi.PyGIWarning)\n'
                   'import mtldl\n'
                   'from gi.repository import Mtl\n'
                   'print(Mtl.zeros(2))\n')
        for part, namespace in BRIDGES.items():
            if part in self.parts:
                program += f'from gi.repository import {namespace}\n'
        check_equal(self.run([sys.executable, '-c', program]), '[0. 0.]\n')

    def test_gjs(self):
        """gjs: the guide's program finds the library and its override."""
        self.write_program('tensor.js', 'js')
        check_equal(self.run(['gjs', '-m', 'tensor.js']), self.expected)

    def test_gjs_legacy(self):
        """gjs: imports.gi works as the guide says."""
        program = self.block('js') + "print(Mtl.StridedView.from([1, 2]).toArray());\n"
        self.write('legacy.js', program)
        check_equal(self.run(['gjs', 'legacy.js']), '1,2\n')

    def check_bridge(self, name):
        flags = self.pkg_config('--cflags', '--libs', f'mtldl-{name}-1')
        source = self.source_root / 'tests' / 'packaging' / 'install' / f'{name}.c'
        self.run([*self.cc, '-Wall', '-Werror', source, *flags, '-o', name])
        check_equal(self.run([f'./{name}']), '7\n')

    def test_gst(self):
        """C: a program with mtldl-gst-1 shares a buffer's memory."""
        self.check_bridge('gst')

    def test_gtk(self):
        """C: a program with mtldl-gtk-1 shares a surface's pixels."""
        self.check_bridge('gtk')

    def test_pixbuf(self):
        """C: a program with mtldl-pixbuf-1 shares a picture's pixels."""
        self.check_bridge('pixbuf')

    def headers(self):
        folder = self.prefix / 'include' / 'mtldl-1' / 'mtldl'
        return sorted(path.name for path in folder.glob('*.h'))

    def compile(self, compiler, name, text, **kwargs):
        source = self.write(name, text)
        flags = self.pkg_config('--cflags', 'mtldl-1')
        return self.run([*compiler, '-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror',
                         '-pedantic', '-fsyntax-only', *flags, source], **kwargs)

    def test_headers_c99(self):
        """C: <mtldl/mtldl.h> brings all headers but those of raw DLPack and MPI, in pedantic C99."""
        text = '#include <mtldl/mtldl.h>\nint main (void) { return MTL_MAJOR_VERSION != 1; }\n'
        self.compile([*self.cc, '-std=c99'], 'headers.c', text)

        flags = self.pkg_config('--cflags', 'mtldl-1')
        read = self.run([*self.cc, '-M', 'headers.c', *flags])
        unread = [name for name in self.headers() if f'/mtldl/{name}' not in read]
        check_equal(unread, ['mtl-dlpack-abi.h', 'mtl-dlpack-managed.h', 'mtl-mpi.h',
                             'mtldl-dlpack.h'])

        text = ('#include <mtldl/mtldl-dlpack.h>\n'
                'int main (void) { return sizeof (DLTensor) == 0; }\n')
        self.compile([*self.cc, '-std=c99'], 'structs.c', text)
        self.compile([*self.cc, '-std=c99'], 'both.c', f'#include <mtldl/mtldl.h>\n{text}')
        self.compile([*self.cxx, '-std=c++11'], 'structs.cpp', text.replace('void', ''))

    def test_headers_cxx(self):
        """C++: <mtldl/mtldl.h> compiles, and the functions have C's names."""
        text = ('#include <mtldl/mtldl.h>\n'
                'int main () { g_print ("%s\\n", mtl_device_get_name (mtl_device_get_host ())); }\n')
        self.compile([*self.cxx, '-std=c++11'], 'headers.cpp', text)
        flags = self.pkg_config('--cflags', '--libs', 'mtldl-1')
        self.run([*self.cxx, 'headers.cpp', *flags, '-o', 'headers-cpp'])
        self.run(['./headers-cpp'])

    def test_single_headers(self):
        """C: no header but <mtldl/mtldl.h>, those of DLPack and MPI can be included by itself."""
        for name in self.headers():
            if name in ('mtldl.h', 'mtl-version.h', 'mtldl-dlpack.h', 'mtl-mpi.h'):
                continue
            message = self.compile(self.cc, 'single.c', f'#include <mtldl/{name}>\n', fails=True)
            if 'can be included directly' not in message:
                raise Failure(f'{name}: {message}')

    def test_mpi(self):
        """C, C++: <mtldl/mtl-mpi.h> compiles with each MPI, without a warning, and sends a view."""
        if not any(map(shutil.which, MPI_COMPILERS)):
            raise Skip('neither Open MPI nor MPICH is installed')

        flags = self.pkg_config('--cflags', '--libs', 'mtldl-1')
        # The interface of MPI 2 for C++ that comes with its header has warnings of its own.
        warnings = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror', '-pedantic',
                    '-DOMPI_SKIP_MPICXX', '-DMPICH_SKIP_MPICXX']
        for for_c, for_cxx in MPI_COMPILERS.items():
            for compiler, standard, name in ((for_c, 'c11', 'mpi.c'), (for_cxx, 'c++11', 'mpi.cpp')):
                if shutil.which(compiler) is None:
                    continue
                source = self.write(name, MPI_PROGRAM)
                self.run([compiler, f'-std={standard}', *warnings, source, *flags, '-o', 'mpi'])
                check_equal(self.run(['./mpi']), '2 5 8\n')

    def test_command(self):
        """The command runs, and its page and its completion are where they are looked for."""
        version = self.pkg_config('--modversion', 'mtldl-1')
        command = self.prefix / 'bin' / 'mtldl'
        check_equal(self.run([command, '--version']).split(), ['mtldl', *version])
        check_equal(self.run(['sh', '-c', 'command -v mtldl']), f'{command}\n')

        share = self.prefix / 'share'
        for path in ('man/man1/mtldl.1', 'bash-completion/completions/mtldl',
                     'zsh/site-functions/_mtldl', 'fish/vendor_completions.d/mtldl.fish'):
            if not (share / path).is_file():
                raise Failure(f'{path} is not in {share}')

    def check_exports(self, gir, library, private=frozenset()):
        named = read_gir_symbols(self.prefix / 'share' / 'gir-1.0' / gir)
        exported = read_exported_symbols(self.prefix / 'lib' / library)
        check_equal(sorted(exported.keys() - named), sorted(private))
        check_equal(sorted(named - exported.keys()), [])
        if sys.platform == 'linux':
            check_equal({name for name, node in exported.items() if node != PUBLIC_NODE}, private)
            check_equal({exported[name] for name in private} - {PRIVATE_NODE}, set())
            check_equal(read_versions(self.prefix / 'lib' / library), {*exported.values()})

    def test_exports(self):
        """The library exports the names of the GIR, those for our Python module, and no others."""
        self.check_exports('Mtl-1.gir', f'libmtldl-1.{LIBRARY_SUFFIX}', read_private_symbols())

    def test_bridge_exports(self):
        """The bridges export what their GIRs name, and nothing else."""
        for part, namespace in BRIDGES.items():
            if part in self.parts:
                self.check_exports(f'{namespace}-1.gir', f'libmtldl-{part}-1.{LIBRARY_SUFFIX}')

    def read_elf(self, path, *what):
        return self.run(['readelf', '--wide', *what, path])

    def test_hardening(self):
        """Libraries, module and command are hardened: stack, relocations, no writable code."""
        if sys.platform != 'linux':
            raise Skip('these are properties of ELF')

        binaries = [path for path in self.prefix.rglob('*')
                    if path.is_file() and not path.is_symlink()
                    and path.read_bytes()[:4] == b'\x7fELF']
        check_equal(len(binaries), 1 + sum(part in self.parts for part in BINARY_PARTS))

        for path in binaries:
            header = self.read_elf(path, '--file-header')
            segments = self.read_elf(path, '--segments')
            dynamic = self.read_elf(path, '--dynamic')
            stack = re.search(r'GNU_STACK.* (RWE?) ', segments)
            checks = {
                'position-independent': re.search(r'Type: +DYN', header),
                'GNU_RELRO': 'GNU_RELRO' in segments,
                'BIND_NOW': re.search(r'FLAGS.*NOW', dynamic),
                'no executable stack': stack is not None and stack[1] == 'RW',
                'no segment both writable and executable': 'LOAD' in segments
                    and not re.search(r'LOAD.* RWE ', segments),
                'no TEXTREL': 'TEXTREL' not in dynamic,
                'no RPATH': 'PATH)' not in dynamic,
            }
            missing = [name for name, found in checks.items() if not found]
            if missing:
                raise Failure(f'{path} lacks: {", ".join(missing)}\n{header}{segments}{dynamic}')

        imports = self.run(['nm', '-D', '--undefined-only', self.prefix / 'lib/libmtldl-1.so'])
        for name in ('__stack_chk_fail', '__memcpy_chk'):
            if name not in imports:
                raise Failure(f'the library does not call {name}')

    def test_reproducible(self):
        """Two builds in two folders, at two times, are byte for byte the same."""
        if sys.platform != 'linux':
            raise Skip('the linker writes down the folder of the objects and their times')

        staged = self.folder / 'staged'
        self.install_copy('another/folder', 0o077, TZ='Asia/Kathmandu', DESTDIR=str(staged))
        again = read_files(staged / self.prefix.relative_to('/'))
        # A desktop's caches are not made in a staging folder, but when a package is installed.
        installed = {path for path in self.installed if not CACHES.match(str(path))}
        check_equal(sorted(again), sorted(installed))
        check_equal([str(path) for path in again if again[path] != self.installed[path]], [])

    def find_dlpack_header(self):
        probe = self.write('probe.c', '#include <dlpack/dlpack.h>\n')
        result = subprocess.run([*self.cc, '-fsyntax-only', probe], capture_output=True)
        if result.returncode == 0:
            return '<dlpack/dlpack.h>'

        python = find_python_with('torch')
        if python is None:
            raise Skip('neither <dlpack/dlpack.h> nor PyTorch, which brings it, is installed')

        program = 'import torch; print(torch.__path__[0])'
        torch = run([python, '-c', program], self.folder, self.bare_env).strip()
        header = pathlib.Path(torch) / 'include' / 'ATen' / 'dlpack.h'
        return f'"{header}"'

    def test_dlpack_header(self):
        """C, C++: DLPack's own header goes before and after <mtldl/mtldl.h>."""
        header = self.find_dlpack_header()
        use = ('static void take (DLManagedTensorVersioned *managed) {\n'
               '  g_object_unref (mtl_strided_view_new_take_dlpack (managed, 0));\n'
               '}\n'
               'int main (void) { return take == 0; }\n')
        before = f'#include {header}\n#include <mtldl/mtldl-dlpack.h>\n{use}'
        after = f'#include <mtldl/mtldl-dlpack.h>\n#include {header}\n{use}'
        flags = ['-Wno-address', '-Wno-nonnull-compare']
        for text in (before, after, f'#include <mtldl/mtldl.h>\n{before}',
                     f'#include <mtldl/mtldl.h>\n{after}'):
            self.compile([*self.cc, '-std=c11', *flags], 'dlpack.c', text)
            self.compile([*self.cxx, '-std=c++11', *flags], 'dlpack.cpp', text)

    def test_viewer(self):
        """The viewer starts without an environment, as from a desktop, which knows it."""
        help_text = run([self.prefix / 'bin' / 'mtldl-viewer', '--help'], self.folder,
                        self.bare_env)
        if 'mtldl-viewer [OPTION' not in help_text:
            raise Failure(help_text)
        share = self.prefix / 'share'
        for name in ('applications/org.mtldl.Viewer.desktop',
                     'dbus-1/services/org.mtldl.Viewer.service',
                     'icons/hicolor/scalable/apps/org.mtldl.Viewer.svg',
                     'icons/hicolor/symbolic/apps/org.mtldl.Viewer-symbolic.svg',
                     'metainfo/org.mtldl.Viewer.metainfo.xml',
                     'mime/packages/org.mtldl.Viewer.xml'):
            if not (share / name).is_file():
                raise Failure(f'{name} is missing')
        service = (share / 'dbus-1/services/org.mtldl.Viewer.service').read_text()
        if f'Exec={self.prefix}/bin/mtldl-viewer ' not in service:
            raise Failure(service)

    def german_env(self):
        if not shutil.which('localedef') or not os.path.exists('/usr/share/i18n/locales/de_DE'):
            raise Skip('there is no localedef with the description of a German locale')

        # In the locale C nothing is translated, and the system may have no other one.
        folder = self.folder / 'locales'
        folder.mkdir()
        self.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', folder / 'de_DE.UTF-8'])
        return {**self.env, 'LOCPATH': str(folder), 'LC_ALL': 'de_DE.UTF-8'}

    def test_translations(self):
        """Messages are in German for who wants it, and what programs read is as it was."""
        german = self.german_env()
        check_equal(run(['mtldl', 'help'], self.folder, german).splitlines()[0], 'Aufruf:')
        check_equal(run(['mtldl', 'help', 'show'], self.folder, german)
                    .count('Alle Elemente oder die Statistik als JSON ausgeben'), 1)
        wrong = run(['mtldl', 'lst'], self.folder, german, fails=True)
        check_equal(wrong, 'mtldl: es gibt keinen Befehl „lst“; meinten Sie „ls“? '
                           '„mtldl help“ nennt alle Befehle\n')
        if 'viewer' in self.parts:
            text = run(['mtldl-viewer', '--help'], self.folder, german)
            check_equal('Zeigt die Tensoren' in text, True)

        (self.folder / 'numbers.npy').write_bytes(
            b'\x93NUMPY\x01\0\x76\0' + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
            .ljust(117) + b'\n' + struct.pack('<2f', 0.5, 1234567.25))
        for command in (['ls', '-lm'], ['ls', '--json'], ['show'], ['show', '--stats'],
                        ['show', '--json'], ['check']):
            command = ['mtldl', command[0], 'numbers.npy', *command[1:]]
            check_equal(run(command, self.folder, german), self.run(command))

    def tests(self):
        yield self.test_installs_into_the_prefix
        yield self.test_c
        yield self.test_meson
        yield self.test_headers_c99
        yield self.test_headers_cxx
        yield self.test_single_headers
        yield self.test_dlpack_header
        yield self.test_hardening
        yield self.test_reproducible
        if 'gir' in self.parts:
            yield self.test_exports
            yield self.test_bridge_exports
        if 'cli' in self.parts:
            yield self.test_command
        if 'translations' in self.parts:
            yield self.test_translations
        if 'vala' in self.parts:
            yield self.test_vala
        if 'python' in self.parts:
            yield self.test_python
            yield self.test_python_folder
            yield self.test_python_module
        if 'viewer' in self.parts:
            yield self.test_viewer
        if 'gjs' in self.parts:
            yield self.test_gjs
            yield self.test_gjs_legacy
        for part in BRIDGES:
            if part in self.parts:
                yield getattr(self, f'test_{part}')


def run_test(number, test):
    """Write the TAP of one test, and give whether it failed."""
    line = f'{number} {test.__doc__}'
    try:
        test()
    except Skip as reason:
        print(f'ok {line} # SKIP {reason}', flush=True)
        return False
    except Exception as error:
        details = str(error) if isinstance(error, Failure) else traceback.format_exc()
        print(f'not ok {line}')
        for text in details.splitlines():
            print(f'# {text}')
        sys.stdout.flush()
        return True

    print(f'ok {line}', flush=True)
    return False


def main(source_root, build_root, *parts):
    with tempfile.TemporaryDirectory(prefix='mtldl-install-') as folder:
        # Shells know the real path only, and the folder may be behind a link.
        suite = InstallTest(pathlib.Path(source_root), build_root, parts,
                            pathlib.Path(folder).resolve())
        tests = list(suite.tests())
        print(f'1..{len(tests)}', flush=True)
        n_failed = 0
        for number, test in enumerate(tests, 1):
            n_failed += run_test(number, test)
            if number == 1 and n_failed:
                print('Bail out! Without an installation there is nothing to test', flush=True)
                break

    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

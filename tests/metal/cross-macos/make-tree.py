#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes what the library is built for macOS with, on Linux.

make-tree.py TREE TOOLS CPU SDK INT64: TOOLS has Zig, and the wheels of requirements-macos.txt. The
headers of GLib are those of this machine, with gint64 as INT64, long or long long: both occur on
macOS. The frameworks of Apple are the names that programs use of them, to link with.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
DOUBLE = HERE.parent / 'double' / 'include'
PACKAGES = {  # for pkg-config: libraries, folders of headers, other packages
    'glib-2.0': ('glib-2.0', 'glib-2.0', ''),
    'gobject-2.0': ('gobject-2.0', 'glib-2.0', 'glib-2.0'),
    'gmodule-2.0': ('gmodule-2.0', 'glib-2.0', 'glib-2.0'),
    'gio-2.0': ('gio-2.0', 'glib-2.0', 'gobject-2.0'),
    'gdk-pixbuf-2.0': ('gdk_pixbuf-2.0', 'gdk-pixbuf-2.0', 'gio-2.0'),
    'zlib': ('z', '', ''),
    'libdeflate': ('deflate', '', ''),
}
DYLIBS = re.compile(r'/lib/(lib(?:glib|gobject|gmodule|gio|gdk_pixbuf)-2\.0\.dylib)$')
CROSS_FILE = '''[binaries]
c = {compiler}
objc = {compiler}
ar = ['{tree}/zig', 'ar']
ranlib = ['{tree}/zig', 'ranlib']
strip = 'true'
pkgconfig = 'pkg-config'

[properties]
pkg_config_libdir = '{tree}/pkgconfig'
needs_exe_wrapper = true

[host_machine]
system = 'darwin'
cpu_family = '{cpu}'
cpu = '{cpu}'
endian = 'little'
'''


def ask_pkg_config(*arguments):
    return subprocess.run(['pkg-config', *arguments], check=True, capture_output=True,
                          text=True).stdout.strip()


def link(target, path):
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def write(path, text):
    """Leaves a file alone that is the same: what it was built with would be built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_stub(path, install_name, symbols, classes):
    """Writes the names that a library of the system has, instead of the library."""
    targets = '[ x86_64-macos, arm64-macos ]'
    write(path, f"--- !tapi-tbd\ntbd-version: 4\ntargets: {targets}\n"
                f"install-name: '{install_name}'\ncurrent-version: 1\nexports:\n"
                f"  - targets: {targets}\n    symbols: [ {', '.join(symbols)} ]\n"
                f"    objc-classes: [ {', '.join(classes)} ]\n...\n")


def write_stubs(tree):
    """Reads stubs.txt: a line on each library, and indented what it has."""
    stubs = {}
    for line in (HERE / 'stubs.txt').read_text().splitlines():
        if line.startswith('#') or not line:
            continue
        if not line.startswith(' '):
            path, install_name = line.split()
            stubs[path] = install_name, [], []
        else:
            kind, *names = line.split()
            stubs[path][1 if kind == 'symbols' else 2].extend(names)
    for path, stub in stubs.items():
        write_stub(tree / path, *stub)


def write_glib_config(tree, int64):
    folder = ask_pkg_config('--variable=libdir', 'glib-2.0')
    text = pathlib.Path(folder, 'glib-2.0/include/glibconfig.h').read_text()
    modifier = 'l' * int64.count('long')
    for pattern, replacement in (
            (r'signed long (g(?:u?)int64);', rf'signed {int64} \1;'),
            (r'(G_GU?INT64_(?:MODIFIER|FORMAT)) "l', rf'\1 "{modifier}'),
            (r'\(val##(U?)L\)', rf'(val##\1{modifier.upper()})'),
            (r'(G_MODULE_SUFFIX) ".*"', r'\1 "dylib"'),
            (r'(GLIB_SYSDEF_AF_INET6) \d+', r'\1 30')):
        text, n = re.subn(pattern, replacement, text)
        if n == 0:
            sys.exit(f'glibconfig.h has nothing like {pattern}')
    write(tree / 'include' / 'glibconfig' / 'glibconfig.h', text)


def link_python(folder):
    """Debian's header that configures Python finds another one by the system, and knows no macOS:
    the one of this machine is like that."""
    include = pathlib.Path(sysconfig.get_path('include'))
    config = include.parent / (sysconfig.get_config_var('MULTIARCH') or '') / include.name
    folder.mkdir(exist_ok=True)
    for path in (*include.iterdir(), *config.glob('pyconfig.h')):
        link(path, folder / path.name)


def write_headers(tree, int64):
    include = tree / 'include'
    include.mkdir(exist_ok=True)
    for path in (HERE / 'include').iterdir():
        link(path, include / path.name)
    link(DOUBLE / 'Metal', include / 'Metal')
    for package, names in {'glib-2.0': ['glib-2.0'], 'gdk-pixbuf-2.0': ['gdk-pixbuf-2.0'],
                           'zlib': ['zlib.h', 'zconf.h'], 'libdeflate': ['libdeflate.h']}.items():
        folder = pathlib.Path(ask_pkg_config('--variable=includedir', package))
        for name in names:
            link(folder / name, include / name)
    write_glib_config(tree, int64)
    link_python(include / 'python')


def write_packages(tree):
    for package, (library, headers, required) in PACKAGES.items():
        flags = f'-I{tree}/include/{headers} -I{tree}/include/glibconfig' if headers else ''
        write(tree / 'pkgconfig' / f'{package}.pc',
              f'glib_mkenums={shutil.which("glib-mkenums")}\n'
              f'Name: {package}\nDescription: to link with\n'
              f'Version: {ask_pkg_config("--modversion", package)}\nRequires: {required}\n'
              f'Libs: -L{tree}/lib -l{library}\nCflags: {flags}\n')


def unpack_libraries(tree, tools):
    wheel, = (tools / 'wheels').glob('gstreamer_libs-*.whl')
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            found = DYLIBS.search(name)
            if found and not (tree / 'lib' / found[1]).exists():
                (tree / 'lib' / found[1]).write_bytes(archive.read(name))


def main(tree, tools, cpu, sdk, int64):
    tree, tools = (pathlib.Path(path).absolute() for path in (tree, tools))
    zig, = tools.glob('lib/python*/site-packages/ziglang/zig')
    tree.mkdir(parents=True, exist_ok=True)
    link(tools, tree / 'tools')
    link(zig, tree / 'zig')
    write_headers(tree, int64)
    write_packages(tree)
    write_stubs(tree)
    unpack_libraries(tree, tools)
    compiler = [str(HERE / 'cc.sh'), str(tree), cpu, sdk]
    write(tree / 'cross.ini', CROSS_FILE.format(compiler=compiler, tree=tree, cpu=cpu))


if __name__ == '__main__':
    main(*sys.argv[1:])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Import this first, and gi finds the library where pip has put it:

    import mtldl
    from gi.repository import Mtl

Where the system finds the library by itself, this only says which version is meant.
"""

import ctypes
import os

import gi
from gi import _gi


def _add_folders(typelibs, libraries):
    # PyGObject is linked with one of two versions of the repository.
    library, prefix, arguments = ctypes.CDLL(_gi.__file__), 'g_irepository', []
    if not hasattr(library, 'g_irepository_prepend_search_path'):
        # The second, before GLib 2.86, is known to PyGObject alone: its object is a
        # header and a pointer.
        repository = gi.Repository.get_default()
        pointer = ctypes.c_void_p.from_address(id(repository) + object.__basicsize__)
        prefix, arguments = 'gi_repository', [pointer]
    for kind, folder in (('search', typelibs), ('library', libraries)):
        getattr(library, f'{prefix}_prepend_{kind}_path')(*arguments, os.fsencode(folder))


def _load_library(folder):
    # The bridges and the overrides need the library, and a loaded library is found by
    # its name. The bridges are only loaded, with their dependencies, if they are used.
    for name in os.listdir(folder):
        if name.startswith(('libmtldl-1.so.', 'libmtldl-1.0.dylib')):
            ctypes.CDLL(os.path.join(folder, name))


def _find():
    folder = os.path.dirname(os.path.abspath(__file__))
    typelibs = os.path.join(folder, 'girepository-1.0')
    if os.path.isdir(typelibs):
        _load_library(folder)
        _add_folders(typelibs, folder)

    gi.require_version('Mtl', '1')
    for bridge in ('MtlGst', 'MtlGtk', 'MtlPixbuf'):
        if '1' in gi.Repository.get_default().enumerate_versions(bridge):
            gi.require_version(bridge, '1')


def __getattr__(name):
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}: it only finds the '
                         'library. Its functions are in Mtl, as in `from gi.repository import Mtl` '
                         'and `Mtl.load(path)`')


_find()

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


def _add_typelibs(folder):
    # PyGObject is linked with one of two versions of the repository.
    library, path = ctypes.CDLL(_gi.__file__), os.fsencode(folder)
    if hasattr(library, 'g_irepository_prepend_search_path'):
        library.g_irepository_prepend_search_path(path)
        return

    # In the second, before GLib 2.86, only PyGObject knows its own one: its object is a header and
    # a pointer.
    repository = gi.Repository.get_default()
    pointer = ctypes.c_void_p.from_address(id(repository) + object.__basicsize__)
    library.gi_repository_prepend_search_path(pointer, path)


def _load_libraries(folder):
    # A library that is loaded is found by its name. The others need the first.
    for name in sorted(os.listdir(folder), key=len):
        if name.startswith('libmtldl-'):
            ctypes.CDLL(os.path.join(folder, name))


def _find():
    folder = os.path.dirname(os.path.abspath(__file__))
    typelibs = os.path.join(folder, 'girepository-1.0')
    if os.path.isdir(typelibs):
        _load_libraries(folder)
        _add_typelibs(typelibs)

    gi.require_version('Mtl', '1')
    if '1' in gi.Repository.get_default().enumerate_versions('MtlPixbuf'):
        gi.require_version('MtlPixbuf', '1')


_find()

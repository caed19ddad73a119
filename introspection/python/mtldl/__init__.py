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


def _find_symbol(*names):
    # The module of PyGObject is linked with the repository, in one of two versions.
    repository = ctypes.CDLL(_gi.__file__)
    for name in names:
        if hasattr(repository, name):
            return getattr(repository, name)
    raise ImportError(f'PyGObject {gi.__version__} has none of {", ".join(names)}')


def _add_typelibs(folder):
    path = os.fsencode(folder)
    add = _find_symbol('gi_repository_prepend_search_path', 'g_irepository_prepend_search_path')
    add.restype = None
    if add.__name__.startswith('g_irepository'):
        add.argtypes = [ctypes.c_char_p]
        add(path)
        return

    get_default = _find_symbol('gi_repository_dup_default')
    get_default.restype = ctypes.c_void_p
    add.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    add(get_default(), path)


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

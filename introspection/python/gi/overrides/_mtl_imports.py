# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls functions with the modules of others, when or if a program imports these."""

import sys

# The functions, by the names of modules that are not imported yet.
_functions = {}


class _Loader:
    """Loads a module as its own loader does, and calls the function."""

    def __init__(self, loader, function):
        self._loader = loader
        self._function = function

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._function(module)


class _Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        function = _functions.get(name)
        if function is None:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not cls else None
            if spec is not None:
                spec.loader = _Loader(spec.loader, function)
                return spec
        return None


def when_imported(name, function):
    """Calls the function with the module of that name, now or when it has been imported."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    _functions[name] = function
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)

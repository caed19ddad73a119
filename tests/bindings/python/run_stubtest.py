# SPDX-License-Identifier: LGPL-2.1-or-later
"""run_stubtest.py NAMESPACE…

mypy's stubtest of the hints, against the classes that are there at run time.

PyGObject's functions have no signature that Python could read, so that in their
place stubtest gets functions with the arguments that PyGObject itself tells.
"""

import importlib
import inspect
import re
import sys
import tempfile

import gi
import numpy  # noqa: F401: views then have all that its arrays have

from gi._gi import FunctionInfo, VFuncInfo
from gi.overrides._mtl_numpy import _INSTEAD
from mypy import stubtest

# Attributes that are there to say what to use instead; what all of PyGObject's
# classes and modules have, and is nobody's to use; the buffer protocol, which has
# no name at run time before Python 3.12; the class of props, which only the hints
# have.
ALLOWED = r"""
gi\.repository\.\w+\.__\w+__
gi\.repository\.\w+\.\w+\.__(gsignals|info|enum_values|flags_values|buffer)__
gi\.repository\.\w+\.\w+Class
gi\.repository\.Mtl\.Device\.parent_instance
gi\.repository\.\w+\.\w+\.(Props|props)
"""


def signature_of(info):
    """Returns the arguments of a text like “wait(self, value:int, timeout:int,
    cancellable:Gio.Cancellable=None) -> bool”."""
    inside = re.match(r"\w+\((.*?)\)(?: -> |$)", info.__doc__)[1]
    arguments, required = [], False
    for part in reversed(inside.split(", ") if inside else []):
        name, _, rest = part.partition(":")
        has_default = part.endswith("=None")
        name = name.partition("=")[0]
        if name.endswith("_data"):
            arguments.insert(0, f"*{name}")
            continue
        required = required or not has_default
        arguments.insert(0, name + ("" if required else "=None"))
    return arguments


def function_for(info):
    arguments = signature_of(info)
    scope = {}
    exec(f"def {info.__name__}({', '.join(arguments)}): pass", scope)  # names of the typelib
    function = scope[info.__name__]
    is_method = isinstance(info, VFuncInfo) or info.is_method()
    return function if is_method else staticmethod(function)


def completes_arguments(function):
    variables = inspect.getclosurevars(function).nonlocals if inspect.isfunction(function) else {}
    return variables.get("complete") is not None


def info_of(value):
    info = getattr(value, "__func__", value)
    if completes_arguments(info) or hasattr(info, "__signature__"):
        return None  # has other arguments than PyGObject's function
    info = getattr(info, "__wrapped__", info)
    return info if isinstance(info, (FunctionInfo, VFuncInfo)) else None


def replace_functions(holder):
    n_replaced = 0
    for name, value in list(vars(holder).items()):
        info = info_of(value)
        if info is not None:
            setattr(holder, name, function_for(info))
            n_replaced += 1
    return n_replaced


def replace_all(module):
    n_replaced = 0
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_"):
            continue
        if isinstance(value, type):
            n_replaced += replace_functions(value)
        elif (info := info_of(value)) is not None:
            setattr(module, name, function_for(info).__func__)
            n_replaced += 1
    return n_replaced


def is_of_numpy(cls, name):
    """True if it is one of NumPy's: methods of other versions may not be in the hints."""
    doc = getattr(inspect.getattr_static(cls, name), "__doc__", None)
    return isinstance(doc, str) and doc.startswith(("Does the same as numpy.", "That of numpy.ndarray:"))


def main(namespaces):
    modules = [f"gi.repository.{namespace}" for namespace in namespaces]
    for namespace, module in zip(namespaces, modules):
        gi.require_version(namespace, "1")
        n_replaced = replace_all(importlib.import_module(module))
        print(f"{namespace}: {n_replaced} introspected functions")

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as allowed:
        allowed.write(ALLOWED)
        view = importlib.import_module("gi.repository.Mtl").StridedView
        allowed.writelines(rf"gi\.repository\.Mtl\.StridedView\.{name}" "\n" for name in dir(view)
                           if name in _INSTEAD or is_of_numpy(view, name))
        allowed.flush()
        sys.argv[1:] = [*modules, "--concise", "--allowlist", allowed.name,
                        "--ignore-unused-allowlist"]
        return stubtest.main()


sys.exit(main(sys.argv[1:]))

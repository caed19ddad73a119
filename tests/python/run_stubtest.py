# SPDX-License-Identifier: LGPL-2.1-or-later
"""mypy's stubtest of the hints, against the classes that are there at run time.

PyGObject's functions have no signature that Python could read, so that in their
place stubtest gets functions with the arguments that PyGObject itself tells.
"""

import inspect
import re
import sys
import tempfile

import gi

gi.require_version("Mtl", "1")

from gi._gi import FunctionInfo, VFuncInfo  # noqa: E402
from gi.overrides._mtl_methods import LEFT_OUT  # noqa: E402
from gi.repository import Mtl  # noqa: E402
from mypy import stubtest  # noqa: E402

# Attributes that are there to say what to use instead; what all of PyGObject's
# classes and modules have, and is nobody's to use; the buffer protocol, which has
# no name at run time before Python 3.12; the class of props, which only the hints
# have.
ALLOWED = r"""
gi\.repository\.Mtl\.__\w+__
gi\.repository\.Mtl\.\w+\.__(gsignals|info|enum_values|flags_values|buffer)__
gi\.repository\.Mtl\.\w+Class
gi\.repository\.Mtl\.Device\.parent_instance
gi\.repository\.Mtl\.\w+\.(Props|props)
"""


def signature_of(info):
    """As in “wait(self, value:int, timeout:int, cancellable:Gio.Cancellable=None) -> bool”."""
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


def replace_functions(holder):
    n_replaced = 0
    for name, value in list(vars(holder).items()):
        info = getattr(value, "__func__", value)
        if completes_arguments(info):
            continue  # has other arguments than PyGObject's function
        info = getattr(info, "__wrapped__", info)
        if isinstance(info, (FunctionInfo, VFuncInfo)):
            setattr(holder, name, function_for(info))
            n_replaced += 1
    return n_replaced


def main():
    names = [name for name in dir(Mtl) if not name.startswith("_")]
    n_replaced = sum(replace_functions(getattr(Mtl, name)) for name in names
                     if isinstance(getattr(Mtl, name), type))
    for name in names:
        if isinstance(getattr(Mtl, name), FunctionInfo):
            setattr(Mtl, name, function_for(getattr(Mtl, name)).__func__)
            n_replaced += 1
    print(f"{n_replaced} introspected functions")

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as allowed:
        allowed.write(ALLOWED)
        allowed.writelines(rf"gi\.repository\.Mtl\.StridedView\.{name}" "\n" for name in LEFT_OUT)
        allowed.flush()
        sys.argv[1:] = ["gi.repository.Mtl", "--concise", "--allowlist", allowed.name]
        return stubtest.main()


sys.exit(main())

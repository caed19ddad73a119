# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments that can be left out, and names in place of members, devices and files."""

import errno
import functools
import os
import reprlib
import sys
from types import FunctionType

from ..module import get_introspection_module
from ._mtl_optional import EVERYWHERE, FUNCTIONS

Mtl = get_introspection_module("Mtl")

# PyGObject gives these a default itself if they come last.
_OPTIONAL = {*EVERYWHERE, "progress_data", "user_data"}


def defaults_of(name, parameters):
    """Returns the defaults of the last parameters that have one, in order. The name is that of the
    function, with namespace and class."""
    table = {**EVERYWHERE, **FUNCTIONS.get(name.removesuffix("_async"), {}),
             **FUNCTIONS.get(name, {})}
    found = {}
    for parameter in reversed(parameters):
        if parameter not in table:
            break
        found[parameter] = _value_of(table[parameter])
    return dict(reversed(found.items()))


def _value_of(default):
    if not isinstance(default, str):
        return default
    namespace, *names = default.split(".")
    return functools.reduce(getattr, names, get_introspection_module(namespace))


def set_defaults(function, name):
    """Gives a function that is written in Python the defaults of the one in C that it replaces,
    unless it has more of its own."""
    code = function.__code__
    found = defaults_of(name, code.co_varnames[:code.co_argcount])
    if found and not function.__defaults__:
        function.__defaults__ = tuple(found.values())


def set_all_defaults(namespace, functions):
    """Does what set_defaults() does for the functions of a namespace, by name."""
    for name, function in functions.items():
        if isinstance(function, FunctionType):
            set_defaults(function, f"{namespace}.{name}")


def as_file(path):
    """A Gio.File for a path, or the one that was given."""
    from gi.repository import Gio

    if isinstance(path, Gio.File):
        return path
    encoded = os.fsencode(path)
    if not encoded:
        raise FileNotFoundError(errno.ENOENT, "the path is empty", path)
    # A Gio.File does not have such an end.
    if os.path.basename(encoded) in (b"", b".", b".."):
        raise IsADirectoryError(errno.EISDIR, "the path is that of a folder", path)
    return Gio.File.new_for_path(encoded)


def member(cls, value):
    """A member of an enumeration for its name, such as "read" or Mtl.TensorFileMode.READ."""
    if not isinstance(value, str):
        return value
    names = [name for name in dir(cls) if name.isupper() and isinstance(getattr(cls, name), cls)]
    name = value.upper().replace("-", "_")
    if name not in names:
        name = {"A": "ANY"}.get(name) if "ANY" in names else None
    if name is None:
        listed = ", ".join(repr(name.lower()) for name in names)
        raise ValueError(f"{value!r} is not a {cls.__name__}: use one of {listed}")
    return getattr(cls, name)


def device_of(device):
    """A device, which may be a name, such as "cuda:1"."""
    if device is None or isinstance(device, Mtl.Device):
        return device
    if isinstance(device, str):
        return Mtl.Device.get_by_name(device)
    raise TypeError(f'the device must be a Mtl.Device, its name such as "cuda:0", or None, not '
                    f'{reprlib.repr(device)}')


def completion(name, parameters, converted, enums):
    """Returns a function that completes arguments: parameters with a default can be left out, as
    can a device that comes first. `converted` has a function for each parameter that takes other
    objects as well, `enums` the enumerations whose members can be named. Also returns how many
    positional arguments have to be there for it not to be needed but for names, and the types of
    the first then, or None."""
    completed = list(parameters)
    while completed and completed[-1] in _OPTIONAL:
        completed.pop()
    defaults = defaults_of(name, completed)
    n_required = parameters.index(next(iter(defaults))) if defaults else len(parameters)
    tail = tuple(defaults.values())
    devices = (type(None), Mtl.Device)
    takes_device = parameters[:1] == ["device"] and len(parameters) > 1
    converters = {**converted, **{parameter: functools.partial(member, enum)
                                  for parameter, enum in enums.items()}}
    places = [(parameters.index(parameter), parameter, convert)
              for parameter, convert in converters.items()]

    def complete(args, keywords):
        if takes_device and "device" not in keywords \
                and not (args and isinstance(args[0], devices)):
            args = (None, *args)
        for place, parameter, convert in places:
            if place < len(args):
                if args[place] is not None:
                    args = (*args[:place], convert(args[place]), *args[place + 1:])
            elif keywords.get(parameter) is not None:
                keywords[parameter] = convert(keywords[parameter])
        if not keywords and len(args) >= n_required:
            return args + tail[len(args) - n_required:], keywords
        for i, (parameter, default) in enumerate(defaults.items()):
            if n_required + i >= len(args):
                keywords.setdefault(parameter, default)
        return args, keywords

    n_known = sys.maxsize if converted else n_required + len(tail) if defaults else takes_device
    return complete, n_known, devices if takes_device else None

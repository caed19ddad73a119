# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments that can be left out, and names in place of members and files. make-stub.py reads the
table."""

import errno
import functools
import os
import sys

# Defaults of parameters that are the last of a function, in all functions but setters.
DEFAULTS = {
    "atol": 1e-8,
    "axis": -1,
    "byte_offset": 0,
    "byte_strides": None,
    "checks": "TensorChecks.NONE",
    "device": None,
    "first": 0,
    "flags": "BufferFlags.NONE",
    "item_bits": 8,
    "last": -1,
    "max_items": 1000,
    "mode": "FileMode.AUTO",
    "order": "Order.C",
    "ordinal": 0,
    "rtol": 1e-5,
    "step": 1,
    "strides": None,
    "timeout": -1,
}

# Functions whose parameters of these names have another default, or none.
EXCEPTIONS = {
    "Allocator.new": {"storage_mode": "StorageMode.HOST"},
    "Device.supports_storage_mode": {"mode": ...},
    "StridedLayout.flip": {"axis": ...},
    "StridedLayout.get_extent": {"axis": ...},
    "StridedLayout.get_stride": {"axis": ...},
    "StridedView.compute_statistic": {"axes": None},
    "StridedView.flip": {"axis": ...},
    "StridedView.get_extent": {"axis": ...},
    "StridedView.get_stride": {"axis": ...},
    "Buffer.new": {"storage_mode": "StorageMode.HOST"},
    "Buffer.new_uninitialized": {"storage_mode": "StorageMode.HOST"},
}


def defaults_of(name, parameters):
    """Returns the defaults of the last parameters that have one, in order. Those that PyGObject
    gives a default itself may follow."""
    if name.rpartition(".")[2].startswith("set_"):
        return {}
    table = DEFAULTS | EXCEPTIONS.get(name, {})
    found = {}
    for parameter in reversed(parameters):
        if parameter not in table and not found and parameter in _OPTIONAL:
            continue
        if table.get(parameter, ...) is ...:
            break
        found[parameter] = table[parameter]
    return dict(reversed(found.items()))


# Nullable parameters at the end.
_OPTIONAL = {"cancellable", "progress", "progress_data", "callback", "user_data"}


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


def _value_of(namespace, default):
    if isinstance(default, str):
        return functools.reduce(getattr, default.split("."), namespace)
    return default


def member(cls, value):
    """A member of an enumeration for its name, such as "read" or Mtl.FileMode.READ."""
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


def completion(namespace, name, parameters, files, enums):
    """Returns a function that completes arguments: parameters with a default can be left out, as
    can a device that comes first. `files` are the parameters that take a path as well, `enums` the
    enumerations whose members can be named. Also returns how many positional arguments have to be
    there for it not to be needed but for names, and the types of the first then, or None."""
    defaults = {parameter: _value_of(namespace, default)
                for parameter, default in defaults_of(name, parameters).items()}
    n_required = parameters.index(next(iter(defaults))) if defaults else len(parameters)
    tail = tuple(defaults.values())
    devices = (type(None), namespace.Device)
    takes_device = parameters[:1] == ["device"] and len(parameters) > 1
    converters = dict.fromkeys(files, as_file)
    for parameter, enum in enums.items():
        converters[parameter] = functools.partial(member, enum)
    places = [(parameters.index(parameter), parameter, convert)
              for parameter, convert in converters.items()]

    def complete(args, keywords):
        if takes_device and "device" not in keywords \
                and not (args and isinstance(args[0], devices)):
            args = (None, *args)
        for place, parameter, convert in places:
            if place < len(args):
                args = (*args[:place], convert(args[place]), *args[place + 1:])
            elif parameter in keywords:
                keywords[parameter] = convert(keywords[parameter])
        if not keywords and len(args) >= n_required:
            return args + tail[len(args) - n_required:], keywords
        for i, (parameter, default) in enumerate(defaults.items()):
            if n_required + i >= len(args):
                keywords.setdefault(parameter, default)
        return args, keywords

    n_known = sys.maxsize if files else n_required + len(tail) if defaults else takes_device
    return complete, n_known, devices if takes_device else None

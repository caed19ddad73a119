# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls PyGObject's functions as Python users expect: they take names of element types and paths,
refuse wrong integers, and raise Python's exceptions."""

import errno
import functools

from gi._gi import ArgInfo, Direction, EnumInfo, FunctionInfo, TypeInfo
from gi.repository import Gio, GLib

from ..module import get_introspection_module
from . import _mtl
from ._mtl_defaults import as_file, completion

_DOMAIN = GLib.quark_to_string(get_introspection_module("Mtl").error_quark())
_IO_DOMAIN = GLib.quark_to_string(Gio.io_error_quark())

# GIO's error codes, and the errno that each stands for.
_CODES = {
    Gio.IOErrorEnum.NOT_FOUND: errno.ENOENT,
    Gio.IOErrorEnum.EXISTS: errno.EEXIST,
    Gio.IOErrorEnum.IS_DIRECTORY: errno.EISDIR,
    Gio.IOErrorEnum.NOT_DIRECTORY: errno.ENOTDIR,
    Gio.IOErrorEnum.FILENAME_TOO_LONG: errno.ENAMETOOLONG,
    Gio.IOErrorEnum.PERMISSION_DENIED: errno.EACCES,
    Gio.IOErrorEnum.READ_ONLY: errno.EROFS,
    Gio.IOErrorEnum.NO_SPACE: errno.ENOSPC,
    Gio.IOErrorEnum.TOO_MANY_LINKS: errno.ELOOP,
    Gio.IOErrorEnum.TOO_MANY_OPEN_FILES: errno.EMFILE,
    Gio.IOErrorEnum.TIMED_OUT: errno.ETIMEDOUT,
    Gio.IOErrorEnum.BUSY: errno.EBUSY,
    Gio.IOErrorEnum.PENDING: errno.EBUSY,
    Gio.IOErrorEnum.NOT_CONNECTED: errno.ENOTCONN,
    Gio.IOErrorEnum.CONNECTION_CLOSED: errno.EPIPE,
}


def exception_for(error):
    """The exception of Python's own for an error of Mtl's or GIO's. None for others, and for work
    that was cancelled, which remain a GLib.Error."""
    if error.domain == _DOMAIN:
        return _mtl.exception_for_code(error.code)(error.message)
    if error.domain != _IO_DOMAIN or error.code == Gio.IOErrorEnum.CANCELLED:
        return None
    if error.code == Gio.IOErrorEnum.CLOSED:
        return ValueError(error.message)
    code = _CODES.get(error.code)
    return OSError(error.message) if code is None else OSError(code, error.message)


_INTEGERS = {"gint32": "i", "guint32": "u", "gint64": "l", "guint64": "m"}
_AXES = {"axis", "axes", "axis_a", "axis_b", "first", "last"}
_INDICES = {"index", "indices"}


def _kind_of(name, of_argument):
    """Returns a letter of mtl-python-integers.c, or a blank if it has nothing to check."""
    tag = of_argument.get_tag_as_string()
    if tag == "interface":
        interface = of_argument.get_interface()
        if not isinstance(interface, EnumInfo):
            return " "
        return "d" if interface.get_name() == "DType" else "e"
    if tag == "array":
        return "S" if name == "shape" else _kind_of(name, of_argument.get_param_type(0)).upper()
    if tag not in _INTEGERS:
        return " "
    return "a" if name in _AXES else "x" if name in _INDICES else _INTEGERS[tag]


# PyGObject has other names for these methods since 3.51.
_get_type = getattr(ArgInfo, "get_type", None) or ArgInfo.get_type_info
_get_length = getattr(TypeInfo, "get_array_length", None) or TypeInfo.get_array_length_index
_get_destroy = getattr(ArgInfo, "get_destroy", None) or ArgInfo.get_destroy_index


def _types_of_arguments(info):
    """Returns a dict of the names and types of a function's arguments in Python, without self."""
    arguments = info.get_arguments()
    types = list(map(_get_type, arguments))
    hidden = {*map(_get_length, types), *map(_get_destroy, arguments)}
    return {argument.get_name(): of_argument
            for i, (argument, of_argument) in enumerate(zip(arguments, types))
            if argument.get_direction() != Direction.OUT and i not in hidden}


def arguments_of(info):
    """Returns the names of a function's arguments in Python, without self."""
    return list(_types_of_arguments(info))


def _kinds_of_arguments(info, types):
    """`types` are those of _types_of_arguments()."""
    kinds = {"self": " "} if info.is_method() else {}
    for name, of_argument in types.items():
        kinds[name] = _kind_of(name, of_argument)
    return kinds


def _interface_of(of_argument):
    return of_argument.get_interface() if of_argument.get_tag_as_string() == "interface" else None


def _is_named_member(interface):
    """Flags are combined, so they are not named by one member."""
    return (isinstance(interface, EnumInfo) and interface.get_name() != "DType"
            and interface.get_namespace().startswith("Mtl") and not interface.is_flags())


def _check_keywords(keywords, kinds):
    names = tuple(keywords)
    letters = "".join(kinds.get(name, " ") for name in names).encode()
    return dict(zip(names, _mtl.check_arguments(tuple(keywords.values()), letters, names)))


def raising(info):
    """Wraps a function so that it raises exceptions, with the GLib.Error as their cause."""
    kinds = {}
    if isinstance(info, FunctionInfo):
        kinds = _kinds_of_arguments(info, _types_of_arguments(info))
    return _raising(info, kinds)


def _raising(info, kinds, completed=(None, 0, None)):
    """Also completes arguments, unless all that are needed are there."""
    letters, names = "".join(kinds.values()).rstrip().encode(), tuple(kinds)
    check_arguments = _mtl.check_arguments
    call = _mtl.using(info)
    complete, n_known, first = completed

    @functools.wraps(info)
    def function(*args, **keywords):
        if complete and (keywords or len(args) < n_known
                         or first and not isinstance(args[0], first)):
            args, keywords = complete(args, keywords)
        if letters:
            try:
                checked = check_arguments(args, letters, names)
            except TypeError:
                if not complete or not any(type(arg) is str for arg in args):
                    raise
                checked = None
            if checked is None:  # the name of a member
                checked = check_arguments(complete(args, keywords)[0], letters, names)
            args = checked
            if keywords:
                keywords = _check_keywords(keywords, kinds)
        try:
            return call(*args, **keywords) if keywords else call(*args)
        except GLib.Error as error:
            exception = exception_for(error)
            if exception is None:
                raise
            raise exception from error

    return function


def pythonic(info, function, name, converters):
    """Wraps a function, which may be a constructor bound to its class, as raising() does, and
    completes its arguments. `name` is that of namespace, class and function. `converters` make what
    they return of arguments other than None, by the names of their types. Returns the function
    itself if there is nothing to do."""
    types = _types_of_arguments(info)
    parameters = ["self"] * info.is_method() + list(types)
    interfaces = {parameter: _interface_of(of_argument)
                  for parameter, of_argument in types.items()}
    converters = {"File": as_file, **converters}
    converted = {parameter: converters[interface.get_name()]
                 for parameter, interface in interfaces.items()
                 if interface is not None and interface.get_name() in converters}
    enums = {parameter: getattr(get_introspection_module(interface.get_namespace()),
                                interface.get_name())
             for parameter, interface in interfaces.items() if _is_named_member(interface)}
    completed = completion(name, parameters, converted, enums)
    kinds = _kinds_of_arguments(info, types)
    if completed[1] or enums:
        return _raising(function, kinds, completed)
    if info.can_throw_gerror() or any(kind != " " for kind in kinds.values()):
        return _raising(function, kinds)
    takes_view = name.startswith("Mtl.StridedView.") and info.is_method() or any(
        interface is not None and interface.get_name() == "StridedView"
        for interface in interfaces.values())
    return _mtl.using(function) if takes_view else function

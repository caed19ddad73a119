# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns errors and wrong integers into the exceptions that Python users expect."""

import errno
import functools

from gi._gi import Direction, EnumInfo, FunctionInfo
from gi.repository import Gio, GLib

from ..module import get_introspection_module
from . import _mtl

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
}


def exception_for(error):
    """Returns the exception for an error of Mtl's, or None for other errors."""
    if error.domain != _DOMAIN:
        return None
    return _mtl.exception_for_error(error.code, error.message)


def file_exception_for(error):
    """Like exception_for(), but also turns GIO's errors into those of Python's own files."""
    if error.domain != _IO_DOMAIN:
        return exception_for(error)
    if error.code == Gio.IOErrorEnum.CLOSED:
        return ValueError(error.message)
    code = _CODES.get(error.code)
    return OSError(error.message) if code is None else OSError(code, error.message)


_INTEGERS = {"gint32": "i", "guint32": "u", "gint64": "l", "guint64": "m"}
_AXES = {"axis", "axes", "axis_a", "axis_b", "first", "last"}
_INDICES = {"index", "indices"}


def _kind_of(name, of_argument):
    """Returns a letter of mtl-python-integers.c, or a blank if there are no integers."""
    tag = of_argument.get_tag_as_string()
    if tag == "interface":
        return "e" if isinstance(of_argument.get_interface(), EnumInfo) else " "
    if tag == "array":
        return _kind_of(name, of_argument.get_param_type(0)).upper()
    if tag not in _INTEGERS:
        return " "
    return "a" if name in _AXES else "x" if name in _INDICES else _INTEGERS[tag]


def _kinds_of_arguments(info):
    """Returns a dict of the names and kinds of a function's arguments in Python."""
    arguments = info.get_arguments()
    # Later versions of PyGObject have another name for the method.
    types = [getattr(argument, "get_type", None) or argument.get_type_info
             for argument in arguments]
    types = [get_type() for get_type in types]
    lengths = {of_argument.get_array_length() for of_argument in types}
    kinds = {"self": " "} if info.is_method() else {}
    for i, (argument, of_argument) in enumerate(zip(arguments, types)):
        if argument.get_direction() != Direction.OUT and i not in lengths:
            kinds[argument.get_name()] = _kind_of(argument.get_name(), of_argument)
    return kinds


def takes_integers(info):
    return any(kind != " " for kind in _kinds_of_arguments(info).values())


def _check_keywords(keywords, kinds):
    letters = "".join(kinds.get(name, " ") for name in keywords).encode()
    return dict(zip(keywords, _mtl.check_integers(tuple(keywords.values()), letters)))


def raising(info, exception_for=exception_for):
    """Wraps a function so that it raises exceptions, with the GLib.Error as their cause."""
    kinds = _kinds_of_arguments(info) if isinstance(info, FunctionInfo) else {}
    letters = "".join(kinds.values()).rstrip().encode()
    check_integers = _mtl.check_integers

    @functools.wraps(info)
    def function(*args, **keywords):
        if letters:
            args = check_integers(args, letters)
            if keywords:
                keywords = _check_keywords(keywords, kinds)
        try:
            return info(*args, **keywords) if keywords else info(*args)
        except GLib.Error as error:
            exception = exception_for(error)
            if exception is None:
                raise
            raise exception from error

    return function

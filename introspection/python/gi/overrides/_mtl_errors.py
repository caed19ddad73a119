# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns errors into the exceptions that Python users expect."""

import errno
import functools

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


def raising(info, exception_for=exception_for):
    """Wraps a function so that it raises exceptions, with the GLib.Error as their cause."""

    @functools.wraps(info)
    def function(*args, **keywords):
        try:
            return info(*args, **keywords)
        except GLib.Error as error:
            exception = exception_for(error)
            if exception is None:
                raise
            raise exception from error

    return function

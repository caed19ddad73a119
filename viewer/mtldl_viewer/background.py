# SPDX-License-Identifier: LGPL-2.1-or-later
"""Work that the library does in its threads, while the window goes on."""

import os
from gettext import gettext as _

from gi.repository import Gio, GLib

# The errors of the library, as Python has them, and those of files.
ERRORS = (ValueError, TypeError, IndexError, BufferError, MemoryError, NotImplementedError,
          OSError, GLib.Error)


class Task:
    """A series of calls. Cancelled, it does nothing more and reports nothing."""

    def __init__(self, failed):
        self.cancellable = Gio.Cancellable()
        self.failed = failed

    def cancel(self):
        self.cancellable.cancel()

    def run(self, begin, finish, done, *arguments, progress=None, **keywords):
        """Calls begin(*arguments, …); done(value) gets what finish() returns."""
        def finished(_, result):
            try:
                value = finish(result)
            except ERRORS as error:
                self.fail(error)
                return
            if not self.cancellable.is_cancelled():
                done(value)

        try:
            if progress is not None:
                keywords['progress'] = self.unless_cancelled(progress)
            begin(*arguments, cancellable=self.cancellable, callback=finished, **keywords)
        except ERRORS as error:
            self.fail(error)

    def fail(self, error):
        if not self.cancellable.is_cancelled():
            self.failed(error)

    def unless_cancelled(self, function):
        def call(*arguments):
            if not self.cancellable.is_cancelled():
                function(*arguments)
        return call


TRUNCATED = _('The file has become shorter since it was opened.')


class Truncated(OSError):
    """The system ends programs that read a mapping past the new end of its file."""


class FileState:
    """The state of a file when it was opened. It has to keep n_bytes, however long it was."""

    def __init__(self, file, n_bytes=0):
        self.path, self.n_bytes = file.get_path(), n_bytes
        self.status = self.read()

    def read(self):
        try:
            return os.stat(self.path) if self.path is not None else None
        except OSError:
            return None

    def is_truncated(self):
        """A file that was replaced or deleted does not count: its mapping stays."""
        now, before = self.read(), self.status
        return (now is not None and before is not None and now.st_ino == before.st_ino
                and now.st_dev == before.st_dev
                and now.st_size < max(before.st_size, self.n_bytes))

    def is_same(self):
        now, before = self.read(), self.status
        return (now is not None and before is not None and
                (now.st_ino, now.st_size, now.st_mtime_ns)
                == (before.st_ino, before.st_size, before.st_mtime_ns))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tensor that a thread of this process exports, without a bus."""

import socket
import threading

from gi.repository import Gio, GLib, Mtl

PATH = "/org/mtldl/test/Tensor"


def connect(end, guid, flags):
    stream = Gio.Socket.new_from_fd(end.detach()).connection_factory_create_connection()
    return Gio.DBusConnection.new_sync(stream, guid, flags, None, None)


class Exporter:
    """Used in a with statement, which ends the thread."""

    def __init__(self, view):
        self.tensor = Mtl.ExportedTensor(view)
        self.loop = GLib.MainLoop.new(GLib.MainContext(), False)
        self.is_exported = threading.Event()
        ours, theirs = socket.socketpair()
        self.thread = threading.Thread(target=self.run, args=[theirs])
        self.thread.start()
        self.caller = connect(ours, None, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT)
        self.proxy = Mtl.TensorProxy(self.caller, None, PATH)
        assert self.is_exported.wait(60)

    def run(self, end):
        context = self.loop.get_context()
        context.push_thread_default()
        connection = connect(end, Gio.dbus_generate_guid(),
                             Gio.DBusConnectionFlags.AUTHENTICATION_SERVER)
        assert self.tensor.export(connection, PATH)
        self.is_exported.set()
        self.loop.run()
        context.pop_thread_default()

    def __enter__(self):
        return self.tensor, self.proxy

    def __exit__(self, *exception):
        self.caller.close_sync()
        # A loop that does not run yet would miss a quit() from here.
        source = GLib.Idle()
        source.set_callback(lambda *_: self.loop.quit())
        source.attach(self.loop.get_context())
        self.thread.join()

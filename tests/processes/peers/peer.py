# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: peer.py send|receive FD: one end of test_languages.py"""

import sys

import gi

gi.require_version("Mtl", "1")
from gi.repository import Gio, GLib, Mtl  # noqa: E402

HOST = Mtl.Device.get_host()


def send_all(connection):
    new_integers = Mtl.StridedView.new_arange_int64
    matrix = Mtl.StridedView.new_arange(HOST, "float32", 0, 24, 1, Mtl.StorageMode.INTERPROCESS)
    for name, view in {"small": new_integers(HOST, "int64", 0, 6).reshape(2, 3),
                       "shared": matrix.reshape(4, 6)[::-1, ::2],
                       "large": new_integers(HOST, "uint32", 0, 100000)}.items():
        connection.send(view, GLib.Variant("a{sv}", {"name": GLib.Variant("s", name)}), None)


def receive_one(connection):
    view, extras = connection.receive(None)
    print(extras["name"], int(view.is_read_only()), int(view.get_buffer().is_interprocess()),
          view.format(1000).replace("\n", "|"))


def main(action, fd):
    connection = Mtl.TensorConnection.new(Gio.Socket.new_from_fd(int(fd)),
                                          Mtl.TensorPeerFlags.NONE)
    if action == "send":
        send_all(connection)
    else:
        for _ in range(3):
            receive_one(connection)


if __name__ == "__main__":
    main(*sys.argv[1:])

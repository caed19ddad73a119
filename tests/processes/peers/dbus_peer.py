# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: dbus_peer.py export|call NAME: a process of test_dbus_languages.py"""

import sys

import gi

gi.require_version("Mtl", "1")
from gi.repository import Gio, GLib, Mtl  # noqa: E402

PATH = "/org/mtldl/test/Tensor"
HOST = Mtl.Device.get_host()


def show(what, view):
    print(what, int(view.get_buffer().is_interprocess()), view.format(1000).replace("\n", "|"),
          flush=True)


def export(name):
    """Shows each view that it is offered in its turn."""
    numbers = Mtl.StridedView.new_arange(HOST, "float32", 0, 24, 1, Mtl.StorageMode.INTERPROCESS)
    tensor = Mtl.ExportedTensor(numbers.reshape(4, 6)[::-1, ::2], writable=True)
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    loop = GLib.MainLoop()

    def on_put(_, view, extras):
        if extras["name"] == "end":
            GLib.idle_add(loop.quit)
            return True
        show(extras["name"], view)
        tensor.set_view(view)
        return True

    tensor.connect("put", on_put)
    tensor.connect("written", lambda _, region: show(region, tensor.get_view()))
    tensor.export(bus, PATH)
    Gio.bus_own_name_on_connection(bus, name, Gio.BusNameOwnerFlags.NONE,
                                   lambda *_: print("ready", flush=True), None)
    loop.run()
    bus.flush_sync()  # with the last reply


def call(name):
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    proxy = Mtl.TensorProxy(bus, name, PATH)
    changes = []
    proxy.connect("changed", lambda _, serial, region: changes.append(region))

    first = proxy.fetch_view()
    show("fetched", first)
    proxy.copy_from([100, 200, 300], "1:3, ::-1")
    show("written", first)  # in the other process's memory
    layout, dtype, read_only = proxy.fetch_layout()
    print(layout.shape, dtype.name, int(read_only), flush=True)
    proxy.put(Mtl.arange(100000, dtype="uint32"), {"name": "large"})
    show("large", proxy.fetch_view())
    while len(changes) < 2:
        GLib.MainContext.default().iteration(True)
    print("|".join(changes), flush=True)
    try:
        proxy.copy_from([1], "100000")
    except IndexError:
        print("OUT_OF_BOUNDS", flush=True)
    proxy.put([0], {"name": "end"})


if __name__ == "__main__":
    {"export": export, "call": call}[sys.argv[1]](sys.argv[2])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors of files on the session bus: serve, and ls of what a program exports there."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from says import tells
from tensors import MTLDL, complaint, mtldl, save

pytestmark = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="needs dbus-daemon")

NAME = "org.mtldl.Serve"

# Prints what the tensor at a path of a name is.
FETCH = """
import sys

import gi

gi.require_version("Mtl", "1")
from gi.repository import Gio, Mtl

name, path = sys.argv[1:]
view = Mtl.TensorProxy.new(Gio.bus_get_sync(Gio.BusType.SESSION), name, path).fetch_view(None)
print(view.get_dtype().value_nick, view.dup_bytes(None).get_data().hex())
"""


# Shows a tensor, and says of the root that it has nodes without a name and with odd ones, too.
ODD_NODES = """
import sys

import gi

gi.require_version("Mtl", "1")
from gi.repository import Gio, GLib, Mtl

XML = '<node><interface name="org.freedesktop.DBus.Introspectable"><method name="Introspect">' \\
      '<arg type="s" direction="out"/></method></interface></node>'
NODES = '<node><node/><node name=""/><node name="a b"/><node name="tensor"/></node>'
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
tensor = Mtl.ExportedTensor([1, 2, 3])
tensor.export(bus, "/tensor")
bus.register_object("/", Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0],
                    lambda *call: call[-1].return_value(GLib.Variant("(s)", (NODES,))),
                    None, None)
Gio.bus_own_name_on_connection(bus, sys.argv[1], Gio.BusNameOwnerFlags.NONE,
                               lambda *_: print("ready", flush=True), None)
GLib.MainLoop().run()
"""


@pytest.fixture(scope="module", autouse=True)
def bus():
    daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    before = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = daemon.stdout.readline().strip()
    yield
    daemon.kill()
    daemon.wait()
    del os.environ["DBUS_SESSION_BUS_ADDRESS"]
    if before is not None:
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = before


@pytest.fixture
def tensors():
    return {"layers.0.weight": np.arange(12, dtype="f4").reshape(3, 4),
            "layers.10.weight": np.ones((2, 2), "i8"), "bias-1": np.zeros((0, 3), "u1")}


@pytest.fixture
def file(tmp_path, tensors):
    return save(tmp_path / "model.v2.safetensors", tensors)


@contextlib.contextmanager
def serving(*arguments, end=signal.SIGINT, status=0):
    """Runs while the tensors can be fetched, and yields the line that says so."""
    process = subprocess.Popen([MTLDL, "serve", *map(str, arguments)], stdout=subprocess.PIPE,
                               text=True)
    try:
        yield process.stdout.readline()
        process.send_signal(end)
        assert process.wait(60) == status
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def listed(*arguments):
    return [line.split() for line in mtldl("ls", *arguments).splitlines()]


def test_tensors_are_listed(file):
    with serving(file) as line:
        assert line == f"{NAME}: 3 tensors, 80 bytes\n"
        assert listed(f"dbus:{NAME}") == [
            ["DTYPE", "SHAPE", "ACCESS", "NAME"],
            ["uint8", "[0,3]", "read", "/model/bias_2d1"],
            ["float32", "[3,4]", "read", "/model/layers/0/weight"],
            ["int64", "[2,2]", "read", "/model/layers/10/weight"]]
        assert listed("-1", f"dbus:{NAME}", "*weight") == [["/model/layers/0/weight"],
                                                           ["/model/layers/10/weight"]]
        assert listed("-1", "-s", "*bias*", f"dbus:{NAME}") == [["/model/bias_2d1"]]


def test_tensors_are_fetched(file, tensors):
    with serving(file):
        done = subprocess.run([sys.executable, "-c", FETCH, NAME, "/model/layers/0/weight"],
                              stdout=subprocess.PIPE, text=True, check=True)
    dtype, elements = done.stdout.split()
    assert dtype == "float32"
    assert bytes.fromhex(elements) == tensors["layers.0.weight"].tobytes()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_it_is_interrupted(file, end):
    with serving(file, end=end):
        pass


def test_options(tmp_path, file):
    np.save(tmp_path / "array.npy", np.zeros(5))
    with serving("-s", "*weight", file, "--name=org.example.Tensors") as line:
        assert line.startswith("org.example.Tensors: 2 tensors, ")
        with serving(tmp_path / "array.npy") as other:  # at the same time
            assert other == f"{NAME}: 1 tensor, 40 bytes\n"
            assert listed("-1", f"dbus:{NAME}") == [["/array"]]
        assert len(listed("-1", "dbus:org.example.Tensors")) == 2


def test_a_folder(tmp_path, file):
    np.save(tmp_path / "array.npy", np.zeros(5))
    with serving(tmp_path):
        assert [path for path, in listed("-1", f"dbus:{NAME}", "*a*")][0] == "/array"


@pytest.mark.parametrize("name", ["a..b", ".", "", "ä ö", "_", "x" * 300, "a/b", "a\x1bb"])
def test_names_of_all_kinds_have_paths(tmp_path, name):
    with serving(save(tmp_path / "f.safetensors", {name: np.zeros(2, "u1")})):
        (path,), = listed("-1", f"dbus:{NAME}")
        assert path.startswith("/f/")
        assert listed(f"dbus:{NAME}")[1] == ["uint8", "[2]", "read", path]


def test_a_name_is_given_once(file):
    with serving(file):
        assert tells(complaint("serve", file, status=1), NAME, "--name")
    assert tells(complaint("serve", file, file, status=1), "/model/layers/0/weight")


def test_nodes_without_a_name_are_left_out():
    program = subprocess.Popen([sys.executable, "-c", ODD_NODES, "org.example.Odd"],
                               stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        assert listed("-1", "dbus:org.example.Odd") == [["/tensor"]]
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def test_failures(tmp_path, file):
    assert tells(complaint("serve", tmp_path / "nothing.npy", status=1), "nothing.npy")
    assert tells(complaint("serve", "-s", "nothing", file, status=1), "nothing")
    assert tells(complaint("serve", "--name=x", file, status=2), "--name=x")
    assert tells(complaint("serve", "--name=:1.1", file, status=2), "--name=:1.1")
    assert tells(complaint("ls", "dbus:x", status=1), "x")
    assert tells(complaint("ls", "dbus:org.mtldl.Nobody", status=1), "org.mtldl.Nobody")
    assert tells(complaint("ls", "--json", "dbus:org.mtldl.Serve", status=2), "--json")
    with serving(file):
        assert tells(complaint("ls", f"dbus:{NAME}", "nothing", status=1), "nothing")


def test_without_a_bus(file, monkeypatch):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    assert "bus" in complaint("ls", f"dbus:{NAME}", status=1)
    assert "bus" in complaint("serve", file, status=1)

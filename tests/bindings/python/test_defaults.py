# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments that can be left out: each of introspection/defaults.ini means the same as if it were
written."""

import functools
import inspect
import pathlib
import socket
import sys

import gi
import pytest
from gi.repository import GLib, Mtl

from conftest import call_apart, has_namespace
from dbus_exporter import Exporter

ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "introspection"))
from defaults import Member, Table  # noqa: E402

TABLE = Table(ROOT / "introspection" / "defaults.ini")

# No two axes have the same extent, and the order of the axes is Fortran's.
LAYOUT = Mtl.StridedLayout.new([2, 3, 4], [1, 2, 6], 32)
VIEW = Mtl.array(range(2000), "float32", device="cpu")[:24].reshape(4, 3, 2)
EVENT = Mtl.Event.new()
EVENT.signal(1)

# The arguments that have to be there, of the functions that are not asynchronous.
REQUIRED = {
    "Buffer.new": [None, 64],
    "Buffer.new_from_bytes": [GLib.Bytes(b"abc")],
    "Buffer.new_uninitialized": [None, 64],
    "Device.get": [Mtl.DeviceType.CPU],
    "Event.new": [],
    "Event.wait": [1],
    "ExportedTensor.new": [VIEW],
    "ExportedTensor.announce_change": [],
    "ExportedTensor.unexport": [],
    "StridedLayout.new": [[2, 3]],
    "StridedLayout.new_dense": [[2, 3]],
    "StridedLayout.new_dense_for_axes": [[2, 3], [1, 0]],
    "StridedLayout.new_with_byte_strides": [[2, 3], [12, 4]],
    "StridedLayout.flatten": [],
    "StridedLayout.get_max_compatible_item_bits": [64],
    "StridedLayout.is_contiguous": [],
    "StridedLayout.narrow": [2, 0, 4],
    "StridedLayout.repack": [8],
    "StridedLayout.to_dense": [],
    "StridedView.new": [VIEW.get_buffer(), VIEW.layout, "float32"],
    "StridedView.new_arange": [None, "float16", 0, 5],
    "StridedView.new_arange_int64": [None, "uint8", 0, 5],
    "StridedView.new_from_variant_fds": [VIEW.to_variant()],
    "StridedView.new_filled": [None, "int8", [3], 7],
    "StridedView.new_uninitialized": [None, "int8", [0, 3]],
    "StridedView.new_zeros": [None, "int8", [2, 3]],
    "StridedView.all_close": [VIEW * (1 + 2e-5)],
    "StridedView.reduce": ["maximum"],
    "StridedView.array_equal": [VIEW],
    "StridedView.copy": [],
    "StridedView.copy_scaled_from": [[2], 3],
    "StridedView.export_dlpack": [],
    "StridedView.format": [],
    "StridedView.is_contiguous": [],
    "StridedView.narrow": [0, 0, 4],
    "StridedView.to_device": [Mtl.Device.get_host()],
    "StridedView.to_dtype": ["float16"],
    "StridedView.to_variant": [],
    "TensorConnection.new": [socket.socketpair()[0]],
    "TensorConnection.send": [VIEW],
    "TensorFile.check": [],
    "TensorFile.load_views": [],
    "TensorFile.match_loadable_names": [],
    "TensorFile.match_refused_names": [],
    "TensorFile.open": [],
    "TensorFileEntry.check": [],
    "TensorProxy.copy_from": [VIEW],
    "TensorProxy.put": [VIEW],
}

# Functions that are others in Python, by NumPy's names, or whose arguments are others.
OWN = {"StridedView.flatten", "MtlGst.video_caps_from_view"}


def value_of(default):
    if not isinstance(default, Member):
        return default
    namespace, *names = default.split(".")
    return functools.reduce(getattr, names, getattr(gi.repository, namespace))


@pytest.fixture(scope="module")
def owners(tmp_path_factory):
    """The objects whose functions are called, by class."""
    path = tmp_path_factory.mktemp("defaults") / "a.safetensors"
    Mtl.save(path, {"a": VIEW, "b": [1, 2]})
    file = Mtl.load(path)
    ends = socket.socketpair()
    with Exporter(VIEW.copy()) as (tensor, proxy):
        tensor.connect("put", lambda *_: True)
        tensor.set_writable(True)
        yield {
            "ExportedTensor": Mtl.ExportedTensor(VIEW), "TensorProxy": proxy,
            "TensorConnection": Mtl.TensorConnection(ends[0]),
            "StridedLayout": LAYOUT, "StridedView": VIEW.copy(), "Event": EVENT,
            "StridedLayout.flatten": LAYOUT.to_dense(), "TensorFile": file,
            "StridedLayout.get_max_compatible_item_bits": LAYOUT.to_dense(),
            "StridedLayout.repack": LAYOUT.to_dense(), "TensorFileEntry": file.lookup_entry("a")}


def describe(result):
    """Returns the parts of a result that can be compared."""
    if isinstance(result, (list, tuple)):
        return [describe(part) for part in result]
    if isinstance(result, Mtl.StridedView):
        return result.dtype, result.shape, result.strides, bytes(result.tobytes())
    if isinstance(result, Mtl.StridedLayout):
        return result.shape, result.strides, result.get_item_bits()
    if isinstance(result, Mtl.Buffer):
        return result.get_size(), result.props.storage_mode, result.is_read_only()
    if isinstance(result, Mtl.DlpackTensor):
        return result.is_copied(), result.get_device()
    if isinstance(result, Mtl.Event):
        return result.get_device()
    if isinstance(result, (Mtl.ExportedTensor, Mtl.TensorConnection)):
        return result.get_flags()
    if isinstance(result, GLib.Variant):
        return result.print_(True)
    if isinstance(result, Mtl.TensorFile):
        return result.get_file().get_path(), list(result)
    return result


def functions_of(*namespaces):
    """All functions of the table, with those asynchronous variants that have defaults."""
    return [(namespace, name) for namespace in namespaces
            for name in TABLE.functions[namespace]]


@pytest.mark.parametrize("name", [name for _, name in functions_of("Mtl")
                                  if not name.endswith("_async") and name not in OWN])
def test_what_is_left_out_is_the_default(name, owners):
    owner_name, _, method = name.partition(".")
    owner = owners.get(name, owners.get(owner_name, getattr(Mtl, owner_name)))
    function = getattr(owner, method)
    required = list(REQUIRED[name])
    if name == "TensorFile.open":
        required = [owners["TensorFile"].get_file()]
    defaults = {parameter: value_of(default)
                for parameter, default in TABLE.functions["Mtl"][name].items()}

    expected = describe(function(*required, *defaults.values()))
    for n in range(len(defaults)):
        assert describe(function(*required, *list(defaults.values())[:n])) == expected
    for parameter, default in defaults.items():
        assert describe(function(*required, **{parameter: default})) == expected


def check_signature(namespace, name):
    """Functions that are written in Python have a signature."""
    module = __import__("gi.repository", fromlist=[namespace])
    try:
        function = functools.reduce(getattr, name.split("."), getattr(module, namespace))
    except AttributeError:
        assert (namespace, {name}) in [(of, names & {name}) for of, names in TABLE.partial]
        return
    code = getattr(function, "__code__", None)
    passes_on = code is None or code.co_flags & inspect.CO_VARARGS and not name.endswith("_async")
    if passes_on or f"{namespace}.{name}" in OWN:
        return
    parameters = inspect.signature(function, follow_wrapped=False).parameters
    for parameter, default in TABLE.functions[namespace][name].items():
        if parameter in parameters:
            assert parameters[parameter].default == value_of(default), parameter


@pytest.mark.parametrize("name", [name for _, name in functions_of("Mtl")])
def test_signatures_have_the_defaults(name):
    check_signature("Mtl", name)


def check_signatures(namespace):
    gi.require_version(namespace, "1")
    if namespace == "MtlGtk":
        gi.require_version("Gtk", "4.0")
    for of, name in functions_of(namespace):
        check_signature(of, name)


@pytest.mark.parametrize("namespace", ["MtlGst", "MtlGtk"])
def test_signatures_of_the_bridges_have_the_defaults(namespace):
    if not has_namespace(namespace):
        pytest.skip(f"this build is without {namespace}")
    call_apart(f"test_defaults.check_signatures({namespace!r})")

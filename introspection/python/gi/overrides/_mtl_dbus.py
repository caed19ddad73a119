# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors over D-Bus: of all that asview() takes, with entries of Python's values."""

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from ._mtl_connection import extras_of

Mtl = get_introspection_module("Mtl")

# The converters of functions, by name.
CONVERTERS = {name: {"StridedView": view_of_values, "Variant": extras_of}
              for name in ("new", "set_view", "put", "put_async", "copy_from", "copy_from_async")}


def _make_tensor_init(construct):
    def __init__(self, view, flags=Mtl.TensorPeerFlags.NONE, **properties):
        construct(self, view=view_of_values(view), flags=flags, **properties)

    return __init__


def _make_proxy_init(construct):
    def __init__(self, connection, bus_name, object_path):
        construct(self, connection=connection, bus_name=bus_name, object_path=object_path)

    return __init__


def install():
    Mtl.ExportedTensor.__init__ = _make_tensor_init(Mtl.ExportedTensor.__init__)
    Mtl.TensorProxy.__init__ = _make_proxy_init(Mtl.TensorProxy.__init__)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serializes views and buffers for Dask. By itself it pickles them, and does so with protocol 4 in
the messages of its scheduler, which has no memory beside the pickle."""

import sys
from importlib.machinery import PathFinder

from ..module import get_introspection_module

Mtl = get_introspection_module("Mtl")

_MODULE = "distributed.protocol.serialize"


def _serialize(value):
    import pickle

    buffers = []
    data = pickle.dumps(value, 5, buffer_callback=buffers.append)
    frames = [buffer.raw() for buffer in buffers]
    return {"writable": [not frame.readonly for frame in frames]}, [data, *frames]


def _deserialize(header, frames):
    """Reads what a message had. Dask may have decompressed it to memory that cannot be written."""
    import pickle

    data, *frames = frames
    buffers = [bytearray(frame) if is_writable and memoryview(frame).readonly else frame
               for frame, is_writable in zip(frames, header["writable"])]
    return pickle.loads(data, buffers=buffers)


def _register(dask):
    for cls in (Mtl.StridedView, Mtl.Buffer):
        dask.dask_serialize.register(cls, _serialize)
        dask.dask_deserialize.register(cls, _deserialize)


class _Finder:
    """Registers the classes when a program imports Dask after this library."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name == _MODULE else None
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module):
            execute(module)
            _register(module)

        spec.loader.exec_module = execute_and_register
        return spec


def install():
    if _MODULE in sys.modules:
        _register(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Finder)

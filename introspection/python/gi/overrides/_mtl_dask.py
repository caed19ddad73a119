# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serializes views and buffers for Dask. By itself it pickles them, and does so with protocol 4 in
the messages of its scheduler, which has no memory beside the pickle."""

from ..module import get_introspection_module
from ._mtl_imports import when_imported

Mtl = get_introspection_module("Mtl")


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


def install():
    when_imported("distributed.protocol.serialize", _register)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hands memory that processes share to others through multiprocessing, by its descriptor."""

import os
import weakref

from ..module import get_introspection_module
from ._mtl_imports import when_imported
from ._mtl_pickle import library, load_mapped_view

# The descriptors that are being pickled, by the files and the ranges in them. Everything that one
# message has of a buffer has the same descriptor, and is in one mapping again.
_sent = weakref.WeakValueDictionary()


class _Memory:
    """Stands for a buffer that processes share."""

    def __init__(self, fd, offset, size):
        self._range = offset, size
        self._fd = fd

    def __del__(self):
        os.close(self._fd)

    def __reduce__(self):
        # The descriptor has to exist until the other process has it, and no longer. Those that
        # multiprocessing itself hands to a new process would exist as long as its Process.
        from multiprocessing.resource_sharer import DupFd

        return load_memory, (DupFd(self._fd), *self._range)


class _ByValue:
    """Stands for an object that is pickled as by other picklers. They call __reduce_ex__(), which
    learns the protocol from them."""

    def __init__(self, pickled):
        self._pickled = pickled

    def __reduce_ex__(self, protocol):
        return self._pickled.__reduce_ex__(protocol)


# The functions that messages name


def load_memory(descriptor, offset, size):
    try:
        fd = descriptor.detach()
    except (OSError, EOFError) as error:
        # Those would mean that the connection of the message failed, and a pool would wait forever.
        raise RuntimeError(
            "the memory of a tensor did not arrive: the process that sent it has ended, or is on "
            "another machine, or this process has no descriptor left") from error
    Mtl = library()
    try:
        return Mtl.Buffer.new_for_fd(fd, offset, size, Mtl.BufferFlags.READ_ONLY
                                     | Mtl.BufferFlags.NEVER_COPY)
    finally:
        os.close(fd)


def load_same(value):
    return value


# Pickling


def _memory_of(buffer):
    fd, offset = buffer.dup_fd()
    state = os.fstat(fd)
    key = state.st_dev, state.st_ino, offset, buffer.get_size()
    memory = _sent.get(key)
    if memory is None:
        memory = _sent[key] = _Memory(fd, offset, buffer.get_size())
    else:
        os.close(fd)
    return memory


def _reduce_buffer(buffer):
    if not buffer.is_interprocess():
        return load_same, (_ByValue(buffer),)
    return load_same, (_memory_of(buffer),)


def _reduce_view(view):
    buffer = view.get_buffer()
    # Other views cannot be made of a buffer.
    is_plain = view.get_lanes() == 1 and view.dtype != view.dtype.OTHER
    if not is_plain or not buffer.is_interprocess():
        return load_same, (_ByValue(view),)
    return load_mapped_view, (_memory_of(buffer), view.layout, view.dtype, view.get_byte_offset())


def _register(reduction):
    Mtl = get_introspection_module("Mtl")
    reduction.register(Mtl.StridedView, _reduce_view)
    reduction.register(Mtl.Buffer, _reduce_buffer)


def install():
    when_imported("multiprocessing.reduction", _register)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""CUDA's protocols beside DLPack: the array interface of Numba and others, in both directions
(https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html), and streams."""

import operator

from ..module import get_introspection_module
from . import _mtl
from ._mtl_array_interface import code_of, describe, element_of
from ._mtl_defaults import device_of

Mtl = get_introspection_module("Mtl")

Stream = Mtl.Stream
StridedView = Mtl.StridedView


# The interface of views


_TYPES = (Mtl.DeviceType.CUDA, Mtl.DeviceType.CUDA_HOST, Mtl.DeviceType.CUDA_MANAGED)


def has_cuda_array_interface(view):
    """Only looks. To get the interface is an export, for which the end of the memory waits."""
    return (code_of(view) is not None and view.__dlpack_device__()[0] in _TYPES
            and view.get_buffer().get_storage_mode() != Mtl.StorageMode.FOREIGN)


def _get_cuda_array_interface(self):
    """Describes memory of CUDA to consumers without DLPack. The memory is ready in the stream."""
    code = code_of(self)
    lent = None if code is None else _mtl.lend_cuda(self)
    if lent is None:
        raise AttributeError("only views of NumPy's own element types in memory of CUDA have "
                             "__cuda_array_interface__")
    address, stream = lent
    size = self.itemsize
    strides = None if self.is_contiguous(Mtl.Order.C) else tuple(
        size * stride for stride in self.strides)
    return {"version": 3, "shape": self.shape, "typestr": code, "descr": [("", code)],
            "strides": strides, "data": (address, self.is_read_only()), "stream": stream}


# The interface of other objects


def _stream_of(interface):
    """0 if there is nothing to wait for."""
    stream = interface.get("stream")
    if stream is None:
        return 0
    stream = operator.index(stream)
    if stream <= 0:
        raise ValueError(f"stream {stream} may mean either default stream: 1 is the legacy one, "
                         "2 the thread's")
    return stream


def _view_of(x, interface):
    number, layout = describe(interface)
    address, is_read_only = interface["data"]
    return _mtl.from_cuda(x, operator.index(address), element_of(number), layout.shape,
                          layout.strides, bool(is_read_only), _stream_of(interface))


def view_of_cuda_interface(x, interface):
    """A view of the memory that x.__cuda_array_interface__ describes. It comes in after the work in
    the stream that is there. Its mistakes are reported like those of other exporters."""
    try:
        return _view_of(x, interface)
    except KeyError as error:
        raise BufferError(f"__cuda_array_interface__ of {type(x).__name__} has no "
                          f"{error.args[0]!r}") from None
    except (BufferError, IndexError, NotImplementedError, OverflowError, TypeError,
            ValueError) as error:
        raise BufferError(f"__cuda_array_interface__ of {type(x).__name__}: {error}") from error


# Streams


# The objects of other libraries have 0 for it.
_LEGACY = 1


def _handle_of(x):
    """The address of a stream of another library."""
    protocol = getattr(x, "__cuda_stream__", None)
    if protocol is not None:
        return operator.index(protocol()[1]) or _LEGACY
    for name in "cuda_stream", "ptr":  # PyTorch's and CuPy's
        if hasattr(x, name):
            return operator.index(getattr(x, name)) or _LEGACY
    return operator.index(x)


def asstream(x, device=None):
    """A stream for the one that x is: an object of PyTorch's, CuPy's or another library with
    __cuda_stream__(), or the address of a stream. The device is the first GPU of CUDA unless
    another one is named. x has to exist as long as the stream is used.

    In a with statement, the library works in the stream."""
    if isinstance(x, Stream):
        return x
    if device is None:
        device = getattr(getattr(x, "device", None), "index", None) or 0
    if not isinstance(device, (Mtl.Device, str)):
        device = Mtl.Device.get(Mtl.DeviceType.CUDA, device)
    stream = Stream.new_for_handle(_handle_of(x), device_of(device))
    stream.owner = x
    return stream


def _stream_enter(self):
    self.push_thread_default()
    return self


def _stream_exit(self, kind, error, traceback):
    self.pop_thread_default()


def _cuda_stream(self):
    """The version of the protocol, and the address of the stream."""
    if self.get_device().get_device_type() != Mtl.DeviceType.CUDA:
        raise AttributeError("only streams of CUDA have __cuda_stream__")
    return 0, self.get_handle()


def _stream_repr(self):
    return f"<Mtl.Stream {self.get_handle():#x} of {self.get_device().get_name()!r}>"


def install():
    StridedView.__cuda_array_interface__ = property(_get_cuda_array_interface)
    Stream.__enter__ = _stream_enter
    Stream.__exit__ = _stream_exit
    Stream.__cuda_stream__ = _cuda_stream
    Stream.__repr__ = _stream_repr

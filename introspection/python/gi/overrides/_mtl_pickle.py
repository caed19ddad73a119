# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies and pickles. Pickles name the functions load_… of this module, which keep their names and
arguments, so that later versions read what earlier ones wrote."""

import contextlib
import contextvars
import copyreg
import functools
import sys

import gi

from ..module import get_introspection_module
from . import _mtl

_MAX_DIMS = 64

# The flags of a pickle. Elements that can be written are pickled as bytes before protocol 5, and
# bytes cannot.
_READ_ONLY = 1
_COPY = 2


@functools.cache
def library():
    """Imports the library, as a process may that only reads pickles."""
    gi.require_version("Mtl", "1")
    from gi.repository import Mtl

    return Mtl


# Inside pickle_by_path(), the mappings that were pickled in it, by the arguments of load_mapping().
_mappings = contextvars.ContextVar("mappings", default=None)


@contextlib.contextmanager
def pickle_by_path():
    """In the context, and in this thread, pickles of views and buffers that map a file have the
    file's path and the place in it, not the elements."""
    mappings = _mappings.get()
    token = _mappings.set({} if mappings is None else mappings)
    try:
        yield
    finally:
        _mappings.reset(token)


# The functions that pickles name


def load_namespace():
    return library()


def load_dtype(number):
    return library().DType(number)


def load_device(device_type, ordinal):
    Mtl = library()
    return Mtl.Device.get(Mtl.DeviceType(device_type), ordinal)


def load_layout(shape, strides, offset, item_bits):
    return _new_layout(library(), shape, strides, offset, item_bits)


def load_buffer(data, flags):
    size = memoryview(data).nbytes
    return load_view(data, (1, 8, 1, False), (size,), (1,), flags).get_buffer()


def load_view(data, element, shape, strides, flags):
    """Views the data: bytes of the pickle, or a buffer that was given back beside it. `element` is
    DLPack's code, bits and lanes, and whether the bits are padded."""
    library()
    if flags & _READ_ONLY:
        data = memoryview(data).toreadonly()
    elif flags & _COPY:
        data = bytearray(memoryview(data))
    return _mtl.from_memory(data, element, shape, strides, 0)


def load_file(path, mode, device):
    Mtl = library()
    return Mtl.load(path, mode=Mtl.TensorFileMode(mode), device=device)


def load_mapping(path, size, modified):
    """Maps a file that has the size in bytes, and the time of its last modification in ns."""
    Mtl = library()
    buffer = Mtl.Buffer.new_mapped(path)
    _, _, found = _find_mapped_file(buffer) or (path, 0, (0, "another time"))
    if found != (size, modified):
        raise ValueError(
            f"{path!r} was changed or replaced after it was mapped: it had {size} bytes, modified "
            f"at {modified} ns, and has {found[0]}, modified at {found[1]}. Map it again, or "
            "pickle its views by value")
    return buffer


def load_mapped_buffer(mapping, offset, size):
    return mapping.slice(offset, size)


def load_mapped_view(mapping, layout, dtype, offset):
    return library().StridedView.new(mapping, layout, dtype, offset)


# Pickling


class _Mapping:
    """Stands for the mapping of a file. All that one pickle has of the file shares one again."""

    def __init__(self, *args):
        load_mapping(*args)  # fails here rather than there
        self._args = args

    def __reduce__(self):
        return load_mapping, self._args


def _find_mapped_file(buffer):
    """Returns the path, the offset in the file, and the size and time of the file when it was
    mapped; None if the buffer maps no file."""
    file, offset, info = buffer.dup_mapped_file()
    if file is None:
        return None
    seconds = info.get_attribute_uint64("time::modified")
    seconds -= (seconds >> 63) << 64  # may be before 1970
    return file.get_path(), offset, (info.get_size(), seconds * 10**9 + info.get_attribute_uint32(
        "time::modified-nsec"))


def _mapping_of(buffer):
    """Returns the mapping that the buffer is to be pickled by, and its offset there, or None."""
    mappings = _mappings.get()
    found = _find_mapped_file(buffer) if mappings is not None else None
    if found is None:
        return None
    path, offset, state = found
    key = path, *state
    if key not in mappings:
        mappings[key] = _Mapping(*key)
    return mappings[key], offset


def _pack(memory, is_read_only, protocol):
    """Returns what a pickle holds of the memory, and its flags."""
    if protocol >= 5:
        from pickle import PickleBuffer

        memory = memory.toreadonly() if is_read_only else memory
        return PickleBuffer(memory), is_read_only * _READ_ONLY
    return bytes(memory), _READ_ONLY if is_read_only else _COPY


def _make_dense(view):
    """Returns a view of the same elements whose C order is that in memory, and the strides that
    make it a view of the first shape again. Repeated elements are in it once."""
    repeated = {axis for axis, (extent, stride) in enumerate(zip(view.shape, view.strides))
                if stride == 0 and extent > 1}
    for axis in repeated:
        view = view[(slice(None),) * axis + (slice(1),)]
    order = view.layout.dup_stride_order()
    strides, step = [0] * len(order), 1
    for axis in reversed(order):
        if axis not in repeated:
            strides[axis] = step
            step *= max(view.shape[axis], 1)
    return view.permute(order), tuple(strides)


def _start_of(view):
    """The first bit in the buffer."""
    layout = view.layout
    return 8 * view.get_byte_offset() + layout.get_offset() * layout.get_item_bits()


def _memory_of(view):
    """The bytes of a view in C order: where they are, or of a copy."""
    Mtl = get_introspection_module("Mtl")
    if not view.is_host_accessible():
        view = view.to_device(Mtl.Device.get_host(), Mtl.StorageMode.HOST)
    if not view.is_contiguous(Mtl.Order.C) or _start_of(view) % 8 != 0:
        view = view.copy()
    n_bytes = (view.size * view.layout.get_item_bits() + 7) // 8
    start = _start_of(view) // 8 if n_bytes else 0
    return memoryview(view.get_buffer())[start:start + n_bytes]


def _reduce_view(self, protocol):
    if mapped := _mapping_of(self.get_buffer()):
        mapping, offset = mapped
        return load_mapped_view, (mapping, self.layout, self.dtype,
                                  offset + self.get_byte_offset())
    dense, strides = _make_dense(self)
    data, flags = _pack(_memory_of(dense), self.is_read_only(), protocol)
    element = (*_mtl.element_type(self), self.get_lanes(), self.is_padded())
    return load_view, (data, element, self.shape, strides, flags)


def _reduce_buffer(self, protocol):
    if mapped := _mapping_of(self):
        mapping, offset = mapped
        return load_mapped_buffer, (mapping, offset, self.get_size())
    Mtl = get_introspection_module("Mtl")
    buffer = self
    if not self.is_host_accessible():
        buffer = Mtl.Buffer.new(None, self.get_size(), Mtl.StorageMode.HOST)
        buffer.copy_from(0, self, 0, self.get_size(), None)
    return load_buffer, _pack(memoryview(buffer), self.is_read_only(), protocol)


def _reduce_namespace(self):
    return load_namespace, ()


def _reduce_layout(self, protocol):
    args = self.shape, self.strides, self.get_offset(), self.get_item_bits()
    _new_layout(get_introspection_module("Mtl"), *args)  # fails here rather than there
    return load_layout, args


def _reduce_dtype(self, protocol):
    return load_dtype, (int(self),)


def _reduce_device(self, protocol):
    return load_device, (int(self.get_device_type()), self.get_ordinal())


def _reduce_file(self, protocol):
    """The path, not the contents: the file is opened again."""
    file = self.get_file()
    if file is None or file.get_path() is None:
        raise TypeError("cannot pickle 'TensorFile' objects without a path")
    return load_file, (file.get_path(), int(self.get_mode()), self.get_device())


def _refuse(self, protocol):
    raise TypeError(f"cannot pickle {type(self).__name__!r} objects")


def _new_layout(Mtl, shape, strides, offset, item_bits):
    """A layout with an offset is a row of a larger one."""
    new = Mtl.StridedLayout.new
    if offset == 0:
        return new(shape, strides, item_bits)
    if len(shape) < _MAX_DIMS:
        return new([2, *shape], [offset, *strides], item_bits).select(0, 1)
    # The number of axes is the maximum, so one of them has at most one element.
    axis = min(range(len(shape)), key=shape.__getitem__)
    if shape[axis] == 0:
        return new(shape, strides, item_bits)
    shape, strides = list(shape), list(strides)
    del shape[axis], strides[axis]
    return _new_layout(Mtl, shape, strides, offset, item_bits).unsqueeze(axis)


# Copying


def _copy_view(self):
    """A copy of the elements, in their order in memory, as NumPy's arrays are copied."""
    return self.copy("K")


def _copy_buffer(self):
    """A copy of the bytes."""
    return self.copy()


def _copy_constant(self):
    """The object itself, which is constant."""
    return self


def _refuse_copy(self):
    """Raises TypeError: open the file again instead."""
    raise TypeError(f"cannot copy {type(self).__name__!r} objects: open the file again")


def _deepcopy(self, memo):
    """The same as copy.copy()."""
    return self.__copy__()


def install():
    Mtl = get_introspection_module("Mtl")
    # Functions that are pickled with what they use, for Dask and Ray, use the module. It is not
    # there if only the override is imported.
    if module := sys.modules.get("gi.repository.Mtl"):
        copyreg.pickle(type(module), _reduce_namespace)
    for cls, reduce, copy in (
            (Mtl.StridedView, _reduce_view, _copy_view),
            (Mtl.Buffer, _reduce_buffer, _copy_buffer),
            (Mtl.StridedLayout, _reduce_layout, _copy_constant),
            (Mtl.DType, _reduce_dtype, _copy_constant),
            (Mtl.Device, _reduce_device, _copy_constant),
            (Mtl.TensorFile, _reduce_file, _refuse_copy)):
        cls.__reduce_ex__ = reduce
        cls.__copy__, cls.__deepcopy__ = copy, _deepcopy
    # Such objects would be pickled without their contents.
    for cls in (Mtl.DlpackTensor, Mtl.Event, Mtl.Stream, Mtl.TensorFileEntry,
                Mtl.TensorFileBuilder):
        cls.__reduce_ex__ = _refuse

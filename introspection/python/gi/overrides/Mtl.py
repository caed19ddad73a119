# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts Mtl to Python: DLPack, the buffer protocol, indexing, exceptions.

Functions that are called often are in the compiled module _mtl, the others here.
"""

import atexit
import functools
import math
import numbers
from types import FunctionType

from gi._gi import FunctionInfo
from gi.repository import Gio, GLib

from ..module import get_introspection_module
from . import (_mtl, _mtl_array_interface, _mtl_connection, _mtl_cuda, _mtl_dask, _mtl_dbus,
               _mtl_dtype, _mtl_files, _mtl_methods, _mtl_numpy, _mtl_pickle, _mtl_processes,
               _mtl_statistics)
from ._mtl_asview import asview, view_of_assigned, view_of_values
from ._mtl_async import awaitable
from ._mtl_create import arange, array, empty, full, ones, zeros
from ._mtl_cuda import asstream
from ._mtl_defaults import as_file, device_of, set_defaults
from ._mtl_errors import pythonic, raising
from ._mtl_files import load, save
from ._mtl_mpi import mpi_datatype
from ._mtl_nested import has_elements
from ._mtl_pickle import pickle_by_path

Mtl = get_introspection_module("Mtl")

__all__ = ["arange", "array", "asstream", "asview", "dtype_from_string", "empty", "from_dlpack",
           "full", "load", "mpi_datatype", "ones", "pickle_by_path", "save", "set_max_threads",
           "zeros"]

Buffer = Mtl.Buffer
Device = Mtl.Device
DType = Mtl.DType
StridedLayout = Mtl.StridedLayout
StridedView = Mtl.StridedView


def _name_of(cls):
    return f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"


def make_pythonic(holder, converters={}, special={}):
    """Wraps the functions of a class, or of another namespace, as pythonic() does. `special` are
    the converters that a function has instead, by its name."""
    is_class = isinstance(holder, type)
    label = _name_of(holder) if is_class else holder.__name__.rpartition(".")[2]
    for name in list(vars(holder)) if is_class else dir(holder):
        member = vars(holder)[name] if is_class else getattr(holder, name, None)
        # Later versions of PyGObject have methods of classes, and static ones, around some.
        info = getattr(member, "__func__", member)
        if not isinstance(info, FunctionInfo):
            continue
        # getattr() binds constructors to their class and leaves other functions unchanged.
        original = getattr(holder, name)
        function = pythonic(info, original, f"{label}.{name}", special.get(name, converters))
        if name.endswith("_async"):
            function = awaitable(holder, function, info, f"{label}.{name}")
        if function is not original:
            is_static = is_class and not info.is_method()
            setattr(holder, name, staticmethod(function) if is_static else function)


def _device_of(device):
    return device_of(device) if isinstance(device, str) else device


# Methods of views that take all that Mtl.asview() takes, or the name of a device.
_CONVERTERS = {f"{name}{suffix}": {"StridedView": view_of_values, "Device": _device_of}
               for name in ("all_close", "array_equal", "copy_scaled_from", "to_device")
               for suffix in ("", "_async")}
_CONVERTERS["to_variant"] = {"Variant": _mtl_connection.extras_of}

for _cls in (Buffer, Device, Mtl.Event, Mtl.Stream, StridedLayout, StridedView, Mtl.DlpackTensor,
             DType, Mtl.Statistics, Mtl.TensorFile, Mtl.TensorFileEntry, Mtl.TensorFileBuilder):
    make_pythonic(_cls, special=_CONVERTERS)
make_pythonic(Mtl.TensorConnection, special=_mtl_connection.CONVERTERS)
for _cls in (Mtl.ExportedTensor, Mtl.TensorProxy):
    make_pythonic(_cls, special=_mtl_dbus.CONVERTERS)

_mtl.install(StridedView, Buffer, Device, StridedLayout)
atexit.register(_mtl.prepare_end)

from_dlpack = _mtl.from_dlpack
dtype_from_string = raising(Mtl.dtype_from_string)
set_max_threads = raising(Mtl.set_max_threads)


_mtl_dtype.install()


# Views


def _view_iter(self):
    if self.ndim == 0:
        raise TypeError("A view of 0 dimensions cannot be iterated over")
    return map(self.__getitem__, range(len(self)))


def _view_repr(self):
    return (f"<Mtl.StridedView shape={self.shape} strides={self.strides} dtype={self.dtype} "
            f"device={self.__dlpack_device__()}{' read-only' if self.is_read_only() else ''}>")


def _view_sizeof(self):
    """The object and its elements, repeated ones once: Dask plans by this."""
    layout = self.layout
    n_elements = math.prod(extent for extent, stride in zip(self.shape, self.strides)
                           if stride != 0 or extent == 0)
    n_bytes = (n_elements * layout.get_item_bits() + 7) // 8
    return object.__sizeof__(self) + min(n_bytes, layout.get_required_size())


# Elements that are made a list at once. All of them may not fit in memory.
_N_LISTED = 4096


def _rounded(dtype, value):
    element = StridedView.new_zeros(Device.get_host(), dtype, ())
    element[()] = value
    return element.item()


@functools.cache
def _rounding(dtype, kind):
    """Returns NumPy's rounding of a number of Python's before it compares elements with it, or
    None."""
    is_integer = issubclass(kind, int)
    if is_integer and dtype.kind not in "fc":
        return None
    if DType.get_bits(dtype) > {"c": 64, "f": 32}.get(dtype.kind, 7):
        return float if is_integer else None
    if is_integer:
        to = dtype
    elif dtype.kind == "c" or kind is complex:
        to = DType.COMPLEX64
    elif dtype.kind == "f" and dtype != DType.FLOAT16:
        to = DType.FLOAT32
    else:
        to = DType.FLOAT16
    return functools.partial(_rounded, to)


def _as_compared(dtype, value):
    """The number as NumPy compares it with elements of the type."""
    if type(value) not in (bool, int, float, complex):
        return value  # its own __eq__ decides
    rounding = _rounding(dtype, type(value))
    try:
        return rounding(value) if rounding else value
    except (ValueError, OverflowError):
        return value  # beyond all floats


def _without_repeats(view):
    """Drops the axes along which elements are repeated, of which there may be any number."""
    return view[tuple(0 if stride == 0 and extent > 1 else slice(None)
                      for stride, extent in zip(view.strides, view.shape))]


def _has_element(view, value):
    if 0 in view.strides and view.size > _N_LISTED:
        view = _without_repeats(view)
        if not isinstance(view, StridedView):
            return value == view
    if view.ndim > 1:
        return any(_has_element(part, value) for part in view)
    if view.size > _N_LISTED:
        return any(_has_element(view[start:start + _N_LISTED], value)
                   for start in range(0, len(view), _N_LISTED))
    if type(value) in (float, complex) and view.dtype in (DType.INT64, DType.UINT64):
        view = view.to_dtype(DType.FLOAT64)  # rounded, as by NumPy
    elements = view.tolist()
    return value in (elements if view.ndim else [elements])


def _has_part(view, part):
    n_axes = view.ndim - part.ndim
    if n_axes <= 0 or view.shape[n_axes:] != part.shape:
        return False
    if n_axes > 1:
        return any(_has_part(row, part) for row in view)
    return any(row.array_equal(part) for row in view)


def _view_contains(self, value):
    """Checks whether an element equals the number, or one of the parts self[i], self[i, j], … has
    the same shape and elements."""
    if self.get_lanes() != 1:
        self = self.to_dtype(self.dtype)  # an axis of the lanes
    if not isinstance(value, numbers.Number) or hasattr(value, "dtype"):
        try:
            value = view_of_values(value)
        except (TypeError, ValueError, BufferError):
            if has_elements(value):
                raise
            return _has_element(self, value)  # its own __eq__ decides
        if value.ndim > 0:
            return _has_part(self, value)
        value = value.tolist()
        if isinstance(value, int) and self.dtype.kind in "fc":
            value = float(value)
        return _has_element(self, value)
    return _has_element(self, _as_compared(self.dtype, value))


def _view_bool(self):
    if self.size != 1:
        raise ValueError(f"the truth value of a view of {self.size} elements is ambiguous: use "
                         "view.any() or view.all()")
    return bool(self.item())


def _array_of_same_memory(view, dtype):
    """Views the memory as integers first, as the buffer protocol has formats for these."""
    import numpy

    integer = DType.from_string(f"uint{8 * view.itemsize}")
    integers = StridedView.new(view.get_buffer(), view.layout, integer,
                               view.get_byte_offset())
    if view.is_read_only():
        integers = integers.as_read_only()
    return numpy.asarray(memoryview(integers)).view(dtype)


def _array_of_packed(view, dtype, copy):
    """Returns a copy with one element per byte, as NumPy stores these types. It is read-only,
    because the caller did not ask for a copy, and writing to it would not change the view."""
    import numpy

    if copy is False:
        raise ValueError(f"packed {view.dtype} cannot become an array without a copy: NumPy stores "
                         "one element per byte")
    result = numpy.zeros(view.shape, "u1").view(dtype)
    asview(result).copy_from(view)
    result.flags.writeable = False
    return result


def _array_of_extension_type(view, copy):
    """Returns None if this is not an extension type that NumPy has."""
    try:
        dtype = view.dtype.dtype
    except TypeError:
        return None
    if view.layout.get_item_bits() % 8 != 0:
        return _array_of_packed(view, dtype, copy)
    return _array_of_same_memory(view, dtype) if dtype.isbuiltin == 2 else None


def _view_array(self, dtype=None, copy=None):
    """NumPy calls this if it cannot use the buffer protocol, which has no format for the types of
    ml_dtypes."""
    import numpy

    try:
        array = memoryview(self)
    except BufferError:
        if not self.is_host_accessible() or self.get_lanes() != 1:
            raise
        array = _array_of_extension_type(self, copy)
        if array is None:
            raise
    if copy is None:  # older versions of NumPy do not accept copy=None
        return numpy.asarray(array, dtype)
    return numpy.array(array, dtype, copy=copy)


def _view_jax_array(self):
    """Some of JAX's functions ask for this; the others want an array."""
    from jax import numpy

    return numpy.asarray(_view_array(self))


def _view_exit(self, kind, error, traceback):
    try:
        self.close()
    except BufferError:
        if error is None:  # frames of an exception may have objects that keep the view open
            raise


def _element_for(view, value):
    """Returns the bytes of one element: those given, or those of a number, in every lane."""
    if isinstance(value, GLib.Bytes):
        return value
    lane = StridedView.new_zeros(Device.get_host(), view.dtype, ())
    lane[()] = value
    if view.is_padded():
        return GLib.Bytes.new(lane.dup_bytes().get_data() * view.get_lanes())
    return lane.broadcast_to(view.get_lanes()).dup_bytes()


StridedView.__numpy_dtype__ = property(lambda self: self.dtype.dtype,
                                       doc="The numpy.dtype of the elements.")


def _prepares(function, name, prepare):
    """Wraps a method so that its first argument, of that name, may be something else."""
    @functools.wraps(function)
    def method(self, *args, **keywords):
        if args:
            args = (prepare(self, args[0]), *args[1:])
        elif name in keywords:
            keywords = {**keywords, name: prepare(self, keywords[name])}
        return function(self, *args, **keywords)

    return method


for _name in ("fill", "fill_async"):
    setattr(StridedView, _name, _prepares(getattr(StridedView, _name), "element", _element_for))
StridedView.copy_from_async = _prepares(StridedView.copy_from_async, "source",
                                        lambda view, source: view_of_assigned(source, view.dtype))
StridedView.__array__ = _view_array
StridedView.__jax_array__ = _view_jax_array
StridedView.__iter__ = _view_iter
StridedView.__repr__ = _view_repr
StridedView.__str__ = lambda self: self.to_string()
StridedView.__sizeof__ = _view_sizeof
StridedView.__bool__ = _view_bool
StridedView.__contains__ = _view_contains
StridedView.__enter__ = lambda self: self
StridedView.__exit__ = _view_exit
_mtl_methods.install()
_mtl_numpy.install()


_mtl_statistics.install(Mtl.Statistics)


# Buffers: sequences of bytes


def _buffer_repr(self):
    return (f"<Mtl.Buffer size={self.get_size()} device={self.__dlpack_device__()}"
            f"{' read-only' if self.is_read_only() else ''}>")


def _buffer_eq(self, other):
    return self.equal(other) if isinstance(other, Buffer) else NotImplemented


def _make_ranged(method):
    """The range is the whole buffer, or what follows the offset."""
    @functools.wraps(method)
    def ranged(self, offset=0, size=None, *args, **keywords):
        if size is None:
            size = self.get_size() - offset
        return method(self, offset, size, *args, **keywords)

    return ranged


for _name in ("slice", "dup_bytes", "get_bytes", "did_modify"):
    setattr(Buffer, _name, _make_ranged(getattr(Buffer, _name)))


_new_mapped = Buffer.new_mapped
_query_info = raising(Gio.File.query_info)


def _buffer_new_mapped(file, device=None, offset=0, size=None, cancellable=None):
    file = as_file(file)
    if size is None:
        info = _query_info(file, "standard::size", Gio.FileQueryInfoFlags.NONE, cancellable)
        size = max(info.get_size() - offset, 0)
    return _new_mapped(file, device, offset, size, cancellable)


Buffer.new_mapped = staticmethod(functools.wraps(_new_mapped)(_buffer_new_mapped))
Buffer.__len__ = lambda self: self.get_size()
Buffer.__bool__ = lambda self: True
Buffer.__repr__ = _buffer_repr
Buffer.__sizeof__ = lambda self: object.__sizeof__(self) + self.get_size()
Buffer.__eq__ = _buffer_eq
Buffer.__hash__ = lambda self: self.hash()


def _initializing(construct, initialize):
    """A constructor for classes whose objects GInitable makes ready."""
    def __init__(self, **properties):
        construct(self, **properties)
        initialize(self, None)

    return __init__


for _cls in (Buffer, Mtl.Event, Mtl.Stream):
    _cls.__init__ = _initializing(_cls.__init__, raising(_cls.init))
Buffer.nbytes = property(lambda self: self.get_size(), doc="The size in bytes.")


# Devices


def _device_repr(self):
    number = int(self.get_device_type()), self.get_ordinal()
    return f"<Mtl.Device {self.get_name()!r} {number}>"


Device.__repr__ = _device_repr


def _device_init_subclass(cls):
    # PyGObject makes classes of the library's own types in this way, too.
    if "__gtype__" not in vars(cls):
        raise TypeError("Mtl.Device cannot be derived from")


Device.__init_subclass__ = classmethod(_device_init_subclass)


# Layouts


def _text_of_slice(self, text):
    """Refuses a NUL, as PyGObject would only pass the text before it on."""
    if isinstance(text, str) and "\0" in text:
        raise ValueError(f"a slice cannot contain a NUL: {text!r}")
    return text


for _cls in (StridedLayout, StridedView):
    _cls.slice = _prepares(_cls.slice, "string", _text_of_slice)


def _layout_repr(self):
    offset = self.get_offset()
    return (f"<Mtl.StridedLayout shape={self.shape} strides={self.strides}"
            f"{f' offset={offset}' if offset else ''} itemsize={self.itemsize}>")


StridedLayout.__repr__ = _layout_repr
StridedLayout.__str__ = lambda self: self.to_string()


# Files


_mtl_files.install()


# Other libraries, copies and pickles


_mtl_array_interface.install()
_mtl_cuda.install()
_mtl_pickle.install()
_mtl_dask.install()


# Other processes


_mtl_processes.install()
_mtl_connection.install()
_mtl_dbus.install()


def name_functions(cls):
    """Gives functions the names that they have here, for exceptions and help(), and their
    defaults."""
    for name, member in vars(cls).items():
        function = getattr(member, "__func__", member)
        if isinstance(function, FunctionType):
            function.__name__ = name
            function.__qualname__ = f"{cls.__name__}.{name}"
            set_defaults(function, f"{_name_of(cls)}.{name}")


for _cls in (Buffer, Device, DType, StridedLayout, StridedView, Mtl.ExportedTensor,
             Mtl.TensorConnection, Mtl.TensorFile, Mtl.TensorFileBuilder, Mtl.TensorFileEntry,
             Mtl.TensorProxy):
    name_functions(_cls)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes files of tensors mappings of names to views."""

import fractions
import functools
import operator
import re
import reprlib
import warnings
from collections.abc import ItemsView, Mapping, ValuesView

from gi.repository import Gio, GLib

from ..module import get_introspection_module
from ._mtl_asview import asview, is_literal, view_of_values
from ._mtl_create import dtype_of
from ._mtl_defaults import as_file, device_of
from ._mtl_errors import exception_for
from ._mtl_nested import listed

Mtl = get_introspection_module("Mtl")


def load(path, *, mode=Mtl.TensorFileMode.AUTO, device=None):
    """Opens a file of tensors as a mapping of names to views. A view is only made when it is
    looked up. `path` is a path or a Gio.File, also of a folder with one index of safetensors, or
    else with one file of tensors. A tensor that cannot be loaded does not hide the others: its
    entry has the reason as `error`. The device may be a name, as in empty()."""
    return Mtl.TensorFile.open(as_file(path), device_of(device), mode)


# The exceptions for objects that it cannot view.
_REFUSALS = (TypeError, ValueError, BufferError)


def _view_of(name, value, dtype):
    try:
        # Numbers have to fit a dtype. Arrays are only converted when they are written.
        if dtype is not None:
            value = listed(value)
            if is_literal(value):
                return asview(value, dtype)
        return view_of_values(value)
    except _REFUSALS as error:
        # A subclass may need more than a message to be constructed.
        kind = next(kind for kind in _REFUSALS if isinstance(error, kind))
        raise kind(f"tensor {name!r}: {error}") from error


def _check_text(what, text):
    """Refuses a NUL, as PyGObject would only write the text before it."""
    if not isinstance(text, str):
        raise TypeError(f"the {what} must be a str, not {type(text).__name__}: {text!r}")
    if "\0" in text:
        raise ValueError(f"the {what} cannot contain a NUL: {text!r}")


def _make_add(add):
    @functools.wraps(add)
    def function(self, name, view, *dtype, **keywords):
        return add(self, name, view_of_values(view), *dtype, **keywords)

    return function


def _fill_builder(builder, tensors, dtype, metadata):
    for name, value in tensors.items():
        _check_text("name of a tensor", name)
        view = _view_of(name, value, dtype)
        if dtype is None:
            builder.add(name, view)
        else:
            builder.add_converted(name, view, dtype)
    for key, value in (metadata or {}).items():
        _check_text("key of metadata", key)
        _check_text("value of metadata", value)
        builder.set_metadata(key, value)


def _set_alignment(builder, alignment):
    limit = builder.find_property("alignment").maximum
    alignment = operator.index(alignment)
    if not 0 <= alignment <= limit or alignment & (alignment - 1):
        raise ValueError(f"the alignment must be 0 or a power of two up to {limit}, not "
                         f"{alignment}")
    builder.set_alignment(alignment)


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?B)?|B)?\s*", re.ASCII | re.IGNORECASE)


def _size_of(size):
    """A number of bytes, also from text such as "5GB" or "2GiB". As for the command mtldl, what has
    no B is a power of 1024."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        if match is None:
            raise ValueError(f"max_shard_size is {size!r}, which is not a size such as '500MB' or "
                             "'5GiB'")
        number, unit, ending = match.groups()
        base = 1000 if (ending or "").upper() == "B" else 1024
        power = "KMGT".index(unit.upper()) + 1 if unit else 0
        n_bytes = int(fractions.Fraction(number) * base**power)
    else:
        try:
            n_bytes = operator.index(size)
        except TypeError:
            raise TypeError("max_shard_size must be an int, in bytes, or text such as '5GB', not "
                            f"{type(size).__name__}: {reprlib.repr(size)}") from None
    if not 1 <= n_bytes < 2**63:
        raise ValueError(f"max_shard_size must be from 1 to 2^63 − 1 bytes, not {n_bytes}")
    return n_bytes


def _is_npy(builder, file):
    name = file.get_basename() or ""
    return builder.get_format() == Mtl.TensorFileFormat.NPY or (
        builder.get_format() == Mtl.TensorFileFormat.AUTO and name.lower().endswith(".npy"))


def _check_is_single(builder, file):
    name = file.get_basename() or ""
    if builder.get_format() == Mtl.TensorFileFormat.AUTO and name.lower().endswith(".index.json"):
        raise ValueError(f"{name!r} is the name of an index of several files, which needs a "
                         "max_shard_size, such as '5GB'; a single file has a name that ends in "
                         ".safetensors or .npy")


def save(path, tensors, *, dtype=None, max_shard_size=None, metadata=None, alignment=0,
         order=Mtl.TensorFileOrder.ALIGNED, format=Mtl.TensorFileFormat.AUTO, sync=True):
    """Writes tensors to a file, and replaces an existing one. `tensors` is a mapping of names to
    anything that Mtl.asview() accepts. If `path` ends in .npy, it is a single tensor, with or
    without a name. With a `dtype`, all elements are converted to it, as by astype(), piece by piece
    while they are written. With a `max_shard_size`, in bytes or as text such as "5GB", `path` is
    that of an index, such as model.safetensors.index.json. The tensors are then in several files
    beside it, each of which has at most that many bytes of tensors, or a single tensor. `alignment`
    is the alignment of the first tensor in bytes; with 0 the library chooses it. The ending of
    `path` decides about the format, unless `format` is given. With sync=False, the function does
    not wait until the file is on the disk."""
    file = as_file(path)
    builder = Mtl.TensorFileBuilder.new()
    if format is not None:
        builder.set_format(format)
    max_size = None if max_shard_size is None else _size_of(max_shard_size)
    if max_size is None:
        _check_is_single(builder, file)
    if not isinstance(tensors, Mapping):
        if max_size is not None or not _is_npy(builder, file):
            raise TypeError("the tensors must be a mapping of names to tensors, not "
                            + type(tensors).__name__)
        tensors = {"": tensors}

    _fill_builder(builder, tensors, None if dtype is None else dtype_of(dtype), metadata)
    builder.set_order(order)
    builder.set_sync(sync)
    _set_alignment(builder, alignment)
    if max_size is None:
        builder.write(file, None, None)
    else:
        builder.write_shards(file, max_size, None, None)


def _contains(self, name):
    # A C string ends at a NUL.
    if not isinstance(name, str) or "\0" in name:
        return False
    try:
        return self.has_tensor(name)
    except UnicodeEncodeError:
        return False


def _missing(file, name):
    """The text of a KeyError: the name, and '' if that is the name of the only tensor."""
    return f"{name}: the name of the only tensor is ''" if list(file) == [""] else name


def _make_getitem(load_view):
    """Wraps PyGObject's load_view(). Most of the time of a lookup goes into calls, so this is the
    only function around it."""

    def getitem(self, name):
        if not isinstance(name, str):
            raise TypeError(f"a tensor's name must be a str, not {type(name).__name__}")
        if "\0" in name:
            raise KeyError(name)
        try:
            return load_view(self, name)
        except UnicodeEncodeError:
            raise KeyError(name) from None
        except GLib.Error as error:
            exception = exception_for(error)
            if exception is None:
                raise
            if isinstance(exception, KeyError):
                raise KeyError(_missing(self, name)) from None
            raise exception from error

    return getitem


def _error(self):
    """The exception that loading the tensor raises, as it cannot be loaded; None if it can."""
    error = self.get_error()
    return None if error is None else exception_for(error)


# The most tensors that a warning names.
_MAX_NAMED = 8


def _warn_of_refused(file, pattern=None):
    names = file.match_refused_names(pattern)
    if not names:
        return
    named = "; ".join(f"{name!r}: {file.lookup_entry(name).error}" for name in names[:_MAX_NAMED])
    more = f"; and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    warnings.warn(f"{file.get_file().get_parse_name()!r}: left out tensors that cannot be loaded: "
                  f"{named}{more}", UserWarning, stacklevel=3)


class _LoadableItems(ItemsView):
    """The names and views of the tensors that can be loaded."""

    def __len__(self):
        return len(self._mapping.match_loadable_names())

    def __iter__(self):
        for name in self._mapping.match_loadable_names():
            yield name, self._mapping[name]


class _LoadableValues(ValuesView):
    """The views of the tensors that can be loaded."""

    def __len__(self):
        return len(self._mapping.match_loadable_names())

    def __iter__(self):
        for name in self._mapping.match_loadable_names():
            yield self._mapping[name]


def _items(self):
    """The names and views of all tensors that can be loaded. If there are others, a warning names
    them."""
    _warn_of_refused(self)
    return _LoadableItems(self)


def _values(self):
    """The views of all tensors that can be loaded. If there are others, a warning names them."""
    _warn_of_refused(self)
    return _LoadableValues(self)


def _metadata(self):
    """The metadata of the file, in a new dict."""
    return {key: self.lookup_metadata(key) for key in self.list_metadata_keys()}


def _file_repr(self):
    file = self.get_file()
    path = "" if file is None else file.get_parse_name()
    return f"<Mtl.TensorFile {path!r} of {len(self)} tensor{'s' * (len(self) != 1)}>"


def _entry_repr(self):
    if self.error is not None:
        return (f"<Mtl.TensorFileEntry {self.name!r} shape={self.shape} type={self.type_name!r} "
                f"nbytes={self.nbytes} error={str(self.error)!r}>")
    return (f"<Mtl.TensorFileEntry {self.name!r} shape={self.shape} dtype={self.dtype} "
            f"nbytes={self.nbytes}>")


def _make_load_views(load_views):
    @functools.wraps(load_views)
    def function(self, pattern, *rest, **named):
        views = load_views(self, pattern, *rest, **named)
        _warn_of_refused(self, pattern)
        return views

    return function


def _make_load_views_async(load_views):
    @functools.wraps(load_views)
    def function(self, pattern=None, *rest, **named):
        _warn_of_refused(self, pattern)
        return load_views(self, pattern, *rest, **named)

    return function


def install():
    file, entry, builder = Mtl.TensorFile, Mtl.TensorFileEntry, Mtl.TensorFileBuilder

    # Replaces the methods that PyGObject adds to every Gio.ListModel. get_item() still takes
    # positions.
    file.__getitem__ = _make_getitem(file.load_view.__wrapped__)
    file.__contains__ = _contains
    file.__iter__ = lambda self: iter(self.list_names())
    file.__reversed__ = lambda self: reversed(self.list_names())
    for name in ("get", "keys"):
        setattr(file, name, getattr(Mapping, name))
    file.items, file.values = _items, _values
    Mapping.register(file)
    file.metadata = property(_metadata, doc=_metadata.__doc__)
    file.__enter__ = lambda self: self
    file.__exit__ = lambda self, *exception: self.close()
    file.__repr__ = _file_repr

    file.load_views = _make_load_views(file.load_views)
    file.load_views_async = _make_load_views_async(file.load_views_async)
    builder.add = _make_add(builder.add)
    builder.add_converted = _make_add(builder.add_converted)

    entry.name = property(entry.get_name, doc="The tensor's name.")
    entry.shape = property(lambda self: tuple(self.get_shape()), doc="The extents, as a tuple.")
    entry.dtype = property(entry.get_dtype, doc="The element type.")
    entry.type_name = property(entry.get_type_name, doc="The name of the element type, or what "
                               "the file says of it if the tensor cannot be loaded.")
    entry.error = property(_error, doc=_error.__doc__)
    entry.nbytes = property(entry.get_n_bytes, doc="The size in bytes.")
    entry.__repr__ = _entry_repr

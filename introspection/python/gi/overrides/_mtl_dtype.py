# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes Mtl.DType behave like a numpy.dtype."""

import os
import re
import struct
import sys
from importlib.util import find_spec

from ..module import get_introspection_module
from . import _mtl

DType = get_introspection_module("Mtl").DType

_new = DType.__new__

_Kind = get_introspection_module("Mtl").DTypeKind
_LETTERS = {_Kind.BOOL: "b", _Kind.INT: "i", _Kind.UINT: "u", _Kind.FLOAT: "f", _Kind.COMPLEX: "c",
            _Kind.OPAQUE: "V", _Kind.OTHER: "V"}


def _name(self):
    """The name, as in NumPy and ml_dtypes."""
    return self.value_nick


def _itemsize(self):
    """The size of one element in bytes, rounded up."""
    return ((int(self) & 0xff) + 7) // 8


def _kind(self):
    """The kind of number, one of NumPy's letters: "b" for truth values, "i", "u", "f", "c". Small
    floats are "f", and small integers "i" or "u", where NumPy mostly has "V" for the types of
    ml_dtypes."""
    return _LETTERS[DType.get_kind(self)]


def _numpy(self):
    """The same type as a numpy.dtype."""
    import numpy

    name = self.value_nick
    try:
        return numpy.dtype(name)
    except TypeError:
        if _kind(self) == "V":
            raise
    try:
        import ml_dtypes
    except ImportError:
        raise ModuleNotFoundError(f"NumPy needs ml_dtypes for {name}, but it is not installed",
                                  name="ml_dtypes") from None
    if not hasattr(ml_dtypes, name):
        raise TypeError(f"neither NumPy nor ml_dtypes {ml_dtypes.__version__} has {name}")
    return numpy.dtype(getattr(ml_dtypes, name))


# Attributes that only NumPy's object has.
OF_NUMPY = ("alignment", "byteorder", "char", "fields", "hasobject", "isnative", "names",
            "newbyteorder", "num", "str", "subdtype", "type")


def _of_numpy(name):
    return property(lambda self: getattr(_numpy(self), name), doc=f"That of NumPy's type: {name}.")


def _dtype_new(cls, value):
    """The type with a number, a name, or that of NumPy, PyTorch or Python."""
    return _new(cls, _mtl.dtype_from(value))


_BYTE_ORDER = "<" if sys.byteorder == "little" else ">"

# The struct module's codes with the same alignment as NumPy's own types.
_CODES = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B",
          "uint16": "H", "uint32": "I", "uint64": "Q", "float16": "e", "float32": "f",
          "float64": "d", "complex64": "f", "complex128": "d"}
# The types of ml_dtypes: their kinds, other than "V", and a flag.
_KINDS_OF_ADDED = {"complex32": "W", "float8_e5m2": "f"}
_FLAG_OF_ADDED = 0x40


def _version_of_numpy():
    """The text that has it, or None if NumPy is not installed. It need not be imported yet."""
    numpy = sys.modules.get("numpy")
    version = getattr(numpy, "__version__", None)
    if version is not None:
        return f'version = "{version}"'
    try:
        place, = find_spec("numpy").submodule_search_locations
        with open(os.path.join(place, "version.py"), encoding="utf-8") as file:
            return file.read()
    except (AttributeError, ImportError, OSError, ValueError):
        return None


def _flags_are_bytes():
    """NumPy hashes the flags of its types as a byte before version 2.4."""
    text = _version_of_numpy()
    if text is None:
        return False
    version = re.search(r'^version = "(\d+)\.(\d+)', text, re.MULTILINE)
    # The file of 1.24 has no number.
    return version is None or (int(version[1]), int(version[2])) < (2, 4)


def _hash_as_numpy(dtype):
    """The hash of the same type of NumPy's, or of ml_dtypes'. It is computed without NumPy, so that
    it does not depend on the order of imports."""
    name, size = dtype.value_nick, dtype.itemsize
    code = _CODES.get(name)
    if code is not None:
        kind, flags, order = _kind(dtype), 0, "|" if size == 1 else _BYTE_ORDER
        alignment = struct.calcsize(f"c{code}") - struct.calcsize(code)
    else:
        kind, flags, order = _KINDS_OF_ADDED.get(name, "V"), _FLAG_OF_ADDED, _BYTE_ORDER
        alignment = min(size, 2)
    return hash((kind.encode(), order.encode(), bytes([flags]) if _flags_are_bytes() else flags,
                 size, alignment))


_hashes = {}


def _hash(self):
    """That of NumPy's type, as both are equal. Names and numbers are equal as well, but have
    hashes of their own."""
    number = int(self)
    found = _hashes.get(number)
    if found is None:
        found = _hashes[number] = _hash_as_numpy(self)
    return found


def _repr(self):
    return f"Mtl.DType.{self.value_nick.upper()}"


def _format(self, specification):
    return format(self.value_nick, specification)


def install():
    for name, getter in (("name", _name), ("itemsize", _itemsize), ("kind", _kind),
                         ("dtype", _numpy), ("__numpy_dtype__", _numpy)):
        setattr(DType, name, property(getter))
    for name in OF_NUMPY:
        setattr(DType, name, _of_numpy(name))
    DType.__new__ = _dtype_new
    _mtl.install_dtype(DType)
    DType.__hash__ = _hash
    DType.__format__ = _format
    DType.__str__ = _name
    DType.__repr__ = _repr

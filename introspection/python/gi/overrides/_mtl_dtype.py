# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes Mtl.DType behave like a numpy.dtype."""

from ..module import get_introspection_module
from . import _mtl

DType = get_introspection_module("Mtl").DType

# By the first letters of the name.
_KINDS = {"bool": "b", "uint": "u", "int": "i", "float": "f", "bfloat": "f", "complex": "c"}


def _name(self):
    """The name, as in NumPy and ml_dtypes."""
    return self.value_nick


def _itemsize(self):
    """The size of one element in bytes, rounded up."""
    return ((int(self) & 0xff) + 7) // 8


def _kind(self):
    """The kind of number, one of NumPy's letters: "b" for truth values, "i", "u", "f", "c". Small
    floats and bfloat16 are "f", where NumPy mostly has "V" for the types of ml_dtypes."""
    return next((letter for start, letter in _KINDS.items() if self.value_nick.startswith(start)),
                "V")


def _numpy(self):
    """The same type as a numpy.dtype."""
    import numpy

    name = self.value_nick
    try:
        return numpy.dtype(name)
    except TypeError:
        if not name.startswith(("bfloat", "complex", "float")):
            raise
    try:
        import ml_dtypes
    except ImportError:
        raise ModuleNotFoundError(f"NumPy needs ml_dtypes for {name}, but it is not installed",
                                  name="ml_dtypes") from None
    if not hasattr(ml_dtypes, name):
        raise TypeError(f"neither NumPy nor ml_dtypes {ml_dtypes.__version__} has {name}")
    return numpy.dtype(getattr(ml_dtypes, name))


def _char(self):
    """NumPy's letter for the type."""
    return _numpy(self).char


def _type(self):
    """NumPy's class for one number of the type."""
    return _numpy(self).type


def _eq(self, other):
    equal = int.__eq__(self, other)
    if equal is not NotImplemented:
        return equal
    if other is None:
        return False
    try:
        return int(self) == _mtl.dtype_from(other)
    except (TypeError, ValueError, NotImplementedError):
        return NotImplemented


def _ne(self, other):
    equal = _eq(self, other)
    return equal if equal is NotImplemented else not equal


_hashes = {}


def _hash(self):
    """That of NumPy's type if NumPy has it, as both are equal. It is found when it is first asked
    for, which imports NumPy."""
    number = int(self)
    found = _hashes.get(number)
    if found is None:
        try:
            found = hash(_numpy(self))
        except (ImportError, TypeError):
            found = hash(number)
        _hashes[number] = found
    return found


def _repr(self):
    return f"Mtl.DType.{self.value_nick.upper()}"


def _format(self, specification):
    return format(self.value_nick, specification)


def install():
    for name, getter in (("name", _name), ("itemsize", _itemsize), ("kind", _kind),
                         ("char", _char), ("type", _type), ("dtype", _numpy),
                         ("__numpy_dtype__", _numpy)):
        setattr(DType, name, property(getter))
    DType.__eq__ = _eq
    DType.__ne__ = _ne
    DType.__hash__ = _hash
    DType.__format__ = _format
    DType.__str__ = _name
    DType.__repr__ = _repr

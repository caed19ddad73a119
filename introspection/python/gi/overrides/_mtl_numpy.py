# SPDX-License-Identifier: LGPL-2.1-or-later
"""Leaves operators, functions and the methods of arrays to NumPy, on arrays of the same memory.
NumPy is imported when the first of them is used."""

import contextlib
import functools
import numbers
import operator
import sys

from ..module import get_introspection_module
from . import _mtl
from ._mtl_asview import view_of_values
from ._mtl_cuda import has_cuda_array_interface
from ._mtl_elements import is_array
from ._mtl_reductions import accumulating, accumulating_method, is_narrow

Mtl = get_introspection_module("Mtl")

StridedView = Mtl.StridedView


@functools.cache
def import_numpy():
    try:
        import numpy
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise ModuleNotFoundError("NumPy, which computes with views, is not installed",
                                  name="numpy") from None
    _add_those_of(numpy.ndarray)
    return numpy


def check_reachable(view):
    if view.is_host_accessible():
        return
    device = view.get_device()
    if any(device is known for known in Mtl.Device.list()):
        advice = "copy the view with to_device(Mtl.Device.get_host(), Mtl.StorageMode.HOST)"
    else:
        advice = "copy the elements to the host with the library that made them"
    raise BufferError(f"NumPy cannot access the memory of “{device.get_name()}”: {advice}")


def array_of(view):
    """An array of the same memory; of packed elements, a copy that cannot be written."""
    numpy = import_numpy()
    check_reachable(view)
    return numpy.asarray(view)


def is_packed(view):
    return view.layout.get_item_bits() % 8 != 0


def check_writable(view):
    if view.is_read_only():
        raise ValueError(f"The view of shape {view.shape} is read-only")
    if is_packed(view):
        raise ValueError(_advice_for(view))


def _advice_for(packed):
    return (f"NumPy cannot write packed {packed.dtype}, of which it has a copy: assign the result, "
            "as in view[...] = result")


class _Call:
    """A call of NumPy's, with arrays in place of the views among the arguments."""

    def __init__(self):
        self.pairs = []

    def replace(self, value):
        if isinstance(value, StridedView):
            array = array_of(value)
            self.pairs.append((array, value))
            return array
        # Subclasses may not be made of their elements.
        if type(value) in (list, tuple):
            return type(value)(map(self.replace, value))
        if type(value) is dict:
            return {key: self.replace(item) for key, item in value.items()}
        return value

    def restore(self, result, targets):
        """Returns the view that was given as out if NumPy returns the array that stands for it."""
        for array, view in self.pairs:
            if result is array and any(view is target for target in targets):
                return view
        if type(result) is tuple:
            return tuple(self.restore(part, targets) for part in result)
        return result

    def run(self, function, args, keywords):
        out = keywords.get("out")
        outs = out if isinstance(out, tuple) else (out,)
        for target in outs:
            if isinstance(target, StridedView):
                check_writable(target)
        try:
            result = function(*self.replace(args), **self.replace(keywords))
        except ValueError as error:
            packed = [view for _, view in self.pairs if is_packed(view)]
            if packed:
                raise ValueError(f"{error}. {_advice_for(packed[0])}") from error
            raise
        # out may also be among the later arguments, where its position allows.
        return self.restore(result, (*args[1:], *outs))


def call(function, args, keywords):
    return _Call().run(function, args, keywords)


# Methods and attributes

# These would change the array, and leave the view as it is; some are PyTorch's names.
_INSTEAD = {
    "resize": "reshape() returns another view, and numpy.resize() an array",
    "setflags": "as_read_only() returns a view that cannot be written",
    "clone": "copy() has memory of its own",
    "numpy": "numpy.asarray(view) is an array of the same memory",
    "to": "astype() converts the elements, and to_device() copies them to another device",
}


def _instead(name, advice):
    def getter(self):
        raise AttributeError(f"views have no {name}: {advice}")

    return property(getter)


def _method(name):
    def method(self, *args, **keywords):
        function = getattr(import_numpy().ndarray, name)
        if is_narrow(self.dtype):
            function = accumulating(name, function)
        return call(function, (self, *args), keywords)

    method.__doc__ = f"Does the same as numpy.ndarray.{name}()."
    return _named(method, name)


def _attribute(name):
    return property(lambda self: getattr(array_of(self), name),
                    doc=f"That of numpy.ndarray: {name}.")


def _add_those_of(ndarray):
    """Adds the methods that NumPy's arrays have and views lack: the same methods, on an array of
    the same memory. Their results are NumPy's; where one is a part of the array, it is one of the
    view's memory."""
    for name in dir(ndarray):
        if not name.startswith("_") and not hasattr(StridedView, name):
            is_method = callable(getattr(ndarray, name))
            setattr(StridedView, name, _method(name) if is_method else _attribute(name))
    with contextlib.suppress(AttributeError):  # another thread was here
        del StridedView.__getattr__


def _view_getattr(self, name):
    """Until NumPy is imported. Then it goes, as all calls of methods take 30 ns longer with it, a
    fifth of a short one."""
    if not name.startswith("_"):
        try:
            import_numpy()
        except ImportError as error:
            raise AttributeError(f"views have no {name} of their own: {error}") from error
    return object.__getattribute__(self, name)


def _view_dir(self):
    with contextlib.suppress(ImportError):
        import_numpy()
    missing = {"__array_function__"}
    if not hasattr(self, "__array_interface__"):
        missing.add("__array_interface__")
    if not has_cuda_array_interface(self):
        missing.add("__cuda_array_interface__")
    return sorted({*object.__dir__(self)} - {*_INSTEAD, *missing})


# Ufuncs and functions


def _array_ufunc(self, ufunc, method, *inputs, **keywords):
    """Calls one of NumPy's universal functions, with arrays in place of the views."""
    # NumPy writes to some arrays that are read-only.
    if method == "at" and isinstance(inputs[0], StridedView):
        check_writable(inputs[0])
    return call(accumulating_method(ufunc, method), inputs, keywords)


# They need no elements, which the host may not reach.
_OF_SHAPES = {"shape": lambda view: view.shape, "ndim": lambda view: view.ndim}


def _array_function(self, function, types, args, keywords):
    answer = _OF_SHAPES.get(function.__name__)
    if answer and args == (self,):
        return answer(self)
    return call(accumulating(function.__name__, function), args, keywords)


class _ForTypesOnly:
    """NumPy looks a type's attribute up. Libraries that ask an object for it would take the view
    for an array of their own kind, where they otherwise make an array of the same memory."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        if instance is not None:
            raise AttributeError("only the type has __array_function__")
        return self.function


# Operators


def _operand(x):
    """Returns an object that NumPy computes with. It does not ask for DLPack."""
    if isinstance(x, StridedView):
        return array_of(x)
    if not hasattr(x, "__array__") and hasattr(type(x), "__dlpack__"):
        return array_of(view_of_values(x))
    return x


def _pair(view, other):
    """Returns the operands for the two sides of an operator. PyTorch's operators take no arrays,
    and those of arrays no tensors."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(other, torch.Tensor):
        return torch.from_dlpack(view), other
    return array_of(view), _operand(other)


def _forward(name, function):
    def method(self, other):
        return function(*_pair(self, other))

    return _named(method, name)


def _reflected(name, function):
    def method(self, other):
        # They take any buffer: they can be appended to.
        if name == "__radd__" and isinstance(other, (bytes, bytearray)):
            return NotImplemented
        this, other = _pair(self, other)
        return function(other, this)

    return _named(method, name)


def _in_place(name, function):
    def method(self, other):
        check_writable(self)
        array = array_of(self)
        # Other libraries would compute the result themselves, and leave the view as it
        # is. NumPy would ignore a mask.
        if not is_array(other) and hasattr(type(other), "__dlpack__") or _mtl.is_masked(other):
            other = array_of(view_of_values(other))
        result = function(array, other)
        return self if result is array else result

    return _named(method, name)


def _unary(name, function):
    def method(self):
        return function(array_of(self))

    return _named(method, name)


def _comparison(name, function):
    def method(self, other):
        try:
            pair = _pair(self, other)
        except (ModuleNotFoundError, BufferError, TypeError):
            # Nothing else can be equal to an array.
            if not _may_have_elements(other) and name in ("__eq__", "__ne__"):
                return NotImplemented
            raise
        return function(*pair)

    return _named(method, name)


def _may_have_elements(value):
    return (isinstance(value, (numbers.Number, list, tuple)) or hasattr(value, "__dlpack__")
            or hasattr(value, "__array__"))


def _named(method, name):
    method.__name__ = name
    method.__qualname__ = f"StridedView.{name}"
    return method


_BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul,
           "truediv": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
           "matmul": operator.matmul, "lshift": operator.lshift, "rshift": operator.rshift,
           "and": operator.and_, "or": operator.or_, "xor": operator.xor, "pow": pow,
           "divmod": divmod}
_UNARY = {"neg": operator.neg, "pos": operator.pos, "abs": operator.abs,
          "invert": operator.invert}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _view_complex(self):
    """The only element as a complex."""
    if self.size != 1:
        raise TypeError(f"A view of {self.size} elements is not a single number")
    return complex(self.item())


def _view_index(self):
    """The only element as an int, of a view of integers without dimensions."""
    if self.ndim == 0:
        number = self.item()
        if type(number) is int:
            return number
    raise TypeError("only a view of one integer, without dimensions, can be an integer, not one of "
                    f"shape {self.shape} and type {self.dtype}")


def _view_round(self, ndigits=None):
    return array_of(self).round(ndigits or 0)


def _view_format(self, spec):
    if not spec:
        return str(self)
    if self.ndim == 0 and self.get_lanes() == 1:
        return format(self.item(), spec)
    raise TypeError(f"a format such as {spec!r} is for one number, not for a view of shape "
                    f"{self.shape}")


def install():
    for name, function in _BINARY.items():
        setattr(StridedView, f"__{name}__", _forward(f"__{name}__", function))
        setattr(StridedView, f"__r{name}__", _reflected(f"__r{name}__", function))
        in_place = getattr(operator, f"i{name.rstrip('_')}", None)
        if in_place is not None:
            setattr(StridedView, f"__i{name}__", _in_place(f"__i{name}__", in_place))
    for name, function in _UNARY.items():
        setattr(StridedView, f"__{name}__", _unary(f"__{name}__", function))
    for name in _COMPARISONS:
        setattr(StridedView, f"__{name}__", _comparison(f"__{name}__", getattr(operator, name)))

    # Setting __eq__ does not unset the inherited comparison, which is the identity.
    StridedView.__complex__ = _view_complex
    StridedView.__index__ = _view_index
    StridedView.__round__ = _view_round
    StridedView.__format__ = _view_format
    StridedView.__array_ufunc__ = _array_ufunc
    StridedView.__array_function__ = _ForTypesOnly(_array_function)
    StridedView.__dir__ = _view_dir
    for name, advice in _INSTEAD.items():
        setattr(StridedView, name, _instead(name, advice))
    StridedView.__getattr__ = _view_getattr
    if sys.modules.get("numpy") is not None:
        import_numpy()
    else:
        _mtl.when_numpy_is_imported(import_numpy)

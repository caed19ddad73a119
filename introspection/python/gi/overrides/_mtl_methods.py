# SPDX-License-Identifier: LGPL-2.1-or-later
"""The methods and attributes that NumPy's arrays have beside those of the library. What only looks
at the memory in another way is the library's; what computes, NumPy's."""

from ..module import get_introspection_module
from ._mtl_numpy import array_of, call, check_writable, import_numpy
from ._mtl_reductions import SUMS, accumulating, is_narrow

Mtl = get_introspection_module("Mtl")

DType = Mtl.DType
Order = Mtl.Order
StridedView = Mtl.StridedView

# They return what NumPy's return, or work in the view's memory.
COMPUTED = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "byteswap", "choose", "clip",
    "compress", "conj", "conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min",
    "nonzero", "partition", "prod", "put", "repeat", "round", "searchsorted", "sort", "std", "sum",
    "take", "tofile", "trace", "var",
)


def _computed(name):
    def method(self, *args, **keywords):
        function = getattr(import_numpy().ndarray, name)
        if is_narrow(self.dtype):
            function = accumulating(name, function)
        return call(function, (self, *args), keywords)

    method.__name__ = name
    method.__qualname__ = f"StridedView.{name}"
    method.__doc__ = f"Does the same as numpy.ndarray.{name}()."
    if name in SUMS:
        method.__doc__ += (" Elements that are narrower than float32 or int8 are added up, or "
                           "multiplied, in a wide type.")
    return method


# Other shapes


def _axes_in_memory(view):
    """The axes as NumPy walks through them, the outermost first. One of stride 0 moves only when
    another passes it."""
    steps = [abs(stride) if extent > 1 else 0 for extent, stride in zip(view.shape, view.strides)]
    axes = []
    for axis in reversed(range(view.ndim)):
        place = len(axes)
        for i in reversed(range(len(axes))):
            other = steps[axes[i]]
            if steps[axis] and other:
                if other <= steps[axis]:
                    break
                place = i
        axes.insert(place, axis)
    return axes[::-1]


def _in_order(view, order):
    """The view with its axes permuted, so that C order is the given one."""
    if order in ("C", Order.C):
        return view
    if order in ("F", Order.F):
        return view.T
    if order in ("K", Order.K):
        return view.permute(_axes_in_memory(view))
    if order in ("A", Order.ANY):
        is_fortran = view.is_contiguous(Order.F) and not view.is_contiguous(Order.C)
        return view.T if is_fortran else view
    raise ValueError(f"{order!r} is not an order: use 'C', 'F', 'K', 'A' or Mtl.Order")


def reshape_with(view, *shape, order="C", copy=None):
    """reshape() with its arguments that have names."""
    if order in ("K", Order.K):
        raise ValueError("reshape() knows the orders 'C', 'F' and 'A', not 'K'")
    if len(shape) == 1:
        try:
            shape = tuple(shape[0])
        except TypeError:
            pass  # one extent
    if copy:
        view = view.copy(order)
    ordered = _in_order(view, order)
    if ordered is view:
        return ordered.reshape(shape)
    try:
        return ordered.reshape(shape[::-1]).T
    except ValueError as error:
        if "after a copy" not in str(error):
            raise
        raise ValueError(f"the view of shape {view.shape} can only take the shape {shape} in order "
                         f"{order!r} after a copy: pass copy=True") from error.__cause__


def squeeze_with(view, *, axis=None):
    """squeeze() with its argument that has a name."""
    return view.squeeze() if axis is None else view.squeeze(axis)


def _view_ravel(self, order="C"):
    """The elements in one dimension: in the same memory if they lie evenly there, otherwise
    copied."""
    view = _in_order(self, order)
    try:
        return view.reshape(-1 if view.size else 0)
    except ValueError:
        return view.copy().reshape(-1)


def _make_flatten(merge_axes):
    def to_one_axis(self, order="C"):
        return _in_order(self, order).copy().reshape(self.size)

    def flatten(self, *args, **keywords):
        """flatten(order='C') is a copy of the elements in one dimension. flatten(first, last)
        merges these axes, and those between them, without a copy."""
        n = len(args) + len(keywords)
        return (merge_axes if n == 2 else to_one_axis)(self, *args, **keywords)

    return flatten


def _view_swapaxes(self, axis1, axis2):
    """The view with two axes exchanged."""
    return self.swap_axes(axis1, axis2)


def _view_mt(self):
    if self.ndim < 2:
        raise ValueError(f"only a view of at least 2 dimensions has matrices to transpose, not one "
                         f"of {self.ndim}")
    return self.swap_axes(-2, -1)


def _view_view(self, dtype=None):
    """A view of the same memory, as elements of another type if one is given, as by
    reinterpret()."""
    if dtype is None:
        return self[...]
    # Accepts all that is a type.
    element = StridedView.new_zeros(Mtl.Device.get_host(), DType.UINT8, ())
    return self.reinterpret(element.astype(dtype).dtype)


# Complex numbers

# By name, as the hash of a type is another before the override is installed.
_PARTS = {"complex32": DType.FLOAT16, "complex64": DType.FLOAT32, "complex128": DType.FLOAT64}


def _part(view, index):
    return view.unsqueeze(view.ndim).reinterpret(_PARTS[view.dtype.name])[..., index]


def _get_real(self):
    return _part(self, 0) if self.dtype.name in _PARTS else self


def _get_imag(self):
    if self.dtype.name in _PARTS:
        return _part(self, 1)
    zero = StridedView.new_zeros(Mtl.Device.get_host(), self.dtype, ())
    return zero.broadcast_to(self.shape).as_read_only()


def _set_real(self, value):
    _get_real(self)[...] = value


def _set_imag(self, value):
    if self.dtype.name not in _PARTS:
        raise TypeError(f"a view of {self.dtype} has no imaginary part to set")
    _part(self, 1)[...] = value


# Bytes and iteration


def _view_tobytes(self, order="C"):
    """A copy of the elements as bytes, in the given order."""
    return bytes(_in_order(self, order))


def _get_flat(self):
    return array_of(self).flat


def _set_flat(self, value):
    check_writable(self)
    array_of(self).flat = value


class Flags:
    """The flags of NumPy's arrays."""

    __slots__ = ("_view",)

    def __init__(self, view):
        self._view = view

    @property
    def c_contiguous(self):
        return self._view.is_contiguous(Order.C)

    @property
    def f_contiguous(self):
        return self._view.is_contiguous(Order.F)

    @property
    def writeable(self):
        return not self._view.is_read_only()

    @property
    def aligned(self):
        """Whether all elements lie at multiples of their size, or of the parts' of complex ones."""
        view = self._view
        step = view.itemsize // 2 if view.dtype.name in _PARTS else view.itemsize
        first = view.get_byte_offset() + (view.get_address() or 0)
        return first % step == 0

    @property
    def owndata(self):
        """Always false: the memory is a buffer's."""
        return False

    @property
    def writebackifcopy(self):
        return False

    contiguous = c_contiguous
    fortran = f_contiguous
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    behaved = property(lambda self: self.aligned and self.writeable)
    carray = property(lambda self: self.behaved and self.c_contiguous)
    farray = property(lambda self: self.behaved and self.fnc)

    def __getitem__(self, name):
        name = _SHORT_FLAGS.get(name, name)
        if name not in _FLAGS:
            raise KeyError(f"unknown flag {name!r}")
        return getattr(self, name.lower())

    def __eq__(self, other):
        if not isinstance(other, Flags):
            return NotImplemented
        return all(self[name] == other[name] for name in _FLAGS)

    __hash__ = None

    def __repr__(self):
        return "".join(f"  {name} : {self[name]}\n" for name in _SHOWN_FLAGS)


_SHOWN_FLAGS = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED",
                "WRITEBACKIFCOPY")
_FLAGS = {*_SHOWN_FLAGS, "CONTIGUOUS", "FORTRAN", "FORC", "FNC", "BEHAVED", "CARRAY", "FARRAY"}
_SHORT_FLAGS = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "O": "OWNDATA", "W": "WRITEABLE",
                "A": "ALIGNED", "X": "WRITEBACKIFCOPY", "B": "BEHAVED", "CA": "CARRAY",
                "FA": "FARRAY"}


def install():
    for name in COMPUTED:
        setattr(StridedView, name, _computed(name))
    StridedView.ravel = _view_ravel
    StridedView.flatten = _make_flatten(StridedView.flatten)
    StridedView.swapaxes = _view_swapaxes
    StridedView.view = _view_view
    StridedView.tobytes = _view_tobytes
    StridedView.mT = property(_view_mt, doc="The view with its last two axes exchanged.")
    StridedView.real = property(_get_real, _set_real, doc="The real parts, in the same memory.")
    StridedView.imag = property(_get_imag, _set_imag,
                                doc="The imaginary parts, in the same memory.")
    StridedView.flat = property(_get_flat, _set_flat, doc="An iterator over all elements.")
    StridedView.flags = property(Flags, doc="How the elements lie in memory.")
    StridedView.device = property(StridedView.get_device, doc="The device of the memory.")
    StridedView.data = property(memoryview, doc="A memoryview of the elements.")
    StridedView.ctypes = property(lambda self: array_of(self).ctypes,
                                  doc="The memory, for the module ctypes.")

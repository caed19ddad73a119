# SPDX-License-Identifier: LGPL-2.1-or-later
"""Methods and attributes of NumPy's arrays that only look at the memory in another way: views have
them without NumPy, and they return views. All others are NumPy's own, see _mtl_numpy."""

from ..module import get_introspection_module
from ._mtl_numpy import array_of, check_writable

Mtl = get_introspection_module("Mtl")

DType = Mtl.DType
Order = Mtl.Order
StridedView = Mtl.StridedView

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
    # Accepts anything that names a type.
    element = StridedView.new_zeros(Mtl.Device.get_host(), DType.UINT8, ())
    return self.reinterpret(element.astype(dtype).dtype)


# Complex numbers

def _get_real(self):
    return self.select_real() if self.dtype.kind == "c" else self


def _get_imag(self):
    if self.dtype.kind == "c":
        return self.select_imaginary()
    zero = StridedView.new_zeros(Mtl.Device.get_host(), self.dtype, ())
    return zero.broadcast_to(self.shape).as_read_only()


def _set_real(self, value):
    _get_real(self)[...] = value


def _set_imag(self, value):
    if self.dtype.kind != "c":
        raise TypeError(f"a view of {self.dtype} has no imaginary part to set")
    self.select_imaginary()[...] = value


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
    """NumPy's flags, to read: if they were set, that would change another array."""

    __slots__ = ("_view",)

    def __init__(self, view):
        self._view = view

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"flags have no {name}")
        return getattr(array_of(self._view).flags, name)

    def __getitem__(self, name):
        return array_of(self._view).flags[name]

    def __eq__(self, other):
        if not isinstance(other, Flags):
            return NotImplemented
        return array_of(self._view).flags == array_of(other._view).flags

    __hash__ = None

    def __repr__(self):
        return repr(array_of(self._view).flags)


def install():
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
    StridedView.flags = property(Flags, doc="NumPy's flags, to read.")
    StridedView.device = property(StridedView.get_device, doc="The device of the memory.")
    StridedView.data = property(memoryview, doc="A memoryview of the elements.")

# SPDX-License-Identifier: LGPL-2.1-or-later
# Everything that the override adds to the namespace or changes. make-stub.py
# adds the rest, as PyGObject has it.
from collections.abc import (Awaitable, Callable, ItemsView, Iterator, KeysView, Mapping, Sequence,
                             ValuesView)
from contextlib import AbstractContextManager
from os import PathLike
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, SupportsIndex, TypeAlias, final, overload

import numpy
from typing_extensions import CapsuleType
from mpi4py import MPI

from gi.repository import Gio, GLib, GObject

_Part: TypeAlias = SupportsIndex | slice | EllipsisType | None
_Index: TypeAlias = _Part | tuple[_Part, ...]
_Selection: TypeAlias = _Part | list[Any] | tuple[Any, ...] | numpy.ndarray[Any, Any] | StridedView
_Selections: TypeAlias = _Selection | tuple[_Selection, ...]
_Pair: TypeAlias = tuple[int, int]
_Integers: TypeAlias = Sequence[SupportsIndex]
_DType: TypeAlias = DType | str | type | numpy.dtype[Any]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Order: TypeAlias = Order | Literal["C", "F", "K", "A"]
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes] | Gio.File
_Progress: TypeAlias = Callable[[int, int], object]

class DType:
    def __new__(cls, value: _DType | SupportsIndex) -> DType: ...
    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def char(self) -> str: ...
    @property
    def type(self) -> Any: ...
    @property
    def num(self) -> int: ...
    @property
    def byteorder(self) -> Any: ...
    @property
    def alignment(self) -> int: ...
    @property
    def isnative(self) -> bool: ...
    @property
    def hasobject(self) -> bool: ...
    @property
    def names(self) -> Any: ...
    @property
    def fields(self) -> Any: ...
    @property
    def subdtype(self) -> Any: ...
    @property
    def newbyteorder(self) -> Callable[..., numpy.dtype[Any]]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def __numpy_dtype__(self) -> numpy.dtype[Any]: ...
    def __format__(self, specification: str, /) -> str: ...
    # The last, as its name is another's.
    @property
    def str(self) -> str: ...

class Buffer:
    @staticmethod
    def new_mapped(file: _Path, device: Device | None = None, offset: int = 0,
                   size: int | None = None, cancellable: Gio.Cancellable | None = None) -> Buffer:
        """Maps a range of a file into memory, by default all of it."""
    def slice(self, offset: int = 0, size: int | None = None) -> Buffer:
        """A buffer of a range of the memory. Without a size it is the rest."""
    def dup_bytes(self, offset: int = 0, size: int | None = None) -> GLib.Bytes:
        """A copy of a range of the memory. Without a size it is the rest."""
    def ref_bytes(self, offset: int = 0, size: int | None = None) -> GLib.Bytes:
        """A range of the memory, without a copy. Without a size it is the rest."""
    def did_modify(self, offset: int = 0, size: int | None = None) -> bool:
        """Reports that the host has written to a range. Without a size it is the rest."""
    @property
    def nbytes(self) -> int: ...
    def __dlpack__(self, *, stream: int | None = None, max_version: _Pair | None = None,
                   dl_device: _Pair | None = None, copy: bool | None = None) -> CapsuleType: ...
    def __dlpack_device__(self) -> _Pair: ...
    def __buffer__(self, flags: int, /) -> memoryview:
        """The memory, for memoryview(self) and everything else that takes a buffer."""
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...

class StridedLayout:
    def __new__(cls, shape: _Integers = (), strides: _Integers | None = None,
                itemsize: SupportsIndex = 1) -> StridedLayout: ...
    def __init__(self, shape: _Integers = (), strides: _Integers | None = None,
                 itemsize: SupportsIndex = 1) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def T(self) -> StridedLayout: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __getitem__(self, key: _Index, /) -> StridedLayout: ...
    def permute(self, *axes: Any) -> StridedLayout:
        """The layout with its axes in another order."""
    def transpose(self, *axes: Any) -> StridedLayout:
        """The layout with its axes reversed, or in the order given."""
    def reshape(self, *shape: Any) -> StridedLayout:
        """The same elements in another shape, without a copy."""
    def broadcast_to(self, *shape: Any) -> StridedLayout:
        """The layout with axes of extent 1 repeated."""
    def unsqueeze(self, *axes: Any) -> StridedLayout:
        """The layout with new axes of extent 1."""
    def squeeze(self, *axes: Any) -> StridedLayout:
        """The layout without its axes of extent 1, or without those given."""
    def repack(self, item_bits: int, axis: int = -1, keep_dim: bool = True) -> StridedLayout:
        """The same memory in smaller or larger elements."""
    def get_max_compatible_item_bits(self, max_item_bits: int, address: int = 0,
                                     axis: int = -1) -> int:
        """The largest item size, in bits, in which the elements can be viewed without a copy."""
    def is_unique(self) -> bool:
        """Whether no two indices refer to the same element."""

class StridedView:
    def to_device(self, device: Device | str, storage_mode: StorageMode | None = None) -> StridedView:
        """Copies the elements to memory of a device. Without a storage mode it is the first that
        the device supports, from what the host reaches best."""
    # DLPack's functions in C, with which other libraries exchange tensors without calling Python.
    __dlpack_c_exchange_api__: ClassVar[CapsuleType]
    # The same as __dlpack_c_exchange_api__, by its former name.
    __c_dlpack_exchange_api__: ClassVar[CapsuleType]
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def T(self) -> StridedView: ...
    @property
    def mT(self) -> StridedView: ...
    @property
    def real(self) -> StridedView: ...
    @real.setter
    def real(self, value: Any) -> None: ...
    @property
    def imag(self) -> StridedView: ...
    @imag.setter
    def imag(self, value: Any) -> None: ...
    @property
    def flat(self) -> numpy.flatiter[Any]: ...
    @flat.setter
    def flat(self, value: Any) -> None: ...
    @property
    def flags(self) -> Any: ...
    @property
    def device(self) -> Device: ...
    @property
    def data(self) -> memoryview: ...
    @property
    def ctypes(self) -> Any: ...
    @property
    def base(self) -> Any: ...
    def __getitem__(self, key: _Selections, /) -> Any: ...
    def __setitem__(self, key: _Selections, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, value: object) -> bool: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __round__(self, ndigits: int | None = None) -> numpy.ndarray[Any, Any]: ...
    def __format__(self, spec: str) -> str: ...
    def __hash__(self) -> int: ...
    def __add__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __floordiv__(self, other: Any) -> Any: ...
    def __mod__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __lshift__(self, other: Any) -> Any: ...
    def __rshift__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any: ...
    def __or__(self, other: Any) -> Any: ...
    def __xor__(self, other: Any) -> Any: ...
    def __pow__(self, other: Any) -> Any: ...
    def __divmod__(self, other: Any) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __rfloordiv__(self, other: Any) -> Any: ...
    def __rmod__(self, other: Any) -> Any: ...
    def __rmatmul__(self, other: Any) -> Any: ...
    def __rlshift__(self, other: Any) -> Any: ...
    def __rrshift__(self, other: Any) -> Any: ...
    def __rand__(self, other: Any) -> Any: ...
    def __ror__(self, other: Any) -> Any: ...
    def __rxor__(self, other: Any) -> Any: ...
    def __rpow__(self, other: Any) -> Any: ...
    def __rdivmod__(self, other: Any) -> Any: ...
    def __iadd__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __isub__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __imul__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __itruediv__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __ifloordiv__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __imod__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __imatmul__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __ilshift__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __irshift__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __iand__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __ior__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __ixor__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __ipow__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __lt__(self, other: Any) -> Any: ...
    def __le__(self, other: Any) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __ge__(self, other: Any) -> Any: ...
    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any,
                        **keywords: Any) -> Any: ...
    @staticmethod
    def __array_function__(self: Any, function: Any, types: Any, args: Any,
                           keywords: Any) -> Any: ...
    def __bytes__(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview:
        """The memory, for memoryview(self) and everything else that takes a buffer."""
    def __array__(self, dtype: Any = None,
                  copy: bool | None = None) -> numpy.ndarray[Any, Any]: ...
    def __jax_array__(self) -> Any: ...
    def __dlpack__(self, *, stream: int | None = None, max_version: _Pair | None = None,
                   dl_device: _Pair | None = None, copy: bool | None = None) -> CapsuleType: ...
    def __dlpack_device__(self) -> _Pair: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def item(self, *indices: Any) -> Any:
        """One element as a number: the only one, or the one at the indices."""
    def tolist(self) -> Any:
        """The elements in nested lists."""
    def permute(self, *axes: Any) -> StridedView:
        """The view with its axes in another order."""
    def transpose(self, *axes: Any) -> StridedView:
        """The view with its axes reversed, or in the order given."""
    def reshape(self, *shape: Any, order: _Order = "C",
                copy: bool | None = None) -> StridedView:
        """The same elements in another shape, without a copy unless copy=True."""
    def ravel(self, order: _Order = "C") -> StridedView:
        """The elements in one dimension, copied only if they do not lie evenly in memory."""
    def flatten(self, *args: Any, **keywords: Any) -> StridedView:
        """A copy in one dimension, or with two axes these and those between them merged."""
    def swapaxes(self, axis1: int, axis2: int) -> StridedView:
        """The view with two axes exchanged."""
    def view(self, dtype: DType | str | type | numpy.dtype[Any] | None = None) -> StridedView:
        """A view of the same memory, as elements of another type if one is given."""
    def tobytes(self, order: _Order = "C") -> bytes:
        """A copy of the elements as bytes."""
    def broadcast_to(self, *shape: Any) -> StridedView:
        """The view with axes of extent 1 repeated."""
    def unsqueeze(self, *axes: Any) -> StridedView:
        """The view with new axes of extent 1."""
    def squeeze(self, *axes: Any, axis: Any = None) -> StridedView:
        """The view without its axes of extent 1, or without those given."""
    @property
    def __numpy_dtype__(self) -> numpy.dtype[Any]: ...
    def reinterpret(self, dtype: _DType, /) -> StridedView:
        """The same bytes as elements of another type, without a copy."""
    def copy(self, order: _Order = "C") -> StridedView:
        """A copy of the elements, in the given order."""
    def astype(self, dtype: _DType, order: _Order = "K",
               copy: bool = True) -> StridedView:
        """A copy with the elements converted as by to_dtype()."""
    # NumPy's, as are all others that its arrays have.
    def all(self, *args: Any, **keywords: Any) -> Any: ...
    def any(self, *args: Any, **keywords: Any) -> Any: ...
    def argmax(self, *args: Any, **keywords: Any) -> Any: ...
    def argmin(self, *args: Any, **keywords: Any) -> Any: ...
    def argpartition(self, *args: Any, **keywords: Any) -> Any: ...
    def argsort(self, *args: Any, **keywords: Any) -> Any: ...
    def byteswap(self, *args: Any, **keywords: Any) -> Any: ...
    def choose(self, *args: Any, **keywords: Any) -> Any: ...
    def clip(self, *args: Any, **keywords: Any) -> Any: ...
    def compress(self, *args: Any, **keywords: Any) -> Any: ...
    def conj(self, *args: Any, **keywords: Any) -> Any: ...
    def conjugate(self, *args: Any, **keywords: Any) -> Any: ...
    def cumprod(self, *args: Any, **keywords: Any) -> Any: ...
    def cumsum(self, *args: Any, **keywords: Any) -> Any: ...
    def diagonal(self, *args: Any, **keywords: Any) -> Any: ...
    def dot(self, *args: Any, **keywords: Any) -> Any: ...
    def dump(self, *args: Any, **keywords: Any) -> Any: ...
    def dumps(self, *args: Any, **keywords: Any) -> Any: ...
    def getfield(self, *args: Any, **keywords: Any) -> Any: ...
    def max(self, *args: Any, **keywords: Any) -> Any: ...
    def mean(self, *args: Any, **keywords: Any) -> Any: ...
    def min(self, *args: Any, **keywords: Any) -> Any: ...
    def nonzero(self, *args: Any, **keywords: Any) -> Any: ...
    def partition(self, *args: Any, **keywords: Any) -> Any: ...
    def prod(self, *args: Any, **keywords: Any) -> Any: ...
    def put(self, *args: Any, **keywords: Any) -> Any: ...
    def repeat(self, *args: Any, **keywords: Any) -> Any: ...
    def round(self, *args: Any, **keywords: Any) -> Any: ...
    def searchsorted(self, *args: Any, **keywords: Any) -> Any: ...
    def setfield(self, *args: Any, **keywords: Any) -> Any: ...
    def sort(self, *args: Any, **keywords: Any) -> Any: ...
    def std(self, *args: Any, **keywords: Any) -> Any: ...
    def sum(self, *args: Any, **keywords: Any) -> Any: ...
    def take(self, *args: Any, **keywords: Any) -> Any: ...
    def tofile(self, *args: Any, **keywords: Any) -> Any: ...
    def trace(self, *args: Any, **keywords: Any) -> Any: ...
    def var(self, *args: Any, **keywords: Any) -> Any: ...
    def fill(self, value: Any) -> bool:
        """Sets all elements to the same value, exactly: a number, or the bytes of one element."""
    def fill_async(self, value: Any, cancellable: Gio.Cancellable | None = None,
                   progress: _Progress | None = None,
                   callback: Callable[..., object] | None = None,
                   *user_data: object) -> Awaitable[bool]:
        """Does the same as fill(): awaited, or with a callback."""
    def fill_double_async(self, value: float, cancellable: Gio.Cancellable | None = None,
                          progress: _Progress | None = None,
                          callback: Callable[..., object] | None = None,
                          *user_data: object) -> Awaitable[bool]:
        """Fills the elements in the background: awaited, or with a callback."""
    def copy_from(self, source: Any) -> bool:
        """Copies the elements of another view, or of anything else that asview() takes, broadcast
        to this one's shape and converted to its element type."""
    def compute_statistic(self, statistic: Statistic | str,
                          axes: int | Sequence[int] | None = None,
                          cancellable: Gio.Cancellable | None = None) -> StridedView:
        """A statistic of the elements along one or more axes, or of all elements."""
    def array_equal(self, other: Any) -> bool:
        """Returns True if the view has the same shape and equal elements as another, or as
        anything else that asview() takes."""
    def all_close(self, other: Any, rtol: float = ..., atol: float = ...) -> bool:
        """Returns True if the view has the same shape and close elements as another, or as
        anything else that asview() takes: |a - b| <= atol + rtol * |b|."""
    def copy_from_async(self, source: Any, cancellable: Gio.Cancellable | None = None,
                        progress: _Progress | None = None,
                        callback: Callable[..., object] | None = None,
                        *user_data: object) -> Awaitable[bool]:
        """Copies the elements in the background: awaited, or with a callback."""
    def copy_scaled_from(self, source: Any, scale: float, offset: float = 0) -> bool:
        """Sets the elements to source * scale + offset, converted, in one pass."""
    def copy_scaled_from_async(self, source: Any, scale: float, offset: float = 0,
                               cancellable: Gio.Cancellable | None = None,
                               progress: _Progress | None = None,
                               callback: Callable[..., object] | None = None,
                               *user_data: object) -> Awaitable[bool]:
        """Does the same as copy_scaled_from(): awaited, or with a callback."""
    def compute_statistics_async(self, cancellable: Gio.Cancellable | None = None,
                                     progress: _Progress | None = None,
                                     callback: Callable[..., object] | None = None,
                                     *user_data: object) -> Awaitable[Statistics]:
        """Does the same as compute_statistics(): awaited, or with a callback."""
    def compute_histogram_async(self, low: float, high: float, n_bins: int,
                                cancellable: Gio.Cancellable | None = None,
                                progress: _Progress | None = None,
                                callback: Callable[..., object] | None = None,
                                *user_data: object) -> Awaitable[list[int]]:
        """Does the same as compute_histogram(): awaited, or with a callback."""
    def to_contiguous_async(self, cancellable: Gio.Cancellable | None = None,
                            progress: _Progress | None = None,
                            callback: Callable[..., object] | None = None,
                            *user_data: object) -> Awaitable[StridedView]:
        """Does the same as to_contiguous(): awaited, or with a callback."""
    def to_dtype_async(self, dtype: _DType, cancellable: Gio.Cancellable | None = None,
                       progress: _Progress | None = None,
                       callback: Callable[..., object] | None = None,
                       *user_data: object) -> Awaitable[StridedView]:
        """Does the same as to_dtype(): awaited, or with a callback."""
    def to_device_async(self, device: Device, storage_mode: StorageMode,
                        cancellable: Gio.Cancellable | None = None,
                        progress: _Progress | None = None,
                        callback: Callable[..., object] | None = None,
                        *user_data: object) -> Awaitable[StridedView]:
        """Does the same as to_device(): awaited, or with a callback."""
    def __enter__(self) -> StridedView:
        """Return self: the view is closed at the end of the with statement."""
    def __exit__(self, *exception: object) -> None:
        """Closes the view."""
    def export_dlpack_full(self, flags: DlpackFlags, device_type: DeviceType, device_ordinal: int,
                           event: Event | None = None, event_value: int = 0,
                           cancellable: Gio.Cancellable | None = None) -> DlpackTensor:
        """Exports the view to another library, in the given form."""

class Statistics:
    @property
    def dtype(self) -> DType: ...
    @property
    def count(self) -> int: ...
    @property
    def minimum(self) -> int | float:
        """The least finite element; NaN if there is none."""
    @property
    def maximum(self) -> int | float:
        """The greatest finite element; NaN if there is none."""
    @property
    def mean(self) -> complex:
        """The mean of the finite elements; NaN if there is none."""
    @property
    def deviation(self) -> float: ...
    @property
    def n_nans(self) -> int: ...
    @property
    def n_infinities(self) -> int: ...
    @property
    def n_zeros(self) -> int: ...

class TensorFile(Gio.ListModel[TensorFileEntry]):
    @staticmethod
    def open_full(file: _Path, device: Device | None = None, mode: FileMode | str = ...,
                  cancellable: Gio.Cancellable | None = None) -> TensorFile:
        """Opens a file for a device, mapped or read."""
    @staticmethod
    def open_async(file: _Path, device: Device | None = None, mode: FileMode | str = ...,
                   io_priority: int = ..., cancellable: Gio.Cancellable | None = None,
                   callback: Callable[..., object] | None = None,
                   *user_data: object) -> Awaitable[TensorFile]:
        """Does the same as open_full(): awaited, or with a callback."""
    def load_views_async(self, pattern: str | None = None, io_priority: int = ...,
                         cancellable: Gio.Cancellable | None = None,
                         progress: _Progress | None = None,
                         callback: Callable[..., object] | None = None,
                         *user_data: object) -> Awaitable[list[StridedView]]:
        """Does the same as load_views(): awaited, or with a callback."""
    def check_async(self, checks: TensorChecks = ..., io_priority: int = ...,
                    cancellable: Gio.Cancellable | None = None,
                    progress: _Progress | None = None,
                    callback: Callable[..., object] | None = None,
                    *user_data: object) -> Awaitable[bool]:
        """Does the same as check(): awaited, or with a callback."""
    @property
    def metadata(self) -> dict[str, str]: ...
    def __getitem__(self, name: str) -> StridedView: ...  # type: ignore[override]
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...  # type: ignore[override]
    def __reversed__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __enter__(self) -> TensorFile:
        """Return self: the file is closed at the end of the with statement."""
    def __exit__(self, *exception: object) -> None:
        """Closes the file."""
    def get(self, key: str, default: Any = None) -> Any:
        """The view with that name, or the default."""
    def keys(self) -> KeysView[str]:
        """The names."""
    def values(self) -> ValuesView[StridedView]:
        """The views, each made when the iteration reaches it. What cannot be loaded is left out,
        with a warning."""
    def items(self) -> ItemsView[str, StridedView]:
        """Pairs of names and views. Each view is made when the iteration reaches it. What cannot be
        loaded is left out, with a warning."""

class TensorFileEntry:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def type_name(self) -> str:
        """The name of the dtype, or what the file says of the type if it cannot be loaded."""
    @property
    def error(self) -> Exception | None:
        """The exception that loading the tensor raises, as it cannot be loaded; None if it can."""
    @property
    def nbytes(self) -> int: ...

class TensorFileBuilder:
    def add(self, name: str, view: Any) -> bool:
        """Adds a tensor: a view, or anything else that Mtl.asview() takes."""
    def add_converted(self, name: str, view: Any, dtype: _DType) -> bool:
        """Adds a tensor whose elements are converted when they are written."""
    def write_async(self, file: _Path, io_priority: int = ...,
                    cancellable: Gio.Cancellable | None = None,
                    progress: _Progress | None = None,
                    callback: Callable[..., object] | None = None,
                    *user_data: object) -> Awaitable[bool]:
        """Does the same as write(): awaited, or with a callback."""
    def write_shards_async(self, index: _Path, max_size: int, io_priority: int = ...,
                           cancellable: Gio.Cancellable | None = None,
                           progress: _Progress | None = None,
                           callback: Callable[..., object] | None = None,
                           *user_data: object) -> Awaitable[bool]:
        """Does the same as write_shards(): awaited, or with a callback."""

def load(path: _Path, *, mode: FileMode | str = ..., device: Device | None = None) -> TensorFile:
    """Opens a file of tensors as a mapping of names to views."""

def save(path: _Path, tensors: Any, *, dtype: _DType | None = None,
         max_shard_size: int | str | None = None, metadata: Mapping[str, str] | None = None,
         alignment: int = 0, order: TensorFileOrder | str = ...,
         format: TensorFileFormat | str | None = ..., sync: bool = True) -> None:
    """Writes tensors to a file, or to several with an index, and replaces existing ones."""

def pickle_by_path() -> AbstractContextManager[None]:
    """In the context, and in this thread, pickles of views and buffers that map a file have the
    file's path and the place in it, not the elements."""

def from_dlpack(x: Any, /, *, device: Device | _Pair | None = None,
                copy: bool | None = None) -> StridedView:
    """A view of the memory that x exports through DLPack, without a copy unless copy=True.

    A producer of CUDA or ROCm memory is asked to order its work into the legacy default stream of
    the device. What must not be written comes in read-only."""

def asview(x: Any, dtype: _DType | None = None) -> StridedView:
    """A view of x without a copy, or of a copy if x is a nested sequence of numbers, or if the
    elements have to be converted."""

def array(values: Any, dtype: _DType | None = None,
          device: Device | str | None = None) -> StridedView:
    """A new tensor with a copy of the values."""

def empty(shape: _Shape, dtype: _DType | None = "float32",
          device: Device | str | None = None) -> StridedView:
    """A new tensor whose elements have any values."""

def zeros(shape: _Shape, dtype: _DType | None = "float32",
          device: Device | str | None = None) -> StridedView:
    """A new tensor of zeros."""

def ones(shape: _Shape, dtype: _DType | None = "float32",
         device: Device | str | None = None) -> StridedView:
    """A new tensor of ones."""

def full(shape: _Shape, fill_value: Any, dtype: _DType | None = "float32",
         device: Device | str | None = None) -> StridedView:
    """A new tensor whose elements are all fill_value."""

def arange(start: Any, stop: Any = None, step: Any = None, dtype: _DType | None = None,
           device: Device | str | None = None) -> StridedView:
    """A new tensor of one dimension with the numbers from start to before stop."""

def mpi_datatype(view: StridedView) -> MPI.Datatype:
    """An MPI datatype for the elements of a view."""

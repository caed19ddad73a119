# SPDX-License-Identifier: LGPL-2.1-or-later
# Everything that the override adds to the namespace or changes. make-stub.py
# adds the rest, as PyGObject has it.
from collections.abc import (Awaitable, Callable, ItemsView, Iterator, KeysView, Mapping, Sequence,
                             ValuesView)
from os import PathLike
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, SupportsIndex, TypeAlias, final, overload

import numpy
from typing_extensions import CapsuleType
from mpi4py import MPI

from gi.repository import Gio, GLib, GObject

_Part: TypeAlias = SupportsIndex | slice | EllipsisType | None
_Index: TypeAlias = _Part | tuple[_Part, ...]
_Pair: TypeAlias = tuple[int, int]
_Integers: TypeAlias = Sequence[SupportsIndex]
_DType: TypeAlias = DType | str | type | numpy.dtype[Any]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Order: TypeAlias = Order | Literal["C", "F", "K", "A"]
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes] | Gio.File
_Progress: TypeAlias = Callable[[int, int], object]

class DType:
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
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def __numpy_dtype__(self) -> numpy.dtype[Any]: ...
    def __format__(self, specification: str, /) -> str: ...

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
    def to_device(self, device: Device, storage_mode: StorageMode | None = None) -> StridedView:
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
    def __getitem__(self, key: _Index, /) -> Any: ...
    def __setitem__(self, key: _Index, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, value: object) -> bool: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __bytes__(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview:
        """The memory, for memoryview(self) and everything else that takes a buffer."""
    def __array__(self, dtype: Any = None,
                  copy: bool | None = None) -> numpy.ndarray[Any, Any]: ...
    def __dlpack__(self, *, stream: int | None = None, max_version: _Pair | None = None,
                   dl_device: _Pair | None = None, copy: bool | None = None) -> CapsuleType: ...
    def __dlpack_device__(self) -> _Pair: ...
    def item(self, *indices: Any) -> Any:
        """One element as a number: the only one, or the one at indices."""
    def tolist(self) -> Any:
        """The elements in nested lists."""
    def permute(self, *axes: Any) -> StridedView:
        """The view with its axes in another order."""
    def transpose(self, *axes: Any) -> StridedView:
        """The view with its axes reversed, or in the order given."""
    def reshape(self, *shape: Any) -> StridedView:
        """The same elements in another shape, without a copy."""
    def broadcast_to(self, *shape: Any) -> StridedView:
        """The view with axes of extent 1 repeated."""
    def unsqueeze(self, *axes: Any) -> StridedView:
        """The view with new axes of extent 1."""
    def squeeze(self, *axes: Any) -> StridedView:
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
    def copy_from_async(self, source: StridedView, cancellable: Gio.Cancellable | None = None,
                        progress: _Progress | None = None,
                        callback: Callable[..., object] | None = None,
                        *user_data: object) -> Awaitable[bool]:
        """Copies the elements in the background: awaited, or with a callback."""
    def copy_scaled_from(self, source: StridedView, scale: float, offset: float = 0) -> bool:
        """Sets the elements to source * scale + offset, converted, in one pass."""
    def copy_scaled_from_async(self, source: StridedView, scale: float, offset: float = 0,
                               cancellable: Gio.Cancellable | None = None,
                               progress: _Progress | None = None,
                               callback: Callable[..., object] | None = None,
                               *user_data: object) -> Awaitable[bool]:
        """Does the same as copy_scaled_from(): awaited, or with a callback."""
    def get_statistics_async(self, cancellable: Gio.Cancellable | None = None,
                             progress: _Progress | None = None,
                             callback: Callable[..., object] | None = None,
                             *user_data: object) -> Awaitable[Statistics]:
        """Does the same as get_statistics(): awaited, or with a callback."""
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
        """The views, each made when the iteration reaches it."""
    def items(self) -> ItemsView[str, StridedView]:
        """Pairs of names and views. Each view is made when the iteration reaches it."""

class TensorFileEntry:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def nbytes(self) -> int: ...

class TensorFileBuilder:
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

def save(path: _Path, tensors: Any, *,
         metadata: Mapping[str, str] | None = None, alignment: int = 0,
         order: TensorFileOrder | str = ..., format: TensorFileFormat | str = ...,
         sync: bool = True) -> None:
    """Writes tensors to a file, and replaces an existing one."""

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

def empty(shape: _Shape, dtype: _DType = "float32",
          device: Device | str | None = None) -> StridedView:
    """A new tensor whose elements have any values."""

def zeros(shape: _Shape, dtype: _DType = "float32",
          device: Device | str | None = None) -> StridedView:
    """A new tensor of zeros."""

def ones(shape: _Shape, dtype: _DType = "float32",
         device: Device | str | None = None) -> StridedView:
    """A new tensor of ones."""

def full(shape: _Shape, fill_value: Any, dtype: _DType = "float32",
         device: Device | str | None = None) -> StridedView:
    """A new tensor whose elements are all fill_value."""

def arange(start: Any, stop: Any = None, step: Any = 1, dtype: _DType = "float32",
           device: Device | str | None = None) -> StridedView:
    """A new tensor of one dimension with the numbers from start to before stop."""

def mpi_datatype(view: StridedView) -> MPI.Datatype:
    """An MPI datatype for the elements of a view."""

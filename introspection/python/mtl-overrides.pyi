# SPDX-License-Identifier: LGPL-2.1-or-later
# Everything that the override adds to the namespace or changes. make-stub.py
# adds the rest, as PyGObject has it.
from collections.abc import (AsyncIterator, Awaitable, Callable, ItemsView, Iterator, KeysView,
                             Mapping, Sequence, ValuesView)
from contextlib import AbstractContextManager
from os import PathLike
from types import EllipsisType
from typing import (Any, ClassVar, Final, Literal, Protocol, SupportsIndex, TypeAlias, final,
                    overload)

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
_Extras: TypeAlias = Mapping[str, Any] | GLib.Variant
_Received: TypeAlias = tuple[StridedView, dict[str, Any]]

class _HasFileno(Protocol):
    def fileno(self) -> int: ...

class DType:
    def __new__(cls, value: _DType | SupportsIndex) -> DType: ...
    for NAME in "name kind char".split():
        @property
        def NAME(self) -> str: ...
    for NAME in "itemsize num alignment".split():
        @property
        def NAME(self) -> int: ...
    for NAME in "isnative hasobject".split():
        @property
        def NAME(self) -> bool: ...
    for NAME in "type byteorder names fields subdtype".split():
        @property
        def NAME(self) -> Any: ...
    @property
    def newbyteorder(self) -> Callable[..., numpy.dtype[Any]]: ...
    for NAME in "dtype __numpy_dtype__".split():
        @property
        def NAME(self) -> numpy.dtype[Any]: ...
    def __format__(self, specification: str, /) -> str: ...
    # The type comes last, as its name hides another's.
    @property
    def str(self) -> str: ...

class Event:
    def __init__(self, *, device: Device | None = ...) -> None: ...

class Stream:
    def __init__(self, *, device: Device | None = ...) -> None: ...
    def __enter__(self) -> Stream:
        """Lets the library work in the stream, in this thread."""
    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Lets the library work in the stream again in which it worked before."""
    def __cuda_stream__(self) -> tuple[int, int]:
        """The version of the protocol, and the address of the stream."""

class Buffer:
    def __init__(self, *, device: Device | None = ..., size: int = ...,
                 storage_mode: StorageMode = ...) -> None:
        """Allocates zeros, in the device's default storage mode unless another is given."""
    @staticmethod
    def new_mapped(file: _Path, device: Device | None = None, offset: int = 0,
                   size: int | None = None, cancellable: Gio.Cancellable | None = None) -> Buffer:
        """Maps a range of a file into memory, by default all of it."""
    def slice(self, offset: int = 0, size: int | None = None) -> Buffer:
        """A buffer of a range of the memory. Without a size it is the rest."""
    def dup_bytes(self, offset: int = 0, size: int | None = None,
                  cancellable: Gio.Cancellable | None = None) -> GLib.Bytes:
        """A copy of a range of the memory. Without a size it is the rest."""
    def get_bytes(self, offset: int = 0, size: int | None = None) -> GLib.Bytes:
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
    for NAME in "shape strides".split():
        @property
        def NAME(self) -> tuple[int, ...]: ...
    for NAME in "ndim size itemsize".split():
        @property
        def NAME(self) -> int: ...
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
    def squeeze(self, *axes: Any, axis: Any = None) -> StridedLayout:
        """The layout without its axes of extent 1, or without those given."""
    def repack(self, item_bits: int, axis: int) -> StridedLayout:
        """The same memory in smaller or larger elements."""
    def is_unique(self) -> bool:
        """Checks that no two indices refer to the same element."""

class StridedView:
    def to_variant(self, fd_list: Gio.UnixFDList | None, extras: _Extras | None) -> GLib.Variant:
        """Describes a view for another process. Further entries may be a mapping."""
    def to_device(self, device: Device | str, storage_mode: StorageMode | str,
                  cancellable: Gio.Cancellable | None) -> StridedView:
        """Copies the elements to memory of a device. Without a storage mode it is the first that
        the device supports, from what the host reaches best."""
    # DLPack's functions in C, with which other libraries exchange tensors without calling Python.
    __dlpack_c_exchange_api__: ClassVar[CapsuleType]
    # The same as __dlpack_c_exchange_api__, by its former name.
    __c_dlpack_exchange_api__: ClassVar[CapsuleType]
    for NAME in "shape strides".split():
        @property
        def NAME(self) -> tuple[int, ...]: ...
    for NAME in "ndim size itemsize nbytes".split():
        @property
        def NAME(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def layout(self) -> StridedLayout: ...
    for NAME in "T mT".split():
        @property
        def NAME(self) -> StridedView: ...
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
    def device(self) -> Device: ...
    @property
    def data(self) -> memoryview: ...
    for NAME in "flags ctypes base".split():
        @property
        def NAME(self) -> Any: ...
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
    for OP in "add sub mul truediv floordiv mod matmul lshift rshift and or xor pow divmod".split():
        def __OP__(self, other: Any) -> Any: ...
        def __rOP__(self, other: Any) -> Any: ...
    for OP in "add sub mul truediv floordiv mod matmul lshift rshift and or xor pow".split():
        def __iOP__(self, other: Any) -> StridedView: ...  # type: ignore[misc]
    for OP in "neg pos abs invert".split():
        def __OP__(self) -> Any: ...
    for OP in "eq ne".split():
        def __OP__(self, other: Any) -> Any: ...  # type: ignore[override]
    for OP in "lt le gt ge".split():
        def __OP__(self, other: Any) -> Any: ...
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
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
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
    def copy(self, order: _Order, cancellable: Gio.Cancellable | None) -> StridedView:
        """A copy of the elements, in the given order."""
    def astype(self, dtype: _DType, order: _Order = "K",
               copy: bool = True) -> StridedView:
        """A copy with the elements converted as by to_dtype()."""
    # NumPy's arrays have the same methods, and all others that are found here.
    for NAME in ("all any argmax argmin argpartition argsort byteswap choose clip compress conj "
              "conjugate cumprod cumsum diagonal dot dump dumps getfield max mean min nonzero "
              "partition prod put repeat round searchsorted setfield sort std sum take tofile "
              "trace var").split():
        def NAME(self, *args: Any, **keywords: Any) -> Any: ...
    def fill(self, element: Any, cancellable: Gio.Cancellable | None) -> bool:
        """Sets all elements to the same value, exactly: a number, or the bytes of one element."""
    def fill_async(self, element: Any, cancellable: Gio.Cancellable | None,
                   progress: _Progress | None,
                   callback: Callable[..., object] | None,
                   *user_data: object) -> Awaitable[bool]:
        """Does the same as fill(): awaited, or with a callback."""
    def copy_from(self, source: Any, cancellable: Gio.Cancellable | None) -> bool:
        """Copies the elements of another view, or of anything else that asview() takes, broadcast
        to this one's shape and converted to its element type."""
    def reduce(self, reduction: Reduction | str, axes: int | Sequence[int] | None,
               cancellable: Gio.Cancellable | None) -> StridedView:
        """A reduction of the elements along one or more axes, or of all elements."""
    def array_equal(self, other: Any, flags: CompareFlags,
                    cancellable: Gio.Cancellable | None) -> bool:
        """Returns True if the view has the same shape and equal elements as another, or as
        anything else that asview() takes."""
    def all_close(self, other: Any, rtol: float, atol: float, flags: CompareFlags,
                  cancellable: Gio.Cancellable | None) -> bool:
        """Returns True if the view has the same shape and close elements as another, or as
        anything else that asview() takes: |a - b| <= atol + rtol * |b|."""
    def copy_from_async(self, source: Any, cancellable: Gio.Cancellable | None,
                        progress: _Progress | None,
                        callback: Callable[..., object] | None,
                        *user_data: object) -> Awaitable[bool]:
        """Copies the elements in the background: awaited, or with a callback."""
    def copy_scaled_from(self, source: Any, scale: float, offset: float,
                         cancellable: Gio.Cancellable | None) -> bool:
        """Sets the elements to source * scale + offset, converted, in one pass."""
    def copy_scaled_from_async(self, source: Any, scale: float, offset: float,
                               cancellable: Gio.Cancellable | None,
                               progress: _Progress | None,
                               callback: Callable[..., object] | None,
                               *user_data: object) -> Awaitable[bool]:
        """Does the same as copy_scaled_from(): awaited, or with a callback."""
    def __enter__(self) -> StridedView:
        """Return self: the view is closed at the end of the with statement."""
    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Closes the view. Raises BufferError if it is in use, unless the block has failed."""

class ExportedTensor:
    def __init__(self, view: Any, flags: TensorPeerFlags = ..., *, writable: bool = ...) -> None:
        """Creates an object for a view, or for anything else that asview() takes."""
    @staticmethod
    def new(view: Any, flags: TensorPeerFlags) -> ExportedTensor:
        """Creates an object for a view."""
    def set_view(self, view: Any) -> None:
        """Sets the view that other processes get from now on, and announces the change."""

class TensorConnection:
    def __init__(self, socket: Gio.Socket | _HasFileno, flags: TensorPeerFlags = ..., *,
                 max_views: int = ..., max_bytes: int = ...) -> None:
        """Creates a connection over a socket. Of a socket of Python, it duplicates the
        descriptor."""
    @staticmethod
    def new(socket: Gio.Socket | _HasFileno, flags: TensorPeerFlags) -> TensorConnection:
        """Creates a connection over a socket."""
    def send(self, view: Any, extras: _Extras | None, cancellable: Gio.Cancellable | None) -> bool:
        """Sends a view, or anything else that asview() takes, to the peer, with entries of
        numbers, text, bytes, lists and dictionaries."""
    def send_async(self, view: Any, extras: _Extras | None, cancellable: Gio.Cancellable | None,
                   callback: Callable[..., object] | None,
                   *user_data: object) -> Awaitable[bool]:
        """Does the same as send(): awaited, or with a callback."""
    def receive(self, cancellable: Gio.Cancellable | None) -> _Received:
        """Waits for a view from the peer. Returns it with the entries that the peer added."""
    def receive_async(self, cancellable: Gio.Cancellable | None,
                      callback: Callable[..., object] | None,
                      *user_data: object) -> Awaitable[_Received]:
        """Does the same as receive(): awaited, or with a callback."""
    def receive_finish(self, result: Gio.AsyncResult) -> _Received:
        """Returns what was received."""
    def close(self) -> None:
        """Ends the connection for both sides."""
    def __iter__(self) -> Iterator[_Received]: ...
    def __aiter__(self) -> AsyncIterator[_Received]: ...
    def __enter__(self) -> TensorConnection:
        """Return self: the connection ends with the with statement."""
    def __exit__(self, *exception: object) -> None:
        """Ends the connection."""

class Statistics:
    @property
    def dtype(self) -> DType: ...
    for NAME in "count n_nans n_infinities n_zeros".split():
        @property
        def NAME(self) -> int: ...
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

class TensorFile(Gio.ListModel[TensorFileEntry]):
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

class TensorProxy:
    def __init__(self, connection: Gio.DBusConnection, bus_name: str | None,
                 object_path: str) -> None:
        """Creates a proxy for a tensor that another process exports."""
    def put(self, view: Any, extras: _Extras | None, cancellable: Gio.Cancellable | None) -> bool:
        """Offers a view, or anything else that asview() takes, to the other process, with
        entries of numbers, text, bytes, lists and dictionaries."""
    def put_async(self, view: Any, extras: _Extras | None, cancellable: Gio.Cancellable | None,
                  callback: Callable[..., object] | None,
                  *user_data: object) -> Awaitable[bool]:
        """Does the same as put(): awaited, or with a callback."""
    def copy_from(self, source: Any, region: str | None,
                  cancellable: Gio.Cancellable | None) -> bool:
        """Copies elements into the tensor of the other process, or into a region of it."""
    def copy_from_async(self, source: Any, region: str | None,
                        cancellable: Gio.Cancellable | None,
                        callback: Callable[..., object] | None,
                        *user_data: object) -> Awaitable[bool]:
        """Does the same as copy_from(): awaited, or with a callback."""

class TensorFileBuilder:
    def add(self, name: str, view: Any) -> bool:
        """Adds a tensor: a view, or anything else that Mtl.asview() takes."""
    def add_converted(self, name: str, view: Any, dtype: _DType) -> bool:
        """Adds a tensor whose elements are converted when they are written."""

def load(path: _Path, *, mode: TensorFileMode | str = ...,
         device: Device | str | None = None) -> TensorFile:
    """Opens a file of tensors as a mapping of names to views."""

def save(path: _Path, tensors: Any, *, dtype: _DType | None = None,
         max_shard_size: int | str | None = None, metadata: Mapping[str, str] | None = None,
         alignment: int = 0, order: TensorFileOrder | str = ...,
         format: TensorFileFormat | str | None = ..., sync: bool = True) -> None:
    """Writes tensors to a file, or to several with an index, and replaces existing ones."""

def pickle_by_path() -> AbstractContextManager[None]:
    """In the context, and in this thread, pickles of views and buffers that map a file have the
    file's path and the place in it, not the elements."""

def from_dlpack(x: Any, /, *, device: Device | str | _Pair | None = None,
                copy: bool | None = None) -> StridedView:
    """A view of the memory that x exports through DLPack, without a copy unless copy=True.

    Memory of CUDA comes in after the work in its producer's stream, and the host does not wait. A
    producer of ROCm memory is asked to order its work into the default stream of the device. Memory
    that must not be written comes in read-only."""

def asview(x: Any, dtype: _DType | None = None) -> StridedView:
    """A view of x without a copy, or of a copy if x is a nested sequence of numbers, or if the
    elements have to be converted."""

def asstream(x: Any, device: Device | str | int | None = None) -> Stream:
    """The stream that x is: an object of PyTorch, CuPy or another library, or an address."""

def array(values: Any, dtype: _DType | None = None,
          device: Device | str | None = None, *, shared: bool = False) -> StridedView:
    """A new tensor with a copy of the values."""

def empty(shape: _Shape, dtype: _DType | None = "float64",
          device: Device | str | None = None, *, shared: bool = False) -> StridedView:
    """A new tensor whose elements have any values."""

def zeros(shape: _Shape, dtype: _DType | None = "float64",
          device: Device | str | None = None, *, shared: bool = False) -> StridedView:
    """A new tensor of zeros."""

def ones(shape: _Shape, dtype: _DType | None = "float64",
         device: Device | str | None = None, *, shared: bool = False) -> StridedView:
    """A new tensor of ones."""

def full(shape: _Shape, fill_value: Any, dtype: _DType | None = None,
         device: Device | str | None = None, *, shared: bool = False) -> StridedView:
    """A new tensor whose elements are all fill_value."""

def arange(start: Any, stop: Any = None, step: Any = None, dtype: _DType | None = None,
           device: Device | str | None = None, *, shared: bool = False) -> StridedView:
    """A new tensor of one dimension with the numbers from start to before stop."""

def mpi_datatype(view: StridedView) -> MPI.Datatype:
    """An MPI datatype for the elements of a view."""

# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import (DEFAULT, HOST, STORAGE_MODE, dtype_of, elements, error_code, first_byte,
                      from_dlpack, iota, new_buffer, zeros)
from says import says

DType, Layout, View = Mtl.DType, Mtl.StridedLayout, Mtl.StridedView
FLOAT32 = DType.FLOAT32


def test_constructors():
    assert View.new_zeros(None, FLOAT32, [2, 3]).tolist() == [[0, 0, 0]] * 2
    assert View.new_uninitialized(None, FLOAT32, [2, 3]).shape == (2, 3)
    assert View.new_filled(None, DType.INT8, [2], 7).tolist() == [7, 7]
    assert View.new_from_doubles([1, 2, 3], DType.UINT8, [3]).tolist() == [1, 2, 3]
    values = GLib.Variant("at", [2**64 - 1, 5])
    assert View.new_from_variant(values, DType.UINT64, [2]).tolist() == [2**64 - 1, 5]
    nested = GLib.Variant("(aaib)", ([[1, 2], [3]], True))
    assert View.new_from_variant(nested, DType.INT16, [2, 2]).tolist() == [[1, 2], [3, 1]]


def test_constructors_with_a_storage_mode():
    for make in (View.new_zeros, View.new_uninitialized,
                 lambda *args: View.new_filled(*args[:3], 7, *args[3:]),
                 lambda *args: View.new_arange(*args[:2], 0, args[2], 1, *args[3:]),
                 lambda *args: View.new_arange_int64(*args[:2], 0, args[2], 1, *args[3:])):
        for mode in ("host", Mtl.StorageMode.HOST, "default"):
            view = make(HOST, "f4", 2, mode)
            assert view.get_buffer().get_storage_mode() == Mtl.StorageMode.HOST
        assert make(None, "f4", 2, "host").get_device() is HOST
        for mode in ("shared", "private", "foreign"):
            with pytest.raises(NotImplementedError, match=mode):
                make(HOST, "f4", 2, mode)


@pytest.mark.any_memory
def test_new_like():
    like = View.new_zeros_like(iota(2, 3).T)

    assert like.shape == (3, 2) and like.strides == (1, 3) and not elements(like).any()
    assert like.get_device() is DEFAULT
    assert like.get_buffer().get_storage_mode() == STORAGE_MODE


@pytest.mark.any_memory
def test_new_on_a_buffer():
    buffer = new_buffer(32)
    layout = Layout((2, 3), (1, 2), itemsize=4)
    view = View.new(buffer, layout, FLOAT32, 8)

    assert view.get_buffer() is buffer and view.get_byte_offset() == 8
    assert view.layout == layout
    assert view[0].get_buffer() is buffer
    part = View.new(buffer.slice(8, 24), Layout((6,), itemsize=4), FLOAT32, 0)
    part[5:] = 1
    assert part.get_byte_offset() == 0 and view.tolist() == [[0, 0, 0], [0, 0, 1]]


@pytest.mark.any_memory
def test_close():
    view = iota(2, 3)
    row = view[1]

    assert not view.close() and view.shape == (0,) and view.get_buffer().get_size() == 0
    assert row.tolist() == [3, 4, 5]
    assert row.close() and row.shape == (0,) and row.tolist() == []
    assert row.close()


@pytest.mark.any_memory
def test_with():
    with iota(2, 3) as view:
        row = view[1]
    assert view.shape == (0,) and row.tolist() == [3, 4, 5]

    with pytest.raises(ZeroDivisionError), row:
        1 / 0
    assert row.shape == (0,)


@pytest.mark.parametrize("export", [memoryview, np.asarray, np.from_dlpack, bytes])
def test_what_is_exported_keeps_the_memory_of_a_closed_view(export):
    view = View.new_zeros(HOST, DType.UINT8, [4096])
    view[:] = 7
    exported = export(view)

    if export in (memoryview, np.asarray):  # which hold the view itself
        with pytest.raises(BufferError):
            view.close()
        assert view.shape == (4096,)
    else:
        assert view.close() is (export is bytes)
        assert view.shape == (0,)
    assert bytes(exported) == b"\7" * 4096
    del exported
    assert view.close() and view.shape == (0,)


@pytest.mark.any_memory
@pytest.mark.parametrize("shape, strides, offset", [
    ((9,), None, 0), ((8,), None, 1), ((1,), None, 29), ((2,), (8,), 0), ((2,), (-1,), 0),
    ((2, 2), (1, -1), 3), ((1,), None, 2**64 - 1), ((2**60,), None, 0), ((0,), None, 33),
])
def test_bounds(shape, strides, offset):
    buffer = new_buffer(32)

    with pytest.raises(IndexError, match=says(32)) as info:
        View.new(buffer, Layout(shape, strides, itemsize=4), FLOAT32, offset)
    assert error_code(info) == Mtl.Error.OUT_OF_BOUNDS


def test_items_have_to_fit_the_type():
    buffer = new_buffer(32)

    with pytest.raises(ValueError, match=says(16, "float32")):
        View.new(buffer, Layout((2,), itemsize=2), FLOAT32, 0)
    with pytest.raises(ValueError, match="0x0"):
        View.new(buffer, Layout((2,), itemsize=2), DType.OTHER, 0)


def test_bytes_as_a_picture_has_them():
    rows = GLib.Bytes.new(bytes(range(15)))  # 2 rows of 2 RGB pixels, 8 bytes apart, no padding last
    view = View.new_from_bytes_with_byte_strides(rows, DType.UINT8, [2, 2, 3], [8, 3, 1])

    assert view.is_read_only() and view[1].tolist() == [[8, 9, 10], [11, 12, 13]]
    assert View.new_from_bytes(rows, DType.UINT8, [15]).tolist() == list(range(15))
    with pytest.raises(IndexError, match=says(15)):
        View.new_from_bytes_with_byte_strides(rows, DType.UINT8, [2, 2, 3], [10, 3, 1])


def test_wrong_number_of_values():
    with pytest.raises(ValueError, match=says(3, 4)):
        View.new_from_doubles([1, 2, 3], FLOAT32, [2, 2])
    with pytest.raises(ValueError, match=says(5, 4)):
        View.new_from_variant(GLib.Variant("ai", [1] * 5), FLOAT32, [2, 2])
    with pytest.raises(ValueError, match="“s”"):
        View.new_from_variant(GLib.Variant("as", ["1"]), FLOAT32, [1])


@pytest.mark.any_memory
def test_queries():
    view = iota(2, 3, 4, dtype="int32")[:, ::-1, 1:]

    assert view.get_shape() == [2, 3, 3] and view.get_strides() == [12, -4, 1]
    assert view.get_n_dims() == view.ndim == 3 and view.size == view.get_volume() == 18
    assert view.itemsize == 4 and view.layout.get_item_bits() == 32 and view.nbytes == 72
    assert view.layout.get_offset() == 9 and tuple(view.layout.get_offset_bounds()) == (1, 23)
    assert view.layout.get_required_size() == 96 and view.layout.dup_byte_strides() == [48, -16, 4]
    assert view.layout.dup_stride_order() == [0, 1, 2] and view.layout.get_flatten_mask() == 0
    assert view.get_extent(-1) == 3 and view.layout.get_stride(1) == -4
    assert not view.is_contiguous(Mtl.Order.ANY)
    assert view.layout.is_unique() and not view.layout.is_dense()
    assert not view.is_empty() and view[:0].is_empty()
    assert view.dtype == view.get_dtype() == DType.INT32
    assert view.get_lanes() == 1
    assert not view.is_padded()
    assert view.get_device() is DEFAULT
    assert view.is_host_accessible() == (STORAGE_MODE != Mtl.StorageMode.PRIVATE)


def test_address():
    view = iota(2, 3, 4)[:, ::-1, 1:]

    assert view.get_address() == np.asarray(view).ctypes.data


def test_memory_of_the_host_is_no_tensor_of_metal():
    view = View.new_zeros(HOST, FLOAT32, [2])

    with pytest.raises(NotImplementedError, match="Metal"):
        view.to_metal_tensor(Mtl.MetalTensorUsage.COMPUTE)
    with pytest.raises((NotImplementedError, ValueError), match="Metal|MTLTensor"):
        View.new_from_metal_tensor(1)


def test_all_at_once():
    view = Mtl.StridedView.new_zeros(None, DType.INT16, (2, 3))

    assert view.T.set_doubles([1, 2, 3, 4, 5.5, 6])
    assert view.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert view.T.get_int64s() == [1, 2, 3, 4, 5, 6] and view.get_doubles() == [1, 3, 5, 2, 4, 6]
    assert view[0].set_int64s((7, 8, 9)) and view[0].tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match=says(40000)):
        view.set_int64s([0, 0, 0, 0, 0, 40000])
    assert view[0].tolist() == [7, 8, 9]
    assert DType.get_kind(view.dtype) == Mtl.DTypeKind.INT

    pair = Mtl.array([1 + 2j, 3 - 4j])
    assert pair.select_real().tolist() == [1, 3] and pair.select_imaginary().tolist() == [2, -4]


@pytest.mark.any_memory
def test_operations_share_memory():
    view = iota(2, 3, 4)

    for derived in (view.permute(2, 0, 1), view.permute([2, 0, 1]), view.T, view.transpose(),
                    view.transpose(1, 0, 2), view.reshape(6, 4), view.reshape((4, -1)),
                    view.flatten(0, -1), view.swap_axes(0, 2),
                    view.unsqueeze(0), view.unsqueeze([0]).squeeze(), view.unsqueeze(0).squeeze(0),
                    view.unsqueeze([0]).squeeze_axes([0]),
                    view.broadcast_to(2, 2, 3, 4), view.narrow(0, 0, 2, 1), view.slice("..."),
                    view.as_read_only()):
        assert derived.get_buffer() == view.get_buffer()
        assert first_byte(derived) == first_byte(view)
        assert derived.get_address() == view.get_address()
    assert view.select(0, 1).tolist() == view[1].tolist() == elements(view)[1].tolist()
    assert view.flip(2).tolist() == elements(view)[..., ::-1].tolist()


@pytest.mark.any_memory
def test_reinterpret():
    view = iota(2, 4)
    array = np.arange(8, dtype="float32").reshape(2, 4)

    for name in ("complex64", "uint32", "int16", "uint8", "float64", "complex128"):
        other = view.reinterpret(Mtl.DType.from_string(name))
        expected = array.view(name)
        assert other.shape == expected.shape and str(other.dtype) == name
        assert np.array_equal(elements(other), expected)
        assert other.reinterpret(FLOAT32).equal(view)
        assert other.get_buffer() == view.get_buffer()
    with pytest.raises(ValueError, match=says("(4, 2)", 32, 8)):
        view[:, ::2].reinterpret(DType.UINT8)
    with pytest.raises(ValueError, match=says(1)):
        view[:, 1:2].reinterpret(DType.COMPLEX64)
    with pytest.raises(ValueError, match=says(8)):
        view[:, 1:3].reinterpret(DType.FLOAT64)
    view[1].reinterpret(DType.COMPLEX64)[1:] = -1j
    assert view.tolist() == [[0, 1, 2, 3], [4, 5, 0, -1]]


@pytest.mark.any_memory
def test_max_compatible_item_bits():
    view = iota(2, 8)

    assert view.layout.get_max_compatible_item_bits(128) == 128
    assert view[:, 2:].layout.get_max_compatible_item_bits(128) == 64
    assert view[:, ::2].layout.get_max_compatible_item_bits(128, axis=-1) == 32
    assert view.T.layout.get_max_compatible_item_bits(128, axis=0) == 128


@pytest.mark.any_memory
def test_overlaps():
    view = iota(4, 6)

    assert view.overlaps(view) and view.overlaps(view.T) and view.overlaps(view[2:3, 3:4])
    assert not view[:2].overlaps(view[2:]) and not view[:, ::2].overlaps(view[:, 1::2])
    assert not view.overlaps(view.copy()) and not view.overlaps(view[:0])
    assert view.reinterpret(DType.UINT8)[:, 3::4].overlaps(view)


@pytest.mark.any_memory
def test_description_is_identity():
    view = iota(2, 3)

    assert view.equal(view.T.T) and view.hash() == view.T.T.hash()
    assert not view.equal(view.T) and not view.equal(view.copy())


def test_hash_is_that_of_the_object():
    view = iota(2, 3)
    same = view[:]

    assert hash(view) == hash(view) != hash(same) and len({view, view, same}) == 2
    assert {view: 1, same: 2}[view] == 1 and view in [same, view][1:]


@pytest.mark.any_memory
def test_text():
    view = iota(2, 3, dtype="int32")

    assert str(view) == view.to_string() == view.format(1000) == "[[0 1 2]\n [3 4 5]]"
    assert repr(view) == (f"<Mtl.StridedView shape=(2, 3) strides=(3, 1) dtype=int32 "
                          f"device={view.__dlpack_device__()}>")


def test_text_of_the_hosts_memory():
    view = View.new_zeros(HOST, DType.INT32, [2, 3]).as_read_only()

    assert repr(view) == ("<Mtl.StridedView shape=(2, 3) strides=(3, 1) dtype=int32 "
                          "device=(1, 0) read-only>")


def test_truth():
    assert bool(iota(2)[1:]) and not bool(iota(1))
    with pytest.raises(ValueError, match=says(2)):
        bool(iota(2))


@pytest.mark.parametrize("shape", [[2**62], [2**40, 2**20], [2**58]])
def test_too_much(shape):
    for constructor in (View.new_zeros, View.new_uninitialized):
        with pytest.raises(MemoryError):
            constructor(None, DType.UINT8, shape)
    with pytest.raises(MemoryError):
        View.new_filled(None, DType.UINT8, shape, 1)


def test_overflowing_shapes():
    for shape in ([2**63 - 1, 2], [2**32] * 3, [2**61]):
        with pytest.raises(ValueError, match=says("2^63")):
            View.new_zeros(None, DType.FLOAT64, shape)
    assert View.new_zeros(None, DType.FLOAT64, [2**40, 2**40, 0]).size == 0


def test_a_bare_object_is_empty():
    view = View()

    assert view.shape == (0,) and view.tolist() == [] and view.dtype == DType.UINT8
    assert from_dlpack(view).shape == (0,) and str(view) == "[]"


def test_an_object_that_holds_nothing_is_empty():
    view = View.__new__(View)

    assert view.shape == (0,) and view.tolist() == [] and view.T.shape == (0,)
    assert bytes(memoryview(view)) == b"" and from_dlpack(view).shape == (0,)
    with pytest.raises(IndexError):
        view[0]
    assert bytes(memoryview(Mtl.Buffer.__new__(Mtl.Buffer))) == b""
    other = Mtl.Event.new(HOST)
    other.__class__ = Mtl.Buffer
    assert bytes(memoryview(other)) == b""
    layout = iota(3).layout
    layout.__class__ = View
    assert layout.shape == (0,) and bytes(layout) == b""


@pytest.mark.any_memory
def test_arguments_have_names():
    view = iota(2, 3)

    assert view.narrow(axis=1, start=0, stop=2, step=1).shape == (2, 2)
    assert view.reshape(np.array([3, 2])).shape == (3, 2)
    with pytest.raises(ValueError):
        view.reshape(2**70)


def test_lifetimes():
    view = iota(100)
    wrapper = weakref.ref(view)
    array, rows = np.asarray(view), view.get_bytes()

    del view
    gc.collect()
    assert wrapper() is not None  # the array's buffer holds it
    part = wrapper()[50:]
    del array
    gc.collect()
    assert wrapper() is None and part[0] == 50
    assert rows.get_data()[4:8] == np.float32(1).tobytes()


def test_dense_like_dtype_names(dtype):
    view = zeros(dtype, (2,))

    assert view.dtype == dtype_of(dtype) and np.dtype(view.dtype) == np.asarray(view).dtype


def test_lists_that_change_while_they_are_read():
    class Clears:
        def __index__(self):
            integers.clear()
            return 2

    view = zeros("int32", (2, 3))
    for call in (view.reshape, view.broadcast_to, view.permute, Mtl.StridedLayout,
                 Mtl.StridedLayout((2, 3)).reshape):
        integers = [Clears(), *range(1000, 1050)]
        with pytest.raises((ValueError, IndexError)):
            call(integers)
        assert integers == []


def test_bytes_of_more_than_there_is_memory():
    view = zeros("float64", (1,)).broadcast_to(2**62)

    assert view.nbytes == 2**65 and view.nbytes == view.size * view.itemsize


@pytest.mark.any_memory
def test_size_in_memory():
    view = iota(50, 40)
    windows = View.new(view.get_buffer(), Layout([1000, 1001], [1, 1], itemsize=4), FLOAT32, 0)
    alone = sys.getsizeof(view[:0])

    assert alone < 200
    for part, n_bytes in ((view, 8000), (view.T, 8000), (view[5:9, ::2], 320), (view[3, 4:5], 4),
                          (view[::-1], 8000), (view[:1].broadcast_to(10**9, 40), 160),
                          (view[:, :0].unsqueeze(0).broadcast_to(10**9, 50, 0), 0),
                          (zeros("uint4", (3, 5)), 8), (windows, 8000)):
        assert sys.getsizeof(part) == alone + n_bytes, part
def test_items_before_the_first_for_callers_in_c():
    get_item = ctypes.pythonapi.PySequence_GetItem
    get_item.restype, get_item.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_ssize_t]
    view = Mtl.asview(np.arange(3))

    assert get_item(view, -3) == 0
    for index in (-4, -6, 3):
        with pytest.raises(IndexError):
            get_item(view, index)

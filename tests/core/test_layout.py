# SPDX-License-Identifier: LGPL-2.1-or-later
import numpy as np
import pytest
from gi.repository import Mtl

from conftest import error_code
from says import says

Layout = Mtl.StridedLayout
Order = Mtl.Order


def test_from_python():
    layout = Layout((2, 3), itemsize=4)

    assert layout.shape == (2, 3) and layout.strides == (3, 1)
    assert layout.ndim == layout.get_n_dims() == 2
    assert layout.size == layout.get_volume() == 6
    assert layout.itemsize == 4 and layout.get_item_bits() == 32
    assert layout.T.shape == layout.transpose().shape == (3, 2)
    assert repr(layout) == "<Mtl.StridedLayout shape=(2, 3) strides=(3, 1) itemsize=4>"
    assert "shape (2, 3)" in str(layout) and layout.to_string() == str(layout)
    assert Layout((2, 3), (1, 2)).strides == (1, 2)
    assert Layout(()).size == 1


def test_equal_ones_hash_alike():
    a, b = Layout((2, 3)), Layout((2, 3), (3, 1))

    assert a == b and hash(a) == hash(b) and a.equal(b) and a.hash() == b.hash()
    assert a != Layout((2, 3), (1, 2)) and a != Layout((2, 3), itemsize=2) and a != (2, 3)
    assert len({a, b}) == 1 and not a != b and a != "a" and not a == None  # noqa: E711
    assert a.__eq__(b) is True and a.__eq__(1) is NotImplemented and a.__hash__() == hash(a)
    with pytest.raises(TypeError):
        a < b  # noqa: B015


def test_index():
    layout = Layout((4, 5, 6))

    assert layout[1:3, ..., ::-2].shape == (2, 5, 3)
    assert layout[1:3, ..., ::-2].strides == (30, 6, -2)
    assert layout[1:3, ..., ::-2].get_offset() == 35
    assert layout[None, 0].shape == (1, 5, 6)
    assert layout[np.int64(2)] == layout[2] == layout.select(0, 2) == layout.slice("2")
    with pytest.raises(IndexError):
        layout[4]
    with pytest.raises(TypeError, match="str"):
        layout["x"]
    with pytest.raises(TypeError, match="bool"):
        layout[True]
    with pytest.raises(IndexError):
        layout[2**70]
    assert layout[:2**70] == layout
    for wrong in (dict(shape=(2.5,)), dict(shape=(2,), itemsize=1.5), dict(shape=(2,), strides=(1.0,))):
        with pytest.raises(TypeError):
            Layout(**wrong)


def test_constructors():
    assert Layout.new([2, 3], None, 32).strides == (3, 1)
    assert Layout.new_with_byte_strides([2, 3], [12, 4], 32) == Layout((2, 3), itemsize=4)
    assert Layout.new_dense([2, 3], Order.F, 8).strides == (1, 2)
    assert Layout.new_dense_for_axes([2, 3, 4], [1, -1, 0], 8).strides == (1, 8, 2)
    assert Layout((2, 3), (1, 10)).to_dense(Order.K).strides == (1, 2)
    assert Layout((2, 3), (1, 10)).to_dense(Order.C).strides == (3, 1)


def test_fit_metal_tensor():
    compute, machine_learning = Mtl.MetalTensorUsage.COMPUTE, Mtl.MetalTensorUsage.MACHINE_LEARNING
    layout = Layout((2, 3), itemsize=4).T

    assert layout.fit_metal_tensor("float32", compute) == layout
    assert layout.fit_metal_tensor("float16", compute) == Layout((3, 2), itemsize=2)
    assert layout.fit_metal_tensor("float32", compute | machine_learning).strides == (16, 1)
    assert Layout((32, 7)).fit_metal_tensor(Mtl.DType.INT4, compute).strides == (1, 256)
    with pytest.raises(NotImplementedError, match="float64"):
        layout.fit_metal_tensor("float64", compute)


def test_queries():
    layout = Layout((2, 3, 4), (-1, 100, 10), itemsize=2)

    assert layout.get_shape() == [2, 3, 4] and layout.get_strides() == [-1, 100, 10]
    assert layout.dup_byte_strides() == [-2, 200, 20]
    assert layout.dup_stride_order() == [1, 2, 0]
    assert layout.get_extent(-1) == 4 and layout.get_stride(1) == 100
    bounds = layout.get_offset_bounds()
    assert bounds == (-1, 230) and (bounds.min, bounds.max) == bounds
    assert Layout((2, 3, 4), (1, 100, 10), itemsize=2).get_required_size() == 464
    assert layout.is_unique() and not layout.is_dense() and not layout.is_empty()
    assert not layout.is_contiguous(Order.ANY)
    assert Layout((2, 3)).is_contiguous(Order.C) and Layout((2, 3)).is_dense()
    with pytest.raises(IndexError, match=says(2)):
        layout.get_required_size()


def test_operations():
    layout = Layout((2, 3, 4))

    assert layout.reshape([6, -1]).shape == (6, 4)
    assert layout.flatten(0, 1).shape == (6, 4)
    assert layout.get_flatten_mask() == 0b110
    assert layout.flatten_mask(0b100).shape == (2, 12)
    assert layout.permute([2, 0, 1]).strides == (1, 12, 4)
    assert layout.swap_axes(0, -1).shape == (4, 3, 2)
    assert Layout((1, 3, 1)).squeeze().shape == (3,)
    assert Layout((1, 3, 1)).squeeze_axes([0]).shape == (3, 1)
    assert layout.unsqueeze([0, -1]).shape == (1, 2, 3, 4, 1)
    assert Layout((3, 1)).broadcast_to([2, 3, 4]).strides == (0, 1, 0)
    assert layout.narrow(2, -1, -100, -2).shape == (2, 3, 2)
    assert layout.flip(1).strides == (12, -4, 1)


def test_construction_takes_what_python_has():
    assert Layout() == Layout(()) == Layout(shape=[], itemsize=1)
    assert Layout(range(2, 4), strides=iter([3, 1]), itemsize=2) == Layout((2, 3), itemsize=2)
    assert Layout([1] * 64).ndim == 64
    assert Layout((2, 3), itemsize=2, strides=None) == Layout.new((2, 3), None, item_bits=16)
    assert Layout.new(item_bits=4, strides=(1, 2), shape=range(2, 4)).strides == (1, 2)
    for wrong in (lambda: Layout(3), lambda: Layout((2,), 1), lambda: Layout("2"),
                  lambda: Layout((2,), None, 1, 0), lambda: Layout(extents=(2,)),
                  lambda: Layout((2,), shape=(2,)), lambda: Layout((2,), itemsize=1.0),
                  lambda: Layout.new(), lambda: Layout.new(2.0, None, 8)):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: Layout([1] * 65), lambda: Layout((2**63,)), lambda: Layout((), (), 0),
                  lambda: Layout((), (), -1), lambda: Layout((), (), 2**29),
                  lambda: Layout.new((), None, 0), lambda: Layout.new((), None, 2**32)):
        with pytest.raises(ValueError):
            wrong()


def test_operations_take_integers_or_a_sequence():
    layout = Layout((2, 1, 3))

    assert layout.permute(2, 0, 1) == layout.permute((2, 0, 1)) == layout.transpose(2, 0, 1)
    assert layout.reshape(6) == layout.reshape([-1])
    assert layout.squeeze(1) == layout.squeeze() and layout.unsqueeze(0).shape == (1, 2, 1, 3)
    assert layout.broadcast_to(2, 4, 3) == layout.broadcast_to([2, 4, 3])
    assert layout[0, ..., None].shape == (1, 3, 1)
    with pytest.raises(TypeError):
        layout.reshape(2.5)
    with pytest.raises(TypeError):
        layout["0"]
    with pytest.raises(ValueError, match=says(-8)):
        layout.repack(-8)
    assert layout.repack(item_bits=24, axis=np.int8(2)).shape == (2, 1, 1)
    for wrong in (lambda: layout.repack(), lambda: layout.repack(8, 0, True),
                  lambda: layout.repack(8, item_bits=8), lambda: layout.repack(8, width=1),
                  lambda: layout.repack(8, 0.0)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(IndexError):
        layout.repack(8, 2**40)


def test_arguments_have_names():
    layout = Layout((2, 3, 4))

    assert layout.flatten(last=-1, first=1) == layout.flatten(1, 2) == layout.reshape(2, 12)
    assert layout.T.to_dense(order=Order.K) == layout.T and layout.is_contiguous(order=Order.C)
    assert layout.slice(string="1, ..., ::2") == layout[1, ..., ::2]
    assert Layout.new_dense(item_bits=8, order=Order.F, shape=(2, 3)).strides == (1, 2)
    assert Layout((0, 2)).is_empty() and Layout((2,), (0,)).get_offset() == 0
    for wrong in (lambda: layout.flatten(0, 1, 2), lambda: layout.flatten(0.0, 1),
                  lambda: layout.slice(0), lambda: layout.slice(b"0"), lambda: layout.get_offset(0),
                  lambda: layout.is_contiguous(Order.C, order=Order.C),
                  lambda: Layout.new_dense()):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: layout.slice("0\0"), lambda: layout.slice("\ud800"),
                  lambda: Mtl.zeros((2, 3)).slice("0\0"),
                  lambda: layout.to_dense(2**40), lambda: layout.to_dense("X"),
                  lambda: layout.is_contiguous(2**40), lambda: layout.is_contiguous("X"),
                  lambda: Layout.new_dense((2,), Order.C, 0),
                  lambda: Layout.new_dense((2,), Order.C, -1)):
        with pytest.raises(ValueError):
            wrong()


def test_repack():
    floats = Layout((3, 4), (8, 1), itemsize=4)

    assert floats.repack(64) == Layout((3, 2), (4, 1), itemsize=8)
    assert floats.repack(8).repack(32) == floats
    assert floats.T.repack(128, 0).squeeze(0) == Layout((3,), (2,), itemsize=16)
    assert floats.T.repack(128, axis=0).shape == (1, 3)
    assert floats.repack(4).shape == (3, 32)
    assert floats.get_max_compatible_item_bits(512) == 128
    assert floats.get_max_compatible_item_bits(128, 8) == 64
    assert floats.get_max_compatible_item_bits(128, address=0, axis=0) == 32
    assert floats.get_max_compatible_item_bits(128, 2**63 + 8) == 64
    with pytest.raises(ValueError, match=says(-1)):
        floats.get_max_compatible_item_bits(128, -1)
    with pytest.raises(TypeError):
        floats.get_max_compatible_item_bits(128, 8.0)
    with pytest.raises(IndexError):
        floats.get_max_compatible_item_bits(128, axis=2)


def test_unique():
    # Interleaved, but no two at one place.
    assert Layout((2, 3), (-6, -5)).is_unique()
    assert not Layout((3, 3), (2, 4)).is_unique()
    assert not Layout((2, 2), (0, 1)).is_unique()


@pytest.mark.parametrize("call, exception, code, values", [
    (lambda: Layout((2, 2), (3, 1)).repack(16), ValueError, "NEEDS_COPY", ["(3, 1)"]),
    (lambda: Layout((2, 3)).repack(16), ValueError, "INVALID_ARGUMENT", [3]),
    (lambda: Layout((2, 3)).repack(12), ValueError, "INVALID_ARGUMENT", [12]),
    (lambda: Layout((2, 3)).get_max_compatible_item_bits(64, 0, 2), IndexError, "OUT_OF_BOUNDS",
     [2]),
    (lambda: Layout((-1,)), ValueError, "INVALID_ARGUMENT", [-1]),
    (lambda: Layout((2**40, 2**40)), ValueError, "OVERFLOW", ["2^63"]),
    (lambda: Layout((3,), (2**62,)), ValueError, "OVERFLOW", [2**62]),
    (lambda: Layout.new([1] * 65, None, 8), ValueError, "INVALID_ARGUMENT", [65]),
    (lambda: Layout(()).reshape([1] * 65), ValueError, "INVALID_ARGUMENT", [65]),
    (lambda: Layout.new_with_byte_strides([2], [3], 16), ValueError, "INVALID_ARGUMENT", [3]),
    (lambda: Layout((2, 3)).permute([0]), ValueError, "INVALID_ARGUMENT", [1, 2]),
    (lambda: Layout((2, 3)).permute([0, 0]), ValueError, "INVALID_ARGUMENT", [0]),
    (lambda: Layout((2, 3)).permute([0, 2]), IndexError, "OUT_OF_BOUNDS", [2]),
    (lambda: Layout((2, 3)).reshape([4, 2]), ValueError, "INVALID_ARGUMENT", [6, "(4, 2)"]),
    (lambda: Layout((2, 3), (1, 2)).reshape([6]), ValueError, "NEEDS_COPY", ["(6,)"]),
    (lambda: Layout((2, 3)).narrow(0, 0, 2, 0), ValueError, "INVALID_ARGUMENT", [0]),
    (lambda: Layout((2, 3)).select(1, -4), IndexError, "OUT_OF_BOUNDS", [-4]),
    (lambda: Layout((2, 3)).broadcast_to([3, 3]), ValueError, "INVALID_ARGUMENT", ["(3, 3)"]),
    (lambda: Layout((2, 3)).squeeze_axes([0]), ValueError, "INVALID_ARGUMENT", [0, 2]),
    (lambda: Layout((2, 3)).slice("1:x"), ValueError, "INVALID_ARGUMENT", ["1:x"]),
    (lambda: Layout((2, 3)).slice("..., ..."), ValueError, "INVALID_ARGUMENT", [2]),
    (lambda: Layout((2, 3)).slice("0, 0, 0"), IndexError, "OUT_OF_BOUNDS", [3, 2]),
])
def test_bad_input(call, exception, code, values):
    with pytest.raises(exception, match=says(*values)) as info:
        call()
    assert error_code(info) == getattr(Mtl.Error, code)


def test_wrong_number_of_strides():
    with pytest.raises(ValueError, match=says(1, 2)):
        Layout((2, 3), (1,))
    with pytest.raises(ValueError, match=says(1, 2)):
        Layout.new([2, 3], [1], 8)

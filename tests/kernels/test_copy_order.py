# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies in an order and an element type, as NumPy's arrays make them."""

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import dtype_of, elements, error_code, tensor

pytestmark = pytest.mark.any_memory

ORDERS = {"C": Mtl.Order.C, "F": Mtl.Order.F, "K": Mtl.Order.K, "A": Mtl.Order.ANY}


def random_view(rng):
    """Part of an array, its axes in some order, and the same part of a tensor."""
    shape = [rng.randrange(1, 6) for _ in range(rng.randrange(5))]
    array = np.array(rng.choices(range(100), k=int(np.prod(shape))), np.int16).reshape(shape)
    view = tensor(array.copy())
    index = (..., *(slice(None, None, rng.choice((1, 1, 2, -1, -2))) for _ in shape))
    axes = rng.sample(range(len(shape)), len(shape))
    return array[index].transpose(axes), view[index].permute(axes)


def strides_that_matter(array):
    """Returns strides in elements; those of an extent of 1 do not matter."""
    if array.size == 0:
        return ()
    return [stride // array.itemsize for extent, stride in zip(array.shape, array.strides)
            if extent > 1]


def check(view, array):
    assert str(view.dtype) == array.dtype.name and view.shape == array.shape
    assert elements(view).tobytes() == array.tobytes()
    assert [stride for extent, stride in zip(view.shape, view.strides)
            if extent > 1] == strides_that_matter(array)
    assert view.layout.is_dense() and not view.is_read_only()


@pytest.mark.parametrize("order", ORDERS)
def test_orders_as_numpy(rng, order):
    for _ in range(300):
        array, view = random_view(rng)
        check(view.copy(rng.choice((order, order.lower()))), array.copy(order))
        check(view.copy(order=ORDERS[order]), array.copy(order))
        check(view.astype(Mtl.DType.FLOAT32, order), array.astype("f4", order))
        check(view.astype("int16", order=order), array.astype("i2", order))
        check(view.to_dtype("float64", order), array.astype("f8", order))
        same = view.to_dtype("int16", order=ORDERS[order])
        assert (same is view) == (array.astype("i2", order, copy=False) is array)
        if same is not view:
            check(same, array.copy(order))


def test_a_copy_is_in_c_order_and_a_conversion_as_it_was(rng):
    for _ in range(100):
        array, view = random_view(rng)
        check(view.copy(), array.copy())
        check(view.astype("float64"), array.astype("f8"))


def test_a_copy_lies_where_the_view_does():
    view = tensor([[1.5, 2.5], [3.5, 4.5]]).as_read_only()

    for copy in (view.copy(), view.copy("F"), view.astype("float64"), view.astype("int8")):
        buffer = copy.get_buffer()
        assert buffer != view.get_buffer() and copy.get_device() is view.get_device()
        assert buffer.get_storage_mode() == view.get_buffer().get_storage_mode()


def test_without_a_need_there_is_no_copy():
    view = tensor(np.arange(6, dtype=np.float32).reshape(2, 3))

    assert view.astype(Mtl.DType.FLOAT32, copy=False) is view
    assert view.astype("float32", "C", False) is view
    assert view.astype("float32", "F", copy=False) is not view
    assert view.T.astype("float32", "C", copy=False).is_contiguous(Mtl.Order.C)
    assert view.astype("float64", copy=False).dtype == Mtl.DType.FLOAT64
    assert not view.astype("float32", copy=True).equal(view)
    assert view.equal(view.to_dtype(Mtl.DType.FLOAT32))


@pytest.mark.parametrize("dtype", [float, int, bool, complex, np.float32, np.uint8, "float16",
                                   np.dtype("int32"), np.dtype("u8"), Mtl.DType.INT64])
def test_types_by_any_name(dtype):
    name = dtype.name if isinstance(dtype, Mtl.DType) else np.dtype(dtype).name
    view = tensor([[0.0, 1.5, 2.0]])

    assert view.astype(dtype).dtype == dtype_of(name)
    assert view.astype(dtype=dtype).tolist() == np.array([[0.0, 1.5, 2.0]]).astype(name).tolist()


def test_types_of_less_than_a_byte():
    array = np.arange(24).reshape(2, 3, 4) % 5  # which it holds
    view = tensor(array).permute(2, 0, 1).astype("float4_e2m1fn")

    assert view.tolist() == array.transpose(2, 0, 1).tolist()
    assert view.layout.dup_stride_order() == [1, 2, 0]
    assert view.copy("F").array_equal(view) and view.copy("F").strides == (1, 4, 8)


def test_what_is_no_order_or_type():
    view = tensor([1.0, 2.0])

    for order in ("", "B", "CF", "\u0143", "\uff23", "Z", 4, -1, 2**40):
        with pytest.raises(ValueError):
            view.copy(order)
    for order in (None, 1.0, b"C"):
        with pytest.raises(TypeError):
            view.copy(order)
    for dtype in (None, 1.5, [], np):
        with pytest.raises(TypeError):
            view.astype(dtype)
    for dtype in ("float33", str, np.dtype("V3"), np.datetime64):
        with pytest.raises(ValueError) as info:
            view.astype(dtype)
        assert error_code(info) == Mtl.Error.INVALID_ARGUMENT
    with pytest.raises(TypeError):
        view.astype()
    with pytest.raises(TypeError):
        view.copy("C", "F")


def test_what_cannot_be_had():
    wide = tensor([1.0]).broadcast_to(2**60)

    for function in (wide.copy, lambda: wide.copy("F"), lambda: wide.astype("int8")):
        with pytest.raises((MemoryError, ValueError)):
            function()

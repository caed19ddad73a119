# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack's C exchange API, called as C++ consumers do."""

import ctypes
import gc

import pytest
from gi.repository import Mtl

from conftest import DEFAULT, HOST, METAL, iota, tensor, zeros
from dlpack_structs import (DELETER, SET_ERROR, DLTensor, ManagedVersioned, Producer, dims,
                            exchange_api, floats)


@pytest.fixture
def exchange():
    assert (Mtl.StridedView.__dlpack_c_exchange_api__
            is Mtl.StridedView.__c_dlpack_exchange_api__)
    return exchange_api(Mtl.StridedView)


def test_version(exchange):
    assert (exchange.major, exchange.minor) == (1, 3) and not exchange.prev_api


def place_of(tensor):
    """The device, and what is at which offset there."""
    return tensor.device_type, tensor.device_id, tensor.data, tensor.byte_offset


@pytest.mark.any_memory
def test_out_and_in(exchange):
    view = iota(2, 3)
    managed, result = ctypes.c_void_p(), ctypes.py_object()

    assert exchange.managed_from(view, managed) == 0
    exported = ManagedVersioned.from_address(managed.value).dl_tensor
    assert (exported.device_type, exported.device_id) == view.__dlpack_device__()
    assert dims(exported.shape, 2) == (2, 3)
    assert exchange.to_object(managed, result) == 0
    assert result.value.tolist() == [[0, 1, 2], [3, 4, 5]]
    result.value[0] = 9
    assert view.tolist() == [[9, 9, 9], [3, 4, 5]]
    assert result.value.get_address() == view.get_address()


def test_addresses_of_the_host(exchange):
    view = Mtl.StridedView.new_zeros(HOST, Mtl.DType.FLOAT32, [2, 3])[1:, 1:]
    managed = ctypes.c_void_p()

    assert exchange.managed_from(view, managed) == 0
    exported = ManagedVersioned.from_address(managed.value)
    assert place_of(exported.dl_tensor) == (1, 0, view.get_address(), 0)
    DELETER(exported.deleter)(managed.value)


def test_taking_a_bad_tensor_frees_it(exchange):
    producer = Producer(floats(1), (1,), version=(3, 0))
    Producer.alive.add(producer)
    result = ctypes.py_object()

    with pytest.raises(BufferError, match="3.0"):
        exchange.to_object(ctypes.addressof(producer.managed), result)
    assert producer.deleted == 1


def borrow(exchange, view):
    lent = DLTensor()
    assert exchange.borrow(view, lent) == 0
    return lent


@pytest.mark.any_memory
def test_lending(exchange):
    view = zeros("int16", (4, 4))[1:, ::2]
    lent = borrow(exchange, view)

    assert dims(lent.shape, 2) == (3, 2) and dims(lent.strides, 2) == (4, 2)
    assert (lent.code, lent.bits, lent.lanes) == (0, 16, 1)
    assert (lent.device_type, lent.device_id) == view.__dlpack_device__()
    packed = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT4_E2M1FN, [4])[1:]
    for refused in (view.as_read_only(), view.flip(0), view.get_buffer(), packed):
        with pytest.raises(BufferError):
            exchange.borrow(refused, DLTensor())


@pytest.mark.any_memory
def test_lending_says_the_same_place_as_exporting(exchange):
    view = iota(4, 4)
    layout = Mtl.StridedLayout((3, 4), itemsize=4)
    part = Mtl.StridedView.new(view.get_buffer().slice(16, 48), layout, Mtl.DType.FLOAT32, 0)

    for lender in (view, view[1:, ::2], view[2], part, part[1:, 1:], view[:0], view[1:1, 2:]):
        managed = ctypes.c_void_p()
        assert exchange.managed_from(lender, managed) == 0
        exported = ManagedVersioned.from_address(managed.value)
        if lender.size > 0:
            assert place_of(borrow(exchange, lender)) == place_of(exported.dl_tensor)
        else:
            assert borrow(exchange, lender).byte_offset == 0
        DELETER(exported.deleter)(managed.value)


def test_lending_of_the_host_is_an_address(exchange):
    view = Mtl.StridedView.new_zeros(HOST, Mtl.DType.INT16, [4, 4])[1:, ::2]

    assert place_of(borrow(exchange, view)) == (1, 0, view.get_address(), 0)


def test_what_is_no_view(exchange):
    with pytest.raises(TypeError, match="object"):
        exchange.managed_from(object(), ctypes.c_void_p())


@pytest.mark.any_memory
def test_allocating_on_the_default_device(exchange):
    shape = (ctypes.c_int64 * 1)(5)
    device = DEFAULT.get_device_type(), DEFAULT.get_device_ordinal()
    prototype = DLTensor(device_type=device[0], device_id=device[1], ndim=1, code=0, bits=32,
                         lanes=1, shape=shape)
    managed, result = ctypes.c_void_p(), ctypes.py_object()

    assert exchange.allocate(prototype, managed, None, SET_ERROR()) == 0
    assert exchange.to_object(managed, result) == 0
    assert result.value.__dlpack_device__() == device and result.value.is_host_accessible()
    result.value.copy_from(tensor([1, 2, 3, 4, 5]))
    assert result.value.tolist() == [1, 2, 3, 4, 5]


def test_allocating(exchange):
    shape = (ctypes.c_int64 * 2)(3, 5)
    prototype = DLTensor(device_type=1, ndim=2, code=2, bits=64, lanes=1, shape=shape)
    managed, errors = ctypes.c_void_p(), []
    set_error = SET_ERROR(lambda context, kind, message: errors.append((context, kind, message)))

    assert exchange.allocate(prototype, managed, None, set_error) == 0 and not errors
    tensor = ManagedVersioned.from_address(managed.value)
    assert dims(tensor.dl_tensor.shape, 2) == (3, 5) and tensor.dl_tensor.data % 64 == 0
    DELETER(tensor.deleter)(managed.value)

    shape[0] = 2**56
    assert exchange.allocate(prototype, managed, 123, set_error) == -1
    shape[0] = 3
    prototype.device_type = 2
    assert exchange.allocate(prototype, managed, None, set_error) == -1
    prototype.device_type, prototype.device_id = 8, len(METAL)
    assert exchange.allocate(prototype, managed, None, set_error) == -1
    prototype.device_type, prototype.device_id, prototype.lanes = 1, 0, 4
    assert exchange.allocate(prototype, managed, None, set_error) == -1
    assert [(context, kind) for context, kind, _ in errors] == [
        (123, b"MemoryError"), *[(None, b"BufferError")] * 3]
    gc.collect()


def test_no_streams(exchange):
    stream = ctypes.c_void_p(1)

    assert exchange.work_stream(1, 0, stream) == 0 and stream.value is None

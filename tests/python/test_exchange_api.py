# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack's C exchange API, called as C++ consumers do."""

import ctypes
import gc

import pytest
from gi.repository import Mtl

from conftest import zeros
from dlpack_structs import DELETER, DLTensor, ManagedVersioned, Producer, api, dims, floats

SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("prev_api", ctypes.c_void_p),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor),
                                      ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, SET_ERROR)),
        ("managed_from", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object,
                                           ctypes.POINTER(ctypes.c_void_p))),
        ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                                        ctypes.POINTER(ctypes.py_object))),
        ("borrow", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))),
        ("work_stream", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32,
                                         ctypes.POINTER(ctypes.c_void_p))),
    ]


@pytest.fixture
def exchange():
    capsule = Mtl.StridedView.__dlpack_c_exchange_api__
    assert capsule is Mtl.StridedView.__c_dlpack_exchange_api__
    return ExchangeApi.from_address(api.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api"))


def test_version(exchange):
    assert (exchange.major, exchange.minor) == (1, 3) and not exchange.prev_api


def test_out_and_in(exchange):
    view = zeros("float32", (2, 3))
    view[1, 2] = 7
    managed, result = ctypes.c_void_p(), ctypes.py_object()

    assert exchange.managed_from(view, managed) == 0
    tensor = ManagedVersioned.from_address(managed.value).dl_tensor
    assert tensor.data == view.get_address() and dims(tensor.shape, 2) == (2, 3)
    assert exchange.to_object(managed, result) == 0
    assert result.value.tolist() == view.tolist()
    assert result.value.get_address() == view.get_address()


def test_taking_a_bad_tensor_frees_it(exchange):
    producer = Producer(floats(1), (1,), version=(3, 0))
    Producer.alive.add(producer)
    result = ctypes.py_object()

    with pytest.raises(BufferError, match="3.0"):
        exchange.to_object(ctypes.addressof(producer.managed), result)
    assert producer.deleted == 1


def test_lending(exchange):
    view = zeros("int16", (4, 4))[1:, ::2]
    tensor = DLTensor()

    assert exchange.borrow(view, tensor) == 0
    assert tensor.data == view.get_address() and tensor.byte_offset == 0
    assert dims(tensor.shape, 2) == (3, 2) and dims(tensor.strides, 2) == (4, 2)
    assert (tensor.code, tensor.bits, tensor.lanes) == (0, 16, 1)
    for refused in (view.as_read_only(), view.flip(0), view.get_buffer()):
        with pytest.raises(BufferError):
            exchange.borrow(refused, tensor)


def test_what_is_no_view(exchange):
    with pytest.raises(TypeError, match="object"):
        exchange.managed_from(object(), ctypes.c_void_p())


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
    prototype.device_type, prototype.lanes = 1, 4
    assert exchange.allocate(prototype, managed, None, set_error) == -1
    assert [(context, kind) for context, kind, _ in errors] == [
        (123, b"MemoryError"), (None, b"BufferError"), (None, b"BufferError")]
    gc.collect()


def test_no_streams(exchange):
    stream = ctypes.c_void_p(1)

    assert exchange.work_stream(1, 0, stream) == 0 and stream.value is None

# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack's C exchange API, called as C++ consumers do."""

import ctypes
import gc

import pytest
from gi.repository import Mtl

from conftest import DEFAULT, HOST, METAL, iota, tensor, zeros
from dlpack_structs import (DELETER, SET_ERROR, DLTensor, ManagedVersioned, Producer, dims,
                            exchange_api, floats)
from says import says

PINT64 = ctypes.POINTER(ctypes.c_int64)
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32,
                           ctypes.POINTER(ctypes.c_void_p))


@pytest.fixture
def exchange():
    assert (Mtl.StridedView.__dlpack_c_exchange_api__
            is Mtl.StridedView.__c_dlpack_exchange_api__)
    return exchange_api(Mtl.StridedView)


def test_version(exchange):
    assert (exchange.major, exchange.minor) == (1, 3) and not exchange.prev_api


def place_of(tensor):
    """Returns the device, the address, and the offset from there."""
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

    with pytest.raises(BufferError, match=says("3.0")):
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
    device = DEFAULT.get_device_type(), DEFAULT.get_ordinal()
    prototype = DLTensor(device_type=device[0], device_id=device[1], ndim=1, code=0, bits=32,
                         lanes=1, shape=shape)
    managed, result = ctypes.c_void_p(), ctypes.py_object()

    assert exchange.allocate(prototype, managed, None, SET_ERROR()) == 0
    assert exchange.to_object(managed, result) == 0
    assert result.value.__dlpack_device__() == device
    result.value.copy_from(tensor([1, 2, 3, 4, 5]))
    assert result.value.to_device(HOST).tolist() == [1, 2, 3, 4, 5]


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


def allocate(exchange, shape=(3, 5), set_error=None, **fields):
    """The status and what was allocated; `shape` None is NULL."""
    prototype = DLTensor(**{"device_type": 1, "ndim": len(shape or ()), "code": 2, "bits": 32,
                            "lanes": 1, **fields})
    if shape is not None:
        prototype.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    managed = ctypes.c_void_p(16)
    return exchange.allocate(prototype, managed, 7, set_error or SET_ERROR()), managed.value


@pytest.mark.parametrize("fields, reason", [
    ({"ndim": -1}, "-1 dimensions"), ({"ndim": -2**31}, "-2147483648 dimensions"),
    ({"shape": (1,) * 65}, "65 dimensions"), ({"ndim": 2**31 - 1}, "2147483647 dimensions"),
    ({"shape": None, "ndim": 2}, "2 dimensions has no shape"),
    ({"shape": None, "ndim": -1}, "-1 dimensions"), ({"shape": (3, -5)}, "extent -5 of axis 1"),
    ({"shape": (0, -2**63)}, "extent -9223372036854775808 of axis 1"),
    ({"shape": (2**40, 2**40)}, "1099511627776"), ({"shape": (2**62, 2)}, "4611686018427387904"),
    ({"shape": (2**61,), "bits": 64}, "2305843009213693951"),
    ({"code": 9, "bits": 99}, "0x963"), ({"code": 255, "bits": 255}, "0xffff"),
    ({"bits": 0}, "0 bits"), ({"lanes": 0}, "0 lanes"), ({"lanes": 4}, "4 lanes"),
    ({"lanes": 65535}, "65535 lanes"), ({"code": 0, "bits": 0}, "0 bits"),
    ({"device_type": 0}, "(0, 0)"), ({"device_type": -3}, "(-3, 0)"),
    ({"device_type": 99}, "(99, 0)"), ({"device_type": 2, "device_id": 1}, "(2, 1)"),
    ({"device_id": 1}, "(1, 1)"), ({"device_id": -2**31}, "(1, -2147483648)")])
def test_what_cannot_be_allocated(exchange, fields, reason):
    errors = []
    set_error = SET_ERROR(lambda context, kind, message: errors.append((context, kind, message)))

    assert allocate(exchange, set_error=set_error, **fields) == (-1, None)
    (context, kind, message), = errors
    assert (context, kind) == (7, b"BufferError") and reason in message.decode()
    assert allocate(exchange, **fields) == (-1, None)  # without a listener


@pytest.mark.parametrize("fields", [
    {"shape": ()}, {"shape": None}, {"shape": (0, 2**62, 2**62)}, {"shape": (1,) * 64},
    {"data": 16, "byte_offset": 2**64 - 1, "strides": ctypes.cast(16, PINT64)},
    {"code": 17, "bits": 4}])
def test_the_prototypes_other_fields_are_not_used(exchange, fields):
    status, managed = allocate(exchange, **fields)
    assert status == 0

    exported = ManagedVersioned.from_address(managed)
    tensor = exported.dl_tensor
    assert dims(tensor.shape, tensor.ndim) == (fields.get("shape", (3, 5)) or ())
    assert exported.flags == 0 and tensor.bits == fields.get("bits", 32)
    DELETER(exported.deleter)(managed)


def test_arguments_that_are_null(exchange):
    errors = []
    set_error = SET_ERROR(lambda context, kind, message: errors.append((kind, message)))
    prototype, managed, producer = DLTensor(), ctypes.c_void_p(), Producer(floats(1), (1,))
    lent = DLTensor()
    view = Mtl.asview([1])

    def raw(function):
        """Takes addresses, and raises Python's exceptions."""
        return ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
            ctypes.cast(function, ctypes.c_void_p).value)

    assert exchange.allocate(None, managed, None, set_error) == -1
    assert exchange.allocate(prototype, None, None, set_error) == -1
    assert exchange.allocate(None, None, None, SET_ERROR()) == -1
    assert [kind for kind, _ in errors] == [b"BufferError"] * 2
    assert all(b"NULL" in message for _, message in errors)
    Producer.alive.add(producer)
    for function, *arguments in ((exchange.managed_from, None, ctypes.addressof(managed)),
                                 (exchange.managed_from, id(view), None),
                                 (exchange.to_object, None, ctypes.addressof(managed)),
                                 (exchange.to_object, ctypes.addressof(producer.managed), None),
                                 (exchange.borrow, None, ctypes.addressof(lent)),
                                 (exchange.borrow, id(view), None)):
        with pytest.raises(BufferError, match="NULL"):
            raw(function)(*arguments)
    assert managed.value is None
    assert producer.deleted == 1  # as it was given away
    with pytest.raises(BufferError, match="NULL"):
        STREAM(ctypes.cast(exchange.work_stream, ctypes.c_void_p).value)(1, 0, None)


def test_a_failure_leaves_no_tensor_behind(exchange):
    managed, result = ctypes.c_void_p(16), ctypes.c_void_p(16)
    producer = Producer(None, (3,))
    take = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))(
        ctypes.cast(exchange.to_object, ctypes.c_void_p).value)

    for stranger in (object(), None, 3, Mtl.StridedView, Mtl.StridedLayout([2])):
        with pytest.raises(TypeError, match=type(stranger).__name__):
            exchange.managed_from(stranger, managed)
        assert managed.value is None
        with pytest.raises(BufferError):
            exchange.borrow(stranger, DLTensor())
    Producer.alive.add(producer)
    with pytest.raises(BufferError, match=says(3)):
        take(ctypes.addressof(producer.managed), result)
    assert result.value is None and producer.deleted == 1


@pytest.mark.parametrize("device", [(0, 0), (-1, 0), (-2**31, 3), (1, -1), (2, -2**31)])
def test_streams_of_no_device(exchange, device):
    stream = ctypes.c_void_p(1)
    function = STREAM(ctypes.cast(exchange.work_stream, ctypes.c_void_p).value)

    with pytest.raises(BufferError, match=says(f"({device[0]}, {device[1]})")):
        function(*device, stream)
    assert stream.value is None


def test_no_streams(exchange):
    stream = ctypes.c_void_p(1)

    assert exchange.work_stream(1, 0, stream) == 0 and stream.value is None

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Imports: the numbered cases are those that have bitten other libraries."""

import ctypes
import gc

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import DEFAULT, HOST, zeros
from dlpack_structs import Producer, capsule_name, floats
from says import says


@pytest.mark.parametrize("flags", [0, 2])
def test_a_copy_is_one_whatever_the_producer_makes_of_the_keyword(flags):
    memory = floats(1, 2)
    producer = Producer(memory, (2,), flags=flags)
    copy = Mtl.from_dlpack(producer, copy=True)

    assert copy.tolist() == [1, 2] and producer.deleted == (flags == 0)
    assert (copy.get_address() == ctypes.addressof(memory)) == (flags == 2)


def test_a_copy_of_what_a_producer_refuses_to_copy():
    class Refuses(Producer):
        def __dlpack__(self, copy=None, **keywords):
            if copy:
                raise BufferError("no copies here")
            return super().__dlpack__()

    producer = Refuses(floats(1, 2), (2,))
    copy = Mtl.from_dlpack(producer, copy=True)

    assert copy.tolist() == [1, 2] and producer.deleted == 1
    copy[0] = 5
    assert producer.memory[0] == 1


def test_shares_memory_and_ends_once():
    producer = Producer(floats(1, 2, 3, 4, 5, 6), (2, 3), (3, 1))
    view = Mtl.from_dlpack(producer)

    assert view.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert view.get_address() == ctypes.addressof(producer.memory)
    view[0, 0] = 9
    assert producer.memory[0] == 9
    part = view[1:]
    del view
    gc.collect()
    assert producer.deleted == 0 and part.tolist() == [[4, 5, 6]]
    del part
    assert producer.deleted == 1


def test_asks_for_versioned_and_sends_no_stream():
    calls = []

    class Strict(Producer):
        def __dlpack__(self, **keywords):
            calls.append(keywords)
            return super().__dlpack__()

    Mtl.from_dlpack(Strict(floats(1), (1,), (1,)))
    Mtl.from_dlpack(Strict(floats(1), (1,), (1,)), device=(1, 0), copy=False)
    Mtl.from_dlpack(Strict(floats(1), (1,), (1,)), device=Mtl.Device.get_host())
    assert calls == [{"max_version": (1, 3)},
                     {"max_version": (1, 3), "dl_device": (1, 0), "copy": False},
                     {"max_version": (1, 3), "dl_device": (1, 0)}]


def test_older_producers_know_no_keywords():
    class Old(Producer):
        def __dlpack__(self):
            return self.capsule()

    producer = Old(floats(1, 2), (2,), (1,), legacy=True)
    view = Mtl.from_dlpack(producer)
    copy = Mtl.from_dlpack(Old(producer.memory, (2,), (1,), legacy=True), copy=True)

    assert view.tolist() == [1, 2] and not view.is_read_only()
    assert copy.get_address() != view.get_address()
    with pytest.raises(BufferError, match=says("(1, 0)", "(2, 0)")):
        Mtl.from_dlpack(Old(floats(1), (1,), (1,), legacy=True), device=(2, 0))


def test_the_producers_exceptions_come_through():
    class Refusing:
        def __dlpack__(self, **keywords):
            raise BufferError("not today")

    with pytest.raises(BufferError, match="not today"):
        Mtl.from_dlpack(Refusing())
    with pytest.raises(AttributeError, match="__dlpack__"):
        Mtl.from_dlpack(object())


@pytest.mark.parametrize("legacy", [False, True])
def test_case_4_capsules_are_consumed_once(legacy):
    producer = Producer(floats(1), (1,), (1,), legacy=legacy)
    capsule = producer.capsule()
    view = Mtl.from_dlpack(capsule)

    assert capsule_name(capsule).startswith(b"used_dltensor")
    with pytest.raises(BufferError, match="used_dltensor"):
        Mtl.from_dlpack(capsule)
    del view, capsule
    assert producer.deleted == 1


def test_bare_capsules_know_devices_and_copies():
    view = Mtl.StridedView.new_zeros(HOST, Mtl.DType.FLOAT32, [3])

    with pytest.raises(ValueError, match="nonsense"):
        Mtl.from_dlpack(view.__dlpack__(), device="nonsense")
    with pytest.raises(BufferError, match=says("(2, 0)")):
        Mtl.from_dlpack(view.__dlpack__(), device=(2, 0))
    assert Mtl.from_dlpack(view.__dlpack__(), copy=True).get_address() != view.get_address()
    assert Mtl.from_dlpack(view.__dlpack__(), device=(1, 0)).get_address() == view.get_address()


def test_case_4_other_capsules_are_refused():
    import datetime

    with pytest.raises(BufferError, match="datetime"):
        Mtl.from_dlpack(datetime.datetime_CAPI)


def test_case_6_no_deleter():
    view = Mtl.from_dlpack(Producer(floats(1, 2), (2,), (1,), deleter=False))

    assert view.tolist() == [1, 2]


def test_case_7_another_major_version():
    producer = Producer(floats(1), (1,), (1,), version=(2, 0))

    with pytest.raises(BufferError, match=says("2.0")):
        Mtl.from_dlpack(producer)
    assert producer.deleted == 1
    # Nothing else in it is believed, nor has it to have a deleter.
    for broken in ({"ndim": -7}, {"bits": 0}, {"byte_offset": 2**64 - 1}, {"deleter": False}):
        other = Producer(1, (1,), (1,), version=(2, 0), **broken)
        with pytest.raises(BufferError, match=says("2.0")):
            Mtl.from_dlpack(other)
        assert other.deleted == ("deleter" not in broken)


def test_case_8_no_strides():
    view = Mtl.from_dlpack(Producer(floats(1, 2, 3, 4, 5, 6), (2, 3)))

    assert view.strides == (3, 1) and view.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_case_9_byte_offset():
    producer = Producer(floats(1, 2, 3, 4), (2,), (1,), byte_offset=8)

    assert Mtl.from_dlpack(producer).tolist() == [3, 4]
    with pytest.raises(BufferError, match=says(2**64 - 4)):
        Mtl.from_dlpack(Producer(floats(1), (1,), (1,), byte_offset=2**64 - 4))


def test_case_10_nothing_at_no_address():
    view = Mtl.from_dlpack(Producer(None, (2, 0), (0, 0)))

    assert view.shape == (2, 0) and view.tolist() == [[], []]
    assert len(view.get_buffer()) == 0
    with pytest.raises(BufferError, match=says(6)):
        Mtl.from_dlpack(Producer(None, (2, 3)))


def test_case_11_no_dimensions():
    view = Mtl.from_dlpack(Producer(floats(5), ()))

    assert view.shape == () and view.item() == 5 and view[()] == 5


def test_case_12_negative_and_zero_strides():
    values = floats(1, 2, 3)
    reverse = Mtl.from_dlpack(Producer(values, (3,), (-1,), byte_offset=8))
    repeat = Mtl.from_dlpack(Producer(values, (2, 3), (0, 1)))

    assert reverse.tolist() == [3, 2, 1] and repeat.tolist() == [[1, 2, 3]] * 2
    assert len(reverse.get_buffer()) == 12
    assert reverse.get_byte_offset() == 8
    with pytest.raises(IndexError):
        reverse.get_buffer().slice(0, 13)


def test_case_13_read_only():
    view = Mtl.from_dlpack(Producer(floats(1), (1,), (1,), flags=1))

    assert view.is_read_only() and view.get_buffer().is_read_only()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


@pytest.mark.parametrize("code, bits, lanes, flags, name, item_bits", [
    (17, 4, 2, 0, "float4_e2m1fn", 8),
    (17, 4, 1, 0, "float4_e2m1fn", 4),
    (17, 4, 1, 4, "float4_e2m1fn", 8),
    (15, 6, 1, 0, "float6_e2m3fn", 6),
    (10, 8, 1, 0, "float8_e4m3fn", 8),
    (6, 8, 1, 0, "bool", 8),
    (2, 32, 4, 0, "float32", 128),
    (3, 64, 1, 0, "opaque_handle64", 64),
    (2, 80, 1, 0, "other", 80),
    (99, 8, 1, 0, "other", 8),
])
def test_case_17_element_types_pass_through(code, bits, lanes, flags, name, item_bits):
    from dlpack_structs import managed_of

    memory = (ctypes.c_uint8 * 64)(*range(64))
    view = Mtl.from_dlpack(Producer(memory, (4,), (1,), code, bits, lanes, flags=flags))

    assert view.dtype.name == name
    assert view.get_lanes() == lanes and view.is_padded() == bool(flags & 4)
    assert view.layout.get_item_bits() == item_bits
    tensor = managed_of(view.__dlpack__(max_version=(1, 1)))
    assert (tensor.dl_tensor.code, tensor.dl_tensor.bits, tensor.dl_tensor.lanes) == (code, bits, lanes)
    assert tensor.flags == flags
    if name in ("other", "opaque_handle64"):
        with pytest.raises(NotImplementedError):
            view[0]


def test_case_19_failures_after_taking_free():
    for broken in (dict(shape=(-1,)), dict(shape=(2**62, 4)), dict(shape=(1,), bits=0),
                   dict(shape=(1,), lanes=0), dict(shape=(1,), ndim=-1), dict(shape=(1,), ndim=65),
                   dict(shape=None, ndim=2)):
        producer = Producer(floats(1), **{"strides": None, **broken})
        with pytest.raises(BufferError):
            Mtl.from_dlpack(producer)
        assert producer.deleted == 1, broken


@pytest.mark.parametrize("legacy", [False, True])
def test_case_19_failures_before_taking_leave_the_capsule(legacy):
    producer = Producer(floats(1, 2), (2,), (1,), legacy=legacy)
    capsule = producer.capsule()
    name = capsule_name(capsule)

    for wrong in ({"device": "nonsense"}, {"device": (1,)}, {"nonsense": None}):
        with pytest.raises((TypeError, ValueError)):
            Mtl.from_dlpack(capsule, **wrong)
        assert capsule_name(capsule) == name and producer.deleted == 0
    assert Mtl.from_dlpack(capsule).tolist() == [1, 2]


def test_case_21_sizes():
    with pytest.raises(BufferError, match=says(-5)):
        Mtl.from_dlpack(Producer(floats(1), (-5,)))
    with pytest.raises(BufferError, match=says(2**62)):
        Mtl.from_dlpack(Producer(floats(1), (2**62, 4)))
    with pytest.raises(BufferError, match=says(1000000)):
        Mtl.from_dlpack(Producer(floats(1), (1,), ndim=1000000))


def test_memory_of_other_devices_is_passed_on():
    from dlpack_structs import dims, managed_of

    pointer = 0xdead0000  # never read
    view = Mtl.from_dlpack(Producer(pointer, (4, 3), (3, 1), device=(2, 5)))
    part = view[1:, 1]
    tensor = managed_of(part.__dlpack__(max_version=(1, 0))).dl_tensor

    assert view.__dlpack_device__() == part.__dlpack_device__() == (2, 5)
    assert view.get_device().get_device_type() == Mtl.DeviceType.CUDA and view.get_device().get_ordinal() == 5
    assert not view.is_host_accessible() and view.get_address() == pointer
    assert view.get_device().get_name() == "Foreign device (2, 5)"
    assert view.get_buffer().get_storage_mode() == Mtl.StorageMode.FOREIGN
    assert not view.get_buffer().is_size_known()
    assert tensor.data + tensor.byte_offset == pointer + 4 * 4
    assert dims(tensor.shape, 1) == (3,) and dims(tensor.strides, 1) == (3,)
    for call in (lambda: view[0, 0], lambda: view.copy(), lambda: memoryview(view),
                 lambda: view.get_bytes(), lambda: np.from_dlpack(view)):
        with pytest.raises((BufferError, RuntimeError)):
            call()
    assert "device (2, 5)" in str(view)

    opencl = Mtl.from_dlpack(Producer(pointer, (8,), (1,), device=(4, 0), byte_offset=64))[2:]
    tensor = managed_of(opencl.__dlpack__(max_version=(1, 0))).dl_tensor
    assert (tensor.data, tensor.byte_offset) == (pointer, 64 + 8)

    unknown = Mtl.from_dlpack(Producer(pointer, (8,), (1,), device=(77, 1)))
    assert unknown.__dlpack_device__() == (77, 1)
    assert unknown.get_device().get_device_type() == Mtl.DeviceType.UNKNOWN


def test_pinned_memory_is_host_memory_too():
    view = Mtl.from_dlpack(Producer(floats(1, 2), (2,), (1,), device=(3, 0)))

    assert view.tolist() == [1, 2] and view.__dlpack_device__() == (3, 0)
    assert np.from_dlpack(view).tolist() == [1, 2]


@pytest.mark.any_memory
def test_tensor_in_transit():
    view = zeros("int16", (2, 3))
    flags = Mtl.DlpackFlags
    tensor = view.export_dlpack()

    assert tensor.get_device() is DEFAULT and not tensor.is_copied()
    assert not tensor.is_consumed()
    other = Mtl.StridedView.new_from_dlpack(tensor)
    assert tensor.is_consumed() and other.get_address() == view.get_address()
    other[1] = 5
    assert view.tolist() == [[0, 0, 0], [5, 5, 5]]
    with pytest.raises(ValueError):
        Mtl.StridedView.new_from_dlpack(tensor)
    assert view.export_dlpack(flags.COPY, HOST).get_device() is HOST
    assert Mtl.DlpackTensor().is_consumed()


def test_what_is_neither_true_nor_false():
    class Undecided:
        def __bool__(self):
            raise RuntimeError("cannot say")

    producer = Producer(floats(1), (1,))
    with pytest.raises(RuntimeError, match="cannot say"):
        Mtl.from_dlpack(producer, copy=Undecided())
    assert producer.deleted == 0


def test_a_copy_that_was_forbidden():
    producer = Producer(floats(1), (1,), flags=2)

    with pytest.raises(BufferError, match="copy=False"):
        Mtl.from_dlpack(producer, copy=False)
    assert producer.deleted == 1


def test_an_object_that_holds_no_device():
    with pytest.raises(TypeError, match="device"):
        Mtl.from_dlpack(np.zeros(2), device=Mtl.Device.__new__(Mtl.Device))


class Lazy(Producer):
    """A stand-in for PyTorch's lazy tensors, of which the real ones are in test_torch.py."""

    def __init__(self, conj=False, neg=False):
        super().__init__(floats(1, 2), (2,))
        self.conj, self.neg = conj, neg

    def is_conj(self):
        return self.conj

    def is_neg(self):
        return self.neg

    def resolve_conj(self):
        return Lazy(False, self.neg) if self.conj else self

    def resolve_neg(self):
        return Lazy(self.conj, False) if self.neg else self


@pytest.mark.parametrize("conj", [False, True])
@pytest.mark.parametrize("neg", [False, True])
def test_elements_that_are_not_in_memory(conj, neg):
    lazy = Lazy(conj, neg)
    is_lazy = conj or neg

    for keywords in ({}, {"copy": False}, {"device": (1, 0)}):
        if is_lazy:
            with pytest.raises(BufferError, match="resolve_conj()" if conj else "resolve_neg()"):
                Mtl.from_dlpack(lazy, **keywords)
        else:
            assert Mtl.from_dlpack(lazy, **keywords).tolist() == [1, 2]
    assert Mtl.from_dlpack(lazy, copy=True).tolist() == [1, 2]
    assert lazy.deleted == (0 if is_lazy else 4)


def test_a_producer_that_fails_to_say_whether_they_are():
    class Fails(Lazy):
        def is_neg(self):
            raise RuntimeError("cannot say")

    for keywords in ({}, {"copy": True}):
        producer = Fails()
        with pytest.raises(RuntimeError, match="cannot say"):
            Mtl.from_dlpack(producer, **keywords)
        assert producer.deleted == 0


def test_a_producer_that_fails_to_resolve_them():
    class Fails(Lazy):
        def resolve_neg(self):
            raise RuntimeError("cannot resolve")

    with pytest.raises(RuntimeError, match="cannot resolve"):
        Mtl.from_dlpack(Fails(neg=True), copy=True)

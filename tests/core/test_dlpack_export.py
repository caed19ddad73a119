# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exports: the numbered cases are those that have bitten other libraries."""

import ctypes
import gc
import sys
import threading

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import DEFAULT, HOST, METAL, error_code, from_dlpack, iota, zeros
from dlpack_structs import (DELETER, LEGACY, VERSIONED, Producer, api, capsule_name, dims, floats,
                            managed_of)
from says import says

V1 = {"max_version": (1, 0)}
# The keywords of a consumer of host memory, whatever device shares it.
CPU = {"max_version": (1, 0), "dl_device": (1, 0)}


@pytest.mark.any_memory
@pytest.mark.parametrize("keywords", [
    {}, {"max_version": (1, 0)}, {"max_version": (1, 1)}, {"max_version": None},
    {"stream": None}, {"stream": -1}, {"stream": None, "max_version": (1, 3)},
    {"dl_device": None, "copy": None, "max_version": (1, 0)},
    {"dl_device": (1, 0), "copy": None, "max_version": (1, 0)}, {"copy": False},
    {"max_version": (1, 0), "copy": True}, {"max_version": (2, 0)}, {"max_version": (0, 8)},
])
def test_case_1_every_set_of_keywords(keywords):
    view = iota(3)
    capsule = view.__dlpack__(**keywords)

    versioned = (keywords.get("max_version") or (0, 0))[0] >= 1
    assert capsule_name(capsule) == (VERSIONED if versioned else LEGACY)
    assert Mtl.from_dlpack(capsule).tolist() == [0, 1, 2]


def test_case_2_methods_are_on_the_type():
    for cls in (Mtl.StridedView, Mtl.Buffer):
        assert "__dlpack__" in vars(cls) and "__dlpack_device__" in vars(cls)


def test_case_1_the_hosts_memory_without_a_copy():
    view = iota(3)
    other = Mtl.from_dlpack(view, device=(1, 0), copy=False)

    assert other.get_address() == view.get_address()
    assert other.__dlpack_device__() == (1, 0)


@pytest.mark.any_memory
def test_case_4_unconsumed_capsules_are_freed_once():
    view = iota(3)
    buffer = view.get_buffer()
    references = sys.getrefcount(view)

    for keywords in ({}, V1):
        capsule = view.__dlpack__(**keywords)
        del capsule
    for name in (LEGACY, VERSIONED):
        # Consumers do it in two ways: they rename the capsule, or clear its destructor.
        renamed = view.__dlpack__(**({} if name == LEGACY else V1))
        managed = managed_of(renamed)
        used = b"used_" + name
        api.PyCapsule_SetName(renamed, used)
        del renamed
        DELETER(managed.deleter)(ctypes.addressof(managed))
        cleared = view.__dlpack__(**({} if name == LEGACY else V1))
        managed = managed_of(cleared)
        api.PyCapsule_SetDestructor(cleared, None)
        del cleared
        DELETER(managed.deleter)(ctypes.addressof(managed))
    assert sys.getrefcount(view) == references
    assert bytes(buffer)[4:8] == np.float32(1).tobytes()


@pytest.mark.parametrize("keywords", [{}, V1])
def test_case_4_memory_ends_with_the_capsule_or_with_its_consumer(keywords):
    def export():
        producer = Producer(floats(1, 2), (2,), (1,))
        return producer, Mtl.from_dlpack(producer).__dlpack__(**keywords)

    producer, capsule = export()
    assert producer.deleted == 0
    del capsule
    assert producer.deleted == 1

    for name, destructor in ((b"used_dltensor", True), (None, None)):
        producer, capsule = export()
        managed = managed_of(capsule)
        if name is not None:
            api.PyCapsule_SetName(capsule, name)
        if destructor is None:
            api.PyCapsule_SetDestructor(capsule, None)
        del managed.capsule, capsule
        assert producer.deleted == 0
        DELETER(managed.deleter)(ctypes.addressof(managed))
        assert producer.deleted == 1


@pytest.mark.any_memory
def test_case_5_deleter_on_a_foreign_thread():
    # A thread that Python does not know calls it while this one holds the lock.
    libc = ctypes.PyDLL(None)
    libpthread = ctypes.CDLL(None)
    for keywords in ({}, V1):
        capsule = iota(1000).__dlpack__(**keywords)
        managed = managed_of(capsule)
        name = capsule_name(capsule)
        api.PyCapsule_SetName(capsule, b"used_dltensor" if name == LEGACY else b"used_dltensor_versioned")
        thread = ctypes.c_ulong()
        create, join = libc.pthread_create, libc.pthread_join
        create.argtypes = [ctypes.c_void_p] * 4
        join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
        assert create(ctypes.addressof(thread), None, managed.deleter, ctypes.addressof(managed)) == 0
        assert join(thread, None) == 0
    assert libpthread is not None


def test_case_9_the_offset_is_in_the_address():
    view = iota(4, 5)[1:3, 2:]
    tensor = managed_of(view.__dlpack__(**CPU)).dl_tensor

    assert tensor.byte_offset == 0 and tensor.data == view.get_address()
    assert dims(tensor.shape, 2) == (2, 3) and dims(tensor.strides, 2) == (5, 1)


@pytest.mark.any_memory
def test_case_10_nothing_goes_out_at_no_address():
    for shape, strides in (((0,), (1,)), ((3, 0), (1, 1)), ((0, 3), (3, 1)), ((2, 0, 3), (3, 3, 1))):
        view = zeros("int8", shape)
        tensor = managed_of(view.__dlpack__(**CPU)).dl_tensor
        assert not tensor.data and dims(tensor.strides, len(shape)) == strides
        assert from_dlpack(view).shape == shape
    sliced = iota(4, 4)[4:, ::-2]
    assert dims(managed_of(sliced.__dlpack__(**V1)).dl_tensor.strides, 2) == (2, 1)


@pytest.mark.any_memory
def test_case_11_no_dimensions():
    view = zeros("float64", ())
    view[...] = 2.5

    assert from_dlpack(view).shape == () and from_dlpack(view) == 2.5


@pytest.mark.any_memory
def test_case_12_strides():
    view = iota(3, 4)
    reverse = view.flip(0)

    copied = managed_of(reverse.__dlpack__(**CPU))
    assert copied.flags == 2 and copied.dl_tensor.data != reverse.get_address()
    assert Mtl.from_dlpack(reverse.__dlpack__(**V1)).tolist() == reverse.tolist()
    with pytest.raises(BufferError, match=says("(-4, 1)")):
        reverse.__dlpack__(copy=False, **V1)
    repeat = view[0].broadcast_to([2, 4])
    assert dims(managed_of(repeat.__dlpack__(**V1)).dl_tensor.strides, 2) == (0, 1)
    # An extent of 1 keeps a stride that is never walked, unless it is negative.
    assert dims(managed_of(view[:, 2:3].__dlpack__(**V1)).dl_tensor.strides, 2) == (4, 1)
    assert dims(managed_of(view[0:1].__dlpack__(**V1)).dl_tensor.strides, 2) == (4, 1)
    one = view[0:1].flip(0)
    assert one.strides == (-4, 1)
    assert managed_of(one.__dlpack__(**V1)).flags == 0
    assert dims(managed_of(one.__dlpack__(**V1)).dl_tensor.strides, 2) == (4, 1)


@pytest.mark.any_memory
def test_case_12_negative_strides_on_request():
    view = iota(3, 4).flip(0)
    negative = Mtl.DlpackFlags.NEGATIVE_STRIDES
    tensor = view.export_dlpack(negative)
    other = Mtl.StridedView.new_from_dlpack(tensor)

    assert other.strides == (-4, 1) and other.tolist() == view.tolist()


@pytest.mark.any_memory
def test_short_exports_are_full_ones_with_nothing_asked():
    none = Mtl.DlpackFlags.NONE
    view = iota(3, 4)

    for part in (view[1:, ::2], view[::-1], view.as_read_only(), view[:0]):
        short, full = part.export_dlpack(), part.export_dlpack(none, part.get_device())
        assert short.get_device() is full.get_device() is part.get_device()
        assert short.is_copied() == full.is_copied()
        taken, other = map(Mtl.StridedView.new_from_dlpack, (short, full))
        assert taken.layout == other.layout and taken.tolist() == part.tolist()
        in_place = part.size > 0 and not short.is_copied()
        assert taken.overlaps(part) == other.overlaps(part) == in_place
    assert view[::-1].export_dlpack().is_copied()
    never = Mtl.DlpackFlags.NEVER_COPY
    assert not view.as_read_only().export_dlpack(never).is_copied()


@pytest.mark.any_memory
def test_exports_are_as_asked_for():
    flags = Mtl.DlpackFlags
    view = iota(3, 4)

    copied = view.export_dlpack(flags.COPY, HOST)
    assert copied.is_copied() and copied.get_device() is HOST
    for refused, code in ((flags.NEVER_COPY, Mtl.Error.NEEDS_COPY),
                          (flags.COPY | flags.NEVER_COPY, Mtl.Error.INVALID_ARGUMENT)):
        with pytest.raises(ValueError) as info:
            view[::-1].export_dlpack(refused)
        assert error_code(info) == code
    with pytest.raises(TypeError):
        view.export_dlpack(flags.NONE, 1)


def test_copies_that_go_out_leave_the_device_its_references():
    view = Mtl.asview([1, 2, 3])
    gc.collect()
    before = HOST.__grefcount__

    for _ in range(10):
        view.export_dlpack(Mtl.DlpackFlags.COPY, Mtl.Device.get_host())
        view.__dlpack__(copy=True, dl_device=(1, 0))
    gc.collect()
    assert HOST.__grefcount__ == before


def goes_out(export, exception):
    try:
        export()
    except exception:
        return False
    return True


@pytest.mark.any_memory
def test_case_12_in_c_and_python_the_same_strides_need_a_copy(rng):
    never_copy = Mtl.DlpackFlags.NEVER_COPY
    seen = set()

    for _ in range(500):
        shape = [rng.choice((0, 1, 2, 2, 3, 3)) for _ in range(rng.randrange(5))]
        index = tuple(slice(rng.choice((None, -2, 1)), None, rng.choice((1, 2, -1)))
                      for _ in shape)
        view = zeros("int16", shape)[(*index, ...)]
        # The place of each element in memory, from NumPy.
        places = np.arange(np.prod(shape, dtype=int)).reshape(shape)[(*index, ...)]
        forwards = all((np.diff(places, axis=axis) > 0).all() for axis in range(places.ndim))

        assert view.shape == places.shape
        assert forwards == goes_out(
            lambda: view.export_dlpack(never_copy), ValueError)
        for keywords in ({}, V1):
            assert forwards == goes_out(lambda: view.__dlpack__(copy=False, **keywords),
                                        BufferError)
        seen.add((forwards, min(view.strides, default=0) < 0))
    # Both kinds of strides came, and negative ones that are never walked.
    assert seen == {(True, False), (True, True), (False, True)}


def test_numpy_takes_negative_strides_by_the_buffer_protocol():
    view = iota(3, 4).flip(0)
    array = np.asarray(view)

    assert array.ctypes.data == view.get_address() and array.tolist() == view.tolist()


@pytest.mark.any_memory
def test_case_13_read_only():
    view = iota(3).as_read_only()

    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()
    assert managed_of(view.__dlpack__(copy=False, **V1)).flags == 1
    assert Mtl.from_dlpack(view, copy=False).is_read_only()
    assert Mtl.from_dlpack(view.__dlpack__(copy=True)).tolist() == view.tolist()
    with pytest.raises(BufferError, match="read-only"):
        view.flip(0).__dlpack__()
    assert view.is_read_only() and not Mtl.from_dlpack(view, copy=True).is_read_only()


def test_case_14_copy():
    view = iota(3)

    copied = managed_of(view.__dlpack__(copy=True, **CPU))
    assert copied.flags == 2 and copied.dl_tensor.data != view.get_address()
    assert copied.dl_tensor.data % 64 == 0
    for copy in (False, None):
        shared = managed_of(view.__dlpack__(copy=copy, **CPU))
        assert shared.flags == 0 and shared.dl_tensor.data == view.get_address()


@pytest.mark.any_memory
def test_case_14_copies_are_their_own():
    view = iota(3)

    for keywords in (V1, CPU):
        copy = Mtl.from_dlpack(view.__dlpack__(copy=True, **keywords))
        copy[...] = 7
        assert copy.tolist() == [7, 7, 7] and view.tolist() == [0, 1, 2]


@pytest.mark.any_memory
def test_other_devices_are_refused():
    for device in ((10, 0), (8, len(METAL)), (1, 1)):
        with pytest.raises(BufferError, match=says(device)):
            iota(3).__dlpack__(dl_device=device, **V1)


@pytest.mark.any_memory
def test_case_16_streams_and_versions():
    for stream in (0, 2**70):
        with pytest.raises(BufferError, match="stream"):
            iota(3).__dlpack__(stream=stream)
    assert capsule_name(iota(3).__dlpack__(stream=None)) == LEGACY
    assert capsule_name(iota(3).__dlpack__(stream=-1)) == LEGACY
    for wrong in (1, "1.0", (1,), (1, 0, 0), ("1", 0), [1, 0]):
        with pytest.raises(TypeError):
            iota(3).__dlpack__(max_version=wrong)
        with pytest.raises(TypeError):
            iota(3).__dlpack__(dl_device=wrong)
    with pytest.raises(TypeError, match="streams"):
        iota(3).__dlpack__(streams=None)
    with pytest.raises(TypeError):
        iota(3).__dlpack__(None)


@pytest.mark.any_memory
@pytest.mark.parametrize("stream", [1, 2, 0xdead0000])
def test_streams_of_cuda(stream):
    """The host's memory takes them, because peers send one with it; Metal's does not. CUDA waits in
    them, so there the handle is a stream's."""
    view = iota(3)
    if stream > 2 and DEFAULT.get_device_type() == Mtl.DeviceType.CUDA:
        own = Mtl.Stream.new(DEFAULT)
        stream = own.get_handle()
    if view.__dlpack_device__()[0] == 8:
        with pytest.raises(BufferError, match=str(stream)):
            view.__dlpack__(stream=stream)
    else:
        assert capsule_name(view.__dlpack__(stream=stream)) == LEGACY


@pytest.mark.any_memory
def test_case_17_truth_values():
    view = iota(2, dtype="bool")

    assert managed_of(view.__dlpack__(**V1)).dl_tensor.code == 6
    assert Mtl.from_dlpack(view).tolist() == [False, True]


@pytest.mark.any_memory
@pytest.mark.parametrize("name, bits", [("float4_e2m1fn", 4), ("float6_e2m3fn", 6)])
def test_case_17_packed_elements_are_for_who_knows_them(name, bits):
    view = zeros(name, (8,))

    for keywords in ({}, {"max_version": (0, 8)}, {"max_version": (1, 0)}):
        with pytest.raises(BufferError, match=says(bits, "1.1")):
            view.__dlpack__(**keywords)
    for version in ((1, 1), (1, 3), (2, 0)):
        tensor = managed_of(view.__dlpack__(max_version=version)).dl_tensor
        assert (tensor.bits, tensor.lanes) == (bits, 1)


@pytest.mark.any_memory
def test_cases_18_and_23_each_export_is_its_own():
    view = iota(2, 3)
    first, second = view.__dlpack__(**V1), view.__dlpack__(**V1)
    a, b = managed_of(first), managed_of(second)

    assert ctypes.addressof(a) != ctypes.addressof(b)
    assert ctypes.addressof(a.dl_tensor.shape.contents) != ctypes.addressof(b.dl_tensor.shape.contents)
    a.dl_tensor.shape[0] = 77
    a.dl_tensor.strides[0] = 77
    assert dims(b.dl_tensor.shape, 2) == view.shape == (2, 3)
    del first
    assert Mtl.from_dlpack(second).tolist() == view.tolist()


@pytest.mark.any_memory
def test_case_22_a_pending_exception_survives_the_deleter():
    def consume():
        capsule = iota(3).__dlpack__(**V1)  # freed while the exception is on its way
        array = from_dlpack(iota(3))
        raise KeyError(str((capsule, array)))

    for _ in range(3):
        with pytest.raises(KeyError):
            consume()
    gc.collect()


def test_exports_outlive_the_view():
    view = iota(3)
    array = from_dlpack(view)
    address = view.get_address()

    del view
    gc.collect()
    junk = [iota(3) for _ in range(100)]
    assert array.tolist() == [0, 1, 2] and array.ctypes.data == address
    assert len(junk) == 100


@pytest.mark.any_memory
def test_round_trips_on_many_threads():
    view = iota(8, 8)
    failures = []

    def work():
        for _ in range(2000):
            if Mtl.from_dlpack(view[1:, ::2]).tolist() != view[1:, ::2].tolist():
                failures.append("values")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures

# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack's C exchange API, called from C as C++ consumers do."""

import gc
import threading

import exchange_consumer as consumer
import numpy as np
import pytest
from gi.repository import Mtl

from conftest import HOST, METAL, iota, zeros

View = Mtl.StridedView


def host_view(*shape):
    view = View.new_zeros(HOST, Mtl.DType.FLOAT32, shape)
    view[...] = np.arange(np.prod(shape)).reshape(shape)
    return view


def test_version():
    assert consumer.version(View) == (1, 3, 0)


def test_export_and_lending_say_what_the_view_says():
    view = host_view(4, 6)[1:, ::2]
    exported, lent, flags = consumer.describe(view)

    assert exported == lent and flags == 0
    assert exported == {"device": (1, 0), "dtype": (2, 32, 1), "shape": (3, 3), "strides": (6, 2),
                        "data": np.asarray(view).__array_interface__["data"][0], "byte_offset": 0}


@pytest.mark.any_memory
def test_round_trips_keep_the_memory_alive():
    view = iota(2, 3)
    expected = view.tolist()

    result = consumer.round_trip(view, 1000)
    del view
    gc.collect()
    assert result is not None and result.tolist() == expected
    assert type(result) is View


def test_no_dimension_and_no_element():
    for view in (host_view(), host_view(3, 0, 2)):
        assert consumer.round_trip(view, 2).array_equal(view)
        assert consumer.describe(view)[0]["shape"] == view.shape


def test_read_only_stays_so():
    view = host_view(3).as_read_only()

    assert consumer.round_trip(view, 1).is_read_only()
    with pytest.raises(BufferError, match="read-only"):
        consumer.borrow(View, view)


def test_refusals():
    with pytest.raises(TypeError, match="object"):
        consumer.export(View, object())
    with pytest.raises(BufferError):
        consumer.borrow(View, object())
    with pytest.raises(BufferError):
        consumer.borrow(View, host_view(3)[::-1])
    odd = View.new_filled(HOST, Mtl.DType.FLOAT4_E2M1FN, [4], 2)[1:]
    assert consumer.round_trip(odd, 1).tolist() == [2, 2, 2]
    with pytest.raises(BufferError):
        consumer.borrow(View, odd)


def test_negative_strides_go_out_as_a_copy():
    view = host_view(3)
    result = consumer.round_trip(view[::-1], 1)

    assert result.tolist() == [2, 1, 0] and result.get_address() != view.get_address()


def test_strides_that_are_never_walked_count_only_if_they_are_lent():
    one = host_view(3, 4)[:1].flip(0)

    assert one.strides == (-4, 1)
    assert consumer.round_trip(one, 1).get_address() == one.get_address()
    with pytest.raises(BufferError):
        consumer.borrow(View, one)


@pytest.mark.parametrize("major", [0, 2, 4_000_000_000])
def test_another_version_is_deleted_unread(major):
    n_deleted, error = consumer.import_version(View, major)

    assert n_deleted == 1 and type(error) is BufferError and str(major) in str(error)


def test_what_makes_no_sense_is_deleted():
    n_deleted, error = consumer.import_version(View, 1)

    assert n_deleted == 1 and type(error) is BufferError


def test_allocating_without_pythons_lock():
    view = consumer.allocate(View, (3, 5), (1, 0), (2, 64, 1))

    assert view.shape == (3, 5) and view.dtype == Mtl.DType.FLOAT64
    assert view.get_address() % 64 == 0 and not view.is_read_only()
    assert consumer.allocate(View, (), (1, 0), (0, 8, 1)).size == 1


def test_errors_of_allocating_go_to_the_callback():
    assert consumer.allocate(View, (2**60,), (1, 0), (0, 32, 1))[0] == "MemoryError"
    for shape, device, dtype, reason in (((3,), (1, 0), (0, 32, 4), "ector"),
                                         ((3,), (2, 0), (0, 32, 1), "(2, 0)"),
                                         ((-3,), (1, 0), (0, 32, 1), "-3"),
                                         ((3,), (1, 0), (9, 99, 1), "")):
        kind, message = consumer.allocate(View, shape, device, dtype)
        assert kind == "BufferError" and reason in message


def test_no_stream_anywhere():
    assert consumer.work_stream(View, 1, 0) == 0
    for device in METAL:
        assert consumer.work_stream(View, 8, device.get_ordinal()) == 0


def test_threads():
    view = zeros("int32", (8,))
    wrong = []

    def exchange():
        for _ in range(200):
            part = consumer.round_trip(view[1:5], 3)
            if part.shape != (4,):
                wrong.append(part)

    threads = [threading.Thread(target=exchange) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random producers and consumers: right values or a BufferError, and every deleter once."""

import ctypes
import queue
import threading
import time

import hostile_producer
import pytest
from gi.overrides import _mtl
from gi.repository import Mtl

import conftest
import random_peers
from dlpack_structs import DELETER, ManagedVersioned, Managed, api, capsule_name, dims
from drawn_layouts import dense_strides
from random_peers import HOSTS, IS_COPIED, PADDED, READ_ONLY

# Names have to live as long as the capsules.
USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}


def some(cases):
    """Counts up to the number of cases, or as long as there is time."""
    deadline = time.monotonic() + conftest.SECONDS
    for n in range(cases):
        if n % 64 == 0 and time.monotonic() > deadline:
            return
        yield n


@pytest.fixture(params=["first", "second"])
def cases(request, cases):
    """Half of them, as there are often two processes."""
    return min(cases, 100_000) // 2


@pytest.fixture
def drop_elsewhere():
    """Empties a list on another thread."""
    jobs = queue.SimpleQueue()

    def work():
        for job, done in iter(jobs.get, None):
            job.clear()
            done.set()

    def drop(held):
        done = threading.Event()
        jobs.put((list(held), done))
        held.clear()
        done.wait()

    thread = threading.Thread(target=work)
    thread.start()
    yield drop
    jobs.put(None)
    thread.join()


def check_tensor(view, tensor, is_copy):
    device = 1 if is_copy else tensor.device[0]
    assert view.shape == tuple(tensor.shape)
    assert (*_mtl.element_type(view), view.get_lanes()) == tensor.dtype
    assert view.layout.get_item_bits() == tensor.item_bits
    assert view.__dlpack_device__() == (device, 0 if device == 1 else tensor.device[1])
    if is_copy:
        assert not view.is_read_only()
    else:
        assert view.is_read_only() == tensor.is_read_only
        assert view.strides == tensor.all_strides or tensor.volume == 0 and not tensor.has_strides
        if device in HOSTS and tensor.volume > 0:
            assert view.get_address() == (tensor.address + tensor.byte_offset) % 2**64
    if tensor.is_there:
        assert bytes(view) == random_peers.elements_of(tensor)


def draw_keywords(rng, tensor, may_succeed):
    """The keywords, and whether they forbid what there is."""
    keywords = {}
    is_host_memory = may_succeed and tensor.device == (1, 0) and (
        tensor.is_there or tensor.volume == 0)
    if rng.random() < 0.15:
        keywords["copy"] = rng.choice((None, False, True) if is_host_memory else (None, False))
    if rng.random() < 0.15:
        keywords["device"] = rng.choice((None, (1, 0), (2, 0), (1, 1), (-1, 0)))
    return keywords


def check_producer(rng, drop_elsewhere):
    tensor = random_peers.draw_tensor(rng)
    may_succeed, may_fail = random_peers.judge_tensor(tensor)
    producer = random_peers.new_producer(rng, tensor)
    keywords = draw_keywords(rng, tensor, may_succeed)
    if may_succeed:
        device, copy = keywords.get("device"), keywords.get("copy")
        own = tensor.device[0], 0 if tensor.device[0] == 1 else tensor.device[1]
        is_forbidden = (device is not None and device != own
                        or copy is False and tensor.is_copied)
        may_succeed, may_fail = not is_forbidden, may_fail or is_forbidden
    source = producer.capsule() if rng.random() < 0.1 else producer

    try:
        view = Mtl.from_dlpack(source, **keywords)
    except BufferError as error:
        assert may_fail, (error, tensor)
        assert str(error)
        view = None
    else:
        assert may_succeed, tensor
        is_copy = keywords.get("copy") is True and not tensor.is_copied
        assert producer.n_deleted == producer.n_exported - (not is_copy) or not tensor.has_deleter
        check_tensor(view, tensor, is_copy)
        held = [view, view.T] if rng.random() < 0.2 else [view]
        del view
        if rng.random() < 0.03:
            drop_elsewhere(held)
        held.clear()
    del source
    assert producer.n_exported >= 1
    assert producer.n_deleted == (producer.n_exported if tensor.has_deleter else 0)
    return may_succeed


def test_producers(rng, cases, drop_elsewhere):
    n = n_taken = 0
    for n in some(cases):
        n_taken += check_producer(rng, drop_elsewhere)
        if n % 16 == 0:
            assert random_peers.contents_are_kept()
    conftest.NOTES.append(f"{n + 1} tensors of peers, {n_taken} of them valid")
    assert n // 4 < n_taken < n


def check_exporter(rng, drop_elsewhere):
    buffer = random_peers.draw_buffer(rng)
    may_succeed, may_fail = random_peers.judge_buffer(buffer)
    exporter = random_peers.new_exporter(buffer)

    try:
        view = Mtl.asview(exporter)
    except BufferError as error:
        assert may_fail, (error, buffer)
        assert str(error)
    else:
        assert may_succeed, buffer
        shape, _ = random_peers.describe_buffer(buffer)
        assert exporter.n_released == exporter.n_exported - 1
        assert view.shape == tuple(shape)
        assert int(view.dtype) == random_peers.FORMATS[buffer.format]
        assert view.is_read_only() == bool(buffer.readonly)
        if view.size > 0:
            assert view.get_address() == buffer.address
        if buffer.is_there:
            assert bytes(view) == random_peers.bytes_of(buffer)
        held = [view]
        del view
        if rng.random() < 0.03:
            drop_elsewhere(held)
        held.clear()
    assert exporter.n_released == exporter.n_exported
    return may_succeed


def test_exporters_of_buffers(rng, cases, drop_elsewhere):
    n = n_taken = 0
    for n in some(cases):
        n_taken += check_exporter(rng, drop_elsewhere)
        if n % 16 == 0:
            assert random_peers.contents_are_kept()
    conftest.NOTES.append(f"{n + 1} buffers of peers, {n_taken} of them valid")
    assert n // 4 < n_taken < n


def check_managed(managed, tensor, is_copy):
    """Checks the exported tensor, field by field."""
    exported, n_dims = managed.dl_tensor, len(tensor.shape)
    strides = dims(exported.strides, n_dims)
    assert (exported.device_type, exported.device_id) == (1, 0)
    assert exported.ndim == n_dims and dims(exported.shape, n_dims) == tuple(tensor.shape)
    assert (exported.code, exported.bits, exported.lanes) == tensor.dtype
    assert exported.byte_offset == 0
    dense = dense_strides(tensor.shape)
    if tensor.volume == 0:
        assert exported.data is None
        assert all(a == b or b >= 2**63 for a, b in zip(strides, dense))
        return
    assert (exported.data == tensor.address + tensor.byte_offset) == (not is_copy)
    for stride, whole, own, extent in zip(strides, dense, tensor.all_strides, tensor.shape):
        if is_copy or extent > 1 or own >= 0:
            assert stride == (whole if is_copy else own)
        else:
            assert stride > 0  # it leads nowhere, but few consumers take it
    if tensor.item_bits % 8 == 0:
        assert random_peers.bytes_at(tensor, exported.data, strides) \
            == random_peers.elements_of(tensor)


def consume(rng, capsule):
    """Takes the tensor as consumers do: renames the capsule, clears its destructor, or both."""
    how = rng.randrange(3)
    if how != 0:
        api.PyCapsule_SetName(capsule, USED[capsule_name(capsule)])
    if how != 1:
        api.PyCapsule_SetDestructor(capsule, None)


def finish(rng, managed, address):
    """The deleter, here or on a thread that Python does not know."""
    if isinstance(managed, ManagedVersioned) and rng.random() < 0.03:
        hostile_producer.delete_on_thread(address)
    else:
        DELETER(managed.deleter)(address)


def check_consumer(rng):
    tensor = random_peers.draw_tensor(rng)
    may_succeed, may_fail = random_peers.judge_tensor(tensor)
    if not may_succeed or may_fail or tensor.device[0] != 1 \
            or tensor.volume > 0 and not tensor.is_there:
        return False
    producer = random_peers.new_producer(rng, tensor)
    view = Mtl.from_dlpack(producer.capsule())
    n_held = producer.n_exported - producer.n_deleted
    request = random_peers.draw_request(rng)
    goes_out, is_copy, is_versioned = random_peers.expect_export(tensor, request)

    try:
        capsule = view.__dlpack__(**request)
    except BufferError as error:
        assert not goes_out, (error, tensor, request)
        del view
        assert producer.n_deleted == (producer.n_exported if tensor.has_deleter else 0)
        return True
    assert goes_out, (tensor, request)
    assert capsule_name(capsule) == (b"dltensor_versioned" if is_versioned else b"dltensor")
    del view
    assert producer.n_deleted == producer.n_exported - n_held + (is_copy and tensor.has_deleter)
    address = api.PyCapsule_GetPointer(capsule, capsule_name(capsule))
    managed = (ManagedVersioned if is_versioned else Managed).from_address(address)
    check_managed(managed, tensor, is_copy)
    if is_versioned:
        assert (managed.major, managed.minor) == (1, 3)
        assert managed.flags == (READ_ONLY * (tensor.is_read_only and not is_copy)
                                 | IS_COPIED * is_copy | PADDED * tensor.is_padded)
    if rng.random() < 0.6:
        consume(rng, capsule)
        del capsule
        finish(rng, managed, address)
    else:
        del capsule
    assert producer.n_deleted == (producer.n_exported if tensor.has_deleter else 0)
    return True


def test_consumers(rng, cases):
    n = n_exported = 0
    for n in some(cases):
        n_exported += check_consumer(rng)
        if n % 16 == 0:
            assert random_peers.contents_are_kept()
    conftest.NOTES.append(f"{n_exported} of {n + 1} tensors of peers passed on")
    assert n_exported > n // 4

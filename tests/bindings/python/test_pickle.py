# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies and pickles of views, buffers, layouts, element types and devices."""

import copy
import ctypes
import dataclasses
import os
import pickle
import pickletools
import subprocess
import sys
import threading

import numpy as np
import pytest
from gi.overrides import _mtl
from gi.overrides._mtl_pickle import (load_buffer, load_device, load_dtype, load_layout,
                                      load_mapped_buffer, load_mapped_view, load_mapping, load_view)
from gi.repository import GLib, Mtl

from conftest import HOST, dtype_of, elements, iota, new_buffer, tensor
from dlpack_structs import Producer

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)

LAYOUTS = {
    "dense": lambda view: view,
    "transposed": lambda view: view.T,
    "permuted": lambda view: view.permute(1, 2, 0),
    "cropped": lambda view: view[1:, :2, 1:3],
    "every_second": lambda view: view[:, ::2],
    "reversed": lambda view: view[:, ::-1, ::-2],
    "row": lambda view: view[1, 2],
    "column": lambda view: view[:, 1, 2],
    "one": lambda view: view[1:2, 2:3, 3:],
    "scalar": lambda view: view[1, 2, 3:].reshape([]),
    "empty": lambda view: view[:, 1:1],
    "repeated": lambda view: view[:, :1].unsqueeze(0).broadcast_to(5, 2, 3, 4),
    "repeated_column": lambda view: view[0, :, :1].broadcast_to([6, 3, 7]),
    "with_axes": lambda view: view.unsqueeze([0, 2]),
}


def through(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


def same_elements(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and bytes(a) == bytes(b)


# Views


@pytest.mark.any_memory
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_layouts(layout, protocol):
    view = LAYOUTS[layout](iota(2, 3, 4, dtype="int16"))
    result = through(view, protocol)

    np.testing.assert_array_equal(elements(result), elements(view))
    assert result.dtype == view.dtype and result.shape == view.shape
    assert result.get_device() is HOST and not result.overlaps(view)
    assert result.is_read_only() == view.is_read_only()
    # The order in memory stays, and repeated elements are repeated again.
    assert result.layout.dup_stride_order() == view.layout.dup_stride_order()
    assert [stride == 0 for stride in result.strides] == [
        stride == 0 and extent > 1 for stride, extent in zip(view.strides, view.shape)] or (
        view.is_empty())
    if not result.is_read_only() and result.layout.is_unique():
        result[...] = 7
        assert set(np.asarray(result).ravel().tolist()) <= {7}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_element_types(protocol):
    for name in vars(Mtl.DType):
        dtype = getattr(Mtl.DType, name)
        if not isinstance(dtype, Mtl.DType) or dtype == Mtl.DType.OTHER:
            continue
        source = Mtl.asview(np.arange(256, dtype="u1")[:3 * 5 * max(1, dtype.itemsize)])
        bits = Mtl.DType.get_bits(dtype)
        view = Mtl.StridedView.new_from_bytes(GLib.Bytes.new(bytes(source)[:(15 * bits + 7) // 8]),
                                              dtype, [3, 5])
        for part in (view, view.T, view[1:], view[:, 1::2], view[::-1], view[2, 3:4]):
            result = through(part, protocol)
            assert same_elements(result, part.copy()), (name, part)
            assert result.is_read_only()
            assert result.layout.get_item_bits() == part.layout.get_item_bits()


@pytest.mark.parametrize("code, bits, lanes, flags", [
    (0, 4, 1, 0), (1, 2, 4, 0), (2, 32, 4, 0), (17, 4, 2, 0), (17, 4, 1, 4), (17, 4, 2, 4),
    (15, 6, 4, 0), (15, 6, 1, 4), (0, 24, 1, 0), (6, 8, 3, 0), (2, 128, 1, 0)])
def test_elements_without_a_name_and_lanes(code, bits, lanes, flags):
    memory = (ctypes.c_ubyte * 512)(*(i % 251 for i in range(512)))
    view = Mtl.from_dlpack(Producer(memory, (4, 4), (4, 1), code, bits, lanes, flags=flags))
    for part in (view, view.T, view[1:3, ::2], view[0].broadcast_to(3, 4)):
        for protocol in PROTOCOLS:
            result = through(part, protocol)
            assert (*_mtl.element_type(result), result.get_lanes()) == (code, bits, lanes)
            assert result.is_padded() == part.is_padded() and result.shape == part.shape
            assert bytes(result) == bytes(part)


def test_random_layouts(rng):
    memory = np.arange(4096, dtype="u2")
    for _ in range(300):
        view = _random_view(rng, Mtl.asview(memory))
        result = through(view, rng.choice(PROTOCOLS))
        np.testing.assert_array_equal(np.asarray(result), np.asarray(view))


def _random_view(rng, view):
    view = view.reshape([8, 4, 2, 8, 8])
    for _ in range(rng.randrange(5)):
        axis = rng.randrange(view.ndim)
        choice = rng.randrange(5)
        key = [slice(None)] * view.ndim
        if choice == 0:
            start = rng.randrange(view.shape[axis] + 1)
            key[axis] = slice(start, None, rng.choice((1, 2, 3)))
        elif choice == 1:
            key[axis] = slice(None, None, rng.choice((-1, -2)))
        elif choice == 2:
            axes = list(range(view.ndim))
            rng.shuffle(axes)
            view = view.permute(axes)
        elif choice == 3:
            key[axis] = slice(0, 1)
        elif view.ndim < 8:
            view = view.unsqueeze(axis)
            shape = list(view.shape)
            shape[axis] = rng.randrange(1, 4)
            view = view.broadcast_to(shape)
            key = [slice(None)] * view.ndim
        view = view[tuple(key)]
    return view


def test_repeated_elements_are_pickled_once():
    view = Mtl.asview(np.arange(3.0)).broadcast_to(10**6, 10**6, 3)
    for protocol in PROTOCOLS:
        data = pickle.dumps(view, protocol)
        assert len(data) < 1000
        result = pickle.loads(data)
        assert result.shape == view.shape and result.strides == (0, 0, 1)
        assert result[5, 6].tolist() == [0, 1, 2]


def test_parts_are_pickled_without_the_rest():
    big = iota(1000, 1000)
    assert len(pickle.dumps(big[:2, :2])) < 500


@pytest.mark.any_memory
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_read_only_views_stay_so(protocol):
    view = iota(2, 3)
    for part in (view, view.T):
        assert not through(part, protocol).is_read_only()
        assert through(part.as_read_only(), protocol).is_read_only()


def test_views_of_files(tmp_path):
    Mtl.save(tmp_path / "a.safetensors", {"x": np.arange(6).reshape(2, 3)})
    with Mtl.load(tmp_path / "a.safetensors") as file:
        result = through(file["x"])
    (tmp_path / "a.safetensors").unlink()
    assert result.tolist() == [[0, 1, 2], [3, 4, 5]] and result.is_read_only()


def test_memory_that_the_host_cannot_reach():
    foreign = Mtl.from_dlpack(Producer((ctypes.c_float * 4)(), (4,), (1,), device=(2, 0)))
    with pytest.raises((BufferError, NotImplementedError)):
        pickle.dumps(foreign)


# Out-of-band buffers


def test_buffers_beside_the_pickle_are_not_copied():
    view = iota(100, 100)
    buffers = []
    data = pickle.dumps(view.T, 5, buffer_callback=buffers.append)
    assert len(data) < 300 and len(buffers) == 1
    raw = buffers[0].raw()
    assert raw.nbytes == view.nbytes and not raw.readonly
    with raw:
        assert Mtl.asview(raw).overlaps(view.reinterpret("uint8"))

    memory = bytearray(bytes(view))
    result = pickle.loads(data, buffers=[memory])
    np.testing.assert_array_equal(np.asarray(result), np.asarray(view.T))
    memory[:4] = np.float32(8).tobytes()
    assert result[0, 0] == 8
    result[1, 0] = 9
    assert memory[4:8] == np.float32(9).tobytes() and not result.is_read_only()
    with pytest.raises(BufferError):
        memory.append(0)  # the view holds it
    del result
    memory.append(0)


def test_what_is_not_dense_is_copied_beside_the_pickle():
    view = iota(10, 10)[:, ::2]
    buffers = []
    data = pickle.dumps(view, 5, buffer_callback=buffers.append)
    assert buffers[0].raw().nbytes == view.nbytes
    np.testing.assert_array_equal(np.asarray(pickle.loads(data, buffers=buffers)), elements(view))


def test_buffers_that_cannot_be_written_make_views_that_cannot():
    view = iota(3)
    data = pickle.dumps(view, 5, buffer_callback=lambda buffer: False)
    result = pickle.loads(data, buffers=[bytes(view)])
    assert result.is_read_only() and result.tolist() == [0, 1, 2]
    data = pickle.dumps(view.as_read_only(), 5, buffer_callback=lambda buffer: False)
    result = pickle.loads(data, buffers=[bytearray(bytes(view))])
    assert result.is_read_only() and result.tolist() == [0, 1, 2]


def test_buffers_of_read_only_views_cannot_be_written():
    view = iota(10, 10)
    parts = [view, view.T, view[:, ::2]]
    fixed = Mtl.Buffer.new_from_bytes(GLib.Bytes.new(b"abc"))
    for value in (*parts, *(part.as_read_only() for part in parts), view.get_buffer(), fixed):
        buffers = []
        pickle.dumps(value, 5, buffer_callback=buffers.append)
        assert buffers[0].raw().readonly == value.is_read_only(), value


def test_buffers_at_any_address():
    view = iota(5, dtype="float64")
    data = pickle.dumps(view, 5, buffer_callback=lambda buffer: False)
    for start in range(8):
        memory = memoryview(bytearray(bytes(start) + bytes(view)))[start:]
        result = pickle.loads(data, buffers=[memory])
        assert result.tolist() == view.tolist()
        assert result.copy().tolist() == view.tolist()
        assert np.asarray(result).sum() == 10


# Hostile pickles


BYTES = bytes(range(64))
FLOAT = (2, 32, 1, False)


@pytest.mark.parametrize("args", [
    (BYTES, FLOAT, (17,), (1,), 0), (BYTES, FLOAT, (16,), (2,), 0), (BYTES, FLOAT, (2,), (-1,), 0),
    (BYTES, FLOAT, (2, 2), (1,), 0), (BYTES, FLOAT, (-1,), (1,), 0),
    (BYTES, FLOAT, (2**62, 4), (0, 0), 0), (BYTES, FLOAT, (2**63,), (0,), 0),
    (BYTES, FLOAT, (2,), (2**62,), 0), (BYTES, FLOAT, (2,), (-2**63,), 0),
    (BYTES, FLOAT, (2.5,), (1,), 0), (BYTES, FLOAT, "2", (1,), 0), (BYTES, FLOAT, 2, None, 0),
    (BYTES, FLOAT, (1,) * 65, (1,) * 65, 0), (BYTES, (2, 0, 1, 0), (1,), (1,), 0),
    (BYTES, (2, 32, 0, 0), (1,), (1,), 0), (BYTES, (2, 256, 1, 0), (1,), (1,), 0),
    (BYTES, (256, 8, 1, 0), (1,), (1,), 0), (BYTES, (2, 32, 65536, 0), (1,), (1,), 0),
    (BYTES, (2, 255, 65535, 0), (1,), (1,), 0), (BYTES, (2, 32, 1, True), (17,), (1,), 0),
    (BYTES, (-1, 32, 1, 0), (1,), (1,), 0), (BYTES, (2, 32, 1), (1,), (1,), 0),
    (BYTES, "FLOAT", (1,), (1,), 0), (BYTES, None, (1,), (1,), 0),
    (BYTES, (17, 4, 1, 1), (65,), (1,), 0),
    (BYTES, (17, 4, 1, 0), (129,), (1,), 0), (b"", FLOAT, (1,), (1,), 0), (b"", FLOAT, (), (), 0),
    (None, FLOAT, (1,), (1,), 0), ("text", FLOAT, (1,), (1,), 0), ([1], FLOAT, (1,), (1,), 1),
    (3, FLOAT, (1,), (1,), 0), (BYTES, FLOAT, (1,), (1,), "1"), (BYTES, FLOAT, (1,), (1,)),
    (memoryview(BYTES)[::2], FLOAT, (1,), (1,), 0)])
def test_views_that_do_not_fit_are_refused(args):
    with pytest.raises((TypeError, ValueError, BufferError, OverflowError, NotImplementedError,
                        IndexError)):
            load_view(*args)


def test_views_that_just_fit():
    assert load_view(BYTES, FLOAT, (16,), (1,), 0).shape == (16,)
    assert load_view(BYTES, FLOAT, (2**40, 16), (0, 1), 0).size == 2**44
    assert load_view(BYTES, (17, 4, 1, 0), (128,), (1,), 0).size == 128
    assert load_view(b"", FLOAT, (0, 2**62), (0, 0), 0).size == 0
    assert load_view(memoryview(BYTES).cast("d"), FLOAT, (16,), (1,), 0).dtype == "float32"


def test_any_arguments(rng):
    """Hostile pickles give an exception, or a view whose elements lie in the data."""
    numbers = (0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 255, 256, -1, -2, 2**31, 2**32, 2**62, 2**63,
               2**64, -2**63, 10**30, 1.5, None, "1", True, (), (1, 2))

    def number():
        return rng.choice(numbers[:8] if rng.random() < 0.8 else numbers)

    def several():
        return tuple(number() for _ in range(rng.randrange(4)))

    n_read = 0
    for _ in range(5000):
        shape = several()
        strides = several() if rng.random() < 0.3 else tuple(number() for _ in shape)
        element = tuple(number() for _ in range(4)) if rng.random() < 0.5 else FLOAT
        args = [bytearray(rng.randrange(100)), element, shape, strides,
                rng.choice((0, 1, 2, number()))]
        if rng.random() < 0.1:
            args[rng.randrange(5)] = number()
        try:
            view = load_view(*args)
        except (TypeError, ValueError, BufferError, OverflowError, NotImplementedError, IndexError,
                MemoryError):
            continue
        if view.size < 10**6:
            n_read += len(bytes(view))
    assert n_read > 100

    for _ in range(800):
        for load, n in ((load_layout, 4), (load_buffer, 2), (load_device, 2), (load_dtype, 1)):
            args = [several() if rng.random() < 0.3 else number() for _ in range(n)]
            try:
                load(*args)
            except (TypeError, ValueError, BufferError, OverflowError, NotImplementedError,
                    IndexError):
                pass


def test_pickles_that_end_too_early():
    view = iota(2, 3, dtype="int16").T
    data = pickle.dumps((view, view.layout, view.dtype, Mtl.Buffer.new(HOST, 5)), 5)
    for size in range(len(data)):
        with pytest.raises((pickle.UnpicklingError, EOFError, ValueError)):
            pickle.loads(data[:size])


# Buffers, layouts, types, devices


@pytest.mark.any_memory
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_buffers(protocol):
    for size in (0, 1, 5, 4096):
        buffer = new_buffer(size)
        buffer.set_bytes(0, GLib.Bytes.new(bytes(i % 251 for i in range(size))))
        result = through(buffer, protocol)
        assert bytes(result) == bytes(i % 251 for i in range(size))
        assert not result.is_read_only() or size == 0
        assert through(buffer.slice(size // 2, size - size // 2), protocol).get_size() == (
            size - size // 2)
    constant = Mtl.Buffer.new_from_bytes(GLib.Bytes.new(b"abc"))
    assert through(constant, protocol).is_read_only()
    assert bytes(through(constant, protocol)) == b"abc"


def test_buffers_out_of_band():
    buffer = Mtl.Buffer.new(HOST, 100, Mtl.StorageMode.HOST)
    buffers = []
    data = pickle.dumps(buffer, 5, buffer_callback=buffers.append)
    assert len(data) < 150 and buffers[0].raw().nbytes == 100
    memory = bytearray(100)
    result = pickle.loads(data, buffers=[memory])
    memory[3] = 4
    assert bytes(result)[3] == 4


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_layouts_of_their_own(protocol):
    dense = Mtl.StridedLayout([4, 5, 6], itemsize=4)
    for layout in (dense, dense.T, dense[1:, 2], dense[::-1, :, ::-2], dense[:, 2:2],
                   dense[:1].broadcast_to(7, 5, 6), Mtl.StridedLayout(), dense[3, 4, 5],
                   Mtl.StridedLayout.new([3, 5], [0, 7], 4), Mtl.StridedLayout([1] * 64),
                   Mtl.StridedLayout([2] + [1] * 62)[1:], Mtl.StridedLayout([1] * 64)[0, None],
                   Mtl.StridedLayout([0] * 64)):
        result = through(layout, protocol)
        assert result.equal(layout) and result == layout
        assert result.get_offset() == layout.get_offset()
        assert result.get_item_bits() == layout.get_item_bits()
        assert hash(result) == hash(layout)


def test_layouts_of_as_many_axes_as_there_can_be():
    for shape in ([3] + [1] * 63, [1] * 63 + [3]):
        layout = Mtl.StridedLayout(shape)[1:] if shape[0] > 1 else Mtl.StridedLayout(shape)[..., 1:]
        result = through(layout)
        assert result.get_offset() == layout.get_offset() == 1 and result.shape == layout.shape
    with pytest.raises((ValueError, OverflowError)):
        pickle.dumps(Mtl.StridedLayout([2**62 + 2])[1:])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_element_types_and_devices(protocol):
    for name in vars(Mtl.DType):
        dtype = getattr(Mtl.DType, name)
        if isinstance(dtype, Mtl.DType):
            assert through(dtype, protocol) == dtype
            assert type(through(dtype, protocol)) is Mtl.DType
    for device in Mtl.Device.list():
        assert through(device, protocol) is device or through(device, protocol) == device


def test_what_cannot_be_pickled_or_copied(tmp_path):
    Mtl.save(tmp_path / "a.safetensors", {"x": [1]})
    file = Mtl.load(tmp_path / "a.safetensors")
    for value in (Mtl.Event.new(None), file.lookup_entry("x"), Mtl.TensorFileBuilder.new(),
                  iota(2).export_dlpack(), Mtl.TensorFile()):
        for protocol in PROTOCOLS:
            with pytest.raises(TypeError, match=type(value).__name__):
                pickle.dumps(value, protocol)
        for make in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                make(value)


# By path


@pytest.fixture
def mapped(tmp_path):
    """A view of a file, which has another tensor before it."""
    Mtl.save(tmp_path / "a.safetensors", {"a": [1, 2, 3], "b": np.arange(4096, dtype="u2")})
    return Mtl.load(tmp_path / "a.safetensors", mode=Mtl.TensorFileMode.MAP)["b"]


def path_of(value):
    buffer = value if isinstance(value, Mtl.Buffer) else value.get_buffer()
    file = buffer.dup_mapped_file()[0]
    return None if file is None else file.get_path()


def dumps_by_path(value, protocol=pickle.DEFAULT_PROTOCOL):
    with Mtl.pickle_by_path():
        return pickle.dumps(value, protocol)


def through_path(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(dumps_by_path(value, protocol))


def assert_same_place(result, view):
    """They have the same layout in the same place of the same file. Without elements there is no
    place."""
    assert path_of(result) == path_of(view) is not None and result.is_read_only()
    assert result.dtype == view.dtype and result.is_padded() == view.is_padded()
    assert result.shape == view.shape and result.strides == view.strides
    if view.is_empty():
        return
    assert result.layout == view.layout
    places = [part.get_buffer().dup_mapped_file()[1] + part.get_byte_offset()
              for part in (result, view)]
    assert places[0] == places[1] and bytes(result) == bytes(view)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_mapped_layouts(mapped, protocol, rng):
    for part_of in LAYOUTS.values():
        part = part_of(mapped[12:36].reshape(2, 3, 4))
        assert_same_place(through_path(part, protocol), part)
    for _ in range(50):
        part = _random_view(rng, mapped)
        assert_same_place(through_path(part, protocol), part)


def test_mapped_layouts_of_as_many_axes_as_there_can_be(mapped):
    for part in (mapped.reshape([2] * 12 + [1] * 52)[1:],
                 mapped.reshape([1] * 63 + [4096])[..., 7:],
                 mapped.reshape([2] * 12 + [1] * 52)[1, ::-1]):
        assert_same_place(through_path(part), part)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_mapped_element_types(tmp_path, protocol):
    (tmp_path / "file").write_bytes(bytes(range(256)) * 4)
    buffer = Mtl.Buffer.new_mapped(tmp_path / "file", None, 3, 1000)
    for name in vars(Mtl.DType):
        dtype = getattr(Mtl.DType, name)
        if not isinstance(dtype, Mtl.DType) or dtype == Mtl.DType.OTHER:
            continue
        bits = Mtl.DType.get_bits(dtype)
        for item_bits in {bits, max(bits, 8)}:  # packed and padded
            view = Mtl.StridedView.new(buffer, Mtl.StridedLayout.new_dense([3, 5], 0, item_bits),
                                       dtype, 2)
            for part in (view, view[1:], view[:, 1::2].T, view[::-1], view[2, 3:4]):
                assert_same_place(through_path(part, protocol), part)


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_arrays_of_numpys_files(tmp_path, suffix):
    array = np.arange(60000).reshape(3, 200, 100)
    save = np.save if suffix == "npy" else np.savez
    save(tmp_path / f"a.{suffix}", array)
    (view,) = Mtl.load(tmp_path / f"a.{suffix}", mode=Mtl.TensorFileMode.MAP).values()
    assert_same_place(through_path(view[:, ::-1].T), view[:, ::-1].T)
    np.testing.assert_array_equal(through_path(view[1]), array[1])


def test_mapped_buffers(mapped):
    for buffer in (mapped.get_buffer(), mapped.get_buffer().slice(7, 100),
                   mapped.get_buffer().slice(7, 0)):
        for protocol in PROTOCOLS:
            result = through_path(buffer, protocol)
            assert path_of(result) == path_of(buffer) and bytes(result) == bytes(buffer)
            assert result.dup_mapped_file()[1] == buffer.dup_mapped_file()[1]


def test_a_pickle_maps_a_file_once(mapped, tmp_path):
    Mtl.save(tmp_path / "b.safetensors", {"b": [1.0]})
    other = Mtl.load(tmp_path / "b.safetensors", mode=Mtl.TensorFileMode.MAP)["b"]
    again = Mtl.load(path_of(mapped), mode=Mtl.TensorFileMode.MAP)["a"]
    data = dumps_by_path([mapped, mapped[1::2], again, mapped.get_buffer().slice(200, 9), other])
    assert data.count(b"a.safetensors") == data.count(b"b.safetensors") == 1
    a, b, c, d, e = pickle.loads(data)
    assert a.overlaps(b) and not a.overlaps(pickle.loads(data)[1])
    assert a.get_buffer().equal(c.get_buffer()) and path_of(d) == path_of(mapped)
    assert path_of(e) == path_of(other) and e.tolist() == [1]


def test_pickles_of_mapped_views_are_small(tmp_path):
    with open(tmp_path / "file", "wb") as file:
        file.truncate(100_000_000)
    buffer = Mtl.Buffer.new_mapped(tmp_path / "file")
    view = Mtl.StridedView.new(buffer, Mtl.StridedLayout([25_000_000], itemsize=4), "float32", 0)
    for protocol in PROTOCOLS:
        assert len(dumps_by_path(view, protocol)) < 2000
    assert len(dumps_by_path([view[i:] for i in range(100)])) < 20000


def test_only_where_it_is_asked(mapped):
    def has_path():
        return path_of(through(mapped)) is not None

    assert not has_path()
    with Mtl.pickle_by_path():
        with Mtl.pickle_by_path():
            assert has_path()
        assert has_path()
        found = []
        thread = threading.Thread(target=lambda: found.append(has_path()))
        thread.start()
        thread.join()
        # Without a GIL, Python's threads have what was set where they were started.
        assert found == [bool(getattr(sys.flags, "thread_inherit_context", 0))]
        with pytest.raises(ZeroDivisionError), Mtl.pickle_by_path():
            has_path() / 0
        assert has_path()
    assert not has_path()


def test_what_is_not_mapped_is_pickled_as_before(mapped):
    for value in (iota(2, 3).T, mapped.copy(), new_buffer(5)):
        for protocol in PROTOCOLS:
            assert dumps_by_path(value, protocol) == pickle.dumps(value, protocol)
    buffers = []
    with Mtl.pickle_by_path():
        data = pickle.dumps([mapped, iota(3)], 5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    a, b = pickle.loads(data, buffers=buffers)
    assert path_of(a) == path_of(mapped) and b.tolist() == [0, 1, 2]


def test_copies_are_no_pickles(mapped):
    with Mtl.pickle_by_path():
        for result in (copy.copy(mapped), copy.deepcopy(mapped)):
            assert path_of(result) is None and not result.is_read_only()


def _replace(path):
    os.rename(path, path + ".moved")
    with open(path, "wb") as file:
        file.write(bytes(os.stat(path + ".moved").st_size))
    os.utime(path, ns=(0, 5))


@pytest.mark.parametrize("change, expected", [
    (os.remove, FileNotFoundError),
    (lambda path: (os.remove(path), os.mkdir(path)), OSError),
    (lambda path: (os.remove(path), os.mkfifo(path)), OSError),
    (lambda path: (os.remove(path), open(path, "w").close()), ValueError),
    (lambda path: os.utime(path, ns=(0, os.stat(path).st_mtime_ns + 1)), ValueError),
    (lambda path: os.utime(path, ns=(0, -5)), ValueError),
    (lambda path: os.truncate(path, os.stat(path).st_size + 1), ValueError),
    (_replace, ValueError)])
def test_files_that_were_changed(mapped, change, expected):
    """Neither is another file read, where the pickle is written and where it is read."""
    path = path_of(mapped)
    data = dumps_by_path(mapped)
    pickle.loads(data)
    change(path)
    with pytest.raises(expected, match="a.safetensors"):
        pickle.loads(data)
    with pytest.raises(expected, match="a.safetensors"):
        dumps_by_path(mapped)
    assert through(mapped).tolist() == list(range(4096))  # by value


def test_times_before_1970(mapped):
    for modified in (-1, -5 * 10**9, -5 * 10**9 + 123, 10**9 - 1):
        os.utime(path_of(mapped), ns=(0, modified))
        again = Mtl.load(path_of(mapped), mode=Mtl.TensorFileMode.MAP)["b"]
        assert_same_place(through_path(again), again)
        load_mapping(path_of(mapped), os.stat(path_of(mapped)).st_size, modified)


def test_paths_of_any_bytes(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff \xc3\xa4 %41\n")
    with open(path, "wb") as file:
        file.write(b"abc")
    for protocol in PROTOCOLS:
        result = through_path(Mtl.Buffer.new_mapped(path, None, 1, 2), protocol)
        assert bytes(result) == b"bc" and os.fsencode(path_of(result)) == path


def test_relative_paths_and_parts_of_an_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Mtl.save("a.safetensors.index.json", {name: np.arange(600) for name in "abc"},
             max_shard_size=5000)
    views = [view[::-3] for view in Mtl.load("a.safetensors.index.json", mode="map").values()]
    data = dumps_by_path(views)
    monkeypatch.chdir("/")
    for result, view in zip(pickle.loads(data), views, strict=True):
        assert_same_place(result, view)
    assert len({path_of(view) for view in views}) == 3


def test_other_views_of_the_mapped_memory(mapped):
    for view in (mapped.reinterpret("int8"), mapped.as_read_only(), through_path(mapped[5:])):
        assert_same_place(through_path(view), view)
    for view in (Mtl.from_dlpack(mapped), Mtl.asview(np.asarray(mapped))):
        assert same_elements(through_path(view), view)


def test_nothing_stays_open(mapped):
    n_before = len(os.listdir("/dev/fd"))
    results = [through_path([mapped, mapped[1:]]) for _ in range(10)]
    assert len(os.listdir("/dev/fd")) == n_before and len(results) == 10


def test_numbers_of_mapped_views_are_checked(mapped):
    path = path_of(mapped)
    size, modified = os.stat(path).st_size, os.stat(path).st_mtime_ns
    mapping = load_mapping(path, size, modified)
    layout = mapped.layout
    wrong = (IndexError, ValueError, OverflowError, TypeError)
    for offset in (-1, size - 8191, size, 2**63 - 1, 2**63, 2**64 - 1, 2**64, None, "a", 0.5):
        with pytest.raises(wrong):
            load_mapped_view(mapping, layout, mapped.dtype, offset)
        with pytest.raises(wrong):
            load_mapped_buffer(mapping, offset, 8192)
    for args in ((mapping, layout, Mtl.DType.FLOAT32, 0), (mapping, layout, Mtl.DType.OTHER, 0),
                 (None, layout, mapped.dtype, 0), (mapping, None, mapped.dtype, 0)):
        with pytest.raises(wrong):
            load_mapped_view(*args)
    for args in ((path, size + 1, modified), (path, size, modified + 1), (path, None, None),
                 (path, 2**70, modified), (path, -size, modified), ("/dev/zero", 0, 0),
                 ("/proc/self/maps", 0, 0), ("", 0, 0), ("a\0b", size, modified), (5, 0, 0)):
        with pytest.raises((*wrong, OSError)):
            load_mapping(*args)


# The bytes of the length before an argument.
LENGTH_BYTES = {pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT4: 4,
                pickletools.TAKEN_FROM_ARGUMENT4U: 4}


def places_in_arguments(data):
    """Returns the places of arguments, but not of lengths and ends of lines, so that the opcodes
    stay: for some that damage would make of text, Python's own module reserves any number of
    bytes."""
    places = []
    operations = [(opcode, place) for opcode, _, place in pickletools.genops(data)]
    for (opcode, place), (_, end) in zip(operations, operations[1:]):
        if opcode.arg is not None:
            places += range(place + 1 + LENGTH_BYTES.get(opcode.arg.n, 0), end)
    return [place for place in places if data[place] != ord("\n")]


def test_random_damage_to_pickles_of_mapped_views(mapped, rng):
    """Reading gives a view of the file, or an exception."""
    data = dumps_by_path(mapped[5:4000:3].reshape(-1, 3)[:, ::-1], 2)
    places = places_in_arguments(data)
    n_views = 0
    for _ in range(2000):
        damaged = bytearray(data)
        damaged[rng.choice(places)] = rng.choice([value for value in range(256) if value != 10])
        try:
            result = pickle.loads(bytes(damaged))
        except Exception:
            continue
        if isinstance(result, Mtl.StridedView):
            n_views += 1
            assert len(bytes(result)) == result.nbytes
    assert n_views


# Copies


@pytest.mark.any_memory
@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_copies_have_their_own_elements(make):
    view, array = iota(2, 3, 4), np.arange(24, dtype="f4").reshape(2, 3, 4)
    for part_of in (lambda x: x, lambda x: x.T, lambda x: x[:, 1], lambda x: x[:, ::-1],
                    lambda x: x[:, 1:1]):
        for part in (part_of(view), part_of(view).as_read_only()):
            result = make(part)
            np.testing.assert_array_equal(elements(result), part_of(array))
            assert result.get_device() is part.get_device() and not result.overlaps(part)
            assert not result.is_read_only() and result.dtype == part.dtype
            if part.size:
                assert [4 * stride for stride in result.strides] == list(
                    make(part_of(array)).strides)


@pytest.mark.any_memory
def test_copies_of_the_other_objects():
    buffer = new_buffer(8)
    for make in (copy.copy, copy.deepcopy):
        result = make(buffer)
        assert bytes(result) == bytes(8) and result is not buffer
        layout = Mtl.StridedLayout([2, 3])
        assert make(layout) is layout and make(HOST) is HOST
        assert make(Mtl.DType.INT8) is Mtl.DType.INT8 or make(Mtl.DType.INT8) == Mtl.DType.INT8
        assert type(make(Mtl.DType.INT8)) is Mtl.DType


def test_deep_copies_keep_what_is_the_same():
    view = iota(3)
    result = copy.deepcopy({"a": view, "b": [view], "c": view[1:]})
    assert result["a"] is result["b"][0] and result["a"] is not view
    assert not result["a"].overlaps(result["c"])


def test_dataclasses():
    @dataclasses.dataclass
    class Sample:
        image: object
        dtype: object
        layout: object
        device: object

    sample = Sample(iota(2, 2), Mtl.DType.FLOAT32, Mtl.StridedLayout([2]), HOST)
    found = dataclasses.asdict(sample)
    assert found["image"].tolist() == [[0, 1], [2, 3]] and found["image"] is not sample.image
    assert found["dtype"] == "float32" and found["device"] is HOST


# Other processes


def test_a_process_that_has_not_imported_the_library():
    """Also without NumPy, and with nothing on the error stream."""
    program = ("import pickle, sys; sys.modules['numpy'] = None;"
               "view = pickle.loads(sys.stdin.buffer.read());"
               "assert view.tolist() == [[0, 2], [1, 3]], view; view[0, 0] = 5;"
               "sys.stdout.buffer.write(pickle.dumps(view))")
    data = pickle.dumps(iota(2, 2).T)
    done = subprocess.run([sys.executable, "-c", program], input=data,
                          capture_output=True, timeout=100)
    assert done.stderr == b"" and done.returncode == 0
    assert pickle.loads(done.stdout).tolist() == [[5, 2], [1, 3]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_module(protocol):
    """Functions that are pickled by value, as by cloudpickle, may use it."""
    assert through(Mtl, protocol) is Mtl
    done = subprocess.run([sys.executable, "-c", "import pickle, sys\n"
                           "print(pickle.load(sys.stdin.buffer).zeros(3).tolist())"],
                          input=pickle.dumps(Mtl, protocol), capture_output=True, timeout=100)
    assert (done.stdout, done.stderr) == (b"[0.0, 0.0, 0.0]\n", b"")


PROGRAM = """
import multiprocessing
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl


def work(queue, view, results):
    for _ in range(3):
        view = queue.get()
        results.put((view.T, view.dtype, view.layout))


def double(view):
    for i in range(len(view)):
        view[i] = 2 * view[i]
    return view


if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    view = Mtl.asview([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    queue, results = context.Queue(), context.Queue()
    process = context.Process(target=work, args=(queue, view, results))
    process.start()
    for i in range(3):
        queue.put(view[:, i % 2:])
        result, dtype, layout = results.get(timeout=100)
        assert result.tolist() == view[:, i % 2:].T.tolist() and dtype == view.dtype
        assert layout.shape == (3, 2 - i % 2)
    process.join()
    with context.Pool(2) as pool:
        assert [part.tolist() for part in pool.map(double, [view[0], view[:, 1]])] == [
            [2, 4], [4, 8, 12]]
    with context.Manager() as manager:
        shared = manager.dict()
        shared["x"] = view
        assert shared["x"].tolist() == view.tolist()
    print("done")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes(method, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM.replace("{method!r}", repr(method)))
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True,
                          text=True, timeout=300)
    assert done.stdout == "done\n" and done.stderr == "", done.stderr


BY_PATH_PROGRAM = """
import multiprocessing
import pickle
import sys
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl


def work(connection, views):
    files = [view.get_buffer().dup_mapped_file()[0] for view in views]
    connection.send(([file and file.get_path() for file in files],
                     [view.tolist() for view in views], views[0].overlaps(views[1])))


if __name__ == "__main__":
    view = Mtl.load(sys.argv[1], mode="map")["b"]
    views = [view[:10:-500], view.reshape(64, 64).T[3, :4], Mtl.asview([1, 2])]
    context = multiprocessing.get_context(sys.argv[2])
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, views))
    with Mtl.pickle_by_path():
        process.start()
    files, lists, overlap = here.recv()
    process.join()
    assert files == [sys.argv[1], sys.argv[1], None], files
    assert lists == [view.tolist() for view in views] and not overlap
    print("done")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_map_the_file_again(method, mapped, tmp_path):
    (tmp_path / "program.py").write_text(BY_PATH_PROGRAM)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py"), path_of(mapped), method],
                          capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n" and done.stderr == "", done.stderr


TORCH_PROGRAM = """
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
import torch


class Views(torch.utils.data.Dataset):
    def __init__(self):
        self.views = [Mtl.asview([float(i), 2.0 * i]) for i in range(6)]

    def __len__(self):
        return len(self.views)

    def __getitem__(self, i):
        return self.views[i]


def as_tensors(views):
    return torch.stack([torch.from_dlpack(view) for view in views])


def as_they_are(views):
    return views


if __name__ == "__main__":
    for collate in (as_tensors, as_they_are):
        loader = torch.utils.data.DataLoader(Views(), batch_size=2, num_workers=2,
                                             collate_fn=collate, multiprocessing_context="spawn")
        rows = [row.tolist() for batch in loader for row in batch]
        assert rows == [[float(i), 2.0 * i] for i in range(6)], rows
    print("done")
"""


def test_data_loaders_workers(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(TORCH_PROGRAM)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True,
                          text=True, timeout=500)
    assert done.stdout == "done\n", done.stderr


BY_PATH_TORCH_PROGRAM = """
import sys
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, view):
        self.view = view

    def __len__(self):
        return len(self.view)

    def __getitem__(self, i):
        assert self.view.get_buffer().dup_mapped_file()[0].get_path() == sys.argv[1]
        return torch.from_dlpack(self.view[i].copy())


if __name__ == "__main__":
    view = Mtl.load(sys.argv[1], mode="map")["b"].reinterpret("int16").reshape(64, 64)[::-4, ::2]
    loader = torch.utils.data.DataLoader(Rows(view), batch_size=4, num_workers=1,
                                         multiprocessing_context="spawn")
    with Mtl.pickle_by_path():
        batches = iter(loader)
    rows = [row.tolist() for batch in batches for row in batch]
    assert rows == view.tolist(), rows
    print("done")
"""


def test_data_loaders_workers_map_the_file_again(mapped, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(BY_PATH_TORCH_PROGRAM)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py"), path_of(mapped)],
                          capture_output=True, text=True, timeout=500)
    assert done.stdout == "done\n", done.stderr


def test_torch_saves_views(tmp_path):
    torch = pytest.importorskip("torch")
    view = iota(2, 3)
    torch.save({"view": view, "tensor": torch.ones(2), "dtype": view.dtype}, tmp_path / "a.pt")
    found = torch.load(tmp_path / "a.pt", weights_only=False)
    assert same_elements(found["view"], view) and found["dtype"] == Mtl.DType.FLOAT32


def test_numpys_files_hold_views(tmp_path):
    """NumPy's files pickle objects other than its arrays."""
    holder = np.empty(1, object)
    holder[0] = iota(2, 3)
    np.save(tmp_path / "a.npy", holder)
    found = np.load(tmp_path / "a.npy", allow_pickle=True)[0]
    assert same_elements(found, iota(2, 3)) and dtype_of("float32") == found.dtype


@pytest.mark.any_memory
def test_views_where_the_tests_tensors_lie():
    view = tensor(np.arange(12, dtype="i4").reshape(3, 4))
    result = through(view[1:, ::2])
    assert result.get_device() is HOST and result.tolist() == [[4, 6], [8, 10]]

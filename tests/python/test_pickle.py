# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies and pickles of views, buffers, layouts, element types and devices."""

import copy
import ctypes
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest
from gi.overrides._mtl_pickle import (load_buffer, load_device, load_dtype, load_layout,
                                      load_view)
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
    # The order in memory stays, and what is repeated is so again.
    assert result.dup_stride_order() == view.dup_stride_order()
    assert [stride == 0 for stride in result.strides] == [
        stride == 0 and extent > 1 for stride, extent in zip(view.strides, view.shape)] or (
        view.is_empty())
    if not result.is_read_only() and result.is_unique():
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
                                              dtype, [3, 5], None)
        for part in (view, view.T, view[1:], view[:, 1::2], view[::-1], view[2, 3:4]):
            result = through(part, protocol)
            assert same_elements(result, part.copy()), (name, part)
            assert result.is_read_only() and result.get_item_bits() == part.get_item_bits()


@pytest.mark.parametrize("code, bits, lanes, flags", [
    (0, 4, 1, 0), (1, 2, 4, 0), (2, 32, 4, 0), (17, 4, 2, 0), (17, 4, 1, 4), (17, 4, 2, 4),
    (15, 6, 4, 0), (15, 6, 1, 4), (0, 24, 1, 0), (6, 8, 3, 0), (2, 128, 1, 0)])
def test_elements_without_a_name_and_lanes(code, bits, lanes, flags):
    memory = (ctypes.c_ubyte * 512)(*(i % 251 for i in range(512)))
    view = Mtl.from_dlpack(Producer(memory, (4, 4), (4, 1), code, bits, lanes, flags=flags))
    for part in (view, view.T, view[1:3, ::2], view[0].broadcast_to(3, 4)):
        for protocol in PROTOCOLS:
            result = through(part, protocol)
            assert (result.get_dtype_code(), result.get_dtype_bits(), result.get_lanes()) == (
                code, bits, lanes)
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
    """What hostile pickles name: an exception, or a view whose elements lie in the data."""
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
    data = pickle.dumps((view, view.dup_layout(), view.dtype, Mtl.Buffer.new(HOST, 5)), 5)
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
    constant = Mtl.Buffer.new_from_bytes(None, GLib.Bytes.new(b"abc"))
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
    """Also without NumPy, and without a word on the error stream."""
    program = ("import pickle, sys; sys.modules['numpy'] = None;"
               "view = pickle.loads(sys.stdin.buffer.read());"
               "assert view.tolist() == [[0, 2], [1, 3]], view; view[0, 0] = 5;"
               "sys.stdout.buffer.write(pickle.dumps(view))")
    data = pickle.dumps(iota(2, 2).T)
    done = subprocess.run([sys.executable, "-c", program], input=data,
                          capture_output=True, timeout=100)
    assert done.stderr == b"" and done.returncode == 0
    assert pickle.loads(done.stdout).tolist() == [[5, 2], [1, 3]]


PROGRAM = """
import multiprocessing
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl


def work(queue, view, results):
    for _ in range(3):
        view = queue.get()
        results.put((view.T, view.dtype, view.dup_layout()))


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


def test_torch_saves_views(tmp_path):
    torch = pytest.importorskip("torch")
    view = iota(2, 3)
    torch.save({"view": view, "tensor": torch.ones(2), "dtype": view.dtype}, tmp_path / "a.pt")
    found = torch.load(tmp_path / "a.pt", weights_only=False)
    assert same_elements(found["view"], view) and found["dtype"] == Mtl.DType.FLOAT32


def test_numpys_files_hold_views(tmp_path):
    """NumPy pickles what is no array of its own."""
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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views that multiprocessing takes to other processes: those of shared memory by a descriptor, all
others by value."""

import copy
import ctypes
import os
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import time
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest
from gi.overrides import _mtl
from gi.repository import Mtl

from conftest import HOST
from dlpack_structs import Producer
from random_layouts import draw_small_case
from says import says

pytestmark = pytest.mark.skipif(not HOST.supports_storage_mode("interprocess"),
                                reason="this system has no memory for other processes")

HERE = Path(__file__).parent
METHODS = ["fork", "spawn", "forkserver"]


def run(*command):
    """Runs a program that starts others, and kills what is left of them."""
    # GSlice has a lock that GLib does not make new in a forked child.
    process = subprocess.Popen([sys.executable, "-W", "ignore::DeprecationWarning", *command],
                               env={**os.environ, "G_SLICE": "always-malloc"}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        output, errors = process.communicate(timeout=300)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    assert (process.returncode, errors) == (0, ""), output + errors
    assert output.splitlines()[-1] == "ended well"
    return output


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scenario", ["pipe", "nested", "queue", "argument", "pool", "executor",
                                      "ended_sender", "messages"])
def test_processes(scenario, method):
    run(str(HERE / "scenarios.py"), scenario, method)


PROGRAM = """
def answer(pipe):
    while (view := pipe.recv()) is not None:
        pipe.send((view.tolist(), view.get_buffer().is_interprocess()))


def check(ours, view):
    ours.send(view)
    assert ours.recv() == ([3, 3], True)


if __name__ == "__main__":
    {before}
    import gi
    gi.require_version("Mtl", "1")
    from gi.repository import Mtl
    {after}
    import sys
    assert "multiprocessing.resource_sharer" not in sys.modules
    process = context.Process(target=answer, args=(theirs,))
    process.start()
    check(ours, Mtl.full(2, 3, shared=True))
    ours.send(None)
    process.join()
    print("ended well")
"""
IMPORT = "import multiprocessing"
PIPE = "context = multiprocessing.get_context('spawn'); ours, theirs = context.Pipe()"


@pytest.mark.parametrize("before, after", [("", f"{IMPORT}; {PIPE}"), (IMPORT, PIPE),
                                           (f"{IMPORT}; {PIPE}", ""),
                                           ("import multiprocessing.reduction", PIPE)])
def test_the_order_of_imports_does_not_matter(before, after, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM).format(before=before, after=after))
    run(str(path))


def test_it_is_not_imported_for_nothing():
    run("-c", """
import sys
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
Mtl.zeros(3, shared=True).copy()
assert not any(name.partition(".")[0] == "multiprocessing" for name in sys.modules)
import multiprocessing.reduction
loader = multiprocessing.reduction.__loader__
assert loader is multiprocessing.reduction.__spec__.loader and "_mtl" not in type(loader).__module__
assert loader.get_source("multiprocessing.reduction")
print("ended well")
""")


# In one process, which sends to itself


def through(value):
    return ForkingPickler.loads(ForkingPickler.dumps(value))


def check_same_memory(view, result):
    """The result is a read-only view of the same elements, and another mapping of the memory."""
    assert result.get_buffer().is_interprocess() and result.is_read_only()
    assert result.dtype == view.dtype and result.is_padded() == view.is_padded()
    assert result.shape == view.shape and result.strides == view.strides
    assert result.layout.get_item_bits() == view.layout.get_item_bits()
    assert bytes(result) == bytes(view)


def test_element_types():
    raw = np.random.default_rng(1).integers(0, 2, 4096, "u1")
    for name in vars(Mtl.DType):
        dtype = getattr(Mtl.DType, name)
        if not isinstance(dtype, Mtl.DType) or dtype == Mtl.DType.OTHER:
            continue
        bits = Mtl.DType.get_bits(dtype)
        buffer = Mtl.array(raw, shared=True).get_buffer()
        for item_bits in {bits, max(bits, 8)}:  # packed and padded
            layout = Mtl.StridedLayout.new([5, 7], None, item_bits)
            view = Mtl.StridedView.new(buffer, layout, dtype, 16)
            for part in (view, view.T, view[1:, 3:], view[:, ::-2], view[4:, 1:2],
                         view[3].broadcast_to(4, 7), view[:0]):
                check_same_memory(part, through(part))


def test_random_layouts(rng):
    memory = Mtl.array(np.arange(60_000, dtype="u2"), shared=True)
    for _ in range(300):
        case = draw_small_case(rng)
        layout = Mtl.StridedLayout.new(case.shape, case.strides, 16)
        view = Mtl.StridedView.new(memory.get_buffer(), layout, "uint16", 60_000)
        result = through(view)
        check_same_memory(view, result)
        assert np.array_equal(np.asarray(result), np.asarray(view))


def test_later_writes_are_seen():
    view = Mtl.zeros((2, 3), "i4", shared=True)
    result = through(view[1:])
    view[1, 2] = 7
    assert result.tolist() == [[0, 0, 7]]
    with pytest.raises(ValueError, match="read-only"):
        result[0, 0] = 1
    assert not np.asarray(result).flags.writeable and memoryview(result).readonly
    copied = copy.copy(result)
    assert not copied.is_read_only() and not copied.get_buffer().is_interprocess()


def test_what_is_received_can_be_sent_on():
    view = Mtl.arange(100, dtype="i2", shared=True)
    result = through(through(through(view[10:])[::-1])[::3])
    check_same_memory(view[10:][::-1][::3], result)
    view[99] = -1
    assert result[0] == -1


def n_mappings():
    return Path("/proc/self/maps").read_text().count("/memfd:mtldl")


def test_a_message_maps_a_buffer_once():
    view, other = Mtl.zeros((10, 10), shared=True), Mtl.ones(3, shared=True)
    before = n_mappings()
    parts = through({"a": view[0], "b": [view.T, view[5:, 2]], "c": other, "d": view.get_buffer()})
    assert n_mappings() == before + 2
    assert parts["a"].overlaps(parts["b"][0]) and not parts["a"].overlaps(parts["c"])
    view[0, 3] = 5
    assert parts["a"][3] == parts["b"][0][3, 0] == 5
    # Another message has a mapping of its own.
    assert not through(view).overlaps(parts["a"])
    del parts
    assert n_mappings() == before


def test_buffers():
    buffer = Mtl.Buffer.new(HOST, 1000, "interprocess")
    memoryview(buffer)[5] = 7
    for part in (buffer, buffer.slice(4, 10)):
        result = through(part)
        assert bytes(result) == bytes(part) and result.is_read_only()
        assert result.is_interprocess() and bytes(through(result)) == bytes(part)
    memoryview(buffer)[6] = 8
    assert bytes(result)[1:3] == b"\7\10"
    private = Mtl.Buffer.new(HOST, 10, "host")
    result = through(private)
    assert bytes(result) == bytes(private) and not result.is_read_only()
    assert not result.is_interprocess() and not private.is_interprocess()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_others_go_by_value(protocol):
    for view in (Mtl.array([[1, 2], [3, 4]], "i2"), Mtl.array([1.5]).as_read_only(), Mtl.zeros(0),
                 Mtl.arange(100)[::-3], Mtl.ones(2, "int4")):
        result = pickle.loads(ForkingPickler.dumps(view, protocol))
        assert result.tolist() == view.tolist() and result.dtype == view.dtype
        assert result.is_read_only() == view.is_read_only()
        assert not result.get_buffer().is_interprocess()
        # The pickle holds what others do.
        size = len(ForkingPickler.dumps(view, protocol)) - len(pickle.dumps(view, protocol))
        assert 0 <= size < 200


def test_other_picklers_copy_shared_memory():
    view = Mtl.arange(1000, shared=True)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(view[::-1], protocol)
        assert len(data) > 8000 and pickle.loads(data).tolist() == view[::-1].tolist()
        assert not pickle.loads(data).is_read_only()
    buffers = []
    data = pickle.dumps(view, 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and pickle.loads(data, buffers=buffers).overlaps(view)


def test_elements_with_lanes_go_by_value():
    memory = (ctypes.c_ubyte * 160_000)(*(i % 251 for i in range(160_000)))
    view = Mtl.from_dlpack(Producer(memory, (100, 100), (100, 1), 2, 32, 4))
    a, b = map(Mtl.TensorConnection, socket.socketpair())
    a.send(view)
    received, _ = b.receive()
    assert received.get_buffer().is_interprocess()
    result = through(received[1:])
    assert (*_mtl.element_type(result), result.get_lanes()) == (2, 32, 4)
    assert bytes(result) == bytes(memory)[1600:] and not result.get_buffer().is_interprocess()


def test_a_message_is_read_once(capfd):
    message = ForkingPickler.dumps(Mtl.zeros(3, shared=True))
    assert ForkingPickler.loads(message).tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="tensor") as info:
        ForkingPickler.loads(message)
    assert isinstance(info.value.__cause__, (OSError, EOFError))
    capfd.readouterr()  # the thread of multiprocessing tells of it, too


def test_no_descriptor_is_left():
    view = Mtl.zeros(3, shared=True)
    through(view)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        through([view, view])
    end = time.monotonic() + 60
    while len(os.listdir("/proc/self/fd")) > before:  # a thread closes the last
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("size", [2**40, 2**63 - 1])
def test_memory_that_is_too_small(size, monkeypatch):
    view = Mtl.zeros(3, shared=True)
    monkeypatch.setattr(Mtl.Buffer, "get_size", lambda self: size)
    message = ForkingPickler.dumps(view)
    monkeypatch.undo()
    with pytest.raises(IndexError, match=says(size)):
        ForkingPickler.loads(message)

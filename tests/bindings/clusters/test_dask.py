# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views in the tasks of Dask, in two workers on this machine."""

import os
import subprocess
import sys
import time

# Messages are cut into pieces of this size, here and in the workers.
os.environ["DASK_DISTRIBUTED__COMM__SHARD"] = "1MiB"

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from gi.repository import Mtl  # noqa: E402

pytest.importorskip("distributed", reason="Dask is in the environment of the clusters only")

import dask  # noqa: E402
import psutil  # noqa: E402
from dask.sizeof import sizeof  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from distributed.protocol import (deserialize, dumps, loads, serialize,  # noqa: E402
                                  to_serialize)
from distributed.spill import SpillBuffer  # noqa: E402

import cluster_tasks as tasks  # noqa: E402
from cluster_tasks import LAYOUTS, VALUES, Wire, iota  # noqa: E402

# Seconds for one result, on a machine that is busy with other things.
PATIENCE = 300

CONFIGURATION = {
    "distributed.comm.timeouts.connect": f"{PATIENCE}s",
    "distributed.comm.timeouts.tcp": f"{PATIENCE}s",
    "distributed.scheduler.worker-ttl": None,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}


def is_tracker(process):
    try:
        return any("resource_tracker" in word for word in process.cmdline())
    except psutil.NoSuchProcess:  # it has just ended
        return False


def processes_below():
    """The processes below this one, but not that in which Python tracks resources."""
    return {child for child in psutil.Process().children(recursive=True)
            if not is_tracker(child)}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    before = processes_below()
    with dask.config.set(CONFIGURATION), LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=None, memory_limit=0,
            local_directory=str(tmp_path_factory.mktemp("dask"))) as cluster:
        with Client(cluster, timeout=PATIENCE) as client:
            client.run(Wire.watch)
            Wire.watch()
            yield client
    _, alive = psutil.wait_procs(processes_below() - before, timeout=PATIENCE)
    assert not alive


@pytest.fixture
def workers(client):
    """Forgets what was sent and received before. The client's heartbeat may empty the list of
    workers in scheduler_info() meanwhile."""
    Wire.clear()
    return list(client.run(Wire.clear))


def call(client, function, *args, **keywords):
    return client.submit(function, *args, pure=False, **keywords).result(PATIENCE)


# Messages, without a wire


@pytest.mark.parametrize("protocol", [4, 5])
def test_elements_are_beside_the_message(protocol):
    """The scheduler speaks protocol 4."""
    view, _ = iota(20, 30)
    for value in (view, view.T, view[3:7], view.as_read_only(), view.get_buffer()):
        header, frames = serialize(value, context={"pickle-protocol": protocol})
        assert len(frames) == 2 and len(frames[0]) < 500
        assert frames[1].nbytes == value.nbytes and frames[1].readonly == value.is_read_only()
        begin = 4 * 30 * 3 if value.nbytes < 2400 else 0
        assert tasks.address_of(frames[1]) == view.get_address() + begin

        wire = bytearray(frames[1])
        result = deserialize(header, [bytes(frames[0]), memoryview(wire)])
        assert bytes(result) == bytes(value) and result.is_read_only() == value.is_read_only()
        wire[0] ^= 1
        assert bytes(result)[0] == bytes(value)[0] ^ 1  # no copy


def test_elements_that_lie_apart_are_copied_once():
    view, array = iota(20, 30)
    header, frames = serialize(view[:, ::2])
    assert [frame.nbytes for frame in frames[1:]] == [1200]
    assert deserialize(header, frames).tolist() == array[:, ::2].tolist()
    header, frames = serialize(view[:1].broadcast_to(10**9, 30))
    assert [frame.nbytes for frame in frames[1:]] == [120]
    assert deserialize(header, frames)[10**8].tolist() == array[0].tolist()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_memory_that_cannot_be_written_is_only_copied_for_views_that_can(is_read_only):
    view, array = iota(20, 30)
    view = view.as_read_only() if is_read_only else view
    header, frames = serialize(view)
    received = bytes(frames[1])  # as decompressors return it
    result = deserialize(header, [frames[0], received])
    assert result.is_read_only() == is_read_only and result.tolist() == array.tolist()
    assert (result.get_address() == tasks.address_of(received)) == is_read_only


def test_pieces_of_a_message_are_not_copied_either():
    view, array = iota(100, 100)
    frames = dumps({"x": to_serialize(view)}, frame_split_size=1000)
    pieces = [frame for frame in frames if memoryview(frame).nbytes in (1000, 40000 % 1000)]
    begin = view.get_address()
    assert [tasks.address_of(piece) for piece in pieces] == list(range(begin, begin + 40000, 1000))

    memory = memoryview(bytearray(b"".join(frames)))
    ends = np.cumsum([memoryview(frame).nbytes for frame in frames])
    received = [memory[end - memoryview(frame).nbytes:end] for frame, end in zip(frames, ends)]
    result = loads(received)["x"]
    assert result.tolist() == array.tolist()
    begin = tasks.address_of(memory)
    assert begin < result.get_address() < begin + memory.nbytes


IMPORTS = {
    "mtldl first": "from gi.repository import Mtl; import distributed",
    "dask first": "import distributed; from gi.repository import Mtl",
    "only its protocol": "from gi.repository import Mtl; import distributed.protocol.serialize",
}


@pytest.mark.parametrize("order", IMPORTS)
def test_order_of_imports(order):
    code = f"""
import gi, inspect, sys
gi.require_version("Mtl", "1")
{IMPORTS[order]}
from distributed.protocol import deserialize, serialize
for value in (Mtl.zeros((2, 3)), Mtl.zeros(5).get_buffer()):
    header, frames = serialize(value, context={{"pickle-protocol": 4}})
    assert header["serializer"] == "dask", header
    assert bytes(deserialize(header, frames)) == bytes(value)
assert "dask_serialize" in inspect.getsource(sys.modules["distributed.protocol.serialize"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_library_does_not_import_dask():
    code = ("import gi, sys; gi.require_version('Mtl', '1'); from gi.repository import Mtl\n"
            "Mtl.zeros(3); print([name for name in ('dask', 'distributed', 'ray') "
            "if name in sys.modules])")
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


# Sizes, tokens, and memory that is written to disk


def test_sizes_that_dask_counts():
    view, array = iota(500, 400)
    for part, reference in ((view, array), (view.T, array.T), (view[5:9, ::2], array[5:9, ::2]),
                            (view[:1].broadcast_to(10**6, 400),
                             np.broadcast_to(array[:1], (10**6, 400)))):
        assert 0 <= sizeof(part) - sizeof(reference) < 200
    assert 0 <= sizeof(view.get_buffer()) - array.nbytes < 200
    assert sizeof({"x": view, "y": [view, view]}) > 3 * array.nbytes


def test_tokens_are_of_the_elements():
    view, array = iota(20, 30)
    same = [view, view.copy(), view.as_read_only().copy(), Mtl.asview(array.copy())]
    assert len({dask.base.tokenize(each) for each in same}) == 1
    changed = view.copy()
    changed[7, 8] += 1
    others = [view, changed, view.T, view[:, ::2], view.reshape(30, 20), view.reinterpret("int32"),
              view.astype("float64")]
    assert len({dask.base.tokenize(each) for each in others}) == len(others)


def test_views_are_written_to_disk_when_there_are_too_many(tmp_path):
    """Dask counts their bytes."""
    store = SpillBuffer(str(tmp_path), target=100_000)
    arrays = {}
    for number in range(5):
        view, arrays[number] = iota(100, 100)
        view[...] += number
        store[number] = view if number % 2 else view.as_read_only().T
    assert len(store.memory) == 2 and len(store.disk) == 3
    for number, array in arrays.items():
        result = store[number] if number % 2 else store[number].T
        assert result.tolist() == (array + number).tolist()
        assert result.is_read_only() == (number % 2 == 0)


# Tasks


def test_layouts_in_tasks(client):
    view, array = iota(2, 3, 4)
    parts = {name: (of(view), of(array)) for name, of in LAYOUTS.items()}
    parts["scalar"] = view[1, 2, 3:].reshape([]), array[1, 2, 3]
    parts["repeated"] = view[:1].broadcast_to(5, 3, 4), np.broadcast_to(array[:1], (5, 3, 4))
    told = client.map(tasks.describe, [part for part, _ in parts.values()], pure=False)
    back = client.map(tasks.identity, [part for part, _ in parts.values()], pure=False)
    for (name, (part, reference)), answer, result in zip(
            parts.items(), client.gather(told), client.gather(back)):
        assert answer == {"type": "StridedView", "shape": reference.shape, "dtype": "float32",
                          "read_only": False, "repeats": name == "repeated",
                          "items": reference.tolist()}, name
        np.testing.assert_array_equal(np.asarray(result), reference)
        assert result.layout.dup_stride_order() == part.layout.dup_stride_order(), name


def test_element_types_in_tasks(client):
    views = [Mtl.array(tasks.numbers(dtype), dtype) for dtype in VALUES]
    results = client.gather(client.map(tasks.backwards, views, pure=False))
    for dtype, result in zip(VALUES, results, strict=True):
        assert result.dtype == dtype
        assert result.tolist() == np.array(tasks.numbers(dtype))[::-1, ::2].tolist(), dtype


def test_numpy_in_a_task(client):
    view, array = iota(30, 40)
    for part, reference in ((view, array), (view.T[::2], array.T[::2])):
        result = call(client, tasks.add_with_numpy, part, 3)
        np.testing.assert_array_equal(result, reference + 3)


def test_writing_in_tasks(client):
    view, array = iota(2, 3)
    assert call(client, tasks.overwrite, view) == [[7, 7, 7]] * 2
    assert call(client, tasks.overwrite, view.as_read_only()) == "ValueError"
    assert view.tolist() == array.tolist()


def test_views_in_other_values_and_functions_that_use_the_module(client):
    view, array = iota(300, 400)
    other = Mtl.ones(5, "bfloat16")
    result = call(client, lambda values: {"sum": Mtl.array(values["x"]).sum(), **values},
                  {"x": view, "more": [other, view.layout, view.dtype, view.get_buffer()]})
    assert result["sum"] == array.sum() and result["x"].tolist() == array.tolist()
    more = result["more"]
    assert more[0].tolist() == [1] * 5 and more[1] == view.layout and more[2] == "float32"
    assert bytes(more[3]) == array.tobytes()


def test_files_are_opened_by_the_worker(client, tmp_path):
    Mtl.save(tmp_path / "a.safetensors", {"x": np.arange(6)})
    file = Mtl.load(tmp_path / "a.safetensors")
    assert call(client, lambda file: file["x"].tolist(), file) == [0, 1, 2, 3, 4, 5]


def test_arrays_of_dask_over_views(client):
    import dask.array

    view, array = iota(40, 60)
    lazy = dask.array.from_array(view[::-1], chunks=(15, 25))
    np.testing.assert_array_equal((lazy.T * 2).compute(), array[::-1].T * 2)


# The wire


N_BYTES = {"one piece": 600_000, "several pieces": 4_000_000}


@pytest.mark.parametrize("size", N_BYTES)
def test_an_argument_is_not_copied(client, workers, size):
    view, _ = iota(N_BYTES[size] // 4)
    assert call(client, Wire.holds, view, workers=workers[:1])
    assert Wire.sends(view.get_address(), view.nbytes)


@pytest.mark.parametrize("size", N_BYTES)
def test_scattered_views_are_not_copied(client, workers, size):
    for direct in (False, True):
        view, _ = iota(N_BYTES[size] // 4)
        future = client.scatter(view, direct=direct, workers=workers[:1], hash=False)
        assert call(client, Wire.holds, future, workers=workers[:1])
        assert Wire.sends(view.get_address(), view.nbytes)
        # Another worker fetches it from the first.
        assert call(client, Wire.holds, future, workers=workers[1:])
        address = call(client, tasks.get_address, future, workers=workers[:1])
        sent = client.run(Wire.sends, address, view.nbytes)
        assert sent[workers[0]] and not sent[workers[1]]


@pytest.mark.parametrize("of", [list, tuple, lambda views: dict(zip("ab", views))])
def test_views_in_a_result_are_not_copied(client, workers, of):
    view, array = iota(200_000)
    future = client.submit(tasks.identity, of([view, view[1000:]]), pure=False)
    result = future.result(PATIENCE)
    first, second = result.values() if isinstance(result, dict) else result
    for part, reference in ((first, array), (second, array[1000:])):
        assert Wire.holds(part) and part.tolist() == reference.tolist()


def test_direct_results_of_other_classes_are_not_copied(client, workers):
    future = client.submit(tasks.Accumulator, 200_000, pure=False)
    result = client.gather(future, direct=True)
    assert Wire.holds(result.sum) and result.sum.tolist() == [0] * 200_000


@pytest.mark.parametrize("size", N_BYTES)
@pytest.mark.parametrize("direct", [False, True])
def test_a_result_is_not_copied(client, workers, size, direct):
    n_elements = N_BYTES[size] // 4
    future = client.submit(Mtl.full, n_elements, 3, dtype="float32", workers=workers[:1],
                           pure=False)
    address = call(client, tasks.get_address, future, workers=workers[:1])
    result = client.gather(future, direct=direct)
    assert Wire.holds(result) and result.tolist() == [3] * n_elements
    assert client.run(Wire.sends, address, result.nbytes)[workers[0]]
    result[0] = 5  # it is this process's own


def test_the_scheduler_counts_the_bytes(client):
    future = client.submit(Mtl.zeros, (1000, 1000), pure=False)
    assert future.result(PATIENCE).shape == (1000, 1000)
    deadline = time.monotonic() + PATIENCE
    while not (counted := client.nbytes(summary=False).get(future.key)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert 8_000_000 <= counted < 8_001_000

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views in the object store of Ray, and in its tasks, in two workers on this machine."""

import gc
import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager

# Only those who have this key may send tasks; Ray would keep one in the home folder. It also sends
# statistics, and ends tasks if the machine has little memory.
os.environ |= {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    # A machine that is busy with other things starts its processes late.
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_gcs_server_port_wait_time_s": "300",
    "RAY_gcs_server_request_timeout_seconds": "300",
    "RAY_worker_register_timeout_seconds": "300",
    # Its workers import modules of this folder.
    "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]),
}

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from gi.repository import Mtl  # noqa: E402

ray = pytest.importorskip("ray", reason="Ray is in the environment of the clusters only")

import psutil  # noqa: E402

import cluster_tasks as tasks  # noqa: E402
from cluster_tasks import LAYOUTS, VALUES, iota  # noqa: E402

PATIENCE = 300
STORE = 100_000_000
PLASMA = "/dev/shm/plasma"


def processes_below():
    return set(psutil.Process().children(recursive=True))


@contextmanager
def in_folder():
    """A folder with a short name, as it has the names of sockets."""
    folder = tempfile.mkdtemp(prefix="mtl-ray-", dir="/tmp")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module", autouse=True)
def store():
    """Asserts that none of Ray's processes and shared memory is left at the end."""
    before, shared = processes_below(), set(os.listdir("/dev/shm"))
    with in_folder() as folder:
        ray.init(num_cpus=2, include_dashboard=False, object_store_memory=STORE, _temp_dir=folder,
                 configure_logging=False, log_to_driver=False)
        try:
            yield
        finally:
            started = processes_below() - before
            ray.shutdown()
            _, alive = psutil.wait_procs(started, timeout=PATIENCE)
            for process in alive:
                process.kill()
    assert len(started) > 3 and not alive
    assert not [name for name in set(os.listdir("/dev/shm")) - shared if "plasma" in name]


def get(references):
    return ray.get(references, timeout=PATIENCE)


def call(function, *args):
    return get(ray.remote(function).remote(*args))


def is_in_store(view):
    return tasks.mapping_of(view).startswith(PLASMA)


# The store


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_in_the_store(layout):
    view, array = iota(2, 3, 4)
    part, reference = LAYOUTS[layout](view), LAYOUTS[layout](array)
    result = get(ray.put(part))
    np.testing.assert_array_equal(np.asarray(result), reference)
    assert result.dtype == "float32" and result.shape == part.shape
    assert result.layout.dup_stride_order() == part.layout.dup_stride_order()
    assert result.is_empty() or is_in_store(result)


def test_element_types_in_the_store():
    for dtype in VALUES:
        result = get(ray.put(Mtl.array(tasks.numbers(dtype), dtype)))
        assert result.dtype == dtype and is_in_store(result), dtype
        assert result.tolist() == np.array(tasks.numbers(dtype)).tolist(), dtype


def test_getting_is_not_copying():
    view, array = iota(500, 2000)
    for part, reference in ((view, array), (view.T, array.T), (view[:, ::2], array[:, ::2]),
                            (view.as_read_only(), array)):
        kept = ray.put(part)
        first, second = get([kept, kept])
        assert is_in_store(first) and first.get_address() % 64 == 0
        assert first.get_address() == second.get_address() == get(kept).get_address()
        assert not first.overlaps(part)
        np.testing.assert_array_equal(np.asarray(first), reference)


def test_repeated_elements_are_stored_once():
    view, array = iota(1, 1000)
    result = get(ray.put(view.broadcast_to(10**9, 1000)))
    assert is_in_store(result) and result[10**8].tolist() == array[0].tolist()


def test_what_is_in_the_store_cannot_be_written():
    view, array = iota(500, 1000)
    kept = ray.put(view)
    result = get(kept)
    assert result.is_read_only() and result.get_buffer().is_read_only()
    assert not np.asarray(result).flags.writeable and memoryview(result).readonly
    assert not np.from_dlpack(result).flags.writeable
    for write in (lambda: result.fill(0), lambda: result.copy_from(view),
                  lambda: np.add(result, 1, out=result)):
        with pytest.raises((ValueError, TypeError)):
            write()
    assert tasks.overwrite(result) == "ValueError"
    assert get(kept).tolist() == array.tolist()

    own = result.copy()
    own[...] = 3
    assert not is_in_store(own) and get(kept).tolist() == array.tolist()
    view[...] = 5  # the store has a copy
    assert get(kept).tolist() == array.tolist()


def test_buffers_in_the_store():
    view, array = iota(500, 1000)
    buffer = get(ray.put(view.get_buffer()))
    assert buffer.is_read_only() and bytes(buffer) == array.tobytes()
    assert is_in_store(Mtl.asview(buffer))


def test_other_values_with_views():
    view, array = iota(500, 1000)
    kept = ray.put({"x": view, "more": [view.T, view.astype("bfloat16"), view.layout, view.dtype]})
    result, again = get(kept), get(kept)
    for value, reference in ((result["x"], array), (result["more"][0], array.T)):
        assert is_in_store(value) and value.tolist() == reference.tolist()
    assert is_in_store(result["more"][1]) and result["more"][1].dtype == "bfloat16"
    assert result["more"][2:] == [view.layout, view.dtype]
    assert result["x"].get_address() == again["x"].get_address() != result["more"][0].get_address()


def test_files_are_mapped_by_the_worker(tmp_path):
    Mtl.save(tmp_path / "a.safetensors", {"x": np.arange(100_000)})
    view = Mtl.load(tmp_path / "a.safetensors", mode=Mtl.TensorFileMode.MAP)["x"]
    with Mtl.pickle_by_path():
        kept = ray.put(view)
    assert call(tasks.mapping_of, kept) == str(tmp_path / "a.safetensors")
    assert get(kept).array_equal(view)


def test_memory_stays_while_it_is_used():
    """Neither Ray's reference nor the view is needed, only what lies in the memory."""
    arrays = []
    for number in range(3):
        view = iota(2_000_000)[0]
        view[...] += number
        arrays.append(np.asarray(get(ray.put(view))[1:]))
    gc.collect()
    for _ in range(20):
        view, array = iota(6_000_000)
        result = get(ray.put(view))
        # Memory that is never given back would leave none of the store's.
        assert is_in_store(result) and result[-1] == array[-1]
        del result
    for number, array in enumerate(arrays):
        np.testing.assert_array_equal(array, np.arange(1, 2_000_000, dtype="f4") + number)


# Tasks


def test_arguments_are_not_copied():
    view, array = iota(500, 1000)
    kept = ray.put(view)
    assert call(tasks.mapping_of, kept).startswith(PLASMA)
    assert call(tasks.mapping_of, view).startswith(PLASMA)
    assert call(tasks.overwrite, kept) == "ValueError"
    for part, reference in ((view, array), (view.T[::2], array.T[::2])):
        np.testing.assert_array_equal(call(tasks.add_with_numpy, part, 3), reference + 3)


def test_results_are_not_copied():
    view, array = iota(500, 1000)
    kept = ray.remote(tasks.backwards).remote(view)
    result, again = get([kept, kept])
    assert is_in_store(result) and result.is_read_only()
    assert result.get_address() == again.get_address()
    assert result.tolist() == array[::-1, ::2].tolist()
    # Straight on to another task.
    assert call(tasks.mapping_of, kept).startswith(PLASMA)


def test_small_views_go_with_the_message():
    view, array = iota(2, 3)
    assert call(tasks.describe, view) == {
        "type": "StridedView", "shape": (2, 3), "dtype": "float32", "read_only": True,
        "repeats": False, "items": array.tolist()}
    result = call(tasks.identity, view)
    assert not is_in_store(result) and result.tolist() == array.tolist()
    assert call(tasks.overwrite, view) == "ValueError"


def test_functions_that_use_the_module():
    view, array = iota(500, 1000)
    result = call(lambda view: Mtl.array(view, "float64").T, view)
    assert is_in_store(result) and result.tolist() == array.T.tolist()


def test_actors():
    view, array = iota(500, 1000)
    actor = ray.remote(tasks.Accumulator).remote(view.shape)
    kept = ray.put(view)
    results = get([actor.add.remote(kept) for _ in range(3)])
    for number, result in enumerate(results, 1):  # each is a copy of its time
        assert is_in_store(result) and result.tolist() == (number * array).tolist()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views there and back through Dask and Ray, against NumPy's arrays of the same elements, and
against views that are pickled by hand: the best of several rounds taken in turn, with two workers
on this machine.
"""

import contextlib
import os
import pickle
import secrets
import tempfile
import time
import warnings

# Only who has this key may send tasks. Ray also sends statistics.
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32),
               "RAY_USAGE_STATS_ENABLED": "0"}

import gi  # noqa: E402

gi.require_version("Mtl", "1")

import dask  # noqa: E402
import numpy as np  # noqa: E402
import ray  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from gi.repository import Mtl  # noqa: E402

SIZES = {"64 KiB": (2**16, 100), "256 MiB": (2**28, 12)}  # bytes, rounds
PICKLED_EVERY = 4  # rounds, as that takes much longer
STORE = 2**31

# The protocol of the columns that are pickled by hand.
CONTENDERS = {"NumPy": None, "view": None, "pickle 5": 5, "pickle 4": 4}


def pack(value, protocol):
    return pickle.dumps(value, protocol) if protocol else value


def unpack(packed, protocol):
    return pickle.loads(packed) if protocol else packed


def task(packed, protocol):
    """Runs in a worker."""
    value = unpack(packed, protocol)
    assert value[-1] == value.shape[0] - 1
    return pack(value, protocol)


def ways_of_dask(client):
    def through_a_task(packed, protocol):
        return client.submit(task, packed, protocol, pure=False).result()

    def through_memory(direct):
        return lambda packed, protocol: client.gather(
            client.scatter(packed, direct=direct, hash=False), direct=direct)

    return {"Dask: argument and result of a task": through_a_task,
            "Dask: scatter, gather by the scheduler": through_memory(False),
            "Dask: scatter, gather with direct=True": through_memory(True)}


def ways_of_ray():
    remote = ray.remote(task)
    return {"Ray: argument and result of a task":
            lambda packed, protocol: ray.get(remote.remote(packed, protocol)),
            "Ray: put, get": lambda packed, protocol: ray.get(ray.put(packed))}


def best_seconds(there_and_back, view, n_rounds):
    values = dict.fromkeys(CONTENDERS, view) | {"NumPy": np.asarray(view)}
    best = dict.fromkeys(CONTENDERS, float("inf"))
    for number in range(n_rounds):
        for name, protocol in CONTENDERS.items():
            if protocol and number % PICKLED_EVERY:
                continue
            begin = time.perf_counter()
            result = unpack(there_and_back(pack(values[name], protocol), protocol), protocol)
            best[name] = min(best[name], time.perf_counter() - begin)
            assert result[-1] == view.shape[0] - 1 and result.nbytes == view.nbytes
            del result
    return best


def seconds_of_copy(view, n_rounds):
    source, target = np.asarray(view), np.ones_like(view)
    best = float("inf")
    for _ in range(n_rounds):
        begin = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - begin)
    return best


def measure(ways):
    for size, (n_bytes, n_rounds) in SIZES.items():
        view = Mtl.arange(n_bytes // 8, dtype="float64", device="cpu")
        copy = seconds_of_copy(view, n_rounds)
        for way, there_and_back in ways.items():
            best = best_seconds(there_and_back, view, n_rounds)
            first = best["NumPy"]
            ratios = "".join(f"{best[name] / first:10.2f}" for name in list(CONTENDERS)[1:])
            print(f"{way:40}{size:>8}{first * 1e3:10.2f}{first / copy:9.1f}{ratios}", flush=True)


@contextlib.contextmanager
def dask_cluster():
    with tempfile.TemporaryDirectory() as folder, LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            memory_limit=0, local_directory=folder) as cluster, Client(cluster) as client:
        yield client


@contextlib.contextmanager
def ray_cluster():
    with tempfile.TemporaryDirectory(prefix="mtl-ray-", dir="/tmp") as folder:
        ray.init(num_cpus=2, include_dashboard=False, object_store_memory=STORE, _temp_dir=folder,
                 configure_logging=False, log_to_driver=False)
        try:
            yield
        finally:
            ray.shutdown()


def main():
    warnings.filterwarnings("ignore", "Sending large graph")
    print(f"Dask {dask.__version__}, Ray {ray.__version__}, NumPy {np.__version__}: milliseconds of "
          "NumPy's array,\nthe same in copies of its bytes, and the others' times as multiples\n")
    print(f"{'':40}{'':8}{'NumPy, ms':>10}{'copies':>9}"
          + "".join(f"{name:>10}" for name in list(CONTENDERS)[1:]))
    with dask_cluster() as client:
        measure(ways_of_dask(client))
    with ray_cluster():
        measure(ways_of_ray())


if __name__ == "__main__":
    main()

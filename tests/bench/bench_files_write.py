# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of tensors written from Python, by the builder of views that are there and by
Mtl.save() of NumPy's arrays, beside safetensors' save_file() of NumPy's and of torch's:
seconds, the least of several rounds taken in turn, the ratio to the peer, the most that it
may be, where something is asked for, and how much more memory there was at the most, in MiB.

What was written here is on the disk when it returns, so save_file() is followed by
fsync() here. It alone, which leaves that to the system, is measured too, without a limit.

usage: bench_files_write.py [FOLDER]: where to write, a new temporary folder otherwise.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
import safetensors  # noqa: E402
import safetensors.numpy  # noqa: E402
import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from gi.repository import Gio, Mtl  # noqa: E402

ROUNDS = 6
N_LARGE, N_SMALL = 1000, 100_000

# Limits, as shares of the peer's time.
CONTIGUOUS_LIMIT, TRANSPOSED_LIMIT = 1 / 1.1, 1 / 1.5
MEMORY_LIMIT = 8 << 20


def flushed(save):
    def save_and_flush(tensors, path):
        save(tensors, path)
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    return save_and_flush


def write(views, path):
    builder = Mtl.TensorFileBuilder()
    for name, view in views.items():
        builder.add(name, view)
    builder.write(Gio.File.new_for_path(str(path)), None, None)


def save(arrays, path):
    Mtl.save(path, arrays)


def save_numpy(arrays, path):
    safetensors.numpy.save_file({name: np.ascontiguousarray(array)
                                 for name, array in arrays.items()}, path)


def save_torch(tensors, path):
    safetensors.torch.save_file({name: tensor.contiguous() for name, tensor in tensors.items()},
                                path)


def status(field):
    """Bytes, as Linux counts them; None elsewhere."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field + ":"))


def extra_memory(call, *args):
    """The most that there was during the call, beyond what there was before it."""
    if status("VmRSS") is None:
        call(*args)
        return None
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before = status("VmRSS")
    call(*args)
    return status("VmHWM") - before


def measure(calls, path):
    best, extra = [float("inf")] * len(calls), [0] * len(calls)
    for i in range(ROUNDS):
        for j in range(len(calls)):
            # Each round begins with another: a disk goes on with what was written before.
            j = (i + j) % len(calls)
            save, tensors = calls[j]
            path.unlink(missing_ok=True)
            os.sync()
            if i == 0:  # which also brings all into the caches
                extra[j] = extra_memory(save, tensors, path)
                continue
            start = time.perf_counter()
            save(tensors, path)
            best[j] = min(best[j], time.perf_counter() - start)
    path.unlink()
    return best, extra


def cases():
    large = np.random.default_rng(0).random((N_LARGE, 512, 512), np.float32)
    small = np.arange(4 * N_SMALL, dtype=np.float32).reshape(N_SMALL, 2, 2)
    names = [f"model.layers.{i // 10}.block.{i % 10}.weight" for i in range(N_SMALL)]
    yield f"{N_LARGE} of 1 MiB", dict(zip(names, large)), CONTIGUOUS_LIMIT
    yield f"{N_LARGE} transposed", dict(zip(names, large.transpose(0, 2, 1))), TRANSPOSED_LIMIT
    yield f"{N_LARGE} of each 2nd", dict(zip(names, large[:, :, ::2])), None
    yield f"{N_SMALL} of 16 bytes", dict(zip(names, small)), CONTIGUOUS_LIMIT


def mebibytes(n):
    return "      ?" if n is None else f"{n / (1 << 20):7.1f}"


def rows(folder):
    path = Path(folder) / "bench.safetensors"
    for what, arrays, limit in cases():
        views = {name: Mtl.asview(array) for name, array in arrays.items()}
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        calls = {"builder": (write, views), "save()": (save, arrays),
                 "NumPy's save_file, fsync": (flushed(save_numpy), arrays),
                 "torch's save_file, fsync": (flushed(save_torch), tensors),
                 "NumPy's save_file": (save_numpy, arrays)}
        costs = dict(zip(calls, zip(*measure(list(calls.values()), path))))
        for ours, peer, most in (("builder", "NumPy's save_file, fsync", limit),
                                 ("builder", "torch's save_file, fsync", limit),
                                 ("builder", "NumPy's save_file", None),
                                 ("save()", "NumPy's save_file, fsync", None)):
            yield what, ours, *costs[ours], peer, *costs[peer], most


def main(folder=None):
    print(f"Python {sys.version.split()[0]}, safetensors {safetensors.__version__}, "
          f"NumPy {np.__version__}, torch {torch.__version__}")
    print(f"{'tensors':22}{'by':8}{'s':>7}{'MiB':>8}  {'peer':26}{'s':>7}{'MiB':>8}{'ratio':>7}"
          f"{'at most':>9}")
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        for what, ours, our_time, our_extra, peer, their_time, their_extra, most in rows(temporary):
            ratio = our_time / their_time
            missed = ((most is not None and ratio > most)
                      or (our_extra is not None and our_extra > MEMORY_LIMIT
                          and not what.startswith(str(N_SMALL))))
            print(f"{what:22}{ours:8}{our_time:7.3f} {mebibytes(our_extra)}  "
                  f"{peer:26}{their_time:7.3f} {mebibytes(their_extra)}{ratio:7.2f}"
                  f"{'' if most is None else format(most, '9.2f')}{'  missed' if missed else ''}",
                  flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

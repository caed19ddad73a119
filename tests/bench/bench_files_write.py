# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows of bench_files.py: writing, beside safetensors. What is written here is on the disk
when it is done, so that theirs is flushed, too; and in /dev/shm, where that takes no time."""

import ctypes
import os
from pathlib import Path

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Gio, Mtl  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402

# Of the time of save_file(), as it is to be 1.1 and 1.5 times as fast.
CONTIGUOUS_LIMIT, TRANSPOSED_LIMIT = 1 / 1.1, 1 / 1.5
MEMORY_LIMIT = 8  # MiB

MEMORY_FOLDER = Path("/dev/shm")


def flush(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def write_ours(path, arrays):
    builder = Mtl.TensorFileBuilder()
    for name, array in arrays.items():
        builder.add(name, Mtl.asview(array))
    builder.write(Gio.File.new_for_path(str(path)), None, None)


def write_theirs(path, arrays):
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    flush(path)
    flush(path.parent)


def check_same(folder, arrays):
    """What both write is the same."""
    names = list(arrays)[:5]
    for write in write_ours, write_theirs:
        path = folder / "few"
        write(path, {name: arrays[name] for name in names})
        loaded = load_file(path)
        assert all(np.array_equal(loaded[name], arrays[name]) for name in names)
        path.unlink()


def rows_of_writing(folder, where, n, name_of):
    """Of tensors of 1 MiB."""
    rng = np.random.default_rng(1)
    arrays = {name_of(i): rng.random((512, 512), dtype=np.float32) for i in range(n)}
    transposed = {name: array.T for name, array in arrays.items()}
    path = folder / "written.safetensors"
    for what, limit, these in (("contiguous", CONTIGUOUS_LIMIT, arrays),
                               ("transposed", TRANSPOSED_LIMIT, transposed)):
        check_same(folder, these)
        yield (f"write {what}: {where}", "save_file(), flushed", limit,
               lambda these=these: write_ours(path, these),
               lambda these=these: write_theirs(path, these))
    path.unlink()


def read_status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def measure_memory(call):
    """MiB that it has at most, beyond what was there before."""
    call()  # what is made only once
    ctypes.CDLL(None).malloc_trim(0)  # what is free would be taken, and not be more
    before = read_status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # begins a new peak
    call()
    return read_status("VmHWM") - before


def show_memory(row):
    what, peer, _, ours, theirs = row
    our_memory, their_memory = measure_memory(ours), measure_memory(theirs)
    print(f"{'':8}  {what + ', MiB more':34}{our_memory:9.1f}  {peer:24}{their_memory:9.1f}{'':7}"
          f"{MEMORY_LIMIT:9}{'  missed' if our_memory > MEMORY_LIMIT else ''}", flush=True)

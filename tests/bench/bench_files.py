# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reading files of tensors, beside safetensors, PyTorch and Python's json: milliseconds, the
least of several rounds taken in turn, the ratio to the peer, and the most that it may be, where
something is asked for.

The same is done from C, by Mtl.TensorFile's own functions, and as the guide does it.

usage: bench_files.py FOLDER: the build folder.
"""

import ctypes
import errno
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import gi

gi.require_version("Mtl", "1")

import safetensors  # noqa: E402
import torch  # noqa: E402, F401: what safetensors makes of tensors
from gi.repository import Gio, Mtl  # noqa: E402

MIB = 2**20

# Numbers of tensors and of bytes in each, and rounds of fast calls and of slow ones.
MODELS = [(1000, MIB, 300, 8), (100_000, 4, 6, 3)]
COLD_ROUNDS = 7

# Limits, as shares of the peer's time.
OPEN_LIMIT_IN_C, OPEN_LIMIT, VIEWS_LIMIT = 0.25, 0.3, 0.25
PARSE_LIMIT, INDEX_LIMIT = 0.5, 1.25
SPARSE_LIMIT, COLD_LIMIT = 1.1, 1.05


def measure(calls, rounds, prepare=lambda: None):
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            prepare()
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return [1e3 * seconds for seconds in best]


def show(n, row, rounds, **more):
    what, peer, limit, ours, theirs = row
    our_time, their_time = measure([ours, theirs], rounds, **more)
    ratio = our_time / their_time
    told = "" if limit is None else f"{limit:9.2f}{'  missed' if ratio > limit else ''}"
    print(f"{n:8}  {what:36}{our_time:9.3f}  {peer:24}{their_time:9.3f}{ratio:7.2f}{told}",
          flush=True)


def name_of(i):
    """Returns a name like those of models."""
    return f"model.layers.{i // 10}.block.{i % 10}.weight"


def header_of(n, size):
    entries = {name_of(i): {"dtype": "F32", "shape": [size // 4],
                            "data_offsets": [size * i, size * (i + 1)]} for i in range(n)}
    entries["__metadata__"] = {"format": "pt"}
    header = json.dumps(entries, separators=(",", ":")).encode()
    return header + b" " * (-len(header) % 8)


def write_model(path, n, size):
    header = header_of(n, size)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for i in range(0, n * size, MIB):
            file.write(os.urandom(min(MIB, n * size - i)))
    return header


def rows_of_opening(path, n, c):
    def list_ours():
        return Mtl.TensorFile.open(Gio.File.new_for_path(str(path)),
                                        mode=Mtl.TensorFileMode.MAP).list_names()

    def list_theirs():
        with safetensors.safe_open(path, framework="pt") as file:
            return file.keys()

    # Each gives all of them, or it is not what it is called.
    assert c.list_tensors(bytes(path)) == len(list_ours()) == len(list_theirs()) == n
    assert len(list(Mtl.load(path))) == n

    peer = "safe_open() + keys()"
    yield ("open, list, close: in C", peer, OPEN_LIMIT_IN_C, lambda: c.list_tensors(bytes(path)),
           list_theirs)
    yield "open(), list_names()", peer, OPEN_LIMIT, list_ours, list_theirs
    yield "list(load())", peer, None, lambda: list(Mtl.load(path)), list_theirs


def rows_of_views(path, n):
    def get_ours():
        file = Mtl.TensorFile.open(Gio.File.new_for_path(str(path)), mode=Mtl.TensorFileMode.MAP)
        return [file.load_view(name) for name in file.list_names()]

    def get_by_name():
        file = Mtl.load(path)
        return [file[name] for name in file]

    def get_theirs():
        with safetensors.safe_open(path, framework="pt") as file:
            return [file.get_tensor(name) for name in file.keys()]

    assert len(get_ours()) == len(get_by_name()) == len(get_theirs()) == n
    yield "open(), all load_view()", "all get_tensor()", VIEWS_LIMIT, get_ours, get_theirs
    yield "load(), all file[name]", "all get_tensor()", None, get_by_name, get_theirs


def rows_of_parsing(header, n, size, c):
    text = header.decode()
    index = json.dumps({"weight_map": {name_of(i): f"model-{i % 100:05}" for i in range(n)}})
    encoded = index.encode()
    file_size = 8 + len(header) + n * size
    assert c.count_in_text(header, len(header), file_size) == n
    assert c.count_in_index(encoded, len(encoded)) == n

    yield ("parse and check a header: in C", "json.loads()", PARSE_LIMIT,
           lambda: c.count_in_text(header, len(header), file_size), lambda: json.loads(text))
    yield ("parse and check an index: in C", "json.loads()", INDEX_LIMIT,
           lambda: c.count_in_index(encoded, len(encoded)), lambda: json.loads(index))


def show_sparse(folder, c):
    """Nothing takes the longer, the larger the file is."""
    paths = [folder / "small", folder / "large"]
    for path, size in zip(paths, (4, 2**40)):
        header = header_of(1, size)
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        os.truncate(path, 8 + len(header) + size)
        assert c.list_tensors(bytes(path)) == 1
    small, large = (lambda path=path: c.list_tensors(bytes(path)) for path in paths)
    show(1, ("open, list, close 1 TiB: in C", "the same of 4 bytes", SPARSE_LIMIT, large, small),
         3000)


def forget(path):
    """Takes the file out of memory; says whether it could."""
    if not hasattr(os, "posix_fadvise"):
        return False
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.preadv(fd, [bytearray(1)], os.path.getsize(path) // 2, os.RWF_NOWAIT)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(fd)
    return False


def show_cold(path, n, begin, c):
    if not forget(path):
        print("Cold reading is left out: the system keeps the file in memory.")
        return
    name = bytes(path)
    assert c.touch_tensors(name) == c.touch_plain(name, begin)
    show(n, ("read all that is mapped, cold: in C", "mmap()", COLD_LIMIT,
             lambda: c.touch_tensors(name), lambda: c.touch_plain(name, begin)),
         COLD_ROUNDS, prepare=lambda: forget(path))


def load_functions(build):
    c = ctypes.CDLL(str(Path(build) / "tests" / "bench" / "libbench-file-tables.so"))
    for name, result, *arguments in [
            ("list_tensors", ctypes.c_size_t, ctypes.c_char_p),
            ("touch_tensors", ctypes.c_uint64, ctypes.c_char_p),
            ("touch_plain", ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t),
            ("count_in_text", ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64),
            ("count_in_index", ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)]:
        function = getattr(c, name)
        function.restype, function.argtypes = result, arguments
    return c


def main(build):
    c = load_functions(build)
    print(f"Python {sys.version.split()[0]}, safetensors {safetensors.__version__}, "
          f"PyTorch {torch.__version__}")
    print(f"{'tensors':>8}  {'':36}{'ms':>9}  {'peer':24}{'ms':>9}{'ratio':>7}{'at most':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "model.safetensors"
        for n, size, rounds, slow_rounds in MODELS:
            header = write_model(path, n, size)
            for row in rows_of_opening(path, n, c):
                show(n, row, rounds)
            for row in rows_of_parsing(header, n, size, c):
                show(n, row, rounds)
            for row in rows_of_views(path, n):
                show(n, row, slow_rounds)
            if size == MIB:
                show_cold(path, n, 8 + len(header), c)
        show_sparse(folder, c)


if __name__ == "__main__":
    main(*sys.argv[1:])

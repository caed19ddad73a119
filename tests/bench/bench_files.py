# SPDX-License-Identifier: LGPL-2.1-or-later
"""What safetensors files tell of their tensors, read in C, beside safetensors from Python
and Python's json: milliseconds, the least of several rounds taken in turn, the ratio to the
peer, and the most that it may be.

usage: bench_files.py FOLDER: the build folder.
"""

import ctypes
import json
import sys
import tempfile
import time
from pathlib import Path

import safetensors

ROUNDS = 30
COUNTS = 1000, 100_000

# Of the time of safe_open() and keys(), and of json.loads().
OPEN_LIMIT, PARSE_LIMIT, INDEX_LIMIT = 0.25, 0.5, 1.25


def measure(calls):
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return [1e3 * seconds for seconds in best]


def header_of(n):
    """Names and fields as a model's, 4 bytes each."""
    entries = {f"model.layers.{i // 10}.block.{i % 10}.weight":
               {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]}
               for i in range(n)}
    entries["__metadata__"] = {"format": "pt"}
    return json.dumps(entries, separators=(",", ":")).encode()


def rows(n, path, c):
    header = header_of(n)
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4 * n))
    text = header.decode()
    index = json.dumps({"weight_map": {f"model.layers.{i}.weight": f"model-{i % 100:05}"
                                       for i in range(n)}})
    encoded = index.encode()
    size = 8 + len(header) + 4 * n

    def open_theirs():
        with safetensors.safe_open(path, framework="numpy") as file:
            return file.keys()

    # Each gives all of them, or it is not what it is called.
    assert c.count_tensors(bytes(path)) == len(open_theirs()) == n
    assert c.count_in_index(encoded, len(encoded)) == n

    yield ("open, list, close", "safe_open() + keys()", OPEN_LIMIT,
           lambda: c.count_tensors(bytes(path)), open_theirs)
    yield ("parse and check a header", "json.loads()", PARSE_LIMIT,
           lambda: c.count_in_text(header, len(header), size), lambda: json.loads(text))
    yield ("parse and check an index", "json.loads()", INDEX_LIMIT,
           lambda: c.count_in_index(encoded, len(encoded)), lambda: json.loads(index))


def main(folder):
    c = ctypes.CDLL(str(Path(folder) / "tests" / "bench" / "libbench-file-tables.so"))
    for function in c.count_tensors, c.count_in_text, c.count_in_index:
        function.restype = ctypes.c_size_t
    c.count_tensors.argtypes = [ctypes.c_char_p]
    c.count_in_text.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    c.count_in_index.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

    print(f"Python {sys.version.split()[0]}, safetensors {safetensors.__version__}")
    print(f"{'tensors':>8}  {'in C':26}{'ms':>9}  {'peer':22}{'ms':>9}{'ratio':>7}{'at most':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "bench.safetensors"
        for n in COUNTS:
            for what, peer, limit, ours, theirs in rows(n, path, c):
                our_time, their_time = measure([ours, theirs])
                ratio = our_time / their_time
                print(f"{n:8}  {what:26}{our_time:9.3f}  {peer:22}{their_time:9.3f}{ratio:7.2f}"
                      f"{limit:9}{'  missed' if ratio > limit else ''}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

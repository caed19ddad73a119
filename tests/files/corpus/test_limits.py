# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of the worst files: memory and time that grow as the file does."""

import itertools
import os
import resource
import string
import subprocess
import sys
import zipfile

import pytest

from corpus import with_prefix
from says import tells
from tables import READ_TABLES

pytestmark = pytest.mark.skipif(sys.platform != "linux",
                                reason="memory is limited by what only Linux has")

SIZE = 8_000_000

# The memory of a program that reads nothing; and beside it, a multiple of the size of what is read.
MEMORY = 4 * 2**20
MOST_MEMORY = 12
# Twice the file may take at most this many times as long.
MOST_TIME = 3


def names():
    """The shortest ones, all of them different."""
    for n in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_letters, repeat=n))


def fill(size, items, start="{", end="}"):
    """Joins as many of the items as make @size bytes, or all of them."""
    parts, n = [], len(start) + len(end)
    for item in items:
        parts.append(item)
        n += len(item) + 1
        if n >= size:
            break
    return start + ",".join(parts) + end


def tensors(size):
    return fill(size, (f'"{name}":{{"dtype":"U8","shape":[],"data_offsets":[{i},{i + 1}]}}'
                       for i, name in enumerate(names())))


def reversed_tensors(size):
    n = size // 64
    return fill(64 * size, (f'"{name}":{{"dtype":"U8","shape":[],"data_offsets":[{i},{i + 1}]}}'
                            for i, name in zip(reversed(range(n)), names())))


def extents(size):
    shape = ",".join("1" * 64)
    return fill(size, (f'"{name}":{{"dtype":"U8","shape":[{shape}],"data_offsets":[{i},{i + 1}]}}'
                       for i, name in enumerate(names())))


def empty_tensors(size):
    """All at one place: only names tell them apart, and those are long and alike."""
    return fill(size, (f'"{"x" * 1000}{name}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'
                       for name in reversed(list(itertools.islice(names(), size // 1000)))))


def metadata(size):
    return fill(size, (f'"{name}":""' for name in names()), '{"__metadata__":{', "}}")


def escapes(size):
    return '{"a":{"x":"' + r"\u0041" * (size // 6) + '"}}'


def one_name(size):
    return '{"' + r"\n" * (size // 2) + '":0}'


def brackets(size):
    return '{"a":{"x":' + "[" * (size // 2) + "]" * (size // 2) + "}}"


def flat(size):
    return '{"a":{"x":[' + "[]," * (size // 3) + "[]]}}"


def same_name(size):
    return fill(size, ('"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'
                       for _ in itertools.count()))


def weight_map(size):
    return fill(size, (f'"{name}":"{name}"' for name in names()), '{"weight_map":{', "}}")


REFUSED = [escapes, one_name, brackets, flat, same_name]
HEADERS = [tensors, reversed_tensors, extents, empty_tensors, metadata, escapes, one_name,
           brackets, flat, same_name]


def write_header(path, header):
    encoded = header.encode()
    n_bytes = encoded.count(b'"U8"') if b'"shape":[0]' not in encoded else 0
    path.write_bytes(with_prefix(encoded))
    os.truncate(path, 8 + len(encoded) + n_bytes)


def write_index(path, index):
    path.write_text(index)


def read_within(path, memory):
    """Returns the first line of the output, and the seconds that it took, with at most that many
    bytes of memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([READ_TABLES, path], preexec_fn=limit, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    return done.stdout.split(b"\n")[0].decode(), after.ru_utime - before.ru_utime


@pytest.mark.parametrize("content", [*HEADERS, weight_map])
def test_costs(content, tmp_path):
    write = write_index if content is weight_map else write_header
    suffix = ".json" if content is weight_map else ".safetensors"
    times = []
    for size in (SIZE, 2 * SIZE):
        path = tmp_path / (str(size) + suffix)
        write(path, content(size))
        said, seconds = read_within(path, MEMORY + MOST_MEMORY * size)
        assert "NO_MEMORY" not in said
        assert said.startswith("ok") == (content not in REFUSED), said
        times.append(seconds)

    assert times[1] < MOST_TIME * times[0] + 0.1


def test_costs_of_an_archive(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in itertools.islice(names(), 50_000):
            archive.writestr(name, b"\x93NUMPY")
    said, _ = read_within(path, MEMORY + MOST_MEMORY * path.stat().st_size)

    assert tells(said, 50000)


def test_sparse_files(tmp_path):
    """Nothing depends on how large the tensors are."""
    path = tmp_path / "a.safetensors"
    header = b'{"a":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}}'
    path.write_bytes(with_prefix(header))
    os.truncate(path, 8 + len(header) + 2**40)

    assert read_within(path, MEMORY)[0] == "ok\t1"


@pytest.mark.parametrize("content", [tensors, extents, metadata, one_name, weight_map])
def test_memory_that_cannot_be_had(content, tmp_path):
    """It is an error, and not the end of the program; enough is enough."""
    write = write_index if content is weight_map else write_header
    path = tmp_path / ("a.json" if content is weight_map else "a.safetensors")
    write(path, content(SIZE))
    said = [read_within(path, int(MEMORY + part * SIZE))[0]
            for part in (1.1, 1.5, 2, 3, 4, 5, 6, 7, 8, MOST_MEMORY)]

    lack = "refused\tMTL_ERROR_NO_MEMORY"
    verdict = "refused\tMTL_ERROR_INVALID_DATA" if content in REFUSED else "ok\t"
    assert said[0].startswith(lack) and said[-1].startswith(verdict)
    assert all(line.startswith((lack, verdict)) for line in said)

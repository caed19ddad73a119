# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that are damaged at random. What is read is what was written, or what an independent
reader makes of the same bytes, or there is an error."""

import io
import json
import struct
import time
import warnings
import zipfile

import numpy as np
import pytest
from gi.repository import GLib, Mtl

import conftest
from random_tensors import (NUMPY, SAFETENSORS, assert_same, draw_array, draw_names, draw_tensor,
                            draw_text)
from tensor_files import lay_out

# Exceptions that a file of any bytes may raise.
REFUSED = (ValueError, OSError, OverflowError, NotImplementedError, MemoryError, GLib.Error)
FLAG_DESCRIPTOR = 8


def cases_of_time(rng):
    """Random cases for a share of the time for each test."""
    end = time.monotonic() + conftest.SECONDS / 4
    number = 0
    while number < conftest.CASES and (number < 20 or time.monotonic() < end):
        yield number
        number += 1


def load_all(path):
    """All tensors that can be loaded, as arrays of memory of their own; None if the file is refused,
    or loading one of them fails."""
    try:
        with Mtl.load(path, mode=Mtl.TensorFileMode.READ) as file:
            return {name: file[name].copy() for name in file.match_loadable_names()}
    except REFUSED:
        return None


def write(path, content):
    # Written anew, as a file of the same time and size could be taken for unchanged.
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def draw_array_of(rng):
    array = draw_array(rng, rng.choice(NUMPY))
    return array.astype(array.dtype.newbyteorder(rng.choice("<>")), order=rng.choice("CF"))


class Unseekable(io.RawIOBase):
    """So that zipfile writes sizes and checksums after the data."""

    def __init__(self):
        self.content = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.content += data
        return len(data)


def write_archive(rng, arrays):
    target = Unseekable() if rng.random() < 0.5 else io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            info = zipfile.ZipInfo(name + ".npy")
            info.compress_type = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
            # NumPy has the sizes in 64 bits.
            with archive.open(info, "w", force_zip64=rng.random() < 0.5) as file:
                file.write(member.getvalue())
    return bytes(target.content if isinstance(target, Unseekable) else target.getvalue())


def find_places(content):
    """The bytes of an archive by what they are."""
    places = {"local header": [], "name": [], "extra": [], "data": [], "descriptor": []}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members, directory = archive.infolist(), archive.start_dir
    ends = [member.header_offset for member in members[1:]] + [directory]
    for member, end in zip(members, ends):
        header = member.header_offset
        name = header + 30
        extra = name + int.from_bytes(content[header + 26:header + 28], "little")
        data = extra + int.from_bytes(content[header + 28:header + 30], "little")
        data_end = data + member.compress_size
        assert (data_end < end) == bool(member.flag_bits & FLAG_DESCRIPTOR)
        for what, first, last in (("local header", header, name), ("name", name, extra),
                                  ("extra", extra, data), ("data", data, data_end),
                                  ("descriptor", data_end, end)):
            places[what] += range(first, last)
    places["directory"] = range(directory, len(content) - 22)
    places["end"] = range(len(content) - 22, len(content))
    return {what: where for what, where in places.items() if where}


def damage(rng, content, places):
    """One to three bytes, most often one bit of one."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.choice(places)
        content[at] = rng.choice((content[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 255,
                                  content[at] + 1 & 255))
    return bytes(content)


def read_archive(content):
    """Returns the arrays that NumPy reads; None if it refuses anything."""
    try:
        with np.load(io.BytesIO(content)) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception:  # whatever its parsers raise
        return None


def is_checked(path):
    try:
        with Mtl.load(path, mode=Mtl.TensorFileMode.MAP) as file:
            return file.check(Mtl.TensorFileChecks.NONE)
    except REFUSED:
        return False


def test_archives(tmp_path, rng):
    """Every byte of a tensor counts for its checksum: bytes are read as they were written."""
    path = tmp_path / "file.npz"
    opened, refused, n_left_out = {}, {}, 0
    for number in cases_of_time(rng):
        arrays = {name: draw_array_of(rng) for name in draw_names(rng, 4) or ["a"]}
        content = write_archive(rng, arrays)
        places = find_places(content)
        for _ in range(20):
            what = rng.choice(list(places))
            damaged = damage(rng, content, places[what])
            write(path, damaged)
            views = load_all(path)
            assert (views is not None) == is_checked(path), (number, what)
            count = refused if views is None else opened
            count[what] = count.get(what, 0) + 1
            if views is None:
                continue

            theirs = read_archive(damaged)
            if theirs is not None:
                assert theirs.keys() >= views.keys(), (number, what)
            n_left_out += len(arrays) - len(views)
            assert views.keys() <= arrays.keys(), (number, what)
            for name, view in views.items():
                assert_same(view, arrays[name], (number, what, name))
    conftest.NOTES.append(f"Damaged archives: {sum(refused.values())} refused {refused}, "
                          f"{sum(opened.values())} read as written {opened}, without "
                          f"{n_left_out} tensors")
    # Nothing else is needed of a member's own header than its place.
    assert sum(refused.values()) > 0 and opened.get("local header", 0) > 0 and n_left_out > 0


def splice(rng, content, other):
    """Bytes changed, left out, put in or doubled, the end cut off, or another file's in its place,
    most often near an end."""
    at = rng.choice((rng.randrange(len(content) + 1), min(rng.randrange(200), len(content)),
                     max(len(content) - rng.randrange(200), 0)))
    size = rng.choice((1, 2, 8, rng.randrange(1, 100)))
    kind = rng.randrange(6)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + content[at + size:]
    if kind == 2:
        return content[:at] + content[max(at - size, 0):at] + content[at:]
    if kind == 3:
        return content[:at] + other[min(at, len(other)):]
    if kind == 4:
        return content[:at] + other[at:at + size] + content[at + size:]
    return damage(rng, content, range(max(at - 100, 0), max(min(at + 100, len(content)), 1)))


def read_array(content):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"": np.load(io.BytesIO(content), allow_pickle=False)}
    except Exception:
        return None


def read_safetensors(content):
    safetensors = pytest.importorskip("safetensors", reason="it is among the pinned peers only")
    try:
        return dict(safetensors.deserialize(content))
    except safetensors.SafetensorError:
        return None


def make_array(rng):
    file, array = io.BytesIO(), draw_array_of(rng)
    np.lib.format.write_array(file, array, version=rng.choice((None, (2, 0), (3, 0))),
                              allow_pickle=False)
    return file.getvalue(), {"": array}


def make_archive(rng):
    arrays = {name: draw_array_of(rng) for name in draw_names(rng, 4) or ["a"]}
    return write_archive(rng, arrays), arrays


def make_safetensors(rng):
    tensors = {name: draw_tensor(rng) for name in draw_names(rng, 4)}
    entries, data = lay_out({name: (tensor.kind, tensor.array.shape, tensor.content)
                             for name, tensor in tensors.items()})
    if rng.random() < 0.5:
        entries["__metadata__"] = {key: draw_text(rng) for key in draw_names(rng, 3)}
    header = json.dumps(entries, ensure_ascii=rng.random() < 0.5).encode()
    return struct.pack("<Q", len(header)) + header + data, tensors


def assert_as_in_file(view, tensor, where):
    """Compares a view with the bytes that safetensors reads."""
    assert SAFETENSORS[tensor["dtype"]] == view.dtype.name, where
    assert tuple(tensor["shape"]) == view.shape, where
    assert bytes(tensor["data"]) == bytes(view.to_contiguous().dup_bytes().get_data()), where


def assert_same_as_any(view, arrays, where):
    """Both files that are spliced may have an array of the name."""
    for array in arrays[:-1]:
        try:
            return assert_same(view, array, where)
        except AssertionError:
            pass
    return assert_same(view, arrays[-1], where)


class Tally:
    def __init__(self, what):
        self.what, self.n_refused, self.n_same, self.n_written = what, 0, 0, 0

    def note(self):
        conftest.NOTES.append(f"Spliced {self.what}: {self.n_refused} refused, {self.n_same} read "
                              f"as by the peer, {self.n_written} as written, refused by the peer")
        assert self.n_refused > 0 and self.n_same > 0


def run_spliced(path, rng, make, read, assert_read):
    """Whatever is read, the independent reader reads as well, and the same. If it refuses it,
    the tensors are at least those that were written."""
    tally = Tally(make.__name__[5:])
    for number in cases_of_time(rng):
        (content, written), (other, others) = make(rng), make(rng)
        for _ in range(20):
            spliced = splice(rng, content, other)
            write(path, spliced)
            views, theirs = load_all(path), read(spliced)
            if views is None:
                tally.n_refused += 1
            elif theirs is not None:
                tally.n_same += 1
                # NumPy does not look at all of a member.
                assert (views.keys() <= theirs.keys() if make is make_archive
                        else views.keys() == theirs.keys()), (number, spliced)
                for name, view in views.items():
                    assert_read(view, theirs[name], (number, name, spliced))
            else:
                tally.n_written += 1
                # An element type of ml_dtypes that NumPy can only write, or one of safetensors
                # that is not known.
                assert (make is make_archive or b"f1'" in spliced or make is make_safetensors
                        and Mtl.load(path).match_refused_names()), (number, spliced)
                for name, view in views.items() if make is make_archive else ():
                    assert_same_as_any(view, [arrays[name] for arrays in (written, others)
                                              if name in arrays], (number, name, spliced))
    tally.note()


def test_spliced_arrays(tmp_path, rng):
    run_spliced(tmp_path / "file.npy", rng, make_array, read_array, assert_same)


def test_spliced_archives(tmp_path, rng):
    run_spliced(tmp_path / "file.npz", rng, make_archive, read_archive, assert_same)


def test_spliced_safetensors(tmp_path, rng):
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
    run_spliced(tmp_path / "file.safetensors", rng, make_safetensors, read_safetensors,
                assert_as_in_file)

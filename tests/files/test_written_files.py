# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views in files that NumPy and safetensors read, and a disk without room for them."""

import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from gi.repository import Gio, Mtl

from conftest import NUMERIC, place
from says import tells

PLAIN = [name for name in NUMERIC if name != "complex128"]
# safetensors' names of the types that NumPy lacks.
NARROW = {"bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e4m3fnuz": "F8_E4M3FNUZ",
          "float8_e5m2": "F8_E5M2", "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
          "float6_e2m3fn": "F6_E2M3", "float6_e3m2fn": "F6_E3M2", "float4_e2m1fn": "F4"}


def file_at(path):
    return Gio.File.new_for_path(str(path))


def builder_of(tensors, **properties):
    builder = Mtl.TensorFileBuilder(**properties)
    for name, view in tensors.items():
        assert builder.add(name, place(Mtl.asview(view)))
    return builder


def write(path, tensors, metadata=(), **properties):
    builder = builder_of(tensors, **properties)
    for key, value in dict(metadata).items():
        builder.set_metadata(key, value)
    assert builder.write(file_at(path), None, None)


def parts(array):
    """Parts of a matrix: with steps, turned, repeated, without elements, and with one."""
    return {"whole": array, "turned": array.T, "backwards": array[::-1], "columns": array[:, ::2],
            "both": array[::-2, ::-3], "repeated": np.broadcast_to(array[0], (4, array.shape[1])),
            "none": array[:0], "no columns": array[:, 3:3], "one": array[1, 2, ...],
            "row": array[1], "window": np.lib.stride_tricks.sliding_window_view(array, (2, 3))}


@pytest.fixture
def safetensors():
    pytest.importorskip("safetensors", reason="safetensors is among the pinned peers only")
    import safetensors.numpy
    return safetensors


def matrix(name):
    return np.asarray(np.random.default_rng(5).random((6, 8)) * 100).astype(name)


@pytest.mark.any_memory
@pytest.mark.parametrize("name", PLAIN)
def test_safetensors_reads_parts(tmp_path, safetensors, name):
    arrays = parts(matrix(name))
    write(tmp_path / "file", arrays, {"format": "np", "ключ": "\"\n"})

    read = safetensors.numpy.load_file(tmp_path / "file")
    assert read.keys() == arrays.keys()
    for part, array in arrays.items():
        assert read[part].dtype == array.dtype and read[part].shape == array.shape, part
        np.testing.assert_array_equal(read[part], array, err_msg=part)
    with safetensors.safe_open(tmp_path / "file", "np") as file:
        assert file.metadata() == {"format": "np", "ключ": "\"\n"}


@pytest.mark.any_memory
@pytest.mark.parametrize("name", NARROW)
def test_safetensors_reads_narrow_types(tmp_path, safetensors, name):
    """Bytes are compared: each was made by a conversion that other tests compare."""
    whole = Mtl.asview(matrix("float32")).to_dtype(Mtl.DType.from_string(name))
    views = {"whole": place(whole), "turned": place(whole).transpose(),
             "columns": place(whole)[:, ::2], "backwards": place(whole)[::-1, ::-1]}
    write(tmp_path / "file", views)

    read = dict(safetensors.deserialize((tmp_path / "file").read_bytes()))
    assert read.keys() == views.keys()
    for part, view in views.items():
        assert read[part]["dtype"] == NARROW[name] and read[part]["shape"] == list(view.shape)
        expected = elements_as_bytes(view)
        assert bytes(read[part]["data"]) == expected, part


def elements_as_bytes(view):
    return view.to_device(Mtl.Device.get_host(), Mtl.StorageMode.HOST).dup_bytes().get_data()


@pytest.mark.any_memory
@pytest.mark.parametrize("name", NUMERIC)
def test_numpy_reads_npy(tmp_path, name):
    for part, array in parts(matrix(name)).items():
        write(tmp_path / "file.npy", {"any": array}, format=Mtl.TensorFileFormat.NPY)
        read = np.load(tmp_path / "file.npy")

        assert read.dtype == array.dtype and read.shape == array.shape, part
        np.testing.assert_array_equal(read, array, err_msg=part)
    turned = place(Mtl.asview(matrix(name))).transpose()
    write(tmp_path / "file.npy", {"": turned}, format=Mtl.TensorFileFormat.NPY)
    assert np.load(tmp_path / "file.npy").flags.f_contiguous


def test_places(tmp_path):
    """All tensors of the file lie where their sizes let them."""
    random = np.random.default_rng(0)
    arrays = {str(i): np.zeros(random.integers(1, 1 << random.integers(1, 16)), np.uint8)
              for i in range(300)}
    arrays["large"] = np.zeros(1 << 20, np.uint8)
    write(tmp_path / "file", arrays)

    raw = (tmp_path / "file").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    assert (8 + size) % 16384 == 0
    for name, entry in json.loads(raw[8:8 + size]).items():
        n_bytes = arrays[name].nbytes
        assert entry["data_offsets"][0] % min(n_bytes & -n_bytes, 16384) == 0, name


def test_shards(tmp_path, safetensors):
    arrays = {f"layer.{i}": np.random.default_rng(i).random((i, 100)) for i in range(30)}
    builder = builder_of(arrays)
    builder.set_metadata("format", "pt")
    builder.write_shards(file_at(tmp_path / "model.safetensors.index.json"), 100_000, None, None)

    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    files = sorted(set(index["weight_map"].values()))
    assert index["metadata"]["total_size"] == sum(array.nbytes for array in arrays.values())
    assert files == [f"model-{i + 1:05}-of-{len(files):05}.safetensors" for i in range(len(files))]
    read = {}
    for file in files:
        shard = safetensors.numpy.load_file(tmp_path / file)
        assert all(index["weight_map"][name] == file for name in shard)
        assert sum(array.nbytes for array in shard.values()) <= 100_000
        read |= shard
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)


def test_over_what_is_mapped(tmp_path):
    path = tmp_path / "file"
    write(path, {"a": np.arange(100_000.0).reshape(100, 1000)})
    view = Mtl.TensorFile.open(file_at(path), mode=Mtl.TensorFileMode.MAP).load_view("a")
    write(path, {"a": view.transpose(), "b": view})

    tensors = Mtl.TensorFile.open(file_at(path), mode=Mtl.TensorFileMode.MAP)
    np.testing.assert_array_equal(tensors.load_view("a"), np.asarray(view).T)
    np.testing.assert_array_equal(tensors.load_view("b"), view)


ON_A_FULL_DISK = """
import errno
import os
import sys
import gi
gi.require_version("Mtl", "1")
import numpy as np
from gi.repository import Gio, Mtl

def write(array):
    builder = Mtl.TensorFileBuilder.new()
    builder.add("a", Mtl.asview(array))
    builder.write(Gio.File.new_for_path(sys.argv[1] + "/file"), None, None)

write(np.ones(1000))
before = open(sys.argv[1] + "/file", "rb").read()
try:
    write(np.ones(1_000_000))
except OSError as error:
    assert error.errno == errno.ENOSPC, error
    print(error)
assert os.listdir(sys.argv[1]) == ["file"]
assert open(sys.argv[1] + "/file", "rb").read() == before
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is mounted with Linux's unshare")
def test_full_disk(tmp_path):
    mount = ["unshare", "--mount", "--map-root-user", "sh", "-c",
             'mount -t tmpfs -o size=1m none "$0" && exec "$@"', str(tmp_path)]
    if subprocess.run(mount + ["true"], capture_output=True).returncode != 0:
        pytest.skip("this system lets nobody mount a disk of his own")
    done = subprocess.run(mount + [sys.executable, "-c", ON_A_FULL_DISK, str(tmp_path)],
                          capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert tells(done.stdout, "file”", os.strerror(errno.ENOSPC))

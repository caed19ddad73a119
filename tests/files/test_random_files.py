# SPDX-License-Identifier: LGPL-2.1-or-later
"""1000 random files each way: what safetensors and NumPy write is read, equal in each
element, and what is written they read."""

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from random_tensors import (NUMPY, SAFETENSORS, assert_same, draw_array, draw_names,
                            draw_strided, draw_tensor, draw_text)

# Fewer where each takes long, as under valgrind.
N_SAFETENSORS = min(600, conftest.CASES // 5)
N_NUMPY = min(400, conftest.CASES // 5)
MODES = [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ]
ORDERS = [Mtl.TensorFileOrder.ALIGNED, Mtl.TensorFileOrder.ADDED]
# The types that safetensors writes; it reads elements of 6 bits.
WRITTEN = [kind for kind in SAFETENSORS if not kind.startswith("F6")]


@pytest.fixture
def safetensors():
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
    return pytest.importorskip("safetensors", reason="safetensors is among the pinned peers only")


def spec_of(safetensors, tensor, content):
    """Two elements of 4 bits go as one of a byte."""
    shape, name = list(tensor.array.shape), SAFETENSORS[tensor.kind]
    if tensor.kind == "F4":
        shape, name = shape[:-1] + [shape[-1] // 2], name + "_x2"
    return safetensors.TensorSpec(dtype=name, shape=shape, data_ptr=content.ctypes.data,
                                  data_len=content.nbytes)


def test_safetensors_that_safetensors_wrote(safetensors, tmp_path, rng):
    path = tmp_path / "file"
    for number in range(N_SAFETENSORS):
        tensors = {name: draw_tensor(rng, WRITTEN) for name in draw_names(rng, 9)}
        metadata = {key: draw_text(rng) for key in draw_names(rng, 4)}
        contents = {name: np.frombuffer(tensor.content, "u1") for name, tensor in tensors.items()}
        safetensors.serialize_file({name: spec_of(safetensors, tensor, contents[name])
                                    for name, tensor in tensors.items()}, path, metadata or None)

        with Mtl.load(path, mode=rng.choice(MODES)) as file:
            assert file.keys() == tensors.keys() and file.metadata == metadata, number
            for name, view in file.items():
                assert view.dtype.name == SAFETENSORS[tensors[name].kind], (number, name)
                assert_same(view, tensors[name].array, (number, name))


def draw_order(rng, array):
    """Little or big end first, C's order or Fortran's."""
    dtype = array.dtype.newbyteorder(rng.choice("<>"))
    return array.astype(dtype, order=rng.choice("CF"))


def test_arrays_that_numpy_wrote(tmp_path, rng):
    for number in range(N_NUMPY // 2):
        array = draw_order(rng, draw_array(rng, rng.choice(NUMPY)))
        np.save(tmp_path / "file.npy", array)

        with Mtl.load(tmp_path / "file.npy", mode=rng.choice(MODES)) as file:
            assert list(file) == [""]
            assert_same(file[""], array, number)


def test_archives_that_numpy_wrote(tmp_path, rng):
    for number in range(N_NUMPY - N_NUMPY // 2):
        arrays = {name: draw_order(rng, draw_array(rng, rng.choice(NUMPY)))
                  for name in draw_names(rng, 6)}
        save = rng.choice((np.savez, np.savez_compressed))
        save(tmp_path / "file.npz", **arrays)

        with Mtl.load(tmp_path / "file.npz", mode=rng.choice(MODES)) as file:
            assert list(file) == list(arrays), number
            for name, view in file.items():
                assert_same(view, arrays[name], (number, name))


def read_by_safetensors(safetensors, path):
    with safetensors.safe_open(path, "numpy") as file:
        metadata = file.metadata() or {}
    return dict(safetensors.deserialize(path.read_bytes())), metadata


def test_safetensors_for_safetensors(safetensors, tmp_path, rng):
    path = tmp_path / "file"
    for number in range(N_SAFETENSORS):
        tensors = {name: draw_tensor(rng) for name in draw_names(rng, 9)}
        metadata = {key: draw_text(rng) for key in draw_names(rng, 4)}
        Mtl.save(path, {name: draw_strided(rng, tensor.array) for name, tensor in tensors.items()},
                 metadata=metadata, order=rng.choice(ORDERS), alignment=rng.choice((0, 8, 4096)))

        theirs, their_metadata = read_by_safetensors(safetensors, path)
        file = Mtl.load(path, mode=rng.choice(MODES))
        assert theirs.keys() == tensors.keys() and their_metadata == metadata, number
        for name, tensor in tensors.items():
            assert theirs[name]["dtype"] == tensor.kind, (number, name)
            assert tuple(theirs[name]["shape"]) == tensor.array.shape, (number, name)
            assert bytes(theirs[name]["data"]) == tensor.content, (number, name)
            assert_same(file[name], tensor.array, (number, name))


def test_arrays_for_numpy(tmp_path, rng):
    for number in range(N_NUMPY):
        array = draw_array(rng, rng.choice(NUMPY))
        Mtl.save(tmp_path / "file.npy", draw_strided(rng, array))

        same = np.load(tmp_path / "file.npy")
        assert same.dtype == array.dtype and same.shape == array.shape, number
        assert same.tobytes() == array.tobytes(), number

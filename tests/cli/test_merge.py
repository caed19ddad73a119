# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl cp of several files into one."""

import random

import numpy as np
import pytest

from conftest import SEED
from says import tells
from tensors import CODES, complaint, load, ls_json, mtldl, run, save, save_shards


def assert_same(path, arrays):
    found, _ = load(path)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes()


def test_formats(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3.0))
    np.savez(tmp_path / "y.npz", a=np.arange(4), b=np.ones(2, "f4"))
    source = save(tmp_path / "z", {"w": np.zeros((2, 2))})
    index = save_shards(tmp_path, {"1.safetensors": {"c": np.ones(1)},
                                   "2.safetensors": {"d": np.ones(1)}})
    mtldl("cp", tmp_path / "x.npy", tmp_path / "y.npz", source, index, tmp_path / "out")
    assert_same(tmp_path / "out", {"x": np.arange(3.0), "a": np.arange(4), "b": np.ones(2, "f4"),
                                   "w": np.zeros((2, 2)), "c": np.ones(1), "d": np.ones(1)})


def by_place(arrays):
    """Names in the order of a file: empty tensors at the same place are sorted by name."""
    ends = np.cumsum([array.nbytes for array in arrays.values()])
    places = {name: (end - array.nbytes, end, name)
              for (name, array), end in zip(arrays.items(), ends)}
    return sorted(places, key=places.get)


def test_random_files(tmp_path):
    rng, random_arrays = random.Random(SEED), np.random.default_rng(SEED)
    for _ in range(20):
        names = [f"t.{i}" for i in range(12)]
        rng.shuffle(names)
        everything, paths = {}, []
        for i in range(rng.randrange(2, 6)):
            arrays = {names.pop(): random_arrays.integers(
                0, 2, rng.randrange(50)).astype(rng.choice(list(CODES)))
                      for _ in range(rng.randrange(3))}
            paths.append(save(tmp_path / f"{i}", arrays))
            everything.update(arrays)
        mtldl("cp", "--no-sync", *paths, tmp_path / "out")
        assert_same(tmp_path / "out", everything)
        # The files are given in order, and the target is one of them.
        mtldl("cp", "--no-sync", "-k", *paths, paths[0])
        assert_same(paths[0], everything)
        listed = ls_json("--sort=file", paths[0])["tensors"]
        assert [tensor["name"] for tensor in listed] == by_place(everything)


def test_options_are_for_all(tmp_path):
    a = save(tmp_path / "a", {"x": np.ones(2), "y": np.ones(3)})
    b = save(tmp_path / "b", {"z": np.ones(4), "x2": np.ones(1)})
    mtldl("cp", a, b, tmp_path / "out", "-s", "x*", "-s", "z", "-r", "z=y", "-d", "x2=float32")
    assert_same(tmp_path / "out", {"x": np.ones(2), "y": np.ones(4), "x2": np.ones(1, "f4")})
    mtldl("cp", a, b, tmp_path / "m.safetensors.index.json", "-S", "20")
    assert mtldl("ls", "-1", tmp_path / "m.safetensors.index.json").split() == [
        "x", "x2", "y", "z"]


def test_name_in_two(tmp_path):
    a = save(tmp_path / "a", {"x": np.ones(2), "y": np.ones(3)})
    b = save(tmp_path / "b", {"x": np.ones(4)})
    told = complaint("cp", a, b, tmp_path / "out")
    assert tells(told, "“x”", a, b, "--rename")
    assert not (tmp_path / "out").exists()
    told = complaint("cp", a, b, tmp_path / "out", "-r", "y=z", "-r", "x=y")
    assert "“y”" in told
    mtldl("cp", a, b, tmp_path / "out", "-s", "y")
    # This is the advice of the message.
    mtldl("cp", b, tmp_path / "c", "--rename=*=second.*")
    mtldl("cp", a, tmp_path / "c", tmp_path / "out")
    assert_same(tmp_path / "out", {"x": np.ones(2), "y": np.ones(3), "second.x": np.ones(4)})


def test_metadata(tmp_path):
    a = save(tmp_path / "a", {"x": np.ones(2)}, {"format": "pt", "k": "1"})
    b = save(tmp_path / "b", {"y": np.ones(2)}, {"format": "pt", "l": "2"})
    mtldl("cp", a, b, tmp_path / "out", "-m", "l=")
    assert load(tmp_path / "out")[1] == {"format": "pt", "k": "1"}
    c = save(tmp_path / "c", {"z": np.ones(2)}, {"k": "3"})
    done = run("cp", a, b, c, tmp_path / "out")
    assert done.returncode == 0 and tells(done.stderr, c, "“k”")
    assert load(tmp_path / "out")[1] == {"format": "pt", "k": "1", "l": "2"}


@pytest.mark.parametrize("bad", [0, 1])
def test_file_that_is_bad(tmp_path, bad):
    """Nothing is written without it."""
    paths = [save(tmp_path / "a", {"x": np.ones(2)})]
    paths.insert(bad, tmp_path / "none")
    assert tells(complaint("cp", *paths, tmp_path / "out"), tmp_path / "none")
    assert not (tmp_path / "out").exists()


def test_into_a_folder(tmp_path):
    a = save(tmp_path / "a", {"x": np.ones(2)})
    b = save(tmp_path / "b", {"y": np.ones(2)})
    assert str(tmp_path) in complaint("cp", a, b, tmp_path, status=2)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The builder by itself: what Mtl.save() has no words for."""

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from says import says


@pytest.fixture
def file(tmp_path):
    return Gio.File.new_for_path(str(tmp_path / "file"))


def tensors_of(file):
    return {name: view.tolist() for name, view in Mtl.load(file).items()}


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2", "int16", "bool"])
def test_elements_are_converted(file, name):
    values = np.array([[0, 1, 2], [3, 4, 0]], "f4")
    builder = Mtl.TensorFileBuilder()
    builder.add_converted("x", Mtl.asview(values.T), Mtl.DType.from_string(name))
    builder.write(file)

    assert Mtl.load(file)["x"].dtype.name == name
    assert tensors_of(file)["x"] == (values.T != 0 if name == "bool" else values.T).tolist()


@pytest.mark.parametrize("value", [np.arange(6).reshape(2, 3).T, np.array([1, 2], ">i4"), [1.5, 2],
                                   Mtl.asview(b"ab")], ids=["array", "big-endian", "list", "view"])
def test_values_are_added(file, value):
    builder = Mtl.TensorFileBuilder()
    builder.add("x", value)
    builder.add_converted("y", value, dtype="f2")
    builder.write(file)

    expected = np.frombuffer(b"ab", "u1") if isinstance(value, Mtl.StridedView) else value
    assert tensors_of(file) == {"x": np.asarray(expected).tolist(),
                                "y": np.asarray(expected).astype("f2").tolist()}


def test_elements_that_cannot_be_converted():
    with pytest.raises(ValueError):
        Mtl.TensorFileBuilder().add_converted("x", Mtl.asview([1]), Mtl.DType.OTHER)


def test_options_are_kept():
    builder = Mtl.TensorFileBuilder.new()

    assert builder.get_format() == builder.props.format == Mtl.TensorFileFormat.AUTO
    assert builder.get_order() == builder.props.order == Mtl.TensorFileOrder.ALIGNED
    assert builder.get_alignment() == builder.props.alignment == 0
    builder.set_format(Mtl.TensorFileFormat.NPY)
    builder.set_order(Mtl.TensorFileOrder.ADDED)
    builder.set_alignment(128)
    assert builder.get_sync() and builder.props.sync
    builder.set_sync(False)
    assert not builder.get_sync()
    assert (builder.get_format(), builder.get_order(), builder.get_alignment()) == (
        Mtl.TensorFileFormat.NPY, Mtl.TensorFileOrder.ADDED, 128)


def test_the_ending_decides_unless_a_format_is_set(tmp_path):
    builder = Mtl.TensorFileBuilder.new()
    builder.add("x", Mtl.array([1]))
    for name in ("x.npy", "x.NPY", "x.safetensors", "x"):
        builder.write(tmp_path / name)

    found = {path.name: Mtl.load(path).get_format() for path in tmp_path.iterdir()}
    assert found == {"x.npy": Mtl.TensorFileFormat.NPY, "x.NPY": Mtl.TensorFileFormat.NPY,
                     "x.safetensors": Mtl.TensorFileFormat.SAFETENSORS,
                     "x": Mtl.TensorFileFormat.SAFETENSORS}
    with pytest.raises(ValueError, match=says("x.pt", ".safetensors", ".npy")):
        builder.write(tmp_path / "x.pt")
    builder.set_format(Mtl.TensorFileFormat.NPY)
    builder.write(tmp_path / "x.pt")
    assert Mtl.load(tmp_path / "x.pt").get_format() == Mtl.TensorFileFormat.NPY


def test_metadata_is_taken_out(file):
    builder = Mtl.TensorFileBuilder()
    builder.set_metadata("a", "1")
    builder.set_metadata("b", "2")
    builder.set_metadata("a", None)
    builder.write(file)

    assert Mtl.load(file).metadata == {"b": "2"}


def test_what_is_written_is_what_the_elements_are_then(file):
    values = np.zeros(3)
    builder = Mtl.TensorFileBuilder()
    builder.add("x", Mtl.asview(values))
    values[:] = 7
    builder.write(file)
    assert tensors_of(file) == {"x": [7, 7, 7]}
    values[:] = 8
    builder.write(file)
    assert tensors_of(file) == {"x": [8, 8, 8]}


def test_progress(file):
    told = []
    builder = Mtl.TensorFileBuilder()
    builder.add("x", Mtl.asview(np.zeros(2_000_000)))
    builder.write(file, progress=lambda *numbers: told.append(numbers))

    size = file.query_info("standard::size", Gio.FileQueryInfoFlags.NONE, None).get_size()
    assert told == sorted(told) and told[-1] == (size, size)


def test_write_is_cancelled(file):
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    with pytest.raises(GLib.Error) as caught:
        Mtl.TensorFileBuilder().write(file, cancellable)
    assert caught.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)
    assert not file.query_exists()


def test_shards(tmp_path):
    """Hugging Face's loaders find the shards, and each is a file of its own."""
    safetensors = pytest.importorskip("safetensors.numpy",
                                      reason="safetensors is among the pinned peers only")
    index = tmp_path / "model.safetensors.index.json"
    arrays = {name: np.full(size, size, "f4") for name, size in
              (("a", 10), ("b", 20), ("c", 30), ("d", 5))}
    builder = Mtl.TensorFileBuilder()
    for name, array in arrays.items():
        builder.add(name, Mtl.asview(array))
    builder.write_shards(Gio.File.new_for_path(str(index)), 120)

    assert {name: view.tolist() for name, view in Mtl.load(index).items()} == {
        name: array.tolist() for name, array in arrays.items()}
    theirs = [safetensors.load_file(path) for path in tmp_path.glob("model-*-of-*.safetensors")]
    assert len(theirs) == 3
    assert all(sum(array.nbytes for array in shard.values()) <= 120 for shard in theirs)
    assert {name for shard in theirs for name in shard} == set(arrays)


def test_shards_in_the_background(tmp_path):
    index = Gio.File.new_for_path(str(tmp_path / "x.safetensors.index.json"))
    builder, loop, results = Mtl.TensorFileBuilder(), GLib.MainLoop(), []
    builder.add("x", Mtl.asview([1]))

    def written(builder, result):
        results.append(builder.write_shards_finish(result))
        loop.quit()

    builder.write_shards_async(index, 8, GLib.PRIORITY_DEFAULT, None, None, written)
    loop.run()
    assert results == [True] and tensors_of(index) == {"x": [1]}

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of objects in exceptions and as text, and what is accepted in their place."""

import importlib.util
import pathlib
import re
import sys

import numpy as np
import pytest
from gi.overrides import _mtl_numpy
from gi.repository import Mtl

from conftest import HOST
from says import says

FIRST = Mtl.asview([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("call, name", [
    (lambda: FIRST.fill(), "StridedView.fill()"),
    (lambda: FIRST.view(2, 1), "StridedView.view()"),
    (lambda: FIRST.swapaxes(0), "StridedView.swapaxes()"),
    (lambda: FIRST.copy_scaled_from(FIRST), "StridedView.copy_scaled_from()"),
    (lambda: FIRST.get_buffer().slice(1, 2, 3), "Buffer.slice()"),
    (lambda: Mtl.DType.FLOAT32.__hash__(1), "DType.__hash__()"),
])
def test_exceptions_name_the_function(call, name):
    with pytest.raises(TypeError) as info:
        call()
    assert str(info.value).removeprefix("Mtl.").startswith(name)


def test_a_device_is_readable():
    assert repr(HOST) == str(HOST) == f"<Mtl.Device {HOST.get_name()!r} (1, 0)>"
    for device in Mtl.Device.list():
        assert device.get_name() in repr(device)


def test_the_host_by_name():
    moved = FIRST.to_device("cpu")
    assert moved.array_equal(FIRST) and moved.device is HOST
    assert FIRST.to_device("cpu:0").device is FIRST.to_device("host").device is HOST
    assert Mtl.from_dlpack(FIRST, device="cpu").overlaps(FIRST)
    for wrong in ("gpu", "cuda:x", "cpu0", ""):
        for call in (FIRST.to_device, lambda device: Mtl.from_dlpack(FIRST, device=device)):
            with pytest.raises(ValueError, match=f"“{wrong}”"):
                call(wrong)


def test_transpose_of_none_is_numpys():
    assert FIRST.transpose(None).shape == (3, 2) and FIRST.transpose(None).overlaps(FIRST)
    with pytest.raises(TypeError):
        FIRST.transpose(None, None)


def test_reshape_in_an_order_that_needs_a_copy():
    for shape in ((6,), (3, 2), (-1, 2)):
        with pytest.raises(ValueError, match=says("(3, 2)", "copy=True")) as info:
            FIRST.reshape(*shape, order="F")
        assert info.value.__cause__.matches(Mtl.error_quark(), Mtl.Error.NEEDS_COPY)
        wanted = np.asarray(FIRST).reshape(shape, order="F")
        assert FIRST.reshape(*shape, order="F", copy=True).tolist() == wanted.tolist()
    with pytest.raises(ValueError, match=says(6, "(2, 4)")):
        FIRST.reshape(4, 2, order="F")


def test_names_of_members():
    assert FIRST.is_contiguous("C") and FIRST.is_contiguous(order="c")
    assert FIRST.T.is_contiguous("F") and not FIRST.is_contiguous("F")
    with pytest.raises(ValueError, match="'Z'") as info:
        FIRST.is_contiguous("Z")
    assert info.value.__context__ is None
    with pytest.raises(TypeError, match=says("axis", "str")) as info:
        FIRST.get_extent("0")
    assert info.value.__context__ is None


@pytest.mark.parametrize("name", [*_mtl_numpy._INSTEAD])
def test_views_say_what_to_use(name):
    with pytest.raises(AttributeError, match=says(name)) as info:
        getattr(FIRST, name)
    for advised in re.findall(r"(\w+)\(", str(info.value)):
        assert hasattr(FIRST, advised) or hasattr(np, advised)
    assert not hasattr(FIRST, name) and name not in dir(FIRST)


def test_a_tensor_without_a_name_is_told_of(tmp_path):
    Mtl.save(tmp_path / "a.npy", FIRST)
    Mtl.save(tmp_path / "a.safetensors", {"x": FIRST})
    with pytest.raises(KeyError, match=says("stack", "''")):
        Mtl.load(tmp_path / "a.npy")["stack"]
    assert Mtl.load(tmp_path / "a.npy")[""].array_equal(FIRST)
    with pytest.raises(KeyError) as info:
        Mtl.load(tmp_path / "a.safetensors")["stack"]
    assert info.value.args == ("stack",)


def test_the_module_of_pip_says_what_to_use():
    path = pathlib.Path(sys.modules["gi.overrides.Mtl"].__file__).parents[2] / "mtldl"
    specification = importlib.util.spec_from_file_location("mtldl", path / "__init__.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for name in ("load", "save", "array", "Mtl"):
        with pytest.raises(AttributeError, match=says(repr(name), "from gi.repository import Mtl")):
            getattr(module, name)


def test_jax_and_what_must_not_be_written(tmp_path):
    jax = pytest.importorskip("jax")
    Mtl.save(tmp_path / "a.safetensors", {"x": FIRST.astype("f4")})
    mapped = Mtl.load(tmp_path / "a.safetensors", mode="map")["x"]
    with pytest.raises(BufferError, match=says("jax.numpy.asarray", "mode='read'")):
        jax.dlpack.from_dlpack(mapped)
    assert jax.numpy.asarray(mapped).tolist() == mapped.tolist()
    for view in (mapped.copy(), Mtl.load(tmp_path / "a.safetensors", mode="read")["x"]):
        assert jax.dlpack.from_dlpack(view).tolist() == mapped.tolist()


def test_jax_takes_views_where_it_asks_them():
    jnp = pytest.importorskip("jax.numpy")
    view = FIRST.astype("f4")
    for result, expected in ((jnp.asarray(view), view), (jnp.concatenate([view, view]),
                                                         np.concatenate([view, view])),
                             (jnp.asarray(view.astype("bf16")), view),
                             (jnp.ones(3) + view, view + 1), (view + jnp.ones(3), view + 1)):
        assert isinstance(result, jnp.ndarray) and result.tolist() == expected.tolist()
    assert jnp.asarray(view.astype("bf16")).dtype == "bfloat16"
    assert jnp.sin(jnp.asarray(view)).shape == (2, 3)
    with pytest.raises((TypeError, ValueError), match="jax.numpy.array|__jax_array__"):
        jnp.sin(view)


def test_pytorch_takes_views():
    torch = pytest.importorskip("torch")
    for view in (FIRST, FIRST.T, FIRST[:, ::2], FIRST[0], FIRST[:0], FIRST[0, :1].reshape(())):
        for tensor in (torch.as_tensor(view), torch.from_dlpack(view)):
            assert tensor.tolist() == view.tolist()
            assert view.size == 0 or tensor.data_ptr() == view.get_address()
        copied = torch.tensor(view)
        assert copied.tolist() == view.tolist() and copied.dtype == torch.float64
        assert view.size == 0 or copied.data_ptr() != view.get_address()
    # PyTorch takes the bytes of any buffer for numbers of its default type.
    assert torch.asarray(FIRST).tolist() == torch.asarray(memoryview(FIRST)).tolist()
    assert torch.asarray(np.asarray(FIRST)).data_ptr() == FIRST.get_address()

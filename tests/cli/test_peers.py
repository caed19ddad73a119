# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command's files in safetensors, and safetensors' files in the command."""


import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

from conftest import SEED
from tensors import ls_json, mtldl, run


@pytest.fixture
def tensors():
    generator = torch.Generator().manual_seed(SEED)
    return {f"layers.{i}.{dtype}": torch.randn(5, i + 1, generator=generator).to(dtype)
            for i in range(4) for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn,
                                            torch.float8_e5m2, torch.float64, torch.int16)}


@pytest.fixture
def source(tmp_path, tensors):
    path = tmp_path / "in.safetensors"
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    return path


def test_list(source, tensors):
    with safetensors.safe_open(source, framework="pt") as file:
        told = ls_json("--sort=file", source)
        assert told["metadata"] == file.metadata()
        assert [tensor["name"] for tensor in told["tensors"]] == file.offset_keys()
    assert {tensor["name"]: (f"torch.{tensor['dtype']}", tuple(tensor["shape"]))
            for tensor in told["tensors"]} == {name: (str(tensor.dtype), tuple(tensor.shape))
                                               for name, tensor in tensors.items()}


def test_elements(source, tensors):
    """The text is NumPy's, and for types that it lacks has as many digits as tell them apart."""
    for name, tensor in tensors.items():
        printed = mtldl("show", source, name)
        if tensor.dtype in (torch.float32, torch.float64, torch.int16):
            assert printed == str(tensor.numpy()) + "\n"
        for i in range(5):
            element = float(mtldl("show", source, f"{name}[{i},0]"))
            assert torch.tensor(element).to(tensor.dtype).item() == tensor[i, 0].item()


def test_copy(source, tensors, tmp_path):
    target = tmp_path / "out.safetensors"
    mtldl("cp", source, target)
    out = safetensors.torch.load_file(target)
    assert set(out) == set(tensors)
    for name, tensor in tensors.items():
        assert out[name].dtype == tensor.dtype
        assert torch.equal(out[name].view(torch.uint8), tensor.view(torch.uint8))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_conversion(source, tensors, tmp_path, dtype):
    target = tmp_path / "out.safetensors"
    # Some may be too small for the type.
    assert run("cp", "-d", dtype, "-s", "*float32", source, target).returncode == 0
    for name, tensor in safetensors.torch.load_file(target).items():
        expected = tensors[name].to(getattr(torch, dtype))
        assert tensor.dtype == expected.dtype
        assert torch.equal(tensor.view(torch.uint8), expected.view(torch.uint8))


def test_shards(source, tensors, tmp_path):
    mtldl("cp", "-S", "200", source, tmp_path / "m.safetensors.index.json")
    out = {}
    for path in tmp_path.glob("m-*.safetensors"):
        out.update(safetensors.torch.load_file(path))
    assert set(out) == set(tensors)


def test_stats_of_bfloat16(source, tensors):
    for name, tensor in tensors.items():
        if tensor.dtype == torch.bfloat16:
            lines = dict(line.split() for line in mtldl("show", "-s", source, name).splitlines())
            assert np.isclose(float(lines["mean"]), tensor.double().mean().item(), rtol=1e-12)
            assert torch.tensor(float(lines["max"])).to(tensor.dtype) == tensor.max()

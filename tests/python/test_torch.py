# SPDX-License-Identifier: LGPL-2.1-or-later
import gc

import pytest
from gi.repository import Mtl

from conftest import cpu_capsule, tensor, zeros

torch = pytest.importorskip("torch", reason="PyTorch is among the pinned peers only")

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32",
         "float64", "complex64", "complex128"]


def on_cpu(view):
    """PyTorch copies what is another device's as well as the CPU's, unless it is
    given a capsule."""
    return torch.from_dlpack(view if view.__dlpack_device__() == (1, 0) else cpu_capsule(view))


@pytest.mark.parametrize("name", TYPES)
def test_both_ways_without_a_copy(name):
    view = zeros(name, (2, 3))
    view[1, 2] = 1
    ours = on_cpu(view)

    assert ours.dtype == getattr(torch, name) and ours.shape == (2, 3)
    assert ours.data_ptr() == view.get_address()
    ours[0, 0] = 1
    assert view[0, 0] == 1 and view.tolist() == ours.tolist()
    back = Mtl.from_dlpack(ours)
    assert back.get_address() == view.get_address() and back.dtype.name == name
    back[0, 1] = 1
    assert ours[0, 1] == 1


def test_strides():
    view = tensor([[1, 2, 3], [4, 5, 6]])

    assert on_cpu(view.T).tolist() == [[1, 4], [2, 5], [3, 6]]
    assert on_cpu(view[:, ::2]).data_ptr() == view.get_address()
    assert on_cpu(view[0].broadcast_to([2, 3])).stride() == (0, 1)
    reverse = on_cpu(view.flip(0))  # PyTorch has no negative strides: a copy
    assert reverse.tolist() == [[4, 5, 6], [1, 2, 3]] and reverse.data_ptr() != view.get_address()
    theirs = torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1)[1:, :, ::2]
    assert Mtl.from_dlpack(theirs).tolist() == theirs.tolist()
    assert Mtl.from_dlpack(theirs).strides == theirs.stride()


def test_lifetimes():
    ours = on_cpu(zeros("float32", (1000,)))
    gc.collect()
    assert ours.sum() == 0
    view = Mtl.from_dlpack(torch.arange(5))
    gc.collect()
    assert view.tolist() == [0, 1, 2, 3, 4]


def test_empty_and_without_dimensions():
    assert on_cpu(zeros("float32", (0, 3))).shape == (0, 3)
    assert on_cpu(zeros("float32", ())).item() == 0
    assert Mtl.from_dlpack(torch.zeros(0, 3)).shape == (0, 3)
    assert Mtl.from_dlpack(torch.tensor(2.5)).item() == 2.5


def test_a_tensor_with_gradients_comes_in_as_if_detached():
    ours = torch.zeros(3, requires_grad=True)
    view = Mtl.from_dlpack(ours)

    assert view.get_address() == ours.data_ptr()
    view[1] = 2
    assert ours.tolist() == [0, 2, 0] and ours.requires_grad


def test_tensors_that_cannot_be_exported():
    conjugate = torch.tensor([1 + 2j]).conj()
    assert conjugate.is_conj()
    with pytest.raises(BufferError, match="conj"):
        Mtl.from_dlpack(conjugate)
    assert Mtl.from_dlpack(conjugate.resolve_conj()).tolist() == [1 - 2j]
    for tensor_without_memory in (torch.eye(3).to_sparse(), torch.empty(3, device="meta")):
        with pytest.raises(BufferError):
            Mtl.from_dlpack(tensor_without_memory)


def test_subclasses():
    class Labelled(torch.Tensor):
        pass

    ours = torch.arange(3.0).as_subclass(Labelled)
    assert Mtl.from_dlpack(ours).get_address() == ours.data_ptr()
    assert Mtl.from_dlpack(torch.nn.Parameter(ours)).tolist() == [0, 1, 2]


def test_assigning_from_a_tensor():
    view = zeros("float32", (2, 3))
    view[...] = torch.ones(3)

    assert view.tolist() == [[1, 1, 1]] * 2


def test_two_float4_to_an_element():
    patterns = torch.tensor([[0x21, 0x43], [0x7f, 0x08]], dtype=torch.uint8)
    view = Mtl.from_dlpack(patterns.view(torch.float4_e2m1fn_x2))

    assert view.get_lanes() == 2 and view.shape == (2, 2)
    assert view.tolist() == [[[0.5, 1], [1.5, 2]], [[-6, 6], [0, 0]]]
    view[0, 0] = [6, -6]
    assert patterns[0, 0] == 0xf7
    assert torch.from_dlpack(view).dtype == torch.float4_e2m1fn_x2
    assert view.reinterpret(Mtl.DType.FLOAT4_E2M1FN).tolist() == [[6, -6, 1.5, 2], [-6, 6, 0, 0]]

# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import warnings

import pytest
from gi.repository import Mtl

from conftest import cpu_capsule, tensor, zeros
from says import says

torch = pytest.importorskip("torch", reason="PyTorch is among the pinned peers only")

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32",
         "float64", "complex64", "complex128"]


def on_cpu(view):
    """Imports with PyTorch, which copies another device's memory as well as the CPU's, unless it is
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
    for tensor_without_memory in (torch.eye(3).to_sparse(), torch.empty(3, device="meta")):
        with pytest.raises(BufferError):
            Mtl.from_dlpack(tensor_without_memory)


class Labelled(torch.Tensor):
    pass


COMPLEX = torch.tensor([[1 + 2j, 3 - 4j], [5j, -6 + 0j]])
with warnings.catch_warnings(action="ignore"):  # this type is “experimental”
    HALF = COMPLEX.to(torch.complex32)
LAZY = {
    "conjugate": (COMPLEX.conj(), "conjugated", "resolve_conj"),
    "part of a conjugate": (COMPLEX.conj()[:, 1], "conjugated", "resolve_conj"),
    "imaginary part": (COMPLEX.conj().imag, "negated", "resolve_neg"),
    "of half precision": (HALF.conj().imag, "negated", "resolve_neg"),
    "of double precision": (COMPLEX.to(torch.complex128).conj().imag.T, "negated", "resolve_neg"),
    "both": (torch._neg_view(COMPLEX.conj()), "conjugated", "resolve_conj"),
    "negative": (torch._neg_view(COMPLEX), "negated", "resolve_neg"),
    "negative floats": (torch._neg_view(torch.arange(6.0)), "negated", "resolve_neg"),
    "negative bfloat16": (torch._neg_view(torch.ones(3).bfloat16()), "negated", "resolve_neg"),
    "negative integers": (torch._neg_view(torch.arange(6)), "negated", "resolve_neg"),
    "without dimensions": (COMPLEX.conj().imag[0, 0], "negated", "resolve_neg"),
    "of a subclass": (COMPLEX.conj().imag.as_subclass(Labelled), "negated", "resolve_neg"),
}


@pytest.mark.parametrize("lazy, what, method", LAZY.values(), ids=LAZY)
def test_lazy_tensors_come_in_as_copies_only(lazy, what, method):
    before = torch.from_dlpack(lazy.detach()) if not lazy.is_conj() else None
    assert before is None or before.tolist() != lazy.tolist()  # PyTorch itself takes the memory

    for keywords in ({}, {"copy": False}, {"device": (1, 0)}, {"copy": None}):
        with pytest.raises(BufferError, match=says(f"x.{method}()", "copy=True")):
            Mtl.from_dlpack(lazy, **keywords)
    with pytest.raises(BufferError, match="copy=True"):
        Mtl.asview(lazy)

    for keywords in ({"copy": True}, {"copy": True, "device": (1, 0)}):
        copy = Mtl.from_dlpack(lazy, **keywords)
        assert copy.tolist() == lazy.tolist() and copy.get_address() != lazy.data_ptr()
        assert copy.dtype.name == str(lazy.dtype).partition(".")[2] and not copy.is_read_only()
    resolved = lazy.resolve_conj().resolve_neg()
    assert Mtl.from_dlpack(resolved).get_address() == resolved.data_ptr()
    assert Mtl.from_dlpack(resolved).tolist() == lazy.tolist()


@pytest.mark.parametrize("name", LAZY)
def test_lazy_tensors_are_right_where_they_are_copied(name):
    lazy = LAZY[name][0]
    view = zeros("complex128", lazy.shape)
    view[...] = lazy
    assert view.tolist() == lazy.tolist()
    if lazy.ndim > 0:
        assert lazy[0] in view and [lazy.tolist()] not in view


def test_lazy_tensors_are_saved(tmp_path):
    tensors = {"conj": COMPLEX.conj(), "imag": COMPLEX.conj().imag}
    Mtl.save(tmp_path / "a.safetensors", tensors)
    for name, view in Mtl.load(tmp_path / "a.safetensors").items():
        assert view.tolist() == tensors[name].tolist()


def test_tensors_whose_bits_are_not_set():
    for eager in (COMPLEX, COMPLEX.conj().conj(), COMPLEX.conj().real, COMPLEX.imag,
                  torch._neg_view(COMPLEX.conj().imag), -COMPLEX.real, COMPLEX.conj_physical()):
        view = Mtl.from_dlpack(eager)
        assert view.get_address() == eager.data_ptr() and view.tolist() == eager.tolist()
        copy = Mtl.from_dlpack(eager, copy=True)
        assert copy.get_address() != eager.data_ptr() and copy.tolist() == eager.tolist()


def test_a_lazy_tensor_is_not_asked_for_a_second_copy():
    """The tensor that it resolves to is a copy already."""
    addresses = []

    class Remembers(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            result = super().__torch_function__(function, types, args, kwargs or {})
            if function is torch.Tensor.resolve_neg:
                addresses.append(result.data_ptr())
            return result

    copy = Mtl.from_dlpack(COMPLEX.conj().imag.as_subclass(Remembers), copy=True)
    assert addresses == [copy.get_address()]


def test_subclasses():
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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch's tensors of its MPS device, which are Metal's buffers. It makes and
passes on such tensors without a Mac too, but computes with them only there."""

import gc
import weakref

import pytest
import torch
from gi.repository import Mtl

from conftest import METAL, iota
from dlpack_structs import managed_of

TYPES = ["bool", "int8", "int32", "uint8", "float16", "bfloat16", "float32", "complex64"]
V1 = {"max_version": (1, 0)}

pytestmark = pytest.mark.any_memory


def place_of(exporter):
    exported = managed_of(exporter.__dlpack__(**V1)).dl_tensor
    return exported.device_type, exported.device_id, exported.data, exported.byte_offset


@pytest.mark.parametrize("name", TYPES)
def test_both_ways_without_a_copy(name):
    view = iota(2, 3, dtype=name)
    theirs = torch.from_dlpack(view)

    assert theirs.device == torch.device("mps:0") and theirs.shape == (2, 3)
    assert theirs.dtype == getattr(torch, name)
    assert place_of(theirs) == place_of(view)
    back = Mtl.from_dlpack(theirs)
    assert back.dtype == view.dtype and back.tolist() == view.tolist()
    assert back.get_device() is METAL[0]
    assert back.get_buffer().get_storage_mode() == view.get_buffer().get_storage_mode()
    back[0] = 1
    assert view.tolist() == back.tolist()


def test_parts():
    view = iota(4, 5, 6)

    for part in (view[1:], view[:, 2:, ::3], view.T[3:, 1], view[2, 3, 4:], view[0].T):
        theirs = torch.from_dlpack(part)
        assert theirs.shape == part.shape and theirs.stride() == part.strides
        assert place_of(theirs) == place_of(part)
        assert Mtl.from_dlpack(theirs).tolist() == part.tolist()
        assert Mtl.from_dlpack(theirs.detach()).tolist() == part.tolist()


def test_negative_strides_become_a_copy():
    view = iota(3, 4).flip(0)
    theirs = torch.from_dlpack(view)

    assert theirs.device.type == "mps" and theirs.stride() == (4, 1)
    assert place_of(theirs)[2] != place_of(view.flip(0))[2]
    assert Mtl.from_dlpack(theirs).tolist() == view.tolist()


def test_lifetimes():
    view = iota(1000)
    buffer = view.get_buffer()
    reference = weakref.ref(buffer)
    theirs = torch.from_dlpack(view[990:])
    del view, buffer
    gc.collect()

    assert reference() is None
    back = Mtl.from_dlpack(theirs)
    del theirs
    gc.collect()
    assert back.tolist() == list(range(990, 1000))

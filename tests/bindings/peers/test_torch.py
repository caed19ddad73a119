# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from gi.repository import Mtl

from cases import *  # noqa: F403
from client import ABSENT, DTYPES, IGNORED, PACKED, Client, Refuses


class Torch(Client):
    name = "PyTorch"
    version = torch.__version__.partition("+")[0]
    asks = [{"max_version": (1, 0)}]
    out = {"read-only": IGNORED,
           "copy=False of negative strides": Refuses(BufferError)}
    into = {"read-only": ABSENT, "negative strides": ABSENT}
    keywords = {"device=cpu": {"device": "cpu"}, "copy=False": {"copy": False},
                "copy=True": {"copy": True}, "copy=False of negative strides": {"copy": False}}
    dtypes = {name: f"torch.{name}" for name in DTYPES
              if hasattr(torch, name) and name not in PACKED}
    dtypes_out = PACKED
    foreign_dtype = Refuses(BufferError, "Unsupported")

    def take(self, exporter, **keywords):
        return torch.from_dlpack(exporter, **keywords)

    def address(self, array):
        return array.data_ptr()

    def clone(self, array):
        return array.clone()

    def broadcast(self, array):
        return array[0].broadcast_to(3, 6)


CLIENTS = [Torch()]


def run_alone(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=120)


def test_negative_strides_do_not_end_the_process():
    result = run_alone("""
        import gi
        gi.require_version("Mtl", "1")
        from gi.repository import Mtl
        import torch

        view = Mtl.asview([[1, 2, 3], [4, 5, 6]])
        print(torch.from_dlpack(view[::-1, ::-1]).tolist())
        """)
    assert (result.returncode, result.stdout) == (0, "[[6, 5, 4], [3, 2, 1]]\n"), result.stderr


def test_negative_strides_of_a_numpy_array_end_it():
    """Why views go out as copies; what remains to the user who has an array."""
    result = run_alone("""
        import numpy as np
        import torch

        torch.from_dlpack(np.arange(4)[::-1])
        """)
    assert result.returncode == -signal.SIGABRT and "strides=[-1]" in result.stderr
    reverse = Mtl.asview(np.arange(4)[::-1])
    assert torch.from_dlpack(reverse).tolist() == [3, 2, 1, 0]
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.asarray(reverse))


def test_pairs_of_float4():
    """PyTorch has them as elements of a byte, of two lanes."""
    tensor = torch.arange(6, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    view = Mtl.from_dlpack(tensor)

    assert view.dtype == Mtl.DType.FLOAT4_E2M1FN and view.get_lanes() == 2
    assert view.shape == (6,) and view.get_address() == tensor.data_ptr()
    back = torch.from_dlpack(view[2:])
    assert back.dtype == torch.float4_e2m1fn_x2
    assert back.view(torch.uint8).tolist() == [2, 3, 4, 5]

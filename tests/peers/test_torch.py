# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch."""

import torch

from cases import *  # noqa: F403
from client import ABSENT, DTYPES, IGNORED, PACKED, Client, Refuses


class Torch(Client):
    name = "PyTorch"
    version = torch.__version__.partition("+")[0]
    asks = [{"max_version": (1, 0)}]
    out = {"read-only": IGNORED,
           "copy=False of negative strides": Refuses(BufferError, "negative strides")}
    into = {"read-only": ABSENT, "negative strides": ABSENT}
    keywords = {"device=cpu": {"device": "cpu"}, "copy=False": {"copy": False},
                "copy=True": {"copy": True}, "copy=False of negative strides": {"copy": False}}
    dtypes = {name: f"torch.{name}" for name in DTYPES if hasattr(torch, name)}
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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""MLX, built for the CPU, which copies what it takes."""

import mlx.core as mx

from cases import *  # noqa: F403
from cases import CAPSULES, READ_ONLY
from client import ABSENT, COPIES, DTYPES, PARTS, Client, Converts, Refuses
from dlpack_structs import managed_of


class Mlx(Client):
    name = "MLX"
    version = mx.__version__
    asks = [{}]
    out = {**dict.fromkeys([*PARTS, *CAPSULES, READ_ONLY], COPIES),
           "copy=False": Refuses(ValueError, "without a copy")}
    keywords = {"copy=False": {"copy": False}, "copy=True": {"copy": True}}
    writable = False  # an assignment gives the array new memory
    into = {READ_ONLY: ABSENT}
    dtypes = {"bool": "mlx.core.bool", "complex128": None,
              **{name: f"mlx.core.{name}" for name in DTYPES if hasattr(mx, name)}}
    dtypes_out = {**dict.fromkeys(dtypes, COPIES), "float64": Converts("float32"),
                  "complex128": Converts("complex64")}
    foreign_dtype = Refuses(ValueError, "convert")

    def take(self, exporter, **keywords):
        return mx.from_dlpack(exporter, **keywords)

    def address(self, array):
        tensor = managed_of(array.__dlpack__()).dl_tensor
        return tensor.data + tensor.byte_offset

    def broadcast(self, array):
        return mx.broadcast_to(array[0], (3, 6))


CLIENTS = [Mlx()]

# SPDX-License-Identifier: LGPL-2.1-or-later
"""apache-tvm-ffi, whose tensors hold the memory of others."""

import numpy as np
import tvm_ffi
from gi.repository import Mtl

from cases import *  # noqa: F403
from client import DTYPES, IGNORED, Client, Refuses


class TvmFfi(Client):
    name = "tvm-ffi"
    version = tvm_ffi.__version__
    asks = [{}]
    reads_exchange_api = True
    slices = False
    out = {"read-only": IGNORED, "a versioned capsule": Refuses(ValueError, "dltensor")}
    into = {"read-only": IGNORED, "`__dlpack__(copy=True)`": IGNORED}
    keywords = {"require_alignment=64": {"require_alignment": 64},
                "require_contiguous=True": {"require_contiguous": True}}
    dtypes = {name: name for name in DTYPES if not name.startswith("complex")}
    foreign_dtype = Refuses(ValueError, "type_code=5")

    def take(self, exporter, **keywords):
        array = tvm_ffi.from_dlpack(exporter, **keywords)
        array.dtype  # it looks at that late
        return array

    def address(self, array):
        return array.data_ptr()

    def values(self, array):
        return np.from_dlpack(array).tolist()

    def write(self, array, value):
        np.from_dlpack(array)[0, 0] = value

    def read_only(self, array):
        return self.take(Mtl.from_dlpack(array).as_read_only())


CLIENTS = [TvmFfi()]

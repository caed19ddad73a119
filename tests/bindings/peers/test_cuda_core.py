# SPDX-License-Identifier: LGPL-2.1-or-later
"""cuda.core's StridedMemoryView of the host's memory: no GPU is needed for it."""

import cuda.core
import numpy as np
from cuda.core.utils import StridedMemoryView
from gi.repository import Mtl

from cases import *  # noqa: F403
from client import Client, Refuses
from test_numpy import DTYPES_OF_NUMPY


class CudaCore(Client):
    name = "cuda.core"
    version = cuda.core.__version__
    asks = [{"stream": None, "max_version": (1, 3)}]
    slices = False
    into = {**dict.fromkeys(["`__dlpack__(dl_device=(1, 0))`",
                             "`Mtl.from_dlpack(x, device=(1, 0))`"],
                            Refuses(BufferError, "dl_device")),
            "`__dlpack__(copy=True)`": Refuses(BufferError, "copy")}
    dtypes = {name: name for name in [*DTYPES_OF_NUMPY, "bfloat16"]}
    dtypes_into = {"bfloat16": Refuses(BufferError, "bfloat16")}
    foreign_dtype = Refuses(TypeError, "not supported|Unsupported")

    def take(self, exporter, **keywords):
        array = StridedMemoryView.from_dlpack(exporter, stream_ptr=-1, **keywords)
        array.dtype  # it looks at that late
        return array

    def address(self, array):
        return array.ptr

    def values(self, array):
        return np.from_dlpack(array).tolist()

    def write(self, array, value):
        np.from_dlpack(array)[0, 0] = value

    def is_writable(self, array):
        return not array.readonly

    def read_only(self, array):
        return self.take(Mtl.from_dlpack(array).as_read_only())


CLIENTS = [CudaCore()]

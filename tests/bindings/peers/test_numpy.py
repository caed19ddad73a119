# SPDX-License-Identifier: LGPL-2.1-or-later
"""NumPy, by DLPack and by the buffer protocol: of the system, or of the pinned peers."""

import importlib.util

import numpy as np
from gi.repository import Mtl

from cases import *  # noqa: F403
from cases import CAPSULES, IMPORTS, READ_ONLY, REQUESTS
from client import ABSENT, COPIES, PACKED, WORKS, Client, Refuses

HAS_ML_DTYPES = importlib.util.find_spec("ml_dtypes") is not None
# An older one knows the legacy form alone, and takes its arrays to be read-only.
OLD = np.lib.NumpyVersion(np.__version__) < "2.1.0"
# A newer one refuses what it does not know of DLPack with other exceptions.
NEW = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
DTYPES_OF_NUMPY = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                   "float16", "float32", "float64", "complex64", "complex128"]
NEW_REQUESTS = [name for name, keywords in REQUESTS.items() if set(keywords) - {"stream"}]


class Numpy(Client):
    version = np.__version__
    dtypes = {name: name for name in DTYPES_OF_NUMPY}

    def address(self, array):
        return array.ctypes.data

    def clone(self, array):
        return array.copy()

    def is_writable(self, array):
        return array.flags.writeable

    def read_only(self, array):
        part = array[:]
        part.flags.writeable = False
        return part

    def broadcast(self, array):
        return np.lib.stride_tricks.as_strided(array, (3, 6), (0, array.strides[1]))


class ByDlpack(Numpy):
    name = "NumPy, `from_dlpack()`"
    asks = [{"dl_device": None, "copy": None, "max_version": (1, 0)}]
    out = {"copy=False of negative strides": Refuses(BufferError)}
    keywords = {"device=cpu": {"device": "cpu"}, "copy=False": {"copy": False},
                "copy=True": {"copy": True}, "copy=False of negative strides": {"copy": False}}
    dtypes_out = PACKED
    foreign_dtype = Refuses(BufferError if NEW else RuntimeError, "dtype")
    into = {"`__dlpack__(stream=-1)`": Refuses(ValueError if NEW else RuntimeError, "stream=None")}

    def take(self, exporter, **keywords):
        return np.from_dlpack(exporter, **keywords)

    def give(self, array, **keywords):
        return Mtl.from_dlpack(array, **keywords) if keywords else Mtl.asview(array)


class OldByDlpack(ByDlpack):
    asks = [{}]
    writable = False
    keywords = {}
    out = {"a versioned capsule": Refuses(ValueError, "name"),
           READ_ONLY: Refuses(BufferError, "read-only")}
    into = {**ByDlpack.into,
            **dict.fromkeys(NEW_REQUESTS, Refuses(TypeError, "keyword")),
            "`Mtl.from_dlpack(x, copy=True)`": COPIES}
    dtypes = {name: name for name in DTYPES_OF_NUMPY if name != "bool"}


class ByBuffer(Numpy):
    name = "NumPy, `asarray()`"
    out = {"negative strides": WORKS, **dict.fromkeys(CAPSULES, ABSENT)}
    into = dict.fromkeys([*REQUESTS, *IMPORTS], ABSENT)
    # The types of ml_dtypes; test_ml_dtypes.py has them all.
    dtypes_out = dict.fromkeys(PACKED, COPIES) if HAS_ML_DTYPES else {}
    foreign_dtype = WORKS if HAS_ML_DTYPES else Refuses(ModuleNotFoundError, "ml_dtypes")

    def take(self, exporter, **keywords):
        return np.asarray(exporter)

    def give(self, array, **keywords):
        return Mtl.asview(memoryview(array))


CLIENTS = [OldByDlpack() if OLD else ByDlpack(), ByBuffer()]

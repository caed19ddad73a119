# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of PyTorch that examples/python/metal_peers.py and docs/metal.md use, over the host's
address of Metal's memory. Writes happen when the program waits for them, and no sooner."""

import os

import numpy as np
from gi.repository import Mtl

if os.environ.get('STAND_IN') == 'no-torch':
    raise ImportError("No module named 'torch'")

_waiting = []


float32 = 'float32'


class Tensor:
    def __init__(self, view):
        self._view = view
        self._array = np.asarray(view)

    def __dlpack__(self, **arguments):
        return self._view.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return (8, 0)

    def __str__(self):
        return f'tensor({self.tolist()})'

    def add_(self, value):
        _waiting.append((self._array, value))
        return self

    def tolist(self):
        mps.synchronize()
        return self._array.tolist()


def from_dlpack(producer):
    assert producer.__dlpack_device__() == (8, 0)
    return Tensor(producer)


def arange(n, *, device, dtype):
    assert device == 'mps'
    tensor = Tensor(Mtl.zeros(n, dtype, device=Mtl.Device.get(Mtl.DeviceType.METAL, 0)))
    _waiting.append((tensor._array, np.arange(n, dtype=dtype)))
    return tensor


class mps:
    @staticmethod
    def synchronize():
        while _waiting:
            array, value = _waiting.pop(0)
            array += value


class backends:
    class mps:
        @staticmethod
        def is_available():
            return os.environ.get('STAND_IN') != 'no-mps'

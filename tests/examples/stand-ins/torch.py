# SPDX-License-Identifier: LGPL-2.1-or-later
"""As much of PyTorch as examples/python/metal_peers.py uses, over the host's
address of Metal's memory. Writes happen when one waits for them, and no
sooner."""

import os

import numpy as np

if os.environ.get('STAND_IN') == 'no-torch':
    raise ImportError("No module named 'torch'")

_waiting = []


class Tensor:
    def __init__(self, array):
        self._array = array

    def add_(self, value):
        _waiting.append((self._array, value))
        return self

    def tolist(self):
        mps.synchronize()
        return self._array.tolist()


def from_dlpack(producer):
    assert producer.__dlpack_device__() == (8, 0)
    return Tensor(np.asarray(producer))


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

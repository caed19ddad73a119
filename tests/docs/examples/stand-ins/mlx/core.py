# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of MLX that examples/python/metal_peers.py and docs/metal.md use. Arrays are computed
when they are evaluated, into the memory of their input if no one else holds that array: read-only
or not."""

import ctypes
import weakref

import numpy as np
from gi.repository import Mtl


class array:
    def __init__(self, view=None, source=None, compute=None):
        self._view = view
        self._source = source
        self._compute = compute

    def _read(self):
        eval(self)
        return np.asarray(self._view)

    def __add__(self, value):
        return array(source=self, compute=lambda values: values + np.float32(value))

    def __mul__(self, value):
        return array(source=self, compute=lambda values: values * np.float32(value))

    def tolist(self):
        return self._read().tolist()

    def __str__(self):
        return f'array({self.tolist()})'

    def __dlpack__(self):
        assert self._view is not None, 'not evaluated yet'
        return self._view.__dlpack__()

    def __dlpack_device__(self):
        return (8, 0)


def eval(lazy):
    if lazy._view is not None:
        return

    source, lazy._source = lazy._source, None
    values = np.ascontiguousarray(lazy._compute(source._read()))
    lazy._view, source = source._view, weakref.ref(source)
    if source() is not None:
        lazy._view = Mtl.StridedView.new_uninitialized(
            Mtl.Device.get(Mtl.DeviceType.METAL, 0), Mtl.DType.FLOAT32, list(values.shape))
    ctypes.memmove(lazy._view.get_address(), values.ctypes.data, values.nbytes)


def exp(values):
    return array(source=values, compute=lambda numbers: np.exp(numbers))


def from_dlpack(producer, *, copy=None):
    assert producer.__dlpack_device__() == (8, 0)
    return array(view=Mtl.from_dlpack(producer, copy=copy))


class metal:
    @staticmethod
    def is_available():
        return True

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's Py_buffer, for what memoryview does not ask for, and exporters of any."""

import contextlib
import ctypes

SIMPLE, WRITABLE, FORMAT, ND = 0, 1, 4, 8
STRIDES = 0x10 | ND
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x20 | STRIDES, 0x40 | STRIDES, 0x80 | STRIDES
INDIRECT = 0x100 | STRIDES


class PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


get_buffer = ctypes.pythonapi.PyObject_GetBuffer
get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(PyBuffer), ctypes.c_int]
release_buffer = ctypes.pythonapi.PyBuffer_Release
release_buffer.argtypes = [ctypes.POINTER(PyBuffer)]
release_buffer.restype = None


@contextlib.contextmanager
def buffer_of(exporter, flags):
    buffer = PyBuffer()
    get_buffer(exporter, buffer, flags)
    try:
        yield buffer
    finally:
        release_buffer(buffer)


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int),
                ("flags", ctypes.c_uint), ("slots", ctypes.POINTER(_Slot))]


_GetBuffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(PyBuffer),
                               ctypes.c_int)
_ReleaseBuffer = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(PyBuffer))
_type_from_spec = ctypes.pythonapi.PyType_FromSpec
_type_from_spec.argtypes = [ctypes.POINTER(_Spec)]
_type_from_spec.restype = ctypes.py_object
_increase = ctypes.pythonapi.Py_IncRef
_increase.argtypes = [ctypes.c_void_p]


def _dims(values):
    return (ctypes.c_ssize_t * len(values))(*values) if values else None


class Exporting:
    """An object whose `exporter` exports what the other attributes say, be it true or not. `memory`
    is an object of ctypes. `n_exports` counts the buffers that are not released yet."""

    _by_address = {}

    def __init__(self, memory, format, itemsize, shape=(), strides=(), length=None, ndim=None,
                 read_only=False):
        self.memory, self.format, self.itemsize = memory, format, itemsize
        self.shape, self.strides = _dims(shape), _dims(strides)
        self.length = ctypes.sizeof(memory) if length is None else length
        self.ndim = len(shape) if ndim is None else ndim
        self.read_only, self.n_exports = read_only, 0
        self.exporter = _Exporter()
        self._by_address[id(self.exporter)] = self

    def end(self):
        del self._by_address[id(self.exporter)]
        assert self.n_exports == 0


def _get(exporter, buffer, flags):
    told = Exporting._by_address[exporter]
    told.n_exports += 1
    _increase(exporter)
    dims = ctypes.POINTER(ctypes.c_ssize_t)
    buffer[0] = PyBuffer(ctypes.addressof(told.memory), exporter, told.length, told.itemsize,
                         told.read_only, told.ndim, told.format, ctypes.cast(told.shape, dims),
                         ctypes.cast(told.strides, dims), None, None)
    return 0


def _release(exporter, buffer):
    Exporting._by_address[exporter].n_exports -= 1


_functions = _GetBuffer(_get), _ReleaseBuffer(_release)
_slots = (_Slot * 3)(*(_Slot(slot, ctypes.cast(function, ctypes.c_void_p))
                       for slot, function in enumerate(_functions, 1)))
_Exporter = _type_from_spec(_Spec(b"tests.Exporter", 0, 0, 0, _slots))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's Py_buffer, for what memoryview does not ask for."""

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

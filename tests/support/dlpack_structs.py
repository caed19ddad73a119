# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack's structs, and a producer whose every field a test can set."""

import ctypes

VERSION_1 = (1, 0)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("dl_tensor", DLTensor)]


api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetDestructor.argtypes = [ctypes.py_object, ctypes.c_void_p]

# Names have to live as long as the capsules.
LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"


def capsule_name(capsule):
    return api.PyCapsule_GetName(capsule)


def managed_of(capsule):
    name = capsule_name(capsule)
    kind = ManagedVersioned if b"versioned" in name else Managed
    managed = kind.from_address(api.PyCapsule_GetPointer(capsule, name))
    managed.capsule = capsule  # which has to live as long
    return managed


def dims(pointer, n):
    return tuple(pointer[i] for i in range(n)) if pointer else None


class Producer:
    """Exports memory as it is told to, and counts how often its deleter runs.

    Who has exported lives until then, as the consumer relies on it."""

    alive = set()

    def __init__(self, data=None, shape=(), strides=None, code=2, bits=32, lanes=1, byte_offset=0,
                 device=(1, 0), version=(1, 1), flags=0, deleter=True, ndim=None, legacy=False):
        self.deleted = 0
        self.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape) if shape is not None else None
        self.strides = None if strides is None else (ctypes.c_int64 * max(len(strides), 1))(*strides)
        self.memory = data
        self.callback = DELETER(self._delete) if deleter else None
        self.managed = Managed() if legacy else ManagedVersioned()
        if not legacy:
            self.managed.major, self.managed.minor = version
            self.managed.flags = flags
        self.managed.deleter = ctypes.cast(self.callback, ctypes.c_void_p) if deleter else None
        tensor = self.managed.dl_tensor
        tensor.data = data if data is None or isinstance(data, int) else ctypes.addressof(data)
        tensor.device_type, tensor.device_id = device
        tensor.ndim = len(shape or ()) if ndim is None else ndim
        tensor.code, tensor.bits, tensor.lanes = code, bits, lanes
        if self.shape is not None and len(shape) > 0:
            tensor.shape = self.shape
        if self.strides is not None:
            tensor.strides = self.strides
        tensor.byte_offset = byte_offset

    def _delete(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1
        self.alive.discard(self)

    def capsule(self):
        self.alive.add(self)
        name = VERSIONED if isinstance(self.managed, ManagedVersioned) else LEGACY
        return api.PyCapsule_New(ctypes.addressof(self.managed), name, None)

    def __dlpack__(self, **keywords):
        return self.capsule()

    def __dlpack_device__(self):
        tensor = self.managed.dl_tensor
        return tensor.device_type, tensor.device_id


def floats(*values):
    return (ctypes.c_float * len(values))(*values)


SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("prev_api", ctypes.c_void_p),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor),
                                      ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, SET_ERROR)),
        ("managed_from", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object,
                                           ctypes.POINTER(ctypes.c_void_p))),
        ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                                        ctypes.POINTER(ctypes.py_object))),
        ("borrow", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))),
        ("work_stream", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32,
                                         ctypes.POINTER(ctypes.c_void_p))),
    ]


def exchange_api(cls):
    """The C functions that a class offers."""
    capsule = cls.__dlpack_c_exchange_api__
    return ExchangeApi.from_address(api.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api"))

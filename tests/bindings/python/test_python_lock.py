# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's lock: who takes it, who does without. Each program runs by itself,
and would hang where it fails."""

import subprocess
import sys
import textwrap

import pytest

PREAMBLE = """
import contextlib, ctypes, sys, threading
import gi
gi.require_version("Mtl", "1")
from gi.repository import GLib, Mtl
from dlpack_structs import api, managed_of

holding = ctypes.PyDLL(None)   # calls that keep Python's lock
leaving = ctypes.CDLL(None)    # and that give it up
glib = ctypes.CDLL(gi._gi.__file__)  # which finds the GLib that it is linked to
glib.g_bytes_ref.argtypes = glib.g_bytes_unref.argtypes = [ctypes.c_void_p]
holding.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]


def start(function, argument):
    "On a thread that Python does not know."
    thread = ctypes.c_ulong()
    leaving.pthread_create(ctypes.byref(thread), None, ctypes.cast(function, ctypes.c_void_p),
                           ctypes.c_void_p(argument))
    return thread


def take(capsule):
    managed = managed_of(capsule)
    api.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
    return managed.deleter, ctypes.addressof(managed)


def take_bytes(view):
    "GLib.Bytes of the memory, the last reference to which is ours."
    rows = view.get_bytes()
    address = hash(rows)
    glib.g_bytes_ref(address)
    return glib.g_bytes_unref, address
"""

# Each makes something whose end is a C function and its argument, and nothing else holds.
ENDS = {
    "export": """
        view = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT32, [1000])
        view.name = "a view with attributes of its own"
        end = take(view.__dlpack__(max_version=(1, 0)))
        """,
    "export, the last of it": """
        view = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT32, [1000])
        dir(view), dir(view.get_buffer())
        end = take(view.__dlpack__(max_version=(1, 0)))
        del view
        """,
    "export of a Python buffer": """
        memory = bytearray(1000)
        end = take(Mtl.asview(memory).__dlpack__(max_version=(1, 0)))
        """,
    "bytes of a Python buffer": """
        memory = bytearray(1000)
        end = take_bytes(Mtl.asview(memory))
        """,
    "a tensor from C": """
        from dlpack_structs import ManagedVersioned
        values = (ctypes.c_float * 4)()
        shape = strides = None
        managed = ManagedVersioned(1, 0)
        managed.deleter = ctypes.cast(leaving.abs, ctypes.c_void_p).value
        managed.dl_tensor.data = ctypes.addressof(values)
        managed.dl_tensor.device_type = 1
        managed.dl_tensor.code, managed.dl_tensor.bits, managed.dl_tensor.lanes = 2, 32, 1
        capsule = api.PyCapsule_New(ctypes.addressof(managed), b"dltensor_versioned", None)
        end = take_bytes(Mtl.from_dlpack(capsule))
        """,
}

# The places where the view may end.
PLACES = {
    "while the lock is held": """
        thread = start(*end)
        assert holding.pthread_join(thread, None) == 0
        """,
    "while the lock is held by a thread": """
        def wait():
            assert holding.pthread_join(start(*end), None) == 0
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
        """,
    "on a thread of Python's, without the lock": """
        leaving_end = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
            ctypes.cast(end[0], ctypes.c_void_p).value)
        thread = threading.Thread(target=leaving_end, args=[end[1]])
        thread.start()
        thread.join()
        """,
    "with the lock": """
        holding_end = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(
            ctypes.cast(end[0], ctypes.c_void_p).value)
        holding_end(end[1])
        """,
}


def run(*parts):
    program = PREAMBLE
    program += "".join(textwrap.dedent(part) for part in parts) + "\nprint('done')\n"
    result = subprocess.run([sys.executable, "-X", "faulthandler", "-c", program],
                            capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


# A Python buffer ends when the main thread next takes the lock, if not before.
RELEASED = """
leaving.abs(1)
if "memory" in globals():
    memory.append(1)
    assert len(memory) == 1001
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", ENDS)
def test_nothing_of_ours_waits_for_the_lock(what, place):
    run(ENDS[what], PLACES[place], RELEASED)


def test_many_buffers_end_on_a_foreign_thread():
    """More than Python's list of pending calls has places."""
    run("""
        memory = bytearray(1000)
        ends = [take_bytes(Mtl.asview(memory)) for _ in range(200)]
        for thread in [start(*end) for end in ends]:
            assert holding.pthread_join(thread, None) == 0
        """, RELEASED)


def test_threads_that_go_on_while_the_interpreter_ends():
    """They end a thousand buffers each, some of them before, some after."""
    run("""
        glib.g_ptr_array_new_with_free_func.restype = ctypes.c_void_p
        glib.g_ptr_array_add.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        unref = ctypes.cast(glib.g_bytes_unref, ctypes.c_void_p)
        memory = bytearray(1000)
        arrays = [glib.g_ptr_array_new_with_free_func(unref) for _ in range(4)]
        for array in arrays:
            for _ in range(1000):
                glib.g_ptr_array_add(array, take_bytes(Mtl.asview(memory))[1])
        for array in arrays:
            start(glib.g_ptr_array_unref, array)
        """)


# Calls that move many bytes, on views of 32 MiB: dense, wide and reversed.
LONG = {
    "assignment": "dense[...] = reverse",
    "assignment, converted": "wide[...] = dense",
    "assignment of a number": "dense[...] = 7",
    "bytes of a view": "bytes(dense)",
    "bytes of a strided view": "bytes(reverse)",
    "bytes of a buffer": "bytes(dense.get_buffer())",
    "export of a copy": "dense.__dlpack__(copy=True)",
    "export that needs a copy": "reverse.__dlpack__()",
    "import of a copy": "Mtl.from_dlpack(Older(), copy=True)",
    "exchange in C": "exchange(reverse, ctypes.byref(ctypes.c_void_p()))",
    "copy": "reverse.copy()",
    "copy in an order": "reverse.reshape(2**12, 2**13).T.copy('F')",
    "copy of another view": "dense.copy_from(reverse)",
    "conversion": "dense.to_dtype(Mtl.DType.INT32)",
    "conversion as NumPy's": "reverse.astype('int32', 'F')",
    "fill": "dense.fill_double(3)",
    "comparison": "dense.array_equal(dense.copy())",
    "wait": "with contextlib.suppress(TimeoutError): Mtl.Event.new(None).wait(1, 20_000, None)",
}


@pytest.mark.parametrize("name", LONG)
def test_others_run_meanwhile(name):
    """Another thread runs as soon as it gets the lock, and never sooner: forced
    turns come but once in an hour. A busy machine may wake it too late a few times."""
    run(f"""
        size = 2**25
        dense = Mtl.StridedView.new_zeros(None, Mtl.DType.UINT8, [size])
        wide = Mtl.StridedView.new_zeros(None, Mtl.DType.INT16, [size])
        reverse = dense.copy()[::-1]

        class Older:
            def __dlpack__(self):
                return dense.__dlpack__()

        class Api(ctypes.Structure):
            _fields_ = [("version", ctypes.c_uint32 * 2), ("previous", ctypes.c_void_p),
                        ("allocate", ctypes.c_void_p), ("export", ctypes.c_void_p)]

        table = Mtl.StridedView.__dlpack_c_exchange_api__
        exchange = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(
            Api.from_address(api.PyCapsule_GetPointer(table, b"dlpack_exchange_api")).export)

        go, ready, runs = threading.Lock(), threading.Event(), []

        def meanwhile():
            ready.set()
            go.acquire()
            runs.append(True)

        go.acquire()
        sys.setswitchinterval(3600)
        thread = threading.Thread(target=meanwhile)
        thread.start()
        ready.wait()
        for _ in range(1000):  # it may not have come to wait for its turn yet
            leaving.sched_yield()
        go.release()
        assert not runs
        for _ in range(100):
            if not runs:
                {LONG[name]}
        assert runs
        thread.join()
        """)

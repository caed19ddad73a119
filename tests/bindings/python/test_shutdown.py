# SPDX-License-Identifier: LGPL-2.1-or-later
"""Memory that ends after the interpreter: the C library's exit functions run
when Python has finalized."""

import subprocess
import sys
import textwrap

import pytest

PREAMBLE = """
import ctypes, sys
import gi
gi.require_version("Mtl", "1")
from gi.repository import GLib, Mtl
import numpy as np
from conftest import from_dlpack
from dlpack_structs import api, capsule_name, managed_of

at_exit = ctypes.CDLL(None).__cxa_atexit
at_exit.argtypes = [ctypes.c_void_p] * 3
# Prints when everything else has run: exit functions run last to first.
puts = ctypes.CDLL(None).puts
message = ctypes.create_string_buffer(b"ended well")
keep = ctypes.pythonapi.Py_IncRef
keep.argtypes = [ctypes.py_object]
keep(message)
at_exit(ctypes.cast(puts, ctypes.c_void_p), ctypes.addressof(message), None)
view = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT32, [1000])
glib = ctypes.CDLL(gi._gi.__file__)  # which finds the GLib that it is linked to
"""

PROGRAMS = {
    "export": """
        capsule = view.__dlpack__(max_version=(1, 0))
        managed = managed_of(capsule)
        api.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
        keep(capsule)
        at_exit(managed.deleter, ctypes.addressof(managed), None)
        """,
    "import of an array": """
        rows = Mtl.from_dlpack(np.zeros(1000)).get_bytes()
        pointer = glib.g_bytes_ref
        pointer.argtypes = [ctypes.c_void_p]
        unref = glib.g_bytes_unref
        address = hash(rows)
        pointer(address)
        at_exit(ctypes.cast(unref, ctypes.c_void_p), address, None)
        """,
    "import of a buffer": """
        rows = Mtl.asview(bytearray(1000)).get_bytes()
        pointer = glib.g_bytes_ref
        pointer.argtypes = [ctypes.c_void_p]
        unref = glib.g_bytes_unref
        address = hash(rows)
        pointer(address)
        at_exit(ctypes.cast(unref, ctypes.c_void_p), address, None)
        """,
    "objects of all kinds, in modules and cycles": """
        import sys
        sys.kept = [view, view.get_buffer(), view.layout, memoryview(view), np.asarray(view),
                    from_dlpack(view), Mtl.from_dlpack(np.ones(3)), Mtl.asview(b"abc"),
                    view.__dlpack__(), view.export_dlpack(), Mtl.Event.new(None),
                    *Mtl.Device.list()]
        sys.kept.append(sys.kept)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_after_the_interpreter(name):
    program = PREAMBLE + textwrap.dedent(PROGRAMS[name])
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            timeout=120)

    assert (result.returncode, result.stdout) == (0, "ended well\n"), result.stderr

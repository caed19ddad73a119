# SPDX-License-Identifier: LGPL-2.1-or-later
"""The controls of the double of Metal, and what only a program with Metal in
its hands can do: metal-double.h and metal-fixture.h."""

import ctypes
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_uint, c_uint8, c_uint64, c_ulong, c_void_p

SHARED, MANAGED, PRIVATE = 0, 16, 32  # MTLResourceOptions
VOLATILE = 3  # an MTLPurgeableState
FILL, ADD = 0, 1  # operations of another library on the GPU


def _library(name):
    """Returns the library that is in the process already: it has to be the build's."""
    with open("/proc/self/maps") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if f"/{name}" in line))


double = _library("libmetal-double.so")
mtldl = _library("libmtldl-1.so")


def _declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


pause = _declare(double, "metal_double_pause", None)
resume = _declare(double, "metal_double_resume", None)
fail_at = _declare(double, "metal_double_fail_at", None, c_uint)
points = _declare(double, "metal_double_points", c_uint)
calls = _declare(double, "metal_double_calls", c_uint, c_char_p)
live = _declare(double, "metal_double_live", c_size_t, c_char_p)

page_size = _declare(double, "metal_fixture_page_size", c_size_t)
new_buffer = _declare(double, "metal_fixture_buffer_new", c_void_p, c_uint, c_size_t, c_uint)
release = _declare(double, "metal_fixture_release", None, c_void_p)
retain_count = _declare(double, "metal_fixture_retain_count", c_ulong, c_void_p)
set_purgeable_state = _declare(double, "metal_fixture_set_purgeable_state", c_uint, c_void_p, c_uint)
peek = _declare(double, "metal_fixture_peek", None, c_void_p, c_size_t, c_char_p, c_size_t)
poke = _declare(double, "metal_fixture_poke", None, c_void_p, c_size_t, c_char_p, c_size_t)
new_event = _declare(double, "metal_fixture_event_new", c_void_p, c_uint)
submit = _declare(double, "metal_fixture_submit", c_void_p, c_int, c_void_p, c_size_t, c_size_t,
                  c_uint8, c_void_p, c_uint64, c_void_p, c_uint64)
go = _declare(double, "metal_fixture_go", None, c_void_p)
finish = _declare(double, "metal_fixture_finish", c_bool, c_void_p)

_event_handle = _declare(mtldl, "mtl_event_get_handle", c_void_p, c_void_p)


def contents_on_gpu(buffer, offset, size):
    contents = ctypes.create_string_buffer(size)
    peek(buffer, offset, contents, size)
    return contents.raw


def handle_of_event(event):
    """The id<MTLSharedEvent>, which no binding shows; PyGObject's hash is the
    object's address."""
    return _event_handle(hash(event))

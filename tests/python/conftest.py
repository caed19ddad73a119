# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import random

import gi

gi.require_version("Mtl", "1")

import pytest  # noqa: E402
from gi.repository import GLib, Mtl  # noqa: E402

NUMERIC = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
           "float16", "float32", "float64", "complex64", "complex128"]


def pytest_terminal_summary(terminalreporter):
    import numpy

    terminalreporter.write_line(f"NumPy {numpy.__version__}; {CASES} random cases; again with "
                                f"MTL_TEST_SEED={SEED}")


SEED = int(os.environ.get("MTL_TEST_SEED", random.SystemRandom().randrange(2**32)))
CASES = int(os.environ.get("MTL_TEST_CASES", 100_000))


@pytest.fixture
def rng(request):
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def cases():
    return CASES


@pytest.fixture(params=NUMERIC)
def dtype(request):
    """Each element type that NumPy has as well."""
    return request.param


def dtype_of(name):
    return Mtl.DType.from_string(name)


def view_of(array):
    """A view that shares the array's memory, or for read-only ones its buffer's."""
    return Mtl.asview(array)


def zeros(name, shape):
    return Mtl.StridedView.new_zeros(None, dtype_of(name), list(shape))


def error_code(info):
    """The MtlError behind a translated exception."""
    cause = info.value.__cause__
    assert isinstance(cause, GLib.Error) and cause.domain == "mtl-error-quark"
    return Mtl.Error(cause.code)

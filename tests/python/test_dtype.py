# SPDX-License-Identifier: LGPL-2.1-or-later
import numpy as np
import pytest
from gi.repository import GLib, Mtl

from conftest import dtype_of, error_code


def test_names_and_sizes_are_numpys(dtype):
    value = dtype_of(dtype)
    expected = np.dtype(dtype)

    assert str(value) == value.name == value.to_string(value) == expected.name
    assert value.itemsize == expected.itemsize
    assert Mtl.DType.get_bits(value) == expected.itemsize * 8
    assert np.dtype(value) == expected


def test_values_are_dlpacks():
    assert int(Mtl.DType.FLOAT32) == 2 << 8 | 32
    assert int(Mtl.DType.BFLOAT16) == 4 << 8 | 16
    assert int(Mtl.DType.FLOAT4_E2M1FN) == 17 << 8 | 4
    assert Mtl.DType.FLOAT4_E2M1FN.itemsize == 1


def test_errors_are_of_the_librarys_domain():
    assert GLib.quark_to_string(Mtl.error_quark()) == "mtl-error-quark"
    assert Mtl.Error.quark() == Mtl.error_quark()


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="float33") as info:
        Mtl.DType.from_string("float33")
    assert error_code(info) == Mtl.Error.INVALID_ARGUMENT

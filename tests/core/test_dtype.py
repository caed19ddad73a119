# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import subprocess
import sys

import numpy as np
import pytest
from gi.overrides import _mtl_dtype
from gi.repository import GLib, Mtl

import conversions  # noqa: F401: ml_dtypes, if it is there, adds its names to NumPy's
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


# Names that NumPy 2 has no more. What it called cfloat is another type in PyTorch.
REMOVED = {"bool8", "int0", "uint0", "cfloat", "singlecomplex"}


def is_numpys(name):
    """True if NumPy has a type of that name that it stores as we do."""
    if name in REMOVED or name.isdigit():
        return False
    try:
        dtype = np.dtype(name)
    except TypeError:
        return False
    return dtype.kind in "biufc" and dtype.itemsize <= 16 and dtype.char not in "gG"


@pytest.mark.parametrize("name", sorted({
    *filter(lambda name: isinstance(name, str), np.sctypeDict), *np.typecodes["All"],
    *(f"{order}{kind}{size}" for order in ("", "<", "=", "|") for kind in "biufc"
      for size in (1, 2, 4, 8, 16))}))
def test_numpys_names_and_codes_are_known(name):
    if is_numpys(name):
        assert str(Mtl.DType.from_string(name)) == np.dtype(name).name


def test_names_of_ml_dtypes_are_known():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    known = [name for name in dir(ml_dtypes) if name.startswith(("bfloat", "float", "int", "uint"))
             and not name.endswith("int1")]
    assert len(known) > 12
    for name in known:
        assert str(Mtl.DType.from_string(name)) == name


def test_pytorchs_names_are_known():
    torch = pytest.importorskip("torch")
    dtypes = {name: dtype for name, dtype in vars(torch).items() if isinstance(dtype, torch.dtype)
              and str(dtype).startswith(("torch.bool", "torch.int8", "torch.int16", "torch.int32",
                                         "torch.int64", "torch.uint8", "torch.uint16",
                                         "torch.uint32", "torch.uint64", "torch.float8",
                                         "torch.float16", "torch.float32", "torch.float64",
                                         "torch.bfloat16", "torch.complex"))}
    assert len(dtypes) > 20
    for name in ("int2", "int4", "uint2", "uint4"):  # which it does not export as such
        assert Mtl.DType.from_string(f"torch.{name}") == dtype_of(name) == getattr(torch, name)
    for name, dtype in dtypes.items():
        view = Mtl.from_dlpack(torch.zeros(2, dtype=dtype))
        assert Mtl.DType.from_string(f"torch.{name}") == view.dtype
        assert Mtl.DType.from_string(str(dtype)) == view.dtype


def test_safetensors_names_are_known(tmp_path):
    for name, bits in (("F64", 64), ("BF16", 16), ("I8", 8), ("U8", 8), ("BOOL", 8), ("C64", 64),
                       ("F8_E4M3", 8), ("F4", 4)):
        header = f'{{"x":{{"dtype":"{name}","shape":[2],"data_offsets":[0,{bits // 4}]}}}}'.encode()
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(bits // 4))
        assert Mtl.DType.from_string(name) == Mtl.load(path)["x"].dtype


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="float33") as info:
        Mtl.DType.from_string("float33")
    assert error_code(info) == Mtl.Error.INVALID_ARGUMENT
    for name in ("int8\0", "int8\0x", "\0int8", "\ud800"):
        with pytest.raises(ValueError):
            Mtl.asview([1]).astype(name)
        assert Mtl.DType.INT8 != name


EXTENDED = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "complex32"]


def test_equal_to_numpys_and_names(dtype):
    value, other = dtype_of(dtype), np.dtype("float32" if dtype != "float32" else "int8")
    for equal in (np.dtype(dtype), np.dtype(dtype).type, dtype, np.dtype(dtype).str,
                  np.dtype(dtype).char, int(value)):
        assert value == equal and equal == value and not value != equal
    for different in (other, other.type, other.name, None, "no such type", 3.5, object(), ">f4",
                      np.dtype(dtype).newbyteorder() if value.itemsize > 1 else None, list):
        assert value != different and different != value and not value == different
    assert hash(value) == hash(np.dtype(dtype))
    assert {np.dtype(dtype): 1}[value] == {value: 1}[np.dtype(dtype)] == 1
    assert value in (dtype,) and value not in (other.name,)


def test_comparisons_of_other_kinds():
    value = Mtl.DType.FLOAT32
    assert value.__eq__("float32") is True and value.__ne__("f4") is False
    assert value.__eq__("int8") is False and value.__eq__(3.5) is NotImplemented
    assert value < Mtl.DType.FLOAT64 and value > 2 and value == int(value) and value != True  # noqa
    with pytest.raises(TypeError):
        value < "float64"

    class Broken:
        @property
        def name(self):
            raise RuntimeError("in the middle")

    for compare in (value.__eq__, value.__ne__, lambda other: other != value):
        with pytest.raises(RuntimeError, match="in the middle"):
            compare(Broken())


def test_pythons_types():
    for python, name in ((bool, "bool"), (int, "int64"), (float, "float64"),
                         (complex, "complex128")):
        assert dtype_of(name) == python and dtype_of("int8") != python


def test_equal_to_pytorchs():
    torch = pytest.importorskip("torch")
    assert Mtl.DType.BFLOAT16 == torch.bfloat16 and torch.float32 != Mtl.DType.BFLOAT16
    assert Mtl.zeros(2, torch.float16).dtype == "float16"


def test_formats(dtype):
    value = dtype_of(dtype)
    assert f"{value}" == str(value) == dtype and f"{value:>12}" == f"{dtype:>12}"
    assert "%s" % value == dtype and repr(value) == f"Mtl.DType.{dtype.upper()}"
    assert eval(repr(value)) is value or eval(repr(value)) == value


def test_kind_type_and_char(dtype):
    value, expected = dtype_of(dtype), np.dtype(dtype)
    assert (value.kind, value.type, value.char) == (expected.kind, expected.type, expected.char)


def test_kinds_of_what_numpy_has_not():
    kinds = {dtype_of(name).kind for name in EXTENDED[:-1]}
    assert kinds == {"f"} and Mtl.DType.COMPLEX32.kind == "c"
    assert Mtl.DType.INT4.kind == "i" and Mtl.DType.UINT2.kind == "u"
    assert Mtl.DType.OPAQUE_HANDLE8.kind == Mtl.DType.OTHER.kind == "V"


def test_numpy_asks_views_for_their_type(dtype):
    view = Mtl.zeros(2, dtype)
    assert np.result_type(view) == np.dtype(dtype)
    assert np.result_type(view.dtype) == np.result_type(1)  # an integer: docs/python.md says so
    assert np.result_type(view, np.float64) == np.result_type(np.dtype(dtype), np.float64)
    assert np.dtype(view.dtype) == np.dtype(dtype)
    assert np.zeros(2, view.dtype).dtype == np.dtype(dtype)
    assert np.zeros(2, "i2").astype(view.dtype).dtype == np.dtype(dtype)


def test_of_another_byte_order():
    with pytest.raises(NotImplementedError, match="f4"):
        Mtl.zeros(2, np.dtype("f4").newbyteorder())
    with pytest.raises(NotImplementedError, match="f4"):
        Mtl.asview([1, 2]).astype(np.dtype("f4").newbyteorder())


def test_made_from_what_stands_for_it(dtype):
    value, expected = dtype_of(dtype), np.dtype(dtype)
    for other in (dtype, expected, expected.type, expected.str, int(value), value):
        assert Mtl.DType(other) is value or Mtl.DType(other) == value
        assert type(Mtl.DType(other)) is Mtl.DType
    for wrong, error in (("float33", ValueError), (None, TypeError), (2.5, TypeError),
                         (7, ValueError), (list, ValueError)):
        with pytest.raises(error):
            Mtl.DType(wrong)


@pytest.mark.parametrize("name", _mtl_dtype.OF_NUMPY)
def test_attributes_are_numpys(dtype, name):
    found, expected = getattr(dtype_of(dtype), name), getattr(np.dtype(dtype), name)
    assert found() == expected() if callable(expected) and name != "type" else found == expected


MEMBERS = [value for value in map(Mtl.DType.__dict__.get, dir(Mtl.DType))
           if isinstance(value, Mtl.DType)]


def test_hashes_are_numpys():
    assert len(MEMBERS) > 25
    for value in MEMBERS:
        try:
            expected = value.dtype
        except (ImportError, TypeError):  # not a type of this NumPy
            continue
        assert hash(value) == hash(expected), value
    assert len({*MEMBERS}) == len({int(value) for value in MEMBERS})


HASHES = """
import sys

{before}
import gi

gi.require_version("Mtl", "1")
from gi.repository import Mtl

first = [hash(Mtl.DType(number)) for number in {numbers}]
assert ("numpy" in sys.modules) == {imported}
try:
    import numpy
except ImportError:
    pass
assert first == [hash(Mtl.DType(number)) for number in {numbers}]
print(*first)
"""


@pytest.mark.parametrize("before", ["", "import numpy", "sys.modules['numpy'] = None"])
def test_hashes_do_not_depend_on_what_is_imported(before):
    numbers = [int(value) for value in MEMBERS]
    code = HASHES.format(before=before, numbers=numbers, imported=before != "")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONHASHSEED": "1"})
    again = subprocess.run([sys.executable, "-c", HASHES.format(
        before="", numbers=numbers, imported=False)], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"})
    if "None" not in before:  # without NumPy there is no version to agree with
        assert done.stdout == again.stdout
    assert len(done.stdout.split()) == len(numbers)

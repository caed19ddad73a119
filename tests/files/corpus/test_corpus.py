# SPDX-License-Identifier: LGPL-2.1-or-later
"""The odd safetensors files, against verdicts.csv, and against safetensors itself."""

import pytest
import safetensors

import corpus
import differences
from says import tells
from tables import read_tables

CASES = {case.name: case for case in corpus.cases()}
VERDICTS = corpus.verdicts()

DTYPES = {"BOOL": "bool", "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn",
          "F6_E3M2": "float6_e3m2fn", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2",
          "F8_E4M3": "float8_e4m3fn", "F8_E8M0": "float8_e8m0fnu",
          "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "I16": "int16",
          "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U32": "uint32",
          "F32": "float32", "C64": "complex64", "F64": "float64", "I64": "int64",
          "U64": "uint64"}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    paths = {name: folder / (name + corpus.SUFFIX) for name in CASES}
    for name, path in paths.items():
        path.write_bytes(CASES[name].content)
    return paths


@pytest.fixture(scope="module")
def tables(paths):
    return dict(zip(paths, read_tables(list(paths.values()))))


def test_each_has_a_verdict():
    assert [verdict.case for verdict in VERDICTS.values()] == list(CASES)
    assert all(verdict.what == CASES[name].what for name, verdict in VERDICTS.items())


def test_differences_have_a_reason():
    for verdict in VERDICTS.values():
        assert (verdict.safetensors != verdict.mtldl) == bool(verdict.why)
        assert (verdict.mtldl == "opens") != bool(verdict.values)


def test_table_of_differences():
    assert differences.table() in differences.PAGE.read_text(encoding="utf-8"), \
        "python3 tests/files/corpus/differences.py writes it anew"


@pytest.mark.parametrize("name", CASES)
def test_verdict_of_mtldl(name, tables):
    verdict, table = VERDICTS[name], tables[name]

    left_out = [refused.message for refused in table.refused]
    assert tells(table.message or "".join(left_out), *filter(None, verdict.values.split(" & ")))
    assert verdict.mtldl == ("refuses" if table.message else "leaves it out" if left_out
                             else "opens")


@pytest.mark.parametrize("name", CASES)
def test_verdict_of_safetensors(name, paths):
    def opens():
        with safetensors.safe_open(paths[name], framework="numpy") as file:
            return list(file.keys())

    if VERDICTS[name].safetensors == "opens":
        opens()
    else:
        with pytest.raises(safetensors.SafetensorError):
            opens()


@pytest.mark.parametrize("name", [verdict.case for verdict in VERDICTS.values()
                                  if verdict.safetensors == verdict.mtldl == "opens"])
def test_same_tensors(name, tables):
    content, table = CASES[name].content, tables[name]
    theirs = {tensor: (DTYPES[told["dtype"]], tuple(told["shape"]), bytes(told["data"]))
              for tensor, told in safetensors.deserialize(content)}

    assert theirs == {tensor.name: (tensor.dtype, tensor.shape, content[tensor.begin:tensor.end])
                      for tensor in table.tensors}


@pytest.mark.parametrize("name", ["ok-metadata-only", "ok-escaped-metadata-key", "meta-null",
                                  "meta-last", "meta-long", "ok"])
def test_same_metadata(name, paths, tables):
    with safetensors.safe_open(paths[name], framework="numpy") as file:
        assert (file.metadata() or {}) == tables[name].metadata

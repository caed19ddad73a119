# SPDX-License-Identifier: LGPL-2.1-or-later
"""First attempts by people who do not know the command: it works, or says what to type."""

import decimal
import json
import re
import subprocess
import unicodedata

import numpy as np
import pytest

from says import tells
from tensors import MTLDL, complaint, load, ls_json, mtldl, run, save, save_shards
from terminal import show


@pytest.fixture
def work(tmp_path):
    save(tmp_path / "a.safetensors", {
        **{f"layers.{i}.w": np.arange(6.0).reshape(2, 3) for i in (0, 10, 2, 1)},
        "embed": np.ones(3, "f4")})
    np.save(tmp_path / "b.npy", np.arange(4))
    (tmp_path / "shards").mkdir()
    save_shards(tmp_path / "shards", {"model-1.safetensors": {"a.0": np.zeros(2, "f4")},
                                      "model-2.safetensors": {"a.1": np.zeros(2, "f4")}})
    return tmp_path


@pytest.mark.parametrize("typed, values", [
    (["lst"], ["“ls”"]), (["shwo"], ["“show”"]), (["list"], ["“ls”"]), (["convert"], ["“cp”"]),
    (["chekc"], ["“check”"]), (["verify"], ["“check”"]), (["version"], ["“--version”"]),
    (["a.safetensors"], ["“mtldl ls a.safetensors”"]), (["shards"], ["“mtldl ls shards”"]),
    (["missing.npy"], ["“mtldl ls missing.npy”"]),
    (["two words.npy"], ["“mtldl ls 'two words.npy'”"]),
    (["ls", "--jsn", "a.safetensors"], ["“--json”", "“mtldl help ls”"]), (["ls", "-x"], ["“./-x”"]),
    (["show", "a.safetensors"], [5, "a.safetensors", "“embed”", "“layers.0.w”", "“layers.10.w”"]),
    (["show", "a.safetensors", "embed", "0"], [0, "“[0]”"]), (["cp", "a.safetensors", "-"], ["./-"]),
    (["cp", "a.safetensors", "o.npy", "--format=gguf"], ["gguf", "safetensors", "npy"]),
])
def test_wrong_usage(work, typed, values):
    save(work / "-x", {})
    assert tells(complaint(*typed, status=2, cwd=work), *values)


@pytest.mark.parametrize("name, values", [("o.pt", [".safetensors", ".npy"]), ("o.npz", [".npz"])])
def test_names_of_other_formats(work, name, values):
    assert tells(complaint("cp", "a.safetensors", name, cwd=work), name, *values)
    assert not (work / name).exists()


@pytest.mark.parametrize("typed, values", [
    (["show", "a.safetensors", "layer.1.w"], [5, "“layers.1.w”"]),
    (["show", "a.safetensors", "embd[0]"], ["“embed”"]),
    (["show", "a.safetensors", "EMBED"], ["“embed”"]),
    (["show", "b.npy", "x"], ["“x”", "“b”"]),
    (["ls", "a.safetensors", "layers"], ["“layers”", "“*layers*”"]),
    (["ls", "a.safetensors", "embde"], ["“embed”"]),
    (["ls", "a.safetensors", "zzzzzzzz"], ["“zzzzzzzz”"]),
    (["cp", "a.safetensors", "o", "-s", "layers"], ["“*layers*”"]),
    (["cp", "a.safetensors", "o.npy"], [5]),
    (["show", "shards/model-3.safetensors"], ["shards/model-3.safetensors"]),
    (["show", "."], [2, "“a.safetensors”"]),
])
def test_what_is_not_there(work, typed, values):
    assert tells(complaint(*typed, cwd=work), *values)


def test_nothing_similar(work):
    told = complaint("ls", work / "a.safetensors", "zzzzzzzz")
    assert tells(told, "“zzzzzzzz”") and told.count("“") == 1
    told = complaint("show", work / "a.safetensors", "q")
    assert tells(told, "“q”", 5) and told.count("“") == 1


def test_no_command():
    done = run()
    assert done.returncode == 2 and "mtldl help" in done.stderr
    assert mtldl("-h") == mtldl("--help")


def headings(text):
    return re.findall(r"(?m)^(\S.*):$", text)


def test_folder(work):
    """Its files; an index stands for those that it names."""
    text = mtldl("ls", ".", cwd=work)
    assert headings(text) == ["./a.safetensors", "./b.npy"]
    text = mtldl("ls", "shards", cwd=work)
    assert headings(text) == ["shards/model.safetensors.index.json"]
    assert "a.{0..1}" in text
    save(work / "shards" / "model-10.safetensors", {"more": np.ones(1)})
    save(work / "shards" / "model-9.safetensors", {"more": np.ones(1)})
    assert headings(mtldl("ls", "shards", cwd=work)) == [
        "shards/model-9.safetensors", "shards/model-10.safetensors",
        "shards/model.safetensors.index.json"]
    assert mtldl("check", "shards", cwd=work).count(": ok\n") == 3
    (work / "empty").mkdir()
    assert tells(complaint("ls", work / "empty"), ".safetensors", ".npy", ".npz")


def test_folder_with_one_model(work):
    assert mtldl("show", work / "shards", "a.1") == "[0. 0.]\n"
    mtldl("cp", work / "shards", work / "one.safetensors")
    assert set(load(work / "one.safetensors")[0]) == {"a.0", "a.1"}


def test_several_files(work):
    text = mtldl("ls", "a.safetensors", "b.npy", cwd=work)
    alone = [mtldl("ls", name, cwd=work) for name in ("a.safetensors", "b.npy")]
    assert text == f"a.safetensors:\n{alone[0]}\nb.npy:\n{alone[1]}"
    assert mtldl("ls", "-1", "b.npy", "a.safetensors", "e*", "b", cwd=work) == (
        "b\nembed\n")
    done = run("ls", "a.safetensors", "missing.npy", "b.npy", cwd=work)
    assert done.returncode == 1 and done.stdout == text
    assert tells(done.stderr, "missing.npy") and done.stderr.count("\n") == 1
    told = json.loads(mtldl("ls", "--json", "a.safetensors", "b.npy", cwd=work))
    assert told == [ls_json(work / "a.safetensors") | {"path": "a.safetensors"},
                    ls_json(work / "b.npy") | {"path": "b.npy"}]


def test_pattern_that_is_also_a_file(work):
    """A tensor comes first; an option leaves no doubt."""
    save(work / "embed", {"x": np.ones(1)})
    assert mtldl("ls", "-1", "a.safetensors", "embed", cwd=work) == "embed\n"
    save(work / "layers", {"x": np.ones(1)})
    assert headings(mtldl("ls", "a.safetensors", "layers", cwd=work)) == [
        "a.safetensors", "layers"]
    assert tells(complaint("ls", "a.safetensors", "--select=layers", cwd=work), "“*layers*”")
    assert mtldl("ls", "-1", "a.safetensors", "-s", "embed", cwd=work) == "embed\n"


def test_name_of_an_array(work):
    """It is that of the file."""
    assert mtldl("ls", "-1", work / "b.npy") == "b\n"
    assert ls_json(work / "b.npy")["tensors"][0]["name"] == "b"
    for arguments in ([], ["b"], [""], ["b[:]"], ["[:]"], ["b", "[:]"]):
        assert mtldl("show", work / "b.npy", *arguments) == "[0 1 2 3]\n"


def test_slice_of_its_own(work):
    assert mtldl("show", work / "a.safetensors", "layers.1.w", "[1, ::-1]") == "[5. 4. 3.]\n"


def test_standard_input(work):
    with open(work / "a.safetensors") as file:
        assert mtldl("ls", "-1", "-", stdin=file) == mtldl("ls", "-1", work / "a.safetensors")
    assert tells(complaint("ls", "-", input="x", cwd=work), "./-")
    save(work / "-", {"dash": np.ones(1)})
    assert mtldl("ls", "-1", "./-", cwd=work) == "dash\n"


def test_formats(work):
    mtldl("cp", work / "b.npy", work / "O.NPY")
    assert np.load(work / "O.NPY").tolist() == [0, 1, 2, 3]
    mtldl("cp", work / "b.npy", work / "o.pt", "--format=safetensors")
    assert load(work / "o.pt")[0]["b"].tolist() == [0, 1, 2, 3]
    mtldl("cp", work / "b.npy", work / "o.bin", "-f", "npy", "--no-sync")
    assert np.load(work / "o.bin").tolist() == [0, 1, 2, 3]
    mtldl("cp", work / "b.npy", work / "plain")
    assert load(work / "plain")[0]["b"].tolist() == [0, 1, 2, 3]
    assert not (work / "o.gguf").exists()


ARRAYS = {
    "f8": np.array([[0.1, 1e300], [-0.0, 5e-324]]), "f4": np.array([0.1, 1 / 3, 1e38], "f4"),
    "f2": np.array([0.1, 65504, 6e-8], "f2"), "special": np.array([np.nan, np.inf, -np.inf]),
    "i8": np.array([-2**63, 2**63 - 1]), "u8": np.array([2**64 - 1], "u8"),
    "bool": np.array([[True], [False]]), "one": np.array(3.5), "none": np.zeros((0, 3)),
    "c8": np.array([1 + 2j, np.nan], "c8"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_elements_as_json(tmp_path, name):
    """They are read back as the same."""
    array = ARRAYS[name]
    path = save(tmp_path / "a", {name: array})
    told = json.loads(mtldl("show", "--json", path), parse_constant=lambda word: pytest.fail(word))
    assert told["name"] == name and told["dtype"] == array.dtype.name
    assert told["shape"] == list(array.shape)

    def number(value):
        return complex(*map(float, value)) if array.dtype.kind == "c" else (
            value if array.dtype.kind in "iub" else float(value))

    flat = np.array(told["elements"], object).reshape(
        array.shape + ((2,) if array.dtype.kind == "c" else ()))
    seen = np.array([number(flat[index]) for index in np.ndindex(array.shape)],
                    array.dtype).reshape(array.shape)
    np.testing.assert_array_equal(seen, array)
    if array.dtype.kind == "f":
        assert np.array_equal(np.signbit(seen), np.signbit(array))


def test_short_floats_as_json(tmp_path):
    """The text has the fewest digits, as NumPy prints them."""
    rng = np.random.default_rng(3)
    array = np.concatenate([rng.normal(size=500).astype("f4"),
                            np.float32([0.1, 1e-45, 16777216, 3e10])])
    text = mtldl("show", "--json", save(tmp_path / "a", {"x": array}))
    digits = re.findall(r"[-\d.e+]+", text.split('"elements": ')[1])
    for seen, value in zip(digits, array, strict=True):
        assert np.float32(seen) == value
        shortest = decimal.Decimal(str(value)).normalize().as_tuple()
        assert len(decimal.Decimal(seen).normalize().as_tuple().digits) <= len(shortest.digits)


def test_json_with_others(work):
    path = work / "a.safetensors"
    complaint("show", path, "embed", "--json", "--max-items=3", status=2)


def cells(text):
    return sum((unicodedata.east_asian_width(char) in "WF") + 1 for char in text
               if not unicodedata.combining(char))


@pytest.mark.parametrize("columns", [1, 5, 13, 20, 33, 40, 60, 80, 200])
@pytest.mark.parametrize("options", [[], ["-l"], ["-a", "-H"]])
def test_widths(tmp_path, columns, options):
    """No line is wider than the terminal, and the table stays one."""
    path = save(tmp_path / "a.safetensors", {
        **{f"model.layers.{i}.self_attn.q_proj.weight": np.zeros((40, 200), "f4")
           for i in range(12)},
        "漢字" * 30: np.zeros((1, 2, 3)), "e\u0301" * 50: np.ones(3, "u1"),
        "short": np.ones(3, "c8")})
    for env in ({"NO_COLOR": "1", "LC_ALL": "C.UTF-8"}, {"NO_COLOR": "1", "LC_ALL": "C"}):
        text, status = show([MTLDL, "ls", path, *options], columns=columns, env=env)
        assert status == 0
        lines = text.splitlines()
        assert all(cells(line) <= columns for line in lines), text
        assert len(lines) >= 4 + (15 if options else 4)
    coloured = show([MTLDL, "ls", path, *options], columns=columns, env={"LC_ALL": "C.UTF-8"})[0]
    assert all(cells(re.sub(r"\x1b\[\d*m", "", line)) <= columns for line in coloured.splitlines())


def test_names_in_40_columns(tmp_path):
    """Their beginnings and ends are there, and so are types and shapes."""
    zeros = np.zeros((40, 20), "f4")
    path = save(tmp_path / "a", {f"model.layers.{i}.self_attn.q_proj.weight": zeros
                                 for i in range(12)})
    text, _ = show([MTLDL, "ls", path], columns=40, env={"NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
    assert text.splitlines()[1] == "float32  [40,20]  model.laye…proj.weight"


def test_damaged_array_of_an_archive(tmp_path):
    """Is not copied, although it is mapped and nothing else would notice."""
    np.savez(tmp_path / "a.npz", x=np.arange(100.0), y=np.arange(5))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    offset = ls_json(tmp_path / "a.npz")["tensors"][0]["offset"]
    content[offset + 40] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    assert tells(complaint("cp", tmp_path / "a.npz", tmp_path / "out.safetensors"), "“x”", "CRC")
    assert not (tmp_path / "out.safetensors").exists()
    mtldl("cp", tmp_path / "a.npz", tmp_path / "out.safetensors", "-s", "y")
    assert load(tmp_path / "out.safetensors")[0]["y"].tolist() == [0, 1, 2, 3, 4]


def test_head_closes_the_pipe(work):
    done = subprocess.run(f"'{MTLDL}' ls '{work}' | head -n 1", shell=True, capture_output=True,
                          encoding="utf-8")
    assert done.stdout == f"{work}/a.safetensors:\n" and done.stderr == ""

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The index of a model in several files, as Python's json reads it."""

import json
import random

from conftest import SEED
from tables import read_tables

INDEXES = [
    '{"metadata":{"total_size":12},"weight_map":{"a":"m-1","b":"m-2","c":"m-1"}}',
    '{\n "weight_map": {\n  "\\u00e9\\n\\ud83d\\ude00": "x",\n  "漢": "y"\n }\n}',
    '{"x":[1,-2.5e-3,0,true,false,null,{"y":["z",[]]}],"weight_map":{"a":"f"}}',
    '{"weight_map":{},"y":"\\"\\\\\\/\\b\\f\\n\\r\\t"}',
]
PIECES = ['"', "\\", "\\u", "\\u0041", "\\ud83d", "\\ude00", "\\u0000", "[", "]", "{", "}", ",",
          ":", "null", "true", "-", "0", "1e9", "1.5", "01", ".", "e", "\n", "\t", " ", "\f",
          "\0", "é", "😀", "/", "..", "'", "NaN", '"a":"f"', '"weight_map":{}', "\ufeff"]


class Refused(ValueError):
    pass


def refuse(_):
    raise Refused


def check_strings(value):
    """C strings, and whole characters."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise Refused
    elif isinstance(value, list):
        for item in value:
            check_strings(item)


def read_index(text):
    """Returns the entries by Python's reader; None if the file is to be refused."""
    try:
        if text.startswith("\ufeff"):
            raise Refused
        members = json.loads(text, object_pairs_hook=Pairs, parse_constant=refuse)
        maps = [value for key, value in members.pairs() if key == "weight_map"]
        if len(maps) != 1:
            raise Refused
        entries = maps[0].pairs()
        for name, file in entries:
            if not isinstance(file, str) or not file or file in (".", "..") \
                    or "/" in file or "\\" in file:
                raise Refused
        if len(dict(entries)) < len(entries):
            raise Refused
        return entries
    except (ValueError, AttributeError):
        return None


class Pairs:
    """An object that may have a key twice."""

    def __init__(self, pairs):
        for pair in pairs:
            check_strings(list(pair))
        self._pairs = pairs

    def pairs(self):
        return self._pairs


def mutate(text, rng):
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(text) + 1)
        kind = rng.random()
        if kind < 0.5:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind < 0.8:
            text = text[:at] + text[at + rng.randrange(1, 4):]
        else:
            text = text[:at] + rng.choice(PIECES) + text[at + 1:]
    return text


def test_like_json(tmp_path):
    rng = random.Random(SEED)
    texts = [mutate(rng.choice(INDEXES), rng) for _ in range(5000)]
    paths = [tmp_path / f"{i}.json" for i in range(len(texts))]
    for text, path in zip(texts, paths):
        path.write_text(text, encoding="utf-8", newline="")

    n_opened = 0
    for text, table in zip(texts, read_tables(paths)):
        expected = read_index(text)
        found = [(tensor.name, tensor.file) for tensor in table.tensors]
        assert (expected is None) == bool(table.message), (text, table.message)
        assert (expected or []) == found, text
        n_opened += expected is not None
    assert 0.1 < n_opened / len(texts) < 0.9


def test_many_entries(tmp_path):
    """A model in 1433 files, in the order in which its author wrote them."""
    rng = random.Random(SEED)
    names = [f"model.layers.{i}.weight" for i in range(100_000)]
    files = {name: f"model-{rng.randrange(1433):05}-of-01433.safetensors" for name in names}
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": files}))
    table, = read_tables([path])

    assert {tensor.name: tensor.file for tensor in table.tensors} == files

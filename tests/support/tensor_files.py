# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of tensors, written by hand."""

import json
import struct


def write_with_header(path, header, data=b""):
    """Writes a file with any bytes as the header."""
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def write_safetensors(path, entries, data):
    write_with_header(path, json.dumps(entries).encode(), data)


def lay_out(tensors):
    """The entries and the data of (code, shape, bytes) by name, one after the other."""
    entries, pieces, end = {}, [], 0
    for name, (code, shape, content) in tensors.items():
        entries[name] = {"dtype": code, "shape": list(shape),
                         "data_offsets": [end, end + len(content)]}
        pieces.append(content)
        end += len(content)
    return entries, b"".join(pieces)


def write_two_tensors(path):
    """A byte, and two numbers at an odd place."""
    write_safetensors(path, {"__metadata__": {"format": "pt", "ключ": "\n"},
                             "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                             "b": {"dtype": "I16", "shape": [2, 1], "data_offsets": [1, 5]}},
                      struct.pack("<Bhh", 5, -2, 300))

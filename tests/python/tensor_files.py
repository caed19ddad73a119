# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of tensors, written by hand."""

import json
import struct


def write_safetensors(path, entries, data):
    header = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def write_two_tensors(path):
    """A byte, and two numbers at an odd place."""
    write_safetensors(path, {"__metadata__": {"format": "pt", "ключ": "\n"},
                             "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                             "b": {"dtype": "I16", "shape": [2, 1], "data_offsets": [1, 5]}},
                      struct.pack("<Bhh", 5, -2, 300))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of tensors, written without mtldl and without safetensors, and mtldl itself."""

import json
import os
import struct
import subprocess

import numpy as np

from tensor_files import lay_out, write_with_header

MTLDL = os.environ["MTLDL_COMMAND"]

CODES = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
         "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "float16": "F16",
         "float32": "F32", "float64": "F64", "complex64": "C64"}

# Characters that no terminal may get as they are.
EVIL = "evil\x1b[31m\x07\r\n\t\x9b2J\u202e\u2028\x7f\\n"
EVIL_SHOWN = (r"evil\u001b[31m\u0007\u000d\n\t\u009b2J\u202e\u2028\u007f\\n")


def mtldl(*arguments, status=0, env=None, **kwargs):
    """Returns the output of a command; all that it complains of is checked, too."""
    done = run(*arguments, env=env, **kwargs)
    assert done.returncode == status, done.stderr
    if status == 0:
        assert done.stderr == ""
    return done.stdout


def complaint(*arguments, status=1, **kwargs):
    """The one line of a command that fails."""
    done = run(*arguments, **kwargs)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("mtldl: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr[len("mtldl: "):-1]


def run(*arguments, env=None, **kwargs):
    kwargs.setdefault("timeout", 120)
    return subprocess.run([MTLDL, *map(os.fspath, arguments)], capture_output=True,
                          encoding="utf-8", env={**os.environ, **(env or {})}, **kwargs)


def ls_json(*arguments):
    """The description of one file, which is a list of one."""
    told, = json.loads(mtldl("ls", "--json", *arguments))
    return told


def describe(tensor):
    if isinstance(tensor, np.ndarray):
        return CODES[tensor.dtype.name], tensor.shape, tensor.tobytes()
    return tensor


def save(path, tensors, metadata=None):
    """Saves arrays, or (code, shape, bytes)."""
    entries, data = lay_out({name: describe(tensor) for name, tensor in tensors.items()})
    if metadata is not None:
        entries = {"__metadata__": metadata, **entries}
    text = json.dumps(entries).encode()
    return write(path, text + b" " * (-len(text) % 8), data)


def write(path, header, data=b""):
    write_with_header(path, header, data)
    return path


def save_sparse(path, size):
    """Saves one tensor of that many bytes, none of them on the disk."""
    header = json.dumps({"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}})
    write(path, header.encode())
    os.truncate(path, path.stat().st_size + size)
    return path


def load(path):
    """The arrays and the metadata of a file that is not strange."""
    content = path.read_bytes()
    length, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    metadata = header.pop("__metadata__", None)
    codes = {code: name for name, code in CODES.items()}
    arrays = {}
    for name, told in header.items():
        begin, end = (8 + length + offset for offset in told["data_offsets"])
        dtype = codes.get(told["dtype"])
        array = np.frombuffer(content[begin:end], dtype or "u1")
        arrays[name] = array.reshape(told["shape"]) if dtype else (told["dtype"], array)
    return arrays, metadata


def save_shards(folder, shards):
    """A model of several files, and its index."""
    weight_map = {}
    for name, tensors in shards.items():
        save(folder / name, tensors)
        weight_map.update(dict.fromkeys(tensors, name))
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return index

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the output of read-tables."""

import ast
import os
import re
import subprocess
from typing import NamedTuple

READ_TABLES = os.environ["MTL_READ_TABLES"]

# A command line takes this many paths.
BATCH = 500


class Tensor(NamedTuple):
    dtype: str
    shape: tuple
    begin: int
    end: int
    order: str
    byte_order: str
    file: str
    name: str


class Refused(NamedTuple):
    """A tensor that cannot be loaded."""

    code: str
    message: str
    type_name: str
    name: str


class Table(NamedTuple):
    """The table of a file; it was refused if there is a message."""

    tensors: list
    refused: list
    metadata: dict
    code: str = ""
    message: str = ""


def unescape(text):
    """Names as they are: what does not print comes as \\n, \\t, \\\\ or \\u."""
    return re.sub(r"\\(\\|n|t|u[0-9a-f]{4}|U[0-9a-f]{8})",
                  lambda found: ast.literal_eval(f'"{found.group(0)}"'), text)


def parse(lines):
    tables = []
    for line in lines:
        kind, *columns = line.split("\t")
        if kind == "tensor":
            dtype, shape, begin, end, order, byte_order, file, name = columns
            tables[-1].tensors.append(Tensor(dtype, ast.literal_eval(shape), int(begin), int(end),
                                             order, byte_order, file, unescape(name)))
        elif kind == "left out":
            *columns, name = columns
            tables[-1].refused.append(Refused(*columns, unescape(name)))
        elif kind == "metadata":
            tables[-1].metadata[unescape(columns[0])] = unescape(columns[1])
        elif kind == "refused":
            tables.append(Table([], [], {}, *columns))
        else:
            tables.append(Table([], [], {}))
    return tables


def read_tables(paths):
    """One table for each path."""
    tables = []
    for i in range(0, len(paths), BATCH):
        done = subprocess.run([READ_TABLES, *paths[i:i + BATCH]], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8")
        # Not splitlines(), which knows more ends of lines.
        tables += parse(done.stdout.split("\n")[:-1])
    assert len(tables) == len(paths)
    return tables

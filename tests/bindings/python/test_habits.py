# SPDX-License-Identifier: LGPL-2.1-or-later
"""Common uses of NumPy's arrays give the same results for views: values, types of elements,
exceptions, and what is then in memory."""

import array
import base64
import binascii
import bisect
import collections
import collections.abc
import csv
import datetime
import decimal
import fractions
import functools
import hashlib
import heapq
import io
import itertools
import json
import math
import operator
import pprint
import random
import statistics
import struct
import textwrap
import warnings
import zlib

import numpy as np
import pytest
from gi.repository import Mtl

from habits import each


def saved(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


MODULES = {name: value for name, value in globals().items()
           if type(value) is type(np) or name == "saved"}

# The uses in which a view differs, and why. Each of them is expected to differ.
DIFFERENT = {
    "round(s)": "works: NumPy's arrays leave it out",
    "x.fill(3)": "returns True, as methods do that can fail",
    "x[{}]": "a TypeError, as of any index that is nothing like one",
    "x.reshape(4, 3, order='F')": "reshape() never copies without copy=True",
    "del x[0]": "a TypeError, as of all that has no items to delete",
    "isinstance(x, collections.abc.Hashable)": "views can be keys, by their identity",
}


def names_of(convert):
    matrix = np.arange(12.0).reshape(3, 4) / 2
    return {name: convert(values) for name, values in {
        "x": matrix.copy(),
        "y": np.array([[1.0, 2, 3, 4], [5, 0.5, 7, 8], [9, 10, 11, 1.5]]),
        "i": np.arange(12).reshape(3, 4),
        "u": np.arange(12, dtype=np.uint8).reshape(3, 4),
        "f": matrix.astype(np.float32),
        "c": matrix + 1j * matrix[::-1],
        "m": np.array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]], bool),
        "r": np.array([0.5, 1.0, 2.0, 1.5]),
        "s": np.array(2.0),
        "o": np.zeros((3, 4)),
        "q": np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]]),
        "k": np.array([0, 1, 2]),
        "e": np.zeros((0, 4)),
    }.items()}


def plain(value):
    """Returns a value that can be compared, with the types of elements."""
    if isinstance(value, Mtl.StridedView):
        value = np.asarray(value)
    if isinstance(value, np.generic):
        value = value[()] if value.dtype.kind == "O" else np.asarray(value)
        return plain(value)
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tolist())
    if isinstance(value, (bool, int, float, complex)):
        return plain(np.asarray(value))
    if isinstance(value, memoryview):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return type(value).__name__ if callable(value) else value


def outcome(typed, convert):
    """The result, or the exception, and what all names are then."""
    names = names_of(convert)
    before = dict(names)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            try:
                code = compile(typed, typed, "eval")
            except SyntaxError:
                code = compile(typed, typed, "exec")
            result = plain(eval(code, {**MODULES}, names))
        except Exception as error:
            result = error
    changed = {name for name in before if names[name] is not before[name]}
    return result, {name: plain(value) for name, value in names.items()}, changed


def same(one, other):
    if isinstance(one, Exception) or isinstance(other, Exception):
        # Classes that NumPy derives from the usual ones, and several for the same mistake.
        kinds = [{kind for kind in (ValueError, TypeError, LookupError, OverflowError,
                                    AttributeError, AssertionError) if isinstance(error, kind)}
                 for error in (one, other)]
        return bool(kinds[0] & kinds[1])
    return repr(one) == repr(other)


@pytest.mark.parametrize("typed", [pytest.param(typed, id=f"{kind}: {typed}")
                                   for kind, typed in each()])
def test_does_what_an_array_does(typed):
    expected, expected_names, expected_changes = outcome(typed, np.asarray)
    if (isinstance(expected, AttributeError) and "numpy" in str(expected)
            or isinstance(expected, TypeError) and "keyword argument" in str(expected)):
        pytest.skip(f"NumPy {np.__version__} has no such thing: {expected}")
    result, names, changes = outcome(typed, Mtl.asview)

    is_same = same(expected, result) and repr(names) == repr(expected_names) \
        and changes == expected_changes
    assert is_same == (typed not in DIFFERENT), (expected, result, names, expected_names)


def test_there_are_many():
    lines = [typed for _, typed in each()]
    assert len(lines) > 480 and set(DIFFERENT) <= set(lines)

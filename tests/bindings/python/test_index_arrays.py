# SPDX-License-Identifier: LGPL-2.1-or-later
"""Indexing with lists, arrays and truth values: the same elements as NumPy's, for each element
type."""

import random

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import HOST
from dlpack_structs import Producer, floats
from says import says

# Also those that NumPy has not.
TYPES = ["bool", "int8", "uint16", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
         "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn",
         "float6_e2m3fn", "int4", "uint2"]


def random_key(rng, shape):
    """An index with at least one list, array or truth value."""
    parts, axes, left = [], 0, len(shape)
    while axes < left:
        extent = shape[axes]
        kind = rng.choice(["integer", "slice", "list", "array", "mask", "new", "view", "none"])
        if kind == "new":
            parts.append(None)
        elif kind == "none" or extent == 0:
            break
        elif kind == "slice":
            parts.append(rng.choice([slice(None), slice(None, None, -1), slice(1, None)]))
        elif kind == "integer":
            parts.append(rng.randrange(-extent, extent))
        elif kind == "mask":
            parts.append(np.array([rng.random() < 0.5 for _ in range(extent)]))
        else:
            values = [rng.randrange(-extent, extent) for _ in range(3)]
            parts.append(values if kind == "list" else np.array(values))
        axes += kind != "new"
    if not any(isinstance(part, (list, np.ndarray)) for part in parts):
        parts.insert(0, rng.random() < 0.7)
    return tuple(parts)


def result_of(function):
    try:
        return function()
    except IndexError as error:
        return type(error)


def as_views(key):
    return tuple(Mtl.asview(part.copy()) if isinstance(part, np.ndarray) and len(part) % 2
                 else part for part in key)


def test_random_indices(rng):
    n_read = 0
    for _ in range(1500):
        shape = [rng.randrange(1, 5) for _ in range(rng.randrange(1, 4))]
        array = np.arange(np.prod(shape)).reshape(shape)
        if rng.random() < 0.5:
            array = array[::-1].T
        key = random_key(rng, array.shape)
        view = Mtl.asview(array.copy(order="K"))
        expected = result_of(lambda: array[key])
        result = result_of(lambda: view[as_views(key)])
        if expected is IndexError:
            assert result is IndexError, key
            continue
        n_read += 1
        assert isinstance(result, Mtl.StridedView) and not result.overlaps(view)
        assert (result.shape, result.tolist()) == (expected.shape, expected.tolist()), key

        expected = array.copy()
        values = np.arange(expected[key].size).reshape(expected[key].shape) + 100
        expected[key] = values
        view[as_views(key)] = rng.choice([lambda: values, lambda: Mtl.asview(values),
                                          lambda: values.tolist() if values.size else 0])()
        assert view.tolist() == expected.tolist(), key
    assert n_read > 700


@pytest.mark.parametrize("name", TYPES)
def test_element_types(name):
    dtype = Mtl.DType.from_string(name)
    numbers = [[0, 1, 1], [1, 0, 1]] if name == "bool" else [[0, 1, 2], [1.5, 3, 4]]
    view = Mtl.StridedView.new_zeros(HOST, dtype, (2, 3))
    view[...] = Mtl.asview(numbers)
    numbers = view.tolist()

    for key in ([1, 0, 1], [False, True], (slice(None), [2, 0])):
        part = view[key]
        assert part.dtype == dtype and part.layout.get_item_bits() == view.layout.get_item_bits()
        assert part.tolist() == np.array(numbers)[key].tolist()
        assert not part.is_read_only() and not part.overlaps(view)
    view[[1]] = view[[0]]
    view[:, [0]] = 1
    view[0, [True, False, True]] = Mtl.asview([1, 0])
    assert view.tolist() == [[1, numbers[0][1], 0], [1, *numbers[0][1:]]]


def test_masks_of_views():
    array = np.arange(12.0).reshape(3, 4)
    view = Mtl.asview(array)

    assert view[view > 5].tolist() == array[array > 5].tolist()
    assert view[Mtl.asview(array > 5)].tolist() == array[array > 5].tolist()
    view[view > 5] = 0
    view[view < 2] += 10
    assert array.tolist() == [[10, 11, 2, 3], [4, 5, 10, 10], [10, 10, 10, 10]]


def test_numbers_have_to_fit():
    view = Mtl.asview(np.zeros(4, np.uint8))

    for value in (300, -1, [1, 300], float("nan")):
        with pytest.raises(ValueError):
            view[[0, 1]] = value
    assert view.tolist() == [0] * 4
    view[[0, 1]] = [2.9, 7]
    view[[2]] = Mtl.asview([300])
    assert view.tolist() == [2, 7, 44, 0]


def test_shapes_have_to_fit():
    view = Mtl.asview(np.zeros((2, 3)))

    for key, values in (([0, 1], [1, 2]), (view == 0, [1, 2]), (([0], [1]), [1, 2])):
        with pytest.raises(ValueError):
            view[key] = values
    assert view.tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("key, exception", [
    ([5], IndexError), (np.array([0.5]), IndexError), (np.ones(5, bool), IndexError),
    ([[0], [0, 1]], (IndexError, ValueError)), (["a"], IndexError),
    (([0, 1], [0, 1, 2]), IndexError),
    ("x", TypeError), (1.5, TypeError), (np.float64(1), TypeError), (b"0", TypeError),
    (([0], "x"), IndexError), (object(), TypeError), ({0}, TypeError), (([0], 9), IndexError),
])
def test_refuses(key, exception):
    view = Mtl.asview(np.zeros((2, 3)))

    with pytest.raises(exception):
        view[key]
    with pytest.raises(exception):
        view[key] = 1
    assert view.tolist() == [[0] * 3] * 2


def test_scalars_of_arrays_are_integers():
    view = Mtl.asview(np.arange(12).reshape(3, 4))

    for one in (np.int8(1), np.array(1), Mtl.asview(1), np.uint64(1)):
        assert view[one].overlaps(view) and view[one].tolist() == [4, 5, 6, 7]
        assert view[one, one] == 5 and type(view[one, one]) is int
    for true in (True, np.True_, np.array(True), Mtl.asview(True)):
        assert view[true].shape == (1, 3, 4) and not view[true].overlaps(view)


def test_several_lanes():
    view = Mtl.from_dlpack(Producer(floats(*range(8)), (4,), lanes=2))

    with pytest.raises(NotImplementedError, match=says("view.to_dtype(view.dtype)")):
        view[[3, 1]]
    assert view.to_dtype(view.dtype)[[3, 1]].tolist() == [[6, 7], [2, 3]]


def test_of_a_layout_are_refused():
    for key in ([0], True, np.array([0]), np.array([True])):
        with pytest.raises(TypeError):
            Mtl.StridedLayout([2, 3])[key]
    assert Mtl.StridedLayout([2, 3])[np.array(1)].shape == (3,)


def test_copies_are_in_memory_of_their_own():
    view = Mtl.asview(np.arange(1000))
    keep = [view[[n, n + 1]] for n in range(0, 900)]
    del view
    assert [part[0] for part in keep] == list(range(900)) and random.choice(keep).size == 2

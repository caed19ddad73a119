# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the cases, the values and the counts of the benchmark of CUDA, over the double of the
driver. NumPy and brute force are the judges."""

import math

import numpy as np
import pytest

import bench_cuda
import cuda_contenders
import random_copies
from says import says


@pytest.fixture(scope="module")
def gpu():
    return cuda_contenders.Gpu()


@pytest.fixture
def contenders(gpu):
    made = []

    def make(spec):
        made.append(cuda_contenders.Contenders(gpu, random_copies.case_from(spec)))
        return made[-1]

    yield make
    for each in made:
        each.close()


SPEC = "float32:int16 3x40 80,2:100,2 4:0"


def test_right_values_pass(contenders):
    assert contenders(SPEC).check()


@pytest.mark.parametrize("place", [0, 1, -1])
def test_wrong_values_and_writes_between_them_are_noticed(gpu, contenders, place):
    strided = contenders(SPEC)
    right = strided.calls["ours"]
    address = strided.dest.elements.__cuda_array_interface__["data"][0]
    last = strided.dest.memory.nbytes - 2

    def wrong():
        right()
        wrong_value = np.array([0x7b7b], np.int16)
        gpu.copy(address + (last if place < 0 else 2 * place), wrong_value.ctypes.data, 2)
        gpu.synchronize()

    strided.calls["ours"] = wrong
    assert not strided.check()
    strided.calls["ours"] = lambda: None
    assert not strided.check()


def test_a_large_destination_is_compared_at_both_ends(monkeypatch):
    monkeypatch.setattr(cuda_contenders, "MOST_COMPARED", 1000)
    array = np.zeros((1000, 3), np.uint8)
    parts = cuda_contenders.parts_of(array)

    assert len(parts) == cuda_contenders.N_PARTS
    for part in parts:
        array[part] = 1
    assert array[0].all() and array[-1].all() and 0 < array.mean() < 0.1
    assert cuda_contenders.parts_of(array[:300]) == [...]


def test_the_parts_of_a_large_destination_are_compared(monkeypatch, contenders):
    monkeypatch.setattr(cuda_contenders, "MOST_COMPARED", 1000)
    large = contenders("float32:float32 700x8 1,700:8,1 0:0")
    assert large.check()
    large.calls["ours"] = lambda: None
    assert not large.check()


def test_bytes_that_move():
    for number in range(60):
        one = random_copies.draw(1, "convert", number, 2**14)
        sizes = [random_copies.bits_of(side.dtype) // 8 for side in (one.source, one.dest)]
        places = np.zeros(1, int)
        for extent, stride in zip(one.shape, one.source.strides):
            places = np.add.outer(places, np.arange(extent) * stride).reshape(-1)
        n_read = min(len(np.unique(places)), one.n_elements)
        assert n_read * sizes[0] + one.n_elements * sizes[1] == cuda_contenders.bytes_moved(one)


def test_known_cases_are_those_that_their_names_say():
    cases = {name: (one, goal) for name, one, goal in bench_cuda.known_cases()}

    assert len(cases) == len(list(bench_cuda.known_cases()))
    for name, (one, goal) in cases.items():
        is_odd = any(extent % 2 for extent in one.shape if extent != 3)
        assert is_odd == ("odd" in name), name
        assert goal == (None if goal is None else 0.8 if is_odd else 0.9), name
        assert one.source.dtype in name or "permutation" in name or goal is None, name
        assert np.prod(one.shape) * random_copies.dtype_of(one.dest.dtype).itemsize >= 2**16, name
    transposed = cases["transpose float64"][0]
    assert transposed.source.strides[0] == 1 and transposed.dest.strides[1] == 1
    planes = cases["HWC to CHW uint8"][0]
    assert planes.shape[1] == 3 and planes.source.strides[1] == 1


@pytest.mark.parametrize("goal, is_met, wanted", [
    (bench_cuda.Goal("a", 0.91, least=0.9), True, "0.9"),
    (bench_cuda.Goal("a", 0.89, least=0.9), False, "0.9"),
    (bench_cuda.Goal("a", 3.9, most=4), True, "4"),
    (bench_cuda.Goal("a", 4.1, most=4), False, "4"),
    (bench_cuda.Goal("a", math.nan, least=2), False, "2"),
])
def test_goals(goal, is_met, wanted):
    assert goal.is_met == is_met and goal.wanted[2:] == wanted


def test_wrong_values_end_the_benchmark(gpu, monkeypatch):
    monkeypatch.setattr(cuda_contenders.Contenders, "check", lambda self: False)
    with pytest.raises(cuda_contenders.WrongValues, match=says("3x40")):
        cuda_contenders.measure(gpu, random_copies.case_from(SPEC))

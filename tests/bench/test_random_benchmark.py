# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the cases that the benchmark of random layouts draws, and its counts: NumPy and brute
force are the judges."""

import itertools

import numpy as np
import pytest
from gi.repository import Mtl

import copy_limit
import random_copies
import random_report
from says import says

CASES = {group: [random_copies.draw(3, group, number) for number in range(400)]
         for group in ("same", "convert")}
ALL = [case for cases in CASES.values() for case in cases]
SMALLEST = sorted(ALL, key=lambda case: case.n_bytes)[:60]


def case_of(shape, source, dest, types="int32:int32", offsets="0:0"):
    return random_copies.case_from(f"{types} {shape} {source}:{dest} {offsets}")


# Drawing


@pytest.mark.parametrize("is_dest", (False, True))
def test_a_view_of_the_case_has_the_elements_that_its_strides_say(is_dest):
    for case in SMALLEST:
        side = case.dest if is_dest else case.source
        values = random_copies.values_for(side.dtype, side.dtype)
        array, memory = random_copies.build(case.shape, side, values)
        lowest = sum(min(0, stride * (extent - 1))
                     for stride, extent in zip(side.strides, case.shape))
        places = sum((np.arange(extent).reshape([-1] + [1] * (len(case.shape) - axis - 1)) * stride
                      for axis, (extent, stride) in enumerate(zip(case.shape, side.strides))),
                     np.zeros([1] * len(case.shape), int)) - lowest
        assert np.array_equal(array, values[places % len(values)])
        assert places.min() == 0 and places.max() == memory.size - 1
        assert memory.ctypes.data % 64 == side.offset
        view = Mtl.asview(array)
        assert np.array_equal(np.asarray(view.copy()), array)
        assert tuple(view.shape) == case.shape


def test_a_case_is_the_same_with_its_seed_and_number_and_by_its_text():
    for group, cases in CASES.items():
        assert random_copies.draw(3, group, 17) == cases[17]
        assert random_copies.draw(4, group, 17) != cases[17]
    for case in ALL:
        assert random_copies.case_from(random_copies.spec_of(case)) == case


@pytest.mark.parametrize("text, values", [
    ("int8", []), ("int8:int9 3 1:1 0:0", ["int9"]), ("int8:int8 3x4 1:4,1 0:0", [1, 2]),
    ("int8:int8 3 1:0 0:0", [0]), ("int8:int8 0 1:1 0:0", [1]), ("int8:int8 3 1:1 0:64", [64]),
    ("int8 3 1 0", []),
])
def test_a_text_that_is_no_case_is_refused(text, values):
    with pytest.raises(ValueError, match=says(*values)):
        random_copies.case_from(text)


def test_a_packed_side_begins_with_a_line():
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")
    with pytest.raises(ValueError, match=says(8)):
        random_copies.case_from("float4_e2m1fn:int8 3 1:1 8:0")
    for number in range(50):
        case = random_copies.draw(3, "small", number)
        for side in (case.source, case.dest):
            assert side.offset == 0 or side.dtype not in random_copies.PACKED_BITS
        assert {case.source.dtype, case.dest.dtype} & set(random_copies.SMALL)


def test_all_kinds_of_layouts_are_drawn():
    kinds = [random_copies.classify(case) for case in ALL]
    for field, names in random_copies.kinds_in_order()._asdict().items():
        assert {getattr(kind, field) for kind in kinds} == set(names)

    sides = [side for case in ALL for side in (case.source, case.dest)]
    unit = {name: random_copies.dtype_of(name).itemsize for name in
            random_copies.COMMON + random_copies.OTHERS}
    assert {side.dtype for side in sides} == set(unit)
    assert {len(case.shape) for case in ALL} == set(range(1, 9))
    assert any(1 in case.shape and case.n_elements > 1 for case in ALL)
    assert any(0 in case.source.strides for case in ALL)
    assert not any(0 in case.dest.strides for case in ALL)
    assert any(min(case.source.strides) < 0 for case in ALL)
    assert any(min(case.dest.strides) < 0 for case in ALL)
    assert any(side.offset and side.offset % unit[side.dtype] == 0 for side in sides)
    assert any(side.offset % unit[side.dtype] for side in sides)


def test_sizes_are_within_the_bounds_and_spread_evenly():
    sizes = [case.n_elements * max(random_copies.bits_of(side.dtype) // 8
                                   for side in (case.source, case.dest)) for case in ALL]
    assert 2**10 <= min(sizes) and max(sizes) <= 2**28
    for low in range(10, 28, 6):
        assert 0.2 < np.mean([2**low <= size < 2**(low + 6) for size in sizes]) < 0.5


def test_memory_is_limited():
    for case in (random_copies.draw(3, "same", number, 2**16) for number in range(50)):
        for side in (case.source, case.dest):
            span = random_copies.count_span(case.shape, side.strides)
            assert span * random_copies.bits_of(side.dtype) // 8 <= 2**16


def test_values_are_in_the_range_of_both_types():
    for source, dest in itertools.product(random_copies.COMMON + random_copies.OTHERS, repeat=2):
        values = random_copies.values_for(source, dest)
        assert values.dtype == source and len(np.unique(values)) > 1
        has_sign = np.dtype(dest).kind in "ifc"
        assert np.all(values.real >= (-128 if has_sign else 0)) and np.all(values.real <= 127)


# Classes


@pytest.mark.parametrize("case, layout, inner, n_axes", [
    (case_of("8x9", "9,1", "9,1"), "contiguous", "inner extent from 32", "1 axis"),
    (case_of("8x9", "1,8", "1,8"), "contiguous", "inner extent from 32", "1 axis"),
    (case_of("8x32", "33,1", "32,1"), "rows from 128 B", "inner extent from 32", "2 axes"),
    (case_of("8x31", "33,1", "31,1"), "rows below 128 B", "inner extent below 32", "2 axes"),
    (case_of("8x9", "1,8", "9,1"), "permuted, some unit axis", "inner extent below 32", "2 axes"),
    (case_of("9x40", "-1,9", "40,1"), "permuted, some unit axis", "inner extent from 32",
     "2 axes"),
    (case_of("40", "2", "1"), "stepped, no unit axis", "inner extent from 32", "1 axis"),
    (case_of("40", "1", "2"), "permuted, some unit axis", "inner extent from 32", "1 axis"),
    (case_of("8x9", "9,-1", "9,-1"), "contiguous", "inner extent from 32", "1 axis"),
    (case_of("8x9", "9,-1", "9,1"), "permuted, some unit axis", "inner extent below 32",
     "2 axes"),
    (case_of("1x1", "7,7", "1,1"), "contiguous", "inner extent below 32", "1 axis"),
])
def test_classes_of_known_layouts(case, layout, inner, n_axes):
    assert random_copies.classify(case)[:3] == (layout, inner, n_axes)


# The limit


def brute_force_lines(itemsize, shape, strides, offset):
    places = np.zeros(1, int)
    for extent, stride in zip(shape, strides):
        places = np.add.outer(places, np.arange(extent) * stride * itemsize).reshape(-1)
    bytes_ = np.add.outer(places - places.min() + offset, np.arange(itemsize))
    return len(np.unique(bytes_ // 64))


@pytest.mark.parametrize("itemsize, shape, strides, offset, n_lines", [
    (4, (16,), (1,), 0, 1),
    (4, (16,), (1,), 4, 2),
    (4, (16,), (-1,), 0, 1),
    (1, (10,), (64,), 0, 10),
    (8, (10,), (16,), 60, 20),
    (4, (100, 16), (0, 1), 0, 1),
    (4, (16, 100), (100, 1), 0, 100),
    (4, (100, 16), (1, 100), 0, 100),
    (4, (3, 16), (32, 1), 0, 3),
    (4, (2, 16), (8, 1), 0, 2),
    (8, (), (), 60, 2),
])
def test_lines_of_known_layouts(itemsize, shape, strides, offset, n_lines):
    assert copy_limit.count_lines(itemsize, shape, strides, offset) == n_lines
    assert brute_force_lines(itemsize, shape, strides, offset) == n_lines


def test_lines_of_random_layouts():
    for case in SMALLEST:
        for side in (case.source, case.dest):
            itemsize = random_copies.bits_of(side.dtype) // 8
            layout = itemsize, case.shape, side.strides, side.offset
            assert copy_limit.count_lines(*layout) == brute_force_lines(*layout)


def bandwidths(read=1e9, write=1e9, stream=1e9, copy=1e9, copy_stream=1e9):
    return copy_limit.Bandwidths([[speed] * 2 for speed in (read, write, stream, copy,
                                                            copy_stream)], [2**13, 2**27])


def test_the_limit_of_known_layouts():
    dense = case_of("4096", "1", "1")
    assert copy_limit.limit_of(dense, bandwidths(copy_stream=1)) == pytest.approx(16384 / 1e9)
    assert copy_limit.limit_of(dense, bandwidths(copy=1)) == pytest.approx(16384 / 1e9)

    stepped = case_of("4096", "16", "1")  # a line of the source for each element
    read = bandwidths(read=2e9, copy_stream=1)
    assert copy_limit.limit_of(stepped, read) == pytest.approx(16384 / 1e9 + 15 * 16384 / 2e9)

    broadcast = case_of("4096x16", "0,1", "16,1")
    write = bandwidths(write=2e9, stream=4e9, copy=1e9)
    assert copy_limit.limit_of(broadcast, write) == pytest.approx(64 / 1e9 + 4095 * 64 / 4e9)

    scattered = case_of("4096", "1", "16")  # which a stream cannot write
    assert copy_limit.limit_of(scattered, bandwidths(stream=1e12, copy_stream=1e12)) \
        == pytest.approx(16 * 16384 / 1e9)


def test_bandwidths_are_those_of_the_working_set():
    measured = copy_limit.Bandwidths([[1, 2, 4]] * 5, [2**10, 2**12, 2**14])
    assert [measured.at(copy_limit.READ, 2**k) for k in (8, 10, 11, 12, 13, 14, 20)] \
        == [1, 1, 1.5, 2, 3, 4, 4]
    assert measured.at(copy_limit.COPY, 2**13) == 2
    other = copy_limit.Bandwidths([[3, 1, 1]] * 5, [2**10, 2**12, 2**14])
    best = measured.best_with(other)
    assert [best.at(copy_limit.WRITE, 2**k) for k in (10, 12, 14)] == [3, 2, 4]


# Measuring


@pytest.fixture
def contenders():
    pytest.importorskip("torch", reason="PyTorch is among the pinned peers only")
    import copy_contenders

    before = Mtl.get_max_threads()
    yield copy_contenders
    Mtl.set_max_threads(before)


def test_wrong_values_and_writes_between_them_are_noticed(contenders):
    strided = contenders.Contenders(case_of("3x40", "40,1", "100,2", "int8:float32"))
    assert strided.check()
    right, memory = strided.calls["ours"], strided._dests["ours"][1]
    strided.calls["ours"] = lambda: (right(), memory.__setitem__(1, 5))
    assert not strided.check()
    memory[1] = strided._dests["numpy"][1][1]
    strided.calls["ours"] = lambda: memory.__setitem__(0, 99)
    assert not strided.check()


def test_cases_of_all_groups_are_measured(contenders):
    for group in random_copies.GROUPS:
        cases = [random_copies.draw(5, group, number, 2**14) for number in range(12)]
        for case in cases:
            assert contenders.Contenders(case).check(), random_copies.spec_of(case)
    times = contenders.measure(case_of("40", "-1", "1"), [1])[1]
    assert np.isnan(times.torch) and 0 < times.peer == times.numpy
    times = contenders.measure(case_of("64", "1", "1"), [2])[2]
    assert min(times) > 0 and times.ratio == min(times.numpy, times.torch) / times.ours


def test_pytorch_is_left_out_where_it_would_crash(contenders):
    """It takes elements to be at multiples of their size, and says so by a signal."""
    for offsets, takes_part in (("0:0", True), ("62:0", False), ("0:62", False), ("16:48", True)):
        case = case_of("75", "1", "1", "complex128:complex128", offsets)
        assert np.isnan(contenders.measure(case, [1])[1].torch) != takes_part


@pytest.mark.parametrize("ratios, settled", [
    ([0.9, 0.8], 0.8), ([0.5, 0.9], 0.9), ([0.9, 1.2, 0.8], 0.9), ([0.9, 1.2, 1.1], 1.1)])
def test_the_middle_counts_if_measuring_again_contradicts(contenders, ratios, settled):
    import bench_random

    first, *others = [contenders.Times(1, ratio, float("nan"), 1) for ratio in ratios]
    left = iter(others)
    assert bench_random.settle(first, lambda: next(left)).ratio == settled
    assert next(left, None) is None


# The summary


def test_goals_are_of_classes_that_there_are():
    names = set(itertools.chain(["all"], *random_copies.kinds_in_order()))
    assert set(random_report.GOALS) == set(random_copies.GROUPS)
    for goals in random_report.GOALS.values():
        assert set(goals) <= names


class SimpleTimes(tuple):
    """A stand-in for copy_contenders.Times, which imports more."""

    def __new__(cls, ours, numpy, torch, ours_on_one):
        times = super().__new__(cls, (ours, numpy, torch, ours_on_one))
        times.ours, times.ours_on_one = ours, ours_on_one
        times.peer = numpy if torch != torch else min(numpy, torch)
        times.ratio = times.peer / ours
        return times


def result_of(case, ours, numpy, torch=float("nan"), limit=1.0):
    from_one = SimpleTimes(ours, numpy, torch, ours)
    return random_report.Result("same", case, {1: from_one, 2: from_one}, limit, ())


RESULTS = [result_of(case_of("65536", "1", "1"), 2.0, 8.0, 4.0, 1.0),
           result_of(case_of("65536", "2", "1"), 4.0, 2.0, limit=2.0),
           result_of(case_of("16", "1", "1"), 1.0, 1.0, limit=0.001)]


def test_summaries_are_of_ratios_to_the_better_peer():
    summary = random_report.summarize(RESULTS)
    assert summary.n == 3
    assert summary.ratio == pytest.approx(1)  # the mean of 2, 1/2 and 1
    assert summary.slower == pytest.approx(1 / 3) and summary.least == 0.5
    assert summary.over_limit == (2, 2, 2)  # the third is too small
    assert summary.peer_limit == 2.5 and summary.to_one == 1

    classes = {name: len(chosen) for _, name, chosen in random_report.by_class(RESULTS)}
    assert classes["all"] == 3 and classes["contiguous"] == 2 and classes["step 2 or 3"] == 1


def test_the_distribution_has_every_ratio_once():
    assert sum(random_report.distribution([0.1, 0.5, 0.95, 1, 7, 10, 99])) == pytest.approx(1)
    assert random_report.distribution([0.5, 0.95])[1:4] == [0.5, 0, 0.5]

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Conversions between all pairs of element types: of all numbers there are, or their edges, at
every alignment, step and length."""

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import SEED, dtype_of
from conversions import (BITS, PARTS, SUBBYTE, TYPES, assert_same, judge, numpy_type, samples)

pytest.importorskip("ml_dtypes", reason="ml_dtypes is among the pinned peers only")


class Elements:
    """n elements in bytes of their own, at any address, with any step; what lies between and
    around them is known."""

    def __init__(self, name, n, step, offset, rng):
        self.name, self.n, self.step = name, n, step
        size = BITS[name] // 8 or 1
        span = (n - 1) * abs(step) + 1
        self.memory = rng.integers(0, 256, offset + span * size + 64, np.uint8)
        self.first = offset + (span - 1) * size if step < 0 else offset
        self.size = size
        if name in SUBBYTE:
            bytes_ = np.ndarray((n,), np.uint8, self.memory, self.first, (step,))
            self.view = Mtl.asview(bytes_.view(numpy_type(name)))
        else:
            whole = Mtl.asview(self.memory)
            layout = Mtl.StridedLayout((n,), (step,), size)
            self.view = Mtl.StridedView.new(whole.get_buffer(), layout, dtype_of(name),
                                            whole.get_byte_offset() + self.first)

    def places(self):
        starts = self.first + np.arange(self.n) * self.step * self.size
        return starts[:, None] + np.arange(self.size)

    def set(self, numbers):
        self.memory[self.places()] = np.ascontiguousarray(numbers).view(np.uint8).reshape(
            self.n, self.size)

    def get(self):
        base = numpy_type(self.name).base
        numbers = np.ascontiguousarray(self.memory[self.places()]).reshape(-1).view(base)
        return numbers.reshape(-1, 2) if self.name in PARTS else numbers

    def outside(self):
        mask = np.ones(self.memory.size, bool)
        mask[self.places().ravel()] = False
        return self.memory[mask].tobytes()


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_values(source, target):
    rng = np.random.default_rng(SEED)
    array = samples(source, rng)
    from_elements = Elements(source, len(array), 1, 0, rng)
    from_elements.set(array)
    to_elements = Elements(target, len(array), 1, 0, rng)

    to_elements.view.copy_from(from_elements.view)
    expected = judge(array, source, target) if source != target else array
    assert_same(to_elements.get(), expected, array)


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_steps_and_alignment(source, target):
    """Each length up to several vectors, and one of several pieces."""
    rng = np.random.default_rng(SEED)
    array = samples(source, rng)
    for n in [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 65, 100, 3000]:
        numbers = array[rng.integers(0, len(array), n)]
        source_step = rng.choice([1, 1, 1, 2, 3, -1, -2, 0])
        dest_step = rng.choice([1, 1, 2, -1, -3])
        from_elements = Elements(source, n, source_step, rng.integers(0, 20), rng)
        to_elements = Elements(target, n, dest_step, rng.integers(0, 20), rng)
        if source_step == 0:
            numbers = np.repeat(numbers[:1], n, axis=0)
        from_elements.set(numbers)
        before = to_elements.outside()

        to_elements.view.copy_from(from_elements.view)
        expected = judge(numbers, source, target) if source != target else numbers
        assert_same(to_elements.get(), expected, numbers)
        assert to_elements.outside() == before


@pytest.mark.parametrize("packed", SUBBYTE)
@pytest.mark.parametrize("other", TYPES)
def test_packed(packed, other):
    """Both ways, from any bit on; the bits beside the elements stay."""
    rng = np.random.default_rng(SEED)
    patterns = np.arange(2 ** BITS[packed], dtype=np.uint8)
    array = samples(other, rng)
    whole = Mtl.asview(rng.choice(patterns, 700).view(numpy_type(packed))).to_dtype(
        dtype_of(packed))
    for n in [1, 2, 3, 5, 8, 17, 64, 67, 600]:
        room = whole[rng.integers(0, 9):] if n > 300 else whole[rng.integers(0, 9):][::rng.choice(
            [1, 2, -1, -2])]
        part = room[:n]
        other_elements = Elements(other, n, rng.choice([1, 1, 2, -1]), rng.integers(0, 20), rng)

        other_elements.view.copy_from(part)
        numbers = np.array(part.tolist()).astype(numpy_type(packed))
        expected = judge(numbers, packed, other) if other != packed else numbers
        assert_same(other_elements.get(), expected, numbers)

        numbers = array[rng.integers(0, len(array), n)]
        other_elements.set(numbers)
        before = whole.to_dtype(Mtl.DType.FLOAT32)
        part.copy_from(other_elements.view)
        expected = judge(numbers, other, packed) if other != packed else numbers
        assert_same(np.array(part.tolist()).astype(numpy_type(packed)), expected, numbers)
        after = whole.to_dtype(Mtl.DType.FLOAT32)
        part.fill_double(0)
        whole_after = np.asarray(whole.to_dtype(Mtl.DType.FLOAT32))
        touched = whole_after != np.asarray(after)
        assert (np.asarray(before)[~touched] == np.asarray(after)[~touched])[
            whole_after[~touched] != 0].all()


@pytest.mark.parametrize("target", SUBBYTE)
@pytest.mark.parametrize("source", SUBBYTE)
def test_packed_to_packed(source, target):
    rng = np.random.default_rng(SEED)
    patterns = np.arange(2 ** BITS[source], dtype=np.uint8).view(numpy_type(source))
    numbers = rng.choice(patterns, 3000)
    packed = Mtl.asview(numbers).to_dtype(dtype_of(source))
    for part, expected in [(packed, numbers), (packed[5::3], numbers[5::3]),
                           (packed[::-1], numbers[::-1])]:
        ours = part.to_dtype(dtype_of(target))
        wanted = judge(expected, source, target) if source != target else expected
        assert ours.layout.get_item_bits() == BITS[target]
        assert np.array(ours.tolist()).tolist() == wanted.astype(float).tolist()

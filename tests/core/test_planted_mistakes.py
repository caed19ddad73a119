# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random programs find mistakes that are made on purpose, and print them in a few lines."""

import os
import sys

import pytest
from gi.repository import Mtl

import conftest
from random_layouts import Mismatch
from random_programs import find_end, play_many


def reverse_wrong(reverse):
    """Not where an axis has 5 elements."""
    return lambda self, axis: self if 5 in self.shape else reverse(self, axis)


def copy_wrong(copy):
    """Shares memory that has that order already."""
    def copy_some(self, order="C"):
        if order == "F" and self.is_contiguous(Mtl.Order.F):
            return self
        return copy(self, order)
    return copy_some


def copy_from_wrong(copy_from):
    """Leaves out the last element of another type."""
    def copy_some(self, source):
        last = self[(-1,) * self.ndim] if self.size > 3 and self.is_host_accessible() else None
        copy_from(self, source)
        if last is not None and source.dtype != self.dtype:
            self[(-1,) * self.ndim] = last
    return copy_some


@pytest.mark.parametrize("name, wrong", [
    ("flip", reverse_wrong), ("copy", copy_wrong), ("copy_from", copy_from_wrong)])
def test_mistakes_are_found_and_made_small(monkeypatch, name, wrong):
    monkeypatch.setattr(Mtl.StridedView, name, wrong(getattr(Mtl.StridedView, name)))
    with pytest.raises(Mismatch) as info:
        play_many(f"{conftest.SEED} {name}", 100_000, 60)

    message = str(info.value)
    program = message[message.index("from random_programs"):message.index("\n\nfound in")]
    assert program.count("\n    (") <= 8, message
    with pytest.raises(Mismatch):
        exec(program, {})
    monkeypatch.undo()
    exec(program, {})


@pytest.mark.skipif(sys.platform == "darwin", reason="the system's frameworks do not work in forks")
def test_what_ends_the_process_is_made_small(monkeypatch):
    swap_axes = Mtl.StridedView.swap_axes
    monkeypatch.setattr(Mtl.StridedView, "swap_axes", lambda self, a, b: (
        os._exit(3) if a == b else swap_axes(self, a, b)))
    program = find_end(conftest.SEED, 20_000)
    assert len(program) <= 3 and program[-1][1] == "swap_axes"

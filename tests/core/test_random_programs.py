# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random programs on a pool of views, with NumPy doing the same."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import conftest
from random_programs import play_many


@pytest.mark.any_memory
def test_programs(cases):
    """As many operations as asked for, or as there is time for: the more, the more processes."""
    n_processes = min(os.cpu_count(), 1 + cases // 100_000)
    arguments = [(f"{conftest.SEED} {i}", -(-cases // n_processes), conftest.SECONDS)
                 for i in range(n_processes)]
    with ProcessPoolExecutor(n_processes, get_context("spawn")) as others:
        parts = [others.submit(play_many, *each) for each in arguments[1:]]
        tallies = [play_many(*arguments[0]), *(part.result() for part in parts)]
    n_steps, n_refused, n_programs = map(sum, zip(*tallies))
    seeds = ", ".join(f"“{seed}”" for seed, *_ in arguments)
    conftest.NOTES.append(f"{n_steps} random operations in {n_programs} programs, {n_refused} of "
                          f"them refused, seeds {seeds}")
    assert n_steps // 100 < n_refused < n_steps // 2

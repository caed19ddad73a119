# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random programs on a pool of views, with NumPy doing the same."""

import pytest

import conftest
from random_programs import play_many


@pytest.mark.any_memory
def test_programs(cases):
    n_steps, n_refused, n_programs, seeds = conftest.play_in_processes(play_many, cases)
    conftest.NOTES.append(f"{n_steps} random operations in {n_programs} programs, {n_refused} of "
                          f"them refused, seeds {seeds}")
    assert n_steps // 100 < n_refused < n_steps // 2

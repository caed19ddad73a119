# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the report of bench_random.py: tables by class, the distribution, and the worst cases."""

import math
from typing import NamedTuple

import numpy as np

from random_copies import Case, GROUPS, classify, kinds_in_order, spec_of

SLOWER = 0.95
# Below, the cost of a call says more than any bandwidth: in and out.
LEAST_FOR_LIMIT = 2**16
BOUNDS = (0, 0.5, 0.8, 0.95, 1.05, 1.25, 1.5, 2, 3, 5, 10, math.inf)
N_WORST = 20
# Geometric means of the ratio to the better peer, one thread.
GOALS = {
    "same": {"all": 1.65, "up to 1 MiB": 1.9, "1 to 16 MiB": 1.5, "above 16 MiB": 1.6,
             "contiguous": 1.1, "rows below 128 B": 2.0, "permuted, some unit axis": 2.8,
             "stepped, no unit axis": 1.5, "inner extent below 32": 2.3},
    "convert": {"all": 1.95, "up to 1 MiB": 2.6, "1 to 16 MiB": 1.6, "above 16 MiB": 1.9,
                "contiguous": 1.5, "rows below 128 B": 2.8, "permuted, some unit axis": 3.0,
                "stepped, no unit axis": 1.6, "inner extent below 32": 2.4},
    "small": {},
}


class Result(NamedTuple):
    group: str
    case: Case
    times: dict   # by the number of threads, one and all
    limit: float  # seconds on one core
    again: tuple  # the numbers of threads for which it was measured again, alone

    @property
    def one(self):
        return self.times[1]

    @property
    def all(self):
        return self.times[max(self.times)]

    @property
    def over_limit(self):
        """Our time, and that of the better peer, over the limit."""
        return self.one.ours / self.limit, self.one.peer / self.limit


class Summary(NamedTuple):
    """A summary of some results; NaN if none of them has the number."""
    n: int
    ratio: float         # geometric mean, to the better peer
    slower: float        # share
    least: float
    over_limit: tuple    # ours: 10, 50 and 90 percent
    peer_limit: float    # the peer's: 50 percent
    all_ratio: float     # with all threads
    all_slower: float
    to_one: float        # our time with one thread to that with all, both by the clock


def geometric_mean(numbers):
    numbers = list(numbers)
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def share(conditions):
    conditions = list(conditions)
    return sum(conditions) / len(conditions) if conditions else math.nan


def to_one(result):
    """Our time with one thread to that with all."""
    return result.all.ours_on_one / result.all.ours


def limited(results):
    return [result for result in results
            if result.case.n_bytes >= LEAST_FOR_LIMIT and not math.isnan(result.limit)]


def summarize(results):
    ratios = [result.one.ratio for result in results]
    all_ratios = [result.all.ratio for result in results]
    over = np.array([result.over_limit for result in limited(results)]).reshape(-1, 2)
    ours = np.percentile(over[:, 0], [10, 50, 90]) if len(over) else [math.nan] * 3
    return Summary(len(results), geometric_mean(ratios), share(r < SLOWER for r in ratios),
                   min(ratios), tuple(ours), np.median(over[:, 1]) if len(over) else math.nan,
                   geometric_mean(all_ratios), share(r < SLOWER for r in all_ratios),
                   geometric_mean(map(to_one, results)))


def by_class(results):
    """(kind, class, results) in order; all of them first, and classes that were drawn only."""
    yield "all", "all", results
    kinds = [classify(result.case) for result in results]
    for field, names in kinds_in_order()._asdict().items():
        for name in names:
            chosen = [result for result, kind in zip(results, kinds)
                      if getattr(kind, field) == name]
            if chosen:
                yield field, name, chosen


def distribution(ratios):
    """Shares between the bounds."""
    return [share(low <= ratio < high for ratio in ratios)
            for low, high in zip(BOUNDS, BOUNDS[1:])]


def name_of(low, high):
    if low == 0:
        return f"below {high:g}"
    return f"from {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"


def share_slower_than_one(results):
    """NaN with one thread only."""
    return share(to_one(result) < SLOWER for result in results if max(result.times) > 1)


# Printing


def shown(number, form="{:.2f}"):
    return "–" if math.isnan(number) else form.format(number)


def print_table(group, results, n_threads):
    threads = f"{n_threads} threads"
    print(f"{'':24} {'':4} | {'one thread: to the peer':^27} | {'time over limit':^19} | "
          f"{threads:^20}\n"
          f"{'':24} {'n':>4} | {'mean':>5} {'goal':>5} {f'< {SLOWER}':>7} {'least':>6} | "
          f"{'10 %':>4} {'50 %':>4} {'90 %':>4} {'peer':>4} | {'mean':>5} {f'< {SLOWER}':>7} "
          f"{'to one':>6}")
    for _, name, chosen in by_class(results):
        row = summarize(chosen)
        goal = GOALS[group].get(name)
        print(f"{name:24} {row.n:4} | {row.ratio:5.2f} {goal or '':>5} {row.slower:7.1%} "
              f"{row.least:6.2f} | "
              + " ".join(f"{shown(over, '{:.1f}'):>4}" for over in (*row.over_limit,
                                                                     row.peer_limit))
              + f" | {row.all_ratio:5.2f} {row.all_slower:7.1%} {shown(row.to_one):>6}")


def print_distribution(results, n_threads):
    one, all_ = (distribution([times(result).ratio for result in results])
                 for times in (lambda result: result.one, lambda result: result.all))
    print(f"\n{'ratio to the better peer':24} {'one':>6} {n_threads:>6} threads")
    for low, high, of_one, of_all in zip(BOUNDS, BOUNDS[1:], one, all_):
        print(f"{name_of(low, high):>24} {of_one:6.1%} {of_all:6.1%}  "
              + "#" * round(100 * of_one))


def print_worst(results, n_threads):
    worst = sorted(results, key=lambda result: result.times[n_threads].ratio)[:N_WORST]
    print(f"\nthe worst, {n_threads} thread{'s' if n_threads > 1 else ''}; "
          "--case 'TEXT' measures one again\n"
          f"{'ratio':>5} {'us: ours':>9} {'numpy':>9} {'torch':>9} {'limit':>9}  case")
    for result in worst:
        times = result.times[n_threads]
        print(f"{times.ratio:5.2f} "
              + " ".join(f"{shown(seconds * 1e6, '{:.1f}'):>9}" for seconds in (*times[:3],
                                                                                result.limit))
              + f"  {spec_of(result.case)}")


def print_group(group, results, n_threads):
    print(f"\n{GROUPS[group]}, in the geometric mean by class")
    print_table(group, results, n_threads)
    print_distribution(results, n_threads)


def print_all(results, n_threads):
    for group in GROUPS:
        chosen = [result for result in results if result.group == group]
        if chosen:
            print_group(group, chosen, n_threads)
    for n in sorted({1, n_threads}):
        print_worst(results, n)
    slower = share_slower_than_one(results)
    again = sum(bool(result.again) for result in results)
    print(f"\n{again} of {len(results)} were below {SLOWER} at first and measured again alone; "
          f"{shown(100 * slower, '{:.1f}')} % are slower with {n_threads} threads than with one")


def print_case(result):
    kind = classify(result.case)
    print(f"{spec_of(result.case)}\n{'; '.join(kind)}; {result.case.n_bytes} bytes in and out")
    for n, times in result.times.items():
        print(f"{n} thread{'s' if n > 1 else ' '}: {times.ratio:5.2f} of the better peer; us: ours "
              f"{times.ours * 1e6:.2f}, numpy {times.numpy * 1e6:.2f}, "
              f"torch {shown(times.torch * 1e6)}")
    print(f"limit, one thread: {shown(result.limit * 1e6)} us; over it: ours "
          f"{shown(result.over_limit[0])}, the peer {shown(result.over_limit[1])}")

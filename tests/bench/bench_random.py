# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies and conversions of layouts drawn at random, against the better of np.copyto() and
Tensor.copy_() for each: ratios of their time to ours, and our time over the least that the machine
could take. With one thread, time on the processor; with as many as there are processors, by the
clock. Values are compared with NumPy's. Cases that are slower than a peer are measured again
alone, in a process of their own, and if that contradicts the first time, once more: then the
middle one of the three counts.

The seed and the number of a case say what is drawn, whatever the machine: the memory of one array
is limited to 1 GiB, or to what an eighth of the machine's is, if that is less.
"""

import argparse
import math
import multiprocessing
import os
import sys

import copy_contenders
import copy_limit
import random_copies
import random_page
from copy_page import describe_peers, describe_processor
from random_copies import GROUPS, spec_of
from random_report import Result, SLOWER, print_all, print_case

# About five minutes of two cores.
CASES = 300
# The groups take turns: same, convert, small.
TURNS = ("same", "convert", "same", "convert", "same", "convert", "small")


class Alone:
    """Measures in a new process, which has other memory, and where nothing ran before."""

    def __init__(self):
        method = "forkserver" if sys.platform == "linux" else "spawn"
        context = multiprocessing.get_context(method)
        if method == "forkserver":
            # Else each process takes seconds to import PyTorch.
            context.set_forkserver_preload(["copy_contenders"])
            here = os.path.dirname(os.path.abspath(__file__))
            os.environ["PYTHONPATH"] = os.pathsep.join(
                filter(None, (here, os.environ.get("PYTHONPATH"))))
        self._pool = context.Pool(1, maxtasksperchild=1)

    def measure(self, case, n_threads):
        return self._pool.apply(copy_contenders.measure, (case, [n_threads]))[n_threads]

    def close(self):
        self._pool.terminate()


def settle(first, measure_again):
    """The times that count, of what was below at first."""
    again = measure_again()
    if again.ratio < SLOWER:
        return again
    return sorted((first, again, measure_again()), key=lambda times: times.ratio)[1]


class Bench:
    def __init__(self, folder):
        self.n_threads = copy_contenders.count_processors()
        self._counts = sorted({1, self.n_threads})
        self._alone = Alone()
        self._folder = folder
        self._bandwidths = self._measure_bandwidths()

    def _measure_bandwidths(self):
        with copy_contenders.on_one_processor():
            return copy_limit.measure_bandwidths(self._folder)

    def measure(self, group, case):
        """The limit is still to come."""
        times = copy_contenders.measure(case, self._counts)
        again = tuple(n for n in self._counts if times[n].ratio < SLOWER)
        for n in again:
            times[n] = settle(times[n], lambda: self._alone.measure(case, n))
        return Result(group, case, times, math.nan, again)

    def add_limits(self, results):
        """Adds the limits by the bandwidths now as well as at the beginning."""
        bandwidths = self._bandwidths.best_with(self._measure_bandwidths())
        return [result._replace(limit=copy_limit.limit_of(result.case, bandwidths))
                for result in results]

    def close(self):
        self._alone.close()


def draw_all(arguments):
    """(group, case), of all groups in turn or of those that are asked for."""
    asked = [group for group in GROUPS if getattr(arguments, group)]
    turns = asked or TURNS
    numbers = dict.fromkeys(GROUPS, 0)
    for i in range(arguments.cases):
        group = turns[i % len(turns)]
        yield group, random_copies.draw(arguments.seed, group, numbers[group], most_memory())
        numbers[group] += 1


def most_memory():
    if not hasattr(os, "sysconf"):
        return random_copies.MOST_MEMORY
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(random_copies.MOST_MEMORY, memory // 8)


def run(bench, cases, n_cases):
    """Measures at most that many cases, until it is interrupted."""
    results = []
    try:
        for group, case in cases:
            results.append(bench.measure(group, case))
            if sys.stderr.isatty():
                print(f"\r{len(results)} of {n_cases}", end="", file=sys.stderr,
                      flush=True)
    except KeyboardInterrupt:
        pass
    except copy_contenders.WrongValues as error:
        raise SystemExit(f"{error}: --case '{spec_of(case)}'") from error
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return bench.add_limits(results)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./run bench random")
    parser.add_argument("folder", help=argparse.SUPPRESS)
    parser.add_argument("--cases", type=int, default=CASES, help=f"how many; {CASES} by default")
    parser.add_argument("--seed", type=int, help="what is drawn; another one each time by default")
    parser.add_argument("--case", metavar="TEXT",
                        help="measure this one, as printed of the worst")
    parser.add_argument("--page", metavar="FILE", help="rewrite the section of that page")
    for group, title in GROUPS.items():
        parser.add_argument(f"--{group}", action="store_true", help=f"{title} only")
    arguments = parser.parse_args()
    try:
        arguments.case = arguments.case and random_copies.case_from(arguments.case)
    except ValueError as error:
        parser.error(str(error))
    if arguments.cases < 1:
        parser.error("--cases is 1 or more")
    if arguments.seed is None:
        arguments.seed = int.from_bytes(os.urandom(2), "little")
    elif arguments.seed < 0:
        parser.error("--seed is 0 or more")
    return arguments


def main():
    arguments = parse_arguments()
    bench = Bench(arguments.folder)
    try:
        if arguments.case:
            print_case(run(bench, [("same", arguments.case)], 1)[0])
            return
        print(f"--seed {arguments.seed}, {bench.n_threads} threads at most\n"
              f"{describe_processor()}: {describe_peers()}", flush=True)
        results = run(bench, draw_all(arguments), arguments.cases)
    finally:
        bench.close()
    if results:
        print_all(results, bench.n_threads)
        if arguments.page:
            random_page.write(arguments.page, results, arguments.seed, bench.n_threads)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: random_programs.py SEED

Random programs on a pool of views, with NumPy's arrays doing the same. One that fails is printed.
Where the whole process ended, start this with the seed: it finds and prints the program.

A program is a list of steps, plain data. A step names its operands by the steps that made them;
for one that is gone the nearest before it stands in. So every part of a program is a program: one
that fails can be made smaller, and played again as it is printed.
"""

import os
import random
import sys
import tempfile
import time
from math import inf, nan
from pathlib import Path
from typing import NamedTuple

# The folder of conftest.py, if it is not pytest that starts this.
sys.path.append(str(Path(__file__).resolve().parents[1]))
from program_operations import OPERATIONS, WEIGHTS  # noqa: E402
from program_pool import Pool, Refused, in_another_thread  # noqa: E402
from random_layouts import Mismatch  # noqa: E402

N_STEPS = 50
MAX_PAIRS = 20
NAMES = [name for name, weight in WEIGHTS.items() for _ in range(weight)]


class Step(NamedTuple):
    number: int
    name: str
    on: tuple  # the numbers of the operands
    arguments: tuple
    is_threaded: bool = False  # ours is done by another thread


def draw_step(rng, pool, number):
    name = NAMES[int(rng.random() * len(NAMES))]
    if len(pool.pairs) >= MAX_PAIRS:
        name = "drop"
    on = pool.draw(rng, OPERATIONS[name].kinds)
    if on is None:
        name, on = "new", ()
    operation = OPERATIONS[name]
    arguments = operation.draw(rng, *[pool.pairs[each] for each in on])
    return Step(number, name, on, arguments, rng.random() < 0.1)


def take_step(pool, step):
    """True if the step was done, not refused."""
    operation = OPERATIONS[step.name]
    operands = pool.find(step.on, operation.kinds)
    if operands is None:
        return True
    pool.call_ours = in_another_thread if step.is_threaded else pool.call_here
    pool.end_dropped()
    try:
        pairs = operation.do(pool, *operands, *step.arguments)
    except Refused:
        pool.check_all()
        return False
    for place, pair in enumerate(pairs or ()):
        pool.add(step.number + place, pair)
    return True


class Played(NamedTuple):
    n_steps: int
    n_refused: int


def play(steps, rng=None):
    """Takes the steps, or with a generator draws some of its own into that list."""
    pool, n_refused = Pool(), 0
    try:
        for number in range(N_STEPS if rng else len(steps)):
            if rng:
                steps.append(draw_step(rng, pool, 10 * number))
            n_refused += not take_step(pool, Step(*steps[number]))
        pool.check_all()
    finally:
        pool.clear()
    return Played(len(steps), n_refused)


# Making a program smaller


def fails(steps):
    try:
        play(steps)
    except Mismatch:
        return True
    except Exception:  # the step was made too small
        pass
    return False


def without_parts(steps):
    """Large parts first."""
    size = len(steps) // 2
    while size > 0:
        for first in range(0, len(steps), size):
            yield steps[:first] + steps[first + size:]
        size //= 2


def with_earlier_operands(steps):
    """Yields steps with earlier operands, so that the steps between may be unnecessary."""
    for place, (number, name, on, *rest) in enumerate(steps):
        for i, operand in enumerate(on):
            for other, *_ in steps[:place]:
                if other < operand:
                    changed = (number, name, on[:i] + (other,) + on[i + 1:], *rest)
                    yield steps[:place] + [changed] + steps[place + 1:]


def smaller_values(value):
    """Yields smaller values of the same kind, the smallest first."""
    if isinstance(value, (tuple, list)):
        for place, part in enumerate(value):
            for smaller in smaller_values(part):
                yield value[:place] + type(value)([smaller]) + value[place + 1:]
    elif value is True:
        yield False
    elif type(value) is int:
        yield from [candidate for candidate in (0, 1, 2, value // 2) if abs(candidate) < abs(value)]


def with_smaller_parts(steps):
    for place, step in enumerate(steps):
        for smaller in smaller_values(tuple(step[3:])):
            yield steps[:place] + [(*step[:3], *smaller)] + steps[place + 1:]


def shrink(steps, still_fails=fails, seconds=20):
    """The smallest program found that fails as well."""
    deadline = time.monotonic() + seconds
    for candidates in (without_parts, with_earlier_operands, without_parts, with_smaller_parts,
                       without_parts):
        while True:
            for smaller in candidates(steps):
                if time.monotonic() > deadline:
                    return steps
                if still_fails(smaller):
                    steps = smaller
                    break
            else:
                break
    return steps


def as_program(steps):
    lines = ["from random_programs import inf, nan, play", "", "play(["]
    lines += [f"    {tuple(step)!r}," for step in steps]
    return "\n".join(lines + ["])"])


# Many of them


class Tally(NamedTuple):
    n_steps: int
    n_refused: int
    n_programs: int


def describe_failure(steps, error):
    smallest = shrink(steps)
    try:
        play(smallest)
    except Mismatch as last:
        error = last
    return f"{error}\n\n{as_program(smallest)}\n\nfound in a program of {len(steps)} steps"


def play_many(seed, n_wanted, seconds, new_list=list):
    """Plays as many steps as wanted, or as there is time for. What fails is raised in words, which
    another process can pass on."""
    rng = random.Random(seed)
    deadline = time.monotonic() + seconds
    n_steps = n_refused = n_programs = 0
    while n_steps < n_wanted and time.monotonic() < deadline:
        steps = new_list()
        try:
            played = play(steps, rng)
        except Mismatch as error:
            raise Mismatch(f"seed {seed!r}: {describe_failure(steps, error)}") from None
        except Exception as error:  # a mistake of the model
            raise RuntimeError(f"seed {seed!r}: {error!r}\n{as_program(steps)}") from error
        n_steps += played.n_steps
        n_refused += played.n_refused
        n_programs += 1
    return Tally(n_steps, n_refused, n_programs)


# Processes that end


def status_of(function):
    """Returns the status of a process that runs the function."""
    process = os.fork()
    if process == 0:
        try:
            function()
        finally:
            os._exit(0)
    return os.waitpid(process, 0)[1]


def find_end(seed, n_wanted):
    """The smallest program found that ends its process, among those of the seed."""
    with tempfile.NamedTemporaryFile("r+") as file:
        class Written(list):
            """Each step before it is taken."""

            def append(self, step):
                super().append(step)
                file.seek(0)
                file.truncate()
                print([tuple(each) for each in self], file=file, flush=True)

        if status_of(lambda: play_many(seed, n_wanted, inf, Written)) == 0:
            return None
        file.seek(0)
        steps = eval(file.read(), {"inf": inf, "nan": nan})
    return shrink(steps, lambda smaller: status_of(lambda: fails(smaller)) != 0)


if __name__ == "__main__":
    found = find_end(sys.argv[1], inf)
    print(as_program(found) if found else "The process does not end")

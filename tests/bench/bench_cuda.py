# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies, conversions, imports and the way between host and GPU, over NVIDIA's driver, against the
driver's own copies, PyTorch and CuPy in the same run. Values are compared with NumPy's. What is
printed is Markdown.

Over the double of the driver it runs with small sizes: the values are checked, and no speed is
printed."""

import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import cuda_contenders
import numpy as np
import random_copies
from cuda_contenders import ABSENT, Array, Gpu, PEERS, cuda
from gi.repository import Mtl
from random_copies import spec_of

CASES = 60
# Shares of the driver's copy within the GPU, ratios to peers, and microseconds.
ALIGNED, ODD = 0.9, 0.8
MEAN_RATIO, LEAST_RATIO = 2, 0.9
ENQUEUED, IMPORTED = 4, 2
# Extents over the double are so much smaller.
SMALLER = 64
MIB = 2**20


class Goal(NamedTuple):
    name: str
    value: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def is_met(self):
        return self.least <= self.value <= self.most

    @property
    def wanted(self):
        return f"≥ {self.least:g}" if self.least > 0 else f"≤ {self.most:g}"


def shown(number, form="{:.2f}"):
    return "–" if cuda.IS_LAZY or math.isnan(number) else form.format(number)


def print_table(columns, rows):
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" + " --: |" * (len(columns) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers))) if numbers else ABSENT


# Known layouts


def permuted(shape, axes, types="float32:float32"):
    """A copy of a dense tensor with its axes in another order."""
    strides = random_copies.dense_strides(shape, False)
    extents = [shape[axis] for axis in axes]
    return case(types, extents, [strides[axis] for axis in axes])


def case(types, shape, strides, offset=0):
    """A copy or conversion into a dense tensor"""
    dest = random_copies.dense_strides(tuple(shape), False)
    return random_copies.case_from(" ".join((
        types, "x".join(map(str, shape)),
        ",".join(map(str, strides)) + ":" + ",".join(map(str, dest)), f"{offset}:0")))


def cropped(types, shape, margin):
    whole = tuple(extent + 2 * margin for extent in shape)
    return case(types, shape, random_copies.dense_strides(whole, False))


def known_cases():
    """(name, case, goal): the share of the driver's copy."""
    n = 16384 // (SMALLER if cuda.IS_LAZY else 1)
    side = 128 // (8 if cuda.IS_LAZY else 1)
    height, width = n // 8, n // 4
    for name, size in (("float32", 1), ("float16", 1), ("uint8", 2), ("float64", 0.5)):
        both, rows = f"{name}:{name}", int(n * size)
        yield f"transpose {name}", permuted((rows, n), (1, 0), both), ALIGNED
        yield f"transpose {name}, odd", permuted((rows - 7, n - 3), (1, 0), both), ODD
    for axes in ((0, 2, 1, 3), (3, 1, 0, 2), (3, 2, 1, 0)):
        yield f"permutation {axes} of {side}⁴", permuted((side,) * 4, axes), ALIGNED
    yield "permutation (3, 1, 0, 2), odd", permuted((side - 1,) * 4, (3, 1, 0, 2)), ODD
    margin = n // 128
    yield "crop float32", cropped("float32:float32", (n - 2 * margin,) * 2, margin), ALIGNED
    yield "crop uint8, odd", cropped("uint8:uint8", (2 * n - 2 * margin - 1, n - 2 * margin - 3),
                                     margin - 1), ODD
    pictures = (16, height, width, 3)
    yield "HWC to CHW uint8", permuted(pictures, (0, 3, 1, 2), "uint8:uint8"), ALIGNED
    yield "HWC to CHW uint8, odd", permuted((16, height - 1, width - 1, 3), (0, 3, 1, 2),
                                            "uint8:uint8"), ODD
    yield "CHW to HWC uint8", permuted((16, 3, height, width), (0, 2, 3, 1), "uint8:uint8"), ALIGNED
    for types in ("float32:float16", "float16:float32", "uint8:float32", "float64:float32",
                  "float32:int8"):
        to = types.replace(":", " to ")
        yield to, case(types, (n, n), (n, 1)), ALIGNED
        yield f"{to}, transposed", permuted((n, n), (1, 0), types), ALIGNED
    yield "float32 to float16, transposed, odd", permuted((n - 7, n - 3), (1, 0),
                                                          "float32:float16"), ODD
    yield "uint8 to float32, HWC to CHW", permuted(pictures, (0, 3, 1, 2), "uint8:float32"), ALIGNED
    yield "every second element", case("float32:float32", (n * n // 2,), (2,)), None
    yield "repeated column", case("float32:float32", (n, n), (1, 0)), None
    yield "reversed rows", case("float32:float32", (n, n), (n, -1)), None


def ratio(times, name):
    return getattr(times, name) / times.ours


def measure_known(gpu):
    goals, rows = [], []
    for name, one, least in known_cases():
        times, n_bytes = cuda_contenders.measure(gpu, one)
        if least:
            goals.append(Goal(name, ratio(times, "driver"), least))
        rows.append((name, f"{n_bytes / MIB:.1f}", shown(n_bytes / times.ours / 1e9, "{:.0f}"),
                     shown(ratio(times, "driver")), str(least or ""),
                     *(shown(ratio(times, peer), "{:.1f}") for peer in PEERS)))
    print("\n## Known layouts\n\nGB/s count bytes that are read and written. The share is that of "
          "a copy within the GPU by the driver.\n")
    print_table(("case", "MiB", "GB/s", "share", "goal", "to torch", "to cupy"), rows)
    return goals


# Layouts drawn at random


def drawn(arguments):
    """(group, case), of copies and conversions in turn."""
    most = 2**16 if cuda.IS_LAZY else random_copies.MOST_MEMORY
    for i in range(arguments.cases):
        group = ("same", "convert")[i % 2]
        yield group, random_copies.draw(arguments.seed, group, i // 2, most)


def measure_random(gpu, arguments):
    results = [(group, one, *cuda_contenders.measure(gpu, one))
               for group, one in drawn(arguments)]
    print(f"\n## Layouts drawn at random\n\n`--seed {arguments.seed} --cases {arguments.cases}`; "
          "`--case 'TEXT'` measures one again.\n")
    rows, goals = [], []
    for group in ("same", "convert", None):
        chosen = [times for kind, _, times, _ in results if group in (kind, None)]
        of_peers = {peer: [ratio(times, peer) for times in chosen
                           if not math.isnan(getattr(times, peer))] for peer in PEERS}
        rows.append((random_copies.GROUPS.get(group, "all"), str(len(chosen)),
                     shown(statistics.median([ratio(times, "driver") for times in chosen] or [0])),
                     *(text for ratios in of_peers.values() for text in (
                         str(len(ratios)), shown(geometric_mean(ratios)),
                         shown(min(ratios, default=ABSENT))))))
    for peer, ratios in of_peers.items():
        goals += [Goal(f"random layouts: mean to {peer}", geometric_mean(ratios), MEAN_RATIO),
                  Goal(f"random layouts: least to {peer}", min(ratios, default=ABSENT),
                       LEAST_RATIO)]
    print_table(("group", "n", "median share of the driver's copy",
                 *(f"{peer}: {what}" for peer in PEERS for what in ("n", "mean", "least"))), rows)
    print_worst(results)
    return goals


def print_worst(results):
    def least(result):
        ratios = [ratio(result[2], name) for name in ("driver", *PEERS)]
        return min(r for r in ratios if not math.isnan(r))

    print("\nThe worst:\n")
    print_table(("case", "share", "to torch", "to cupy"), [
        (f"`{spec_of(one)}`", *(shown(ratio(times, name)) for name in ("driver", *PEERS)))
        for _, one, times, _ in sorted(results, key=least)[:12]])


# Calls


def microseconds(call, finish=lambda: None):
    """The time of a call by the host's clock, the median of several rounds"""
    n = 10 if cuda.IS_LAZY else 200
    rounds = []
    for _ in range(3 if cuda.IS_LAZY else 15):
        finish()
        begin = time.perf_counter()
        for _ in range(n):
            call()
        rounds.append((time.perf_counter() - begin) / n * 1e6)
    finish()
    return statistics.median(rounds)


def measure_enqueuing(gpu):
    goals, rows = [], []
    for name, one in (("16 KiB, contiguous", case("float32:float32", (4096,), (1,))),
                      ("64x64, transposed", permuted((64, 64), (1, 0))),
                      ("5 axes", permuted((4, 3, 5, 6, 7), (4, 2, 0, 3, 1))),
                      ("64x64, float32 to float16", case("float32:float16", (64, 64), (64, 1)))):
        contenders = cuda_contenders.Contenders(gpu, one)
        took = {}
        for which, call in contenders.calls.items():
            with gpu.working(which):
                took[which] = microseconds(call, gpu.synchronize)
        contenders.close()
        goals.append(Goal(f"enqueued: {name}, µs", took["ours"], most=ENQUEUED))
        rows.append((name, *(shown(took.get(which, ABSENT), "{:.2f}")
                             for which in cuda_contenders.Times._fields)))
    print("\n## Small copies\n\nMicroseconds of the host, with the call from Python; `driver` is "
          "cuMemcpyAsync() through ctypes.\n")
    print_table(("case", "ours", "driver", "torch", "cupy"), rows)
    return goals


def importers(gpu):
    """(name, call, the goal)"""
    view = Mtl.zeros((2, 3, 4), "float32", device=gpu.device)
    plain = Array(view.get_address(), np.empty((2, 3, 4), np.float32))
    yield "a view, by the exchange API", lambda: Mtl.from_dlpack(view), None
    yield "`__cuda_array_interface__`", lambda: Mtl.asview(plain), None
    made = {"torch": lambda torch: torch.zeros((2, 3, 4), device="cuda"),
            "cupy": lambda cupy: cupy.zeros((2, 3, 4), "float32")}
    for name, module in gpu.peers.items():
        array = made[name](module)
        yield f"of {name}", lambda: Mtl.from_dlpack(array), IMPORTED
        for other, consumer in gpu.peers.items():
            if other != name:
                yield f"of {name} by {other}", lambda: consumer.from_dlpack(array), None
        yield f"a view by {name}", lambda: module.from_dlpack(view), None


def measure_imports(gpu):
    goals, rows = [], []
    for name, call, most in importers(gpu):
        took = microseconds(call, gpu.device.synchronize)
        if most:
            goals.append(Goal(f"import {name}, µs", took, most=most))
        rows.append((name, shown(took), str(most or "")))
    print("\n## Imports and exports of 24 elements\n\nMicroseconds, with the end of the result.\n")
    print_table(("import", "µs", "goal"), rows)
    return goals


# Host and GPU


def seconds_of(call, gpu):
    def once():
        gpu.device.synchronize()
        begin = time.perf_counter()
        call()
        gpu.device.synchronize()
        return time.perf_counter() - begin

    once()
    return statistics.median(once() for _ in range(1 if cuda.IS_LAZY else 5))


def measure_transfers(gpu, folder):
    n = MIB // 4 if cuda.IS_LAZY else 64 * MIB
    array = np.arange(n, dtype=np.float32)
    private = Mtl.zeros(n, "float32", device=gpu.device)
    pinned = Mtl.StridedView.new_zeros(gpu.device, "float32", n, Mtl.StorageMode.SHARED)
    host = Mtl.asview(array.copy())
    np.asarray(pinned)[...] = array
    path = folder / "file.safetensors"
    Mtl.save(path, {"a": array})

    def by_driver(dest, source):
        return lambda: gpu.copy(dest.get_address(), source.get_address(), array.nbytes)

    def load():
        with Mtl.load(path, device="cuda:0") as file:
            return file["a"].to_device(gpu.device, Mtl.StorageMode.PRIVATE)

    def check(view):
        if not np.array_equal(np.asarray(view.to_device(Mtl.Device.get_host(), "host")), array):
            raise cuda_contenders.WrongValues("Other values came to the GPU than were sent")

    private.copy_from(pinned)
    check(private)
    private.fill(0)
    private.copy_from(host)
    check(private)
    check(load())
    pairs = (("pinned to GPU", lambda: private.copy_from(pinned), by_driver(private, pinned)),
             ("GPU to pinned", lambda: pinned.copy_from(private), by_driver(pinned, private)),
             ("pageable to GPU", lambda: private.copy_from(host), by_driver(private, host)),
             ("GPU to pageable", lambda: host.copy_from(private), by_driver(host, private)),
             ("a mapped file to GPU", load, by_driver(private, pinned)))
    rows = []
    for name, ours, driver in pairs:
        def reference():
            driver()
            gpu.synchronize()

        took, least = seconds_of(ours, gpu), seconds_of(reference, gpu)
        rows.append((name, shown(array.nbytes / took / 1e9, "{:.1f}"),
                     shown(array.nbytes / least / 1e9, "{:.1f}"), shown(least / took)))
    print(f"\n## Host and GPU, {array.nbytes // MIB} MiB\n\nThe file is opened, mapped and "
          "registered each time; beside it is a copy from pinned memory.\n")
    print_table(("copy", "GB/s", "the driver's", "share"), rows)
    return []


# The first copies of a process


def run_first():
    """In a process of its own."""
    begin = time.perf_counter()
    times, last = {}, begin

    def lap(name):
        nonlocal last
        now = time.perf_counter()
        times[name], last = (now - last) * 1000, now

    device = Mtl.Device.get(Mtl.DeviceType.CUDA, 0)
    device.synchronize()
    lap("the GPU")
    view = Mtl.zeros((512, 512), "float32", device=device)
    copy = Mtl.zeros((512, 512), "float32", device=device)
    device.synchronize()
    lap("memory")
    for name, work in (("a transposition", lambda: copy.copy_from(view.T)),
                       ("another shape", lambda: copy[1:, 1:].copy_from(view[:-1, :-1].T)),
                       ("a conversion", lambda: copy.to_dtype("float16"))):
        work()
        device.synchronize()
        lap(name)
    print(json.dumps(times))


def measure_first(folder):
    print("\n## The first copies of a process\n\nMilliseconds until each is done. The driver "
          "compiles kernels when they are first needed, and keeps them in a cache on disk, which "
          "is empty here at first.\n")
    columns, rows = None, []
    for name, disabled in (("without the driver's cache", "1"), ("first with it", "0"),
                           ("with it", "0")):
        done = subprocess.run([sys.executable, __file__, "--first"], capture_output=True, text=True,
                              env={**os.environ, "CUDA_CACHE_DISABLE": disabled,
                                   "CUDA_CACHE_PATH": str(folder / "cache"),
                                   "G_MESSAGES_DEBUG": "mtldl"})
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        times = json.loads(done.stdout.splitlines()[-1])
        loaded = re.findall(r"([\w-]+)\.ptx: (\d+) bytes", done.stdout + done.stderr)
        columns = ("", *times, "bytes of PTX")
        rows.append((name, *(shown(took, "{:.0f}") for took in times.values()),
                     f"{sum(int(n) for _, n in loaded)} ({', '.join(m for m, _ in loaded)})"))
    print_table(columns, rows)
    return []


# All


def print_goals(goals):
    met = [goal for goal in goals if goal.is_met]
    unknown = [goal for goal in goals if math.isnan(goal.value)]
    print("\n## Goals\n")
    if cuda.IS_LAZY:
        print("The values are right. Speeds over the double have no meaning and are left out.")
        return
    print_table(("goal", "wanted", "measured", ""), [
        (goal.name, goal.wanted, shown(goal.value),
         "not measured" if goal in unknown else "" if goal.is_met else "**missed**")
        for goal in goals])
    print(f"\n{len(met)} goals met, {len(goals) - len(met) - len(unknown)} missed, "
          f"{len(unknown)} not measured")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./run bench cuda")
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cases", type=int, default=CASES,
                        help=f"how many layouts are drawn; {CASES} by default")
    parser.add_argument("--seed", type=int, default=2026, help="what is drawn")
    parser.add_argument("--case", metavar="TEXT", help="measure this one, as printed of the worst")
    arguments = parser.parse_args()
    try:
        arguments.case = arguments.case and random_copies.case_from(arguments.case)
    except ValueError as error:
        parser.error(str(error))
    if arguments.cases < 1 or arguments.seed < 0:
        parser.error("--cases is 1 or more, and --seed 0 or more")
    return arguments


def main():
    arguments = parse_arguments()
    if arguments.first:
        run_first()
        return
    gpu = Gpu()
    print(f"# Speed on “{gpu.device.get_name()}”\n\n"
          + "; ".join([f"{name} {module.__version__}" for name, module in gpu.peers.items()]
                      + [f"not measured: {name}, {why}" for name, why in gpu.missing.items()]))
    if arguments.case:
        times, n_bytes = cuda_contenders.measure(gpu, arguments.case)
        print_table(("", "ms"), [(name, shown(seconds * 1000, "{:.4f}"))
                                 for name, seconds in times._asdict().items()])
        return
    with tempfile.TemporaryDirectory() as folder:
        print_goals([*measure_known(gpu), *measure_enqueuing(gpu), *measure_imports(gpu),
                     *measure_transfers(gpu, Path(folder)), *measure_first(Path(folder)),
                     *measure_random(gpu, arguments)])


if __name__ == "__main__":
    try:
        main()
    except cuda_contenders.WrongValues as error:
        sys.exit(str(error))

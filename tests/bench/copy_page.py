# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of the guide on the speed of copies, and its picture, from what bench_copy.py
measured."""

import contextlib
import importlib.metadata
import math
import os
import platform
import subprocess
from pathlib import Path

import numpy as np

import page_section

LICENSE = "SPDX-License-Identifier: LGPL-2.1-or-later"
SERIES = (("mtldl", "#1a5fb4"), ("NumPy", "#e5a50a"), ("PyTorch", "#c64600"))
ABSENT = "–"
# The section that bench_random.py writes.
RANDOM = "Layouts drawn at random"

PAGE = """\
Title: Speed of copies
{license}

# Speed of copies

This page shows how fast [method@Mtl.StridedView.copy_from] moves elements from one layout to
another. It was measured on one machine and written by
`./run bench copy --page docs/{page}`. Ratios vary from machine to machine, and by 10 or
20 percent from run to run. `./run bench convert` compares conversions. The first tables are of
layouts that programs often have; below are others, drawn at random. Copies by GPUs are not
measured: those of [CUDA](cuda.html) were checked over a double of its driver, which has no speed.

- {processor}, {threads} cores, {system}
- `{kernels}` kernels, compiled by {compiler}
- {peers}

## One thread

Speeds are relative to `memcpy()` of the same number of bytes between two contiguous places: at 1, a
transposition takes no longer than that. Large copies can be faster because they bypass the caches.
In the geometric mean over all cases, mtldl reaches {memcpy:.2f} times the speed of `memcpy()`,
{numpy:.1f} times that of NumPy and {torch:.1f} times that of PyTorch.

![Bar chart of the table's first columns: the speed of mtldl, NumPy and PyTorch relative to
memcpy(), on a logarithmic scale]({picture})

## All threads

The last columns compare wall-clock times with {threads} threads: the speed of mtldl relative to its
own with one thread, the speed of a `memcpy()` split over the threads relative to one thread, and
the speed of mtldl relative to PyTorch with the same number of threads. If memory bandwidth is the
limit, more threads do not help.

{table}
"""


COLUMNS = ("case", "MiB", "`memcpy()`, GB/s", *(name for name, _ in SERIES),
           f"{os.cpu_count()} threads: to one", "`memcpy()` to one", "to PyTorch")


def describe_processor():
    if platform.system() == "Darwin":
        return subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], check=True, text=True,
                              capture_output=True).stdout.strip()
    lines = [line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()]
    facts = {name.strip(): value.strip() for name, _, value in reversed(lines)}
    if "model name" not in facts:
        return platform.machine()
    return f"{facts['model name']} (family {facts['cpu family']}, model {facts['model']})"


def describe_peers():
    peers = [f"NumPy {np.__version__}"]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        peers.append(f"PyTorch {importlib.metadata.version('torch').partition('+')[0]}")
    return " and ".join(peers)


def to_memcpy(measured):
    one = measured.one
    return [one.memcpy / seconds for seconds in (one.ours, one.numpy, one.torch)]


def cell(number, digits=2):
    return ABSENT if math.isnan(number) else f"{number:.{digits}f}"


def row_of(measured):
    one, all_ = measured.one, measured.all
    cells = [f"`{measured.name}`", cell(measured.n_bytes / 2**20, 1),
             cell(measured.n_bytes / one.memcpy / 1e9, 1), *map(cell, to_memcpy(measured)),
             cell(all_.ours[0] / all_.ours[1]), cell(all_.memcpy[0] / all_.memcpy[1]),
             cell(all_.torch / all_.ours[1], 1)]
    return cells


def table_of(done):
    lines = [COLUMNS, ["---"] + ["--:"] * (len(COLUMNS) - 1), *map(row_of, done)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def draw(path, done):
    """Vectors, whose text stays text."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "copies",
                                "font.sans-serif": ["DejaVu Sans"], "font.size": 8})
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.3 * len(done)), layout="constrained")
    places = np.arange(len(done))
    speeds = np.array([to_memcpy(measured) for measured in done]).T
    for number, ((name, color), speed) in enumerate(zip(SERIES, speeds)):
        has_it = ~np.isnan(speed)
        axes.barh(places[has_it] + 0.27 * (number - 1), speed[has_it], 0.27, label=name,
                  color=color)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(left=0.01)
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.xaxis.grid(color="#cccccc", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_yticks(places, [measured.name for measured in done])
    axes.set_ylim(len(done) - 0.4, -0.6)
    axes.tick_params(axis="x", top=True, labeltop=True)
    axes.set_xlabel("Speed relative to memcpy(), one thread")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    path.write_text("\n".join([lines[0], f"<!-- {LICENSE} -->", *lines[1:], ""]))


def write(page, done, means, compiler, kernels):
    """`means`: of memcpy(), NumPy's and PyTorch's time to ours."""
    page = Path(page)
    picture = page.with_suffix(".svg")
    draw(picture, done)
    before = page.read_text() if page.exists() else ""
    begin, _ = page_section.find(before, RANDOM)  # with the sections after it
    text = PAGE.format(
        license=LICENSE, page=page.name, picture=picture.name,
        processor=describe_processor(), threads=os.cpu_count(), system=platform.system(),
        compiler=compiler, kernels=kernels, peers=describe_peers(),
        memcpy=means[0], numpy=means[1], torch=means[2], table=table_of(done))
    page.write_text(page_section.replace(text, RANDOM, before[begin:]))

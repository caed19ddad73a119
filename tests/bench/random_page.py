# SPDX-License-Identifier: LGPL-2.1-or-later
"""The section of the guide on layouts that are drawn at random, and its picture, from what
bench_random.py measured."""

from html import escape
from pathlib import Path

import page_section
from copy_page import LICENSE, RANDOM, describe_peers, describe_processor
from random_copies import GROUPS
from random_report import (BOUNDS, LEAST_FOR_LIMIT, SLOWER, by_class, distribution, name_of,
                           share_slower_than_one, shown, summarize)

SECTION = """\
## {heading}

These {n} copies and conversions were drawn at random, and measured by
`./run bench random --cases {n} --seed {seed} --page docs/{page}`. They have 1 to 8
axes, permuted, flipped, stepped, padded, broadcast or of extent 1, 1 KiB to 256 MiB, and all types
that NumPy and PyTorch have; a quarter of the destinations is strided, too. Small floats are apart:
those of fewer than 8 bits take a byte in NumPy, and PyTorch has none.

- {processor}, {threads} cores
- {peers}

Each case is compared with the better peer for it: ratios are that peer's time to the time of mtldl,
so that above 1 mtldl is faster, in the geometric mean. All values are checked against NumPy's.
Cases below {slower} are measured again alone.

The limit is the least time that one core could take, by a model: the cache lines that source and
destination touch, over the bandwidth for so much memory. It says little of copies that are smaller
than {least_kib} KiB, which are left out there. The three numbers are what 10, 50 and 90 percent of
the cases do not exceed; the peer's is what 50 percent do not exceed.

![Bar chart of the shares of cases by ratio to the better peer, for copies of the same type, for
conversions and for small floats: the numbers are in the last table]({picture})

{classes}

| ratio to the better peer | {names} |
| --- | {dashes} |
{distribution}

With {threads} threads, {slowed} of the cases take more than 1.05 times as long as with one.
"""

COLUMNS = ("cases", "to the better peer", f"below {SLOWER}", "time over limit", "the peer's",
           "all threads: to the better peer")
KINDS = {"all": "", "layout": "layout", "inner": "innermost axis of the destination",
         "n_axes": "axes that remain after merging", "size": "bytes in and out",
         "step": "step of the source along it"}


def line_of(cells):
    return f"| {' | '.join(cells)} |"


def cells_of(summary):
    over = summary.over_limit
    return [str(summary.n), shown(summary.ratio), shown(summary.slower, "{:.0%}"),
            ", ".join(shown(each, "{:.1f}") for each in over),
            shown(summary.peer_limit, "{:.1f}"), shown(summary.all_ratio)]


def table_of(title, results):
    lines = [line_of([title, *COLUMNS]), line_of(["---"] + ["--:"] * len(COLUMNS))]
    last = "all"
    for kind, name, chosen in by_class(results):
        if kind != last:
            lines.append(line_of([f"*{KINDS[kind]}*"] + [""] * len(COLUMNS)))
            last = kind
        lines.append(line_of([name, *cells_of(summarize(chosen))]))
    return "\n".join(lines)


def shares_of(by_group):
    return [distribution([result.one.ratio for result in results])
            for results in by_group.values()]


def distribution_lines(by_group):
    return "\n".join(
        line_of([name_of(low, high), *(f"{each:.1%}" for each in shares)])
        for low, high, *shares in zip(BOUNDS, BOUNDS[1:], *shares_of(by_group)))


# The picture

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 330, 50, 50, 60
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
     aria-labelledby="title description" font-family="sans-serif" font-size="13">
  <!-- {license} -->
  <title id="title">How many times as fast as the better of NumPy and PyTorch</title>
  <desc id="description">{description}</desc>
  <style>
    text {{ fill: #333; text-anchor: middle; }}
    .legend {{ text-anchor: start; }}
    .bound {{ font-size: 11px; }}
    .share {{ font-size: 11px; }}
    .axis {{ stroke: #8a949e; }}
    .even {{ stroke: #8a949e; stroke-dasharray: 4 4; }}
    .same {{ fill: #1a5fb4; }}
    .convert {{ fill: #c64600; }}
    .small {{ fill: #e5a50a; }}
    @media (prefers-color-scheme: dark) {{
      text {{ fill: #eee; }}
      .axis, .even {{ stroke: #7f8993; }}
      .same {{ fill: #62a0ea; }}
      .convert {{ fill: #ff7800; }}
      .small {{ fill: #f8e45c; }}
    }}
  </style>
{content}
</svg>
"""


def describe(by_group):
    parts = []
    for group, shares in zip(by_group, shares_of(by_group)):
        each = ", ".join(f"{name_of(low, high)}: {part:.0%}"
                         for low, high, part in zip(BOUNDS, BOUNDS[1:], shares))
        parts.append(f"{GROUPS[group].capitalize()}: {each}.")
    return escape("The share of cases by ratio. " + " ".join(parts))


def draw_bars(group, number, shares, n_groups):
    most = max(max(each) for each in shares)
    slot = (WIDTH - LEFT - 20) / (len(BOUNDS) - 1)
    width = 0.8 * slot / n_groups
    for i, part in enumerate(shares[number]):
        x = LEFT + (i + 0.1) * slot + number * width
        height = (HEIGHT - TOP - BOTTOM) * part / most
        y = HEIGHT - BOTTOM - height
        yield (f'  <rect class="{group}" x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" '
               f'height="{height:.1f}"/>')
        if part:
            yield (f'  <text class="share" x="{x + width / 2:.1f}" y="{y - 4:.1f}">'
                   f'{max(1, round(100 * part))}</text>')


def draw_axis():
    base, slot = HEIGHT - BOTTOM, (WIDTH - LEFT - 20) / (len(BOUNDS) - 1)
    yield f'  <path class="axis" d="M{LEFT} {base} H{WIDTH - 20}"/>'
    for i, (low, high) in enumerate(zip(BOUNDS, BOUNDS[1:])):
        yield (f'  <text class="bound" x="{LEFT + (i + 0.5) * slot:.1f}" y="{base + 18}">'
               f'{name_of(low, high)}</text>')
    even = LEFT + (BOUNDS.index(SLOWER) + 0.5) * slot
    yield f'  <path class="even" d="M{even:.1f} {base + 24} V{base + 32}"/>'
    yield (f'  <text x="{even:.1f}" y="{base + 48}">as fast as the better peer</text>')
    yield f'  <text x="{LEFT + 7.5 * slot:.1f}" y="{base + 48}">mtldl is faster →</text>'


def draw_legend(by_group):
    for number, (group, results) in enumerate(by_group.items()):
        x = LEFT + 260 * number
        yield f'  <rect class="{group}" x="{x}" y="10" width="14" height="14"/>'
        yield (f'  <text class="legend" x="{x + 22}" y="22">{GROUPS[group]}, percent of '
               f'{len(results)}</text>')


def draw(by_group):
    shares = shares_of(by_group)
    content = [*draw_axis(), *draw_legend(by_group)]
    for number, group in enumerate(by_group):
        content += draw_bars(group, number, shares, len(by_group))
    return PICTURE.format(width=WIDTH, height=HEIGHT, license=LICENSE,
                          description=describe(by_group), content="\n".join(content))


def write(page, results, seed, n_threads):
    page = Path(page)
    picture = page.with_name(f"{page.stem}-random.svg")
    by_group = {group: chosen for group in GROUPS
                if (chosen := [result for result in results if result.group == group])}
    picture.write_text(draw(by_group))
    section = SECTION.format(
        heading=RANDOM, n=len(results), seed=seed, page=page.name, picture=picture.name,
        processor=describe_processor(), threads=n_threads, peers=describe_peers(),
        slower=SLOWER, least_kib=LEAST_FOR_LIMIT // 1024,
        classes="\n\n".join(table_of(GROUPS[group], chosen)
                            for group, chosen in by_group.items()),
        names=" | ".join(GROUPS[group] for group in by_group),
        dashes=" | ".join(["--:"] * len(by_group)), distribution=distribution_lines(by_group),
        slowed=shown(share_slower_than_one(results), "{:.0%}"))
    page.write_text(page_section.replace(page.read_text(), RANDOM, section))

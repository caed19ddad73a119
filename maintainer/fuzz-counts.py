# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds the numbers of inputs that the logs of fuzz targets report to a table.

usage: fuzz-counts.py FOLDER TABLE: the build folder, and the file with the table.
"""

import re
import sys
from pathlib import Path

ROW = re.compile(r"\| (\S+) \| ([\d,]+) \|")


def main(folder, table):
    counts, head = {}, []
    for line in Path(table).read_text().splitlines():
        if row := ROW.fullmatch(line):
            counts[row[1]] = int(row[2].replace(",", ""))
        else:
            head.append(line)
    counts.pop("all", None)
    for log in Path(folder).glob("*.log"):
        if found := re.search(r"number_of_executed_units: (\d+)", log.read_text(errors="replace")):
            counts[log.stem] = counts.get(log.stem, 0) + int(found[1])
    counts = dict(sorted(counts.items()), all=sum(counts.values()))
    rows = [f"| {name} | {count:,} |" for name, count in counts.items()]
    Path(table).write_text("\n".join(head + rows) + "\n")
    print(f"All targets together have run {counts['all']:,} inputs")


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: summary.py [STEP…] -- REPORT.xml…: adds JUnit files up.

Says what failed and with which words, the steps that failed, and what was
skipped and why. A step that failed without a failing case counts as one.
"""

import collections
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


N_LINES = 12


def last_lines(failure):
    text = failure.text or failure.get("message") or ""
    return [f"    {line}" for line in text.rstrip().splitlines()[-N_LINES:]]


def split(arguments):
    """Of (a, b, --, c): (a, b) and (c)."""
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1:]


def why_skipped(outcome):
    """Of a program that speaks TAP it is in what it printed, of one of its cases alone there."""
    output = outcome["system-out"].text or "" if "system-out" in outcome else ""
    return (outcome["skipped"].get("message") or outcome["skipped"].text
            or output.rpartition("# SKIP")[2].partition("\n")[0]).strip()


def main(*arguments):
    failed_steps, paths = split(arguments)
    passed, failed = 0, 0
    skipped = collections.defaultdict(list)  # by report and reason
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{Path(path).stem}: {case.get('classname')} {case.get('name')}"
            outcome = {child.tag: child for child in case}
            if "failure" in outcome or "error" in outcome:
                failed += 1
                print("FAILED", name)
                print(*last_lines(outcome.get("failure", outcome.get("error"))), sep="\n")
            elif "skipped" in outcome:
                report, _, name = name.partition(": ")
                skipped[report, why_skipped(outcome)].append(name)
            else:
                passed += 1
    for (report, reason), names in skipped.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"skipped {report}: {names[0]}{more} - {reason}")
    for step in failed_steps:
        print("FAILED step:", step)
    if failed == 0:
        failed = len(failed_steps)
    n_skipped = sum(map(len, skipped.values()))
    print(f"{passed} passed, {failed} failed, {n_skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: summary.py [STEP…] -- REPORT…: adds up JUnit files and Meson's logs in JSON.

Prints the cases that failed, with their messages, the programs that failed in
another way than by a case, as by a leak or the time limit, the steps that
failed, and the cases that were skipped, with the reasons. If steps failed but
nothing in them did, each of these steps counts as a failure.
"""

import collections
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


N_LINES = 12


def last_lines(text):
    return [f"    {line}" for line in text.rstrip().splitlines()[-N_LINES:]]


def split(arguments):
    """Splits (a, b, --, c) into (a, b) and (c)."""
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1:]


def why_skipped(outcome):
    """Returns why a test was skipped. TAP programs print the reason; for one of their cases it is
    only there."""
    output = outcome["system-out"].text or "" if "system-out" in outcome else ""
    return (outcome["skipped"].get("message") or outcome["skipped"].text
            or output.rpartition("# SKIP")[2].partition("\n")[0]).strip()


def print_programs(path):
    """Prints the programs in Meson's log that failed though none of their cases did. Returns how
    many there are: JUnit files say nothing about them."""
    failed = 0
    for line in path.read_text().splitlines():
        program = json.loads(line)
        output = program.get("stdout", "")
        cases = set(re.findall(r"^((?:not )?ok) \d", output, re.MULTILINE))
        if program["result"] in ("ERROR", "FAIL", "INTERRUPT", "TIMEOUT") and cases == {"ok"}:
            failed += 1
            print(f"FAILED {path.stem}: {program['name']} - {program['result']},",
                  f"exit status {program['returncode']} after {program['duration']:.0f} s")
            print(*last_lines(program.get("stderr") or output), sep="\n")
    return failed


def main(*arguments):
    failed_steps, paths = split(arguments)
    # If there are none of a kind, the shell leaves its pattern.
    paths = [path for path in map(Path, paths) if path.exists()]
    passed = 0
    failed = sum(print_programs(path) for path in paths if path.suffix == ".json")
    skipped = collections.defaultdict(list)  # by report and reason
    for path in paths:
        if path.suffix == ".json":
            continue
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{path.stem}: {case.get('classname')} {case.get('name')}"
            outcome = {child.tag: child for child in case}
            if "failure" in outcome or "error" in outcome:
                failed += 1
                print("FAILED", name)
                failure = outcome.get("failure", outcome.get("error"))
                print(*last_lines(failure.text or failure.get("message") or ""), sep="\n")
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

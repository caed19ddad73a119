# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: summary.py N_FAILED_STEPS REPORT.xml…: adds JUnit files up.

Says what failed, and what was skipped and why. A step that failed without a
failing case of its own counts as one.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def main(n_failed_steps, *paths):
    passed, failed, skipped = 0, 0, 0
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{Path(path).stem}: {case.get('classname')} {case.get('name')}"
            outcome = {child.tag: child for child in case}
            if "failure" in outcome or "error" in outcome:
                failed += 1
                print("FAILED", name)
            elif "skipped" in outcome:
                skipped += 1
                reason = outcome["skipped"].get("message") or outcome["skipped"].text or ""
                print("skipped", name, "-", reason.strip())
            else:
                passed += 1
    if int(n_failed_steps) > 0 and failed == 0:
        failed = int(n_failed_steps)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

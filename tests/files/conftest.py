# SPDX-License-Identifier: LGPL-2.1-or-later
"""What random cases begin with: MTL_TEST_SEED, as in tests/python."""

import os
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))

# Also that of the processes that pytest may share the tests out to.
SEED = int(os.environ.setdefault("MTL_TEST_SEED", str(random.SystemRandom().randrange(2**32))))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"Random cases: again with MTL_TEST_SEED={SEED}")

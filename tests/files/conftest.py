# SPDX-License-Identifier: LGPL-2.1-or-later
"""What random cases begin with: MTL_TEST_SEED, as in tests/python."""

import os
import random

SEED = int(os.environ.get("MTL_TEST_SEED", random.SystemRandom().randrange(2**32)))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"Random cases: again with MTL_TEST_SEED={SEED}")

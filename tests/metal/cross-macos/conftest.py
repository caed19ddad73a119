# SPDX-License-Identifier: LGPL-2.1-or-later
"""Says at the end how much was compared."""

import collections

import pytest

NOTES = collections.Counter()


@pytest.fixture
def note():
    """Adds to the report: how many of which kind."""
    return lambda what, n: NOTES.update({what: n})


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["compared"] = dict(NOTES)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    NOTES.update(getattr(node, "workeroutput", {}).get("compared", {}))


def pytest_terminal_summary(terminalreporter):
    if NOTES:
        terminalreporter.write_line("Compared with Apple's headers: " + ", ".join(
            f"{n} {what}" for what, n in NOTES.items()))

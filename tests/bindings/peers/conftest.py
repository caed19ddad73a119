# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the cases for the clients that a file names in CLIENTS, and keeps what
came out for the table: MTL_PEERS_RESULTS is the folder, if it is wanted."""

import json
import os
from pathlib import Path

import gi
import pytest

gi.require_version("Mtl", "1")
from cases import CASES, expectation  # noqa: E402
from client import ABSENT  # noqa: E402

NOBODY = "nobody"

outcomes = {}


def pytest_generate_tests(metafunc):
    if "client" not in metafunc.fixturenames or not hasattr(metafunc.module, "CLIENTS"):
        return
    applies = getattr(metafunc.function, "applies", lambda client: True)
    clients = [client for client in metafunc.module.CLIENTS if applies(client)]
    if "case" not in metafunc.fixturenames:
        metafunc.parametrize("client", clients or [NOBODY], ids=str)
        return
    kind = metafunc.function.kind
    pairs = [(client, case) for client in clients for case in CASES[kind](client)
             if expectation(client, kind, case) != ABSENT] or [(NOBODY, None)]
    metafunc.parametrize("client, case", pairs,
                         ids=[f"{client} - {case}" for client, case in pairs])


def pytest_collection_modifyitems(items):
    """A case that no client of the file has is not run, and not called skipped."""
    items[:] = [item for item in items
                if "callspec" not in vars(item) or item.callspec.params.get("client") != NOBODY]


@pytest.fixture
def record():
    """record(client, section, case, outcome) when it is known to be true."""

    def keep(client, section, case, outcome):
        entry = outcomes.setdefault(str(client), {
            "client": str(client), "version": client.version, "cases": {}})
        entry["cases"].setdefault(section, {})[case] = str(outcome)

    return keep


@pytest.fixture
def record_line():
    """record_line(client, version, section, case, outcomes) for clients with a line for each
    case."""

    def keep(client, version, section, case, outcomes_of_case):
        entry = outcomes.setdefault(client, {"client": client, "version": version, "cases": {}})
        entry["cases"].setdefault(section, {})[case] = [str(found) for found in outcomes_of_case]

    return keep


def pytest_sessionfinish(session, exitstatus):
    folder = os.environ.get("MTL_PEERS_RESULTS")
    if folder and exitstatus == 0:
        for number, entry in enumerate(outcomes.values()):
            name = f"{Path(session.config.args[0]).stem}-{entry['version']}-{number:02}.json"
            Path(folder, name).write_text(json.dumps(entry, indent=1))

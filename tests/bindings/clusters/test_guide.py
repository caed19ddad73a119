# SPDX-License-Identifier: LGPL-2.1-or-later
"""The code of the guide, which is one program for each engine."""

import pathlib
import secrets
import shutil
import sys
import tempfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]
GUIDE = TESTS.parent / "docs" / "beyond-one-machine.md"

sys.path.append(str(TESTS / "docs"))
from test_guides import run_guide  # noqa: E402


# A machine that is busy with other things starts processes late.
PATIENCE = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "300s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "300s",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_gcs_server_port_wait_time_s": "300",
    "RAY_gcs_server_request_timeout_seconds": "300",
    "RAY_worker_register_timeout_seconds": "300",
}


@pytest.fixture
def settings(monkeypatch):
    """Ray's folder has a short name, as it has the names of sockets."""
    folder = tempfile.mkdtemp(prefix="mtl-ray-", dir="/tmp")
    for name, value in {"RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0",
                        "RAY_memory_monitor_refresh_ms": "0",
                        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32),
                        **PATIENCE}.items():
        monkeypatch.setenv(name, value)
    yield
    shutil.rmtree(folder)


@pytest.mark.parametrize("engine", ["distributed", "ray"])
def test_guide_to_other_machines(settings, engine):
    pytest.importorskip(engine, reason="it is in the environment of the clusters only")
    assert run_guide(GUIDE, f"python-{engine}") == ""

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that ./run cuda counts the results of programs."""

import argparse
import importlib.util
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

MAINTAINER = Path(__file__).resolve().parents[2] / "maintainer"


@pytest.fixture(scope="module")
def cuda():
    """Its name is also that of a package of NVIDIA's."""
    sys.path.append(str(MAINTAINER))
    spec = importlib.util.spec_from_file_location("run_cuda", MAINTAINER / "cuda.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(MAINTAINER))


@pytest.fixture
def run(cuda):
    return cuda.Run(argparse.Namespace(double=False, python=sys.executable, seconds=60))


PLAN = "1..3\nok 1 /a\nok 2 - b # SKIP no GPU\n"


@pytest.mark.parametrize("status, output, counts", [
    (0, PLAN + "# a comment\nok 3 c\n", [2, 0, 1]),
    (1, PLAN + "not ok 3 c\n", [1, 1, 1]),
    (0, PLAN, [1, 1, 1]),                      # it ended too soon
    (-6, PLAN + "ok 3 c\n", [2, 1, 1]),        # and in a crash
    (1, PLAN + "ok 3 c\n", [2, 1, 1]),
    (-1, PLAN, [1, 1, 1]),
    (0, "1..0 # SKIP no driver\n", [0, 0, 1]),
    (0, "", [0, 1, 0]),
    (0, "ok 1 a\nok 2 b\n1..2\n", [2, 0, 0]),  # the plan may come last
])
def test_taps(cuda, run, status, output, counts):
    cuda.read_tap(run, "suite", "program", status, output)
    assert cuda.count(run.results) == counts
    assert bool(run.output) == (counts[1] > 0)


def test_reasons_are_kept(cuda, run):
    cuda.read_tap(run, "suite", "program", 0, PLAN + "ok 3 c\n")
    assert cuda.left_out_by_reason(run.results) == {"no GPU": ["program b"]}
    text, totals = cuda.write_report(run, ("a GPU", "13.0"), ["suite"])
    assert totals == "2 passed, 0 failed, 1 skipped" and text.endswith(f"\n{totals}\n")
    assert "**no GPU** (1): program b" in text and "program: /a; c" in text


@pytest.mark.parametrize("inside, outcome, said", [
    ("", "passed", ""), ('<failure message="no&#10;more"/>', "failed", "no"),
    ('<error message="early"/>', "failed", "early"), ('<skipped message="GPU"/>', "skipped", "GPU"),
])
def test_cases_of_pytest(cuda, run, inside, outcome, said):
    case = ElementTree.fromstring(f'<testcase classname="tests.cuda.test_x" name="y">{inside}'
                                  "</testcase>")
    cuda.add_case_of_pytest(run, case)
    assert run.results == [cuda.Result("suite", "cuda/test_x.py", "y", outcome, said)]


def test_a_program_that_hangs_is_ended(cuda, run):
    status, output = run.call([sys.executable, "-c", "import time\nprint('begun', flush=True)\n"
                               "time.sleep(60)"], {}, limit=1)
    assert (status, output) == (-1, "begun\n")
    run.end = 0
    assert run.call([sys.executable, "-c", ""], {}) == (None, "")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values are found in messages as a whole."""

import pytest

from says import tells

MESSAGE = "12 of 128 bytes, (3, -4), 0.5 and uint8\nat “a b”: 2^63, x-7"


@pytest.mark.parametrize("value", [12, 128, "(3, -4)", -4, 0.5, "uint8", "“a b”", "2^63", 7, 3])
def test_said(value):
    assert tells(MESSAGE, value) and tells(MESSAGE, value, 12, "2^63")


@pytest.mark.parametrize("value", [1, 28, 4, 5, 0, "int8", -12, "uint"])
def test_not_said(value):
    assert not tells(MESSAGE, value) and not tells(MESSAGE, 12, value)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that messages say values and names, in any words."""

import re


def says(*values):
    """Returns a pattern for pytest.raises() and re.search(), which the messages match that say
    all of the values, in any order. Each is matched as a whole: 12 neither in 128, -12, 0.12 or
    12.5, nor int8 in uint8."""
    return "".join(rf"(?s:(?=.*{_as_a_whole(str(value))}))" for value in values if value != "")


def tells(message, *values):
    """Returns True if a message says all of the values."""
    return re.search(says(*values), message) is not None


def _as_a_whole(text):
    before, after = "", ""
    if re.match(r"[\w-]", text):
        before = r"(?<!\w)"
    if text[0].isdigit():
        before += r"(?<!\d\.)(?<!(?<![\w)])-)"
    if re.match(r"\w", text[-1]):
        after = r"(?!\w)"
    if text[-1].isdigit():
        after += r"(?!\.\d)"
    return before + re.escape(text) + after

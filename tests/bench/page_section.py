# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sections of a page of the guide, which benchmarks write one by one: from a heading of the second
level to the next one."""

import re


def find(text, heading):
    """(begin, end) in the text; both are its end if there is no such section."""
    begin = re.search(rf"^## {re.escape(heading)}$", text, re.MULTILINE)
    if begin is None:
        return len(text), len(text)
    end = re.compile(r"^## ", re.MULTILINE).search(text, begin.end())
    return begin.start(), end.start() if end else len(text)


def replace(text, heading, section):
    """Puts this section, its heading included, in place of the one before or at the end."""
    begin, end = find(text, heading)
    parts = (part.strip("\n") for part in (text[:begin], section, text[end:]))
    return "\n\n".join(filter(None, parts)) + "\n"

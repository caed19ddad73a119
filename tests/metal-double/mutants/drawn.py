# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small mistakes, drawn at random: in operators, constants, the order of calls, calls that are
left out, and the width of types.

survivors.txt lists those that no test can notice, and why, for whoever draws them again.
"""

import random
import re
from pathlib import Path

SOURCES = ["mtldl/devices/mtl-device.c", "mtldl/devices/mtl-event.c",
           "mtldl/devices/mtl-metal-bridge.m", "mtldl/devices/mtl-metal-copy.c",
           "mtldl/devices/mtl-metal-device.c", "mtldl/devices/mtl-metal-owners.c",
           "mtldl/dlpack/mtl-dlpack-export.c",
           "mtldl/dlpack/mtl-dlpack-import.c", "mtldl/dlpack/mtl-dlpack-tensor.c"]
SURVIVORS = Path(__file__).with_name("survivors.txt")

OPERATORS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||",
             "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&",
             "+=": "-=", "-=": "+="}
NARROWER = {"guint64": "guint32", "gint64": "gint32", "gsize": "guint32", "gssize": "gint32",
            "guint32": "guint16", "guintptr": "guint32"}
OPPOSITES = {"TRUE": "FALSE", "FALSE": "TRUE"}

# A call that is a statement of its own, in one line or several.
CALL = re.compile(r"^( +)((?:(?!if|for|while|switch|return)[a-z_]\w* \(|\[)[^;{}]*\);)\n",
                  re.MULTILINE)


def blank(text):
    """The same length, without comments, text, what the preprocessor reads, and what only tells of
    mistakes of programmers."""
    unread = re.compile(r'/\*.*?\*/|@?"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|^#(?:\\\n|[^\n])*'
                        r'|^ *g_(?:return_if_fail|return_val_if_fail|assert)\w* [^;]*;',
                        re.DOTALL | re.MULTILINE)
    return unread.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def functions_of(code):
    """The name and the span of the body of each function and method."""
    for match in re.finditer(r"^\{\n.*?^\}", code, re.DOTALL | re.MULTILINE):
        head = code[:match.start()].rpartition("\n\n")[2]
        name = re.search(r"^(\w+) \(", head, re.MULTILINE) or re.search(r"- \([^)]*\) (\w+)", head)
        if name:
            yield name[1], match.start(), match.end()


def calls_in(code, begin, end):
    """The spans of the calls that begin a statement."""
    return [match.span(2) for match in CALL.finditer(code, begin, end)
            if re.search(r"[;{})]\s*$|\belse\s*$", code[:match.start()])]


def changes_of(text, code, begin, end):
    """Where each kind of mistake can be made in a function, and what would be there."""
    for match in re.compile(r"(?<= )(\S{1,2})(?= )").finditer(code, begin, end):
        if match[1] in OPERATORS:
            yield "operator", match.span(), OPERATORS[match[1]]
    for match in re.compile(r"(?<!\w)!(?=[\w(\[])").finditer(code, begin, end):
        yield "operator", match.span(), ""
    for match in re.compile(r"\b(?:\d+|TRUE|FALSE)\b").finditer(code, begin, end):
        yield "constant", match.span(), OPPOSITES.get(match[0]) or str(int(match[0]) + 1)
    for match in re.compile(rf"\b(?:{'|'.join(NARROWER)})\b").finditer(code, begin, end):
        yield "width", match.span(), NARROWER[match[0]]
    calls = calls_in(code, begin, end)
    for span in calls:
        yield "call left out", span, ";"
    for (first, first_end), (second, second_end) in zip(calls, calls[1:]):
        if not code[first_end:second].strip():
            yield ("order of calls", (first, second_end),
                   text[second:second_end] + text[first_end:second] + text[first:first_end])


def squeeze(text):
    return " ".join(text.split())


class Drawn:
    """A mistake, called by what it changes."""

    noticed_by = None

    def __init__(self, root, source, function, kind, span, new):
        text = (root / source).read_text()
        begin, end = span
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", end)
        self.source = source
        self.changed = text[:begin] + new + text[end:]
        self.name = (f"{source}: {function}: {squeeze(text[first:last])} → "
                     f"{squeeze(text[first:begin] + new + text[end:last])}")
        self.kind = kind

    def texts(self, folder):
        return {self.source: self.changed}


def all_mistakes(root):
    """Those of each kind, by source."""
    kinds = {}
    for source in SOURCES:
        text = (root / source).read_text()
        code = blank(text)
        for function, begin, end in functions_of(code):
            for kind, span, new in changes_of(text, code, begin, end):
                kinds.setdefault(kind, {}).setdefault(source, []).append((function, span, new))
    return kinds


def draw(root, seed):
    """Yields mistakes without end, as many of each kind and source."""
    rng = random.Random(seed)
    kinds = all_mistakes(root)
    while True:
        kind = rng.choice(sorted(kinds))
        source = rng.choice(sorted(kinds[kind]))
        function, span, new = rng.choice(kinds[kind][source])
        yield Drawn(root, source, function, kind, span, new)


def read_survivors():
    """The names of those that change nothing that can be seen. What is indented says why."""
    return {line for line in SURVIVORS.read_text().splitlines()
            if line and not line.startswith((" ", "#"))}

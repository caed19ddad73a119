# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small mistakes, drawn at random: in operators, constants, the order of calls, calls that are
left out, and the width of types, also of arguments and in structs.

survivors.txt lists those that no test can notice, and why, for whoever draws them again.
"""

import random
import re
from pathlib import Path

SOURCES = ["mtldl/devices/mtl-device.c", "mtldl/devices/mtl-event.c",
           "mtldl/devices/mtl-metal-bridge.m", "mtldl/devices/mtl-metal-copy.c",
           "mtldl/devices/mtl-metal-device.c", "mtldl/devices/mtl-owners.c",
           "mtldl/dlpack/mtl-dlpack-export.c",
           "mtldl/dlpack/mtl-dlpack-import.c", "mtldl/dlpack/mtl-dlpack-tensor.c"]
# The headers of several sources: only the width of types is changed there.
HEADERS = ["mtldl/devices/mtl-metal-bridge-private.h", "mtldl/devices/mtl-metal-copy-private.h",
           "mtldl/devices/mtl-metal-device-private.h", "mtldl/devices/mtl-owners-private.h"]
SURVIVORS = (Path(__file__).resolve().parent.parent / "tests" / "metal" / "double" / "mutants"
             / "survivors.txt")

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
    """Returns a text of the same length, with blanks for comments, text, what the preprocessor
    reads, and what only tells of mistakes of programmers."""
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


def signatures_of(code):
    """The name and the span of what comes before the body of each function."""
    for name, begin, _ in functions_of(code):
        yield name, code.rfind("\n\n", 0, begin) + 2, begin


def structs_of(code):
    """The name and the span of the fields of each struct and class."""
    for match in re.finditer(r"^(?:typedef )?struct(?: _?(\w+))?\n\{\n(.*?)^\} ?(\w*);"
                             r"|^@interface (\w+)[^{]*^\{\n(.*?)^\}", code,
                             re.DOTALL | re.MULTILINE):
        yield (match[1] or match[3] or match[4],
               *match.span(2 if match[2] is not None else 5))


def prototype_of(name, code):
    """The span of the declaration of a function in a header, or None."""
    match = re.search(rf"^[\w ]+[ *]{name} +\([^;]*\);", code, re.MULTILINE)
    return match and match.span()


def widths_in(code, begin, end):
    return [(match.span(), NARROWER[match[0]])
            for match in re.compile(rf"\b(?:{'|'.join(NARROWER)})\b").finditer(code, begin, end)]


def including(root, headers):
    """The sources that have one of the headers, itself or through another."""
    names = {Path(header).name for header in headers}
    for _ in HEADERS if headers else ():
        names |= {Path(header).name for header in HEADERS
                  if any(f'#include "{name}"' in (root / header).read_text() for name in names)}
    return [path.relative_to(root).as_posix() for path in sorted((root / "mtldl").rglob("*.[cm]"))
            if any(f'#include "{name}"' in path.read_text() for name in names)
            and not path.name.endswith("-none.c")] if headers else []


def calls_in(code, begin, end):
    """The spans of the calls that begin a statement."""
    return [match.span(2) for match in CALL.finditer(code, begin, end)
            if re.search(r"[;{})]\s*$|\belse\s*$", code[:match.start()])]


def changes_of(text, code, begin, end):
    """Yields the kind, place and replacement of each mistake that can be made in a function."""
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
    """A mistake, called by what it changes: in one file, or in a function and its declaration."""

    noticed_by = None

    def __init__(self, root, source, function, kind, *changes):
        self.source = source
        self.kind = kind
        self.changed = {}
        for path, (begin, end), new in changes:
            text = (root / path).read_text()
            first = text.rfind("\n", 0, begin) + 1
            last = text.find("\n", end)
            self.changed[path] = text[:begin] + new + text[end:]
            if path == source:
                self.name = (f"{source}: {function}: {squeeze(text[first:last])} → "
                             f"{squeeze(text[first:begin] + new + text[end:last])}")

    def texts(self, folder):
        return self.changed


def widths_outside(root, source, code):
    """Yields the widths of arguments, results and fields: the name, and the changes of each."""
    for name, begin, end in structs_of(code):
        for span, new in widths_in(code, begin, end):
            yield name, (source, span, new)
    for name, begin, end in signatures_of(code):
        widths = widths_in(code, begin, end)
        for header in HEADERS:
            declared = blank((root / header).read_text())
            prototype = prototype_of(name, declared)
            if prototype:
                pairs = zip(widths, widths_in(declared, *prototype), strict=True)
                yield from ((name, (source, *one), (header, *other)) for one, other in pairs)
                break
        else:
            yield from ((name, (source, *one)) for one in widths)


def all_mistakes(root):
    """Returns the mistakes of each kind, by source: the arguments of Drawn."""
    kinds = {}
    for source in SOURCES + HEADERS:
        text = (root / source).read_text()
        code = blank(text)
        found = [(function, kind, (source, span, new))
                 for function, begin, end in functions_of(code)
                 for kind, span, new in changes_of(text, code, begin, end)]
        found += [(name, "width outside", *changes)
                  for name, *changes in widths_outside(root, source, code)]
        for function, kind, *changes in found:
            kinds.setdefault(kind, {}).setdefault(source, []).append((function, kind, *changes))
    return kinds


def draw(root, seed):
    """Yields mistakes without end, as many of each kind and source."""
    rng = random.Random(seed)
    kinds = all_mistakes(root)
    while True:
        kind = rng.choice(sorted(kinds))
        source = rng.choice(sorted(kinds[kind]))
        yield Drawn(root, source, *rng.choice(kinds[kind][source]))


def all_names(root):
    return {Drawn(root, source, *mistake).name for sources in all_mistakes(root).values()
            for source, mistakes in sources.items() for mistake in mistakes}


def read_survivors(root):
    """The names of those that change nothing that can be seen. Indented lines say why."""
    names = {line for line in SURVIVORS.read_text().splitlines()
             if line and not line.startswith((" ", "#"))}
    gone = names - all_names(root)
    if gone:
        raise ValueError("survivors.txt has what cannot be drawn any more:\n" +
                         "\n".join(sorted(gone)))
    return names

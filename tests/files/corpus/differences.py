# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: differences.py: writes the table of docs/files.md anew, of the files that safetensors and
mtldl do not judge alike."""

import re
from pathlib import Path

import corpus

PAGE = Path(__file__).parents[3] / "docs" / "files.md"
HEAD = "| the file has | safetensors | mtldl | why |\n"


def table():
    lines = [HEAD + "| --- | --- | --- | --- |"]
    for verdict in corpus.verdicts().values():
        if verdict.safetensors != verdict.mtldl:
            lines.append(f"| {verdict.what} | {verdict.safetensors} | {verdict.mtldl} | "
                         f"{verdict.why} |")
    return "\n".join(lines) + "\n"


def page():
    """Returns the page with the current table."""
    text = PAGE.read_text(encoding="utf-8")
    return re.sub(re.escape(HEAD) + r"(\|.*\n)+", lambda _: table(), text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

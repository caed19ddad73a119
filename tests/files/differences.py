# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: differences.py: writes differences.md, a table for the docs of the files that
safetensors and mtldl do not judge alike."""

from pathlib import Path

import corpus

PAGE = Path(__file__).parent / "differences.md"


def table():
    lines = ["| the file has | safetensors | mtldl | why |", "| --- | --- | --- | --- |"]
    for verdict in corpus.verdicts().values():
        if verdict.safetensors != verdict.mtldl:
            lines.append(f"| {verdict.what} | {verdict.safetensors} | {verdict.mtldl} | "
                         f"{verdict.why} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table(), encoding="utf-8")

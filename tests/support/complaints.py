# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells what programs of ours complain of on stderr from what other libraries say there about the
machine. Tests that want a silent program ask here."""

import re

# Libraries are silent with these variables.
QUIET_ENVIRONMENT = {
    # Mesa 26's libEGL: “DRI3 error: Could not get DRI3 device”, on a screen without a GPU.
    'LIBGL_ALWAYS_SOFTWARE': 'true',
}

# No variable silences these. Each pattern matches a whole line.
NOISE = [re.compile(pattern) for pattern in (
    # GTK 4.8 and later, where there is no session bus.
    r'\(.+:\d+\): Gtk-(WARNING|CRITICAL) \*\*: .*Unable to acquire session bus: .+',
    # Glycin 2 and later, which loads pictures for GdkPixbuf 2.44, in a container.
    r'WARNING: Glycin running without sandbox\. .+',
)]


def find_complaints(errors):
    """The lines of stderr that are the program's."""
    return [line for line in errors.splitlines()
            if line and not any(pattern.fullmatch(line) for pattern in NOISE)]

# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions that the override changes. A view is made of whatever Mtl.asview() takes.
from typing import Any

from gi.repository import GdkPixbuf, Mtl

def new_from_view(view: Any) -> GdkPixbuf.Pixbuf:
    """A pixbuf that shares the memory of a view, without a copy."""

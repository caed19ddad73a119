# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes MtlPixbuf raise Python's exceptions, as Mtl does."""

from ..module import get_introspection_module
from .Mtl import raising

MtlPixbuf = get_introspection_module("MtlPixbuf")

__all__ = ["to_view", "new_from_view"]

to_view = raising(MtlPixbuf.to_view)
new_from_view = raising(MtlPixbuf.new_from_view)

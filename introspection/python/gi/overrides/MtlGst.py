# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes MtlGst raise Python's exceptions, as Mtl does."""

from ..module import get_introspection_module
from .Mtl import raising

MtlGst = get_introspection_module("MtlGst")

__all__ = ["view_from_bytes"]

view_from_bytes = raising(MtlGst.view_from_bytes)

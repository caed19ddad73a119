# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes MtlGtk raise Python's exceptions, as Mtl does."""

from ..module import get_introspection_module
from .Mtl import raising

MtlGtk = get_introspection_module("MtlGtk")

__all__ = ["colorize", "colorize_finish", "view_from_surface"]

colorize = raising(MtlGtk.colorize)
colorize_finish = raising(MtlGtk.colorize_finish)
view_from_surface = raising(MtlGtk.view_from_surface)

MtlGtk.ViewPaintable.set_view = raising(MtlGtk.ViewPaintable.set_view)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapts MtlPixbuf to Python: exceptions, and arrays as arguments. Those that cannot be viewed, such
as big-endian ones, are copied."""

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from .Mtl import make_pythonic

make_pythonic(get_introspection_module("MtlPixbuf"), {"StridedView": view_of_values})

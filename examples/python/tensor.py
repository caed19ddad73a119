#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tensor's shape, slices and values."""

import gi

gi.require_version('Mtl', '1')
from gi.repository import Mtl

view = Mtl.StridedView.new_from_doubles([1, 2, 3, 4, 5, 6], Mtl.DType.FLOAT32, [2, 3])
print('all:', view, sep='\n')

# A slice is another view of the same memory, with its own shape and strides.
columns = view[:, 1:]
print('columns:', columns, sep='\n')

# So a change through one view is visible in all others.
columns[-1, -1] = 60
print('transposed:', view.T, sep='\n')

print('contiguous:', 'yes' if view.T.is_contiguous(Mtl.Order.C) else 'no')

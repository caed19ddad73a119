#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Both functions from Python; test-pixbuf.c has the cases."""

import sys
import unittest

import gi

gi.require_version('GdkPixbuf', '2.0')
gi.require_version('Mtl', '1')
gi.require_version('MtlPixbuf', '1')
from gi.repository import GdkPixbuf, Mtl, MtlPixbuf  # noqa: E402


class PixbufTest(unittest.TestCase):
    def test_to_view(self):
        pixbuf = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 5, 3)
        pixbuf.fill(0x0a141eff)
        view = MtlPixbuf.view_from_pixbuf(pixbuf)
        self.assertEqual(view.shape, (3, 5, 3))
        self.assertEqual(view.strides, (16, 3, 1))
        self.assertEqual(view.get_address(), pixbuf.props.pixels)

        view[1, 2, 0] = 99
        self.assertEqual(pixbuf.get_pixels()[16 + 6:16 + 9], b'\x63\x14\x1e')

        # The view alone keeps the pixels.
        del pixbuf
        self.assertEqual(view[1].tolist(), [[10, 20, 30]] * 2 + [[99, 20, 30]]
                         + [[10, 20, 30]] * 2)

    def test_new_from_view(self):
        view = Mtl.StridedView.new_zeros(None, Mtl.DType.UINT8, [2, 3, 4])
        pixbuf = MtlPixbuf.pixbuf_from_view(view)
        self.assertEqual(pixbuf.props.pixels, view.get_address())
        self.assertTrue(pixbuf.get_has_alpha())

        pixbuf.fill(0x01020304)
        self.assertEqual(view.tolist(), [[[1, 2, 3, 4]] * 3] * 2)

        # The picture alone keeps them, too.
        del view
        self.assertEqual(pixbuf.get_pixels(), b'\x01\x02\x03\x04' * 6)

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('NumPy is not installed')

        array = numpy.arange(24, dtype='u1').reshape(2, 4, 3)
        self.assertEqual(MtlPixbuf.pixbuf_from_view(array).props.pixels, array.ctypes.data)

        records = numpy.zeros((2, 4, 3), [('a', 'u1'), ('b', 'u1')])
        records['b'] = array
        pixbuf = MtlPixbuf.pixbuf_from_view(numpy.ascontiguousarray(records['b']))
        self.assertEqual(pixbuf.get_pixels(), array.tobytes())

    def test_error(self):
        view = Mtl.StridedView.new_zeros(None, Mtl.DType.UINT8, [2, 3, 4])
        with self.assertRaisesRegex(ValueError, r'\(-12, 4, 1\)') as context:
            MtlPixbuf.pixbuf_from_view(view.flip(0))
        self.assertTrue(context.exception.__cause__.matches(Mtl.error_quark(),
                                                            Mtl.Error.NEEDS_COPY))


if __name__ == '__main__':
    sys.exit(unittest.main())

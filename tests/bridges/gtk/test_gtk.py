#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every function and method from Python; the tests in C have the cases."""

import asyncio
import os
import shutil
import subprocess
import sys
import unittest

import cairo
import gi

gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
gi.require_version('Mtl', '1')
gi.require_version('MtlGtk', '1')
from gi.repository import Gdk, Gio, GLib, GObject, Gtk, Mtl, MtlGtk  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'support'))

from says import says  # noqa: E402

ALLOW_COPY = MtlGtk.TextureFlags.ALLOW_COPY
PREMULTIPLIED = MtlGtk.TextureFlags.PREMULTIPLIED


def numbers(*shape, dtype='uint8'):
    view = Mtl.zeros(shape, dtype)
    view[...] = Mtl.arange(view.size).reshape(shape)
    return view


def raised_code(context):
    """The code of the error of the library that is the cause of an exception."""
    cause = context.exception.__cause__
    assert cause.domain == GLib.quark_to_string(Mtl.error_quark())
    return cause.code


def cancelled():
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    return cancellable


def run_until_called(start):
    """Returns what a callback is called with."""
    loop, called = GLib.MainLoop(), []

    def callback(source, *rest):
        called.extend(rest)
        loop.quit()

    start(callback)
    loop.run()
    return called


class TextureTest(unittest.TestCase):
    def test_shared(self):
        view = numbers(3, 4, 3)
        texture = MtlGtk.texture_from_view(view)
        self.assertIsInstance(texture, Gdk.Texture)
        self.assertEqual((texture.get_width(), texture.get_height()), (4, 3))

        back = MtlGtk.view_from_texture(texture)
        self.assertEqual(back.get_address(), view.get_address())
        self.assertTrue(back.is_read_only())
        view[2, 3] = 255, 1, 2
        self.assertEqual(back[2, 3].tolist(), [255, 1, 2])
        self.assertEqual(MtlGtk.download_texture(texture)[2, 3].tolist(), [255, 1, 2, 255])

        # Either alone keeps the pixels.
        del view, texture
        self.assertEqual(back[0].tolist(), [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])

    def test_planes(self):
        view = numbers(3, 4, 3)
        texture = MtlGtk.texture_from_view(view)
        plane = MtlGtk.view_from_texture_plane(texture, 0)
        self.assertEqual(plane.get_address(), view.get_address())
        self.assertTrue(plane.is_read_only())
        with self.assertRaisesRegex(IndexError, says(1)) as context:
            MtlGtk.view_from_texture_plane(texture, 1)
        self.assertEqual(raised_code(context), Mtl.Error.OUT_OF_BOUNDS)
        for wrong in (-1, 2 ** 32, 'luma', None):
            with self.assertRaises((TypeError, ValueError, OverflowError)):
                MtlGtk.view_from_texture_plane(texture, wrong)

    @unittest.skipUnless(hasattr(Gdk.MemoryFormat, 'G8_B8R8_420'), 'GTK is older than 4.20')
    def test_planes_of_video(self):
        builder = Gdk.MemoryTextureBuilder()
        builder.set_properties(bytes=GLib.Bytes.new(bytes(range(12))), width=4, height=2,
                               format=Gdk.MemoryFormat.G8_B8R8_420)
        for plane, offset in enumerate((0, 8)):
            builder.set_offset(plane, offset)
            builder.set_stride_for_plane(plane, 4)
        texture = builder.build()
        self.assertEqual(MtlGtk.view_from_texture_plane(texture, 0).tolist(),
                         [[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertEqual(MtlGtk.view_from_texture_plane(texture, 1).tolist(),
                         [[[8, 9], [10, 11]]])
        self.assertEqual(MtlGtk.download_texture(texture).shape, (2, 4, 4))
        with self.assertRaisesRegex(NotImplementedError, 'G8_B8R8_420'):
            MtlGtk.view_from_texture(texture)
        with self.assertRaisesRegex(NotImplementedError, says(2)):
            MtlGtk.pixel_from_memory_format(Gdk.MemoryFormat.G8_B8R8_420)

    def test_lifetime(self):
        view = numbers(3, 4, 4)
        buffer = view.get_buffer().weak_ref()
        texture = MtlGtk.texture_from_view(view)
        del view
        self.assertIsNotNone(MtlGtk.view_from_texture(texture))
        self.assertEqual(MtlGtk.download_texture(texture, channels='rgb')[0, 1].tolist(), [4, 5, 6])
        del texture
        self.assertIsNone(buffer())

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('NumPy is not installed')

        array = numpy.arange(24, dtype='float32').reshape(2, 4, 3) / 24
        texture = MtlGtk.texture_from_view(array, 'rgb')
        self.assertEqual(MtlGtk.view_from_texture(texture).get_address(), array.ctypes.data)
        pixels = MtlGtk.download_texture(texture, numpy.float32, MtlGtk.Channels.BGR)
        self.assertTrue(numpy.array_equal(pixels, array[..., ::-1]))

        paintable = MtlGtk.ViewPaintable()
        paintable.set_view(array)
        self.assertEqual(paintable.get_view().get_address(), array.ctypes.data)
        matrix = numpy.arange(6.0).reshape(2, 3)
        self.assertEqual(MtlGtk.colorize(matrix, 'gray', 0, 5)[1, 2].tolist(), [255, 255, 255])

    def test_arrays_that_cannot_be_viewed(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('NumPy is not installed')

        array = numpy.arange(24, dtype='float32').reshape(2, 4, 3) / 24
        swapped = array.astype(array.dtype.newbyteorder())
        records = numpy.zeros((2, 4, 3), [('a', 'i1'), ('b', 'float32')])
        records['b'] = array
        for values in (swapped, records['b'], memoryview(swapped)):
            texture = MtlGtk.texture_from_view(values, 'rgb')
            pixels = MtlGtk.download_texture(texture, 'float32', 'rgb')
            self.assertTrue(numpy.array_equal(pixels, array))
        for matrix in (swapped[..., 0], records['b'][..., 0], swapped[..., 0].astype('longdouble')):
            self.assertEqual(MtlGtk.colorize(matrix, 'gray', 0, 1).tolist(),
                             MtlGtk.colorize(array[..., 0], 'gray', 0, 1).tolist())

        # Drawing on a copy would be lost.
        wide = numpy.zeros((2, 3), swapped.dtype.str[0] + 'u4')
        for function in MtlGtk.surface_from_view, MtlGtk.check_surface:
            with self.assertRaises(BufferError):
                function(wide, cairo.Format.ARGB32)

    def test_channels_and_flags(self):
        view = numbers(2, 2, 4)
        texture = MtlGtk.texture_from_view(view, 'bgra', PREMULTIPLIED)
        dtype, channels, flags = MtlGtk.pixel_from_memory_format(
            MtlGtk.memory_format_from_pixel('uint8', 'bgra', PREMULTIPLIED))
        self.assertEqual((dtype, channels, flags),
                         (Mtl.DType.UINT8, MtlGtk.Channels.BGRA, PREMULTIPLIED))
        self.assertEqual(MtlGtk.memory_format_from_pixel(Mtl.DType.FLOAT32, 'rgba'),
                         Gdk.MemoryFormat.R32G32B32A32_FLOAT)
        self.assertEqual(MtlGtk.download_texture(texture, 'uint8', 'bgra', PREMULTIPLIED).tolist(),
                         view.tolist())

        reversed_rows = view.flip(0)
        with self.assertRaises(ValueError) as context:
            MtlGtk.texture_from_view(reversed_rows)
        self.assertEqual(raised_code(context), Mtl.Error.NEEDS_COPY)
        copied = MtlGtk.view_from_texture(MtlGtk.texture_from_view(reversed_rows, flags=ALLOW_COPY))
        self.assertNotEqual(copied.get_address(), reversed_rows.get_address())
        self.assertEqual(copied.tolist(), reversed_rows.tolist())

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, says(3, 4)) as context:
            MtlGtk.texture_from_view(numbers(2, 2, 4), 'rgb')
        self.assertEqual(raised_code(context), Mtl.Error.INVALID_ARGUMENT)
        with self.assertRaisesRegex(ValueError, says("'pink'", "'rgba'")):
            MtlGtk.texture_from_view(numbers(2, 2, 4), 'pink')
        with self.assertRaises(ValueError) as context:
            MtlGtk.memory_format_from_pixel('int8', 'rgb')
        self.assertEqual(raised_code(context), Mtl.Error.INVALID_ARGUMENT)
        with self.assertRaises(TypeError):
            MtlGtk.texture_from_view(object())

        texture = MtlGtk.texture_from_view(numbers(2, 2, 3))
        with self.assertRaises(ValueError):
            MtlGtk.download_texture(texture, 'float64')
        with self.assertRaises(GLib.Error) as context:
            MtlGtk.download_texture(texture, cancellable=cancelled())
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_in_background(self):
        texture = MtlGtk.texture_from_view(numbers(2, 2, 3))

        async def download():
            pixels = await MtlGtk.download_texture_async(texture, channels='bgr')
            self.assertEqual(pixels[0, 1].tolist(), [5, 4, 3])
            with self.assertRaises(ValueError):
                await MtlGtk.download_texture_async(texture, 'float64')

        asyncio.run(download())
        result, data = run_until_called(lambda callback: MtlGtk.download_texture_async(
            texture, 'uint8', 'rgb', 0, None, callback, 'data'))
        self.assertEqual(MtlGtk.download_texture_finish(result)[0, 1].tolist(), [3, 4, 5])
        self.assertEqual(data, 'data')


class SurfaceTest(unittest.TestCase):
    def test_view(self):
        surface = cairo.ImageSurface(cairo.Format.ARGB32, 5, 3)
        view = MtlGtk.view_from_surface(surface)
        self.assertEqual((view.shape, view.strides), ((3, 5, 4), (20, 4, 1)))
        self.assertFalse(view.is_read_only())
        data = Mtl.asview(surface.get_data())
        self.assertEqual(view.get_address(), data.get_address())

        view[1, 2] = 1, 2, 3, 4
        self.assertEqual(data[28:32].tolist(), [1, 2, 3, 4])
        data[0] = 99
        self.assertEqual(view[0, 0, 0], 99)

        # The view alone keeps the pixels.
        del surface, data
        self.assertEqual(view[1, 2].tolist(), [1, 2, 3, 4])

    def test_drawn(self):
        view = Mtl.zeros((3, 5, 4), 'uint8')
        surface = MtlGtk.surface_from_view(view, cairo.Format.ARGB32)
        self.assertIsInstance(surface, cairo.ImageSurface)
        self.assertEqual(surface.get_format(), cairo.Format.ARGB32)
        self.assertEqual(MtlGtk.view_from_surface(surface).get_address(), view.get_address())

        context = cairo.Context(surface)
        context.set_source_rgb(1, 1, 1)
        context.rectangle(1, 1, 2, 1)
        context.fill()
        surface.flush()
        self.assertEqual(view.sum(), 8 * 255)
        self.assertEqual(view[1, 1:3].tolist(), [[255] * 4] * 2)

        # The surface alone keeps the memory.
        del view
        self.assertEqual(surface.get_data()[24], 255)

    def test_lifetime(self):
        view = Mtl.zeros((3, 5, 4), 'uint8')
        buffer = view.get_buffer().weak_ref()
        surface = MtlGtk.surface_from_view(view, cairo.FORMAT_RGB24)
        del view
        self.assertIsNotNone(buffer())
        del surface
        self.assertIsNone(buffer())

    def test_errors(self):
        view = Mtl.zeros((3, 5, 4), 'uint8')
        with self.assertRaises(ValueError) as context:
            MtlGtk.surface_from_view(view, cairo.Format.A8)
        self.assertEqual(raised_code(context), Mtl.Error.INVALID_ARGUMENT)
        with self.assertRaises(ValueError) as context:
            MtlGtk.surface_from_view(view.as_read_only(), cairo.Format.ARGB32)
        self.assertEqual(raised_code(context), Mtl.Error.READ_ONLY)
        self.assertTrue(MtlGtk.check_surface(view, cairo.Format.ARGB32))
        with self.assertRaisesRegex(NotImplementedError, says(3)):
            MtlGtk.check_surface(view, cairo.Format.A1)
        with self.assertRaises(NotImplementedError) as context:
            MtlGtk.view_from_surface(cairo.ImageSurface(cairo.Format.A1, 5, 3))
        self.assertEqual(raised_code(context), Mtl.Error.NOT_SUPPORTED)
        with self.assertRaises(TypeError):
            MtlGtk.view_from_surface(view)


class ColorTest(unittest.TestCase):
    def test_colorize(self):
        matrix = [[0.0, 0.5], [1.0, float('nan')]]
        expected = [[[0, 0, 0], [128, 128, 128]], [[255, 255, 255], [224, 27, 36]]]
        colors = MtlGtk.colorize(matrix, 'gray', 0, 1)
        for row, expected_row in zip(colors.tolist(), expected):
            for color, expected_color in zip(row, expected_row):
                for value, expected_value in zip(color, expected_color):
                    self.assertAlmostEqual(value, expected_value, delta=1)
        self.assertNotEqual(colors.tolist(),
                            MtlGtk.colorize(matrix, MtlGtk.ColorMap.HEAT, 0, 1).tolist())

        with self.assertRaises(ValueError) as context:
            MtlGtk.colorize(Mtl.zeros(3), 'gray', 0, 1)
        self.assertEqual(raised_code(context), Mtl.Error.INVALID_ARGUMENT)
        with self.assertRaisesRegex(ValueError, says("'gray'", "'heat'")):
            MtlGtk.colorize(matrix, 'pink', 0, 1)

    def test_own_colors(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('NumPy is not installed')

        random = numpy.random.default_rng(37)
        for dtype in 'bool i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16'.split():
            for colors in (random.integers(0, 256, (256, 3), 'u1'), random.random((256, 4), 'f4'),
                           random.random((7, 3)), random.integers(0, 256, (5, 4))):
                matrix = (random.normal(size=(13, 17)) * 100).astype(dtype)
                if matrix.dtype.kind in 'fc':
                    matrix[1, :3] = numpy.nan, numpy.inf, -numpy.inf
                last = len(colors) - 1
                # Steps on whole numbers and halves, which no rounding moves.
                low, high = -last, last
                real = matrix.real.astype('f8')
                seen = numpy.asarray(MtlGtk.colorize_with_colors(matrix, colors, low, high))

                integers = colors if colors.dtype.kind in 'iu' else colors * 255
                table = numpy.floor(integers + 0.5).astype('u1')
                steps = numpy.where(numpy.isfinite(real), (real - low) / 2, 0).clip(0, last)
                below = table[numpy.rint(steps - 1e-4).astype(int)]
                above = table[numpy.rint(steps + 1e-4).astype(int)]
                for number, color in ((numpy.isnan(real), (224, 27, 36, 255)),
                                      (numpy.isinf(real), (192, 97, 203, 255))):
                    below[number] = above[number] = color[:colors.shape[1]]
                self.assertEqual(seen.shape, below.shape)
                self.assertTrue(((seen == below).all(2) | (seen == above).all(2)).all(), dtype)

        self.assertEqual(MtlGtk.colorize_with_colors([[0, 1]], [(1, 2, 3), (4, 5, 6)], 0, 1)
                         .tolist(), [[[1, 2, 3], [4, 5, 6]]])
        for wrong in [[0.5, 2, 0]], [[256, 0, 0]], [[0, 0]], numpy.zeros((300, 3)):
            with self.assertRaises(ValueError):
                MtlGtk.colorize_with_colors([[0, 1]], wrong, 0, 1)

    def test_what_cannot_be_viewed(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('NumPy is not installed')

        swapped = numpy.arange(6, dtype='>f8').reshape(2, 3)
        colors = numpy.array([(0, 0, 0), (1, 0.5, 0)], '>f4')
        native = swapped.astype('f8')
        self.assertEqual(MtlGtk.colorize(swapped, 'heat', 0, 5).tolist(),
                         MtlGtk.colorize(native, 'heat', 0, 5).tolist())
        self.assertEqual(MtlGtk.colorize_with_colors(swapped, colors, 0, 5).tolist(),
                         MtlGtk.colorize_with_colors(native, colors.astype('f4'), 0, 5).tolist())
        texture = MtlGtk.texture_from_view(swapped.astype('>u2')[..., None].repeat(3, 2), 'rgb')
        self.assertEqual(MtlGtk.view_from_texture(texture)[1].tolist(),
                         [[n] * 3 for n in (3, 4, 5)])

        paintable = MtlGtk.ViewPaintable()
        paintable.set_colors(colors, 0, 1)
        # These share the memory, or fail.
        with self.assertRaises((BufferError, TypeError, ValueError)):
            paintable.set_view(swapped)
        with self.assertRaises((BufferError, TypeError, ValueError)):
            MtlGtk.surface_from_view(swapped.astype('>f4')[..., None].repeat(4, 2), 7)

    def test_own_colors_in_background(self):
        view, colors = numbers(4, 3), [(0, 0, 0), (255, 0, 0)]
        expected = MtlGtk.colorize_with_colors(view, colors, 0, 11).tolist()

        async def colorize():
            pixels = await MtlGtk.colorize_with_colors_async(view, colors, 0, 11)
            self.assertEqual(pixels.tolist(), expected)

        asyncio.run(colorize())
        result, = run_until_called(lambda callback: MtlGtk.colorize_with_colors_async(
            view, colors, 0, 11, None, callback))
        self.assertEqual(MtlGtk.colorize_with_colors_finish(result).tolist(), expected)

    def test_in_background(self):
        view = numbers(40, 30, dtype='int16')
        expected = MtlGtk.colorize(view, 'heat', 0, 1200).tolist()

        async def colorize():
            colors = await MtlGtk.colorize_async(view, 'heat', 0, 1200)
            self.assertEqual(colors.tolist(), expected)
            with self.assertRaises(ValueError):
                await MtlGtk.colorize_async(view[0], 'heat', 0, 1200)

        asyncio.run(colorize())
        result, = run_until_called(
            lambda callback: MtlGtk.colorize_async(view, 'heat', 0, 1200, None, callback))
        self.assertEqual(MtlGtk.colorize_finish(result).tolist(), expected)
        result, = run_until_called(
            lambda callback: MtlGtk.colorize_async(view, 'heat', 0, 1, cancelled(), callback))
        with self.assertRaises(GLib.Error) as context:
            MtlGtk.colorize_finish(result)
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))


def shown_pixels(paintable):
    """The pixels that a widget, which a test without a screen cannot have, would draw."""
    return MtlGtk.view_from_texture(paintable.get_current_image()).tolist()


class PaintableTest(unittest.TestCase):
    def test_writable(self):
        view = numbers(3, 4, 3)
        paintable = MtlGtk.ViewPaintable.new()
        self.assertIsInstance(paintable, Gdk.Paintable)
        self.assertIsNone(paintable.get_texture())
        self.assertTrue(paintable.set_view(view))
        self.assertIs(paintable.get_view(), view)
        self.assertIs(paintable.props.view, view)

        invalidated = []
        paintable.connect('invalidate-contents', invalidated.append)
        self.assertEqual((paintable.get_intrinsic_width(), paintable.get_intrinsic_height()),
                         (4, 3))
        before = paintable.get_texture()
        self.assertEqual(paintable.get_current_image(), before)
        snapshot = Gtk.Snapshot()
        paintable.snapshot(snapshot, 8, 6)
        self.assertEqual(snapshot.to_paintable().get_intrinsic_width(), 8)

        # It shows writes once it is told.
        view[1:, 1:3] = 7
        self.assertNotEqual(MtlGtk.view_from_texture(before).get_address(), view.get_address())
        self.assertEqual(shown_pixels(paintable), numbers(3, 4, 3).tolist())
        paintable.invalidate((1, 1, 2, 5))
        self.assertEqual(invalidated, [paintable])
        self.assertEqual(shown_pixels(paintable), view.tolist())

        view[0, 0] = 8
        rectangle = Gdk.Rectangle()
        rectangle.width = rectangle.height = 1
        paintable.invalidate(rectangle)
        self.assertEqual(shown_pixels(paintable), view.tolist())
        view.fill(9)
        paintable.invalidate()
        self.assertEqual(shown_pixels(paintable), view.tolist())
        self.assertEqual(MtlGtk.view_from_texture(before).tolist(), numbers(3, 4, 3).tolist())

        paintable.set_view(None)
        self.assertIsNone(paintable.get_view())
        self.assertIsNone(paintable.get_texture())

    def test_read_only(self):
        view = numbers(3, 4, 4)
        shown = view.as_read_only()
        paintable = MtlGtk.ViewPaintable()
        paintable.set_view(shown, 'bgra', PREMULTIPLIED)
        pixels = MtlGtk.view_from_texture(paintable.get_texture())
        self.assertEqual(pixels.get_address(), view.get_address())
        view[0, 0] = 8
        self.assertEqual(pixels[0, 0].tolist(), [8] * 4)

        # The paintable alone keeps the memory.
        buffer = shown.get_buffer().weak_ref()
        del view, shown, pixels
        self.assertIsNotNone(buffer())
        del paintable
        self.assertIsNone(buffer())

    def test_properties(self):
        view = numbers(2, 3, dtype='float64')
        heat = MtlGtk.colorize(view, 'heat', 0, 5).tolist()
        paintable = MtlGtk.ViewPaintable(high=5, color_map='heat', view=view)
        self.assertEqual(shown_pixels(paintable), heat)
        self.assertEqual(shown_pixels(MtlGtk.ViewPaintable(
            color_map=MtlGtk.ColorMap.HEAT, view=[[0.0, 1, 2], [3, 4, 5]], high=5)), heat)
        self.assertIsNone(paintable.props.error)

        # A property cannot fail.
        notified = []
        paintable.connect('notify::error', lambda *args: notified.append(args[0].props.error))
        paintable.props.channels = MtlGtk.Channels.RGB
        self.assertTrue(notified[0].matches(Mtl.Error.quark(), Mtl.Error.INVALID_ARGUMENT))
        self.assertIsNone(paintable.get_texture())
        self.assertIs(paintable.props.view, view)
        with self.assertRaises(ValueError):
            paintable.invalidate()
        paintable.props.view = numbers(2, 3, 3)
        self.assertEqual(notified[1:], [None])
        self.assertEqual(shown_pixels(paintable), numbers(2, 3, 3).tolist())

        # Bindings of properties.
        other = MtlGtk.ViewPaintable(colors=[(0, 0, 0), (9, 9, 9)], low=3, high=4)
        paintable.bind_property('view', other, 'view', GObject.BindingFlags.SYNC_CREATE)
        self.assertEqual(shown_pixels(other), numbers(2, 3, 3).tolist())
        paintable.set_view(numbers(2, 3))
        self.assertEqual(shown_pixels(other), [[[0] * 3] * 3, [[0] * 3, [9] * 3, [9] * 3]])

    def test_builder(self):
        view = numbers(2, 3)
        builder = Gtk.Builder()
        builder.expose_object('numbers', view)
        builder.add_from_string("""<interface>
          <object class="MtlGtkViewPaintable" id="paintable">
            <property name="view">numbers</property>
            <property name="high">5</property>
            <property name="color-map">heat</property>
          </object>
        </interface>""")
        self.assertEqual(shown_pixels(builder.get_object('paintable')),
                         MtlGtk.colorize(view, 'heat', 0, 5).tolist())

    def test_color_map(self):
        view = numbers(2, 3, dtype='float64')
        paintable = MtlGtk.ViewPaintable()
        with self.assertRaisesRegex(ValueError, 'float64') as context:
            paintable.set_view(view)
        self.assertEqual(raised_code(context), Mtl.Error.INVALID_ARGUMENT)

        paintable.set_color_map('heat', 0, 5)
        paintable.set_view(view)
        self.assertEqual(MtlGtk.view_from_texture(paintable.get_texture()).tolist(),
                         MtlGtk.colorize(view, 'heat', 0, 5).tolist())
        with self.assertRaises(ValueError):
            paintable.set_color_map('none')
        colors = numbers(8, 3)
        paintable.set_colors(colors, 0, 5)
        self.assertEqual(MtlGtk.view_from_texture(paintable.get_texture()).tolist(),
                         MtlGtk.colorize_with_colors(view, colors, 0, 5).tolist())
        with self.assertRaises(ValueError):
            paintable.set_colors(colors[0], 0, 5)
        paintable.set_view(numbers(2, 3))
        paintable.set_color_map('none')
        gray = MtlGtk.download_texture(paintable.get_texture(), channels='gray')
        self.assertEqual(gray.tolist(), [[[0], [1], [2]], [[3], [4], [5]]])
        with self.assertRaisesRegex(ValueError, "'pink'"):
            paintable.set_color_map('pink', 0, 5)


@unittest.skipUnless(sys.platform == 'linux', 'only Linux has DMA-BUFs')
class DmabufTest(unittest.TestCase):
    def test_other_file(self):
        layout = Mtl.StridedLayout.new_with_byte_strides([2, 3], [3, 1], 8)
        with open(os.memfd_create('pixels'), 'r+b') as file:
            file.write(bytes(6))
            file.flush()
            for fd in (file, file.fileno()):
                with self.assertRaises(ValueError) as context:
                    MtlGtk.view_from_dmabuf(fd, 0, layout, 'uint8')
                self.assertEqual(raised_code(context), Mtl.Error.INVALID_ARGUMENT)


@unittest.skipUnless(shutil.which('Xvfb'), 'Xvfb is not installed')
class ScreenTest(unittest.TestCase):
    """Tests on a screen of their own, which ends with its last client."""

    @classmethod
    def setUpClass(cls):
        number, end = os.pipe()
        command = f'Xvfb -displayfd {end} -nolisten tcp -terminate -screen 0 400x300x24'.split()
        cls.server = subprocess.Popen(command, pass_fds=[end], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        os.close(end)
        with open(number, encoding='ascii') as lines:
            name = ':' + lines.readline().strip()
        os.environ.update(DISPLAY=name, GDK_BACKEND='x11', GTK_A11Y='none',
                          GSETTINGS_BACKEND='memory')
        cls.display = Gdk.Display.open(name)
        Gtk.init_check()

    def test_picture(self):
        paintable = MtlGtk.ViewPaintable()
        paintable.set_view(numbers(30, 50, 3))
        picture = Gtk.Picture.new_for_paintable(paintable)
        self.assertIs(picture.get_paintable(), paintable)
        self.assertEqual(picture.measure(Gtk.Orientation.HORIZONTAL, -1).natural, 50)
        paintable.set_view(numbers(30, 60, 3))
        self.assertEqual(picture.measure(Gtk.Orientation.HORIZONTAL, -1).natural, 60)

    @unittest.skipUnless(sys.platform == 'linux', 'only Linux has DMA-BUFs')
    def test_dmabuf(self):
        layout = Mtl.StridedLayout.new_with_byte_strides([2, 3, 4], [12, 4, 1], 8)
        has_textures = (Gtk.get_major_version(), Gtk.get_minor_version()) >= (4, 14)
        for fourcc in ('XR24', 0x34325258):
            with self.assertRaises(ValueError if has_textures else NotImplementedError):
                MtlGtk.texture_from_dmabuf(self.display, -1, 0, layout, fourcc)


if __name__ == '__main__':
    sys.exit(unittest.main())

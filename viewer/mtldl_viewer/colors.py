# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts numbers to pixels.

The library chooses the colours, and scales and converts the elements. Nothing
here visits elements one by one.
"""

import array
import math
from typing import NamedTuple

from gi.repository import Gdk, Mtl, MtlGtk

NAN_STEP, INFINITE_STEP = 254, 255

HOST = Mtl.Device.get_host()
FLOATS = ('float', 'bfloat', 'complex')


def color(numbers, low=0, high=1):
    """Returns red, green and blue for each of the numbers."""
    row = Mtl.asview(array.array('d', numbers)).unsqueeze([0])
    pixels = bytes(MtlGtk.colorize(row, MtlGtk.ColorMap.HEAT, low, high))
    return list(zip(pixels[::3], pixels[1::3], pixels[2::3]))


NAN, INFINITE = color([math.nan, math.inf])


def kind_of_float8(code):
    """float8_e5m2 has five bits for the exponent; numbers do not set all of them."""
    if code & 0x7f == 0x7c:
        return INFINITE_STEP
    return NAN_STEP if code & 0x7f > 0x7c else 0


KINDS = bytes(map(kind_of_float8, range(256)))


class Scale(NamedTuple):
    """The numbers of the first and the last step."""
    low: float
    high: float

    def get_factors(self, n_steps):
        """The factor that makes steps of elements, and the summand."""
        low, high = float(self.low), float(self.high)
        # The range is halved, as the difference of two large numbers may be infinite.
        extent = high / 2 - low / 2
        if not extent > 0:
            return 0.0, 0.0
        factor = min((n_steps - 1) / 2 / extent, 1.7e308)
        offset = -low * factor
        return (factor, offset) if math.isfinite(offset) else (0.0, 0.0)


def has_others(view):
    """Only elements of these types may be NaN or infinite."""
    return str(view.dtype).startswith(FLOATS)


def read_bytes(task, view, factors, limits, done):
    """Calls done() with a byte for each element: limits[element * factor + offset], NAN_STEP or
    INFINITE_STEP."""
    steps = Mtl.StridedView.new_uninitialized(HOST, Mtl.DType.UINT8, view.shape)

    def mark_others(_):
        # Scaled like this, any number is small, but NaN stays NaN and infinity infinite.
        kinds = Mtl.StridedView.new_uninitialized(HOST, Mtl.DType.FLOAT8_E5M2, view.shape)
        task.run(kinds.copy_scaled_from_async, kinds.copy_scaled_from_finish,
                 lambda _: done(merge(bytes(steps).translate(limits), bytes(kinds))), view, 1e-305)

    task.run(steps.copy_scaled_from_async, steps.copy_scaled_from_finish,
             mark_others if has_others(view) else lambda _: done(bytes(steps).translate(limits)),
             view, *factors)


def merge(steps, kinds):
    """NaN has become step 0, infinity the first or the last one."""
    marks = kinds.translate(KINDS)
    if marks.count(0) == len(marks):
        return steps
    merged = int.from_bytes(steps, 'little') | int.from_bytes(marks, 'little')
    return merged.to_bytes(len(steps), 'little')


def read_heat_map(task, matrix, scale, done):
    """Calls done() with the pixels of [rows, columns]."""
    task.run(MtlGtk.colorize_async, MtlGtk.colorize_finish, done, matrix, MtlGtk.ColorMap.HEAT,
             scale.low, scale.high)


def read_image(task, image, scale, done):
    """Calls done() with the pixels of [rows, columns, channels]: grey or colours, then opacity."""
    rows, columns, n_channels = image.shape
    pixels = Mtl.StridedView.new_filled(HOST, Mtl.DType.UINT8, [rows, columns, 4], 255)
    n_colors = 1 if n_channels < 3 else 3
    factors = scale.get_factors(256)

    def add_opacity(_):
        if n_channels == n_colors:
            done(pixels)
            return
        opacity = pixels[:, :, 3:]
        task.run(opacity.copy_scaled_from_async, opacity.copy_scaled_from_finish,
                 lambda _: done(pixels), image[:, :, n_colors:], *factors)

    colors = pixels[:, :, :3]
    task.run(colors.copy_scaled_from_async, colors.copy_scaled_from_finish, add_opacity,
             image[:, :, :n_colors], *factors)


def make_squares(pixels, factor):
    """Returns each pixel as a square, to be shown and not written."""
    rows, columns, n_channels = pixels.shape
    squares = pixels[:, None, :, None].broadcast_to(rows, factor, columns, factor, n_channels)
    return squares.to_contiguous().reshape(rows * factor, columns * factor,
                                           n_channels).as_read_only()


def to_rgba(color):
    rgba = Gdk.RGBA()
    rgba.red, rgba.green, rgba.blue, rgba.alpha = *(part / 255 for part in color), 1
    return rgba

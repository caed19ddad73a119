# SPDX-License-Identifier: LGPL-2.1-or-later
"""From numbers to pixels.

The library scales and converts the elements to bytes, the steps of a scale, and
the standard library translates these to colours. Nothing here visits elements
one by one.
"""

import math
from typing import NamedTuple

from gi.repository import Gdk, Mtl

# Colours in red, green and blue: from the least number to the greatest, and of other values.
RAMP = [(16, 22, 61), (35, 61, 132), (31, 122, 149), (67, 178, 132), (179, 217, 85),
        (255, 242, 161)]
NAN, INFINITE = (224, 27, 36), (192, 97, 203)

N_STEPS = 254               # bytes from 0 on; the last two are for NaN and infinity
NAN_STEP, INFINITE_STEP = 254, 255

HOST = Mtl.Device.get_host()
FLOATS = ('float', 'bfloat', 'complex')


def mix(position):
    """The colour at a place from 0 to 1."""
    place = position * (len(RAMP) - 1)
    below = min(int(place), len(RAMP) - 2)
    return tuple(round(low + (high - low) * (place - below))
                 for low, high in zip(RAMP[below], RAMP[below + 1]))


COLORS = [mix(step / (N_STEPS - 1)) for step in range(N_STEPS)] + [NAN, INFINITE]
# For each of red, green and blue, what a step becomes.
TABLES = [bytes(channel) for channel in zip(*COLORS)]


def kind_of_float8(code):
    """float8_e5m2 has five bits for the exponent; all of them set are no numbers."""
    if code & 0x7f == 0x7c:
        return INFINITE_STEP
    return NAN_STEP if code & 0x7f > 0x7c else 0


KINDS = bytes(map(kind_of_float8, range(256)))
# Numbers beyond the scale, which may come from a sample, have the colours of its ends.
LIMITS = bytes(min(step, N_STEPS - 1) for step in range(256))


class Scale(NamedTuple):
    """The numbers of the first and the last step."""
    low: float
    high: float

    def get_factors(self, n_steps=N_STEPS):
        """What elements are multiplied by to become steps, and what is then added."""
        low, high = float(self.low), float(self.high)
        # Halves, as the difference of two large numbers may be infinite.
        extent = high / 2 - low / 2
        if not extent > 0:
            return 0.0, 0.0
        factor = min((n_steps - 1) / 2 / extent, 1.7e308)
        offset = -low * factor
        return (factor, offset) if math.isfinite(offset) else (0.0, 0.0)


def has_others(view):
    """Whether elements may be NaN or infinite."""
    return str(view.dtype).startswith(FLOATS)


def read_bytes(task, view, factors, limits, done):
    """Calls done() with a byte for each element: limits[element * factor + offset], NAN_STEP or
    INFINITE_STEP."""
    steps = Mtl.StridedView.new_empty(HOST, Mtl.DType.UINT8, view.shape)

    def mark_others(_):
        # Scaled like this, any number is small, but NaN stays NaN and infinity infinite.
        kinds = Mtl.StridedView.new_empty(HOST, Mtl.DType.FLOAT8_E5M2, view.shape)
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


def color_steps(steps, rows, columns):
    """Returns pixels as [rows, columns, red green blue]."""
    pixels = Mtl.StridedView.new_empty(HOST, Mtl.DType.UINT8, [rows, columns, 3])
    for channel, table in enumerate(TABLES):
        pixels[:, :, channel] = Mtl.asview(steps.translate(table)).reshape(rows, columns)
    return pixels


def read_heat_map(task, matrix, scale, done):
    """Calls done() with the pixels of [rows, columns]."""
    read_bytes(task, matrix, scale.get_factors(), LIMITS,
               lambda steps: done(color_steps(steps, *matrix.shape)))


def read_image(task, image, scale, done):
    """Calls done() with the pixels of [rows, columns, channels]: grey or colours, then opacity."""
    rows, columns, n_channels = image.shape
    pixels = Mtl.StridedView.new_full(HOST, Mtl.DType.UINT8, [rows, columns, 4], 255)
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


def make_texture(pixels, factor=1):
    """Draws each pixel as a square."""
    rows, columns, n_channels = pixels.shape
    formats = {3: Gdk.MemoryFormat.R8G8B8, 4: Gdk.MemoryFormat.R8G8B8A8}
    squares = pixels[:, None, :, None].broadcast_to(rows, factor, columns, factor, n_channels)
    return Gdk.MemoryTexture.new(columns * factor, rows * factor, formats[n_channels],
                                 squares.dup_bytes(), columns * factor * n_channels)


def to_rgba(color):
    rgba = Gdk.RGBA()
    rgba.red, rgba.green, rgba.blue, rgba.alpha = *(part / 255 for part in color), 1
    return rgba

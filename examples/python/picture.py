#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""picture.py IN OUT [--hops]

Loads a picture, changes it in place with NumPy, and saves it as PNG. The pixels
stay where GdkPixbuf put them when it loaded the file: the views, the array, the
second GdkPixbuf and the Gdk.Texture all use that memory.
"""

import sys
import time
import timeit

import gi
import numpy as np

gi.require_version('GdkPixbuf', '2.0')
gi.require_version('Mtl', '1')
gi.require_version('MtlGtk', '1')
gi.require_version('MtlPixbuf', '1')
from gi.repository import GdkPixbuf, GLib, Mtl, MtlGtk, MtlPixbuf  # noqa: E402


def change(pixels):
    """Exchanges red and blue in the lower half, below a white line."""
    lower = pixels[len(pixels) // 2:]
    lower[..., :3] = lower[..., 2::-1]
    lower[:4] = 255


def run(in_path, out_path, show_hops):
    pixbuf = GdkPixbuf.Pixbuf.new_from_file(in_path)

    # A view (height, width, channels) of the picture's own pixels, and an
    # array of the same memory, so NumPy writes to the picture. Since NumPy
    # 2.1 np.from_dlpack(view) does the same; in older versions it returns
    # read-only arrays.
    view = MtlPixbuf.view_from_pixbuf(pixbuf)
    array = np.asarray(view)
    change(array)

    # And back: each object keeps the memory alive. GTK assumes that the pixels
    # do not change: do not write to them while the texture may be drawn.
    changed = Mtl.from_dlpack(array)
    result = MtlPixbuf.pixbuf_from_view(changed)
    texture = MtlGtk.texture_from_view(changed)

    if show_hops:
        print_hops(pixbuf, view, array, changed, texture)
    result.savev(out_path, 'png', [], [])


# The rest of this file measures the addresses and times of each hop, and the
# times of the same hop with a copy.

def measure(make, calls):
    """Returns the best of several runs, in microseconds per call. If they take
    long there are fewer, but at least two."""
    deadline = time.monotonic() + 0.2
    timer = timeit.Timer(make)
    times: list[float] = []
    while len(times) < 2 or len(times) < 15 and time.monotonic() < deadline:
        times.append(timer.timeit(calls) / calls * 1e6)
    return min(times)


def print_hop(name, before, after, make, make_copied):
    print(name, f'{before:#x}', f'{after:#x}', f'{measure(make, 100):.3f}',
          f'{measure(make_copied, 1):.3f}', sep='\t', flush=True)


def print_torch_hop(view):
    try:
        import torch
    except ImportError:
        return

    print_hop('view -> torch', view.get_address(),
              torch.from_dlpack(view).data_ptr(),
              lambda: torch.from_dlpack(view),
              lambda: torch.from_dlpack(view).clone())


def print_hops(pixbuf, view, array, changed, texture):
    address = changed.get_address()
    pixbuf_of_view = MtlPixbuf.pixbuf_from_view(changed)

    print_hop('GdkPixbuf -> view', pixbuf.props.pixels, view.get_address(),
              lambda: MtlPixbuf.view_from_pixbuf(pixbuf),
              lambda: Mtl.StridedView.new_from_bytes_with_byte_strides(
                  pixbuf.read_pixel_bytes(), Mtl.DType.UINT8, view.shape, view.strides))
    print_hop('view -> NumPy', view.get_address(), array.ctypes.data,
              lambda: np.asarray(view), lambda: np.array(view))
    print_hop('view -> NumPy by DLPack', view.get_address(),
              np.from_dlpack(view).ctypes.data,
              lambda: np.from_dlpack(view),
              lambda: np.from_dlpack(view).copy())
    print_hop('NumPy -> view', array.ctypes.data, address,
              lambda: Mtl.from_dlpack(array),
              lambda: Mtl.from_dlpack(array.copy()))
    print_torch_hop(changed)
    print_hop('view -> GdkPixbuf', address, pixbuf_of_view.props.pixels,
              lambda: MtlPixbuf.pixbuf_from_view(changed),
              lambda: MtlPixbuf.pixbuf_from_view(changed.copy()))
    print_hop('view -> Gdk.MemoryTexture', address,
              MtlGtk.view_from_texture(texture).get_address(),
              lambda: MtlGtk.texture_from_view(changed),
              lambda: MtlGtk.texture_from_view(changed.copy()))


def main():
    arguments = sys.argv[1:]
    show_hops = arguments[2:] == ['--hops']
    if len(arguments) != 2 and not show_hops:
        sys.exit('usage: picture.py IN OUT [--hops]')

    try:
        run(arguments[0], arguments[1], show_hops)
    except GLib.Error as error:
        sys.exit(f'picture.py: {error.message}')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cuda.py [OUT.png]

Crops a picture in the memory of an NVIDIA GPU, converts it to bytes there, and makes a texture of
GTK from it. The picture is a tensor of PyTorch if that has CUDA.
"""

import sys

import gi

gi.require_version('Mtl', '1')
gi.require_version('MtlGtk', '1')
from gi.repository import Mtl, MtlGtk

HEIGHT, WIDTH = 480, 640


def find_torch():
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def make_picture_of_torch(torch):
    """Red grows to the right and green downwards, from 0 to 1."""
    picture = torch.zeros((HEIGHT, WIDTH, 3), device='cuda')
    picture[..., 0] = torch.arange(WIDTH, device='cuda') / WIDTH
    picture[..., 1] = torch.arange(HEIGHT, device='cuda')[:, None] / HEIGHT
    return picture


def make_picture():
    """The same without PyTorch."""
    picture = Mtl.zeros((HEIGHT, WIDTH, 3), 'float32', device='cuda')
    picture[..., 0] = Mtl.arange(0, 1, 1 / WIDTH, 'float32')
    picture[..., 1].T[...] = Mtl.arange(0, 1, 1 / HEIGHT, 'float32')
    return picture


def main(*out):
    torch = find_torch()

    # PyTorch's tensor comes in as it is, even if the GPU still writes to it: the library's stream
    # waits for PyTorch's.
    picture = Mtl.from_dlpack(make_picture_of_torch(torch)) if torch else make_picture()
    crop = picture[120:360, 160:480]

    # By the GPU, into memory that the host reaches: GTK's texture is over that memory.
    pixels = Mtl.StridedView.new_uninitialized(picture.device, 'uint8', crop.shape, 'shared')
    pixels.copy_scaled_from(crop, 255)
    texture = MtlGtk.texture_from_view(pixels)

    print(f'{texture.get_width()} x {texture.get_height()} pixels')
    if out:
        texture.save_to_png(out[0])


if __name__ == '__main__':
    main(*sys.argv[1:])

#!/usr/bin/env -S gjs -m
/* SPDX-License-Identifier: LGPL-2.1-or-later */

// cuda.js [OUT.png]
//
// Crops a picture in the memory of an NVIDIA GPU, converts it to bytes there, and makes a texture of
// GTK from it.

import Mtl from 'gi://Mtl?version=1';
import MtlGtk from 'gi://MtlGtk?version=1';

const [HEIGHT, WIDTH] = [480, 640];

// Red grows to the right and green downwards, from 0 to 1.
function makePicture(gpu) {
    const picture = Mtl.zeros([HEIGHT, WIDTH, 3], 'float32', gpu);

    picture.slice('..., 0').copy_from(Mtl.arange(0, 1, 1 / WIDTH, 'float32'));
    picture.slice('..., 1').transpose().copy_from(Mtl.arange(0, 1, 1 / HEIGHT, 'float32'));
    return picture;
}

const gpu = Mtl.Device.get(Mtl.DeviceType.CUDA);
const crop = makePicture(gpu).slice('120:360, 160:480');

// By the GPU, into memory that the host reaches: GTK's texture is over that memory.
const pixels = Mtl.StridedView.new_uninitialized(gpu, 'uint8', crop.shape, Mtl.StorageMode.SHARED);
pixels.copy_scaled_from(crop, 255);
const texture = MtlGtk.texture_from_view(pixels);

print(`${texture.get_width()} x ${texture.get_height()} pixels`);
if (ARGV.length > 0)
    texture.save_to_png(ARGV[0]);

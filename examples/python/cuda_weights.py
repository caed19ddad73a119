#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cuda_weights.py FILE.safetensors: brings the tensors of a file to an NVIDIA GPU."""

import sys

import gi

gi.require_version('Mtl', '1')
from gi.repository import Mtl


def main(path):
    gpu = Mtl.Device.get(Mtl.DeviceType.CUDA, 0)

    # The driver reads the pages of the mapped file, and nothing is copied on the host. The copies
    # are queued: the file can be closed, and its pages stay until the GPU has read them.
    with Mtl.load(path, device=gpu) as file:
        weights = {name: file[name].to_device(gpu, 'private') for name in file}
    gpu.synchronize()

    for name, view in weights.items():
        print(f'{name}: {view.dtype} {list(view.shape)}, {view.nbytes} bytes')


if __name__ == '__main__':
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shares Metal memory between PyTorch (MPS), MLX and this library.

Needs a Mac with at least PyTorch 2.10 and MLX 0.32. Fails with a message if one
of them is missing, or if one does not see what another one wrote.
"""

import importlib
import sys

import gi

gi.require_version('Mtl', '1')
from gi.repository import Mtl


def find_device():
    try:
        return Mtl.Device.get(Mtl.DeviceType.METAL, 0)
    except NotImplementedError as error:
        sys.exit(f'No Metal: {error}')


def load_peer(name, title):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        sys.exit(f'{title} is not installed: {error}')


def load_peers():
    torch = load_peer('torch', 'PyTorch')
    mx = load_peer('mlx.core', 'MLX')

    if not torch.backends.mps.is_available():
        sys.exit('PyTorch has no MPS here')
    if not mx.metal.is_available():
        sys.exit('MLX has no Metal here')

    return torch, mx


def check(what, seen, expected):
    print(f'{what}: {seen}')
    if seen != expected:
        sys.exit(f'it should be {expected}')


def main():
    device = find_device()
    torch, mx = load_peers()

    # Shared memory: the host and the GPU both use it.
    view = Mtl.StridedView.new_zeros(device, Mtl.DType.FLOAT32, [4])
    tensor = torch.from_dlpack(view)
    array = mx.from_dlpack(view, copy=False)

    # This library has written to the memory when the call returns.
    view.fill_double(1)
    check('written here, read by PyTorch', tensor.tolist(), [1, 1, 1, 1])
    check('written here, read by MLX', (array + 0).tolist(), [1, 1, 1, 1])

    # PyTorch has not written to the memory before synchronize() returns.
    tensor.add_(1)
    torch.mps.synchronize()
    check('written by PyTorch, read here', view.tolist(), [2, 2, 2, 2])
    check('written by PyTorch, read by MLX', (array + 0).tolist(), [2, 2, 2, 2])

    # MLX reuses the memory of an array that nobody else holds. `array` is held
    # here, so results are in new memory, which the other two can share once it
    # is evaluated.
    doubled = array * 2
    mx.eval(doubled)
    result = Mtl.from_dlpack(doubled, copy=False)
    result_tensor = torch.from_dlpack(result)
    check('written by MLX, read here', result.tolist(), [4, 4, 4, 4])
    check('written by MLX, read by PyTorch', result_tensor.tolist(), [4, 4, 4, 4])
    check('not written by MLX, read here', view.tolist(), [2, 2, 2, 2])

    # Nobody holds this array. A read-only view is exported as a copy, which MLX
    # may write to.
    mx.eval(mx.from_dlpack(view.as_read_only()) * 3)
    check('lent read-only, read here', view.tolist(), [2, 2, 2, 2])

    result_tensor.add_(1)
    torch.mps.synchronize()
    check("written by PyTorch to MLX's memory, read here", result.tolist(), [5, 5, 5, 5])
    check("written by PyTorch to MLX's memory, read by MLX", (doubled + 0).tolist(), [5, 5, 5, 5])


if __name__ == '__main__':
    main()

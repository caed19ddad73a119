# SPDX-License-Identifier: LGPL-2.1-or-later
"""Looks for a GPU of NVIDIA, without the library."""

import ctypes
import os

DRIVER = 'libcuda.so.1'


class Missing(Exception):
    """Why there is no GPU."""


def find_gpu():
    """Returns the name of the first GPU, and the version of CUDA that the driver has. To be called
    where nobody forks later."""
    path = os.environ.get('MTL_CUDA_LIBRARY') or DRIVER
    try:
        driver = ctypes.CDLL(path)
    except OSError:
        raise Missing(f'{path} cannot be loaded') from None
    code = driver.cuInit(0)
    if code != 0:
        raise Missing(f'cuInit() returned {code}')
    count, version = ctypes.c_int(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    for code in (driver.cuDeviceGetCount(ctypes.byref(count)),
                 driver.cuDriverGetVersion(ctypes.byref(version)),
                 driver.cuDeviceGetName(name, 256, 0)):
        if code != 0:
            raise Missing(f'the driver has {count.value} devices, and returned {code}')
    return name.value.decode(), f'{version.value // 1000}.{version.value % 1000 // 10}'

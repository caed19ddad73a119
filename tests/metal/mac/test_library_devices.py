#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the devices of Metal as the library has them, and copies a tensor to each and back, in
each storage mode. Fails if there is none, or if a copy is wrong."""

import sys

import gi

gi.require_version('Mtl', '1')
from gi.repository import Mtl


def try_copy(device, mode):
    """Returns what becomes of a tensor that goes to the device and back."""
    host = Mtl.array([[1, 2, 3], [4, 5, 6]], 'float32')
    there = host.to_device(device, mode)
    back = there.T.copy().to_device(Mtl.Device.get_host(), Mtl.StorageMode.HOST)
    return 'right' if back.tolist() == host.T.tolist() else f'wrong: {back.tolist()}'


def print_device(device):
    print(f'{device.get_name()}: ({int(device.get_device_type())}, {device.get_ordinal()})')
    print(f'  unified memory: {"yes" if device.has_unified_memory() else "no"}')
    print(f'  longest buffer: {device.get_max_buffer_size()} bytes')
    print(f'  pages: {device.get_page_size()} bytes')
    is_fine = True
    for mode in (Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED, Mtl.StorageMode.PRIVATE):
        if device.supports_storage_mode(mode):
            outcome = try_copy(device, mode)
            is_fine &= outcome == 'right'
            print(f'  a copy in {mode.value_nick} memory: {outcome}')
    return is_fine


def main():
    devices = [device for device in Mtl.Device.list()
               if device.get_device_type() == Mtl.DeviceType.METAL]
    if not devices:
        print('The library has no Metal device')
        return 1
    return not all([print_device(device) for device in devices])


if __name__ == '__main__':
    sys.exit(main())

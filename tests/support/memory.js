/* SPDX-License-Identifier: LGPL-2.1-or-later */

// The memory of the tests' tensors: what the default device has by default.
// MTL_TEST_STORAGE_MODE, private say, puts them into memory of that mode, and runs the tests that
// hold in memory of every mode. Those run alone, too, where the host does not reach the default.

import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

const modeName = GLib.getenv('MTL_TEST_STORAGE_MODE');

export const host = Mtl.Device.get_host();
export const defaultDevice = Mtl.Device.get_default();
export const defaultMode = new Map([
    [Mtl.DeviceType.CPU, Mtl.StorageMode.HOST],
    [Mtl.DeviceType.CUDA, Mtl.StorageMode.PRIVATE],
    [Mtl.DeviceType.METAL, Mtl.StorageMode.SHARED],
]).get(defaultDevice.get_device_type());
export const storageMode = modeName
    ? Mtl.StorageMode[modeName.toUpperCase()]
    : defaultMode;
export const runsAll = storageMode === defaultMode && storageMode !== Mtl.StorageMode.PRIVATE;

export function newBuffer(size) {
    return Mtl.Buffer.new(null, size, storageMode);
}

// A copy of a view of the host's memory, where the tests' tensors lie; on the
// host the view itself.
export function place(view) {
    return view.to_device(defaultDevice, storageMode);
}

// The elements where the host reaches them.
export function fetch(view) {
    return view.is_host_accessible()
        ? view
        : view.to_device(host, Mtl.StorageMode.HOST);
}

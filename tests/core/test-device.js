/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, recordCalls, run, test, testAllReached, throws, throwsGio, throwsMtl}
    from '../support/tap.js';

Gio._promisify(Mtl.Device.prototype, 'synchronize_async');

recordCalls('Device');
recordCalls('DType');
recordCalls('Error');

test('the host is listed, and there from the start', () => {
    const host = Mtl.Device.get_host();

    ok(Mtl.Device.list().includes(host));
    ok(Mtl.Device.get(Mtl.DeviceType.CPU, 0) === host);
    ok(Mtl.Device.get_by_name('host') === host);
    ok(Mtl.Device.list().includes(Mtl.Device.get_default()));
});

test('the host describes itself', () => {
    const host = Mtl.Device.get_host();

    equal(host.get_device_type(), Mtl.DeviceType.CPU);
    equal(host.get_ordinal(), 0);
    ok(host.get_name().length > 0);
    equal([host.is_host_accessible(), host.has_unified_memory()], [true, true]);
    ok(host.get_max_buffer_size() >= 2 ** 31);
    ok(host.get_page_size() >= 1);
    ok(host.get_memory_size() > 2 ** 28);
    equal(host.get_uuid(), null);
    equal(host.supports_storage_mode(Mtl.StorageMode.HOST), true);
    equal(host.supports_storage_mode('default'), true);
    equal(host.supports_storage_mode(Mtl.StorageMode.FOREIGN), false);
});

test('there are no other kinds of devices', () => {
    throws(Error, 'abstract', () => new Mtl.Device());
    throws(TypeError, 'derived', () => GObject.registerClass(class Other extends Mtl.Device {}));
});

test('properties say the same as functions', () => {
    const host = Mtl.Device.get_host();

    equal(host.device_type, host.get_device_type());
    equal(host.ordinal, host.get_ordinal());
    equal(host.name, host.get_name());
    equal(host.host_accessible, host.is_host_accessible());
    equal(host.page_size, host.get_page_size());
    equal(host.memory_size, host.get_memory_size());
    equal(host.uuid, host.get_uuid());
    equal(host.unified_memory, host.has_unified_memory());
});

test('a device that is not there is an error', () => {
    throwsMtl('NOT_SUPPORTED', 7, () => Mtl.Device.get(Mtl.DeviceType.CPU, 7));
    throwsMtl('INVALID_ARGUMENT', '(0, 1)', () => Mtl.Device.get('unknown', 1));
    throwsMtl('NOT_SUPPORTED', 7, () => Mtl.Device.get_by_name('cpu:7'));
    throwsMtl('INVALID_ARGUMENT', 'gpu', () => Mtl.Device.get_by_name('gpu'));
});

test('devices are waited for, unless that is cancelled', async () => {
    const cancellable = new Gio.Cancellable();

    cancellable.cancel();
    for (const device of Mtl.Device.list()) {
        equal([device.synchronize(), device.synchronize(null)], [true, true]);
        equal(await device.synchronize_async(null), true);
        await throwsGio('CANCELLED', () => device.synchronize(cancellable));
        await throwsGio('CANCELLED', () => device.synchronize_async(cancellable));
    }
});

test('element types have the names that NumPy and ml_dtypes use', () => {
    for (const name of ['bool', 'uint8', 'int64', 'float32', 'bfloat16', 'complex128',
        'float8_e4m3fn']) {
        const dtype = Mtl.DType.from_string(name);
        equal(dtype, Mtl.DType[name.toUpperCase()]);
        equal(Mtl.DType.to_string(dtype), name);
    }
    throwsMtl('INVALID_ARGUMENT', 'float33', () => Mtl.DType.from_string('float33'));
});

test('element types know their kinds', () => {
    const kinds = {BOOL: 'BOOL', INT4: 'INT', UINT64: 'UINT', BFLOAT16: 'FLOAT',
        FLOAT8_E4M3FN: 'FLOAT', COMPLEX64: 'COMPLEX', OTHER: 'OTHER'};

    for (const [name, kind] of Object.entries(kinds))
        equal([name, Mtl.DType.get_kind(Mtl.DType[name])], [name, Mtl.DTypeKind[kind]]);
});

test('element types know their bits', () => {
    equal(Mtl.DType.get_bits(Mtl.DType.FLOAT32), 32);
    equal(Mtl.DType.get_bits(Mtl.DType.COMPLEX64), 64);
    equal(Mtl.DType.get_bits(Mtl.DType.FLOAT4_E2M1FN), 4);
    equal(Mtl.DType.get_bits(Mtl.DType.UINT2), 2);
    equal(Mtl.DType.get_bits(Mtl.DType.OTHER), 0);
});

test('an element type is its code and its bits in DLPack', () => {
    equal(Mtl.DType.FLOAT32, (2 << 8) | 32);
    equal(Mtl.DType.BOOL, (6 << 8) | 8);
});

test('the error domain and the version are there', () => {
    ok(Mtl.Error.quark() !== 0);
    equal(Mtl.MAJOR_VERSION, 1);
    ok(Mtl.MINOR_VERSION >= 0 && Mtl.MICRO_VERSION >= 0);
});

testAllReached('Device');
testAllReached('DType');
testAllReached('Error');
await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {defaultDevice, host, newBuffer, storageMode} from '../support/memory.js';
import {
    equal, ok, recordCalls, rejectsMtl, run, test, testAllReached, testAnyMemory, throwsGio,
    throwsMtl,
} from '../support/tap.js';

const {HOST, PRIVATE} = Mtl.StorageMode;

recordCalls('Buffer');

function bytesOf(...values) {
    return new GLib.Bytes(new Uint8Array(values));
}

function contentsOf(buffer) {
    return [...buffer.dup_bytes(0, buffer.get_size()).toArray()];
}

// Returns the address of a buffer's first byte.
function addressOf(buffer) {
    const layout = Mtl.StridedLayout.new_dense([1], Mtl.Order.C, 8);
    return Mtl.StridedView.new(buffer, layout, Mtl.DType.UINT8, 0).get_address();
}

testAnyMemory('a new buffer is zeroed', () => {
    equal(contentsOf(newBuffer(5)), [0, 0, 0, 0, 0]);
});

test('a new buffer is aligned', () => {
    equal(addressOf(newBuffer(5)) % 64, 0);
});

testAnyMemory('a buffer says where it is', () => {
    const buffer = newBuffer(12);

    ok(buffer.get_device() === defaultDevice);
    equal([buffer.get_size(), buffer.get_storage_mode()], [12, storageMode]);
    equal(buffer.is_host_accessible(), storageMode !== PRIVATE);
    equal(buffer.is_device_accessible(), storageMode !== HOST);
});

test('a buffer of the host describes itself', () => {
    const buffer = Mtl.Buffer.new(host, 12, HOST);

    ok(buffer.get_device() === host);
    equal(buffer.get_size(), 12);
    equal(buffer.is_size_known(), true);
    equal(buffer.get_storage_mode(), HOST);
    equal(buffer.is_host_accessible(), true);
    equal(buffer.is_device_accessible(), false);
    equal(buffer.is_read_only(), false);
    equal(buffer.get_byte_offset(), 0);
    equal([buffer.size, buffer.size_known, buffer.read_only, buffer.storage_mode],
        [12, true, false, HOST]);
});

testAnyMemory('memory that cannot be had is an error', () => {
    throwsMtl('NO_MEMORY', '4611686018427387904', () => newBuffer(2 ** 62));
    throwsMtl('NOT_SUPPORTED', [], () => Mtl.Buffer.new(host, 1, PRIVATE));
});

testAnyMemory('an uninitialized buffer takes what is written to it', () => {
    const buffer = Mtl.Buffer.new_uninitialized(null, 4, storageMode);

    equal(buffer.set_bytes(0, bytesOf(1, 2, 3, 4)), true);
    equal(buffer.set_bytes(2, bytesOf(9)), true);
    equal(contentsOf(buffer), [1, 2, 9, 4]);
    throwsMtl('OUT_OF_BOUNDS', 4, () => buffer.set_bytes(3, bytesOf(1, 2)));
    equal(contentsOf(buffer), [1, 2, 9, 4]);
});

testAnyMemory('an empty buffer is one too', () => {
    const buffer = newBuffer(0);

    equal(buffer.get_size(), 0);
    equal(contentsOf(buffer), []);
});

test('a buffer of bytes reads them in place, and refuses writes', () => {
    const bytes = bytesOf(1, 2, 3, 4);
    const buffer = Mtl.Buffer.new_from_bytes(bytes, null);
    const again = Mtl.Buffer.new_from_bytes(bytes, null);

    equal(contentsOf(buffer), [1, 2, 3, 4]);
    equal(addressOf(buffer), addressOf(again));
    equal(buffer.is_read_only(), true);
    throwsMtl('READ_ONLY', [], () => buffer.set_bytes(0, bytesOf(0)));
    throwsMtl('READ_ONLY', [], () => buffer.fill(0, 4, bytesOf(0)));
    equal(contentsOf(buffer), [1, 2, 3, 4]);
});

test('a copy of bytes can be forbidden', () => {
    const bytes = bytesOf(1, 2, 3, 4);
    const {NONE, NEVER_COPY} = Mtl.BufferFlags;
    const inPlace = Mtl.Buffer.new_from_bytes(bytes, null, NEVER_COPY);

    equal(addressOf(inPlace), addressOf(Mtl.Buffer.new_from_bytes(bytes, null)));
    equal(inPlace.is_read_only(), true);
    const there = Mtl.Buffer.new_from_bytes(bytes, defaultDevice, NONE);
    equal(contentsOf(there), [1, 2, 3, 4]);
    ok(there.get_device() === defaultDevice);
});

testAnyMemory('a slice shares the memory', () => {
    const buffer = newBuffer(8);
    const slice = buffer.slice(2, 4);

    slice.set_bytes(0, bytesOf(7, 8));
    equal(contentsOf(buffer), [0, 0, 7, 8, 0, 0, 0, 0]);
    equal(slice.get_byte_offset(), 2);
    equal(slice.get_size(), 4);
    if (buffer.is_host_accessible())
        equal(addressOf(slice), addressOf(buffer) + 2);
    throwsMtl('OUT_OF_BOUNDS', 8, () => buffer.slice(6, 3));
});

testAnyMemory('buffers are equal that describe the same memory', () => {
    const buffer = newBuffer(8);

    equal(buffer.equal(buffer.slice(0, 8)), true);
    equal(buffer.hash(), buffer.slice(0, 8).hash());
    equal(buffer.equal(buffer.slice(0, 7)), false);
    equal(buffer.equal(newBuffer(8)), false);
});

test('bytes without a copy show later writes, copied ones do not', () => {
    const buffer = newBuffer(4);
    const shared = buffer.get_bytes(1, 2);
    const copied = buffer.dup_bytes(1, 2);

    buffer.set_bytes(1, bytesOf(5, 6));
    equal([...shared.toArray()], [5, 6]);
    equal([...copied.toArray()], [0, 0]);
    throwsMtl('OUT_OF_BOUNDS', [], () => buffer.get_bytes(3, 2));
    throwsMtl('OUT_OF_BOUNDS', [], () => buffer.dup_bytes(5, 0));
});

testAnyMemory('copies go between buffers and within one', () => {
    const source = Mtl.Buffer.new_from_bytes(bytesOf(1, 2, 3, 4), null);
    const buffer = newBuffer(6);

    equal(buffer.copy_from(1, source, 0, 4), true);
    equal(contentsOf(buffer), [0, 1, 2, 3, 4, 0]);
    buffer.copy_from(2, buffer, 1, 4, null);
    equal(contentsOf(buffer), [0, 1, 1, 2, 3, 4]);
    const other = newBuffer(3);
    other.copy_from(0, buffer, 3, 3);
    equal(contentsOf(other), [2, 3, 4]);
    throwsMtl('OUT_OF_BOUNDS', [], () => buffer.copy_from(3, source, 0, 4));
    throwsMtl('READ_ONLY', [], () => source.copy_from(0, buffer, 0, 1));
});

testAnyMemory('a copy of a buffer has its own memory', () => {
    const buffer = newBuffer(4);

    buffer.set_bytes(0, bytesOf(1, 2, 3, 4));
    const copy = buffer.copy();
    const part = buffer.slice(1, 2).copy(null);
    buffer.fill(0, 4, bytesOf(9));
    equal([copy, part].map(contentsOf), [[1, 2, 3, 4], [2, 3]]);
    ok(copy.device === buffer.device);
    equal([copy.storage_mode, copy.read_only, copy.equal(buffer)], [storageMode, false, false]);
    equal(contentsOf(newBuffer(0).copy()), []);
});

test('a copy of a read-only buffer is writable', () => {
    const buffer = Mtl.Buffer.new_from_bytes(bytesOf(1, 2), null);
    const copy = buffer.copy();

    copy.set_bytes(0, bytesOf(9));
    equal([contentsOf(copy), contentsOf(buffer)], [[9, 2], [1, 2]]);
});

testAnyMemory('a cancelled copy changes nothing', async () => {
    const buffer = newBuffer(2);
    const source = Mtl.Buffer.new_from_bytes(bytesOf(1, 2), null);
    const cancellable = new Gio.Cancellable();

    cancellable.cancel();
    await throwsGio('CANCELLED', () => buffer.copy_from(0, source, 0, 2, cancellable));
    equal(contentsOf(buffer), [0, 0]);
    await throwsGio('CANCELLED', () => buffer.copy(cancellable));
    await throwsGio('CANCELLED', () => buffer.synchronize(cancellable));
});

test('a range of a file is a buffer, which outlives the file', async () => {
    const [file, stream] = Gio.File.new_tmp(null);
    stream.close(null);
    file.replace_contents(new Uint8Array([1, 2, 3, 4, 5]), null, false, Gio.FileCreateFlags.NONE,
        null);
    const buffer = Mtl.Buffer.new_mapped(file, null, 1, 3);
    const cancellable = new Gio.Cancellable();

    cancellable.cancel();
    await throwsGio('CANCELLED', () => Mtl.Buffer.new_mapped(file, null, 1, 3, cancellable));
    throwsMtl('OUT_OF_BOUNDS', [5, 1],
        () => Mtl.Buffer.new_mapped(file, null, 1, 5));
    const [mapped, offset, info] = buffer.slice(1, 2).dup_mapped_file();
    ok(mapped.equal(file));
    equal([offset, info.get_size()], [2, 5]);
    equal(buffer.copy(null).dup_mapped_file(), [null, 0, null]);
    file.delete(null);
    equal(contentsOf(buffer), [2, 3, 4]);
    throwsMtl('READ_ONLY', [], () => buffer.set_bytes(0, bytesOf(9)));
});

testAnyMemory('a pattern fills a part', () => {
    const buffer = newBuffer(7);

    equal(buffer.fill(1, 4, bytesOf(1, 2)), true);
    equal(contentsOf(buffer), [0, 1, 2, 1, 2, 0, 0]);
    throwsMtl('INVALID_ARGUMENT', 3, () => buffer.fill(0, 6, bytesOf(1, 2, 3)));
    throwsMtl('INVALID_ARGUMENT', 5, () => buffer.fill(0, 5, bytesOf(1, 2)));
    throwsMtl('OUT_OF_BOUNDS', [], () => buffer.fill(6, 2, bytesOf(1)));
});

testAnyMemory('what is in a buffer stays when it is synchronized', () => {
    const buffer = newBuffer(2);

    buffer.set_bytes(0, bytesOf(1, 2));
    equal([buffer.synchronize(), buffer.synchronize(null)], [true, true]);
    equal(buffer.did_modify(0, 2), true);
    throwsMtl('OUT_OF_BOUNDS', 2, () => buffer.did_modify(1, 2));
    equal(contentsOf(buffer), [1, 2]);
});

testAnyMemory('all that waits for the device or a file has a promise', async () => {
    const buffer = newBuffer(4);
    const [file] = Gio.File.new_tmp('mtldl-XXXXXX');
    const cancellable = new Gio.Cancellable();

    equal(await buffer.set_bytes_async(0, bytesOf(1, 2, 3)), true);
    equal(await buffer.fill_async(2, 2, bytesOf(9)), true);
    equal(await buffer.synchronize_async(), true);
    equal([...(await buffer.dup_bytes_async(1, 3)).toArray()], [2, 9, 9]);
    const copy = await buffer.copy_async();
    equal(await copy.copy_from_async(0, buffer, 1, 2), true);
    equal(contentsOf(copy), [2, 9, 9, 9]);
    file.replace_contents(new Uint8Array([1, 2, 3]), null, false, 0, null);
    equal(contentsOf(await Mtl.Buffer.new_mapped_async(file, null, 1, 2)), [2, 3]);
    await rejectsMtl('OUT_OF_BOUNDS', 3, Mtl.Buffer.new_mapped_async(file, null, 1, 3));
    file.delete(null);
    await rejectsMtl('OUT_OF_BOUNDS', 3, buffer.dup_bytes_async(2, 3));
    cancellable.cancel();
    await throwsGio('CANCELLED', () => buffer.copy_async(cancellable));
    equal(contentsOf(buffer), [1, 2, 9, 9]);
});

test('memory is for other processes', () => {
    const {INTERPROCESS} = Mtl.StorageMode;
    const {READ_ONLY, NEVER_COPY} = Mtl.BufferFlags;
    const plain = Mtl.Buffer.new(host, 4, HOST);

    equal([plain.is_interprocess(), plain.interprocess], [false, false]);
    throwsMtl('NOT_SUPPORTED', 'interprocess', () => plain.dup_fd());
    if (!host.supports_storage_mode(INTERPROCESS)) {
        throwsMtl('NOT_SUPPORTED', 'interprocess', () => Mtl.Buffer.new(null, 4, INTERPROCESS));
        return;
    }

    const buffer = Mtl.Buffer.new(null, 5000, INTERPROCESS);
    buffer.set_bytes(4998, bytesOf(1, 2));
    const [fd, offset] = buffer.slice(4997, 3).dup_fd();
    equal([buffer.get_storage_mode(), offset], [HOST, 4997]);
    const other = Mtl.Buffer.new_for_fd(fd, offset, 3, READ_ONLY | NEVER_COPY);
    equal(contentsOf(other), [0, 1, 2]);
    buffer.set_bytes(4997, bytesOf(9));
    equal(contentsOf(other), [9, 1, 2]);
    throwsMtl('READ_ONLY', '3', () => other.set_bytes(0, bytesOf(1)));
    throwsMtl('OUT_OF_BOUNDS', '100000',
        () => Mtl.Buffer.new_for_fd(fd, 100000, 3, READ_ONLY | NEVER_COPY));
    new Gio.UnixInputStream({fd, close_fd: true}).close(null);
});

test('properties for the construction', () => {
    const buffer = new Mtl.Buffer({size: 64, device: host});

    equal(contentsOf(buffer), new Array(64).fill(0));
    equal(new Mtl.Buffer({device: host, size: 3, storage_mode: HOST}).get_size(), 3);
    throwsMtl('NO_MEMORY', '4611686018427387904', () => new Mtl.Buffer({device: host, size: 2 ** 62}));
    throwsMtl('NOT_SUPPORTED', 'private',
        () => new Mtl.Buffer({device: host, size: 1, storage_mode: PRIVATE}));
});

testAllReached('Buffer');
await run();

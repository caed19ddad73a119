/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Programs that drop tensors without closing them hold little memory.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {equal, ok, run, test} from '../../support/tap.js';
import {functionsOf} from '../../support/typelib.js';

const MIB = 1024 * 1024;
const FRAME = [3000, 3000];                      // 36 MB of float32
const FRAME_SIZE = 36e6;
// The limit of memory that is alive beside the tensors that are held.
const LIMIT = 350e6;

const {system} = imports;
const host = Mtl.Device.get_host();

// The peak of the memory of this process in RAM since it was last reset, or
// undefined on systems that do not tell.
function readPeak() {
    try {
        const [, text] = GLib.file_get_contents('/proc/self/status');
        return Number(/^VmHWM:\s+(\d+) kB$/m.exec(new TextDecoder().decode(text))[1]) * 1024;
    } catch {
        return undefined;
    }
}

function resetPeak() {
    try {
        const stream = Gio.File.new_for_path('/proc/self/clear_refs').append_to(0, null);
        stream.write_all(new TextEncoder().encode('5'), null);
        stream.close(null);
    } catch {
        // The peak is then that of the whole program.
    }
}

// Calls a function that makes and drops a frame. Returns the most that was
// allocated after a call, beyond what was before.
async function dropFrames(nFrames, makeFrame) {
    let most = 0;

    system.gc();
    const before = Mtl.get_allocated_size();

    for (let i = 0; i < nFrames; i++) {
        // eslint-disable-next-line no-await-in-loop
        await makeFrame(i);
        most = Math.max(most, Mtl.get_allocated_size() - before);
    }
    return most;
}

function countCollections(callback) {
    const collect = system.gc;
    let n = 0;

    system.gc = () => {
        n++;
        collect();
    };
    try {
        callback();
    } finally {
        system.gc = collect;
    }
    return n;
}

const kept = Mtl.full(FRAME, 1, 'float32', host);
const typed = new Float32Array(FRAME[0] * FRAME[1]);
const folder = GLib.Dir.make_tmp('mtldl-XXXXXX');
const path = GLib.build_filenamev([folder, 'frame.safetensors']);
const builder = new Mtl.TensorFileBuilder();
builder.add('frame', kept);
builder.write(path);
const tensors = Mtl.TensorFile.open(path, host, Mtl.TensorFileMode.READ);

test('600 frames, one after another', async () => {
    const most = await dropFrames(600, () => Mtl.empty(FRAME, 'float32'));
    ok(most < LIMIT, `${most / 1e6} MB`);
});

test('frames that are written to', async () => {
    resetPeak();
    await dropFrames(20, i => {
        const frame = Mtl.StridedView.new_uninitialized(host, 'float32', FRAME);
        frame.fill(i);
        frame.note = 'with an attribute';
    });
    const peak = readPeak();
    ok(peak === undefined || peak < 500e6, `${peak / 1e6} MB`);
});

// All ways to make a frame.
const MAKERS = {
    'Mtl.zeros': () => Mtl.zeros(FRAME, 'float32'),
    'Mtl.full': () => Mtl.full(FRAME, 3, 'float32'),
    'Mtl.arange': () => Mtl.arange(FRAME[0] * FRAME[1]),
    'Mtl.array': () => Mtl.array(typed),
    'StridedView.from': () => Mtl.StridedView.from(typed),
    'StridedView.new_filled': () => Mtl.StridedView.new_filled(host, 'float32', FRAME, 3),
    'StridedView.new_zeros_like': () => Mtl.StridedView.new_zeros_like(kept),
    'StridedView.new_zeros': () => Mtl.StridedView.new_zeros(host, 'float32', FRAME),
    'Buffer.new': () => Mtl.Buffer.new(host, FRAME_SIZE, Mtl.StorageMode.HOST),
    'Buffer.new_uninitialized': () =>
        Mtl.Buffer.new_uninitialized(host, FRAME_SIZE, Mtl.StorageMode.HOST),
    'Buffer.copy': () => kept.get_buffer().copy(),
    'Buffer.dup_bytes': () => kept.get_buffer().dup_bytes(0, FRAME_SIZE),
    'copy': () => kept.copy(),
    'dup_bytes': () => kept.dup_bytes(),
    'to_contiguous': () => kept.T.to_contiguous(),
    'to_contiguous_async': () => kept.T.to_contiguous_async(),
    'to_dtype': () => kept.to_dtype('int32'),
    'to_dtype_async': () => kept.to_dtype_async('int32'),
    'toTypedArray': () => kept.toTypedArray(),
    'toTypedArray of a column': () => kept.T.toTypedArray(),
    'export_dlpack': () => kept.export_dlpack(Mtl.DlpackFlags.COPY),
    'TensorFile.get': () => tensors.get('frame'),
    'TensorFile.load_view': () => tensors.load_view('frame'),
    'TensorFile.load_view_async': () => tensors.load_view_async('frame'),
    'TensorFile.load_views': () => tensors.load_views(),
    'TensorFile.load_views_async': () => tensors.load_views_async(),
    'TensorFile.values': () => [...tensors.values()],
    'TensorFileEntry.load_view': () => tensors.lookup_entry('frame').load_view(),
    'a frame in a circle': () => {
        const frame = kept.copy();
        frame.self = {frame};
    },
};

for (const [name, makeFrame] of Object.entries(MAKERS)) {
    test(`frames of ${name}`, async () => {
        const most = await dropFrames(10, makeFrame);
        ok(most < LIMIT, `${most / 1e6} MB`);
    });
}

// Functions that share memory which tensors have already.
const SHARING = `
    Buffer.new_mapped Buffer.new_mapped_finish Buffer.get_bytes Buffer.slice Buffer.new_for_fd
    StridedView.new StridedView.new_from_variant_fds StridedView.new_from_dlpack StridedView.new_from_metal_tensor
    StridedView.as_read_only StridedView.broadcast_to
    StridedView.flatten StridedView.flip StridedView.get_buffer
    StridedView.narrow StridedView.permute StridedView.get_bytes StridedView.reinterpret
    StridedView.reshape StridedView.select StridedView.select_imaginary StridedView.select_real
    StridedView.slice
    StridedView.squeeze StridedView.squeeze_axes StridedView.swap_axes StridedView.transpose
    StridedView.unsqueeze
    TensorConnection.receive TensorConnection.receive_finish
    TensorProxy.fetch_view TensorProxy.fetch_view_finish`.trim().split(/\s+/);

// Functions that allocate, each with a call.
const {HOST} = Mtl.StorageMode;
const small = Mtl.StridedView.new_zeros(host, 'float32', [2]);
const socket = Gio.Socket.new(Gio.SocketFamily.UNIX, Gio.SocketType.STREAM,
    Gio.SocketProtocol.DEFAULT);
const connection = new Mtl.TensorConnection({socket});
const ALLOCATING = {
    'Buffer.new': () => Mtl.Buffer.new(host, 1, HOST),
    'Buffer.new_from_bytes': () => Mtl.Buffer.new_from_bytes(small.get_bytes(), host),
    'Buffer.new_uninitialized': () => Mtl.Buffer.new_uninitialized(host, 1, HOST),
    'Buffer.copy': () => small.get_buffer().copy(),
    'Buffer.copy_finish': () => small.get_buffer().copy_async(),
    'Buffer.dup_bytes': () => small.get_buffer().dup_bytes(0, 4),
    'Buffer.dup_bytes_finish': () => small.get_buffer().dup_bytes_async(0, 4),
    'StridedView.new_uninitialized': () => Mtl.StridedView.new_uninitialized(host, 'int8', [1]),
    'StridedView.new_from_bytes': () =>
        Mtl.StridedView.new_from_bytes(small.get_bytes(), 'int8', [8]),
    'StridedView.new_from_bytes_with_byte_strides': () =>
        Mtl.StridedView.new_from_bytes_with_byte_strides(small.get_bytes(), 'int8', [2], [4]),
    'StridedView.new_from_doubles': () => Mtl.StridedView.new_from_doubles([1], 'int8', [1]),
    'StridedView.new_from_variant': () =>
        Mtl.StridedView.new_from_variant(new GLib.Variant('ai', [1]), 'int8', [1]),
    'StridedView.new_arange': () => Mtl.StridedView.new_arange(host, 'int8', 0, 1),
    'StridedView.new_arange_int64': () => Mtl.StridedView.new_arange_int64(host, 'int8', 0, 1),
    'StridedView.new_filled': () => Mtl.StridedView.new_filled(host, 'int8', [1], 1),
    'StridedView.new_zeros_like': () => Mtl.StridedView.new_zeros_like(small),
    'StridedView.new_zeros': () => Mtl.StridedView.new_zeros(host, 'int8', [1]),
    'StridedView.reduce': () => small.reduce(Mtl.Reduction.MEAN),
    'StridedView.reduce_finish': () =>
        small.reduce_async(Mtl.Reduction.MEAN),
    'StridedView.copy': () => small.copy(),
    'StridedView.copy_finish': () => small.copy_async(),
    'StridedView.dup_bytes': () => small.dup_bytes(),
    'StridedView.dup_bytes_finish': () => small.dup_bytes_async(),
    'StridedView.export_dlpack': () => small.export_dlpack(),
    'StridedView.to_contiguous': () => small.to_contiguous(),
    'StridedView.to_contiguous_finish': () => small.to_contiguous_async(),
    'StridedView.to_device': () => small.to_device(host),
    'StridedView.to_device_finish': () => small.to_device_async(host, HOST),
    'StridedView.to_dtype': () => small.to_dtype('int8'),
    'StridedView.to_dtype_finish': () => small.to_dtype_async('int8'),
    'TensorConnection.allocate_view': () => connection.allocate_view('uint8', [1]),
    'TensorFile.load_view': () => tensors.load_view('frame'),
    'TensorFile.load_view_finish': () => tensors.load_view_async('frame'),
    'TensorFile.load_views': () => tensors.load_views('nothing'),
    'TensorFile.load_views_finish': () => tensors.load_views_async('nothing'),
    'TensorFileEntry.load_view': () => tensors.lookup_entry('frame').load_view(),
    'TensorFileEntry.load_view_finish': () => tensors.lookup_entry('frame').load_view_async(),
};

test('every function that returns memory is known', () => {
    const found = [];
    for (const className of ['Buffer', 'Device', 'DlpackTensor', 'Event', 'StridedLayout',
        'StridedView', 'TensorConnection', 'TensorFile', 'TensorFileBuilder', 'TensorFileEntry',
        'TensorProxy']) {
        for (const {name, returned} of functionsOf(className)) {
            if (/^(Buffer|Bytes|DlpackTensor|StridedView)(\[\])?$/.test(returned))
                found.push(`${className}.${name}`);
        }
    }
    equal(found.sort(), [...SHARING, ...Object.keys(ALLOCATING)].sort());
});

test('every function that allocates collects if it is time', async () => {
    for (const [name, call] of Object.entries(ALLOCATING)) {
        Mtl.StridedView.new_uninitialized(host, 'uint8', [250e6]);
        let result;
        const n = countCollections(() => {
            result = call();
        });
        equal([name, n], [name, 1]);
        // eslint-disable-next-line no-await-in-loop
        await result;
    }
});

test('frames of bytes', async () => {
    const bytes = new Uint8Array(typed.buffer);
    const makers = [
        () => Mtl.StridedView.new_from_bytes(bytes, 'float32', FRAME),
        () => Mtl.StridedView.new_from_bytes(new GLib.Bytes(bytes), 'float32', FRAME),
        () => Mtl.Buffer.new_from_bytes(new GLib.Bytes(bytes), host),
        () => Mtl.Buffer.new_from_bytes(bytes, host, Mtl.BufferFlags.READ_ONLY),
    ];

    for (const makeFrame of makers) {
        resetPeak();
        // eslint-disable-next-line no-await-in-loop
        await dropFrames(16, makeFrame);
        const peak = readPeak();
        ok(peak === undefined || peak < 600e6, `${makeFrame}: ${peak / 1e6} MB`);
    }
});

test('nothing is left of what was dropped', async () => {
    system.gc();
    const before = Mtl.get_allocated_size();

    for (const makeFrame of Object.values(MAKERS)) {
        // eslint-disable-next-line no-await-in-loop
        await makeFrame();
        // eslint-disable-next-line no-await-in-loop
        await null;
    }
    Mtl.zeros([1]);
    system.gc();
    const left = Mtl.get_allocated_size() - before;
    ok(left <= 0, `${left} bytes`);
});

test('what is held is not collected again and again', () => {
    const held = [];
    const size = 64 * MIB;

    // The system provides nothing of these 16 GiB, as nothing is written.
    const n = countCollections(() => {
        while (held.length < 256)
            held.push(Mtl.StridedView.new_uninitialized(host, 'uint8', [size]));
    });
    ok(n > 0 && n < 30, `${n} collections`);
    ok(held.every(view => view.size === size));
    held.length = 0;
});

test('after much was held, little is again', async () => {
    const most = await dropFrames(100, () => Mtl.empty(FRAME, 'float32'));
    ok(most < LIMIT, `${most / 1e6} MB`);
});

test('small tensors are not worth a collection', () => {
    equal(countCollections(() => {
        for (let i = 0; i < 10000; i++)
            Mtl.zeros([3, 3]);
    }), 0);
});

test('the same bytes count once', () => {
    const bytes = new GLib.Bytes(new Uint8Array(MIB));

    equal(countCollections(() => {
        for (let i = 0; i < 1000; i++)
            Mtl.StridedView.new_from_bytes(bytes, 'uint8', [MIB]);
    }), 0);
});

test('garbage makes room for what is needed', () => {
    const collect = system.gc;
    const {new_uninitialized: make} = Mtl.StridedView;
    let n = 0;

    system.gc = () => n++;
    try {
        make(host, 'uint8', [2 ** 62]);
        ok(false);
    } catch (error) {
        ok(error.matches(Mtl.Error, Mtl.Error.NO_MEMORY), `${error}`);
    } finally {
        system.gc = collect;
    }
    equal(n, 1);
});

test('bytes of what is alive do not cost collection after collection', () => {
    const collect = system.gc;
    const whole = Mtl.StridedView.new_uninitialized(host, 'uint8', [256 * MIB]);
    const start = GLib.get_monotonic_time();
    let inCollections = 0;

    // A collection in a program of a few hundred thousand objects takes about as long.
    system.gc = () => {
        GLib.usleep(20000);
        inCollections += 20000;
    };
    try {
        // For each view, gjs makes an object of the same bytes.
        while (GLib.get_monotonic_time() - start < 500000)
            Mtl.StridedView.new_from_bytes(whole.get_bytes(), 'uint8', [256 * MIB]);
    } finally {
        system.gc = collect;
    }
    const share = inCollections / (GLib.get_monotonic_time() - start);
    ok(share > 0 && share < 0.5, `${share}`);
});

// The garbage collector does not see the descriptors.
if (host.supports_storage_mode(Mtl.StorageMode.INTERPROCESS)) {
    const shared = Mtl.zeros([2, 50], {dtype: 'uint8', shared: true});
    const fds = new Gio.UnixFDList();
    const variant = shared.to_variant(fds);
    const READ_ONLY = Mtl.BufferFlags.READ_ONLY | Mtl.BufferFlags.NEVER_COPY;
    const MAPPING = {
        'StridedView.new_from_variant_fds': () =>
            Mtl.StridedView.new_from_variant_fds(variant, fds),
        'Buffer.new_for_fd': () => Mtl.Buffer.new_for_fd(fds.peek_fds()[0], 0, 100, READ_ONLY),
    };

    for (const [name, map] of Object.entries(MAPPING)) {
        test(`descriptors of ${name}`, () => {
            const folder = Gio.File.new_for_path('/proc/self/fd');
            let most = 0;

            for (let i = 0; i < 2000; i++) {
                map();
                if (i % 100 === 0) {
                    const names = folder.enumerate_children('standard::name', 0, null);

                    most = Math.max(most, [...names].length);
                    names.close(null);
                }
            }
            ok(most < 500, `${most} descriptors are open`);
        });
    }
}

await run();

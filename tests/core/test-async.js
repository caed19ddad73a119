/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Asynchronous calls: promises, progress, cancelling; threads.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Mtl from 'gi://Mtl?version=1';

import {fetch, host, place} from '../support/memory.js';
import {
    equal, isInBackground, ok, recordCalls, rejectsMtl, run, test, testAllReached, testAnyMemory,
    throwsGio,
} from '../support/tap.js';

const {FLOAT32, FLOAT64} = Mtl.DType;
const N_ROWS = 1500;
const N_COLUMNS = 1000;
const N_BYTES = N_ROWS * N_COLUMNS * 4;

recordCalls('StridedView');

function zeros(...shape) {
    return place(Mtl.StridedView.new_zeros(host, FLOAT32, shape));
}

// Numbers 0, 1, 2, … in rows that become columns.
function transposedNumbers() {
    const numbers = new Float32Array(N_ROWS * N_COLUMNS).map((_, i) => i);
    return place(Mtl.StridedView.from(numbers).reshape([N_ROWS, N_COLUMNS])).transpose();
}

function isTransposed(view) {
    return view.toTypedArray().every((value, i) =>
        value === i % N_ROWS * N_COLUMNS + Math.floor(i / N_ROWS));
}

// Records the progress that a callback is told.
function recordProgress() {
    const told = [];
    return [told, (done, total) => told.push([done, total])];
}

function checkProgress(told, total) {
    ok(told.length > 0, 'nobody told of progress');
    ok(told.every(([done], i) => i === 0 || done >= told[i - 1][0]), 'it went back');
    equal(told.at(-1), [total, total]);
}

testAnyMemory('the main loop turns while a promise of a copy waits', async () => {
    const view = zeros(N_COLUMNS, N_ROWS);
    const [told, progress] = recordProgress();
    let turned = false;

    GLib.idle_add(GLib.PRIORITY_HIGH, () => {
        turned = true;
        return GLib.SOURCE_REMOVE;
    });
    equal(await view.copy_from_async(transposedNumbers(), null, progress), true);
    ok(turned);
    ok(isTransposed(view));
    checkProgress(told, N_BYTES);
});

testAnyMemory('all that takes long has a promise', async () => {
    const source = transposedNumbers();
    const view = zeros(N_COLUMNS, N_ROWS);
    const [told, progress] = recordProgress();

    equal(await view.fill_double_async(7, null, progress), true);
    ok(view.toTypedArray().every(value => value === 7));
    checkProgress(told, N_BYTES);

    const dense = await source.to_contiguous_async(null, progress);
    equal([dense.is_contiguous(Mtl.Order.C), isTransposed(dense)], [true, true]);
    const wide = await source.to_dtype_async(FLOAT64, Mtl.Order.K, null, progress);
    equal([wide.dtype, isTransposed(wide)], [FLOAT64, true]);
    const moved = await source.to_device_async(host, Mtl.StorageMode.HOST, null, progress);
    ok(moved.get_device() === host && isTransposed(moved));
});

testAnyMemory('copies, bytes and comparisons have a promise', async () => {
    const source = transposedNumbers();
    const [told, progress] = recordProgress();

    const copy = await source.copy_async('f', null, progress);
    equal([copy.is_contiguous(Mtl.Order.F), isTransposed(copy)], [true, true]);
    checkProgress(told, N_BYTES);
    equal((await source.dup_bytes_async()).get_size(), N_BYTES);
    equal(await source.array_equal_async(copy), true);
    equal(await source.array_equal_async(zeros(N_COLUMNS, N_ROWS)), false);
    equal(await source.all_close_async(copy), true);
    equal(await source.all_close_async(zeros(2, 3)), false);
    const means = await source.reduce_async(Mtl.Reduction.MINIMUM, [1]);
    equal(means.get(3), 3);
});

testAnyMemory('who wants no progress leaves it out', async () => {
    const view = zeros(2, 3);

    equal(await view.fill_double_async(6), true);
    const seven = new GLib.Bytes(new Uint8Array([0, 0, 0xe0, 0x40]));
    equal(await view.fill_async(seven), true);
    equal(await zeros(2, 3).copy_from_async(view, new Gio.Cancellable()), true);
    equal((await view.transpose().to_contiguous_async()).toArray(), [[7, 7], [7, 7], [7, 7]]);
    equal((await view.to_dtype_async(FLOAT64)).dtype, FLOAT64);
    equal(fetch(await view.to_device_async(host, Mtl.StorageMode.HOST)).get(1, 2), 7);
});

testAnyMemory('a callback is called where there is one', async () => {
    const view = zeros(2, 3);
    const [told, progress] = recordProgress();
    const result = await new Promise(resolve => {
        const returned = view.fill_double_async(7, null, progress, (source, asyncResult) => {
            ok(source === view);
            resolve(asyncResult);
        });
        equal(returned, undefined);
    });

    equal(view.fill_double_finish(result), true);
    equal(fetch(view).get(0, 0), 7);
    checkProgress(told, 24);
});

test('what is cancelled rejects, and leaves what was there or was to be', async () => {
    const view = zeros(4000, 4000);
    const cancellable = new Gio.Cancellable();

    // It may end before this thread has its turn.
    await throwsGio('CANCELLED', async () => {
        for (let i = 0; i < 50; i++) {
            view.fill_double(0);
            await view.fill_double_async(7, cancellable, () => cancellable.cancel());
            cancellable.reset();
        }
    });
    ok(view.toTypedArray().every(value => value === 0 || value === 7));
});

testAnyMemory('what is cancelled before does not begin', async () => {
    const view = zeros(2, 3);
    const cancellable = new Gio.Cancellable();

    cancellable.cancel();
    await throwsGio('CANCELLED', () => view.fill_double_async(7, cancellable));
    await throwsGio('CANCELLED',
        () => view.copy_from_async(place(Mtl.StridedView.from([1, 2, 3])), cancellable));
    await throwsGio('CANCELLED', () => view.transpose().to_contiguous_async(cancellable));
    await throwsGio('CANCELLED', () => view.to_dtype_async(FLOAT64, Mtl.Order.K, cancellable));
    await throwsGio('CANCELLED', () => view.copy_async('c', cancellable));
    await throwsGio('CANCELLED', () => view.dup_bytes_async(cancellable));
    await throwsGio('CANCELLED', () => view.array_equal_async(view, 0, cancellable));
    await throwsGio('CANCELLED', () => view.reduce_async(0, null, cancellable));
    equal(view.toArray(), [[0, 0, 0], [0, 0, 0]]);
});

testAnyMemory('what cannot be done rejects', async () => {
    const view = zeros(2, 3);

    await rejectsMtl('INVALID_ARGUMENT', '(4, 5)', view.copy_from_async(zeros(4, 5)));
    await rejectsMtl('READ_ONLY', [], view.as_read_only().fill_double_async(1));
    await rejectsMtl('INVALID_ARGUMENT', [], view.to_dtype_async(Mtl.DType.OTHER));
    await rejectsMtl('NOT_SUPPORTED', [],
        view.to_device_async(host, Mtl.StorageMode.PRIVATE));
});

test('who has called Gio._promisify() may go on to', async () => {
    Gio._promisify(Mtl.StridedView.prototype, 'copy_from_async');
    const view = zeros(2, 3);

    equal(await view.copy_from_async(place(Mtl.StridedView.from([1, 2, 3])), null, null), true);
    equal(view.toArray(), [[1, 2, 3], [1, 2, 3]]);
});

test('the number of threads has a limit', () => {
    const nDefault = Mtl.get_max_threads();
    const source = transposedNumbers();

    ok(nDefault >= 1);
    for (const nThreads of [1, 2, 5]) {
        Mtl.set_max_threads(nThreads);
        equal(Mtl.get_max_threads(), nThreads);
        ok(isTransposed(source.copy()));
    }
    Mtl.set_max_threads(0);
    equal(Mtl.get_max_threads(), nDefault);
});

testAnyMemory('statistics and scaled copies are awaited', async () => {
    const view = zeros(2, 3);

    equal(await view.copy_scaled_from_async(place(Mtl.StridedView.from([1, 2, 3])), 2, 1), true);
    equal((await view.compute_statistics_async()).maximum, 7);
    equal(Array.from(await view.compute_histogram_async(0, 8, 2)), [2, 4]);
});

testAllReached('StridedView', isInBackground);
await run();

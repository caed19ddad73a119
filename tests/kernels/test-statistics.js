/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Statistics of elements, and elements that are scaled.

import Gio from 'gi://Gio';
import Mtl from 'gi://Mtl?version=1';

import {
    equal, ok, recordCalls, run, test, testAllReached, throws, throwsGio, throwsMtl,
} from '../support/tap.js';

const {COMPLEX64, FLOAT32, INT64, UINT8, UINT64} = Mtl.DType;

recordCalls('Statistics');

test('numbers are described', () => {
    const statistics = Mtl.StridedView.from([[0, 1, 2], [NaN, 3, Infinity]], FLOAT32)
        .compute_statistics();

    equal([statistics.count, statistics.n_nans, statistics.n_infinities, statistics.n_zeros],
        [6, 1, 1, 1]);
    equal([statistics.minimum, statistics.maximum, statistics.mean, statistics.deviation],
        [0, 3, 1.5, Math.sqrt(1.25)]);
    equal(statistics.dtype, FLOAT32);
    equal([statistics.get_count(), statistics.get_n_nans(), statistics.get_n_infinities(),
        statistics.get_n_zeros(), statistics.get_dtype()], [6, 1, 1, 1, FLOAT32]);
    equal([statistics.get_minimum(), statistics.get_maximum(), statistics.get_mean(),
        statistics.get_deviation()], [0, 3, 1.5, Math.sqrt(1.25)]);
    equal([statistics.format_minimum(), statistics.format_maximum()], ['0.0', '3.0']);
    ok(`${statistics}`.startsWith('6 elements of float32, minimum 0.0, maximum 3.0, mean 1.5'));
    equal(statistics.to_string(), `${statistics}`);
});

test('integers of 64 bits are exact', () => {
    const signed = Mtl.StridedView.from([-(2n ** 63n), 2n ** 63n - 1n], INT64).compute_statistics();
    const unsigned = Mtl.StridedView.from([7n, 2n ** 64n - 1n], UINT64).compute_statistics();

    equal([signed.minimum, signed.maximum], [-(2n ** 63n), 2n ** 63n - 1n]);
    equal([unsigned.minimum, unsigned.maximum], [7n, 2n ** 64n - 1n]);
    equal([unsigned.get_minimum_int64(), unsigned.get_minimum_uint64()], [7, 7]);
    throwsMtl('OVERFLOW', '18446744073709551615', () => unsigned.get_maximum_int64());
    throwsMtl('OVERFLOW', '-9223372036854775808', () => signed.get_minimum_uint64());
    equal(Mtl.StridedView.from([1, 255], UINT8).compute_statistics().get_maximum_uint64(), 255);
});

test('complex numbers have a mean of two parts', () => {
    const statistics = Mtl.StridedView.from([[1, 2], [3, -4]], COMPLEX64).compute_statistics();

    equal(statistics.mean, [2, -1]);
    equal(statistics.get_complex_mean(), [2, -1]);
    ok(Number.isNaN(statistics.minimum));
});

test('nothing has no extremes', () => {
    const statistics = Mtl.StridedView.new_zeros(null, INT64, [0]).compute_statistics();

    ok(Number.isNaN(statistics.minimum) && Number.isNaN(statistics.maximum));
    ok(Number.isNaN(statistics.mean) && Number.isNaN(statistics.deviation));
});

test('they can be awaited, cancelled and watched', async () => {
    const view = Mtl.StridedView.new_filled(null, FLOAT32, [500, 1000], 3);
    const cancellable = new Gio.Cancellable();
    const told = [];

    const statistics = await view.compute_statistics_async(null, (done, total) => {
        told.push([done, total]);
    });
    equal([statistics.minimum, statistics.mean, statistics.deviation], [3, 3, 0]);
    equal(told.at(-1), [2000000, 2000000]);
    equal((await view.compute_statistics_async()).count, 500000);
    equal(view.compute_statistics(null, () => {}).maximum, 3);

    cancellable.cancel();
    await throwsGio('CANCELLED', () => view.compute_statistics(cancellable));
});

test('a histogram counts elements', async () => {
    const view = Mtl.StridedView.from([0, 1, 1, 2, 4, NaN], FLOAT32);

    equal(Array.from(view.compute_histogram(0, 4, 4)), [1, 2, 1, 1]);
    equal(Array.from(await view.compute_histogram_async(0, 2, 2)), [1, 3]);
    throwsMtl('INVALID_ARGUMENT', 1, () => view.compute_histogram(1, 1, 4));
    throwsMtl('INVALID_ARGUMENT', 0, () => view.compute_histogram(0, 1, 0));
});

test('statistics along axes', () => {
    const view = Mtl.StridedView.from([[1, 2, 3], [5, 6, 7]], FLOAT32);

    equal(view.reduce(Mtl.Reduction.MEAN, [0]).get_double([1]), 4);
    equal(view.reduce(Mtl.Reduction.MAXIMUM, [-1]).get_double([1]), 7);
    equal(view.reduce(Mtl.Reduction.DEVIATION).get_n_dims(), 0);
    equal(view.reduce('mean', [1]).toArray(), [2, 6]);
    throws(TypeError, 'bogus', () => view.reduce('bogus', [1]));
    throwsMtl('OUT_OF_BOUNDS', 2, () => view.reduce(Mtl.Reduction.MEAN, [2]));
});

test('elements are scaled', async () => {
    const pixels = Mtl.StridedView.from([[0, 51], [102, 255]], UINT8);
    const floats = Mtl.StridedView.new_zeros(null, FLOAT32, [2, 2]);
    const back = Mtl.StridedView.new_zeros(null, UINT8, [2, 2]);

    floats.copy_scaled_from(pixels, 1 / 51);
    equal(floats.toArray(), [[0, 1], [2, 5]]);
    equal(await back.copy_scaled_from_async(floats, 100, 0.75), true);
    equal(back.toArray(), [[1, 101], [201, 255]]);
});

testAllReached('Statistics', () => true);
await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Statistics of elements, and elements that are scaled. */

Mtl.StridedView floats (double[] values) throws Error {
	return new Mtl.StridedView.from_doubles (values, Mtl.DType.FLOAT32, { values.length });
}

void test_numbers () throws Error {
	var statistics = floats ({ 0, 1, 2, 3, double.NAN, double.INFINITY }).compute_statistics ();

	assert_true (statistics.dtype == Mtl.DType.FLOAT32 && statistics.count == 6);
	assert_true (statistics.n_nans == 1 && statistics.n_infinities == 1 && statistics.n_zeros == 1);
	assert_true (statistics.minimum == 0 && statistics.maximum == 3 && statistics.mean == 1.5);
	assert_true (statistics.deviation == 1.118033988749895);
	assert_true (statistics.format_minimum () == "0.0" && statistics.format_maximum () == "3.0");
	assert_true (statistics.to_string ().has_prefix ("6 elements of float32, minimum 0.0"));
}

void test_integers () throws Error {
	var values = new Variant.parsed ("[uint64 18446744073709551615, 9223372036854775809]");
	var view = new Mtl.StridedView.from_variant (values, Mtl.DType.UINT64, { 2 });
	var statistics = view.compute_statistics ();

	assert_true (statistics.get_maximum_uint64 () == uint64.MAX);
	assert_true (statistics.get_minimum_uint64 () == (uint64) int64.MAX + 2);
	assert_true (view.to_dtype (Mtl.DType.INT64).compute_statistics ().get_maximum_int64 () == -1);
	try {
		statistics.get_minimum_int64 ();
		assert_not_reached ();
	} catch (Mtl.Error error) {
		assert_true (error is Mtl.Error.OVERFLOW);
	}
}

void test_complex () throws Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.COMPLEX64, { 2 });
	double re, im;

	view.set_complex ({ 0 }, 2, -4);
	view.compute_statistics ().get_complex_mean (out re, out im);
	assert_true (re == 1 && im == -2);
}

void test_histogram () throws Error {
	var view = new Mtl.StridedView.filled (null, Mtl.DType.FLOAT32, { 3, 2 }, 3);
	var counts = view.compute_histogram (0, 4, 2);

	assert_true (counts.length == 2 && counts[0] == 0 && counts[1] == 6);
	try {
		view.compute_histogram (4, 0, 2);
		assert_not_reached ();
	} catch (Mtl.Error error) {
		assert_true (error is Mtl.Error.INVALID_ARGUMENT);
	}
}

async uint64[] count (Mtl.StridedView view) throws Error {
	return yield view.compute_histogram_async (0, 4, 4);
}

void test_histogram_in_background () throws Error {
	var view = new Mtl.StridedView.filled (null, Mtl.DType.FLOAT32, { 3, 2 }, 3);
	var loop = new MainLoop ();
	uint64[] counts = {};

	count.begin (view, (source, result) => {
		try {
			counts = count.end (result);
		} catch (Error error) {
			assert_not_reached ();
		}
		loop.quit ();
	});
	loop.run ();
	assert_true (counts.length == 4 && counts[3] == 6);
}

void test_along_axes () throws Error {
	var view = new Mtl.StridedView.filled (null, Mtl.DType.FLOAT32, { 3, 2 }, 3);
	var means = view.reduce (Mtl.Reduction.MEAN, { -1 });

	assert_true (means.n_dims == 1 && means.get_double ({ 2 }) == 3);
	assert_true (view.reduce (Mtl.Reduction.DEVIATION).get_double ({}) == 0);
}

async Mtl.Statistics describe (Mtl.StridedView view) throws Error {
	return yield view.compute_statistics_async ();
}

void test_background () throws Error {
	var view = new Mtl.StridedView.filled (null, Mtl.DType.FLOAT32, { 500, 1000 }, 3);
	var loop = new MainLoop ();
	Mtl.Statistics? statistics = null;
	int64 read = 0;

	describe.begin (view, (source, result) => {
		try {
			statistics = describe.end (result);
		} catch (Error error) {
			assert_not_reached ();
		}
		loop.quit ();
	});
	loop.run ();
	assert_true (statistics.mean == 3 && statistics.deviation == 0);
	assert_true (view.compute_statistics (null, (done, total) => read = done).minimum == 3);
	assert_true (read == 2000000);
}

async void scale (Mtl.StridedView dest, Mtl.StridedView source, MainLoop loop) {
	try {
		assert_true (yield dest.copy_scaled_from_async (source, 2));
	} catch (Error error) {
		assert_not_reached ();
	}
	loop.quit ();
}

void test_scaled () throws Error {
	var source = floats ({ 0, 0.25, 1, 300, -1 });
	var bytes = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 5 });
	var loop = new MainLoop ();

	assert_true (bytes.copy_scaled_from (source, 255));
	assert_true (bytes.to_string () == "[  0  64 255 255   0]");
	assert_true (bytes.copy_scaled_from (source, 1, 0.5));
	assert_true (bytes.to_string () == "[  0   1   2 255   0]");
	scale.begin (bytes, source, loop);
	loop.run ();
	assert_true (bytes.to_string () == "[  0   0   2 255   0]");
}

int main (string[] args) {
	Test.init (ref args);

	add_test ("/vala/statistics/numbers", test_numbers);
	add_test ("/vala/statistics/integers", test_integers);
	add_test ("/vala/statistics/complex", test_complex);
	add_test ("/vala/statistics/background", test_background);
	add_test ("/vala/statistics/histogram", test_histogram);
	add_test ("/vala/statistics/histogram-in-background", test_histogram_in_background);
	add_test ("/vala/statistics/along-axes", test_along_axes);
	add_test ("/vala/statistics/scaled", test_scaled);
	return Test.run ();
}

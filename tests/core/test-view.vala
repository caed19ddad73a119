/* SPDX-License-Identifier: LGPL-2.1-or-later */

Mtl.StridedView zeros (Mtl.DType dtype, int64[] shape) throws Error {
	return place (new Mtl.StridedView.zeros (Mtl.Device.get_host (), dtype, shape));
}

Mtl.StridedView doubles (Mtl.DType dtype, int64[] shape, double[] values) throws Error {
	return place (new Mtl.StridedView.from_doubles (values, dtype, shape));
}

/* 0, 1, 2, … in that shape. */
Mtl.StridedView counting (int64[] shape) throws Error {
	double[] values = {};
	int64 volume = 1;

	foreach (var extent in shape) {
		volume *= extent;
	}
	for (var i = 0; i < volume; i++) {
		values += i;
	}
	return doubles (Mtl.DType.INT16, shape, values);
}

/* Returns the place of the first element in its buffer. */
int64 first_byte (Mtl.StridedView view) {
	return (int64) view.byte_offset + view.layout.offset * view.layout.item_bits / 8;
}

void test_buffer () throws GLib.Error {
	var buffer = new_buffer (10);
	var layout = new Mtl.StridedLayout ({ 2, 2 }, null, 16);
	var view = new Mtl.StridedView (buffer, layout, Mtl.DType.INT16, 2);

	view.slice ("1:, 1").fill_double (0x0102);
	assert_contents (buffer, { 0, 0, 0, 0, 0, 0, 0, 0, 2, 1 });
	assert_true (view.buffer == buffer);
	assert_true (view.layout.equal (layout));
	assert_true (view.byte_offset == 2);
	try {
		new Mtl.StridedView (buffer, layout, Mtl.DType.INT16, 4);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "10" });
	}
}

void test_description () throws GLib.Error {
	var view = zeros (Mtl.DType.FLOAT32, { 2, 3 });
	unowned var device = Mtl.Device.get_default ();

	assert_true (view.dtype == Mtl.DType.FLOAT32);
	assert_cmpuint (view.lanes, EQ, 1);
	assert_false (view.padded);
	assert_true (view.device == device);
	assert_true (view.host_accessible == (get_storage_mode () != Mtl.StorageMode.PRIVATE));
	assert_false (view.read_only);
}

void test_default_device () throws GLib.Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.FLOAT32, { 2 });

	assert_true (view.device == Mtl.Device.get_default ());
	assert_true (view.buffer.storage_mode == get_default_mode ());
}

void test_host () throws GLib.Error {
	var view = new Mtl.StridedView.zeros (Mtl.Device.get_host (), Mtl.DType.FLOAT32, { 2, 3 });

	assert_true (view.device == Mtl.Device.get_host ());
	assert_true (view.host_accessible && !view.read_only);
}

void test_layout () throws GLib.Error {
	var view = zeros (Mtl.DType.FLOAT32, { 2, 3, 4 }).slice (":, ::-1, :2");
	int64 min, max;

	assert_cmpuint (view.n_dims, EQ, 3);
	assert_int64s (view.get_shape (), { 2, 3, 2 });
	assert_int64s (view.get_strides (), { 12, -4, 1 });
	assert_int64s (view.layout.dup_byte_strides (), { 48, -16, 4 });
	assert_ints (view.layout.dup_stride_order (), { 0, 1, 2 });
	assert_true (view.get_extent (1) == 3 && view.layout.get_stride (1) == -4);
	assert_cmpuint (view.layout.item_bits, EQ, 32);
	assert_true (view.layout.offset == 8 && view.volume == 12);
	view.layout.get_offset_bounds (out min, out max);
	assert_int64s ({ min, max }, { 0, 21 });
	assert_true (view.layout.get_required_size () == 88);
	assert_true (view.layout.get_flatten_mask () == 0);
	assert_true (view.layout.is_unique () && !view.layout.is_dense () && !view.is_empty ());
	assert_false (view.is_contiguous (Mtl.Order.C));
}

void test_all_at_once () throws GLib.Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.INT16, { 2, 2 });
	assert_true (view.transpose ().set_doubles ({ 1, 2, 3, 4.5 }));
	assert_int64s (view.get_int64s (), { 1, 3, 2, 4 });
	assert_true (view.set_int64s ({ 4, 3, 2, -1 }));
	double[] doubles = view.get_doubles ();
	assert_true (doubles.length == 4 && doubles[0] == 4 && doubles[3] == -1);
	assert_true (view.dtype.get_kind () == Mtl.DTypeKind.INT);
}

void test_constructors () throws GLib.Error {
	var values = new Variant.tuple ({ new Variant.int64 (int64.MAX), new Variant.boolean (true) });
	assert_view (new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 3 }), "[0 0 0]");
	assert_view (new Mtl.StridedView.filled (null, Mtl.DType.FLOAT16, { 2 }, 1.5), "[1.5 1.5]");
	assert_view (new Mtl.StridedView.from_doubles ({ 1, 2.5 }, Mtl.DType.FLOAT64, { 2 }), "[1.  2.5]");
	assert_view (new Mtl.StridedView.from_variant (values, Mtl.DType.INT64, { 2 }),
	             "[9223372036854775807                   1]");

	var empty = new Mtl.StridedView.uninitialized (null, Mtl.DType.INT16, { 2 });
	assert_true (empty.fill_double (-3));
	assert_view (empty, "[-3 -3]");
	try {
		new Mtl.StridedView.from_doubles ({ 300 }, Mtl.DType.UINT8, { 1 });
		assert_not_reached ();
	} catch (Mtl.Error.OVERFLOW e) {
		assert_says (e, { "300" });
	}
}

void test_arange () throws GLib.Error {
	assert_view (new Mtl.StridedView.arange (null, Mtl.DType.FLOAT16, 1, 2, 0.5), "[1.  1.5]");
	assert_view (new Mtl.StridedView.arange (null, Mtl.DType.INT4, 0, 3), "[0 1 2]");
	assert_view (new Mtl.StridedView.arange_int64 (null, Mtl.DType.UINT64, int64.MAX - 2, int64.MAX),
	             "[9223372036854775805 9223372036854775806]");
	try {
		new Mtl.StridedView.arange (null, Mtl.DType.UINT8, 0, 1, 0);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "0" });
	}
	try {
		new Mtl.StridedView.arange_int64 (null, Mtl.DType.UINT8, 0, 300);
		assert_not_reached ();
	} catch (Mtl.Error.OVERFLOW e) {
		assert_says (e, { "299" });
	}
}

void assert_mode_refused (ThrowingTest make) throws GLib.Error {
	try {
		make ();
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "private" });
	}
}

void test_storage_modes () throws GLib.Error {
	unowned var host = Mtl.Device.get_host ();
	var mode = Mtl.StorageMode.HOST;
	var zeros = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 2 }, mode);
	var empty = new Mtl.StridedView.uninitialized (host, Mtl.DType.UINT8, { 2 }, mode);
	var filled = new Mtl.StridedView.filled (host, Mtl.DType.UINT8, { 2 }, 5, mode);

	assert_true (zeros.device == host && zeros.buffer.storage_mode == mode);
	assert_true (empty.buffer.storage_mode == mode);
	assert_view (filled, "[5 5]");
	mode = Mtl.StorageMode.PRIVATE;
	assert_mode_refused (() => new Mtl.StridedView.zeros (host, Mtl.DType.UINT8, { 2 }, mode));
	assert_mode_refused (() => new Mtl.StridedView.uninitialized (host, Mtl.DType.UINT8, { 2 }, mode));
	assert_mode_refused (() => new Mtl.StridedView.filled (host, Mtl.DType.UINT8, { 2 }, 5, mode));
	assert_mode_refused (() => new Mtl.StridedView.arange (host, Mtl.DType.UINT8, 0, 2, 1, mode));
	assert_mode_refused (() => new Mtl.StridedView.arange_int64 (host, Mtl.DType.UINT8, 0, 2, 1, mode));
}

/* Half a byte each: the slice begins within one. */
void test_packed () throws GLib.Error {
	var view = new Mtl.StridedView.from_doubles ({ 0.5, -6, 1, 100, 2 }, Mtl.DType.FLOAT4_E2M1FN,
                                              { 5 });
	var part = view.slice ("1:4");

	assert_cmpuint (view.layout.item_bits, EQ, 4);
	assert_true (part.set_double ({ 0 }, 2.6) && part.get_double ({ 0 }) == 3);
	assert_true (view.get_double ({ 1 }) == 3 && view[4] == 2);
	assert_view (place (part), "[3. 1. 6.]");
	assert_view (place (view).to_dtype (Mtl.DType.FLOAT8_E5M2), "[0.5 3.  1.  6.  2. ]");
}

void test_packed_integers () throws GLib.Error {
	var view = new Mtl.StridedView.from_doubles ({ -8, 7, 0, 3, -1 }, Mtl.DType.INT4, { 5 });
	var part = view.slice ("1:4");

	assert_cmpuint (view.layout.item_bits, EQ, 4);
	assert_true (part.set_double ({ 1 }, -5) && view[2] == -5);
	assert_view (place (part), "[ 7 -5  3]");
	assert_view (place (view).to_dtype (Mtl.DType.UINT2), "[0 3 3 3 3]");
	assert_view (place (view).to_dtype (Mtl.DType.INT16), "[-8  7 -5  3 -1]");
	try {
		part.set_double ({ 0 }, 8);
		assert_not_reached ();
	} catch (Mtl.Error.OVERFLOW e) {
		assert_says (e, { "int4" });
	}
}

void test_like () throws GLib.Error {
	var like = new Mtl.StridedView.zeros_like (counting ({ 2, 3 }).transpose ());

	assert_int64s (like.get_shape (), { 3, 2 });
	assert_int64s (like.get_strides (), { 1, 3 });
	assert_true (like.buffer.storage_mode == get_storage_mode ());
	assert_view (like, "[[0 0]\n [0 0]\n [0 0]]");
}

void test_picture () throws GLib.Error {
	var bytes = new Bytes ({ 1, 2, 3, 4, 99, 5, 6, 7, 8, 99 });
	int h = 2, w = 2, n = 2, stride = 5;
	var view = new Mtl.StridedView.from_bytes_with_byte_strides (bytes, Mtl.DType.UINT8, { h, w, n },
                                                              { stride, n, 1 });

	assert_view (view.slice ("..., 0"), "[[1 3]\n [5 7]]");
	assert_true (view.get_data () == (void*) bytes.get_data ());
	assert_view (new Mtl.StridedView.from_bytes (bytes, Mtl.DType.UINT8, { 2 }), "[1 2]");
	try {
		view[0, 0, 0] = 1;
		assert_not_reached ();
	} catch (Mtl.Error.READ_ONLY e) {
		assert_true (view[0, 0, 0] == 1);
	}
}

void test_elements () throws GLib.Error {
	var view = counting ({ 2, 3 });
	var wide = new Mtl.StridedView.zeros (null, Mtl.DType.UINT64, { 1 });

	assert_true (view[1, -1] == 5);
	assert_true (view.@get (1, 2) == 5);
	view[1, 2] = -7;
	assert_true (view.get_double ({ 1, 2 }) == -7);
	assert_true (view.set_double ({ 0, 0 }, 4));
	assert_true (view.get_int64 ({ 0, 0 }) == 4);
	assert_true (view.set_int64 ({ 1, 0 }, 0x0102));
	assert_true (view.buffer.get_bytes (6, 2).compare (new Bytes ({ 2, 1 })) == 0);
	assert_true (wide.set_uint64 ({ 0 }, uint64.MAX));
	assert_true (wide.get_uint64 ({ 0 }) == uint64.MAX);
	assert_true (counting ({ 5 })[3] == 3);
	assert_true (counting ({ 2, 2, 2 })[1, 0, 1] == 5);
	assert_true (counting ({ 2, 2, 2, 2 })[1, 0, 1, 0] == 10);
	assert_true (view.slice ("1, 1").get_double ({}) == 4);
}

void test_complex () throws GLib.Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.COMPLEX64, { 2 });
	double re, im;

	assert_true (view.set_complex ({ 1 }, 1.5, -2));
	assert_true (view.get_complex ({ 1 }, out re, out im));
	assert_true (view.select_imaginary ().get_double ({ 1 }) == im);
	assert_true (view.select_real ().get_double ({ 1 }) == re);
	assert_true (re == 1.5 && im == -2);
	try {
		view.get_double ({ 1 });
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "complex64" });
	}
}

void test_bad_index () throws GLib.Error {
	var view = counting ({ 2, 3 });

	try {
		view.@get (0, 3);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "3" });
	}
	try {
		view.@get (0);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "1" });
	}
}

void test_operations () throws GLib.Error {
	var view = counting ({ 2, 3 });

	assert_view (view.reshape ({ 3, -1 }), "[[0 1]\n [2 3]\n [4 5]]");
	assert_view (view.flatten (0, -1), "[0 1 2 3 4 5]");
	assert_view (view.transpose (), "[[0 3]\n [1 4]\n [2 5]]");
	assert_view (view.permute ({ 1, 0 }), "[[0 3]\n [1 4]\n [2 5]]");
	assert_view (view.swap_axes (0, 1), "[[0 3]\n [1 4]\n [2 5]]");
	assert_view (view.narrow (1, 0, 3, 2), "[[0 2]\n [3 5]]");
	assert_view (view.select (0, -1), "[3 4 5]");
	assert_view (view.select (0, 0).broadcast_to ({ 2, 3 }), "[[0 1 2]\n [0 1 2]]");
	assert_view (view.flip (1), "[[2 1 0]\n [5 4 3]]");
	assert_view (view.slice ("::-1, 1:"), "[[4 5]\n [1 2]]");
	assert_int64s (view.unsqueeze ({ 0 }).get_shape (), { 1, 2, 3 });
	assert_int64s (view.unsqueeze ({ 0 }).squeeze ().get_shape (), { 2, 3 });
	assert_int64s (view.unsqueeze ({ 0 }).squeeze_axes ({ 0 }).get_shape (), { 2, 3 });
}

void test_reinterpret () throws GLib.Error {
	var view = counting ({ 2, 2 });

	assert_view (view.reinterpret (Mtl.DType.UINT8), "[[0 0 1 0]\n [2 0 3 0]]");
	assert_cmpuint (view.layout.get_max_compatible_item_bits (128), EQ, 32);
	try {
		view.reinterpret (Mtl.DType.INT64);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "2" });
	}
}

void test_overlaps () throws GLib.Error {
	var view = counting ({ 4, 6 });

	assert_true (view.overlaps (view.transpose ()));
	assert_false (view.slice (":, ::2").overlaps (view.slice (":, 1::2")));
	assert_false (view.overlaps (view.copy ()));
}

void test_sharing () throws GLib.Error {
	var view = counting ({ 2, 3 });

	assert_true (view.transpose ().buffer.equal (view.buffer));
	assert_true (first_byte (view.transpose ()) == first_byte (view));
	assert_true (first_byte (view.select (0, 1)) == first_byte (view) + 6);
	view.transpose ().slice ("2").fill_double (-1);
	assert_view (view, "[[ 0  1 -1]\n [ 3  4 -1]]");
}

void test_fill () throws GLib.Error {
	var view = counting ({ 2, 2 });

	assert_true (view.slice (":, 1").fill (new Bytes ({ 0x02, 0x01 })));
	assert_view (view, "[[  0 258]\n [  2 258]]");
	try {
		view.fill (new Bytes ({ 1 }));
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "int16", "2" });
	}
}

void test_addresses () throws GLib.Error {
	var view = counting ({ 2, 3 });

	assert_true (view.get_address () != 0);
	assert_true ((uint64) (size_t) view.get_data () == view.get_address ());
	assert_true (view.transpose ().get_address () == view.get_address ());
	assert_true (view.select (0, 1).get_address () == view.get_address () + 6);
	assert_true (view.copy ().get_address () != view.get_address ());
}

void test_read_only () throws GLib.Error {
	var view = counting ({ 2 });
	var reader = view.as_read_only ();

	try {
		reader.fill_double (5);
		assert_not_reached ();
	} catch (Mtl.Error.READ_ONLY e) {
		assert_true (reader.read_only && !view.read_only);
	}
	view.slice (":1").fill_double (5);
	assert_view (reader, "[5 1]");
}

void test_close () throws GLib.Error {
	var view = counting ({ 2 });
	var row = view.slice ("1:");

	assert_false (view.close ());
	assert_true (view.shape[0] == 0);
	assert_view (row, "[1]");
	assert_true (row.close ());
	assert_true (row.volume == 0 && row.close ());
}

void test_close_in_use () throws GLib.Error {
	var view = counting ({ 2 });
	var same = view;

	try {
		view.close ();
		assert_not_reached ();
	} catch (Mtl.Error.BUSY error) {
		assert_says (error, { "2", "1" });
	}
	assert_view (same, "[0 1]");

	same = null;
	view.compute_statistics (null, (done, total) => {
		try {
			view.close ();
			assert_not_reached ();
		} catch (Mtl.Error error) {
			assert_true (error is Mtl.Error.BUSY);
		}
	});
	assert_true (view.close () && view.volume == 0);
}

void test_read_only_elements () throws GLib.Error {
	var view = counting ({ 2 });
	var reader = view.as_read_only ();

	try {
		reader[0] = 5;
		assert_not_reached ();
	} catch (Mtl.Error.READ_ONLY e) {
		assert_true (view[0] == 0);
	}
	view[0] = 5;
	assert_true (reader[0] == 5);
}

void test_copies () throws GLib.Error {
	var view = counting ({ 2, 3 });
	var copy = view.copy ();
	var target = zeros (Mtl.DType.FLOAT32, { 2, 3 });

	assert_true (target.copy_from (view.select (0, 1)));
	assert_view (target, "[[3. 4. 5.]\n [3. 4. 5.]]");
	assert_true (copy.buffer.storage_mode == get_storage_mode ());
	copy.fill_double (-1);
	assert_view (view, "[[0 1 2]\n [3 4 5]]");
}

void test_conversions () throws GLib.Error {
	var view = counting ({ 2, 3 });
	unowned var host = Mtl.Device.get_host ();

	assert_true (view.to_contiguous () == view);
	assert_true (view.transpose ().to_contiguous ().is_contiguous (Mtl.Order.C));
	assert_view (view.transpose ().to_contiguous (), "[[0 3]\n [1 4]\n [2 5]]");
	assert_view (view.to_dtype (Mtl.DType.BOOL), "[[False  True  True]\n [ True  True  True]]");
	assert_true (view.to_device (Mtl.Device.get_default (), get_storage_mode ()) == view);
	assert_true (fetch (view)[1, 2] == 5);
	assert_true (view.to_device (host).device == host);
	try {
		view.to_device (host, Mtl.StorageMode.PRIVATE);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_true (e.message.length > 0);
	}
}

void test_comparison () throws GLib.Error {
	var view = counting ({ 2 });
	var near = doubles (Mtl.DType.FLOAT64, { 2 }, { 0, 1.001 });

	assert_true (view.array_equal (view.copy ()) && !view.array_equal (near));
	assert_true (view.all_close (near, 0, 0.01) && !view.all_close (near, 0, 0.0001));
}

/* Views are equal that describe the same elements of the same memory. */
void test_equal () throws GLib.Error {
	var view = counting ({ 2 });

	assert_true (view.equal (view.reshape ({ 2 })));
	assert_cmpuint (view.hash (), EQ, view.reshape ({ 2 }).hash ());
	assert_false (view.equal (view.copy ()));
	assert_false (view.equal (view.as_read_only ()));
	assert_false (view.equal (view.flip (0)));
}

void assert_properties (Mtl.StridedView view) throws GLib.Error {
	assert_true (view.buffer == view.get_buffer ());
	assert_true (view.byte_offset == view.get_byte_offset ());
	assert_true (view.layout == view.get_layout ());
	assert_true (view.dtype == view.get_dtype ());
	assert_cmpuint (view.lanes, EQ, view.get_lanes ());
	assert_true (view.device == view.get_device ());
	assert_cmpuint (view.n_dims, EQ, view.get_n_dims ());
	assert_true (view.volume == view.get_volume ());
	assert_true (view.padded == view.is_padded ());
	assert_true (view.host_accessible == view.is_host_accessible ());
	assert_true (view.read_only == view.is_read_only ());
}

void test_properties () throws GLib.Error {
	var view = counting ({ 2, 3 }).slice (":, ::-2");

	assert_true (view.n_dims == 2 && view.layout.offset == 2 && view.volume == 4);
	assert_properties (view);
	assert_properties (view.as_read_only ());
	assert_properties (vectors ());
	assert_properties (counting ({ 1 }).broadcast_to ({ 2 }));
}

void test_copied_bytes () throws GLib.Error {
	var view = counting ({ 2, 2 }).to_dtype (Mtl.DType.UINT8);

	assert_true (view.dup_bytes ().compare (new Bytes ({ 0, 1, 2, 3 })) == 0);
	assert_true (view.transpose ().dup_bytes ().compare (new Bytes ({ 0, 2, 1, 3 })) == 0);
}

void test_shared_bytes () throws GLib.Error {
	var view = counting ({ 2, 2 }).to_dtype (Mtl.DType.UINT8);
	var shared = view.get_bytes ();

	view[0, 0] = 9;
	assert_true (shared.compare (new Bytes ({ 9, 1, 2, 3 })) == 0);
	try {
		view.transpose ().get_bytes ();
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
		assert_true (e.message.length > 0);
	}
}

void test_format () throws GLib.Error {
	assert_cmpstr (@"$(counting ({ 2, 2 }))", EQ, "[[0 1]\n [2 3]]");
	assert_cmpstr (counting ({ 10 }).format (10), EQ, "[0 1 2 3 4 5 6 7 8 9]");
}

void test_long_format () throws GLib.Error {
	assert_cmpstr (counting ({ 20 }).format (10), EQ, "[ 0  1  2 ... 17 18 19]");
}

/* Four floats each: 0 to 3, 4 to 7, 8 to 11. */
Mtl.StridedView vectors () throws GLib.Error {
	var view = MtlVectors.import (Mtl.DType.FLOAT32, 4, 3);

	view.copy_from (counting ({ 3, 4 }));
	return place (view);
}

void test_lanes () throws GLib.Error {
	var view = vectors ();
	var copy = view.copy ();

	assert_true (view.dtype == Mtl.DType.FLOAT32);
	assert_cmpuint (view.lanes, EQ, 4);
	assert_cmpuint (view.layout.item_bits, EQ, 128);
	assert_int64s (view.get_shape (), { 3 });
	assert_view (view.slice ("::-2"), "[[ 8.  9. 10. 11.]\n [ 0.  1.  2.  3.]]");
	assert_int64s (view.to_dtype (Mtl.DType.INT16).get_shape (), { 3, 4 });
	assert_view (view.reinterpret (Mtl.DType.FLOAT32).slice ("3:6"), "[3. 4. 5.]");
	assert_true (copy.lanes == 4 && copy.array_equal (view));
	copy.slice ("1").fill_double (-1);
	assert_view (copy.slice (":2"), "[[ 0.  1.  2.  3.]\n [-1. -1. -1. -1.]]");
}

/* Lanes have an index more. */
void test_lane_elements () throws GLib.Error {
	var view = vectors ();
	var nibbles = MtlVectors.import (Mtl.DType.FLOAT4_E2M1FN, 2, 3);

	assert_true (view[1, 2] == 6 && view[-1, -1] == 11);
	view[1, 2] = -6;
	assert_true (view.get_double ({ 1, 2 }) == -6);
	nibbles[2, 1] = -0.5;
	assert_cmpuint (nibbles.layout.item_bits, EQ, 8);
	assert_view (nibbles.slice ("1:"), "[[ 0.   0. ]\n [ 0.  -0.5]]");
	try {
		view.get_double ({ 1 });
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "1" });
	}
	try {
		view.get_double ({ 1, 4 });
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "4" });
	}
}

void test_index_assignment () throws GLib.Error {
	int64 i = 1;
	uint j = 2;
	size_t k = 0;
	var vector = zeros (Mtl.DType.FLOAT32, { 3 });
	var matrix = zeros (Mtl.DType.FLOAT32, { 2, 3 });
	var cube = zeros (Mtl.DType.FLOAT32, { 2, 3, 2 });
	var block = zeros (Mtl.DType.FLOAT32, { 2, 3, 2, 2 });

	vector[-1] = 7;
	assert_true (vector.get_double ({ 2 }) == 7);
	matrix[1, 0] = 5;
	matrix[i, j] = 2.5f;
	matrix[k, i] = i + 8;
	matrix[-2, -1] = double.NAN;
	assert_view (matrix, "[[0.  9.  nan]\n [5.  0.  2.5]]");
	cube[1, 2, 0] = 3;
	assert_true (cube.get_double ({ 1, 2, 0 }) == 3);
	block[1, 2, 1, 0] = -double.MAX;
	assert_true (block.get_double ({ 1, 2, 1, 0 }) < -3e38);
	block[0, 0, 0, 0] = double.INFINITY;
	assert_true (block[0, 0, 0, 0] == double.INFINITY);

	try {
		matrix[2, 0] = 1;
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "2" });
	}
	try {
		matrix[0, 0.5] = 1;
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
	}
	try {
		matrix[0] = 1;
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
	}
	try {
		matrix.as_read_only ()[0, 0] = 1;
		assert_not_reached ();
	} catch (Mtl.Error.READ_ONLY e) {
	}
	assert_true (matrix[0, 0] == 0);
}

void test_iteration () throws GLib.Error {
	var matrix = counting ({ 3, 2 });
	double sum = 0;
	var n_pairs = 0;

	foreach (var row in matrix) {
		assert_int64s (row.shape, { 2 });
		foreach (var element in row) {
			assert_cmpuint (element.ndim, EQ, 0);
			sum = 10 * sum + element.get_double ({});
		}
		foreach (var other in matrix) { // the same view, inside
			n_pairs++;
			assert_true (other.overlaps (matrix));
		}
	}
	assert_true (sum == 12345);
	assert_cmpint (n_pairs, EQ, 9);

	foreach (var column in matrix.transpose ()) {
		column[0] = 70;
		break;
	}
	assert_true (matrix[0, 0] == 70);
	foreach (var part in counting ({ 2 }).broadcast_to ({ 4, 2 })) {
		assert_true (part[1] == 1);
	}
	foreach (var part in zeros (Mtl.DType.INT8, { 0, 3 })) {
		assert_true (part == null);
	}
	try {
		foreach (var part in zeros (Mtl.DType.INT8, {})) {
			assert_true (part == null);
		}
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "0" });
	}
}

void test_iteration_keeps_nothing () throws GLib.Error {
	var before = Mtl.get_allocated_size ();

	for (var i = 0; i < 3; i++) {
		foreach (var row in new Mtl.StridedView.zeros (null, Mtl.DType.INT8, { 1000, 1000 })) {
			row[0] = 1;
			assert_cmpuint ((uint) (Mtl.get_allocated_size () - before), EQ, 1000000);
		}
	}
	assert_cmpuint ((uint) (Mtl.get_allocated_size () - before), EQ, 0);
}

void test_names_of_array_libraries () throws GLib.Error {
	var view = counting ({ 2, 3 });

	assert_int64s (view.shape, { 2, 3 });
	assert_int64s (view.strides, { 3, 1 });
	assert_cmpuint (view.ndim, EQ, 2);
	assert_cmpint ((int) view.size, EQ, 6);
	assert_int64s (view.layout.shape, { 2, 3 });
	assert_int64s (view.layout.strides, { 3, 1 });
	assert_cmpuint (view.layout.ndim, EQ, 2);
	assert_cmpint ((int) view.layout.size, EQ, 6);
}

void test_defaults () throws GLib.Error {
	var view = counting ({ 2, 3 });
	var buffer = new Mtl.Buffer (null, 8);
	var typed = new Mtl.StridedView (buffer, new Mtl.StridedLayout ({ 2 }, null, 32), Mtl.DType.INT32);

	var on_host = Mtl.Device.get_default () == Mtl.Device.get_host ();
	Mtl.StorageMode mode = on_host ? Mtl.StorageMode.HOST : Mtl.StorageMode.SHARED;
	assert_true (buffer.storage_mode == mode);
	assert_true (new Mtl.Buffer.uninitialized (null, 8).storage_mode == mode);
	assert_true (new Mtl.Buffer.from_bytes (new Bytes ({ 1 })).read_only);
	assert_int64s (typed.shape, { 2 });
	assert_int64s (view.flatten ().shape, { 6 });
	assert_int64s (view.layout.flatten ().shape, { 6 });
	assert_int64s (view.narrow (1, 0, 2).shape, { 2, 2 });
	assert_int64s (view.layout.narrow (1, 0, 2).shape, { 2, 2 });
	assert_true (view.is_contiguous ());
	assert_false (view.transpose ().layout.is_contiguous ());
	assert_true (view.transpose ().layout.to_dense ().is_contiguous ());
	assert_true (view.all_close (view.copy ()));
	assert_true (view.array_equal (view.copy (), EQUAL_NAN));
	assert_cmpstr (view.format (), EQ, view.to_string ());
	assert_true (Mtl.Device.@get (Mtl.DeviceType.CPU) == Mtl.Device.get_host ());
}

void test_tensor_of_metal () throws GLib.Error {
	var view = new Mtl.StridedView.zeros (Mtl.Device.get_host (), Mtl.DType.FLOAT32, { 2 });

	try {
		view.to_metal_tensor (COMPUTE);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "Metal" });
	}
	try {
		new Mtl.StridedView.from_metal_tensor (null);
		assert_not_reached ();
	} catch (Mtl.Error e) {
		assert_true (e is Mtl.Error.NOT_SUPPORTED || e is Mtl.Error.INVALID_ARGUMENT);
	}
}

void test_variant_with_descriptors () throws GLib.Error {
	var view = new Mtl.StridedView.arange (null, Mtl.DType.FLOAT32, 0, 4, 1, Mtl.StorageMode.HOST);
	var fds = new UnixFDList ();
	var variant = view.slice ("::-1").to_variant (fds);
	var received = new Mtl.StridedView.from_variant_fds (variant, fds);

	assert_cmpstr (variant.get_type_string (), EQ, Mtl.TENSOR_VARIANT_TYPE_STRING);
	assert_true (fds.get_length () == 0);
	assert_true (received.get_double ({ 0 }) == 3);
	assert_true (received.read_only);
}

int main (string[] args) {
	Test.init (ref args);
	add_any_memory_test ("/vala/view/buffer", test_buffer);
	add_any_memory_test ("/vala/view/description", test_description);
	add_test ("/vala/view/default-device", test_default_device);
	add_test ("/vala/view/host", test_host);
	add_any_memory_test ("/vala/view/layout", test_layout);
	add_test ("/vala/view/all-at-once", test_all_at_once);
	add_test ("/vala/view/constructors", test_constructors);
	add_test ("/vala/view/constructors/arange", test_arange);
	add_test ("/vala/view/constructors/storage-modes", test_storage_modes);
	add_test ("/vala/view/variant-with-descriptors", test_variant_with_descriptors);
	add_any_memory_test ("/vala/view/packed", test_packed);
	add_any_memory_test ("/vala/view/packed-integers", test_packed_integers);
	add_any_memory_test ("/vala/view/lanes", test_lanes);
	add_test ("/vala/view/lane-elements", test_lane_elements);
	add_any_memory_test ("/vala/view/like", test_like);
	add_test ("/vala/view/picture", test_picture);
	add_test ("/vala/view/tensor-of-metal", test_tensor_of_metal);
	add_test ("/vala/view/elements", test_elements);
	add_test ("/vala/view/complex", test_complex);
	add_test ("/vala/view/bad-index", test_bad_index);
	add_any_memory_test ("/vala/view/operations", test_operations);
	add_any_memory_test ("/vala/view/reinterpret", test_reinterpret);
	add_any_memory_test ("/vala/view/overlaps", test_overlaps);
	add_any_memory_test ("/vala/view/sharing", test_sharing);
	add_any_memory_test ("/vala/view/fill", test_fill);
	add_test ("/vala/view/addresses", test_addresses);
	add_any_memory_test ("/vala/view/read-only", test_read_only);
	add_any_memory_test ("/vala/view/close", test_close);
	add_any_memory_test ("/vala/view/close-in-use", test_close_in_use);
	add_test ("/vala/view/read-only-elements", test_read_only_elements);
	add_any_memory_test ("/vala/view/copies", test_copies);
	add_any_memory_test ("/vala/view/conversions", test_conversions);
	add_any_memory_test ("/vala/view/comparison", test_comparison);
	add_any_memory_test ("/vala/view/equal", test_equal);
	add_any_memory_test ("/vala/view/properties", test_properties);
	add_any_memory_test ("/vala/view/copied-bytes", test_copied_bytes);
	add_test ("/vala/view/shared-bytes", test_shared_bytes);
	add_any_memory_test ("/vala/view/format", test_format);
	add_test ("/vala/view/long-format", test_long_format);
	add_any_memory_test ("/vala/view/names-of-array-libraries", test_names_of_array_libraries);
	add_test ("/vala/view/index-assignment", test_index_assignment);
	add_test ("/vala/view/iteration", test_iteration);
	add_test ("/vala/view/iteration-keeps-nothing", test_iteration_keeps_nothing);
	add_test ("/vala/view/defaults", test_defaults);
	return Test.run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

Mtl.StridedLayout dense (int64[] shape) throws Error {
	return new Mtl.StridedLayout.dense (shape, Mtl.Order.C, 32);
}

void assert_layout (Mtl.StridedLayout layout, int64[] shape, int64[] strides, int64 offset = 0) {
	assert_int64s (layout.get_shape (), shape);
	assert_int64s (layout.get_strides (), strides);
	assert_true (layout.offset == offset);
}

void test_new () throws GLib.Error {
	var layout = new Mtl.StridedLayout ({ 2, 3 }, null, 16);

	assert_layout (layout, { 2, 3 }, { 3, 1 });
	assert_cmpuint (layout.n_dims, EQ, 2);
	assert_cmpuint (layout.item_bits, EQ, 16);
	assert_true (layout.volume == 6);
	assert_true (layout.get_required_size () == 12);
	assert_true (layout.get_extent (-1) == 3 && layout.get_stride (0) == 3);
	assert_layout (new Mtl.StridedLayout ({ 2, 3 }), { 2, 3 }, { 3, 1 });
	assert_layout (new Mtl.StridedLayout.dense ({ 2, 3 }), { 2, 3 }, { 3, 1 });
	assert_layout (layout.transpose ().to_dense (Mtl.Order.K), { 3, 2 }, { 1, 3 });
	assert_cmpuint (new Mtl.StridedLayout.with_byte_strides ({ 2 }, { 1 }).item_bits, EQ, 8);
	try {
		layout.get_extent (2);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "2" });
	}
}

void test_strides () throws GLib.Error {
	var layout = new Mtl.StridedLayout ({ 2, 3 }, { 8, -2 }, 32);
	var same = new Mtl.StridedLayout.with_byte_strides ({ 2, 3 }, { 32, -8 }, 32);
	int64 min, max;

	assert_int64s (layout.dup_byte_strides (), { 32, -8 });
	layout.get_offset_bounds (out min, out max);
	assert_int64s ({ min, max }, { -4, 8 });
	assert_true (layout.equal (same));
	assert_cmpuint (layout.hash (), EQ, same.hash ());
	assert_false (layout.equal (dense ({ 2, 3 })));
}

void test_dense () throws GLib.Error {
	var layout = new Mtl.StridedLayout.dense_for_axes ({ 2, 3, 4 }, { 1, 0, 2 }, 8);

	assert_layout (layout, { 2, 3, 4 }, { 4, 8, 1 });
	assert_ints (layout.dup_stride_order (), { 1, 0, 2 });
	assert_layout (layout.to_dense (Mtl.Order.C), { 2, 3, 4 }, { 12, 4, 1 });
	assert_layout (layout.to_dense (Mtl.Order.F), { 2, 3, 4 }, { 1, 2, 6 });
	assert_layout (layout.fit_metal_tensor (UINT8, COMPUTE), { 2, 3, 4 }, { 4, 8, 1 });
	assert_layout (layout.fit_metal_tensor (UINT8, COMPUTE | MACHINE_LEARNING),
	               { 2, 3, 4 }, { 192, 64, 1 });
	assert_true (layout.is_dense () && layout.is_unique () && !layout.is_empty ());
	assert_false (layout.is_contiguous (Mtl.Order.C));
	assert_true (layout.permute ({ 1, 0, 2 }).is_contiguous (Mtl.Order.C));
}

void test_repack () throws GLib.Error {
	var floats = new Mtl.StridedLayout ({ 3, 4 }, { 8, 1 }, 32);

	assert_layout (floats.repack (64), { 3, 2 }, { 4, 1 });
	assert_layout (floats.transpose ().repack (128, 0).squeeze_axes ({ 0 }), { 3 }, { 2 });
	assert_true (floats.get_max_compatible_item_bits (128) == 128);
	assert_true (floats.get_max_compatible_item_bits (128, 8) == 64);
	try {
		floats.repack (64, 0);
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
	}
}

void test_bad_shape () throws GLib.Error {
	try {
		dense ({ 2, -3 });
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "-3" });
	}
	try {
		dense ({ int64.MAX, int64.MAX });
		assert_not_reached ();
	} catch (Mtl.Error.OVERFLOW e) {
		assert_says (e, { "9223372036854775807" });
	}
}

void test_reshape () throws GLib.Error {
	var layout = dense ({ 2, 3, 4 });

	assert_layout (layout.reshape ({ 4, -1 }), { 4, 6 }, { 6, 1 });
	assert_layout (layout.flatten (0, -1), { 24 }, { 1 });
	assert_true (layout.get_flatten_mask () == 6);
	assert_layout (layout.flatten_mask (4), { 2, 12 }, { 12, 1 });
	try {
		layout.transpose ().reshape ({ 24 });
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
		assert_true (e.message.length > 0);
	}
}

void test_axes () throws GLib.Error {
	var layout = dense ({ 2, 1, 4 });

	assert_layout (layout.permute ({ 2, 0, 1 }), { 4, 2, 1 }, { 1, 4, 4 });
	assert_layout (layout.transpose (), { 4, 1, 2 }, { 1, 4, 4 });
	assert_layout (layout.swap_axes (0, -1), { 4, 1, 2 }, { 1, 4, 4 });
	assert_layout (layout.squeeze (), { 2, 4 }, { 4, 1 });
	assert_layout (layout.squeeze_axes ({ 1 }), { 2, 4 }, { 4, 1 });
	assert_int64s (layout.unsqueeze ({ 0 }).get_shape (), { 1, 2, 1, 4 });
	assert_layout (layout.broadcast_to ({ 2, 3, 4 }), { 2, 3, 4 }, { 4, 0, 1 });
	try {
		layout.permute ({ 0, 1, 3 });
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "3" });
	}
}

void test_parts () throws GLib.Error {
	var layout = dense ({ 4, 6 });

	assert_layout (layout.narrow (1, -2, int64.MIN, -2), { 4, 3 }, { 6, -2 }, 4);
	assert_layout (layout.select (0, -1), { 6 }, { 1 }, 18);
	assert_layout (layout.flip (0), { 4, 6 }, { -6, 1 }, 18);
	assert_layout (layout.slice ("1:3, ::-1"), { 2, 6 }, { 6, -1 }, 11);
	try {
		layout.slice ("4");
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "4" });
	}
}

void test_properties () throws GLib.Error {
	Mtl.StridedLayout[] layouts = {
		dense ({ 2, 3 }).transpose ().slice ("::-1"), dense ({ 0 }), dense ({ 1 }).broadcast_to ({ 2 })
	};

	foreach (var layout in layouts) {
		assert_cmpuint (layout.n_dims, EQ, layout.get_n_dims ());
		assert_cmpuint (layout.item_bits, EQ, layout.get_item_bits ());
		assert_true (layout.offset == layout.get_offset ());
		assert_true (layout.volume == layout.get_volume ());
	}
	assert_true (layouts[0].offset == 2 && layouts[1].volume == 0 && layouts[2].n_dims == 1);
}

void test_to_string () throws GLib.Error {
	var text = dense ({ 2, 3 }).to_string ();

	assert_true (text.contains ("2, 3") && text.contains ("3, 1"));
	assert_cmpstr (@"$(dense ({ 2, 3 }))", EQ, text);
}

int main (string[] args) {
	Test.init (ref args);
	add_test ("/vala/layout/new", test_new);
	add_test ("/vala/layout/strides", test_strides);
	add_test ("/vala/layout/dense", test_dense);
	add_test ("/vala/layout/repack", test_repack);
	add_test ("/vala/layout/bad-shape", test_bad_shape);
	add_test ("/vala/layout/reshape", test_reshape);
	add_test ("/vala/layout/axes", test_axes);
	add_test ("/vala/layout/parts", test_parts);
	add_test ("/vala/layout/properties", test_properties);
	add_test ("/vala/layout/to-string", test_to_string);
	return Test.run ();
}

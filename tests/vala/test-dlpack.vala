/* SPDX-License-Identifier: LGPL-2.1-or-later */

Mtl.StridedView make_view () throws Mtl.Error {
	return place (new Mtl.StridedView.from_doubles (Mtl.DType.INT32, { 3 }, { 1, 2, 3 }));
}

void test_description () throws GLib.Error {
	var tensor = make_view ().export_dlpack (NONE, UNKNOWN, 0);
	unowned var device = Mtl.Device.get_default ();
	uint major, minor;

	tensor.get_version (out major, out minor);
	assert_cmpuint (major, EQ, 1);
	assert_true (tensor.get_flags () == 0);
	assert_true (tensor.get_device_type () == device.get_device_type ());
	assert_cmpint (tensor.get_device_ordinal (), EQ, device.get_device_ordinal ());
	assert_false (tensor.is_consumed ());
}

void test_round_trip () throws GLib.Error {
	var view = make_view ();
	var imported = new Mtl.StridedView.from_dlpack (view.export_dlpack (NONE, UNKNOWN, 0));

	assert_true (imported.get_buffer ().get_storage_mode () == get_storage_mode ());
	imported.slice ("1").fill_double (20);
	assert_view (view, "[ 1 20  3]");
	view = null;
	assert_view (imported, "[ 1 20  3]");
}

void test_host () throws GLib.Error {
	var tensor = make_view ().export_dlpack (NONE, CPU, 0);

	assert_true (tensor.get_device_type () == Mtl.DeviceType.CPU);
	assert_cmpint (tensor.get_device_ordinal (), EQ, 0);
	assert_view (new Mtl.StridedView.from_dlpack (tensor), "[1 2 3]");
}

void test_host_address () throws GLib.Error {
	var view = make_view ();
	var address = view.get_address ();
	var imported = new Mtl.StridedView.from_dlpack (view.export_dlpack (NONE, CPU, 0));

	assert_true (imported.get_address () == address);
	imported.@set ({ 1 }, 20);
	assert_true (view[1] == 20);
}

void test_consumed () throws GLib.Error {
	var tensor = make_view ().export_dlpack (LEGACY, UNKNOWN, 0);

	assert_view (new Mtl.StridedView.from_dlpack (tensor), "[1 2 3]");
	assert_true (tensor.is_consumed ());
	try {
		new Mtl.StridedView.from_dlpack (tensor);
		assert_not_reached ();
	} catch (Mtl.Error.CONSUMED e) {
		assert_true (e.message.length > 0);
	}
}

void test_read_only () throws GLib.Error {
	var reader = make_view ().as_read_only ();
	var imported = new Mtl.StridedView.from_dlpack (reader.export_dlpack (NONE, UNKNOWN, 0));

	assert_true (imported.is_read_only ());
	try {
		reader.export_dlpack (LEGACY, UNKNOWN, 0);
		assert_not_reached ();
	} catch (Mtl.Error.READ_ONLY e) {
		assert_true (e.message.contains ("legacy"));
	}
}

void test_needs_copy () throws GLib.Error {
	var flipped = make_view ().flip (0);
	var copied = new Mtl.StridedView.from_dlpack (flipped.export_dlpack (NONE, UNKNOWN, 0));

	assert_view (copied, "[3 2 1]");
	copied.fill_double (0);
	assert_view (flipped, "[3 2 1]");
	try {
		flipped.export_dlpack (NEVER_COPY, UNKNOWN, 0);
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
		assert_true (e.message.contains ("negative"));
	}
}

int main (string[] args) {
	Test.init (ref args);
	add_any_memory_test ("/vala/dlpack/description", test_description);
	add_any_memory_test ("/vala/dlpack/round-trip", test_round_trip);
	add_any_memory_test ("/vala/dlpack/host", test_host);
	add_test ("/vala/dlpack/host-address", test_host_address);
	add_any_memory_test ("/vala/dlpack/consumed", test_consumed);
	add_any_memory_test ("/vala/dlpack/read-only", test_read_only);
	add_any_memory_test ("/vala/dlpack/needs-copy", test_needs_copy);
	return Test.run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

Mtl.StridedView make_view () throws Error {
	return place (new Mtl.StridedView.from_doubles ({ 1, 2, 3 }, Mtl.DType.INT32, { 3 }));
}

void test_description () throws GLib.Error {
	var tensor = make_view ().export_dlpack ();
	unowned var device = Mtl.Device.get_default ();

	assert_false (tensor.copied);
	assert_true (tensor.device == device);
	assert_false (tensor.consumed);
}

void test_properties () throws GLib.Error {
	var tensor = make_view ().export_dlpack (COPY, Mtl.Device.get_host ());

	assert_true (tensor.device == tensor.get_device ());
	assert_true (tensor.device == Mtl.Device.get_host ());
	assert_true (tensor.copied == tensor.is_copied () && tensor.copied);
	assert_true (tensor.consumed == tensor.is_consumed () && !tensor.consumed);
	assert_view (new Mtl.StridedView.from_dlpack (tensor), "[1 2 3]");
	assert_true (tensor.consumed);
}

/* Arguments of an export may be left out. */
void test_defaults () throws GLib.Error {
	var view = make_view ();
	Mtl.DlpackTensor[] tensors = {
		view.export_dlpack (), view.export_dlpack (NONE), view.export_dlpack (NONE, null)
	};

	foreach (var tensor in tensors) {
		assert_false (tensor.copied);
		assert_true (new Mtl.StridedView.from_dlpack (tensor).overlaps (view));
	}
}

void test_round_trip () throws GLib.Error {
	var view = make_view ();
	var imported = new Mtl.StridedView.from_dlpack (view.export_dlpack ());

	assert_true (imported.buffer.storage_mode == get_storage_mode ());
	imported.slice ("1").fill_double (20);
	assert_view (view, "[ 1 20  3]");
	view = null;
	assert_view (imported, "[ 1 20  3]");
}

void test_host () throws GLib.Error {
	var tensor = make_view ().export_dlpack (NONE, Mtl.Device.get_host ());

	assert_true (tensor.device == Mtl.Device.get_host ());
	assert_view (new Mtl.StridedView.from_dlpack (tensor), "[1 2 3]");
}

void test_host_address () throws GLib.Error {
	var view = make_view ();
	var address = view.get_address ();
	var imported = new Mtl.StridedView.from_dlpack (view.export_dlpack (NONE, Mtl.Device.get_host ()));

	assert_true (imported.get_address () == address);
	imported[1] = 20;
	assert_true (view[1] == 20);
}

void test_consumed () throws GLib.Error {
	var tensor = make_view ().export_dlpack ();

	assert_view (new Mtl.StridedView.from_dlpack (tensor), "[1 2 3]");
	assert_true (tensor.consumed);
	try {
		new Mtl.StridedView.from_dlpack (tensor);
		assert_not_reached ();
	} catch (Mtl.Error.CONSUMED e) {
		assert_true (e.message.length > 0);
	}
}

void test_read_only () throws GLib.Error {
	var reader = make_view ().as_read_only ();
	var imported = new Mtl.StridedView.from_dlpack (reader.export_dlpack (NEVER_COPY));

	assert_true (imported.read_only);
}

void test_needs_copy () throws GLib.Error {
	var flipped = make_view ().flip (0);
	var copied = new Mtl.StridedView.from_dlpack (flipped.export_dlpack ());

	assert_view (copied, "[3 2 1]");
	copied.fill_double (0);
	assert_view (flipped, "[3 2 1]");
	try {
		flipped.export_dlpack (NEVER_COPY);
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
		assert_says (e, { "(-1,)" });
	}
}

int main (string[] args) {
	Test.init (ref args);
	add_any_memory_test ("/vala/dlpack/description", test_description);
	add_any_memory_test ("/vala/dlpack/properties", test_properties);
	add_any_memory_test ("/vala/dlpack/defaults", test_defaults);
	add_any_memory_test ("/vala/dlpack/round-trip", test_round_trip);
	add_any_memory_test ("/vala/dlpack/host", test_host);
	add_test ("/vala/dlpack/host-address", test_host_address);
	add_any_memory_test ("/vala/dlpack/consumed", test_consumed);
	add_any_memory_test ("/vala/dlpack/read-only", test_read_only);
	add_any_memory_test ("/vala/dlpack/needs-copy", test_needs_copy);
	return Test.run ();
}

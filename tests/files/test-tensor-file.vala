/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes a file of a byte, and of two numbers at an odd place. */
File write_file () throws GLib.Error {
	const string HEADER = """{"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"I16","shape":[2,1],"data_offsets":[1,5]}} """;
	FileIOStream stream;
	var file = File.new_tmp (null, out stream);

	stream.output_stream.write_all ({ (uint8) HEADER.length, 0, 0, 0, 0, 0, 0, 0 }, null);
	stream.output_stream.write_all (HEADER.data, null);
	stream.output_stream.write_all ({ 5, 0xfe, 0xff, 1, 2 }, null);
	stream.close ();
	return file;
}

void test_description () throws GLib.Error {
	var file = write_file ();
	var tensors = new Mtl.TensorFile.open (file);
	var entry = tensors.lookup_entry ("b");

	assert_int64s (entry.shape, { 2, 1 });
	assert_cmpstr (string.joinv (" ", tensors.list_names ()), EQ, "a b");
	assert_cmpstr (string.joinv (" ", tensors.list_metadata_keys ()), EQ, "format");
	assert_cmpstr (tensors.lookup_metadata ("format"), EQ, "pt");
	assert_cmpuint (tensors.get_n_items (), EQ, 2);
	assert_true (tensors.get_file () == file && entry.get_file () == file);
	assert_true (Mtl.TensorFile.open_path (file.get_path ()).file.equal (file));
	assert_cancelled (cancellable => {
		Mtl.TensorFile.open_path (file.get_path (), cancellable);
	});
	assert_true (tensors.device == Mtl.Device.get_host ());
	assert_true (tensors.mode == Mtl.TensorFileMode.MAP);
	assert_cmpstr (entry.get_name (), EQ, "b");
	assert_true (entry.dtype == Mtl.DType.INT16);
	assert_int64s (entry.get_shape (), { 2, 1 });
	assert_true (entry.n_bytes == 4);
	assert_true (entry.byte_offset > 100);
	file.delete ();
}

void test_views () throws GLib.Error {
	foreach (var mode in new Mtl.TensorFileMode[] { MAP, READ }) {
		var file = write_file ();
		var tensors = new Mtl.TensorFile.open (file, null, mode);

		assert_true (tensors.load_view ("a")[0] == 5);
		assert_true (tensors.load_view ("a").read_only == (mode == MAP));
		assert_view (tensors.lookup_entry ("b").load_view (), "[[ -2]\n [513]]");
		try {
			tensors.load_view ("c");
			assert_not_reached ();
		} catch (Mtl.Error.NOT_FOUND e) {
			assert_says (e, { "“c”" });
		}
		file.delete ();
	}
}

void test_iteration () throws GLib.Error {
	var file = write_file ();
	var tensors = new Mtl.TensorFile.open (file);
	var told = "";

	foreach (var name in tensors.names)
		told += "%s %s\n".printf (name, tensors[name].to_string ());
	assert_cmpstr (told, EQ, "a [5]\nb [[ -2]\n [513]]\n");
	assert_cmpint (tensors.names.length, EQ, 2);
	try {
		assert_view (tensors["c"], "");
		assert_not_reached ();
	} catch (Mtl.Error.NOT_FOUND e) {
		assert_says (e, { "“c”" });
	}
	file.delete ();
}

void test_match_names () throws GLib.Error {
	var file = write_file ();
	var tensors = new Mtl.TensorFile.open (file);

	assert_cmpstr (string.joinv (" ", tensors.match_loadable_names ("?")), EQ, "a b");
	assert_cmpuint (tensors.match_loadable_names ("x*").length, EQ, 0);
	assert_true (tensors.format == SAFETENSORS);
	file.delete ();
}

/* One of the types is not known. */
void test_refused () throws GLib.Error {
	GLib.FileIOStream stream;
	var header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}," +
		"\"new\":{\"dtype\":\"F99\",\"shape\":[2,3],\"data_offsets\":[1,3]}}";
	var file = GLib.File.new_tmp ("mtl-XXXXXX", out stream);
	var bytes = new GLib.ByteArray ();
	uint8[] size = { (uint8) header.length, 0, 0, 0, 0, 0, 0, 0 };

	bytes.append (size);
	bytes.append (header.data);
	bytes.append ({ 5, 6, 7 });
	stream.output_stream.write_all (bytes.data, null);
	stream.close ();

	var tensors = new Mtl.TensorFile.open (file);
	var entry = tensors.lookup_entry ("new");

	assert_cmpstr (string.joinv (" ", tensors.match_loadable_names ()), EQ, "a");
	assert_cmpstr (string.joinv (" ", tensors.match_refused_names ()), EQ, "new");
	assert_cmpuint (tensors.match_refused_names ("a*").length, EQ, 0);
	assert_cmpuint (tensors.load_views ().length, EQ, 1);
	assert_cmpstr (entry.get_type_name (), EQ, "F99");
	assert_cmpstr (entry.type_name, EQ, "F99");
	assert_true (entry.get_error () is Mtl.Error.NOT_SUPPORTED);
	assert_true (entry.error is Mtl.Error.NOT_SUPPORTED);
	assert_true (tensors.lookup_entry ("a").get_error () == null);
	assert_true (tensors.check (Mtl.TensorFileChecks.INF));
	try {
		tensors.check (Mtl.TensorFileChecks.LOADABLE);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "“new”" });
	}
	file.delete ();
}

void assert_both (Mtl.StridedView[] views) throws Error {
	assert_cmpuint (views.length, EQ, 2);
	assert_view (views[0], "[5]");
	assert_view (views[1], "[[ -2]\n [513]]");
}

void test_all_views () throws GLib.Error {
	foreach (var mode in new Mtl.TensorFileMode[] { MAP, READ }) {
		var file = write_file ();
		var tensors = new Mtl.TensorFile.open (file, null, mode);
		int64 told = 0;
		var views = tensors.load_views (null, null, (done, total) => told = done);

		assert_both (views);
		assert_true (told == (mode == READ ? 5 : 0));
		assert_true (tensors.prefetch (views));
		assert_cmpuint (tensors.load_views ("a").length, EQ, 1);
		file.delete ();
	}
}

async void get_all_in_background (File file) throws Error {
	var tensors = new Mtl.TensorFile.open (file, null, Mtl.TensorFileMode.READ);
	int64 told = 0;

	assert_both (yield tensors.load_views_async (null, Priority.HIGH, null, (done, total) => told = done));
	assert_true (told == 5);
	assert_both (yield tensors.load_views_async ());
	assert_view (yield tensors.load_view_async ("b"), "[[ -2]\n [513]]");
	var entry = tensors.lookup_entry ("b");
	assert_view (yield entry.load_view_async (), "[[ -2]\n [513]]");
	assert_true (yield entry.check_async (NAN, Priority.LOW));
	assert_true (tensors.has_tensor ("b") && !tensors.has_tensor ("c"));
	assert_null (tensors.lookup_entry ("c"));
}

void test_all_views_async () throws GLib.Error {
	var file = write_file ();
	var loop = new MainLoop ();

	get_all_in_background.begin (file, (source, result) => {
		try {
			get_all_in_background.end (result);
		} catch (GLib.Error e) {
			error (e.message);
		}
		loop.quit ();
	});
	loop.run ();
	file.delete ();
}

void test_check () throws GLib.Error {
	var file = write_file ();
	var tensors = new Mtl.TensorFile.open (file);
	int64 told = 0;

	assert_true (tensors.check (NONE, null, (done, total) => told = done));
	assert_true (told == 5);
	assert_true (tensors.lookup_entry ("a").check (NAN | ALIGNMENT));
	try {
		tensors.lookup_entry ("b").check (ALIGNMENT);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_DATA e) {
		assert_says (e, { "“b”" });
	}
	file.delete ();
}

async void check_in_background (File file) throws Error {
	var tensors = new Mtl.TensorFile.open (file);

	assert_true (yield tensors.check_async (NAN | BOOL));
	assert_true (yield tensors.check_async (NAN | BOOL, Priority.LOW));
}

void test_check_async () throws GLib.Error {
	var file = write_file ();
	var loop = new MainLoop ();

	check_in_background.begin (file, (source, result) => {
		try {
			check_in_background.end (result);
		} catch (GLib.Error e) {
			error (e.message);
		}
		loop.quit ();
	});
	loop.run ();
	file.delete ();
}

async void open_in_background (File file) throws Error {
	var tensors = yield Mtl.TensorFile.open_async (file);
	assert_true (tensors.mode == MAP && tensors.load_view ("a")[0] == 5);

	tensors = yield Mtl.TensorFile.open_async (file, Mtl.Device.get_host (), READ, Priority.LOW);
	assert_true (tensors.mode == READ && tensors.load_view ("a")[0] == 5);
}

void test_open_async () throws GLib.Error {
	var file = write_file ();
	var loop = new MainLoop ();

	open_in_background.begin (file, (source, result) => {
		try {
			open_in_background.end (result);
		} catch (GLib.Error e) {
			error (e.message);
		}
		loop.quit ();
	});
	loop.run ();
	file.delete ();
}

void test_close () throws GLib.Error {
	var file = write_file ();
	var tensors = new Mtl.TensorFile.open (file);
	var view = tensors.load_view ("a");

	tensors.close ();
	assert_true (view[0] == 5);
	try {
		tensors.load_view ("a");
		assert_not_reached ();
	} catch (IOError.CLOSED e) {
		assert_says (e, { file.get_path () });
	}
	file.delete ();
}

delegate void Cancelled (Cancellable cancellable) throws GLib.Error;

void assert_cancelled (Cancelled call) throws GLib.Error {
	var cancellable = new Cancellable ();

	cancellable.cancel ();
	try {
		call (cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_true (cancellable.is_cancelled ());
	}
}

void test_cancelled () throws GLib.Error {
	var file = write_file ();

	assert_cancelled (cancellable => { new Mtl.TensorFile.open (file, null, AUTO, cancellable); });
	foreach (var mode in new Mtl.TensorFileMode[] { MAP, READ }) {
		var tensors = new Mtl.TensorFile.open (file, null, mode);
		var entry = tensors.lookup_entry ("b");

		assert_cancelled (cancellable => {
			new Mtl.TensorFile.open (file, null, mode, cancellable);
		});
		assert_cancelled (cancellable => { tensors.load_view ("b", cancellable); });
		assert_cancelled (cancellable => { entry.load_view (cancellable); });
		assert_cancelled (cancellable => { tensors.load_views ("b", cancellable); });
		assert_view (tensors.load_view ("b"), "[[ -2]\n [513]]");
	}
	file.delete ();
}

void test_no_file () throws GLib.Error {
	try {
		new Mtl.TensorFile.open (File.new_for_path ("/dev/null"));
		assert_not_reached ();
	} catch (IOError.NOT_REGULAR_FILE e) {
		assert_says (e, { "/dev/null" });
	}
}

int main (string[] args) {
	Test.init (ref args);
	add_test ("/vala/tensor-file/description", test_description);
	add_test ("/vala/tensor-file/views", test_views);
	add_test ("/vala/tensor-file/iteration", test_iteration);
	add_test ("/vala/tensor-file/match-names", test_match_names);
	add_test ("/vala/tensor-file/refused", test_refused);
	add_test ("/vala/tensor-file/all-views", test_all_views);
	add_test ("/vala/tensor-file/all-views-async", test_all_views_async);
	add_test ("/vala/tensor-file/check", test_check);
	add_test ("/vala/tensor-file/check-async", test_check_async);
	add_test ("/vala/tensor-file/open-async", test_open_async);
	add_test ("/vala/tensor-file/close", test_close);
	add_test ("/vala/tensor-file/cancelled", test_cancelled);
	add_test ("/vala/tensor-file/no-file", test_no_file);
	return Test.run ();
}

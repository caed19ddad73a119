/* SPDX-License-Identifier: LGPL-2.1-or-later */

File folder;

Mtl.TensorFileBuilder new_builder () throws GLib.Error {
	var builder = new Mtl.TensorFileBuilder ();
	var numbers = new Mtl.StridedView.from_doubles ({ 1, 2, 3, 4 }, Mtl.DType.INT16, { 2, 2 });

	builder.add ("a", numbers.transpose ());
	builder.add_converted ("b", numbers, Mtl.DType.BFLOAT16);
	builder.set_metadata ("format", "pt");
	return builder;
}

void assert_written (File file) throws GLib.Error {
	var tensors = new Mtl.TensorFile.open (file);

	assert_view (tensors["a"], "[[1 3]\n [2 4]]");
	assert_view (tensors["b"], "[[1. 2.]\n [3. 4.]]");
	assert_true (tensors["b"].dtype == Mtl.DType.BFLOAT16);
}

void test_write () throws GLib.Error {
	var file = folder.get_child ("file");
	int64 done = 0;

	assert_true (new_builder ().write (file));
	assert_true (new_builder ().write (file, null, (current, total) => done = current));
	assert_written (file);
	assert_true (done == file.query_info ("standard::size", NONE).get_size ());
	assert_cmpstr (new Mtl.TensorFile.open (file).lookup_metadata ("format"), EQ, "pt");
	file.delete ();
}

void test_shards () throws GLib.Error {
	var index = folder.get_child ("x.safetensors.index.json");

	assert_true (new_builder ().write_shards (index, 8));
	assert_written (index);
	remove_all ();
}

async void write_in_background () throws GLib.Error {
	var file = folder.get_child ("file");
	var index = folder.get_child ("x.safetensors.index.json");

	assert_true (yield new_builder ().write_async (file));
	assert_written (file);
	assert_true (yield new_builder ().write_async (file, Priority.LOW, new Cancellable ()));
	assert_written (file);
	assert_true (yield new_builder ().write_shards_async (index, 8, Priority.HIGH));
	assert_written (index);
}

void test_async () throws GLib.Error {
	var loop = new MainLoop ();

	write_in_background.begin ((source, result) => {
		try {
			write_in_background.end (result);
		} catch (GLib.Error e) {
			error (e.message);
		}
		loop.quit ();
	});
	loop.run ();
	remove_all ();
}

void test_options () throws GLib.Error {
	var builder = new Mtl.TensorFileBuilder ();
	var file = folder.get_child ("file");

	assert_true (builder.format == AUTO);
	assert_true (builder.get_sync ());
	builder.set_sync (false);
	assert_false (builder.sync);
	assert_true (builder.get_order () == ALIGNED);
	assert_cmpuint (builder.get_alignment (), EQ, 0);
	builder.set_format (NPY);
	builder.set_order (ADDED);
	builder.set_alignment (4096);
	assert_true (builder.format == NPY && builder.order == ADDED && builder.alignment == 4096);

	builder.add ("x", new Mtl.StridedView.from_doubles ({ 1, 2 }, Mtl.DType.UINT8, { 2 }));
	builder.write (file);
	assert_view (new Mtl.TensorFile.open (file)[""], "[1 2]");
	file.delete ();
}

void test_endings () throws GLib.Error {
	var builder = new Mtl.TensorFileBuilder ();

	try {
		builder.write (folder.get_child ("x.pt"));
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT error) {
		assert_says (error, { ".safetensors", ".npy" });
	}
	builder.add ("x", new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 1 }));
	builder.write (folder.get_child ("x.npy"));
	assert_true (new Mtl.TensorFile.open (folder.get_child ("x.npy")).format == NPY);
	var path = folder.get_child ("x.safetensors").get_path ();
	assert_true (builder.write_path (path));
	assert_view (Mtl.TensorFile.open_path (path)["x"], "[0]");
	File.new_for_path (path).delete ();
	folder.get_child ("x.npy").delete ();
}

void test_errors () throws GLib.Error {
	try {
		new_builder ().add ("a", new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 1 }));
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "“a”" });
	}
	try {
		new_builder ().write (folder);
		assert_not_reached ();
	} catch (IOError e) {
		assert_says (e, { folder.get_path () });
	}
}

void remove_all () throws GLib.Error {
	FileInfo? info;
	var children = folder.enumerate_children ("standard::name", NONE);

	while ((info = children.next_file ()) != null)
		folder.get_child (info.get_name ()).delete ();
}

int main (string[] args) {
	Test.init (ref args);
	try {
		folder = File.new_for_path (DirUtils.make_tmp ("mtl-XXXXXX"));
	} catch (FileError e) {
		error (e.message);
	}
	add_test ("/vala/tensor-file-builder/write", test_write);
	add_test ("/vala/tensor-file-builder/shards", test_shards);
	add_test ("/vala/tensor-file-builder/async", test_async);
	add_test ("/vala/tensor-file-builder/options", test_options);
	add_test ("/vala/tensor-file-builder/endings", test_endings);
	add_test ("/vala/tensor-file-builder/errors", test_errors);
	var status = Test.run ();
	DirUtils.remove (folder.get_path ());
	return status;
}

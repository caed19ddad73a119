/* SPDX-License-Identifier: LGPL-2.1-or-later */

void test_zeroed () throws GLib.Error {
	assert_contents (new_buffer (3), { 0, 0, 0 });
	assert_contents (new_buffer (0), {});
}

void test_place () throws GLib.Error {
	var buffer = new_buffer (3);
	unowned var device = Mtl.Device.get_default ();

	assert_true (buffer.device == device);
	assert_true (buffer.get_size () == 3 && buffer.size_known);
	assert_true (buffer.storage_mode == get_storage_mode ());
	assert_true (buffer.host_accessible == (get_storage_mode () != Mtl.StorageMode.PRIVATE));
	assert_true (buffer.device_accessible == (get_storage_mode () != Mtl.StorageMode.HOST));
	assert_false (buffer.read_only);
}

void test_host () throws GLib.Error {
	var buffer = new Mtl.Buffer (null, 3, Mtl.StorageMode.HOST);

	assert_contents (buffer, { 0, 0, 0 });
	assert_true (buffer.device == Mtl.Device.get_host ());
	assert_true (buffer.get_size () == 3);
	assert_true (buffer.size_known);
	assert_true (buffer.storage_mode == Mtl.StorageMode.HOST);
	assert_true (buffer.host_accessible);
	assert_false (buffer.device_accessible);
	assert_false (buffer.read_only);
	assert_true (buffer.get_byte_offset () == 0);
	assert_true (buffer.size == 3 && buffer.size_known && !buffer.read_only);
}

void test_no_memory () throws GLib.Error {
	try {
		new_buffer ((size_t) 1 << 62);
		assert_not_reached ();
	} catch (Mtl.Error.NO_MEMORY e) {
		assert_says (e, { "4611686018427387904" });
	}
}

void test_uninitialized () throws GLib.Error {
	var buffer = new Mtl.Buffer.uninitialized (null, 4, get_storage_mode ());

	assert_true (buffer.set_bytes (0, new Bytes ({ 1, 2, 3, 4 })));
	assert_contents (buffer, { 1, 2, 3, 4 });
	assert_true (buffer.set_bytes (2, new Bytes ({ 30 })));
	assert_contents (buffer, { 1, 2, 30, 4 });
}

void test_contents () throws GLib.Error {
	var buffer = new_buffer (4);
	unowned uint8[] contents = (uint8[]) buffer.get_contents ();

	buffer.set_bytes (0, new Bytes ({ 1, 2, 3, 4 }));
	assert_cmpuint (contents[1], EQ, 2);
	contents[2] = 30;
	assert_contents (buffer, { 1, 2, 30, 4 });
}

void test_from_bytes () throws GLib.Error {
	var bytes = new Bytes ({ 1, 2, 3 });
	var buffer = new Mtl.Buffer.from_bytes (bytes);

	assert_true (buffer.get_contents () == (void*) bytes.get_data ());
	assert_true (buffer.read_only);
	try {
		buffer.set_bytes (0, new Bytes ({ 9 }));
		assert_not_reached ();
	} catch (Mtl.Error.READ_ONLY e) {
		assert_contents (buffer, { 1, 2, 3 });
	}
}

void test_slice () throws GLib.Error {
	var buffer = new_buffer (4);
	var slice = buffer.slice (1, 2);

	slice.set_bytes (0, new Bytes ({ 7, 8 }));
	assert_contents (buffer, { 0, 7, 8, 0 });
	assert_true (slice.get_byte_offset () == 1);
	buffer = null;
	assert_contents (slice, { 7, 8 });
	try {
		slice.slice (1, 2);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "2" });
	}
}

void test_equal () throws GLib.Error {
	var buffer = new_buffer (4);

	assert_true (buffer.equal (buffer.slice (0, 4)));
	assert_cmpuint (buffer.hash (), EQ, buffer.slice (0, 4).hash ());
	assert_false (buffer.equal (buffer.slice (0, 3)));
}

void test_copied_bytes () throws GLib.Error {
	var buffer = new_buffer (3);
	var copied = buffer.dup_bytes (1, 2);

	buffer.set_bytes (1, new Bytes ({ 5, 6 }));
	assert_true (copied.compare (new Bytes ({ 0, 0 })) == 0);
	assert_true (buffer.dup_bytes (1, 2).compare (new Bytes ({ 5, 6 })) == 0);
}

void test_shared_bytes () throws GLib.Error {
	var buffer = new_buffer (3);
	var shared = buffer.get_bytes (1, 2);

	buffer.set_bytes (1, new Bytes ({ 5, 6 }));
	assert_true (shared.compare (new Bytes ({ 5, 6 })) == 0);
}

void test_copy () throws GLib.Error {
	var buffer = new_buffer (4);
	var source = new Mtl.Buffer.from_bytes (new Bytes ({ 1, 2, 3 }));

	assert_true (buffer.copy_from (1, source, 0, 3));
	assert_contents (buffer, { 0, 1, 2, 3 });
	buffer.copy_from (0, buffer, 1, 3);
	assert_contents (buffer, { 1, 2, 3, 3 });
	try {
		buffer.copy_from (2, source, 0, 3);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_contents (buffer, { 1, 2, 3, 3 });
	}
}

void test_whole_copy () throws GLib.Error {
	var buffer = new_buffer (4);

	buffer.set_bytes (0, new Bytes ({ 1, 2, 3, 4 }));
	var copy = buffer.copy ();
	var part = buffer.slice (1, 2).copy ();
	buffer.fill (0, 4, new Bytes ({ 9 }));
	assert_contents (copy, { 1, 2, 3, 4 });
	assert_contents (part, { 2, 3 });
	assert_true (copy.device == buffer.device && copy.storage_mode == get_storage_mode ());
	assert_false (copy.equal (buffer));
}

void test_writable_copy () throws GLib.Error {
	var buffer = new Mtl.Buffer.from_bytes (new Bytes ({ 1, 2 }));
	var copy = buffer.copy ();

	assert_true (buffer.read_only && !copy.read_only);
	copy.set_bytes (0, new Bytes ({ 9 }));
	assert_contents (copy, { 9, 2 });
	assert_contents (buffer, { 1, 2 });
}

void test_cancelled_copy () throws GLib.Error {
	var buffer = new_buffer (2);
	var cancellable = new Cancellable ();

	cancellable.cancel ();
	try {
		buffer.copy_from (0, new Mtl.Buffer.from_bytes (new Bytes ({ 1, 2 })), 0, 2, cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_contents (buffer, { 0, 0 });
	}
	try {
		buffer.copy (cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_true (cancellable.is_cancelled ());
	}
	try {
		buffer.synchronize (cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_true (cancellable.is_cancelled ());
	}
}

void test_properties () throws GLib.Error {
	var buffer = new Mtl.Buffer.from_bytes (new Bytes ({ 1, 2 }));

	assert_true (buffer.size == buffer.get_size ());
	assert_true (buffer.size_known == buffer.is_size_known ());
	assert_true (buffer.read_only == buffer.is_read_only () && buffer.read_only);
	assert_true (buffer.host_accessible == buffer.is_host_accessible ());
	assert_true (buffer.device_accessible == buffer.is_device_accessible ());
	assert_true (buffer.storage_mode == buffer.get_storage_mode ());
}

void test_mapped () throws GLib.Error {
	FileIOStream stream;
	var file = File.new_tmp (null, out stream);

	stream.output_stream.write_all ({ 1, 2, 3, 4, 5 }, null);
	stream.close ();
	var buffer = new Mtl.Buffer.mapped (file, null, 1, 3);
	var cancellable = new Cancellable ();
	cancellable.cancel ();
	try {
		new Mtl.Buffer.mapped (file, null, 1, 3, cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_contents (buffer, { 2, 3, 4 });
	}
	try {
		new Mtl.Buffer.mapped (file, null, 1, 5);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_says (e, { "5", "1" });
	}

	uint64 offset;
	FileInfo? info;
	File? mapped = buffer.slice (1, 2).dup_mapped_file (out offset, out info);
	assert_true (mapped != null && mapped.equal (file));
	assert_true (offset == 2 && info != null && info.get_size () == 5);
	assert_true (buffer.copy ().dup_mapped_file (out offset, out info) == null);
	assert_true (offset == 0 && info == null);

	file.delete ();
	try {
		new Mtl.Buffer.mapped (file, null, 0, 0);
		assert_not_reached ();
	} catch (IOError.NOT_FOUND e) {
		assert_says (e, { file.get_basename () });
	}
	assert_contents (buffer, { 2, 3, 4 });
	assert_true (buffer.read_only);
}

void test_fill () throws GLib.Error {
	var buffer = new_buffer (5);

	assert_true (buffer.fill (1, 4, new Bytes ({ 1, 2 })));
	assert_contents (buffer, { 0, 1, 2, 1, 2 });
	try {
		buffer.fill (0, 3, new Bytes ({ 1, 2, 3 }));
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_contents (buffer, { 0, 1, 2, 1, 2 });
	}
}

void test_synchronize () throws GLib.Error {
	var buffer = new_buffer (2);

	buffer.set_bytes (0, new Bytes ({ 1, 2 }));
	assert_true (buffer.synchronize ());
	assert_true (buffer.did_modify (0, 2));
	try {
		buffer.did_modify (1, 2);
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS error) {
	}
	assert_contents (buffer, { 1, 2 });
}

async void work_in_background () throws GLib.Error {
	var buffer = new_buffer (4);
	var copy = yield buffer.copy_async ();

	assert_true (yield buffer.set_bytes_async (0, new Bytes ({ 1, 2, 3 })));
	assert_true (yield buffer.fill_async (2, 2, new Bytes ({ 9 })));
	assert_true (yield buffer.synchronize_async ());
	assert_true ((yield buffer.dup_bytes_async (1, 3)).compare (new Bytes ({ 2, 9, 9 })) == 0);
	assert_true (yield copy.copy_from_async (0, buffer, 1, 2));
	assert_contents (copy, { 2, 9, 0, 0 });
	FileIOStream stream;
	var file = File.new_tmp (null, out stream);
	stream.output_stream.write ({ 1, 2, 3 });
	stream.close ();
	assert_contents (yield new Mtl.Buffer.mapped_async (file, null, 1, 2), { 2, 3 });
	file.delete ();
	try {
		yield buffer.fill_async (2, 3, new Bytes ({ 1 }));
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS e) {
		assert_contents (buffer, { 1, 2, 9, 9 });
	}
}

void test_background () throws GLib.Error {
	var loop = new MainLoop ();
	GLib.Error? failure = null;

	work_in_background.begin ((source, result) => {
		try {
			work_in_background.end (result);
		} catch (GLib.Error error) {
			failure = error;
		}
		loop.quit ();
	});
	loop.run ();
	assert_no_error (failure);
}

void test_initable () throws GLib.Error {
	var buffer = (Mtl.Buffer) Initable.@new (typeof (Mtl.Buffer), null, "size", (uint64) 2, "device",
		Mtl.Device.get_host ());

	assert_contents (buffer, { 0, 0 });
}

void test_interprocess () throws GLib.Error {
	var plain = new Mtl.Buffer (null, 3, Mtl.StorageMode.HOST);
	uint64 offset;

	assert_false (plain.is_interprocess ());
	try {
		plain.dup_fd (out offset);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "interprocess" });
	}
	if (!Mtl.Device.get_host ().supports_storage_mode (Mtl.StorageMode.INTERPROCESS))
		return;

	var buffer = new Mtl.Buffer (null, 5000, Mtl.StorageMode.INTERPROCESS);
	buffer.set_bytes (4998, new Bytes ({ 1, 2 }));
	var fd = buffer.slice (4997, 3).dup_fd (out offset);
	var other = new Mtl.Buffer.for_fd (fd, offset, 3,
	                                   Mtl.BufferFlags.READ_ONLY | Mtl.BufferFlags.NEVER_COPY);
	Posix.close (fd);
	assert_true (other.interprocess && other.read_only);
	assert_contents (other, { 0, 1, 2 });
	buffer.set_bytes (4997, new Bytes ({ 9 }));
	assert_contents (other, { 9, 1, 2 });
}

int main (string[] args) {
	Test.init (ref args);
	add_any_memory_test ("/vala/buffer/zeroed", test_zeroed);
	add_any_memory_test ("/vala/buffer/place", test_place);
	add_test ("/vala/buffer/host", test_host);
	add_any_memory_test ("/vala/buffer/no-memory", test_no_memory);
	add_any_memory_test ("/vala/buffer/uninitialized", test_uninitialized);
	add_test ("/vala/buffer/contents", test_contents);
	add_test ("/vala/buffer/from-bytes", test_from_bytes);
	add_any_memory_test ("/vala/buffer/slice", test_slice);
	add_any_memory_test ("/vala/buffer/equal", test_equal);
	add_any_memory_test ("/vala/buffer/copied-bytes", test_copied_bytes);
	add_test ("/vala/buffer/shared-bytes", test_shared_bytes);
	add_any_memory_test ("/vala/buffer/copy", test_copy);
	add_any_memory_test ("/vala/buffer/whole-copy", test_whole_copy);
	add_test ("/vala/buffer/writable-copy", test_writable_copy);
	add_any_memory_test ("/vala/buffer/cancelled-copy", test_cancelled_copy);
	add_test ("/vala/buffer/properties", test_properties);
	add_test ("/vala/buffer/mapped", test_mapped);
	add_any_memory_test ("/vala/buffer/fill", test_fill);
	add_any_memory_test ("/vala/buffer/synchronize", test_synchronize);
	add_any_memory_test ("/vala/buffer/background", test_background);
	add_test ("/vala/buffer/initable", test_initable);
	add_test ("/vala/buffer/interprocess", test_interprocess);
	return Test.run ();
}

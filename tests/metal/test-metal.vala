/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of Metal, on the real device or on the double. */

const string MATRIX = "[[1 2 3]\n [4 5 6]]";
const int64 TIMEOUT = 30 * TimeSpan.SECOND;

delegate void DeviceTest (Mtl.Device device) throws GLib.Error;
delegate void ModeTest (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error;

List<weak Mtl.Device> list_devices () {
	var devices = new List<weak Mtl.Device> ();

	foreach (unowned var device in Mtl.Device.list ()) {
		if (device.device_type == Mtl.DeviceType.METAL) {
			devices.append (device);
		}
	}
	return devices;
}

void add_device_test (string path, DeviceTest test) {
	foreach (unowned var device in list_devices ()) {
		add_test (@"$path/$(device.ordinal)", () => test (device));
	}
}

void add_test_for_modes (string path, Mtl.StorageMode[] modes, ModeTest test) {
	var nicks = (EnumClass) typeof (Mtl.StorageMode).class_ref ();

	foreach (unowned var device in list_devices ()) {
		foreach (var mode in modes) {
			if (device.supports_storage_mode (mode)) {
				unowned var nick = nicks.get_value (mode).value_nick;
				add_test (@"$path/$(device.ordinal)/$nick", () => test (device, mode));
			}
		}
	}
}

/* Adds a test for each storage mode that the device has. */
void add_mode_test (string path, ModeTest test) {
	add_test_for_modes (path, {
		Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED, Mtl.StorageMode.PRIVATE
	}, test);
}

/* Adds a test for each mode whose memory the host reaches. */
void add_reached_mode_test (string path, ModeTest test) {
	add_test_for_modes (path, { Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED }, test);
}

Mtl.StridedView make_matrix () throws Error {
	return new Mtl.StridedView.from_doubles ({ 1, 2, 3, 4, 5, 6 }, Mtl.DType.INT32, { 2, 3 });
}

Mtl.StridedView matrix (Mtl.Device device, Mtl.StorageMode mode) throws Error {
	return make_matrix ().to_device (device, mode);
}

void assert_place (Mtl.StridedView view, Mtl.Device device, Mtl.StorageMode mode) {
	assert_true (view.device == device);
	assert_true (view.buffer.device == device);
	assert_true (view.buffer.storage_mode == mode);
}

void assert_needs_copy (string value, ThrowingTest call) throws GLib.Error {
	try {
		call ();
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
		assert_says (e, { value });
	}
}

void assert_out_of_reach (ThrowingTest access) throws GLib.Error {
	try {
		access ();
		assert_not_reached ();
	} catch (Mtl.Error.NOT_HOST_ACCESSIBLE e) {
		assert_says (e, { "host" });
	}
}

void test_default () throws GLib.Error {
	unowned var device = Mtl.Device.get_default ();

	assert_true (list_devices ().find (device) != null);
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.INT8, { 2 });
	assert_place (view, device, Mtl.StorageMode.SHARED);
}

void test_device (Mtl.Device device) throws GLib.Error {
	assert_true (device.max_buffer_size >= 1 << 28);
	assert_true (device.page_size % 4096 == 0);
	assert_true (device.unified_memory == device.has_unified_memory ());
	assert_true (device.supports_storage_mode (Mtl.StorageMode.SHARED));
	assert_true (device.supports_storage_mode (Mtl.StorageMode.PRIVATE));
	assert_false (device.supports_storage_mode (Mtl.StorageMode.HOST));
	assert_false (device.supports_storage_mode (Mtl.StorageMode.FOREIGN));
	assert_true (Mtl.Device.@get (METAL, device.ordinal) == device);
}

void test_moves (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (device, mode);
	var is_reached = mode != Mtl.StorageMode.PRIVATE;

	assert_place (view, device, mode);
	assert_place (new Mtl.StridedView.zeros (device, Mtl.DType.INT8, { 2 }, mode), device, mode);
	assert_place (new Mtl.StridedView.uninitialized (device, Mtl.DType.INT8, { 2 }, mode), device,
	              mode);
	assert_place (new Mtl.StridedView.arange (device, Mtl.DType.INT8, 0, 2, 1, mode), device, mode);
	assert_place (new Mtl.StridedView.arange_int64 (device, Mtl.DType.INT8, 0, 2, 1, mode), device,
	              mode);
	assert_place (new Mtl.StridedView.filled (device, Mtl.DType.INT8, { 2 }, 5, mode), device, mode);
	assert_true (view.buffer.device_accessible);
	assert_true (view.host_accessible == is_reached);
	assert_true ((view.get_address () != 0) == is_reached);
	assert_true ((view.get_data () != null) == is_reached);
	assert_view (view, MATRIX);
	assert_view (view.transpose ().slice ("::-1"), "[[3 6]\n [2 5]\n [1 4]]");
	assert_true (view.to_device (device, mode) == view);

	var back = view.to_device (Mtl.Device.get_host (), Mtl.StorageMode.HOST);
	assert_place (back, Mtl.Device.get_host (), Mtl.StorageMode.HOST);
	assert_view (back, MATRIX);
	assert_true (back[1, 2] == 6);
}

void test_private_round_trip (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var part = matrix (device, mode).slice (":, ::2");
	var hidden = part.to_device (device, Mtl.StorageMode.PRIVATE);
	var back = hidden.to_device (device, mode);

	assert_place (hidden, device, Mtl.StorageMode.PRIVATE);
	assert_place (back, device, mode);
	assert_view (back, "[[1 3]\n [4 6]]");
	assert_true (back.array_equal (part));
}

void test_copies (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (device, mode);
	var converted = view.slice (":, ::2").to_dtype (Mtl.DType.FLOAT32);

	assert_place (converted, device, mode);
	assert_view (converted, "[[1. 3.]\n [4. 6.]]");
	assert_true (converted.slice ("1").fill_double (0.5));
	assert_view (converted, "[[1.  3. ]\n [0.5 0.5]]");
	assert_true (view.slice (":, 1:").copy_from (converted));
	assert_view (view, "[[1 1 3]\n [4 0 0]]");

	var copy = view.copy ();
	assert_place (copy, device, mode);
	assert_true (copy.array_equal (view));
	copy.fill_double (9);
	assert_view (view, "[[1 1 3]\n [4 0 0]]");
	assert_place (view.transpose ().to_contiguous (), device, mode);
	assert_place (new Mtl.StridedView.zeros_like (view), device, mode);
}

void test_bytes (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var buffer = new Mtl.Buffer (device, 11, mode);

	assert_true (buffer.set_bytes (1, new Bytes ({ 1, 2, 3 })));
	assert_contents (buffer, { 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0 });
	assert_true (buffer.fill (5, 6, new Bytes ({ 8, 9 })));
	assert_true (buffer.copy_from (4, buffer, 2, 3));
	assert_true (buffer.synchronize ());
	assert_contents (buffer, { 0, 1, 2, 3, 2, 3, 0, 8, 9, 8, 9 });
	assert_true (buffer.dup_bytes (3, 2).compare (new Bytes ({ 3, 2 })) == 0);

	var copy = buffer.slice (1, 3).copy ();
	buffer.fill (0, 11, new Bytes ({ 0 }));
	assert_true (copy.device == device && copy.storage_mode == mode);
	assert_contents (copy, { 1, 2, 3 });
}

/* The device sees the host's writes through an address, though it has read the memory before.
 */
void test_did_modify (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var buffer = new Mtl.Buffer (device, 8, mode);
	var hidden = new Mtl.Buffer (device, 8, Mtl.StorageMode.PRIVATE);
	unowned uint8[] contents = (uint8[]) buffer.get_contents ();

	hidden.copy_from (0, buffer, 0, 8);
	assert_contents (hidden, { 0, 0, 0, 0, 0, 0, 0, 0 });
	contents[2] = 7;
	contents[3] = 8;
	buffer.did_modify (2, 2);
	hidden.copy_from (0, buffer, 0, 8);
	assert_contents (hidden, { 0, 0, 7, 8, 0, 0, 0, 0 });
	buffer.copy_from (4, hidden, 2, 2);
	buffer.synchronize ();
	assert_cmpuint (contents[5], EQ, 8);
}

void test_out_of_reach (Mtl.Device device) throws GLib.Error {
	var view = matrix (device, Mtl.StorageMode.PRIVATE);
	var many = new Mtl.StridedView.zeros (null, Mtl.DType.INT8, { 1001 });

	assert_out_of_reach (() => { view.@get (0, 0); });
	assert_out_of_reach (() => { view[0, 0] = 1; });
	assert_out_of_reach (() => { view.get_bytes (); });
	assert_out_of_reach (() => { view.buffer.get_bytes (0, 4); });
	assert_view (view, MATRIX);
	assert_true (view.dup_bytes ().compare (make_matrix ().dup_bytes ()) == 0);
	assert_true (many.to_string ().contains ("..."));
	many = many.to_device (device, Mtl.StorageMode.PRIVATE);
	assert_true (many.to_string ().contains ("1001"));
}

void test_dlpack (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (device, mode);
	Mtl.DlpackFlags[] requests = {
		Mtl.DlpackFlags.NONE, Mtl.DlpackFlags.NEVER_COPY
	};

	foreach (var request in requests) {
		var tensor = view.slice ("1:, ::2").export_dlpack (request);
		assert_true (tensor.device == device);

		var part = new Mtl.StridedView.from_dlpack (tensor);
		assert_place (part, device, mode);
		assert_view (part, "[[4 6]]");
	}

	var other = new Mtl.StridedView.from_dlpack (view.export_dlpack ());
	other.fill_double (7);
	assert_view (view, "[[7 7 7]\n [7 7 7]]");
}

void test_dlpack_copy (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (device, mode);
	var tensor = view.flip (1).export_dlpack (NONE, device);
	assert_true (tensor.copied);

	var other = new Mtl.StridedView.from_dlpack (tensor);
	assert_place (other, device, mode);
	assert_view (other, "[[3 2 1]\n [6 5 4]]");
	other.fill_double (0);
	assert_view (view, MATRIX);
}

void test_dlpack_host (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (device, mode);
	var is_copied = mode == Mtl.StorageMode.PRIVATE;
	var tensor = view.export_dlpack (NONE, Mtl.Device.get_host ());

	assert_true (tensor.device == Mtl.Device.get_host ());
	assert_true (tensor.copied == is_copied);

	var other = new Mtl.StridedView.from_dlpack (tensor);
	assert_true (other.device == Mtl.Device.get_host ());
	assert_view (other, MATRIX);
	assert_true ((other.get_address () == view.get_address ()) == !is_copied);
	other[1, 2] = 60;
	assert_view (view, is_copied ? MATRIX : "[[ 1  2  3]\n [ 4  5 60]]");
	if (is_copied) {
		assert_needs_copy ("(1, 0)", () => { view.export_dlpack (NEVER_COPY, Mtl.Device.get_host ()); });
	} else {
		assert_false (view.export_dlpack (NEVER_COPY, Mtl.Device.get_host ()).copied);
	}
	assert_true (view.export_dlpack (COPY, Mtl.Device.get_host ()).copied);
}

void test_dlpack_from_host (Mtl.Device device) throws GLib.Error {
	var view = make_matrix ();
	var tensor = view.export_dlpack (NONE, device);
	assert_true (tensor.copied);

	var other = new Mtl.StridedView.from_dlpack (tensor);
	assert_place (other, device, Mtl.StorageMode.SHARED);
	assert_view (other, MATRIX);
	assert_needs_copy ("(1, 0)", () => { view.export_dlpack (NEVER_COPY, device); });
}

void test_bytes_in_place (Mtl.Device device) throws GLib.Error {
	var size = (size_t) (2 * device.page_size);
	var shared = new Mtl.Buffer (device, size, Mtl.StorageMode.SHARED);
	var within_a_page = shared.get_bytes (64, 100);
	var whole = shared.get_bytes (0, size);
	var in_place = new Mtl.Buffer.from_bytes (whole, device, NEVER_COPY);

	assert_true (in_place.device == device && in_place.read_only);
	assert_true (in_place.get_contents () == shared.get_contents ());
	shared.set_bytes (5, new Bytes ({ 9 }));
	assert_true (in_place.dup_bytes (4, 3).compare (new Bytes ({ 0, 9, 0 })) == 0);

	assert_needs_copy ("16384", () => {
		new Mtl.Buffer.from_bytes (within_a_page, device, NEVER_COPY);
	});
	var copied = new Mtl.Buffer.from_bytes (within_a_page, device);
	assert_true (copied.storage_mode == Mtl.StorageMode.SHARED);
	shared.set_bytes (64, new Bytes ({ 9 }));
	assert_true (copied.dup_bytes (0, 2).compare (new Bytes ({ 0, 0 })) == 0);
}

async void write_when_told (Mtl.Event event, Mtl.StridedView view) throws GLib.Error {
	yield event.wait_async (1, TIMEOUT, null);
	view.fill_double (5);
	event.signal (2);
}

async void work_in_order (Mtl.Device device) throws GLib.Error {
	var event = new Mtl.Event (device);
	var view = matrix (device, Mtl.StorageMode.PRIVATE);

	assert_true (event.device == device);
	write_when_told.begin (event, view, (source, result) => {
		try {
			write_when_told.end (result);
		} catch (GLib.Error e) {
			assert_no_error (e);
		}
	});
	assert_true (yield device.synchronize_async (null));
	assert_view (view, MATRIX);
	event.signal (1);
	assert_true (yield event.wait_async (2, TIMEOUT, null));
	assert_view (view, "[[5 5 5]\n [5 5 5]]");

	var tensor = view.export_dlpack (NONE, Mtl.Device.get_host ());
	assert_view (new Mtl.StridedView.from_dlpack (tensor), "[[5 5 5]\n [5 5 5]]");
}

void test_order (Mtl.Device device) throws GLib.Error {
	var loop = new MainLoop ();
	GLib.Error? failure = null;

	work_in_order.begin (device, (source, result) => {
		try {
			work_in_order.end (result);
		} catch (GLib.Error e) {
			failure = e;
		}
		loop.quit ();
	});
	loop.run ();
	assert_no_error (failure);
}

void test_tensor (Mtl.Device device, Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (device, mode);
	var tensor = view.to_metal_tensor (COMPUTE | RENDER);
	var other = new Mtl.StridedView.from_metal_tensor (tensor);

	assert_true (view.to_metal_tensor (COMPUTE | RENDER) == tensor);
	assert_place (other, device, mode);
	assert_view (other, MATRIX);
	assert_needs_copy ("(16, 1)", () => view.to_metal_tensor (MACHINE_LEARNING));
}

int main (string[] args) {
	Test.init (ref args);
	add_test ("/vala/metal/default", test_default);
	add_device_test ("/vala/metal/device", test_device);
	add_mode_test ("/vala/metal/moves", test_moves);
	add_mode_test ("/vala/metal/private-round-trip", test_private_round_trip);
	add_mode_test ("/vala/metal/copies", test_copies);
	add_mode_test ("/vala/metal/bytes", test_bytes);
	add_reached_mode_test ("/vala/metal/did-modify", test_did_modify);
	add_device_test ("/vala/metal/out-of-reach", test_out_of_reach);
	add_mode_test ("/vala/metal/dlpack", test_dlpack);
	add_mode_test ("/vala/metal/dlpack-copy", test_dlpack_copy);
	add_mode_test ("/vala/metal/dlpack-host", test_dlpack_host);
	add_device_test ("/vala/metal/dlpack-from-host", test_dlpack_from_host);
	add_device_test ("/vala/metal/bytes-in-place", test_bytes_in_place);
	add_mode_test ("/vala/metal/tensor", test_tensor);
	add_device_test ("/vala/metal/order", test_order);
	return Test.run ();
}

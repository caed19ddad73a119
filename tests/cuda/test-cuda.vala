/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory and streams of CUDA, over NVIDIA's driver or the double of it. */

const string MATRIX = "[[1 2 3]\n [4 5 6]]";
const int64 TIMEOUT = 30 * TimeSpan.SECOND;

delegate void ModeTest (Mtl.StorageMode mode) throws GLib.Error;

unowned Mtl.Device get_gpu () throws Error {
	return Mtl.Device.@get (CUDA);
}

/* Adds a test for each storage mode. */
void add_mode_test (string path, ModeTest test) {
	var nicks = (EnumClass) typeof (Mtl.StorageMode).class_ref ();
	Mtl.StorageMode[] modes = { SHARED, MANAGED, PRIVATE };

	foreach (var mode in modes) {
		unowned var nick = nicks.get_value (mode).value_nick;
		add_any_memory_test (@"$path/$nick", () => test (mode));
	}
}

Mtl.StridedView make_matrix () throws Error {
	return new Mtl.StridedView.from_doubles ({ 1, 2, 3, 4, 5, 6 }, Mtl.DType.INT32, { 2, 3 });
}

Mtl.StridedView matrix (Mtl.StorageMode mode) throws Error {
	return make_matrix ().to_device (get_gpu (), mode);
}

void assert_place (Mtl.StridedView view, Mtl.StorageMode mode) throws Error {
	assert_true (view.device == get_gpu ());
	assert_true (view.buffer.storage_mode == mode);
}

void test_device () throws GLib.Error {
	unowned var gpu = get_gpu ();

	assert_true (gpu.device_type == Mtl.DeviceType.CUDA);
	assert_true (gpu.get_uuid ().has_prefix ("GPU-"));
	assert_true (gpu.get_memory_size () == gpu.memory_size);
	assert_true (gpu.memory_size > 1 << 28);
	assert_false (gpu.is_host_accessible ());
	assert_true (gpu.supports_storage_mode (PRIVATE));
	assert_false (gpu.supports_storage_mode (HOST));
	assert_true (Mtl.Device.list ().find (gpu) != null);
	assert_true (Mtl.Device.@get (CUDA_HOST).supports_storage_mode (SHARED));
	assert_true (Mtl.Device.@get (CUDA_MANAGED).supports_storage_mode (MANAGED));
	try {
		Mtl.Device.@get (CUDA, 99);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "(2, 99)" });
	}
}

void test_memory (Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (mode);
	var is_reached = mode != Mtl.StorageMode.PRIVATE;

	assert_place (view, mode);
	assert_place (new Mtl.StridedView.zeros (get_gpu (), Mtl.DType.INT8, { 2 }, mode), mode);
	assert_place (new Mtl.StridedView.filled (get_gpu (), Mtl.DType.INT8, { 2 }, 5, mode), mode);
	assert_true (view.host_accessible == is_reached);
	assert_true ((view.get_data () != null) == is_reached);
	assert_true (view.get_address () != 0);
	assert_view (view, MATRIX);
	assert_view (view.transpose ().slice ("::-1"), "[[3 6]\n [2 5]\n [1 4]]");

	var back = view.to_device (Mtl.Device.get_host (), Mtl.StorageMode.HOST);
	assert_true (back.device == Mtl.Device.get_host ());
	assert_view (back, MATRIX);
}

void test_copies (Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (mode);
	var converted = view.slice (":, ::2").to_dtype (Mtl.DType.FLOAT32);

	assert_place (converted, mode);
	assert_view (converted, "[[1. 3.]\n [4. 6.]]");
	assert_true (converted.slice ("1").fill_double (0.5));
	assert_view (converted, "[[1.  3. ]\n [0.5 0.5]]");
	assert_true (view.slice (":, 1:").copy_from (converted));
	assert_view (view, "[[1 1 3]\n [4 0 0]]");
	assert_true (view.copy ().array_equal (view));
}

void test_dlpack (Mtl.StorageMode mode) throws GLib.Error {
	var view = matrix (mode);
	var is_reached = mode != Mtl.StorageMode.PRIVATE;
	var tensor = view.export_dlpack ();
	var other = new Mtl.StridedView.from_dlpack (tensor);

	assert_false (tensor.copied);
	assert_place (other, mode);
	assert_true (other.get_address () == view.get_address ());
	tensor = view.export_dlpack (NONE, Mtl.Device.get_host ());
	assert_true (tensor.copied != is_reached);
	assert_view (new Mtl.StridedView.from_dlpack (tensor), MATRIX);
	tensor = view.export_dlpack (NEVER_COPY, get_gpu ());
	assert_true (tensor.get_device () == get_gpu ());
	try {
		make_matrix ().export_dlpack (NEVER_COPY, get_gpu ());
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY e) {
		assert_says (e, { "(2, 0)" });
	}
}

void test_stream () throws GLib.Error {
	unowned var gpu = get_gpu ();
	var own = new Mtl.Stream.for_device (gpu);
	var stream = new Mtl.Stream (gpu);
	var same = new Mtl.Stream.for_handle (stream.handle, gpu);
	var view = matrix (PRIVATE);

	assert_true (stream.device == gpu && stream.get_device () == gpu);
	assert_true (same.get_handle () == stream.handle && stream.handle != own.handle);
	same.push_thread_default ();
	view.slice ("1").fill_double (7);
	same.pop_thread_default ();
	assert_true (own.wait_stream (stream));
	assert_true (own.synchronize ());
	assert_view (view, "[[1 2 3]\n [7 7 7]]");
	try {
		new Mtl.Stream.for_handle (0, gpu);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "0" });
	}
	try {
		new Mtl.Stream (Mtl.Device.get_host ());
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_true (e.message != "");
	}
}

void test_events () throws GLib.Error {
	var stream = new Mtl.Stream (get_gpu ());
	var event = new Mtl.Event (get_gpu ());
	var view = matrix (PRIVATE);

	assert_true (stream.wait_event (event, 1));
	stream.push_thread_default ();
	view.fill_double (5);
	stream.pop_thread_default ();
	assert_true (stream.signal_event (event, 2));
	assert_true (event.signaled_value == 0);
	event.signal (1);
	assert_true (stream.synchronize ());
	assert_true (event.wait (2, TIMEOUT));
	assert_view (view, "[[5 5 5]\n [5 5 5]]");
	try {
		stream.wait_event (new Mtl.Event (Mtl.Device.get_host ()), 1);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_true (e.message != "");
	}
}

async void await_stream () throws GLib.Error {
	var stream = new Mtl.Stream (get_gpu ());
	var cancellable = new Cancellable ();

	assert_true (yield stream.synchronize_async ());
	cancellable.cancel ();
	try {
		yield stream.synchronize_async (cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_true (cancellable.is_cancelled ());
	}
}

void test_async () throws GLib.Error {
	var loop = new MainLoop ();
	GLib.Error? failure = null;

	await_stream.begin ((source, result) => {
		try {
			await_stream.end (result);
		} catch (GLib.Error e) {
			failure = e;
		}
		loop.quit ();
	});
	loop.run ();
	assert_no_error (failure);
}

int main (string[] args) {
	Test.init (ref args);
	add_any_memory_test ("/vala/cuda/device", test_device);
	add_mode_test ("/vala/cuda/memory", test_memory);
	add_mode_test ("/vala/cuda/copies", test_copies);
	add_mode_test ("/vala/cuda/dlpack", test_dlpack);
	add_any_memory_test ("/vala/cuda/stream", test_stream);
	add_any_memory_test ("/vala/cuda/events", test_events);
	add_any_memory_test ("/vala/cuda/async", test_async);
	return Test.run ();
}

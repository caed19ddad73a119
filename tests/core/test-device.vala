/* SPDX-License-Identifier: LGPL-2.1-or-later */

void test_host () {
	unowned var host = Mtl.Device.get_host ();

	assert_true (Mtl.Device.list ().find (host) != null);
	assert_true (Mtl.Device.list ().find (Mtl.Device.get_default ()) != null);
	assert_true (host.get_device_type () == Mtl.DeviceType.CPU);
	assert_cmpint (host.get_ordinal (), EQ, 0);
	assert_cmpuint (host.get_name ().length, GT, 0);
	assert_true (host.is_host_accessible ());
	assert_true (host.get_max_buffer_size () > int.MAX);
	assert_true (host.get_page_size () >= 1);
	assert_true (host.get_memory_size () > 1 << 28);
	assert_true (host.get_uuid () == null);
	assert_true (host.supports_storage_mode (Mtl.StorageMode.HOST));
	assert_true (host.supports_storage_mode (Mtl.StorageMode.DEFAULT));
	assert_false (host.supports_storage_mode (Mtl.StorageMode.FOREIGN));
}

void test_properties () {
	unowned var host = Mtl.Device.get_host ();

	assert_true (host.device_type == Mtl.DeviceType.CPU);
	assert_true (host.host_accessible);
	assert_cmpstr (host.name, EQ, host.get_name ());
	assert_true (host.page_size == host.get_page_size ());
	assert_true (host.memory_size == host.get_memory_size ());
}

void test_get () {
	try {
		assert_true (Mtl.Device.@get (Mtl.DeviceType.CPU, 0) == Mtl.Device.get_host ());
		Mtl.Device.@get (Mtl.DeviceType.CPU, 7);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { "7" });
	} catch (Mtl.Error e) {
		assert_no_error (e);
	}

	try {
		assert_true (Mtl.Device.get_by_name ("cpu") == Mtl.Device.get_host ());
		Mtl.Device.get_by_name ("gpu");
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "gpu" });
	} catch (Mtl.Error e) {
		assert_no_error (e);
	}

	try {
		Mtl.Device.@get (Mtl.DeviceType.UNKNOWN);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "(0, 0)" });
	} catch (Mtl.Error e) {
		assert_no_error (e);
	}
}

void test_synchronize () {
	var cancellable = new Cancellable ();

	try {
		assert_true (Mtl.Device.get_host ().synchronize ());
		cancellable.cancel ();
		Mtl.Device.get_host ().synchronize (cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED e) {
		assert_true (cancellable.is_cancelled ());
	} catch (GLib.Error e) {
		assert_no_error (e);
	}
}

void test_dtypes () {
	string[] names = { "bool", "uint8", "int64", "float32", "bfloat16", "float8_e4m3fn" };

	try {
		foreach (unowned var name in names) {
			assert_cmpstr (Mtl.DType.from_string (name).to_string (), EQ, name);
		}
		assert_true (Mtl.DType.from_string ("float32") == Mtl.DType.FLOAT32);
		Mtl.DType.from_string ("float33");
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT e) {
		assert_says (e, { "float33" });
	} catch (Mtl.Error e) {
		assert_no_error (e);
	}

	assert_cmpuint (Mtl.DType.FLOAT4_E2M1FN.get_bits (), EQ, 4);
	assert_cmpuint (Mtl.DType.COMPLEX64.get_bits (), EQ, 64);
}

void test_version () {
	assert_cmpint (Mtl.MAJOR_VERSION, EQ, 1);
	assert_cmpint (Mtl.MINOR_VERSION, GE, 0);
	assert_cmpint (Mtl.MICRO_VERSION, GE, 0);
	assert_true (Mtl.Error.quark () == new Mtl.Error.DEVICE ("").domain);
}

int main (string[] args) {
	Test.init (ref args);
	Test.add_func ("/vala/device/host", test_host);
	Test.add_func ("/vala/device/properties", test_properties);
	Test.add_func ("/vala/device/get", test_get);
	Test.add_func ("/vala/device/synchronize", test_synchronize);
	Test.add_func ("/vala/dtype", test_dtypes);
	Test.add_func ("/vala/version", test_version);
	return Test.run ();
}

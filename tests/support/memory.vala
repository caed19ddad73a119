/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The memory of the tests' tensors: what the default device has by default.
 * MTL_TEST_STORAGE_MODE, private say, puts them into memory of that mode, and runs the tests that
 * hold in memory of every mode. Those run alone, too, where the host does not reach the default.
 */

public Mtl.StorageMode get_default_mode () {
	switch (Mtl.Device.get_default ().device_type) {
	case CPU:
		return HOST;
	case CUDA:
		return PRIVATE;
	default:
		return SHARED;
	}
}

public Mtl.StorageMode get_storage_mode () {
	unowned var nick = Environment.get_variable ("MTL_TEST_STORAGE_MODE");

	if (nick == null || nick == "") {
		return get_default_mode ();
	}

	var modes = (EnumClass) typeof (Mtl.StorageMode).class_ref ();
	unowned EnumValue? mode = modes.get_value_by_nick (nick);
	if (mode == null) {
		error ("MTL_TEST_STORAGE_MODE=%s is no storage mode", nick);
	}
	return (Mtl.StorageMode) mode.value;
}

public bool runs_all () {
	var mode = get_storage_mode ();

	return mode == get_default_mode () && mode != Mtl.StorageMode.PRIVATE;
}

public Mtl.Buffer new_buffer (size_t size) throws Error {
	return new Mtl.Buffer (null, size, get_storage_mode ());
}

/* A copy of a view of the host's memory, where the tests' tensors lie; on the
 * host the view itself.
 */
public Mtl.StridedView place (Mtl.StridedView view) throws Error {
	return view.to_device (Mtl.Device.get_default (), get_storage_mode ());
}

/* The elements where the host reaches them. */
public Mtl.StridedView fetch (Mtl.StridedView view) throws Error {
	return view.host_accessible
		? view
		: view.to_device (Mtl.Device.get_host (), Mtl.StorageMode.HOST);
}

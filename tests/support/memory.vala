/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The memory of the tests' tensors: the default device's that the host reaches.
 * MTL_TEST_STORAGE_MODE, private say, puts them into memory of that mode, and runs the tests that
 * hold in memory of every mode.
 */

public Mtl.StorageMode get_default_mode () {
	return Mtl.Device.get_default () == Mtl.Device.get_host ()
		? Mtl.StorageMode.HOST
		: Mtl.StorageMode.SHARED;
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

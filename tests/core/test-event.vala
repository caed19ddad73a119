/* SPDX-License-Identifier: LGPL-2.1-or-later */

void test_signal () {
	try {
		var event = new Mtl.Event (Mtl.Device.get_default ());

		assert_true (event.device == Mtl.Device.get_default ());
		assert_cmpuint ((uint) event.signaled_value, EQ, 0);
		event.signal (5);
		event.signal (3);
		assert_cmpuint ((uint) event.signaled_value, EQ, 5);
		assert_true (event.wait (5, 0));

		var made = (Mtl.Event) Initable.@new (typeof (Mtl.Event), null, "device",
			Mtl.Device.get_host ());
		assert_true (made.device == Mtl.Device.get_host ());
	} catch (GLib.Error e) {
		assert_no_error (e);
	}
}

void test_timeout () {
	try {
		var event = new Mtl.Event ();

		event.wait (1, 1000);
		assert_not_reached ();
	} catch (GLib.Error e) {
		assert_true (e is IOError.TIMED_OUT);
	}
}

async void wait_for_all () throws GLib.Error {
	var event = new Mtl.Event (null);
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.INT8, { 2 });

	Timeout.add (5, () => {
		event.signal (2);
		return Source.REMOVE;
	});
	assert_true (yield event.wait_async (2, -1));
	assert_true (yield Mtl.Device.get_host ().synchronize_async ());

	var tensor = view.export_dlpack ();
	assert_cmpuint ((uint) new Mtl.StridedView.from_dlpack (tensor).volume, EQ, 2);
}

void test_async () {
	var loop = new MainLoop ();

	wait_for_all.begin ((source, result) => {
		try {
			wait_for_all.end (result);
		} catch (GLib.Error e) {
			assert_no_error (e);
		}
		loop.quit ();
	});
	loop.run ();
}

void test_bytes_without_a_copy () {
	try {
		var buffer = new Mtl.Buffer.from_bytes (new Bytes ({ 1, 2 }), Mtl.Device.get_host (),
			NEVER_COPY);

		assert_true (buffer.read_only);
		assert_true (Mtl.Device.get_host ().has_unified_memory ());
	} catch (Mtl.Error e) {
		assert_no_error (e);
	}
}

int main (string[] args) {
	Test.init (ref args);
	Test.add_func ("/vala/event/signal", test_signal);
	Test.add_func ("/vala/event/timeout", test_timeout);
	Test.add_func ("/vala/event/async", test_async);
	Test.add_func ("/vala/buffer/never-copy", test_bytes_without_a_copy);
	return Test.run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

struct Pair {
	Mtl.TensorConnection here;
	Mtl.TensorConnection there;
}

/* Connections for both ends. */
Pair connect_both () throws GLib.Error {
	int ends[2];

	assert_true (Posix.socketpair (Posix.AF_UNIX, Posix.SOCK_STREAM, 0, ends) == 0);
	return Pair () {
		here = new Mtl.TensorConnection (new Socket.from_fd (ends[0])),
		there = new Mtl.TensorConnection (new Socket.from_fd (ends[1]))
	};
}

void test_properties () throws GLib.Error {
	var pair = connect_both ();
	var other = new Mtl.TensorConnection (pair.here.socket, Mtl.TensorPeerFlags.ALLOW_OTHER_USERS);

	assert_true (pair.here.get_socket () == pair.here.socket);
	assert_true (pair.here.get_flags () == Mtl.TensorPeerFlags.NONE);
	assert_true (other.flags == Mtl.TensorPeerFlags.ALLOW_OTHER_USERS);
	assert_true (pair.here.get_max_views () == 256);
	pair.here.set_max_views (3);
	pair.here.set_max_bytes (1000);
	assert_true (pair.here.max_views == 3);
	assert_true (pair.here.max_bytes == 1000 && pair.here.get_max_bytes () == 1000);
}

void test_views () throws GLib.Error {
	var pair = connect_both ();
	var shared = new Mtl.StridedView.arange (null, Mtl.DType.FLOAT32, 0, 30000, 1,
	                                         Mtl.StorageMode.INTERPROCESS);
	var own = pair.here.allocate_view (Mtl.DType.UINT8, { 100, 1000 });
	var extras = new VariantDict ();
	Variant received_extras;

	extras.insert_value ("name", "frame");
	assert_true (pair.here.send (shared.slice ("::-2"), extras.end ()));
	var received = pair.there.receive (out received_extras);
	assert_true (received.get_double ({ 0 }) == 29999);
	assert_true (received.read_only && received.get_buffer ().is_interprocess ());
	shared.set_double ({ 29999 }, 5);
	assert_true (received.get_double ({ 0 }) == 5);
	assert_cmpstr (received_extras.lookup_value ("name", VariantType.STRING).get_string (), EQ,
	               "frame");

	own.fill_double (7);
	pair.here.send (own);
	received = pair.there.receive (out received_extras);
	assert_true (received.get_double ({ 99, 999 }) == 7);
}

async void exchange (Pair pair) throws GLib.Error {
	var view = new Mtl.StridedView.arange (null, Mtl.DType.FLOAT64, 0, 10, 1);
	Variant extras;

	assert_true (yield pair.here.send_async (view));
	var received = yield pair.there.receive_async (null, out extras);
	assert_true (received.get_double ({ 9 }) == 9);
}

void test_background () throws GLib.Error {
	var pair = connect_both ();
	var loop = new MainLoop ();
	GLib.Error? error = null;

	exchange.begin (pair, (source, result) => {
		try {
			exchange.end (result);
		} catch (GLib.Error e) {
			error = e;
		}
		loop.quit ();
	});
	loop.run ();
	assert_no_error (error);
}

void test_closed () throws GLib.Error {
	var pair = connect_both ();
	Variant extras;

	pair.there.socket.close ();
	try {
		pair.here.receive (out extras);
		assert_not_reached ();
	} catch (IOError.CONNECTION_CLOSED e) {
	}
}

int main (string[] args) {
	Test.init (ref args);
	add_test ("/vala/tensor-connection/properties", test_properties);
	add_test ("/vala/tensor-connection/views", test_views);
	add_test ("/vala/tensor-connection/background", test_background);
	add_test ("/vala/tensor-connection/closed", test_closed);
	return Test.run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

const string PATH = "/org/mtldl/test/Tensor";

/* An exported tensor, and a proxy for it without a bus between. */
class Pair {
	public DBusConnection exporter;
	public Mtl.ExportedTensor tensor;
	public Mtl.TensorProxy proxy;
}

async DBusConnection connect_end (int fd, string? guid, DBusConnectionFlags flags)
                                  throws GLib.Error {
	var stream = SocketConnection.factory_create_connection (new Socket.from_fd (fd));

	return yield new DBusConnection (stream, guid, flags);
}

/* Each end of the connection waits for the other one. */
async Pair export_view (Mtl.StridedView view) throws GLib.Error {
	int ends[2];
	var pair = new Pair ();
	AsyncResult? kept = null;
	SourceFunc resume = export_view.callback;
	var is_waiting = false;

	assert_true (Posix.socketpair (Posix.AF_UNIX, Posix.SOCK_STREAM, 0, ends) == 0);
	connect_end.begin (ends[1], null, DBusConnectionFlags.AUTHENTICATION_CLIENT, (source, result) => {
		kept = result;
		if (is_waiting) {
			resume ();
		}
	});
	pair.exporter = yield connect_end (ends[0], DBus.generate_guid (),
	                                   DBusConnectionFlags.AUTHENTICATION_SERVER);
	is_waiting = true;
	if (kept == null) {
		yield;
	}

	pair.tensor = new Mtl.ExportedTensor (view);
	assert_true (pair.tensor.export (pair.exporter, PATH));
	pair.proxy = new Mtl.TensorProxy (connect_end.end (kept), null, PATH);
	return pair;
}

async void check_properties () throws GLib.Error {
	var view = new Mtl.StridedView.arange (null, Mtl.DType.INT32, 0, 3, 1);
	var pair = yield export_view (view);
	var open = new Mtl.ExportedTensor (view, Mtl.TensorPeerFlags.ALLOW_OTHER_USERS);

	assert_true (pair.tensor.get_view () == view && pair.tensor.view == view);
	assert_true (pair.tensor.get_flags () == Mtl.TensorPeerFlags.NONE);
	assert_true (open.flags == Mtl.TensorPeerFlags.ALLOW_OTHER_USERS);
	assert_false (pair.tensor.get_writable ());
	pair.tensor.set_writable (true);
	assert_true (pair.tensor.writable);
	assert_true (pair.proxy.get_connection () == pair.proxy.connection);
	assert_true (pair.proxy.get_bus_name () == null);
	assert_cmpstr (pair.proxy.get_object_path (), EQ, PATH);
}

async void check_views () throws GLib.Error {
	var view = new Mtl.StridedView.arange (null, Mtl.DType.FLOAT32, 0, 30000, 1,
	                                       Mtl.StorageMode.INTERPROCESS);
	var pair = yield export_view (view.slice ("::-2"));
	Mtl.DType dtype;
	bool read_only;

	var fetched = yield pair.proxy.fetch_view_async ();
	assert_true (fetched.get_double ({ 0 }) == 29999);
	view.set_double ({ 29999 }, 5);
	assert_true (fetched.get_double ({ 0 }) == 5);
	var layout = yield pair.proxy.fetch_layout_async (null, out dtype, out read_only);
	assert_int64s (layout.get_strides (), { -2 });
	assert_true (dtype == Mtl.DType.FLOAT32 && read_only);
}

async void check_offers () throws GLib.Error {
	var pair = yield export_view (new Mtl.StridedView.arange (null, Mtl.DType.INT32, 0, 3, 1));
	var offered = new Mtl.StridedView.arange (null, Mtl.DType.INT32, 5, 9, 1);
	var extras = new VariantDict ();

	try {
		yield pair.proxy.put_async (offered, null);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED e) {
		assert_says (e, { PATH });
	}

	pair.tensor.put.connect ((view, extras) => {
		pair.tensor.set_view (view);
		return extras.lookup_value ("name", VariantType.STRING) != null;
	});
	extras.insert_value ("name", "frame");
	assert_true (yield pair.proxy.put_async (offered, extras.end ()));
	var fetched = yield pair.proxy.fetch_view_async ();
	assert_true (fetched.get_double ({ 3 }) == 8);
}

async void check_writing () throws GLib.Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.INT32, { 3, 4 });
	var pair = yield export_view (view);
	var row = new Mtl.StridedView.arange (null, Mtl.DType.INT32, 1, 5, 1);
	string[] changes = {};
	string[] written = {};

	pair.proxy.changed.connect ((serial, region) => { changes += region; });
	pair.tensor.written.connect ((region) => { written += region; });
	pair.tensor.writable = true;
	assert_true (yield pair.proxy.copy_from_async (row, "::2, ::-1"));
	assert_true (view.get_double ({ 2, 0 }) == 4 && view.get_double ({ 1, 0 }) == 0);
	assert_true (pair.tensor.announce_change ());
	assert_true (pair.tensor.announce_change ("1:"));
	yield pair.proxy.fetch_view_async ();
	assert_cmpstr (string.joinv ("|", changes), EQ, "::2, ::-1||1:");
	assert_cmpstr (string.joinv ("|", written), EQ, "::2, ::-1");
}

/* A synchronous call of an object in this thread would wait for itself. */
async void check_errors () throws GLib.Error {
	var pair = yield export_view (new Mtl.StridedView.arange (null, Mtl.DType.INT32, 0, 3, 1));
	var nowhere = new Mtl.TensorProxy (pair.proxy.connection, null, "no path");
	var n_errors = 0;

	pair.tensor.unexport (pair.exporter);
	for (var i = 0; i < 5; i++) {
		try {
			switch (i) {
			case 0:
				nowhere.fetch_view ();
				break;
			case 1:
				Mtl.DType dtype;
				bool read_only;
				nowhere.fetch_layout (out dtype, out read_only);
				break;
			case 2:
				nowhere.put (pair.tensor.view);
				break;
			case 3:
				nowhere.copy_from (pair.tensor.view);
				break;
			default:
				pair.tensor.export (pair.exporter, "no path");
				break;
			}
		} catch (Mtl.Error.INVALID_ARGUMENT e) {
			assert_says (e, { "no path" });
			n_errors++;
		}
	}
	assert_cmpint (n_errors, EQ, 5);

	try {
		yield pair.proxy.fetch_view_async ();
		assert_not_reached ();
	} catch (DBusError.UNKNOWN_METHOD e) {
	}
}

/* Runs a test with a main loop. */
delegate void Begin (owned AsyncReadyCallback callback);
delegate void End (AsyncResult result) throws GLib.Error;

void run (Begin begin, End end) throws GLib.Error {
	var loop = new MainLoop ();
	AsyncResult? kept = null;

	begin ((source, result) => {
		kept = result;
		loop.quit ();
	});
	loop.run ();
	end (kept);
}

int main (string[] args) {
	Test.init (ref args);
	add_test ("/vala/exported-tensor/properties", () => {
		run ((done) => check_properties.begin ((owned) done), (r) => check_properties.end (r));
	});
	add_test ("/vala/exported-tensor/views", () => {
		run ((done) => check_views.begin ((owned) done), (r) => check_views.end (r));
	});
	add_test ("/vala/exported-tensor/offers", () => {
		run ((done) => check_offers.begin ((owned) done), (r) => check_offers.end (r));
	});
	add_test ("/vala/exported-tensor/writing", () => {
		run ((done) => check_writing.begin ((owned) done), (r) => check_writing.end (r));
	});
	add_test ("/vala/exported-tensor/errors", () => {
		run ((done) => check_errors.begin ((owned) done), (r) => check_errors.end (r));
	});
	return Test.run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* usage: peer-vala send|receive FD: one end of test_languages.py */

void send_view (Mtl.TensorConnection connection, Mtl.StridedView view, string name) throws GLib.Error {
	var extras = new VariantDict ();

	extras.insert_value ("name", name);
	connection.send (view, extras.end ());
}

void send_all (Mtl.TensorConnection connection) throws GLib.Error {
	unowned var host = Mtl.Device.get_host ();
	var small = new Mtl.StridedView.arange_int64 (host, Mtl.DType.INT64, 0, 6).reshape ({ 2, 3 });
	var matrix = new Mtl.StridedView.arange (host, Mtl.DType.FLOAT32, 0, 24, 1,
	                                         Mtl.StorageMode.INTERPROCESS).reshape ({ 4, 6 });
	var large = new Mtl.StridedView.arange_int64 (host, Mtl.DType.UINT32, 0, 100000);

	send_view (connection, small, "small");
	send_view (connection, matrix.slice ("::-1, ::2"), "shared");
	send_view (connection, large, "large");
}

void receive_one (Mtl.TensorConnection connection) throws GLib.Error {
	Variant extras;
	var view = connection.receive (out extras);
	var name = extras.lookup_value ("name", VariantType.STRING).get_string ();

	print ("%s %d %d %s\n", name, (int) view.read_only, (int) view.get_buffer ().is_interprocess (),
	       view.format ().replace ("\n", "|"));
}

int main (string[] args) {
	try {
		var socket = new Socket.from_fd (int.parse (args[2]));
		var connection = new Mtl.TensorConnection (socket);

		if (args[1] == "send")
			send_all (connection);
		else
			for (var i = 0; i < 3; i++)
				receive_one (connection);
	} catch (GLib.Error e) {
		printerr ("%s\n", e.message);
		return 1;
	}
	return 0;
}

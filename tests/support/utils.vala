/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A test that may throw, which fails it. */
public delegate void ThrowingTest () throws GLib.Error;

/* A test that holds in memory of every storage mode. */
public void add_any_memory_test (string path, owned ThrowingTest test) {
	Test.add_data_func (path, () => {
		try {
			test ();
		} catch (GLib.Error e) {
			assert_no_error (e);
		}
	});
}

public void add_test (string path, owned ThrowingTest test) {
	if (runs_all ()) {
		add_any_memory_test (path, (owned) test);
	}
}

/* Each value stands in the message as a whole: 12 neither in 128, -12, 0.12 nor 12.5. */
public void assert_says (Error e, string[] values) {
	foreach (unowned var value in values) {
		var begin = Regex.match_simple ("^[\\w-]", value) ? "(?<!\\w)" : "";
		var end = Regex.match_simple ("\\w$", value) ? "(?!\\w)" : "";
		if (value[0].isdigit ()) {
			begin += "(?<!\\d\\.)(?<!(?<!\\w)-)";
		}
		if (value[value.length - 1].isdigit ()) {
			end += "(?!\\.\\d)";
		}
		if (!Regex.match_simple (begin + Regex.escape_string (value) + end, e.message)) {
			error ("“%s” does not say %s", e.message, value);
		}
	}
}

public void assert_int64s (int64[] actual, int64[] expected) {
	var a = new StringBuilder ();
	var b = new StringBuilder ();

	foreach (var value in actual) {
		a.append_printf ("%s ", value.to_string ());
	}
	foreach (var value in expected) {
		b.append_printf ("%s ", value.to_string ());
	}
	assert_cmpstr (a.str, EQ, b.str);
}

public void assert_ints (int[] actual, int[] expected) {
	assert_cmpint (actual.length, EQ, expected.length);
	for (var i = 0; i < actual.length; i++) {
		assert_cmpint (actual[i], EQ, expected[i]);
	}
}

/* Printed by a copy where the host does not reach the elements. */
public void assert_view (Mtl.StridedView view, string expected) {
	assert_cmpstr (view.to_string (), EQ, expected);
}

public void assert_contents (Mtl.Buffer buffer, uint8[] expected) throws Error {
	assert_true (buffer.dup_bytes (0, buffer.get_size ()).compare (new Bytes (expected)) == 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A test that may throw, which fails it. */
public delegate void ThrowingTest () throws GLib.Error;

public void add_test (string path, ThrowingTest test) {
	Test.add_data_func (path, () => {
		try {
			test ();
		} catch (GLib.Error e) {
			assert_no_error (e);
		}
	});
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

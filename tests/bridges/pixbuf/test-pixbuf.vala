/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Both functions from Vala; test-pixbuf.c has the cases. */

void test_to_view () {
	try {
		var pixbuf = new Gdk.Pixbuf (Gdk.Colorspace.RGB, false, 8, 5, 3);
		pixbuf.fill (0x0a141eff);
		var view = MtlPixbuf.view_from_pixbuf (pixbuf);
		assert_cmpuint (view.n_dims, CompareOperator.EQ, 3);
		assert (view.get_extent (0) == 3 && view.get_extent (1) == 5 && view.get_extent (2) == 3);
		assert (view.layout.get_stride (0) == 16);
		assert (view.get_address () == (uint64) (uintptr) pixbuf.read_pixels ());

		view.set_int64 ({ 1, 2, 0 }, 99);
		assert (pixbuf.get_pixels ()[16 + 6] == 99);
		assert (pixbuf.get_pixels ()[16 + 7] == 0x14);

		/* The view alone keeps the pixels. */
		pixbuf = null;
		assert (view.get_int64 ({ 1, 2, 0 }) == 99);
	} catch (Mtl.Error error) {
		assert_not_reached ();
	}
}

void test_new_from_view () {
	try {
		var view = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 2, 3, 4 });
		var pixbuf = MtlPixbuf.pixbuf_from_view (view);
		assert (view.get_address () == (uint64) (uintptr) pixbuf.read_pixels ());

		pixbuf.fill (0x01020304);
		assert (view.get_int64 ({ 1, 2, 3 }) == 4);

		/* The picture alone keeps them, too. */
		view = null;
		assert (pixbuf.get_pixels ()[23] == 4);
	} catch (Mtl.Error error) {
		assert_not_reached ();
	}
}

void test_error () {
	try {
		var view = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 2, 3, 4 });
		MtlPixbuf.pixbuf_from_view (view.flip (0));
		assert_not_reached ();
	} catch (Mtl.Error error) {
		assert (error is Mtl.Error.NEEDS_COPY);
		assert (error.message.contains ("(-12, 4, 1)"));
	}
}

int main (string[] args) {
	Test.init (ref args);
	Test.add_func ("/pixbuf/to-view", test_to_view);
	Test.add_func ("/pixbuf/new-from-view", test_new_from_view);
	Test.add_func ("/pixbuf/error", test_error);
	return Test.run ();
}

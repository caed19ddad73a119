/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* picture IN OUT [--hops]
 *
 * Loads a picture, changes it in place, and saves it as PNG. The pixels stay
 * where GdkPixbuf put them when it loaded the file: the views, the second
 * Gdk.Pixbuf and the Gdk.Texture all use that memory. */

/* Exchanges red and blue in the lower half, below a white line. */
void change (Mtl.StridedView view) throws Error {
	/* A slice is another view of the same memory: writing to it changes the
	 * picture. */
	var lower = view.slice (@"$(view.get_extent (0) / 2):");

	/* As in Python: the first three channels of all pixels. This leaves out a
	 * fourth one, the opacity. Source and destination of the copy overlap, but
	 * the result is still right. */
	var colors = lower.slice ("..., :3");
	colors.copy_from (colors.slice ("..., ::-1"));

	lower.slice (":4").fill_double (255);
}

int main (string[] args) {
	bool show_hops = args.length == 4 && args[3] == "--hops";

	if (args.length != 3 && !show_hops) {
		printerr ("usage: picture IN OUT [--hops]\n");
		return 2;
	}

	try {
		var pixbuf = new Gdk.Pixbuf.from_file (args[1]);

		/* A view [height, width, channels] of the picture's own pixels. */
		var view = MtlPixbuf.view_from_pixbuf (pixbuf);
		change (view);

		/* And back. There is nothing to keep or free by hand. GTK assumes that
		 * the pixels do not change: do not write to them while the texture may
		 * be drawn. */
		var result = MtlPixbuf.pixbuf_from_view (view);
		var texture = MtlGtk.texture_from_view (view);

		if (show_hops) {
			print_hops (pixbuf, view, texture);
		}
		result.save (args[2], "png");
	} catch (Error error) {
		printerr ("picture: %s\n", error.message);
		return 1;
	}

	return 0;
}

/* The rest of this file measures the addresses and times of each hop, and the
 * times of the same hop with a copy. */

delegate Object Make () throws Error;

/* Returns the best of several runs, in microseconds per call. If they take long
 * there are fewer, but at least two. */
double measure (int n_calls, Make make) throws Error {
	int64 deadline = get_monotonic_time () + TimeSpan.SECOND / 5;
	int64 best = int64.MAX;

	for (int run = 0; run < 15; run++) {
		int64 start = get_monotonic_time ();

		if (run >= 2 && start > deadline) {
			break;
		}

		for (int i = 0; i < n_calls; i++) {
			make ();
		}
		best = int64.min (best, get_monotonic_time () - start);
	}

	return (double) best / n_calls;
}

void print_hop (string name, uint64 before, uint64 after,
                Make make, Make make_copied) throws Error {
	print ("%s\t0x%" + uint64.FORMAT_MODIFIER + "x\t0x%" + uint64.FORMAT_MODIFIER + "x\t%.3f\t%.3f\n",
	       name, before, after, measure (100, make), measure (10, make_copied));
}

uint64 get_address (Gdk.Pixbuf pixbuf) {
	return (uint64) (uintptr) pixbuf.read_pixels ();
}

void print_hops (Gdk.Pixbuf pixbuf, Mtl.StridedView view, Gdk.Texture texture) throws Error {
	unowned var shape = view.get_shape ();
	unowned var strides = view.get_strides ();
	uint64 address = view.get_address ();

	print_hop ("GdkPixbuf -> view",
	           get_address (pixbuf), MtlPixbuf.view_from_pixbuf (pixbuf).get_address (),
	           () => MtlPixbuf.view_from_pixbuf (pixbuf),
	           () => new Mtl.StridedView.from_bytes_with_byte_strides (
	               pixbuf.read_pixel_bytes (), Mtl.DType.UINT8, shape, strides));
	print_hop ("view -> GdkPixbuf",
	           address, get_address (MtlPixbuf.pixbuf_from_view (view)),
	           () => MtlPixbuf.pixbuf_from_view (view),
	           () => MtlPixbuf.pixbuf_from_view (view.copy ()));
	print_hop ("view -> Gdk.MemoryTexture",
	           address, MtlGtk.view_from_texture (texture).get_address (),
	           () => MtlGtk.texture_from_view (view),
	           () => MtlGtk.texture_from_view (view.copy ()));
}

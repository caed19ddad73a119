/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every function and method from Vala; the tests in C have the cases. */

Mtl.StridedView make_numbers (int64[] shape) throws Mtl.Error, IOError {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, shape);
	uint8[] bytes = {};

	for (int i = 0; i < view.get_volume (); i++) {
		bytes += (uint8) i;
	}
	view.buffer.set_bytes (0, new Bytes (bytes));
	return view;
}

delegate void Call () throws Mtl.Error, IOError;

/* Returns the code of the error, or -1. */
int failure_of (Call call) {
	try {
		call ();
		return -1;
	} catch (Mtl.Error error) {
		return error.code;
	} catch (IOError error) {
		return -1;
	}
}

Cancellable cancelled () {
	var cancellable = new Cancellable ();
	cancellable.cancel ();
	return cancellable;
}

void test_texture () throws Error {
	var view = make_numbers ({ 3, 4, 3 });
	var texture = MtlGtk.texture_from_view (view);
	assert (texture.width == 4 && texture.height == 3);

	var back = MtlGtk.view_from_texture (texture);
	assert (back.get_address () == view.get_address ());
	assert (back.is_read_only ());
	view.set_int64 ({ 2, 3, 0 }, 255);
	assert (back.get_int64 ({ 2, 3, 0 }) == 255);
	var pixels = MtlGtk.download_texture (texture);
	assert (pixels.get_int64 ({ 2, 3, 0 }) == 255);
	assert (pixels.get_int64 ({ 2, 3, 3 }) == 255);

	var plane = MtlGtk.view_from_texture_plane (texture, 0);
	assert (plane.get_address () == view.get_address ());
	assert (failure_of (() => { MtlGtk.view_from_texture_plane (texture, 1); })
	        == Mtl.Error.OUT_OF_BOUNDS);
	plane = null;

	/* The texture alone keeps the pixels. */
	back = null;
	view = null;
	pixels = MtlGtk.download_texture (texture, Mtl.DType.UINT8, MtlGtk.Channels.BGR);
	assert (pixels.get_int64 ({ 0, 1, 0 }) == 5);

	/* So does a view of it. */
	back = MtlGtk.view_from_texture (texture);
	texture = null;
	assert (back.get_int64 ({ 0, 1, 0 }) == 3);
}

void test_texture_errors () throws Error {
	var view = make_numbers ({ 2, 2, 4 });

	assert (failure_of (() => { MtlGtk.texture_from_view (view, MtlGtk.Channels.RGB); })
	        == Mtl.Error.INVALID_ARGUMENT);
	var reversed = view.flip (0);
	assert (failure_of (() => { MtlGtk.texture_from_view (reversed); }) == Mtl.Error.NEEDS_COPY);
	var texture = MtlGtk.texture_from_view (reversed, MtlGtk.Channels.AUTO,
	                                        MtlGtk.TextureFlags.ALLOW_COPY);
	assert (MtlGtk.view_from_texture (texture).array_equal (reversed));

	try {
		MtlGtk.download_texture (texture, Mtl.DType.UINT8, MtlGtk.Channels.AUTO,
		                         MtlGtk.TextureFlags.NONE, cancelled ());
		assert_not_reached ();
	} catch (IOError error) {
		assert (error is IOError.CANCELLED);
	}
}

void test_memory_format () throws Error {
	Gdk.MemoryFormat format;
	Mtl.DType dtype;
	MtlGtk.Channels channels;
	MtlGtk.TextureFlags flags;

	assert (MtlGtk.memory_format_from_pixel (Mtl.DType.UINT8, MtlGtk.Channels.BGRA,
	                                         MtlGtk.TextureFlags.PREMULTIPLIED, out format));
	assert (format == Gdk.MemoryFormat.B8G8R8A8_PREMULTIPLIED);
	assert (MtlGtk.pixel_from_memory_format (format, out dtype, out channels, out flags));
	assert (dtype == Mtl.DType.UINT8 && channels == MtlGtk.Channels.BGRA
	        && flags == MtlGtk.TextureFlags.PREMULTIPLIED);
	assert (failure_of (() => {
		MtlGtk.memory_format_from_pixel (Mtl.DType.INT8, MtlGtk.Channels.RGB,
		                                 MtlGtk.TextureFlags.NONE, out format);
	}) == Mtl.Error.INVALID_ARGUMENT);
}

void test_view_of_surface () throws Error {
	var surface = new Cairo.ImageSurface (Cairo.Format.ARGB32, 5, 3);
	var view = MtlGtk.view_from_surface (surface);
	assert (view.get_address () == (uint64) (uintptr) surface.get_data ());
	assert (view.get_extent (0) == 3 && view.get_extent (1) == 5 && view.get_extent (2) == 4);

	view.set_int64 ({ 1, 2, 0 }, 99);
	assert (surface.get_data ()[28] == 99);
	surface.get_data ()[0] = 98;
	assert (view.get_int64 ({ 0, 0, 0 }) == 98);

	/* The view alone keeps the pixels. */
	surface = null;
	assert (view.get_int64 ({ 1, 2, 0 }) == 99);

	var bits = new Cairo.ImageSurface (Cairo.Format.A1, 5, 3);
	assert (failure_of (() => { MtlGtk.view_from_surface (bits); }) == Mtl.Error.NOT_SUPPORTED);
}

void test_surface_of_view () throws Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 3, 5, 4 });
	assert (MtlGtk.check_surface (view, Cairo.Format.ARGB32));
	var surface = MtlGtk.surface_from_view (view, Cairo.Format.ARGB32);
	assert ((uint64) (uintptr) surface.get_data () == view.get_address ());
	assert (surface.get_width () == 5 && surface.get_height () == 3);

	var context = new Cairo.Context (surface);
	context.set_source_rgb (1, 1, 1);
	context.rectangle (1, 1, 2, 1);
	context.fill ();
	surface.flush ();
	assert (view.get_int64 ({ 1, 1, 0 }) == 255);
	assert (view.get_int64 ({ 1, 3, 0 }) == 0);

	assert (failure_of (() => { MtlGtk.surface_from_view (view, Cairo.Format.A8); })
	        == Mtl.Error.INVALID_ARGUMENT);
	var read_only = view.as_read_only ();
	assert (failure_of (() => { MtlGtk.check_surface (read_only, Cairo.Format.ARGB32); })
	        == Mtl.Error.READ_ONLY);

	/* The surface alone keeps the memory. */
	context = null;
	read_only = null;
	view = null;
	assert (surface.get_data ()[24] == 255);
}

async void colorize_in_background (MainLoop loop) {
	try {
		var view = make_numbers ({ 6, 7 });
		var expected = MtlGtk.colorize (view, MtlGtk.ColorMap.HEAT, 0, 41);
		var colors = yield MtlGtk.colorize_async (view, MtlGtk.ColorMap.HEAT, 0, 41);
		assert (colors.array_equal (expected));
		var grays = yield MtlGtk.colorize_async (view);
		assert (grays.array_equal (MtlGtk.colorize (view, MtlGtk.ColorMap.GRAY, 0, 1)));
		assert (MtlGtk.colorize (view).array_equal (grays));

		var texture = MtlGtk.texture_from_view (colors);
		var pixels = yield MtlGtk.download_texture_async (texture, Mtl.DType.UINT8,
		                                                  MtlGtk.Channels.RGB);
		assert (pixels.array_equal (colors));

		var palette = make_numbers ({ 85, 3 });
		expected = MtlGtk.colorize_with_colors (view, palette, 0, 41);
		colors = yield MtlGtk.colorize_with_colors_async (view, palette, 0, 41);
		assert (colors.array_equal (expected));
	} catch (Error error) {
		assert_not_reached ();
	}
	loop.quit ();
}

async void fail_in_background (MainLoop loop) {
	try {
		var view = make_numbers ({ 6 });
		yield MtlGtk.colorize_async (view, MtlGtk.ColorMap.HEAT, 0, 41);
		assert_not_reached ();
	} catch (Mtl.Error error) {
		assert (error is Mtl.Error.INVALID_ARGUMENT);
	} catch (IOError error) {
		assert_not_reached ();
	}

	try {
		var view = make_numbers ({ 6, 7 });
		yield MtlGtk.colorize_async (view, MtlGtk.ColorMap.HEAT, 0, 41, cancelled ());
		assert_not_reached ();
	} catch (IOError error) {
		assert (error is IOError.CANCELLED);
	} catch (Mtl.Error error) {
		assert_not_reached ();
	}
	loop.quit ();
}

void test_in_background () {
	var loop = new MainLoop ();

	colorize_in_background.begin (loop);
	loop.run ();
	fail_in_background.begin (loop);
	loop.run ();
}

/* The pixels that GTK draws. */
Mtl.StridedView get_shown (MtlGtk.ViewPaintable paintable) throws Error {
	var snapshot = new Gtk.Snapshot ();

	paintable.snapshot (snapshot, paintable.get_intrinsic_width (),
	                    paintable.get_intrinsic_height ());
	return MtlGtk.view_from_texture (((Gsk.TextureNode) snapshot.to_node ()).get_texture ());
}

void test_writable_paintable () throws Error {
	var view = make_numbers ({ 3, 4, 3 });
	var paintable = new MtlGtk.ViewPaintable ();
	int n_invalidated = 0;

	assert (paintable.get_texture () == null);
	paintable.set_view (view);
	assert (paintable.get_view () == view && paintable.view == view);
	paintable.invalidate_contents.connect (() => n_invalidated++);

	view.set_int64 ({ 1, 1, 0 }, 99);
	assert (get_shown (paintable).get_address () != view.get_address ());
	assert (get_shown (paintable).get_int64 ({ 1, 1, 0 }) == 15);
	paintable.invalidate (Gdk.Rectangle () { x = 1, y = 1, width = 1, height = 1 });
	assert (n_invalidated == 1);
	assert (get_shown (paintable).array_equal (view));
	view.fill_double (7);
	paintable.invalidate ();
	assert (get_shown (paintable).array_equal (view));

	paintable.set_view (null);
	assert (paintable.get_view () == null);
}

void test_read_only_paintable () throws Error {
	var view = make_numbers ({ 3, 4, 4 });
	var paintable = new MtlGtk.ViewPaintable ();

	paintable.set_view (view.as_read_only (), MtlGtk.Channels.BGRA,
	                    MtlGtk.TextureFlags.PREMULTIPLIED);
	assert (get_shown (paintable).get_address () == view.get_address ());

	/* The paintable alone keeps the memory. */
	view = null;
	assert (get_shown (paintable).get_int64 ({ 0, 1, 0 }) == 4);
}

void test_properties () throws Error {
	var view = make_numbers ({ 2, 3 });
	var paintable = (MtlGtk.ViewPaintable) Object.new (typeof (MtlGtk.ViewPaintable),
	                                                   color_map: MtlGtk.ColorMap.HEAT,
	                                                   view: view, high: 5.0);
	assert (paintable.error == null);
	assert (get_shown (paintable).array_equal (MtlGtk.colorize (view, MtlGtk.ColorMap.HEAT, 0, 5)));

	paintable.channels = MtlGtk.Channels.RGB;
	assert (paintable.error.matches (Mtl.Error.quark (), Mtl.Error.INVALID_ARGUMENT));
	assert (paintable.get_texture () == null && paintable.view == view);
	paintable.view = make_numbers ({ 2, 3, 3 });
	assert (paintable.error == null && paintable.channels == MtlGtk.Channels.RGB);
	assert (get_shown (paintable).array_equal (paintable.view));

	paintable.flags = MtlGtk.TextureFlags.ALLOW_COPY;
	paintable.colors = make_numbers ({ 2, 3 });
	paintable.low = -1;
	assert (paintable.flags == MtlGtk.TextureFlags.ALLOW_COPY && paintable.colors.n_dims == 2);
	assert (paintable.color_map == MtlGtk.ColorMap.HEAT && paintable.low == -1
	        && paintable.high == 5);
}

void test_color_map () throws Error {
	var view = make_numbers ({ 2, 3 }).to_dtype (Mtl.DType.FLOAT64);
	var paintable = new MtlGtk.ViewPaintable ();

	assert (failure_of (() => { paintable.set_view (view); }) == Mtl.Error.INVALID_ARGUMENT);
	paintable.set_color_map (MtlGtk.ColorMap.HEAT, 0, 5);
	paintable.set_view (view);
	var expected = MtlGtk.colorize (view, MtlGtk.ColorMap.HEAT, 0, 5);
	assert (get_shown (paintable).array_equal (expected));
	assert (failure_of (() => { paintable.set_color_map (MtlGtk.ColorMap.NONE); })
	        == Mtl.Error.INVALID_ARGUMENT);

	var colors = make_numbers ({ 6, 3 });
	paintable.set_colors (colors, 0, 5);
	expected = MtlGtk.colorize_with_colors (view, colors, 0, 5);
	assert (expected.get_int64 ({ 1, 2, 2 }) == colors.get_int64 ({ 5, 2 }));
	assert (get_shown (paintable).array_equal (expected));
	var wrong = make_numbers ({ 6 });
	assert (failure_of (() => { paintable.set_colors (wrong, 0, 5); })
	        == Mtl.Error.INVALID_ARGUMENT);
}

#if LINUX
void test_dmabuf () throws Error {
	var layout = new Mtl.StridedLayout.with_byte_strides ({ 2, 3 }, { 3, 1 }, 8);

	assert (failure_of (() => { MtlGtk.view_from_dmabuf (-1, 0, layout, Mtl.DType.UINT8); })
	        == Mtl.Error.INVALID_ARGUMENT);

	/* Without a screen, it is enough that the call compiles. */
	var display = Gdk.Display.get_default ();
	if (display == null) {
		return;
	}

	try {
		MtlGtk.texture_from_dmabuf (display, -1, 0, layout, 0x34325258);
		assert_not_reached ();
	} catch (Error error) {
		assert (error is Mtl.Error.INVALID_ARGUMENT || error is Mtl.Error.NOT_SUPPORTED);
	}
}
#endif

delegate void Function () throws Error;

void add (string name, owned Function function) {
	Test.add_data_func ("/gtk/" + name, () => {
		try {
			function ();
		} catch (Error error) {
			Test.message ("%s", error.message);
			Test.fail ();
		}
	});
}

int main (string[] args) {
	Test.init (ref args);
	Gtk.init_check (); /* without a screen, too */
	add ("texture", test_texture);
	add ("texture-errors", test_texture_errors);
	add ("memory-format", test_memory_format);
	add ("view-of-surface", test_view_of_surface);
	add ("surface-of-view", test_surface_of_view);
	add ("in-background", () => test_in_background ());
	add ("writable-paintable", test_writable_paintable);
	add ("read-only-paintable", test_read_only_paintable);
	add ("properties", test_properties);
	add ("color-map", test_color_map);
#if LINUX
	add ("dmabuf", test_dmabuf);
#endif
	return Test.run ();
}

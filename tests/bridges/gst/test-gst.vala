/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All functions from Vala; the tests in C have the cases. */

const Gst.MapFlags WRITE = Gst.MapFlags.WRITE;

Gst.Caps rgb () {
	return Gst.Caps.from_string ("video/x-raw, format=RGB, width=5, height=3, framerate=30/1");
}

Gst.Caps nv12 () {
	return Gst.Caps.from_string ("video/x-raw, format=NV12, width=8, height=6, framerate=30/1");
}

Gst.Caps stereo () {
	return Gst.Caps.from_string ("audio/x-raw, format=S16LE, rate=48000, channels=2,"
		+ " layout=interleaved, channel-mask=(bitmask)3");
}

Gst.Video.Info video_info (Gst.Caps caps) {
	return new Gst.Video.Info.with_caps (caps);
}

Gst.Audio.Info audio_info (Gst.Caps caps) {
	return new Gst.Audio.Info.with_caps (caps);
}

Gst.Buffer new_buffer (size_t size) {
	var buffer = new Gst.Buffer.allocate (null, size, null);
	var bytes = new uint8[size];
	for (var i = 0; i < size; i++) {
		bytes[i] = (uint8) i;
	}
	buffer.fill (0, bytes);
	return buffer;
}

uint64 address_of (Gst.Buffer buffer) {
	Gst.MapInfo map;
	assert (buffer.map (out map, Gst.MapFlags.READ));
	var address = (uint64) (uintptr) map.data;
	buffer.unmap (map);
	return address;
}

void assert_shape (Mtl.StridedView view, int64[] shape) {
	assert_cmpuint ((uint) view.n_dims, CompareOperator.EQ, shape.length);
	for (var axis = 0; axis < shape.length; axis++) {
		assert (view.shape[axis] == shape[axis]);
	}
}

void test_video () throws Error {
	var buffer = new_buffer (48);
	var view = MtlGst.view_from_video_buffer (buffer, video_info (rgb ()));
	assert_shape (view, { 3, 5, 3 });
	assert (view.get_address () == address_of (buffer));
	assert (view.is_read_only ());
	assert (view.get_int64 ({ 1, 2, 0 }) == 22);

	var green = MtlGst.view_from_video_buffer_component (buffer, video_info (rgb ()), 1);
	assert_shape (green, { 3, 5 });
	assert (green.get_address () == address_of (buffer) + 1);

	assert (MtlGst.view_from_buffer_with_caps (buffer, rgb ()).array_equal (view));
}

void test_frames () throws Error {
	var buffer = new_buffer (72);
	var address = address_of (buffer);
	var info = video_info (nv12 ());
	Gst.Video.Frame frame = {};
	try {
		MtlGst.view_from_video_frame (frame);
		assert_not_reached ();
	} catch (Mtl.Error.INVALID_ARGUMENT error) {
	}

	assert (frame.map (info, buffer, WRITE));
	var y = MtlGst.view_from_video_frame (frame);
	var uv = MtlGst.view_from_video_frame (frame, 1);
	var v = MtlGst.view_from_video_frame_component (frame, 2);
	frame.unmap ();
	assert_shape (y, { 6, 8 });
	assert_shape (v, { 3, 4 });
	assert (y.get_address () == address && v.get_address () == uv.get_address () + 1);
	y.fill_double (1);
	uv.fill_double (2);
	v.fill_double (3);
	assert (y.close () && uv.close () && v.close ());

	uint8[] written;
	buffer.extract_dup (0, 72, out written);
	for (var i = 0; i < 72; i++) {
		assert (written[i] == (i < 48 ? 1 : 2 + i % 2));
	}
}

void test_planes_written_together () throws Error {
	var buffer = new_buffer (72);
	var address = address_of (buffer);
	var y = MtlGst.view_from_buffer_with_caps (buffer, nv12 (), 0, WRITE);
	var uv = MtlGst.view_from_video_buffer (buffer, video_info (nv12 ()), 1, WRITE);
	assert (y.get_address () == address && uv.get_address () == address + 48);
	y.fill_double (1);
	uv.fill_double (2);
	var other = uv;
	assert (y.close ());
	try {
		uv.close ();
		assert_not_reached ();
	} catch (Mtl.Error.BUSY error) {
	}
	other = null;
	assert (uv.close ());

	uint8[] written;
	buffer.extract_dup (0, 72, out written);
	for (var i = 0; i < 72; i++) {
		assert (written[i] == (i < 48 ? 1 : 2));
	}
}

void test_bytes () throws Error {
	var buffer = new_buffer (48);
	var view = MtlGst.view_from_buffer (buffer, Mtl.DType.UINT16, { 2, 3 });
	assert_shape (view, { 2, 3 });
	assert (view.get_address () == address_of (buffer));
	assert (view.get_int64 ({ 1, 2 }) == 2826);
}

void test_audio () throws Error {
	var buffer = new_buffer (24);
	var info = audio_info (stereo ());
	var view = MtlGst.view_from_audio_buffer (buffer, info);
	assert_shape (view, { 6, 2 });
	assert (view.get_address () == address_of (buffer));
	assert (MtlGst.view_from_audio_buffer_channel (buffer, info, 1).get_address ()
		== address_of (buffer) + 2);

	var samples = new Mtl.StridedView.zeros (null, Mtl.DType.INT16, { 6, 2 });
	assert (MtlGst.audio_caps_from_view (samples, 48000).is_equal (stereo ()));
	assert (address_of (MtlGst.audio_buffer_from_view (samples, info)) == samples.get_address ());
}

void test_buffers () throws Error {
	var pixels = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 4, 6, 3 });
	var crop = pixels.slice ("1:4, :5");
	var buffer = MtlGst.video_buffer_from_view (crop, video_info (rgb ()));
	assert (address_of (buffer) == crop.get_address ());

	/* The meta has all that is needed. */
	var view = MtlGst.view_from_video_buffer (buffer, null, 0, WRITE);
	assert (view.get_address () == crop.get_address ());
	view.fill_double (5);
	assert (pixels.get_int64 ({ 3, 4, 2 }) == 5 && pixels.get_int64 ({ 3, 5, 0 }) == 0);

	assert (address_of (MtlGst.buffer_from_view (pixels)) == pixels.get_address ());

	Mtl.StridedView[] planes = {
		new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 6, 8 }),
		new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 3, 4, 2 })
	};
	buffer = MtlGst.video_buffer_from_views (planes, video_info (nv12 ()));
	for (var plane = 0; plane < 2; plane++) {
		assert (MtlGst.view_from_buffer_with_caps (buffer, nv12 (), plane).get_address ()
			== planes[plane].get_address ());
	}
}

void test_caps () throws Error {
	var view = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 3, 5, 4 });
	var text = MtlGst.video_caps_from_view (view).to_string ();
	assert (text.contains ("RGBA, width=(int)5") && text.contains ("framerate=(fraction)0/1"));
	text = MtlGst.video_caps_from_view (view, Gst.Video.Format.BGRX, 30000, 1001).to_string ();
	assert (text.contains ("BGRx") && text.contains ("framerate=(fraction)30000/1001"));

	Mtl.DType dtype;
	var layout = MtlGst.layout_from_caps (nv12 (), 1, out dtype);
	assert (layout.n_dims == 3 && layout.shape[2] == 2 && dtype == Mtl.DType.UINT8);
	assert (MtlGst.tensor_caps_from_view (view).get_structure (0).get_string ("tensor-id") == null);

	var tensor = MtlGst.tensor_caps_from_view (view, "scores");
	assert (tensor.get_structure (0).get_string ("tensor-id") == "scores");
	var buffer = new_buffer (60);
	view = MtlGst.view_from_buffer_with_caps (buffer, tensor);
	assert_shape (view, { 3, 5, 4 });
	assert (view.get_address () == address_of (buffer));
}

void test_tensors () throws Error {
	var buffer = new_buffer (8);
	var scores = new Mtl.StridedView.zeros (null, Mtl.DType.FLOAT32, { 2, 3 });
	assert (MtlGst.buffer_get_n_tensors (buffer) == 0 && MtlGst.buffer_get_tensor_id (buffer, 0) == null);
	try {
		MtlGst.buffer_add_tensor (buffer, "scores", scores);
		assert (MtlGst.buffer_get_n_tensors (buffer) == 1);
		assert (MtlGst.buffer_get_tensor_id (buffer, 0) == "scores");
		assert (MtlGst.view_from_buffer_tensor (buffer, 0).get_address () == scores.get_address ());
	} catch (Mtl.Error.NOT_SUPPORTED error) {
		assert (error.message.contains ("1.26"));
		try {
			MtlGst.view_from_buffer_tensor (buffer, 0);
			assert_not_reached ();
		} catch (Mtl.Error.NOT_SUPPORTED error) {
			assert (error.message.contains ("1.26"));
		}
	}
}

void test_allocator () throws Error {
	var allocator = new MtlGst.Allocator ();
	assert (allocator.ref_count == 1);
	var buffer = new Gst.Buffer.allocate (allocator, 48, null);
	size_t byte_offset;
	unowned var memory = MtlGst.memory_get_buffer (buffer.peek_memory (0), out byte_offset);
	assert (memory.get_device () == Mtl.Device.get_default ());
	assert (allocator.device == null && allocator.storage_mode == memory.storage_mode);
	var layout = new Mtl.StridedLayout.dense ({ 48 }, Mtl.Order.C, 8);
	var view = new Mtl.StridedView (memory, layout, Mtl.DType.UINT8, byte_offset);
	assert (view.get_address () == address_of (buffer));

	buffer = new_buffer (8);
	assert (MtlGst.memory_get_buffer (buffer.peek_memory (0), out byte_offset) == null);
	assert (byte_offset == 0);
}

void test_errors () throws Error {
	var buffer = new_buffer (40);
	try {
		MtlGst.view_from_buffer_with_caps (buffer, rgb ());
		assert_not_reached ();
	} catch (Mtl.Error.OUT_OF_BOUNDS error) {
		assert (error.message.contains (" 40 "));
	}
	try {
		var view = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 3, 5, 6 });
		MtlGst.video_buffer_from_view (view.slice ("..., ::2"), video_info (rgb ()));
		assert_not_reached ();
	} catch (Mtl.Error.NEEDS_COPY error) {
		assert (error.message.length > 0);
	}
	try {
		new MtlGst.Allocator (Mtl.Device.get_host (), Mtl.StorageMode.PRIVATE);
		assert_not_reached ();
	} catch (Mtl.Error.NOT_SUPPORTED error) {
		assert (error.message.contains ("Host"));
	}
}

void test_lifetimes () throws Error {
	var buffer = new_buffer (8);
	unowned Gst.Buffer watched = buffer;
	var view = MtlGst.view_from_buffer (buffer, Mtl.DType.UINT8, { 8 });
	assert (watched.refcount == 2);

	/* The view alone keeps the buffer. */
	buffer = null;
	assert (watched.refcount == 1 && view.get_int64 ({ 7 }) == 7);

	buffer = watched;
	var part = view.slice ("4:");
	view = null;
	assert (buffer.refcount == 2 && part.get_int64 ({ 3 }) == 7);
	part = null;
	assert (buffer.refcount == 1);
}

class Invert : Gst.Base.Transform {
	public uint64[] addresses = {};
	private Gst.Video.Info info;

	static construct {
		var caps = Gst.Caps.from_string ("video/x-raw, format=RGB");
		set_static_metadata ("Invert", "Filter/Video", "Inverts colors in place", "mtldl");
		add_pad_template (new Gst.PadTemplate ("src", Gst.PadDirection.SRC,
			Gst.PadPresence.ALWAYS, caps));
		add_pad_template (new Gst.PadTemplate ("sink", Gst.PadDirection.SINK,
			Gst.PadPresence.ALWAYS, caps));
	}

	public override bool set_caps (Gst.Caps incaps, Gst.Caps outcaps) {
		info = video_info (incaps);
		return true;
	}

	public override Gst.FlowReturn transform_ip (Gst.Buffer buffer) {
		try {
			var view = MtlGst.view_from_video_buffer (buffer, info, 0, WRITE);
			view.copy_scaled_from (view, -1, 255);
			addresses += view.get_address ();
			return Gst.FlowReturn.OK;
		} catch (Error error) {
			warning ("%s", error.message);
			return Gst.FlowReturn.ERROR;
		}
	}
}

/* The same filter, for frames that GStreamer has mapped. */
class InvertFrames : Gst.Video.Filter {
	static construct {
		set_static_metadata ("Invert", "Filter/Video", "Inverts colors in place", "mtldl");
		var caps = Gst.Caps.from_string ("video/x-raw, format=RGB");
		add_pad_template (new Gst.PadTemplate ("src", Gst.PadDirection.SRC,
			Gst.PadPresence.ALWAYS, caps));
		add_pad_template (new Gst.PadTemplate ("sink", Gst.PadDirection.SINK,
			Gst.PadPresence.ALWAYS, caps));
	}

	public override Gst.FlowReturn transform_frame_ip (Gst.Video.Frame frame) {
		try {
			var view = MtlGst.view_from_video_frame (frame);
			view.copy_scaled_from (view, -1, 255);
			return Gst.FlowReturn.OK;
		} catch (Error error) {
			warning ("%s", error.message);
			return Gst.FlowReturn.ERROR;
		}
	}
}

Gst.Sample? pull (Gst.Element sink) {
	Gst.Sample? sample = null;
	Signal.emit_by_name (sink, "pull-sample", out sample);
	return sample;
}

void test_pipeline_with_transform () throws GLib.Error {
	var pipeline = (Gst.Pipeline) Gst.parse_launch (
		"videotestsrc num-buffers=5 pattern=white name=source"
		+ " appsink name=sink sync=false max-buffers=9");
	var invert = new Invert ();
	var source = pipeline.get_by_name ("source");
	var sink = pipeline.get_by_name ("sink");
	pipeline.add (invert);
	assert (source.link_filtered (invert,
		Gst.Caps.from_string ("video/x-raw, width=320, height=24")));
	assert (invert.link (sink));

	pipeline.set_state (Gst.State.PLAYING);
	Gst.Sample[] samples = {};
	for (var sample = pull (sink); sample != null; sample = pull (sink)) {
		samples += sample;
	}
	assert (samples.length == 5 && invert.addresses.length == 5);
	for (var i = 0; i < 5; i++) {
		var sample = samples[i];
		var view = MtlGst.view_from_buffer_with_caps (sample.get_buffer (), sample.get_caps ());
		assert_shape (view, { 24, 320, 3 });
		assert (view.get_address () == address_of (sample.get_buffer ()));
		assert (view.get_address () == invert.addresses[i]);
		assert (view.compute_statistics ().get_maximum () == 0);
	}
	pipeline.set_state (Gst.State.NULL);
}

void test_pipeline_with_video_filter () throws GLib.Error {
	var pipeline = (Gst.Pipeline) Gst.parse_launch (
		"videotestsrc num-buffers=5 pattern=white name=source"
		+ " appsink name=sink sync=false max-buffers=9");
	var invert = new InvertFrames ();
	var sink = pipeline.get_by_name ("sink");
	pipeline.add (invert);
	assert (pipeline.get_by_name ("source").link_filtered (invert,
		Gst.Caps.from_string ("video/x-raw, width=320, height=24")));
	assert (invert.link (sink));

	pipeline.set_state (Gst.State.PLAYING);
	var n_samples = 0;
	for (var sample = pull (sink); sample != null; sample = pull (sink)) {
		var view = MtlGst.view_from_buffer_with_caps (sample.get_buffer (), sample.get_caps ());
		assert (view.compute_statistics ().get_maximum () == 0);
		n_samples++;
	}
	assert (n_samples == 5);
	pipeline.set_state (Gst.State.NULL);
}

class Addresses {
	public uint64[] all = {};

	public static void add (Gst.Element sink, Gst.Buffer buffer, Gst.Pad pad, Addresses self) {
		self.all += address_of (buffer);
	}
}

void test_pipeline_of_views () throws GLib.Error {
	var frame = new Mtl.StridedView.zeros (null, Mtl.DType.UINT8, { 24, 320, 3 });
	var caps = MtlGst.video_caps_from_view (frame, Gst.Video.Format.RGB, 30);
	var pipeline = (Gst.Pipeline) Gst.parse_launch (
		"appsrc name=source format=time ! fakesink name=sink signal-handoffs=true");
	var source = pipeline.get_by_name ("source");
	var received = new Addresses ();
	Signal.connect (pipeline.get_by_name ("sink"), "handoff", (Callback) Addresses.add, received);

	source.set ("caps", caps);
	pipeline.set_state (Gst.State.PLAYING);
	Gst.FlowReturn flow;
	for (var i = 0; i < 5; i++) {
		var buffer = MtlGst.video_buffer_from_view (frame, video_info (caps));
		Signal.emit_by_name (source, "push-buffer", buffer, out flow);
		assert (flow == Gst.FlowReturn.OK);
	}
	Signal.emit_by_name (source, "end-of-stream", out flow);
	pipeline.get_bus ().timed_pop_filtered (10 * Gst.SECOND,
		Gst.MessageType.EOS | Gst.MessageType.ERROR);
	pipeline.set_state (Gst.State.NULL);
	assert (received.all.length == 5);
	foreach (var address in received.all) {
		assert (address == frame.get_address ());
	}
}

[CCode (has_target = false)]
delegate void Case () throws GLib.Error;

void add (string name, Case run) {
	Test.add_data_func ("/gst/" + name, () => {
		try {
			run ();
		} catch (GLib.Error error) {
			Test.message ("%s", error.message);
			Test.fail ();
		}
	});
}

int main (string[] args) {
	Test.init (ref args);
	Gst.init (ref args);
	add ("video", test_video);
	add ("frames", test_frames);
	add ("planes-written-together", test_planes_written_together);
	add ("bytes", test_bytes);
	add ("audio", test_audio);
	add ("buffers", test_buffers);
	add ("caps", test_caps);
	add ("tensors", test_tensors);
	add ("allocator", test_allocator);
	add ("errors", test_errors);
	add ("lifetimes", test_lifetimes);
	add ("pipeline/transform", test_pipeline_with_transform);
	add ("pipeline/video-filter", test_pipeline_with_video_filter);
	add ("pipeline/views", test_pipeline_of_views);
	return Test.run ();
}

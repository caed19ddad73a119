/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* video [--camera] [--record FILE] [--frames N]
 *
 * Shows a test video, or a camera, whose left half is inverted, and also
 * records it as Ogg. The pixels of a frame stay in the memory that the source
 * wrote: there they are changed, there the encoder reads them, and there GTK
 * draws them. */

const uint POLL_MS = 10;

/* An element that changes frames where they are. */
class Invert : Gst.Base.Transform {
	private Gst.Caps caps;

	static construct {
		var rgb = Gst.Caps.from_string ("video/x-raw, format=RGB");

		set_static_metadata ("Invert", "Filter/Effect/Video", "Inverts the left half", "mtldl");
		add_pad_template (new Gst.PadTemplate ("sink", Gst.PadDirection.SINK,
		                                       Gst.PadPresence.ALWAYS, rgb));
		add_pad_template (new Gst.PadTemplate ("src", Gst.PadDirection.SRC,
		                                       Gst.PadPresence.ALWAYS, rgb));
	}

	public override bool set_caps (Gst.Caps caps_in, Gst.Caps caps_out) {
		caps = caps_in;
		return true;
	}

	/* On the thread of the source, for each frame. */
	public override Gst.FlowReturn transform_ip (Gst.Buffer buffer) {
		try {
			var frame = MtlGst.view_from_buffer_with_caps (buffer, caps, 0, Gst.MapFlags.WRITE);

			/* A slice is another view of the same memory: writing to it changes
			 * the frame. */
			var left = frame.slice (@":, :$(frame.get_extent (1) / 2)");
			left.copy_scaled_from (left, -1, 255);
			return Gst.FlowReturn.OK;
		} catch (Error error) {
			post_message (new Gst.Message.error (this, error, ""));
			return Gst.FlowReturn.ERROR;
		}
	}
}

class Video : Gtk.Application {
	private static bool camera = false;
	private static string? record = null;
	private static int frames = -1;
	private const OptionEntry[] OPTIONS = {
		{ "camera", 0, 0, OptionArg.NONE, ref camera, "Show a camera", null },
		{ "record", 0, 0, OptionArg.FILENAME, ref record, "Also write a file, as Ogg", "FILE" },
		{ "frames", 0, 0, OptionArg.INT, ref frames, "Frames of the test video", "N" },
		{ null }
	};

	private Gst.Pipeline pipeline;
	private Gst.App.Sink sink;
	private MtlGtk.ViewPaintable paintable = new MtlGtk.ViewPaintable ();
	private int n_shown = 0;
	private int status = 0;

	public Video () {
		Object (application_id: "org.mtldl.Video", flags: ApplicationFlags.NON_UNIQUE);
		add_main_option_entries (OPTIONS);
	}

	private void create_pipeline () throws Error {
		var source = camera ? "autovideosrc"
			: @"videotestsrc is-live=true num-buffers=$frames"
				+ " ! video/x-raw, width=640, height=480";
		var text = @"$source ! videoconvert ! invert ! tee name=filtered"
			+ " ! queue ! appsink name=frames max-buffers=2 enable-last-sample=false";

		if (record != null) {
			text += " filtered. ! queue ! videoconvert ! theoraenc ! oggmux"
				+ " ! filesink name=file";
		}
		pipeline = (Gst.Pipeline) Gst.parse_launch (text);
		if (record != null) {
			pipeline.get_by_name ("file").set ("location", record);
		}
		sink = (Gst.App.Sink) pipeline.get_by_name ("frames");
	}

	private bool show_next () {
		var sample = sink.try_pull_sample (0);

		if (sample == null) {
			return Source.CONTINUE;
		}

		try {
			/* This view is read-only, so it is shown without a copy. It keeps
			 * the frame until GTK has the next one. */
			var frame = MtlGst.view_from_buffer_with_caps (sample.get_buffer (), sample.get_caps ());
			paintable.set_view (frame);
			n_shown++;
		} catch (Error error) {
			pipeline.post_message (new Gst.Message.error (pipeline, error, ""));
		}
		return Source.CONTINUE;
	}

	/* The program ends with the video. */
	private bool handle_message (Gst.Bus bus, Gst.Message message) {
		if (message.type == Gst.MessageType.ERROR) {
			Error error;

			message.parse_error (out error, null);
			printerr ("video: %s\n", error.message);
			status = 1;
			quit ();
		} else if (message.type == Gst.MessageType.EOS) {
			quit ();
		}
		return Source.CONTINUE;
	}

	public override void activate () {
		try {
			create_pipeline ();
		} catch (Error error) {
			printerr ("video: %s\n", error.message);
			status = 1;
			return;
		}

		var window = new Gtk.ApplicationWindow (this) {
			title = "Video",
			default_width = 640,
			default_height = 480,
			child = new Gtk.Picture.for_paintable (paintable)
		};

		/* The video ends when the window is closed, and the recording is
		 * completed. */
		window.close_request.connect (() => {
			return pipeline.send_event (new Gst.Event.eos ());
		});
		window.present ();

		pipeline.get_bus ().add_watch (Priority.DEFAULT, handle_message);
		Timeout.add (POLL_MS, show_next);
		pipeline.set_state (Gst.State.PLAYING);
	}

	public int show (string[] args) {
		int result = run (args);

		if (pipeline != null) {
			pipeline.set_state (Gst.State.NULL);
			print ("%d frames shown\n", n_shown);
		}
		return result != 0 ? result : status;
	}
}

int main (string[] args) {
	Gst.init (ref args);
	Gst.Element.register (null, "invert", Gst.Rank.NONE, typeof (Invert));
	return new Video ().show (args);
}

#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later

// video.js [--camera] [--record FILE] [--frames N]
//
// Shows a test video, or a camera, whose left half is inverted, and also records
// it as Ogg. JavaScript runs on the main thread only, so it does not change the
// frames where they are, but copies each into one and the same tensor.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gst from 'gi://Gst?version=1.0';
import 'gi://GstApp?version=1.0';
import GstVideo from 'gi://GstVideo?version=1.0';
import Gtk from 'gi://Gtk?version=4.0';
import MtlGst from 'gi://MtlGst?version=1';
import MtlGtk from 'gi://MtlGtk?version=1';
import System from 'system';

const POLL_MS = 10;

function invertLeftHalf(picture) {
    // A slice is another view of the same memory: writing to it changes the
    // picture.
    const left = picture.slice(`:, :${Math.floor(picture.get_extent(1) / 2)}`);

    left.copy_scaled_from(left, -1, 255);
}

class Video {
    constructor({camera, record, frames}) {
        const source = camera
            ? 'autovideosrc'
            : `videotestsrc is-live=true num-buffers=${frames}` +
              ' ! video/x-raw, width=640, height=480';
        let text = `${source} ! videoconvert ! video/x-raw, format=RGB` +
            ' ! appsink name=frames max-buffers=2 enable-last-sample=false';

        if (record) {
            text += ' appsrc name=pictures format=time ! queue ! videoconvert' +
                ' ! theoraenc ! oggmux ! filesink name=file async=false';
        }
        this.pipeline = Gst.parse_launch(text);
        this._frames = this.pipeline.get_by_name('frames');
        this._pictures = this.pipeline.get_by_name('pictures');
        if (record)
            this.pipeline.get_by_name('file').location = record;
        this.paintable = new MtlGtk.ViewPaintable();
        this._picture = null;
        this.nShown = 0;
    }

    showNext() {
        const sample = this._frames.try_pull_sample(0);

        if (sample)
            this._show(sample.get_buffer(), sample.get_caps());
        else if (this._frames.is_eos())
            this._pictures?.end_of_stream();
        return GLib.SOURCE_CONTINUE;
    }

    _show(buffer, caps) {
        const info = GstVideo.VideoInfo.new_from_caps(caps);

        // The view of the frame is closed at once, so the source can use the
        // memory again.
        MtlGst.map(buffer, info, Gst.MapFlags.READ, frame => {
            if (this._picture)
                this._picture.copy_from(frame);
            else
                this._picture = frame.copy();
        });
        invertLeftHalf(this._picture);

        // The paintable copies the picture, so it can be written again.
        if (this.paintable.view)
            this.paintable.invalidate();
        else
            this.paintable.set_view(this._picture);
        this.nShown++;

        if (this._pictures)
            this._record(info, caps, buffer.pts);
    }

    // The encoder reads a copy, which nobody writes.
    _record(info, caps, time) {
        const buffer = MtlGst.video_buffer_from_view(this._picture.copy(), info);

        buffer.pts = time;
        this._pictures.caps = caps;
        this._pictures.push_buffer(buffer);
    }
}

const application = new Gtk.Application({
    application_id: 'org.mtldl.Video',
    flags: Gio.ApplicationFlags.NON_UNIQUE,
});
const options = {camera: false, record: null, frames: -1};
let video = null;
let status = 0;

application.add_main_option('camera', 0, 0, GLib.OptionArg.NONE, 'Show a camera', null);
application.add_main_option('record', 0, 0, GLib.OptionArg.STRING,
    'Also write a file, as Ogg', 'FILE');
application.add_main_option('frames', 0, 0, GLib.OptionArg.INT,
    'Frames of the test video', 'N');
application.connect('handle-local-options', (_, given) => {
    for (const name of Object.keys(options))
        options[name] = given.lookup_value(name, null)?.deepUnpack() ?? options[name];
    return -1;
});

application.connect('activate', () => {
    video = new Video(options);

    const window = new Gtk.ApplicationWindow({
        application,
        title: 'Video',
        default_width: 640,
        default_height: 480,
        child: new Gtk.Picture({paintable: video.paintable}),
    });
    const bus = video.pipeline.get_bus();

    // The video ends when the window is closed, and the recording is completed.
    window.connect('close-request', () => {
        video.pipeline.send_event(Gst.Event.new_eos());
        return true;
    });
    window.present();

    // The program ends with the video.
    bus.add_signal_watch();
    bus.connect('message::eos', () => application.quit());
    bus.connect('message::error', (_, message) => {
        printerr(`video.js: ${message.parse_error()[0].message}`);
        status = 1;
        application.quit();
    });
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, POLL_MS, () => video.showNext());
    video.pipeline.set_state(Gst.State.PLAYING);
});

Gst.init(null);
const ran = application.run([System.programInvocationName, ...ARGV]);

if (video) {
    video.pipeline.set_state(Gst.State.NULL);
    print(`${video.nShown} frames shown`);
}
System.exit(ran || status);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGst to JavaScript: arguments that can be left out, names of element types, and a way to
// give memory back at once, as objects are only freed some time after their last use.

const System = imports.system;

// The last arguments can be left out, and the element type be a name such as 'float32'.
function _makeLenient(MtlGst, {MapFlags}, {DType}, watchLent) {
    const defaults = {
        buffer_from_view: [null],
        layout_from_caps: [0],
        tensor_caps_from_view: [null],
        view_from_audio: [null, MapFlags.READ],
        view_from_audio_channel: [MapFlags.READ],
        view_from_buffer: [null, 0, MapFlags.READ],
        view_from_bytes: [MapFlags.READ],
        view_from_caps: [0, MapFlags.READ],
        view_from_component: [MapFlags.READ],
        view_from_tensor: [MapFlags.READ],
    };

    for (const name of Object.keys(defaults)) {
        const original = MtlGst[name];
        const nRequired = original.length - defaults[name].length;

        MtlGst[name] = function (...args) {
            for (let i = 0; args.length >= nRequired && i < defaults[name].length; i++)
                args[nRequired + i] ??= defaults[name][i];
            if (name === 'view_from_bytes' && typeof args[1] === 'string')
                args[1] = DType.from_string(args[1]);
            return original(...args);
        };
        if (name.startsWith('view_'))
            watchLent(MtlGst, name);
    }
}

function _init() {
    const MtlGst = this;
    const {Gst, GstAudio, GstVideo, Mtl} = imports.gi;

    _makeLenient(MtlGst, Gst, Mtl, imports.overrides.Mtl._watchLent);

    // Calls work(view) with a view of a buffer, and returns what that returns. The caps are a
    // Gst.Caps or, which is faster, a GstVideo.VideoInfo or a GstAudio.AudioInfo; null for a buffer
    // with a GstVideo.VideoMeta. The buffer is mapped no longer than that, unless `work` keeps
    // another view of it.
    MtlGst.map = function (buffer, caps, flags, work, plane = 0) {
        let view;

        if (caps === null || caps instanceof GstVideo.VideoInfo)
            view = MtlGst.view_from_buffer(buffer, caps, plane, flags);
        else if (caps instanceof GstAudio.AudioInfo)
            view = MtlGst.view_from_audio(buffer, caps, flags);
        else
            view = MtlGst.view_from_caps(buffer, caps, plane, flags);

        try {
            return work(view);
        } finally {
            // Slices that nobody uses any longer.
            if (!view.close())
                System.gc();
        }
    };
}

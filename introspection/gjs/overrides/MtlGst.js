/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGst to JavaScript: arguments that can be left out, names of element types, and a way to
// give memory back at once, as objects are only freed some time after their last use.

const System = imports.system;

// The last arguments can be left out, and the element type be a name such as 'float32'. What a view
// keeps mapped is memory that the garbage collector has to know of.
function _adaptFunctions(MtlGst, {READ}) {
    const {_makeAdapter, _watchBorrowed} = imports.overrides.Mtl;
    const adapt = _makeAdapter();
    const views = {
        view_from_audio: ['- - -', null, READ],
        view_from_audio_channel: ['- - - -', READ],
        view_from_buffer: ['- - - -', null, 0, READ],
        view_from_bytes: ['- dtype int64[] -', READ],
        view_from_caps: ['- - - -', 0, READ],
        view_from_component: ['- - - -', READ],
        view_from_tensor: ['- - -', READ],
    };
    const others = {
        buffer_from_view: ['- -', null],
        layout_from_caps: ['- -', 0],
        tensor_caps_from_view: ['- -', null],
    };

    for (const [name, [signature, ...defaults]] of Object.entries(views)) {
        adapt(MtlGst, name, signature, defaults, true);
        _watchBorrowed(MtlGst, name, 0, view => view.get_required_size());
    }
    for (const [name, [signature, ...defaults]] of Object.entries(others))
        adapt(MtlGst, name, signature, defaults, false);
}

function _init() {
    const MtlGst = this;
    const {Gst, GstAudio, GstVideo} = imports.gi;

    imports.gi.Mtl; // runs its override first
    _adaptFunctions(MtlGst, Gst.MapFlags);

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGst to JavaScript: arguments that can be left out, names of element types, and a way to
// give memory back at once, as objects are only freed some time after their last use.

const System = imports.system;

// A format by its name in caps, or by that of its member.
function _toVideoFormat(GstVideo, format) {
    const {_toEnumeration} = imports.overrides.Mtl;
    const found = typeof format === 'string'
        ? GstVideo.VideoFormat.from_string(format) : GstVideo.VideoFormat.UNKNOWN;

    return found === GstVideo.VideoFormat.UNKNOWN
        ? _toEnumeration(format, GstVideo, 'VideoFormat', 'GstVideo') : found;
}

// The last arguments can be left out, element types and formats be names such as 'float32' and
// 'BGRx', and views be arrays. What a view keeps mapped is memory that the garbage collector has to
// know of; it also frees what GStreamer has no more room to count.
function _adaptFunctions(MtlGst, {Gst, GstVideo, Mtl}) {
    const {_makeAdapter, _makeEnumerationConverters, _watchBorrowed} = imports.overrides.Mtl;
    const adapt = _makeAdapter({
        ..._makeEnumerationConverters(['MapFlags'], () => Gst, 'Gst'),
        VideoFormat: format => _toVideoFormat(GstVideo, format),
    });
    const {READ} = Gst.MapFlags;
    const views = {
        view_from_audio: ['- - MapFlags', null, READ],
        view_from_audio_channel: ['- - uint32 MapFlags', READ],
        view_from_buffer: ['- - uint32 MapFlags', null, 0, READ],
        view_from_bytes: ['- dtype int64[] MapFlags', READ],
        view_from_caps: ['- - uint32 MapFlags', 0, READ],
        view_from_component: ['- - uint32 MapFlags', READ],
        view_from_frame: ['- uint32', 0],
        view_from_frame_component: ['- uint32'],
        view_from_tensor: ['- uint32 MapFlags', READ],
    };
    const others = {
        add_tensor: ['- nullable-text view'],
        audio_caps_from_view: ['view int32'],
        buffer_from_audio_view: ['view -'],
        buffer_from_view: ['view -', null],
        buffer_from_views: ['views -'],
        caps_from_view: ['view VideoFormat int32 int32', GstVideo.VideoFormat.UNKNOWN, 0, 1],
        get_tensor_id: ['- uint32'],
        layout_from_caps: ['- uint32', 0],
        tensor_caps_from_view: ['view nullable-text', null],
    };

    adapt(MtlGst.Allocator, 'new', 'device StorageMode', [null, Mtl.StorageMode.HOST], false);
    for (const [name, [signature, ...defaults]] of Object.entries(views)) {
        adapt(MtlGst, name, signature, defaults, true);
        _watchBorrowed(MtlGst, name, 0, view => view.get_required_size());
    }
    for (const [name, [signature, ...defaults]] of Object.entries(others))
        adapt(MtlGst, name, signature, defaults, false);
}

function _init() {
    const MtlGst = this;
    const {Gst, GstAudio, GstVideo, Mtl} = imports.gi; // Mtl with its override

    _adaptFunctions(MtlGst, {Gst, GstVideo, Mtl});

    // Calls work(view) with a view of a buffer, and returns what that returns. The caps are a
    // Gst.Caps or, which is faster, a GstVideo.VideoInfo or a GstAudio.AudioInfo; null for a buffer
    // with a GstVideo.VideoMeta. The buffer is mapped no longer than that, unless `work` keeps
    // another view of it. If `work` returns a promise, the view ends with that.
    MtlGst.map = function (buffer, caps, flags, work, plane = 0) {
        let view, result;

        if (caps instanceof GstAudio.AudioInfo && plane !== 0)
            throw new RangeError(`There is no plane ${plane}: audio has one, 0`);

        if (caps === null || caps instanceof GstVideo.VideoInfo)
            view = MtlGst.view_from_buffer(buffer, caps, plane, flags);
        else if (caps instanceof GstAudio.AudioInfo)
            view = MtlGst.view_from_audio(buffer, caps, flags);
        else
            view = MtlGst.view_from_caps(buffer, caps, plane, flags);

        const end = () => {
            // Slices that nobody uses any longer.
            if (!view.close())
                System.gc();
        };

        try {
            result = work(view);
        } catch (error) {
            end();
            throw error;
        }
        if (result instanceof Promise)
            return result.finally(end);
        end();
        return result;
    };
}

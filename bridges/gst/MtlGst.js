/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Adapts MtlGst to JavaScript: arguments that can be left out, names of element types, and a way to
// give memory back at once, as objects are only freed some time after their last use.

const System = imports.system;

// A format by its name in caps, or by that of its member.
function _toVideoFormat({VideoFormat}, format) {
    const {_toEnumeration} = imports.overrides.mtldl.arguments;
    const found = typeof format === 'string'
        ? VideoFormat.from_string(format) : VideoFormat.UNKNOWN;

    return found === VideoFormat.UNKNOWN ? _toEnumeration(format, 'GstVideo.VideoFormat') : found;
}

const VIEWS = ['view_from_audio_buffer', 'view_from_audio_buffer_channel', 'view_from_buffer',
    'view_from_buffer_with_caps', 'view_from_buffer_tensor', 'view_from_video_buffer',
    'view_from_video_buffer_component', 'view_from_video_frame', 'view_from_video_frame_component'];

// The last arguments can be left out, element types and formats can be names such as
// 'float32' and 'BGRx', and views can be arrays. The garbage collector has to count the
// memory that views keep mapped, and is run when GStreamer cannot count more mappings.
function _adapt(MtlGst, GstVideo) {
    const {_watchBorrowed} = imports.overrides.Mtl;

    imports.overrides.mtldl.arguments._adaptFunctions(MtlGst, 'MtlGst', {'': VIEWS}, {},
        {'GstVideo.VideoFormat': format => _toVideoFormat(GstVideo, format)});
    for (const name of VIEWS)
        _watchBorrowed(MtlGst, name, 0, view => view.layout.get_required_size());
}

function _init() {
    const MtlGst = this;
    const {GstAudio, GstVideo} = imports.gi;

    imports.gi.Mtl; // loads the override
    _adapt(MtlGst, GstVideo);

    // Calls work(view) with a view of a buffer, and returns what that returns. The caps are a
    // Gst.Caps or, which is faster, a GstVideo.VideoInfo or a GstAudio.AudioInfo; null for a buffer
    // with a GstVideo.VideoMeta. The buffer is mapped no longer than that, unless `work` keeps
    // another view of it. If `work` returns a promise, the view ends with that. A view that is then
    // still in use is an error, BUSY, unless `work` has failed.
    MtlGst.map = function (buffer, caps, flags, work, plane = 0) {
        let view, result;

        if (caps instanceof GstAudio.AudioInfo && plane !== 0)
            throw new RangeError(`There is no plane ${plane}: audio only has plane 0`);

        if (caps === null || caps instanceof GstVideo.VideoInfo)
            view = MtlGst.view_from_video_buffer(buffer, caps, plane, flags);
        else if (caps instanceof GstAudio.AudioInfo)
            view = MtlGst.view_from_audio_buffer(buffer, caps, flags);
        else
            view = MtlGst.view_from_buffer_with_caps(buffer, caps, plane, flags);

        const end = value => {
            // A collection frees slices that are no longer used.
            if (!view.close())
                System.gc();
            return value;
        };

        const fail = error => {
            try {
                end();
            } catch {
                // The error of `work` says more.
            }
            throw error;
        };

        try {
            result = work(view);
        } catch (error) {
            fail(error);
        }
        return result instanceof Promise ? result.then(end, fail) : end(result);
    };
}

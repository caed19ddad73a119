// SPDX-License-Identifier: LGPL-2.1-or-later

// All functions from JavaScript; the tests in C have the cases. Nothing here is called on a thread
// of a pipeline, where JavaScript cannot run.

import {equal, rejectsMtl, run, test, throws, throwsMtl} from '../../support/tap.js';
import {testWrongArguments} from '../../support/wrong-arguments.js';

imports.gi.versions.Gst = '1.0';
imports.gi.versions.GstApp = '1.0';
imports.gi.versions.GstAudio = '1.0';
imports.gi.versions.GstVideo = '1.0';
imports.gi.versions.Mtl = '1';
imports.gi.versions.MtlGst = '1';

const {GObject, Gst, GstApp, GstAudio, GstVideo, Mtl, MtlGst} = imports.gi;
const System = imports.system;

Gst.init(null);

const {READ, WRITE} = Gst.MapFlags;
const RGB = Gst.Caps.from_string('video/x-raw, format=RGB, width=5, height=3, framerate=30/1');
const NV12 = Gst.Caps.from_string('video/x-raw, format=NV12, width=8, height=6, framerate=30/1');
const STEREO = Gst.Caps.from_string('audio/x-raw, format=S16LE, rate=48000, channels=2,' +
    ' layout=interleaved, channel-mask=(bitmask)3');
const RGB_INFO = GstVideo.VideoInfo.new_from_caps(RGB);
const NV12_INFO = GstVideo.VideoInfo.new_from_caps(NV12);
const STEREO_INFO = GstAudio.AudioInfo.new_from_caps(STEREO);
const {UINT8, INT16, FLOAT32} = Mtl.DType;

const isOld = Gst.version()[1] < 26;
const reached = new Set();

for (const name of Object.keys(MtlGst)) {
    const original = MtlGst[name];

    if (typeof original === 'function' && original.$gtype === undefined) {
        MtlGst[name] = function (...args) {
            reached.add(name);
            return original(...args);
        };
    }
}

function assertRefused(call) {
    try {
        call();
    } catch (error) {
        if (error instanceof TypeError || error instanceof RangeError)
            return;
        throw error;
    }
    throw new Error(`nothing was thrown by ${call}`);
}

// Its memory is also reached by Mtl alone, to compare addresses.
const allocator = MtlGst.Allocator.new(null, Mtl.StorageMode.HOST);

function newBuffer(size) {
    const buffer = Gst.Buffer.new_allocate(allocator, size, null);
    buffer.fill(0, Uint8Array.from({length: size}, (_, i) => i));
    return buffer;
}

function addressOf(buffer) {
    const [memory, byteOffset] = MtlGst.memory_get_buffer(buffer.peek_memory(0));
    const layout = Mtl.StridedLayout.new_dense([1], Mtl.Order.C, 8);
    return Mtl.StridedView.new(memory, layout, UINT8, byteOffset).get_address();
}

function newView(dtype, shape) {
    return Mtl.StridedView.new_zeros(null, dtype, shape);
}

// Keeps what it sees of frames.
const Inspect = GObject.registerClass(class Inspect extends GstVideo.VideoFilter {
    static _classInit(klass) {
        const result = super._classInit(klass);
        const {ALWAYS} = Gst.PadPresence;
        const {SINK, SRC} = Gst.PadDirection;
        const caps = Gst.Caps.from_string('video/x-raw, format=NV12');

        result.set_metadata('Inspect', 'Filter/Video', 'Looks at frames', 'mtldl');
        result.add_pad_template(Gst.PadTemplate.new('sink', SINK, ALWAYS, caps));
        result.add_pad_template(Gst.PadTemplate.new('src', SRC, ALWAYS, caps));
        return result;
    }

    vfunc_transform_frame_ip(frame) {
        try {
            const y = MtlGst.view_from_video_frame(frame);
            const uv = MtlGst.view_from_video_frame(frame, 1);
            const v = MtlGst.view_from_video_frame_component(frame, 2);
            this.shapes = [y.shape, uv.shape, v.shape];
            this.distances = [y, uv, v].map(view => view.get_address() - y.get_address());
            y.fill(1);
            v.fill(3);
            this.written = [y.get(5, 7), uv.get(2, 3, 1)];
            throwsMtl('OUT_OF_BOUNDS', 2, () => MtlGst.view_from_video_frame(frame, 2));
            assertRefused(() => MtlGst.view_from_video_frame(frame, -1));
            equal([y, uv, v].map(view => view.close()), [true, true, true]);
        } catch (error) {
            this.error = error;
        }
        return Gst.FlowReturn.OK;
    }
});

const tests = {
    video() {
        const buffer = newBuffer(48);
        for (const view of [MtlGst.view_from_video_buffer(buffer, RGB_INFO),
            MtlGst.view_from_buffer_with_caps(buffer, RGB),
            MtlGst.view_from_buffer_with_caps(buffer, RGB, 0, READ)]) {
            equal([view.shape, view.strides], [[3, 5, 3], [16, 3, 1]]);
            equal(view.get_address(), addressOf(buffer));
            equal([view.is_read_only(), view.get(1, 2, 0)], [true, 22]);
        }

        const green = MtlGst.view_from_video_buffer_component(buffer, RGB_INFO, 1);
        equal([green.shape, green.strides], [[3, 5], [16, 3]]);
        equal(green.get_address(), addressOf(buffer) + 1);
    },

    frames() {
        const filter = new Inspect();
        const pad = filter.get_static_pad('sink');
        const segment = new Gst.Segment();
        segment.init(Gst.Format.TIME);

        filter.set_state(Gst.State.PAUSED);
        for (const event of [Gst.Event.new_stream_start('frames'), Gst.Event.new_caps(NV12),
            Gst.Event.new_segment(segment)])
            equal(pad.send_event(event), true);
        pad.chain(newBuffer(72)); // on this thread
        filter.set_state(Gst.State.NULL);

        if (filter.error)
            throw filter.error;
        equal(filter.shapes, [[6, 8], [3, 4, 2], [3, 4]]);
        equal(filter.distances, [0, 48, 49]);
        equal(filter.written, [1, 3]);
        throwsMtl('INVALID_ARGUMENT', [],
            () => MtlGst.view_from_video_frame(new GstVideo.VideoFrame()));
    },

    mapPlanes() {
        const buffer = newBuffer(72);
        const address = addressOf(buffer);
        const addresses = MtlGst.map(buffer, NV12, WRITE, y =>
            MtlGst.map(buffer, NV12_INFO, WRITE, uv => {
                y.fill(1);
                uv.fill(2);
                return [y.get_address(), uv.get_address()];
            }, 1));
        equal(addresses, [address, address + 48]);
        equal([...buffer.extract_dup(0, 72)], [...Array(48).fill(1), ...Array(24).fill(2)]);
    },

    bytes() {
        const buffer = newBuffer(48);
        for (const dtype of ['uint16', Mtl.DType.UINT16]) {
            const view = MtlGst.view_from_buffer(buffer, dtype, [2, 3]);
            equal(view.toArray(), [[256, 770, 1284], [1798, 2312, 2826]]);
            equal(view.get_address(), addressOf(buffer));
        }
    },

    audio() {
        const buffer = newBuffer(24);
        const view = MtlGst.view_from_audio_buffer(buffer, STEREO_INFO);
        equal(view.shape, [6, 2]);
        equal(view.get_address(), addressOf(buffer));
        equal(MtlGst.view_from_audio_buffer_channel(buffer, STEREO_INFO, 1).get_address(),
            addressOf(buffer) + 2);
        equal(MtlGst.map(buffer, STEREO_INFO, READ, mapped => mapped.get(0, 1)), 770);

        const samples = newView(INT16, [6, 2]);
        equal(MtlGst.audio_caps_from_view(samples, 48000).is_equal(STEREO), true);
        const played = MtlGst.audio_buffer_from_view(samples, STEREO_INFO);
        equal(MtlGst.view_from_audio_buffer(played, STEREO_INFO).get_address(),
            samples.get_address());
    },

    buffers() {
        const pixels = newView(UINT8, [4, 6, 3]);
        const crop = pixels.slice('1:4, :5');
        const buffer = MtlGst.video_buffer_from_view(crop, RGB_INFO);
        equal(addressOf(buffer), crop.get_address());
        MtlGst.map(buffer, null, WRITE, view => {  // the meta has all that is needed
            equal(view.get_address(), crop.get_address());
            view.fill(5);
        });
        equal([pixels.get(3, 4, 2), pixels.get(3, 5, 0)], [5, 0]);
        equal(addressOf(MtlGst.buffer_from_view(pixels)), pixels.get_address());

        const planes = [newView(UINT8, [6, 8]), newView(UINT8, [3, 4, 2])];
        const frame = MtlGst.video_buffer_from_views(planes, NV12_INFO);
        for (const [i, plane] of planes.entries()) {
            equal(MtlGst.view_from_buffer_with_caps(frame, NV12, i).get_address(),
                plane.get_address());
        }
    },

    caps() {
        const view = newView(UINT8, [3, 5, 4]);
        const {BGRX, UNKNOWN} = GstVideo.VideoFormat;
        const found = MtlGst.video_caps_from_view(view, UNKNOWN, 0, 1).to_string();
        equal([found.includes('RGBA'), found.includes('width=(int)5')], [true, true]);
        const asked = MtlGst.video_caps_from_view(view, BGRX, 30000, 1001).to_string();
        equal([asked.includes('BGRx'), asked.includes('30000/1001')], [true, true]);

        const [layout, dtype] = MtlGst.layout_from_caps(NV12, 1);
        equal([layout.shape, dtype], [[3, 4, 2], UINT8]);
        equal(MtlGst.layout_from_caps(RGB)[0].shape, [3, 5, 3]);

        const tensor = MtlGst.tensor_caps_from_view(view, 'scores');
        equal(tensor.get_structure(0).get_string('tensor-id'), 'scores');
        equal(MtlGst.tensor_caps_from_view(view).get_structure(0).get_string('tensor-id'),
            null);
        const buffer = newBuffer(60);
        equal(MtlGst.view_from_buffer_with_caps(buffer, tensor).shape, [3, 5, 4]);
        equal(MtlGst.view_from_buffer_with_caps(buffer, tensor).get_address(), addressOf(buffer));
    },

    tensors() {
        const buffer = newBuffer(8);
        const scores = newView(FLOAT32, [2, 3]);
        equal([MtlGst.buffer_get_n_tensors(buffer), MtlGst.buffer_get_tensor_id(buffer, 0)], [0, null]);
        if (isOld) {
            throwsMtl('NOT_SUPPORTED', 1.26, () =>
                MtlGst.buffer_add_tensor(buffer, 'scores', scores));
            throwsMtl('NOT_SUPPORTED', 1.26, () => MtlGst.view_from_buffer_tensor(buffer, 0));
            return;
        }

        MtlGst.buffer_add_tensor(buffer, 'scores', scores);
        equal([MtlGst.buffer_get_n_tensors(buffer), MtlGst.buffer_get_tensor_id(buffer, 0)],
            [1, 'scores']);
        equal(MtlGst.view_from_buffer_tensor(buffer, 0).get_address(), scores.get_address());
    },

    foreignMemory() {
        const buffer = Gst.Buffer.new_allocate(null, 8, null);
        equal(MtlGst.memory_get_buffer(buffer.peek_memory(0)), [null, 0]);
    },

    errors() {
        const buffer = newBuffer(40);
        throwsMtl('OUT_OF_BOUNDS', 40, () =>
            MtlGst.view_from_buffer_with_caps(buffer, RGB));
        throwsMtl('INVALID_ARGUMENT', 'GstVideoMeta', () => MtlGst.view_from_video_buffer(buffer));
        throwsMtl('NEEDS_COPY', 'copy', () =>
            MtlGst.video_buffer_from_view(newView(UINT8, [3, 5, 6]).slice('..., ::2'), RGB_INFO));
        throwsMtl('NOT_SUPPORTED', 'Host', () =>
            MtlGst.Allocator.new(Mtl.Device.get_host(), Mtl.StorageMode.PRIVATE));
    },

    mapEndsWithItsErrors() {
        const buffer = newBuffer(48);
        let message = null;
        try {
            MtlGst.map(buffer, RGB, WRITE, () => {
                throw new Error('inside');
            });
        } catch (e) {
            ({message} = e);
        }
        equal(message, 'inside');
        MtlGst.map(buffer, RGB, WRITE, view => view.fill(0));
    },

    async aViewInUseIsAnError() {
        const buffer = newBuffer(48);
        const pending = [];
        const begin = view => pending.push(view.compute_statistics_async());

        throwsMtl('BUSY', [], () => MtlGst.map(buffer, RGB, READ, begin));
        await rejectsMtl('BUSY', [], MtlGst.map(buffer, RGB, READ, async view => {
            await null;
            begin(view);
        }));

        // An error of the work comes first.
        for (const work of [
            view => {
                begin(view);
                throw new Error('inside');
            },
            async view => {
                await null;
                begin(view);
                throw new Error('inside');
            },
        ]) {
            let message = null;
            try {
                await MtlGst.map(buffer, RGB, READ, work);
            } catch (error) {
                ({message} = error);
            }
            equal(message, 'inside');
        }

        equal((await Promise.all(pending)).map(statistics => statistics.count),
            [45, 45, 45, 45]);
        pending.length = 0;
        equal((await MtlGst.map(buffer, RGB, READ, view => view.compute_statistics_async())).count,
            45);
        System.gc();
        MtlGst.map(buffer, RGB, WRITE, view => view.fill(0));
    },

    slicesAreCollected() {
        const buffer = newBuffer(48);
        equal(MtlGst.map(buffer, RGB, READ, view => view.slice('1, 2').toArray()),
            [22, 23, 24]);
        MtlGst.map(buffer, RGB, WRITE, view => view.fill(0));

        // Without map(), the end of the view is not known.
        let view = MtlGst.view_from_buffer_with_caps(buffer, RGB);
        throwsMtl('READ_ONLY', 2, () =>
            MtlGst.view_from_buffer_with_caps(buffer, RGB, 0, WRITE));
        equal(view.close(), true);
        view = MtlGst.view_from_buffer_with_caps(buffer, RGB, 0, WRITE);
        equal(view.is_read_only(), false);
    },

    async mapEndsWithAPromise() {
        const buffer = newBuffer(48);
        const read = MtlGst.map(buffer, RGB, READ, async view => {
            await null;
            return view.get(1, 2, 0);
        });
        const failed = MtlGst.map(buffer, RGB, READ, async () => {
            await null;
            throw new Error('away');
        }).catch(error => error.message);

        throwsMtl('READ_ONLY', [],
            () => MtlGst.view_from_buffer_with_caps(buffer, RGB, 0, WRITE));
        equal(await Promise.all([read, failed]), [22, 'away']);
        equal(MtlGst.view_from_buffer_with_caps(buffer, RGB, 0, WRITE).is_read_only(), false);
    },

    // They are freed only when the collector runs, and GStreamer counts to 255.
    manyViewsOfABuffer() {
        const buffer = newBuffer(48);

        for (let i = 0; i < 600; i++)
            equal(MtlGst.view_from_buffer(buffer, 'uint8', [1], READ).get(0), 0);
        System.gc();
        equal(MtlGst.view_from_buffer(buffer, 'uint8', [1], WRITE).is_read_only(), false);
    },

    numbersAndNames() {
        const buffer = newBuffer(48);
        const view = MtlGst.view_from_buffer(buffer, 'uint8', [3, 4, 4]);
        const {VideoFormat} = GstVideo;

        for (const call of [
            () => MtlGst.view_from_buffer(buffer, 'uint8', [4], 'writes'),
            () => MtlGst.view_from_video_buffer(buffer, RGB_INFO, 0.9),
            () => MtlGst.view_from_video_buffer(buffer, RGB_INFO, NaN),
            () => MtlGst.view_from_buffer_with_caps(buffer, RGB, ''),
            () => MtlGst.video_caps_from_view(view, 'BGRAX', 30, 1),
            () => MtlGst.video_caps_from_view(view, VideoFormat.RGBA, 2 ** 32 + 30, 1),
            () => MtlGst.video_caps_from_view(view, VideoFormat.RGBA, 29.97, 1),
            () => MtlGst.video_caps_from_view(view, VideoFormat.RGBA, 30, 1, 1),
            () => MtlGst.audio_caps_from_view(view.select(0, 0), 48000.7),
            () => MtlGst.audio_caps_from_view(view.select(0, 0), 2 ** 32 + 1),
            () => MtlGst.Allocator.new(null, 'privat'),
            () => MtlGst.map(buffer, STEREO_INFO, READ, () => {}, 1),
        ])
            assertRefused(call);
        equal(MtlGst.video_caps_from_view(view).to_string().includes('RGBA'), true);
        equal(MtlGst.Allocator.new() instanceof MtlGst.Allocator, true);
        const made = new MtlGst.Allocator({device: Mtl.Device.get_host()});
        equal([made.device, made.storage_mode],
            [Mtl.Device.get_host(), Mtl.StorageMode.DEFAULT]);
    },

    arraysAndNames() {
        const pixels = [[[1, 2, 3], [4, 5, 6]]];
        const bytes = Uint8Array.of(1, 2, 3, 4);
        const view = newView(UINT8, [3, 5, 4]);

        equal([...MtlGst.buffer_from_view(bytes).extract_dup(0, 4)], [1, 2, 3, 4]);
        equal(MtlGst.buffer_from_view(pixels).get_size(), 48);
        const frame = MtlGst.video_buffer_from_views(
            new Set([newView(UINT8, [6, 8]), newView(UINT8, [3, 4, 2])]), NV12_INFO);
        equal(MtlGst.view_from_buffer_with_caps(frame, NV12, 1).shape, [3, 4, 2]);
        equal(MtlGst.audio_caps_from_view(Mtl.array([[1, 2]], 'int16'), 8000).to_string()
            .includes('S16'), true);
        equal(MtlGst.video_caps_from_view(view, 'BGRx').is_equal(
            MtlGst.video_caps_from_view(view, GstVideo.VideoFormat.BGRX)), true);
        equal(MtlGst.video_caps_from_view(view, 'bgrx').to_string().includes('BGRx'), true);
        for (const length of [-1, NaN, 1.5, 2 ** 53, '2']) {
            throws(TypeError, [],
                () => MtlGst.video_buffer_from_views({length}, NV12_INFO));
        }
        throws(TypeError, [], () => MtlGst.video_buffer_from_views(view, NV12_INFO));
        throws(TypeError, ['values', 'null'],
            () => MtlGst.video_buffer_from_views([null], NV12_INFO));
    },

    keptViewKeepsTheMemory() {
        let buffer = newBuffer(48);
        const row = MtlGst.map(buffer, RGB, READ, view => view.slice('1'));
        buffer = null;
        System.gc();
        equal(row.get(2, 0), 22);
    },

    // The main loop asks for frames; a signal would come on another thread.
    fromAppsink() {
        const pipeline = Gst.parse_launch('videotestsrc num-buffers=5 pattern=white' +
            ' ! video/x-raw, format=RGB, width=322, height=24 ! appsink name=sink sync=false');
        const sink = pipeline.get_by_name('sink');
        let nFrames = 0;

        pipeline.set_state(Gst.State.PLAYING);
        for (let sample; (sample = sink.try_pull_sample(10 * Gst.SECOND)) !== null; nFrames++) {
            const [buffer, caps] = [sample.get_buffer(), sample.get_caps()];
            const address = MtlGst.map(buffer, caps, READ, view => {
                equal([view.shape, view.compute_statistics().minimum], [[24, 322, 3], 255]);
                return view.get_address();
            });
            equal(MtlGst.view_from_buffer(buffer, 'uint8', [1]).get_address(), address);

            // The sample is a user, too.
            throwsMtl('READ_ONLY', [], () => MtlGst.map(buffer, caps, WRITE, () => {}));
        }
        equal(nFrames, 5);
        pipeline.set_state(Gst.State.NULL);
    },

    toFakesink() {
        const frames = newView(UINT8, [5, 24, 320, 3]);
        const caps = MtlGst.video_caps_from_view(frames.select(0, 0), GstVideo.VideoFormat.RGB,
            30, 1);
        const info = GstVideo.VideoInfo.new_from_caps(caps);
        const pipeline = Gst.parse_launch('appsrc name=source format=time ! fakesink name=sink');
        const source = pipeline.get_by_name('source');

        source.set_caps(caps);
        pipeline.set_state(Gst.State.PLAYING);
        for (const frame of frames) {
            equal(source.push_buffer(MtlGst.video_buffer_from_view(frame, info)),
                Gst.FlowReturn.OK);
        }
        source.end_of_stream();
        const message = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND,
            Gst.MessageType.EOS | Gst.MessageType.ERROR);
        equal(message.type, Gst.MessageType.EOS);
        const last = pipeline.get_by_name('sink').last_sample.get_buffer();
        equal(addressOf(last), frames.select(0, 4).get_address());
        pipeline.set_state(Gst.State.NULL);
    },

    everyFunctionWasCalled() {
        const names = Object.keys(MtlGst).filter(name =>
            typeof MtlGst[name] === 'function' && MtlGst[name].$gtype === undefined);
        equal(names.length > 17, true);
        equal(names.filter(name => !reached.has(name)), []);
    },
};

testWrongArguments(MtlGst, () => null);
for (const [name, callback] of Object.entries(tests))
    test(name, callback);

await run();

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""All functions from Python; the tests in C have the cases."""

import os
import sys
import unittest
from fractions import Fraction

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstAllocators', '1.0')
gi.require_version('GstAudio', '1.0')
gi.require_version('GstBase', '1.0')
gi.require_version('GstVideo', '1.0')
gi.require_version('Mtl', '1')
gi.require_version('MtlGst', '1')
import numpy  # noqa: E402
from gi.repository import (GLib, Gst, GstAllocators, GstAudio, GstBase, GstVideo, Mtl,  # noqa: E402
                           MtlGst)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'support'))

from says import says  # noqa: E402

Gst.init(None)

WRITE = Gst.MapFlags.WRITE
RGB = Gst.Caps.from_string('video/x-raw, format=RGB, width=5, height=3, framerate=30/1')
NV12 = Gst.Caps.from_string('video/x-raw, format=NV12, width=8, height=6, framerate=30/1')
STEREO = Gst.Caps.from_string('audio/x-raw, format=S16LE, rate=48000, channels=2,'
                              ' layout=interleaved, channel-mask=(bitmask)3')


def address_of(buffer):
    with buffer.map(Gst.MapFlags.READ) as info:
        return numpy.frombuffer(info.data, 'u1').ctypes.data


def new_buffer(size):
    buffer = Gst.Buffer.new_allocate(None, size, None)
    buffer.fill(0, bytes(range(size)))
    return buffer


def code_of(error):
    """The code that the exception stands for."""
    cause = error.__cause__
    return next(name for name in dir(Mtl.Error) if name.isupper()
                and cause.matches(Mtl.error_quark(), getattr(Mtl.Error, name)))


class Test(unittest.TestCase):
    def assert_raises(self, exception, code, values, function, *args):
        with self.assertRaisesRegex(exception, says(*values)) as context:
            function(*args)
        self.assertEqual(code_of(context.exception), code)


class VideoTest(Test):
    def test_view_from_video_buffer(self):
        buffer = new_buffer(48)
        info = GstVideo.VideoInfo.new_from_caps(RGB)
        for args in (info,), (RGB,), (info, 0), (RGB, 0, Gst.MapFlags.READ):
            view = MtlGst.view_from_video_buffer(buffer, *args)
            self.assertEqual((view.shape, view.strides), ((3, 5, 3), (16, 3, 1)))
            self.assertEqual(view.get_address(), address_of(buffer))
            self.assertTrue(view.is_read_only())
        self.assertEqual(view[1, 2].tolist(), [22, 23, 24])

    def test_view_from_video_component(self):
        buffer = new_buffer(48)
        view = MtlGst.view_from_video_buffer_component(buffer, RGB, 1)
        self.assertEqual((view.shape, view.strides), ((3, 5), (16, 3)))
        self.assertEqual(view.get_address(), address_of(buffer) + 1)
        self.assertEqual(view[2, 4], 32 + 13)

    def test_frame_that_is_not_mapped(self):
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', [],
                           MtlGst.view_from_video_frame, GstVideo.VideoFrame())
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', [],
                           MtlGst.view_from_video_frame_component, GstVideo.VideoFrame(), 0)
        with self.assertRaises(TypeError):
            MtlGst.view_from_video_frame(None)

    def test_planes_written_together(self):
        buffer = new_buffer(72)
        address = address_of(buffer)
        with MtlGst.map(buffer, NV12, WRITE) as y, MtlGst.map(buffer, NV12, WRITE, 1) as uv:
            self.assertEqual((y.shape, uv.shape), ((6, 8), (3, 4, 2)))
            self.assertEqual((y.get_address(), uv.get_address()), (address, address + 48))
            y.fill(1)
            uv.fill(2)
        self.assertEqual(buffer.extract_dup(0, 72), bytes([1] * 48 + [2] * 24))

    def test_errors(self):
        buffer = new_buffer(40)
        self.assert_raises(IndexError, 'OUT_OF_BOUNDS', [40],
                           MtlGst.view_from_video_buffer, buffer, RGB)
        self.assert_raises(IndexError, 'OUT_OF_BOUNDS', [1],
                           MtlGst.view_from_buffer_with_caps, buffer, RGB, 1)
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', ['GstVideoMeta'],
                           MtlGst.view_from_video_buffer, buffer)
        self.assert_raises(NotImplementedError, 'NOT_SUPPORTED', ['image/png'],
                           MtlGst.map, buffer, Gst.Caps.from_string('image/png'))
        with self.assertRaisesRegex(ValueError, 'audio/x-raw'):
            MtlGst.view_from_video_buffer(buffer, STEREO)
        with self.assertRaisesRegex(ValueError, 'video/x-raw'):
            MtlGst.view_from_audio_buffer(buffer, RGB)
        with self.assertRaisesRegex(ValueError, says(-1)):
            MtlGst.view_from_video_buffer(buffer, RGB, -1)


class CapsArgumentTest(Test):
    """GStreamer would log of these, or write beyond its memory."""

    def setUp(self):
        self.fatal = GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_CRITICAL
                                               | GLib.LogLevelFlags.LEVEL_WARNING)

    def tearDown(self):
        GLib.log_set_always_fatal(self.fatal)

    def assert_refused(self, value, caps, functions):
        caps = Gst.Caps.from_string(caps)
        for function in functions:
            with self.subTest(caps=caps.to_string(), function=function):
                self.assert_raises(ValueError, 'INVALID_ARGUMENT', [value], function, caps)

    def test_video(self):
        buffer = new_buffer(48)
        picture = numpy.zeros((4, 4), 'u1')
        functions = [lambda caps: MtlGst.view_from_video_buffer(buffer, caps),
                     lambda caps: MtlGst.view_from_video_buffer_component(buffer, caps, 0),
                     lambda caps: MtlGst.video_buffer_from_view(picture, caps),
                     lambda caps: MtlGst.video_buffer_from_views([picture], caps)]
        for fields in 'width=[1,4]', 'width={1,4}', 'width=4,framerate=[0/1,9/1]':
            self.assert_refused('gst_caps_fixate()', f'video/x-raw,format=GRAY8,height=4,{fields}',
                                functions)
        self.assert_refused(0, 'EMPTY', functions)
        self.assert_refused(0, 'ANY', functions)
        self.assert_refused(2, 'video/x-raw;video/x-raw', functions)
        self.assert_refused('“height”', 'video/x-raw,format=GRAY8,width=4', functions)

    def test_audio(self):
        buffer = new_buffer(48)
        samples = numpy.zeros((6, 2), 'i2')
        functions = [lambda caps: MtlGst.view_from_audio_buffer(buffer, caps),
                     lambda caps: MtlGst.view_from_audio_buffer_channel(buffer, caps, 0),
                     lambda caps: MtlGst.audio_buffer_from_view(samples, caps)]
        caps = 'audio/x-raw,format=S16LE,rate=1,layout=interleaved,channel-mask=(bitmask)'
        for channels in -1, -2**31, 0:
            self.assert_refused(channels, f'{caps}0,channels={channels}', functions)
        self.assert_refused(2, f'{caps}1,channels=2', functions)
        self.assert_refused('gst_caps_fixate()', f'{caps}0,channels=[1,2]', functions)
        self.assert_refused(0, 'EMPTY', functions)


class BytesTest(Test):
    def test_view_from_buffer(self):
        buffer = new_buffer(48)
        for dtype in Mtl.DType.UINT16, 'uint16', numpy.uint16, numpy.dtype('u2'):
            view = MtlGst.view_from_buffer(buffer, dtype, (2, 3))
            self.assertEqual(view.tolist(), [[256, 770, 1284], [1798, 2312, 2826]])
        self.assertEqual(view.get_address(), address_of(buffer))
        self.assertEqual(MtlGst.view_from_buffer(buffer, 'u1', 48).shape, (48,))

    def test_with(self):
        buffer = new_buffer(8)
        address = address_of(buffer)
        with MtlGst.view_from_buffer(buffer, 'u1', 8, WRITE) as view:
            self.assertEqual(view.get_address(), address)
            view[3:] = 9
        self.assertEqual(view.shape, (0,))
        self.assertEqual(buffer.extract_dup(0, 8), bytes([0, 1, 2] + [9] * 5))

    def test_with_passes_exceptions_on(self):
        buffer = new_buffer(8)
        with self.assertRaises(ZeroDivisionError), MtlGst.view_from_buffer(buffer, 'u1', 8, WRITE):
            1 / 0
        with MtlGst.view_from_buffer(buffer, 'u1', 8, WRITE) as view:  # not mapped any longer
            self.assertEqual(view.size, 8)

    def test_error(self):
        self.assert_raises(IndexError, 'OUT_OF_BOUNDS', [9], MtlGst.view_from_buffer,
                           new_buffer(8), 'u1', 9)
        with self.assertRaisesRegex(ValueError, 'float33'):
            MtlGst.view_from_buffer(new_buffer(8), 'float33', 1)


class AudioTest(Test):
    def test_views(self):
        buffer = new_buffer(24)
        address = address_of(buffer)
        info = GstAudio.AudioInfo.new_from_caps(STEREO)
        for caps in info, STEREO:
            view = MtlGst.view_from_audio_buffer(buffer, caps)
            self.assertEqual((view.shape, view.dtype), ((6, 2), 'int16'))
            self.assertEqual(view.get_address(), address)
            right = MtlGst.view_from_audio_buffer_channel(buffer, caps, 1)
            self.assertEqual((right.shape, right.strides), ((6,), (2,)))
            self.assertEqual(right.get_address(), address + 2)
            with MtlGst.map(buffer, caps) as mapped:
                self.assertTrue(mapped.array_equal(view))
            self.assertTrue(MtlGst.view_from_buffer_with_caps(buffer, caps).array_equal(view)
                            if caps is STEREO else True)

    def test_audio_buffer_from_view(self):
        samples = numpy.arange(12, dtype='i2').reshape(6, 2)
        caps = MtlGst.audio_caps_from_view(samples, 48000)
        self.assertTrue(caps.is_equal(STEREO))
        buffer = MtlGst.audio_buffer_from_view(samples, caps)
        self.assertEqual(address_of(buffer), samples.ctypes.data)
        self.assertEqual(MtlGst.view_from_audio_buffer(buffer, caps).tolist(), samples.tolist())

    def test_errors(self):
        buffer = new_buffer(24)
        self.assert_raises(IndexError, 'OUT_OF_BOUNDS', [2],
                           MtlGst.view_from_audio_buffer_channel, buffer, STEREO, 2)
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', ['GstAudioMeta'],
                           MtlGst.view_from_audio_buffer, buffer)
        self.assert_raises(ValueError, 'NEEDS_COPY', ['(4, 2)'],
                           MtlGst.audio_caps_from_view,
                           numpy.zeros((6, 4), 'i2')[:, ::2], 48000)
        with self.assertRaisesRegex(TypeError, says('float')):
            MtlGst.audio_caps_from_view(numpy.zeros((6, 2), 'i2'), 48000.5)


class BufferTest(Test):
    def test_buffer_from_view(self):
        pixels = Mtl.zeros((4, 6, 3), 'u1')
        crop = pixels[1:4, :5]
        buffer = MtlGst.video_buffer_from_view(crop, RGB)
        self.assertEqual(address_of(buffer), crop.get_address())
        meta = GstVideo.buffer_get_video_meta(buffer)
        self.assertEqual((meta.width, meta.height, meta.stride[0]), (5, 3, 18))
        with MtlGst.map(buffer, flags=WRITE) as view:  # the meta has all that is needed
            self.assertEqual(view.get_address(), crop.get_address())
            view.fill(5)
        self.assertEqual(pixels.sum(), 5 * 3 * 5 * 3)

    def test_arrays(self):
        frame = numpy.zeros((3, 5, 3), 'u1')
        buffer = MtlGst.video_buffer_from_view(frame, RGB)
        self.assertEqual(address_of(buffer), frame.ctypes.data)
        numbers = numpy.arange(6, dtype='f4')
        self.assertEqual(address_of(MtlGst.buffer_from_view(numbers)), numbers.ctypes.data)
        self.assertEqual(MtlGst.buffer_from_view(b'abc').extract_dup(0, 3), b'abc')

        frame.flags.writeable = False
        self.assert_raises(ValueError, 'READ_ONLY', [], MtlGst.map,
                           MtlGst.video_buffer_from_view(frame, RGB), RGB, WRITE)

    def test_what_cannot_be_viewed(self):
        """Big-endian arrays, fields of records, and strides between elements are copied."""
        picture = numpy.arange(45, dtype='u1').reshape(3, 5, 3)
        words = picture.astype('>u2')
        records = numpy.zeros((3, 5), [('pad', 'u1'), ('value', '<u2')])
        records['value'] = picture[..., 0]
        samples = numpy.arange(12, dtype='>i2').reshape(6, 2)
        gray16 = MtlGst.video_caps_from_view(records['value'], 'GRAY16_LE')
        self.assertIn('width=(int)5', gray16.to_string())
        with MtlGst.map(MtlGst.video_buffer_from_view(records['value'], gray16), gray16) as view:
            self.assertEqual(view.tolist(), picture[..., 0].tolist())
        self.assertEqual(MtlGst.view_from_buffer(MtlGst.buffer_from_view(words), 'u2', (3, 5, 3))
                         .tolist(), picture.tolist())

        caps = MtlGst.audio_caps_from_view(samples, 48000)
        buffer = MtlGst.audio_buffer_from_view(samples, caps)
        self.assertEqual(MtlGst.view_from_audio_buffer(buffer, caps).tolist(), samples.tolist())
        self.assertIn('float64', MtlGst.tensor_caps_from_view(words.astype('>f8')).to_string())
        planes = [records['value'][..., None][:, :, 0], numpy.zeros((2, 3, 2), '>u2')]
        p010 = Gst.Caps.from_string('video/x-raw, format=P010_10LE, width=5, height=3')
        with MtlGst.map(MtlGst.video_buffer_from_views(planes, p010), p010) as view:
            self.assertEqual(view.tolist(), planes[0].tolist())

    def test_arrays_that_cannot_be_viewed(self):
        array = numpy.arange(45, dtype='u1').reshape(3, 5, 3)
        wide = numpy.arange(12).reshape(6, 2)
        swapped = wide.astype(numpy.dtype('i2').newbyteorder())
        native = wide.astype('i2').tobytes()

        class Exporter:
            def __dlpack__(self, **keywords):
                raise RuntimeError('not today')

            def __array__(self, dtype=None, copy=None):
                return array

        buffer = MtlGst.buffer_from_view(swapped)
        self.assertEqual(buffer.extract_dup(0, buffer.get_size()), native)
        self.assertEqual(MtlGst.buffer_from_view(numpy.longdouble([1, 2])).get_size(), 16)
        with MtlGst.map(MtlGst.video_buffer_from_view(Exporter(), RGB), RGB) as view:
            self.assertEqual(view.tolist(), array.tolist())
        caps = MtlGst.audio_caps_from_view(swapped, 48000)
        self.assertEqual(caps.to_string(),
                         MtlGst.audio_caps_from_view(wide.astype('i2'), 48000).to_string())
        buffer = MtlGst.audio_buffer_from_view(swapped, caps)
        self.assertEqual(buffer.extract_dup(0, buffer.get_size()), native)

    def test_video_buffer_from_views(self):
        y, uv = numpy.zeros((6, 8), 'u1'), numpy.ones((3, 4, 2), 'u1')
        buffer = MtlGst.video_buffer_from_views([y, Mtl.asview(uv)], NV12)
        for plane, array in enumerate((y, uv)):
            with MtlGst.map(buffer, NV12, plane=plane) as view:
                self.assertEqual(view.get_address(), array.ctypes.data)

    def test_errors(self):
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', ['(3, 5, 3)'],
                           MtlGst.video_buffer_from_view, Mtl.zeros((3, 5, 4), 'u1'), RGB)
        self.assert_raises(ValueError, 'NEEDS_COPY', [],
                           MtlGst.video_buffer_from_view, Mtl.zeros((3, 5, 6), 'u1')[..., ::2], RGB)
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', [2],
                           MtlGst.video_buffer_from_views, [Mtl.zeros((6, 8), 'u1')], NV12)
        with self.assertRaisesRegex(TypeError, says('object', 'DLPack')):
            MtlGst.video_buffer_from_view(object(), RGB)


class CapsTest(Test):
    def test_video_caps_from_view(self):
        view = Mtl.zeros((3, 5, 4), 'u1')
        for format, expected in {None: 'RGBA', 'BGRx': 'BGRx', GstVideo.VideoFormat.ARGB: 'ARGB',
                                 }.items():
            text = MtlGst.video_caps_from_view(view, format).to_string()
            self.assertIn(f'format=(string){expected}', text)
        for framerate, expected in {0: '0/1', 30: '30/1', 12.5: '25/2', 30000 / 1001: '30000/1001',
                                    Fraction(30000, 1001): '30000/1001', '24000/1001': '24000/1001',
                                    }.items():
            text = MtlGst.video_caps_from_view(view, None, framerate).to_string()
            self.assertIn(f'framerate=(fraction){expected}', text)
        again = MtlGst.video_caps_from_view(view, framerate=Gst.Fraction(0, 1))
        self.assertIn('framerate=(fraction)0/1', again.to_string())
        self.assertIn('width=(int)5, height=(int)3', again.to_string())

    def test_layout_from_caps(self):
        layout, dtype = MtlGst.layout_from_caps(RGB)
        self.assertEqual((layout.shape, layout.strides, dtype), ((3, 5, 3), (16, 3, 1), 'uint8'))
        self.assertEqual(MtlGst.layout_from_caps(NV12, 1)[0].shape, (3, 4, 2))

    def test_tensor_caps(self):
        caps = MtlGst.tensor_caps_from_view(numpy.zeros((2, 3), 'f4'), 'scores')
        self.assertTrue(caps.to_string().startswith('tensor/strided, '))
        self.assertIn('tensor-id=(string)scores', caps.to_string())
        self.assertNotIn('tensor-id', MtlGst.tensor_caps_from_view([1.5]).to_string())
        layout, dtype = MtlGst.layout_from_caps(caps)
        self.assertEqual((layout.shape, dtype), ((2, 3), 'float32'))

        buffer = new_buffer(24)
        view = MtlGst.view_from_buffer_with_caps(buffer, caps)
        self.assertEqual((view.shape, view.dtype), ((2, 3), 'float32'))
        self.assertEqual(view.get_address(), address_of(buffer))

    def test_errors(self):
        view = Mtl.zeros((3, 5, 4), 'u1')
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', ['RGB'],
                           MtlGst.video_caps_from_view, view, 'RGB')
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', ['-1/1'],
                           MtlGst.video_caps_from_view, view, None, -1)
        self.assert_raises(NotImplementedError, 'NOT_SUPPORTED', ['complex64'],
                           MtlGst.tensor_caps_from_view, Mtl.zeros(3, 'complex64'))
        self.assert_raises(ValueError, 'INVALID_ARGUMENT', ['width'], MtlGst.layout_from_caps,
                           Gst.Caps.from_string('video/x-raw, format=RGB'))
        with self.assertRaisesRegex(ValueError, "'RGBY'"):
            MtlGst.video_caps_from_view(view, 'RGBY')


class TensorTest(Test):
    def test_tensors(self):
        buffer = new_buffer(8)
        scores = numpy.arange(6, dtype='f4').reshape(2, 3)
        self.assertEqual(MtlGst.buffer_get_n_tensors(buffer), 0)
        self.assertIsNone(MtlGst.buffer_get_tensor_id(buffer, 0))
        if Gst.version() < (1, 26):
            self.assert_raises(NotImplementedError, 'NOT_SUPPORTED', ['1.26'],
                               MtlGst.buffer_add_tensor,
                               buffer, 'scores', scores)
            self.assert_raises(NotImplementedError, 'NOT_SUPPORTED', ['1.26'],
                               MtlGst.view_from_buffer_tensor, buffer, 0)
            return

        self.assertTrue(MtlGst.buffer_add_tensor(buffer, 'scores', scores))
        self.assertEqual(MtlGst.buffer_get_n_tensors(buffer), 1)
        self.assertEqual(MtlGst.buffer_get_tensor_id(buffer, 0), 'scores')
        with MtlGst.view_from_buffer_tensor(buffer, 0) as view:
            self.assertEqual(view.get_address(), scores.ctypes.data)
            self.assertEqual(view.tolist(), scores.tolist())
        self.assert_raises(IndexError, 'OUT_OF_BOUNDS', [1],
                           MtlGst.view_from_buffer_tensor, buffer, 1)

    def test_types(self):
        if Gst.version() < (1, 26):
            return

        buffer = new_buffer(8)
        arrays = [numpy.array([[1, 0, 2], [3, 0, 4]], 'u1')]
        if Gst.version() >= (1, 28):
            arrays += [arrays[0].astype(dtype) for dtype in ('?', 'c8', 'c16')]
        for array in arrays:
            MtlGst.buffer_add_tensor(buffer, None, array.T)
        self.assertEqual(MtlGst.buffer_get_n_tensors(buffer), len(arrays))
        for i, array in enumerate(arrays):
            with MtlGst.view_from_buffer_tensor(buffer, i) as view:
                self.assertEqual(view.dtype, array.dtype.name)
                self.assertEqual(view.tolist(), array.T.tolist())


class AllocatorTest(Test):
    @unittest.skipUnless(sys.platform == 'linux', 'only Linux has files that can be sealed')
    def test_descriptors(self):
        view = Mtl.StridedView.new_zeros(None, 'uint8', (3, 5, 3), 'interprocess')
        pooled = Gst.Buffer.new_allocate(MtlGst.Allocator.new('interprocess'), 45, None)
        for buffer in MtlGst.buffer_from_view(view), pooled:
            with MtlGst.view_from_buffer(buffer, 'u1', (45,), WRITE) as written:
                written[:] = range(45)
            memory = buffer.peek_memory(0)
            self.assertTrue(GstAllocators.is_fd_memory(memory))
            _, offset, _ = memory.get_sizes()
            self.assertEqual(os.pread(GstAllocators.fd_memory_get_fd(memory), 45, offset),
                             bytes(range(45)))
        self.assertEqual(view[2, 4, 2], 44)

    def test_allocator(self):
        host, default = Mtl.Device.get_host(), Mtl.Device.get_default()
        for allocator, device in (
                (MtlGst.Allocator.new(), default), (MtlGst.Allocator.new('host'), host),
                (MtlGst.Allocator(device=host, storage_mode=Mtl.StorageMode.HOST), host),
                (MtlGst.Allocator.new(host, Mtl.StorageMode.HOST), host)):
            buffer = Gst.Buffer.new_allocate(allocator, 48, None)
            memory, byte_offset = MtlGst.memory_get_buffer(buffer.peek_memory(0))
            self.assertEqual(memory.get_device(), device)
            view = Mtl.StridedView.new(memory, Mtl.StridedLayout([48], itemsize=1), 'u1',
                                       byte_offset)
            self.assertEqual(view.get_address(), address_of(buffer))
        self.assertEqual(tuple(MtlGst.memory_get_buffer(new_buffer(8).peek_memory(0))), (None, 0))

    def test_error(self):
        self.assert_raises(NotImplementedError, 'NOT_SUPPORTED', ['Host'], MtlGst.Allocator.new,
                           Mtl.Device.get_host(), 'private')


class LifetimeTest(Test):
    def test_array_keeps_the_memory(self):
        storage = bytearray(range(15)) * 3
        buffer = MtlGst.buffer_from_view(storage)
        view = MtlGst.view_from_buffer(buffer, 'u1', (3, 15))
        array = numpy.asarray(view)[1:]
        del buffer, view
        with self.assertRaises(BufferError):
            storage.append(0)
        self.assertEqual(array.tolist(), [list(range(15))] * 2)
        del array
        storage.append(0)

    def test_array_after_the_block(self):
        buffer = new_buffer(48)
        with self.assertRaisesRegex(BufferError, says(0, 1)), MtlGst.map(buffer, RGB) as view:
            array = numpy.asarray(view)
        self.assertEqual(array[0, 1].tolist(), [3, 4, 5])
        self.assertEqual(view.shape, (3, 5, 3))

        # The array is a user of the buffer.
        self.assert_raises(ValueError, 'READ_ONLY', [2], MtlGst.map, buffer, RGB, WRITE)
        del array, view
        with MtlGst.map(buffer, RGB, WRITE) as view:
            self.assertFalse(view.is_read_only())

    def test_an_error_of_the_block_comes_first(self):
        def fail(view):
            array = numpy.asarray(view)
            raise KeyError(array.shape)

        buffer = new_buffer(48)
        with self.assertRaises(KeyError), MtlGst.map(buffer, RGB) as view:
            fail(view)
        self.assertTrue(view.close())
        with MtlGst.map(buffer, RGB, WRITE) as view:
            self.assertFalse(view.is_read_only())

    def test_slices_end_with_their_variables(self):
        buffer = new_buffer(48)
        with MtlGst.map(buffer, RGB, WRITE) as view:
            view[0] = 1
            row = view[1]
        del row
        with MtlGst.map(buffer, RGB, WRITE) as view:
            self.assertEqual(view[0].tolist(), [[1] * 3] * 5)


def template(name, direction):
    return Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS,
                               Gst.Caps.from_string('video/x-raw, format=RGB'))


class Invert(GstBase.BaseTransform):
    __gstmetadata__ = ('Invert', 'Filter/Video', 'Inverts colors in place', 'mtldl')
    __gsttemplates__ = (template('src', Gst.PadDirection.SRC),
                        template('sink', Gst.PadDirection.SINK))

    def do_set_caps(self, caps, _):
        self.info = GstVideo.VideoInfo.new_from_caps(caps)
        self.addresses = []
        return True

    def do_transform_ip(self, buffer):
        with MtlGst.map(buffer, self.info, WRITE) as view:
            pixels = numpy.asarray(view)
            numpy.invert(pixels, out=pixels)
            self.addresses.append(view.get_address())
        return Gst.FlowReturn.OK


class Mirror(GstVideo.VideoFilter):
    __gstmetadata__ = ('Mirror', 'Filter/Video', 'Mirrors frames', 'mtldl')
    __gsttemplates__ = Invert.__gsttemplates__

    def do_transform_frame(self, source, target):
        with (MtlGst.view_from_video_frame(source) as old,
              MtlGst.view_from_video_frame(target) as new):
            self.are_read_only = old.is_read_only(), new.is_read_only()
            new[:] = old[:, ::-1]
            self.last = numpy.asarray(old)  # outlives the frame
        return Gst.FlowReturn.OK


class Darken(GstVideo.VideoFilter):
    __gstmetadata__ = ('Darken', 'Filter/Video', 'Darkens the left half in place', 'mtldl')
    __gsttemplates__ = Invert.__gsttemplates__

    def do_transform_frame_ip(self, frame):
        with MtlGst.view_from_video_frame(frame) as pixels:
            numpy.asarray(pixels)[:, :160] //= 2
            with MtlGst.view_from_video_frame_component(frame, 1) as green:
                self.places = pixels.shape, green.shape, green.get_address() - pixels.get_address()
        try:
            MtlGst.view_from_video_frame(frame, 1)
        except IndexError as error:
            self.error = error
        return Gst.FlowReturn.OK


class PipelineTest(Test):
    def start(self, text, *elements):
        pipeline = Gst.parse_launch(text)
        for element in elements:
            pipeline.add(element)
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        return pipeline

    def wait_for_end(self, pipeline):
        message = pipeline.get_bus().timed_pop_filtered(
            10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        self.assertEqual(message.type, Gst.MessageType.EOS)

    def pull(self, sink):
        """Yields the samples until the end."""
        while True:
            sample = sink.emit('pull-sample')
            if sample is None:
                return
            yield sample

    def test_from_appsink(self):
        pipeline = self.start('videotestsrc num-buffers=5 pattern=white ! video/x-raw, format=RGB,'
                              ' width=322, height=24 ! appsink name=sink sync=false')
        pipeline.set_state(Gst.State.PLAYING)
        n_frames = 0
        for sample in self.pull(pipeline.get_by_name('sink')):
            buffer = sample.get_buffer()
            with MtlGst.map(buffer, sample.get_caps()) as view:
                self.assertEqual(view.get_address(), address_of(buffer))
                self.assertEqual((view.shape, view.min()), ((24, 322, 3), 255))
            n_frames += 1
        self.assertEqual(n_frames, 5)

    def test_to_fakesink(self):
        frames = numpy.zeros((5, 24, 320, 3), 'u1')
        caps = MtlGst.video_caps_from_view(frames[0], 'RGB', 30)
        pipeline = self.start('appsrc name=source format=time'
                              ' ! fakesink name=sink signal-handoffs=true')
        source, received = pipeline.get_by_name('source'), []
        pipeline.get_by_name('sink').connect(
            'handoff', lambda sink, buffer, pad: received.append(address_of(buffer)))
        source.props.caps = caps
        pipeline.set_state(Gst.State.PLAYING)
        for frame in frames:
            source.emit('push-buffer', MtlGst.video_buffer_from_view(frame, caps))
        source.emit('end-of-stream')
        self.wait_for_end(pipeline)
        self.assertEqual(received, [frame.ctypes.data for frame in frames])

    def test_transform(self):
        pipeline = self.start('videotestsrc num-buffers=5 pattern=white name=source'
                              ' appsink name=sink sync=false max-buffers=9', invert := Invert())
        source, sink = pipeline.get_by_name('source'), pipeline.get_by_name('sink')
        source.link_filtered(invert, Gst.Caps.from_string('video/x-raw, width=320, height=24'))
        invert.link(sink)
        pipeline.set_state(Gst.State.PLAYING)
        buffers = [sample.get_buffer() for sample in self.pull(sink)]
        self.assertEqual(len(buffers), 5)
        self.assertEqual([address_of(buffer) for buffer in buffers], invert.addresses)
        for buffer in buffers:
            with MtlGst.map(buffer, invert.info) as view:
                self.assertEqual(view.max(), 0)

    def test_video_filters(self):
        darken, mirror = Darken(), Mirror()
        pipeline = self.start('videotestsrc num-buffers=5 pattern=white name=source'
                              ' appsink name=sink sync=false max-buffers=9', darken, mirror)
        source, sink = pipeline.get_by_name('source'), pipeline.get_by_name('sink')
        source.link_filtered(darken, Gst.Caps.from_string('video/x-raw, width=320, height=24'))
        darken.link(mirror)
        mirror.link(sink)
        pipeline.set_state(Gst.State.PLAYING)
        samples = list(self.pull(sink))
        self.assertEqual(len(samples), 5)
        self.assertEqual(darken.places, ((24, 320, 3), (24, 320), 1))
        self.assertEqual(code_of(darken.error), 'OUT_OF_BOUNDS')
        self.assertEqual(mirror.are_read_only, (True, False))
        self.assertEqual(set(mirror.last[:, :160].flat), {127})
        for sample in samples:
            with MtlGst.map(sample.get_buffer(), sample.get_caps()) as view:
                self.assertTrue((view[:, :160] == 255).all() and (view[:, 160:] == 127).all())


if __name__ == '__main__':
    sys.exit(unittest.main())

/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Every function and method from JavaScript; the tests in C have the cases.

import Cairo from 'cairo';
import Gdk from 'gi://Gdk?version=4.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk?version=4.0';
import Mtl from 'gi://Mtl?version=1';
import MtlGtk from 'gi://MtlGtk?version=1';
import System from 'system';

import {
    equal, ok, rejectsMtl, run, test, throws, throwsGio, throwsMtl,
} from '../../support/tap.js';

const {AUTO, BGR, BGRA, GRAY, RGB} = MtlGtk.Channels;
const {ALLOW_COPY, NONE, PREMULTIPLIED} = MtlGtk.TextureFlags;
const {HEAT} = MtlGtk.ColorMap;

function numbers(...shape) {
    const size = shape.reduce((product, extent) => product * extent);
    return Mtl.StridedView.from(Uint8Array.from({length: size}, (_, i) => i)).reshape(shape);
}

function cancelled() {
    const cancellable = new Gio.Cancellable();
    cancellable.cancel();
    return cancellable;
}

// Returns a promise of the result that a callback is called with.
function resultOf(start) {
    return new Promise(resolve => start((source, result) => resolve(result)));
}

test('a texture shares the memory of a view', () => {
    let view = numbers(3, 4, 3);
    let texture = MtlGtk.texture_from_view(view);
    equal([texture.width, texture.height], [4, 3]);

    const back = MtlGtk.view_from_texture(texture);
    equal(back.get_address(), view.get_address());
    equal(back.is_read_only(), true);
    view.set_int64([2, 3, 0], 255);
    equal(back.get_int64([2, 3, 0]), 255);
    equal(MtlGtk.download_texture(texture).slice('2, 3').toArray(), [255, 34, 35, 255]);

    // The view alone keeps the pixels.
    view = texture = null;
    System.gc();
    equal(back.slice('0, 1').toArray(), [3, 4, 5]);
});

test('a texture of an array, of channels, and of a copy', () => {
    const pixels = [[[1, 2, 3, 4]], [[5, 6, 7, 8]]];
    const array = Mtl.array(pixels, 'uint8');
    const texture = MtlGtk.texture_from_view(array, BGRA, PREMULTIPLIED);
    equal(MtlGtk.download_texture(texture, 'uint8', BGRA, PREMULTIPLIED).toArray(), pixels);

    throwsMtl('NEEDS_COPY', [], () => MtlGtk.texture_from_view(array.flip(0)));
    const copied = MtlGtk.texture_from_view(array.flip(0), AUTO, ALLOW_COPY);
    equal(MtlGtk.view_from_texture(copied).toArray(), [pixels[1], pixels[0]]);
    throwsMtl('INVALID_ARGUMENT', [3, 4],
        () => MtlGtk.texture_from_view(array, RGB));
    throws(TypeError, '“view”', () => MtlGtk.texture_from_view('view'));
});

test('planes of a texture', () => {
    const view = numbers(3, 4, 3);
    const texture = MtlGtk.texture_from_view(view);
    equal(MtlGtk.view_from_texture_plane(texture, 0).get_address(), view.get_address());
    throwsMtl('OUT_OF_BOUNDS', 1, () => MtlGtk.view_from_texture_plane(texture, 1));
    for (const wrong of [-1, 0.5, 2 ** 32])
        throws(Error, [], () => MtlGtk.view_from_texture_plane(texture, wrong));

    const format = Gdk.MemoryFormat.G8_B8R8_420;
    if (format === undefined)       // before GTK 4.20
        return;
    const video = new Gdk.MemoryTextureBuilder({
        bytes: new GLib.Bytes(Uint8Array.from({length: 12}, (_, i) => i)),
        width: 4,
        height: 2,
        format,
    });
    [0, 8].forEach((offset, plane) => {
        video.set_offset(plane, offset);
        video.set_stride_for_plane(plane, 4);
    });
    equal(MtlGtk.view_from_texture_plane(video.build(), 1).toArray(), [[[8, 9], [10, 11]]]);
});

test('the formats of textures', () => {
    const format = MtlGtk.memory_format_from_pixel('uint8', BGRA, PREMULTIPLIED);
    equal(format, Gdk.MemoryFormat.B8G8R8A8_PREMULTIPLIED);
    equal(MtlGtk.pixel_from_memory_format(format), [Mtl.DType.UINT8, BGRA, PREMULTIPLIED]);
    equal(MtlGtk.memory_format_from_pixel(Mtl.DType.FLOAT32, RGB),
        Gdk.MemoryFormat.R32G32B32_FLOAT);
    throwsMtl('INVALID_ARGUMENT', 'int8', () => MtlGtk.memory_format_from_pixel('int8', RGB));
});

test('downloading in the background', async () => {
    const texture = MtlGtk.texture_from_view(numbers(2, 2, 3));

    const pixels = await MtlGtk.download_texture_async(texture, 'uint8', BGR);
    equal(pixels.slice('0, 1').toArray(), [5, 4, 3]);
    await rejectsMtl('INVALID_ARGUMENT', 'float64',
        MtlGtk.download_texture_async(texture, 'float64'));
    await throwsGio('CANCELLED',
        () => MtlGtk.download_texture_async(texture, 'uint8', BGR, NONE, cancelled()));

    const result = await resultOf(callback => MtlGtk.download_texture_async(
        texture, 'uint8', RGB, NONE, null, callback));
    equal(MtlGtk.download_texture_finish(result).slice('0, 1').toArray(), [3, 4, 5]);
});

test('a view of what Cairo draws', () => {
    let surface = new Cairo.ImageSurface(Cairo.Format.ARGB32, 5, 3);
    let view = MtlGtk.view_from_surface(surface);
    equal([view.shape, view.strides, view.is_read_only()], [[3, 5, 4], [20, 4, 1], false]);
    equal(MtlGtk.view_from_surface(surface).get_address(), view.get_address());

    const context = new Cairo.Context(surface);
    context.setSourceRGB(1, 1, 1);
    context.rectangle(1, 1, 2, 1);
    context.fill();
    // This function flushes what was drawn, for which not every gjs has a method.
    MtlGtk.view_from_surface(surface);
    equal(view.slice('1').toArray(), [0, 255, 255, 0, 0].map(value => Array(4).fill(value)));

    // The view alone keeps the pixels.
    context.$dispose();
    surface = null;
    System.gc();
    equal(view.get_int64([1, 1, 0]), 255);
    throwsMtl('NOT_SUPPORTED', 3,
        () => MtlGtk.view_from_surface(new Cairo.ImageSurface(Cairo.Format.A1, 5, 3)));
});

test('Cairo draws into a view', () => {
    const view = Mtl.zeros([3, 5, 4], 'uint8');
    const surface = MtlGtk.surface_from_view(view, Cairo.Format.ARGB32);
    ok(surface instanceof Cairo.ImageSurface);
    equal([surface.getWidth(), surface.getHeight()], [5, 3]);
    equal(MtlGtk.view_from_surface(surface).get_address(), view.get_address());

    view.fill(10);
    const context = new Cairo.Context(surface);
    context.setSourceRGB(1, 1, 1);
    context.rectangle(4, 2, 1, 1);
    context.fill();
    context.$dispose();
    MtlGtk.view_from_surface(surface);
    equal(view.slice('2, 3:').toArray(), [[10, 10, 10, 10], [255, 255, 255, 255]]);

    throwsMtl('INVALID_ARGUMENT', 'shape',
        () => MtlGtk.surface_from_view(view, Cairo.Format.A8));
    equal(MtlGtk.check_surface(view, Cairo.Format.ARGB32), true);
    throwsMtl('READ_ONLY', 'read-only',
        () => MtlGtk.surface_from_view(view.as_read_only(), Cairo.Format.ARGB32));
});

test('colors of numbers', async () => {
    const matrix = [[0, 0.5], [1, NaN]];
    const colors = MtlGtk.colorize(matrix, MtlGtk.ColorMap.GRAY, 0, 1);
    equal(colors.slice('1').toArray(), [[255, 255, 255], [224, 27, 36]]);
    throwsMtl('INVALID_ARGUMENT', 2, () => MtlGtk.colorize([1, 2], HEAT, 0, 1));

    const expected = MtlGtk.colorize(matrix, HEAT, 0, 1).toArray();
    equal((await MtlGtk.colorize_async(matrix, HEAT, 0, 1)).toArray(), expected);
    await rejectsMtl('INVALID_ARGUMENT', 2,
        MtlGtk.colorize_async([1, 2], HEAT, 0, 1));
    await throwsGio('CANCELLED', () => MtlGtk.colorize_async(matrix, HEAT, 0, 1, cancelled()));
    const result = await resultOf(
        callback => MtlGtk.colorize_async(matrix, HEAT, 0, 1, null, callback));
    equal(MtlGtk.colorize_finish(result).toArray(), expected);
});

test('colors of one\'s own', async () => {
    const matrix = [[0, 1], [2, NaN]];
    const colors = [[0, 0, 0, 0], [1, 0.5, 0, 1]];
    const expected = [[255, 128, 0, 255], [224, 27, 36, 255]];
    const bytes = Mtl.array([[0, 0, 0, 0], [255, 128, 0, 255]], 'uint8');
    equal(MtlGtk.colorize_with_colors(matrix, colors, 0, 2.01).slice('1').toArray(), expected);
    equal(MtlGtk.colorize_with_colors(matrix, bytes, 0, 1.5).slice('1').toArray(), expected);
    throwsMtl('INVALID_ARGUMENT', 2.5,
        () => MtlGtk.colorize_with_colors(matrix, [[0, 2.5, 1]], 0, 1));

    const pixels = MtlGtk.colorize_with_colors(matrix, bytes, 0, 1).toArray();
    equal((await MtlGtk.colorize_with_colors_async(matrix, bytes, 0, 1)).toArray(), pixels);
    const result = await resultOf(
        callback => MtlGtk.colorize_with_colors_async(matrix, bytes, 0, 1, null, callback));
    equal(MtlGtk.colorize_with_colors_finish(result).toArray(), pixels);

    const paintable = new MtlGtk.ViewPaintable();
    paintable.set_colors([[0, 0, 0], [0, 0.2, 1]], 0, 1);
    paintable.set_view(Mtl.array(matrix, 'float32'));
    equal(shownPixels(paintable).slice('0').toArray(), [[0, 0, 0], [0, 51, 255]]);
    throwsMtl('INVALID_ARGUMENT', '(2, 2)', () => paintable.set_colors(matrix, 0, 1));
});

Gtk.init_check(); // without a screen, too

// The pixels that GTK draws.
function shownPixels(paintable) {
    const snapshot = new Gtk.Snapshot();
    paintable.snapshot(snapshot, paintable.get_intrinsic_width(),
        paintable.get_intrinsic_height());
    return MtlGtk.view_from_texture(snapshot.to_node().get_texture());
}

test('a paintable shows what is written to a view', () => {
    const view = numbers(3, 4, 3);
    const paintable = MtlGtk.ViewPaintable.new();
    let nInvalidated = 0;
    ok(paintable instanceof Gdk.Paintable);
    equal(paintable.get_texture(), null);

    equal(paintable.set_view(view), true);
    ok(paintable.get_view() === view);
    paintable.connect('invalidate-contents', () => nInvalidated++);
    const before = paintable.get_texture();
    ok(paintable.get_current_image() === before);

    view.set_int64([1, 1, 0], 99);
    ok(shownPixels(paintable).get_address() !== view.get_address());
    equal(shownPixels(paintable).toArray(), numbers(3, 4, 3).toArray());
    paintable.invalidate(new Gdk.Rectangle({x: 1, y: 1, width: 1, height: 1}));
    equal(nInvalidated, 1);
    equal(shownPixels(paintable).toArray(), view.toArray());
    view.fill(7);
    paintable.invalidate();
    equal(shownPixels(paintable).toArray(), view.toArray());
    equal(MtlGtk.view_from_texture(before).toArray(), numbers(3, 4, 3).toArray());

    paintable.set_view(null);
    equal([paintable.get_view(), paintable.get_texture()], [null, null]);
});

test('a paintable shows a read-only view in its memory', () => {
    const view = numbers(3, 4, 4);
    const paintable = new MtlGtk.ViewPaintable();
    paintable.set_view(view.as_read_only(), BGRA, PREMULTIPLIED);

    const pixels = shownPixels(paintable);
    equal(pixels.get_address(), view.get_address());
    view.set_int64([2, 2, 2], 8);
    equal(pixels.get_int64([2, 2, 2]), 8);
});

test('a paintable of properties', () => {
    const view = Mtl.array([[1, 2], [3, 4]], 'float64');
    const paintable = new MtlGtk.ViewPaintable({color_map: HEAT, low: 1, view, high: 4});
    const errors = [];

    equal(shownPixels(paintable).toArray(), MtlGtk.colorize(view, HEAT, 1, 4).toArray());
    paintable.connect('notify::error', () => errors.push(paintable.error));
    paintable.color_map = MtlGtk.ColorMap.NONE;
    ok(errors[0].matches(Mtl.Error, Mtl.Error.INVALID_ARGUMENT));
    equal([paintable.get_texture(), paintable.get_intrinsic_width()], [null, 0]);
    paintable.colors = Mtl.array([[0, 0, 0], [9, 9, 9]], 'uint8');
    equal(errors.slice(1), [null]);
    equal(shownPixels(paintable).toArray()[1][1], [9, 9, 9]);
    paintable.set({view: numbers(2, 2, 3), channels: BGR, flags: ALLOW_COPY});
    equal([paintable.error, paintable.channels, paintable.low], [null, BGR, 1]);
    equal(shownPixels(paintable).toArray(), numbers(2, 2, 3).toArray());
});

test('a paintable shows numbers in colors', () => {
    const view = Mtl.array([[1, 2], [3, 4]], 'float64');
    const paintable = new MtlGtk.ViewPaintable();
    throwsMtl('INVALID_ARGUMENT', 'float64', () => paintable.set_view(view));

    paintable.set_color_map(HEAT, 1, 4);
    paintable.set_view(view);
    equal(shownPixels(paintable).toArray(), MtlGtk.colorize(view, HEAT, 1, 4).toArray());
    throwsMtl('INVALID_ARGUMENT', 'float64', () => paintable.set_color_map('none'));
    paintable.set_view(numbers(2, 2));
    paintable.set_color_map('none');
    equal(MtlGtk.download_texture(paintable.get_texture(), 'uint8', GRAY).toArray(),
        [[[0], [1]], [[2], [3]]]);
});

if (MtlGtk.view_from_dmabuf) { // on Linux
    test('what is not a DMA-BUF', () => {
        const layout = Mtl.StridedLayout.new_with_byte_strides([2, 3], [3, 1], 8);
        throwsMtl('INVALID_ARGUMENT', -1,
            () => MtlGtk.view_from_dmabuf(-1, 0, layout, 'uint8'));
        throws(Error, [],
            () => MtlGtk.texture_from_dmabuf(null, -1, 0, layout, 0x34325258));
    });
}

test('values of enumerations by their names', async () => {
    const pixels = numbers(2, 3, 3);
    const texture = MtlGtk.texture_from_view(pixels, 'bgr', 'allow-copy');
    const paintable = MtlGtk.ViewPaintable.new();

    equal(MtlGtk.view_from_texture(texture).toArray(),
        MtlGtk.view_from_texture(MtlGtk.texture_from_view(pixels, BGR)).toArray());
    equal(MtlGtk.download_texture(texture, 'uint8', 'rgb').get(0, 0, 0), 2);
    equal((await MtlGtk.download_texture_async(texture, 'uint8', 'RGB')).get(0, 0, 0), 2);
    equal(MtlGtk.memory_format_from_pixel('uint8', 'bgra', 'premultiplied'),
        Gdk.MemoryFormat.B8G8R8A8_PREMULTIPLIED);
    equal(MtlGtk.download_texture(texture, 'uint8', 'gray-alpha').shape, [2, 3, 2]);
    equal(MtlGtk.colorize([[0, 1]], 'heat', 0, 1).toArray(),
        MtlGtk.colorize([[0, 1]], HEAT, 0, 1).toArray());
    equal((await MtlGtk.colorize_async([[0, 1]], 'gray', 0, 1)).shape, [1, 2, 3]);
    paintable.set_view(pixels, 'bgr');
    paintable.set_color_map('heat', 0, 1);
    throws(TypeError, ['GRAY_ALPHA', '“rgbb”'], () => MtlGtk.texture_from_view(pixels, 'rgbb'));
});

test('other names and numbers are no values of an enumeration', () => {
    const pixels = numbers(2, 3, 4);
    const texture = MtlGtk.texture_from_view(pixels);
    const paintable = MtlGtk.ViewPaintable.new();

    for (const call of [
        () => MtlGtk.texture_from_view(pixels, 'bgraa'),
        () => MtlGtk.texture_from_view(pixels, BGRA, 'copies'),
        () => MtlGtk.colorize([[0, 1]], 'hot', 0, 1),
        () => MtlGtk.download_texture(texture, 'float32', 'rgbrgb'),
        () => MtlGtk.memory_format_from_pixel('uint8', undefined),
        () => MtlGtk.surface_from_view(pixels, 'A8'),
        () => MtlGtk.surface_from_view(pixels, undefined),
        () => paintable.set_view(pixels, 0.5),
        () => paintable.set_color_map('hot', 0, 1),
    ])
        throws(TypeError, [], call);
});

await run();

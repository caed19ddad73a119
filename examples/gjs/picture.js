#!/usr/bin/env gjs
// SPDX-License-Identifier: LGPL-2.1-or-later

// picture.js IN OUT [--hops]
//
// Loads a picture, changes it in place, and saves it as PNG. The pixels stay
// where GdkPixbuf put them when it loaded the file: the views, the second
// GdkPixbuf and the Gdk.Texture all use that memory.

imports.gi.versions.Mtl = '1';
imports.gi.versions.MtlGtk = '1';
imports.gi.versions.MtlPixbuf = '1';

const {GdkPixbuf, GLib, Mtl, MtlGtk, MtlPixbuf} = imports.gi;
const System = imports.system;

// Exchanges red and blue in the lower half, below a white line.
function change(view) {
    // A slice is another view of the same memory: writing to it changes the
    // picture.
    const middle = Math.floor(view.get_extent(0) / 2);
    const lower = view.slice(`${middle}:`);

    // As in Python: the first three channels of all pixels. This leaves out a
    // fourth one, the opacity. Source and destination of the copy overlap, but
    // the result is still right.
    const colors = lower.slice('..., :3');
    colors.copy_from(colors.slice('..., ::-1'));

    lower.slice(':4').fill_double(255);
}

function run(inPath, outPath, showHops) {
    const pixbuf = GdkPixbuf.Pixbuf.new_from_file(inPath);

    // A view [height, width, channels] of the picture's own pixels.
    const view = MtlPixbuf.view_from_pixbuf(pixbuf);
    change(view);

    // And back. Each object keeps the memory alive. GTK assumes that the pixels
    // do not change: do not write to them while the texture may be drawn.
    const result = MtlPixbuf.pixbuf_from_view(view);
    const texture = MtlGtk.texture_from_view(view);

    if (showHops)
        printHops(pixbuf, view, texture);
    result.savev(outPath, 'png', [], []);
}

// The rest of this file measures the addresses and times of each hop, and the
// times of the same hop with a copy.

// Returns the best of several runs, in microseconds per call. If they take long
// there are fewer, but at least two. Collects the garbage between runs, because
// the collector does not know how large pictures are.
function measure(nCalls, make) {
    const deadline = GLib.get_monotonic_time() + 200000;
    let best = Infinity;

    for (let run = 0; run < 15; run++) {
        const start = GLib.get_monotonic_time();

        if (run >= 2 && start > deadline)
            break;

        for (let i = 0; i < nCalls; i++)
            make();
        best = Math.min(best, GLib.get_monotonic_time() - start);
        System.gc();
    }

    return best / nCalls;
}

function printHop(name, before, after, make, makeCopied) {
    const addresses = [before, after].map(address => `0x${address.toString(16)}`);
    const times = [measure(100, make), measure(1, makeCopied)].map(time => time.toFixed(3));

    print([name, ...addresses, ...times].join('\t'));
}

// JavaScript cannot get the address of a picture's pixels. But if views were
// copies, two that exist at the same time could not have the same address.
function printHops(pixbuf, view, texture) {
    const address = view.get_address();
    const pixbufOfView = MtlPixbuf.pixbuf_from_view(view);

    printHop('GdkPixbuf -> view',
        address, MtlPixbuf.view_from_pixbuf(pixbuf).get_address(),
        () => MtlPixbuf.view_from_pixbuf(pixbuf),
        () => Mtl.StridedView.new_from_bytes_with_byte_strides(
            pixbuf.read_pixel_bytes(), Mtl.DType.UINT8, view.get_shape(), view.get_strides()));
    printHop('view -> GdkPixbuf',
        address, MtlPixbuf.view_from_pixbuf(pixbufOfView).get_address(),
        () => MtlPixbuf.pixbuf_from_view(view),
        () => MtlPixbuf.pixbuf_from_view(view.copy()));
    printHop('view -> Gdk.MemoryTexture',
        address, MtlGtk.view_from_texture(texture).get_address(),
        () => MtlGtk.texture_from_view(view),
        () => MtlGtk.texture_from_view(view.copy()));
}

if (ARGV.length !== 2 && !(ARGV.length === 3 && ARGV[2] === '--hops')) {
    printerr('usage: picture.js IN OUT [--hops]');
    System.exit(2);
}

try {
    run(ARGV[0], ARGV[1], ARGV.length === 3);
} catch (error) {
    printerr(`picture.js: ${error.message}`);
    System.exit(1);
}

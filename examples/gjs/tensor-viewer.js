#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later

// tensor-viewer.js [FILE]
//
// Lists the tensors of a file, and shows the first matrix of each as a grey
// picture. The file is mapped, and only what is shown of it is read, in the
// background. mtldl-viewer does more.

import Gdk from 'gi://Gdk?version=4.0';
import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk?version=4.0';
import Mtl from 'gi://Mtl?version=1';
import Pango from 'gi://Pango';
import System from 'system';

const MAX_PIXELS = 512;     // along an axis

// Names come from strangers: shows one on one line.
function printable(text) {
    return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu,
        character => `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`);
}

function describe(entry) {
    return `${Mtl.DType.to_string(entry.get_dtype())}, ${entry.get_shape().join(' × ') || 'scalar'}`;
}

// Returns [rows, columns], of the first index along all other axes. One axis makes a row.
function getMatrix(tensor) {
    while (tensor.ndim > 2)
        tensor = tensor.slice('0');
    while (tensor.ndim < 2)
        tensor = tensor.slice('newaxis, ...');
    return tensor;
}

// Returns bytes from 0 for the least number to 255 for the greatest.
async function readPixels(matrix, cancellable) {
    const [downs, rights] = matrix.shape.map(extent => Math.ceil(extent / MAX_PIXELS));
    const reduced = matrix.slice(`::${downs}, ::${rights}`);
    const statistics = await reduced.compute_statistics_async(cancellable);
    const low = Number(statistics.minimum), high = Number(statistics.maximum);
    const scale = high > low ? 255 / (high - low) : 0;

    const pixels = Mtl.StridedView.new_uninitialized(Mtl.Device.get_host(), Mtl.DType.UINT8,
        reduced.shape);
    await pixels.copy_scaled_from_async(reduced, scale, scale ? -low * scale : 0, cancellable);
    return pixels;
}

// Draws each pixel as a square: a view that repeats it, as its strides are 0.
function makeTexture(pixels) {
    const [rows, columns] = pixels.shape;
    const factor = Math.max(1, Math.floor(MAX_PIXELS / Math.max(rows, columns)));
    const squares = pixels.slice(':, newaxis, :, newaxis, newaxis')
        .broadcast_to([rows, factor, columns, factor, 3]);

    return Gdk.MemoryTexture.new(columns * factor, rows * factor, Gdk.MemoryFormat.R8G8B8,
        squares.dup_bytes(), columns * factor * 3);
}

const Window = GObject.registerClass(
class Window extends Gtk.ApplicationWindow {
    constructor(application) {
        super({application, title: 'Tensors', default_width: 900, default_height: 600});
        this.cancellable = new Gio.Cancellable();
        this.picture = new Gtk.Picture({can_shrink: false, halign: Gtk.Align.CENTER,
            valign: Gtk.Align.CENTER});
        this.message = new Gtk.Label({label: 'Open a safetensors, .npy or .npz file.', wrap: true,
            wrap_mode: Pango.WrapMode.WORD_CHAR, max_width_chars: 60});
        const scrolled = new Gtk.ScrolledWindow({child: this.picture, vexpand: true});
        const shown = new Gtk.Box({orientation: Gtk.Orientation.VERTICAL, hexpand: true,
            spacing: 6, margin_bottom: 6});
        shown.append(scrolled);
        shown.append(this.message);
        this.set_child(new Gtk.Paned({start_child: this.makeList(), end_child: shown,
            position: 300}));

        const openButton = new Gtk.Button({label: 'Open…'});
        openButton.connect('clicked', () => this.chooseFile());
        const header = new Gtk.HeaderBar();
        header.pack_start(openButton);
        this.set_titlebar(header);
    }

    // Uses the Mtl.TensorFile as the list's model, as it is a Gio.ListModel.
    makeList() {
        this.selection = new Gtk.SingleSelection();
        this.selection.connect('notify::selected-item', () => this.showSelected());
        const factory = new Gtk.SignalListItemFactory();
        factory.connect('setup', (_, item) => item.set_child(
            new Gtk.Label({xalign: 0, ellipsize: Pango.EllipsizeMode.MIDDLE})));
        factory.connect('bind', (_, item) => item.child.set_text(
            printable(item.item.get_name()) || '(no name)'));
        return new Gtk.ScrolledWindow({
            child: new Gtk.ListView({model: this.selection, factory}),
        });
    }

    chooseFile() {
        // Keep a reference while it is open.
        this.chooser = new Gtk.FileChooserNative({title: 'Open Tensors', transient_for: this,
            modal: true, action: Gtk.FileChooserAction.OPEN});
        this.chooser.connect('response', (chooser, response) => {
            if (response === Gtk.ResponseType.ACCEPT)
                this.open(chooser.get_file());
        });
        this.chooser.show();
    }

    async open(file) {
        this.set_title(printable(file.get_basename()));
        try {
            const tensors = await Mtl.TensorFile.open_async(file, null, Mtl.TensorFileMode.MAP);
            this.selection.set_model(tensors);
            if (tensors.get_n_items() === 0)
                this.showMessage('There are no tensors in this file.');
        } catch (error) {
            this.selection.set_model(null);
            this.showMessage(printable(error.message));
        }
    }

    showMessage(text) {
        this.picture.set_paintable(null);
        this.message.set_text(text);
    }

    // Starts to read. Cancels the previous read, and ignores its error.
    async showSelected() {
        const entry = this.selection.selected_item;
        this.cancellable.cancel();
        const cancellable = this.cancellable = new Gio.Cancellable();
        if (entry === null)
            return;

        try {
            const matrix = getMatrix(entry.load_view());
            if (matrix.is_empty()) {
                this.showMessage('This tensor has no elements.');
                return;
            }
            const pixels = await readPixels(matrix, cancellable);
            if (cancellable.is_cancelled())
                return;
            this.picture.set_paintable(makeTexture(pixels));
            this.message.set_text(`${printable(entry.get_name())}  ${describe(entry)}`);
        } catch (error) {
            if (!cancellable.is_cancelled())
                this.showMessage(printable(error.message));
        }
    }
});

const application = new Gtk.Application({
    flags: Gio.ApplicationFlags.HANDLES_OPEN | Gio.ApplicationFlags.NON_UNIQUE,
});
application.connect('activate', () => new Window(application).present());
application.connect('open', (_, files) => {
    for (const file of files) {
        const window = new Window(application);
        window.open(file);
        window.present();
    }
});
System.exit(application.run([System.programInvocationName, ...ARGV]));

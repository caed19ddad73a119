#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later

// tensor-viewer.js [FILE]
//
// Lists the tensors of a safetensors, .npy or .npz file, and shows them as heat
// maps. The file may be larger than memory, as it is mapped. The window shows a
// view of it, with steps if the picture is zoomed out. Only that view is read and
// converted, in the background.

import Gdk from 'gi://Gdk?version=4.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk?version=4.0';
import Mtl from 'gi://Mtl?version=1';
import Pango from 'gi://Pango';
import System from 'system';

// Colours in red, green and blue: from the least number to the greatest, and of other values.
const RAMP = [[16, 22, 61], [35, 61, 132], [31, 122, 149], [67, 178, 132], [179, 217, 85],
    [255, 242, 161]];
const OTHERS = {NaN: [224, 27, 36], infinite: [192, 97, 203]};
const N_STEPS = 256;

const MAX_ZOOM = 6;                 // 2 ** 6 pixels for an element
const MAX_PIXELS = 2 ** 22;         // of a picture's height and width
const MAX_SAMPLES = 512;            // along an axis, to find the least and the greatest
const MAX_TEXT = 200;

// Makes untrusted text fit for display: on one line, and not too long.
function printable(text) {
    const characters = [...text];
    const shown = characters.slice(0, MAX_TEXT).map(character => {
        const isShown = character === ' ' || !/[\p{C}\p{Z}]/u.test(character);
        const code = character.codePointAt(0).toString(16).padStart(4, '0');
        return isShown ? character : `\\u${code}`;
    });

    return shown.join('') + (characters.length > MAX_TEXT ? '…' : '');
}

function describeDType(entry) {
    return Mtl.DType.to_string(entry.get_dtype());
}

function describeShape(entry) {
    return entry.get_shape().join(' × ') || 'scalar';
}

function describeSize(entry) {
    return GLib.format_size_full(entry.get_n_bytes(), GLib.FormatSizeFlags.IEC_UNITS);
}

// Returns a pixel for each step of the ramp, then one for each of OTHERS.
function makeColors() {
    const steps = Array.from({length: N_STEPS}, (_, i) => {
        const place = i / (N_STEPS - 1) * (RAMP.length - 1);
        const below = Math.min(Math.floor(place), RAMP.length - 2);
        return RAMP[below].map((value, channel) =>
            Math.round(value + (RAMP[below + 1][channel] - value) * (place - below)));
    });
    const colors = [...steps, ...Object.values(OTHERS)].flatMap(color => [...color, 255]);

    return new Uint32Array(new Uint8Array(colors).buffer);
}

const COLORS = makeColors();

function findScale(values) {
    let low = Infinity, high = -Infinity;

    for (const value of values) {
        if (Number.isFinite(value)) {
            low = Math.min(low, value);
            high = Math.max(high, value);
        }
    }

    return low <= high ? [low, high] : [NaN, NaN];
}

function makePixels(values, low, high) {
    const pixels = new Uint32Array(values.length);

    for (let i = 0; i < values.length; i++) {
        let step = high > low ? Math.floor((values[i] - low) / (high - low) * N_STEPS) : 0;

        if (Number.isFinite(values[i]))
            step = Math.max(0, Math.min(step, N_STEPS - 1));
        else
            step = Number.isNaN(values[i]) ? N_STEPS : N_STEPS + 1;
        pixels[i] = COLORS[step];
    }

    return pixels;
}

// Draws each pixel as a square.
function makeTexture(pixels, rows, columns, factor = 1) {
    const squares = Mtl.StridedView.from(pixels)
        .reshape([rows, 1, columns, 1])
        .broadcast_to([rows, factor, columns, factor]);

    return Gdk.MemoryTexture.new(columns * factor, rows * factor, Gdk.MemoryFormat.R8G8B8A8,
        squares.dup_bytes(), columns * factor * 4);
}

// Reads and converts the elements in a thread.
async function readFloats(view, cancellable) {
    const floats = Mtl.StridedView.new_empty(Mtl.Device.get_host(), Mtl.DType.FLOAT32, view.shape);

    await floats.copy_from_async(view, cancellable);
    return floats.toTypedArray();
}

// Returns the last two axes, at these indices of the others. One axis makes a stripe.
function getMatrix(tensor, leading) {
    if (tensor.ndim === 0)
        return tensor.broadcast_to([1, 1]);
    if (tensor.ndim === 1)
        return tensor.broadcast_to([Math.max(1, Math.floor(tensor.size / 8)), tensor.size]);
    return tensor.slice([...leading, '...'].join());
}

// Shows a matrix. Only the part in the window is read and drawn.
const HeatMap = GObject.registerClass(
class HeatMap extends Gtk.Box {
    constructor() {
        super({orientation: Gtk.Orientation.VERTICAL, spacing: 6});
        this.cancellable = new Gio.Cancellable();
        this.matrix = null;
        this.zoom = 0;              // 2 ** zoom pixels for an element
        this.fits = true;           // as large as the window allows
        this.refreshing = 0;

        this.picture = new Gtk.Picture({can_shrink: false});
        this.fixed = new Gtk.Fixed({halign: Gtk.Align.CENTER, valign: Gtk.Align.CENTER});
        this.fixed.put(this.picture, 0, 0);
        const scrolled = new Gtk.ScrolledWindow({child: this.fixed, hexpand: true, vexpand: true});
        this.adjustments = [scrolled.vadjustment, scrolled.hadjustment];
        for (const adjustment of this.adjustments) {
            adjustment.connect('changed', () => this.refreshLater());
            adjustment.connect('value-changed', () => this.refreshLater());
        }

        const motion = new Gtk.EventControllerMotion();
        motion.connect('motion', (_, x, y) => this.showElement(x, y));
        motion.connect('leave', () => this.status.set_text(''));
        this.fixed.add_controller(motion);

        const drawn = new Gtk.Box({spacing: 12});
        drawn.append(scrolled);
        drawn.append(this.makeScale());
        this.message = new Gtk.Label({wrap: true, wrap_mode: Pango.WrapMode.WORD_CHAR,
            max_width_chars: 60});
        this.stack = new Gtk.Stack();
        this.stack.add_named(this.message, 'message');
        this.stack.add_named(drawn, 'drawn');
        this.append(this.stack);
        this.append(this.makeBar());
    }

    // Shows the ramp with its numbers, and the colours of other values.
    makeScale() {
        const ramp = new Gtk.Picture({
            paintable: makeTexture(COLORS.slice(0, N_STEPS).reverse(), N_STEPS, 1),
            content_fit: Gtk.ContentFit.FILL, width_request: 18, vexpand: true,
        });
        this.numbers = Array.from({length: 3}, () => new Gtk.Label({xalign: 0, width_chars: 10}));
        const numbers = new Gtk.CenterBox({orientation: Gtk.Orientation.VERTICAL});
        numbers.set_end_widget(this.numbers[0]);
        numbers.set_center_widget(this.numbers[1]);
        numbers.set_start_widget(this.numbers[2]);

        const scale = new Gtk.Grid({column_spacing: 6, row_spacing: 6});
        scale.attach(ramp, 0, 0, 1, 1);
        scale.attach(numbers, 1, 0, 1, 1);
        Object.keys(OTHERS).forEach((label, i) => {
            const square = makeTexture(COLORS.slice(N_STEPS + i, N_STEPS + i + 1), 1, 1, 12);
            scale.attach(new Gtk.Picture({paintable: square, can_shrink: false}), 0, i + 1, 1, 1);
            scale.attach(new Gtk.Label({label, xalign: 0}), 1, i + 1, 1, 1);
        });
        return scale;
    }

    makeBar() {
        this.status = new Gtk.Label({xalign: 0, hexpand: true,
            ellipsize: Pango.EllipsizeMode.END});
        this.ratio = new Gtk.Label({width_chars: 9});
        const bar = new Gtk.Box({spacing: 6});
        const [zoomOut, zoomIn, fit] = [
            ['zoom-out', 'Zoom out', 'win.zoom-out'],
            ['zoom-in', 'Zoom in', 'win.zoom-in'],
            ['zoom-fit-best', 'Fit the window', 'win.zoom-fit'],
        ].map(([icon, tooltip_text, action_name]) => new Gtk.Button({
            icon_name: `${icon}-symbolic`, tooltip_text, action_name}));
        for (const widget of [this.status, zoomOut, this.ratio, zoomIn, fit])
            bar.append(widget);
        return bar;
    }

    showMessage(text) {
        this.cancellable.cancel();
        this.matrix = null;
        this.status.set_text('');
        this.ratio.set_text('');
        this.message.set_text(text);
        this.stack.set_visible_child_name('message');
    }

    // Starts to read. Cancels the previous read, and ignores its error.
    async read(view, done) {
        this.cancellable.cancel();
        const cancellable = new Gio.Cancellable();
        this.cancellable = cancellable;

        try {
            done(await readFloats(view, cancellable));
        } catch (error) {
            if (!cancellable.is_cancelled())
                this.showMessage(printable(error.message));
        }
    }

    // The scale covers the whole matrix, or a sample if it is large.
    showTensor(tensor, leading) {
        this.matrix = null;         // do not redraw the previous one
        this.status.set_text('Reading…');
        const matrix = getMatrix(tensor, leading);
        if (matrix.is_empty()) {
            this.showMessage('This tensor has no elements.');
            return;
        }

        const [rows, columns] = matrix.shape.map(extent => Math.ceil(extent / MAX_SAMPLES));
        const about = rows > 1 || columns > 1 ? '≈ ' : '';

        this.read(matrix.slice(`::${rows}, ::${columns}`), values => {
            const [low, high] = findScale(values);
            [low, (low + high) / 2, high].forEach((number, i) => this.numbers[i].set_text(
                Number.isNaN(number) ? '–' : `${about}${Number(number.toPrecision(4))}`));
            Object.assign(this, {tensor, leading, matrix, low, high});
            this.status.set_text('');
            this.stack.set_visible_child_name('drawn');
            this.refreshLater();
        });
    }

    // Zoomed out, a matrix is a view with steps. Zoomed in, its elements are squares.

    getStepAndFactor(zoom) {
        return [2 ** Math.max(0, -zoom), 2 ** Math.max(0, zoom)];
    }

    getPixelSize(zoom) {
        const [step, factor] = this.getStepAndFactor(zoom);
        return this.matrix.shape.map(extent => Math.ceil(extent / step) * factor);
    }

    // Returns the largest zoom at which the picture fits these sizes.
    findZoom(sizes) {
        let zoom = MAX_ZOOM;
        while (this.getPixelSize(zoom).some((pixels, i) => pixels > Math.max(sizes[i], 1)))
            zoom--;
        return zoom;
    }

    findFittingZoom() {
        return this.findZoom(this.adjustments.map(adjustment => adjustment.page_size));
    }

    setZoom(zoom) {
        this.zoom = zoom;
        const [height, width] = this.getPixelSize(zoom);
        this.fixed.set_size_request(width, height);
        const [step, factor] = this.getStepAndFactor(zoom);
        this.ratio.set_text(`${factor} : ${step}`);
    }

    fit() {
        this.fits = true;
        this.refreshLater();
    }

    // Keeps the middle where it is.
    zoomBy(change) {
        if (this.matrix === null)
            return;

        const least = Math.min(this.findFittingZoom(), 0);
        const greatest = this.findZoom([MAX_PIXELS, MAX_PIXELS]);
        const zoom = Math.min(Math.max(this.zoom + change, least), greatest);
        const oldSizes = this.getPixelSize(this.zoom);
        this.fits = false;
        this.setZoom(zoom);
        this.getPixelSize(zoom).forEach((size, i) => {
            const adjustment = this.adjustments[i];
            const page = adjustment.page_size;
            const seen = Math.min(page, oldSizes[i]);
            const middle = (adjustment.value + seen / 2) * size / oldSizes[i];
            adjustment.configure(middle - page / 2, 0, Math.max(size, page),
                adjustment.step_increment, adjustment.page_increment, page);
        });
        this.refreshLater();
    }

    // Refreshes once for all changes that happen together.
    refreshLater() {
        this.refreshing ||= GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
            this.refreshing = 0;
            if (this.matrix !== null)
                this.refresh();
            return GLib.SOURCE_REMOVE;
        });
    }

    refresh() {
        if (this.fits)
            this.setZoom(this.findFittingZoom());

        const [step, factor] = this.getStepAndFactor(this.zoom);
        const cells = this.matrix.slice(`::${step}, ::${step}`);
        const [[top, bottom], [left, right]] = this.adjustments.map(({value, page_size}) =>
            [Math.floor(value / factor), Math.ceil((value + page_size) / factor)]);
        const part = cells.slice(`${top}:${bottom}, ${left}:${right}`);

        if (part.is_empty()) {
            // The window is past the end of the matrix. Only the old picture keeps it there.
            this.cancellable.cancel();
            this.picture.set_paintable(null);
            this.fixed.move(this.picture, 0, 0);
            return;
        }

        this.read(part, values => {
            const pixels = makePixels(values, this.low, this.high);
            this.picture.set_paintable(makeTexture(pixels, ...part.shape, factor));
            this.fixed.move(this.picture, left * factor, top * factor);
        });
    }

    showElement(x, y) {
        const [step, factor] = this.getStepAndFactor(this.zoom);
        const [row, column] = [y, x].map(pixel => Math.floor(pixel / factor) * step);
        const index = [...this.leading, row, column]
            .slice(2 + this.leading.length - this.tensor.ndim);

        try {
            const element = this.tensor.slice([...index, '...'].join());
            this.status.set_text(`[${index.join(', ')}] = ${element}`);
        } catch (error) {
            this.status.set_text('');
        }
    }
});

const Window = GObject.registerClass(
class Window extends Gtk.ApplicationWindow {
    constructor(application) {
        super({application, title: 'Tensors', default_width: 1180, default_height: 660});
        this.heatMap = new HeatMap();
        this.heading = new Gtk.Label({xalign: 0, selectable: true, hexpand: true,
            ellipsize: Pango.EllipsizeMode.MIDDLE, css_classes: ['heading']});
        this.indices = new Gtk.FlowBox({selection_mode: Gtk.SelectionMode.NONE,
            max_children_per_line: 64});
        this.spinButtons = new Map();

        const shown = new Gtk.Box({orientation: Gtk.Orientation.VERTICAL, spacing: 6,
            margin_top: 12, margin_bottom: 6, margin_start: 12, margin_end: 12});
        shown.append(this.heading);
        shown.append(this.indices);
        shown.append(this.heatMap);
        this.set_child(new Gtk.Paned({start_child: this.makeList(), end_child: shown,
            position: 500, shrink_start_child: false, shrink_end_child: false}));

        const openButton = new Gtk.Button({label: 'Open…'});
        openButton.connect('clicked', () => this.chooseFile());
        const header = new Gtk.HeaderBar();
        header.pack_start(openButton);
        this.set_titlebar(header);

        const actions = {
            'zoom-in': () => this.heatMap.zoomBy(1),
            'zoom-out': () => this.heatMap.zoomBy(-1),
            'zoom-fit': () => this.heatMap.fit(),
        };
        for (const [name, activate] of Object.entries(actions)) {
            const action = new Gio.SimpleAction({name});
            action.connect('activate', activate);
            this.add_action(action);
        }

        this.heatMap.showMessage('Open a safetensors, .npy or .npz file.');
    }

    // Uses the Mtl.TensorFile as the list's model, as it is a Gio.ListModel.
    makeList() {
        const search = new Gtk.SearchEntry({placeholder_text: 'Filter by name', margin_top: 6,
            margin_bottom: 6, margin_start: 6, margin_end: 6});
        const contains = new Gtk.StringFilter({
            expression: Gtk.PropertyExpression.new(Mtl.TensorFileEntry, null, 'name'),
        });
        search.connect('search-changed', () => contains.set_search(search.text));
        this.filtered = new Gtk.FilterListModel({filter: contains, incremental: true});
        this.selection = new Gtk.SingleSelection({model: this.filtered});
        this.selection.connect('notify::selected-item', () => this.showSelected());

        this.columns = new Gtk.ColumnView({model: this.selection});
        this.addColumn('Name', entry => printable(entry.get_name()) || '(no name)', true);
        this.addColumn('Type', describeDType);
        this.addColumn('Shape', describeShape);
        this.addColumn('Size', describeSize);

        const box = new Gtk.Box({orientation: Gtk.Orientation.VERTICAL});
        box.append(search);
        box.append(new Gtk.ScrolledWindow({child: this.columns, vexpand: true}));
        return box;
    }

    addColumn(title, describe, expand = false) {
        const ellipsize = expand ? Pango.EllipsizeMode.MIDDLE : Pango.EllipsizeMode.NONE;
        const factory = new Gtk.SignalListItemFactory();
        factory.connect('setup',
            (_, item) => item.set_child(new Gtk.Label({xalign: 0, ellipsize})));
        factory.connect('bind', (_, item) => item.child.set_text(describe(item.item)));
        this.columns.append_column(
            new Gtk.ColumnViewColumn({title, factory, expand, resizable: true}));
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
        let tensors = null;
        let message = '';
        try {
            tensors = await Mtl.TensorFile.open_async(file, null, Mtl.FileMode.MAP);
            if (tensors.get_n_items() === 0)
                message = 'There are no tensors in this file.';
        } catch (error) {
            message = printable(error.message);
        }

        this.set_title(printable(file.get_basename()));
        this.filtered.set_model(tensors);
        if (message !== '')
            this.heatMap.showMessage(message);
    }

    // Shows the last one or two axes as a picture, with an index for each other axis.
    showSelected() {
        for (let i = 0; i < this.spinButtons.size; i++)
            this.indices.remove(this.indices.get_child_at_index(0));
        this.spinButtons.clear();
        const entry = this.selection.selected_item;
        if (entry === null) {
            this.heading.set_text('');
            this.heatMap.showMessage(this.filtered.model === null ? '' : 'No tensor is selected.');
            return;
        }

        this.heading.set_text(`${printable(entry.get_name())}  ${describeDType(entry)}, ` +
            describeShape(entry));
        try {
            this.tensor = entry.load_view();
        } catch (error) {
            this.heatMap.showMessage(printable(error.message));
            return;
        }
        this.tensor.shape.slice(0, -2).forEach((extent, axis) => {
            if (extent > 1)
                this.addSpinButton(axis, extent);
        });
        this.indices.set_visible(this.spinButtons.size > 0);
        this.heatMap.fits = true;
        this.showSlice();
    }

    addSpinButton(axis, extent) {
        const button = Gtk.SpinButton.new_with_range(0, extent - 1, 1);
        button.connect('value-changed', () => this.showSlice());
        const box = new Gtk.Box({spacing: 6});
        box.append(new Gtk.Label({label: `Axis ${axis}`}));
        box.append(button);
        this.indices.append(box);
        this.spinButtons.set(axis, button);
    }

    showSlice() {
        const leading = this.tensor.shape.slice(0, -2).map(
            (_, axis) => this.spinButtons.get(axis)?.get_value_as_int() ?? 0);
        try {
            this.heatMap.showTensor(this.tensor, leading);
        } catch (error) {
            this.heatMap.showMessage(printable(error.message));
        }
    }
});

const application = new Gtk.Application({
    flags: Gio.ApplicationFlags.HANDLES_OPEN | Gio.ApplicationFlags.NON_UNIQUE,
});
application.set_accels_for_action('win.zoom-in', ['<Control>plus', '<Control>equal']);
application.set_accels_for_action('win.zoom-out', ['<Control>minus']);
application.set_accels_for_action('win.zoom-fit', ['<Control>0']);
application.connect('activate', () => new Window(application).present());
application.connect('open', (_, files) => {
    for (const file of files) {
        const window = new Window(application);
        window.open(file);
        window.present();
    }
});
System.exit(application.run([System.programInvocationName, ...ARGV]));

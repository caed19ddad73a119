#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tensor-viewer.py [FILE]

Lists the tensors of a safetensors, .npy or .npz file, and shows them as heat
maps. The file may be larger than memory, as it is mapped. The window shows a
view of it, with steps if the picture is zoomed out. Only that view is read and
converted, in the background.
"""

import math
import sys

import gi
import numpy as np

gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
gi.require_version('Mtl', '1')
from gi.repository import Gdk, Gio, GLib, Gtk, Mtl, Pango  # noqa: E402

# Colours in red, green and blue: from the least number to the greatest, and of other values.
RAMP = [(16, 22, 61), (35, 61, 132), (31, 122, 149), (67, 178, 132), (179, 217, 85),
        (255, 242, 161)]
OTHERS = {'NaN': (224, 27, 36), 'infinite': (192, 97, 203)}
N_STEPS = 256

MAX_ZOOM = 6                # 2 ** 6 pixels for an element
MAX_PIXELS = 2 ** 22        # of a picture's height and width
MAX_SAMPLES = 512           # along an axis, to find the least and the greatest
MAX_TEXT = 200

# Errors of the library, as Python exceptions, and of files.
ERRORS = (ValueError, IndexError, BufferError, MemoryError, NotImplementedError, GLib.Error)


def printable(text):
    """Makes untrusted text fit for display: on one line, and not too long."""
    shown = ''.join(character if character.isprintable() else f'\\u{ord(character):04x}'
                    for character in text[:MAX_TEXT])
    return shown + '…' if len(text) > MAX_TEXT else shown


def describe_error(error):
    return printable(getattr(error, 'message', str(error)))


def describe_shape(entry):
    return ' × '.join(map(str, entry.get_shape())) or 'scalar'


def describe_size(entry):
    return GLib.format_size_full(entry.get_n_bytes(), GLib.FormatSizeFlags.IEC_UNITS)


def make_colors():
    """Returns a pixel for each step of the ramp, then one for each of OTHERS."""
    places = np.linspace(0, len(RAMP) - 1, N_STEPS)
    channels = [np.interp(places, range(len(RAMP)), channel) for channel in zip(*RAMP)]
    colors = np.full((N_STEPS + len(OTHERS), 4), 255, np.uint8)
    colors[:N_STEPS, :3] = np.round(channels).T
    colors[N_STEPS:, :3] = list(OTHERS.values())
    return colors.view(np.uint32).ravel()


COLORS = make_colors()


def find_scale(values):
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)


def make_pixels(values, low, high):
    with np.errstate(all='ignore'):
        steps = (values.astype(np.float64) - low) / (high - low) * N_STEPS
    steps[np.isnan(steps)] = 0
    steps = np.clip(steps, 0, N_STEPS - 1).astype(np.uint16)
    steps[np.isnan(values)] = N_STEPS
    steps[np.isinf(values)] = N_STEPS + 1
    return COLORS[steps]


def make_texture(pixels, factor=1):
    """Draws each pixel as a square."""
    rows, columns = pixels.shape
    squares = Mtl.asview(pixels).unsqueeze(1, 3).broadcast_to(rows, factor, columns, factor)
    return Gdk.MemoryTexture.new(columns * factor, rows * factor, Gdk.MemoryFormat.R8G8B8A8,
                                 squares.dup_bytes(), columns * factor * 4)


def read_floats(view, cancellable, done, failed):
    """Calls done() with an array when a thread has read and converted the elements."""
    floats = Mtl.StridedView.new_empty(Mtl.Device.get_host(), Mtl.DType.FLOAT32, view.shape)

    def finish(_, result):
        try:
            floats.copy_from_finish(result)
        except ERRORS as error:
            if not cancellable.is_cancelled():
                failed(error)
        else:
            done(np.asarray(floats))

    floats.copy_from_async(view, cancellable, None, finish)


def get_matrix(tensor, leading):
    """Returns the last two axes, at these indices of the others. One axis makes a stripe."""
    if tensor.ndim == 0:
        return tensor.broadcast_to(1, 1)
    if tensor.ndim == 1:
        return tensor.broadcast_to(max(1, tensor.size // 8), tensor.size)
    return tensor[(*leading, ...)]


class HeatMap(Gtk.Box):
    """Shows a matrix. Only the part in the window is read and drawn."""

    def __init__(self):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        self.cancellable = Gio.Cancellable()
        self.matrix = None
        self.zoom = 0           # 2 ** zoom pixels for an element
        self.fits = True        # as large as the window allows
        self.refreshing = 0

        self.picture = Gtk.Picture(can_shrink=False)
        self.fixed = Gtk.Fixed(halign=Gtk.Align.CENTER, valign=Gtk.Align.CENTER)
        self.fixed.put(self.picture, 0, 0)
        scrolled = Gtk.ScrolledWindow(child=self.fixed, hexpand=True, vexpand=True)
        self.adjustments = [scrolled.get_vadjustment(), scrolled.get_hadjustment()]
        for adjustment in self.adjustments:
            adjustment.connect('changed', self.refresh_later)
            adjustment.connect('value-changed', self.refresh_later)

        motion = Gtk.EventControllerMotion()
        motion.connect('motion', self.show_element)
        motion.connect('leave', lambda _: self.status.set_text(''))
        self.fixed.add_controller(motion)

        drawn = Gtk.Box(spacing=12)
        drawn.append(scrolled)
        drawn.append(self.make_scale())
        self.message = Gtk.Label(wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, max_width_chars=60)
        self.stack = Gtk.Stack()
        self.stack.add_named(self.message, 'message')
        self.stack.add_named(drawn, 'drawn')
        self.append(self.stack)
        self.append(self.make_bar())

    def make_scale(self):
        """Shows the ramp with its numbers, and the colours of other values."""
        ramp = Gtk.Picture(paintable=make_texture(COLORS[N_STEPS - 1::-1, np.newaxis]),
                           content_fit=Gtk.ContentFit.FILL, width_request=18, vexpand=True)
        self.numbers = [Gtk.Label(xalign=0, width_chars=10) for _ in range(3)]
        numbers = Gtk.CenterBox(orientation=Gtk.Orientation.VERTICAL)
        numbers.set_end_widget(self.numbers[0])
        numbers.set_center_widget(self.numbers[1])
        numbers.set_start_widget(self.numbers[2])

        scale = Gtk.Grid(column_spacing=6, row_spacing=6)
        scale.attach(ramp, 0, 0, 1, 1)
        scale.attach(numbers, 1, 0, 1, 1)
        for row, text in enumerate(OTHERS, 1):
            square = make_texture(COLORS[N_STEPS + row - 1:][:1, np.newaxis], 12)
            scale.attach(Gtk.Picture(paintable=square, can_shrink=False), 0, row, 1, 1)
            scale.attach(Gtk.Label(label=text, xalign=0), 1, row, 1, 1)
        return scale

    def make_bar(self):
        self.status = Gtk.Label(xalign=0, hexpand=True, ellipsize=Pango.EllipsizeMode.END)
        self.ratio = Gtk.Label(width_chars=9)
        bar = Gtk.Box(spacing=6)
        zoom_out, zoom_in, fit = (
            Gtk.Button(icon_name=f'{icon}-symbolic', tooltip_text=text, action_name=action)
            for icon, text, action in (('zoom-out', 'Zoom out', 'win.zoom-out'),
                                       ('zoom-in', 'Zoom in', 'win.zoom-in'),
                                       ('zoom-fit-best', 'Fit the window', 'win.zoom-fit')))
        for widget in (self.status, zoom_out, self.ratio, zoom_in, fit):
            bar.append(widget)
        return bar

    def show_message(self, text):
        self.cancellable.cancel()
        self.matrix = None
        self.status.set_text('')
        self.ratio.set_text('')
        self.message.set_text(text)
        self.stack.set_visible_child_name('message')

    def show_error(self, error):
        self.show_message(describe_error(error))

    def read(self, view, done):
        """Starts to read, and cancels the previous read."""
        self.cancellable.cancel()
        self.cancellable = Gio.Cancellable()
        read_floats(view, self.cancellable, done, self.show_error)

    def show_tensor(self, tensor, leading):
        """The scale covers the whole matrix, or a sample if it is large."""
        self.matrix = None      # do not redraw the previous one
        self.status.set_text('Reading…')
        matrix = get_matrix(tensor, leading)
        if matrix.is_empty():
            self.show_message('This tensor has no elements.')
            return

        rows, columns = (-(-extent // MAX_SAMPLES) for extent in matrix.shape)
        about = '≈ ' if rows > 1 or columns > 1 else ''

        def begin(values):
            low, high = find_scale(values)
            for label, number in zip(self.numbers, (low, (low + high) / 2, high)):
                label.set_text('–' if math.isnan(number) else f'{about}{number:.4g}')
            self.tensor, self.leading, self.matrix = tensor, leading, matrix
            self.low, self.high = low, high
            self.status.set_text('')
            self.stack.set_visible_child_name('drawn')
            self.refresh_later()

        self.read(matrix[::rows, ::columns], begin)

    # Zoomed out, a matrix is a view with steps. Zoomed in, its elements are squares.

    def get_step_and_factor(self, zoom):
        return 2 ** max(0, -zoom), 2 ** max(0, zoom)

    def get_pixel_size(self, zoom):
        step, factor = self.get_step_and_factor(zoom)
        return [-(-extent // step) * factor for extent in self.matrix.shape]

    def find_zoom(self, sizes):
        """Returns the largest zoom at which the picture fits these sizes."""
        zoom = MAX_ZOOM
        while any(pixels > max(size, 1) for pixels, size in zip(self.get_pixel_size(zoom), sizes)):
            zoom -= 1
        return zoom

    def find_fitting_zoom(self):
        return self.find_zoom([adjustment.get_page_size() for adjustment in self.adjustments])

    def set_zoom(self, zoom):
        self.zoom = zoom
        height, width = self.get_pixel_size(zoom)
        self.fixed.set_size_request(width, height)
        step, factor = self.get_step_and_factor(zoom)
        self.ratio.set_text(f'{factor} : {step}')

    def fit(self):
        self.fits = True
        self.refresh_later()

    def zoom_by(self, change):
        """Keeps the middle where it is."""
        if self.matrix is None:
            return
        zoom = min(max(self.zoom + change, min(self.find_fitting_zoom(), 0)),
                   self.find_zoom([MAX_PIXELS, MAX_PIXELS]))
        old_sizes, sizes = self.get_pixel_size(self.zoom), self.get_pixel_size(zoom)
        self.fits = False
        self.set_zoom(zoom)
        for adjustment, old_size, size in zip(self.adjustments, old_sizes, sizes):
            page = adjustment.get_page_size()
            middle = (adjustment.get_value() + min(page, old_size) / 2) * size / old_size
            adjustment.configure(middle - page / 2, 0, max(size, page),
                                 adjustment.get_step_increment(),
                                 adjustment.get_page_increment(), page)
        self.refresh_later()

    def refresh_later(self, *_):
        """Refreshes once for all changes that happen together."""
        if not self.refreshing:
            self.refreshing = GLib.idle_add(self.refresh)

    def refresh(self):
        self.refreshing = 0
        if self.matrix is None:
            return
        if self.fits:
            self.set_zoom(self.find_fitting_zoom())

        step, factor = self.get_step_and_factor(self.zoom)
        cells = self.matrix[::step, ::step]
        (top, bottom), (left, right) = (
            (int(adjustment.get_value() / factor),
             math.ceil((adjustment.get_value() + adjustment.get_page_size()) / factor))
            for adjustment in self.adjustments)

        def draw(values):
            texture = make_texture(make_pixels(values, self.low, self.high), factor)
            self.picture.set_paintable(texture)
            self.fixed.move(self.picture, left * factor, top * factor)

        part = cells[top:bottom, left:right]
        if not part.is_empty():
            self.read(part, draw)
        else:
            # The window is past the end of the matrix. Only the old picture keeps it there.
            self.cancellable.cancel()
            self.picture.set_paintable(None)
            self.fixed.move(self.picture, 0, 0)

    def show_element(self, _, x, y):
        step, factor = self.get_step_and_factor(self.zoom)
        row, column = int(y) // factor * step, int(x) // factor * step
        index = [*self.leading, row, column][2 + len(self.leading) - self.tensor.ndim:]
        try:
            self.status.set_text(f'{index} = {self.tensor[(*index, ...)]}')
        except ERRORS:
            self.status.set_text('')


class Window(Gtk.ApplicationWindow):
    def __init__(self, application):
        super().__init__(application=application, title='Tensors',
                         default_width=1180, default_height=660)
        self.heat_map = HeatMap()
        self.heading = Gtk.Label(xalign=0, selectable=True, hexpand=True,
                                 ellipsize=Pango.EllipsizeMode.MIDDLE, css_classes=['heading'])
        self.indices = Gtk.FlowBox(selection_mode=Gtk.SelectionMode.NONE, max_children_per_line=64)
        self.spin_buttons = {}

        shown = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, margin_top=12,
                        margin_bottom=6, margin_start=12, margin_end=12)
        shown.append(self.heading)
        shown.append(self.indices)
        shown.append(self.heat_map)
        self.set_child(Gtk.Paned(start_child=self.make_list(), end_child=shown, position=500,
                                 shrink_start_child=False, shrink_end_child=False))

        open_button = Gtk.Button(label='Open…')
        open_button.connect('clicked', self.choose_file)
        header = Gtk.HeaderBar()
        header.pack_start(open_button)
        self.set_titlebar(header)

        actions = {'zoom-in': lambda *_: self.heat_map.zoom_by(1),
                   'zoom-out': lambda *_: self.heat_map.zoom_by(-1),
                   'zoom-fit': lambda *_: self.heat_map.fit()}
        for name, activate in actions.items():
            action = Gio.SimpleAction(name=name)
            action.connect('activate', activate)
            self.add_action(action)

        self.heat_map.show_message('Open a safetensors, .npy or .npz file.')

    def make_list(self):
        """Uses the MtlTensorFile as the list's model, as it is a GListModel."""
        search = Gtk.SearchEntry(placeholder_text='Filter by name', margin_top=6, margin_bottom=6,
                                 margin_start=6, margin_end=6)
        contains = Gtk.CustomFilter.new(
            lambda entry: isinstance(entry, Mtl.TensorFileEntry)
            and search.get_text().casefold() in entry.get_name().casefold())
        search.connect('search-changed', lambda _: contains.changed(Gtk.FilterChange.DIFFERENT))
        self.filtered = Gtk.FilterListModel(filter=contains, incremental=True)
        self.selection = Gtk.SingleSelection(model=self.filtered)
        self.selection.connect('notify::selected-item', self.show_selected)

        self.columns = Gtk.ColumnView(model=self.selection)
        self.add_column('Name', lambda entry: printable(entry.get_name()) or '(no name)', True)
        self.add_column('Type', lambda entry: str(entry.get_dtype()))
        self.add_column('Shape', describe_shape)
        self.add_column('Size', describe_size)

        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        box.append(search)
        box.append(Gtk.ScrolledWindow(child=self.columns, vexpand=True))
        return box

    def add_column(self, title, describe, expand=False):
        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', lambda _, item: item.set_child(
            Gtk.Label(xalign=0, ellipsize=Pango.EllipsizeMode.MIDDLE if expand
                      else Pango.EllipsizeMode.NONE)))
        factory.connect('bind', lambda _, item: item.get_child().set_text(
            describe(item.get_item())))
        self.columns.append_column(
            Gtk.ColumnViewColumn(title=title, factory=factory, expand=expand, resizable=True))

    def choose_file(self, _):
        # Keep a reference while it is open.
        self.chooser = Gtk.FileChooserNative(title='Open Tensors', transient_for=self, modal=True,
                                             action=Gtk.FileChooserAction.OPEN)
        self.chooser.connect('response', lambda chooser, response: response ==
                             Gtk.ResponseType.ACCEPT and self.open(chooser.get_file()))
        self.chooser.show()

    def open(self, file):
        def finish(_, result):
            self.set_title(printable(file.get_basename()))
            try:
                tensors = Mtl.TensorFile.open_finish(result)
                self.filtered.set_model(tensors)
                if tensors.get_n_items() == 0:
                    self.heat_map.show_message('There are no tensors in this file.')
            except ERRORS as error:
                self.filtered.set_model(None)
                self.heat_map.show_error(error)

        Mtl.TensorFile.open_async(file, mode=Mtl.FileMode.MAP, callback=finish)

    def show_selected(self, *_arguments):
        """Shows the last one or two axes as a picture, with an index for each other axis."""
        for _ in range(len(self.spin_buttons)):
            self.indices.remove(self.indices.get_child_at_index(0))
        self.spin_buttons = {}
        entry = self.selection.get_selected_item()
        if not isinstance(entry, Mtl.TensorFileEntry):
            self.heading.set_text('')
            if self.filtered.get_model() is not None:
                self.heat_map.show_message('No tensor is selected.')
            return

        self.heading.set_text(f'{printable(entry.get_name())}  {entry.get_dtype()}, '
                              f'{describe_shape(entry)}')
        try:
            self.tensor = entry.load_view()
        except ERRORS as error:
            self.heat_map.show_error(error)
            return
        for axis, extent in enumerate(self.tensor.shape[:-2]):
            if extent > 1:
                self.add_spin_button(axis, extent)
        self.indices.set_visible(bool(self.spin_buttons))
        self.heat_map.fits = True
        self.show_slice()

    def add_spin_button(self, axis, extent):
        button = Gtk.SpinButton.new_with_range(0, extent - 1, 1)
        button.connect('value-changed', self.show_slice)
        box = Gtk.Box(spacing=6)
        box.append(Gtk.Label(label=f'Axis {axis}'))
        box.append(button)
        self.indices.append(box)
        self.spin_buttons[axis] = button

    def show_slice(self, *_):
        leading = [self.spin_buttons[axis].get_value_as_int() if axis in self.spin_buttons else 0
                   for axis in range(self.tensor.ndim - 2)]
        try:
            self.heat_map.show_tensor(self.tensor, leading)
        except ERRORS as error:
            self.heat_map.show_error(error)


class Viewer(Gtk.Application):
    def __init__(self):
        super().__init__(flags=Gio.ApplicationFlags.HANDLES_OPEN | Gio.ApplicationFlags.NON_UNIQUE)
        self.set_accels_for_action('win.zoom-in', ['<Control>plus', '<Control>equal'])
        self.set_accels_for_action('win.zoom-out', ['<Control>minus'])
        self.set_accels_for_action('win.zoom-fit', ['<Control>0'])

    def do_activate(self):
        Window(self).present()

    def do_open(self, files, n_files, hint):
        for file in files:
            window = Window(self)
            window.open(file)
            window.present()


if __name__ == '__main__':
    sys.exit(Viewer().run(sys.argv))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tensor: its axes, its picture, the scale, and the element at the pointer."""

from gettext import gettext as _

from gi.repository import GLib, Gtk, Pango

from . import axes, statistics, text, toolkit
from .background import ERRORS, TRUNCATED, FileState, Task, Truncated
from .colors import has_others
from .picture import PictureView

PATIENCE = 150              # milliseconds before a window says that it is busy


class TensorView(Gtk.Box):
    def __init__(self, panel):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, hexpand=True, spacing=6,
                         margin_top=6, margin_bottom=6, margin_start=6, margin_end=6)
        self.panel = panel      # used by the statistics
        self.task = Task(self.show_error)
        self.tensor = self.entry = self.file_state = None
        self.waiting = 0

        self.axes = axes.AxesBar(self.show_slice)
        self.picture = PictureView(self.show_error, self.check)
        self.picture.connect('pointed', self.show_element)
        self.scale = statistics.ScaleBar()
        self.message = toolkit.StatusPage()
        self.bar = Gtk.ProgressBar()
        toolkit.name(self.bar, _('Bytes read'))
        stop = Gtk.Button(label=_('Stop'), action_name='win.stop', halign=Gtk.Align.CENTER)
        busy = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, vexpand=True,
                       valign=Gtk.Align.CENTER, halign=Gtk.Align.CENTER)
        for widget in (Gtk.Label(label=_('Reading…')), self.bar, stop):
            busy.append(widget)

        shown = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        shown.append(self.picture)
        shown.append(self.scale)
        shown.append(self.make_bar())
        self.stack = Gtk.Stack(vexpand=True)
        for name, child in (('message', self.message), ('busy', busy), ('picture', shown)):
            self.stack.add_named(child, name)
        self.append(self.axes)
        self.append(self.stack)
        self.show_message(_('No Tensor'), '')

    def make_bar(self):
        self.element = Gtk.Label(xalign=0, hexpand=True, ellipsize=Pango.EllipsizeMode.END,
                                 css_classes=['numeric'])
        bar = Gtk.Box(spacing=6)
        bar.append(self.element)
        ratio = Gtk.Label(width_chars=7, css_classes=['numeric'])
        self.picture.connect('notify::ratio', lambda *_: ratio.set_text(self.picture.ratio))
        for icon, title, action in (('zoom-out', _('Zoom Out'), 'win.zoom-out'),
                                    ('zoom-in', _('Zoom In'), 'win.zoom-in'),
                                    ('zoom-fit-best', _('Fit the Window'), 'win.zoom-fit')):
            bar.append(toolkit.make_button(Gtk.Button, f'{icon}-symbolic', title, action,
                                           has_frame=False))
            if action == 'win.zoom-out':
                bar.append(ratio)
        return bar

    def has_picture(self):
        return self.stack.get_visible_child_name() == 'picture'

    def show_page(self, name):
        if self.waiting:
            GLib.source_remove(self.waiting)
            self.waiting = 0
        self.stack.set_visible_child_name(name)

    def show_message(self, title, description, icon='image-x-generic-symbolic'):
        self.task.cancel()
        self.picture.clear()
        self.panel.clear()
        self.message.tell(icon, title, description)
        self.show_page('message')

    def show_error(self, error):
        self.show_message(_('This Cannot Be Shown'), text.message_of(error),
                          'dialog-warning-symbolic')

    def check(self):
        """The system ends programs that read a mapping past the end of its file."""
        if self.file_state is not None and self.file_state.is_truncated():
            raise Truncated(TRUNCATED)

    def show_busy(self):
        self.waiting = 0
        self.bar.set_fraction(0)
        self.stack.set_visible_child_name('busy')
        return GLib.SOURCE_REMOVE

    def show_entry(self, file, entry, state=None):
        """Loads the tensor, which may take time if it is compressed. state: of the file"""
        self.task.cancel()
        self.picture.task.cancel()
        self.tensor, self.entry = None, entry
        self.picture.fits = True
        if entry is None:
            self.axes.set_visible(False)
            self.show_message(_('No Tensor'), '')
            return
        if entry.error is not None:
            self.axes.set_visible(False)
            self.show_error(entry.error)
            return

        # A file that an index names is not open yet, but its header was read.
        is_member = not entry.get_file().equal(file.get_file())
        self.file_state = state if not is_member else FileState(
            entry.get_file(), entry.get_byte_offset() + entry.nbytes)
        try:
            self.check()
        except OSError as error:
            self.show_error(error)
            return
        # A name may have the characters that patterns have.
        pattern = entry.name.replace('*', '?')
        place = file.match_loadable_names(pattern).index(entry.name)
        self.task = Task(self.show_error)
        self.show_page(self.stack.get_visible_child_name())
        self.waiting = GLib.timeout_add(PATIENCE, self.show_busy)
        self.task.run(file.load_views_async, file.load_views_finish,
                      lambda views: self.show_tensor(views[place]), pattern,
                      progress=lambda done, total: self.bar.set_fraction(done / max(total, 1)))

    def show_tensor(self, tensor):
        self.tensor = tensor
        self.axes.show_shape(tensor.shape)
        self.show_slice()

    def show_slice(self):
        """Shows statistics of a sample first, and then exact ones, if these may differ."""
        self.task.cancel()
        if self.tensor is None:
            return
        self.task = Task(self.show_error)
        try:
            self.check()
            part = axes.cut(self.tensor, self.axes.choice)
            if part.is_empty():
                self.show_message(_('No Elements'), _('This tensor has no elements.'))
                return
            sample = statistics.take_sample(part)
        except ERRORS as error:
            self.show_error(error)
            return
        is_exact = sample.shape == part.shape
        statistics.begin_statistics(
            self.task, sample, lambda found: self.begin(found, part, sample, is_exact))

    def begin(self, found, part, sample, is_exact):
        self.panel.clear()
        self.use(found, part, sample, is_exact)
        self.show_page('picture')
        if not is_exact:
            self.panel.show_progress(0, 1)
            statistics.begin_statistics(
                self.task, part, lambda found: self.use(found, part, sample, True),
                self.panel.show_progress)

    def use(self, found, part, sample, is_exact):
        choice = self.axes.choice
        is_image = choice.channels is not None
        scale = statistics.find_scale(found, is_image)
        self.scale.show_scale(scale, is_exact, is_image, has_others(part))
        self.panel.show_statistics(found, is_exact, str(self.tensor.dtype) in axes.PARTS)
        self.picture.show_matrix(axes.make_matrix(part, choice), scale)
        statistics.read_histogram(self.task, sample, statistics.find_scale(found),
                                  self.panel.histogram.show_bars)

    def let_go(self):
        self.task.cancel()
        self.tensor = self.entry = self.file_state = None
        self.picture.clear()
        self.show_page('message')

    def stop(self):
        """Results remain."""
        self.task.cancel()
        self.panel.busy.set_visible(False)
        if not self.has_picture():
            self.show_message(_('Stopped'), _('The tensor was not read to its end.'))

    def show_element(self, _, row, column):
        self.element.set_text('')
        if row < 0 or self.tensor is None:
            return
        index = self.axes.choice.get_element(row, column)
        shown = ', '.join(':' if part == slice(None) else str(part) for part in index)
        try:
            self.check()
            # The view prints the element with the digits that its type has.
            self.element.set_text(f'[{shown}] = {self.tensor[(*index, ...)]}')
        except ERRORS:
            pass

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics of the slice that is shown, and its histogram.

A sample comes first, which takes milliseconds, and then all elements, in the
background: a slice may be larger than memory.
"""

import math
from gettext import gettext as _

from gi.repository import Graphene, Gsk, Gtk

from . import text, toolkit
from .colors import INFINITE, NAN, Scale, color, to_rgba

MAX_SAMPLES = 512           # along rows and columns
N_BARS = 64
BAR_COLORS = color(range(N_BARS), 0, N_BARS - 1)
STOP_COLORS = color(range(17), 0, 16)


def begin_statistics(task, view, done, progress=None):
    """Calls done() with the Mtl.Statistics of a view."""
    task.run(view.compute_statistics_async, view.compute_statistics_finish, done, progress=progress)


def take_sample(view):
    """Evenly spaced elements, or the view itself if it is small."""
    steps = tuple(slice(None, None, max(1, -(-extent // MAX_SAMPLES))) for extent in view.shape)
    return view[steps] if steps else view


def find_scale(statistics, is_image=False):
    """The numbers that the colours run between."""
    low, high = statistics.get_minimum(), statistics.get_maximum()
    if is_image and not math.isnan(low):
        # Pictures are black at 0 regardless of their numbers.
        if str(statistics.dtype) == 'uint8':
            return Scale(0, 255)
        if low >= 0 and high <= 1:
            return Scale(0, 1)
    return Scale(low, high)


def read_histogram(task, sample, scale, done):
    """Calls done() with how many elements of a sample belong to each bar."""
    low, high = float(scale.low), float(scale.high)
    if math.isnan(low):
        done([0] * N_BARS)
        return
    if not low < high:  # all are equal, and in one bar
        low, high = (low, low + max(1.0, abs(low))) if abs(low) < 1e308 else (-1.7e308, 1.7e308)
    task.run(sample.compute_histogram_async, sample.compute_histogram_finish, done, low, high,
             N_BARS)


class Histogram(Gtk.Widget):
    """Bars in the colours of the scale."""

    def __init__(self):
        super().__init__(height_request=96, width_request=160,
                         accessible_role=Gtk.AccessibleRole.IMG)
        self.bars = []
        toolkit.name(self, _('Histogram'))

    def show_bars(self, bars):
        self.bars = bars
        toolkit.describe(self, ' '.join(map(str, bars)))
        self.queue_draw()

    def do_snapshot(self, snapshot):
        width, height = self.get_width() / N_BARS, self.get_height()
        highest = max(self.bars, default=0)
        for place, n_elements in enumerate(self.bars):
            if n_elements:
                bar = max(1, n_elements / highest * height)
                area = Graphene.Rect().init(place * width, height - bar, max(1, width - 1), bar)
                snapshot.append_color(to_rgba(BAR_COLORS[place]), area)


class Ramp(Gtk.Widget):
    """The colours from the least number to the greatest."""

    def __init__(self, **properties):
        super().__init__(height_request=12, accessible_role=Gtk.AccessibleRole.IMG, **properties)
        self.is_grey = False
        toolkit.name(self, _('Scale of colours'))

    def do_snapshot(self, snapshot):
        area = Graphene.Rect().init(0, 0, self.get_width(), self.get_height())
        stops = []
        colors = [(0, 0, 0), (255, 255, 255)] if self.is_grey else STOP_COLORS
        for place, stop_color in enumerate(colors):
            stop = Gsk.ColorStop()
            stop.offset = place / (len(colors) - 1)
            stop.color = to_rgba(stop_color)
            stops.append(stop)
        snapshot.append_linear_gradient(area, Graphene.Point().init(0, 0),
                                        Graphene.Point().init(self.get_width(), 0), stops)


class Swatch(Gtk.Widget):
    def __init__(self, color):
        super().__init__(width_request=12, height_request=12, valign=Gtk.Align.CENTER,
                         accessible_role=Gtk.AccessibleRole.PRESENTATION)
        self.color = color

    def do_snapshot(self, snapshot):
        area = Graphene.Rect().init(0, 0, self.get_width(), self.get_height())
        snapshot.append_color(to_rgba(self.color), area)


class ScaleBar(Gtk.Box):
    """The numbers and the colours that stand for them."""

    def __init__(self):
        super().__init__(spacing=6)
        self.low, self.high = Gtk.Label(), Gtk.Label()
        self.ramp = Ramp(hexpand=True, valign=Gtk.Align.CENTER)
        self.append(self.low)
        self.append(self.ramp)
        self.append(self.high)
        self.others = Gtk.Box(spacing=6)
        for title, color in ((_('NaN'), NAN), (_('infinite'), INFINITE)):
            self.others.append(Swatch(color))
            self.others.append(Gtk.Label(label=title))
        self.append(self.others)
        for label in (self.low, self.high):
            label.add_css_class('numeric')

    def show_scale(self, scale, is_exact, is_image, has_others):
        about = '' if is_exact else '≈ '
        self.low.set_text(about + text.number(scale.low))
        self.high.set_text(about + text.number(scale.high))
        self.ramp.is_grey = is_image
        self.ramp.queue_draw()
        self.others.set_visible(has_others and not is_image)


class StatisticsPanel(Gtk.Box):
    """Numbers of the slice, and a bar of progress while they are not all known."""

    ROWS = {'count': _('Elements'), 'minimum': _('Minimum'), 'maximum': _('Maximum'),
            'mean': _('Mean'), 'deviation': _('Deviation'), 'n_nans': _('NaN'),
            'n_infinities': _('Infinite'), 'n_zeros': _('Zeros')}

    def __init__(self):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=12)
        self.histogram = Histogram()
        self.append(self.histogram)

        grid = Gtk.Grid(column_spacing=12, row_spacing=6)
        self.values = {}
        for row, (key, title) in enumerate(self.ROWS.items()):
            label = Gtk.Label(label=title, xalign=0, css_classes=['dim-label'])
            value = Gtk.Label(xalign=1, hexpand=True, selectable=True, css_classes=['numeric'])
            toolkit.name(value, title)
            grid.attach(label, 0, row, 1, 1)
            grid.attach(value, 1, row, 1, 1)
            self.values[key] = value
        self.append(grid)

        self.note = Gtk.Label(wrap=True, xalign=0, css_classes=['caption', 'dim-label'])
        self.append(self.note)
        self.bar = Gtk.ProgressBar(hexpand=True, valign=Gtk.Align.CENTER)
        toolkit.name(self.bar, _('Elements read'))
        self.busy = Gtk.Box(spacing=6, visible=False)
        self.busy.append(self.bar)
        self.busy.append(toolkit.make_button(Gtk.Button, 'process-stop-symbolic',
                                             _('Stop Reading'), 'win.stop', has_frame=False))
        self.append(self.busy)

    def clear(self):
        for value in self.values.values():
            value.set_text('')
        self.histogram.show_bars([])
        self.set_note('')
        self.busy.set_visible(False)

    def set_note(self, note):
        self.note.set_text(note)
        self.note.set_visible(bool(note))

    def show_progress(self, done, total):
        self.bar.set_fraction(done / total if total else 0)
        self.busy.set_visible(True)

    def show_statistics(self, statistics, is_exact, is_complex=False):
        for key, value in self.values.items():
            number = getattr(statistics, key)
            shown = text.count(number) if key == 'count' else text.number(number)
            value.set_text(shown)
        self.busy.set_visible(False)
        notes = [_('Of the real parts')] if is_complex else []
        if not is_exact:
            notes.append(_('From a sample of the elements'))
        self.set_note('\n'.join(notes))

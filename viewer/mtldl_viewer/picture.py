# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows a matrix. Only the part in the window is read and drawn.

Zoomed out, a matrix is a view with steps. Zoomed in, its elements are squares.
"""

import math
from gettext import gettext as _

from gi.repository import Gdk, GLib, GObject, Gtk, MtlGtk

from . import toolkit
from .background import Task
from .colors import make_squares, read_heat_map, read_image

MAX_ZOOM = 6                # 2 ** 6 pixels for an element
MAX_PIXELS = 2 ** 22        # the limit of a picture's height and width


class PictureView(Gtk.Box):
    """Calls failed(error) if a part cannot be read, and before that check(), which may raise."""

    # A row and a column of the matrix, or -1 for none.
    __gsignals__ = {'pointed': (GObject.SignalFlags.RUN_LAST, None, (GObject.TYPE_INT64,
                                                                     GObject.TYPE_INT64))}
    ratio = GObject.Property(type=str, default='')

    def __init__(self, failed, check):
        super().__init__(hexpand=True, vexpand=True)
        self.failed, self.check = failed, check
        self.task = Task(failed)
        self.matrix = self.scale = None
        self.zoom = 0           # 2 ** zoom pixels for an element
        self.fits = True        # the picture is as large as the window allows
        self.refreshing = 0
        self.pointer = None

        self.paintable = MtlGtk.ViewPaintable()
        self.picture = Gtk.Picture(paintable=self.paintable, can_shrink=False)
        self.fixed = Gtk.Fixed(halign=Gtk.Align.CENTER, valign=Gtk.Align.CENTER)
        self.fixed.put(self.picture, 0, 0)
        # GTK 4.14 and later give it no role that could have a name.
        self.scrolled = Gtk.ScrolledWindow(child=self.fixed, hexpand=True, vexpand=True,
                                           focusable=True, accessible_role=Gtk.AccessibleRole.GROUP)
        self.append(self.scrolled)
        toolkit.name(self.scrolled, _('Picture of the tensor'))
        toolkit.name(self.picture, _('Tensor'))
        self.adjustments = [self.scrolled.get_vadjustment(), self.scrolled.get_hadjustment()]
        for adjustment in self.adjustments:
            adjustment.connect('changed', self.refresh_later)
            adjustment.connect('value-changed', self.refresh_later)
        self.add_controllers()

    def add_controllers(self):
        motion = Gtk.EventControllerMotion()
        motion.connect('motion', lambda _, x, y: self.point(x, y))
        motion.connect('leave', lambda _: self.point(None, None))
        self.fixed.add_controller(motion)

        wheel = Gtk.EventControllerScroll(flags=Gtk.EventControllerScrollFlags.VERTICAL,
                                          propagation_phase=Gtk.PropagationPhase.CAPTURE)
        wheel.connect('scroll', self.scroll)
        self.scrolled.add_controller(wheel)

    def clear(self):
        self.task.cancel()
        self.matrix = None
        self.paint(None)
        self.ratio = ''
        self.point(None, None)

    def show_matrix(self, matrix, scale):
        """[rows, columns] is shown as a heat map, [rows, columns, channels] as an image."""
        if self.matrix is None or self.matrix.shape[:2] != matrix.shape[:2]:
            self.fits = True
        self.matrix, self.scale = matrix, scale
        self.refresh_later()

    # The size

    def get_step_and_factor(self, zoom):
        return 2 ** max(0, -zoom), 2 ** max(0, zoom)

    def get_pixel_size(self, zoom):
        step, factor = self.get_step_and_factor(zoom)
        return [-(-extent // step) * factor for extent in self.matrix.shape[:2]]

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
        self.ratio = f'{factor} : {step}'

    def fit(self):
        self.fits = True
        self.refresh_later()

    def zoom_by(self, change, anchors=None):
        """Keeps the elements at the anchors (pixels of the window down and right) in their place;
        those in the middle without any."""
        if self.matrix is None:
            return
        zoom = min(max(self.zoom + change, min(self.find_fitting_zoom(), 0)),
                   self.find_zoom([MAX_PIXELS, MAX_PIXELS]))
        self.zoom_to(zoom, anchors)

    def zoom_to(self, zoom, anchors=None):
        old_sizes, sizes = self.get_pixel_size(self.zoom), self.get_pixel_size(zoom)
        pages = [adjustment.get_page_size() for adjustment in self.adjustments]
        if anchors is None:
            anchors = [page / 2 for page in pages]
        self.fits = False
        self.set_zoom(zoom)
        for adjustment, old_size, size, page, anchor in zip(self.adjustments, old_sizes, sizes,
                                                            pages, anchors):
            # A picture that is smaller than the window is in its middle.
            place = adjustment.get_value() + anchor - max(0, (page - old_size) / 2)
            adjustment.configure(place * size / old_size - anchor, 0, max(size, page),
                                 adjustment.get_step_increment(),
                                 adjustment.get_page_increment(), page)
        self.refresh_later()

    def scroll(self, controller, _, down):
        """The wheel scrolls, and zooms with Control."""
        if not controller.get_current_event_state() & Gdk.ModifierType.CONTROL_MASK or not down:
            return False
        self.zoom_by(-1 if down > 0 else 1, self.pointer)
        return True

    # The picture

    def refresh_later(self, *_):
        """Refreshes once for all changes that happen together."""
        if not self.refreshing:
            self.refreshing = GLib.idle_add(self.refresh)

    def refresh(self):
        self.refreshing = 0
        if self.matrix is None:
            return GLib.SOURCE_REMOVE
        if self.fits:
            self.set_zoom(self.find_fitting_zoom())

        step, factor = self.get_step_and_factor(self.zoom)
        (top, bottom), (left, right) = (
            (int(adjustment.get_value() / factor),
             math.ceil((adjustment.get_value() + adjustment.get_page_size()) / factor))
            for adjustment in self.adjustments)
        part = self.matrix[::step, ::step][top:bottom, left:right]
        self.task.cancel()
        if part.is_empty():
            # The window is past the end of the matrix. Only the old picture keeps it there.
            self.paint(None)
            self.fixed.move(self.picture, 0, 0)
        else:
            self.read(part, factor, (left * factor, top * factor))
        return GLib.SOURCE_REMOVE

    def paint(self, pixels):
        self.paintable.set_view(pixels, MtlGtk.Channels.AUTO, MtlGtk.TextureFlags.NONE)

    def read(self, part, factor, corner):
        self.task = Task(self.failed)

        def draw(pixels):
            self.paint(make_squares(pixels, factor))
            self.fixed.move(self.picture, *corner)

        try:
            self.check()
        except OSError as error:
            self.failed(error)
            return
        read = read_heat_map if part.ndim == 2 else read_image
        read(self.task, part, self.scale, draw)

    # The pointer

    def point(self, x, y):
        if self.matrix is None or x is None:
            self.pointer = None
            self.emit('pointed', -1, -1)
            return
        place = self.fixed.translate_coordinates(self.scrolled, x, y)
        self.pointer = list(place[-2:])[::-1]
        step, factor = self.get_step_and_factor(self.zoom)
        row, column = int(y) // factor * step, int(x) // factor * step
        rows, columns = self.matrix.shape[:2]
        if 0 <= row < rows and 0 <= column < columns:
            self.emit('pointed', row, column)
        else:
            self.emit('pointed', -1, -1)

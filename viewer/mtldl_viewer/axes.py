# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which axes of a tensor are the rows, columns and channels of the picture."""

from dataclasses import dataclass, field, replace
from gettext import gettext as _

from gi.repository import GLib, Gtk, Mtl

from . import toolkit

MAX_CHANNELS = 4
IMAGES = (1, 3, 4)          # channels that make a tensor a picture by default
SHORT = 8                   # fewer elements than these along an axis make no picture
PARTS = {'complex32': Mtl.DType.FLOAT16, 'complex64': Mtl.DType.FLOAT32,
         'complex128': Mtl.DType.FLOAT64}
STRIPE = 16                 # an axis this many times as long as the other makes none, either


@dataclass
class Choice:
    """The axes of each, None if there is none; the indices of all axes that are not shown."""
    rows: int = None
    columns: int = None
    channels: int = None
    indices: list = field(default_factory=list)

    def get_shown(self):
        return [axis for axis in (self.rows, self.columns, self.channels) if axis is not None]

    def get_hidden(self):
        return [axis for axis in range(len(self.indices)) if axis not in self.get_shown()]

    def get_index(self):
        """The index of the slice that is shown."""
        shown = self.get_shown()
        return tuple(slice(None) if axis in shown else index
                     for axis, index in enumerate(self.indices))

    def get_order(self):
        """The permutation of the axes that are left."""
        shown = self.get_shown()
        return [sorted(shown).index(axis) for axis in shown]

    def get_element(self, row, column):
        """The index of the element that is shown there."""
        index = list(self.get_index())
        for axis, place in ((self.rows, row), (self.columns, column)):
            if axis is not None:
                index[axis] = place
        return index


def guess(shape):
    """Channels if the tensor looks like a picture. The last two axes, or else the longest."""
    choice = Choice(indices=[0] * len(shape))
    axes = list(range(len(shape)))
    if len(axes) >= 3 and shape[-1] in IMAGES and min(shape[-3:-1]) > shape[-1]:
        choice.channels = axes.pop()
    if len(axes) >= 2:
        choice.rows, choice.columns = axes[-2:]
        if not makes_picture(shape[choice.rows], shape[choice.columns]) \
                and choice.channels is None:
            choice.rows, choice.columns = sorted(
                sorted(axes, key=lambda axis: (shape[axis], axis))[-2:])
    elif axes:
        choice.columns = axes[-1]
    return choice


def makes_picture(height, width):
    short, long = sorted((height, width))
    return short >= SHORT and long <= STRIPE * short


def choose(choice, role, axis, shape):
    """Returns the choice with another axis in that role. Two roles swap their axes."""
    before = getattr(choice, role)
    changed = replace(choice, indices=list(choice.indices))
    setattr(changed, role, axis)
    for other in ('rows', 'columns', 'channels'):
        if other == role or axis is None or getattr(choice, other) != axis:
            continue
        setattr(changed, other, before)
        if other == 'channels' and (before is None or shape[before] > MAX_CHANNELS):
            changed.channels = None
        elif before is None:
            setattr(changed, other, max(changed.get_hidden(), key=lambda axis: shape[axis]))
    return changed


def cut(tensor, choice):
    """Returns the slice that is shown, in the order of rows, columns, channels; of complex
    numbers the real parts."""
    real = PARTS.get(str(tensor.dtype))
    if real is not None:
        tensor = tensor.unsqueeze(-1).reinterpret(real)[..., 0]
    if tensor.ndim == 0:
        return tensor
    return tensor[choice.get_index()].permute(choice.get_order())


def make_matrix(part, choice):
    """Returns [rows, columns] or [rows, columns, channels]. One axis makes a stripe."""
    if choice.columns is None:
        return part.broadcast_to(1, 1)
    if choice.rows is None:
        size = part.size
        # The product of all extents has 63 bits.
        return part.broadcast_to(max(1, min(size // 8, 2 ** 62 // max(size, 1))), size)
    return part


class AxesBar(Gtk.Box):
    """Lets the user choose. Calls changed() after each change."""

    def __init__(self, changed):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        self.changed = changed
        self.choice = None
        self.shape = ()
        self.filling = False
        self.roles = Gtk.Box(spacing=12)
        self.indices = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        self.append(Gtk.ScrolledWindow(child=self.roles, propagate_natural_width=True,
                                       vscrollbar_policy=Gtk.PolicyType.NEVER))
        # Tensors have up to 64 axes.
        self.append(Gtk.ScrolledWindow(child=self.indices, propagate_natural_height=True,
                                       max_content_height=110,
                                       hscrollbar_policy=Gtk.PolicyType.NEVER))

    def show_shape(self, shape):
        """Keeps the choice if the shape is the same."""
        if self.choice is None or tuple(shape) != self.shape:
            self.shape, self.choice = tuple(shape), guess(shape)
        self.fill()

    def fill(self):
        self.filling = True
        for box in (self.roles, self.indices):
            while (child := box.get_first_child()) is not None:
                box.remove(child)
        self.set_visible(len(self.shape) > 1)
        if len(self.shape) > 1:
            axes = range(len(self.shape))
            self.add_role('rows', _('Rows'), axes)
            self.add_role('columns', _('Columns'), axes)
            if len(self.shape) > 2:
                narrow = [axis for axis in axes if 1 <= self.shape[axis] <= MAX_CHANNELS]
                self.add_role('channels', _('Channels'), [None, *narrow])
            for axis in self.choice.get_hidden():
                if self.shape[axis] > 1:
                    self.add_index(axis)
        self.filling = False

    def add_role(self, role, title, axes):
        texts = [_('None') if axis is None else
                 _('{axis} ({extent})').format(axis=axis, extent=self.shape[axis])
                 for axis in axes]
        drop_down = Gtk.DropDown.new_from_strings(texts)
        drop_down.set_selected(list(axes).index(getattr(self.choice, role)))
        drop_down.connect('notify::selected', self.role_changed, role, list(axes))
        toolkit.name(drop_down, title)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        box.append(Gtk.Label(label=title, xalign=0, css_classes=['caption', 'dim-label']))
        box.append(drop_down)
        self.roles.append(box)

    def add_index(self, axis):
        adjustment = Gtk.Adjustment(lower=0, upper=self.shape[axis] - 1, step_increment=1,
                                    page_increment=max(1, self.shape[axis] // 10),
                                    value=self.choice.indices[axis])
        adjustment.connect('value-changed', self.index_changed, axis)
        slider = Gtk.Scale(adjustment=adjustment, width_request=90, hexpand=True, digits=0,
                           round_digits=0)
        button = Gtk.SpinButton(adjustment=adjustment, numeric=True)
        title = _('Axis {}').format(axis)
        row = Gtk.Box(spacing=6)
        row.append(Gtk.Label(label=title, xalign=0))
        for widget in (slider, button):
            row.append(widget)
            toolkit.name(widget, title)
        self.indices.append(row)

    def role_changed(self, drop_down, _, role, axes):
        if not self.filling:
            self.choice = choose(self.choice, role, axes[drop_down.get_selected()], self.shape)
            # Other widgets are needed now, but this one is still in use.
            GLib.idle_add(self.fill)
            self.changed()

    def index_changed(self, adjustment, axis):
        if not self.filling:
            self.choice.indices[axis] = int(adjustment.get_value())
            self.changed()

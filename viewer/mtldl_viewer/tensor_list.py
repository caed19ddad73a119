# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tensors in a file, with a field to search them."""

from gettext import gettext as _

from gi.repository import Gio, GObject, Gtk, Mtl, Pango

from . import text, toolkit


def sort(file):
    """The entries, in the order in which people count."""
    entries = [file.get_item(place) for place in range(file.get_n_items())]
    return sorted(entries, key=lambda entry: text.natural_key(entry.name))


class TensorList(Gtk.Box):
    """Emits selected when another tensor is, or none; activated if it is clicked."""

    __gsignals__ = {'selected': (GObject.SignalFlags.RUN_LAST, None, ()),
                    'activated': (GObject.SignalFlags.RUN_LAST, None, ())}

    def __init__(self):
        super().__init__(orientation=Gtk.Orientation.VERTICAL)
        self.search = Gtk.SearchEntry(placeholder_text=_('Search tensors'), margin_top=6,
                                      margin_bottom=6, margin_start=6, margin_end=6)
        toolkit.name(self.search, _('Search tensors'))
        self.matches = Gtk.CustomFilter.new(self.is_match)
        self.words = []
        self.search.connect('search-changed', lambda _: self.search_again())
        self.store = Gio.ListStore(item_type=Mtl.TensorFileEntry)
        self.filtered = Gtk.FilterListModel(model=self.store, filter=self.matches)
        self.selection = Gtk.SingleSelection(model=self.filtered)
        self.selection.connect('notify::selected-item', lambda *_: self.emit('selected'))

        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', self.set_up_row)
        factory.connect('bind', self.bind_row)
        self.view = Gtk.ListView(model=self.selection, factory=factory,
                                 css_classes=['navigation-sidebar'])
        toolkit.name(self.view, _('Tensors'))
        self.view.connect('activate', lambda *_: self.emit('activated'))
        # One click, where the list covers the picture.
        click = Gtk.GestureClick()
        click.connect('released', lambda *_: self.emit('activated'))
        self.view.add_controller(click)

        self.append(self.search)
        self.append(Gtk.ScrolledWindow(child=self.view, vexpand=True,
                                       hscrollbar_policy=Gtk.PolicyType.NEVER))

    def search_again(self):
        # A model may have tens of thousands: they are looked through while the window goes on.
        self.filtered.set_incremental(True)
        self.words = self.search.get_text().casefold().split()
        self.matches.changed(Gtk.FilterChange.DIFFERENT)

    def is_match(self, entry):
        """All words have to be in the name."""
        if not self.words:
            return True
        name = entry.name.casefold()
        return all(word in name for word in self.words)

    def set_up_row(self, _, item):
        labels = [Gtk.Label(xalign=0, ellipsize=Pango.EllipsizeMode.MIDDLE),
                  Gtk.Label(xalign=0, ellipsize=Pango.EllipsizeMode.END,
                            css_classes=['caption', 'dim-label'])]
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=3, margin_top=3,
                      margin_bottom=3)
        for label in labels:
            box.append(label)
        item.set_child(box)

    def bind_row(self, _, item):
        entry = item.get_item()
        name = item.get_child().get_first_child()
        summary = name.get_next_sibling()
        lines = [text.name_of(entry)]
        name.set_text(lines[0])
        summary.set_text(text.summary_of(entry))
        # The widgets of a row show one tensor after another.
        name.remove_css_class('dim-label')
        if entry.error is not None:
            name.add_css_class('dim-label')
            lines.append(text.message_of(entry.error))
        name.set_tooltip_text('\n'.join(lines))

    def show_file(self, file):
        """Keeps the selection if the new file has a tensor of that name."""
        self.filtered.set_incremental(False)
        before = self.get_selected()
        entries = sort(file) if file is not None else []
        self.store.splice(0, self.store.get_n_items(), entries)
        if before is not None:
            self.select(before.name)

    def select(self, name):
        for place in range(self.selection.get_n_items()):
            if self.selection.get_item(place).name == name:
                self.selection.set_selected(place)

    def get_selected(self):
        return self.selection.get_selected_item()

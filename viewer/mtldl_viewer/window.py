# SPDX-License-Identifier: LGPL-2.1-or-later
"""A window, which shows a file."""

from gettext import gettext as _

from gi.repository import Gdk, Gio, GLib, Gtk, Mtl, Pango

from . import code, text, toolkit
from .background import TRUNCATED, FileState, Task
from .statistics import StatisticsPanel
from .tensor_list import TensorList
from .tensor_view import TensorView

INDICES = '*.safetensors.index.json'
MIN_WIDTH, MIN_HEIGHT = 360, 300
PATTERNS = ('*.safetensors', INDICES, '*.npy', '*.npz')


class Window(Gtk.ApplicationWindow):
    def __init__(self, application, width, height):
        super().__init__(application=application, default_width=width, default_height=height)
        self.file = self.tensors = self.file_state = self.monitor = None
        self.task = Task(self.show_error)

        self.statistics = StatisticsPanel()
        self.list = TensorList()
        self.list.connect('selected', lambda _: self.show_selected())
        self.list.connect('activated', lambda _: self.leave_list())
        self.view = TensorView(self.statistics)
        self.view.stack.connect('notify::visible-child', lambda *_: self.update_actions())
        self.panes = toolkit.Panes(self.list, self.view, self.make_details())

        open_button = Gtk.Button(label=_('Open…'), action_name='app.open',
                                 halign=Gtk.Align.CENTER, css_classes=['pill', 'suggested-action'])
        self.status = toolkit.StatusPage(open_button)
        self.spinner = Gtk.Spinner(width_request=48, height_request=48, halign=Gtk.Align.CENTER,
                                   valign=Gtk.Align.CENTER, hexpand=True, vexpand=True)
        self.stack = Gtk.Stack()
        for name, child in (('status', self.status), ('opening', self.spinner),
                            ('file', self.panes)):
            self.stack.add_named(child, name)
        self.toasts = toolkit.Toasts(self.stack)
        self.set_child(self.toasts)
        self.set_size_request(MIN_WIDTH, MIN_HEIGHT)
        self.set_titlebar(self.make_header())
        self.add_actions()
        self.add_drop_target()
        self.show_nothing()

    # The parts

    def make_header(self):
        self.title = toolkit.Title()
        header = Gtk.HeaderBar(title_widget=self.title)
        self.list_button = toolkit.make_button(Gtk.ToggleButton, 'sidebar-show-symbolic',
                                               _('List of Tensors'), 'win.show-list')
        self.details_button = toolkit.make_button(
            Gtk.ToggleButton, 'sidebar-show-right-symbolic', _('Statistics'), 'win.show-details')
        self.recent_menu = Gio.Menu()
        menu_button = Gtk.MenuButton(icon_name='open-menu-symbolic', primary=True,
                                     tooltip_text=_('Main Menu'), menu_model=self.make_menu())
        toolkit.name(menu_button, _('Main Menu'))
        menu_button.connect('notify::active', lambda *_: self.fill_recent_menu())
        header.pack_start(self.list_button)
        header.pack_start(toolkit.make_button(Gtk.Button, 'document-open-symbolic', _('Open…'),
                                              'app.open'))
        header.pack_end(menu_button)
        header.pack_end(self.details_button)
        return header

    def make_menu(self):
        style = Gio.Menu()
        for name, title in (('default', _('Follow System')), ('light', _('Light')),
                            ('dark', _('Dark'))):
            style.append(title, f'app.style::{name}')
        menu = Gio.Menu()
        sections = [[(_('Open…'), 'app.open'), (_('Open Recent'), self.recent_menu),
                     (_('Reload'), 'win.reload')],
                    [(_('Copy as Python'), 'win.copy-python'),
                     (_('Copy as JavaScript'), 'win.copy-javascript')],
                    [(_('Style'), style), (_('Keyboard Shortcuts'), 'app.shortcuts'),
                     (_('About Tensor Viewer'), 'app.about')],
                    [(_('Quit'), 'app.quit')]]
        for items in sections:
            section = Gio.Menu()
            for title, what in items:
                if isinstance(what, str):
                    section.append(title, what)
                else:
                    section.append_submenu(title, what)
            menu.append_section(None, section)
        return menu

    def make_details(self):
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin_top=12,
                      margin_bottom=12, margin_start=12, margin_end=12)
        self.heading = Gtk.Label(xalign=0, selectable=True, wrap=True, css_classes=['heading'],
                                 wrap_mode=Pango.WrapMode.WORD_CHAR)
        self.summary = Gtk.Label(xalign=0, wrap=True, css_classes=['dim-label'])
        copies = Gtk.Box(spacing=6, homogeneous=True)
        for title, action in ((_('Python'), 'win.copy-python'),
                              (_('JavaScript'), 'win.copy-javascript')):
            button = Gtk.Button(label=title, action_name=action)
            button.set_tooltip_text(_('Copy code that loads this in {}').format(title))
            copies.append(button)
        copy_title = Gtk.Label(label=_('Copy as code'), xalign=0, css_classes=['heading'])
        for widget in (self.heading, self.summary, self.statistics, copy_title, copies):
            box.append(widget)
        return Gtk.ScrolledWindow(child=box, hscrollbar_policy=Gtk.PolicyType.NEVER)

    def add_actions(self):
        actions = {'close': self.close,
                   'search': self.search,
                   'reload': self.reload,
                   'stop': self.view.stop,
                   'zoom-in': lambda: self.view.picture.zoom_by(1),
                   'zoom-out': lambda: self.view.picture.zoom_by(-1),
                   'zoom-fit': self.view.picture.fit,
                   'copy-python': lambda: self.copy_code(code.to_python),
                   'copy-javascript': lambda: self.copy_code(code.to_javascript)}
        for name, function in actions.items():
            action = Gio.SimpleAction(name=name)
            action.connect('activate', lambda *_, function=function: function())
            self.add_action(action)
        for name in ('show-list', 'show-details'):
            self.add_action(Gio.PropertyAction.new(name, self.panes, name))

    def update_actions(self):
        has_file = self.tensors is not None
        has_picture = has_file and self.view.has_picture()
        for name in ('zoom-in', 'zoom-out', 'zoom-fit', 'copy-python', 'copy-javascript'):
            self.lookup_action(name).set_enabled(has_picture)
        self.lookup_action('search').set_enabled(has_file)
        self.lookup_action('reload').set_enabled(self.file is not None)
        for button in (self.list_button, self.details_button):
            button.set_visible(has_file)

    def add_drop_target(self):
        target = Gtk.DropTarget.new(Gdk.FileList, Gdk.DragAction.COPY)
        target.connect('drop', lambda _, files, x, y: self.open_files(files.get_files()))
        self.add_controller(target)

    def fill_recent_menu(self):
        self.recent_menu.remove_all()
        for item in self.get_application().get_recent_items():
            title = text.printable(item.get_display_name(), 60).replace('_', '__')
            menu_item = Gio.MenuItem.new(title, None)
            menu_item.set_action_and_target_value('app.open-uri',
                                                  GLib.Variant('s', item.get_uri()))
            self.recent_menu.append_item(menu_item)

    def let_go(self):
        """Drops the file, whose signal handlers would keep the widgets of a closed window."""
        self.task.cancel()
        self.tensors = None
        if self.monitor is not None:
            self.monitor.cancel()
            self.monitor = None
        self.list.show_file(None)
        self.view.let_go()

    # The file

    def show_status(self, icon, title, description):
        self.tensors = None
        self.stack.set_visible_child_name('status')
        self.status.tell(icon, title, description)
        self.update_actions()

    def show_nothing(self):
        self.set_names(_('Tensor Viewer'), '')
        self.show_status('org.mtldl.Viewer-symbolic', _('Open a File'),
                         _('Shows the tensors in safetensors files, models in several such files '
                           '(….safetensors.index.json), .npy and .npz. Files can be dropped '
                           'here, too.'))

    def set_names(self, title, subtitle):
        self.set_title(title)
        self.title.tell(title, subtitle)

    def show_error(self, error):
        """Shows an error of opening a file. A file that the window shows already remains."""
        self.spinner.stop()
        if self.tensors is not None:
            self.toasts.tell(text.message_of(error))
            return
        self.show_status('dialog-warning-symbolic', _('This File Cannot Be Opened'),
                         text.message_of(error))

    def open_files(self, files):
        self.get_application().open_files(files, self)
        return bool(files)

    def is_opening(self):
        return self.stack.get_visible_child_name() == 'opening'

    def begin_opening(self, file):
        if self.tensors is None:
            self.file = file
            self.set_names(text.printable(file.get_basename() or file.get_uri()), '')
            self.stack.set_visible_child_name('opening')
            self.spinner.start()
        self.task.cancel()
        self.task = Task(self.show_error)
        state = FileState(file)
        self.task.run(Mtl.TensorFile.open_async, Mtl.TensorFile.open_finish,
                      lambda tensors: self.show_file(file, tensors, state), file,
                      mode=Mtl.TensorFileMode.MAP)

    def begin_opening_another(self, file, make_window):
        """Opens the file in another window, if it can be opened."""
        state = FileState(file)
        opening = self.get_application().opening

        def failed(error):
            opening.remove(file)
            self.show_error(error)

        def opened(tensors):
            opening.remove(file)
            window = make_window()
            window.show_file(file, tensors, state)
            window.present()

        opening.append(file)
        Task(failed).run(Mtl.TensorFile.open_async, Mtl.TensorFile.open_finish, opened, file,
                         mode=Mtl.TensorFileMode.MAP)

    def show_file(self, file, tensors, state):
        self.spinner.stop()
        self.file, self.tensors, self.file_state = file, tensors, state
        n_tensors = tensors.get_n_items()
        subtitle = [text.tensors(n_tensors), tensors.get_format().value_nick]
        if state.status is not None:
            subtitle.append(text.size_of(state.status.st_size))
        self.set_names(text.printable(file.get_basename() or file.get_uri()),
                       ' · '.join(subtitle))
        self.stack.set_visible_child_name('file')
        self.list.show_file(tensors)
        self.show_selected()
        if n_tensors == 0:
            self.view.show_message(_('No Tensors'), _('There are no tensors in this file.'))
        self.watch(file)
        self.get_application().remember(file)

    def reload(self):
        """Shows the error instead if the file is no longer there."""
        if self.file is not None:
            self.tensors = None
            self.begin_opening(self.file)

    def watch(self, file):
        try:
            self.monitor = file.monitor_file(Gio.FileMonitorFlags.WATCH_MOVES, None)
            self.monitor.set_rate_limit(200)
            self.monitor.connect('changed', lambda *arguments: self.tell_of_change(arguments[-1]))
        except (OSError, ValueError, GLib.Error):
            self.monitor = None

    def tell_of_change(self, event):
        if self.tensors is None or self.file_state is None:
            return
        if self.file_state.is_truncated():
            self.view.show_entry(None, None)
            self.view.show_message(_('File Changed'), TRUNCATED)
        gone = (Gio.FileMonitorEvent.DELETED, Gio.FileMonitorEvent.MOVED_OUT)
        came = (Gio.FileMonitorEvent.CHANGES_DONE_HINT, Gio.FileMonitorEvent.CREATED,
                Gio.FileMonitorEvent.MOVED_IN, Gio.FileMonitorEvent.RENAMED)
        if event in gone:
            self.toasts.tell(_('The file was removed. Its contents can still be seen.'))
        elif event in came and not self.file_state.is_same():
            self.toasts.tell(_('The file has changed.'), _('Reload'), 'win.reload')

    # The tensor that is shown

    def show_selected(self):
        entry = self.list.get_selected()
        if entry is not None and entry is self.view.entry and self.view.tensor is not None:
            return
        self.heading.set_text(text.name_of(entry) if entry is not None else '')
        self.summary.set_text(text.summary_of(entry) if entry is not None else '')
        if self.tensors is not None:
            self.view.show_entry(self.tensors, entry, self.file_state)

    def leave_list(self):
        if self.panes.is_narrow():
            self.panes.show_list = False

    def search(self):
        self.panes.show_list = True
        self.list.search.grab_focus()

    def copy_code(self, write):
        code = write(self.file, self.list.get_selected().name, self.view.axes.choice)
        self.get_clipboard().set_content(Gdk.ContentProvider.new_for_value(code))
        self.toasts.tell(_('The code was copied.'))

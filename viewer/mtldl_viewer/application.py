# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program: its windows, what it remembers, and its actions."""

import fnmatch
import os
import sys
from gettext import gettext as _

from gi.repository import Gdk, Gio, GLib, Gtk

from . import toolkit
from .window import INDICES, MIN_HEIGHT, MIN_WIDTH, PATTERNS, Window

ID = 'org.mtldl.Viewer'
MAX_RECENT = 8

# The title of each shortcut, its action and its keys.
SHORTCUTS = {
    _('Files'): [(_('Open a file'), 'app.open', ['<Control>o']),
                 (_('Reload the file'), 'win.reload', ['<Control>r', 'F5']),
                 (_('Close the window'), 'win.close', ['<Control>w']),
                 (_('Quit'), 'app.quit', ['<Control>q'])],
    _('Tensors'): [(_('Search'), 'win.search', ['<Control>f']),
                   (_('Show the list'), 'win.show-list', ['F9']),
                   (_('Show the statistics'), 'win.show-details', ['<Alt>Return', '<Control>i']),
                   (_('Copy as Python'), 'win.copy-python', ['<Control><Shift>p']),
                   (_('Copy as JavaScript'), 'win.copy-javascript', ['<Control><Shift>j'])],
    _('Picture'): [(_('Zoom in'), 'win.zoom-in', ['<Control>plus', '<Control>equal',
                                                  '<Control>KP_Add']),
                   (_('Zoom out'), 'win.zoom-out', ['<Control>minus', '<Control>KP_Subtract']),
                   (_('Fit the window'), 'win.zoom-fit', ['<Control>0', '<Control>KP_0'])],
    _('Help'): [(_('Keyboard shortcuts'), 'app.shortcuts', ['<Control>question']),
                (_('Main menu'), None, ['F10'])],
}


def find_in_folder(file):
    """The only model, or the only file of tensors, in a folder; the file itself otherwise."""
    try:
        names = sorted(os.listdir(file.get_path()))
    except (OSError, TypeError):
        return file     # no folder on this machine
    for patterns in ((INDICES,), PATTERNS):
        found = [name for name in names
                 if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
        if len(found) == 1:
            return file.get_child(found[0])
    return file


class State:
    """Settings that are kept from one run to the next."""

    DEFAULTS = {'width': 1100, 'height': 700, 'details': True, 'maximized': False,
                'style': 'default'}

    def __init__(self):
        self.path = os.path.join(GLib.get_user_state_dir(), 'mtldl-viewer', 'state.ini')
        self.file = GLib.KeyFile()
        try:
            self.file.load_from_file(self.path, GLib.KeyFileFlags.NONE)
        except GLib.Error:
            pass    # the first time

    def get(self, key):
        default = self.DEFAULTS[key]
        get = {bool: self.file.get_boolean, int: self.file.get_integer,
               str: self.file.get_string}[type(default)]
        try:
            return get('state', key)
        except GLib.Error:
            return default

    def set(self, **values):
        for key, value in values.items():
            set_value = {bool: self.file.set_boolean, int: self.file.set_integer,
                         str: self.file.set_string}[type(value)]
            set_value('state', key, value)
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self.file.save_to_file(self.path)
        except (OSError, GLib.Error):
            pass    # it is a convenience


class Application(toolkit.Application):
    def __init__(self, version, icons):
        super().__init__(application_id=ID, flags=Gio.ApplicationFlags.HANDLES_OPEN)
        self.version, self.icons = version, icons
        self.chooser = None
        self.opening = []       # the files that windows are being made for
        GLib.set_application_name(_('Tensor Viewer'))
        self.set_option_context_parameter_string(_('[FILE…]'))
        self.set_option_context_summary(
            _('Shows the tensors in safetensors, .npy and .npz files as pictures.'))
        self.add_main_option('version', 0, GLib.OptionFlags.NONE, GLib.OptionArg.NONE,
                             _('Print the version'), None)
        self.connect('handle-local-options', self.print_version)

    def print_version(self, _, options):
        if not options.contains('version'):
            return -1       # go on
        print(f'mtldl-viewer {self.version}')
        return 0

    def do_startup(self):
        # Desktops find the program of a window by this.
        GLib.set_prgname(ID)
        if Gdk.Display.get_default() is None:
            print(_('mtldl-viewer: there is no display for its windows. In a terminal, '
                    '“mtldl ls FILE” and “mtldl show FILE NAME” show tensors.'), file=sys.stderr)
            os._exit(1)     # an exception would not leave the main loop
        toolkit.Application.do_startup(self)
        self.state = State()
        Gtk.IconTheme.get_for_display(Gdk.Display.get_default()).add_search_path(self.icons)
        Gtk.Window.set_default_icon_name(ID)

        for name, function in {'open': self.choose_files, 'quit': self.quit_all,
                               'about': self.show_about, 'shortcuts': self.show_shortcuts}.items():
            action = Gio.SimpleAction(name=name)
            action.connect('activate', lambda *_, function=function: function())
            self.add_action(action)

        open_uri = Gio.SimpleAction(name='open-uri', parameter_type=GLib.VariantType('s'))
        open_uri.connect('activate', lambda _, uri: self.open_files(
            [Gio.File.new_for_uri(uri.get_string())], self.get_last_window()))
        self.add_action(open_uri)

        style = Gio.SimpleAction.new_stateful('style', GLib.VariantType('s'),
                                              GLib.Variant('s', self.state.get('style')))
        style.connect('change-state', self.change_style)
        self.add_action(style)
        toolkit.set_style(self.state.get('style'))

        for shortcuts in SHORTCUTS.values():
            for _title, action, keys in shortcuts:
                if action is not None:
                    self.set_accels_for_action(action, keys)

    # Windows and files

    def make_window(self):
        window = Window(self, max(self.state.get('width'), MIN_WIDTH),
                        max(self.state.get('height'), MIN_HEIGHT))
        window.panes.show_details = self.state.get('details')
        if self.state.get('maximized'):
            window.maximize()
        window.connect('close-request', self.remember_window)
        return window

    def remember_window(self, window):
        width, height = window.get_default_size()
        self.state.set(width=width, height=height, maximized=window.is_maximized(),
                       details=window.panes.wants_details())
        window.let_go()
        return False

    def do_activate(self):
        self.make_window().present()

    def do_open(self, files, n_files, hint):
        self.open_files(files, self.get_last_window())

    def open_files(self, files, window=None):
        """A window for each file: the given one if it is empty. The window of a file that is
        shown already comes to the front."""
        for file in map(find_in_folder, files):
            shown = self.find_window(file)
            if shown is not None:
                shown.present()
            elif any(file.equal(other) for other in self.opening):
                continue
            elif window is not None and window.tensors is not None:
                window.begin_opening_another(file, self.make_window)
            else:
                if window is None or window.is_opening():
                    window = self.make_window()
                window.begin_opening(file)
                window.present()

    def list_windows(self):
        """The windows of files, the one that was used last first."""
        return [window for window in self.get_windows() if isinstance(window, Window)]

    def get_last_window(self):
        return next(iter(self.list_windows()), None)

    def find_window(self, file):
        return next((window for window in self.list_windows()
                     if window.file is not None and window.file.equal(file)
                     and (window.tensors is not None or window.is_opening())), None)

    def choose_files(self):
        window = self.get_last_window()
        # It has to be kept while it is open.
        self.chooser = Gtk.FileChooserNative(title=_('Open Tensors'), transient_for=window,
                                             modal=True, select_multiple=True,
                                             action=Gtk.FileChooserAction.OPEN)
        for title, patterns in ((_('Tensors'), PATTERNS), (_('All files'), ('*',))):
            kinds = Gtk.FileFilter(name=title)
            for pattern in patterns:
                kinds.add_pattern(pattern)
            self.chooser.add_filter(kinds)
        self.chooser.connect('response', self.files_chosen, window)
        self.chooser.show()

    def files_chosen(self, chooser, response, window):
        if response == Gtk.ResponseType.ACCEPT:
            files = chooser.get_files()
            self.open_files([files.get_item(place) for place in range(files.get_n_items())],
                            window)
        self.chooser = None

    def remember(self, file):
        Gtk.RecentManager.get_default().add_item(file.get_uri())

    def get_recent_items(self):
        items = [item for item in Gtk.RecentManager.get_default().get_items()
                 if item.has_application(GLib.get_application_name()) and item.exists()]
        return sorted(items, key=lambda item: -item.get_modified().to_unix())[:MAX_RECENT]

    def quit_all(self):
        for window in self.list_windows():
            window.close()
        self.quit()

    # Information about the program

    def change_style(self, action, style):
        action.set_state(style)
        self.state.set(style=style.get_string())
        toolkit.set_style(style.get_string())

    def show_about(self):
        toolkit.show_about(
            self.get_last_window(), _('Tensor Viewer'), ID, self.version,
            comments=_('Shows the tensors in safetensors, .npy and .npz files as pictures.'),
            developers=[_('The authors of mtldl')], license_type=Gtk.License.LGPL_2_1)

    def show_shortcuts(self):
        shortcuts = make_shortcuts_window()
        shortcuts.set_transient_for(self.get_last_window())
        shortcuts.present()


def make_shortcuts_window():
    """Only Gtk.Builder can fill one."""
    def to_xml(kind, properties, content=''):
        texts = ''.join(f'<property name="{name}">{GLib.markup_escape_text(text)}</property>'
                        for name, text in properties.items())
        return f'<child><object class="{kind}">{texts}{content}</object></child>'

    groups = ''.join(
        to_xml('GtkShortcutsGroup', {'title': title}, ''.join(
            to_xml('GtkShortcutsShortcut', {'title': text, 'accelerator': ' '.join(keys)})
            for text, _action, keys in shortcuts))
        for title, shortcuts in SHORTCUTS.items())
    section = to_xml('GtkShortcutsSection', {'section-name': 'shortcuts', 'visible': '1'}, groups)
    builder = Gtk.Builder()
    builder.add_from_string('<interface><object class="GtkShortcutsWindow" id="window">'
                            f'<property name="modal">1</property>{section}</object></interface>')
    return builder.get_object('window')


def main(arguments, version, icons):
    return Application(version, icons).run(arguments)

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""drive-gtk.py PROGRAM [ARGUMENT…]

Runs a program of GTK's in Python, and does with its widgets what each line of
its input says; see gtk_program.py.
"""

import json
import os
import runpy
import sys
import time
import traceback

import gi

gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
from gi.repository import Gdk, Gio, GLib, GObject, Gtk  # noqa: E402

try:
    gi.require_version('GioUnix', '2.0')
    from gi.repository import GioUnix
    InputStream = GioUnix.InputStream
except (ValueError, ImportError, AttributeError):
    InputStream = Gio.UnixInputStream   # before GLib 2.80


def walk(widget):
    if not widget.get_mapped():
        return
    yield widget
    child = widget.get_first_child()
    while child is not None:
        yield from walk(child)
        child = child.get_next_sibling()


def find(kind, window):
    return [widget for widget in walk(window) if isinstance(widget, kind)]


def names_of(button):
    return [name for name in (button.get_tooltip_text(), button.get_label()) if name]


def get_drawing(window):
    """The widget whose children lie where the program puts them, and the picture in it."""
    fixed = find(Gtk.Fixed, window)
    return (fixed[0], fixed[0].get_first_child()) if fixed else (None, None)


def controller_of(widget, kind):
    return next(controller for controller in widget.observe_controllers()
                if isinstance(controller, kind))


def get_texture(picture):
    """Returns the picture's current image, or None."""
    paintable = picture.get_paintable() if picture is not None else None
    image = paintable.get_current_image() if paintable is not None else None
    return image if isinstance(image, Gdk.Texture) else None


def click(window, name, may_be_gone=False):
    button = next((button for button in find(Gtk.Button, window) if name in names_of(button)), None)
    if button is None and may_be_gone:
        return
    if button.get_action_name() is None:
        button.emit('clicked')
    else:
        button.activate_action(button.get_action_name(), None)


def activate(window, name, value=None):
    window.activate_action(name, None if value is None else GLib.Variant('s', value))


def scroll(window, down, right):
    scrolled = get_drawing(window)[0].get_ancestor(Gtk.ScrolledWindow)
    scrolled.get_vadjustment().set_value(down)
    scrolled.get_hadjustment().set_value(right)


def spin(window, number, value):
    find(Gtk.SpinButton, window)[number].set_value(value)


def choose(window, number, row):
    find(Gtk.DropDown, window)[number].set_selected(row)


def point(window, x, y):
    controller_of(get_drawing(window)[0], Gtk.EventControllerMotion).emit('motion', x, y)


def drop(window, *paths):
    files = GObject.Value(Gdk.FileList)
    files.set_boxed(Gdk.FileList.new_from_list([Gio.File.new_for_path(path) for path in paths]))
    controller_of(window, Gtk.DropTarget).emit('drop', files.get_value(), 10, 10)


def resize(window, width, height):
    window.set_default_size(width, height)


# The longest absence from the main loop: the program lets it come back at once.
pauses = {'last': None, 'longest': 0}


def notice_pauses():
    now = time.monotonic()
    if pauses['last'] is not None:
        pauses['longest'] = max(pauses['longest'], now - pauses['last'])
    pauses['last'] = now
    return GLib.SOURCE_CONTINUE


def begin_pauses(_):
    if pauses['last'] is None:
        GLib.timeout_add(5, notice_pauses, priority=GLib.PRIORITY_DEFAULT)
    pauses.update(last=None, longest=0)


def save(window, path):
    """Nothing, while there is no picture."""
    texture = get_texture(get_drawing(window)[1])
    if texture is not None:
        texture.save_to_png(path)


ACTIONS = {
    'click': click,
    'activate': activate,
    'type': lambda window, text: find(Gtk.SearchEntry, window)[0].set_text(text),
    'select': lambda window, row: find((Gtk.ColumnView, Gtk.ListView),
                                       window)[0].get_model().set_selected(row),
    'spin': spin,
    'choose': choose,
    'scroll': scroll,
    'point': point,
    'drop': drop,
    'resize': resize,
    'pauses': begin_pauses,
    'save': save,
    'recent': lambda window: window.fill_recent_menu(),
    'respond': lambda window, response: Gio.Application.get_default().chooser.emit('response',
                                                                                  response),
}


clipboard = {'text': None}


def get_clipboard_text(window):
    """Returns the clipboard's text as of the last request."""
    def read(source, result):
        try:
            clipboard['text'] = source.read_text_finish(result)
        except GLib.Error:
            clipboard['text'] = None    # nothing, or no text

    window.get_clipboard().read_text_async(None, read)
    return clipboard['text']


def get_style(application):
    style = application.lookup_action('style') if application else None
    return style.get_state().get_string() if style else None


def get_recent(window):
    menu = getattr(window, 'recent_menu', None)
    return [menu.get_item_attribute_value(place, 'target', None).get_string()
            for place in range(menu.get_n_items() if menu else 0)]


def describe(window):
    fixed, picture = get_drawing(window)
    application = window.get_application()
    answer = {'title': window.get_title(),
              'texts': [label.get_text() for label in find(Gtk.Label, window)],
              'dimmed': [label.get_text() for label in find(Gtk.Label, window)
                         if label.has_css_class('dim-label')],
              'buttons': [name for button in find((Gtk.Button, Gtk.MenuButton), window)
                          for name in (names_of(button) if isinstance(button, Gtk.Button)
                                       else [button.get_tooltip_text()])],
              'windows': [window.get_title() for window in Gtk.Window.get_toplevels()],
              'kinds': [type(window).__name__ for window in Gtk.Window.get_toplevels()],
              'size': [window.get_width(), window.get_height()],
              'default_size': list(window.get_default_size()),
              'pause': pauses['longest'],
              'choosing': getattr(application, 'chooser', None) is not None,
              'bars': next((widget.bars for widget in walk(window) if hasattr(widget, 'bars')),
                           None),
              'style': get_style(application),
              'recent': get_recent(window),
              'progress': [bar.get_fraction() for bar in find(Gtk.ProgressBar, window)],
              'clipboard': get_clipboard_text(window),
              'actions': [name for name in (window.list_actions() if application else [])
                          if window.lookup_action(name).get_enabled()]}
    texture = get_texture(picture)
    if texture is not None:
        shadow = window.get_surface_transform()
        corner = picture.translate_coordinates(window, 0, 0)
        answer['picture'] = {
            'size': [texture.get_intrinsic_height(), texture.get_intrinsic_width()],
            'place': list(fixed.get_child_position(picture))[::-1],
            'whole': list(fixed.get_size_request())[::-1],
            'on_window': [corner[-1] + shadow[1], corner[-2] + shadow[0]],
        }
    return answer


def get_window():
    """The last one that was used, or made."""
    application = Gio.Application.get_default()
    return application.get_active_window() if application else None


def read_next(commands):
    # The command comes after everything else that there is to do.
    commands.read_line_async(GLib.PRIORITY_LOW, None, answer_line)


def answer_line(commands, result):
    line, _ = commands.read_line_finish_utf8(result)
    if line is None:
        Gio.Application.get_default().quit()
        return
    try:
        print(json.dumps(answer(line)), flush=True)
    except Exception:
        # Otherwise the caller would wait for ever.
        traceback.print_exc()
        os._exit(3)
    read_next(commands)


def answer(line):
    if line:
        action, *arguments = json.loads(line)
        ACTIONS[action](get_window(), *arguments)
    window = get_window()
    return describe(window) if window else {}


read_next(Gio.DataInputStream.new(InputStream.new(0, False)))
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name='__main__')

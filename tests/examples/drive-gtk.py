#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""drive-gtk.py PROGRAM [ARGUMENT…]

Runs a program of GTK's in Python, and does with its widgets what each line of
its input says; see gtk_program.py.
"""

import json
import runpy
import sys

import gi

gi.require_version('Gtk', '4.0')
from gi.repository import Gio, GLib, Gtk  # noqa: E402


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


def named(buttons, name):
    return next(button for button in buttons
                if name in (button.get_tooltip_text(), button.get_label()))


def get_drawing(window):
    """The widget whose children lie where the program puts them, and the picture in it."""
    fixed = find(Gtk.Fixed, window)
    return (fixed[0], fixed[0].get_first_child()) if fixed else (None, None)


def point(widget, x, y):
    controllers = widget.observe_controllers()
    motion = next(controller for controller in controllers
                  if isinstance(controller, Gtk.EventControllerMotion))
    motion.emit('motion', x, y)


def scroll(widget, down, right):
    scrolled = widget.get_ancestor(Gtk.ScrolledWindow)
    scrolled.get_vadjustment().set_value(down)
    scrolled.get_hadjustment().set_value(right)


def act(window, action, *arguments):
    if action == 'click':
        button = named(find(Gtk.Button, window), *arguments)
        if button.get_action_name() is None:
            button.emit('clicked')
        else:
            button.activate_action(button.get_action_name(), None)
    elif action == 'type':
        find(Gtk.SearchEntry, window)[0].set_text(*arguments)
    elif action == 'select':
        find(Gtk.ColumnView, window)[0].get_model().set_selected(*arguments)
    elif action == 'spin':
        number, value = arguments
        find(Gtk.SpinButton, window)[number].set_value(value)
    elif action == 'scroll':
        scroll(get_drawing(window)[0], *arguments)
    elif action == 'point':
        point(get_drawing(window)[0], *arguments)
    elif action == 'save':
        get_drawing(window)[1].get_paintable().save_to_png(*arguments)


def describe(window):
    fixed, picture = get_drawing(window)
    answer = {'title': window.get_title(),
              'texts': [label.get_text() for label in find(Gtk.Label, window)]}
    if picture is not None and picture.get_paintable() is not None:
        shadow = window.get_surface_transform()
        corner = picture.translate_coordinates(window, 0, 0)
        texture = picture.get_paintable()
        answer['picture'] = {
            'size': [texture.get_intrinsic_height(), texture.get_intrinsic_width()],
            'place': list(fixed.get_child_position(picture))[::-1],
            'whole': list(fixed.get_size_request())[::-1],
            'on_window': [corner[-1] + shadow[1], corner[-2] + shadow[0]],
        }
    return answer


def read_next(commands):
    # After all else that there is to do.
    commands.read_line_async(GLib.PRIORITY_LOW, None, answer_line)


def answer_line(commands, result):
    line, _ = commands.read_line_finish_utf8(result)
    if line is None:
        Gio.Application.get_default().quit()
        return
    window = Gtk.Window.get_toplevels().get_item(0)
    if line:
        act(window, *json.loads(line))
    print(json.dumps(describe(window) if window else {}), flush=True)
    read_next(commands)


read_next(Gio.DataInputStream.new(Gio.UnixInputStream.new(0, False)))
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name='__main__')

// SPDX-License-Identifier: LGPL-2.1-or-later

// Does with the widgets of a program of GTK's in JavaScript, which is imported
// after this, what each line of its input says; see gtk_program.py.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk?version=4.0';

function* walk(widget) {
    if (!widget.get_mapped())
        return;
    yield widget;
    for (let child = widget.get_first_child(); child; child = child.get_next_sibling())
        yield* walk(child);
}

function find(kind, window) {
    return [...walk(window)].filter(widget => widget instanceof kind);
}

// The widget whose children lie where the program puts them, and the picture in it.
function getDrawing(window) {
    const [fixed] = find(Gtk.Fixed, window);
    return [fixed, fixed?.get_first_child()];
}

const ACTIONS = {
    click(window, name) {
        const button = find(Gtk.Button, window).find(
            ({tooltip_text, label}) => [tooltip_text, label].includes(name));
        if (button.action_name === null)
            button.emit('clicked');
        else
            button.activate_action(button.action_name, null);
    },
    type(window, text) {
        find(Gtk.SearchEntry, window)[0].set_text(text);
    },
    select(window, row) {
        find(Gtk.ColumnView, window)[0].get_model().set_selected(row);
    },
    spin(window, number, value) {
        find(Gtk.SpinButton, window)[number].set_value(value);
    },
    scroll(window, down, right) {
        const scrolled = getDrawing(window)[0].get_ancestor(Gtk.ScrolledWindow);
        scrolled.vadjustment.set_value(down);
        scrolled.hadjustment.set_value(right);
    },
    point(window, x, y) {
        const controllers = getDrawing(window)[0].observe_controllers();
        for (let i = 0; i < controllers.get_n_items(); i++) {
            if (controllers.get_item(i) instanceof Gtk.EventControllerMotion)
                controllers.get_item(i).emit('motion', x, y);
        }
    },
    save(window, path) {
        getDrawing(window)[1].get_paintable().save_to_png(path);
    },
};

function describe(window) {
    const [fixed, picture] = getDrawing(window);
    const texture = picture?.get_paintable();
    const texts = find(Gtk.Label, window).map(label => label.get_text());
    const answer = {title: window.get_title(), texts};

    if (texture) {
        const shadow = window.get_surface_transform();
        const corner = picture.translate_coordinates(window, 0, 0).slice(-2);
        answer.picture = {
            size: [texture.get_intrinsic_height(), texture.get_intrinsic_width()],
            place: fixed.get_child_position(picture).reverse(),
            whole: fixed.get_size_request().reverse(),
            on_window: [corner[1] + shadow[1], corner[0] + shadow[0]],
        };
    }
    return answer;
}

const answers = Gio.UnixOutputStream.new(1, false);

function readNext(commands) {
    // After all else that there is to do.
    commands.read_line_async(GLib.PRIORITY_LOW, null, answerLine);
}

function answerLine(commands, result) {
    const [line] = commands.read_line_finish_utf8(result);
    if (line === null) {
        Gio.Application.get_default().quit();
        return;
    }

    const window = Gtk.Window.get_toplevels().get_item(0);
    if (line) {
        const [action, ...args] = JSON.parse(line);
        ACTIONS[action](window, ...args);
    }
    const answer = JSON.stringify(window ? describe(window) : {});
    answers.write_all(new TextEncoder().encode(`${answer}\n`), null);
    readNext(commands);
}

readNext(Gio.DataInputStream.new(Gio.UnixInputStream.new(0, false)));

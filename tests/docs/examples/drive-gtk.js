// SPDX-License-Identifier: LGPL-2.1-or-later

// Does with the widgets of a program of GTK's in JavaScript, which is imported
// after this, what each line of its input says; see gtk_program.py.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk?version=4.0';

let InputStream, OutputStream;
try {
    ({InputStream, OutputStream} = imports.gi.GioUnix);
} catch {
    // These are the names before GLib 2.80.
    [InputStream, OutputStream] = [Gio.UnixInputStream, Gio.UnixOutputStream];
}

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

const ACTIONS = {
    click(window, name) {
        find(Gtk.Button, window).find(
            ({tooltip_text, label}) => [tooltip_text, label].includes(name)).emit('clicked');
    },
    select(window, row) {
        find(Gtk.ListView, window)[0].get_model().set_selected(row);
    },
    save(window, path) {
        find(Gtk.Picture, window)[0].get_paintable().save_to_png(path);
    },
};

function describe(window) {
    const [picture] = find(Gtk.Picture, window);
    const texture = picture?.get_paintable();
    const texts = find(Gtk.Label, window).map(label => label.get_text());
    const answer = {title: window.get_title(), texts};

    if (texture) {
        const shadow = window.get_surface_transform();
        const corner = picture.translate_coordinates(window, 0, 0).slice(-2);
        answer.picture = {
            size: [texture.get_intrinsic_height(), texture.get_intrinsic_width()],
            on_window: [corner[1] + shadow[1], corner[0] + shadow[0]],
        };
    }
    return answer;
}

const answers = OutputStream.new(1, false);

function readNext(commands) {
    // The command comes after everything else that there is to do.
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

readNext(Gio.DataInputStream.new(InputStream.new(0, false)));

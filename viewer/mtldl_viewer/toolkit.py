# SPDX-License-Identifier: LGPL-2.1-or-later
"""Widgets that libadwaita has and GTK alone lacks: the same, with either.

The environment variable MTLDL_VIEWER_TOOLKIT chooses: adw or gtk.
"""

import os

import gi
from gi.repository import Gdk, GLib, GObject, Gtk, Pango

TOAST_SECONDS = 5


def load_adwaita():
    if os.environ.get('MTLDL_VIEWER_TOOLKIT') == 'gtk':
        return None
    try:
        gi.require_version('Adw', '1')
        from gi.repository import Adw
    except (ValueError, ImportError):
        return None
    return Adw if (Adw.MAJOR_VERSION, Adw.MINOR_VERSION) >= (1, 2) else None


Adw = load_adwaita()
Application = Adw.Application if Adw else Gtk.Application


def name(widget, label):
    """Names the widget for people who cannot see it."""
    widget.update_property([Gtk.AccessibleProperty.LABEL], [label])


def describe(widget, description):
    widget.update_property([Gtk.AccessibleProperty.DESCRIPTION], [description])


def make_button(kind, icon_name, title, action_name, **properties):
    """A button with only an icon, and its title in a tooltip."""
    button = kind(icon_name=icon_name, tooltip_text=title, action_name=action_name, **properties)
    name(button, title)
    return button


def find_color_schemes():
    """The property of GTK's settings, and its value for each style."""
    schemes = getattr(Gtk, 'InterfaceColorScheme', None)
    if schemes:     # GTK 4.20
        return 'gtk-interface-color-scheme', {'light': schemes.LIGHT, 'dark': schemes.DARK}
    return 'gtk-application-prefer-dark-theme', {'light': False, 'dark': True}


def set_style(style):
    """style: 'default', 'light' or 'dark'"""
    if Adw:
        schemes = {'light': Adw.ColorScheme.FORCE_LIGHT, 'dark': Adw.ColorScheme.FORCE_DARK}
        manager = Adw.StyleManager.get_default()
        manager.set_color_scheme(schemes.get(style, Adw.ColorScheme.DEFAULT))
    else:
        settings = Gtk.Settings.get_default()
        property_name, values = find_color_schemes()
        if style in values:
            settings.set_property(property_name, values[style])
        else:
            settings.reset_property(property_name)


def show_about(parent, name, icon, version, comments, developers, license_type):
    if Adw:
        window = Adw.AboutWindow(application_name=name, application_icon=icon,
                                 developers=developers)
    else:
        window = Gtk.AboutDialog(program_name=name, logo_icon_name=icon, authors=developers)
    window.set_properties(transient_for=parent, modal=True, version=version, comments=comments,
                          license_type=license_type)
    window.present()


class StatusPage(Gtk.Box):
    """An icon, a title, a description, and what can be done now."""

    def __init__(self, child=None):
        super().__init__(hexpand=True, vexpand=True)
        if Adw:
            self.page = Adw.StatusPage(child=child, hexpand=True)
            self.append(self.page)
            return

        self.icon = Gtk.Image(pixel_size=96, css_classes=['dim-label'])
        self.title = Gtk.Label(css_classes=['title-1'], wrap=True, justify=Gtk.Justification.CENTER,
                               wrap_mode=Pango.WrapMode.WORD_CHAR)
        self.text = Gtk.Label(wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, max_width_chars=60,
                              justify=Gtk.Justification.CENTER)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=18, hexpand=True,
                      valign=Gtk.Align.CENTER, margin_start=12, margin_end=12)
        for widget in (self.icon, self.title, self.text, child):
            if widget is not None:
                box.append(widget)
        self.append(Gtk.ScrolledWindow(child=box, hexpand=True,
                                       hscrollbar_policy=Gtk.PolicyType.NEVER))

    def tell(self, icon_name, title, text=''):
        if Adw:
            self.page.set_icon_name(icon_name)
            self.page.set_title(GLib.markup_escape_text(title))
            self.page.set_description(GLib.markup_escape_text(text))
        else:
            self.icon.set_from_icon_name(icon_name)
            self.title.set_text(title)
            self.text.set_text(text)


class Toasts(Gtk.Box):
    """Tells things in passing, over its child."""

    def __init__(self, child):
        super().__init__()
        self.timeout = 0
        if Adw:
            self.overlay = Adw.ToastOverlay(child=child, hexpand=True)
            self.append(self.overlay)
            return

        self.label = Gtk.Label(wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, max_width_chars=50)
        self.button = Gtk.Button()
        box = Gtk.Box(spacing=12, css_classes=['osd', 'app-notification'])
        box.append(self.label)
        box.append(self.button)
        self.revealer = Gtk.Revealer(child=box, halign=Gtk.Align.CENTER, valign=Gtk.Align.END,
                                     margin_bottom=24, can_target=False)
        overlay = Gtk.Overlay(child=child, hexpand=True)
        overlay.add_overlay(self.revealer)
        self.append(overlay)

    def tell(self, text, button=None, action=None):
        if Adw:
            toast = Adw.Toast(title=GLib.markup_escape_text(text), timeout=TOAST_SECONDS)
            if button:
                toast.set_button_label(button)
                toast.set_action_name(action)
            self.overlay.add_toast(toast)
            return

        self.label.set_text(text)
        self.button.set_visible(button is not None)
        if button:
            self.button.set_label(button)
            self.button.set_action_name(action)
        self.show(True)
        if self.timeout:
            GLib.source_remove(self.timeout)
        self.timeout = GLib.timeout_add_seconds(TOAST_SECONDS, self.end)

    def show(self, is_shown):
        self.revealer.set_reveal_child(is_shown)
        self.revealer.set_can_target(is_shown)

    def end(self):
        self.timeout = 0
        self.show(False)
        return GLib.SOURCE_REMOVE


class Title(Gtk.Box):
    """The title of a window, with a line below it."""

    def __init__(self):
        super().__init__(valign=Gtk.Align.CENTER, orientation=Gtk.Orientation.VERTICAL)
        self.lines = [Gtk.Label(css_classes=[css_class], single_line_mode=True,
                                ellipsize=Pango.EllipsizeMode.MIDDLE)
                      for css_class in ('title', 'subtitle')]
        for line in self.lines:
            self.append(line)

    def tell(self, title, subtitle=''):
        for line, text in zip(self.lines, (title, subtitle)):
            line.set_text(text)
            line.set_visible(bool(text))


class Panes(Gtk.Widget):
    """A list, content and details beside each other. Where there is less space, only one of the
    list and the details is shown, and where there is little, it covers the content."""

    WIDE, MEDIUM = 860, 560

    show_list = GObject.Property(type=bool, default=True)
    show_details = GObject.Property(type=bool, default=False)

    def __init__(self, listed, content, details):
        super().__init__(hexpand=True, vexpand=True, accessible_role=Gtk.AccessibleRole.GROUP)
        self.children = [listed, content, details]
        self.was_wide = True
        self.kept_details = False       # while there is no space for them
        for child in self.children:
            child.set_parent(self)
        self.connect('notify::show-list', self.make_space, 'show_details')
        self.connect('notify::show-details', self.make_space, 'show_list')

    def make_space(self, _, changed, other):
        if not self.was_wide and self.get_property(changed.name):
            self.set_property(other, False)
        self.queue_resize()

    def follow_width(self):
        is_wide = self.get_width() >= self.WIDE
        if is_wide != self.was_wide:
            self.was_wide = is_wide
            if is_wide:
                self.show_list, self.show_details = True, self.kept_details
            else:
                self.kept_details, self.show_details = self.show_details, False
        return GLib.SOURCE_REMOVE

    def wants_details(self):
        return self.show_details if self.was_wide else self.kept_details

    def choose(self, width):
        """Chooses which of the three are shown."""
        shown = [self.show_list, True, self.show_details]
        if width < self.WIDE and all(shown):
            shown[2] = False
        if width < self.MEDIUM and (shown[0] or shown[2]):
            shown[1] = False
        return shown

    def is_narrow(self):
        return self.get_width() < self.MEDIUM

    def do_measure(self, orientation, _for_size):
        sizes = [child.measure(orientation, -1)[:2] for child in self.children]
        minimum = max(size[0] for size in sizes)
        natural = (sum if orientation == Gtk.Orientation.HORIZONTAL else max)(
            size[1] for size in sizes)
        return minimum, max(minimum, natural), -1, -1

    def do_size_allocate(self, width, height, _baseline):
        if (width >= self.WIDE) != self.was_wide:
            GLib.idle_add(self.follow_width)
        shown = self.choose(width)
        least = [child.measure(Gtk.Orientation.HORIZONTAL, -1)[0] for child in self.children]
        widths = [max(least[0], min(360, width * 28 // 100)), 0, max(least[2], 260)]
        if not shown[1]:
            widths = [width] * 3
        widths[1] = width - sum(size for size, is_shown in zip(widths[::2], shown[::2])
                                if is_shown)
        x = 0
        for child, is_shown, size in zip(self.children, shown, widths):
            child.set_child_visible(is_shown)
            if is_shown:
                area = Gdk.Rectangle()
                area.x, area.y, area.width, area.height = x, 0, size, height
                child.size_allocate(area, -1)
                x += size

    def do_dispose(self):
        while (child := self.get_first_child()) is not None:
            child.unparent()
        Gtk.Widget.do_dispose(self)

// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the reference of other libraries is; ours are added to it. A folder of installed references
// (/usr/share/doc/libglib2.0-doc) works as well as the address of a server.
baseURLs = [
  ['GLib', 'https://docs.gtk.org/glib/'],
  ['GObject', 'https://docs.gtk.org/gobject/'],
  ['Gio', 'https://docs.gtk.org/gio/'],
  ['GdkPixbuf', 'https://docs.gtk.org/gdk-pixbuf/'],
]

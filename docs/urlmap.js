// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the reference of other libraries is; ours are added to it. A folder of installed references
// (/usr/share/doc/libglib2.0-doc) works as well as the address of a server. How GStreamer and Cairo
// name their pages is in site/foreign.py.
baseURLs = [
  ['GLib', 'https://docs.gtk.org/glib/'],
  ['GObject', 'https://docs.gtk.org/gobject/'],
  ['Gio', 'https://docs.gtk.org/gio/'],
  ['GdkPixbuf', 'https://docs.gtk.org/gdk-pixbuf/'],
  ['Gdk', 'https://docs.gtk.org/gdk4/'],
  ['Gtk', 'https://docs.gtk.org/gtk4/'],
  ['Gst', 'https://gstreamer.freedesktop.org/documentation/gstreamer/'],
  ['GstAudio', 'https://gstreamer.freedesktop.org/documentation/audio/'],
  ['GstVideo', 'https://gstreamer.freedesktop.org/documentation/video/'],
  ['cairo', 'https://www.cairographics.org/manual/'],
]

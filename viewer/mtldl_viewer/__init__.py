# SPDX-License-Identifier: LGPL-2.1-or-later
"""mtldl-viewer: lists the tensors in a file, and shows them as pictures."""

import gi

gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
gi.require_version('Mtl', '1')
gi.require_version('MtlGtk', '1')

# SPDX-License-Identifier: LGPL-2.1-or-later
import cairo
from gi.repository import Gdk, Gtk, Mtl

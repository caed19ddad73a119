# SPDX-License-Identifier: LGPL-2.1-or-later
from gi.repository import Gst, GstAudio, GstVideo, Mtl

# SPDX-License-Identifier: LGPL-2.1-or-later
from typing import Any

from gi.repository import GdkPixbuf, Mtl

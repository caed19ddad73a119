#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# name-library.sh COMPILER GIR TYPELIB LIBRARY: makes an installed typelib
# again, which names its library by that path.
set -eu

installed=$MESON_INSTALL_DESTDIR_PREFIX
"$1" --shared-library="$4" --includedir="$installed/share/gir-1.0" --output="$installed/$3" "$2"

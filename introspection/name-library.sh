#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# name-library.sh COMPILER GIR TYPELIB LIBRARY ARGUMENT…: makes an installed typelib
# again, which names its library by that path. The compiler takes the arguments.
set -eu

compiler=$1
gir=$2
typelib=$3
library=$4
installed=$MESON_INSTALL_DESTDIR_PREFIX
shift 4

"$compiler" --shared-library="$library" --includedir="$installed/share/gir-1.0" "$@" \
  --output="$installed/$typelib" "$gir"

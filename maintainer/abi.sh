#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ./run abi: writes down the interface that users rely on, in tests/packaging/abi/, and the exports
# of the libraries, in debian/. A test compares them on Linux.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${MTL_BUILD_DIR:-build}
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)

maintainer/need.sh "to build" @build
python3 maintainer/builds.py build
girs=("$build/introspection/Mtl-1.gir" "$build"/bridges/*.gir)
meson devenv -C "$build" -w "$PWD" python3 maintainer/interface.py record tests/packaging/abi \
  "$version" "${girs[@]}"
python3 maintainer/symbols.py "$version" "${girs[@]}"

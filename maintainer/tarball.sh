#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tarball.sh: makes a release's tarball of the last commit, and builds and tests it in a new system
# in build-packages/ that has only the packages for that: neither a repository nor anything else of
# this machine. As root, which chroot(8) needs.

set -euo pipefail
arguments=("$@")
. "$(dirname "${BASH_SOURCE[0]}")/systems.sh" packages

build=${MTL_BUILD_DIR:-build}
rm -rf "$build/meson-dist"
meson dist -C "$build" --no-tests --formats xztar
tarball=$(ls "$build"/meson-dist/*.tar.xz)
name=$(basename "$tarball" .tar.xz)
set -- $(maintainer/need.sh --print @build) git man-db python3-numpy python3-pytest
system=$folder/release-system

make_system test apt
enter_system test "$system"
say 'Installing what the release is built and tested with'
within "$system" sh -ec 'apt-get update -qq
  apt-get install -qq -y --no-install-recommends "$@" >/dev/null' sh "$@"
tar -x -o -f "$tarball" -C "$system/root"
say 'Building the release, and testing it'
within "$system" bash -ec "cd /root/$name
  { meson setup build -Dkernels=portable && ninja -C build; } >build.log 2>&1 \
    || { cat build.log; exit 1; }
  set -o pipefail
  MTL_TEST_SECONDS=1 meson test -C build --print-errorlogs --timeout-multiplier 2 \
    --suite structure --suite source --suite c --suite gjs --suite vala --suite python | grep -v '^\['"

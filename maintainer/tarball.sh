#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tarball.sh FOLDER TARBALL PACKAGE…: builds the release in the tarball, and tests it, in a new
# system in FOLDER that has only these packages: neither a repository nor anything else of this
# machine. As root, which chroot(8) needs.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/systems.sh"

tarball=$1
name=$(basename "$tarball" .tar.xz)
shift
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
    --suite structure --suite c --suite gjs --suite vala --suite python | grep -v '^\['"

#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# other-debian.sh FOLDER SUITE [--keep] [ARGUMENT…]: runs `./run test ARGUMENT…` on the tracked
# files, in a new system of another suite of Debian, such as trixie. The reports are in
# FOLDER/reports afterwards. With --keep, the system in FOLDER/kept is used again and again, and
# only builds what has changed. As root, which chroot(8) needs.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/systems.sh"

suite=$1
shift
make_system "$suite" apt "$suite"
if [[ ${1:-} == --keep ]]; then
  shift
  system=$folder/kept
  if [[ ! -d $system ]]; then
    unpack_system "$suite" "$system"
  fi
  mount_system "$system"
else
  system=$folder/system
  enter_system "$suite" "$system"
fi

# An index of its own knows what the system has of these files.
tree=$(git stash create)
mkdir -p "$system/mtldl"
GIT_INDEX_FILE=$system/mtldl.index git --work-tree="$system/mtldl" read-tree --reset -u \
  "${tree:-HEAD}"

# Two packages that ./run does not ask for have what came after bookworm's GStreamer: tensors, and
# the elements that pass frames to other processes.
say "Testing on $suite"
rm -rf "$folder/reports"
status=0
take_pip_settings "$system"
within "$system" env ${pip_settings[@]+"${pip_settings[@]}"} \
  sh -ec 'apt-get update -qq; apt-get upgrade -qq -y >/dev/null
          apt-get install -qq -y --no-install-recommends libgstreamer-plugins-bad1.0-dev \
            gstreamer1.0-plugins-bad >/dev/null
          cd /mtldl; exec ./run test "$@"' sh "$@" || status=$?
cp -r "$system/mtldl/build/reports" "$folder/"
exit "$status"

#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# other-debian.sh FOLDER SUITE [ARGUMENT…]: runs `./run test ARGUMENT…` on the tracked files, in a
# new system of another suite of Debian, such as trixie. The reports are in FOLDER/reports
# afterwards. As root, which chroot(8) needs.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../packaging/systems.sh"

suite=$1
shift
system=$folder/system

make_system "$suite" apt "$suite"
enter_system "$suite" "$system"
rm -rf "$folder/reports"
mkdir "$system/mtldl"
tree=$(git stash create)
git archive "${tree:-HEAD}" | tar -x -C "$system/mtldl"

say "Testing on $suite"
status=0
within "$system" sh -ec 'apt-get update -qq; apt-get upgrade -qq -y >/dev/null; cd /mtldl
                         exec ./run test "$@"' sh "$@" || status=$?
cp -r "$system/mtldl/build/reports" "$folder/"
exit "$status"

#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# other-debian.sh SUITE FOLDER [ARGUMENT…]: runs `./run test ARGUMENT…` on the tracked files, in a
# new system of another suite of Debian, such as trixie. The reports are in FOLDER/reports
# afterwards. As root, which chroot(8) needs.

set -euo pipefail

# What is mounted is seen by nobody else, and goes with this process.
if [[ ${1:-} != --unshared ]]; then
  exec unshare --mount "${BASH_SOURCE[0]}" --unshared "$@"
fi
shift

cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
systems=$folder/systems
system=$folder/system

. packaging/systems.sh

make_system "$suite" apt "$suite"
enter_system "$suite" "$system"
trap "leave_system '$system'" EXIT
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

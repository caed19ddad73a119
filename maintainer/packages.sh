#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# packages.sh FOLDER [TEST…]: makes the Debian packages of the tracked files in FOLDER, in a
# new system that has only what they are built with, checks them with lintian, and uses them in
# other new systems: all tests of debian/tests, or those that are named. As root, which chroot(8)
# needs.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/systems.sh"

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
name=mtldl-$version

make_sources () {
  local tree
  tree=$(git stash create)
  tree=${tree:-HEAD}

  rm -rf "${folder:?}/$name"
  git archive --prefix "$name/" "$tree" ':!debian' | xz -T0 >"$folder/mtldl_$version.orig.tar.xz"
  git archive --prefix "$name/" "$tree" | tar -x -C "$folder"
}

build () {
  local system=$folder/build-system

  make_system build buildd
  enter_system build "$system"
  mkdir -p "$system/build"
  cp -r "$folder/$name" "$folder/mtldl_$version.orig.tar.xz" "$system/build/"
  say 'Installing what the packages are built with'
  within "$system" sh -ec "apt-get update -qq; apt-get build-dep -qq -y /build/$name >/dev/null;
                           apt-get install -qq -y lintian >/dev/null"
  say 'Building'
  within "$system" sh -ec "cd /build/$name; dpkg-buildpackage -us -uc -jauto"
  say 'Checking the packages'
  # A first upload to Debian itself would close a request.
  within "$system" lintian --allow-root -I --pedantic --fail-on error,warning \
    --suppress-tags initial-upload-closes-no-bugs \
    "/build/mtldl_$version-1_$(dpkg --print-architecture).changes"
  find "$folder" -maxdepth 1 -name '*.deb' -delete
  cp "$system"/build/mtldl_* "$system"/build/*.deb "$folder/"
  leave_system "$system"
}

# Each test has a system of its own, so that no other test's packages are there.
test_packages () {
  local system=$folder/test-system test failed=()

  make_system test apt
  for test; do
    say "Using the packages: $test"
    enter_system test "$system"
    autopkgtest --quiet --apt-upgrade --test-name="$test" "$folder"/*.deb "$folder/$name/" \
      -- chroot "$system" >"$folder/$test.log" 2>&1 || failed+=("$test")
    leave_system "$system"
  done

  for test in ${failed[@]+"${failed[@]}"}; do
    tail -n 40 "$folder/$test.log"
  done
  say "Of $# tests of the packages, ${#failed[@]} failed ${failed[*]-}"
  (( ${#failed[@]} == 0 ))
}

make_sources
build
if (( $# == 0 )); then
  set -- $(sed -n 's/^Tests: //p' debian/tests/control)
fi
test_packages "$@"
say "The packages are in $folder:"
(cd "$folder" && du -h ./*.deb)

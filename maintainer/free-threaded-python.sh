#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# free-threaded-python.sh FOLDER: builds a Python without its global lock, which no Debian has yet,
# from Debian's source, and installs it in FOLDER with NumPy, pytest and PyGObject.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1
with=$folder/bin/python3
packages=$folder-source

# Debian's servers may have the newest source days after the packages.
fetch_source () {
  local file version
  local options=(-qq -o Dir::Etc::sourcelist="$packages/apt/sources.list"
                 -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root
                 -o Dir::Etc::sourceparts="$packages/apt/parts")

  mkdir -p "$packages/apt/parts"
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true; } \
    | sed -n 's/^deb /deb-src /p' >"$packages/apt/sources.list"
  for file in /etc/apt/sources.list.d/*.sources; do
    if [[ -f $file ]]; then
      sed 's/^Types:.*/Types: deb-src/' "$file" >"$packages/apt/parts/${file##*/}"
    fi
  done

  apt-get "${options[@]}" update && cd "$packages" || return
  for version in 3.14 3.13; do
    if apt-get "${options[@]}" source --download-only "python$version"; then
      tar -x -f "python${version}"_*.orig.tar.xz && cd Python-*
      return
    fi
  done
  return 1
}

if [[ ! -x $with ]]; then
  maintainer/need.sh 'to build Python' make libssl-dev zlib1g-dev libffi-dev libbz2-dev liblzma-dev \
    libgirepository-2.0-dev
  rm -rf "$packages"
  (
    fetch_source \
      && ./configure -q --disable-gil --prefix="$folder" --disable-test-modules \
      && make -s -j "$(getconf _NPROCESSORS_ONLN)" \
      && make -s install
  ) >"$folder.log" 2>&1 || { tail -n 40 "$folder.log"; exit 1; }
  rm -rf "$packages"
fi

# There are no wheels of PyGObject.
pip=("$with" -m pip install --quiet --root-user-action ignore)
"${pip[@]}" --requirement tests/support/newest.txt
"${pip[@]}" --no-build-isolation --no-deps --config-settings=setup-args=-Dpycairo=disabled \
  --config-settings=setup-args=-Dtests=false PyGObject==3.58.1

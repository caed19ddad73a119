#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ./run mac [--without STEP | STEP…]: on a Mac, runs each kind of test on its GPU, which takes about
# an hour, and collects logs, crash reports and figures in build-mac/ for others to read.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${MTL_BUILD_DIR:-$PWD/build}

if [[ $(uname) != Darwin ]]; then
  echo './run mac needs a Mac, because it tests the library on a real Metal device.' >&2
  exit 1
fi

# Homebrew's Python may not be installed yet. Apple's tools have one.
exec python3 maintainer/mac.py --output "$build-mac" --build "$build" \
  --venv "${MTL_VENV_DIR:-$PWD/.venv}" \
  --formulae "$(maintainer/need.sh --print @build @demo @docs)" "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ./run compatibility: tests all of the peers, and rewrites docs/compatibility.md.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
maintainer/need.sh 'to build' @build
exec python3 tests/bindings/peers/run_peers.py write

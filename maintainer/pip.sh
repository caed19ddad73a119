#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pip.sh FOLDER SUITE: makes a source distribution in FOLDER, and installs it in new systems
# with the commands of docs/installation.md: beside the system's PyGObject, with pip's own, and with
# the newest of pip's on a newer suite of Debian. As root, which chroot(8) needs.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/systems.sh"

newer=$1
system=$folder/system
guide=docs/installation.md

# commands_for HEADING: the commands below that heading of the guide, for root.
commands_for () {
  sed -n "/^### $1\$/,/^##/{/^\`\`\`sh\$/,/^\`\`\`\$/{/^\`\`\`/d;s/^sudo //;p;};}" "$guide"
}

# The program of the guide, as an environment needs it.
program () {
  echo 'import mtldl'
  sed -n '/^## The same in four languages/,${/^```python$/,/^```$/{/^```/d;p;};}' "$guide" \
    | sed '/^```/,$d'
  cat <<'END'
import os
from gi.repository import MtlPixbuf, GdkPixbuf
picture = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 4, 3)
assert MtlPixbuf.view_from_pixbuf(picture).shape == (3, 4, 3)
with open('/proc/self/maps') as maps:
    libraries = {line.split()[-1] for line in maps if 'libmtldl' in line}
assert {os.path.dirname(path) for path in libraries} == {os.path.dirname(mtldl.__file__)}
END
}

make_source () {
  say 'Making a source distribution'
  rm -f "$folder"/mtldl-*.tar.gz
  python3 -m build --sdist --outdir "$folder" . >"$folder/source.log" 2>&1 \
    || { tail -n 40 "$folder/source.log"; return 1; }
}

# for_newest: changes the commands for GLib 2.80 and later, as the guide says.
for_newest () {
  sed "s/'PyGObject < 3.51'//; s/apt-get install/& libgirepository-2.0-dev/"
}

# with_bridges: changes the commands for the bridges that the guide names there.
with_bridges () {
  sed 's/apt-get install/& libgstreamer-plugins-base1.0-dev libgtk-4-dev/'
}

# try NAME HEADING [FILTER]: all below is of the one environment that the commands make in the
# system of that name.
try () {
  local before=$SECONDS

  say "$2, $1"
  enter_system "$1" "$system"
  mkdir "$system/mtldl"
  tar -x -f "$folder"/mtldl-*.tar.gz -C "$system/mtldl" --strip-components 1
  program >"$system/program.py"

  take_pip_settings "$system"
  within "$system" env ${pip_settings[@]+"${pip_settings[@]}"} sh -exc "apt-get update -qq
    cd /mtldl
    alias apt-get='apt-get -qq -y --no-install-recommends'
    $(commands_for "$2" | ${3:-cat})
    venv/bin/pip install numpy" >"$folder/log" 2>&1 || { tail -n 60 "$folder/log"; return 1; }
  within "$system" sh -ec '/mtldl/venv/bin/mtldl --version; /mtldl/venv/bin/python /program.py'
  if [[ ${3:-} == with_bridges ]]; then
    within "$system" sh -ec 'cd /mtldl
                             { echo import mtldl; cat debian/tests/bridges; } | venv/bin/python'
  fi
  echo "$((SECONDS - before)) s, $(du -sh "$system/mtldl/venv/" | cut -f 1) in the environment"
  leave_system "$system"
}

make_source
make_system pip apt
make_system "$newer" apt "$newer"
try pip 'With pip'
try pip "With pip's own PyGObject" with_bridges
try "$newer" "With pip's own PyGObject" for_newest
du -h "$folder"/mtldl-*.tar.gz

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# link-vapi.sh FOLDER VAPI PACKAGE…: puts a VAPI that is going to be built, and the
# list of the packages that it needs, where valac finds them if FOLDER is among
# XDG_DATA_DIRS.
set -e

folder=$1/vala/vapi
vapi=$2
name=$(basename "$vapi" .vapi)
shift 2

mkdir -p "$folder"
ln -sf "$vapi" "$folder/$name.vapi"
printf '%s\n' "$@" > "$folder/$name.deps"

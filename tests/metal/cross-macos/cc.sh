#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cc.sh TREE CPU SDK ARGUMENT…: the compiler and linker for macOS, on Linux, with what make-tree.py
# put into TREE. Meson is told that the linker is Apple's, for its options and names. Zig's takes
# most of them, but wants versions of three numbers, and what a library is forced with beside it.
tree=$1 cpu=$2 sdk=$3
shift 3

release=${MTL_MACOS_RELEASE:-12.0}
first=$tree/include/sdk-$sdk.h
links=yes
objc=
is_forced=
for argument; do
  shift
  test -z "$is_forced" || argument=-Wl,-force_load,$argument is_forced=
  case $argument in
    -c | -E | -S | -fsyntax-only) links= ;;
    -) first=/dev/null ;;      # Zig adds no folder of headers then
    --version) cd "$tree" ;;   # where it leaves a file
    Foundation) objc=-lobjc ;; # whose symbols it has, too
    -march=x86-64-v*) argument=-march=x86_64_v${argument#-march=x86-64-v} ;;
    -Wl,-force_load)
      is_forced=yes
      continue
      ;;
    -Wl,-install_name,*)
      argument=$(echo "$argument" | sed -E 's/(_version,[0-9]+[.][0-9]+)(,|$)/\1.0\2/g')
      ;;
    -Wl,--version)
      echo 'ld: unknown option: --version' >&2
      exit 1
      ;;
    -Wl,-v)
      echo '@(#)PROGRAM:ld  PROJECT:ld64-711' >&2
      exit 1
      ;;
  esac
  set -- "$@" "$argument"
done

if test -n "$links"; then
  set -- "$@" -F"$tree/Frameworks" -L"$tree/lib" $objc
fi

export ZIG_GLOBAL_CACHE_DIR="$tree/tools/zig-cache" ZIG_LOCAL_CACHE_DIR="$tree/zig-cache"
exec "$tree/zig" cc -target "$cpu-macos.$release" -fobjc-runtime="macosx-$release" -fblocks \
  -fno-sanitize=undefined -Wunguarded-availability -include "$first" -isystem "$tree/include" "$@"

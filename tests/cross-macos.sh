# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The library as it is on macOS, built on Linux: with Zig's clang and headers of macOS, and with
# libraries of GLib for macOS. Nothing of it runs here. What its code takes for granted of Metal is
# compared with Apple's headers, as PyObjC has them. tests/suite.sh reads this file.

macos=$build-macos

# The versions are fixed, so that a newer one is a changed line.
make_macos_tools () {
  local tools=$venv/macos required=(tests/cross-macos/requirements*.txt)

  install_packages 'to build for macOS' python3-venv
  if cat "${required[@]}" | cmp -s - "$tools/requirements.txt"; then
    return
  fi

  say 'Installing what builds for macOS'
  rm -rf "$tools" "$macos"-*
  "$python" -m venv --system-site-packages "$tools" \
    && "$tools/bin/python" -m pip install --quiet --requirement tests/cross-macos/requirements.txt \
    && "$tools/bin/python" -m pip download --quiet --no-deps --only-binary :all: \
      --platform macosx_10_13_universal2 --python-version 3.13 --abi cp313 --abi abi3 \
      --dest "$tools/wheels" --requirement tests/cross-macos/requirements-macos.txt \
    && cat "${required[@]}" >"$tools/requirements.txt"
}

# build_for_macos CPU SDK INT64 OPTION…
build_for_macos () {
  local folder=$macos-$1 tree=$macos-$1-tree
  "$python" tests/cross-macos/make-tree.py "$tree" "$venv/macos" "$1" "$2" "$3" || return
  shift 3

  configure "$folder" --cross-file "$tree/cross.ini" --werror -Ddebug=false \
      -Dlibdeflate=enabled -Dpixbuf=enabled -Dintrospection=disabled -Dvapi=disabled \
      -Dpython=disabled -Dgjs=disabled "$@" \
    && compile "$folder" all \
      $(ninja -C "$folder" -t targets all | sed -n -E 's/: (c|objc)_LINKER.*//p')
}

# Both processors, both SDKs, both types that gint64 has: the most there are in two builds.
build_all_for_macos () {
  make_macos_tools \
    && build_for_macos aarch64 26 long -Doptimization=1 \
    && build_for_macos x86_64 12 'long long' -Doptimization=0
}

run_macos () {
  build_all_for_macos \
    && MTL_BUILD=$build MTL_MACOS_BUILDS=$macos-aarch64:$macos-x86_64 \
      run_pytest "$venv/macos/bin/python" macos tests/cross-macos
}

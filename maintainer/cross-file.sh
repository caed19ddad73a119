#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cross-file.sh FILE SYSROOT ARCHITECTURE ENDIAN COMPILER…: writes a cross file of meson for another
# architecture of Debian, which qemu plays, and makes the sysroot unless it is there: GLib, what that
# needs, and the locale C.UTF-8, unpacked. Nothing of it is installed.

set -euo pipefail
file=$1 sysroot=$2 architecture=$3 endian=$4
shift 4

machine=$architecture # as qemu and compilers call it
if [[ $architecture == arm64 ]]; then
  machine=aarch64
fi

# The lists of packages that this takes are not the machine's.
make_sysroot () {
  local state=$sysroot-packages package
  local apt=(apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture"
             -o APT::Sandbox::User=root -o Dir::State="$state" -o Dir::Cache="$state"
             -o Dir::State::status="$state/status")

  rm -rf "$state"
  mkdir -p "$state"/{lists,archives}/partial "$state/root"
  touch "$state/status"
  "${apt[@]}" update
  "${apt[@]}" install --yes --no-install-recommends --download-only libglib2.0-dev libc-bin
  for package in "$state"/archives/*.deb; do
    dpkg-deb --extract "$package" "$state/root"
  done
  mv "$state/root" "$sysroot"
  rm -rf "$state"
}

if [[ ! -d $sysroot ]]; then
  make_sysroot
fi
printf -v compiler "'%s', " "$@"
cat >"$file" <<END
[constants]
sysroot = '$sysroot'

[binaries]
c = [$compiler'--sysroot=' + sysroot]
ar = '$machine-linux-gnu-ar'
strip = '$machine-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$machine', '-L', sysroot]

[properties]
sys_root = sysroot
pkg_config_libdir = sysroot / 'usr/lib/$machine-linux-gnu/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = '$endian'
END

# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The library in C on processors that this machine has not: arm64, from a cross
# compiler, and older ones of its own kind. qemu plays them. tests/suite.sh reads
# this file.

emulation_packages=(qemu-user gcc-aarch64-linux-gnu)
sysroot=$build-arm64-sysroot

# Debian has the libraries for arm64 on the same servers.
can_emulate () {
  [[ $(uname -m) == x86_64 ]] && grep -qsx 'ID=debian' /etc/os-release
}

# GLib for arm64, and what it needs, unpacked: nothing of it is installed, and the
# lists of packages that this takes are not the machine's.
make_sysroot () {
  local state=$sysroot-packages package
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
             -o APT::Sandbox::User=root -o Dir::State="$state" -o Dir::Cache="$state"
             -o Dir::State::status="$state/status")

  if [[ -d $sysroot ]]; then
    return
  fi

  rm -rf "$state"
  mkdir -p "$state"/{lists,archives}/partial "$state/root"
  touch "$state/status"
  "${apt[@]}" update \
    && "${apt[@]}" install --yes --no-install-recommends --download-only libglib2.0-dev \
    || return
  for package in "$state"/archives/*.deb; do
    dpkg-deb --extract "$package" "$state/root" || return
  done
  mv "$state/root" "$sysroot"
  rm -rf "$state"
}

# write_cross_file FILE COMPILER…
write_cross_file () {
  local file=$1 compiler
  shift

  printf -v compiler "'%s', " "$@"
  cat >"$file" <<END
[constants]
sysroot = '$sysroot'

[binaries]
c = [$compiler'--sysroot=' + sysroot]
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', sysroot]

[properties]
sys_root = sysroot
pkg_config_libdir = sysroot / 'usr/lib/aarch64-linux-gnu/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
}

# configure_arm64 FOLDER COMPILER…
configure_arm64 () {
  local folder=$1
  shift

  install_packages 'for other processors' "${emulation_packages[@]}"
  make_sysroot \
    && write_cross_file "$folder.ini" "$@" \
    && configure "$folder" --cross-file "$folder.ini" -Dtools=false "${c_alone[@]}"
}

# Macs have clang, other machines GCC. qemu's threads tell nothing of a processor's, and
# files that fail fail alike.
run_arm64_clang () {
  local folder=$build-arm64-clang except

  except=$(unless_deep \
    "^(async|random|shared)-threads\$|-faults\$|^metal-tensor-brute-force\$|$with_best_kernels")
  configure_arm64 "$folder" "$OBJC" --target=aarch64-linux-gnu \
    && run_meson "$folder" arm64-clang $(tests_in_suites "$folder" "$except" c)
}

# What the compiler makes vectors of.
run_arm64_gcc () {
  local folder=$build-arm64-gcc names='^(kernels|convert|strided-(copy|view))'

  configure_arm64 "$folder" aarch64-linux-gnu-gcc \
    && run_meson "$folder" arm64-gcc $(tests_named "$folder" "$names")
}

# run_on_processor NAME KERNELS: those are the best that it has, and nothing takes
# an instruction that it lacks.
run_on_processor () {
  run_meson "$build" "on-$1" --wrapper "qemu-x86_64 -cpu $1" \
    $(tests_named "$build" '^kernels') strided-view-{copy,floats} "strided-copy-$2"
}

run_older_processors () {
  local status=0

  install_packages 'for other processors' "${emulation_packages[@]}"
  run_on_processor core2duo baseline || status=1
  run_on_processor Nehalem sse4 || status=1
  run_on_processor Haswell avx2 || status=1
  return "$status"
}

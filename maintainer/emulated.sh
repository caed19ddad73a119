# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The library in C on processors that this machine has not: arm64 and s390x, from
# cross compilers, and older ones of its own kind. qemu plays them. tests/suite.sh
# reads this file.

emulation_packages=(qemu-user gcc-aarch64-linux-gnu)

# Debian has the libraries for other processors on the same servers.
can_emulate () {
  [[ $(uname -m) == x86_64 ]] && grep -qsx 'ID=debian' /etc/os-release
}

# machine_of ARCHITECTURE: what qemu and compilers call what Debian calls so.
machine_of () {
  case $1 in
    arm64) echo aarch64 ;;
    *) echo "$1" ;;
  esac
}

# make_sysroot ARCHITECTURE: GLib for it, what that needs, and the locale C.UTF-8, unpacked:
# nothing of it is installed, and the lists of packages that this takes are not the machine's.
make_sysroot () {
  local sysroot=$build-$1-sysroot state=$build-$1-sysroot-packages package
  local apt=(apt-get -qq -o APT::Architecture="$1" -o APT::Architectures="$1"
             -o APT::Sandbox::User=root -o Dir::State="$state" -o Dir::Cache="$state"
             -o Dir::State::status="$state/status")

  if [[ -d $sysroot ]]; then
    return
  fi

  rm -rf "$state"
  mkdir -p "$state"/{lists,archives}/partial "$state/root"
  touch "$state/status"
  "${apt[@]}" update \
    && "${apt[@]}" install --yes --no-install-recommends --download-only libglib2.0-dev libc-bin \
    || return
  for package in "$state"/archives/*.deb; do
    dpkg-deb --extract "$package" "$state/root" || return
  done
  mv "$state/root" "$sysroot"
  rm -rf "$state"
}

# write_cross_file FILE ARCHITECTURE ENDIAN COMPILER…
write_cross_file () {
  local file=$1 sysroot=$build-$2-sysroot machine endian=$3 compiler
  machine=$(machine_of "$2")
  shift 3

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
}

# configure_emulated FOLDER ARCHITECTURE ENDIAN COMPILER…
configure_emulated () {
  local folder=$1 architecture=$2
  shift

  make_sysroot "$architecture" \
    && write_cross_file "$folder.ini" "$@" \
    && configure "$folder" --cross-file "$folder.ini" "${c_alone[@]}"
}

# configure_arm64 FOLDER COMPILER…
configure_arm64 () {
  local folder=$1
  shift

  install_packages 'for other processors' "${emulation_packages[@]}"
  configure_emulated "$folder" arm64 little "$@"
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

# write_command FILE ARCHITECTURE: a script that runs the command of that build.
write_command () {
  local folder=$build-$2 machine
  machine=$(machine_of "$2")

  printf '#!/bin/sh\nexec qemu-%s -L %q -E LD_LIBRARY_PATH=%q %q "$@"\n' "$machine" \
    "$folder-sysroot" "$folder/mtldl" "$folder/cli/mtldl" >"$1"
  chmod +x "$1"
}

# Big-endian, unlike all others here. This machine's NumPy knows what is in the files that the
# command reads and writes. qemu itself does not fit into little memory.
run_s390x () {
  local folder=$build-s390x status=0 except='threads$|-faults$|-brute-force$|-exhaustive$'

  except+='|^(statistics|strided-view-copy-scaled)-'
  install_packages 'for other processors' qemu-user gcc-s390x-linux-gnu
  configure_emulated "$folder" s390x big s390x-linux-gnu-gcc || return
  run_meson "$folder" s390x --timeout-multiplier 4 $(tests_in_suites "$folder" "$except" c) \
    || status=1
  compile "$folder" cli/mtldl && write_command "$folder/run-mtldl" s390x \
    && MTLDL_COMMAND=$folder/run-mtldl run_pytest "$python" s390x-command \
      tests/tools/test_{check,cp,ls,show}.py \
      --deselect tests/tools/test_show.py::test_stats_in_little_memory || status=1
  return "$status"
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

# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes new systems of Debian, and runs commands in them, as root. A script reads this file first:
# its first argument is the folder for the systems, which is taken off as $folder. It goes on in the
# root of the source.

# What is mounted is seen by nobody else, and goes with this process.
if [[ ${1:-} != --unshared ]]; then
  exec unshare --mount "$0" --unshared "$@"
fi

mkdir -p "$2"
folder=$(cd "$2" && pwd)
systems=$folder/systems # their archives
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say () {
  printf '\n\033[1m%s\033[0m\n' "$*" >&2
}

# make_system NAME VARIANT [SUITE]: an archive of a new system, from where this one has its
# packages, unless there is one. The suite is this system's, unless it is named.
make_system () {
  local archive=$systems/$1.tar variant=$2 options=() file here suite

  if [[ -f $archive ]]; then
    return
  fi
  here=$(. /etc/os-release && echo "$VERSION_CODENAME")
  suite=${3:-$here}
  say "Making a new system: $suite, $variant"
  mkdir -p "$systems"
  for file in /etc/apt/apt.conf.d/*; do
    if grep -q '^Acquire' "$file"; then
      options+=(--aptopt="$file")
    fi
  done
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
    2>/dev/null || true; } | sed "s/$here/$suite/g" \
    | mmdebstrap --quiet --variant="$variant" ${options[@]+"${options[@]}"} \
      "$suite" "$archive.part.tar" -
  mv "$archive.part.tar" "$archive"
}

# Nothing is removed unless all that was mounted there is gone.
leave_system () {
  trap - EXIT
  umount "$1/dev/pts" && umount "$1/dev/shm" && umount "$1/proc" && rm -rf "$1"
}

# unpack_system NAME FOLDER: the folder is new. The archive has the devices, so that those of this
# system need not be there.
unpack_system () {
  mkdir "$2"
  tar -x -f "$systems/$1.tar" -C "$2"
}

# mount_system FOLDER
mount_system () {
  mount -t proc proc "$1/proc"
  mount -t tmpfs tmpfs "$1/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
}

# enter_system NAME FOLDER: until leave_system FOLDER or the end of the script.
enter_system () {
  unpack_system "$1" "$2"
  mount_system "$2"
  trap "leave_system '$2'" EXIT
}

# within FOLDER COMMAND…: in the system there, with nothing of the environment here.
within () {
  local system=$1
  shift

  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" \
    chroot "$system" "$@"
}

# take_pip_settings FOLDER: sets pip_settings to variables with which pip finds packages in the
# system there where it finds them here.
take_pip_settings () {
  local name

  pip_settings=()
  for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_PROXY http_proxy https_proxy no_proxy; do
    if [[ -n ${!name:-} ]]; then
      pip_settings+=("$name=${!name}")
    fi
  done
  if [[ -n ${PIP_CERT:-} ]]; then
    cp "$PIP_CERT" "$1/root/certificates.pem"
    pip_settings+=(PIP_CERT=/root/certificates.pem)
  fi
}

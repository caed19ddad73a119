#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# need.sh WHY PACKAGE…: installs the packages that are missing, with apt, as root or with sudo, or on
# macOS with Homebrew. @LIST stands for a list from below. `need.sh --print @LIST…` prints lists.

set -euo pipefail

build_packages=(
  gcc libc6-dev meson ninja-build pkg-config
  libglib2.0-dev libdeflate-dev gobject-introspection libgirepository1.0-dev
  python3 python3-dev python3-gi python-gi-dev gettext
  gjs valac
  libgdk-pixbuf-2.0-dev libgtk-4-dev gir1.2-gdkpixbuf-2.0 gir1.2-gtk-4.0
  libgstreamer-plugins-base1.0-dev gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
)
demo_packages=(python3-numpy python-matplotlib-data gstreamer1.0-plugins-base xvfb)
docs_packages=(gi-docgen)
double_packages=(clang libgnustep-base-dev)
test_packages=(g++ gstreamer1.0-plugins-base gstreamer1.0-plugins-good python3-gst-1.0
               python3-gi-cairo python3-numpy python3-pytest python3-pytest-xdist
               python-matplotlib-data git man-db xvfb zsh fish locales clang libgnustep-base-dev
               dbus-daemon libopenmpi-dev openmpi-bin libmpich-dev mpich)
viewer_packages=(xvfb xdotool gir1.2-adw-1 gir1.2-atspi-2.0 at-spi2-core dbus-daemon libglib2.0-bin
                 desktop-file-utils appstream shared-mime-info)

if [[ $(uname) == Darwin ]]; then
  build_packages=(meson ninja pkgconf python3 gettext glib libdeflate gobject-introspection
                  pygobject3 gjs vala gdk-pixbuf gtk4 cairo gstreamer)
  demo_packages=(numpy)
  docs_packages=(gi-docgen)
  double_packages=()
  test_packages=()
  viewer_packages=()
fi

# is_installed PACKAGE
is_installed () {
  if [[ $(uname) == Darwin ]]; then
    brew list --versions "$1" >/dev/null 2>&1
  else
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -qx 'install ok installed'
  fi
}

why=$1
shift
packages=()
for word; do
  list="${word#@}_packages[*]"
  case $word in
    @*) packages+=(${!list-}) ;;
    *) packages+=("$word") ;;
  esac
done
if [[ $why == --print ]]; then
  echo ${packages[@]+"${packages[@]}"}
  exit
fi
if [[ $(uname) != Darwin ]] && ! command -v apt-get >/dev/null; then
  echo "This is neither Debian nor Ubuntu: install the packages needed $why yourself." \
    'docs/installation.md lists them for Fedora and Arch.' >&2
  exit
fi

missing=()
for package in ${packages[@]+"${packages[@]}"}; do
  if ! is_installed "$package"; then
    missing+=("$package")
  fi
done
if (( ${#missing[@]} == 0 )); then
  exit
fi

as_root=()
if [[ $(uname) != Darwin ]] && (( EUID != 0 )); then
  if ! command -v sudo >/dev/null; then
    echo "These packages are needed $why. Install them as root, as there is no sudo here:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
printf '\n\033[1m%s\033[0m\n' "Installing what is needed $why: ${missing[*]}" >&2
if [[ $(uname) == Darwin ]]; then
  HOMEBREW_NO_INSTALL_UPGRADE=1 brew install --quiet "${missing[@]}"
else
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

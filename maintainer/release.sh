#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ./run release VERSION [--without STEP]…: checks the commit that is checked out, and makes all that
# is published of a release in build-release/VERSION, from clones of that commit in
# build-release/work. It publishes nothing.

set -euo pipefail

# The steps, in this order. The versions are always checked.
steps=(versions interface tests build tarball docs packages sdist recipes sums)

recipes=(arch conda fedora flatpak homebrew)
metainfo=viewer/data/org.mtldl.Viewer.metainfo.xml.in.in
zeros=$(printf '0%.0s' {1..64}) # stand for the sum of the tarball

usage () {
  cat >&2 <<EOF
usage: ./run release VERSION [--without STEP]…

The steps are: ${steps[*]}
EOF
  exit 2
}

say () {
  printf '\n\033[1m%s\033[0m\n' "$*" >&2
}

refuse () {
  echo "$*" >&2
  exit 1
}

# is_left_out STEP
is_left_out () {
  [[ " ${left_out[*]-} " == *" $1 "* ]]
}

parse_arguments () {
  version=${1:-}
  left_out=()
  if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
    usage
  fi

  shift
  while (( $# > 0 )); do
    if [[ $1 != --without || " ${steps[*]:1} " != *" ${2:-} "* || -z ${2:-} ]]; then
      usage
    fi
    left_out+=("$2")
    shift 2
  done
}

# --- The versions

# need_version WHERE FOUND
need_version () {
  if [[ $2 != "$version" ]]; then
    refuse "$1 has version “$2”, not $version."
  fi
}

# said_in FILE PATTERN: prints the group in the pattern, of the first line that it matches.
said_in () {
  sed -n -E "\\%$2%{s%$2%\\1%p;q;}" "$1"
}

check_news () {
  local heading dated='^[^ ]+, ([0-9]{4}-[0-9]{2}-[0-9]{2})$'

  heading=$(said_in NEWS.md '^## (.*)')
  need_version 'The first heading of NEWS.md' "${heading%%,*}"
  if [[ ! $heading =~ $dated ]]; then
    refuse "The first heading of NEWS.md has no date: “$heading”. It has to be like" \
      "“$version, 2026-01-31”."
  fi
  release_date=${BASH_REMATCH[1]}
  if [[ ! $(sed '1,/^## /d; /^## /,$d' NEWS.md) =~ [a-z] ]]; then
    refuse "NEWS.md says nothing about $version."
  fi
}

check_metainfo () {
  local released

  released=$(said_in "$metainfo" '.*<release version="([^"]*)".*')
  need_version "$metainfo" "${released/@VERSION@/$version}"
  released=$(said_in "$metainfo" '.*<release .*date="([^"]*)".*')
  if [[ $released != "$release_date" ]]; then
    refuse "$metainfo has the date $released, and NEWS.md $release_date."
  fi
}

check_recipes () {
  local recipe file

  for recipe in "${recipes[@]}"; do
    for file in "packaging/$recipe"/*; do
      if grep -q mtldl.org/releases/ "$file" 2>/dev/null && ! grep -qF "$version" "$file"; then
        refuse "$file does not have the version $version."
      fi
    done
  done
}

step_versions () {
  local file

  need_version meson.build "$(said_in meson.build "^  version: '(.*)',")"
  need_version debian/changelog "$(said_in debian/changelog '^mtldl \((.*)-[^-]*\) .*')"
  check_news
  check_metainfo
  check_recipes
  for file in tests/packaging/abi/*.txt; do
    need_version "$file, which ./run abi writes," \
      "$(said_in "$file" '^# The interface of mtldl ([^,]*),.*')"
  done
  if [[ -n $(git status --porcelain) ]]; then
    refuse 'The tree has changes. What is released is a commit: commit or remove these:' \
      "$(git status --short)"
  fi
}

# --- What is made

# Commands work in a clone, with nothing that the commit does not have. The second one is in a
# folder of another length, to see that this changes nothing.
make_clones () {
  local clone

  folder=${MTL_BUILD_DIR:-build}-release
  unset MTL_BUILD_DIR
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  results=$folder/$version
  source=$folder/work/mtldl
  second=$folder/work/in/another/folder/mtldl
  rm -rf "$folder/work" "$results"
  mkdir -p "$results"
  for clone in "$source" "$second"; do
    git clone --quiet "$PWD" "$clone"
    git -C "$clone" checkout --quiet --detach "$(git rev-parse HEAD)"
  done
}

# in_source COMMAND…
in_source () {
  (cd "$source" && "$@")
}

# in_second COMMAND…: with another umask and time zone, too.
in_second () {
  (cd "$second" && umask 077 && TZ=Asia/Kathmandu "$@")
}

# The interface of an earlier release has to be there, too, if there was one.
step_interface () {
  local previous

  in_source ./run test packaging/abi/test_interface.py
  previous=$(git describe --tags --abbrev=0 --match 'v[0-9]*' --exclude "v$version" 2>/dev/null) \
    || return 0
  say "Comparing the interface with that of $previous"
  git archive "$previous" tests/packaging/abi | tar -x -C "$folder/work"
  in_source ./run exec python3 maintainer/interface.py compare "$folder/work/tests/packaging/abi" \
    "$version" "$source/build/introspection/Mtl-1.gir" "$source"/build/bridges/*.gir
}

step_tests () {
  in_source ./run test --deep
}

build_and_install () {
  meson setup build-release --prefix /usr -Dtests=false -Dexamples=false >/dev/null
  meson compile -C build-release >/dev/null
  DESTDIR=$1 meson install -C build-release --no-rebuild --quiet
}

# Two builds are the same, byte for byte.
step_build () {
  in_source build_and_install "$folder/work/installed"
  in_second build_and_install "$folder/work/installed-again"
  diff -r "$folder/work/installed" "$folder/work/installed-again"
}

# meson dist would write down who made it, and when.
archive_source () {
  git -c tar.umask=0022 archive --prefix "mtldl-$version/" HEAD | xz -T1
}

step_tarball () {
  maintainer/need.sh 'to make a release' xz-utils
  in_source archive_source >"$results/$tarball"
  in_second archive_source | cmp - "$results/$tarball"
}

# The site, where warnings are errors.
step_docs () {
  in_source ./run docs
  python3 - "$results/mtldl-$version-site.tar.xz" "$(git log -1 --format=%ct)" \
    "$source/build/docs/site" <<'EOF'
import os, sys, tarfile

archive, time, folder = sys.argv[1:]


def without_origin(member):
    member.mtime, member.mode = int(time), member.mode | 0o644
    member.uid = member.gid = 0
    member.uname = member.gname = ''
    return member


with tarfile.open(archive, 'w:xz') as file:
    file.add(folder, os.path.basename(folder), filter=without_origin) # sorted by name
EOF
}

# The tests may have made them.
step_packages () {
  local made=$source/build-packages

  if [[ ! -f $made/mtldl_$version.orig.tar.xz ]]; then
    in_source ./run packages
  fi
  mkdir "$results/debian"
  cp "$made"/mtldl_* "$made"/*.deb "$results/debian/"
}

step_sdist () {
  if [[ ! -f pyproject.toml ]]; then
    echo 'There is no pyproject.toml to make one with.'
    return
  fi
  maintainer/need.sh 'to make a source distribution' python3-build python3-venv
  python3 -m build --sdist --outdir "$results" "$source"
}

sum_of () {
  python3 -c 'import hashlib, sys
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        print(f"{hashlib.sha256(file.read()).hexdigest()}  {path}")' "$@"
}

# They have zeros for the sum of the tarball.
step_recipes () {
  local recipe file sum

  if [[ ! -f $results/$tarball ]]; then
    refuse 'The recipes have the sum of the tarball: they need the step “tarball”.'
  fi
  sum=$(sum_of "$results/$tarball")
  for recipe in "${recipes[@]}"; do
    for file in "packaging/$recipe"/*; do
      if [[ -f $file ]]; then
        mkdir -p "$results/recipes/$recipe"
        sed "s/$zeros/${sum%% *}/" "$file" >"$results/recipes/$recipe/${file##*/}"
      fi
    done
  done
}

step_sums () {
  (cd "$results" && find . -type f ! -name SHA256SUMS | sed 's|^[.]/||' | LC_ALL=C sort \
    | while read -r file; do sum_of "$file"; done >SHA256SUMS)
}

# --- All

run_steps () {
  local step

  for step in "${steps[@]:1}"; do
    if ! is_left_out "$step"; then
      say "Step “$step”"
      "step_$step"
    fi
  done
}

say_what_is_left () {
  cat <<EOF

$results has what is to be published of $(git log -1 --format='%h (%s)').
EOF
  if (( ${#left_out[@]} > 0 )); then
    echo "This is not a release, as these steps were left out: ${left_out[*]}"
    return
  fi

  cat <<EOF
What is left to do, by a person:

1. See that maintainers@mtldl.org and mtldl.org are yours, or replace them, and begin again.
2. Sign the tarball and the tag, and push the tag:
     gpg --armor --detach-sign $results/$tarball
     git tag --sign v$version $(git rev-parse HEAD) && git push origin v$version
3. Upload the tarball, its signature, the source distribution, if there is one, and SHA256SUMS;
   unpack the site where the website is.
4. Sign the Debian packages with debsign, and upload them with dput.
5. Submit recipes/, which have the sum of the tarball, to each distribution.
6. Announce what NEWS.md says.
7. Begin the next version, in meson.build, debian/changelog, NEWS.md and the recipes.
EOF
}

main () {
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  parse_arguments "$@"
  tarball=mtldl-$version.tar.xz
  say 'Step “versions”'
  step_versions
  make_clones
  run_steps
  if (( EUID == 0 )); then
    chown -hR "${SUDO_UID:-0}:${SUDO_GID:-0}" "$folder"
  fi
  say_what_is_left
}

main "$@"

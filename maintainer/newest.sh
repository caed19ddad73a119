# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The newest of what Python has, which no Debian has yet: NumPy, and a Python without its global
# lock. tests/suite.sh reads this file.

newest_venv=$build-newest-venv
free_threaded=$build-free-threaded-python

# Older ones are tested elsewhere.
has_new_python () {
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 14))'
}

# Runs what depends on NumPy's version. Element types that are registered with NumPy pass DLPack.
run_newest_numpy () {
  local status=0

  install_packages 'for the newest NumPy' python3-venv
  "$python" -m venv --system-site-packages "$newest_venv" \
    && "$newest_venv/bin/python" -m pip install --quiet --requirement tests/python/newest.txt \
    && build_for_pytest "$build" || return
  run_pytest "$newest_venv/bin/python" newest tests/python --ignore tests/python/test_torch.py \
    --ignore tests/python/test_torch_video.py --ignore tests/python/test_mpi.py \
    --ignore tests/python/test_hints.py || status=1
  run_pytest "$newest_venv/bin/python" newest-peers tests/peers/test_{numpy,ml_dtypes}.py \
    || status=1
  return "$status"
}

# Prints the folder of the source of the newest Python whose source Debian's servers have, which
# may be days behind its packages.
fetch_python_source () {
  local folder=$1 file version
  local options=(-qq -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o APT::Get::List-Cleanup=0
                 -o Dir::Etc::sourceparts="$folder/apt/parts" -o APT::Sandbox::User=root)

  mkdir -p "$folder/apt/parts"
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true; } \
    | sed -n 's/^deb /deb-src /p' >"$folder/apt/sources.list"
  for file in /etc/apt/sources.list.d/*.sources; do
    if [[ -f $file ]]; then
      sed 's/^Types:.*/Types: deb-src/' "$file" >"$folder/apt/parts/${file##*/}"
    fi
  done

  apt-get "${options[@]}" update >&2 || return
  for version in 3.14 3.13; do
    if (cd "$folder" && apt-get "${options[@]}" source --download-only "python$version") >&2; then
      tar -x -f "$folder/python${version}"_*.orig.tar.xz -C "$folder" || return
      ls -d "$folder"/Python-*
      return
    fi
  done
  return 1
}

# Installs it below $free_threaded, with PyGObject, which has no wheels.
make_free_threaded_python () {
  local source
  local with=$free_threaded/bin/python3

  if [[ ! -x $with ]]; then
    rm -rf "$free_threaded-source"
    source=$(fetch_python_source "$free_threaded-source") || return
    say "Building ${source##*/}"
    (cd "$source" && ./configure -q --disable-gil --prefix="$free_threaded" \
       --disable-test-modules && make -s -j "$jobs" && make -s install) \
      >"$free_threaded.log" 2>&1 || { tail -n 40 "$free_threaded.log"; return 1; }
    rm -rf "$free_threaded-source"
  fi
  "$with" -m pip install --quiet --root-user-action ignore --requirement tests/python/newest.txt \
    && "$with" -m pip install --quiet --root-user-action ignore --no-build-isolation --no-deps \
      --config-settings=setup-args=-Dpycairo=disabled \
      --config-settings=setup-args=-Dtests=false PyGObject==3.58.1
}

# run_pytest_with_gil 0|1 ARGUMENT…
run_pytest_with_gil () {
  local gil=$1
  shift

  PYTHON_GIL=$gil run_pytest "$@"
}

# PyGObject turns the lock on when it is imported, with a warning that 1 does without. Without the
# lock, only what the compiled module does itself is tested, between threads.
run_free_threaded () {
  local folder=$build-free-threaded status=0
  local python=$free_threaded/bin/python3

  install_packages 'to build Python' make libssl-dev zlib1g-dev libffi-dev libbz2-dev liblzma-dev \
    libgirepository-2.0-dev
  make_free_threaded_python || return
  configure "$folder" -Dkernels=portable -Dexamples=false -Dgst=disabled -Dgtk=disabled \
    -Dpixbuf=disabled -Dgjs=disabled -Dvapi=disabled -Dviewer=disabled \
    && build_for_pytest "$folder" || return
  in_build "$folder" run_pytest_with_gil 1 "$python" free-threaded tests/python \
    --ignore tests/python/test_torch.py --ignore tests/python/test_torch_video.py \
    --ignore tests/python/test_mpi.py --ignore tests/python/test_hints.py || status=1
  in_build "$folder" run_pytest_with_gil 0 "$python" without-gil tests/python/test_threads.py \
    || status=1
  return "$status"
}

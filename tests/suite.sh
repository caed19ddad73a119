# SPDX-License-Identifier: LGPL-2.1-or-later
#
# All tests, one step after the other; `./run test` reads this file. A step
# that fails does not stop the others. Each leaves a JUnit file, and the end
# adds them up.

reports=$build/reports
sanitize=$build-sanitize
failed_steps=()
rm -rf "$reports"
mkdir -p "$reports"

# step NAME COMMAND…
step () {
  local name=$1
  shift

  say "$name"
  if ! "$@"; then
    failed_steps+=("$name")
  fi
}

run_meson () {
  local folder=$1 report=$2
  shift 2

  local status=0
  meson test -C "$folder" --no-rebuild --num-processes "$jobs" --print-errorlogs "$@" \
    | grep -v -E '^(Entering|ninja:|Full log|Ok:|Expected|Fail: +0|Unexpected|Skipped: +0|Timeout: +0|$)' || status=${PIPESTATUS[0]}
  cp "$folder"/meson-logs/testlog*.junit.xml "$reports/$report.xml"
  rm -f "$folder"/meson-logs/testlog*.junit.xml
  return "$status"
}

run_pytest () {
  local with=$1 report=$2
  shift 2

  "$with" -m pytest -q -rs -p no:cacheprovider --junitxml "$reports/$report.xml" "$@"
}

# Every public function is reached from C and Python; the programs in the other
# languages check that of themselves.
check_reach () {
  "$python" tests/reach.py "$build/introspection/Mtl-1.gir"
}

# Sanitizers need no more than the library in C and its tests.
c_alone=(-Db_lundef=false -Dintrospection=disabled -Dvapi=disabled -Dpython=disabled
         -Dgjs=disabled -Dpixbuf=disabled -Dexamples=false)

build_sanitized () {
  configure "$sanitize" -Db_sanitize=address,undefined "${c_alone[@]}"
  compile "$sanitize"
}

run_sanitized () {
  build_sanitized && \
  ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    run_meson "$sanitize" sanitized --suite c
}

# What runs threads, in a build that looks for races.
run_races () {
  local folder=$build-races

  configure "$folder" -Db_sanitize=thread "${c_alone[@]}"
  compile "$folder"
  run_meson "$folder" races threads
}

run_valgrind () {
  run_meson "$build" valgrind --suite c --timeout-multiplier 20 --wrapper \
    "valgrind -q --leak-check=full --show-leak-kinds=definite,indirect
     --errors-for-leak-kinds=definite --error-exitcode=9
     --suppressions=/usr/share/glib-2.0/valgrind/glib.supp"
}

run_python_valgrind () {
  "$python" tests/python/run_valgrind.py
}

# The reference has to build without a complaint.
build_reference () {
  local folder=$build-docs

  configure "$folder" -Ddocs=enabled -Dtests=false -Dexamples=false
  compile "$folder"
}

step 'C, JavaScript, Vala, examples, README, installation' run_meson "$build" meson --no-suite python
step "Python with the system's NumPy" run_pytest "$python" python-system \
  --ignore tests/python/test_torch.py tests/python
step 'Python with the pinned peers' run_pytest "$venv/bin/python" python-venv tests/python
step 'Every function from C and Python' check_reach
step 'C under AddressSanitizer and UndefinedBehaviorSanitizer' run_sanitized
step 'C under ThreadSanitizer' run_races
step 'C under valgrind' run_valgrind
step 'Python under valgrind' run_python_valgrind
step 'The reference' build_reference

say 'All together'
"$python" tests/summary.py "${#failed_steps[@]}" "$reports"/*.xml || failed_steps+=('summary')
if (( ${#failed_steps[@]} > 0 )); then
  exit 1
fi

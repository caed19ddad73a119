# SPDX-License-Identifier: LGPL-2.1-or-later
#
# All tests, one step after the other; `./run test` reads this file. A step
# that fails does not stop the others. Each leaves a JUnit file, and the end
# adds them up.

reports=$build/reports
failed_steps=()
rm -rf "$reports"
mkdir -p "$reports"

# step NAME COMMAND…
step () {
  local name=$1 begin=$SECONDS
  shift

  say "$name"
  if ! "$@"; then
    failed_steps+=("$name")
  fi
  echo "$((SECONDS - begin)) s"
}

run_meson () {
  local folder=$1 report=$2
  shift 2

  local status=0
  rm -f "$folder"/meson-logs/testlog*.junit.xml
  meson test -C "$folder" --no-rebuild --num-processes "$jobs" --print-errorlogs "$@" \
    | grep -v -E '^(Entering|ninja:|Full log|Ok:|Expected|Fail: +0|Unexpected|Skipped: +0|Timeout: +0|$)' || status=${PIPESTATUS[0]}
  cp "$folder"/meson-logs/testlog*.junit.xml "$reports/$report.xml"
  return "$status"
}

run_pytest () {
  local with=$1 report=$2
  shift 2

  "$with" -m pytest -q -rs -p no:cacheprovider --junitxml "$reports/$report.xml" "$@"
}

# A million random layouts, copies and conversions each, as far as a minute goes.
run_python_peers () {
  MTL_TEST_CASES=1000000 run_pytest "$venv/bin/python" python-venv tests/python
}

# Copies and conversions with kernels other than this machine's best.
run_python_kernels () {
  MTL_KERNELS=$1 MTL_TEST_CASES=200000 run_pytest "$venv/bin/python" "python-$1" \
    tests/python/test_{convert,random_copies,random_conversions}.py
}

# What files say of their tensors, against safetensors, NumPy and Python's own readers.
run_files () {
  run_pytest "$venv/bin/python" files tests/files
}

# The command, against the same.
run_tools () {
  run_pytest "$venv/bin/python" tools tests/tools
}

check_compatibility () {
  "$python" tests/peers/compatibility.py check "$build/peers" docs/compatibility.md
}

# Every public function is reached from C and Python; the programs in the other
# languages check that of themselves.
check_reach () {
  "$python" tests/reach.py "$build/introspection/Mtl-1.gir"
}

# in_build FOLDER COMMAND…
in_build () {
  local folder=$1
  shift

  (enter_build "$folder" && "$@")
}

metal=$build-metal

build_metal () {
  configure_metal && compile "$metal"
}

run_metal () {
  build_metal && run_meson "$metal" metal --suite metal --suite c-on-device
}

# All but what chooses its own device, or an installation, where the double is not.
run_on_device () {
  METAL_DOUBLE=$1 run_meson "$metal" "on-$1" --no-suite metal --no-suite c-on-device \
    --no-suite python --no-suite install
}

run_python_on_device () {
  METAL_DOUBLE=$1 in_build "$metal" run_pytest "$2" "python-on-$1" "${@:3}" \
    --ignore tests/python/test_hints.py --ignore tests/python/test_mpi.py
}

run_on_private () {
  MTL_TEST_STORAGE_MODE=private METAL_DOUBLE=discrete run_meson "$metal" on-private \
    --suite any-memory --no-suite python
}

run_python_on_private () {
  MTL_TEST_STORAGE_MODE=private METAL_DOUBLE=discrete in_build "$metal" \
    run_pytest "$venv/bin/python" python-on-private tests/python
}

# configure_sanitized FOLDER SANITIZERS: one compiler for C and Objective-C. GLib
# calls functions by other types than theirs.
configure_sanitized () {
  CC=$OBJC configure "$1" -Db_sanitize="$2" -Db_lundef=false -Dmetal=double \
    -Dc_args=-fno-sanitize=function -Dobjc_args=-fno-sanitize=function "${c_alone[@]}" \
    && compile "$1"
}

run_sanitized () {
  local folder=$build-sanitize

  configure_sanitized "$folder" address,undefined \
    && run_meson "$folder" sanitized --suite c --suite c-on-device --suite metal
}

# What runs threads, also those of files, in a build that looks for races.
run_races () {
  local folder=$build-races

  configure_sanitized "$folder" thread \
    && run_meson "$folder" races $(tests_named "$folder" 'threads|tensor-file')
}

# tests_named FOLDER PATTERN: those whose name matches.
tests_named () {
  meson test -C "$1" --no-rebuild --list | sed -n -E "s|.* / ||; /$2/p"
}

# run_valgrind FOLDER REPORT ARGUMENT…
run_valgrind () {
  local folder=$1 report=$2
  shift 2

  run_meson "$folder" "$report" --timeout-multiplier 20 --wrapper \
    "valgrind -q --leak-check=full --show-leak-kinds=definite,indirect
     --errors-for-leak-kinds=definite --error-exitcode=9
     --suppressions=/usr/share/glib-2.0/valgrind/glib.supp
     --suppressions=$root/tests/metal-double/valgrind.supp" "$@"
}

run_python_valgrind () {
  "$python" tests/python/run_valgrind.py
}

. tests/emulated.sh

# The reference has to build without a complaint.
build_reference () {
  local folder=$build-docs

  configure "$folder" -Ddocs=enabled -Dtests=false -Dexamples=false \
    && compile "$folder"
}

step 'C, JavaScript, Vala, examples, README, installation' run_meson "$build" meson --no-suite python
if [[ $(uname) == Linux ]]; then
  step "Python with the system's NumPy" run_pytest "$python" python-system \
    --ignore tests/python/test_torch.py --ignore tests/python/test_mpi.py \
    --ignore tests/python/test_hints.py --ignore tests/python/test_small_floats.py \
    --ignore tests/python/test_convert.py --ignore tests/python/test_random_conversions.py \
    tests/python
fi
step 'Python with the pinned peers' run_python_peers
for set in plain baseline avx2; do
  step "Copies and conversions with $set kernels" run_python_kernels "$set"
done
step 'Files' run_files
step 'The peers' run_peers
step 'Every function from C and Python' check_reach
if [[ $(uname) == Linux ]]; then
  step 'The command' run_tools
  step 'The table of what works with which peer' check_compatibility
  step 'The Metal device, over the double' run_metal
  for device in unified discrete; do
    step "C, JavaScript, Vala, examples, README on a $device device" run_on_device "$device"
    step "Python with the pinned peers on a $device device" run_python_on_device "$device" \
      "$venv/bin/python" tests/python
  done
  step 'JavaScript and Vala on Private memory' run_on_private
  step 'Python on Private memory' run_python_on_private
  step 'C under AddressSanitizer and UndefinedBehaviorSanitizer' run_sanitized
  step 'C under ThreadSanitizer' run_races
  step 'C under valgrind' run_valgrind "$build" valgrind --suite c
  step 'The Metal device under valgrind' run_valgrind "$metal" metal-valgrind \
    $(tests_named "$metal" '^metal-.*-free$')
  step 'Python under valgrind' run_python_valgrind
  step 'Mutants' run_mutants "$reports/mutants.xml"
  step 'Coverage' run_coverage
  step 'Fuzzing, a minute each' run_fuzz 60
else
  say 'Left out: the command, the double of Metal, sanitizers over it, mutants, coverage,' \
    'fuzzing, valgrind'
  echo 'They are for Linux. What is above ran with the Metal device of this machine.'
fi
if can_emulate; then
  install_packages 'for other processors' "${emulation_packages[@]}"
  step 'C on arm64, from clang' run_arm64_clang
  step 'Copies and conversions on arm64, from GCC' run_arm64_gcc
  step 'Copies and conversions on older processors' run_older_processors
else
  say 'Left out: arm64 and older processors, which qemu plays on Debian, on x86-64'
fi
step 'The reference' build_reference

say 'All together'
status=$(( ${#failed_steps[@]} > 0 ))
"$python" tests/summary.py "${failed_steps[@]}" -- "$reports"/*.xml || status=1
exit "$status"

# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tests, in three tiers, as listed in tests/README.md. `./run test` sources this file.
# First all steps are planned, then the selected ones run one after the other. If a step
# fails, the others still run. Each writes a JUnit file, and the end adds these up.

reports=$build/reports
metal=$build-metal

# --- The plan

tier=quick
areas=()    # the requested areas; if there are none, all
requests=() # the requested tests, files and folders

quick=1
all=2
deep=3

step_tiers=()
step_areas=()
step_names=()
step_commands=()
wanted=() # the indexes of the steps to run

# plan TIER AREAS NAME COMMAND: adds a step. Each tier includes the steps of those before it.
# AREAS and COMMAND are separated by spaces.
plan () {
  step_tiers+=("${!1}")
  step_areas+=("$2")
  step_names+=("$3")
  step_commands+=("$4")
}

# has_word WORDS WORD
has_word () {
  [[ " $1 " == *" $2 "* ]]
}

known_areas () {
  printf '%s\n' ${step_areas[@]+"${step_areas[@]}"} | tr ' ' '\n' | grep -v -x build | sort -u \
    | tr '\n' ' '
}

# Prints the steps of an area up to the tier. If there are none, those up to its first tier.
areas_steps () {
  local area=$1 i last=${!tier} first=$deep

  for i in "${!step_names[@]}"; do
    if has_word "${step_areas[i]}" "$area" && (( step_tiers[i] < first )); then
      first=${step_tiers[i]}
    fi
  done
  for i in "${!step_names[@]}"; do
    if has_word "${step_areas[i]}" "$area" \
        && (( step_tiers[i] <= (first > last ? first : last) )); then
      echo "$i"
    fi
  done
}

choose_steps () {
  local area i

  if (( ${#areas[@]} == 0 )); then
    for i in "${!step_names[@]}"; do
      if (( step_tiers[i] <= ${!tier} )); then
        wanted+=("$i")
      fi
    done
  else
    wanted=($(for area in build "${areas[@]}"; do areas_steps "$area"; done | sort -n -u))
  fi
}

# --- The parts of steps

run_meson () {
  local folder=$1 report=$2
  shift 2

  local status=0
  rm -f "$folder"/meson-logs/testlog*.{json,junit.xml}
  meson test -C "$folder" --num-processes "$jobs" --print-errorlogs "$@" \
    | grep -v -E '^(Entering|ninja:|\[[0-9]+/[0-9]+\]|Full log|Ok:|Expected|Fail: +0|Unexpected|Skipped: +0|Timeout: +0|$)' \
    || status=${PIPESTATUS[0]}
  cp "$folder"/meson-logs/testlog*.junit.xml "$reports/$report.xml" || status=1
  cp "$folder"/meson-logs/testlog*.json "$reports/$report.json" || status=1
  return "$status"
}

# run_pytest PYTHON REPORT ARGUMENT…: runs the tests in parallel, on all processors.
run_pytest () {
  local with=$1 report=$2
  shift 2

  "$with" -m pytest -q -rs -p no:cacheprovider -n "$jobs" --junitxml "$reports/$report.xml" "$@"
}

# unless_deep PATTERN: prints the pattern of the tests that a variant leaves out. The tier deep
# leaves out none.
unless_deep () {
  if [[ $tier != deep ]]; then
    echo "$1"
  fi
}

# tests_in_suites FOLDER EXCEPT SUITE…: lists the tests in the suites, except those whose name
# matches EXCEPT.
tests_in_suites () {
  local folder=$1 except=$2
  shift 2

  meson test -C "$folder" --no-rebuild --list "${@/#/--suite=}" \
    | sed -n -E "s|.* / ||; ${except:+/$except/d;} p"
}

# tests_named FOLDER PATTERN [EXCEPT]: lists the tests whose name matches PATTERN, but not EXCEPT.
tests_named () {
  meson test -C "$1" --no-rebuild --list \
    | sed -n -E "s|.* / ||; ${3:+/$3/d;} /$2/p"
}

# Builds everything that the tests in pytest need.
build_for_pytest () {
  compile "$1" && compile "$1" for-pytest
}

# Runs up to a million random cases, as many as the tier's seconds allow.
many_cases () {
  MTL_TEST_CASES=1000000 "$@"
}

# --- The library, built with GCC for this machine

# Runs the suites of meson that belong to each area.
run_languages () {
  local suites=(structure c native gjs vala pixbuf gst gtk examples viewer readme) suite pair area
  local arguments=()

  if (( ${#areas[@]} > 0 )); then
    suites=()
    for pair in c:structure c:c c:native gjs:gjs vala:vala pixbuf:pixbuf gst:gst gtk:gtk \
        examples:examples viewer:viewer docs:readme; do
      for area in "${areas[@]}"; do
        if [[ ${pair%:*} == "$area" ]]; then
          suites+=("${pair#*:}")
        fi
      done
    done
  fi
  for suite in ${suites[@]+"${suites[@]}"}; do
    arguments+=(--suite "$suite")
  done
  run_meson "$build" languages ${arguments[@]+"${arguments[@]}"}
}

# Builds the reference, and checks what is on its pages, how it is searched and installed.
run_reference () {
  build_reference && run_meson "$build" reference --suite site
}

# Reads the site in Chromium, by the rules of accessibility that the pinned package has.
run_site_browser () {
  local tools=$venv/site required=tests/docs/requirements.txt

  install_packages 'to read the site' chromium python3-venv
  if ! cmp -s "$required" "$tools/requirements.txt"; then
    "$python" -m venv --system-site-packages "$tools" \
      && "$tools/bin/python" -m pip install --quiet --no-deps --requirement "$required" \
      && cp "$required" "$tools/requirements.txt" \
      || return
  fi
  build_reference \
    && MTL_SITE=$build/docs/site run_pytest "$tools/bin/python" site tests/docs/test_browser.py
}

run_install () {
  run_meson "$build" install --suite install
}

# Runs the tests that do not need the pinned peers.
run_python_system () {
  build_for_pytest "$build" \
    && run_pytest "$python" python-system tests/python \
      --ignore tests/python/test_torch.py --ignore tests/python/test_mpi.py \
      --ignore tests/python/test_torch_video.py \
      --ignore tests/python/test_hints.py --ignore tests/python/test_small_floats.py \
      --ignore tests/python/test_small_integers.py --ignore tests/python/test_convert.py \
      --ignore tests/python/test_random_conversions.py
}

run_python_peers () {
  make_venv && build_for_pytest "$build" \
    && many_cases run_pytest "$venv/bin/python" python-venv tests/python
}

# Plays random programs on views, a million operations, however long it takes.
run_python_programs () {
  make_venv && build_for_pytest "$build" || return
  MTL_TEST_SECONDS=1200 many_cases run_pytest "$venv/bin/python" python-programs \
    tests/python/test_random_programs.py
}

# Tests copies and conversions with kernels other than the best ones for this machine.
run_python_kernels () {
  make_venv && build_for_pytest "$build" || return
  MTL_KERNELS=$1 many_cases run_pytest "$venv/bin/python" "python-$1" \
    tests/python/test_{random_copies,random_conversions}.py \
    $([[ $tier == deep ]] && echo tests/python/test_convert.py)
}

# Compares how files are read with safetensors, NumPy and Python's own readers.
run_files () {
  make_venv && build_for_pytest "$build" \
    && run_pytest "$venv/bin/python" files tests/files
}

# Tests the command with the system's Python, without the comparison with safetensors.
run_tools () {
  build_for_pytest "$build" \
    && run_pytest "$python" tools tests/tools --ignore tests/tools/test_peers.py
}

run_tools_peers () {
  make_venv && run_pytest "$venv/bin/python" tools-peers tests/tools/test_peers.py
}

run_peers_of_table () {
  make_venv && build_for_pytest "$build" && run_peers
}

check_compatibility () {
  "$python" tests/peers/compatibility.py check "$build/peers" docs/compatibility.md
}

# Checks that tests call every public function from C and Python. The tests in the other
# languages check that themselves.
check_reach () {
  "$python" tests/reach.py "$build/introspection/Mtl-1.gir" "$build"/bridges/Mtl{Gst,Gtk,Pixbuf}-1.gir
}

# Builds and tests the release of what is committed, in a new system.
run_tarball () {
  local status=0

  install_packages 'to make a new system' git mmdebstrap
  rm -rf "$build/meson-dist"
  meson dist -C "$build" --no-tests --formats xztar || return
  maintainer/tarball.sh "$build-packages" "$build"/meson-dist/*.tar.xz "${build_packages[@]}" \
    git man-db python3-numpy python3-pytest || status=$?
  give_to_caller "$build-packages"
  return "$status"
}

run_pip () {
  local status=0

  install_packages 'to make packages' git mmdebstrap python3-build python3-venv
  maintainer/pip.sh "$build-pip" trixie || status=$?
  give_to_caller "$build-pip"
  return "$status"
}

# Installs the tests, and runs them with nothing of the tree, which no installed file may name.
run_installed_tests () {
  local folder=$build-installed-tests prefix status=0

  install_packages 'to run installed tests' gnome-desktop-testing
  prefix=$(mktemp -d)
  configure "$folder" --libdir lib -Dkernels=portable -Dexamples=false -Dinstalled_tests=true \
    -Dpython_overrides_dir=lib/python/gi/overrides \
    && meson configure "$folder" -Dprefix="$prefix" && compile "$folder" \
    && meson install -C "$folder" --no-rebuild --quiet || return

  if grep -r -l -F "$root" "$prefix"; then
    echo 'These installed files name the tree' >&2
    status=1
  fi
  env -i -C / PATH="$PATH" HOME="$HOME" LC_ALL=C.UTF-8 LD_LIBRARY_PATH="$prefix/lib" \
    GI_TYPELIB_PATH="$prefix/lib/girepository-1.0" PYTHONPATH="$prefix/lib/python" \
    XDG_DATA_DIRS="$prefix/share:/usr/share" \
    gnome-desktop-testing-runner --parallel="$jobs" --timeout=900 -d "$prefix/share" mtldl-1 \
    || status=1
  rm -rf "$prefix"
  return "$status"
}

# Runs the examples in other languages.
run_other_languages () {
  install_packages 'for other languages' lua5.3 lua-lgi ruby ruby-gio2 \
    libglib-object-introspection-perl gir-to-d ldc libglibd-2.0-dev
  run_pytest "$python" languages tests/languages
}

# run_newer_debian SUITE [AREA…]: runs the tests for every change, or those of the areas, in a
# system that has newer versions of everything.
run_newer_debian () {
  local suite=$1 status=0 report
  local folder=$build-$suite
  shift

  install_packages 'to make another system' git mmdebstrap
  maintainer/other-debian.sh "$folder" "$suite" "$@" || status=1
  give_to_caller "$folder"
  for report in "$folder"/reports/*; do
    cp "$report" "$reports/$suite-${report##*/}" || status=1
  done
  return "$status"
}

# Checks the workflows that run elsewhere.
check_workflows () {
  make_venv && run_pytest "$venv/bin/python" workflows tests/mac/test_workflows.py
}

# --- The Metal device, over the double

build_metal () {
  configure_metal && compile "$metal"
}

run_metal () {
  build_metal && run_meson "$metal" metal --suite structure --suite metal --suite c-on-device
}

# Runs the tests of the Metal device that need no double, on the device of this machine.
run_metal_itself () {
  compile "$build" && run_meson "$build" metal --suite metal
}

# Repeats the tests whose results may depend on the device, in its memory.
run_on_device () {
  local suites=(--suite any-device --suite gjs --suite vala --suite pixbuf --suite gst --suite gtk
                --suite readme)

  if [[ $1 == unified || $tier == deep ]]; then
    suites+=(--suite examples)
  fi
  if [[ $tier == deep ]]; then
    suites+=(--suite c --suite native)
  fi
  build_metal && METAL_DOUBLE=$1 run_meson "$metal" "on-$1" --no-suite metal "${suites[@]}"
}

# The tests in tests/python that always make tensors in host memory.
python_on_host=(buffer_formats convert damaged_files fork hints mpi no_memory random_benchmark
                random_copies
                random_conversions random_peers small_floats small_integers)

run_python_on_device () {
  local ignored=(--ignore tests/python/test_hints.py --ignore tests/python/test_mpi.py) name

  if [[ $tier != deep ]]; then
    for name in "${python_on_host[@]}"; do
      ignored+=(--ignore "tests/python/test_$name.py")
    done
  fi
  make_venv && build_metal && build_for_pytest "$metal" || return
  METAL_DOUBLE=$1 in_build "$metal" run_pytest "$venv/bin/python" "python-on-$1" tests/python \
    "${ignored[@]}"
}

run_on_private () {
  build_metal && MTL_TEST_STORAGE_MODE=private METAL_DOUBLE=discrete run_meson "$metal" on-private \
    --suite any-memory --no-suite python
}

run_python_on_private () {
  make_venv && build_metal && build_for_pytest "$metal" || return
  MTL_TEST_STORAGE_MODE=private METAL_DOUBLE=discrete in_build "$metal" \
    run_pytest "$venv/bin/python" python-on-private tests/python
}

# --- Instruments

# Tests of the machine's best kernels, which others run by their name.
with_best_kernels='^(statistics|strided-view-copy-scaled)$'

# What draws on a screen finds leaks of drivers.
on_screen=-screen

# Tests one device and storage mode that the host can access, and the one that takes the most
# steps to access. The tier deep tests all.
run_sanitized () {
  local except

  except=$(unless_deep \
    "-(unified-(managed|private)|discrete-(shared|managed))\$|$with_best_kernels|")
  configure_sanitized \
    && run_meson "$build-sanitized" sanitized \
      $(tests_in_suites "$build-sanitized" "$except$on_screen" \
        c c-on-device gst gtk metal-free metal-double \
        $([[ $tier == deep ]] && echo metal))
}

# run_pytest_sanitized ARGUMENT…: Python is not instrumented, so the sanitizer is loaded before it,
# and looks for no leaks, as Python has some.
run_pytest_sanitized () {
  local runtime

  runtime=$("$OBJC" -print-file-name="libclang_rt.asan-$(uname -m).so")
  MTL_TEST_CASES=100000 PYTHONMALLOC=malloc G_SLICE=always-malloc LD_PRELOAD=$runtime \
    ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0 \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    run_pytest "$python" python-sanitized "$@"
}

# Tests what peers give and take in Python. The GIR is that of the ordinary build.
run_python_sanitized () {
  configure_sanitized && build_for_pytest "$build-sanitized" || return
  in_build "$build-sanitized" run_pytest_sanitized \
    tests/python/test_{random_peers,exchange_api,exchange_consumer,exchange_import}.py \
    tests/python/test_dlpack_{export,import,read_only,streams}.py \
    tests/python/test_{buffer,buffer_flags,buffer_formats,buffer_protocol}.py
}

# Runs the tests that use threads, including those for files, in a build that detects races.
# On devices, it uses the memory that takes the most steps to access.
run_races () {
  local folder=$build-races except

  except=$(unless_deep 'unified-|-(shared|managed)$|-free$')
  configure_instrumented "$folder" thread '' -Dkernels=portable -Dgst=enabled \
    && run_meson "$folder" races $(tests_named "$folder" 'threads|tensor-file' "$except")
}

# run_valgrind FOLDER REPORT ARGUMENT…
run_valgrind () {
  local folder=$1 report=$2
  shift 2

  install_packages 'to look for leaks' valgrind
  run_meson "$folder" "$report" --timeout-multiplier 20 --wrapper \
    "valgrind -q --leak-check=full --show-leak-kinds=definite,indirect
     --errors-for-leak-kinds=definite --error-exitcode=9
     --suppressions=/usr/share/glib-2.0/valgrind/glib.supp
     --suppressions=/usr/share/gtk-4.0/valgrind/gtk.supp
     --suppressions=$root/tests/metal-double/valgrind.supp" "$@"
}

# One set of kernels stands for all. Tests that take minutes are left to other instruments.
run_c_valgrind () {
  local except

  except=$(unless_deep \
    '^convert-|^(kernels|strided-copy)-[^p]|^statistics-|^strided-view-copy-scaled|-brute-force$|^((async|random|shared)-threads|memory-faults|gst-(formats|pipelines)|gtk-download)$|')
  except+="$on_screen|-(python|gjs|vala)\$"
  run_valgrind "$build" valgrind $(tests_in_suites "$build" "$except" c gst gtk)
}

run_metal_valgrind () {
  build_metal && run_valgrind "$metal" metal-valgrind --suite metal-free
}

run_python_valgrind () {
  install_packages 'to look for leaks' valgrind
  build_for_pytest "$build" && "$python" tests/python/run_valgrind.py "$reports"
}

run_coverage_step () {
  install_clang_tools
  install_packages 'for the coverage' gcovr
  run_coverage $([[ $tier == deep ]] && echo none unified discrete || echo none)
}

run_mutants_step () {
  build_metal && run_mutants "$reports/mutants.xml"
}

run_drawn_mutants () {
  build_metal && run_mutants "$reports/drawn-mutants.xml" --drawn 200
}

# For a release, all targets together run about 1,000,000,000 inputs.
run_fuzz_step () {
  if [[ $tier != deep ]]; then
    run_fuzz 8 seconds
    return
  fi

  run_fuzz 7600 seconds && count_fuzz_inputs
}

. maintainer/emulated.sh
. maintainer/newest.sh
. tests/cross-macos.sh

# --- The steps

# Without the library no other step can run.
compile_or_end () {
  compile "$build" || exit 1
}

linux=$([[ $(uname) == Linux ]] && echo yes || echo no)

plan_steps () {
  plan quick build 'Build' compile_or_end
  plan all 'python peers docs install' 'The pinned Python peers' make_venv
  plan quick 'c gjs vala pixbuf gst gtk examples viewer docs' \
    'C, JavaScript, Vala, the bridges, examples, the viewer, the code in the guides' run_languages
  if [[ $linux == yes ]]; then
    plan quick python "Python with the system's NumPy" run_python_system
    plan quick tools 'The command' run_tools
    plan quick metal 'The Metal device, over the double' run_metal
  else
    plan quick python 'Python with the pinned peers' run_python_peers
    plan quick metal 'The Metal device' run_metal_itself
  fi

  plan all install 'An installation' run_install
  plan all 'python c' 'Every function from C and Python' check_reach
  if [[ $linux == yes ]]; then
    plan all python 'Python with the pinned peers' run_python_peers
  fi
  if can_make_packages && has_new_python; then
    plan deep newest 'Python with the newest NumPy' run_newest_numpy
    plan deep newest 'Python without its lock' run_free_threaded
  fi
  plan deep python 'A million random operations on views' run_python_programs
  for set in plain baseline avx2; do
    plan all kernels "Copies and conversions with $set kernels" "run_python_kernels $set"
  done
  plan all files 'Files' run_files
  plan all peers 'The peers' run_peers_of_table
  if [[ $linux == yes ]]; then
    plan all peers 'The table of what works with which peer' check_compatibility
    plan all 'tools peers' 'The command and safetensors' run_tools_peers
    for device in unified discrete; do
      plan all devices "C, JavaScript, Vala, examples, guides on a $device device" \
        "run_on_device $device"
      plan all devices "Python on a $device device" "run_python_on_device $device"
    done
    plan all devices 'JavaScript and Vala on Private memory' run_on_private
    plan all devices 'Python on Private memory' run_python_on_private
    plan all sanitizers 'C under AddressSanitizer and UndefinedBehaviorSanitizer' run_sanitized
    plan all sanitizers 'Python under AddressSanitizer and UndefinedBehaviorSanitizer' \
      run_python_sanitized
    plan all fuzz 'Fuzzing' run_fuzz_step
    plan all sanitizers 'C under ThreadSanitizer' run_races
    plan all valgrind 'C under valgrind' run_c_valgrind
    plan all valgrind 'The Metal device under valgrind' run_metal_valgrind
    plan all valgrind 'Python under valgrind' run_python_valgrind
    plan all macos 'The library for macOS, built on Linux' run_macos
    plan deep languages 'Lua, Ruby, Perl and D' run_other_languages
    plan all mutants 'Mutants' run_mutants_step
    plan deep mutants 'Mutants that are drawn at random' run_drawn_mutants
    plan deep coverage 'Coverage' run_coverage_step
  fi
  if can_emulate; then
    plan all processors 'C on arm64, from clang' run_arm64_clang
    plan deep processors 'Copies and conversions on arm64, from GCC' run_arm64_gcc
    plan deep processors 'Copies and conversions on older processors' run_older_processors
    plan deep processors 'C on s390x, big-endian' run_s390x
  fi
  plan all docs 'The reference' run_reference
  if [[ $linux == yes ]]; then
    plan deep docs 'The site in a browser' run_site_browser
  fi
  plan all workflows 'The workflows' check_workflows
  if [[ $linux == yes ]]; then
    plan deep install 'Installed tests' run_installed_tests
  fi
  if can_make_packages; then
    plan deep systems 'The next Debian, trixie' 'run_newer_debian trixie'
    plan deep systems 'The Debian after that, forky' \
      "run_newer_debian forky c gjs vala pixbuf gst gtk examples viewer docs python tools metal
       newest"
    plan deep packages 'Debian packages, made and used in new systems' run_packages
    plan deep packages 'pip, in new systems' run_pip
    plan deep release 'The release tarball in a new system' run_tarball
  fi
}

say_what_is_left_out () {
  if [[ $linux == no ]]; then
    echo 'Left out: the command, the double of Metal, sanitizers over it, mutants, coverage,' \
      'fuzzing, valgrind. They only work on Linux. The tests above used the Metal device of' \
      'this machine.'
  fi
  if [[ $tier == deep ]] && ! can_make_packages; then
    echo 'Left out: Debian packages, pip, the release and newer Debians, in new systems that' \
      'root makes on Debian'
  fi
  if ! can_emulate; then
    echo 'Left out: arm64, s390x and older processors, which qemu emulates on Debian on x86-64'
  fi
}

# --- Single tests

# Prints the area of a folder of tests/. Most have the same name.
area_of_folder () {
  case $1 in
    abi | faults | release | structure) echo c ;;
    metal-double) echo metal ;;
    cross-macos) echo macos ;;
    readme) echo docs ;;
    *) echo "$1" ;;
  esac
}

# Prints meson's name for the test in a file: tests/gjs/test-view.js is gjs-view,
# tests/bridges/test-gst.py is gst-python.
meson_name_of () {
  local folder name

  folder=$(basename "$(dirname "$1")")
  name=$(basename "$1")
  name=${name#test-}
  name=${name%.*}
  case $1 in
    tests/gjs/* | tests/vala/* | tests/gtk/*) echo "$folder-$name" ;;
    tests/bridges/*.py) echo "$name-python" ;;
    tests/bridges/*.js) echo "$name-gjs" ;;
    tests/bridges/*.vala) echo "$name-vala" ;;
    tests/metal-double/*) echo "metal-$name" ;;
    *) echo "$name" ;;
  esac
}

# Lists the files for pytest with this name, or with a test of this name.
pytest_files_with () {
  (
    cd tests
    ls {python,files,tools,peers}/"$1".py 2>/dev/null
    grep -l -E "^def $1 ?\(" {python,files,tools,peers}/test_*.py
  ) | sed 's|^|tests/|'
}

# has_test FOLDER NAME: also true if the names of several tests begin with NAME.
has_test () {
  [[ -n $(tests_named "$1" "^$2(-|\$)") ]]
}

request_commands=()

# plan_request NAME COMMAND…
plan_request () {
  plan quick request "$1" "run_request ${#request_commands[@]}"
  shift
  request_commands+=("$(printf '%q ' "$@")")
}

run_request () {
  eval "${request_commands[$1]}"
}

run_tests_named () {
  local folder=$1 name=$2 names

  names=$(tests_named "$folder" "^$name\$")
  run_meson "$folder" requested-"$name" ${names:-$(tests_named "$folder" "^$name-")}
}

run_metal_named () {
  build_metal && run_tests_named "$metal" "$1"
}

run_pytest_named () {
  local with=$python

  if [[ -x $venv/bin/python || $1 == tests/peers* ]]; then
    make_venv
    with=$venv/bin/python
  fi
  build_for_pytest "$build" && run_pytest "$with" "requested-${1//[^[:alnum:]_]/-}" "$@"
}

# Plans the steps for a folder, a file or a test. Fails if there is no such thing.
request () {
  local word=${1%/} file=${1%%::*} name files

  case $word in
    tests/python/* | tests/files/* | tests/tools/* | tests/peers/*)
      if [[ -e $file ]]; then
        plan_request "$word" run_pytest_named "$word"
        return
      fi
      ;;
    tests/bridges)
      areas+=(pixbuf gst gtk)
      return
      ;;
    tests/*)
      name=$(area_of_folder "${word#tests/}")
      if has_word "$(known_areas)" "$name"; then
        areas+=("$name")
        return
      fi
      ;;
  esac

  name=$word
  if [[ -f $word ]]; then
    name=$(meson_name_of "$word")
  fi
  if has_test "$build" "$name"; then
    plan_request "$name" run_tests_named "$build" "$name"
    return
  fi
  files=$(pytest_files_with "$name")
  if [[ $name == test_* && -n $files ]]; then
    plan_request "$name" run_pytest_named $files \
      $(grep -q -E "^def $name" $files && printf -- '-k %s' "$name")
    return
  fi
  if [[ $linux == yes ]] && configure_metal && has_test "$metal" "$name"; then
    plan_request "$name" run_metal_named "$name"
    return
  fi

  echo "There is no area, folder, file or test “$1”" >&2
  usage_of_test
  return 1
}

# --- The run

usage_of_test () {
  cat >&2 <<EOF
usage: ./run test [--all | --deep] [AREA | FOLDER | FILE | TEST]…

Areas: $(known_areas)
A FOLDER is in tests/. A TEST is the name of a test of meson or pytest.
EOF
}

parse_arguments () {
  local word

  for word in "$@"; do
    case $word in
      --all) tier=all ;;
      --deep) tier=deep ;;
      -h | --help)
        usage_of_test
        exit 0
        ;;
      *)
        if has_word "$(known_areas)" "$word"; then
          areas+=("$word")
        else
          requests+=("$word")
        fi
        ;;
    esac
  done
}

run_steps () {
  local took=() i n begin whole=$SECONDS

  failed_steps=()
  for n in "${!wanted[@]}"; do
    i=${wanted[n]}
    begin=$SECONDS
    say "[$((n + 1))/${#wanted[@]}] ${step_names[i]}"
    if ! ${step_commands[i]}; then
      failed_steps+=("${step_names[i]}")
    fi
    took+=("$((SECONDS - begin))")
    echo "${took[n]} s"
  done

  say "All together, $(((SECONDS - whole) / 60)) min $(((SECONDS - whole) % 60)) s"
  for n in "${!wanted[@]}"; do
    printf '%5d s  %s\n' "${took[n]}" "${step_names[wanted[n]]}"
  done
}

plan_steps
parse_arguments "$@"
if (( ${#requests[@]} > 0 )); then
  for word in "${requests[@]}"; do
    request "$word" || exit 2
  done
  areas+=(request)
fi

# The time limit in seconds of each test that draws random cases.
case $tier in
  quick) seconds=2 ;;
  all) seconds=10 ;;
  deep) seconds=60 ;;
esac
export MTL_TEST_SECONDS=${MTL_TEST_SECONDS:-$seconds}

rm -rf "$reports"
mkdir -p "$reports"
choose_steps
run_steps
if [[ $tier != quick ]]; then
  say_what_is_left_out
fi
status=$(( ${#failed_steps[@]} > 0 ))
"$python" tests/summary.py ${failed_steps[@]+"${failed_steps[@]}"} -- "$reports"/*.{json,xml} || status=1
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run_tests.sh [PRESET | PRESET:build]...
# Builds each preset, runs its tests unless it says :build, and prints one line that
# counts them all. A preset that does not build counts as a failure. Without
# arguments: all presets that the project is tested with. $JOBS: tests at once.
set -u
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- release dev-clang asan tsan aarch64
jobs=${JOBS:-2}
passed=0 failed=0 skipped=0 broken= culprits= times=

# Prints an attribute of the testsuite in a JUnit file.
count() {
    sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p;/<testcase/q" \
        "$results" | head -n 1
}

# Prints the names of the failed tests on one line at the very end, because the
# output of a whole run is long.
names_of_failed() {
    sed -n 's/.*<testcase name="\([^"]*\)".*status="fail".*/\1/p' "$results" |
        tr '\n' ' '
}

build() {
    log=$(mktemp)
    cmake --preset "$1" > "$log" 2>&1 || { cat "$log"; rm "$log"; return 1; }
    grep -E 'mimalloc|NVTX' "$log" || true
    rm "$log"
    cmake --build --preset "$1" -j "$jobs"
}

for item in "$@"; do
    preset=${item%:build}
    echo
    # Packages that a plain machine may lack: without them it is a skip, no failure.
    if [ "$preset" = aarch64 ] && ! sh cmake/bootstrap.sh aarch64; then
        echo "==== aarch64: skipped: no cross compiler or emulator to be had"
        skipped=$((skipped + 1))
        continue
    fi
    echo "==== $preset: build"
    began=$(date +%s)
    if ! build "$preset"; then
        failed=$((failed + 1)) broken="$broken $preset(build)"
        continue
    fi
    [ "$item" = "$preset" ] || continue

    # One preset is enough for tests of source text, of one compiler's output, of
    # how Python packages read files that are the same from each build, and of much
    # arithmetic.
    once='codegen|compiles|consumer|cpp|dist|docs|headers|once|onefile|packages'
    once="$once|structure"
    [ "$preset" != release ] || once=
    # Nor does the processor matter where each call of the system, an allocation or the
    # driver fails in turn, or a file is damaged; under QEMU these take a fifth of the
    # time.
    if [ "$preset" = aarch64 ]; then
        once="$once|faults|no_memory|cuda_trouble|file_damage|event_times"
        once="$once|merge_order|model"
    fi
    # Under QEMU a process that forks while it has threads sometimes hangs.
    again=
    [ "$preset" != aarch64 ] || again='--repeat until-pass:3'
    results=$(mktemp) built=$(date +%s)
    echo "==== $preset: test"
    # Some tests sleep, so one more than there are cores runs at once.
    ctest --preset "$preset" -j $((jobs + 1)) --no-tests=error \
        --output-on-failure ${once:+-LE "^($once)$"} $again \
        --output-junit "$results" ||
        broken="$broken $preset"
    tests=$(count tests) bad=$(count failures)
    left=$(($(count skipped) + $(count disabled)))
    [ "${bad:-0}" = 0 ] || culprits="$culprits$preset: $(names_of_failed)
"
    rm -f "$results"
    times="$times$preset: built in $((built - began)) s,\
 tested in $(($(date +%s) - built)) s
"
    if [ -z "$tests" ] || [ "$tests" -eq 0 ]; then
        tests=1 bad=1 left=0
    fi
    passed=$((passed + tests - bad - left))
    failed=$((failed + bad)) skipped=$((skipped + left))
done

echo
printf '%s' "$times"
[ -z "$broken" ] || echo "not clean:$broken"
printf '%s' "$culprits"
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ -z "$broken" ]

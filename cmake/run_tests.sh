#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run_tests.sh [PRESET]...
# Builds each preset, runs its tests, and prints one line that counts them all. A preset
# that does not build counts as a failure. Without arguments: all presets that the
# project is tested with; CMakePresets.json says which tests each of them has. $JOBS:
# tests at once. $SKIPS: a file that lists the causes for which a test may be skipped.
set -u
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- release dev-clang asan tsan aarch64
jobs=${JOBS:-2}
results=build/results
rm -rf "$results"
mkdir -p "$results"

build() {
    log=$(mktemp)
    # What was missing when CMake looked for it may be installed by now.
    cmake --preset "$1" -U 'GNOMON_HAS_*' -U '*Python3_*' \
        -U CMAKE_Fortran_COMPILER > "$log" 2>&1 || { cat "$log"; rm "$log"; return 1; }
    grep -E 'mimalloc|NVTX' "$log" || true
    rm "$log"
    cmake --build --preset "$1" -j "$jobs"
}

for preset in "$@"; do
    echo
    # Packages that a plain machine may lack: without them it is a skip, no failure.
    if [ "$preset" = aarch64 ] && ! sh cmake/bootstrap.sh aarch64; then
        why="no cross compiler or emulator to be had"
        echo "==== aarch64: skipped: $why"
        echo "0 0 0" > "$results/aarch64.s"
        cat > "$results/aarch64.xml" << END
<testsuite><testcase name="aarch64" status="notrun">
<system-out>skipped: $why</system-out></testcase></testsuite>
END
        continue
    fi
    echo "==== $preset: build"
    began=$(date +%s)
    if ! build "$preset"; then
        echo "$(($(date +%s) - began)) 0 1" > "$results/$preset.s"
        continue
    fi
    # Under QEMU a process that forks while it has threads sometimes hangs.
    again=
    [ "$preset" != aarch64 ] || again='--repeat until-pass:3'
    built=$(date +%s)
    echo "==== $preset: test"
    # Some tests sleep, so one more than there are cores runs at once.
    ctest --preset "$preset" -j $((jobs + 1)) --no-tests=error \
        --output-on-failure $again --output-junit "$PWD/$results/$preset.xml"
    status=$?
    echo "$((built - began)) $(($(date +%s) - built)) $status" \
        > "$results/$preset.s"
done
python3 cmake/summary.py "$results" "${SKIPS:-}"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fuzz.sh [minimize] [TARGET]...
# Builds libFuzzer's targets (tests/fuzz) and runs each for $SECONDS_EACH seconds (60),
# or with $RUNS inputs if that is set. It starts from the corpus in the tree and the
# inputs that earlier runs found, which stay in build/fuzz/corpus. A crash is written
# to build/fuzz/TARGET-crash-*, and the script fails.
# With `minimize` it then replaces the corpus by fewer and smaller files that reach the
# same code.
set -eu
# ASan keeps freed memory unused for a while: 1 MiB instead of 256, to fit in the cache.
# Reports lack the allocation's stack: run the failing input again with
# ASAN_OPTIONS=malloc_context_size=30 to see it.
quick=quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=0
export ASAN_OPTIONS="$quick:${ASAN_OPTIONS:-}"
# Files in memory are created three times as fast.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
cd "$(dirname "$0")/.."
root=$(pwd) minimize= bad=0
if [ -n "${RUNS:-}" ]; then
    limit=-runs=$RUNS
else
    limit=-max_total_time=${SECONDS_EACH:-60}
fi
[ "${1:-}" != minimize ] || { minimize=1; shift; }
# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $(ls tests/fuzz | sed -n 's/^fuzz_\(.*\)\.c$/\1/p')
command -v clang > /dev/null || { echo "make fuzz needs clang"; exit 1; }
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target fuzzers -j "${JOBS:-2}"
for name in "$@"; do
    fuzzer=$root/build/fuzz/tests/fuzz/fuzz_$name
    found=$root/build/fuzz/corpus/$name kept=$root/tests/fuzz/corpus/$name
    longest=600 on= leaks=1
    case $name in
    file) longest=6000 ;;
    merge) longest=16000 ;;
    cupti) longest=4000 ;;
    spec) longest=${RUNS:+150} ;; # its time grows with the square of the length
    threads) # a leak check takes as long as several inputs
        longest=${RUNS:+100} leaks=0 ;;
    programs) # its threads take turns: on one processor none spins
        longest=${RUNS:+100} leaks=0
        ! taskset -c 0 true 2> /dev/null || on="taskset -c 0" ;;
    esac
    mkdir -p "$found"
    echo "==== $name: $limit"
    # shellcheck disable=SC2086
    $on "$fuzzer" "$limit" "-max_len=${longest:=600}" -print_final_stats=1 \
        "-detect_leaks=$leaks" -entropic=0 -reload=0 "-artifact_prefix=$root/build/fuzz/$name-" \
        "$found" "$kept" > "build/fuzz/$name.log" 2>&1 || bad=1
    grep -a 'failed:\|ERROR:\|number_of_executed_units\|written to' \
        "build/fuzz/$name.log" || true
    if [ -n "$minimize" ] && [ "$bad" -eq 0 ]; then
        small=$(mktemp -d)
        "$fuzzer" -merge=1 "-max_len=$((longest / 3))" "$small" \
            "$kept" "$found" 2> /dev/null
        echo "$(find "$small" -type f | wc -l) files in $small:" \
            "choose some dozens for $kept"
    fi
done
exit "$bad"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fuzz.sh [minimize] [TARGET]...
# Builds libFuzzer's targets (tests/fuzz) and runs each for $SECONDS_EACH (60), or
# with $RUNS inputs if that is set, from the corpus in the tree and what earlier
# runs found, which stays in build/fuzz/corpus. A finding is a file
# build/fuzz/TARGET-crash-*, and a failure.
# `minimize` then writes the corpus anew: few and small files that reach as much.
set -eu
# What is freed is kept from use for a while: 16 MiB, not 256, stay in the cache.
export ASAN_OPTIONS="quarantine_size_mb=16:${ASAN_OPTIONS:-}"
cd "$(dirname "$0")/.."
root=$(pwd) minimize= bad=0
if [ -n "${RUNS:-}" ]; then
    limit=-runs=$RUNS
else
    limit=-max_total_time=${SECONDS_EACH:-60}
fi
[ "${1:-}" != minimize ] || { minimize=1; shift; }
[ $# -gt 0 ] || set -- spec names tokens programs threads file json merge
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
    spec) longest=${RUNS:+150} ;; # what it costs grows with the square
    threads) leaks=0 ;; # a look for leaks takes as long as some inputs
    programs) # its threads take turns, which on one processor is no wait
        longest=${RUNS:+150} leaks=0
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

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tools.sh sanitizer|ncu FOLDER: runs the tests' programs under NVIDIA's tools. 77:
# there is no GPU, no such tool, or it may not run here.
set -u
tool=$1 folder=$2

skip() {
    echo "skipped: $1"
    exit 77
}

find_tool() {
    for at in "$1" "${CUDA_HOME:-/usr/local/cuda}/bin/$1"; do
        command -v "$at" && return
    done
    skip "no $1" >&2
}

"$folder/gpu_which"
case $? in
0) ;;
77) skip "no GPU here" ;;
*) exit 1 ;;
esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT
case $tool in
sanitizer)
    sanitizer=$(find_tool compute-sanitizer) || exit 77
    # A run that only queries the device shows whether the tool may run.
    "$sanitizer" "$folder/gpu_which" > "$log" 2>&1 ||
        { cat "$log" && skip "compute-sanitizer may not run here"; }
    for test in attached_again threads default_streams streams_are_destroyed; do
        program=gpu_test_streams
        [ "$test" != streams_are_destroyed ] || program=gpu_test_lifetimes
        "$sanitizer" --error-exitcode 9 --leak-check no \
            "$folder/$program" "$test" || exit 1
    done
    ;;
ncu)
    ncu=$(find_tool ncu) || exit 77
    GNOMON=nvtx "$folder/gpu_test_lifetimes" a_program 2>&1 |
        grep -q "unknown profiler\|nvtx: this build" && skip "gnomon has no nvtx here"
    # The GPU's clocks stay as they are: others may use it.
    "$ncu" --clock-control none "$folder/gpu_test_lifetimes" a_program \
        > "$log" 2>&1 ||
        { cat "$log" && skip "ncu may not run here"; }
    grep -q "ERR_NVGPUCTRPERM\|No kernels were profiled" "$log" &&
        { cat "$log" && skip "ncu may not read counters here"; }
    # Ten spins are in the range; launches before it are not.
    GNOMON=nvtx "$ncu" --clock-control none --nvtx \
        --nvtx-include "gnomon@forward" --nvtx-include "gnomon@forward/" \
        "$folder/gpu_test_lifetimes" a_program > "$log" 2>&1
    cat "$log"
    [ "$(grep -c '^  *spin' "$log")" -eq 10 ]
    ;;
*)
    echo "usage: tools.sh sanitizer|ncu FOLDER"
    exit 2
    ;;
esac

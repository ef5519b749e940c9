#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# free.sh SOURCE BUILD
# Builds the package for a Python without a global lock, if there is one on $PATH or in
# $GNOMON_FREE_PYTHON, and runs there what many threads do.
set -eu
source=$1 build=$2
python=${GNOMON_FREE_PYTHON:-$(command -v python3.14t || command -v python3.13t ||
    true)}
if [ -z "$python" ]; then
    echo "skipped: no Python without a global lock"
    exit 77
fi
cmake -S "$source/bindings/python" -B "$build" -DPython3_EXECUTABLE="$python" \
    > "$build.log" 2>&1 &&
    cmake --build "$build" --target gnomon_python gnomon_python_files \
        >> "$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
cd "$source/tests/python"
PYTHONPATH=$build exec "$python" -B -W error::RuntimeWarning -m unittest -q \
    test_threads test_marks test_tasks test_calls test_profilers test_profile \
    test_interpreters test_workers test_recording test_streams

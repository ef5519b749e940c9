#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coverage.sh: runs the tests with the `coverage` preset and prints how many
# lines and branches of src/ they reached, and which they did not. Fails below
# $LEAST % of lines (90), or if a test fails. $JOBS: at once.
set -eu
cd "$(dirname "$0")/.."
cmake --preset coverage > /dev/null
cmake --build --preset coverage -j "${JOBS:-2}"
find build/coverage -name '*.gcda' -delete
bad=0
# Not what looks at text only, nor what forbids the process to write its counts.
ctest --preset coverage -j "${JOBS:-2}" --output-on-failure \
    -LE '^(codegen|headers|structure|consumer)$' \
    -E 'the_file_size_limit_kills_nobody|with_more_rights_obey_nothing' || bad=1
python3 cmake/coverage.py . build/coverage "${LEAST:-90}" || bad=1
exit "$bad"

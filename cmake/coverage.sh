#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coverage.sh: runs the tests with the `coverage` preset and prints how many
# lines and branches of src/ they reached, and which they did not. Fails if a test
# fails, if a function has lines that were not reached and tests/unreached.txt gives
# no reason, or if less than $LEAST % of lines were reached (90). $JOBS: tests at once.
set -eu
cd "$(dirname "$0")/.."
cmake --preset coverage > /dev/null
cmake --build --preset coverage -j "${JOBS:-2}"
find build/coverage -name '*.gcda' -delete
bad=0
# Leaves out tests that only read source text, and tests that cannot write coverage
# files: they run under a limit on file size or memory, or as another user.
limited='files\.the_file_size_limit_kills_nobody|guest_io\.the_file_size_limit'
limited="$limited|guest_io\.little_address_space|cli\.files_are_made_whole"
limited="$limited|profile_paths\.the_file_size_limit_is_reported"
others='guest_io\.directories_of_other_users|guest_io\.nor_one_with_file_.*'
others="$others|run\.programs_with_more_rights_obey_nothing"
others="$others|guest_io\.a_program_with_file_capabilities_obeys_no_environment"
ctest --preset coverage -j "${JOBS:-2}" --output-on-failure \
    -LE '^(codegen|headers|structure|consumer)$' \
    -E "^($limited|$others)\$" || bad=1
python3 cmake/coverage.py . build/coverage "${LEAST:-90}" || bad=1
exit "$bad"

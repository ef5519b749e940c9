#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lint.sh: clang-format, clang-tidy and cppcheck on this project's sources. All three
# run; the exit status is not 0 if one of them found something.
set -u
cd "$(dirname "$0")/.."
bad=0
sources=$(find src include tests examples bench bindings -name '*.[ch]' -o \
    -name '*.hpp' -o -name '*.cu' | sort)

echo "==== clang-format"
# shellcheck disable=SC2086 # words, here and below
clang-format --dry-run -Werror $sources || bad=1

echo "==== clang-tidy"
cmake --preset dev > /dev/null || exit 1
# A source is compiled for several targets; checking it once is enough. Some targets
# need headers that the build generates, so the first one is taken.
once=$(mktemp -d)
python3 - build/dev/compile_commands.json "$once" << 'END' || exit 1
import json, sys
first = {}
for entry in json.load(open(sys.argv[1])):
    entry["command"] = entry["command"].replace(" -fno-thread-jumps", "")
    first.setdefault(entry["file"], entry)
json.dump(list(first.values()), open(sys.argv[2] + "/compile_commands.json", "w"))
END
log=$(mktemp)
find src -name '*.c' | sort |
    xargs -n 1 -P 2 clang-tidy --quiet -p "$once" \
    --extra-arg=-Wno-ignored-optimization-argument > "$log" 2>&1 || bad=1
grep -v '^[0-9]* warnings\? generated' "$log"
rm -rf "$log" "$once"

echo "==== cppcheck"
cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
    --enable=warning,performance,portability --suppress=missingIncludeSystem \
    -D_GNU_SOURCE -DGNOMON_WITH_MIMALLOC=1 -D__x86_64__ -D__linux__ -D__LP64__ \
    -D__GNUC__=12 '-DGNOMON__ORDER_KEYS(...)=' -Iinclude \
    -Isrc src || bad=1

[ "$bad" -eq 0 ] && echo "lint: clean" || echo "lint: see above"
exit "$bad"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# preloaded.sh LIBRARY PROGRAM MODULE: runs a program that was built without a sanitizer,
# and a module with its own copy of gnomon, with a preloaded sanitizer. The sanitizer must
# report nothing, with gnomon off and on, and the marks of both must be counted.
set -eu
library=$1 program=$2 module=$3
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
fail() {
    echo "FAILED: $*"
    cat "$errors"
    exit 1
}
LD_PRELOAD="$library" "$program" self "$module" again 2> "$errors" || fail "off: $?"
[ ! -s "$errors" ] || fail "off: the sanitizer reports something"
GNOMON=simple LD_PRELOAD="$library" "$program" self "$module" again 2> "$errors" ||
    fail "simple: $?"
! grep -E 'ERROR|WARNING|SUMMARY' "$errors" || fail "simple: a finding"
for row in host first; do
    grep -q "^|  $row .*|  3 " "$errors" || fail "$row"
done

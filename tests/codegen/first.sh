#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# first.sh LIBRARY
# Fails if the first instruction of a function that begins or ends a scope or action is
# a load: see gnomon__step.
objdump -f "$1" 2> /dev/null | grep -q x86-64 || {
    echo "skipped: no objdump, or another processor's library"
    exit 77
}
passed=0 failed=0
for name in begin end start stop; do
    first=$(objdump -d --no-show-raw-insn --disassemble="gnomon_${name}_slow" \
        "$1" | sed -n 's/^ *[0-9a-f]*:[[:space:]]*//p' |
        grep -v '^endbr64' | head -n 1)
    case $first in
    '' | *'('*)
        failed=$((failed + 1))
        echo "gnomon_${name}_slow begins with: ${first:-nothing}"
        ;;
    *) passed=$((passed + 1)) ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

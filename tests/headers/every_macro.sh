#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# every_macro.sh USES HEADER...
# Fails if USES lacks a macro that a header defines for its users. Guards, names
# with two underscores (internal) and those undefined again are not for users.
set -eu
uses=$1
shift
[ $# -gt 0 ] || { echo "no headers"; exit 1; }
count=0 missing=0
for macro in $(sed -n 's/^ *# *define  *\(GNOMON_[A-Z0-9][A-Z0-9_]*\).*/\1/p' "$@" |
    sort -u); do
    case $macro in
    *__* | *_H) continue ;;
    esac
    if grep -q "^ *# *undef  *$macro\$" "$@"; then
        continue
    fi
    count=$((count + 1))
    if ! grep -qw "$macro" "$uses"; then
        echo "$uses does not use $macro"
        missing=$((missing + 1))
    fi
done
echo "$count macros, $missing not used"
[ "$count" -gt 0 ] && [ "$missing" -eq 0 ]

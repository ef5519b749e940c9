#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh SOURCE STATIC-LIBRARY TESTING-LIBRARY
#
# Each function that the library imports is in the table of src/platform/os_calls.h
# or in harmless.txt, and none in both. In the testing library only the table itself
# calls the functions of the table.
set -eu
source=$1 static=$2 testing=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n 's/^    CALL(\([a-z_0-9]*\),.*/\1/p' "$source/src/platform/os_calls.h" |
    sort > "$work/table"
sed '/^#/d;/^$/d' "$source/tests/imports/harmless.txt" | sort > "$work/harmless"
[ -s "$work/table" ] && [ -s "$work/harmless" ] || { echo "no lists"; exit 1; }

# Undefined names of the members of an archive, but for one member.
wanted() { # archive, member to leave out
    nm -A -u "$1" 2> /dev/null | grep -v ":$2:" |
        sed -n 's/.* [Uvw] //p' | sed 's/@.*//' |
        grep -v '^gnomon_\|^__aarch64_\|^_GLOBAL_OFFSET_TABLE_$\|^__st[a-z]*_gnomon_' | sort -u
}

tell() { # what is wrong with the names that come
    sed "s|\$|: $1|" > "$work/told"
    cat "$work/told" >> "$work/bad"
}

wanted "$static" none > "$work/static"
[ -s "$work/static" ] || { echo "$static asks for nothing"; exit 1; }
sort -u "$work/table" "$work/harmless" > "$work/known"
comm -23 "$work/static" "$work/known" |
    tell "in neither list: can it fail? Then src/platform/os_calls.h"
comm -12 "$work/table" "$work/harmless" | tell "in both lists"
wanted "$testing" os_calls.c.o | comm -12 - "$work/table" |
    tell "called past the table: include platform/os_calls.h"
cat "$work/bad"
[ ! -s "$work/bad" ]

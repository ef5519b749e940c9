#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh SOURCE STATIC-LIBRARY
#
# Each function that the library imports is in the table of tests/os_calls.c
# or in harmless.txt, and none in both.
set -eu
source=$1 static=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n 's/^    CALL(\([a-z_0-9]*\),.*/\1/p' "$source/tests/os_calls.c" |
    sort > "$work/table"
sed '/^#/d;/^$/d' "$source/tests/imports/harmless.txt" | sort > "$work/harmless"
[ -s "$work/table" ] && [ -s "$work/harmless" ] || { echo "no lists"; exit 1; }

# Undefined names of the members of an archive.
wanted() {
    nm -A -u "$1" 2> /dev/null | sed -n 's/.* [Uvw] //p' | sed 's/@.*//' |
        grep -v '^gnomon_\|^__aarch64_\|^_GLOBAL_OFFSET_TABLE_$\|^__st[a-z]*_gnomon_' | sort -u
}

tell() { # what is wrong with the names that come
    sed "s|\$|: $1|" > "$work/told"
    cat "$work/told" >> "$work/bad"
}

wanted "$static" > "$work/static"
[ -s "$work/static" ] || { echo "$static asks for nothing"; exit 1; }
sort -u "$work/table" "$work/harmless" > "$work/known"
comm -23 "$work/static" "$work/known" |
    tell "in neither list: can it fail? Then tests/os_calls.c"
comm -12 "$work/table" "$work/harmless" | tell "in both lists"
cat "$work/bad"
[ ! -s "$work/bad" ]

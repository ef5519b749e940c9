#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh shared|static|headers|reasons SOURCE SHARED-LIBRARY STATIC-LIBRARY
#
#   shared   exports what tests/symbols.txt lists, each with its version
#   static   shows a linker these names, its own gnomon__* hidden, and no other
#            but those of NVTX's headers
#   headers  declare with GNOMON_API exactly the listed names
#   reasons  docs/inside/conventions.md says why each name is there; at most 60 are calls
set -eu
check=$1 source=$2 shared=$3 static=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

same() { # what is wanted, what there is
    [ -s "$1" ] || fail "nothing to compare with"
    diff -u "$1" "$2" || fail "the symbols differ: - wanted, + found"
}

grep -v '^#' "$source/tests/symbols.txt" | sort > "$work/listed"
cut -d ' ' -f 1 "$work/listed" > "$work/names"

case $check in
shared)
    # A version's own entry is an absolute symbol; sections have entries too
    # where the linker needs them.
    readelf --dyn-syms -W "$shared" |
        awk '$4 != "SECTION" && $7 ~ /^[0-9]+$/ { sub("@+", " ", $8); print $8 }' |
        sort > "$work/found"
    same "$work/listed" "$work/found"
    ;;
static)
    readelf -sW "$static" > "$work/all"
    awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" { print $6, $8 }' \
        "$work/all" | sort -u > "$work/defined"
    awk '$1 == "DEFAULT" { print $2 }' "$work/defined" > "$work/found"
    same "$work/names" "$work/found"
    # NVTX's own are weak, so that the linker merges them with those of a host
    # that includes its headers too.
    awk '$5 == "WEAK" && $6 == "HIDDEN" && $8 ~ /^(nvtx|InitializeInjectionNvtx)/ {
        print $6, $8 }' "$work/all" | sort -u |
        comm -13 - "$work/defined" > "$work/own"
    if grep -Ev '^(DEFAULT gnomon_|HIDDEN gnomon__)' "$work/own"; then
        fail "these names may collide with a host's"
    fi
    # Not even as undefined: libmimalloc is opened at run time.
    if awk '$5 == "GLOBAL" { print $8 }' "$work/all" | grep '^_*mi_'; then
        fail "mimalloc shows"
    fi
    ;;
headers)
    for header in "$source"/include/*.h "$source"/include/*/*.h; do
        echo "#include \"$header\""
    done > "$work/all.c"
    # One declaration a line, as the preprocessor leaves it.
    ${CC:-cc} -E -P "-I$source/include" "$work/all.c" | tr '\n' ' ' |
        tr ';{}' '\n\n\n' | grep 'visibility("default")' |
        sed -n -e 's/.*[ *]\(gnomon_[a-z0-9_]*\)(.*/\1/p' -e t \
            -e 's/.*[ *]\(gnomon_[a-z0-9_]*\) *$/\1/p' |
        sort > "$work/found"
    same "$work/names" "$work/found"
    ;;
reasons)
    sed -n '/^## What is exported/,/^## Threads/s/^\(|[^|]*|\).*/\1/p' \
        "$source/docs/inside/conventions.md" | grep -o 'gnomon_[a-z_]*' | sort > "$work/found"
    same "$work/names" "$work/found"
    calls=$(grep -vc '^gnomon_enabled$' "$work/names")
    [ "$calls" -le 60 ] || fail "$calls calls are exported"
    ;;
*) fail "usage: check.sh shared|static|headers|reasons SOURCE SHARED STATIC" ;;
esac

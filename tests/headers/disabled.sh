#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# disabled.sh here|unknown|foreign COMPILER c|c++ SOURCE
#
#   here     with GNOMON_DISABLE, marks leave no symbol, no data and no text, the
#            calls work without the library, and every public macro compiles
#   unknown  the same of marks for compilers other than gcc and clang
#   foreign  the same of marks for other systems, by the assembly (clang)
#
# All under strict warnings, which are errors.
set -eu
check=$1 compiler=$2 language=$3 source=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

case $language in
c) flags='-x c -std=c11' ;;
c++) flags='-x c++ -std=c++11 -Wold-style-cast' ;;
esac
flags="$flags -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
flags="$flags -I$source/include"
disabled="$source/tests/headers/disabled.c"
macros="$source/tests/headers/macros.c"
# shellcheck disable=SC2086 # words
compile() { "$compiler" $flags "$@"; }

# What an object has of gnomon; and data or texts of marks, which are all that
# disabled.c has besides one counter and two texts of its own.
left_in() {
    nm -C "$1" | sed 's/([^)]*)//g' | grep -i gnomon | grep -v ' T gnomon_plugin_v1$' || true
    strings -a "$1" | grep 'marked name [1-9]' || true
}
data_in() {
    nm "$1" | grep ' [bBdDgGsS] ' | grep -v 'evaluated' || true
}
none() {
    [ -z "$2" ] || fail "$compiler $1: marks left:
$2"
}

case $check in
here)
    # The check finds symbols where they exist.
    compile -O0 -c "$macros" -o "$work/on.o"
    left_in "$work/on.o" | grep -q ' U gnomon_begin_slow' ||
        fail "marks that are not disabled leave nothing"
    for level in -O0 -Os; do # -Os inlines least of what optimizes
        set -- "$level" -DGNOMON_DISABLE
        compile "$@" -DONLY_MARKS -c "$disabled" -o "$work/off.o"
        none "$level" "$(left_in "$work/off.o"; data_in "$work/off.o")"
        compile "$@" -c "$macros" -o "$work/off.o"
        none "$level, macros.c" "$(left_in "$work/off.o")"
        for program in "$disabled" "$macros"; do
            compile "$@" "$program" -o "$work/program"
            "$work/program" || fail "$program $level: line $?"
        done
    done
    ;;
unknown)
    # Without always_inline an optimizer is needed.
    for level in -O2 -Os; do
        compile "$level" -ffreestanding -U__GNUC__ -U__clang__ -DONLY_MARKS \
            -c "$disabled" -o "$work/off.o"
        none "$level" "$(left_in "$work/off.o"; data_in "$work/off.o")"
    done
    ;;
foreign)
    tried=0
    for target in x86_64-w64-mingw32 x86_64-pc-windows-msvc \
        aarch64-pc-windows-msvc arm64-apple-macos x86_64-unknown-freebsd \
        wasm32 i386-linux-gnu armv7-linux-gnueabihf riscv64-linux-gnu; do
        echo 'int x;' > "$work/x.c"
        if ! "$compiler" -target "$target" -S "$work/x.c" -o "$work/x.s" \
            2> "$work/why"; then
            echo "not tried: $(head -n 1 "$work/why")"
            continue
        fi
        # An optimizer would only take more away.
        for level in -O0 ${GNOMON_SOAK:+-O2}; do
            compile "$level" -target "$target" -ffreestanding -DONLY_MARKS \
                -nostdinc++ -S "$disabled" -o "$work/off.s"
            none "$target $level" "$(grep -n 'gnomon\|marked name [1-9]' \
                "$work/off.s" || true)"
        done
        compile -target "$target" -ffreestanding -nostdinc++ -fsyntax-only \
            "$disabled"
        tried=$((tried + 1))
    done
    echo "$tried targets"
    [ "$tried" -gt 0 ] || { echo "skipped: no target but this one"; exit 77; }
    ;;
*) fail "usage: disabled.sh here|unknown|foreign COMPILER c|c++ SOURCE" ;;
esac

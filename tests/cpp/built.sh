#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# built.sh tests|disabled|plugin COMPILER SOURCE BUILD
#
#   tests     test_cpp_linked.cpp beside a file with GNOMON_DISABLE, both without an
#             optimizer, so that the linker merges what has the same name: all of its
#             tests pass. Names are the same for each compiler, so gcc does it in a
#             soak. By clang also the others as C++17, those of marks with its
#             optimizer; by gcc they are built as they are
#   disabled  with GNOMON_DISABLE, marks leave no symbol, also at -O0, and no text
#             where there is an optimizer; and programs need no library
#   plugin    no symbol of gnomon is undefined in a plugin
set -eu
check=$1 compiler=$2 source=$3 build=$4
command -v "$compiler" > /dev/null || { echo "skipped: no $compiler"; exit 77; }
here=$source/tests/cpp
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
compile() { # FLAGS...
    "$compiler" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
        -Wundef -Wcast-qual -Wpointer-arith -Wwrite-strings -Wformat=2 \
        -Wdouble-promotion -Werror -I"$source/include" \
        -I"$source/bindings/cpp" "$@"
}
# What a file has of gnomon: symbols, but for std::move of its types, and texts.
left_in() {
    nm -C "$1" | sed 's/([^)]*)//g' | grep -v ' std::' | grep -i gnomon || true
}
texts_in() {
    strings -a "$1" | grep 'marked name [1-9]' || true
}

case $check in
tests)
    case ${GNOMON_SOAK:-}$compiler in
    g++) echo "skipped: GNOMON_SOAK is not set"; exit 77 ;;
    esac
    compile -O0 -DGNOMON_DISABLE -Dmain=unused_main -c "$here/disabled.cpp" \
        -o "$work/disabled.o"
    compile -O0 -I"$source/tests" -I"$here" "$work/disabled.o" \
        "$here/test_cpp_linked.cpp" -o "$work/mixed" \
        -L"$build" -lgnomon -Wl,-rpath,"$build" -lpthread -ldl
    "$work/mixed" > "$work/out" 2> "$work/err" || {
        cat "$work/out" "$work/err"
        fail "a file with GNOMON_DISABLE changes the others"
    }
    case $compiler in *clang*) ;; *) exit 0 ;; esac
    # What takes most of the time is to read C++'s own headers: they are read once.
    compile -O0 -x c++-header "$source/bindings/cpp/gnomon.hpp" -o "$work/pch"
    for test in "$here"/test_cpp_*.cpp; do
        name=$(basename "$test" .cpp) level=-O0 pch="-include-pch $work/pch"
        [ "$name" != test_cpp_linked ] || continue
        [ "$name" != test_cpp_marks ] || { level=-O1; pch=; }
        compile $level $pch -I"$source/tests" -I"$here" \
            -DTEST_BINARY_DIR="\"$build/tests\"" "$test" -o "$work/$name" \
            -L"$build" -lgnomon -Wl,-rpath,"$build" -lpthread -ldl
        "$work/$name" > "$work/out" 2> "$work/err" || {
            cat "$work/out" "$work/err"
            fail "$name fails with $compiler"
        }
        echo "$name: $(tail -n 1 "$work/out")"
    done
    ;;
disabled)
    # The look at symbols is the same for each compiler, so one shows that it finds some.
    case ${GNOMON_SOAK:-}$compiler in
    clang++) ;;
    *)
        compile -O0 -DONLY_MARKS -c "$here/disabled.cpp" -o "$work/on.o"
        left_in "$work/on.o" | grep -q 'U gnomon_begin_slow' ||
            fail "marks that are not disabled leave nothing"
        ;;
    esac
    for level in -O0 -Os; do # -Os inlines least of what optimizes
        compile $level -DGNOMON_DISABLE -DONLY_MARKS -c "$here/disabled.cpp" \
            -o "$work/off.o"
        left=$(left_in "$work/off.o")
        # Without an optimizer, texts that are given to a call are still there.
        [ $level = -O0 ] || left=$left$(texts_in "$work/off.o")
        [ -z "$left" ] || fail "$level: marks left: $left"
    done
    # Also as on a system that gnomon does not know, whose headers are the same from here
    # on, so by clang alone, which is quicker. An optimizer would need less.
    flags=-DGNOMON_DISABLE
    case ${GNOMON_SOAK:-}$compiler in g++) ;; *) flags="$flags -U__linux__" ;; esac
    for flag in $flags; do
        compile -O0 $flag "$here/disabled.cpp" -o "$work/off"
        "$work/off" || fail "$flag: case $?"
    done
    ;;
plugin)
    for flags in '-fno-exceptions -fno-rtti -O2' '-O0'; do
        # shellcheck disable=SC2086 # words
        compile $flags -shared -fPIC "$here/plugin.cpp" -o "$work/plugin.so"
        left=$(nm -D -u -C "$work/plugin.so" | grep -i gnomon || true)
        [ -z "$left" ] || fail "a plugin needs $left"
        nm -D "$work/plugin.so" | grep -q ' T gnomon_plugin_v1$' ||
            fail "no entry"
    done
    ;;
*) fail "usage: built.sh tests|disabled|plugin COMPILER SOURCE BUILD" ;;
esac

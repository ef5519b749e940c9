#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# strict.sh COMPILER STANDARD SOURCE
# Compiles every.cpp with all warnings as errors: as it is; and as C++11 by clang, and as
# C++20, whose headers have what they have since C++17, by gcc, and in a soak as each,
# without exceptions and run-time types, and as where programs have a stream for each
# thread; and the other way about with GNOMON_DISABLE. And each header alone, as C++11 by clang, which takes half the time.
set -eu
compiler=$1 standard=$2 source=$3
command -v "$compiler" > /dev/null || { echo "skipped: no $compiler"; exit 77; }
strict="-std=c++$standard -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
    -Wformat=2 -Wundef -Wcast-qual -Wdouble-promotion -Werror
    -I$source/include -I$source/bindings/cpp -x c++"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
# gcc's optimizer finds some of the warnings; once is enough.
first=-fsyntax-only
[ "$compiler$standard" != g++17 ] || first='-c -o /dev/null'
set -- "$first"
disabled='-fsyntax-only -DGNOMON_DISABLE'
without='-fsyntax-only -fno-exceptions -fno-rtti -DCUDA_API_PER_THREAD_DEFAULT_STREAM'
case $compiler$standard${GNOMON_SOAK:-} in
*++14 | *++17) ;;
g++20 | clang++11) set -- "$@" "$without" ;;
g++11 | clang++20) set -- "$@" "$disabled" ;;
*) set -- "$@" "$disabled" "$without" ;;
esac
for flags; do
    # shellcheck disable=SC2086 # words
    "$compiler" $strict $flags "$source/tests/cpp/every.cpp"
    count=$((count + 1))
done
[ "$compiler$standard" = clang++11 ] || { echo "$count compiled"; exit 0; }
for header in "$source"/bindings/cpp/gnomon/cpp/*.hpp; do
    name=gnomon/cpp/$(basename "$header")
    printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$name" "$name" \
        > "$work/one.cpp"
    # shellcheck disable=SC2086 # words
    "$compiler" $strict -fsyntax-only "$work/one.cpp"
    count=$((count + 1))
done
echo "$count compiled"

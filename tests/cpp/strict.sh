#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# strict.sh COMPILER STANDARD SOURCE
# Compiles each C++ header alone and every.cpp with all warnings as errors: with and
# without exceptions, run-time types and GNOMON_DISABLE.
set -eu
compiler=$1 standard=$2 source=$3
command -v "$compiler" > /dev/null || { echo "skipped: no $compiler"; exit 77; }
strict="-std=c++$standard -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
    -Wformat=2 -Wundef -Wcast-qual -Wdouble-promotion -Werror
    -I$source/include -I$source/bindings/cpp -x c++ -c -o /dev/null"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for flags in '' '-fno-exceptions -fno-rtti' -DGNOMON_DISABLE \
    '-DCUDA_API_PER_THREAD_DEFAULT_STREAM -Os'; do
    # shellcheck disable=SC2086 # words
    "$compiler" $strict $flags "$source/tests/cpp/every.cpp"
    count=$((count + 1))
done
for header in "$source"/bindings/cpp/gnomon/cpp/*.hpp; do
    name=gnomon/cpp/$(basename "$header")
    printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$name" "$name" \
        > "$work/one.cpp"
    # shellcheck disable=SC2086 # words
    "$compiler" $strict -O0 "$work/one.cpp"
    count=$((count + 1))
done
echo "$count compiled"

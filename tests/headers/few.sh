#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# few.sh COMPILER INCLUDE
# There are at most seven headers, besides that of the names of before, and gnomon.h has
# at most 900 lines with all of ours that it includes.
set -eu
compiler=$1 include=$2
headers=$(find "$include" -name '*.h' ! -name compat.h | wc -l)
lines=$(echo '#include <gnomon.h>' | "$compiler" -I"$include" -M -x c - |
    tr ' \\' '\n\n' | grep "^$include/" | xargs cat | wc -l)
echo "$headers headers; gnomon.h and what it includes: $lines lines"
[ "$headers" -le 7 ] && [ "$lines" -gt 100 ] && [ "$lines" -le 900 ]

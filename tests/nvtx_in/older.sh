#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# older.sh COMPILER HEADERS SOURCE WORK
# src/inject and the profiler nvtx compile with headers of NVTX that are older than these: without
# extensions, without counters, and where extensions had other names.
set -eu
compiler=$1 headers=$2 source=$3 work=$4

check() {
    for file in "$source"/src/inject/*.c "$source"/src/profilers/nvtx_calls.c; do
        "$compiler" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only \
            -DGNOMON_BUILTIN -DGNOMON_WITH_NVTX=1 \
            -isystem "$work/include" -I "$source/include" -I "$source/src" \
            "$file" || { echo "$1"; exit 1; }
    done
}

rm -rf "$work"
mkdir -p "$work/include"
cp -R "$headers/nvtx3" "$work/include/"
cd "$work/include/nvtx3"
check "as they are"
if [ -f nvToolsExtCounters.h ]; then
    sed 's/_ATTR_FIELD_/_ATTR_/g' nvToolsExtPayload.h > old
    mv old nvToolsExtPayload.h
    check "other names"
fi
rm -f nvToolsExtCounters.h
check "no counters"
rm -f nvToolsExtPayload*.h nvtxDetail/nvtxExt*
check "no extensions"

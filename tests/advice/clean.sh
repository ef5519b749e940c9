#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clean.sh WORK GNOMON PROGRAM...: real programs that are in order have no advice.
set -eu
work=$1 gnomon=$2
shift 2
mkdir -p "$work"
for program; do
    rm -f "$work"/*.gnomon
    GNOMON="steps,file=$work/%s.gnomon" "$program" >"$work/out" 2>&1 || :
    for file in "$work"/*.gnomon; do
        "$gnomon" report --as advice "$file" >"$work/advice"
        grep -qx 'nothing found' "$work/advice" && continue
        echo "$program:"
        cat "$work/advice"
        exit 1
    done
done

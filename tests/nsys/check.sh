#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh PROGRAM
# Runs PROGRAM (tests/programs/nvtx_marks.c) under Nsight Systems, or the part of
# it that Nsight Compute carries, and looks for our domain and ranges in what it
# wrote.
set -eu
program=$1
unset GNOMON
. "$(dirname "$0")/nsys.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { cat log; echo "$*"; exit 1; }

GNOMON=nvtx nsys_profile "$program" nest wander > log 2>&1 ||
    fail "$nsys profile: status $?"
grep -q 'no tool listens' log && fail "it did not listen"
ls run.* > /dev/null 2>&1 || fail "it wrote nothing"

# Counts, where its exporter works; else the names alone.
if nsys_tables >> log 2>&1 && command -v python3 > /dev/null; then
    python3 - << 'END' || fail "its tables do not hold our ranges"
import sqlite3
rows = sqlite3.connect("run.sqlite").execute(
    "SELECT coalesce(e.text, s.value), e.eventType, count(*), e.domainId"
    " FROM NVTX_EVENTS e LEFT JOIN StringIds s ON e.textId = s.id"
    " GROUP BY 1, 2, 4").fetchall()
print(rows)
count = {(name, kind): n for name, kind, n, _ in rows}
assert count[("gnomon", 75)] == 1
assert count[("outer", 59)] == 1 and count[("inner", 59)] == 2
assert count[("here", 60)] == 1 and count[("there", 60)] == 1
END
else
    for word in gnomon outer inner there; do
        grep -aq "$word" run.* || fail "no $word in what it wrote"
    done
    echo "names only: its exporter does not work here"
fi

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh PROGRAM
# Runs PROGRAM (tests/programs/nvtx_marks.c) under Nsight Systems, or the part of
# it that Nsight Compute carries, and looks for our domain and ranges in what it
# wrote; and for the payloads of operations, where its exporter has payloads.
set -eu
program=$1
unset GNOMON
. "$(dirname "$0")/nsys.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { cat log; echo "$*"; exit 1; }

GNOMON=nvtx nsys_profile "$program" nest wander compute > log 2>&1 ||
    fail "$nsys profile: status $?"
grep -q 'no tool listens' log && fail "it did not listen"
ls run.* > /dev/null 2>&1 || fail "it wrote nothing"

# Counts, where its exporter works; else the names alone.
if nsys_tables >> log 2>&1 && command -v python3 > /dev/null; then
    python3 - << 'END' || fail "its tables do not hold our ranges"
import sqlite3
import struct
base = sqlite3.connect("run.sqlite")
rows = base.execute(
    "SELECT coalesce(e.text, s.value), e.eventType, count(*), e.domainId"
    " FROM NVTX_EVENTS e LEFT JOIN StringIds s ON e.textId = s.id"
    " GROUP BY 1, 2, 4").fetchall()
print(rows)
count = {(name, kind): n for name, kind, n, _ in rows}
assert count[("gnomon", 75)] == 1
assert count[("outer", 59)] == 1 and count[("inner", 59)] == 2
assert count[("here", 60)] == 1 and count[("there", 60)] == 1
assert count[("linear", 59)] == 4 and count[("linear", 60)] == 1

# Payloads: the exporter of 2022.4 leaves them out, and tools that are older than
# NVTX's headers refuse the layout.
tables = {name for name, in base.execute("SELECT name FROM sqlite_master")}
layout = None
if "NVTX_PAYLOAD_SCHEMAS" in tables:
    layout = base.execute("SELECT schemaId, payloadSize FROM NVTX_PAYLOAD_SCHEMAS"
                          " WHERE name = 'gnomon.op'").fetchone()
if layout is None:
    print("no payloads: this tool does not export them")
    raise SystemExit(0)
at = {name: offset or 0 for name, offset in base.execute(
    "SELECT name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES WHERE schemaId = ?",
    layout[:1])}
print(layout, at)
assert set(at) == {"operation", "dtype", "inputs", "attributes", "flops", "bytes",
                   "backward"}
found = []
for blob, in base.execute("SELECT e.binaryData FROM NVTX_EVENTS e LEFT JOIN StringIds"
                          " s ON e.textId = s.id WHERE coalesce(e.text, s.value) ="
                          " 'linear' AND e.binaryData IS NOT NULL"):
    blob = blob if isinstance(blob, bytes) else blob.encode("latin-1")
    schema, = struct.unpack_from("<I", blob, 8)
    assert schema == layout[0], (schema, layout)
    found.append(tuple(
        struct.unpack_from(kind, blob, 32 + at[name])[0] for kind, name in (
            ("<Q", "flops"), ("<Q", "bytes"), ("<I", "backward"))))
print(found)
assert sorted(found) == [(0, 0, 0), (32768, 10240, 0), (32768, 10240, 0),
                         (2 ** 64 - 1, 10240, 1)]
END
else
    for word in gnomon outer inner there; do
        grep -aq "$word" run.* || fail "no $word in what it wrote"
    done
    echo "names only: its exporter does not work here"
fi

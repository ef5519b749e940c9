#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_streams.py WORK NODE GNOMON DRIVER CUPTI PROGRAM...: scopes that events timed on a
stream and the kernels of that stream are in the same row of traces of both forms, as the
trace processor reads them, or in a row of its overlaps."""
import os
import subprocess
import sys

from trace_processor import TROUBLE, ask

STEPS = 20
# Of what is on the device: the names of the rows that each has, and how often.
ROWS = ("select s.name as name, coalesce(t.name, k.name) as row, count(*) as n"
        " from slice s left join track k on k.id = s.track_id"
        " left join thread_track tt on tt.id = s.track_id"
        " left join thread t using(utid)"
        " where row glob '*stream *' group by 1, 2 order by 1, 2")


def main(work, node, gnomon, driver, cupti, *program):
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    environment = dict(os.environ, GNOMON_CUDA_LIBRARY=driver,
                       GNOMON_CUPTI_LIBRARY=cupti,
                       GNOMON="trace(file=run.gnomon),cuda,cupti(kinds=kernel),dir=.")
    subprocess.run([*program, f"work={STEPS}"], check=True, env=environment,
                   stderr=subprocess.DEVNULL)
    for form, name in ("chrome", "run.json"), ("perfetto", "run.pftrace"):
        subprocess.run([gnomon, "export", "run.gnomon", "--to", form, "-o", name],
                       check=True)
        trouble, rows = ask(node, name, [TROUBLE, ROWS])
        streams = {r["row"].split(" (overlap")[0].split(" ")[-1] for r in rows}
        found = {}
        for r in rows:
            found[r["name"]] = found.get(r["name"], 0) + r["n"]
        # The first scope may be lost, as the device is not known when it begins.
        timed = [found.pop(s, 0) for s in ("forward", "train_step")]
        if (trouble or len(streams) != 1 or min(timed) < STEPS - 1 or
                max(timed) > STEPS or
                found != {"gemm": STEPS, "relu": STEPS, "adam": STEPS}):
            sys.exit(f"{name}: {trouble} {timed} {rows}")


main(*sys.argv[1:])

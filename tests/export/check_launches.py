#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_launches.py WORK NODE GNOMON DRIVER CUPTI PROGRAM...: where no calls of CUDA are
recorded, the trace processor draws each kernel's arrow from the scope that launched it, in
traces of both forms."""
import os
import subprocess
import sys

from trace_processor import TROUBLE, ask

STEPS = 5
# Where a clock is coarse a scope may begin with its first child, which the trace processor
# then takes for the cause: the outermost that began then is meant.
ARROWS = ("select (select name from slice o where o.track_id = a.track_id"
          " and o.ts = a.ts order by depth limit 1) as cause,"
          " b.name as effect, count(*) as n,"
          " min(b.ts - a.ts) as least from flow f join slice a on a.id = f.slice_out"
          " join slice b on b.id = f.slice_in group by 1, 2 order by 1, 2")
EXPECTED = [("forward", "gemm", STEPS), ("forward", "relu", STEPS),
            ("train_step", "adam", STEPS)]


def main(work, node, gnomon, driver, cupti, *program):
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    environment = dict(os.environ, GNOMON_CUDA_LIBRARY=driver,
                       GNOMON_CUPTI_LIBRARY=cupti,
                       GNOMON="trace(file=run.gnomon),cupti(kinds=kernel),dir=.")
    subprocess.run([*program, f"work={STEPS}"], check=True, env=environment,
                   stderr=subprocess.DEVNULL)
    for form, name in ("chrome", "run.json"), ("perfetto", "run.pftrace"):
        subprocess.run([gnomon, "export", "run.gnomon", "--to", form, "-o", name],
                       check=True)
        trouble, arrows = ask(node, name, [TROUBLE, ARROWS])
        found = [(a["cause"], a["effect"], a["n"]) for a in arrows]
        if trouble or found != EXPECTED or min(a["least"] for a in arrows) < 0:
            sys.exit(f"{name}: {trouble} {arrows}")


main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_rows.py FILE: what PyTorch's own ways cost the thread around launches.

Adds rows to the table in FILE: an empty loop body's launch (a one-element add),
pairs of torch.cuda.Event, torch.cuda.nvtx ranges and torch.profiler. Its rows are
held against torch_launch, all in CPU time of the launching thread, ns for one.
"""
import statistics
import sys
import time

try:
    import torch
except ImportError:
    print("no PyTorch here: no rows of it")
    sys.exit(0)
if not torch.cuda.is_available():
    print("PyTorch sees no GPU: no rows of it")
    sys.exit(0)

REPETITIONS, BATCHES, BATCH, WARM = 31, 20, 100, 10
number = torch.zeros(1, device="cuda")
first, last = (torch.cuda.Event(enable_timing=True) for _ in "ab")


def launch(n):
    for _ in range(n):
        number.add_(1)


def events(n):
    for _ in range(n):
        first.record()
        number.add_(1)
        last.record()


def nvtx(n):
    for _ in range(n):
        torch.cuda.nvtx.range_push("scope")
        number.add_(1)
        torch.cuda.nvtx.range_pop()


def record_function(n):
    for _ in range(n):
        with torch.profiler.record_function("scope"):
            number.add_(1)


def measure(run):
    ns = 0
    for _ in range(BATCHES):
        time.sleep(0.001)
        run(WARM)
        begin = time.thread_time_ns()
        run(BATCH)
        ns += time.thread_time_ns() - begin
        torch.cuda.synchronize()
    return ns / (BATCHES * BATCH)


def profiled(run):
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]):
        return measure(run)


def row(name, times, floors):
    cells = [name, "1", f"{min(times):.3f}", f"{statistics.median(times):.3f}"]
    if floors:
        ratios = [t / f for t, f in zip(times, floors)]
        cells += ["torch_launch", f"{min(times) / min(floors):.3f}",
                  f"{statistics.median(ratios):.3f}"]
    else:
        cells += ["", "", ""]
    print("%-20s %11s %11s %8s" % (name, cells[2], cells[3], cells[6]))
    return "\t".join(cells + ["", "", "torch", ""]) + "\n"


rows = {"torch_events": events, "torch_nvtx": nvtx}
times = {name: [] for name in ["torch_launch", *rows]}
floors = {name: [] for name in rows}
launch(10)
for _ in range(REPETITIONS):
    times["torch_launch"].append(measure(launch))
    for name, run in rows.items():
        floors[name].append(measure(launch))
        times[name].append(measure(run))

# Last: CUPTI stays attached once it was used, and slows every launch after it;
# so these are held against launches from before.
profiled(launch)
for name, run in {"torch_profiler": launch,
                  "torch_profiler_scope": record_function}.items():
    times[name] = [profiled(run) for _ in range(5)]
    floors[name] = times["torch_launch"][:5]

print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
lines = [row(name, times[name], floors.get(name)) for name in times]
if len(sys.argv) > 1:
    with open(sys.argv[1], "a", encoding="ascii") as table:
        table.writelines(lines)

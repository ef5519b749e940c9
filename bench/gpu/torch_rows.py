#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_rows.py FILE LIBGNOMON [TOOL]: PyTorch's own ways and gnomon's, in turn
around the same launches of one thread, in one loop of Python and on one stream.

Adds rows to the table in FILE: CPU time of the launching thread, ns for one,
beside torch_launch, which is the loop with its launch alone (a one-element add).
Rows py_gnomon_* call LIBGNOMON by ctypes, which is most of their time: py_ctypes
is two such calls that do nothing. gnomon_cupti and torch_profiler record kernels, copies
and calls; as a process has one user of CUPTI, each of their rows is measured in a process
of its own, and fails if it saw no kernels. TOOL counts what NVTX is told.
"""
import csv
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

arguments = sys.argv[1:]
# A process for one row: prints its times and those of the launch before it.
alone = arguments.pop(0)[len("--row="):] if arguments and \
    arguments[0].startswith("--row=") else ""
if len(arguments) < 2:
    sys.exit("usage: torch_rows.py FILE LIBGNOMON [TOOL]")
tool = arguments[2] if len(arguments) > 2 else ""
has_tool = os.path.exists(tool)
if has_tool:  # before the first call of NVTX: without one it measures off
    os.environ["NVTX_INJECTION64_PATH"] = os.path.abspath(tool)

try:
    import torch
except ImportError:
    print("no PyTorch here: no rows of it")
    sys.exit(0)
if not torch.cuda.is_available():
    print("PyTorch sees no GPU: no rows of it")
    sys.exit(0)

REPETITIONS, BATCHES, BATCH, WARM = 31, 20, 100, 10

# ---- gnomon -------------------------------------------------------------------


class Scope(ctypes.Structure):
    """gnomon_device_scope, of include/gnomon/tool.h."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("timer", ctypes.c_uint32),
                ("token", ctypes.c_uint64)]


# No call of these waits, so that the interpreter's lock is kept, which is cheaper.
gnomon = ctypes.PyDLL(os.path.abspath(arguments[1]))
POINTER, U32, U64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64


def function(name, result, *parameters):
    found = getattr(gnomon, name)
    found.restype, found.argtypes = result, parameters
    return found


attach = function(
    "gnomon_attach", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p
)
error_text = function("gnomon_error_text", ctypes.c_char_p)
region_get = function("gnomon_region_get", POINTER, ctypes.c_char_p,
                      ctypes.c_char_p, ctypes.c_int)
begin = function("gnomon_begin_slow", U64, POINTER, U32)
end = function("gnomon_end_slow", None, U64)
begin_on = function("gnomon_begin_on_slow", None, POINTER, U32, POINTER,
                    POINTER, ctypes.POINTER(Scope))
end_on = function("gnomon_end_on_slow", None, ctypes.POINTER(Scope))
timer_create = function("gnomon_cuda_timer_create", ctypes.c_int,
                        ctypes.POINTER(POINTER))
timer_start = function("gnomon_cuda_timer_start", ctypes.c_int, POINTER,
                       POINTER)
timer_stop = function("gnomon_cuda_timer_stop", ctypes.c_int, POINTER, POINTER)
timer_destroy = function("gnomon_cuda_timer_destroy", None, POINTER)
device = function("gnomon_cuda_device", POINTER)()
region = region_get(b"scope", None, 0)
mask = U32.from_address(region)  # its first word: 0 is off
timer = POINTER()
scope = Scope(ctypes.sizeof(Scope))
opened = ctypes.byref(scope)


def must(code, what):
    if code:
        sys.exit(f"torch_rows.py: {what}: {error_text().decode()}")


if has_tool:
    heard = ctypes.PyDLL(os.path.abspath(tool)).bench_tool_pairs
    heard.restype = U64

# ---- Rows ---------------------------------------------------------------------

torch.cuda.set_stream(torch.cuda.Stream())
stream = torch.cuda.current_stream()
handle = stream.cuda_stream
number = torch.zeros(1, device="cuda")
first, last = (torch.cuda.Event(enable_timing=True) for _ in "ab")


def launch(n):
    for _ in range(n):
        number.add_(1)


def events(n):
    for _ in range(n):
        first.record(stream)
        number.add_(1)
        last.record(stream)


def nvtx(n):
    for _ in range(n):
        torch.cuda.nvtx.range_push("scope")
        number.add_(1)
        torch.cuda.nvtx.range_pop()


def record_function(n):
    for _ in range(n):
        with torch.profiler.record_function("scope"):
            number.add_(1)


def by_ctypes(n):
    for _ in range(n):
        begin_on(None, 0, device, handle, opened)
        number.add_(1)
        timer_destroy(None)


# As the headers' inline halves: off costs no call.
def gnomon_cuda(n):
    for _ in range(n):
        on = mask.value
        if on:
            begin_on(region, on, device, handle, opened)
        number.add_(1)
        if on:
            end_on(opened)


def gnomon_timer(n):
    for _ in range(n):
        timer_start(timer, handle)
        number.add_(1)
        timer_stop(timer, handle)


def gnomon_scope(n):
    for _ in range(n):
        on = mask.value
        token = begin(region, on) if on else 0
        number.add_(1)
        if token:
            end(token)


# ---- Measuring ----------------------------------------------------------------

told = {}  # ranges that the tool heard of a row's


def measure(run):
    ns = 0
    for _ in range(BATCHES):
        time.sleep(0.001)
        run(WARM)
        begin_ns = time.thread_time_ns()
        run(BATCH)
        ns += time.thread_time_ns() - begin_ns
        torch.cuda.synchronize()
    return ns / (BATCHES * BATCH)


def heard_all(run):
    """Ranges of NVTX: counts those that the tool hears."""
    before = heard() if has_tool else 0
    ns = measure(run)
    told[run] = told.get(run, 0) + (heard() - before if has_tool else 0)
    return ns


def timed_all(run):
    """Scopes on the stream: they have timers, or would cost nothing."""
    ns = measure(run)
    begin_on(region, mask.value, device, handle, opened)
    end_on(opened)
    if not mask.value or not scope.token or not scope.timer:
        sys.exit("torch_rows.py: a scope on PyTorch's stream is not timed")
    return ns


# How many kernels a tool must see in `measure`.
KERNELS = BATCHES * (WARM + BATCH)


def must_see(kernels, who):
    if kernels < KERNELS:
        sys.exit(f"torch_rows.py: {who} saw {kernels} of {KERNELS} kernels: "
                 "this is not its cost")


def profiled(run):
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]) as seen:
        ns = measure(run)
    must_see(sum(str(event.device_type).endswith("CUDA")
                 for event in seen.events()), "torch.profiler")
    return ns


def worked(run):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernels.csv")
        spec = f"kernels(format=csv,file={path}),cupti,file=/dev/null"
        must(attach(None, None, spec.encode()), "cupti")
        ns = measure(run)
        must(attach(None, None, OFF), "off")
        kernels = 0
        with open(path, encoding="utf-8", newline="") as table:
            for cells in csv.DictReader(table):
                named = {key.lower(): value for key, value in cells.items()}
                if named.get("kind") == "kernel":
                    kernels += int(float(named.get("calls", 0)))
    must_see(kernels, "gnomon")
    return ns


def row(name, ns, floors):
    cells = [name, "1", f"{min(ns):.3f}", f"{statistics.median(ns):.3f}"]
    added = ""
    if floors:
        ratios = [t / f for t, f in zip(ns, floors)]
        added = f"{statistics.median(t - f for t, f in zip(ns, floors)):.0f}"
        cells += ["torch_launch", f"{min(ns) / min(floors):.3f}",
                  f"{statistics.median(ratios):.3f}"]
    else:
        cells += ["", "", ""]
    print("%-20s %11s %11s %11s %8s" % (name, cells[2], cells[3], added,
                                        cells[6]))
    run = rows[name][1] if name in rows else None
    return "\t".join(cells + ["", "", "torch", str(told.get(run, ""))]) + "\n"


launch(10)
torch.cuda.synchronize()
must(timer_create(ctypes.byref(timer)), "an event timer")
must(timer_start(timer, handle), "an event timer")
must(timer_stop(timer, handle), "an event timer")

OFF, CUDA, NVTX = b"", b"cuda,file=/dev/null", b"nvtx"
tools = {  # by CUPTI: what runs, by what it is measured
    "gnomon_cupti": (launch, worked),
    "torch_profiler": (launch, profiled),
    "gnomon_cupti_scope": (gnomon_scope, worked),
    "torch_profiler_scope": (record_function, profiled),
}
if alone:
    run, by = tools[alone]
    must(attach(None, None, OFF), "off")
    before = [measure(launch) for _ in range(5)]
    by(run)  # its first session
    print(json.dumps([before, [by(run) for _ in range(5)]]))
    sys.exit(0)

rows = {  # name: what is attached, what runs, by what it is measured
    "torch_events": (OFF, events, measure),
    "torch_nvtx": (OFF, nvtx, heard_all),
    "py_ctypes": (OFF, by_ctypes, measure),
    "py_gnomon_timer": (OFF, gnomon_timer, measure),
    "py_gnomon_cuda": (CUDA, gnomon_cuda, timed_all),
    "py_gnomon_nvtx": (NVTX, gnomon_scope, heard_all),
}
if attach(None, None, NVTX):
    print(f"no row of gnomon's nvtx: {error_text().decode()}")
    del rows["py_gnomon_nvtx"]
times = {name: [] for name in ["torch_launch", *rows]}
floors = {name: [] for name in rows}
for _ in range(REPETITIONS):
    must(attach(None, None, OFF), "off")
    times["torch_launch"].append(measure(launch))
    for name, (spec, run, by) in rows.items():
        must(attach(None, None, spec), spec.decode())
        floors[name].append(measure(launch))
        times[name].append(by(run))
must(attach(None, None, OFF), "off")
timer_destroy(timer)

failed = []
for name in tools:
    ran = subprocess.run([sys.executable, __file__, f"--row={name}", *arguments],
                         stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        failed.append(name)
    else:
        floors[name], times[name] = json.loads(ran.stdout.splitlines()[-1])

print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}; ns for one, and"
      " what it adds to the launch"
      + ("" if has_tool else "; no tool hears NVTX"))
print("%-20s %11s %11s %11s %8s" % ("measure", "min", "median", "added", "x"))
lines = [row(name, ns, floors.get(name)) for name, ns in times.items()]
with open(arguments[0], "a", encoding="ascii") as table:
    table.writelines(lines)
ran = REPETITIONS * BATCHES * (WARM + BATCH)
for run, count in told.items():
    if has_tool and count != ran:
        print(f"{run.__name__}: the tool heard {count} of {ran} ranges")
if failed:
    print("no row: " + ", ".join(failed))
if failed or (has_tool and told.get(gnomon_scope, ran) != ran):
    sys.exit(1)

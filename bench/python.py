# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python.py PACKAGE [OUT.tsv]: what marks of Python cost, beside other ways.

Each row is a child process, so that what is attached in one is not in another; rows take
turns. Fp is a bare context manager that does nothing, measured in the same process as the
row before and after it. Ratios are to Fp; the figures are CPU time of a pair."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

FLOOR = """
class Nothing:
    def __enter__(self): return self
    def __exit__(self, *error): pass
def floor(n):
    for _ in range(n):
        with Nothing(): pass
"""
MEASURE = """
import json, sys, time
def cost(run, n):
    begin = time.process_time_ns()
    run(n)
    return (time.process_time_ns() - begin) / n
def empty(n):
    for _ in range(n): pass
n = int(sys.argv[1])
floor(1000); row(1000)
costs = [(cost(floor, n) - cost(empty, n), cost(row, n) - cost(empty, n))
         for _ in range(5)]
print(json.dumps(costs))
"""
SCOPE = """
import gnomon
def row(n):
    for _ in range(n):
        with gnomon.scope("train_step"): pass
"""
BY_NAME = """
import gnomon
def row(n):
    for _ in range(n):
        gnomon.start("train_step"); gnomon.stop("train_step")
"""
OTHER = """
from %s import %s as other
def row(n):
    for _ in range(n):
        with other("train_step"): pass
"""
LIGHTNING = """
from %s.profilers import SimpleProfiler
profiler = SimpleProfiler()
def row(n):
    for _ in range(n):
        with profiler.profile("train_step"): pass
"""

# Name, code, $GNOMON, goal as a multiple of Fp.
ROWS = [
    ("python_off", SCOPE, None, 0.8),
    ("python_simple", SCOPE, "simple", 2.0),
    ("python_trace", SCOPE, "trace(on_trace_ready=none)", None),
    ("python_by_name_off", BY_NAME, None, None),
    ("python_by_name", BY_NAME, "simple", None),
    ("python_by_name_trace", BY_NAME, "trace(on_trace_ready=none)", None),
    ("contextlib.nullcontext", OTHER % ("contextlib", "nullcontext"), None, None),
    ("torch record_function", OTHER % ("torch.profiler", "record_function"), None, None),
    ("nvtx.annotate", OTHER % ("nvtx", "annotate"), None, None),
    ("Lightning SimpleProfiler", LIGHTNING % "lightning.pytorch", None, None),
]

CALLS = """
import time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def work():
    fib(20)
    found = []
    for i in range(20000): found.append(i)
begin = time.process_time_ns()
for _ in range(3): work()
print((time.process_time_ns() - begin) / 3 / 41891)
"""


FIT = """
import sys, time, warnings, logging
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
import torch, lightning.pytorch as L
from lightning.pytorch.profilers import *
from gnomon.lightning import GnomonProfiler
class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def training_step(self, batch, i):
        return self.layer(batch).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
profiler = eval(sys.argv[1])
loader = torch.utils.data.DataLoader(torch.randn(2000, 4), batch_size=2)
trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, profiler=profiler,
                    enable_progress_bar=False, enable_model_summary=False,
                    enable_checkpointing=False)
torch.set_num_threads(1)
begin = time.process_time_ns()
trainer.fit(Model(), loader)
print("ns", (time.process_time_ns() - begin) / 1000)
"""


def child(words, package, spec=None):
    environment = dict(os.environ, PYTHONPATH=package)
    environment.pop("GNOMON", None)
    if spec:
        environment["GNOMON"] = spec
    done = subprocess.run(
        [sys.executable, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return done.stdout if done.returncode == 0 else None


def measure_marks(package, rounds, n):
    found = {}
    for _ in range(rounds):
        for name, code, spec, _ in ROWS:
            if found.get(name, ()) is None:
                continue
            out = child(["-c", FLOOR + code + MEASURE, str(n)], package, spec)
            if out is None:
                found[name] = None  # the package is not there
            else:
                found.setdefault(name, []).extend(json.loads(out))
    for name, _, _, goal in ROWS:
        if found[name] is None:
            continue
        floors, costs = zip(*found[name])
        ratios = [cost / floor for floor, cost in found[name]]
        yield name, min(costs), statistics.median(costs), statistics.median(ratios), goal


def measure_calls(package, rounds):
    rows = {"no profiler": [], "cProfile": [], "gnomon": []}
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "calls.py")
        with open(script, "w") as file:
            file.write(CALLS)
        for _ in range(rounds):
            for name, times in rows.items():
                words = [] if name == "no profiler" else ["-m", name]
                out = child([*words, script], package)
                times.append(float(out.split("\n")[0]))
    for name, times in rows.items():
        ratios = [a / b for a, b in zip(times, rows["cProfile"])]
        goal = 1.0 if name == "gnomon" else None
        yield (
            "call, " + name,
            min(times),
            statistics.median(times),
            statistics.median(ratios),
            goal,
        )


def measure_fit(package, rounds):
    """A step of a fit of 1000 steps, beside one without a profiler."""
    makers = ("PassThroughProfiler", "SimpleProfiler", "AdvancedProfiler")
    rows = {name: [] for name in (*makers, "GnomonProfiler")}
    for _ in range(rounds):
        for name, times in rows.items():
            out = child(["-c", FIT, name + "()"], package)
            if out is None:
                return  # Lightning is not there
            times.append(float(out.split("ns ")[-1]))
    plain = rows["PassThroughProfiler"]
    for name, times in rows.items():
        ratio = statistics.median(a / b for a, b in zip(times, plain))
        yield "fit step, " + name, min(times), statistics.median(times), ratio, None


def measure_import(package, rounds):
    code = (
        "import time, os; b = time.perf_counter_ns(); import gnomon;"
        "print(time.perf_counter_ns() - b)"
    )
    times = [int(child(["-c", code], package)) for _ in range(3 * rounds)]
    yield "import_gnomon", min(times), statistics.median(times), None, None


def main():
    package, out = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.devnull
    rounds = int(os.environ.get("GNOMON_BENCH_ROUNDS", 5))
    rows = [*measure_marks(package, rounds, 200000), *measure_calls(package, rounds)]
    rows += measure_fit(package, min(rounds, 3))
    rows += measure_import(package, rounds)
    with open(out, "w") as file:
        file.write("measure\tns_min\tns_median\tratio_median\tgoal\n")
        print(f"{'measure':28}{'ns min':>10}{'median':>10}{'ratio':>8}  goal")
        for name, least, median, ratio, goal in rows:
            shown = "" if ratio is None else f"{ratio:.2f}"
            wanted = "" if goal is None else f"<= {goal}"
            missed = "  missed" if goal and ratio > goal else ""
            print(f"{name:28}{least:10.0f}{median:10.0f}{shown:>8}  {wanted}{missed}")
            file.write(
                f"{name}\t{least:.1f}\t{median:.1f}\t{shown}\t{goal or ''}\n"
            )
    print("ratios: marks to Fp, a context manager that does nothing; calls to cProfile,"
          " steps to PassThroughProfiler")


main()

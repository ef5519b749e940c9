#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_demo.py hta|tensorboard WORK GNOMON DEMO...: Holistic Trace Analysis and
TensorBoard's plugin find the demo's steps and scopes in its traces, with their times."""
import collections
import logging
import os
import shutil
import sys
import tempfile
import warnings

logging.disable(logging.ERROR)
warnings.simplefilter("ignore")
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "export"))
from demo import STEPS, Demo, fail  # noqa: E402


def by_name(rows):
    """{name: [count, ns]} of rows of names and ns."""
    found = collections.defaultdict(lambda: [0, 0])
    for name, ns in rows:
        found[name][0] += 1
        found[name][1] += ns
    return dict(found)


def same(what, expected, found, rounded=0):
    """Doubles of so many microseconds are a ns apart, so each time is exact to one;
    sums may be rounded by so many ns."""
    if expected.keys() != found.keys():
        fail(f"{what}: differ in {sorted(expected.keys() ^ found.keys())}")
    for name, (count, ns) in expected.items():
        if count != found[name][0] or abs(ns - found[name][1]) > count + rounded:
            fail(f"{what}: {name}: {count} in {ns} ns, found {found[name]}")
    print(f"{what}: {len(expected)} names")


def of_steps(steps):
    return [(f"ProfilerStep#{i}", end - begin) for i, (begin, end) in enumerate(steps)]


def by_hta(folder, events, steps, operations):
    """It leaves out what begins in the last step or later. Operations are no labels."""
    from hta.trace_analysis import TraceAnalysis
    from hta.trace_diff import LabeledTrace, TraceDiff
    a = TraceAnalysis(trace_dir=folder)
    found = [int(step) for step in a.get_profiler_steps()]
    if found != list(range(STEPS - 1)):
        fail(f"hta: steps {found}")
    table = a.get_gpu_user_annotation_breakdown(
        use_gpu_annotation=False, visualize=False)
    rows = by_name([*of_steps(steps[:-1]), *(
        (name, ns) for name, begin, ns in events
        if begin < steps[-1][0] and name not in operations)])
    # It gives no counts, and where a clock is coarse all of a label may be no time.
    same("hta: labels", rows, {
        row["name"]: (round(row["sum (us)"] / row["mean (us)"]) if row["mean (us)"]
                      else rows[row["name"]][0], row["sum (us)"] * 1000)
        for _, row in table.iterrows()})
    a.t.decode_symbol_ids(False)
    first, second = LabeledTrace("a", t=a.t), LabeledTrace("b", t=a.t)
    table = TraceDiff.compare_traces(first, second, 0, 0, 1, 2)
    if table.loc["matmul_forward", "a_counts"] != 9:
        fail(f"hta: {table}")


def by_tensorboard(folder, events, steps):
    """Labels are operators; their times are shown in whole microseconds."""
    from torch_tb_profiler.profiler.data import RunProfileData
    from torch_tb_profiler.profiler.run_generator import RunGenerator
    path = os.path.join(folder, os.listdir(folder)[0])
    with tempfile.TemporaryDirectory() as cache:
        data = RunProfileData.parse("demo", None, path, cache)
    view = RunGenerator("demo", None, data).generate_run_profile()
    same("tensorboard: steps", by_name(of_steps(steps)), {
        f"ProfilerStep#{name}": (1, costs.costs[-1] * 1000)
        for name, costs in zip(data.steps_names, data.steps_costs)})
    layers = {"model_forward", "attention_forward", "mlp_forward"}
    same("tensorboard: operators", by_name(
        (name, ns) for name, _, ns in events if name not in layers), {
        row["name"]: (row["calls"], row["host_total_duration"] * 1000)
        for row in view.operation_table_by_name["data"]}, 500)
    by_modules(view.module_stats, {name: of for name, of in by_name(
        (name, ns) for name, _, ns in events).items() if name in layers})


def by_modules(modules, expected):
    """Both blocks of the model call the same functions, and are layers of their own."""
    if [m.name for m in modules] != ["model_forward_0"]:
        fail(f"tensorboard: modules {modules}")
    model = modules[0]
    names = [m.name for m in model.children]
    if names != [f"{name}_forward_{i}" for i in (0, 1) for name in ("attention", "mlp")]:
        fail(f"tensorboard: modules {names}")
    own = model.host_duration - sum(m.host_duration for m in model.children)
    if not 0 <= model.self_host_duration <= own:
        fail(f"tensorboard: the model alone took {model.self_host_duration} of {own} us")
    if (model.operators, *(m.operators for m in model.children)) != (
            8 * model.occurences, *[3 * model.occurences] * 4):
        fail(f"tensorboard: operators of {modules}")
    found = collections.defaultdict(lambda: [0, 0])
    for m in [model, *model.children]:
        row = found[m.name.rpartition("_")[0]]
        row[0] += m.occurences
        row[1] += m.host_duration * 1000
    same("tensorboard: modules", expected, dict(found))


def main():
    tool, work, gnomon, *words = sys.argv[1:]
    demo = Demo(work, [gnomon], words)
    events, steps = demo.events()
    if len(steps) != STEPS or len(events) < 1000:
        fail(f"{len(events)} events in {len(steps)} steps")
    folder = demo.path("traces")
    os.mkdir(folder)
    if tool == "hta":
        shutil.copy(demo.path("trace.pt.trace.json"), folder)
        by_hta(folder, events, steps, demo.operations())
    else:
        demo.export("traces", "--to", "chrome", "--for", "tensorboard", "--modules")
        by_tensorboard(folder, events, steps)


main()

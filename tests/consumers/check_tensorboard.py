#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_tensorboard.py WORK GNOMON: TensorBoard's plugin for traces of torch shows the
same of gnomon's exports for it as of torch's own traces.

Run by the Python that torch-tb-profiler is installed for.
"""
import logging
import os
import re
import shutil
import sys
import tempfile

import consumers
from consumers import plain

logging.disable(logging.ERROR)


def for_plugin(traces, work):
    """torch's traces with the categories that the plugin was made for: it finds no
    Runtime time and no DataLoader time in today's. What an allocator holds in reserve is
    in no profile of gnomon."""
    out = os.path.join(work, "torch")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for name in os.listdir(traces):
        with open(os.path.join(traces, name), encoding="utf-8") as file:
            text = re.sub(r'"cat": "cuda_(runtime|driver)"', '"cat": "Runtime"',
                          file.read())
        text = re.sub(r'"cat": "user_annotation", "name": "enumerate',
                      '"cat": "cpu_op", "name": "enumerate', text)
        text = re.sub(r'"Total Reserved": \d+', '"Total Reserved": 0', text)
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)
    return out


def rows(table):
    """Of a table or of all tables of devices, in no order: ties have none."""
    if isinstance(table, list):
        table = {"": table}
    return {str(k): sorted((flat(r) for r in t), key=str) for k, t in table.items()}


def flat(value):
    if isinstance(value, dict):
        return {str(k): flat(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [flat(v) for v in value]
    if isinstance(value, str):  # a time within a text; gnomon's always have decimals
        return value.replace(".0us", "us")
    return plain(value)


def memory(profile, what):
    if not profile.memory_snapshot:
        return None
    if what == "statistics":
        return rows(profile.get_memory_stats()["rows"])
    if what == "events":
        return rows(profile.get_memory_events()["rows"])
    curve = profile.get_memory_curve(memory_metric="B")
    return {"peaks": flat(curve["metadata"]["peaks"]), "rows": rows(curve["rows"])}


def modules(of):
    """Each with those inside it."""
    return [[*map(plain, m[:-1]), modules(m.children)] for m in of or ()]


def of_worker(profile, steps):
    return {
        "views": [v.display_name for v in profile.views],
        "steps": steps,
        "overview": flat(profile.overview),
        "operators": rows(profile.operation_table_by_name["data"]),
        "operators by shape": rows(profile.operation_table_by_name_input["data"]),
        "kernels": profile.has_kernel and rows(profile.kernel_table["data"]["rows"]),
        "operators of kernels": profile.has_kernel and
        rows(profile.kernel_op_table["data"]["rows"]),
        "GPU summary": flat(profile.gpu_summary),
        "modules": modules(profile.module_stats),
        "memory": memory(profile, "statistics"),
        "allocations": memory(profile, "events"),
        "memory over time": memory(profile, "curve"),
    }


def of_all(profile):
    return {key: flat(getattr(profile, key)) for key in
            ("gpu_info", "steps_to_overlap", "steps_to_wait", "comm_ops")}


def step_costs(worker, path):
    from torch_tb_profiler.profiler.data import RunProfileData
    with tempfile.TemporaryDirectory() as cache:
        data = RunProfileData.parse(worker, None, path, cache)
    return {name: flat(costs.costs)
            for name, costs in zip(data.steps_names, data.steps_costs)}


def numbers(folder):
    """{name: result}, of each worker and of all together."""
    from torch_tb_profiler import io
    from torch_tb_profiler.profiler.loader import RunLoader
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        run = RunLoader("run", folder, io.Cache(cache)).load()
        files = {name.split(".")[0]: os.path.join(folder, name)
                 for name in os.listdir(folder)}
        # All: the distributed view, where there are several.
        found["workers"] = sorted(worker for worker, _ in run.profiles)
        if found["workers"] != sorted([*files, *["All"] * (len(files) > 1)]):
            consumers.fail(f"{folder}: only {found['workers']} were loaded")
        for (worker, _), profile in run.profiles.items():
            results = of_all(profile) if worker == "All" else of_worker(
                profile, step_costs(worker, files[worker]))
            found.update({f"{worker}: {name}": r for name, r in results.items()})
    return found


if __name__ == "__main__":
    consumers.check(numbers, {"cpu-3-steps": set(), "gpu-2-ranks": set()},
                    sys.argv[1:], "--for", "tensorboard", torch=for_plugin)

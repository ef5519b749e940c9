# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py LIBRARY WORK: annotated.py, unmodified, with the library injected:
its ranges, where they nest, its marks and payloads; and by filters."""
import collections
import json
import os
import subprocess
import sys

library, work = sys.argv[1:]
os.makedirs(work, exist_ok=True)
folder = os.path.dirname(os.path.abspath(__file__))
faults = []


def profile(spec):
    """{path: executions}, {(counter, category): (samples, sum)}"""
    path = os.path.join(work, "p.gnomon.json")
    environment = dict(os.environ, NVTX_INJECTION64_PATH=library,
                       GNOMON="%s,file=%s" % (spec, path))
    subprocess.run([sys.executable, os.path.join(folder, "annotated.py")],
                   check=True, env=environment)
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    names = [r["name"] + (" [%s]" % r["category"] if "category" in r else "")
             for r in data["regions"]]
    paths, nodes, counters = [], collections.Counter(), {}
    for node in data["nodes"]:
        above = paths[node["parent"] - 1] + " > " if "parent" in node else ""
        paths.append(above + names[node["region"] - 1])
        nodes[paths[-1]] += node["host"]["count"]
    for c in data.get("counters", ()):
        before = counters.get(names[c["region"] - 1], (0, 0))
        counters[names[c["region"] - 1]] = (before[0] + c["count"],
                                            before[1] + c["sum"])
    return dict(nodes), counters


def expect(spec, nodes, counters):
    got = profile(spec)
    if got != (nodes, counters):
        faults.append("%s:\n  %s\nnot\n  %s" % (spec, got, (nodes, counters)))


INSIDE = {"inside [mine/io]": (500, 5 * 4950), "in mine [mine/io]": (5, 7.5)}
expect("profile", {
    "outer": 1,
    "outer > decorated": 100,
    "outer > decorated > inside [mine/io]": 100,
    "outer > mark": 1,
    "outer > in mine [mine/io]": 1,
    "decorated": 400,
    "decorated > inside [mine/io]": 400,
    "mark": 4,
    "in mine [mine/io]": 4,
    "running [mine]": 1,
    "attributes [mine/other]": 3,
    "epoch # [counted]": 200}, INSIDE)
expect("profile(filter=@mine/io)", {
    "inside [mine/io]": 500, "in mine [mine/io]": 5}, INSIDE)
expect("profile(filter=@mine*,exclude=@mine/io)", {
    "running [mine]": 1, "attributes [mine/other]": 3}, {})
print("\n".join(faults))
sys.exit(1 if faults else 0)

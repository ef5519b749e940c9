#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_demo.py WORK NODE GNOMON DEMO...: Perfetto's trace processor reads the demo's
traces without an error, and counts what the profile and `gnomon report` say: scopes and
their time by name, steps, links, samples. In few bytes, and in parts too."""
import collections
import glob
import gzip
import json
import os
import sys

from demo import STEPS, Demo, fail
from trace_processor import TROUBLE, ask

# Bytes a scope of the demo's ten steps, names and all, without what operations compute:
# what is written beside what was measured. torch.profiler writes some 250 for an operator.
BYTES = {"run.json": 190,     # 173
         "run.json.gz": 22,   # 17.7
         "run.pftrace": 64,   # 59.9
         "run.pftrace.gz": 17,  # 13.9
         "events of .gnomon": 8,       # 6.4
         "events of .gnomon.gz": 6.5}  # 5.9

SCOPES = ("select name, count(*) as n, sum(dur) as ns from slice"
          " where coalesce(category, '') not in ('run', 'loss', 'mark') group by name")
FLOWS = ("select a.name as cause, b.name as effect, b.ts - a.ts as later from flow f"
         " join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in")
SAMPLES = "select t.name, c.value from counter c join track t on t.id = c.track_id"
THREADS = "select name from thread where tid > 0 order by tid"


def same(path, what, expected, found):
    if expected != found:
        missing = {k: v for k, v in expected.items() if found.get(k) != v}
        more = {k: v for k, v in found.items() if expected.get(k) != v}
        fail(f"{path}: {what}: not {missing} but {more}")


def of_report(report, events):
    """Events begin and end at whole ns of the clock's line, and a report converts all
    ticks of a stage by one rate: the line's slopes are at most 500 ppm from it."""
    if report.keys() != events.keys():
        fail(f"names: {report.keys() ^ events.keys()}")
    for name, (count, ns) in report.items():
        apart = abs(ns - events[name][1])
        if count != events[name][0] or apart > count + ns / 2000:
            fail(f"{name}: {count}, {ns} ns, of events {events[name]}")


def read(node, path, *queries):
    """{name: (count, ns)} of scopes and steps, and the rows of queries."""
    trouble, rows, *more = ask(node, path, [TROUBLE, SCOPES, *queries])
    if trouble:
        fail(f"{path}: the trace processor counts {trouble}")
    return [{r["name"]: (r["n"], r["ns"]) for r in rows}, *more]


def whole(node, path, scopes):
    """Times are exact to the ns: Chrome's microseconds have three decimals."""
    found, flows, samples, threads = read(node, path, FLOWS, SAMPLES, THREADS)
    same(path, "scopes", scopes, found)
    # The loader draws a batch for each step, and was asked for it before.
    if len(flows) != STEPS or any(
            f["effect"] != "draw_batch" or f["later"] < 0 for f in flows):
        fail(f"{path}: flows {flows}")
    if len(samples) != STEPS or any(
            not r["name"].startswith("train_loss") for r in samples):
        fail(f"{path}: samples {samples}")
    # Perfetto shows the main thread, and the others in this order.
    names = [t["name"] for t in threads]
    if names[0] != "steps" or sorted(names[1:]) != ["loader", "train_gpt"]:
        fail(f"{path}: threads {names}")


def parts(node, demo, name, size, scopes):
    """None is larger than `size`; a scope or step is in the part where it began."""
    stem, extension = name.split(".", 1)
    demo.export(name, "--max", str(size), "--to",
                "perfetto" if extension.startswith("pf") else "chrome")
    paths = glob.glob(demo.path(f"{stem}.*.{extension}"))
    counts, sums = collections.Counter(), collections.Counter()
    for path in paths:
        if os.path.getsize(path) > size:
            fail(f"{path}: {os.path.getsize(path)} bytes")
        for key, (n, ns) in read(node, path)[0].items():
            counts[key] += n
            sums[key] += ns
    same(name, f"the sums of {len(paths)} parts", scopes,
         {key: (counts[key], sums[key]) for key in counts})
    if len(paths) < 2:
        fail(f"{name}: {len(paths)} parts")
    print(f"{name}: {len(paths)} parts of at most {size} bytes")


def events_of_gnomon(demo):
    """Bytes of the events in a .gnomon file, and when it is compressed."""
    with open(demo.path("run.gnomon.json"), encoding="utf-8") as file:
        form = json.load(file)
    sizes = []
    for kind in "with", "without":
        with open(demo.path(kind + ".gnomon.json"), "w", encoding="utf-8") as file:
            json.dump(form, file)
        demo.gnomon("merge", demo.path(kind + ".gnomon.json"), "-o",
                    demo.path(kind + ".gnomon"))
        with open(demo.path(kind + ".gnomon"), "rb") as file:
            sizes.append([len(file.read())])
            file.seek(0)
            sizes[-1].append(len(gzip.compress(file.read())))
        form.pop("events", None)
    return {"events of .gnomon": sizes[0][0] - sizes[1][0],
            "events of .gnomon.gz": sizes[0][1] - sizes[1][1]}


def plain(demo):
    """The run without its operations, as a file."""
    with open(demo.path("run.gnomon.json"), encoding="utf-8") as file:
        form = json.load(file)
    for node in form["nodes"]:
        node.pop("op", None)
        node.pop("work", None)
    form.pop("ops", None)
    with open(demo.path("plain.gnomon.json"), "w", encoding="utf-8") as file:
        json.dump(form, file)
    demo.gnomon("merge", demo.path("plain.gnomon.json"), "-o",
                demo.path("plain.gnomon"))
    return demo.path("plain.gnomon")


def hold(name, size, scopes):
    each = size / scopes
    print(f"{name}: {each:.1f} bytes a scope")
    if each > BYTES[name]:
        fail(f"{name}: {each:.1f} bytes a scope, allowed are {BYTES[name]}")


def main():
    work, node, gnomon, *words = sys.argv[1:]
    if not os.access(node, os.X_OK):
        print("skipped: no node")
        sys.exit(77)
    demo = Demo(work, [gnomon], words)
    scopes, steps = demo.events_by_name(), demo.steps()
    of_report(demo.scopes(), scopes)
    count = sum(n for n, _ in scopes.values())
    if count < 1000 or len(steps) != STEPS:
        fail(f"{count} scopes in {len(steps)} steps")
    scopes.update({f"ProfilerStep#{n}": (1, ns) for n, ns in steps.items()})
    whole(node, demo.path("trace.pt.trace.json"), scopes)
    bare = plain(demo)
    for name in "run.json", "run.json.gz", "run.pftrace", "run.pftrace.gz":
        form = "perfetto" if "pftrace" in name else "chrome"
        whole(node, demo.export(name, "--to", form), scopes)
        demo.gnomon("export", bare, "--to", form, "-o", demo.path("plain." + name))
        hold(name, os.path.getsize(demo.path("plain." + name)), count)
    for name, size in events_of_gnomon(demo).items():
        hold(name, size, count)
    parts(node, demo, "parts.json", 65536, scopes)
    parts(node, demo, "parts.pftrace", 65536, scopes)
    print(f"{count} scopes in {len(steps)} steps")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_perfetto.py WORK messages|sql NODE PROGRAM...: PROGRAM writes traces into
the folder WORK, each with its profile as JSON. They are read

    messages  by Perfetto's own messages, strictly
    sql       by its trace processor, which node runs; it must count no error

and all that the profile has must be there, with exact times.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

from profiles import track_name
from trace_processor import TROUBLE, ask_all

LIMIT = 2 ** 63 - 1
# Traces whose names the profile's JSON does not have.
RENAMED = re.compile("wrong-")


def fail(text):
    sys.exit("check_perfetto: " + text)


# ---- What must be there ------------------------------------------------------

class Profile:
    """What is expected of a trace, from the profile's JSON."""

    def __init__(self, path, window):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.window = window
        self.slices, self.samples, self.marks = [], [], []
        self.totals, memory = {}, []
        for event in self.rows("events"):
            self.event(event, memory)
        for unix, event in sorted(memory, key=lambda m: (m[0], m[1]["track"])):
            self.memory(unix, event)
        for scope in self.rows("opens"):
            self.open(scope)
        for step in self.rows("steps"):
            self.step(step)

    def rows(self, kind):
        return self.data.get(kind, [])

    def one(self, kind, number):
        return self.data[kind][number - 1]

    def unix(self, run, ns):
        zero = int(self.one("runs", run).get("zero_unix_ns", 0))
        return min(zero + int(ns), LIMIT)

    def takes(self, unix):
        return not self.window or self.window[0] <= unix < self.window[1]

    def track(self, number):
        """(run, name) of a track."""
        track = self.one("tracks", number)
        return track.get("run", 1), track_name(track)

    def name(self, node):
        region = self.one("nodes", node)["region"]
        return self.one("regions", region).get("name", "")

    def event(self, e, memory):
        run, track = self.track(e["track"])
        begin = int(e.get("begin_ns", 0))
        unix = self.unix(run, begin)
        kind = e.get("kind", "execution")
        if kind == "memory":
            memory.append((unix, e))
        if not self.takes(unix):
            return
        if kind == "execution":
            end = self.unix(run, begin + int(e.get("duration_ns", 0)))
            self.slices.append((run, track, self.name(e["node"]), unix, end - unix))
        elif kind == "mark":
            name = self.one("regions", e["region"]).get("name", "")
            self.marks.append((run, track, name, unix))
        elif kind == "counter":
            name = self.one("regions", e["region"]).get("name", "")
            self.samples.append((run, name or "counter", unix,
                                 float(e.get("value", 0))))

    def memory(self, unix, e):
        pool = self.one("tracks", e["region"])
        total = self.totals.get(e["region"], 0) + float(e.get("value", 0))
        self.totals[e["region"]] = total
        device = pool.get("device", -1)
        name = (pool.get("name") or "memory") + (
            " (device %d)" % device if device >= 0 else "")
        if self.takes(unix):
            self.samples.append((pool.get("run", 1), name, unix, total))

    def open(self, scope):
        run, track = self.track(scope["track"])
        unix = self.unix(run, scope.get("begin_ns", 0))
        if self.window:
            unix = max(unix, self.window[0])
            if unix >= self.window[1]:
                return
        self.slices.append((run, track, self.name(scope["node"]), unix, -1))

    def step(self, step):
        run = self.one("stages", step["stage"]).get("run", 1)
        unix = self.unix(run, step.get("begin_ns", 0))
        end = int(step.get("end_ns", 0))
        if self.takes(unix):
            self.slices.append(
                (run, "steps", "ProfilerStep#%d" % int(step.get("number", 0)), unix,
                 self.unix(run, end) - unix if end else -1))

    def losses(self):
        return sorted((l.get("run", 1), l["kind"], int(l["count"]))
                      for l in self.rows("losses"))


def same(what, path, expected, found):
    expected = collections.Counter(expected)
    found = collections.Counter(found)
    if expected == found:
        return
    missing, more = expected - found, found - expected
    fail("%s: %s: missing %s, not expected %s"
         % (path, what, list(missing.items())[:5], list(more.items())[:5]))


def without_overlap(name):
    return re.sub(r" \(overlap \d+\)$", "", name)


# ---- By messages ---------------------------------------------------------------

class Trace:
    """A trace by Perfetto's messages."""

    def __init__(self, path):
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
        self.proto, self.trace = proto, proto.Trace()
        with open(path, "rb") as file:
            self.trace.ParseFromString(file.read())
        # What no message of Perfetto's knows would be kept, and be written again.
        before = self.trace.ByteSize()
        self.trace.DiscardUnknownFields()
        if self.trace.ByteSize() != before:
            fail("%s: fields that Perfetto does not know" % path)
        self.names, self.tracks, self.stack, self.processes = {}, {}, {}, []
        self.slices, self.marks, self.samples, self.losses = [], [], [], []
        self.flows = collections.defaultdict(lambda: ([], []))
        for packet in self.trace.packet:
            self.packet(packet)
        for uuid, stack in self.stack.items():
            for name, begin in stack:
                self.slices.append(self.place(uuid) + (name, begin, -1))

    def packet(self, p):
        sequence = p.trusted_packet_sequence_id
        if p.sequence_flags & self.proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            self.names = {k: v for k, v in self.names.items() if k[0] != sequence}
        for name in p.interned_data.event_names:
            self.names[sequence, name.iid] = name.name
        if p.HasField("track_descriptor"):
            d = p.track_descriptor
            self.tracks[d.uuid] = d
            if d.HasField("process"):
                self.processes.append(d.uuid)
        if p.HasField("track_event"):
            self.event(sequence, p.timestamp, p.track_event)

    def place(self, uuid):
        """(run, name) of a track."""
        d = self.tracks[uuid]
        name = d.thread.thread_name if d.HasField("thread") else d.name
        while d.uuid not in self.processes:
            d = self.tracks[d.parent_uuid]
        return self.processes.index(d.uuid) + 1, without_overlap(name)

    def event(self, sequence, time, e):
        name = self.names[sequence, e.name_iid] if e.name_iid else e.name
        place = self.place(e.track_uuid)
        stack = self.stack.setdefault(e.track_uuid, [])
        for flow in e.flow_ids:
            self.flows[flow][0].append((place, name, time))
        for flow in e.terminating_flow_ids:
            self.flows[flow][1].append((place, name, time))
        if e.type == e.TYPE_SLICE_BEGIN:
            stack.append((name, time))
        elif e.type == e.TYPE_SLICE_END:
            name, begin = stack.pop()
            self.slices.append(place + (name, begin, time - begin))
        elif e.type == e.TYPE_COUNTER:
            self.samples.append((place[0], place[1], time, e.double_counter_value))
        elif list(e.categories) == ["loss"]:
            notes = {a.name: a.uint_value for a in e.debug_annotations}
            self.losses.append((place[0], name, notes["count"]))
        elif list(e.categories) != ["run"]:
            self.marks.append(place + (name, time))


def by_messages(path, profile, _):
    trace = Trace(path)
    for flow, (causes, effects) in trace.flows.items():
        if len(causes) != 1 or len(effects) != 1 or causes[0][2] > effects[0][2]:
            fail("%s: flow %d leads from %s to %s" % (path, flow, causes, effects))
    if RENAMED.search(path):
        if len(trace.slices) != len(profile.slices):
            fail("%s: %d slices" % (path, len(trace.slices)))
        return
    same("slices", path, profile.slices, trace.slices)
    same("marks", path, profile.marks, trace.marks)
    same("samples", path, profile.samples, trace.samples)
    own = ("links not drawn", "steps before the first event")
    same("losses", path, profile.losses(),
         [loss for loss in trace.losses if loss[1] not in own])


# ---- By the trace processor -------------------------------------------------------

# Tracks of threads have no name of their own.
TRACKS = """
    left join thread_track tt on tt.id = t.id left join thread h using (utid)
    left join process_track pt on pt.id = t.id
    left join process p on p.upid = coalesce(h.upid, pt.upid)"""
SLICES = ("select s.ts, s.dur, s.name, s.category, p.pid,"
          " coalesce(t.name, h.name) as track"
          " from slice s join track t on t.id = s.track_id" + TRACKS)
SAMPLES = ("select c.ts, c.value, t.name as track from counter c"
           " join track t on t.id = c.track_id")
FLOWS = ("select a.name as cause, a.ts as begin, b.name as effect, b.ts as end"
         " from flow f join slice a on a.id = f.slice_out"
         " join slice b on b.id = f.slice_in")
PROCESSES = "select pid, name from process where pid is not null and pid > 0"
BOUNDS = "select start_ts, end_ts from trace_bounds"
ARGS = ("select key, display_value as value from slice join args using (arg_set_id)"
        " where slice.name = 'forward' limit 20")


QUERIES = [TROUBLE, SLICES, SAMPLES, FLOWS, PROCESSES, BOUNDS, ARGS]


def by_sql(path, profile, answers):
    trouble, slices, samples, flows, processes, bounds, args = answers
    if trouble:
        fail("%s: the trace processor counts %s" % (path, trouble))
    trace = Trace(path)  # which process is which run
    pids = {trace.tracks[uuid].process.pid: run
            for run, uuid in enumerate(trace.processes, 1)}
    if not set(pids) <= {p["pid"] for p in processes}:
        fail("%s: processes %s" % (path, processes))
    if RENAMED.search(path):
        return
    found = [(pids.get(s["pid"]), without_overlap(s["track"]), s["name"], s["ts"],
              s["dur"]) for s in slices
             if s["category"] not in ("mark", "run", "loss")]
    same("slices", path, profile.slices, found)
    found = [(pids.get(s["pid"]), s["track"], s["name"], s["ts"])
             for s in slices if s["category"] == "mark"]
    same("marks", path, profile.marks, found)
    same("samples", path, [s[1:] for s in profile.samples],
         [(s["track"], s["ts"], s["value"]) for s in samples])
    same("flows", path,
         [(a[0][1:], b[0][1:]) for a, b in trace.flows.values()],
         [((f["cause"], f["begin"]), (f["effect"], f["end"])) for f in flows])
    if path.endswith("sample.pftrace"):
        by_args({a["key"]: a["value"] for a in args}, bounds)


def by_args(args, bounds):
    """As the UI's details show them."""
    expected = {"debug.operation": "matmul", "debug.flops": "524288",
                "debug.Input Dims": "[[64, 32], [32, 128]]",
                "source.file_name": "src/model.c", "source.line_number": "42"}
    for key, value in expected.items():
        if args.get(key) != value:
            fail("the arguments are %s" % args)
    if bounds[0]["start_ts"] != 1759158810000000101:
        fail("the trace begins at %s" % bounds)


def main():
    work, way, node, program = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    if way == "sql" and not os.access(node, os.X_OK):
        print("skipped: no node")
        sys.exit(77)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    subprocess.run(program + ["files"], cwd=work, check=True)
    check = {"messages": by_messages, "sql": by_sql}[way]
    paths = sorted(glob.glob(os.path.join(work, "*.pftrace")))
    if len(paths) < 10:
        fail("only %d traces" % len(paths))
    answers = ask_all(node, paths, QUERIES) if way == "sql" else paths
    for path, answer in zip(paths, answers):
        zero = 1759158810000000001
        window = (zero + 200, zero + 715) if "window" in path else None
        profile = Profile(path[:-len(".pftrace")] + ".json", window)
        check(path, profile, answer)
    print("%d traces" % len(paths))


main()

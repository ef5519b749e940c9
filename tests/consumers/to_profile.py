#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""to_profile.py TRACE PROFILE: writes what a Chrome trace of torch.profiler says as a
profile in JSON form: its run, threads, streams, paths, operations, events, links from
calls of the runtime to what they launched, and steps.
"""
import json
import sys

KINDS = {"cuda_runtime": "api", "cuda_driver": "api", "kernel": "kernel",
         "gpu_memcpy": "copy", "gpu_memset": "set"}
ON_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"}
STEP = "ProfilerStep#"
# args that are not a row's own: an exporter makes them of links, tracks and ops.
DERIVED = {"External id", "correlation", "device", "stream", "bytes", "Input Dims",
           "Input type", "memory bandwidth (GB/s)"}


class Numbers:
    """A list of entities, each once; numbers count from 1."""

    def __init__(self):
        self.list, self.numbers = [], {}

    def number(self, **entity):
        key = json.dumps(entity, sort_keys=True)
        if key not in self.numbers:
            self.list.append(entity)
            self.numbers[key] = len(self.list)
        return self.numbers[key]


def ns(us):
    return round(us * 1000)


def tensors(args):
    types = args.get("Input type", [])
    found = []
    for i, dims in enumerate(args.get("Input Dims", [])):
        found.append({"dtype": types[i] if i < len(types) else "", "dims": dims})
    return found


class Profile:
    def __init__(self, trace):
        self.rows = trace["traceEvents"]
        self.tracks, self.regions = Numbers(), Numbers()
        self.ops, self.nodes = Numbers(), Numbers()
        self.events, self.steps, self.instances = [], [], {}
        self.names = {(r["pid"], r["tid"]): r["args"]["name"] for r in self.rows
                      if r["ph"] == "M" and r["name"] == "thread_name"}
        about = trace.get("distributedInfo", {})
        steps = [r for r in self.rows if r["name"].startswith(STEP)]
        self.run = {"rank": about.get("rank", -1),
                    "world_size": about.get("world_size", -1),
                    "host": "host", "pid": steps[0]["pid"],
                    "zero_unix_ns": trace["baseTimeNanoseconds"]}
        self.metadata = [{"key": key, "value": trace[key]}
                         for key in ("deviceProperties", "distributedInfo")
                         if key in trace]

    def track(self, row):
        name = self.names.get((row["pid"], row["tid"]), "")
        if row.get("cat") in ON_DEVICE:
            return self.tracks.number(kind="stream", name=name,
                                      device=row["pid"], index=row["tid"])
        return self.tracks.number(name=name, os_id=row["tid"])

    def op(self, row):
        args = row["args"]
        own = {k: v for k, v in args.items() if k not in DERIVED}
        if row["cat"] != "cpu_op" and not own and \
                not {"bytes", "Input Dims"} & args.keys():
            return 0
        op = {"operation": row["name"], "inputs": tensors(args),
              "attributes": [{"key": k, "value": v} for k, v in own.items()]}
        if "bytes" in args:
            op.update(bytes=args["bytes"], flags=["bytes_given"])
        return self.ops.number(**op)

    def execution(self, row, open_rows):
        """open_rows: of its track, [(end, node)], innermost last."""
        track, begin = self.track(row), ns(row["ts"])
        while open_rows and open_rows[-1][0] <= begin:
            open_rows.pop()
        region = self.regions.number(
            name=row["name"], category=row["cat"],
            kind=KINDS.get(row["cat"], "scope"))
        on_device = row["cat"] in ON_DEVICE
        node = self.nodes.number(
            track=track, region=region, op=self.op(row), stage=1,
            parent=open_rows[-1][1] if open_rows and not on_device else 0)
        open_rows.append((begin + ns(row["dur"]), node))
        event = {"track": track, "node": node, "begin_ns": begin,
                 "duration_ns": ns(row["dur"])}
        if "correlation" in row["args"]:
            event["instance"] = 1 + len(self.instances)
            self.instances[event["instance"]] = (
                row["args"]["correlation"], on_device, node)
        self.events.append(event)

    def memory(self, row):
        args = row["args"]
        pool = self.tracks.number(kind="pool", device=args["Device Id"],
                                  name="memory")
        self.events.append({
            "kind": "memory", "track": self.track(row), "region": pool,
            "begin_ns": ns(row["ts"]), "instance": args["Addr"],
            "value": args["Bytes"]})

    def links(self):
        causes = {c: (i, node) for i, (c, on_device, node)
                  in self.instances.items() if not on_device}
        return [{"kind": "launch", "from": causes[c][1], "to": node,
                 "from_instance": causes[c][0], "to_instance": i}
                for i, (c, on_device, node) in self.instances.items()
                if on_device and c in causes]

    def read(self):
        open_rows = {}
        for row in sorted(self.rows, key=lambda r: (r["ts"], -r.get("dur", 0))):
            if row["ph"] == "X" and row["name"].startswith(STEP):
                self.steps.append({
                    "stage": 1, "number": int(row["name"][len(STEP):]),
                    "begin_ns": ns(row["ts"]),
                    "end_ns": ns(row["ts"] + row["dur"])})
            elif row["ph"] == "X":
                self.execution(row, open_rows.setdefault(self.track(row), []))
            elif row["name"] == "[memory]":
                self.memory(row)
        ends = [e["begin_ns"] + e.get("duration_ns", 0) for e in self.events]
        self.run["now_ns"] = max(ends)
        self.events.sort(key=lambda e: e["track"])

    def entities(self):
        return {"gnomon": 1, "runs": [self.run], "metadata": self.metadata,
                "stages": [{"name": "fit", "ended": True, "ordinal": 1,
                            "end_ns": self.run["now_ns"]}],
                "steps": self.steps, "tracks": self.tracks.list,
                "regions": self.regions.list, "ops": self.ops.list,
                "nodes": self.nodes.list, "links": self.links(),
                "events": self.events}


def convert(trace, profile):
    with open(trace, encoding="utf-8") as file:
        made = Profile(json.load(file))
    made.read()
    with open(profile, "w", encoding="utf-8") as file:
        json.dump(made.entities(), file)


if __name__ == "__main__":
    convert(*sys.argv[1:])

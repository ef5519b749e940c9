# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles and commands by which two builds of the program are compared.

The profiles are made up: jobs of ranks whose threads and streams ran known trees of
scopes, added up here as a recorder does. What makes reports differ is in some and not
in others: single executions, two views, unnamed stages, attempts, missing ranks, open
scopes, losses, NaN. They are the same in each run."""
import concurrent.futures
import glob
import hashlib
import json
import os
import random
import shutil
import subprocess

REGIONS = [("train_step", "action"), ("forward", "scope"), ("layer_0", "function"),
           ("layer_1", "function"), ("backward", "scope"), ("optimizer_step", "action"),
           ("all_reduce", "scope"), ("load", "scope"), ("decode", "function"),
           ("gemm", "kernel"), ("HtoD", "copy"), ("loss", "counter"), ("epoch", "mark"),
           ("save|\n\x1b", "range"), ("gc", "mark")]
NUMBER = {name: i + 1 for i, (name, _) in enumerate(REGIONS)}
# A scope: its own time and what is in it.
STEP = ("train_step", 3, [("forward", 2, [("layer_0", 6, []), ("layer_1", 8, [])]),
                          ("backward", 9, [("layer_1", 9, []), ("layer_0", 7, [])]),
                          ("all_reduce", 4, []), ("optimizer_step", 5, [])])
WORKER = ("load", 3, [("decode", 20, [])])
LAUNCHES = {"layer_0": "gemm", "layer_1": "gemm", "load": "HtoD"}
VIEW_2 = ("forward", "backward", "layer_0", "load") # what its filter lets in


def cell_of(ns):
    e = max(ns.bit_length() - 5, 0)
    return 16 * e + (ns >> e)


def stats(times, own=None):
    cells = {}
    for t in times:
        cells[cell_of(t)] = cells.get(cell_of(t), 0) + 1
    return {"count": len(times), "total_ns": sum(times),
            "self_ns": sum(times) if own is None else own,
            "min_ns": min(times, default=0), "max_ns": max(times, default=0),
            "cells": sorted(cells.items())}


class Rank:
    """One run, as a JSON form by itself."""

    def __init__(self, rng, rank, world, **traits):
        self.rng, self.rank, self.traits = rng, rank, traits
        self.nodes, self.times, self.events, self.links = {}, {}, [], {}
        self.step_times = {}
        self.now = rng.randrange(1000, 5000)
        views = [{"words": ""}, {"words": "filter=forward"}][:traits.get("views", 0)]
        run = {"job": traits.get("job", "7"), "rank": rank, "world_size": world,
               "local_rank": rank % 2, "host": f"node{rank // 2}", "pid": 100 + rank,
               "uuid": f"u{rank}{traits.get('attempt', '')}", "spec": "tree",
               "clock": "test", "zero_unix_ns": 10**18 + rank * 700,
               "clock_error_ns": 40, "dir": "/tmp"}
        if traits.get("attempt"):
            run["attempt"] = traits["attempt"]
        if rank < 0 or traits.get("bare"):
            run = {"pid": 9, "now_ns": 0}
        self.form = {"gnomon": 1, "runs": [run],
                     "metadata": [{"key": "model", "json": '{"layers": 2}'},
                                  {"key": "seed", "json": str(rank // 2)}],
                     "stages": [], "steps": [], "views": views,
                     "tracks": [{"name": "main", "os_id": 10 + rank, "alive": True},
                                {"name": f"worker {rank % 2}", "index": 1,
                                 "thread_count": 2},
                                {"kind": "stream", "device": rank % 2, "index": 7,
                                 "name": "stream 7"},
                                {"kind": "pool", "device": rank % 2, "name": "HBM"}],
                     "regions": [{"name": n, "kind": k, "category": "" if i % 3 else "io",
                                  "file": f"m{i % 2}.c" if i % 4 else "", "line": i}
                                 for i, (n, k) in enumerate(REGIONS)],
                     "ops": [{"operation": "mm", "flops": 4096, "bytes": 512,
                              "inputs": [{"dtype": "f32", "dims": [4, 8]}]}],
                     "counters": [], "losses": [], "opens": []}
        for i in range(traits.get("stages", 3)):
            self.stage(i)
        self.finish(run)

    def stage(self, i):
        name = "" if self.traits.get("unnamed") else ("fit", "validate", "fit")[i % 3]
        begin, number = self.now, i + 1
        count = 0 if self.traits.get("stepless") else (6, 3, 5)[i % 3]
        taken = []
        for n in range(max(count, 1)):
            start = self.now
            self.now = self.execute(0, number, STEP, (), self.now + 20, {})
            if n % 2 == 0:
                self.execute(1, number, WORKER, (), start + 5, {})
            taken.append(self.now - start)
            if count:
                self.form["steps"].append(
                    {"stage": number, "number": n, "begin_ns": start,
                     "end_ns": self.now, "phase": "warmup" if n == 0 else "record"})
                self.sum_steps(number, n)
        self.now += self.rng.randrange(50)
        times = taken if count else []
        self.form["stages"].append(
            {"ordinal": number, "name": name, "begin_ns": begin, "end_ns": self.now,
             "ended": i < 2, "steps": stats(times), "count": 1 + i % 2,
             "recorded_ns": (self.now - begin) * (1 if i % 2 else 0),
             "late": 3 if i == 1 else 0})
        values = [self.rng.randrange(-8, 90) / 8 for _ in range(i + 1)]
        self.form["counters"].append(
            {"track": 1 + i % 2, "region": NUMBER["loss"], "stage": number,
             "count": len(values), "last": values[-1], "min": min(values),
             "max": max(values), "sum": sum(values), "nans": i})
        self.now += 100

    def execute(self, track, stage, scope, path, begin, below):
        """Adds one execution of all views; when it ended."""
        name, own, inside = scope
        path, at, mine = path + (name,), begin, {}
        at += own * self.rng.randrange(3, 9)
        for child in inside:
            if self.rng.randrange(9):
                at = self.execute(track, stage, child, path, at, mine)
        at += own * self.rng.randrange(20, 30 + self.traits.get("slower", 0))
        if name == self.traits.get("slow") and self.rng.randrange(3) == 0:
            at += 900
        end = at
        for view in range(max(self.traits.get("views", 0), 1)):
            if view and name not in VIEW_2:
                continue
            seen = tuple(p for p in path if not view or p in VIEW_2)
            number = view + 1 if self.traits.get("views") else 0
            self.add((track, stage, number, seen), begin, end - begin,
                     sum(t for (v, _), t in mine.items() if v == view))
        self.step_times.setdefault((stage, name), []).append(end - begin)
        for view in range(2):
            if view and name not in VIEW_2:
                for key, t in list(mine.items()):
                    if key[0] == view:
                        below[view, key[1]] = below.get((view, key[1]), 0) + t
            else:
                below[view, name] = below.get((view, name), 0) + end - begin
        if name in LAUNCHES and self.traits.get("device"):
            took = self.rng.randrange(30, 300)
            self.add((2, 0, 0, (LAUNCHES[name],)), max(end, self.busy()), took, 0,
                     cause=(track, stage, 1 if self.traits.get("views") else 0, path))
        return end

    def busy(self):
        return max((b + d for k, b, d, _ in self.events if k[0] == 2), default=0)

    def add(self, key, begin, took, inside, cause=None):
        for n in range(1, len(key[3]) + 1): # parents first
            self.nodes.setdefault(key[:3] + (key[3][:n],), len(self.nodes) + 1)
            self.times.setdefault(key[:3] + (key[3][:n],), [[], 0])
        t = self.times[key]
        t[0].append(took)
        t[1] += took - inside
        self.events.append((key, begin, took, len(t[0])))
        if cause:
            link = (self.nodes[cause], self.nodes[key])
            self.links[link] = self.links.get(link, 0) + 1

    def sum_steps(self, stage, step):
        """The times of regions in the step that is over."""
        view = 1 if self.traits.get("views") else 0
        number = len(self.form["steps"])
        for name, times in [(n, t) for (s, n), t in self.step_times.items()
                            if s == stage]:
            sums = self.form.setdefault("sums", {}).setdefault(
                (stage, view, 0 if name == "train_step" else NUMBER[name]), [])
            new = sum(times) - sum(t for _, t in sums)
            if new > 0:
                sums.append((number, new))

    def finish(self, run):
        form, traits = self.form, self.traits
        run.setdefault("now_ns", self.now)
        if run.get("zero_unix_ns"):
            run["anchors"] = [{"ns": 0, "unix_ns": run["zero_unix_ns"], "error_ns": 9},
                              {"ns": self.now, "error_ns": 11,
                               "unix_ns": run["zero_unix_ns"] + self.now + self.rank}]
        form["step_times"] = []
        for (stage, view, region), times in form.pop("sums", {}).items():
            form["step_times"].append({"stage": stage, "view": view, "region": region,
                                       "time": stats([t for _, t in times])})
            for step, t in sorted(times, key=lambda s: -s[1])[:3]:
                form["step_times"].append({"stage": stage, "view": view, "step": step,
                                           "region": region, "time": stats([t])})
        form["view_times"] = [{"stage": s + 1, "view": v + 1, "recorded_ns": 400 + v}
                              for s in range(len(form["stages"]))
                              for v in range(len(form["views"]))]
        form["nodes"] = [self.node(*n) for n in enumerate(self.nodes, 1)]
        form["links"] = [{"from": a, "to": b, "kind": "launch", "count": n}
                         for (a, b), n in self.links.items()]
        form["events"] = []
        if traits.get("events"):
            for key, begin, took, instance in sorted(self.events, key=lambda e: e[1]):
                form["events"].append({"track": key[0] + 1, "node": self.nodes[key],
                                       "begin_ns": begin, "duration_ns": took,
                                       "instance": instance})
            for i in range(6):
                form["events"].append({"kind": "mark" if i % 2 else "counter",
                                       "track": 1, "begin_ns": self.now + i,
                                       "region": NUMBER["gc" if i % 2 else "loss"],
                                       "value": i / 4})
        if traits.get("losses"):
            form["losses"] = [{"kind": "lost_scopes", "count": 3, "begin_ns": 2000,
                               "end_ns": 2500}, {"track": 1, "kind": "too_deep",
                                                 "count": 1 + self.rank % 3}]

    def node(self, number, key):
        (track, stage, view, path), (times, own) = key, self.times[key]
        n = {"track": track + 1, "stage": stage, "view": view,
             "region": NUMBER[path[-1]], "first": number,
             "parent": self.nodes[key[:3] + (path[:-1],)] if path[:-1] else 0}
        if track == 2:
            n["device"] = stats(times)
            n["work"] = {"bytes": 64 * len(times), "flops": 4096 * len(times)}
            return n
        n["host"] = stats(times, own)
        if path[-1] in LAUNCHES and self.traits.get("device"):
            n["device"] = stats([t + 7 for t in times])
            n["op"] = 1 if path[-1] == "layer_0" else 0
        if path[-1] == "layer_0":
            n["memory"] = [{"pool": 4, "allocations": 2, "frees": 1,
                            "allocated_bytes": 900, "freed_bytes": 300,
                            "live_bytes": 600, "peak_bytes": 700}]
        if path == ("train_step",) and stage == 3 and self.traits.get("open"):
            n["open"] = 1
            self.form["opens"].append({"track": track + 1, "node": number,
                                       "begin_ns": self.now - 60})
        return n


def write_profiles(folder):
    """The names of single files, and of the files of each job."""
    rng = random.Random(33)
    every = {"events": 1, "device": 1, "views": 2, "losses": 1, "open": 1}
    jobs = {"plain": (2, {}), "events": (2, {"events": 1, "device": 1}),
            "views": (3, {"views": 2, "device": 1}), "every": (5, every),
            "unnamed": (2, {"unnamed": 1, "open": 1, "events": 1}),
            "slower": (2, {"slower": 9, "slow": "forward", "events": 1, "device": 1}),
            "restarted": (2, {"attempt": "2", "losses": 1, "stages": 2}),
            "stepless": (1, {"stepless": 1, "device": 1}),
            "bare": (1, {"bare": 1, "stages": 1, "open": 1})}
    made = {}
    for job, (world, traits) in jobs.items():
        for rank in range(world):
            if job == "every" and rank == 3:
                continue # is missing
            name = f"{job}.{rank}.gnomon.json"
            with open(os.path.join(folder, name), "w") as file:
                json.dump(Rank(rng, rank, world, job=job, **traits).form, file)
            made.setdefault(job, []).append(name)
    again = Rank(rng, 0, 2, job="plain", attempt="1", stages=1).form
    with open(os.path.join(folder, "again.gnomon.json"), "w") as file:
        json.dump(again, file)
    made["plain"].append("again.gnomon.json")
    return made


def write_files(folder, program, tests):
    """All profiles; files of either form that people keep, and damaged ones."""
    os.makedirs(folder, exist_ok=True)
    jobs, singles = write_profiles(folder), []
    for job, files in jobs.items():
        subprocess.run([program, "merge", "-o", f"{job}.gnomon", *files], cwd=folder,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        singles.append(f"{job}.gnomon")
    singles += ["every.1.gnomon.json", "events.0.gnomon.json"]
    rng = random.Random(33)
    for job in ("every", "events", "views"):
        with open(os.path.join(folder, f"{job}.gnomon"), "rb") as file:
            sound = file.read()
        for i in range(4):
            bad = bytearray(sound)
            bad[rng.randrange(16, len(bad))] ^= 1 << rng.randrange(8)
            if i == 3:
                bad = bad[:rng.randrange(len(bad) // 2, len(bad))]
            singles.append(f"bad.{job}.{i}.gnomon")
            with open(os.path.join(folder, singles[-1]), "wb") as file:
                file.write(bad)
    kept = [("file", "format1.gnomon"), ("file", "format1.gnomon.json")]
    for form, end in (("file", ""), ("json", ".json")):
        inputs = os.path.join("fuzz", "corpus", form)
        kept += [(inputs, n) for n in sorted(os.listdir(os.path.join(tests, inputs)))]
    for where, name in kept:
        end = ".json" if where.endswith("json") else ""
        to = name if ".gnomon" in name else f"kept.{name}.gnomon{end}"
        with open(os.path.join(tests, where, name), "rb") as file:
            content = file.read()
        with open(os.path.join(folder, to), "wb") as file:
            file.write(content)
        singles.append(to)
    return jobs, singles


# What each report can be grouped and sorted by.
REPORTS = {"simple": ("", ""), "advanced": ("rank thread category", "time nfl"),
           "cuda": ("thread host", "total"), "tree": ("rank host thread", "total calls"),
           "regions": ("rank file category", "name self"), "threads": ("rank", "calls"),
           "steps": ("rank host", "p99"), "ranks": ("host category file", "over name"),
           "links": ("rank thread file", "kind self"), "counters": ("rank host", "max"),
           "gaps": ("", ""), "critical": ("", ""), "gpu": ("rank thread", "total name"),
           "kernels": ("rank thread host", "total"), "cupti": ("", ""), "json": ("", "")}
EXPORTS = ["chrome", "csv", "json", "perfetto", "prof", "speedscope", "stacks"]
DIFF = ["mean", "total", "calls", "p50", "p90", "max", "self", "device-mean"]


def reports(kind, f):
    """All forms of one report of one file."""
    by, sort = REPORTS[kind]
    base = ["report", "--as", kind]
    yield base + [f]
    yield base + ["--each", f]
    yield base + ["--filter", "layer*|load|gemm", f]
    yield base + ["--exclude", "layer_0|@io", "--format", "csv", f]
    yield base + ["--columns", "all", "--format", "md", f]
    yield from (base + ["--by", g, "--format", "csv", f] for g in by.split())
    yield from (base + ["--sort", s, "--limit", "3", f] for s in sort.split())


def commands(jobs, singles):
    """The arguments of each command. What it writes goes below out/."""
    made = []
    for f in singles:
        made += [["info", f], ["cat", f], ["report", f], ["merge", "-o", "out/x.gnomon", f],
                 ["report", "--as", "tree", f]]
        if f.startswith(("bad.", "kept.")):
            made += [["report", "--as", "json", f], ["report", "--as", "steps", f]]
            continue
        for kind in REPORTS:
            made += reports(kind, f)
        made += [["report", "--no-extended", f], ["report", "--stage", "validate", f],
                 ["report", "--as", "critical(step=3)", f],
                 ["report", "--as", "steps(limit=2)", "--stage", "fit", f],
                 ["export", "--to", "chrome", "--for", "tensorboard", f],
                 ["export", "--to", "chrome", "--max", "64KiB", "-o", "out/t.json", f],
                 ["export", "--to", "csv", "-o", "out/x.csv.gz", f]]
        made += [["export", "--to", t, "-o", "out/x", f] for t in EXPORTS]
    for job, files in jobs.items():
        made += [["merge", "-o", "out/x.json", *files], ["info", *files],
                 ["merge", "--align", "all_reduce", "-o", "out/x.gnomon", *files],
                 ["merge", "--align", "hosts", "-o", "out/x.gnomon", *files],
                 ["export", "--to", "chrome", "-o", "out/", *files]]
        made += [["report", "--as", k, *files] for k in REPORTS]
        made += [["report", "--as", k, "--by", g, *files] for k in ("steps", "ranks")
                 for g in REPORTS[k][0].split()]
    pairs = [("events.gnomon", "slower.gnomon"), ("plain.gnomon", "restarted.gnomon"),
             ("every.gnomon", "views.gnomon"), ("unnamed.gnomon", "stepless.gnomon"),
             ("events.?.gnomon.json", "slower.?.gnomon.json")]
    for a, b in pairs:
        made += [["diff", "--metric", m, a, b] for m in DIFF]
        made += [["diff", "--as", k, a, b] for k in ("md", "json")]
        made += [["diff", "--sort", s, "--limit", "4", a, b]
                 for s in ("total", "change", "confidence", "name")]
        made += [["diff", "--stage", "fit", "--view", "filter=forward", a, b],
                 ["diff", "--gate", "forward mean +5%", "--gate", "fit step-mean +1%",
                  "--gate", "loss counter-mean -3%", a, b]]
    return made


# ---- Comparing ---------------------------------------------------------------------


ENOUGH = 20 # differences: a mutant that hangs would take long to find them all


def outputs_of(program, place, some, right=None):
    """By command, a hash of its status and of all that it prints and writes. With
    `right` it ends after enough that differ from it."""
    environment = {**os.environ, "COLUMNS": "100", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    environment.pop("GNOMON", None)
    found = {}
    out = os.path.join(place, "out")
    for command in some:
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        try:
            done = subprocess.run([program, *command], cwd=place, timeout=20,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  env=environment, check=False)
            told = [str(done.returncode).encode(), done.stdout, done.stderr]
        except subprocess.TimeoutExpired:
            told = [b"no end"]
        for path in sorted(glob.glob(os.path.join(out, "*"))):
            with open(path, "rb") as file:
                told += [path[len(place):].encode(), file.read()]
        whole = hashlib.sha256()
        for part in told:
            whole.update(hashlib.sha256(part).digest())
        found[tuple(command)] = whole.digest()
        if right and sum(right[c] != f for c, f in found.items()) >= ENOUGH:
            break
    return found


class Outputs:
    """What the commands print and write with a program, and whether another one does
    the same. WORK is a folder of its own."""

    def __init__(self, program, tests, work, jobs):
        self.jobs, self.work = jobs, work
        self.program = os.path.join(work, "gnomon") # a copy: it is built anew
        shutil.copy(program, self.program)
        self.folder = os.path.join(work, "corpus")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.commands = commands(*write_files(self.folder, self.program, tests))
        self.right = self.all_of(self.program, self.commands)

    def all_of(self, program, some, right=None):
        places = [os.path.join(self.work, f"place{i}") for i in range(self.jobs)]
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
            os.makedirs(place)
            for name in os.listdir(self.folder):
                os.symlink(os.path.join(self.folder, name), os.path.join(place, name))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            parts = [pool.submit(outputs_of, program, place, some[i::self.jobs], right)
                     for i, place in enumerate(places)]
            return {key: value for part in parts for key, value in part.result().items()}

    def changed(self, program):
        """Commands whose output is another one. Those that are not the same twice say
        nothing."""
        now = self.all_of(program, self.commands, self.right)
        other = [list(c) for c, output in now.items() if output != self.right[c]]
        again = self.all_of(self.program, other)
        return [c for c in other if again[tuple(c)] == self.right[tuple(c)]]

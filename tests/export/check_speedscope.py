#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_speedscope.py FOLDER PROGRAM...: a strict parser of JSON reads each file; it has
the keys of speedscope's schema and no other; ends are of what was opened last, and no
moment is before the one before; and it has the executions, or without any the tree, of
the profile's JSON form. Mistakes that are planted into a file are found."""
import copy
from collections import Counter

from profiles import (arguments, check, number, one_mark, strict_json,
                      track_name)

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def keys(of, needed, allowed=()):
    check(set(needed) <= set(of) <= {*needed, *allowed}, f"keys are {list(of)}")


def is_integer(value):
    return type(value) is int and value >= 0


def frame_at(frames, which):
    check(is_integer(which) and which < len(frames), f"frame {which} of {len(frames)}")
    return frame_key(frames[which])


def frame_key(frame):
    return (one_mark(frame["name"]), one_mark(frame.get("file", "")),
            frame.get("line", 0))


def bounds(profile):
    start, end = profile["startValue"], profile["endValue"]
    check(is_integer(start) and is_integer(end) and start <= end,
          f"{profile['name']}: from {start} to {end}")


def evented(profile, frames, executions):
    """Plays a profile as speedscope does; counts (track, frame, begin, end)."""
    keys(profile, ["type", "name", "unit", "startValue", "endValue", "events"])
    bounds(profile)
    opened, last = [], profile["startValue"]
    track = one_mark(profile["name"].split(" (overlap ")[0])
    for e in profile["events"]:
        keys(e, ["type", "frame", "at"])
        check(is_integer(e["at"]) and last <= e["at"] <= profile["endValue"],
              f"{profile['name']}: {e} after {last}")
        last = e["at"]
        key = frame_at(frames, e["frame"])
        if e["type"] == "O":
            opened.append((e["frame"], e["at"]))
            continue
        check(e["type"] == "C", f"{e}")
        check(opened, f"{profile['name']}: {e} ends nothing")
        frame, begin = opened.pop()
        check(frame == e["frame"], f"{profile['name']}: {e} ends another")
        executions[track, key, begin, e["at"]] += 1
    check(not opened, f"{profile['name']}: {len(opened)} are open at its end")


def sampled(profile, frames, stacks):
    keys(profile, ["type", "name", "unit", "startValue", "endValue", "samples",
                   "weights"])
    bounds(profile)
    check(len(profile["samples"]) == len(profile["weights"]), "weights")
    check(all(map(is_integer, profile["weights"])), "weights")
    check(sum(profile["weights"]) == profile["endValue"] - profile["startValue"],
          "the sum of weights")
    for stack, weight in zip(profile["samples"], profile["weights"]):
        stacks[one_mark(profile["name"]),
               tuple(frame_at(frames, f) for f in stack)] += weight


def validate(file):
    """Returns counts of executions and of stacks."""
    keys(file, ["$schema", "shared", "profiles"], ["name", "exporter"])
    keys(file["shared"], ["frames"])
    check(file["$schema"] == SCHEMA, file["$schema"])
    frames = file["shared"]["frames"]
    for f in frames:
        keys(f, ["name"], ["file", "line"])
        check(type(f["name"]) is str and type(f.get("file", "")) is str and
              is_integer(f.get("line", 1)), f"{f}")
    executions, stacks = Counter(), Counter()
    for p in file["profiles"]:
        check(type(p.get("name")) is str and p.get("unit") == "nanoseconds",
              f"{p.get('name')}: unit {p.get('unit')}")
        if p["type"] == "evented":
            evented(p, frames, executions)
        else:
            check(p["type"] == "sampled", p["type"])
            sampled(p, frames, stacks)
    return executions, stacks


# ---- Mistakes ----------------------------------------------------------------------

EVENTED = {
    "$schema": SCHEMA, "exporter": "gnomon", "name": "a",
    "shared": {"frames": [{"name": "a"}, {"name": "b", "file": "b.c", "line": 2}]},
    "profiles": [{
        "type": "evented", "name": "main", "unit": "nanoseconds", "startValue": 1,
        "endValue": 9, "events": [
            {"type": "O", "frame": 0, "at": 1}, {"type": "O", "frame": 1, "at": 2},
            {"type": "C", "frame": 1, "at": 2}, {"type": "C", "frame": 0, "at": 9}]}]}
SAMPLED = dict(EVENTED, profiles=[{
    "type": "sampled", "name": "main", "unit": "nanoseconds", "startValue": 0,
    "endValue": 7, "samples": [[0], [0, 1]], "weights": [3, 4]}])

# What is changed, by its keys, and to what; None: it goes.
MISTAKES = [
    (EVENTED, ["$schema"], "https://www.speedscope.app/"),
    (EVENTED, ["more"], 1),
    (EVENTED, ["shared", "frames", 0, "name"], None),
    (EVENTED, ["shared", "frames", 1, "line"], "2"),
    (EVENTED, ["profiles", 0, "unit"], "microseconds"),
    (EVENTED, ["profiles", 0, "type"], "traced"),
    (EVENTED, ["profiles", 0, "name"], None),
    (EVENTED, ["profiles", 0, "startValue"], 2),
    (EVENTED, ["profiles", 0, "endValue"], 8),
    (EVENTED, ["profiles", 0, "endValue"], 9.5),
    (EVENTED, ["profiles", 0, "events", 1, "frame"], 2),
    (EVENTED, ["profiles", 0, "events", 1, "frame"], -1),
    (EVENTED, ["profiles", 0, "events", 1, "at"], 3),     # after its end
    (EVENTED, ["profiles", 0, "events", 1, "at"], 0),     # before the one before
    (EVENTED, ["profiles", 0, "events", 2, "frame"], 0),  # not the innermost
    (EVENTED, ["profiles", 0, "events", 2, "type"], "O"),
    (EVENTED, ["profiles", 0, "events", 0, "type"], "C"),
    (EVENTED, ["profiles", 0, "events", 3], None),        # stays open
    (EVENTED, ["profiles", 0, "events", 0], None),        # was never opened
    (SAMPLED, ["profiles", 0, "weights", 1], None),
    (SAMPLED, ["profiles", 0, "weights", 1], -4),
    (SAMPLED, ["profiles", 0, "endValue"], 8),
    (SAMPLED, ["profiles", 0, "samples", 1, 1], 2),
]


def find_mistakes():
    for good in EVENTED, SAMPLED:
        validate(good)
    for good, path, value in MISTAKES:
        bad = copy.deepcopy(good)
        at = bad
        for key in path[:-1]:
            at = at[key]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        try:
            validate(bad)
        except SystemExit:
            continue
        check(False, f"{path} to {value} is not found")


# ---- The files ---------------------------------------------------------------------

def region_key(p, node):
    r = p.at("regions", p.at("nodes", node)["region"])
    file = r.get("file", "")
    return r.get("name", ""), file, r.get("line", 0) if file else 0


def name_of(p, track, runs, before):
    t = p.at("tracks", track)
    run = p.track_run(track)
    if runs < 2:
        return track_name(t)
    rank = p.at("runs", run).get("rank", -1)
    return (f"rank {rank} " if rank >= 0 else f"run {before + run} ") + track_name(t)


def wanted(profiles):
    executions, stacks = Counter(), Counter()
    runs = sum(len(p.all("runs")) for p in profiles)
    zeros = [number(r["zero_unix_ns"]) for p in profiles for r in p.all("runs")]
    before = 0
    for p in profiles:
        has_any = False
        for e in p.all("events"):
            if e.get("kind", "execution") != "execution":
                continue
            has_any = True
            zero = number(p.at("runs", p.track_run(e["track"]))["zero_unix_ns"])
            begin = zero - min(zeros) + e.get("begin_ns", 0)
            executions[name_of(p, e["track"], runs, before).split(
                " (overlap ")[0], region_key(p, e["node"]), begin,
                begin + e.get("duration_ns", 0)] += 1
        for i, n in enumerate(p.all("nodes"), 1):
            path, node = [], i
            while node:
                path.insert(0, region_key(p, node))
                node = p.at("nodes", node).get("parent", 0)
            if not has_any and p.self_ns(n):
                stacks[name_of(p, n["track"], runs, before),
                       tuple(path)] += p.self_ns(n)
        before += len(p.all("runs"))
    return executions, stacks


def main():
    find_mistakes()
    folder, made = arguments()
    counted = overlaps = 0
    for name, profiles in made.items():
        file = strict_json(f"{folder}/{name}.speedscope.json")
        executions, stacks = validate(file)
        overlaps += sum(" (overlap " in p["name"] for p in file["profiles"])
        want = wanted(profiles)
        check(executions == want[0], f"{name}: other executions")
        check(stacks == want[1], f"{name}: other stacks")
        counted += sum(executions.values())
    check(counted > 1000 and overlaps > 2, f"{counted} executions, {overlaps}")
    print(f"{counted} executions, {overlaps} overlaps")


main()

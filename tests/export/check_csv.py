#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_csv.py FOLDER PROGRAM...: each row of csv, read by Python's csv in strict mode,
is the event or loss of the profile's JSON form."""
import csv
import math
import re

from profiles import arguments, check, number, one_mark, track_name

COLUMNS = ("run,rank,track,track_kind,device,track_name,kind,name,category,path,"
           "depth,node,stage,begin_ns,duration_ns,instance,value,count,file,"
           "line").split(",")


def wanted_rows(profiles):
    """What the JSON form says, as dicts of values."""
    runs = tracks = nodes = 0
    for p in profiles:
        for row in [*map(event_row, [p] * len(p.all("events")), p.all("events")),
                    *map(loss_row, [p] * len(p.all("losses")), p.all("losses"))]:
            row["run"] += runs if row["run"] else 0
            row["track"] += tracks if row["track"] else 0
            row["node"] += nodes if row["node"] else 0
            yield row
        runs += len(p.all("runs"))
        tracks += len(p.all("tracks"))
        nodes += len(p.all("nodes"))


def track_row(p, track, run):
    t = p.at("tracks", track)
    return {"run": run, "rank": p.at("runs", run).get("rank", -1),
            "track": track, "track_kind": t.get("kind", "thread") if track else "",
            "device": t.get("device", -1), "track_name": track_name(t) if track else "",
            "category": "", "path": [], "depth": 0, "node": 0, "stage": "",
            "begin_ns": 0, "duration_ns": 0, "instance": 0, "value": None,
            "count": 1, "file": "", "line": 0}


def event_row(p, e):
    row = track_row(p, e["track"], p.track_run(e["track"]))
    kind, node = e.get("kind", "execution"), e.get("node", 0)
    zero = number(p.at("runs", row["run"])["zero_unix_ns"])
    row.update(kind=kind, node=node, path=p.path(node), depth=len(p.path(node)),
               begin_ns=zero + number(e.get("begin_ns", 0)),
               duration_ns=number(e.get("duration_ns", 0)),
               instance=number(e.get("instance", 0)))
    n = p.at("nodes", node)
    row["stage"] = p.at("stages", n.get("stage", 0)).get("name", "")
    if kind == "memory":
        row["name"] = p.at("tracks", e["region"]).get("name", "")
    else:
        region = p.at("regions",
                      n["region"] if kind == "execution" else e["region"])
        row.update(name=region.get("name", ""), file=region.get("file", ""),
                   category=region.get("category", ""),
                   line=region.get("line", 0))
    if kind in ("memory", "counter"):
        row["value"] = value_of(e.get("value", 0))
    return row


def value_of(value):
    return float(value) if isinstance(value, str) else value


def loss_row(p, loss):
    row = track_row(p, loss.get("track", 0), loss.get("run", 1))
    begin, end = number(loss.get("begin_ns", 0)), number(loss.get("end_ns", 0))
    row.update(kind="loss", name=loss["kind"], count=number(loss["count"]))
    if begin or end:
        zero = number(p.at("runs", row["run"])["zero_unix_ns"])
        row.update(begin_ns=zero + begin, duration_ns=end - begin)
    return row


def path_of(text):
    """The names in a path: `/` between them, and a backslash before one in a name."""
    return [re.sub(r"\\(.)", r"\1", part, flags=re.S)
            for part in re.findall(r"((?:[^/\\]|\\.)*)(?:/|$)", text,
                                   flags=re.S)[:text_depth(text)]]


def text_depth(text):
    return len(re.sub(r"\\.", "", text, flags=re.S).split("/"))


def guarded(text):
    """With the apostrophe before what a spreadsheet would run."""
    return "'" + text if text[:1] in tuple("=+-@\t\r") else text


def same(name, line, got, want):
    where = f"{name}, row {line}"
    for column in COLUMNS:
        text, value = got[column], want[column]
        if column == "path":
            value_got = path_of(text) if want["depth"] else []
            value = [guarded(part) for part in value[:1]] + value[1:]
        elif column == "value":
            value_got = float(text) if text else None
            if value is not None and math.isnan(value):
                value = None  # a sample that was no number
        elif isinstance(value, int):
            check(re.fullmatch(r"-?[0-9]+", text), f"{where}: {column} {text!r}")
            value_got = int(text)
        else:
            value_got, value = text, guarded(value)
        check(value_got == value,
              f"{where}: {column} is {value_got!r}, not {value!r}")


def main():
    csv.field_size_limit(1 << 26)
    folder, made = arguments()
    rows = 0
    for name, profiles in made.items():
        with open(f"{folder}/{name}.csv", encoding="utf-8", errors="strict",
                  newline="") as file:
            reader = csv.DictReader(file, strict=True)
            check(reader.fieldnames == COLUMNS, f"{name}: {reader.fieldnames}")
            got = [{k: one_mark(v) for k, v in row.items()} for row in reader]
        want = list(wanted_rows(profiles))
        check(len(got) == len(want), f"{name}: {len(got)} rows")
        for i, row in enumerate(got):
            same(name, i, row, want[i])
        rows += len(got)
    check(rows > 1000, f"only {rows} rows")
    print(f"{rows} rows in {len(made)} files")


main()

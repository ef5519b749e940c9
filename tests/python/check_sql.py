# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles as tables of Arrow, read by DuckDB and Polars: each value, and the questions of
docs/profile.md on two ranks of four steps."""
import gc
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import duckdb
import polars

import gnomon

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = (
    "runs stages steps tracks regions nodes opens links counters metadata losses views "
    "ops events step_times view_times strips"
).split()
MS = 1000000


def cell(ns):
    scale = max(ns.bit_length() - 5, 0)
    return (ns >> scale) + 16 * scale


def stats(durations, self_ns=None):
    cells = sorted(map(cell, durations))
    return {
        "cells": [[c, cells.count(c)] for c in sorted(set(cells))],
        "count": len(durations),
        "total_ns": sum(durations),
        "self_ns": sum(durations) if self_ns is None else self_ns,
        "min_ns": min(durations),
        "max_ns": max(durations),
    }


def job():
    """Two ranks of four steps: load, then forward; the second rank loads slowly in its
    third step, and a scope is open at its end."""
    loads = ([2, 2, 2, 2], [3, 2, 30, 3])
    made = {
        "gnomon": 1,
        "runs": [{"rank": r, "world_size": 2, "host": f"n{r}"} for r in range(2)],
        "stages": [],
        "tracks": [],
        "regions": [{"name": n} for n in ("train_step", "load", 'fwd "ä"', "empty")],
        "nodes": [],
        "steps": [],
        "events": [],
    }
    for rank, load in enumerate(loads):
        run = rank + 1
        made["tracks"].append({"run": run, "name": "main"})
        first, at = len(made["nodes"]) + 1, 0
        parts = ([l + 10 for l in load], load, [10] * 4)
        for i, part in enumerate(parts):
            node = {"track": run, "stage": run, "region": i + 1}
            if i:
                node["parent"] = first
            times = [ms * MS for ms in part]
            node["host"] = stats(times, 0 if i == 0 else None)
            made["nodes"].append(node)
        for number, ms in enumerate(load):
            end = at + (ms + 10) * MS
            step = {"stage": run, "number": number, "begin_ns": at, "end_ns": end}
            made["steps"].append(step)
            for node, begin, took in (
                (first, at, end - at),
                (first + 1, at, ms * MS),
                (first + 2, at + ms * MS, 10 * MS),
            ):
                event = {"track": run, "node": node, "begin_ns": begin}
                made["events"].append(dict(event, duration_ns=took))
            at = end
        stage = {"run": run, "name": "fit", "ended": 1, "end_ns": at}
        made["stages"].append(dict(stage, recorded_ns=at))
    made["nodes"].append({"track": 2, "stage": 2, "region": 4, "open": 1})
    return made


def questions():
    """(SQL, the lines below it) of the page."""
    with open(os.path.join(HERE, "..", "..", "docs", "profile.md")) as file:
        for block in re.findall(r"^```sql\n(.*?)^```", file.read(), re.S | re.M):
            lines = block.splitlines()
            asked = [line for line in lines if not line.startswith("--")]
            yield "\n".join(asked), [l[3:] for l in lines if l.startswith("--")]


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.profile = cls.load(job())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def load(cls, made):
        path = os.path.join(cls.folder, "made.json")
        with open(path, "w") as file:
            json.dump(made, file)
        out = os.path.join(cls.folder, "made.gnomon")
        program = os.environ["GNOMON_PROGRAM"]
        subprocess.run([program, "merge", "-o", out, path], check=True)
        return gnomon.load(out)

    def test_questions_of_the_page(self):
        nodes, steps = self.profile.nodes, self.profile.steps
        events = self.profile.events
        asked = list(questions())
        self.assertEqual(len(asked), 5)
        for sql, shown in asked:
            rows = duckdb.sql(sql)
            lines = [rows.columns] + rows.fetchall()
            self.assertEqual([" ".join(map(str, line)) for line in lines], shown, sql)
        self.assertEqual(len(nodes) + len(steps) + len(events), 7 + 8 + 24)

    def test_each_value_is_that_of_the_entity(self):
        for kind in KINDS:
            entities = getattr(self.profile, kind)
            columns = self.profile.columns(kind)
            table = polars.DataFrame(entities)
            self.assertEqual(table.columns, list(columns))
            for name in table.columns:
                got = ["" if v is None else v for v in table[name]]
                for value, plain, entity in zip(got, columns[name], entities):
                    if value != "":  # null, which is 0 there
                        self.assertEqual(value, plain, (kind, name))
                    if name in entity._fields and name != "rank":
                        field = entity._asdict()[name]
                        self.assertEqual(value, "" if field is None else field)

    def test_what_was_not_recorded_is_null(self):
        nodes = polars.DataFrame(self.profile)
        self.assertEqual(nodes["device_count"].null_count(), 7)
        counts = dict(zip(zip(nodes["name"], nodes["rank"]), nodes["host_count"]))
        self.assertIs(counts.pop(("empty", 1)), None)
        self.assertEqual(list(counts.values()), [4] * 6)

    def test_what_entities_refer_to(self):
        nodes = self.profile.nodes
        (row,) = duckdb.sql(
            "SELECT path, thread, stage_name, rank FROM nodes "
            "WHERE rank = 1 AND name = 'load'"
        ).fetchall()
        self.assertEqual(len(nodes), 7)
        self.assertEqual(row, ("train_step/load", "main", "fit", 1))
        for kind in ("steps", "tracks", "stages", "runs", "events"):
            ranks = set(self.profile.columns(kind)["rank"])
            self.assertEqual(ranks, {0, 1}, kind)

    def test_tables_outlive_their_profile_and_are_read_by_any_thread(self):
        profile = self.load(job())
        capsules = [getattr(profile, kind).__arrow_c_stream__() for kind in KINDS]
        unread = profile.__arrow_c_stream__()
        del profile
        gc.collect()

        class Stream:
            def __init__(self, capsule):
                self.capsule = capsule

            def __arrow_c_stream__(self, requested_schema=None):
                return self.capsule

        lengths = []

        def read():
            for capsule in capsules:
                lengths.append(len(polars.DataFrame(Stream(capsule))))

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        self.assertEqual(lengths, [len(getattr(self.profile, kind)) for kind in KINDS])
        del unread

    def test_more_rows_than_are_read_at_once(self):
        made = job()
        made["events"] = [
            dict(event, begin_ns=event["begin_ns"] + 1000 * MS * i)
            for i in range(6000)
            for event in made["events"]
        ]
        events = self.load(made).events
        self.assertEqual(len(events), 144000)
        (row,) = duckdb.sql(
            "SELECT count(*), count(DISTINCT id), max(id), sum(duration_ns) FROM events"
        ).fetchall()
        self.assertEqual(row, (144000, 144000, 144000, 252 * MS * 6000))

    def test_a_lent_profile_has_none_after_its_callback(self):
        kept = []

        class Mine(gnomon.Profiler):
            name = "mine"
            wants = ("tree",)

            def summary(self, profile):
                kept.append(polars.DataFrame(profile.nodes)["name"].to_list())
                kept.append(profile.nodes.__arrow_c_stream__())

        mine = Mine()
        gnomon.attach(mine)
        with gnomon.scope("here"):
            pass
        gnomon.summary("mine")
        gnomon.detach(mine)
        self.assertEqual(kept[0], ["here"])

        class Late:
            def __arrow_c_stream__(self, requested_schema=None):
                return kept[1]

        with self.assertRaisesRegex(Exception, "lent to a callback"):
            polars.DataFrame(Late())

    def test_there_is_no_such_kind(self):
        with self.assertRaisesRegex(ValueError, "colours"):
            self.profile._raw.arrow("colours")


if __name__ == "__main__":
    unittest.main()

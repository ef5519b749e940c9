# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles read by Python."""
import contextlib
import gc
import io
import json
import os
import re
import subprocess
import tempfile
import unittest

import gnomon
from runs import calls, run


def normal(text):
    """The text with its numbers replaced, and the cells' widths kept."""
    return re.sub(r"[\d.]+(e-\d+)? *\t", "N\t", text)


class Loaded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "run.gnomon")
        out, err = run(
            """
            import gnomon
            gnomon.metadata("lr", [0.5, "text"])
            with gnomon.stage("fit"):
                for _ in range(3):
                    with gnomon.scope("outer"):
                        for _ in range(2):
                            with gnomon.scope("inner", "io"):
                                pass
                        gnomon.mark("here")
                    gnomon.counter("loss", 0.5)
                    gnomon.step()
            """,
            f"trace,file={cls.path}",
        )
        cls.profile = gnomon.load(cls.path)

    @classmethod
    def tearDownClass(cls):
        del cls.profile
        cls.folder.cleanup()

    def test_entities_are_objects(self):
        p = self.profile
        self.assertEqual(len(p.runs), 1)
        self.assertEqual(p.runs[0].pid, p.tracks[0].run.pid)
        self.assertIn("fit", [stage.name for stage in p.stages])
        inner = [n for n in p.nodes if n.path == ("outer", "inner")]
        self.assertTrue(inner)
        self.assertEqual(inner[0].host.count, 6)
        self.assertEqual(inner[0].region.category, "io")
        self.assertEqual(inner[0].region.kind, "scope")
        self.assertEqual(inner[0].region._asdict()["kind"], "scope")
        self.assertIn("kind='thread'", repr(inner[0].track))
        self.assertIn("host=Stats(count=6", repr(inner[0]))
        self.assertEqual(inner[0].parent.name, "outer")
        self.assertEqual(inner[0].parent.parent, None)
        self.assertEqual(inner[0].stage.name, "fit")
        self.assertEqual(inner[0].track.kind, "thread")
        self.assertEqual([c.name for c in p.counters], ["loss"])
        self.assertEqual(p.counters[0].last, 0.5)
        self.assertIn(("lr", '[0.5, "text"]'), [(m.key, m.json) for m in p.metadata])
        self.assertEqual(p.nodes[0], p.nodes[-len(p.nodes)])
        self.assertIn("3 steps" if len(p.steps) == 3 else "steps", repr(p.steps))

    def test_numbers_that_are_not_there_raise(self):
        for at in (len(self.profile.nodes), -len(self.profile.nodes) - 1, 1 << 40):
            with self.assertRaises(IndexError):
                self.profile.nodes[at]
        self.assertEqual(self.profile.nodes[1000:], [])
        with self.assertRaises(AttributeError):
            self.profile.colours
        with self.assertRaises(ValueError):
            self.profile.columns("colours")

    def test_rows_add_up(self):
        rows = {row.name: row for row in self.profile.rows()}
        self.assertEqual(rows["outer"].host.count, 3)
        self.assertEqual(rows["inner"].host.count, 6)
        host = rows["inner"].host
        self.assertLessEqual(host.min_ns, host.quantile_ns(0.5))
        self.assertLessEqual(host.quantile_ns(0.5), host.max_ns)
        self.assertEqual(host.mean_ns, host.total_ns / 6)
        self.assertEqual(sum(count for _, count in host.cells), 6)

    def test_the_report_is_lightnings(self):
        text = os.path.join(self.folder.name, "report-%s.txt")
        binary = os.path.join(self.folder.name, "both.gnomon")
        run(
            """
            import gnomon
            for stage in ("fit", "test"):
                with gnomon.stage(stage):
                    for i in range(3):
                        with gnomon.scope("outer"), gnomon.scope("a" * 40, "io"):
                            gnomon.mark("here")
                        gnomon.range("range").end()
            """,
            f"simple(file={text}),profile(file={binary})",
        )
        report = gnomon.load(binary).report("simple")
        wanted = []
        for stage in ("fit", "test"):
            with open(text.replace("%s", stage)) as file:
                wanted.append(file.read().partition("\ngnomon: ")[0] + "\n")
        wanted = "\n".join(wanted)
        # Both were recorded alike, but for the moment at which each was written.
        self.assertEqual(normal(report), normal(wanted))
        self.assertEqual(calls(report), calls(wanted))
        self.assertEqual(calls(report)["outer"], 6)

    def test_views_are_not_added_up(self):
        path = os.path.join(self.folder.name, "views.gnomon")
        run(
            """
            import gnomon
            for name in ("opt_step", "other"):
                with gnomon.scope(name):
                    pass
            """,
            f"simple,regions(filter=opt*),file={path}",
        )
        profile = gnomon.load(path)
        for view in range(1, len(profile.views) + 1):
            for row in profile.rows(view=view):
                self.assertEqual(row.host.count, 1)

    def without_program(self):
        kept = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", kept)
        os.environ["PATH"] = ""

    def with_program(self):
        program = os.environ.get("GNOMON_PROGRAM")
        if not program:
            self.skipTest("the program gnomon is not built")
        self.without_program()
        os.environ["PATH"] = os.path.dirname(program)


    def test_it_is_shown_by_the_program(self):
        self.with_program()
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            os.environ.pop(display, None)
        page = os.path.join(self.folder.name, "page.html")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(self.of_stages("fit").show(page), page)
        self.assertEqual(printed.getvalue(), page + "\n")
        with open(page, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("<!DOCTYPE html>"))

    def of_stages(self, names):
        path = os.path.join(self.folder.name, names + ".gnomon")
        run(
            f"""
            import gnomon
            for stage in {names.split()}:
                with gnomon.stage(stage), gnomon.scope("outer"):
                    with gnomon.scope("inner"):
                        gnomon.step()
            """,
            f"trace(on_trace_ready=none),file={path}",
        )
        return gnomon.load(path)

    def test_reports_of_one_stage_need_no_program(self):
        self.without_program()
        profile = self.of_stages("fit")
        self.assertIn("  inner ", profile.report("tree"))
        self.assertNotIn("inner", profile.report("tree(limit=1)"))
        for wrong in ("treee", "ranks", "tree(limit=x)", "tree(file=x)", ""):
            with self.assertRaises(gnomon.Error):
                profile.report(wrong)
        with self.assertRaises(gnomon.Error) as caught:
            self.of_stages("fit test").report("tree")
        self.assertIn("no program gnomon is in $PATH", str(caught.exception))
        with self.assertRaises(TypeError):
            profile.report(3)

    def test_the_library_reports_as_the_program(self):
        profile = self.of_stages("fit")
        own = profile.report("tree")
        self.with_program()
        made = []
        from gnomon import _forms

        kept, _forms._run = _forms._run, lambda *words: made.append(kept(*words))
        self.addCleanup(setattr, _forms, "_run", kept)
        with self.assertRaises(gnomon.Error):
            profile.report("treee")
        self.assertEqual(made, [])
        path = os.path.join(self.folder.name, "fit.gnomon")
        import subprocess

        words = [os.environ["GNOMON_PROGRAM"], "report", "--as", "tree", path]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        self.assertEqual(own, done.stdout)

    def test_other_reports_come_from_the_program(self):
        self.with_program()
        both = self.of_stages("fit test").report("tree")
        self.assertIn("FIT Call Tree", both)
        self.assertIn("TEST Call Tree", both)
        self.assertIn("outer", self.profile.report("json"))
        with self.assertRaises(gnomon.Error) as caught:
            self.profile.report("treee")
        self.assertIn("did you mean", str(caught.exception))

    def test_exports_of_the_library_need_no_program(self):
        import gzip
        import json

        self.without_program()
        for name in ("plain.json", "packed.json.gz"):
            path = os.path.join(self.folder.name, "made", name)
            self.profile.export("chrome", path)
            opened = gzip.open(path) if name.endswith(".gz") else open(path)
            with opened as file:
                rows = json.load(file)["traceEvents"]
            self.assertEqual([r["name"] for r in rows].count("inner"), 6)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        again = os.path.join(self.folder.name, "made", "again.gnomon")
        self.profile.export("gnomon", again)
        self.assertEqual(gnomon.load(again).rows(), self.profile.rows())
        self.profile.export("json", again)
        with open(again) as file:
            self.assertEqual(file.read(1), "{")
        names = set(os.listdir(os.path.dirname(again)))
        self.assertEqual(names, {"plain.json", "packed.json.gz", "again.gnomon"})
        with self.assertRaises(gnomon.Error) as caught:
            self.profile.export("stacks", again)
        self.assertIn("program", str(caught.exception))

    def test_other_exports_come_from_the_program(self):
        self.with_program()
        path = os.path.join(self.folder.name, "stacks.txt")
        self.profile.export("stacks", path)
        with open(path) as file:
            self.assertIn(";outer;inner ", file.read())
        with self.assertRaises(gnomon.Error):
            self.profile.export("stakcs", path)
        self.profile.export("chrome", path, modules=True)
        with open(path) as file:
            self.assertIn('"Python module id":0', file.read())
        with self.assertRaises(gnomon.Error) as caught:
            self.profile.export("json", path, modules=True)
        self.assertIn("chrome", str(caught.exception))

    def test_an_export_that_cannot_be_written_raises(self):
        for path in (
            "/dev/full",
            f"{self.path}/x.json",
            f"{self.path}/x.json.gz",
            "/proc/x.json.gz",
        ):
            with self.subTest(path), self.assertRaises(gnomon.Error) as caught:
                self.profile.export("chrome", path)
            self.assertIn("cannot write", str(caught.exception))

    def test_rows_and_statistics_are_pickled(self):
        import pickle

        rows = self.profile.rows()
        self.assertEqual(pickle.loads(pickle.dumps(rows)), rows)

    def test_columns_and_entities_agree(self):
        p = self.profile
        columns = p.columns("nodes")
        for i, node in enumerate(p.nodes):
            self.assertEqual(columns["host_total_ns"][i], node.host.total_ns)
            self.assertEqual(columns["id"][i], node.id)
        for kind in (
            "runs stages steps tracks regions nodes opens links counters metadata "
            "losses views ops events step_times view_times strips"
        ).split():
            entities = getattr(p, kind)
            for name, values in p.columns(kind).items():
                self.assertEqual(len(values), len(entities), (kind, name))
            for entity in entities:
                repr(entity)
                for field in entity._fields:
                    getattr(entity, field)

    def test_events_have_names(self):
        events = list(self.profile.events)
        names = [event.name for event in events]
        self.assertEqual(names.count("inner"), 6)
        self.assertEqual(names.count("here"), 3)
        self.assertEqual(
            [e.value for e in events if e.kind == "counter"], [0.5, 0.5, 0.5]
        )

    def test_memory_is_named_after_its_pool(self):
        self.with_program()
        path = os.path.join(self.folder.name, "memory.json")
        with open(path, "w") as file:
            json.dump(
                {
                    "gnomon": 1,
                    "tracks": [{"name": "main"}, {"name": "HBM", "kind": "pool"}],
                    "regions": [{"name": "load"}, {"name": "not it"}],
                    "nodes": [{"track": 1, "region": 1}],
                    "events": [
                        {"track": 1, "node": 1, "duration_ns": 5},
                        {"track": 1, "kind": "memory", "region": 2, "value": 64},
                    ],
                },
                file,
            )
        binary = os.path.join(self.folder.name, "memory.gnomon")
        subprocess.run(["gnomon", "merge", "-o", binary, path], check=True)
        profile = gnomon.load(binary)
        load, memory = profile.events
        self.assertEqual((load.name, load.pool), ("load", None))
        self.assertEqual((memory.name, memory.region), ("HBM", None))
        self.assertEqual(memory.pool, profile.tracks[1])
        self.assertEqual(profile._table("events")["name"], ["load", "HBM"])

    def test_a_notebook_shows_a_table(self):
        html = self.profile._repr_html_()
        self.assertIn("<td style='text-align:left'>outer</td><td>3</td>", html)
        self.assertIn("<th>calls</th><th>total</th>", html)

    def test_a_terminal_shows_a_table(self):
        text = io.StringIO()
        text.text = text.write
        self.profile._repr_pretty_(text, False)
        first, heads, *rows = text.getvalue().split("\n")
        self.assertEqual(first, repr(self.profile))
        self.assertEqual(heads.split(), ["name", "calls", "total", "self", "mean", "max"])
        self.assertIn(["outer", "3"], [row.split()[:2] for row in rows])
        self.assertEqual({len(row) for row in rows}, {len(heads)})

    def test_it_is_written_again(self):
        again = os.path.join(self.folder.name, "again.gnomon")
        self.profile.write(again)
        self.assertEqual(gnomon.load(again).rows(), self.profile.rows())
        with open(again, "rb") as file:
            data = file.read()
        self.assertEqual(gnomon.read(data).rows(), self.profile.rows())
        text = os.path.join(self.folder.name, "again.json")
        self.profile.write(text)
        with open(text) as file:
            self.assertEqual(file.read(1), "{")
        for path in again, text:
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_what_cannot_be_read_raises(self):
        with self.assertRaises(gnomon.Error) as caught:
            gnomon.load("/nowhere/run.gnomon")
        self.assertIn("/nowhere/run.gnomon", str(caught.exception))
        with self.assertRaises(gnomon.Error):
            gnomon.read(b"no profile")
        with self.assertRaises(TypeError):
            gnomon.load(3)

    def test_entities_outlive_the_profile(self):
        nodes = gnomon.load(self.path).nodes
        node = nodes[0]
        gc.collect()
        self.assertTrue(node.name)
        self.assertTrue(node.region.name)

    def test_tables_where_their_packages_are(self):
        try:
            import pandas
        except ImportError:
            with self.assertRaises(ImportError):
                self.profile.to_pandas()
        else:
            frame = self.profile.to_pandas("nodes")
            self.assertEqual(len(frame), len(self.profile.nodes))
            self.assertIsInstance(self.profile.to_pandas(), pandas.DataFrame)
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            with self.assertRaises(ImportError):
                self.profile.to_arrow()
        else:
            self.assertEqual(
                self.profile.to_arrow("events").num_rows, len(self.profile.events)
            )

    def test_times_are_written_with_units(self):
        from gnomon._stats import shown_time

        texts = [shown_time(ns) for ns in (0, 7, 1500, 99e6, 12.345e9, 0.4)]
        self.assertEqual(
            texts, ["0", "7 ns", "1.500 us", "99.00 ms", "12.35 s", "0.4 ns"]
        )


if __name__ == "__main__":
    unittest.main()
